"""List the pages of a PDF, also where its page tree loops or is broken. Reads no page content."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_INHERITED = ("/Resources", "/MediaBox", "/CropBox", "/Rotate")
_MAX_NODES = 200_000  # of a broken tree; a sound one of the largest allowed documents has fewer


def page_list(reader: "PdfReader", most: int) -> list["PageObject"] | None:
    """Give the pages in order, None where there are more than `most`."""
    try:
        count = len(reader.pages)
        return [reader.pages[number] for number in range(count)] if count <= most else None
    except MemoryError:
        raise
    except Exception:  # pypdf gives up a tree that loops or is damaged; the pages that can be reached are still there
        return _reachable(reader, most)


def _reachable(reader: "PdfReader", most: int) -> list["PageObject"] | None:
    """Walk the page tree in order, each node once; pages inherit from the nodes above as in a sound tree."""
    pages: list[PageObject] = []
    seen: set[object] = set()
    try:
        catalog: Any = reader.trailer["/Root"].get_object()
        todo: list[tuple[Any, dict[str, Any]]] = [(catalog.raw_get("/Pages"), {})]
    except MemoryError:
        raise
    except Exception:  # a catalog that is missing or no dictionary
        return pages
    while todo and len(seen) < _MAX_NODES:
        reference, inherited = todo.pop()
        key = getattr(reference, "idnum", id(reference))
        if key in seen:
            continue
        seen.add(key)
        try:
            node = reference.get_object()
            own = {name: node.raw_get(name) for name in _INHERITED if name in node}
            if "/Kids" in node:
                kids = list(node["/Kids"])
                todo += [(kid, {**inherited, **own}) for kid in reversed(kids[:_MAX_NODES])]
                continue
            pages.append(_page(reader, reference, node, inherited))
        except MemoryError:
            raise
        except Exception:  # this branch of the tree is damaged; the others may be sound
            continue
        if len(pages) > most:
            return None
    return pages


def _page(reader: "PdfReader", reference: Any, node: Any, inherited: dict[str, Any]) -> "PageObject":
    from pypdf import PageObject
    from pypdf.generic import NameObject

    page = PageObject(reader, reference if hasattr(reference, "idnum") else None)
    page.update(node)
    for name, value in inherited.items():
        if name not in page:
            page[NameObject(name)] = value
    return page
