"""`fourier` in the report: accuracy on D(v) over the spatial frequency of v (paper 1, figs 1 and 3)."""

import textwrap
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from pipeline.measures.fitted import fitted
from pipeline.networks import NETWORKS
from pipeline.report import style
from pipeline.report.comparison import number, rms, rms_text
from pipeline.report.evaluated import Evaluated, evaluated, not_fitted
from pipeline.report.frequencies import (
    DIRECTION,
    axes_of,
    canonical,
    halves_of,
    inside,
    pair,
    plane,
    transposed_text,
    with_transposes,
)
from pipeline.report.page import Picture, Section, Table, percent
from pipeline.report.published import table as published_table

Published = tuple[str, pd.DataFrame]
"""What a published map is called, and its rows: k_row, k_col, accuracy."""

PUBLISHED_UNPOOLED = {"lenet": 1.0, "resnet18": 0.993}
"""Mean accuracy over all frequencies of the networks without pooling, read off paper 1's fig. 3; there is no table of it."""

COLUMNS = 4
"""Maps in one row of the figure, at most."""

LARGEST_WITH_NUMBERS = 9
"""Frequencies along one side of the largest map in which numbers are written."""


def by_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy along every different v, of which k and −k are the same: k_row, k_col, mean, std, fitted.

    rows: k_row, k_col, accuracy of single runs, of one architecture, and train_accuracy unless they are published. Of k and −k
    the one that comes last in order is kept; std is nan of one run; fitted tells whether every run was, nan where that is unknown.
    """
    cells = canonical(rows)
    done = fitted(rows) if "train_accuracy" in rows else np.nan
    found = (
        cells.assign(done=done)
        .groupby(DIRECTION)
        .agg(mean=("accuracy", "mean"), std=("accuracy", "std"), fitted=("done", "min"))
    )
    return found.reset_index()


def arranged(widths: Sequence[int]) -> tuple[list[tuple[int, int]], int, int]:
    """Where groups of panels stand that must not be torn apart: (row, column) of each one's first panel, rows, columns.

    widths: the groups' numbers of panels. There are as few rows as `COLUMNS` allows, and no more columns than these rows need.
    """

    def in_rows(columns: int) -> list[tuple[int, int]]:
        places, row, column = [], 0, 0
        for width in widths:
            if column + width > columns:
                row, column = row + 1, 0
            places.append((row, column))
            column += width
        return places

    fewest = in_rows(COLUMNS)[-1][0]
    columns = next(n for n in range(max(widths), COLUMNS + 1) if in_rows(n)[-1][0] == fewest)
    return in_rows(columns), fewest + 1, columns


def maps(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    published: Mapping[str, Published],
    caption: str,
    notice: str | None,
    halves: Collection[str] = (),
) -> Figure:
    """Accuracy over the frequency (k_row, k_col) of v, one map per architecture (paper 1, figs 1 and 3).

    results: architecture, seed, k_row, k_col, test_set ('all'), accuracy, n, train_accuracy, with one of each k and −k; labels:
    architecture → its name; published: architecture → the published map that stands to the right of it, where there is one;
    halves: architectures trained along one of each v and its transpose, whose maps show the accuracy of both at both.
    Maps show means over seeds, and standard deviations where there are several; a dot marks directions along which not
    every network was fitted.
    """
    results = results[results["test_set"] == "all"]
    names = list(results["architecture"].unique())
    places, rows, columns = arranged([1 + (name in published) for name in names])
    figure, axes = style.new(rows, columns, max(6.4, 2.75 * columns + 1.1), 3.1 * rows + 0.8)
    unused = set(axes.flat)
    for name, (row, column) in zip(names, places):
        own = by_direction(results[results["architecture"] == name])
        drawn = [(labels[name], with_transposes(own) if name in halves else own)]
        if name in published:
            called, theirs = published[name]
            drawn.append((called, by_direction(theirs)))
        for panel, (title, directions) in zip(axes[row, column:], drawn):
            unused.remove(panel)
            image = _map(panel, directions)
            panel.set(title=textwrap.fill(title, 26), ylabel="" if panel is not axes[row, 0] else panel.get_ylabel())
    for panel in unused:
        panel.set_visible(False)
    figure.colorbar(image, ax=axes, label="test accuracy (%)", shrink=0.7, panchor=False)
    return style.finish(figure, "Accuracy on D(v) over the frequency of v", caption, notice)


def _map(panel: Axes, directions: pd.DataFrame) -> AxesImage:
    """Draw one map of what `by_direction` gives."""
    axis, means = plane(directions, "mean")
    (_, deviations), (_, done) = plane(directions, "std"), plane(directions, "fitted")
    image = panel.imshow(100 * means, cmap=style.ACCURACY, vmin=50, vmax=100, aspect="equal")
    axes_of(panel, axis)
    size, (first, last) = len(axis), inside(axis)
    if size > LARGEST_WITH_NUMBERS and not np.isnan(deviations).any():
        panel.set_xlabel(f"{panel.get_xlabel()}\n± {100 * np.median(deviations):.1f} (median over the map)")
    # On the upper half of the colours black is read better.
    colours = np.where(means > 0.78, "black", "white")
    if size <= LARGEST_WITH_NUMBERS:
        middle = (first + last) / 2
        for (r, c), value in np.ndenumerate(100 * means):
            spread = "" if np.isnan(deviations[r, c]) else f"\n±{100 * deviations[r, c]:.1f}"
            panel.text(
                middle[c],
                middle[r],
                f"{value:.0f}{spread}",
                ha="center",
                va="center",
                fontsize=6,
                color=colours[r, c],
            )
    r, c = np.nonzero(done == 0)
    panel.scatter(last[c] - 0.14, first[r] + 0.14, (12 / size) ** 2 + 0.3, c=colours[r, c], linewidths=0)
    return image


def table(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    published: Mapping[str, Published],
    unpooled: Mapping[str, float],
) -> Table:
    """One row per architecture: what its map comes to, and how far it lies from the published one.

    results and published: as in `maps`; unpooled: architecture → its entry of `PUBLISHED_UNPOOLED`, where there is one. The
    published mean is that over the directions of our map. LeNet's published row k_row = 0 lies above its transpose, which
    the symmetry of the network's law does not allow, so differences are given without and within that row.
    """
    rows = []
    for name, cells in _of(results):
        directions = by_direction(cells)
        means = directions["mean"]
        ends = [percent(*directions.loc[at, ["mean", "std"]]) for at in (means.idxmin(), means.idxmax())]
        beside = ["–", "–", "–"]
        if name in unpooled:
            beside[0] = f"{100 * unpooled[name]:.1f}"
        if name in published:
            called, theirs = published[name]
            ours, their = _both(directions, theirs)
            beside = [f"{their.mean():.1f}", *(rms_text(ours[on], their[on]) for on in _rows(ours))]
            beside = [text + called.removeprefix("published") for text in beside]
        above = f"{100 * (means > 0.75).mean():.0f}"
        done = f"{int(directions['fitted'].sum())} of {len(directions)}"
        rows.append([labels[name], done, percent(*over_seeds(cells)), *ends, above, *beside])
    header = ["network", "directions fitted", "mean accuracy (%)", "lowest", "highest", "directions above 75 % (%)"]
    differences = "rms difference (directions) where k_row {} 0"
    return Table([*header, "published mean (%)", differences.format("≠"), differences.format("=")], rows)


def over_seeds(cells: pd.DataFrame) -> tuple[float, float]:
    """The mean of one architecture's map, and the standard deviation over seeds of that mean (nan of one seed)."""
    means = cells.groupby("seed")["accuracy"].mean()
    return float(means.mean()), float(means.std())


