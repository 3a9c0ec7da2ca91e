"""`linear_pairs` in the report: paper 2, §3, figures 1, 2a, 2b and 4–8, and tilts."""

from collections.abc import Iterator, Mapping

import matplotlib.patheffects
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from pipeline.measures import boundaries as measures
from pipeline.measures.fitted import fitted
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.numbers import (
    describe_basis,
    format_accuracy,
    format_mean,
    format_percent,
    format_share,
    format_training,
)
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import read_published
from pipeline.report.run import (
    Published,
    Record,
    Report,
    average_percent,
    explain_unfitted,
)
from pipeline.report.site.data import accuracy_cell, encode

PANELS = {
    "all": "both channels",
    "first": "only channel 1",
    "second": "only channel 2",
}
"""Labels of the test sets."""

PAIR = ["index_1", "index_2"]
"""The columns of a pair: the NAD indices of v₁ and v₂."""

Planes = pd.DataFrame
"""Rows of boundaries.csv after `measures.mask_tilts`.

The additional column `probability` is that of class 1 in the plane of v₁⊕0 and 0⊕v₂,
(POINTS, POINTS), whose rows run along 0⊕v₂.
"""

USED = 0.6  # accuracy above which a single channel counts as used; chance is 0.5

FEW = 4
"""Number of networks up to which a kept run has a table but no figures."""

CLASSES = ((-1, "o", style.BLUE), (1, "^", style.ORANGE))
"""The side of the origin on which each class lies, its marker and its colour."""


def draw_problem(record: Record, caption: str) -> Figure:
    """Draw boundaries that all separate the classes in the plane of v₁, v₂ (fig. 1)."""
    figure, ((panel,),) = style.new_figure(1, 1, 4.4, 4.8)
    first = record.plan.settings.eps1
    second = record.plan.settings.eps2
    for number, (sign, marker, colour) in enumerate(CLASSES):
        panel.plot(
            sign * first,
            sign * second,
            marker,
            color=colour,
            markersize=7,
            zorder=3,
            label=f"class {number}",
        )
    reach = np.array([-1.6, 1.6]) * max(first, second)
    panel.plot([0, 0], reach, "--", color="0.35", label="only channel 1")
    panel.plot(reach, [0, 0], ":", color="0.35", label="only channel 2")
    slope = reach / np.hypot(first, second)
    margin = f"maximum margin ({measures.max_margin_tilt(first, second):.1f}°)"
    panel.plot(-slope * second, slope * first, "-", color="k", label=margin)
    panel.set(
        xlabel="coordinate along $v_1 \\oplus 0$",
        ylabel="coordinate along $0 \\oplus v_2$",
        aspect="equal",
        xlim=reach,
        ylim=reach,
    )
    panel.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, ncols=2
    )
    title = (
        "Two channels, each sufficient: D(v₁) ⊕ D(v₂)\n"
        "Every boundary separates the classes"
    )
    return style.finish(figure, title, caption, record.notice)


def draw_heat_map(panel: Axes, cells: pd.DataFrame) -> QuadMesh:
    """Draw a `style.draw_heat_map` over pairs of NAD indices.

    Args:
        panel: The panel.
        cells: The columns mean, std and fitted, by `PAIR`.
    """
    unfitted = cells["fitted"].unstack() == 0
    return style.draw_heat_map(
        panel, cells["mean"].unstack(), cells["std"].unstack(), unfitted
    )


def draw_accuracies(
    record: Record, name: str, published: Published, caption: str
) -> Figure:
    """Draw accuracy with both channels and with single ones (figs 2a, 4, 6).

    Args:
        record: The run of `linear_pairs`.
        name: The architecture.
        published: Published accuracies in per cent by pair and test set.
        caption: The caption.
    """
    side = max(2.1, 0.42 * record.select_results(name)["index_1"].nunique())
    rows = 2 if name in published else 1
    width = 3 * side + 1.6
    height = rows * (side + 0.55) + 0.8
    figure, axes = style.new_figure(rows, 3, width, height)
    for panels, (test_set, title) in zip(axes.T, PANELS.items(), strict=True):
        own = average_percent(record.select_results(name, test_set=test_set), PAIR)
        mesh = draw_heat_map(panels[0], own)
        panels[0].set_title(title)
        if name in published:
            values = published[name].values
            means = [values.get(pair, {}).get(test_set, np.nan) for pair in own.index]
            draw_heat_map(panels[1], own.assign(mean=means, std=np.nan, fitted=True))
            panels[1].set_title("published, ResNet-18\n(paper 2, fig. 2a)")
    for panel in axes.flat:
        panel.set(xlabel="", ylabel="")
    for panel in axes[:, 0]:
        panel.set_ylabel("NAD index of $v_1$ (first channel)")
    for panel in axes[-1]:
        panel.set_xlabel("NAD index of $v_2$ (second channel)")
    figure.colorbar(mesh, ax=axes, label="test accuracy (%)", shrink=0.8)
    title = f"{record.labels[name]}: which channel carries the accuracy"
    return style.finish(figure, title, caption, record.notice)


