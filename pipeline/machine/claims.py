"""Locks that share out work: of several runs on one store, one trains each cell."""

import errno
import fcntl
from pathlib import Path


class Claims:
    """The locks of this process, on single bytes of a file in a store's folder; a
    context manager.

    They exclude other processes alone. The operating system releases them when the
    process ends, however it ends. On a file system without locks every claim succeeds.
    """

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder) / "claims"

    def __enter__(self) -> "Claims":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.open("ab")
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def _lock(self, operation: int, key: str) -> bool:
        try:
            # The first sixty bits of a key tell keys apart, and are a place in a file.
            fcntl.lockf(self.file, operation, 1, int(key[:15], 16))
        except OSError as error:
            # One of these two says that another process holds it.
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        return True

    def take(self, key: str) -> bool:
        """Claim a key; False where another process holds it."""
        return self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB, key)

    def wait(self, key: str) -> None:
        """Claim a key as soon as no other process holds it."""
        self._lock(fcntl.LOCK_EX, key)

    def release(self, key: str) -> None:
        """Give up the claim on a key."""
        self._lock(fcntl.LOCK_UN, key)
