"""The path of headings above a place in a document, for every format that has headings. Pure."""

SEPARATOR = " > "

# Levels and titles, outermost first.
HeadingPath = tuple[tuple[int, str], ...]


def under(path: HeadingPath, level: int, title: str) -> HeadingPath:
    """The path below a new heading: it ends every heading of its own level or deeper."""
    return (*(part for part in path if part[0] < level), (level, title))


def shown(path: HeadingPath) -> str:
    """The path as metadata holds it; headings without text leave no trace."""
    return SEPARATOR.join(title for _, title in path if title)
