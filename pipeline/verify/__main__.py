"""Command `verify [OTHER] [RUN]`: are the numbers of a run those of another, and of the papers?

OTHER is a folder that holds a reports/ or is one, or a git commit (default: HEAD); RUN is such a
folder, the run that is asked about (default: reports). One line and a verdict per figure and
network; exit status 0 if all agree, 1 if one differs, 2 if there is nothing to compare. See
docs/trust.md.
"""

import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline import experiments
from pipeline.measures.fitted import fitted
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError
from pipeline.verify import agreement, papers, runs
from pipeline.verify.runs import Run

FIGURES = {
    "fourier": "fourier_maps",
    "convergence": "convergence_maps",
    "poison": "poison_curve",
    "flip": "flip_bars",
    "linear_pairs": "linear_accuracies",
    "image_pairs": "images_or_linear_channel",
}
"""By experiment the figure that shows its accuracies, where the figure has another name; that of
`linear_pairs` has the network's name behind it."""

NAMED = 3
"""Number of differences that a figure's line names at most."""

AGREES, DIFFERS, UNJUDGED = "agrees", "differs", "not judged"

Line = tuple[str, str, str]
"""A figure and its network, the verdict, and the numbers behind it."""


def of_accuracies(
    ours: pd.DataFrame, theirs: pd.DataFrame, same_nads: Collection[str] = ()
) -> Iterator[Line]:
    """The lines of all figures of two tables; same_nads: architectures whose NADs are the same."""
    other_nads = {
        (name, network)
        for name, network in set(zip(ours["experiment"], ours["architecture"]))
        if experiments.find(name).needs_nads and network not in same_nads
    }
    cells = agreement.cells(ours, theirs, other_nads)
    means = agreement.means(ours, theirs, cells).assign(place="mean over cells")
    tables = {"cells": agreement.judged(cells), "means": agreement.judged(means)}
    rows = pd.concat(tables)
    done = ours.assign(fitted=fitted(ours)).groupby(agreement.PLACE, sort=False)["fitted"].all()
    places = done.reset_index()
    shown, every = np.array(figures(rows)), np.array(figures(places))
    for figure in dict.fromkeys(every):
        if (compared := rows[shown == figure]).empty:
            yield figure, UNJUDGED, "no cell in common"
        else:
            yield figure, *judgement(compared, places[every == figure], tables)


def judgement(
    rows: pd.DataFrame, places: pd.DataFrame, tables: dict[str, pd.DataFrame]
) -> tuple[str, str]:
    """The verdict on one figure, and the numbers behind it.

    rows: the figure's rows of the `tables` of cells and means; places: the figure's cells in our
    run, and whether each was fitted.
    """
    cells, differing = rows.loc[["cells"]], rows[rows["differs"]].sort_values("chance")
    span = lambda counts: "–".join(str(count) for count in sorted({counts.min(), counts.max()}))
    text = [
        f"{len(cells)} of {len(places)} accuracies",
        f"{span(cells['seeds'])} and {span(cells['seeds_there'])} seeds",
        f"rms difference {100 * (cells['difference'] ** 2).mean() ** 0.5:.1f} points",
    ]
    if unfitted := (~cells.merge(places, on=agreement.PLACE)["fitted"]).sum():
        text.append(f"{unfitted} not fitted")
    if unknown := cells["chance"].isna().sum():
        text.append(f"{unknown} of one seed not judged")
    title, named = "beyond chance", differing[:NAMED]
    if differing.empty:
        several = cells[cells["dof"] > 0] if (cells["dof"] > 0).any() else cells
        title, named = "largest", several.loc[[several["difference"].abs().idxmax()]]
    limits = [agreement.tolerance(tables[kind], position) for kind, position in named.index]
    sentences = []
    for row, limit in zip(named.itertuples(), limits):
        points = f"{100 * row.difference:+.1f}".replace("-", "−")
        known = "too few seeds to tell" if np.isinf(limit) else f"tolerance {100 * limit:.1f}"
        sentences.append(f"{points} at {row.architecture}, {row.place}, {row.test_set} ({known})")
    if len(differing) > NAMED:
        sentences.append(f"{len(differing) - NAMED} more")
    # Where no difference would be too large, one that matters is no agreement.
    untold = np.isinf(limits).any() and named["difference"].abs().max() >= agreement.MATTERS
    verdict = DIFFERS if len(differing) else UNJUDGED if untold else AGREES
    return verdict, f"{', '.join(text)}; {title}: {'; '.join(sentences)}"


