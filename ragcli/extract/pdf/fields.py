"""Read what people filled in or wrote on a PDF page: form values and notes. Reads no page content."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PageObject

_MAX_ANNOTATIONS = 10_000  # of one page; the largest tax forms have some hundreds
_MAX_PARENTS = 16  # a field takes what it lacks from those above it; chains that are longer loop
_MAX_VALUE = 65_536  # characters of one value
_FIELDS = frozenset({"/Tx", "/Ch"})
_NOTES = frozenset({"/FreeText", "/Text", "/Highlight", "/Underline", "/Squiggly", "/StrikeOut", "/Stamp"})


def written_on(page: "PageObject") -> list[str]:
    """Give the values of the page's text and choice fields and the texts of its notes, in the order of the file."""
    listed = page.get("/Annots")
    annotations = listed.get_object() if listed is not None else None
    if not isinstance(annotations, list):
        return []
    found: list[str] = []
    for reference in annotations[:_MAX_ANNOTATIONS]:
        annotation = reference.get_object()
        if not isinstance(annotation, dict):
            continue
        kind = annotation.get("/Subtype")
        value: Any = annotation.get("/Contents") if kind in _NOTES else None
        if kind == "/Widget" and _inherited(annotation, "/FT") in _FIELDS:
            value = _inherited(annotation, "/V")
        found += [text[:_MAX_VALUE] for text in _strings(value) if text.strip()]
    return found


def _inherited(field: Any, key: str) -> Any:
    for _ in range(_MAX_PARENTS):
        if not isinstance(field, dict):
            return None
        if key in field:
            return field[key]
        field = field.get("/Parent")
        field = field.get_object() if field is not None else None
    return None


def _strings(value: Any) -> list[str]:
    """Give a value that is a string or a list of strings; names (the states of a button) are none."""
    from pypdf.generic import TextStringObject

    parts = value if isinstance(value, list) else [value]
    return [str(part) for part in parts if isinstance(part, TextStringObject)]
