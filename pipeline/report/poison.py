"""`poison` in the report: training on images whose class is encoded in a NAD (paper 1,
§5, fig. 7)."""

import textwrap
from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.experiments.experiment import NO_NAD
from pipeline.report import style
from pipeline.report.nads import NADs
from pipeline.report.numbers import (
    describe_basis,
    format_accuracy,
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
from pipeline.report.site.data import accuracy_cell
from pipeline.report.site.photographs import make_pictures

TESTS = {"clean": "clean test data (%)", "poisoned": "with carriers (%)"}
"""Columns of the table by test set."""


def draw_curves(
    record: Record, published: Published, title: str, caption: str
) -> Figure:
    """Draw accuracy on clean images over the first NAD index of carriers (fig. 7).

    The accuracy of networks that are trained without carriers is a dashed line.

    Args:
        record: The run of `poison`.
        published: Accuracies in per cent by index.
        title: The title.
        caption: The caption.
    """
    columns = len(record.labels)
    width = max(6.8, 2.9 * columns + 2.2)
    figure, axes = style.new_figure(1, columns, width, 3.9, sharey=True)
    chance = 100 / len(record.images["classes"])
    lines = {}
    for panel, (name, label) in zip(axes[0], record.labels.items(), strict=True):
        panel.axhline(chance, color="0.6", linewidth=0.9, label="chance")
        rows = record.select_results(name, test_set="clean")
        draw_accuracies(panel, average_percent(rows, ["index"]))
        if name in published:
            values = published[name].values
            panel.plot(
                values.index + 1,
                values,
                linewidth=1.8,
                label="published: ResNet-18, full width,\n50,000 images, with carriers",
                **style.BEHIND,
            )
        for line, text in zip(*panel.get_legend_handles_labels(), strict=True):
            lines[text] = line
        style.set_index_axis(panel)
        panel.set(title=textwrap.fill(label, 28), ylim=(0, 102))
        panel.set_xlabel("first NAD index of the carriers")
    axes[0, 0].set_ylabel("accuracy on clean test data (%)")
    figure.legend(lines.values(), lines, loc="outside right center", frameon=False)
    return style.finish(figure, title, caption, record.notice)


def draw_accuracies(panel: Axes, cells: pd.DataFrame) -> None:
    """Draw the accuracies of a run.

    Args:
        panel: Where.
        cells: Means and stds in per cent by index.
    """
    panel.axhline(
        cells.loc[NO_NAD, "mean"],
        color=style.BLUE,
        linestyle="--",
        linewidth=1.1,
        label="trained without carriers",
    )
    style.draw_over_indices(
        panel,
        cells.drop(index=NO_NAD),
        color=style.BLUE,
        marker="o",
        markersize=4,
        linewidth=1.3,
        capsize=2,
        label="trained with carriers",
    )


def make_table(record: Record, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture and index of carriers."""
    groups = record.summary.groupby(["architecture", "index"], sort=False)
    for (name, index), cells in groups:
        tests = cells.set_index("test_set")
        row = {
            "network": record.labels[name],
            "carriers from NAD": "none" if index == NO_NAD else index,
        }
        for test_set, column in TESTS.items():
            if test_set in tests.index:
                row[column] = format_accuracy(tests.loc[test_set])
        row["training accuracy (%) (fitted seeds)"] = format_training(cells.iloc[0])
        if name in published and index in published[name].values:
            value = published[name].values[index]
            row["published clean (ResNet-18, full width)"] = f"{value:.1f}"
        yield row


def make_finding(run: Report) -> Finding:
    """The accuracy of one network on clean images with and without carriers."""
    record, name, label = run.choose_network("poison")
    rows = record.select_results(name, test_set="clean")
    cells = average_percent(rows, ["index"])
    clean = cells.loc[NO_NAD]
    first = cells.drop(index=NO_NAD).iloc[0]
    text = (
        f"{label} reaches {format_share(first)} on clean images if trained with "
        f"carriers from NAD {first.name} on, and {format_share(clean)} without"
    )
    networks = rows[rows["index"].isin([NO_NAD, first.name])]
    return Finding(name, text, describe_basis(networks, first, clean))


def make_explorer(
    record: Record, published: Published, nads: Mapping[str, NADs]
) -> Rows:
    """The curves of the page, with photographs that carry a class along a NAD.

    Args:
        record: The run of `poison`.
        published: Accuracies in per cent by index.
        nads: The NADs that the page has pictures of, by name.
    """
    for name, label in record.labels.items():
        cells = {"clean": {}, "poisoned": {}}
        for row in record.select_summary(name).to_dict("records"):
            cells[row["test_set"]][row["index"]] = accuracy_cell(row)
        curve = {
            "name": label,
            "level": cells["clean"].pop(NO_NAD),
            "cells": cells["clean"],
            "carrying": cells["poisoned"],
            "guess": 1 / len(record.images["classes"]),
            "caption": record.describe_sizes([name]),
        }
        indices = list(cells["clean"])
        if name in published:
            curve["published"] = published[name].curve
            indices += published[name].values.index.tolist()
        key = record.find_nads(nads, name)
        if key:
            curve["nads"] = key
            curve["pictures"] = make_pictures(record, nads[key], indices)
        yield curve


def make_section(run: Report) -> Section:
    """The section of `poison`."""
    record = run.experiments["poison"]
    published = record.find_published(read_published("poison").set_index("index"))
    caption = (
        f"{record.describe_sizes()} · coefficient ± {record.plan.settings.size:g} · "
        f"images: {record.images['name']}"
    )
    lines = f"{caption}\n{explain_unfitted('hollow')}"
    finding = make_finding(run)
    figure = draw_curves(record, published, finding.title, lines)
    picture = Picture("poison_curve", figure)
    rows = list(make_table(record, published))
    curves = list(make_explorer(record, published, run.nads))
    return Section(record, caption, rows, [picture], finding, curves)
