"""Which of several runs that share a store trains a cell, or makes an estimate of NADs: the one
that holds its lock."""

import errno
import fcntl
from pathlib import Path


class Claims:
    """Cells, and estimates, that this process has claimed, as locks on single bytes of one file in
    a store's folder; a context manager.

    The operating system lets go of them when the process ends, however it ends. They keep out other
    processes alone. On a file system without locks, every claim succeeds.
    """

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder) / "claims"

    def __enter__(self) -> "Claims":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.open("ab")
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def _lock(self, how: int, key: str) -> bool:
        try:
            # The first sixty bits of a key are enough to tell them apart, and a place in a file.
            fcntl.lockf(self.file, how, 1, int(key[:15], 16))
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)  # held by another process
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
