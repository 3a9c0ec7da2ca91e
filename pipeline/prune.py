"""Command `prune [DAYS]`: what finished work is kept in .cells/, and with DAYS, removal of what was
not used for so long.

Not a stage: nothing that DVC tracks depends on it. What was removed is trained or estimated again
when it is asked for.
"""

import time

from pipeline.machine import store
from pipeline.project import command
from pipeline.project.errors import one_sentence

KINDS = {
    "trained cells": "??/*.safetensors",
    "estimates of NADs": "nads/*/*.safetensors",
    "leftovers of killed writes": "**/*.part",
}
"""What the store holds, and where it lies in it."""


def main(days: float | None = None) -> None:
    """Print the store's size by kind, and remove what was not used for so many days."""
    found = {}
    for name, pattern in KINDS.items():
        files = {path: path.stat() for path in store.default_folder().glob(pattern)}
        size = sum(status.st_size for status in files.values()) / 1e6
        print(f"{name:28s}{len(files):6d} files {size:10.1f} MB")
        found |= files
    if days is not None:
        # The store notes the time of use, which need not be that of the contents.
        limit = time.time() - 86_400 * days
        old = {path: status.st_size for path, status in found.items() if status.st_atime <= limit}
        for path in old:
            path.unlink()
        size = sum(old.values()) / 1e6
        print(f"removed {len(old)} files, {size:.1f} MB, not used for {days:g} days")


if __name__ == "__main__":
    parser = command.parser(__doc__, "prune")
    parser.add_argument("days", type=float, nargs="?", help="unused for so many days: removed")
    with one_sentence():
        main(parser.parse_args().days)
