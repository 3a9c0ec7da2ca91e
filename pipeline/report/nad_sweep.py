"""`nad_sweep` in the report: accuracy on D(u_i), speed of training and spectrum against the NAD index (paper 1, fig. 6)."""

import json
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.measures.ranks import early, spearman
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.evaluated import evaluated
from pipeline.report.page import Picture, Section, Table, percent

PUBLISHED = {
    "lenet": {0: 100, 10: 99.98, 102: 80.1, 302: 58.5},
    "resnet18": {0: 97.9, 10: 99.2, 102: 69.3, 302: 56.4},
    "vgg11": {0: 100, 10: 85.5, 102: 55.0, 302: 50.1},
    "densenet121": {0: 100, 10: 67.6, 102: 50.3, 302: 50.4},
}
"""Accuracies in per cent at four NAD indices (secant NADs, full width) from the data behind paper 1's fig. 6."""

LOOKS = {
    "secant": {"color": "#000000", "linestyle": "-", "marker": "o"},
    "gradient": {"color": "#0072B2", "linestyle": "--", "marker": "s", "markerfacecolor": "white"},
}


def sweep(
    results: pd.DataFrame,
    losses: pd.DataFrame,
    spectra: Mapping[tuple[str, str], np.ndarray],
    labels: Mapping[str, str],
    published: Mapping[str, Mapping[int, float]],
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy, training loss after a third of training and spectrum, against the NAD index (paper 1, fig. 6).

    results: architecture, seed, estimand ('secant' or 'gradient'), index, test_set ('all'), accuracy, n; losses:
    architecture, seed, estimand, index, epoch (from 1), loss (mean over the epoch); spectra: (architecture, estimand) →
    eigenvalues (K,), largest first; labels: architecture → its name; published: architecture → its entry of `PUBLISHED`,
    where there is one. Points are means over seeds, bars one standard deviation; ρ is Spearman's correlation between the
    index and the mean accuracy.
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
            if not (rows["estimand"] == estimand).any():
                continue
            mean, spread = style.by_index(rows[rows["estimand"] == estimand], "accuracy")
            rho, _ = spearman(mean.index, mean)
            rho = "undefined" if np.isnan(rho) else f"= {rho:.2f}".replace("-", "−")
            _curve(accuracy, 100 * mean, None if spread is None else 100 * spread, look, f"{estimand}, ρ {rho}")
            _curve(loss, *style.by_index(first[first["estimand"] == estimand], "loss"), look, estimand)
            eigenvalues = np.asarray(spectra[name, estimand])
            # Eigenvalues that are zero but for rounding may be negative.
            scaled = np.sqrt(np.maximum(eigenvalues / eigenvalues[0], 1e-9))
            spectrum.plot(
                np.arange(len(scaled)) + 1, scaled, color=look["color"], linestyle=look["linestyle"], label=estimand
            )
        if name in published:
            index, values = zip(*published[name].items())
            accuracy.plot(
                np.array(index) + 1,
                values,
                "x",
                color="#D55E00",
                markersize=8,
                markeredgewidth=2,
                zorder=4,
                clip_on=False,
                label="published (secant)",
            )
        # Above the panel, where no curve can run through it; curves first, though matplotlib has the crosses first.
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


def _curve(panel: Axes, mean: pd.Series, spread: pd.Series | None, look: Mapping[str, Any], label: str) -> None:
    """Draw means against the index, with error bars where there is a spread."""
    many = len(mean) > 30
    panel.errorbar(
        mean.index + 1,
        mean,
        spread,
        label=label,
        markersize=2 if many else 4.5,
        linewidth=1 if many else 1.4,
        elinewidth=0.8,
        capsize=0 if many else 2.5,
        **look,
    )


def table(
    summary: pd.DataFrame,
    metrics: Mapping[str, Any],
    labels: Mapping[str, str],
    published: Mapping[str, Mapping[int, float]],
) -> Table:
    """One row per architecture and estimand: accuracies at the published indices, and Spearman's correlations.

    metrics: reports/nad_sweep/metrics.json.
    """
    indices = list(PUBLISHED["lenet"])
    rows = []
    for (name, estimand), cells in summary.groupby(["architecture", "estimand"], sort=False):
        at = cells.set_index("index")
        values = [percent(at.loc[i, "mean"], at.loc[i, "std"]) if i in at.index else "–" for i in indices]
        known = published.get(name) if estimand == "secant" else None
        beside = " / ".join(f"{known[i]}" for i in indices) if known else "–"
        rho = metrics[name][estimand]["spearman"]
        correlations = [rho[key] for key in ("accuracy_index", "accuracy_eigenvalue", "early_loss_index")]
        rows.append(
            [labels[name], estimand, *values, beside, *("–" if r is None else f"{r:.3f}" for r in correlations)]
        )
    header = ["network", "estimand", *(f"index {i} (%)" for i in indices), "published at these"]
    return Table([*header, "ρ(accuracy, index)", "ρ(accuracy, eigenvalue)", "ρ(early loss, index)"], rows)


def section(notice: str | None) -> Section:
    """The section of `nad_sweep`."""
    run = evaluated("nad_sweep")
    vectors = artifacts.directions("nad_sweep")
    spectra = {
        (name, estimand): vectors[f"{name}-{estimand}-eigenvalues"]
        for name, estimand in run.results.groupby(["architecture", "estimand"]).groups
    }
    losses = pd.read_csv(artifacts.present(artifacts.MODELS / "nad_sweep" / "losses.csv", "train nad_sweep"))
    metrics = artifacts.present(artifacts.REPORTS / "nad_sweep" / "metrics.json", "evaluate nad_sweep")
    sigmas = ", ".join(f"{run.plan.settings.sigma[name]:g} ({label})" for name, label in run.labels.items())
    caption = f"{run.sizes()} · ε = {run.plan.settings.eps:g}, σ = {sigmas}"
    published = run.of_the_papers(PUBLISHED)
    figure = sweep(run.results, losses, spectra, run.labels, published, caption, notice)
    return Section(
        "nad_sweep: D(u) along the network's own NADs",
        caption,
        table(run.table("summary"), json.loads(metrics.read_text()), run.labels, published),
        [Picture("nad_sweep", figure, "accuracy against the NAD index")],
    )
