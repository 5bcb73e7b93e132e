"""Read the parts and relationships of an OOXML package that the pre-scan let through.

May not know what a document, workbook or presentation is. Packages are opened here and not by the office libraries,
because those refuse strict OOXML, macro types, missing targets and odd names whose XML is sound.
"""

import functools
import posixpath
import re
import zipfile
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from lxml import etree

from ragcli.config.options import Limits
from ragcli.extract.office.packages import PackageRefused, open_archive, part_names, scan

Element = Any

# Strict OOXML (ISO 29500) differs from the transitional kind in namespace and relationship names only.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"
_PREFIXES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "x",
    "http://schemas.openxmlformats.org/presentationml/2006/main": "p",
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a",
    "http://schemas.openxmlformats.org/drawingml/2006/chart": "c",
    "http://schemas.openxmlformats.org/drawingml/2006/diagram": "dgm",
    "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing": "wp",
    "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing": "xdr",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://schemas.microsoft.com/office/drawing/2014/chartex": "cx",
    "urn:schemas-microsoft-com:vml": "v",
}
_NAMESPACES = {prefix: namespace for namespace, prefix in _PREFIXES.items()}
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


class Relation(NamedTuple):
    """One relationship: `kind` is the last word of its type, `target` a part name as this package writes it."""

    id: str
    kind: str
    target: str
    external: bool


@functools.lru_cache(maxsize=4096)
def short(tag: str) -> str:
    """Shorten a qualified tag to `prefix:name`; names of unknown namespaces lose theirs."""
    namespace, _, name = tag[1:].rpartition("}") if tag.startswith("{") else ("", "", tag)
    prefix = _PREFIXES.get(namespace)
    return f"{prefix}:{name}" if prefix else name


def qualified(name: str) -> str:
    """Return the qualified tag of a `prefix:name`."""
    prefix, _, tag = name.partition(":")
    return f"{{{_NAMESPACES[prefix]}}}{tag}"


@functools.lru_cache(maxsize=4096)
def local(tag: str) -> str:
    """Return the name of a qualified tag without its namespace."""
    return tag.rpartition("}")[2]


def relation_id(element: Element, name: str = "id") -> str:
    """Return the r:id (or r:embed, r:dm ...) of an element, '' where it has none."""
    return str(element.get(_RELATION + name, ""))


class Package:
    """An OOXML package, checked and open. Part names are lower case, without a leading slash."""

    def __init__(self, raw: bytes, limits: Limits) -> None:
        scan(raw, limits, kind="ooxml")
        self._archive = open_archive(raw, limits)
        self._names = part_names(self._archive, "ooxml")
        self._relations: dict[str, list[Relation]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def names(self) -> list[str]:
        """List the part names, sorted."""
        return sorted(self._names)

    def open(self, name: str) -> IO[bytes]:
        """Open one part as a stream."""
        return self._archive.open(self._names[name])

    def root(self, name: str, classes: Any = None) -> Element:
        """Parse one XML part; `classes` is an office library's lookup of element classes."""
        try:
            data = self._archive.read(self._names[name])
        except (zipfile.BadZipFile, OSError):
            raise PackageRefused("the zip package is damaged") from None
        if b"//purl.oclc.org/ooxml/" in data:
            data = _STRICT.sub(_TRANSITIONAL, data)
        # huge_tree lifts the 10 MB cap on one text; depth and size were checked by the scan, and no DTD is left.
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
        )
        if classes is not None:
            parser.set_element_class_lookup(classes)
        try:
            return etree.fromstring(data, parser)
        except etree.XMLSyntaxError:
            raise PackageRefused("an XML part is not well-formed") from None

    def relations(self, part: str = "") -> list[Relation]:
        """List the relationships of a part ('' for the package), in the order of the file."""
        if part not in self._relations:
            self._relations[part] = self._read_relations(part)
        return self._relations[part]

    def related(self, part: str, *kinds: str) -> list[str]:
        """List the existing parts that a part points at with one of these kinds of relationship."""
        return [r.target for r in self.relations(part) if r.kind in kinds and r.target in self._names]

    def by_id(self, part: str) -> dict[str, Relation]:
        """Map the relationship ids of a part."""
        return {relation.id: relation for relation in self.relations(part)}

    def main(self, default: str) -> str:
        """Find the main part, by relationship or else by its usual name."""
        for name in [*self.related("", "officeDocument"), default]:
            if name in self._names:
                return name
        raise PackageRefused("the package has no main part")

    def title(self) -> str:
        """Return the title of the document's properties, '' where it has none."""
        for name in self.related("", "core-properties"):
            for element in self.root(name):
                if short(element.tag) == "title":
                    return " ".join((element.text or "").split())
        return ""

    def _read_relations(self, part: str) -> list[Relation]:
        folder, _, base = part.rpartition("/")
        rels = f"{folder}/_rels/{base}.rels" if folder else f"_rels/{base}.rels"
        if rels not in self._names:
            return []
        found = []
        for element in self.root(rels):
            kind = element.get("Type", "").rpartition("/")[2]
            external = element.get("TargetMode") == "External"
            target = element.get("Target", "")
            if not external:
                target = self._resolve(folder, target)
            found.append(Relation(element.get("Id", ""), kind, target, external))
        return found

    def _resolve(self, folder: str, target: str) -> str:
        target = target.replace("\\", "/").partition("#")[0]
        path = posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/").lower()
        return path if path in self._names else unquote(path)
