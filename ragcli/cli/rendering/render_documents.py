"""Renders listings of documents and files, and one stored document, for people. Returns text, writes none."""

from collections.abc import Iterator, Mapping, Sequence

from ragcli.cli.rendering.render_search import place
from ragcli.cli.terminal.styles import BOLD, CYAN, DIM, NUMBER, PATH, RED, Terminal, cells, cut, paint
from ragcli.model import DocumentInfo, FileInfo, Scalar, StoredDocument
from ragcli.session.passages import Passage
from ragcli.text.escapes import visible, visible_name


def document_lines(documents: Sequence[DocumentInfo], terminal: Terminal) -> Iterator[str]:
    """Yield a line an added document: id, length, metadata, preview; cut to the width only on a terminal."""
    for entry in documents:
        length = f"{entry.content_length:,}"
        metadata = _pairs(entry.metadata)
        preview = visible_name(" ".join(entry.preview.split()))
        head = f"{entry.id}  {length:>7}  "
        tail = f"{metadata}  {preview}" if metadata else preview
        if terminal.is_terminal:
            tail = cut(tail, max(terminal.width - cells(head), 10))
        yield f"{paint(terminal, BOLD, entry.id)}  {length:>7}  {tail}".rstrip()


def file_lines(files: Sequence[FileInfo], terminal: Terminal) -> Iterator[str]:
    """Yield a line a file: its path alone where it is indexed well, the reason behind it where it is not."""
    for entry in files:
        path = paint(terminal, PATH, visible_name(entry.file))
        if entry.status == "indexed":
            what = entry.language or entry.format.lower()
            chunks = f"{entry.chunks} chunk{'' if entry.chunks == 1 else 's'}"
            yield f"{path}  {paint(terminal, DIM, f'{visible_name(what)}, {chunks}')}"
        else:
            code = f"{entry.code}: " if entry.code else ""
            yield f"{path}  {paint(terminal, RED, entry.status)} {visible_name(code + entry.reason)}".rstrip()


def stored_lines(stored: StoredDocument, terminal: Terminal) -> Iterator[str]:
    """Yield what is stored of a document: a head, then each chunk with its lines, place and text."""
    yield paint(terminal, BOLD, visible_name(stored.file or f"<{stored.id}>"))
    facts = [stored.format, stored.language, f"{len(stored.text):,} characters", f"{len(stored.chunks)} chunks"]
    yield "  " + ", ".join(visible_name(fact) for fact in facts if fact)
    metadata = _pairs(stored.metadata)
    if metadata:
        yield f"  {metadata}"
    for chunk in stored.chunks:
        where = visible_name(place(chunk.metadata)) if chunk.file else ""
        yield ""
        lines = paint(terminal, NUMBER, f"{chunk.start_line}-{chunk.end_line}")
        yield f"{lines} {paint(terminal, CYAN, where)}".rstrip()
        yield from (f"  {line}".rstrip() for line in visible(chunk.content.rstrip("\n")).split("\n"))


def passage_lines(stored: StoredDocument, part: Passage, terminal: Terminal) -> Iterator[str]:
    """Yield a part of a document: what and where it is, then its numbered lines, a gap where some are left out.

    The numbers are those of the stored text; for text formats they are the file's.
    """
    name = stored.file or f"<{stored.id}>"
    places = list(dict.fromkeys(place(chunk.metadata) for chunk in part.chunks if chunk.file))
    head = (
        f"{paint(terminal, PATH, visible_name(name))}:{paint(terminal, NUMBER, f'{part.start_line}-{part.end_line}')}"
    )
    where = visible_name("; ".join(text for text in places if text))
    room = max(terminal.width - cells(f"{name}:{part.start_line}-{part.end_line}") - 2, 20)
    yield f"{head}  {paint(terminal, CYAN, cut(where, room))}" if where else head
    gutter = len(str(part.end_line))
    expected = part.start_line
    for start, text in _pieces(part):
        if start > expected:
            yield f"  {paint(terminal, DIM, '...')}"
        lines = visible(text.removesuffix("\n")).split("\n")
        for number, line in enumerate(lines, start):
            yield f"  {paint(terminal, DIM, f'{number:>{gutter}}')}  {line}".rstrip()
        expected = start + len(lines)


def _pieces(part: Passage) -> Iterator[tuple[int, str]]:
    """The first line and the text of each piece: all of it where it is contiguous lines, else its chunks."""
    chunks = part.chunks
    if "".join(chunk.content for chunk in chunks) != part.text:
        yield part.start_line, part.text
        return
    for chunk in chunks:
        yield chunk.start_line, chunk.content


def _pairs(metadata: Mapping[str, Scalar]) -> str:
    return visible_name(" ".join(f"{key}={value}" for key, value in sorted(metadata.items())))