def select_tilts(cells: Planes) -> pd.Series:
    """The tilts of fitted networks that have learned something and have a boundary."""
    return cells["tilt"][fitted(cells)].dropna()


def format_tilt(cells: Planes) -> str:
    """The mean tilt in degrees as text, or the reason why there is none."""
    tilts = select_tilts(cells)
    if len(tilts):
        return format_mean(tilts.mean(), tilts.std()) + "°"
    return "not learned" if cells["tilt"].isna().all() else "not fitted"


def average_probability(cells: Planes) -> np.ndarray:
    """The probability of class 1 in the plane, averaged over seeds."""
    return np.mean(list(cells["probability"]), axis=0, dtype=np.float64)


def draw_boundaries(record: Record, planes: Planes, label: str, caption: str) -> Figure:
    """Draw the probability of class 1 in the plane, for each pair (figs 2b, 5, 7, 8).

    The boundary is drawn where a fitted network has one.

    Args:
        record: The run of `linear_pairs`.
        planes: The planes of one architecture.
        label: Its label.
        caption: The caption.
    """
    settings = record.plan.settings
    indices = sorted(planes["index_1"].unique())
    count = len(indices)
    width = max(5.6, 1.35 * count + 1.6)
    height = 1.45 * count + 1.8
    figure, axes = style.new_figure(
        count, count, width, height, sharex=True, sharey=True
    )
    for panel, (_, cells) in zip(axes.flat, planes.groupby(PAIR), strict=False):
        picture = draw_plane(panel, cells)
        for sign, marker, _ in CLASSES:
            panel.plot(
                sign * settings.eps1,
                sign * settings.eps2,
                marker,
                markersize=5,
                color="white",
                markeredgecolor="black",
            )
        panel.set_title(format_tilt(cells), fontsize=8, pad=2)
        panel.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        panel.spines[:].set_visible(False)
    for index, lowest, leftmost in zip(indices, axes[-1], axes[:, 0], strict=True):
        lowest.set_xlabel(f"along $v_1$\n$v_2$: NAD {index}", fontsize=8)
        leftmost.set_ylabel(f"$v_1$: NAD {index}\nalong $v_2$", fontsize=8)
    figure.colorbar(picture, ax=axes, label="probability of class 1", shrink=0.6)
    margin = measures.max_margin_tilt(settings.eps1, settings.eps2)
    title = (
        f"{label}: decision boundaries and their tilt\n"
        "0°: channel 1 only, 90°: channel 2 only, "
        f"{margin:.1f}°: maximum margin"
    )
    return style.finish(figure, title, caption, record.notice)


def draw_plane(panel: Axes, cells: Planes) -> AxesImage:
    """Draw the probability of class 1 and the boundary of one pair's networks."""
    half = measures.EXTENT * (1 + 1 / (measures.POINTS - 1))
    probability = average_probability(cells)
    picture = panel.imshow(
        probability,
        cmap=style.ACCURACY,
        vmin=0,
        vmax=1,
        interpolation="nearest",
        origin="lower",
        extent=(-half, half, -half, half),
    )
    if not fitted(cells).all():
        # The circles are class 0.
        corner = [0.85 * half]
        style.mark_unfitted(panel, corner, corner, size=4, marker="s")
    if len(select_tilts(cells)) and probability.min() < 0.5 < probability.max():
        axis = np.linspace(-measures.EXTENT, measures.EXTENT, measures.POINTS)
        boundary = panel.contour(
            axis, axis, probability, levels=[0.5], colors="white", linewidths=1.6
        )
        rim = matplotlib.patheffects.withStroke(linewidth=3, foreground="black")
        boundary.set_path_effects([rim])
    return picture


