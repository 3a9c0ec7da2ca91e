"""`nad_sweep` in the report: accuracy on D(u_i), over the NAD index i (paper 1, fig.
6)."""

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.measures.ranks import spearman
from pipeline.networks import NETWORKS
from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, number, rms_text, share
from pipeline.report.labels import LABELS
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import (
    Beside,
    Evaluated,
    Published,
    Report,
    not_fitted,
    percents,
)
from pipeline.report.site.data import value

QUOTED = (0, 10, 102, 302)  # the indices whose accuracies stand in the table
FEWEST = 5  # smallest number of indices for ρ: of 4, one order in twelve has ρ = ±1 by chance

LOOKS = dict(zip(("secant", "gradient"), style.CURVES, strict=False))


def sweep(experiment: Evaluated, published: Published, caption: str) -> Figure:
    """Accuracy over the NAD index (fig. 6)."""
    columns = len(experiment.labels)
    figure, axes = style.new(
        1, columns, max(6.4, 2.75 * columns + 0.6), 4.2, sharex=True, sharey=True
    )
    for panel, (name, label) in zip(axes[0], experiment.labels.items(), strict=True):
        handles = []
        panel.axhline(50, color="0.6", linewidth=0.8)
        for estimand, rows in experiment.of(name).groupby("estimand", sort=False):
            cells = percents(rows, ["index"])
            look = {"label": estimand, **LOOKS[estimand]}
            look |= {"markersize": 2.5, "linewidth": 1, "elinewidth": 0.8, "capsize": 0}
            if len(cells) <= 30:
                look |= {"markersize": 4.5, "linewidth": 1.4, "capsize": 2.5}
            handles.append(style.over_indices(panel, cells, **look))
        if name in published:
            values = published[name].values
            look = {
                "label": f"{published[name].called} (secant)",
                "linewidth": 2,
                **style.BEHIND,
            }
            handles += panel.plot(values.index + 1, values, **look)
        title = {"title": textwrap.fill(label, 26), "title_fontsize": 10}
        legend = panel.legend(handles=handles, **title, **style.ABOVE)
        legend.get_title().set_multialignment("center")
        panel.set(ylim=(45, 102), xlabel="NAD index")
    for panel in axes[0]:  # which share what all of them need
        style.index_axis(panel)
    axes[0, 0].set_ylabel("test accuracy (%)\n(grey: guessing)")
    title = "Accuracy on D(u) against the index of the NAD u"
    return style.finish(figure, title, caption, experiment.notice)


def _at_or_near(cells: pd.DataFrame, index: int) -> str:
    """The accuracy at `index`, or else at the nearest other index within a factor of
    two."""
    far = np.abs(np.log((1 + cells.index) / (1 + index)))
    near = cells.index[far.argmin()]
    text = accuracy(cells.loc[near]) + (f" at {near}" if near != index else "")
    return text if far.min() < np.log(2) else "–"


def table(experiment: Evaluated, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture and estimand."""
    for (name, estimand), cells in experiment.summary.groupby(
        ["architecture", "estimand"], sort=False
    ):
        at = cells.set_index("index").sort_index()
        fitted = f"{(at['fitted'] == at['seeds']).sum()} of {len(at)}"
        row = {
            "network": experiment.labels[name],
            "estimand": estimand,
            "indices fitted": fitted,
        }
        row |= {f"index {i} or near (%)": _at_or_near(at, i) for i in QUOTED}
        rho = spearman(at.index, at["mean"])
        if len(at) >= FEWEST and np.isfinite(rho):
            row["ρ(accuracy, index)"] = f"{number(rho, 2)} (n = {len(at)})"
        if name in published and estimand == "secant":
            _, width, values = published[name]
            quoted = " / ".join(f"{values[i]:g}" for i in QUOTED)
            row["published at these four"] = quoted + width
            distance = rms_text(100 * at["mean"], values) + width
            row["root mean square distance from the published (indices)"] = distance
        yield row


def finding(run: Report) -> Finding:
    """What one network comes to along its first NAD and along its last."""
    experiment, name, label = run.shown("nad_sweep")
    rows = experiment.of(name)
    rows = rows[rows["estimand"] == rows["estimand"].iloc[0]]
    cells = percents(rows, ["index"])
    first = cells.iloc[0]
    last = cells.iloc[-1]
    text = f"{label} is right on {share(first)} of new samples along NAD {first.name} "
    text += f"and on {share(last)} along NAD {last.name}"
    return Finding(name, text, basis(rows, first, last))


def explorer(
    experiment: Evaluated, published: Published, nads: Mapping[str, Mapping[str, Any]]
) -> Rows:
    """The curves of the page, and the published ones of other networks.

    nads: the fields of the `NADs` that the page has pictures of, by name.
    """
    for (name, estimand), cells in experiment.summary.groupby(
        ["architecture", "estimand"], sort=False
    ):
        file = f", NADs of {experiment.files[name]}" if name in experiment.files else ""
        which = file if estimand == "secant" else f", NADs of the {estimand}"
        curve = {"name": experiment.labels[name] + which}
        curve["cells"] = {row["index"]: value(row) for row in cells.to_dict("records")}
        curve |= {
            "caption": experiment.sizes([name]),
            "science": experiment.science([name]),
        }
        key = experiment.nads_in(nads, name)
        if key and nads[key]["estimand"] == (
            "file" if name in experiment.files else estimand
        ):
            curve |= {"nads": key, "own": key == name}
        if name in published and estimand == "secant":
            curve["published"] = published[name].curve
        yield curve
    for network, values in published_table("nad_sweep").set_index("index").items():
        theirs = Beside(f"{LABELS[NETWORKS[network]]}, published", "", values)
        own = {"nads": network, "own": True} if network in nads else {}
        yield {"name": theirs.name, "cells": {}, "published": theirs.curve} | own


def section(run: Report, compared: bool = True) -> Section:
    """The section of `nad_sweep`.

    Args:
        run: The run.
        compared: Whether published values are shown, whose data have ε = 1 and 10,000
            samples.
    """
    experiment = run.experiments["nad_sweep"]
    published = experiment.beside(published_table("nad_sweep").set_index("index"))
    published = published if compared else {}
    caption = f"{experiment.sizes()} · {experiment.science()}"
    figure = sweep(experiment, published, f"{caption}\n{not_fitted('hollow')}")
    picture = Picture("nad_sweep", figure)
    rows = [*table(experiment, published)]
    live = [*explorer(experiment, published, run.nads)]
    live = [curve for curve in live if compared or curve["cells"]]
    return Section(experiment, caption, rows, [picture], finding(run), live)
