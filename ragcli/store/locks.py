"""Who holds the one writer's lock of a directory; taking it is `Directory.lock`."""

import os

LOCK_NAME = "lock"


def is_locked(path: str) -> bool:
    """Whether a writer holds the lock of the directory at `path` now."""
    try:
        import fcntl

        descriptor = os.open(os.path.join(path, LOCK_NAME), os.O_RDWR | os.O_CLOEXEC)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def lock_holder(path: str) -> str:
    """What the holder wrote of itself into the lock file at `path`."""
    try:
        with open(path, "rb") as file:
            return file.read(100).decode("ascii", "replace") or "another process"
    except OSError:
        return "another process"
