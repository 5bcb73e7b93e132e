"""Bytes to clean text: which encoding, which line ends, and whether it is text at all. Reads no files, keeps no state.

After `normalize` lines end at LF, U+FEFF is gone (a byte order mark pasted into the middle says nothing either), and
each NUL and each lone surrogate is one U+FFFD, so that a reader sees that something was there.
"""

import codecs
import re
import unicodedata

from ragcli.documents import ExtractionContext
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.declared_encoding import declared_codec
from ragcli.extract.embedded_data import without_embedded

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ANY_MARK = tuple(mark for mark, _ in _MARKS)
# C0 controls that texts do not use; BS, TAB, LF, VT, FF, CR and ESC occur in man pages, old sources, coloured logs.
_CONTROLS = bytes(sorted({*range(32), 127} - {8, 9, 10, 11, 12, 13, 27}))
# Random bytes hold 10% of these controls; texts none, a damaged text a few.
_CONTROL_SHARE_VALID = 0.05
_CONTROL_SHARE_INVALID = 0.02
_FEW_CONTROLS = 4
_BINARY_HEAD = 64 * 1024
# Formats that may hold few controls; only marks that no text begins with.
_MAGIC = (
    b"\x89PNG\r\n", b"\xff\xd8\xff", b"PK\x03\x04", b"PK\x05\x06", b"%PDF-", b"\x7fELF", b"\x1f\x8b", b"\xfd7zXZ\x00",
    b"7z\xbc\xaf", b"Rar!\x1a", b"\xd0\xcf\x11\xe0\xa1\xb1", b"SQLite format 3\x00", b"\x00asm", b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe", b"(\xb5/\xfd", b"\x00\x01\x00\x00",
)  # fmt: skip
# Chance makes one valid UTF-8 sequence for some ten broken bytes of a code page; in a damaged file most are good.
_GOOD_SHARE = 2
# A file of a known code page may hold this share of broken characters before it is read as Windows-1252 after all.
_DAMAGE = 0.01
# Tried in turn where detection finds nothing whole and Windows-1252 does not know a byte.
_EAST_ASIAN = ["cp932", "euc_jp", "cp949", "gb18030"]
_SAMPLE, _CONTEXT, _LONG_LINE = 16 * 1024, 200, 4_096
_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH = re.compile(rb"[\x80-\xff]")
_SHIFT = b"\x1b$"
_SHIFTED = re.compile(rb"\x1b\$[@AB(]")  # ISO-2022: ASCII bytes only, so it would pass as UTF-8
_WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
# What Windows-1252 text is made of beside ASCII. Left out are the letters whose bytes are common ones of cp1250
# (Polish, Czech) and cp1254 (Turkish), which charset-normalizer tells apart better.
_WESTERN = frozenset("àâäáãåæçèéêëìíîïñòóôöõøœùúûüÿßÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØŒÙÚÛÜŸ€‘’‚“”„–—…«»°©®™§·•¿¡´±×£\u00a0\u00ad")


def read_text(raw: bytes, context: ExtractionContext) -> tuple[str, str]:
    """Return normalized text and encoding of a text file, embedded data left out; refuse a binary one with EXTRACTION.

    DocumentProcessingError with EXTRACTION for a binary one.
    """
    if looks_binary(raw):
        detail = "not text: the bytes look like a binary format"
        raise DocumentProcessingError(FailureCode.EXTRACTION, context.source, context.uri, context.format, detail)
    text, encoding = decode(raw)
    return without_embedded(normalize(text)), encoding


def decode(raw: bytes) -> tuple[str, str]:
    """Return text and encoding: a byte order mark, UTF-8, what it declares, what the bytes suggest; never fails."""
    marked = _by_mark(raw)
    if marked is not None:
        return marked
    wide = _wide_without_mark(raw)
    if wide:
        return raw.decode(wide, "replace"), wide
    if _SHIFT in raw and _SHIFTED.search(raw) and _decodes(raw, "iso2022_jp_2"):
        return raw.decode("iso2022_jp_2"), "iso2022_jp_2"
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return _doubtful(raw)


def normalize(text: str) -> str:
    """Make line ends LF (CR counts only where no LF is), drop U+FEFF, put U+FFFD for NUL and lone surrogates."""
    if not text.isascii():
        text = text.replace("\ufeff", "")
    if "\r" in text:
        if "\n" in text:
            text = re.sub("\r+\n", "\n", text)
        else:
            text = text.replace("\r", "\n")
    return well_formed(text)


def well_formed(text: str) -> str:
    """Put U+FFFD for each NUL and lone surrogate; offsets stay as they were."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return _SURROGATE.sub("\ufffd", text)
    return text


def looks_binary(raw: bytes) -> bool:
    """Tell whether bytes (a file or its head) are no text; a text with a few NULs, or in UTF-16 or UTF-32, is text."""
    if not raw:
        return False
    if raw.startswith(_ANY_MARK):
        return _marked_is_binary(raw[:_BINARY_HEAD])
    if raw.startswith(_MAGIC):
        return True
    head = raw[:_BINARY_HEAD]
    if _wide_without_mark(head):
        return False
    return _too_many_controls(head) or (len(raw) > len(head) and _too_many_controls(raw))


def _too_many_controls(raw: bytes) -> bool:
    controls = len(raw) - len(raw.translate(None, _CONTROLS))
    if controls <= _FEW_CONTROLS:
        return False
    share = controls / len(raw)
    if share > _CONTROL_SHARE_VALID:
        return True
    return share > _CONTROL_SHARE_INVALID and not _valid_utf8_prefix(raw)


def _valid_utf8_prefix(raw: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        return False
    return True


def _marked_is_binary(head: bytes) -> bool:
    text = decode(head)[0][:4096]
    strange = sum(char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cn", "Co") for char in text)
    strange -= sum(text.count(char) for char in "\b\t\n\v\f\r\x1b")
    return strange > _FEW_CONTROLS and strange > len(text) * _CONTROL_SHARE_VALID


def _by_mark(raw: bytes) -> tuple[str, str] | None:
    if not raw.startswith(_ANY_MARK):
        return None
    for mark, encoding in _MARKS:
        if not raw.startswith(mark):
            continue
        body = raw[len(mark) :]
        if encoding.startswith("utf-32") and not _decodes(body, encoding):
            continue  # UTF-16 whose first character is a NUL
        return body.decode(encoding, "replace"), encoding
    return None


def _wide_without_mark(raw: bytes) -> str:
    """Name the UTF-16 of a text without mark, seen by NULs in one of two byte columns only; '' where it is none."""
    head = raw[:4096]
    if len(head) < 8 or b"\0" not in head:
        return ""
    even, odd = head[0::2], head[1::2]
    low, high = even.count(0) / len(even), odd.count(0) / len(odd)
    encoding = "utf-16-le" if high > 0.4 and low < 0.02 else "utf-16-be" if low > 0.4 and high < 0.02 else ""
    if not encoding:
        return ""
    text = head[: len(head) & ~1].decode(encoding, "replace")
    printable = sum(char.isprintable() or char in "\t\n\r\f" for char in text)
    return encoding if printable > 0.98 * len(text) else ""


def _decodes(raw: bytes, encoding: str) -> bool:
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _doubtful(raw: bytes) -> tuple[str, str]:
    """Decode bytes that are not UTF-8: as declared, else damaged UTF-8, else a code page, else Windows-1252."""
    declared = declared_codec(raw)
    if declared and declared != "utf-8" and _decodes(raw, declared):
        return raw.decode(declared), declared
    damaged = raw.decode("utf-8", "replace")
    bad = damaged.count("\ufffd")
    good = sum(map(len, re.findall("[^\\x00-\\x7f\ufffd]+", damaged)))
    if good * _GOOD_SHARE >= bad:
        return damaged, "utf-8"
    sample = _sample(raw)
    encodings = [] if _western(sample) else [_detected(sample)]
    if not _decodes(raw, "cp1252"):
        encodings += _EAST_ASIAN
    for encoding in filter(None, encodings):
        text = raw.decode(encoding, "replace")
        if text.count("\ufffd") <= len(text) * _DAMAGE:
            return text, encoding
    western = "cp1252" if _decodes(raw, "cp1252") else "latin-1"
    return raw.decode(western), western


def _sample(raw: bytes) -> bytes:
    """Return the lines that are not ASCII, to some 16 KiB: the start of a file may hold none of them."""
    pieces, size, at = [], 0, 0
    while size < _SAMPLE and (match := _HIGH.search(raw, at)):
        start = max(at, raw.rfind(b"\n", at, match.start()) + 1, match.start() - _CONTEXT)
        end = raw.find(b"\n", match.start(), match.start() + _LONG_LINE)
        if end < 0:  # not inside a character of several bytes
            end = raw.rfind(b" ", match.start(), match.start() + _LONG_LINE)
        at = end + 1 if end >= 0 else min(len(raw), match.start() + _LONG_LINE)
        pieces.append(raw[start:at])
        size += at - start
    return b"".join(pieces)


def _western(sample: bytes) -> bool:
    """Tell whether a sample is most likely Windows-1252: mostly ASCII words with Western letters in them."""
    if not _decodes(sample, "cp1252"):
        return False
    if not all(char in _WESTERN for char in set(sample.decode("cp1252")) if char > "\x7f"):
        return False
    words = b"".join(word for word in _WORD.findall(sample) if not word.isascii())
    high = sum(char.isalpha() for char in words.decode("cp1252") if char > "\x7f")
    return high <= max(2, len(words) / 2)


def _detected(sample: bytes) -> str:
    """Ask charset-normalizer; wide encodings were looked at before and would swallow any short text."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_exclusion=["utf_7", "utf_16", "utf_16_be", "utf_16_le", "utf_32"]).best()
    return str(best.encoding) if best is not None else ""
