"""A module about tides."""

from dataclasses import dataclass

LIMIT = 3


# Explains tide().
# In two lines.
@cache
@route("/tide")
def tide(moon: str, /, height: float = 1.0) -> float:
    """Docstring."""

    def inner(x):
        return x

    return inner(height)


async def fetch(url): return url


@dataclass
class Harbour:
    """A class with its own lines."""

    name: str

    class Meta:
        ordering = ["name"]

    @property
    def depth(self) -> int:
        return 3

    limit = LIMIT  # between methods

    @staticmethod
    async def ships(
        first: str,
        *rest: str,
    ) -> list[str]:
        return [first, *rest]


try:
    import fast
except ImportError:
    def fallback():
        return None

def one(): pass
def two(): pass  # trailing remark

if __name__ == "__main__":
    tide("new")
