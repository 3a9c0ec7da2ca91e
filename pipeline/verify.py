"""Command `verify [OTHER] [RUN]`: are the numbers of this run those of another, and those that the papers published?

OTHER is a folder that holds a reports/ or is one, or a git commit (default: HEAD, what is committed); RUN is such a folder, the run that
is asked about (default: reports). One line and a verdict per figure; exit status 0 if all agree, 1 if one differs, 2 if there is
nothing to compare. What counts as a difference, how often chance makes one and which ones are found stands in docs/verify.md.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline import experiments
from pipeline.measures import agreement
from pipeline.measures.fitted import fitted
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence
from pipeline.report import papers, runs
from pipeline.report.comparison import number
from pipeline.report.runs import Run

FIGURES = {
    "fourier": "fourier_maps",
    "convergence": "convergence_maps",
    "poison": "poison_curve",
    "flip": "flip_bars",
    "linear_pairs": "linear_accuracies_{architecture}",
    "image_pairs": "images_or_linear_channel",
}
"""The figures that show the accuracies of experiments, where they are not called as these."""

NAMED = 3
"""How many of a figure's differences are named."""

AGREES, DIFFERS, UNJUDGED = "agrees", "differs", "not judged"

Line = tuple[str, str, str]
"""What a figure is called, the verdict, what was found."""


def of_accuracies(ours: pd.DataFrame, theirs: pd.DataFrame, other_nads: set[tuple[str, str]]) -> Iterator[Line]:
    """The lines of all figures of two tables of results."""
    cells = agreement.cells(ours, theirs, other_nads)
    tables = {"cells": cells, "means": agreement.means(ours, theirs, cells).assign(place="mean over cells")}
    for rows in tables.values():
        rows["chance"] = agreement.chances(rows)
        rows["differs"] = agreement.too_large(rows["chance"])
    rows = pd.concat(tables)
    unfitted = set(ours.loc[~fitted(ours), agreement.PLACE].itertuples(index=False, name=None))
    every, shown = figures(ours.drop_duplicates(agreement.PLACE)), np.array(figures(rows))
    for figure in dict.fromkeys(every):
        if (found := rows[shown == figure]).empty:
            yield figure, UNJUDGED, "no cell in common"
            continue
        mine = found.loc[["cells"]]
        lacking = sum(place in unfitted for place in mine[agreement.PLACE].itertuples(index=False, name=None))
        text = [
            f"{len(mine)} of {every.count(figure)} accuracies",
            f"{span(mine['seeds'])} and {span(mine['seeds_there'])} seeds",
            f"rms difference {points((mine['difference'] ** 2).mean() ** 0.5)} points",
            *([f"{lacking} not fitted"] if lacking else []),
            *([f"{unknown} of one seed not judged"] if (unknown := mine["chance"].isna().sum()) else []),
        ]
        differing = found[found["differs"]].sort_values("chance")
        several = mine[mine["dof"] > 0] if (mine["dof"] > 0).any() else mine
        named = differing[:NAMED] if len(differing) else several.loc[[several["difference"].abs().idxmax()]]
        limits = [agreement.tolerance(tables[kind], position) for kind, position in named.index]
        said = [described(row, limit) for row, limit in zip(named.itertuples(), limits)]
        said += [f"{len(differing) - NAMED} more"] if len(differing) > NAMED else []
        # Where none would be too large, a difference that matters is no agreement.
        untold = np.isinf(limits).any() and named["difference"].abs().max() >= agreement.MATTERS
        verdict = DIFFERS if len(differing) else UNJUDGED if untold else AGREES
        named_as = "beyond chance" if len(differing) else "largest"
        yield figure, verdict, f"{', '.join(text)}; {named_as}: {'; '.join(said)}"


def figures(rows: pd.DataFrame) -> list[str]:
    """The figure that shows each row's accuracy."""
    names = zip(rows["experiment"], rows["architecture"])
    return [FIGURES.get(experiment, experiment).format(architecture=network) for experiment, network in names]


def span(counts: pd.Series) -> str:
    """Whole numbers as text, '3' or '1–3'."""
    return "–".join(str(count) for count in sorted({counts.min(), counts.max()}))


def points(difference: float) -> str:
    """A difference of accuracies in points."""
    return number(100 * difference, 1)


