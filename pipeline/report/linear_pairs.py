"""`linear_pairs` in the report: paper 2, §3, figures 1, 2a, 2b and 4–8, and tilts."""

from collections.abc import Mapping

import matplotlib.colors
import matplotlib.patheffects
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from pipeline.measures import boundaries as measures
from pipeline.measures.fitted import fitted
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import (
    accuracy,
    basis,
    mean_text,
    percent,
    share,
    training,
)
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, not_fitted, percents
from pipeline.report.site.data import encoded, value

PANELS = {
    "all": "both channels",
    "first": "first channel alone",
    "second": "second channel alone",
}

PAIR = ["index_1", "index_2"]  # the columns of a pair: the NAD indices of v₁ and v₂

# Rows of boundaries.csv after `mask_tilts`, with a column `probability`, that of class
# 1 in the plane, (POINTS, POINTS), whose rows run along 0⊕v₂.
Planes = pd.DataFrame

WHICH = (
    "neither",
    "the second",
    "the first",
    "both",
)  # by 2 · first is used + second is used
USED = 0.6  # accuracy above which a channel alone is called used; guessing gives 0.5

FEW = 4  # networks, of which the table of a run that is kept has all numbers, without figures

# The side of the origin on which each class lies, its marker and its colour.
CLASSES = ((-1, "o", style.BLUE), (1, "^", style.ORANGE))


def two_sufficient_channels(experiment: Evaluated, caption: str) -> Figure:
    """Boundaries that all separate the classes in the plane of v₁ and v₂ (fig. 1)."""
    figure, ((panel,),) = style.new(1, 1, 4.4, 4.8)
    first = experiment.plan.settings.eps1
    second = experiment.plan.settings.eps2
    for number, (sign, marker, colour) in enumerate(CLASSES):
        look = {
            "color": colour,
            "markersize": 7,
            "zorder": 3,
            "label": f"class {number}",
        }
        panel.plot(sign * first, sign * second, marker, **look)
    reach = np.array([-1.6, 1.6]) * max(first, second)
    panel.plot([0, 0], reach, "--", color="0.35", label="first channel alone")
    panel.plot(reach, [0, 0], ":", color="0.35", label="second channel alone")
    slope = reach / np.hypot(first, second)
    margin = f"maximum margin ({measures.max_margin_tilt(first, second):.1f}°)"
    panel.plot(-slope * second, slope * first, "-", color="k", label=margin)
    panel.set(
        xlabel="coordinate along $v_1 \\oplus 0$",
        ylabel="coordinate along $0 \\oplus v_2$",
    )
    panel.set(aspect="equal", xlim=reach, ylim=reach)
    panel.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, ncols=2
    )
    title = "Two channels, each sufficient: D(v₁) ⊕ D(v₂)\nEvery boundary separates the classes"
    return style.finish(figure, title, caption, experiment.notice)


def heat_map(panel: Axes, cells: pd.DataFrame) -> QuadMesh:
    """A `style.heat_map` over pairs of NAD indices; cells: mean, std and fitted by
    `PAIR`."""
    mean, std, fitted = (
        cells[column].unstack() for column in ("mean", "std", "fitted")
    )
    return style.heat_map(panel, mean, std, fitted == 0)


def accuracies(
    experiment: Evaluated, name: str, published: Published, caption: str
) -> Figure:
    """Accuracy (%) with both channels and with either alone, and the published (figs
    2a, 4, 6)."""
    side = max(2.1, 0.42 * experiment.of(name)["index_1"].nunique())
    rows = 1 + (name in published)
    figure, axes = style.new(rows, 3, 3 * side + 1.6, rows * (side + 0.55) + 0.8)
    for column, (test_set, title) in enumerate(PANELS.items()):
        panels = axes[:, column]
        own = percents(experiment.of(name, test_set=test_set), PAIR)
        mesh = heat_map(panels[0], own)
        panels[0].set_title(title)
        if name in published:
            theirs = published[name].values
            means = [theirs.get(pair, {}).get(test_set, np.nan) for pair in own.index]
            heat_map(panels[1], own.assign(mean=means, std=np.nan, fitted=True))
            panels[1].set_title("published, ResNet-18\n(paper 2, fig. 2a)")
        for panel in panels:
            panel.set(
                xlabel="",
                ylabel="NAD index of $v_1$ (first channel)" if column == 0 else "",
            )
        panels[-1].set_xlabel("NAD index of $v_2$ (second channel)")
    figure.colorbar(mesh, ax=axes, label="test accuracy (%)", shrink=0.8)
    title = f"{experiment.labels[name]}: which channel carries the accuracy"
    return style.finish(figure, title, caption, experiment.notice)


def tilts_of(cells: Planes) -> pd.Series:
    """The tilts of the fitted networks that have learned something and have a boundary."""
    return cells["tilt"][fitted(cells)].dropna()


