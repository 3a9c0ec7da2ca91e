"""Command `verify [OTHER] [RUN]`: are the numbers of a run those of another, and of the papers?

Each is a folder that holds a reports/ or is one, or a git commit. RUN is the run that is asked
about (default: reports), OTHER the one beside it (default: HEAD). One line and a verdict per
experiment and network; exit status 0 if all agree, 1 if one differs, 2 if there is nothing to
compare. See docs/trust.md.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline import experiments
from pipeline.measures.fitted import fitted
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError
from pipeline.verify import agreement, runs
from pipeline.verify.runs import Run

NAMED = 3  # number of differences that a line names at most
AGREES, DIFFERS, UNJUDGED = "agrees", "differs", "not judged"


def against(run: Run, other: Run) -> Iterator[tuple[str, str, str]]:
    """The lines of one run beside another: an experiment and its network, or the NADs' first
    singular values; the verdict; and the numbers behind it."""
    reasons = {name: unlike(name, run, other) for name in sorted(run.results | other.results)}
    yield from ((name, UNJUDGED, reason) for name, reason in reasons.items() if reason)
    values = agreement.singular_values(run.nads, other.nads)
    if not values.empty:
        row = values.loc[values["excess"].idxmax()]
        least = f"least alike: {row['name']}, ratio {row['ratio']:.3f} ± {row['error']:.3f}"
        verdict = DIFFERS if row["excess"] > 1 else AGREES
        yield "nads", verdict, f"{len(values)} first singular values; {least}"
    if alike := [name for name, reason in reasons.items() if not reason]:
        ours, theirs = (pd.concat([each.results[name] for name in alike]) for each in (run, other))
        title = lambda table: table["experiment"] + " " + table["architecture"]
        rows = agreement.compared(ours, theirs)
        for name, group in ours.groupby(title(ours), sort=False):
            yield name, *judgement(rows[title(rows) == name], group)


def unlike(name: str, run: Run, other: Run) -> str | None:
    """Why an experiment of two runs cannot be compared, or None."""
    for each in (run, other):
        if name not in each.results:
            return f"not in {each.name}"
    if run.scales[name] != other.scales[name]:
        scales = f"scale {run.scales[name]} here, {other.scales[name]} there"
        return f"{scales}: unequal sizes are not compared"
    if experiments.find(name).needs_images and run.images != other.images:
        return f"images {run.images} here, {other.images} there"
    return None


def judgement(rows: pd.DataFrame, ours: pd.DataFrame) -> tuple[str, str]:
    """The verdict on one network in one experiment, and the numbers behind it.

    rows: the network's, of `agreement.compared`; ours: its results in our run.
    """
    if rows.empty:
        return UNJUDGED, "no cell in common"
    cells = rows[rows["coordinates"] != agreement.MEAN]
    size = cells["difference"].abs()
    untold = np.isinf(cells["tolerance"]) & (size >= agreement.MATTERS)
    unfitted = ours[~fitted(ours)].merge(cells, on=agreement.CELL)[agreement.CELL]
    notes = {"not fitted": len(unfitted.drop_duplicates()), "not judged": untold.sum()}
    text = [
        f"{len(cells)} of {len(ours[agreement.CELL].drop_duplicates())} accuracies",
        f"{cells['seeds'].min()} and {cells['seeds_there'].min()} seeds",
        f"rms difference {100 * (size**2).mean() ** 0.5:.1f} points",
        *(f"{number} {what}" for what, number in notes.items() if number),
    ]
    verdict, title = DIFFERS, "beyond chance"
    worst = rows[rows["excess"] > 1].sort_values("excess", ascending=False)
    if worst.empty:
        # Where no difference would be too large, one that matters is no agreement.
        verdict, title = UNJUDGED if untold[size.idxmax()] else AGREES, "largest"
        worst = cells.loc[[size.idxmax()]]
    names = [named(row) for row in worst.head(NAMED).itertuples()]
    names += [f"{len(worst) - NAMED} more"] if len(worst) > NAMED else []
    return verdict, f"{', '.join(text)}; {title}: {'; '.join(names)}"


def named(row) -> str:
    """A difference of `agreement.compared` in points, its cell and its tolerance."""
    points = f"{100 * row.difference:+.1f}".replace("-", "−")
    known = f"tolerance {100 * row.tolerance:.1f}"
    chance = "too few seeds to tell" if np.isinf(row.tolerance) else known
    return f"{points} at {row.coordinates}, {row.test_set} ({chance})"


def main(other: str, name: str) -> int:
    """Print the verdicts; returns the exit status."""
    run = runs.named(name, artifacts.REPORTS)
    theirs = runs.named(other, Path(name) if Path(name).is_dir() else artifacts.REPORTS)
    verdicts = set()
    for beside in (theirs, runs.of_papers(run)):
        print(f"{run.name} beside {beside.name}")
        for name, verdict, text in against(run, beside):
            print(f"  {verdict:11s} {name:30s} {text}")
            verdicts.add(verdict)
    if verdicts <= {UNJUDGED}:
        raise InputError("nothing could be compared: the lines above say why")
    return int(DIFFERS in verdicts)


if __name__ == "__main__":
    reader = command.parser(__doc__, "verify")
    reader.add_argument("other", nargs="?", default="HEAD", help="folder or commit (HEAD)")
    reader.add_argument("run", nargs="?", default=str(artifacts.REPORTS), help="the same (reports)")
    given = reader.parse_args()
    try:
        sys.exit(main(given.other, given.run))
    except InputError as error:
        reader.exit(2, f"error: {error}\n")