def figures(rows: pd.DataFrame) -> list[str]:
    """The figure that shows each row's accuracy, and the row's network."""
    names = zip(rows["experiment"], rows["architecture"])
    return [f"{FIGURES.get(name, name)} {network}" for name, network in names]


def of_singular_values(ours: dict, theirs: dict) -> Iterator[Line]:
    """The line of the first singular values of NADs, where the two runs share an architecture."""
    values = agreement.singular_values(ours, theirs)
    if not values.empty:
        row = values.loc[values["chance"].idxmin()]
        least = f"least alike: {row['name']}, ratio {row['ratio']:.3f} ± {row['error']:.3f}"
        differs = agreement.too_large(values["chance"]).any()
        text = f"{len(values)} first singular values; {least}"
        yield "nad_spectra", DIFFERS if differs else AGREES, text


def unlike(name: str, run: Run, other: Run) -> str | None:
    """Why an experiment of two runs cannot be compared, or None."""
    for each in (run, other):
        if name not in each.results:
            return f"{each.name} does not have it"
    here, there = (each.metrics[name]["scale"] for each in (run, other))
    if here != there:
        return f"scale {here} here, {there} there: unequal sizes are not compared"
    if experiments.find(name).needs_images and run.images != other.images:
        return "other images"
    return None


def against(run: Run, other: Run) -> Iterator[Line]:
    """The lines of one run beside another."""
    reasons = {name: unlike(name, run, other) for name in sorted(run.results | other.results)}
    yield from ((name, UNJUDGED, reason) for name, reason in reasons.items() if reason)
    if alike := [name for name, reason in reasons.items() if not reason]:
        images = " and ".join(dict.fromkeys([run.images, other.images]))
        yield "images", AGREES if run.images == other.images else UNJUDGED, images
        yield from of_singular_values(run.nads, other.nads)
        tables = (pd.concat([each.results[name] for name in alike]) for each in (run, other))
        same_nads = [name for name, about in run.nads.items() if about == other.nads.get(name)]
        yield from of_accuracies(*tables, same_nads)


def against_the_papers(run: Run) -> Iterator[Line]:
    """The lines of one run beside the published values."""
    yield from of_singular_values(run.nads, papers.first_singular_values())
    ours, theirs = [], []
    for name in papers.PUBLISHED:
        rows, table = run.results.get(name, pd.DataFrame()), papers.results(name)
        beside = [papers.beside(table, *item) for item in run.networks.get(name, {}).items()]
        reason = "none of the paper's networks was trained"
        if any(map(len, beside)) and not (reason := papers.too_small(run.metrics[name])):
            theirs += beside
            ours.append(rows[rows["architecture"].isin(pd.concat(beside)["architecture"])])
        else:
            yield FIGURES.get(name, name), UNJUDGED, reason
    if ours:
        yield from of_accuracies(pd.concat(ours), pd.concat(theirs))


def main(other: str, folder: Path) -> int:
    """Print the verdicts; returns the exit status."""
    run, there = runs.of_folder(folder), Path(other)
    theirs = runs.of_folder(there) if there.is_dir() else runs.of_commit(other, folder)
    parts = {theirs.name: against(run, theirs), "the published values": against_the_papers(run)}
    verdicts = set()
    for title, lines in parts.items():
        print(f"{run.name} beside {title}")
        for figure, verdict, text in lines:
            print(f"  {verdict:11s} {figure:42s} {text}")
            verdicts.add(verdict)
    if verdicts <= {UNJUDGED}:
        raise InputError("nothing could be compared: the lines above say why")
    return int(DIFFERS in verdicts)


if __name__ == "__main__":
    reader = command.parser(__doc__, "verify")
    reader.add_argument("other", nargs="?", default="HEAD", help="folder or commit (HEAD)")
    reader.add_argument("run", nargs="?", type=Path, default=artifacts.REPORTS, help="(reports)")
    given = reader.parse_args()
    try:
        sys.exit(main(given.other, given.run))
    except InputError as error:
        reader.exit(2, f"error: {error}\n")