def described(row, tolerance: float) -> str:
    """One compared accuracy: how many points ours lies above the other, where, and how many are too many to be chance."""
    sign = "+" if row.difference >= 0 else ""
    known = f"tolerance {points(tolerance)}" if np.isfinite(tolerance) else "too few seeds to tell"
    return f"{sign}{points(row.difference)} at {row.architecture}, {row.place}, {row.test_set} ({known})"


def of_singular_values(ours: dict, theirs: dict) -> Iterator[Line]:
    """The line of the first singular values of the NADs, where the two runs have estimates of the same architectures."""
    found = agreement.singular_values(ours, theirs)
    if found.empty:
        return
    differs = agreement.too_large(found["chance"])
    row = found.loc[found["chance"].idxmin()]
    text = (
        f"{len(found)} first singular values; least alike: {row['name']}, ratio {row['ratio']:.3f} ± {row['error']:.3f}"
    )
    yield "nad_spectra", DIFFERS if differs.any() else AGREES, text


def against(run: Run, other: Run) -> Iterator[Line]:
    """The lines of one run beside another."""
    reasons = {
        name: runs.unlike(name, run, other)
        for name in experiments.names()
        if name in {*run.experiments, *other.experiments}
    }
    for name, reason in reasons.items():
        if reason:
            yield name, UNJUDGED, reason
    if not (alike := [name for name, reason in reasons.items() if not reason]):
        return
    images = [one.json("images.json", runs.Images) for one in (run, other)]
    names = [f"{about['name']} ({about['digest'][:8]})" for about in images]
    yield "images", AGREES if len(set(names)) == 1 else UNJUDGED, " and ".join(dict.fromkeys(names))
    nads = [one.json("nads.json", dict[str, runs.Estimate]) for one in (run, other)]
    yield from of_singular_values(*nads)
    ours, theirs = (runs.together(one, alike) for one in (run, other))
    yield from of_accuracies(
        ours, theirs, runs.along_nads(ours, [name for name in nads[0] if nads[0][name] == nads[1].get(name)])
    )


def against_the_papers(run: Run) -> Iterator[Line]:
    """The lines of one run beside the published values."""
    yield from of_singular_values(run.json("nads.json", dict[str, runs.Estimate]), papers.first_singular_values())
    ours, theirs = [], []
    for name in papers.PUBLISHED:
        table = papers.results(name)
        mine = run.results(name) if name in run.experiments else table[:0]
        shared = [network for network in table["architecture"].unique() if network in set(mine["architecture"])]
        reasons = {network: papers.too_small(name, network, run) for network in shared}
        if full := [network for network, reason in reasons.items() if not reason]:
            ours.append(mine[mine["architecture"].isin(full)])
            theirs.append(table[table["architecture"].isin(full)])
        else:
            yield (
                figures(table)[0],
                UNJUDGED,
                "; ".join(dict.fromkeys(reasons.values())) or "none of the paper's networks was trained",
            )
    if ours:
        results = pd.concat(ours, ignore_index=True)
        yield from of_accuracies(results, pd.concat(theirs, ignore_index=True), runs.along_nads(results, []))


def main(other: str, run: Path) -> int:
    """Print the verdicts; returns the exit status."""
    mine = runs.of_folder(run)
    theirs = runs.found(other, run)
    # All lines before the first is printed: what cannot be read is said alone.
    parts = {theirs.name: list(against(mine, theirs)), "the published values": list(against_the_papers(mine))}
    for title, lines in parts.items():
        print(f"{mine.name} beside {title}")
        for figure, verdict, text in lines:
            print(f"  {verdict:11s} {figure:34s} {text}")
    verdicts = {verdict for lines in parts.values() for _, verdict, _ in lines}
    if verdicts <= {UNJUDGED}:
        raise InputError("nothing could be compared: the lines above say why")
    return int(DIFFERS in verdicts)


if __name__ == "__main__":
    reader = command.parser(__doc__, "verify")
    reader.add_argument("other", nargs="?", default="HEAD", help="the other run: a folder or a commit (default: HEAD)")
    reader.add_argument(
        "run", nargs="?", type=Path, default=artifacts.REPORTS, help="the run that is asked about (default: reports)"
    )
    with one_sentence():
        given = reader.parse_args()
        try:
            status = main(given.other, given.run)
        except InputError as error:
            reader.exit(2, f"error: {error}\n")
    sys.exit(status)
