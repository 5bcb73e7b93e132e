"""The MCP server: binds the tools to the official SDK, over stdio or HTTP. The only module that knows the protocol.

Tools run in a few threads, so that ten clients wait for the engine and not for each other, and a cancelled request is
given up at once. Nothing but protocol messages reaches standard output.
"""

import hmac
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import anyio
import anyio.to_thread
import jsonschema
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from ragcli import __version__
from ragcli.agents.answers import DISCLOSURE
from ragcli.agents.scope import Scope
from ragcli.agents.tool_schemas import Tool
from ragcli.agents.tools import Answer, ToolBox
from ragcli.errors import RagError

INSTRUCTIONS = (
    "ragcli answers from a local, ranked index of code and documents. Search first, then read the lines that a result "
    "cites; cite path:line in your answer. " + DISCLOSURE
)
# Engine calls under way at once: they share one interpreter, so more would only slow each other.
THREADS = 4
MAX_BODY = 1024 * 1024
RESOURCES_PER_PAGE = 200
# How long a client may take to name its roots.
ROOTS_SECONDS = 5
_SCOPE_KEY = "ragcli.scope"
_SCHEME = "ragcli"
_MIME = {"MARKDOWN": "text/markdown", "HTML": "text/html", "JSON": "application/json", "XML": "application/xml"}


class AgentServer:
    """One server: a tool box, and what it may answer from.

    That is `scope`, with the directories that a client names as its roots in place of its `fallback` ones.
    """

    def __init__(self, tools: ToolBox, scope: Scope, fallback: Sequence[str] = ()) -> None:
        self._tools = tools
        self._scope = scope
        self._fallback = scope.widened(fallback)
        self._schemas = {tool.name: jsonschema.Draft202012Validator(tool.input_schema) for tool in tools.tools()}
        self._limiter: anyio.CapacityLimiter | None = None
        with warnings.catch_warnings():
            # Roots are deprecated since 2026-07-28, and what clients of today still name their directories by.
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            self.server = self._make_server()

    def _make_server(self) -> Server[Any]:
        return Server(
            "ragcli",
            version=__version__,
            title="ragcli",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_roots_list_changed=self._roots_changed,
        )

    async def _list_tools(self, ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_offered(tool) for tool in self._tools.tools()])

    async def _call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        schema = self._schemas.get(params.name)
        problem = next(iter(sorted(schema.iter_errors(arguments), key=str)), None) if schema else None
        if problem is not None:
            at = ".".join(map(str, problem.absolute_path)) or "arguments"
            return _result(Answer(f"{at}: {problem.message[:300]}\nsee the tool's input schema", None, True))
        scope = await self._scope_of(ctx)
        return _result(await self._in_thread(self._tools.call, scope, params.name, arguments))

    async def _list_resources(self, ctx: Any, params: Any) -> types.ListResourcesResult:
        scope = await self._scope_of(ctx)
        start = _cursor(params.cursor if params is not None else None)
        rows = await self._in_thread(_resources, scope)
        page = rows[start : start + RESOURCES_PER_PAGE]
        end = start + len(page)
        return types.ListResourcesResult(resources=page, next_cursor=str(end) if end < len(rows) else None)

    async def _list_templates(self, ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="indexed-file",
            title="An indexed file",
            uri_template=f"{_SCHEME}://{{session}}/{{+path}}",
            description="The text of an indexed file as it was read. " + DISCLOSURE,
            mime_type="text/plain",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(self, ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        parts = urlsplit(params.uri)
        path = os.fsdecode(unquote(parts.path.lstrip("/"), errors="surrogateescape").encode("utf-8", "surrogateescape"))
        if parts.scheme != _SCHEME or not parts.netloc or not path:
            raise MCPError(types.INVALID_PARAMS, f"{params.uri[:200]} is no {_SCHEME}://SESSION/PATH")
        scope = await self._scope_of(ctx)
        answer = await self._in_thread(
            self._tools.call, scope, "read", {"path": path, "session": unquote(parts.netloc)}
        )
        if answer.is_error:
            raise MCPError(types.INVALID_PARAMS, answer.text)
        contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=answer.text)
        return types.ReadResourceResult(contents=[contents])

    async def _roots_changed(self, ctx: Any, params: Any) -> None:
        ctx.session._connection.state.pop(_SCOPE_KEY, None)

    async def _scope_of(self, ctx: Any) -> Scope:
        """The scope of the client that asks; looked up once a connection and again when its roots change."""
        state = ctx.session._connection.state
        if _SCOPE_KEY not in state:
            roots = await _client_roots(ctx.session)
            state[_SCOPE_KEY] = self._fallback if roots is None else self._scope.widened(roots)
        found: Scope = state[_SCOPE_KEY]
        return found

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        return await anyio.to_thread.run_sync(
            lambda: function(*arguments), abandon_on_cancel=True, limiter=self._limiter
        )


def serve_stdio(agent: AgentServer) -> None:
    """Serve one client over standard input and output until it closes them."""

    async def run() -> None:
        async with stdio_server() as (reader, writer):
            await agent.server.run(reader, writer, agent.server.create_initialization_options())

    _quiet_logging()
    anyio.run(run)


def serve_http(agent: AgentServer, port: int, token: str, announce: Callable[[str], None]) -> None:
    """Serve clients over streamable HTTP on 127.0.0.1, each request with the bearer token, until interrupted.

    `announce` is given the URL; port 0 takes a free one. RagError where the port cannot be had.
    """
    import socket

    import uvicorn

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise RagError(f"port {port} cannot be had: {error.strerror}", "choose another with --http PORT") from None
        listener.listen(128)
        bound = listener.getsockname()[1]
        hosts = [f"127.0.0.1:{bound}", f"localhost:{bound}"]
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=hosts,
            allowed_origins=[f"http://{host}" for host in hosts],
        )
        app = agent.server.streamable_http_app(transport_security=security, max_request_body_size=MAX_BODY)
        announce(f"http://127.0.0.1:{bound}/mcp")
        config = uvicorn.Config(_guarded(app, token), log_level="error", access_log=False, timeout_graceful_shutdown=2)
        _quiet_logging()
        uvicorn.Server(config).run(sockets=[listener])


