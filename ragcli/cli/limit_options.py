"""One option of `index` for each limit of the engine, made from the table of limits so that none can be missed."""

from typing import Any

import typer
from typer.core import TyperOption

from ragcli.config.options import STANDARD, Limits

_META = "ragcli.limits"
_MEANING = {
    "max_files": "Files of a tree.",
    "max_entries": "Directory entries of a tree, skipped ones too.",
    "max_depth": "Depth of a tree; the root is 0.",
    "max_total_text": "Bytes of decoded text in all.",
    "max_raw_text": "Bytes of one text file.",
    "max_raw_binary": "Bytes of one file of a binary format.",
    "max_text": "Characters of one document.",
    "max_blocks": "Blocks of one document.",
    "max_block_chars": "Characters of one block.",
    "max_chunk_lines": "Lines of one chunk.",
    "max_chunk_bytes": "Bytes of one chunk.",
    "max_chunks": "Chunks of one document.",
    "max_pdf_pages": "Pages of one PDF.",
    "max_page_glyphs": "Glyphs of one PDF page.",
    "max_zip_entries": "Entries of an Office or EPUB file.",
    "max_xml_depth": "Depth of XML.",
    "max_xml_nodes": "Nodes of XML.",
    "max_inflation": "Inflated size of a packed file, as a multiple of its raw cap.",
    "extraction_seconds": "Seconds of processor time of one extraction, and ten times as many by the clock.",
    "extraction_memory": "Bytes of memory that one extraction may take.",
    "max_ignore_bytes": "Bytes of one ignore file.",
    "max_ignore_rules": "Rules of one ignore file.",
}


def limit_options() -> list[TyperOption]:
    """Make the options that set one limit each."""
    return [_option(name) for name in Limits._fields]


def given_limits(ctx: typer.Context) -> dict[str, object]:
    """Return the limits given on the command line, by their setting's name."""
    found: dict[str, object] = ctx.meta.get(_META, {})
    return found


def _option(name: str) -> TyperOption:
    def store(ctx: typer.Context, parameter: Any, value: str | None) -> None:
        if value is not None:
            ctx.meta.setdefault(_META, {})[f"limit.{name}"] = value

    return TyperOption(
        param_decls=[name, f"--{name.replace('_', '-')}"],
        metavar="N",
        expose_value=False,
        callback=store,
        help=f"{_MEANING[name]} (standard {getattr(STANDARD, name):,}, strict {getattr(Limits(), name):,})",
    )
