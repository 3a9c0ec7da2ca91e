"""`fourier` in the report: accuracy on D(v) over the spatial frequency of v (paper 1, figs 1 and 3)."""

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.patches
import matplotlib.patheffects
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.datasets.fourier import wrapped
from pipeline.report import style
from pipeline.report.evaluated import evaluated
from pipeline.report.page import Picture, Section, Table, percent

Known = Sequence[tuple[int, int, float]]
"""Published values of one map: k_row, k_col, accuracy in per cent."""

PUBLISHED = {"lenet": [(0, -4, 81.0), (-6, 0, 67.4)]}
"""Single accuracies (k_row, k_col, per cent) that paper 1 gives for its maps (fig. 1); logistic regression has 100 everywhere.

Of ResNet-18 it is only known that its map has at most 53 where k_row/2 and k_col/2 are both odd, and at least 93 elsewhere.
"""


def filled(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The map over all frequencies, of rows that have one of each k and −k: (axis (K,), accuracies in per cent (K, K)).

    rows: k_row, k_col, accuracy, of one architecture; where a frequency has several rows (seeds) their mean is taken. The
    axis holds, in ascending order, every frequency that the rows name in either direction and either sign; the matrix has
    k_row along its rows, k_col along its columns. Raises ValueError if a pair of frequencies of the axis has no row.
    """
    one = pd.DataFrame({"row": wrapped(rows["k_row"]), "column": wrapped(rows["k_col"]), "accuracy": rows["accuracy"]})
    other = one.assign(row=wrapped(-one["row"]), column=wrapped(-one["column"]))
    cells = pd.concat([one, other]).groupby(["row", "column"])["accuracy"].mean().unstack()
    axis = np.union1d(cells.index, cells.columns)
    cells = cells.reindex(index=axis, columns=axis)
    missing = [(int(axis[r]), int(axis[c])) for r, c in np.argwhere(cells.isna().to_numpy())]
    if missing:
        raise ValueError(f"no accuracy at {len(missing)} frequencies (k_row, k_col), the first of them {missing[0]}")
    return axis, 100 * cells.to_numpy()


def maps(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    published: Mapping[str, Known],
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy over the frequency (k_row, k_col) of v, one map per architecture (paper 1, figs 1 and 3).

    results: architecture, seed, k_row, k_col, test_set ('all'), accuracy, n, with one of each k and −k (see `filled`);
    labels: architecture → its name; published: architecture → its entry of `PUBLISHED`, where there is one. Maps show means
    over seeds; the frequencies with a published value are framed, if the map has them.
    """
    results = results[results["test_set"] == "all"]
    names = list(results["architecture"].unique())
    rows = -(-len(names) // 4)
    columns = -(-len(names) // rows)
    figure, axes = style.new(rows, columns, max(6.4, 2.75 * columns + 1.1), 2.9 * rows + 0.8)
    for panel in axes.flat[len(names) :]:
        panel.set_visible(False)
    for panel, name in zip(axes.flat, names):
        cells = results[results["architecture"] == name]
        axis, accuracies = filled(cells)
        image = panel.imshow(accuracies, cmap=style.ACCURACY, vmin=50, vmax=100, aspect="equal")
        every = -(-len(axis) // 8)
        # Every tick, or as many as leave the zero frequency with one.
        ticks = [i for i in range(len(axis)) if (i - np.searchsorted(axis, 0)) % every == 0]
        panel.set_xticks(ticks, [_signed(axis[i]) for i in ticks])
        panel.set_yticks(ticks, [_signed(axis[i]) for i in ticks])
        panel.tick_params(labelsize=7)
        panel.spines[:].set_visible(False)
        if len(axis) <= 8:
            for (r, c), value in np.ndenumerate(accuracies):
                colour = "black" if value > 78 else "white"
                panel.text(c, r, f"{value:.0f}", ha="center", va="center", fontsize=6.5, color=colour)
        lines = ["column frequency $k_c$"]
        for k_row, k_col, value in published.get(name, ()):
            at = np.flatnonzero(axis == wrapped(k_row)), np.flatnonzero(axis == wrapped(k_col))
            if at[0].size and at[1].size:
                _frame(panel, int(at[0][0]), int(at[1][0]))
                lines.append(
                    f"published at ({_signed(k_row)}, {_signed(k_col)}): {value:.1f}, here {_here(cells, k_row, k_col)}"
                )
        panel.set(title=textwrap.fill(labels[name], 26), xlabel="\n".join(lines))
    for panel in axes[:, 0]:
        panel.set_ylabel("row frequency $k_r$")
    figure.colorbar(image, ax=axes, label="test accuracy (%)", shrink=0.7, panchor=False)
    return style.finish(figure, "Accuracy on D(v) over the frequency of v", caption, notice)


def _signed(frequency: int) -> str:
    """A frequency with a proper minus sign."""
    return f"{int(frequency)}".replace("-", "−")


def _here(cells: pd.DataFrame, k_row: int, k_col: int) -> str:
    """Our accuracy at a frequency as text: mean over seeds, and standard deviation where there are several."""
    same = [
        (wrapped(cells["k_row"]) == wrapped(sign * k_row)) & (wrapped(cells["k_col"]) == wrapped(sign * k_col))
        for sign in (1, -1)
    ]
    found = 100 * cells[same[0] | same[1]].groupby("seed")["accuracy"].mean()
    return f"{found.mean():.1f}" + (f" ± {found.std(ddof=1):.1f}" if len(found) > 1 else "")


def _frame(panel: Axes, row: int, column: int) -> None:
    """Frame a cell so that it shows on light and dark ground alike."""
    frame = matplotlib.patches.Rectangle(
        (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="white", linewidth=1.4, zorder=3, clip_on=False
    )
    frame.set_path_effects([matplotlib.patheffects.withStroke(linewidth=3.4, foreground="black")])
    panel.add_patch(frame)


def table(summary: pd.DataFrame, labels: Mapping[str, str], published: Mapping[str, Known]) -> Table:
    """One row per architecture: the spread of its map, and the frequencies with published values beside them."""
    rows = []
    for name, cells in summary.groupby("architecture", sort=False):
        beside = []
        for row, column, value in published.get(name, ()):
            signs = ((row, column), (-row, -column))
            same = [cell for cell in cells.to_dict("records") if (cell["k_row"], cell["k_col"]) in signs]
            beside += [f"({row}, {column}): {percent(cell['mean'], cell['std'])} / {value}" for cell in same]
        means = cells["mean"]
        spread = [f"{100 * value:.1f}" for value in (means.mean(), means.min(), means.max())]
        above = f"{100 * (means > 0.75).mean():.0f}"
        rows.append([labels[name], len(cells), *spread, above, ", ".join(beside) or "–"])
    header = ["network", "directions", "mean accuracy (%)", "lowest", "highest", "directions above 75 % (%)"]
    return Table([*header, "(k_row, k_col): ours / published"], rows)


def section(notice: str | None) -> Section:
    """The section of `fourier`."""
    run = evaluated("fourier")
    caption = f"{run.sizes()} · ε = {run.plan.settings.eps:g}, σ = {run.plan.settings.sigma:g}"
    published = run.of_the_papers(PUBLISHED)
    figure = maps(run.results, run.labels, published, caption, notice)
    return Section(
        "fourier: D(v) along Fourier directions",
        caption,
        table(run.table("summary"), run.labels, published),
        [Picture("fourier_maps", figure, "accuracy over frequencies")],
    )
