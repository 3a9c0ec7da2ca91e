"""`nad_sweep` in the report: accuracy on D(u_i), speed of training and spectrum against the NAD index (paper 1, fig. 6)."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline import experiments
from pipeline.measures.ranks import early, spearman
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import indices_text, number, p_text, rms, rms_text
from pipeline.report.evaluated import Evaluated, all_fitted, evaluated, not_fitted
from pipeline.report.page import Picture, Section, Table, percent
from pipeline.report.published import table as published_table

Published = tuple[str, pd.Series]
"""What a published curve is called, and its accuracies in per cent by NAD index (secant NADs, full width)."""

QUOTED = (0, 10, 102, 302)
"""The indices at which the table quotes accuracies."""

MANY = 30
"""Points from which on a curve has small ones."""


@dataclass(frozen=True)
class Correlations:
    """Spearman's correlations of one estimand's sweep, or their p-values, as metrics.json has them; None where one is undefined."""

    accuracy_index: float | None
    accuracy_eigenvalue: float | None
    early_loss_index: float | None


@dataclass(frozen=True)
class Found:
    """What metrics.json says of one estimand's sweep, as far as the report shows it."""

    spearman: Correlations
    p_value: Correlations


LOOKS = {
    "secant": {"color": "#000000", "linestyle": "-", "marker": "o"},
    "gradient": {"color": "#0072B2", "linestyle": "--", "marker": "s"},
}


