"""`poison` in the report: what class carriers along NADs do to training (paper 1, §5,
fig. 7)."""

import textwrap
from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from pipeline.experiments.poison import CLEAN
from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, share, training
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, not_fitted, percents
from pipeline.report.site.data import value
from pipeline.report.site.photographs import pictures


def curve(experiment: Evaluated, published: Published, caption: str) -> Figure:
    """Accuracy on clean test images over the NAD index of the training images' carriers
    (fig. 7).

    The accuracy of networks trained without carriers is a dashed line.
    """
    columns = len(experiment.labels)
    entries = {}
    figure, axes = style.new(
        1, columns, max(6.8, 2.9 * columns + 2.2), 3.9, sharey=True
    )
    look = {
        "color": style.BLACK,
        "marker": "o",
        "markersize": 4,
        "linewidth": 1.3,
        "capsize": 2,
    }
    for panel, (name, label) in zip(axes[0], experiment.labels.items(), strict=True):
        chance = 100 / len(experiment.images["classes"])
        panel.axhline(chance, color="0.6", linewidth=0.9, label="guessing")
        cells = percents(experiment.of(name, test_set="clean"), ["index"])
        clean = cells.loc[CLEAN]
        cells = cells.drop(index=CLEAN)
        level = {"color": style.BLACK, "linestyle": "--", "linewidth": 1.1}
        panel.axhline(clean["mean"], label="trained without carriers", **level)
        style.over_indices(panel, cells, label="trained with carriers", **look)
        if name in published:
            values = published[name].values
            text = "published: ResNet-18, full width,\n50,000 images, with carriers"
            panel.plot(
                values.index + 1, values, linewidth=1.8, label=text, **style.BEHIND
            )
        entries |= {
            text: line
            for line, text in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        style.index_axis(panel)
        panel.set(title=textwrap.fill(label, 28), ylim=(0, 102))
        panel.set_xlabel("first NAD index of the carriers")
    axes[0, 0].set_ylabel("accuracy on clean test data (%)")
    figure.legend(entries.values(), entries, loc="outside right center", frameon=False)
    title = "Trained on images with class carriers along NADs"
    return style.finish(figure, title, caption, experiment.notice)


def table(experiment: Evaluated, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture and index of the carriers."""
    tests = {"clean": "clean test data (%)", "poisoned": "with carriers (%)"}
    for (name, index), cells in experiment.summary.groupby(
        ["architecture", "index"], sort=False
    ):
        at = cells.set_index("test_set")
        carriers = "none" if index == CLEAN else index
        row = {"network": experiment.labels[name], "carriers from NAD": carriers}
        row |= {
            text: accuracy(at.loc[test])
            for test, text in tests.items()
            if test in at.index
        }
        row["training accuracy (%) (fitted seeds)"] = training(cells.iloc[0])
        if name in published and index in (theirs := published[name].values):
            row["published clean (ResNet-18, full width)"] = f"{theirs[index]:.1f}"
        yield row


def finding(run: Report) -> Finding:
    """What carriers along the first NADs cost one network on clean images."""
    experiment, name, label = run.shown("poison")
    rows = experiment.of(name, test_set="clean")
    cells = percents(rows, ["index"])
    clean = cells.loc[CLEAN]
    first = cells.drop(index=CLEAN).iloc[0]
    text = f"{label}: {share(first)} on clean images after carriers from NAD "
    text += f"{first.name} on, {share(clean)} without"
    rests = basis(rows[rows["index"].isin([CLEAN, first.name])], first, clean)
    return Finding(name, text, rests)


def explorer(
    experiment: Evaluated,
    published: Published,
    nads: Mapping[str, Mapping[str, np.ndarray]],
) -> Rows:
    """The curves of the page, with photographs that carry a class along NADs that it
    has; nads: the fields of `pipeline.nads.NADs` by architecture."""
    for name, label in experiment.labels.items():
        rows = experiment.summary_of(name)
        clean, carrying = (
            {
                row["index"]: value(row)
                for row in rows[rows["test_set"] == each].to_dict("records")
            }
            for each in ("clean", "poisoned")
        )
        curve = {
            "name": label,
            "level": clean.pop(CLEAN),
            "cells": clean,
            "carrying": carrying,
        }
        curve |= {"guess": 1 / len(experiment.images["classes"])}
        curve |= {"caption": experiment.sizes([name])}
        if name in published:
            curve |= {"published": published[name].curve}
        if key := experiment.nads_in(nads, name):
            indices = [
                *clean,
                *(published[name].values.index if name in published else ()),
            ]
            curve |= {"nads": key, "pictures": pictures(experiment, nads[key], indices)}
        yield curve


def section(run: Report) -> Section:
    """The section of `poison`."""
    experiment = run.experiments["poison"]
    published = experiment.beside(published_table("poison").set_index("index"))
    shown = f"coefficient ± {experiment.plan.settings.size:g} · images: {experiment.images['name']}"
    caption = f"{experiment.sizes()} · {shown}"
    figure = curve(experiment, published, f"{caption}\n{not_fitted('hollow')}")
    picture = Picture("poison_curve", figure)
    rows = [*table(experiment, published)]
    live = [*explorer(experiment, published, run.nads)]
    return Section(experiment, caption, rows, [picture], finding(run), live)