def _of(results: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each architecture, in the order of the results."""
    return list(results[results["test_set"] == "all"].groupby("architecture", sort=False))


def _both(directions: pd.DataFrame, theirs: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Our means and the published ones in per cent, by direction, at the directions that both have."""
    ours, their = (100 * some.set_index(DIRECTION)["mean"] for some in (directions, by_direction(theirs)))
    both = ours.index.intersection(their.index)
    return ours[both], their[both]


def _rows(cells: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Which of some directions lie off the row k_row = 0, and which on it."""
    on = cells.index.get_level_values("k_row").to_numpy() == 0
    return ~on, on


def findings(
    run: Evaluated, published: Mapping[str, Published], unpooled: Mapping[str, float], pooled: Mapping[str, str]
) -> list[str]:
    """What the maps show: level and range of each, its distance from the published one, and what pooling does.

    pooled: an architecture without pooling → the same network with it, where both were trained; the others as in `table`.
    """
    cells = dict(_of(run.results))
    found, compared, without = [], [], []
    for name, rows in cells.items():
        directions = by_direction(rows)
        ends = [directions.loc[at] for at in (directions["mean"].idxmin(), directions["mean"].idxmax())]
        low, high = (f"{percent(end['mean'], end['std'])} at {pair(end)}" for end in ends)
        level = f"{percent(*over_seeds(rows))} % in the mean, from {low} to {high}"
        if ends[0]["mean"] == ends[1]["mean"]:
            level = f"{percent(ends[0]['mean'], ends[0]['std'])} % along all"
        done = f"(fitted along {int(directions['fitted'].sum())} of {len(directions)})"
        found.append(f"{run.labels[name]}: {level} {done}")
        if name in published:
            called, theirs = published[name]
            ours, their = _both(directions, theirs)
            wide = " (of full width)" if "width" in called else ""
            parts = [
                f"{points:.1f} points rms over {count} with k_row {sign} 0"
                for sign, part in zip("≠=", _rows(ours))
                for points, count in [rms(ours[part], their[part])]
                if count
            ]
            if parts:
                compared.append(f"{run.labels[name]}{wide}: {', '.join(parts)}")
        if name in pooled:
            other = cells[pooled[name]]
            same = by_direction(other).merge(directions, on=DIRECTION)[DIRECTION]
            levels = [percent(*over_seeds(canonical(some).merge(same, on=DIRECTION))) for some in (rows, other)]
            known = f"; published {number(100 * unpooled[name], 1)} % without" if name in unpooled else ""
            without.append(
                f"{run.labels[pooled[name]]} has {levels[0]} % instead of {levels[1]} %, means over the {len(same)} "
                f"directions of both{known}"
            )
    sentences = [f"Accuracy over Fourier directions, {run.seeds()}: {'; '.join(found)}."]
    if compared:
        sentences.append(f"Distance from the published maps, along so many directions: {'; '.join(compared)}.")
    if without:
        sentences.append(f"Without pooling {', '.join(without)}.")
    return sentences


def section(notice: str | None) -> Section:
    """The section of `fourier`."""
    run = evaluated("fourier")
    halves = halves_of(run.plan)
    caption = f"{run.sizes()} · ε = {run.plan.settings.eps:g}, σ = {run.plan.settings.sigma:g}{run.deviations()}"
    caption += transposed_text(run.plan, run.labels)
    values = published_table("fourier")
    published = run.beside(
        {
            network: values[DIRECTION].assign(accuracy=values[network] / 100)
            for network in values.columns.drop(DIRECTION)
        }
    )
    unpooled = run.of_the_papers(PUBLISHED_UNPOOLED, downsampling="none")
    specifications = {name: dict(run.plan.members[name].specification) for name in run.labels}
    pooled = {
        name: other
        for name, some in specifications.items()
        for other, more in specifications.items()
        if some == more | {"downsampling": "none"} and "downsampling" not in more
    }
    rows = run.results[run.results["test_set"] == "all"]
    marked = not_fitted(rows, ["architecture", *DIRECTION], "dotted", "directions")
    lenets = [name for name in published if specifications[name]["network"] == NETWORKS["lenet"]]
    odd = " · LeNet's published row k_row = 0 lies above its transpose, though the network's law is symmetric"
    figure = maps(run.results, run.labels, published, f"{caption}\n{marked}", notice, halves)
    return Section(
        "fourier: D(v) along Fourier directions",
        caption + (odd if lenets else ""),
        table(run.results, run.labels, published, unpooled),
        [Picture("fourier_maps", figure, "accuracy over frequencies")],
        findings(run, published, unpooled, pooled),
    )
