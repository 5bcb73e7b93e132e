"""The filters of a search, settled against what the searched sessions hold: aliases, unknown values, empty globs."""

from collections.abc import Iterable, Mapping, Sequence

from ragcli.config.options import SearchFilter
from ragcli.errors import UsageError
from ragcli.index.doc_table import DocumentRow
from ragcli.model import FILE


def settled(where: SearchFilter, languages: Mapping[str, int], formats: Mapping[str, int]) -> SearchFilter:
    """The filter with aliases and extensions resolved; `languages` and `formats` count the files there are.

    UsageError, with what was probably meant and what there is, for a language or a format that nobody knows.
    """
    if not where.languages and not where.formats:
        return where
    from ragcli.ingest.type_names import format_named, format_names, type_named, type_names

    named = [(value, type_named(value, languages)) for value in where.languages]
    for value, known in named:
        if not known:
            raise UsageError(f"unknown language {value}", _hint(value, type_names(), [*languages, *_lower(formats)]))
    read = [(value, format_named(value)) for value in where.formats]
    for value, known in read:
        if not known:
            raise UsageError(f"unknown format {value}", _hint(value, format_names(), formats))
    return where._replace(languages=tuple(known for _, known in named), formats=tuple(known for _, known in read))


def notices(
    asked: SearchFilter, languages: Mapping[str, int], formats: Mapping[str, int], rows: Iterable[DocumentRow]
) -> list[str]:
    """What of a filter that could be settled meets no file of the index; `rows` are read where there are globs."""
    if asked == SearchFilter():
        return []
    where = settled(asked, languages, formats)
    there = {language.lower() for language in languages} | _lower(formats)
    said = [
        f"no file of this index is of type {value}; it has {_listed([*languages, *_lower(formats)])}"
        for value, known in zip(asked.languages, where.languages, strict=True)
        if known not in there and not known.startswith(".")
    ]
    said += [
        f"no file of this index is of format {value}; it has {_listed(formats)}"
        for value, known in zip(asked.formats, where.formats, strict=True)
        if known not in formats
    ]
    if where.globs:
        from ragcli.ingest.patterns import unmatched

        paths = [row.path for row in rows if row.kind == FILE]
        said += [f"-g {glob} matches no indexed file" for glob in unmatched(where.globs, paths)]
    return said


def _hint(value: str, names: Iterable[str], there: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(value.lower(), {name.lower(): name for name in names}, 1, 0.6)
    meant = f"did you mean {close[0]}? " if close else ""
    return f"{meant}this index has {_listed(there)}"


def _listed(names: Iterable[str]) -> str:
    known: Sequence[str] = sorted({name for name in names if name and name.lower() not in ("source", "source_code")})
    return ", ".join(known) or "no files"


def _lower(names: Iterable[str]) -> set[str]:
    return {name.lower() for name in names}
