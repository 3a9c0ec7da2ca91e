"""`nad_sweep` in the report: accuracy on D(u) over the index of u (paper 1, fig. 6)."""

import math
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.measures.ranks import spearman
from pipeline.networks import NETWORKS
from pipeline.report import style
from pipeline.report.labels import LABELS
from pipeline.report.numbers import (
    describe_basis,
    format_accuracy,
    format_number,
    format_rms,
    format_share,
)
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import read_published
from pipeline.report.run import (
    Published,
    PublishedValues,
    Record,
    Report,
    average_percent,
    explain_unfitted,
)
from pipeline.report.site.data import accuracy_cell

QUOTED = (0, 10, 102, 302)  # indices with a column in the table

FEWEST = 5
"""Smallest number of indices for ρ: of four indices, one order in twelve has ρ = ±1."""

LOOKS = dict(zip(("secant", "gradient"), style.CURVES, strict=False))


def draw_sweep(
    record: Record, published: Published, title: str, caption: str
) -> Figure:
    """Draw accuracy over the NAD index (fig. 6), in at most three columns of panels.

    Args:
        record: The run of `nad_sweep`.
        published: Accuracies in per cent by index.
        title: The title.
        caption: The caption.
    """
    count = len(record.labels)
    columns = min(3, count)
    rows = math.ceil(count / columns)
    width = max(6.8, 2.8 * columns + 2.2)
    height = 2.5 * rows + 1.5
    figure, axes = style.new_figure(
        rows, columns, width, height, sharex=True, sharey=True
    )
    handles = {}
    for panel, (name, label) in zip(axes.flat, record.labels.items(), strict=False):
        chance = panel.axhline(50, color="0.6", linewidth=0.8)
        handles["chance"] = chance
        curves = record.select_results(name).groupby("estimand", sort=False)
        for estimand, rows in curves:
            cells = average_percent(rows, ["index"])
            look = {"markersize": 2.5, "linewidth": 1, "capsize": 0}
            if len(cells) <= 30:
                look = {"markersize": 4.5, "linewidth": 1.4, "capsize": 2.5}
            curve = style.draw_over_indices(
                panel, cells, label=estimand, elinewidth=0.8, **look, **LOOKS[estimand]
            )
            origin = f"of\nthe {estimand}"
            if name in record.files:
                origin = "from\na file"
            handles[f"ours, NADs {origin}"] = curve
        if name in published:
            values = published[name].values
            (curve,) = panel.plot(values.index + 1, values, linewidth=2, **style.BEHIND)
            handles["published, full width"] = curve
        panel.set(ylim=(45, 102), xlabel="NAD index", title=textwrap.fill(label, 30))
        panel.tick_params(labelbottom=True)
    # The panels share the x axis, so its limits are set after all curves.
    for panel in axes.flat[:count]:
        style.set_index_axis(panel)
    for panel in axes.flat[count:]:
        panel.set_visible(False)
    for panel in axes[:, 0]:
        panel.set_ylabel("test accuracy (%)")
    figure.legend(handles.values(), handles, loc="outside right center", frameon=False)
    return style.finish(figure, title, caption, record.notice)


def format_nearest(cells: pd.DataFrame, index: int) -> str:
    """Format the accuracy at an index, or at the nearest one within a factor of two.

    Args:
        cells: The columns mean and std by NAD index.
        index: The index.
    """
    distance = np.abs(np.log((1 + cells.index) / (1 + index)))
    nearest = cells.index[distance.argmin()]
    if distance.min() >= np.log(2):
        return "–"
    text = format_accuracy(cells.loc[nearest])
    return text if nearest == index else f"{text} at {nearest}"


def make_table(record: Record, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture and estimand."""
    groups = record.summary.groupby(["architecture", "estimand"], sort=False)
    for (name, estimand), rows in groups:
        cells = rows.set_index("index").sort_index()
        fitted = (cells["fitted"] == cells["seeds"]).sum()
        row = {
            "network": record.labels[name],
            "estimand": estimand,
            "indices fitted": f"{fitted} of {len(cells)}",
        }
        for index in QUOTED:
            row[f"at or near index {index} (%)"] = format_nearest(cells, index)
        rho = spearman(cells.index, cells["mean"])
        if len(cells) >= FEWEST and np.isfinite(rho):
            text = f"{format_number(rho, 2)} (n = {len(cells)})"
            row["ρ(accuracy, index)"] = text
        if name in published and estimand == "secant":
            _, width, values = published[name]
            quoted = " / ".join(f"{values[index]:g}" for index in QUOTED)
            row["published at these four"] = quoted + width
            distance = format_rms(100 * cells["mean"], values) + width
            row["root mean square distance from the published (indices)"] = distance
        yield row


def make_finding(run: Report) -> Finding:
    """The accuracy of one network along its first and along its last NAD."""
    record, name, label = run.choose_network("nad_sweep")
    rows = record.select_results(name)
    rows = rows[rows["estimand"] == rows["estimand"].iloc[0]]
    cells = average_percent(rows, ["index"])
    first = cells.iloc[0]
    last = cells.iloc[-1]
    text = (
        f"{label} reaches {format_share(first)} along NAD {first.name} and "
        f"{format_share(last)} along NAD {last.name}"
    )
    return Finding(name, text, describe_basis(rows, first, last))


def make_explorer(
    record: Record, published: Published, nads: Mapping[str, Mapping[str, Any]]
) -> Rows:
    """The curves of the page, and the published ones of all networks.

    Args:
        record: The run of `nad_sweep`.
        published: Accuracies in per cent by index.
        nads: The fields of the `NADs` that the page has pictures of, by name.
    """
    groups = record.summary.groupby(["architecture", "estimand"], sort=False)
    for (name, estimand), cells in groups:
        label = record.labels[name]
        source = estimand
        if estimand != "secant":
            label += f", NADs of the {estimand}"
        elif name in record.files:
            label += f", NADs of {record.files[name]}"
        if name in record.files:
            source = "file"
        curve = {
            "name": label,
            "cells": {
                row["index"]: accuracy_cell(row) for row in cells.to_dict("records")
            },
            "caption": record.describe_sizes([name]),
            "science": record.describe_problem([name]),
        }
        key = record.find_nads(nads, name)
        if key and nads[key].estimand == source:
            curve["nads"] = key
            curve["own"] = key == name
        if name in published and estimand == "secant":
            curve["published"] = published[name].curve
        yield curve
    for network, values in read_published("nad_sweep").set_index("index").items():
        name = f"{LABELS[NETWORKS[network]]}, published"
        values = PublishedValues(name, "", values)
        curve = {"name": name, "cells": {}, "published": values.curve}
        if network in nads:
            curve["nads"] = network
            curve["own"] = True
        yield curve


def make_section(run: Report, with_published: bool = True) -> Section:
    """The section of `nad_sweep`.

    Args:
        run: The run.
        with_published: Whether to show published values, whose data have ε = 1 and
            10,000 samples.
    """
    record = run.experiments["nad_sweep"]
    published = {}
    if with_published:
        table = read_published("nad_sweep").set_index("index")
        published = record.find_published(table)
    caption = f"{record.describe_sizes()} · {record.describe_problem()}"
    lines = f"{caption}\n{explain_unfitted('hollow')}"
    finding = make_finding(run)
    picture = Picture("nad_sweep", draw_sweep(record, published, finding.title, lines))
    rows = list(make_table(record, published))
    curves = list(make_explorer(record, published, run.nads))
    if not with_published:
        curves = [curve for curve in curves if curve["cells"]]
    return Section(record, caption, rows, [picture], finding, curves)
