"""One document over http or https, within bounds: time, size, redirects, and no address that is not public.

Each redirect is checked anew, and the address that was checked is the one that is connected to, so that a name cannot
change its meaning in between.
"""

import contextlib
import http.client
import ipaddress
import socket
import ssl
import threading
import time
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from ragcli.errors import RagError
from ragcli.knowledge.paths import shown_url

TIMEOUT = 20.0
MAX_BYTES = 64 * 1024 * 1024
MAX_REDIRECTS = 5
_PIECE = 64 * 1024
_AGENT = "ragcli"


class FetchError(RagError):
    """A document that could not be fetched; what was fetched before stays."""


class FetchBounds(NamedTuple):
    """What a fetch may cost and reach. Seconds for all of it, bytes of the body."""

    timeout: float = TIMEOUT
    max_bytes: int = MAX_BYTES
    max_redirects: int = MAX_REDIRECTS
    allow_private: bool = False


class Fetched(NamedTuple):
    """A response: `body` is None where the server says that nothing changed."""

    url: str
    body: bytes | None
    content_type: str
    etag: str
    last_modified: str


def fetch(url: str, etag: str = "", last_modified: str = "", bounds: FetchBounds = FetchBounds()) -> Fetched:
    """Get a document, only if it changed since the ETag and time given. FetchError says why it cannot be had."""
    deadline = time.monotonic() + bounds.timeout
    conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    for _ in range(bounds.max_redirects + 1):
        parts = _parts(url)
        connection = _connection(parts, deadline, bounds)
        # A server that sends a byte now and then would outlast any timeout of a single read.
        timer = threading.Timer(max(deadline - time.monotonic(), 0.01), _cut, [connection.sock])
        timer.daemon = True
        timer.start()
        try:
            response = _request(connection, parts, {k: v for k, v in conditions.items() if v}, deadline)
            if response.status in (301, 302, 303, 307, 308):
                target = response.getheader("Location") or ""
                if not target:
                    raise FetchError(f"{shown_url(url)}: a redirect to nowhere")
                url = urljoin(url, target)
                if parts.scheme == "https" and urlsplit(url).scheme != "https":
                    raise FetchError(f"{shown_url(url)}: a redirect from https to something less safe")
                continue
            return _answer(url, response, deadline, bounds)
        except (OSError, http.client.HTTPException) as error:
            late = isinstance(error, TimeoutError) or time.monotonic() >= deadline
            reason = "took too long" if late else str(error) or type(error).__name__
            raise FetchError(f"{shown_url(url)}: {reason}") from None
        finally:
            timer.cancel()
            connection.close()
    raise FetchError(f"{shown_url(url)}: more than {bounds.max_redirects} redirects")


def _answer(url: str, response: http.client.HTTPResponse, deadline: float, bounds: FetchBounds) -> Fetched:
    head = [response.getheader(name) or "" for name in ("Content-Type", "ETag", "Last-Modified")]
    if response.status == 304:
        return Fetched(url, None, *head)
    if response.status != 200:
        raise FetchError(f"{shown_url(url)}: the server answers {response.status} {response.reason}".rstrip())
    if (response.getheader("Content-Encoding") or "identity").lower() != "identity":
        raise FetchError(f"{shown_url(url)}: a compressed answer, which was not asked for")
    body = bytearray()
    while piece := _read(response, deadline):
        body += piece
        if len(body) > bounds.max_bytes:
            raise FetchError(f"{shown_url(url)}: larger than {bounds.max_bytes} bytes")
    if time.monotonic() >= deadline:
        raise TimeoutError
    if response.length:
        raise FetchError(f"{shown_url(url)}: the answer is cut short by {response.length} bytes")
    return Fetched(url, bytes(body), *head)


def _cut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):  # closed already
        sock.shutdown(socket.SHUT_RDWR)


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """What has come by now, at most one piece; a server that trickles is held to the deadline as well."""
    if time.monotonic() >= deadline:
        raise TimeoutError
    return response.read1(_PIECE)


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise FetchError(f"{shown_url(url)}: makes no sense as a URL") from None
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise FetchError(f"{shown_url(url)}: only http and https are fetched")
    return parts


def _connection(parts: SplitResult, deadline: float, bounds: FetchBounds) -> http.client.HTTPConnection:
    """A connection to a checked address of the host."""
    host = parts.hostname or ""
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    url = urlunsplit(parts)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise FetchError(f"{shown_url(url)}: no such host") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not bounds.allow_private:
        for address in addresses:
            if not is_public(address):
                raise FetchError(
                    f"{shown_url(url)}: {address} is no public address",
                    "allow it with allow_private = true in your own settings",
                )
    left = max(deadline - time.monotonic(), 0.01)
    try:
        raw = socket.create_connection((addresses[0], port), timeout=min(left, bounds.timeout))
        if secure:
            raw = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
    except OSError as error:
        reason = "took too long" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise FetchError(f"{shown_url(url)}: {reason}") from None
    connection = http.client.HTTPConnection(host, port)
    connection.sock = raw
    return connection


def is_public(address: str) -> bool:
    """Whether an address is one of the public network, also where IPv6 wraps one of IPv4."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is None and parsed in ipaddress.ip_network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None and not is_public(str(inner)):
            return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


def _request(
    connection: http.client.HTTPConnection, parts: SplitResult, conditions: dict[str, str], deadline: float
) -> http.client.HTTPResponse:
    target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    headers = {"User-Agent": _AGENT, "Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}
    host = parts.hostname or ""
    name = f"[{host}]" if ":" in host else host
    connection.putrequest("GET", _encoded(target), skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", name + (f":{parts.port}" if parts.port else ""))
    for key, value in {**headers, **conditions}.items():
        connection.putheader(key, value)
    connection.sock.settimeout(max(min(5.0, deadline - time.monotonic()), 0.01))
    connection.endheaders()
    return connection.getresponse()


def _encoded(target: str) -> str:
    from urllib.parse import quote

    return quote(target, safe="/%?&=:@!$'()*+,;~#[]")
