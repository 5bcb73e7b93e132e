"""The encoding that a text file declares for itself, and Python's codec for a label. Decodes nothing."""

import codecs
import re

# Of each family the wider member, as browsers decode it (Encoding Standard, encoding.spec.whatwg.org).
_WIDER = {"shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs", "gbk": "gb18030"}
# Labels that no page in an ASCII-compatible encoding can mean.
_NEVER_DECLARED = frozenset(("utf-16le", "utf-16be", "x-user-defined"))
# Names of editors and languages for what the Encoding Standard calls otherwise.
_ALSO = {
    "cp932": "shift_jis", "cp936": "gbk", "cp949": "euc-kr", "cp950": "big5", "mac-roman": "macintosh",
    "japanese-iso-8bit": "euc-jp", "chinese-iso-8bit": "gbk", "korean-iso-8bit": "euc-kr", "euc-cn": "gbk",
}  # fmt: skip
# Code pages of DOS, which no web page uses; single bytes each.
_DOS = re.compile(r"(?:cp|ibm|dos)?-?(437|7(?:37|75)|8(?:5[02578]|6[0-69]))")
_LINE_ENDS = re.compile(r"-(?:unix|dos|mac)$")  # Emacs: latin-2-unix
_HEAD = 16 * 1024
_MODELINES = 5  # Vim looks at so many lines at either end of a file
# PEP 263 and Ruby ask for `coding` and : or = in one of the first two lines; `fileencoding` and `encoding` end so too.
_CODING = re.compile(r"""coding[ \t]*[:=][ \t]*["']?([\w.+-]+)""")
_VIM = re.compile(r"(?:^|\s)(?:vim?|ex):.*?\b(?:fileencoding|fenc)=([\w.+-]+)")
_GETTEXT = re.compile(r'^"Content-Type:[^"\n]*charset=([\w.+-]+)', re.MULTILINE | re.IGNORECASE)
_STYLE_SHEET = re.compile(r'@charset "([\w.+-]+)"')


def codec_of(label: str) -> str:
    """Return Python's codec for a label of the Encoding Standard, '' for none.

    Python also has codecs that are no charsets (rot13, idna, unicode_escape); none of them has a label.
    """
    import webencodings

    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in _NEVER_DECLARED:
        return ""
    name = str(encoding.codec_info.name)
    plain = name if name == "utf-8" else name.replace("-", "_")
    return _WIDER.get(plain, plain)


def declared_codec(raw: bytes) -> str:
    """Return the codec that a text declares: a coding line, a Vim modeline, gettext's header, @charset; '' for none."""
    head = raw[:_HEAD].decode("latin-1")
    lines = head.split("\n")
    tail = raw[-_HEAD:].decode("latin-1").rstrip().split("\n")[-_MODELINES:]
    found = [match[1] for line in lines[:2] for match in _CODING.finditer(line)]
    found += [match[1] for line in (*lines[:_MODELINES], *tail) for match in _VIM.finditer(line)]
    found += [match[1] for match in (_GETTEXT.search(head), _STYLE_SHEET.match(head)) if match]
    return next(filter(None, map(_codec_named, found)), "")


def _codec_named(name: str) -> str:
    """Return the codec for a name that editors and languages use: with other dashes, or an Emacs suffix."""
    label = _LINE_ENDS.sub("", name.lower().replace("_", "-"))
    label = _ALSO.get(label, label)
    for spelt in (label, label.removeprefix("iso-").replace("latin-", "latin"), label.replace("iso8859", "iso-8859")):
        if codec := codec_of(spelt):
            return codec
    dos = _DOS.fullmatch(label)
    return codecs.lookup(f"cp{dos[1]}").name if dos else ""
