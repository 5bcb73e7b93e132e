"""Words that a printed page breaks at the end of a line or page, whole again for the index. Pure."""

import re

# The second part begins in lower case, at most a blank line further on: the next page's text. Both parts are bounded,
# so that a long run of letters is read once only.
_BROKEN = re.compile(r"\b([^\W\d_]{2,40})[-\u2010\xad][ \t]*\n\s{0,8}(?=([^\W\d_]{2,40}))")
_BEYOND = 64  # characters after a chunk in which the rest of its last word stands


def joined_words(text: str, start: int, end: int) -> list[str]:
    """Give the words that begin in text[start:end] and go on in a later line, without hyphen, in their order.

    `photosyn-` before `thesis` gives `photosynthesis`; the text itself keeps its parts, since a hyphen may be real.
    """
    window = text[start : end + _BEYOND]
    found = (match for match in _BROKEN.finditer(window) if match.start() < end - start)
    return [match[1] + match[2] for match in found if match[2][0].islower()]
