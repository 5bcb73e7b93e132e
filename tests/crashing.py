"""A directory in memory that dies at its k-th step, and forgets what was not synced when it is found again."""

import errno
import os
from collections.abc import Callable

from ragcli.store.directory import MemorySource, RamDirectory


class Died(BaseException):
    """The process is gone: nothing may catch this and go on."""


class CrashingDirectory(RamDirectory):
    """`files` is what processes see, `durable` what a power cut leaves; each write, fsync, rename is a step."""

    def __init__(self, files: dict[str, bytes] | None = None, dies_at: int = 0) -> None:
        super().__init__(dict(files or {}))
        self.durable = dict(self.files)
        self.dies_at = dies_at
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.dies_at:
            raise Died

    def draft(self) -> "CrashingDraft":
        self.step()
        return CrashingDraft(self)

    def remove(self, name: str) -> None:
        self.step()
        super().remove(name)
        # A removal that nobody synced may or may not be there after a power cut; that it is, is the worse case.
        self.durable.pop(name, None)

    def after_kill(self) -> RamDirectory:
        """What the next process finds when this one was killed."""
        return RamDirectory(dict(self.files))

    def after_power_cut(self) -> RamDirectory:
        """What is left when the machine went down too."""
        return RamDirectory(dict(self.durable))


class CrashingDraft:
    """A draft whose bytes are durable after `fsync`, and its name after the directory's."""

    def __init__(self, directory: CrashingDirectory) -> None:
        self._directory = directory
        self._name = f".draft-{directory.steps}"
        self._data = b""
        directory.files[self._name] = b""

    def write(self, data: bytes) -> None:
        half = len(data) // 2
        self._append(data[:half])
        self._directory.step()
        self._append(data[half:])

    def publish(self, name: str) -> None:
        directory = self._directory
        directory.step()
        synced = self._data
        directory.step()
        directory.files.pop(self._name, None)
        directory.files[name] = synced
        directory.step()
        directory.durable[name] = synced

    def discard(self) -> None:
        """A dead process tidies nothing up."""

    def _append(self, data: bytes) -> None:
        self._data += data
        self._directory.files[self._name] = self._data


def each_step(run: Callable[[int], CrashingDirectory]) -> list[CrashingDirectory]:
    """Run with death at step 1, 2, 3 … until it survives; the directories as they were left."""
    left = []
    for dies_at in range(1, 10_000):
        directory = run(dies_at)
        if directory.steps < dies_at:
            return left
        left.append(directory)
    raise AssertionError("it never survives")


class FullDirectory(RamDirectory):
    """A directory with room for `room` bytes of drafts."""

    def __init__(self, files: dict[str, bytes], room: int) -> None:
        super().__init__(dict(files))
        self.room = room

    def draft(self) -> "FullDraft":
        return FullDraft(self)


class FullDraft:
    def __init__(self, directory: FullDirectory) -> None:
        self._directory = directory
        self._data = b""

    def write(self, data: bytes) -> None:
        self._directory.room -= len(data)
        if self._directory.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._data += data

    def publish(self, name: str) -> None:
        self._directory.files[name] = self._data

    def discard(self) -> None:
        self._data = b""


__all__ = ["CrashingDirectory", "Died", "FullDirectory", "MemorySource", "each_step"]
