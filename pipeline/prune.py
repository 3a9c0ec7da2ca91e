"""Command `prune [DAYS]`: what finished work is kept in .cells/, and with DAYS, removal of what was not used for so long.

Not a stage: nothing that DVC tracks depends on it. What was removed is trained or estimated again when it is asked for.
"""

import argparse
import math

from pipeline.machine import store
from pipeline.project import command
from pipeline.project.errors import one_sentence

KINDS = {"cell": "trained cells", "estimate": "estimates of NADs", "leftover": "leftovers of killed writes"}


def days(text: str) -> float:
    """A number of days; raises ArgumentTypeError for anything else."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days")
    return number


def main(limit: float | None = None) -> None:
    """Print the store's size by kind, and remove what was not used for `limit` days."""
    found = store.items(store.default_folder())
    for kind, name in KINDS.items():
        of_kind = [item for item in found if item.kind == kind]
        print(f"{name:28s}{len(of_kind):6d} files {sum(item.size for item in of_kind) / 1e6:10.1f} MB")
    if limit is not None:
        old = [item for item in found if item.days >= limit]
        for item in old:
            item.path.unlink(missing_ok=True)
        print(f"removed {len(old)} files, {sum(item.size for item in old) / 1e6:.1f} MB, not used for {limit:g} days")


if __name__ == "__main__":
    parser = command.parser(__doc__, "prune")
    parser.add_argument("days", type=days, nargs="?", help="remove what was not used for so many days")
    with one_sentence():
        main(parser.parse_args().days)
