"""`flip` in the report: table 1 of paper 1 as bars, and how predictions hang on bands of NADs (paper 1, §5)."""

from collections.abc import Mapping

import matplotlib.patches
import matplotlib.patheffects
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.experiments.flip import BANDS
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.evaluated import evaluated
from pipeline.report.page import Picture, Section, Table, percent

PUBLISHED = {"lenet": (69, 48), "vgg11": (87, 53), "resnet18": (89, 58), "densenet121": (92, 56)}
"""Accuracies in per cent on CIFAR-10 as it is and flipped, from paper 1's table 1 (full width)."""

BARS = {
    "plain": {"facecolor": "#0072B2", "label": "images as they are"},
    "flipped": {"facecolor": "#F6C667", "hatch": "///", "label": "flipped: NAD coefficients in reverse order"},
}

OPERATIONS = {"remove": "removed", "flip": "with their sign turned"}
PREDICTIONS = {"color": "#D55E00", "linestyle": "-", "marker": "o", "markersize": 5}
COLUMNS = ["changed", "relative_change"]


def bars(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    published: Mapping[str, tuple[float, float]],
    chance: float,
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy on the images as they are and flipped, trained and tested alike, per architecture (paper 1, table 1).

    results: architecture, seed, images ('plain' or 'flipped'), test_set ('all'), accuracy, n; labels: architecture → its
    name; published: architecture → its entry of `PUBLISHED`, where there is one; chance: accuracy of guessing, in per
    cent. Bars are means over seeds, error bars one standard deviation.
    """
    results = results[results["test_set"] == "all"]
    names = list(results["architecture"].unique())
    figure, axes = style.new(1, 1, max(6.9, 1.45 * len(names) + 0.8), 4.4)
    panel = axes[0, 0]
    guessing = panel.axhline(chance, color="0.35", linewidth=1, linestyle=(0, (4, 2)), zorder=3, label="guessing")
    outline = [matplotlib.patheffects.withStroke(linewidth=4, foreground="white")]
    for side, (kind, look) in enumerate(BARS.items()):
        cells = results[results["images"] == kind].groupby("architecture")["accuracy"]
        mean, spread = 100 * cells.mean(), 100 * cells.std(ddof=1)
        for place, name in enumerate(names):
            if name not in mean.index:
                continue
            x, height = place + 0.38 * (side - 0.5), mean[name]
            error = None if np.isnan(spread[name]) else spread[name]
            panel.bar(
                x,
                height,
                0.36,
                facecolor=look["facecolor"],
                edgecolor="black",
                linewidth=0.6,
                hatch=look.get("hatch"),
                yerr=error,
                error_kw={"capsize": 3, "elinewidth": 1.2, "capthick": 1.2},
            )
            top = height + (error or 0)
            if name in published:
                value = published[name][side]
                # Beside the middle, so that it does not hide the error bar.
                cross = panel.plot(x + 0.09, value, "x", color="black", markersize=8, markeredgewidth=2, zorder=4)[0]
                cross.set_path_effects(outline)
                # The number stands above the cross where it would run into it.
                if top - 3 < value < top + 5:
                    top = max(top, value + 2)
            panel.text(x, top + 1, f"{height:.1f}", ha="center", va="bottom", fontsize=8)
    entries = [matplotlib.patches.Patch(edgecolor="black", linewidth=0.6, **look) for look in BARS.values()]
    if any(name in published for name in names):
        entries += panel.plot([], [], "x", color="black", markersize=8, markeredgewidth=2, label="published")
    panel.set_xticks(range(len(names)), [labels[name].replace(", ", ",\n") for name in names])
    panel.set(ylabel="test accuracy (%)", ylim=(0, 105), xlim=(-0.6, len(names) - 0.4))
    panel.set_yticks(range(0, 101, 20))
    panel.tick_params(axis="x", length=0)
    panel.legend(handles=[*entries, guessing], loc="lower center", bbox_to_anchor=(0.5, 1.01), ncol=4, frameon=False)
    return style.finish(
        figure, "Accuracy on images, and on images with their NAD coefficients in reverse order", caption, notice
    )


def components(changes: pd.DataFrame, title: str, caption: str, notice: str | None) -> Figure:
    """How many predictions of a trained network change with a part of the image's NAD components, and how much the image does.

    changes: of one architecture, seed, operation ('remove' or 'flip', which turns the sign), first, last (NAD indices, both
    included; first = last: a single NAD), changed (fraction of predictions), relative_change (mean of ‖x′ − x‖/‖x‖). Above:
    `pipeline.experiments.flip.BANDS`; below: single NADs. Points and bars are means over seeds, whiskers one standard
    deviation. Not in the papers.
    """
    figure, axes = style.new(2, len(OPERATIONS), 8.6, 6.2, sharey="row")
    single = changes["first"] == changes["last"]
    bands = pd.Series(list(zip(changes["first"], changes["last"])), changes.index).isin(BANDS)
    for row, (chosen, xlabel) in zip(axes, ((bands, "band of NAD indices"), (single, "NAD index"))):
        for panel, operation in zip(row, OPERATIONS):
            cells = 100 * changes[chosen & (changes["operation"] == operation)].set_index(["first", "last"])[COLUMNS]
            cells = cells.groupby(level=[0, 1])
            mean, spread = cells.mean(), cells.std(ddof=1)
            errors = {column: None if spread[column].isna().all() else spread[column] for column in COLUMNS}
            place = np.arange(len(mean))
            panel.bar(
                place,
                mean["relative_change"],
                0.7,
                yerr=errors["relative_change"],
                color="#BBBBBB",
                error_kw={"elinewidth": 0.9, "ecolor": "0.4"},
                label="relative change of the image",
            )
            panel.errorbar(
                place, mean["changed"], errors["changed"], label="predictions that change", capsize=2, **PREDICTIONS
            )
            texts = [f"{first}" if first == last else f"{first}–{last}" for first, last in mean.index]
            panel.set_xticks(place, texts, rotation=90)
            panel.set_xlabel(xlabel)
        row[0].set(ylabel="per cent", ylim=(0, None))
    for panel, word in zip(axes[0], OPERATIONS.values()):
        panel.set_title(f"components {word}")
    axes[0, 0].legend(loc="upper left", frameon=False)
    # Room for the legend above the bars.
    axes[0, 0].set_ylim(0, 1.25 * axes[0, 0].get_ylim()[1])
    return style.finish(figure, title, caption, notice)


def table(summary: pd.DataFrame, labels: Mapping[str, str], published: Mapping[str, tuple[float, float]]) -> Table:
    """One row per architecture: accuracy on images as they are and on flipped ones, and the published pair."""
    rows = []
    for name, cells in summary.groupby("architecture", sort=False):
        at = cells.set_index("images")
        values = [percent(at.loc[images, "mean"], at.loc[images, "std"]) for images in BARS]
        rows.append([labels[name], *values, " / ".join(map(str, published[name])) if name in published else "–"])
    return Table(["network", "plain (%)", "flipped (%)", "published"], rows)


def section(notice: str | None) -> Section:
    """The section of `flip`."""
    run, images = evaluated("flip"), artifacts.about_images()
    caption = f"{run.sizes()} · images: {images['name']}"
    published = run.of_the_papers(PUBLISHED)
    chance = 100 / len(images["classes"])
    figure = bars(run.results, run.labels, published, chance, caption, notice)
    pictures = [Picture("flip_bars", figure, "accuracy on plain and flipped images")]
    changes = run.table("changes")
    for name, label in run.labels.items():
        title = f"What the predictions of {label} rest on: test images with NAD components altered"
        figure = components(changes[changes["architecture"] == name], title, caption, notice)
        pictures.append(Picture(f"flip_components_{name}", figure, f"what predictions of {label} rest on"))
    return Section(
        "flip: images in reverse order of NADs",
        caption,
        table(run.table("summary"), run.labels, published),
        pictures,
    )