def iterate_pairs(
    record: Record, name: str, planes: Mapping[str, Planes]
) -> Iterator[tuple[tuple[int, int], pd.DataFrame, Planes]]:
    """Yield each pair of an architecture, its summary by test set, and its planes.

    Args:
        record: The run of `linear_pairs`.
        name: The architecture.
        planes: Planes by architecture.
    """
    summaries = record.select_summary(name).groupby(PAIR)
    for (pair, tests), (_, plane) in zip(
        summaries, planes[name].groupby(PAIR), strict=True
    ):
        yield pair, tests.set_index("test_set"), plane


def make_table(
    record: Record, published: Published, planes: Mapping[str, Planes]
) -> Rows:
    """The table of accuracies and tilts at corners and on the diagonal of each grid.

    Args:
        record: The run of `linear_pairs`.
        published: Published accuracies in per cent by pair and test set.
        planes: Planes by architecture.
    """
    for name, label in record.labels.items():
        indices = record.select_summary(name)["index_1"]
        ends = {indices.min(), indices.max()}
        for pair, tests, plane in iterate_pairs(record, name, planes):
            first, second = pair
            on_diagonal = first == second
            at_corner = first in ends and second in ends
            if not on_diagonal and not at_corner:
                continue
            row = {"network": label, "NAD indices of v₁, v₂": f"({first}, {second})"}
            for test_set, text in PANELS.items():
                row[f"{text} (%)"] = format_accuracy(tests.loc[test_set])
            if "conflict" in tests.index:
                conflict = format_accuracy(tests.loc["conflict"])
                row["follows channel 1 in conflicts (%)"] = conflict
            best = tests.loc["second"]
            row["only channel 2 at the best threshold (%)"] = format_percent(
                best["best_mean"], best["best_std"]
            )
            row["tilt"] = format_tilt(plane)
            row["training accuracy (%) (fitted seeds)"] = format_training(
                tests.loc["all"]
            )
            if name in published and pair in published[name].values:
                values = published[name].values[pair].values()
                texts = [f"{value:.1f}" for value in values]
                row["published (ResNet-18, full width)"] = " / ".join(texts)
            yield row


def make_finding(run: Report) -> Finding:
    """Which channel one network uses if v₁ is the grid's last NAD and v₂ its first."""
    record, name, label = run.choose_network("linear_pairs")
    results = record.select_results(name)
    last = results["index_1"].max()
    first = results["index_2"].min()
    rows = record.select_results(name, index_1=last, index_2=first)
    cells = average_percent(rows, ["test_set"])
    cell_1 = cells.loc["first"]
    cell_2 = cells.loc["second"]
    channels = describe_used(cell_1["mean"] > 100 * USED, cell_2["mean"] > 100 * USED)
    text = (
        f"{label} uses {channels} of NADs {last} and {first}: {format_share(cell_1)} "
        f"with only the first, {format_share(cell_2)} with only the second"
    )
    networks = rows[rows["test_set"] == "all"]
    return Finding(name, text, describe_basis(networks, cell_1, cell_2))


def describe_used(first: bool, second: bool) -> str:
    """Describe which channels are used."""
    if first and second:
        return "both"
    if first:
        return "the first"
    return "the second" if second else "neither"


def make_explorer(
    record: Record, published: Published, planes: Mapping[str, Planes]
) -> Rows:
    """The pairs of the page: accuracies, tilts, boundaries and published accuracies.

    Args:
        record: The run of `linear_pairs`.
        published: Published accuracies in per cent by pair and test set.
        planes: Planes by architecture.
    """
    settings = record.plan.settings
    about = {
        "extent": measures.EXTENT,
        "points": measures.POINTS,
        "means": (settings.eps1, settings.eps2),
        "margin": measures.max_margin_tilt(settings.eps1, settings.eps2),
    }
    for name, label in record.labels.items():
        cells = {}
        for (first, second), tests, plane in iterate_pairs(record, name, planes):
            cells[f"{first},{second}"] = describe_pair(tests, plane)
        indices = sorted(record.select_summary(name)["index_1"].unique())
        yield {"name": label, "indices": indices, "cells": cells, **about}
        if name in published:
            cells = {}
            for (first, second), values in published[name].values.items():
                accuracies = {test_set: [values[test_set] / 100] for test_set in PANELS}
                cells[f"{first},{second}"] = accuracies
            indices = sorted({first for first, _ in published[name].values})
            yield {"name": published[name].name, "indices": indices, "cells": cells}