def tilt_text(cells: Planes) -> str:
    """The mean tilt in degrees as text, or the reason why there is none."""
    tilts = tilts_of(cells)
    if tilts.empty:
        return "not learned" if cells["tilt"].isna().all() else "not fitted"
    return mean_text(tilts.mean(), tilts.std()) + "°"


def boundaries(
    experiment: Evaluated, planes: Planes, label: str, caption: str
) -> Figure:
    """The probability of class 1 in the plane of v₁⊕0 and 0⊕v₂, for each pair (figs 2b,
    5, 7, 8).

    The boundary is drawn where a fitted network has one. planes: of one architecture.
    """
    indices = sorted(planes["index_1"].unique())
    count = len(indices)
    sizes = max(5.6, 1.35 * count + 1.6), 1.45 * count + 1.8
    figure, axes = style.new(count, count, *sizes, sharex=True, sharey=True)
    half = measures.EXTENT * (1 + 1 / (measures.POINTS - 1))
    axis = np.linspace(-measures.EXTENT, measures.EXTENT, measures.POINTS)
    means = experiment.plan.settings.eps1, experiment.plan.settings.eps2
    colours = {"cmap": style.ACCURACY, "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    colours |= {"origin": "lower", "extent": (-half, half, -half, half)}
    rim = matplotlib.patheffects.withStroke(linewidth=3, foreground="black")
    look = {"markersize": 5, "color": "white", "markeredgecolor": "black"}
    boundary = {"levels": [0.5], "colors": "white", "linewidths": 1.6}
    for panel, (_, cells) in zip(axes.flat, planes.groupby(PAIR), strict=False):
        probability = np.mean([*cells["probability"]], 0, dtype=np.float64)
        picture = panel.imshow(probability, **colours)
        if not fitted(cells).all():
            style.hatch(panel, (-half, -half), (2 * half, 2 * half))
        if len(tilts_of(cells)) and probability.min() < 0.5 < probability.max():
            panel.contour(axis, axis, probability, **boundary).set_path_effects([rim])
        for sign, marker, _ in CLASSES:
            panel.plot(sign * means[0], sign * means[1], marker, **look)
        panel.set_title(tilt_text(cells), fontsize=8, pad=2)
        panel.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        panel.spines[:].set_visible(False)
    for index, lowest, leftmost in zip(indices, axes[-1], axes[:, 0], strict=True):
        lowest.set_xlabel(f"along $v_1$\n$v_2$: NAD {index}", fontsize=8)
        leftmost.set_ylabel(f"$v_1$: NAD {index}\nalong $v_2$", fontsize=8)
    figure.colorbar(picture, ax=axes, label="probability of class 1", shrink=0.6)
    title = f"{label}: decision boundaries and their tilt\n0°: channel 1 only, 90°: channel 2 only"
    title += f", {measures.max_margin_tilt(*means):.1f}°: maximum margin"
    return style.finish(figure, title, caption, experiment.notice)


def table(
    experiment: Evaluated, published: Published, planes: Mapping[str, Planes]
) -> Rows:
    """The table of accuracies and tilts at the corners and on the diagonal of each
    grid."""
    for name, label in experiment.labels.items():
        cells = experiment.summary_of(name)
        ends = {cells["index_1"].min(), cells["index_1"].max()}
        for (pair, cell), (_, plane) in zip(
            cells.groupby(PAIR), planes[name].groupby(PAIR), strict=True
        ):
            if pair[0] != pair[1] and not set(pair) <= ends:
                continue
            tests = cell.set_index("test_set")
            row = {"network": label, "NAD indices of v₁, v₂": "({}, {})".format(*pair)}
            row |= {
                f"{text} (%)": accuracy(tests.loc[test])
                for test, text in PANELS.items()
            }
            if "conflict" in tests.index:
                row["follows channel 1 in conflicts (%)"] = accuracy(
                    tests.loc["conflict"]
                )
            best = percent(*tests.loc["second", ["best_mean", "best_std"]])
            row |= {
                "second alone at the best threshold (%)": best,
                "tilt": tilt_text(plane),
            }
            row["training accuracy (%) (fitted seeds)"] = training(tests.loc["all"])
            if name in published and pair in (theirs := published[name].values):
                beside = " / ".join(f"{value:.1f}" for value in theirs[pair].values())
                row["published (ResNet-18, full width)"] = beside
            yield row


def finding(run: Report) -> Finding:
    """Which channel one network uses where v₁ is the grid's latest NAD and v₂ its
    earliest."""
    experiment, name, label = run.shown("linear_pairs")
    late = experiment.of(name)["index_1"].max()
    early = experiment.of(name)["index_2"].min()
    rows = experiment.of(name, index_1=late, index_2=early)
    alone = percents(rows, ["test_set"]).loc[["first", "second"]]
    first, second = alone["mean"] > 100 * USED
    text = f"{label} uses {WHICH[2 * first + second]} of NADs {late} and {early}: alone they give "
    text += " and ".join(share(cell) for cell in alone.to_dict("records"))
    rests = basis(rows[rows["test_set"] == "all"], *alone.to_dict("records"))
    return Finding(name, text, rests)


def explorer(
    experiment: Evaluated, published: Published, planes: Mapping[str, Planes]
) -> Rows:
    """Accuracies, tilts and boundaries of every pair of NAD indices of each network for
    the page, and the published accuracies of its network at full width."""
    means = experiment.plan.settings.eps1, experiment.plan.settings.eps2
    about = {"extent": measures.EXTENT, "points": measures.POINTS, "means": means}
    about["margin"] = measures.max_margin_tilt(*means)
    for name, label in experiment.labels.items():
        summary = experiment.summary_of(name)
        cells = {}
        for (pair, rows), (_, plane) in zip(
            summary.groupby(PAIR), planes[name].groupby(PAIR), strict=True
        ):
            tests = rows.set_index("test_set")
            tilts = tilts_of(plane)
            probability = np.mean([*plane["probability"]], 0, dtype=np.float64)
            cells["{},{}".format(*pair)] = {
                **{test: value(tests.loc[test]) for test in PANELS},
                "best": [*tests.loc["second", ["best_mean", "best_std"]]],
                "training": tests.loc["all", "train_accuracy"],
                "tilt": [tilts.mean(), tilts.std()] if len(tilts) else None,
                "learned": bool(plane["tilt"].notna().any()),
                "plane": encoded(np.rint(255 * probability).astype(np.uint8)),
            }
        indices = sorted(summary["index_1"].unique())
        yield {"name": label, "indices": indices, "cells": cells, **about}
        if name in published:
            theirs = published[name].values
            cells = {
                "{},{}".format(*pair): {test: [of[test] / 100] for test in PANELS}
                for pair, of in theirs.items()
            }
            indices = sorted({first for first, _ in theirs})
            yield {"name": published[name].name, "indices": indices, "cells": cells}


def section(run: Report) -> Section:
    """The section of `linear_pairs`."""
    experiment = run.experiments["linear_pairs"]
    settings = experiment.plan.settings
    labels = experiment.labels
    # Paper 2, fig. 2a.
    theirs = {
        "resnet18": published_table("linear_pairs").set_index(PAIR).to_dict("index")
    }
    published = experiment.beside(theirs)
    science = f"ε₁ = {settings.eps1:g}, ε₂ = {settings.eps2:g}, σ = {settings.sigma:g}"
    if settings.eta1 or settings.eta2:
        science += f", label noise η₁ = {settings.eta1:g}, η₂ = {settings.eta2:g}"
    rows = artifacts.read_results(experiment.folder, "boundaries.csv")
    measured = measures.mask_tilts(rows, experiment.results, PAIR)
    cells = measured.apply(artifacts.cell_name, axis=1, coordinates=tuple(PAIR))
    sections = artifacts.read_results(experiment.folder, "cross_sections.npz")
    measured["probability"] = cells.map(sections.get)
    planes = {name: measured[measured["architecture"] == name] for name in labels}
    learners = f"are right on more than {100 * measures.LEARNED:g} % of new samples"
    tilt = f"tilt: mean over the seeds that were fitted, have a boundary and {learners}"
    marked = not_fitted("hatched")
    pictures = []
    if (
        run.plan
    ):  # a folder may hold several variants, for which the problem is the same
        figure = two_sufficient_channels(
            experiment, f"scale {experiment.plan.scale} · {science}"
        )
        pictures.append(Picture("two_sufficient_channels", figure))
    few = not run.plan and (experiment.results["test_set"] == "all").sum() <= FEW
    for name, label in () if few else labels.items():
        caption = f"{experiment.sizes([name])} · {science}"
        lines = f"{caption}\n{marked}"
        if name in published:
            lines += (
                "\npublished: full width, mean of three seeds, read off the figure, ± 1"
            )
        figure = accuracies(experiment, name, published, lines)
        pictures.append(Picture(f"linear_accuracies_{name}", figure))
        if (drawn := planes[name]["seed"].nunique()) < experiment.of(name)[
            "seed"
        ].nunique():
            caption += f" · seeds of the boundaries: {drawn}"
        lines = f"{caption}\nprobability: mean over seeds · {tilt}\n{marked}"
        figure = boundaries(experiment, planes[name], label, lines)
        pictures.append(Picture(f"linear_boundaries_{name}", figure))
    caption = f"{experiment.sizes()} · {science} · {tilt} · used is a channel that alone gives "
    caption += f"more than {100 * USED:g} % · NAD indices begin at 0, which for paper 2 is a choice"
    rows, live = ([*made(experiment, published, planes)] for made in (table, explorer))
    return Section(experiment, caption, rows, pictures, finding(run), live)
