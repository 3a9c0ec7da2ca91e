"""What no name can be, and how much is more than any run can be meant to do."""

import re
from collections.abc import Iterable

from pipeline.grid.experiment import Experiment, Plan
from pipeline.project.shapes import dimension
from pipeline.settings.typed import Mistakes, shown

NAME = re.compile(
    r"(?!(nan?|null|none|true|false|inf|infinity|con|prn|aux|nul|com\d|lpt\d)$)[a-z][a-z0-9_-]{0,63}",
    re.ASCII | re.IGNORECASE,
)
"""Names of scales and architectures: files and columns hold them, no table takes such a word for a number or for nothing, and no
file system for a device."""

CELLS = 100_000
"""Networks that an experiment may train."""

FLOAT, DRAW, DRAWS = 4, 16e9, 1e12
"""Bytes of a number in a draw of samples; those that one seed's draw may take in memory, and all of an experiment's on disk."""


def check_names(mistakes: Mistakes, names: Iterable[str], at: str) -> None:
    """Note names that cannot be one, and those that are one where files are found without regard to case."""
    seen = {}
    for name in names:
        if not NAME.fullmatch(name):
            mistakes.add(
                f"{at}: {shown(name)} is no name; let it begin with a letter and go on with up to 63 letters, digits, _ and -, "
                "and not be a word such as none, true or con"
            )
        elif (other := seen.setdefault(name.lower(), name)) != name:
            mistakes.add(
                f"{at}: {name} differs from {other} in case alone, and some file systems hold one of them; rename it"
            )


def check_extent(mistakes: Mistakes, experiment: Experiment, plan: Plan, at: str) -> None:
    """Note where a plan asks for more networks, or for more data, than there can be."""
    each = {name: sum(1 for _ in experiment.places(member)) for name, member in plan.members.items()}
    count = sum(each[name] * len(plan.seeds[: member.seeds]) for name, member in plan.members.items())
    if count > CELLS:
        mistakes.add(f"{at}: {count:,} networks would be trained, more than {CELLS:,}; ask for fewer seeds or places")
    elif not experiment.needs_images:
        # Of pictures, no more are drawn than there are.
        values = sum(map(dimension, plan.inputs)) * experiment.channels
        draw, seeds = FLOAT * values * (plan.train_samples + plan.test_samples), len(plan.seeds)
        for size, most, whose in ((draw, DRAW, "one seed"), (draw * seeds, DRAWS, f"{seeds:,} seeds")):
            if size > most:
                mistakes.add(
                    f"{at}: the data of {whose} would take {size / 1e9:,.1f} GB, more than {most / 1e9:,.0f}; "
                    "ask for fewer samples or seeds"
                )
                break
