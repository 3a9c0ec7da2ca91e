"""Command `verify [OTHER] [RUN]`: does a run agree with another one, and with the
papers?

RUN (default: reports) is compared with OTHER (default: HEAD). Each is a git commit or a
folder that is a reports/ or contains one. Prints one line and a verdict for each
experiment and network. The exit status is 0 if all agree, 1 if one differs, and 2 if
there is nothing to compare. See docs/trust.md.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

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

Line = tuple[str, str, str]
"""A verdict, what it is about, and the numbers behind it."""


def compare_runs(run: Run, other: Run) -> Iterator[Line]:
    """Yield a line for the NADs of two runs, and for each network and experiment."""
    yield from compare_nads(run, other)
    for experiment in sorted(run.results | other.results):
        reason = find_obstacle(experiment, run, other)
        if reason:
            yield UNJUDGED, experiment, reason
        else:
            yield from compare_networks(experiment, run, other)


def compare_nads(run: Run, other: Run) -> Iterator[Line]:
    """Yield one line for the first singular values that two runs share, if any."""
    values = compare_singular_values(run.nads, other.nads)
    if values.empty:
        return
    worst = values.loc[values["sigmas"].idxmax()]
    verdict = DIFFERS if worst["sigmas"] > SIGMAS else AGREES
    text = (
        f"{len(values)} first singular values; largest deviation: {worst.name}, "
        f"ratio {worst['ratio']:.3f} ± {worst['error']:.3f}"
    )
    yield verdict, "nads", text


def compare_networks(experiment: str, run: Run, other: Run) -> Iterator[Line]:
    """Yield one line for each network of a run in an experiment.

    Args:
        experiment: Name of the experiment.
        run: The run.
        other: The run to compare it with.
    """
    theirs = other.results[experiment]
    networks = run.results[experiment].groupby("architecture", sort=False)
    for architecture, ours in networks:
        same = theirs[theirs["architecture"] == architecture]
        title = f"{experiment} {architecture}"
        agreement = compare(ours, same)
        if agreement.cells.empty:
            yield UNJUDGED, title, "no common cells"
        elif others := compare_settings(ours, same):
            yield UNJUDGED, title, f"different settings: {', '.join(others)}"
        else:
            yield agreement.verdict, title, describe(agreement)


def compare_settings(results: pd.DataFrame, others: pd.DataFrame) -> list[str]:
    """Describe the settings and arguments of one network that differ between two runs.

    Settings that one of the runs does not have are left out, as older runs lack some.
    The published values have neither settings nor arguments.

    Args:
        results: Results of our run.
        others: Results of the other run.

    Returns:
        A text for each, for example 'eps 0.5 (there 1.0)'.
    """
    if "settings" not in others:
        return []
    here = json.loads(results["settings"].iloc[0])
    there = json.loads(others["settings"].iloc[0])
    shared = [key for key in here["settings"] if key in there["settings"]]
    arguments = dict.fromkeys([*here["network"], *there["network"]])
    texts = []
    for kind, keys in (("settings", shared), ("network", arguments)):
        for key in keys:
            ours, theirs = (run[kind].get(key, "default") for run in (here, there))
            if ours != theirs:
                texts.append(f"{key} {ours} (there {theirs})")
    return texts


def find_obstacle(experiment: str, run: Run, other: Run) -> str | None:
    """Find out why two runs cannot be compared.

    Args:
        experiment: Name of the experiment.
        run: The run.
        other: The run to compare it with.

    Returns:
        The reason; None if they can be compared.
    """
    if experiment not in run.results:
        return f"not in {run.name}"
    if experiment not in other.results:
        return f"not in {other.name}"
    here = run.scales[experiment]
    there = other.scales[experiment]
    if here != there:
        return f"different scales: {here}, and {there} in {other.name}"
    if experiments.find(experiment).needs_images and run.images != other.images:
        return f"different images: {run.images}, and {other.images} in {other.name}"
    return None


def describe(agreement: Agreement) -> str:
    """Describe the numbers behind a verdict, with differences in points."""
    cells = agreement.cells
    largest = cells.loc[cells["difference"].abs().idxmax()]
    test_set, coordinates = largest.name
    points = f"{100 * largest['difference']:+.1f}".replace("-", "−")
    tolerance = f"tolerance {100 * agreement.tolerance:.1f}"
    if np.isinf(agreement.tolerance):
        tolerance = "one seed gives no tolerance"
    if agreement.is_equal:
        tolerance = "all below 1 point"
    seeds = f"{cells['seeds'].min()} and {cells['seeds_there'].min()} seeds"
    accuracies = "1 accuracy" if len(cells) == 1 else f"{len(cells)} accuracies"
    return (
        f"{accuracies}, {seeds}, "
        f"rms difference {100 * agreement.rms:.1f} points ({tolerance}); "
        f"largest: {points} at {coordinates}, {test_set}"
    )


def main(other: str, name: str) -> int:
    """Compare a run with another one and with the published values.

    Args:
        other: Folder or commit of the other run.
        name: Folder or commit of the run.

    Returns:
        The exit status: 1 if a network differs, otherwise 0.

    Raises:
        InputError: If nothing could be compared.
    """
    run = runs.read_run(name, artifacts.REPORTS)
    folder = Path(name) if Path(name).is_dir() else artifacts.REPORTS
    verdicts = set()
    for reference in (runs.read_run(other, folder), runs.make_published_run(run)):
        print(f"{run.name} compared with {reference.name}")
        for verdict, title, text in compare_runs(run, reference):
            print(f"  {verdict:11s} {title:30s} {text}")
            verdicts.add(verdict)
    if verdicts <= {UNJUDGED}:
        raise InputError(
            "nothing could be compared, for the reasons above; name a run with the "
            "same experiments and scale",
            "conflict",
        )
    return int(DIFFERS in verdicts)


if __name__ == "__main__":
    parser = command.make_parser(__doc__, "verify")
    parser.add_argument(
        "other", nargs="?", default="HEAD", help="folder or commit (default: HEAD)"
    )
    parser.add_argument(
        "run",
        nargs="?",
        default=str(artifacts.REPORTS),
        help="folder or commit (default: reports)",
    )
    arguments = parser.parse_args()
    try:
        sys.exit(main(arguments.other, arguments.run))
    except (InputError, OSError) as error:
        parser.exit(2, f"error: {error}\n")
