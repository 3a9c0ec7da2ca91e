"""`linear_pairs` in the report: the problem itself, accuracies, decision boundaries, tilt and margins (paper 2, §3).

These are paper 2's figures 1, 2a, 2b and 4–8. NAD indices begin at 0, which for paper 2 is a choice: its text does not say.
"""

import warnings
from collections.abc import Collection, Mapping
from typing import Any

import matplotlib.colors
import matplotlib.patches
import matplotlib.patheffects
import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import ColorType

from pipeline import experiments
from pipeline.measures.boundaries import EXTENT, POINTS, REACH, max_margin_tilt, of_learners
from pipeline.measures.fitted import FITTED, fitted
from pipeline.nads.plan import NADsPlan
from pipeline.networks import NETWORKS, Specification
from pipeline.project import artifacts
from pipeline.report import published, style
from pipeline.report.evaluated import Evaluated, all_fitted, evaluated, not_fitted, training
from pipeline.report.page import Picture, Section, Table, percent

PANELS = {"all": "both channels", "first": "first channel alone", "second": "second channel alone"}

PAIR = ["index_1", "index_2"]
"""The columns that place a cell: NAD indices of v₁ and v₂."""

SHIFTED = 0.02
"""What a shift of the logit must cost a channel alone, at the least, to be said."""

ALIKE = 5.0
"""Standard deviation in degrees, over pairs and seeds, up to which tilts are said to be the same whatever the pair."""

GALLERY = 6
"""Number of NAD indices that are shown: of those of the grids, evenly spread."""

MEASURED = ("tilt", "margin_1", "margin_2", "train_accuracy")
"""What boundaries.csv has of every cell."""

PUBLISHED_CAPTION = "published: full width, mean of three seeds, read off the figure, ± 1"
"""What the caption of a figure with published maps says of them."""

USED = 0.6
"""Accuracy with a channel alone from which on that channel is called used; guessing gives 0.5."""

WHICH = {
    (True, True): "both",
    (True, False): "the first",
    (False, True): "the second",
    (False, False): "neither",
}
"""Which channels are used, by whether the first is and whether the second is."""

Pair = tuple[int, int]
"""NAD indices of v₁ and v₂."""


def two_sufficient_channels(
    points: np.ndarray,
    classes: np.ndarray,
    separations: tuple[float, float],
    nads: Mapping[str, Mapping[int, np.ndarray]],
    labels: Mapping[str, str],
    caption: str,
    notice: str | None,
) -> Figure:
    """What underspecification means here, and the directions it is posed in (after paper 2, fig. 1).

    points: (N, 2) coordinates of samples along v₁⊕0 and 0⊕v₂; classes: (N,) in {0, 1}; separations: (ε₁, ε₂);
    nads: per architecture a dict index → (32, 32) NAD; labels: architecture → name.
    """
    indices = sorted({index for chosen in nads.values() for index in chosen})
    size = min(1.3, 5 / len(indices))
    figure = style.blank(4.2 + 2 * size * len(indices), max(4.6, 0.9 + (size + 0.2) * len(nads)))
    left, right = figure.subfigures(1, 2, width_ratios=[4.0, 2 * size * len(indices)])
    axes = left.subplots()
    first, second = separations
    for label, colour, marker in ((0, "#0072B2", "o"), (1, "#D55E00", "^")):
        chosen = points[classes == label]
        axes.plot(chosen[:, 0], chosen[:, 1], marker, color=colour, markersize=7, label=f"class {label}", zorder=3)
    reach = np.array([-1.6, 1.6]) * max(first, second)
    axes.plot([0, 0], reach, "--", color="0.35", label="first channel alone")
    axes.plot(reach, [0, 0], ":", color="0.35", label="second channel alone")
    axes.plot(
        -reach * second / np.hypot(first, second),
        reach * first / np.hypot(first, second),
        "-",
        color="k",
        label=f"maximum margin ({max_margin_tilt(first, second):.1f}°)",
    )
    axes.set(
        xlabel="coordinate along $v_1 \\oplus 0$",
        ylabel="coordinate along $0 \\oplus v_2$",
        aspect="equal",
        xlim=reach,
        ylim=reach,
    )
    axes.set_title("every one of these boundaries\nseparates the two classes")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, ncols=2)

    panels = right.subplots(len(nads), 2 * len(indices), squeeze=False)
    for panel in panels.flat:
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
        panel.set_box_aspect(1)
    for place, index in enumerate(indices):
        panels[0, 2 * place].set_title(f"NAD {index}", fontsize=8)
        panels[0, 2 * place + 1].set_title("its frequencies", fontsize=8)
    for row, (name, chosen) in zip(panels, nads.items()):
        row[0].set_ylabel(labels[name].replace(", width", ",\nwidth"), fontsize=7.5)
        for index, nad in chosen.items():
            pixels, amplitude = row[2 * indices.index(index) :][:2]
            bound = np.abs(nad).max()
            pixels.imshow(nad, cmap="gray", vmin=-bound, vmax=bound)
            amplitude.imshow(np.fft.fftshift(np.abs(np.fft.fft2(nad))), cmap=style.ACCURACY)
    return style.finish(
        figure, "Two channels, each sufficient: D(v₁) ⊕ D(v₂), and NADs that v₁ and v₂ are taken from", caption, notice
    )


