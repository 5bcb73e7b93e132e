"""Small PDF files for the tests, written object by object so that they can be broken on purpose."""

from collections.abc import Mapping, Sequence

CATALOG, PAGES, FONT = 1, 2, 3


def shown(text: str, x: float = 72, y: float = 700) -> str:
    """A content stream that shows one line of text."""
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F1 12 Tf 1 0 0 1 {x} {y} Tm ({escaped}) Tj ET\n"


def stream(content: str, entries: str = "") -> str:
    return f"<< /Length {len(content)} {entries} >>\nstream\n{content}\nendstream"


def objects(contents: Sequence[str], page_entries: str = "", resources: str = "") -> dict[int, str]:
    """Number the objects of a sound file: catalog, page tree, font, then page and content in turn."""
    pages = range(4, 4 + 2 * len(contents), 2)
    made = {
        CATALOG: f"<< /Type /Catalog /Pages {PAGES} 0 R >>",
        PAGES: f"<< /Type /Pages /Kids [{' '.join(f'{n} 0 R' for n in pages)}] /Count {len(contents)} >>",
        FONT: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    }
    for number, content in zip(pages, contents, strict=True):
        made[number] = (
            f"<< /Type /Page /Parent {PAGES} 0 R /MediaBox [0 0 612 792] {page_entries} "
            f"/Resources << /Font << /F1 {FONT} 0 R >> {resources} >> /Contents {number + 1} 0 R >>"
        )
        made[number + 1] = stream(content)
    return made


def written(made: Mapping[int, str], trailer: str = "") -> bytes:
    """Write objects as a file with a cross-reference table."""
    body = "%PDF-1.7\n"
    offsets = []
    for number in sorted(made):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{made[number]}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(made) + 1
    end = f"trailer\n<< /Size {size} /Root {CATALOG} 0 R {trailer} >>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + f"xref\n0 {size}\n0000000000 65535 f \n" + table + end).encode("latin-1")


def pdf(*contents: str) -> bytes:
    return written(objects(contents))
