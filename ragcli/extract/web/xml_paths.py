"""Choose where to cut an XML text: where an element starts, the outermost within reach. Parses nothing itself."""

from typing import NamedTuple

# A search result shows about a screen: see the chunk limit of 100 lines, which a block must fit with room to spare.
MAX_LINES = 100
MAX_BYTES = 8 * 1024
_MAX_PARTS = 16  # of a path: deeper ones show their first and last elements
_MAX_NAME = 80


class _Start(NamedTuple):
    """An element's start: where a block may begin, the element's depth and path."""

    at: int
    depth: int
    path: "_Path"


class _Path(NamedTuple):
    """An element with the chain of those around it, shared, so that depth costs no copies."""

    name: str
    parent: "_Path | None"
    depth: int
    top: tuple[str, ...]  # the first names of the path


class Cutter:
    """Takes element starts and ends in order and gives spans of the text, each with the path of what is in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ascii = text.isascii()
        self._bytes = text.encode() if not self._ascii else b""
        self._byte = self._char = 0
        self._here: _Path | None = None
        self._spans: list[tuple[int, int, str]] = []
        self._begun = 0
        self._limit = self._reach(0)
        self._starts: list[_Start] = []
        self._around: _Path | None = None  # what was open where the block began

    def start(self, name: str, byte: int) -> None:
        """Note an element that starts at a byte of the UTF-8 text."""
        here = self._here = _below(self._here, name[:_MAX_NAME])
        at = self._line_start(self._offset(byte))
        if at > self._limit and at > self._begun:
            self._cut()
        self._starts.append(_Start(at, here.depth, here))
        while at > self._limit and self._starts[0].at < at:
            self._cut()

    def end(self) -> None:
        """Leave the innermost open element."""
        if self._here is not None:
            self._here = self._here.parent

    def spans(self) -> list[tuple[int, int, str]]:
        """Give all spans; they tile the text."""
        if len(self._text) > self._limit:
            self._cut()
        if self._begun < len(self._text):
            self._close(len(self._text))
        return self._spans

    def _offset(self, byte: int) -> int:
        if self._ascii:
            return byte
        self._char += len(self._bytes[self._byte : byte].decode("utf-8", "replace"))
        self._byte = byte
        return self._char

    def _line_start(self, at: int) -> int:
        """Move back over the indentation before an element that begins its line."""
        line = self._text.rfind("\n", max(self._begun, at - 200), at) + 1
        return line if line and self._text[line:at].isspace() else at

    def _reach(self, start: int) -> int:
        """Give the last offset at which a block from `start` may end."""
        end = min(start + MAX_BYTES, len(self._text))
        at = start
        for _ in range(MAX_LINES):
            at = self._text.find("\n", at, end) + 1
            if not at:
                return end
        return at

    def _cut(self) -> None:
        """End the block at the outermost element start within reach; of several at the last one, for fuller blocks."""
        near = [start for start in self._starts if self._begun < start.at <= self._limit]
        # Half a block is better than one that breaks off inside a deeper element; less than a quarter is not.
        far_enough = self._begun + (self._limit - self._begun) // 4
        near = [start for start in near if start.at >= far_enough] or near
        if not near:
            near = [start for start in self._starts if start.at > self._begun][:1]
        if not near:
            return
        shallow = min(start.depth for start in near)
        self._close(max(start.at for start in near if start.depth == shallow))

    def _close(self, end: int) -> None:
        inside = [start for start in self._starts if start.at < end]
        self._spans.append((self._begun, end, _shown(inside, self._around)))
        self._starts = self._starts[len(inside) :]
        if inside:
            self._around = inside[-1].path
        if self._starts:
            self._around = self._starts[0].path.parent
        self._begun = end
        self._limit = self._reach(end)


def _shown(inside: list[_Start], around: _Path | None) -> str:
    """Name what a block holds: the path of its outermost elements where all have one, else their parent's."""
    if not inside:
        return _written(around)
    shallow = min(start.depth for start in inside)
    outermost = [start.path for start in inside if start.depth == shallow]
    first = outermost[0]
    same = all(path.name == first.name for path in outermost)
    return _written(first if same else first.parent or first)


def _below(parent: _Path | None, name: str) -> _Path:
    if parent is None:
        return _Path(name, None, 1, (name,))
    top = (*parent.top, name) if parent.depth < _MAX_PARTS // 2 else parent.top
    return _Path(name, parent, parent.depth + 1, top)


def _written(path: _Path | None) -> str:
    """Write a path; of a deep one its first and last names."""
    names: list[str] = []
    at = path
    while at is not None and len(names) < (_MAX_PARTS if path and path.depth <= _MAX_PARTS else _MAX_PARTS // 2):
        names.append(at.name)
        at = at.parent
    if at is not None and path is not None:
        names += ["...", *path.top[::-1]]
    return "/" + "/".join(names[::-1])
