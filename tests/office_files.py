"""Small OOXML files for tests, written by hand with zipfile, so that each test shows the XML it is about."""

import io
import zipfile
from xml.sax.saxutils import quoteattr

from ragcli.config.options import STANDARD, Limits
from ragcli.documents import ExtractionContext
from ragcli.model import DocumentFormat

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
X = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)

Relations = list[tuple[str, str, str]]


def package(parts: dict[str, str | bytes], *, content_types: str | None = CONTENT_TYPES) -> bytes:
    """Zip parts as they are given, in order, after [Content_Types].xml."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        if content_types is not None:
            archive.writestr("[Content_Types].xml", content_types)
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def relations(rows: Relations) -> str:
    """Write a .rels part from (id, kind, target) rows."""
    body = "".join(
        f'<Relationship Id="{identifier}" Type="{OFFICE}{kind}" Target={quoteattr(target)}/>'
        for identifier, kind, target in rows
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{body}</Relationships>'


def docx(body: str, *, rels: Relations | None = None, parts: dict[str, str] | None = None) -> bytes:
    """A Word document with this body; further parts by name, tied to it by `rels`."""
    return package(
        {
            "_rels/.rels": relations([("rId1", "officeDocument", "word/document.xml")]),
            "word/document.xml": f"<w:document {W} {R} {A} {MC}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(rels or []),
            **(parts or {}),
        }
    )


def paragraph(text: str, properties: str = "") -> str:
    """A paragraph of one run."""
    return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"


def run(text: str) -> str:
    """A run of one text."""
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def xlsx(
    sheets: dict[str, str],
    *,
    strings: list[str] | None = None,
    styles: str = "",
    workbook: str = "",
    parts: dict[str, str] | None = None,
) -> bytes:
    """A workbook; each sheet is given by its name and the XML of its rows, a shared string by the XML of its si."""
    rows = [(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    listed = "".join(f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1))
    files = {
        "_rels/.rels": relations([("rId1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f"<workbook {X} {R}>{workbook}<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            [*rows, ("rS", "sharedStrings", "sharedStrings.xml"), ("rT", "styles", "styles.xml")]
        ),
        "xl/sharedStrings.xml": f"<sst {X}>{''.join(f'<si>{item}</si>' for item in strings or [])}</sst>",
        "xl/styles.xml": f"<styleSheet {X}>{styles}</styleSheet>",
    }
    for n, body in enumerate(sheets.values(), 1):
        files[f"xl/worksheets/sheet{n}.xml"] = f"<worksheet {X} {R}><sheetData>{body}</sheetData></worksheet>"
    return package({**files, **(parts or {})})


def inline(reference: str, text: str) -> str:
    """A cell with an inline string."""
    return f'<c r="{reference}" t="inlineStr"><is><t>{text}</t></is></c>'


def pptx(slides: list[str], *, parts: dict[str, str] | None = None) -> bytes:
    """A presentation; each slide is given by the XML of its shapes and named backwards, against its order."""
    count = len(slides)
    files = {
        "_rels/.rels": relations([("rId1", "officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": (
            f"<p:presentation {P} {R}><p:sldIdLst>"
            + "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in range(count))
            + "</p:sldIdLst></p:presentation>"
        ),
        "ppt/_rels/presentation.xml.rels": relations(
            [(f"rId{n}", "slide", f"slides/slide{count - n}.xml") for n in range(count)]
        ),
    }
    for n, shapes in enumerate(slides):
        files[f"ppt/slides/slide{count - n}.xml"] = slide(shapes)
    return package({**files, **(parts or {})})


def slide(shapes: str, tag: str = "p:sld") -> str:
    """A slide, or a notes page by its tag, around shapes."""
    return f"<{tag} {P} {A} {R} {MC}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></{tag}>"


def shape(*paragraphs: str, placeholder: str = "") -> str:
    """A shape of paragraphs, as a placeholder of that type where one is named."""
    holder = f'<p:ph type="{placeholder}"/>' if placeholder else ""
    texts = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="None"/><p:cNvSpPr/><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/>{texts}</p:txBody></p:sp>"
    )


def context(format: DocumentFormat, limits: Limits = STANDARD) -> ExtractionContext:
    """What an extractor is told beside the bytes."""
    return ExtractionContext(f"a.{format.lower()}", format, limits)