def describe_pair(tests: pd.DataFrame, plane: Planes) -> dict[str, object]:
    """The values of one pair for the page's script.

    Args:
        tests: Summary of the pair by test set.
        plane: Planes of the pair.
    """
    cell = {test_set: accuracy_cell(tests.loc[test_set]) for test_set in PANELS}
    tilts = select_tilts(plane)
    probability = np.rint(255 * average_probability(plane)).astype(np.uint8)
    cell["best"] = list(tests.loc["second", ["best_mean", "best_std"]])
    cell["training"] = tests.loc["all", "train_accuracy"]
    cell["tilt"] = [tilts.mean(), tilts.std()] if len(tilts) else None
    cell["learned"] = bool(plane["tilt"].notna().any())
    cell["plane"] = encode(probability)
    return cell


def read_planes(record: Record) -> dict[str, Planes]:
    """Read the planes of a run of `linear_pairs`, by architecture."""
    rows = artifacts.read_results(record.folder, "boundaries.csv")
    probabilities = artifacts.read_results(record.folder, "cross_sections.npz")
    planes = measures.mask_tilts(rows, record.results, PAIR)
    cells = planes.apply(artifacts.cell_name, axis=1, coordinates=tuple(PAIR))
    planes["probability"] = cells.map(probabilities.get)
    return {name: planes[planes["architecture"] == name] for name in record.labels}


def describe_settings(record: Record) -> str:
    """Describe amplitudes, noise and label noise of a run as part of a caption."""
    settings = record.plan.settings
    text = f"ε₁ = {settings.eps1:g}, ε₂ = {settings.eps2:g}, σ = {settings.sigma:g}"
    if settings.eta1 or settings.eta2:
        text += f", label noise η₁ = {settings.eta1:g}, η₂ = {settings.eta2:g}"
    return text


TILT = (
    "tilt: mean over the seeds that were fitted, have a boundary and "
    f"have a test accuracy above {100 * measures.LEARNED:g} %"
)
"""What captions say of tilts."""


def draw_network(
    record: Record, name: str, published: Published, planes: Planes
) -> list[Picture]:
    """Draw the figures of one architecture.

    Args:
        record: The run of `linear_pairs`.
        name: The architecture.
        published: Published accuracies in per cent by pair and test set.
        planes: Its planes.
    """
    caption = f"{record.describe_sizes([name])} · {describe_settings(record)}"
    mark = explain_unfitted("dot")
    lines = f"{caption}\n{mark}"
    if name in published:
        lines += (
            "\npublished: full width, mean of three seeds, read off the figure, ± 1"
        )
    accuracies = draw_accuracies(record, name, published, lines)
    seeds = planes["seed"].nunique()
    if seeds < record.select_results(name)["seed"].nunique():
        caption += f" · seeds of the boundaries: {seeds}"
    mark = explain_unfitted("square in the corner")
    lines = f"{caption}\nprobability: mean over seeds · {TILT}\n{mark}"
    boundaries = draw_boundaries(record, planes, record.labels[name], lines)
    return [
        Picture(f"linear_accuracies_{name}", accuracies),
        Picture(f"linear_boundaries_{name}", boundaries),
    ]


def make_section(run: Report) -> Section:
    """The section of `linear_pairs`."""
    record = run.experiments["linear_pairs"]
    table = read_published("linear_pairs").set_index(PAIR)  # paper 2, fig. 2a
    published = record.find_published({"resnet18": table.to_dict("index")})
    planes = read_planes(record)
    settings = describe_settings(record)
    pictures = []
    # Kept runs have the same problem, so only a whole run draws it.
    if run.plan:
        lines = f"scale {record.plan.scale} · {settings}"
        picture = Picture("two_sufficient_channels", draw_problem(record, lines))
        pictures.append(picture)
    networks = (record.results["test_set"] == "all").sum()
    if run.plan or networks > FEW:
        for name in record.labels:
            pictures += draw_network(record, name, published, planes[name])
    caption = (
        f"{record.describe_sizes()} · {settings} · {TILT} · "
        f"a channel is used if accuracy with only that channel exceeds {100 * USED:g} "
        "% · NAD indices begin at 0 (our choice for paper 2)"
    )
    return Section(
        record,
        caption,
        list(make_table(record, published, planes)),
        pictures,
        make_finding(run),
        list(make_explorer(record, published, planes)),
    )
