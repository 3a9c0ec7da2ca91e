"""Command `verify [OTHER] [RUN]`: are the numbers of a run those of another, and of the
papers?

Each is a folder that holds a reports/ or is one, or a git commit. RUN is the run that
is asked about (default: reports), OTHER the one beside it (default: HEAD). One line and
a verdict per experiment and network; exit status 0 if all agree, 1 if one differs, 2 if
there is nothing to compare. See docs/trust.md.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline import experiments
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError
from pipeline.verify import runs
from pipeline.verify.agreement import (
    AGREES,
    DIFFERS,
    SIGMAS,
    UNJUDGED,
    Agreement,
    compare,
    compare_singular_values,
)
from pipeline.verify.runs import Run

Line = tuple[str, str, str]  # a verdict, what it is about, and the numbers behind it


def compare_runs(run: Run, other: Run) -> Iterator[Line]:
    """Yield a line for the NADs of two runs, and one for each network and experiment."""
    yield from compare_nads(run, other)
    for name in sorted(run.results | other.results):
        if reason := reason_against(name, run, other):
            yield UNJUDGED, name, reason
        else:
            yield from compare_networks(name, run, other)


def compare_nads(run: Run, other: Run) -> Iterator[Line]:
    """Yield one line for the first singular values that two runs share, if any."""
    values = compare_singular_values(run.nads, other.nads)
    if not values.empty:
        worst = values.loc[values["sigmas"].idxmax()]
        verdict = DIFFERS if worst["sigmas"] > SIGMAS else AGREES
        ratio = f"ratio {worst['ratio']:.3f} ± {worst['error']:.3f}"
        text = (
            f"{len(values)} first singular values; least alike: {worst.name}, {ratio}"
        )
        yield verdict, "nads", text


def compare_networks(experiment: str, run: Run, other: Run) -> Iterator[Line]:
    """Yield one line for each network of our run in an experiment."""
    theirs = other.results[experiment]
    networks = run.results[experiment].groupby("architecture", sort=False)
    for architecture, ours in networks:
        found = compare(ours, theirs[theirs["architecture"] == architecture])
        title = f"{experiment} {architecture}"
        if found.cells.empty:
            yield UNJUDGED, title, "no cell in common"
        else:
            yield found.verdict, title, describe(found)


def reason_against(experiment: str, run: Run, other: Run) -> str | None:
    """Why an experiment of two runs cannot be compared, or None."""
    for side in (run, other):
        if experiment not in side.results:
            return f"not in {side.name}"
    here = run.scales[experiment]
    there = other.scales[experiment]
    if here != there:
        return f"scale {here} here, {there} there: unequal sizes are not compared"
    if experiments.find(experiment).needs_images and run.images != other.images:
        return f"images {run.images} here, {other.images} there"
    return None


def describe(found: Agreement) -> str:
    """The numbers behind a verdict, differences in points."""
    cells = found.cells
    largest = cells.loc[cells["difference"].abs().idxmax()]
    test_set, coordinates = largest.name
    points = f"{100 * largest['difference']:+.1f}".replace("-", "−")
    tolerance = f"tolerance {100 * found.tolerance:.1f}"
    if np.isinf(found.tolerance):
        tolerance = "one seed gives no tolerance"
    if found.is_equal:
        tolerance = "all below 1 point"
    seeds = f"{cells['seeds'].min()} and {cells['seeds_there'].min()} seeds"
    return (
        f"{len(cells)} accuracies, {seeds}, "
        f"rms difference {100 * found.rms:.1f} points ({tolerance}); "
        f"largest: {points} at {coordinates}, {test_set}"
    )


def main(other: str, name: str) -> int:
    """Print the verdicts; returns the exit status."""
    run = runs.named(name, artifacts.REPORTS)
    theirs = runs.named(other, Path(name) if Path(name).is_dir() else artifacts.REPORTS)
    verdicts = set()
    for side in (theirs, runs.of_papers(run)):
        print(f"{run.name} beside {side.name}")
        for verdict, title, text in compare_runs(run, side):
            print(f"  {verdict:11s} {title:30s} {text}")
            verdicts.add(verdict)
    if verdicts <= {UNJUDGED}:
        raise InputError("nothing could be compared: the lines above say why")
    return int(DIFFERS in verdicts)


if __name__ == "__main__":
    reader = command.make_parser(__doc__, "verify")
    reader.add_argument(
        "other", nargs="?", default="HEAD", help="folder or commit (HEAD)"
    )
    reader.add_argument(
        "run", nargs="?", default=str(artifacts.REPORTS), help="the same (reports)"
    )
    given = reader.parse_args()
    try:
        sys.exit(main(given.other, given.run))
    except InputError as error:
        reader.exit(2, f"error: {error}\n")