def sweep(
    results: pd.DataFrame,
    losses: pd.DataFrame,
    spectra: Mapping[tuple[str, str], np.ndarray],
    labels: Mapping[str, str],
    published: Mapping[str, Published],
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy, training loss after a third of training and spectrum, against the NAD index (paper 1, fig. 6).

    results: architecture, seed, estimand ('secant' or 'gradient'), index, test_set ('all'), accuracy, n, train_accuracy;
    losses: architecture, seed, estimand, index, epoch (from 1), loss (mean over the epoch); spectra: (architecture, estimand)
    → eigenvalues (K,), largest first; labels: architecture → its name; published: architecture → the published curve, where
    there is one. Points are means over seeds, bars one standard deviation; where not every network was fitted they are
    hollow. ρ is Spearman's correlation between the index and the mean accuracy.
    """
    results = results[results["test_set"] == "all"]
    names = list(results["architecture"].unique())
    figure, axes = style.new(3, len(names), max(6.4, 2.75 * len(names) + 0.6), 7.6, sharex=True, sharey="row")
    shown = None
    for (accuracy, loss, spectrum), name in zip(axes.T, names):
        rows = results[results["architecture"] == name]
        training = losses[losses["architecture"] == name]
        first = early(training)
        epoch, epochs = int(first["epoch"].iloc[0]), int(training["epoch"].max())
        accuracy.axhline(50, color="0.6", linewidth=0.8)
        loss.axhline(np.log(2), color="0.6", linewidth=0.8)
        for estimand, look in LOOKS.items():
            cells = rows[rows["estimand"] == estimand]
            if cells.empty:
                continue
            done = all_fitted(cells, ["index"])
            mean, spread = style.by_index(cells, "accuracy")
            rho, _ = spearman(mean.index, mean)
            rho = "undefined" if np.isnan(rho) else f"= {number(rho, 2)}"
            spread = None if spread is None else 100 * spread
            _curve(accuracy, 100 * mean, spread, done, look, f"{estimand}, ρ {rho}")
            _curve(loss, *style.by_index(first[first["estimand"] == estimand], "loss"), done, look, estimand)
            eigenvalues = np.asarray(spectra[name, estimand])
            # Eigenvalues that are zero but for rounding may be negative.
            scaled = np.sqrt(np.maximum(eigenvalues / eigenvalues[0], 1e-9))
            spectrum.plot(
                np.arange(len(scaled)) + 1, scaled, color=look["color"], linestyle=look["linestyle"], label=estimand
            )
        if name in published:
            called, values = published[name]
            accuracy.plot(
                values.index + 1,
                values,
                color=style.PUBLISHED,
                # Wide enough to be seen where ours lies on it.
                linewidth=2,
                zorder=1.9,
                label=f"{called} (secant)",
            )
        # Above the panel, where no curve can run through it; curves first, though matplotlib has the published line first.
        legend = accuracy.legend(
            *zip(
                *sorted(zip(*accuracy.get_legend_handles_labels()), key=lambda entry: entry[1].startswith("published"))
            ),
            loc="lower center",
            bbox_to_anchor=(0.5, 1.01),
            frameon=False,
            title=textwrap.fill(labels[name], 26),
            title_fontsize=10,
        )
        legend.get_title().set_multialignment("center")
        accuracy.set_ylim(45, 102)
        loss.set_ylim(bottom=0)
        spectrum.set(yscale="log", xlabel="NAD index")
        for panel in (accuracy, loss, spectrum):
            style.index_axis(panel)
        if shown != (epoch, epochs):
            loss.set_ylabel(f"training loss, epoch {epoch} of {epochs}\n(grey: guessing)")
            shown = epoch, epochs
    axes[0, 0].set_ylabel("test accuracy (%)\n(grey: guessing)")
    axes[2, 0].set_ylabel("$\\sqrt{\\lambda}$ relative to the first")
    return style.finish(
        figure, "Accuracy on D(u), training loss and spectrum against the index of the NAD u", caption, notice
    )


def _curve(
    panel: Axes, mean: pd.Series, spread: pd.Series | None, done: pd.Series, look: Mapping[str, Any], label: str
) -> None:
    """Draw means against the index, with error bars where there is a spread, hollow where not every network was fitted."""
    many = len(mean) > MANY
    curve = panel.errorbar(
        mean.index + 1,
        mean,
        spread,
        label=label,
        markersize=2.5 if many else 4.5,
        linewidth=1 if many else 1.4,
        elinewidth=0.8,
        capsize=0 if many else 2.5,
        **look,
    )
    style.hollow(panel, curve, ~done[mean.index])


def table(
    summary: pd.DataFrame,
    metrics: Mapping[str, Mapping[str, Found]],
    labels: Mapping[str, str],
    published: Mapping[str, Published],
) -> Table:
    """One row per architecture and estimand: accuracies, the published ones, and Spearman's correlations with their p-values.

    metrics: of reports/nad_sweep/metrics.json, by architecture and estimand; published: as in `sweep`.
    """
    rows = []
    for (name, estimand), cells in _of(summary):
        at = cells.set_index("index")
        done = f"{(at['fitted'] == at['seeds']).sum()} of {len(at)}"
        values = [percent(at.loc[i, "mean"], at.loc[i, "std"]) if i in at.index else "–" for i in QUOTED]
        beside = ["–", "–"]
        if name in published and estimand == "secant":
            called, known = published[name]
            width = called.removeprefix("published")
            beside = [
                " / ".join(f"{known[i]:g}" for i in QUOTED) + width,
                rms_text(100 * at["mean"], known) + width,
            ]
        found = metrics[name][estimand]
        correlations = [_with_p(found, key) for key in ("accuracy_index", "accuracy_eigenvalue", "early_loss_index")]
        rows.append([labels[name], estimand, done, *values, *beside, *correlations])
    header = ["network", "estimand", "indices fitted", *(f"index {i} (%)" for i in QUOTED), "published at these"]
    header.append("rms difference from the published curve (indices)")
    return Table([*header, "ρ(accuracy, index)", "ρ(accuracy, eigenvalue)", "ρ(early loss, index)"], rows)


def _of(summary: pd.DataFrame) -> Sequence[tuple[tuple[str, str], pd.DataFrame]]:
    """The rows of each architecture and estimand, in the order of the results."""
    return list(summary[summary["test_set"] == "all"].groupby(["architecture", "estimand"], sort=False))


def _with_p(found: Found, key: str) -> str:
    """One of Spearman's correlations with its p-value, from one estimand's part of metrics.json."""
    rho, p = getattr(found.spearman, key), getattr(found.p_value, key)
    return "–" if rho is None or p is None else f"{number(rho, 3)} ({p_text(p)})"


def findings(
    run: Evaluated,
    summary: pd.DataFrame,
    metrics: Mapping[str, Mapping[str, Found]],
    published: Mapping[str, Published],
) -> list[str]:
    """What the sweeps show: accuracy at the ends, its rank correlation with the index, the distance from the published curve."""
    curves, compared = [], []
    for (name, estimand), cells in _of(summary):
        at = cells.set_index("index").sort_index()
        ends = [f"{percent(at['mean'].iloc[i], at['std'].iloc[i])} % at index {at.index[i]}" for i in (0, -1)]
        done = f"(fitted at {(at['fitted'] == at['seeds']).sum()} of {indices_text(len(at))})"
        rho = _with_p(metrics[name][estimand], "accuracy_index")
        rho = (
            "no rank correlation with the index (no variation)" if rho == "–" else f"Spearman's ρ with the index {rho}"
        )
        level = " and ".join(dict.fromkeys(ends))
        curves.append(f"{run.labels[name]} along its {estimand} NADs {level}, {rho} {done}")
        if name in published and estimand == "secant":
            called, known = published[name]
            points, count = rms(100 * at["mean"], known)
            wide = " (of full width)" if "width" in called else ""
            if count:
                compared.append(f"{run.labels[name]}{wide} {points:.1f} points rms over {indices_text(count)}")
    found = [f"Accuracy along the NADs, {run.seeds()}: {'; '.join(curves)}."]
    return found + ([f"Distance from the published curves: {'; '.join(compared)}."] if compared else [])


def section(notice: str | None) -> Section:
    """The section of `nad_sweep`."""
    run = evaluated("nad_sweep")
    swept = {
        pair: "{}-{}-eigenvalues".format(*pair) for pair in run.results.groupby(["architecture", "estimand"]).groups
    }
    vectors = artifacts.vectors("nad_sweep", swept.values())
    spectra = {pair: vectors[name] for pair, name in swept.items()}
    coordinates, cells = experiments.find("nad_sweep").coordinates, run.results.to_dict("records")
    losses = artifacts.trained("nad_sweep", "losses", coordinates, ["epoch", "loss"], cells)
    metrics, summary = artifacts.metrics("nad_sweep", dict[str, Found], run.labels), run.summary()
    sigmas = ", ".join(f"{run.plan.settings.sigma[name]:g} ({label})" for name, label in run.labels.items())
    caption = f"{run.sizes()} · ε = {run.plan.settings.eps:g}, σ = {sigmas}{run.deviations()}"
    values = published_table("nad_sweep").set_index("index")
    published = run.beside({network: values[network] for network in values})
    rows = run.results[run.results["test_set"] == "all"]
    marked = not_fitted(rows, ["architecture", "estimand", "index"], "hollow", "points")
    figure = sweep(run.results, losses, spectra, run.labels, published, f"{caption}\n{marked}", notice)
    return Section(
        "nad_sweep: D(u) along the network's own NADs",
        caption,
        table(summary, metrics, run.labels, published),
        [Picture("nad_sweep", figure, "accuracy against the NAD index")],
        findings(run, summary, metrics, published),
    )