def at(rows: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    """Those rows of a table that are of one pair of NAD indices."""
    return rows[(rows["index_1"] == pair[0]) & (rows["index_2"] == pair[1])]


def over_pairs(rows: pd.DataFrame, column: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean and standard deviation of a column over seeds, as matrices: a row for each index of v₁, a column for each of v₂.

    The standard deviation is nan where there is one seed.
    """
    cells = rows.groupby(PAIR)[column]
    return cells.mean().unstack(), cells.std().unstack()


def hatch(panel: Axes, corner: tuple[float, float], side: float, lines: str, colour: ColorType, width: float) -> None:
    """Hatch a square of a panel; lines: matplotlib's pattern, with their colour and width."""
    square = matplotlib.patches.Rectangle(
        corner, side, side, fill=False, hatch=lines, edgecolor=colour, linewidth=0, zorder=1.5
    )
    square.set_hatch_linewidth(width)
    panel.add_patch(square)


def written(mean: pd.DataFrame, spread: pd.DataFrame, form: str) -> pd.DataFrame:
    """Means as text, each with its standard deviation under it where there is one; ∞ where a mean is infinite."""
    text = mean.map(lambda value: "∞" if np.isinf(value) else form.format(value))
    return text + spread.map(lambda value: "" if np.isnan(value) else f"\n±{value:.1f}")


def heat_map(
    panel: Axes,
    mean: pd.DataFrame,
    text: pd.DataFrame,
    hatched: pd.DataFrame,
    limits: tuple[float, float],
    **bar: Any,
) -> None:
    """A heat map over pairs of NAD indices, with `text` in its cells: – where there is no number, some of them hatched.

    mean, text, hatched: matrices with v₁ along the rows and v₂ along the columns; limits: of the colours; bar: arguments of
    `seaborn.heatmap` on the colour bar.
    """
    size = max(mean.shape)
    font = 8 if size <= 6 else 6
    style.as_they_are(panel.get_figure(root=True))
    # seaborn draws the whole figure to measure its texts; what there is to be warned of is said when it is saved.
    with warnings.catch_warnings(action="ignore"):
        seaborn.heatmap(
            mean,
            ax=panel,
            vmin=limits[0],
            vmax=limits[1],
            cmap=style.ACCURACY,
            annot=text,
            fmt="",
            square=True,
            annot_kws={"fontsize": font},
            linewidths=0.4,
            **bar,
        )
    panel.set_facecolor("0.88")
    for row, column in np.argwhere(mean.isna().to_numpy()):
        panel.text(column + 0.5, row + 0.5, "–", ha="center", va="center", color="0.15", fontsize=font)
    colours = panel.collections[0].get_facecolors().reshape(*mean.shape, 4)
    colours[mean.isna()] = panel.get_facecolor()
    for number in panel.texts:
        column, row = (int(place) for place in number.get_position())
        if hatched.iloc[row, column]:
            # Lines between the colours of the cell and of its number, which stands on the cell's own, clear of them.
            ground = colours[row, column]
            colour = (ground + matplotlib.colors.to_rgba(number.get_color())) / 2
            hatch(panel, (column, row), 1, "///", colour, 0.6)
            number.set_bbox({"facecolor": ground, "edgecolor": "none", "pad": 1})
    panel.tick_params(axis="y", rotation=0)
    panel.tick_params(axis="x", rotation=0 if size <= 6 else 90)


def published_at(pairs: pd.Index) -> pd.DataFrame:
    """The published accuracies of ResNet-18 at the indices of a grid, or at all of them where the grid has others."""
    table = published.table("linear_pairs").set_index(PAIR)
    return table.loc[pairs] if pairs.isin(table.index).all() else table


def accuracies(results: pd.DataFrame, label: str, resnet18: bool, caption: str, notice: str | None) -> Figure:
    """Accuracy (%) over the pairs of NAD indices: both channels, the first alone, the second alone (figs 2a, 4, 6).

    results: rows of one architecture from reports/linear_pairs/results.csv; numbers are means and standard deviations over
    seeds. Under the maps of a ResNet-18 of whatever width stand the published ones, which are of full width.
    """
    hatched = ~all_fitted(results, PAIR)
    beside = published_at(hatched.index) if resnet18 else None
    hatched = hatched.unstack()
    size = max(*hatched.shape, 0 if beside is None else beside["all"].unstack().shape[0])
    side, rows = max(2.1, 0.42 * size), 1 + resnet18
    figure, axes = style.new(rows, 3, 3 * side + 1.6, rows * (side + 0.55) + (0.8 if notice is None else 1.0))
    bar = {"cbar_kws": {"label": "test accuracy (%)", "shrink": 0.8}}
    for column, (test_set, title) in enumerate(PANELS.items()):
        mean, spread = (100 * part for part in over_pairs(results[results["test_set"] == test_set], "accuracy"))
        panels = axes[:, column]
        heat_map(panels[0], mean, written(mean, spread, "{:.0f}"), hatched, (50, 100), cbar=column == 2, **bar)
        panels[0].set_title(title)
        if beside is not None:
            mean = beside[test_set].unstack()
            text = mean.map("{:.0f}".format)
            heat_map(panels[1], mean, text, mean.isna(), (50, 100), cbar=column == 2, **bar)
            panels[1].set_title("published, ResNet-18\n(paper 2, fig. 2a)")
        for panel in panels:
            panel.set(xlabel="", ylabel="NAD index of $v_1$ (first channel)" if column == 0 else "")
        panels[-1].set_xlabel("NAD index of $v_2$ (second channel)")
    return style.finish(figure, f"{label}: which channel carries the accuracy", caption, notice)


def degrees(tilts: pd.Series) -> str:
    """Mean of tilts and, of several, their standard deviation, in degrees."""
    return f"{tilts.mean():.1f}" + (f" ± {tilts.std():.1f}" if len(tilts) > 1 else "") + "°"


def tilts_of(cells: pd.DataFrame) -> pd.Series:
    """The tilts of those cells of a table of boundaries that have a boundary and whose networks were fitted."""
    return cells["tilt"][fitted(cells)].dropna()


def boundaries(
    probabilities: Mapping[Pair, np.ndarray],
    planes: pd.DataFrame,
    separations: tuple[float, float],
    label: str,
    caption: str,
    notice: str | None,
) -> Figure:
    """Class-1 probability in the plane of v₁⊕0 and 0⊕v₂ for the pairs of NAD indices (figs 2b, 5, 7, 8).

    probabilities: (index_1, index_2) → (POINTS, POINTS), row = coordinate along 0⊕v₂, mean over seeds; planes: rows of one
    architecture from reports/linear_pairs/boundaries.csv, whose tilts are the titles; separations: (ε₁, ε₂), drawn as the two
    class means.
    """
    rows, columns = (sorted({pair[side] for pair in probabilities}) for side in (0, 1))
    figure, axes = style.new(
        len(rows), len(columns), max(5.6, 1.35 * len(columns) + 1.6), 1.45 * len(rows) + 1.8, sharex=True, sharey=True
    )
    half = EXTENT * (1 + 1 / (POINTS - 1))
    axis = np.linspace(-EXTENT, EXTENT, POINTS)
    hatched = ~all_fitted(planes, PAIR)
    for r, first in enumerate(rows):
        for c, second in enumerate(columns):
            panel, probability = axes[r, c], probabilities[first, second]
            cells = at(planes, (first, second))
            learned, tilts = cells["tilt"].notna().any(), tilts_of(cells)
            picture = panel.imshow(
                probability,
                origin="lower",
                extent=(-half, half, -half, half),
                cmap=style.ACCURACY,
                vmin=0,
                vmax=1,
                interpolation="nearest",
            )
            if hatched[first, second]:
                # Light lines with dark rims show on every colour of the map.
                for colour, width in (("0.2", 1.3), ("0.95", 0.6)):
                    hatch(panel, (-half, -half), 2 * half, "//", colour, width)
            if learned and probability.min() < 0.5 < probability.max():
                line = panel.contour(axis, axis, probability, levels=[0.5], colors="white", linewidths=1.6)
                line.set_path_effects([matplotlib.patheffects.withStroke(linewidth=3, foreground="black")])
            for sign, marker in ((-1, "o"), (1, "^")):
                panel.plot(
                    sign * separations[0],
                    sign * separations[1],
                    marker,
                    markersize=5,
                    color="white",
                    markeredgecolor="black",
                )
            title = "not learned" if not learned else degrees(tilts) if len(tilts) else "not fitted"
            panel.set_title(title, fontsize=8, pad=2)
            panel.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
            panel.spines[:].set_visible(False)
            if r == len(rows) - 1:
                panel.set_xlabel(f"along $v_1$\n$v_2$: NAD {second}", fontsize=8)
            if c == 0:
                panel.set_ylabel(f"$v_1$: NAD {first}\nalong $v_2$", fontsize=8)
    figure.colorbar(picture, ax=axes, label="probability of class 1", shrink=0.6)
    return style.finish(
        figure,
        f"{label}: decision boundaries and their tilt\n0°: channel 1 only, 90°: channel 2 only, "
        f"{max_margin_tilt(*separations):.1f}°: maximum margin",
        caption,
        notice,
    )


def tilt_and_margins(
    tables: Mapping[str, pd.DataFrame],
    labels: Mapping[str, str],
    separations: tuple[float, float],
    caption: str,
    notice: str | None,
) -> Figure:
    """Tilt of the boundary and median margins along v₁ and v₂ over the pairs of NAD indices, per network; not in the paper.

    tables: architecture → rows of reports/linear_pairs/boundaries.csv. Numbers are means and standard deviations over the
    seeds that were fitted, and of tilts over those that have a boundary.
    """
    size = max(table["index_1"].nunique() for table in tables.values())
    figure, axes = style.new(
        len(tables), 3, 3 * max(2.3, 0.42 * size) + 1.8, len(tables) * max(2.3, 0.42 * size + 0.3) + 1.5
    )
    columns = (
        ("tilt", "tilt (degrees)", 90, "{:.0f}"),
        ("margin_1", "median margin along $v_1$", REACH, "{:.1f}"),
        ("margin_2", "median margin along $v_2$", REACH, "{:.1f}"),
    )
    for row, (name, table) in zip(axes, tables.items()):
        known = table.assign(**{column: table[column].where(fitted(table)) for column, *_ in columns})
        hatched = (~all_fitted(table, PAIR)).unstack()
        for panel, (column, title, high, form) in zip(row, columns):
            mean, spread = over_pairs(known, column)
            heat_map(panel, mean.clip(upper=high), written(mean, spread, form), hatched, (0, high), cbar=False)
            panel.set(
                title=title if name == next(iter(tables)) else "",
                xlabel="NAD index of $v_2$",
                ylabel=f"{labels[name]}\nNAD index of $v_1$" if column == "tilt" else "",
            )
    for place in range(len(columns)):
        figure.colorbar(axes[0, place].collections[0], ax=axes[:, place], location="bottom", shrink=0.8, aspect=30)
    return style.finish(
        figure,
        f"Tilt and margins (maximum margin: {max_margin_tilt(*separations):.1f}°; class means at "
        f"±{separations[0]:g}, ±{separations[1]:g}; ∞: no boundary within {REACH:g})",
        caption,
        notice,
    )


def table(summary: pd.DataFrame, planes: pd.DataFrame, labels: Mapping[str, str], resnets: Collection[str]) -> Table:
    """Rows for the corners and the diagonal of each architecture's grid: accuracies, tilt, and how many seeds were fitted.

    planes: reports/linear_pairs/boundaries.csv; resnets: the architectures beside which the published values stand.
    """
    known, rows = published.table("linear_pairs").set_index(PAIR), []
    for name, cells in summary.groupby("architecture", sort=False):
        ends = (cells["index_1"].min(), cells["index_1"].max())
        for pair, cell in cells.groupby(PAIR):
            if pair[0] != pair[1] and not set(pair) <= set(ends):
                continue
            tests = cell.set_index("test_set")
            tilts = tilts_of(at(planes[planes["architecture"] == name], pair))
            beside = [f"{value:.1f}" for value in known.loc[pair]] if name in resnets and pair in known.index else []
            rows.append(
                [
                    labels[name],
                    f"({pair[0]}, {pair[1]})",
                    *(percent(tests.loc[test, "mean"], tests.loc[test, "std"]) for test in PANELS),
                    percent(tests.loc["second", "best_mean"], tests.loc["second", "best_std"]),
                    degrees(tilts) if len(tilts) else "–",
                    training(tests.loc["all"]),
                    " / ".join(beside) or "–",
                ]
            )
    header = ["network", "NAD indices of v₁, v₂", "both (%)", "first alone (%)", "second alone (%)"]
    header += ["second alone at the best threshold (%)", "tilt"]
    return Table([*header, "training accuracy (%) (fitted seeds)", "published (ResNet-18, full width)"], rows)


def used(results: pd.DataFrame, planes: pd.DataFrame, label: str, resnet18: bool, max_margin: float) -> str:
    """The sentence on which channels one architecture's fitted networks use at the corners of the grid, and on their tilt.

    results, planes: the rows of one architecture; resnet18: whether the published values stand beside it; max_margin: tilt of
    the maximum-margin separator.
    """
    low, high = results["index_1"].min(), results["index_1"].max()
    corners = list(dict.fromkeys([(low, low), (low, high), (high, low)]))
    said, counts, lacking = [], [], []
    for pair in corners:
        place = f"({pair[0]}, {pair[1]})"
        rows = at(results[fitted(results)], pair)
        first, second = (rows["accuracy"][rows["test_set"] == channel] for channel in ("first", "second"))
        if rows.empty:
            lacking.append(place)
            continue
        which = WHICH[bool(first.mean() > USED), bool(second.mean() > USED)]
        numbers = " and ".join(percent(values.mean(), values.std()) for values in (first, second))
        shift = rows["best_accuracy"][rows["test_set"] == "second"]
        if second.mean() > USED and shift.mean() - second.mean() > SHIFTED:
            numbers += f" %; at the best threshold of its logit the second gives {percent(shift.mean(), shift.std())}"
        said.append(f"{which} at {place} ({'alone, they give ' if not said else ''}{numbers} %)")
        counts.append(str(len(first)))
    start = f"linear_pairs, {label} ({int(fitted(planes).sum())} of {len(planes)} networks fitted)"
    if not said:
        return (
            f"{start}: nothing is said of which channel it uses, since at {', '.join(lacking)} no network was fitted."
        )
    sentence = f"{start}: of two sufficient channels along NADs (v₁, v₂) it uses {', '.join(said)}"
    sentence += f", n = {', '.join(counts if len(set(counts)) > 1 else counts[:1])}"
    if lacking:
        sentence += f"; at {', '.join(lacking)} no network was fitted"
    tilts = tilts_of(planes)
    if len(tilts) > 1 and tilts.std() <= ALIKE:
        sentence += f"; whatever the pair, its boundaries tilt by {tilts.mean():.1f} ± {tilts.std():.1f}°"
        sentence += f", n = {len(tilts)} networks (maximum margin: {max_margin:.1f}°)"
    known = published.table("linear_pairs").set_index(PAIR)
    beside = [pair for pair in corners if pair in known.index]
    if resnet18 and beside:
        values = (f"{known.loc[p, 'first']:.1f} and {known.loc[p, 'second']:.1f} % at ({p[0]}, {p[1]})" for p in beside)
        sentence += f"; published of ResNet-18 of full width: {', '.join(values)}"
    return sentence + "."


def gallery(run: Evaluated) -> dict[str, dict[int, np.ndarray]]:
    """Some of each architecture's NADs (H, W) that v₁ and v₂ are taken from, by index: the same indices for all that have them."""
    grids = {name: run.plan.members[name].grid.indices for name in run.labels}
    vectors = artifacts.vectors("linear_pairs", [f"{name}-{index}" for name, grid in grids.items() for index in grid])
    indices = sorted({index for grid in grids.values() for index in grid})
    some = [indices[i] for i in np.unique(np.linspace(0, len(indices) - 1, GALLERY).round().astype(int))]
    return {
        name: {
            index: vectors[f"{name}-{index}"].reshape(run.plan.members[name].input) for index in some if index in grid
        }
        for name, grid in grids.items()
    }


def origins(labels: Mapping[str, str]) -> str:
    """Where each architecture's NADs come from: of how many untrained networks, or of which file."""
    counts = {name: int(artifacts.nads(name)["networks"]) for name in labels}
    sources = {name: member.source for name, member in NADsPlan.read(artifacts.planned("nads")).members.items()}
    return ", ".join(
        f"{counts[name]} untrained {label}" if counts[name] else f"{sources[name].file} ({label})"
        for name, label in labels.items()
    )


def mean_probabilities(planes: pd.DataFrame) -> dict[Pair, np.ndarray]:
    """The probability of class 1 on the cross-sections (POINTS, POINTS) of one architecture, mean over seeds, by NAD indices.

    planes: its rows of reports/linear_pairs/boundaries.csv.
    """
    coordinates = experiments.find("linear_pairs").coordinates
    names = [artifacts.cell_name(cell, coordinates) for cell in planes.to_dict("records")]
    sections = artifacts.cross_sections("linear_pairs", (POINTS, POINTS), names)
    return {
        pair: np.mean(
            [sections[artifacts.cell_name(cell, coordinates)].astype(np.float64) for cell in cells.to_dict("records")],
            0,
        )
        for pair, cells in planes.groupby(list(coordinates))
    }


def is_resnet18(specification: Specification) -> bool:
    """Whether an architecture is the papers' ResNet-18, of whatever width."""
    return {**specification, "width": 1} == {"network": NETWORKS["resnet18"], "width": 1}


def planes_of(run: Evaluated) -> pd.DataFrame:
    """The rows of reports/linear_pairs/boundaries.csv, tilts only of networks that do better than guessing."""
    return of_learners(run.table("boundaries", *MEASURED), run.results, PAIR)


def section(notice: str | None) -> Section:
    """The section of `linear_pairs`."""
    run = evaluated("linear_pairs", "best_accuracy", "n")
    settings, labels = run.plan.settings, run.labels
    separations = (settings.eps1, settings.eps2)
    science = f"ε₁ = {settings.eps1:g}, ε₂ = {settings.eps2:g}, σ = {settings.sigma:g}"
    measured, summary = planes_of(run), run.summary("best_mean", "best_std")
    planes = {name: measured[measured["architecture"] == name] for name in labels}
    rows = {name: run.results[run.results["architecture"] == name] for name in labels}
    over_fitted = f"{' ± standard deviation' if run.deviations() else ''} over the seeds that were fitted"
    resnets = [name for name in labels if is_resnet18(run.plan.members[name].specification)]

    classes = np.array([0, 1])
    means = np.outer(2 * classes - 1, separations)
    caption = f"scale {run.plan.scale} · {science} · NADs from {origins(labels)}"
    figure = two_sufficient_channels(means, classes, separations, gallery(run), labels, caption, notice)
    pictures = [Picture("two_sufficient_channels", figure, "the problem and the NADs")]
    for name, label in labels.items():
        caption = f"{run.sizes([name])} · {science}"
        marked = not_fitted(planes[name], PAIR, "hatched", "pairs")
        lines = [caption + run.deviations(), marked, *([PUBLISHED_CAPTION] if name in resnets else [])]
        figure = accuracies(rows[name], label, name in resnets, "\n".join(lines), notice)
        pictures.append(Picture(f"linear_accuracies_{name}", figure, f"accuracies of {label}"))
        lines = [caption, "probability: mean over seeds · tilt: mean" + over_fitted, marked]
        figure = boundaries(
            mean_probabilities(planes[name]), planes[name], separations, label, "\n".join(lines), notice
        )
        pictures.append(Picture(f"linear_boundaries_{name}", figure, f"boundaries of {label}"))
    caption, marked = f"{run.sizes()} · {science}", not_fitted(measured, ["architecture", *PAIR], "hatched", "pairs")
    lines = [caption, f"mean{over_fitted} · –: none of them, or of tilts none with a boundary", marked]
    figure = tilt_and_margins(planes, labels, separations, "\n".join(lines), notice)
    pictures.append(Picture("linear_tilt_and_margins", figure, "tilt and margins"))
    return Section(
        "linear_pairs: D(v₁) ⊕ D(v₂)",
        f"{caption}{run.deviations()} · tilt: of the seeds that were fitted (training accuracy at least {100 * FITTED:g} %), have a "
        f"boundary and do better than guessing on new samples · used is a channel that alone gives more than {100 * USED:g} % · NAD indices begin at 0, which for paper 2 is a choice",
        table(summary, measured, labels, resnets),
        pictures,
        [
            used(rows[name], planes[name], label, name in resnets, max_margin_tilt(*separations))
            for name, label in labels.items()
        ],
    )
