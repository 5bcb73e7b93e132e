"""Decode markup by the encoding it declares for itself. Reads no more of the markup than that."""

import re
import warnings
from collections.abc import Callable

from ragcli.extract.declared_encoding import codec_of
from ragcli.extract.decode import decode

# A declaration stands in the first 1,024 bytes of a page (HTML, "prescan a byte stream"); real pages put scripts first.
_HEAD = 16 * 1024
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_IN_CONTENT = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';]+)""", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def decode_html(raw: bytes) -> tuple[str, str]:
    """Give text and encoding: a byte order mark, then what the page declares, then what the bytes are."""
    return _decode_declared(raw, _html_label)


def decode_xml(raw: bytes) -> tuple[str, str]:
    """Give text and encoding: a byte order mark, then the XML declaration, then what the bytes are."""
    return _decode_declared(raw, _xml_label)


def _decode_declared(raw: bytes, label_of: Callable[[str], str]) -> tuple[str, str]:
    if raw.startswith(_MARKS) or b"\0" in raw[:64]:
        return decode(raw)
    codec = codec_of(label_of(raw[:_HEAD].decode("latin-1")))
    if not codec:
        return decode(raw)
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError:
        return _contradicted(raw, codec)
    # A page saved again as UTF-8 keeps its old declaration; Latin-1 text is valid UTF-8 by chance only when tiny.
    if codec == "cp1252" and not text.isascii() and (utf8 := _as_utf8(raw)) is not None:
        return utf8, "utf-8"
    return text, codec


def _as_utf8(raw: bytes) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _contradicted(raw: bytes, codec: str) -> tuple[str, str]:
    """Decode bytes that the declared codec refuses: UTF-8 where they are that, else as declared with U+FFFD."""
    utf8 = _as_utf8(raw)
    if utf8 is not None:
        return utf8, "utf-8"
    return decode(raw) if codec == "utf-8" else (raw.decode(codec, "replace"), codec)


def _html_label(head: str) -> str:
    declared = _XML_DECLARATION.match(head)
    if declared is not None:
        return declared[1]
    last = head.lower().rfind("charset")
    if last < 0:
        return ""
    end = head.find(">", last)  # what comes after is not worth a tree
    for meta in _metas(head[: end + 1] if end > 0 else head):
        label = meta.get("charset", "")
        if not label and meta.get("http-equiv", "").lower() == "content-type":
            content = _IN_CONTENT.search(meta.get("content", ""))
            label = content[1] if content is not None else ""
        label = label.strip()
        if codec_of(label):
            return label
    return ""


def _metas(head: str) -> list[dict[str, str]]:
    """List the attributes of the meta elements: a tree tells them from words in comments, scripts and titles."""
    from bs4 import BeautifulSoup, SoupStrainer  # type: ignore[attr-defined]  # its place differs by version

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a page is XHTML is no news
        soup = BeautifulSoup(head, "lxml", parse_only=SoupStrainer("meta"), multi_valued_attributes=None)
    return [{name: str(value) for name, value in tag.attrs.items()} for tag in soup.find_all("meta")]


def _xml_label(head: str) -> str:
    declared = _XML_DECLARATION.match(head)
    return declared[1] if declared is not None else ""
