"""Command `prune [DAYS]`: what finished work is kept in .cells/, and with DAYS, removal of what was not used for so long.

Not a stage: nothing that DVC tracks depends on it. What was removed is trained or estimated again when it is asked for.
"""

import sys

from pipeline.machine import store
from pipeline.project.errors import InputError, one_sentence


def days_of(arguments):
    """The number of days on the command line, or None; raises InputError for anything else."""
    try:
        (days,) = map(float, arguments) if arguments else (None,)
    except ValueError:
        days = -1.0
    if days is not None and not days >= 0:
        raise InputError("give nothing, or the number of days without use after which kept work is removed")
    return days


def main(days=None):
    """Print the store's size by kind, and remove what was not used for `days`."""
    folder = store.default_folder()
    found = store.items(folder)
    for kind, name in (
        ("cell", "trained cells"),
        ("estimate", "estimates of NADs"),
        ("rest", "rests of killed writes"),
    ):
        of_kind = [item for item in found if item.kind == kind]
        print(f"{name:24s}{len(of_kind):6d} files {sum(item.size for item in of_kind) / 1e6:10.1f} MB")
    if days is not None:
        old = [item for item in found if item.days >= days]
        for item in old:
            item.path.unlink(missing_ok=True)
        print(f"removed {len(old)} files, {sum(item.size for item in old) / 1e6:.1f} MB, not used for {days:g} days")


if __name__ == "__main__":
    with one_sentence():
        main(days_of(sys.argv[1:]))
