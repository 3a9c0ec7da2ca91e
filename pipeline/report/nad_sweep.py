"""`nad_sweep` in the report: accuracy on D(u_i), over the NAD index i (paper 1, fig. 6)."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from pipeline.measures.ranks import early, spearman
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, number, rms_text
from pipeline.report.labels import LABELS
from pipeline.report.page import Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, not_fitted, over_seeds, percents
from pipeline.report.site.data import value

QUOTED = (0, 10, 102, 302)  # the indices whose accuracies stand in the table
FEWEST = 5  # smallest number of indices for ρ: of 4, one order in twelve has ρ = ±1 by chance

LOOKS = dict(zip(("secant", "gradient"), style.CURVES))


def metrics(experiment: Evaluated, name: str) -> dict[str, float]:
    """Spearman's ρ of one network's accuracy with the index, along the NADs of its first estimand;
    NaN where the accuracy does not vary."""
    rows = experiment.of(name)
    means = rows[rows["estimand"] == rows["estimand"].iloc[0]].groupby("index")["accuracy"].mean()
    return {"spearman": spearman(means.index, means)[0]}


def published_curves(experiment: Evaluated) -> Published:
    """The published accuracies in per cent along secant NADs, by index."""
    return experiment.beside(published_table("nad_sweep").set_index("index"))


def sweep(experiment: Evaluated, published: Published, alone: bool, caption: str) -> Figure:
    """Accuracy, training loss after a third of training, and spectrum over the NAD index (fig. 6).

    alone: whether the figure has accuracies alone, for which tables are enough.
    """
    columns = len(experiment.labels)
    size = max(6.4, 2.75 * columns + 0.6), 4.2 if alone else 7.6
    figure, axes = style.new(1 if alone else 3, columns, *size, sharex=True, sharey="row")
    for (top, *_), (name, label) in zip(axes.T, experiment.labels.items()):
        handles = []
        top.axhline(50, color="0.6", linewidth=0.8)
        for estimand, rows in experiment.of(name).groupby("estimand", sort=False):
            cells = percents(rows, ["index"])
            handles.append(_curve(top, cells, label=estimand, **LOOKS[estimand]))
        if name in published:
            called, values = published[name]
            look = {"label": f"{called} (secant)", "linewidth": 2, **style.BEHIND}
            handles += top.plot(values.index + 1, values, **look)
        title = {"title": textwrap.fill(label, 26), "title_fontsize": 10}
        legend = top.legend(handles=handles, **title, **style.ABOVE)
        legend.get_title().set_multialignment("center")
        top.set_ylim(45, 102)
    if not alone:
        _losses_and_spectra(axes[1:], experiment)
    for panel in axes.flat:
        style.index_axis(panel)
    for panel in axes[-1]:
        panel.set_xlabel("NAD index")
    axes[0, 0].set_ylabel("test accuracy (%)\n(grey: guessing)")
    besides = "" if alone else ", training loss and spectrum"
    title = f"Accuracy on D(u){besides} against the index of the NAD u"
    return style.finish(figure, title, caption, experiment.notice)


def _losses_and_spectra(panels: np.ndarray, experiment: Evaluated) -> None:
    losses = artifacts.trained("nad_sweep", "losses.csv")
    spectra = artifacts.generated("nad_sweep", "directions.npz")
    for (loss, spectrum), name in zip(panels.T, experiment.labels):
        first = early(losses[losses["architecture"] == name]).merge(experiment.results)
        loss.axhline(np.log(2), color="0.6", linewidth=0.8)
        for estimand, rows in first.groupby("estimand", sort=False):
            look = LOOKS[estimand]
            _curve(loss, over_seeds(rows, ["index"], "loss"), label=estimand, **look)
            values = spectra[f"{name}-{estimand}-eigenvalues"]
            # Rounding can make eigenvalues of zero negative.
            scaled = np.sqrt(np.maximum(values / values[0], 1e-9))
            spectrum.plot(np.arange(len(scaled)) + 1, scaled, **look | {"marker": ""})
        spectrum.set(yscale="log")
    panels[0, 0].set_ylabel("training loss after a third\nof the epochs (grey: guessing)")
    panels[0, 0].set_ylim(0, 1.05 * panels[0, 0].get_ylim()[1])
    panels[1, 0].set_ylabel("$\\sqrt{\\lambda}$ relative to the first")


def _curve(panel: Axes, cells: pd.DataFrame, **look: Any) -> ErrorbarContainer:
    size = {"markersize": 2.5, "linewidth": 1, "elinewidth": 0.8, "capsize": 0}
    size |= {} if len(cells) > 30 else {"markersize": 4.5, "linewidth": 1.4, "capsize": 2.5}
    return style.over_indices(panel, cells, **size, **look)


def _at_or_near(cells: pd.DataFrame, index: int) -> str:
    """The accuracy at `index`, or else at the nearest other index within a factor of two."""
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
        row = {"network": experiment.labels[name], "estimand": estimand, "indices fitted": fitted}
        row |= {f"index {i} or near (%)": _at_or_near(at, i) for i in QUOTED}
        rho, _ = spearman(at.index, at["mean"])
        if len(at) >= FEWEST and np.isfinite(rho):
            row["ρ(accuracy, index)"] = f"{number(rho, 2)} (n = {len(at)})"
        if name in published and estimand == "secant":
            called, values = published[name]
            width = called.removeprefix("published")
            quoted = " / ".join(f"{values[i]:g}" for i in QUOTED)
            row["published at these four"] = quoted + width
            distance = rms_text(100 * at["mean"], values) + width
            row["root mean square distance from the published (indices)"] = distance
        yield row


def finding(run: Report) -> str:
    """What one network comes to along its first NAD and along its last."""
    experiment, name, label = run.shown("nad_sweep")
    cells = experiment.summary_of(name)
    cells = cells[cells["estimand"] == cells["estimand"].iloc[0]].sort_values("index")
    ends = [
        f"{accuracy(cell)} % along NAD {cell['index']}"
        for _, cell in cells.iloc[[0, -1]].iterrows()
    ]
    return f"{label}: {' and '.join(dict.fromkeys(ends))} {basis(cells)}."


def explorer(records: Iterable[Evaluated], nads: Mapping[str, Mapping[str, Any]]) -> Rows:
    """The curves of the page: those of several runs, then published ones of networks without a run.

    nads: the fields of the `NADs` that the page has pictures of, by name.
    """
    alone = dict(published_table("nad_sweep").set_index("index").items())
    for experiment in records:
        published = published_curves(experiment)
        for (name, estimand), cells in experiment.summary.groupby(
            ["architecture", "estimand"], sort=False
        ):
            which = "" if estimand == "secant" else f", NADs of the {estimand}"
            curve = {"name": experiment.labels[name] + which}
            curve["cells"] = {row["index"]: value(row) for row in cells.to_dict("records")}
            curve |= {"caption": experiment.sizes([name]), "science": experiment.science([name])}
            key = experiment.nads_in(nads, name)
            if key and nads[key]["estimand"] in (estimand, "file"):
                curve |= {"nads": key, "own": key == name}
            if name in published and estimand == "secant":
                called, values = published[name]
                curve["published"] = {"called": called, "values": values.dropna().to_dict()}
                alone.pop(values.name, None)
            yield curve
    for network, values in alone.items():
        theirs = {"called": "published", "values": values.dropna().to_dict()}
        curve = {"name": f"{LABELS[NETWORKS[network]]}, published", "cells": {}}
        own = {"nads": network, "own": True} if network in nads else {}
        yield curve | {"published": theirs} | own


def section(run: Report) -> Section:
    """The section of `nad_sweep`."""
    experiment = run.experiments["nad_sweep"]
    published, alone = published_curves(experiment), not run.nads
    caption = f"{experiment.sizes()} · {experiment.science()}"
    figure = sweep(experiment, published, alone, f"{caption}\n{not_fitted('hollow')}")
    alt, sees = "accuracy against the NAD index", "accuracies" if alone else "columns"
    pictures = [Picture("nad_sweep", figure, alt, sees)]
    return Section(experiment, caption, [*table(experiment, published)], pictures, finding(run))
