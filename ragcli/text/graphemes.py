"""Where a text may be cut without tearing what reads as one character."""

_ZERO_WIDTH_JOINER = "\u200d"


def joins(character: str) -> bool:
    """Whether a character belongs to the one before it: a combining mark, a joiner, a skin tone."""
    if character < "\u0300":
        return False
    import unicodedata

    return (
        character == _ZERO_WIDTH_JOINER
        or unicodedata.category(character) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def splits_character(text: str, at: int) -> bool:
    """Whether a cut before `text[at]` tears a composed character, a joined emoji or a flag. `0 < at < len(text)`."""
    return joins(text[at]) or text[at - 1] == _ZERO_WIDTH_JOINER or _splits_flag(text, at)


def _splits_flag(text: str, at: int) -> bool:
    """A flag is two regional indicators; they pair from the beginning of their run."""
    if not _is_indicator(text[at]):
        return False
    before = at
    while before > 0 and _is_indicator(text[before - 1]):
        before -= 1
    return (at - before) % 2 == 1


def _is_indicator(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
