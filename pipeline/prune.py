"""Command `prune [DAYS]`: prints the size of the store, .cells/; with DAYS it removes files that
were not used for so many days.

Not a stage: nothing that DVC tracks depends on it. Removed work is done again when it is needed.
"""

import time

from pipeline.machine import store
from pipeline.project import command
from pipeline.project.errors import one_sentence

PATTERNS = {
    "trained cells": "??/*.safetensors",
    "estimates of NADs": "nads/*/*.safetensors",
    "leftovers of killed writes": "**/*.part",
}
"""Path patterns of the store's files, by the contents of the files."""


def main(days: float | None = None) -> None:
    """Print the store's size by contents, and remove files that were not used for so many days."""
    every = {}
    for name, pattern in PATTERNS.items():
        files = {path: path.stat() for path in store.default_folder().glob(pattern)}
        size = sum(status.st_size for status in files.values()) / 1e6
        print(f"{name:28s}{len(files):6d} files {size:10.1f} MB")
        every |= files
    if days is not None:
        limit = time.time() - 86_400 * days
        old = {path: status.st_size for path, status in every.items() if status.st_atime <= limit}
        for path in old:
            path.unlink()
        size = sum(old.values()) / 1e6
        print(f"removed {len(old)} files, {size:.1f} MB, not used for {days:g} days")


if __name__ == "__main__":
    parser = command.parser(__doc__, "prune")
    parser.add_argument("days", type=float, nargs="?", help="unused for so many days: removed")
    with one_sentence():
        main(parser.parse_args().days)
