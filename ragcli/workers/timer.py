"""Work in a worker that its task's limit of processor time does not count."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def untimed() -> Iterator[None]:
    """Stop the clock of the task's processor time; it goes on behind. Elsewhere than in a worker nothing runs."""
    try:
        from signal import ITIMER_PROF, setitimer
    except ImportError:  # Windows has neither workers nor such a clock
        yield
        return
    left, _ = setitimer(ITIMER_PROF, 0)
    try:
        yield
    finally:
        if left:
            setitimer(ITIMER_PROF, left)
