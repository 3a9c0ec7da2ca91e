"""Which of several runs that share a store trains a cell, or makes an estimate of NADs: the one that holds its lock."""

import errno
import fcntl
import os
from pathlib import Path

HELD = (errno.EACCES, errno.EAGAIN)
"""What the operating system says of a lock that another process holds."""


class Claims:
    """Cells, and estimates, that this process has claimed, as locks on single bytes of one file in a store's folder; a context manager.

    The operating system lets go of them when the process ends, however it ends; a byte for each lets thousands share one
    open file. They keep out other processes alone. Where the folder or its file system takes no locks, every claim succeeds.
    """

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder) / "claims"

    def __enter__(self) -> "Claims":
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            self.file = None
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            os.close(self.file)

    def _lock(self, how: int, key: str) -> bool:
        if self.file is None:
            return True
        try:
            # The first sixty bits of a key are enough to tell them apart, and a place in a file.
            fcntl.lockf(self.file, how, 1, int(key[:15], 16))
        except OSError as error:
            return error.errno not in HELD
        return True

    def take(self, key: str) -> bool:
        """Claim the cell `key`; returns whether it is this process's now."""
        return self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB, key)

    def wait(self, key: str) -> None:
        """Claim the cell `key`, once the process that holds it lets it go or ends."""
        self._lock(fcntl.LOCK_EX, key)

    def release(self, key: str) -> None:
        """Let the cell `key` go."""
        self._lock(fcntl.LOCK_UN, key)