def _guarded(app: Any, token: str) -> Any:
    """Let requests through that carry the token; answer the others with 401."""
    wanted = f"bearer {token}".encode()

    async def checked(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"authorization"]
            scheme, _, rest = (given[0] if len(given) == 1 else b"").partition(b" ")
            if not hmac.compare_digest(scheme.lower() + b" " + rest, wanted):
                headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"a bearer token is needed\n"})
                return
        await app(scope, receive, send)

    return checked


async def _client_roots(session: Any) -> list[str] | None:
    """The directories that a client names; None where it names none or cannot be asked."""
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    try:
        with anyio.fail_after(ROOTS_SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            listed = await session.list_roots()
    except (MCPError, TimeoutError):
        return None
    return [path for root in listed.roots if (path := _directory(str(root.uri)))]


def _offered(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=not tool.writes,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=hints,
    )


def _result(answer: Answer) -> types.CallToolResult:
    text = answer.text.encode("utf-8", "backslashreplace").decode()
    structured = json.loads(json.dumps(answer.structured).encode("utf-8", "replace")) if answer.structured else None
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=structured, is_error=answer.is_error
    )


def _resources(scope: Scope) -> list[types.Resource]:
    return [
        types.Resource(
            name=file.file.encode("utf-8", "backslashreplace").decode(),
            uri=f"{_SCHEME}://{quote(source.name)}/{quote(os.fsencode(file.file))}",
            mime_type=_MIME.get(file.format, "text/plain"),
        )
        for source in scope.chosen()
        for file in source.service.list_files()
    ]


def _cursor(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 12:
        raise MCPError(types.INVALID_PARAMS, "the cursor is none of ours")
    return int(cursor)


def _directory(uri: str) -> str:
    """The directory of a `file:` URI, '' for any other."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    return path if os.path.isabs(path) else ""


def _quiet_logging() -> None:
    """Keep the libraries' warnings off standard error, which clients show to people as failures."""
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
