"""The one writer's lock of a directory: a kernel lock, which a dead holder does not hold; and who holds it."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ragcli.errors import LockedError
from ragcli.store.private_files import explained, make_private

LOCK_NAME = "lock"
_NO_KERNEL_LOCKS = frozenset((errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK))


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


@contextmanager
def held_lock(directory: str, wait: float) -> Iterator[None]:
    """Hold a directory's lock, made with the directory where they are missing.

    LockedError after `wait` seconds, StoreError where the system refuses it.
    """
    path = os.path.join(directory, LOCK_NAME)
    holder = _acquired(directory, path, wait)
    try:
        with explained(directory), open(path, "wb") as file:
            file.write(f"process {os.getpid()} since {time.strftime('%Y-%m-%d %H:%M:%S')}".encode())
        yield
    finally:
        holder.release()


def _acquired(directory: str, path: str, wait: float) -> Any:
    import filelock

    end = time.monotonic() + max(wait, 0.0)
    while True:
        with explained(directory):
            make_private(directory)
            holder = _kernel_lock(path)
            try:
                try:
                    holder.acquire(timeout=max(end - time.monotonic(), 0.0), poll_interval=0.02)
                except (OSError, NotImplementedError) as error:
                    if isinstance(error, OSError) and error.errno not in _NO_KERNEL_LOCKS:
                        raise
                    # By existence, where the file system has no other (Lustre, some network mounts): its record is
                    # filelock's own, so that a holder that died is told by it, and our text stays in `lock`.
                    holder = filelock.SoftFileLock(f"{path}.held", mode=0o600)
                    holder.acquire(timeout=max(end - time.monotonic(), 0.0), poll_interval=0.02)
            except filelock.Timeout:
                raise LockedError(
                    f"the session is being written by {lock_holder(path)}",
                    "wait for it, or give a longer --wait SECONDS",
                ) from None
            except FileNotFoundError:
                continue  # the directory was removed before the lock in it was made
        # Whoever removed the session meanwhile held a lock that is no longer there, and so do we.
        if _is_of(holder.lock_file, holder):
            return holder
        holder.release()


def _kernel_lock(path: str) -> Any:
    import filelock

    more: dict[str, Any] = {"fallback_to_soft": False}  # later versions fall back by themselves, over our own text
    try:
        return filelock.FileLock(path, mode=0o600, **more)
    except TypeError:
        return filelock.FileLock(path, mode=0o600)


def _is_of(path: str, holder: Any) -> bool:
    """Whether a held lock is that of the file which now has its name, as far as filelock tells its descriptor."""
    descriptor = getattr(getattr(holder, "_context", None), "lock_file_fd", None)
    try:
        return descriptor is None or os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
