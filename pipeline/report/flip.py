"""`flip` in the report: table 1 of paper 1 as bars, and how predictions hang on bands of NADs (paper 1, §5)."""

from collections.abc import Mapping

import matplotlib.patches
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import number
from pipeline.report.evaluated import Evaluated, all_fitted, evaluated, not_fitted, training
from pipeline.report.page import Picture, Section, Table, percent
from pipeline.report.published import table as published_table

Published = tuple[str, Mapping[str, float]]
"""What published values are called, and accuracies in per cent on 'plain' and 'flipped' images."""

BARS = {
    "plain": {"facecolor": "#0072B2", "label": "images as they are"},
    "flipped": {"facecolor": "#F6C667", "hatch": "///", "label": "flipped: NAD coefficients in reverse order"},
}
WIDTH, NARROW = 0.25, 0.16
"""Widths of our bars and of the published ones beside them."""

UNFITTED = (0, (2, 1.5))
"""The outline of bars of which not every network was fitted."""

OPERATIONS = {"remove": "removed", "flip": "with their sign turned"}
PREDICTIONS = {"color": "#D55E00", "linestyle": "-", "marker": "o", "markersize": 5}
COLUMNS = ["changed", "relative_change"]


def bars(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    published: Mapping[str, Published],
    chance: float,
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy on the images as they are and flipped, trained and tested alike, per architecture (paper 1, table 1).

    results: architecture, seed, images ('plain' or 'flipped'), test_set ('all'), accuracy, n, train_accuracy; labels:
    architecture → its name; published: architecture → the published accuracies, where there are any, drawn as white bars to
    the right of ours; chance: accuracy of guessing, in per cent. Bars are means over seeds, error bars one standard
    deviation; where not every network was fitted their outline is dashed.
    """
    results = results[results["test_set"] == "all"]
    names = list(results["architecture"].unique())
    figure, axes = style.new(1, 1, max(6.9, 1.9 * len(names) + 0.8), 4.4)
    panel = axes[0, 0]
    guessing = panel.axhline(chance, color="0.35", linewidth=1, linestyle=(0, (4, 2)), zorder=3, label="guessing")
    for kind, look in BARS.items():
        rows = results[results["images"] == kind]
        cells, done = rows.groupby("architecture")["accuracy"], all_fitted(rows, ["architecture"])
        mean, spread = 100 * cells.mean(), 100 * cells.std(ddof=1)
        for place, name in enumerate(names):
            # Ours and the published one stand side by side, on the left of the middle or on the right of it.
            pair = WIDTH + (NARROW if name in published else 0)
            left = place + 0.02 + (-0.04 - pair if kind == "plain" else 0)
            if name in mean.index:
                error = None if np.isnan(spread[name]) else spread[name]
                panel.bar(
                    left + WIDTH / 2,
                    mean[name],
                    WIDTH,
                    facecolor=look["facecolor"],
                    edgecolor="black",
                    linewidth=0.7 if done[name] else 1.1,
                    linestyle="-" if done[name] else UNFITTED,
                    hatch=look.get("hatch"),
                    yerr=error,
                    error_kw={"capsize": 3, "elinewidth": 1.2, "capthick": 1.2},
                )
                top = mean[name] + (error or 0)
                panel.text(left + WIDTH / 2, top + 1, f"{mean[name]:.1f}", ha="center", va="bottom", fontsize=8)
            if name in published:
                value, middle = published[name][1][kind], left + WIDTH + NARROW / 2
                panel.bar(
                    middle,
                    value,
                    NARROW,
                    facecolor="white",
                    edgecolor=style.PUBLISHED,
                    linewidth=1,
                    hatch=look.get("hatch"),
                )
                panel.text(middle, value + 1, f"{value:g}", ha="center", va="bottom", fontsize=8, color=style.PUBLISHED)
    entries = [matplotlib.patches.Patch(edgecolor="black", linewidth=0.6, **look) for look in BARS.values()]
    if any(name in published for name in names):
        entries.append(matplotlib.patches.Patch(facecolor="white", edgecolor=style.PUBLISHED, label="published"))
    ticks = [labels[name].replace(", ", ",\n") for name in names]
    wide = {name: published[name][0] for name in names if name in published and published[name][0] != "published"}
    ticks = [tick + (f"\n({wide[name]})" if name in wide else "") for name, tick in zip(names, ticks)]
    panel.set_xticks(range(len(names)), [style.without_formulas(tick) for tick in ticks])
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
    `pipeline.experiments.flip.bands`; below: single NADs. Points and bars are means over seeds, whiskers one standard
    deviation. Not in the papers.
    """
    figure, axes = style.new(2, len(OPERATIONS), 8.6, 6.2, sharey="row")
    single = changes["first"] == changes["last"]
    bands = ~single | (changes["last"] < 2)
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


def table(summary: pd.DataFrame, labels: Mapping[str, str], published: Mapping[str, Published]) -> Table:
    """One row per architecture: accuracy on images as they are and on flipped ones, in test and training; the published pair."""
    rows = []
    for name, cells in summary.groupby("architecture", sort=False):
        at = cells.set_index("images")
        values = [percent(at.loc[images, "mean"], at.loc[images, "std"]) for images in BARS]
        trained = [training(at.loc[images]) for images in BARS]
        beside = "–"
        if name in published:
            called, known = published[name]
            beside = " / ".join(f"{known[images]:g}" for images in BARS) + called.removeprefix("published")
        rows.append([labels[name], *values, *trained, beside])
    header = ["network", "plain (%)", "flipped (%)"]
    header += [f"training accuracy, {images} (%) (fitted seeds)" for images in BARS]
    return Table([*header, "published (plain / flipped)"], rows)


def findings(run: Evaluated, summary: pd.DataFrame, published: Mapping[str, Published]) -> list[str]:
    """What the flip costs each network: accuracy with and without it, and the published pair."""
    found = []
    rows = run.results[run.results["test_set"] == "all"].pivot(
        index=["architecture", "seed"], columns="images", values="accuracy"
    )
    for name, cells in summary.groupby("architecture", sort=False):
        at = cells.set_index("images")
        lost = (rows.loc[name, "plain"] - rows.loc[name, "flipped"]).dropna()
        spread = f" ± {100 * lost.std():.1f}" if len(lost) > 1 else ""
        values = [percent(at.loc[images, "mean"], at.loc[images, "std"]) for images in BARS]
        late = [f"{100 * at.loc[images, 'train_accuracy']:.0f} %" for images in BARS]
        unsaid = (
            "" if (at["fitted"] == at["seeds"]).all() else f", not fitted: training accuracies {' and '.join(late)}"
        )
        beside = ""
        if name in published:
            called, known = published[name]
            beside = f" ({called} {known['plain']:g} and {known['flipped']:g} %)"
        found.append(
            f"{run.labels[name]}: {values[0]} % on images as they are and {values[1]} % on flipped ones, "
            f"a loss of {number(100 * lost.mean(), 1)}{spread} points{unsaid}{beside}"
        )
    return [f"Accuracy with NAD coefficients in reverse order, {run.seeds()}: {'; '.join(found)}."]


def section(notice: str | None) -> Section:
    """The section of `flip`."""
    run, images = evaluated("flip"), artifacts.about_images()
    summary = run.summary()
    caption = f"{run.sizes()} · images: {images['name']}{run.deviations()}"
    values = published_table("flip").set_index("network")
    # What is published is of CIFAR-10; of other images it says nothing.
    known = values.to_dict("index") if images["name"] == "CIFAR-10" else {}
    published = run.beside(known)
    chance = 100 / len(images["classes"])
    marked = not_fitted(run.results, ["architecture", "images"], "dashed outlines", "bars")
    figure = bars(run.results, run.labels, published, chance, f"{caption}\n{marked}", notice)
    pictures = [Picture("flip_bars", figure, "accuracy on plain and flipped images")]
    changes = run.table("changes", "images", "operation", "first", "last", "changed", "relative_change")
    with artifacts.whole(artifacts.REPORTS / "flip" / "changes.csv", "evaluate flip"):
        if changes.groupby(["architecture", "seed", "first", "last"]).size().nunique() > 1:
            raise ValueError("it does not have as many operations on every band")
    for name, label in run.labels.items():
        title = f"What the predictions of {label} rest on: test images with NAD components altered"
        cell = summary[(summary["architecture"] == name) & (summary["images"] == "plain")].iloc[0]
        trained = f"trained to {100 * cell['train_accuracy']:.1f} % training accuracy"
        figure = components(changes[changes["architecture"] == name], title, f"{caption}\n{trained}", notice)
        pictures.append(Picture(f"flip_components_{name}", figure, f"what predictions of {label} rest on"))
    return Section(
        "flip: images in reverse order of NADs",
        caption,
        table(summary, run.labels, published),
        pictures,
        findings(run, summary, published),
    )
