"""The campaign: everything that has been thought of to go wrong, tried on the stages, with a table of what came of it.

A case is right where the stage ends with the result that it must have, or with one sentence (exit status 1, a line on stderr for
each mistake, no traceback); silent where it ends as if all were well with another result; and otherwise a hang, a traceback, or
a sentence that misleads. What the right result of each case is stands beside it. Exit status 1 unless all are right.
"""

import argparse
import collections
import csv
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.faults import archives, changes, downloads, folders, networks, params, rendered, repository, stored
from tests.faults.cases import GOOD, GROUPS, ROOT, Case, Outcome, Stages, Verdict, tried

LISTS = {
    "params": (params.cases, 1),
    "networks": (networks.cases, 4),
    "archives": (archives.cases, 3),
    "folders": (folders.cases, None),
    "downloads": (downloads.cases, None),
    "stored": (stored.cases, 4),
    "changes": (changes.cases, None),
    "rendered": (rendered.cases, None),
}
"""What makes the cases, by what they are tried on; and how many of each kind that is generated are tests too."""


def cases_of(name: str, fast: bool) -> list[Case]:
    """The cases of one list; fast: those that are tests too."""
    make, few = LISTS[name]
    return (
        [case for case in make(few) if not case.slow] if fast and few else [c for c in make() if not (fast and c.slow)]
    )


def warm(stages: Stages) -> None:
    """Plan once what most cases change in one place, so that what a plan computes once for all is there."""
    folder = Path(stages.folder.name) / "warm"
    folder.mkdir()
    for document in (repository.SMOKE, repository.TINY):
        repository.lay_down(folder, document)
        for inside in (False, True):
            assert stages.run("plan", folder=folder, warm=inside).code == 0


def outcomes(cases: list[Case], tree: Path) -> Iterator[Outcome]:
    """The outcomes of some cases, as they come."""
    with Stages(tree) as stages:
        warm(stages)
        for case in cases:
            yield tried(case, stages)


def table(found: list[Outcome]) -> str:
    """How many cases of each group came to what."""
    counts = collections.Counter((outcome.group, outcome.verdict) for outcome in found)
    kinds = [verdict.value for verdict in Verdict]
    rows = [["group", "cases", *kinds]]
    for group in sorted({outcome.group for outcome in found}):
        each = [counts[group, kind] for kind in kinds]
        rows.append([f"{group}: {GROUPS[group]}", str(sum(each)), *map(str, each)])
    each = [sum(counts[group, kind] for group in GROUPS) for kind in kinds]
    rows.append(["all", str(len(found)), *map(str, each)])
    head, *others = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, f"|---|{'---:|' * (len(kinds) + 1)}", *others])


def main() -> None:
    """Try the cases that are asked for and print their table."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.split("\n\n")[0])
    parser.add_argument("lists", nargs="*", metavar="list", help=f"some of {', '.join(LISTS)}; all unless named")
    parser.add_argument("--fast", action="store_true", help="the cases that are tests too")
    parser.add_argument(
        "--tree", type=Path, default=ROOT, help="another version of the repository, to be tried instead"
    )
    parser.add_argument("--csv", type=Path, help="a file for every case with what came of it")
    asked = parser.parse_args()
    if unknown := set(asked.lists) - set(LISTS):
        parser.error(f"unknown: {', '.join(unknown)}")
    cases = [case for name in asked.lists or LISTS for case in cases_of(name, asked.fast)]
    found = []
    for outcome in outcomes(cases, asked.tree):
        found.append(outcome)
        if outcome.verdict not in [verdict.value for verdict in GOOD]:
            last = (outcome.said.strip().splitlines() or [""])[-1]
            print(f"{outcome.verdict}: {outcome.group}, {outcome.name}: {last[:200]}", file=sys.stderr, flush=True)
    if asked.csv:
        with asked.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [field.name for field in dataclasses.fields(Outcome)])
            writer.writeheader()
            writer.writerows(map(dataclasses.asdict, found))
    print(table(found))
    sys.exit(any(outcome.verdict not in [verdict.value for verdict in GOOD] for outcome in found))


if __name__ == "__main__":
    main()
