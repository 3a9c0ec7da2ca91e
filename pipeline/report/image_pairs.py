"""`image_pairs` in the report: accuracy against the NAD index of the linear channel, and conflicts (paper 2, §4, fig. 3).

NAD indices begin at 0, which for paper 2 is a choice: its text does not say.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED, fitted
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.evaluated import all_fitted, evaluated, not_fitted, training
from pipeline.report.page import Picture, Section, Table, percent

NAMES = {
    "all": "both",
    "linear": "linear channel alone",
    "images": "images alone",
    "conflict": "linear channel against\nimages of the other side",
}

LOOKS = style.CURVES | {"conflict": {"color": "#009E73", "linestyle": "-.", "marker": "D"}}

NAMED = 10
"""Classes of one side that a caption names; of more it names the first and the last."""


def images_or_linear_channel(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    sigmas: Mapping[str, float],
    chance: float,
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy with both, with the linear channel alone, with the images alone and in conflicts, against the NAD index of v (fig. 3).

    results: reports/image_pairs/results.csv; labels and sigmas: architecture → its name, its noise σ; chance: accuracy of
    naming the larger side of the test set always, in per cent. Points are means over seeds, bars one standard deviation; where
    not every network was fitted they are hollow.
    """
    names = list(results["architecture"].unique())
    width = max(7.3, 2.9 * len(names) + 0.5)
    figure, axes = style.new(1, len(names), width, 4.6, sharey=True)
    for panel, name in zip(axes[0], names):
        rows = results[results["architecture"] == name]
        panel.axhline(chance, color="0.6", linewidth=0.8, label=f"always the larger side ({chance:.1f} %)")
        for test_set, look in LOOKS.items():
            cells = rows[rows["test_set"] == test_set]
            if cells.empty:
                continue
            mean, spread = style.by_index(cells, "accuracy")
            curve = panel.errorbar(
                mean.index + 1,
                100 * mean,
                None if spread is None else 100 * spread,
                label=NAMES[test_set],
                markersize=5,
                capsize=3,
                elinewidth=1.3,
                # Between two points far apart a line would tell what was not measured.
                linewidth=1.3 if len(mean) > 2 else 0,
                **look,
            )
            style.hollow(panel, curve, ~all_fitted(cells, ["index"]))
        indices = sorted(rows["index"].unique())
        panel.set(
            xscale="log", title=f"{labels[name]}, σ = {sigmas[name]:g}", ylim=(-3, 103), xlabel="NAD index of $v$"
        )
        panel.set_xticks([i + 1 for i in indices], [str(i) for i in indices], rotation=45)
        panel.minorticks_off()
    axes[0, 0].set_ylabel("test accuracy (%)")
    axes[0, -1].legend(loc="lower left")
    return style.finish(figure, "Images ⊕ D(v): what is used when both suffice", caption, notice)


def table(summary: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    """One row per architecture and NAD index: accuracy on every test set, and how many seeds were fitted."""
    rows = []
    for (name, index), cell in summary.groupby(["architecture", "index"], sort=False):
        at = cell.set_index("test_set")
        values = [percent(at.loc[test, "mean"], at.loc[test, "std"]) if test in at.index else "–" for test in NAMES]
        rows.append([labels[name], index, *values, training(at.loc["all"])])
    header = ["both (%)", "linear alone (%)", "images alone (%)", "linear label against images of the other side (%)"]
    return Table(["network", "NAD index of v", *header, "training accuracy (%) (fitted seeds)"], rows)


def named(classes: Sequence[str]) -> str:
    """Names of classes as text, the first and the last alone where there are many."""
    return ", ".join(classes) if len(classes) <= NAMED else f"{classes[0]} to {classes[-1]} ({len(classes)} classes)"


def majority(seeds: Iterable[int]) -> float:
    """The larger side's share of the test sets of all seeds, in per cent."""
    labels = []
    for seed in seeds:
        labels.append(artifacts.labels("image_pairs", seed, "test") > 0)
    share = float(np.concatenate(labels).mean())
    return 100 * max(share, 1 - share)


def used(results: pd.DataFrame, label: str) -> str:
    """The sentence on what one architecture's fitted networks use at which index, and on whom they follow in conflicts.

    results: the rows of one architecture.
    """
    cells = results[results["test_set"] == "all"]
    start = f"image_pairs, {label} ({int(fitted(cells).sum())} of {len(cells)} networks fitted):"
    rows = results[fitted(results)]
    if rows.empty:
        return f"{start} nothing is said of what it uses, since training accuracies are below {100 * FITTED:g} %."
    means = rows.groupby(["index", "test_set"])["accuracy"].mean().unstack()
    images = means.index[means["images"] > means["linear"]].tolist()
    linear = means.index[means["images"] <= means["linear"]].tolist()
    if not images:
        found = f"the linear channel alone gives more than the images alone at {listed(linear)}"
    elif not linear:
        found = f"the images alone give more than the linear channel alone at {listed(images)}"
    elif max(linear) < min(images):
        found = f"the linear channel alone gives more up to index {max(linear)}, the images alone from index {min(images)} on"
    else:
        found = f"the linear channel alone gives more at {listed(linear)}, the images alone at {listed(images)}"

    def at(index: int, test_set: str) -> str:
        some = rows["accuracy"][(rows["index"] == index) & (rows["test_set"] == test_set)]
        return percent(some.mean(), some.std())

    ends = dict.fromkeys([means.index[0], means.index[-1]])
    counts = {end: ((rows["index"] == end) & (rows["test_set"] == "all")).sum() for end in ends}
    numbers = (f"{at(i, 'linear')} against {at(i, 'images')} % at {i} (n = {counts[i]})" for i in ends)
    sentence = f"{start} {found}: {', '.join(numbers)}"
    if "conflict" in means:
        followed = ", ".join(f"{at(i, 'conflict')} % at {i}" for i in ends)
        sentence += f"; where the two disagree, the linear channel's label wins in {followed}"
    if lacking := sorted(set(results["index"]) - set(means.index)):
        sentence += f"; at {listed(lacking)} no network was fitted"
    return sentence + "."


def listed(indices: Sequence[int]) -> str:
    """NAD indices as text."""
    return ("index " if len(indices) == 1 else "indices ") + ", ".join(map(str, indices))


def section(notice: str | None) -> Section:
    """The section of `image_pairs`."""
    run, images = evaluated("image_pairs"), artifacts.about_images()
    settings, rows, summary = run.plan.settings, run.results, run.summary()
    negative, positive = settings.sides(images["classes"])
    caption = f"{run.sizes()} · ε = {settings.eps:g} · images: {images['name']}{run.deviations()}"
    sides = f"one side: {named(negative)} · the other: {named(positive)}"
    marked = not_fitted(rows[rows["test_set"] == "all"], ["architecture", "index"], "hollow", "points of each curve")
    figure = images_or_linear_channel(
        rows, run.labels, settings.sigma, majority(run.plan.seeds), f"{caption}\n{sides}\n{marked}", notice
    )
    return Section(
        "image_pairs: images ⊕ D(v)",
        f"{caption} · {sides} · NAD indices begin at 0, which for paper 2 is a choice",
        table(summary, run.labels),
        [Picture("images_or_linear_channel", figure, "images or linear channel")],
        [used(rows[rows["architecture"] == name], label) for name, label in run.labels.items()],
    )
