"""`image_pairs` in the report: the channel that is used, and conflicts (paper 2, §4, fig. 3)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED, fitted
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import accuracy, training
from pipeline.report.page import Picture, Section, Table
from pipeline.report.run import Evaluated, Run, not_fitted, percents

NAMES = {
    "all": "both",
    "linear": "linear channel alone",
    "images": "images alone",
    "conflict": "linear channel against\nimages of the other side",
}


def images_or_linear_channel(run: Evaluated, labels: Sequence[np.ndarray], caption: str) -> Figure:
    """Accuracy with both channels, with either alone and in conflicts, over v's index (fig. 3).

    labels: −1 or 1, of the test sets, if known: the grey line always names the larger side.
    """
    columns = len(run.labels)
    figure, axes = style.new(1, columns, max(7.3, 2.9 * columns + 0.5), 4.6, sharey=True)
    for panel, (name, label) in zip(axes[0], run.labels.items()):
        rows = run.of(name)
        if labels:
            share = (np.concatenate(labels) > 0).mean()
            chance = 100 * max(share, 1 - share)
            guessing = f"always the larger side ({chance:.1f} %)"
            panel.axhline(chance, color="0.6", linewidth=0.8, label=guessing)
        for (test_set, text), look in zip(NAMES.items(), style.CURVES):
            cells = percents(rows[rows["test_set"] == test_set], ["index"])
            sizes = {"linewidth": 1.3, "elinewidth": 1.3, "markersize": 5, "capsize": 3}
            style.over_indices(panel, cells, label=text, **sizes, **look)
        title = f"{label}, σ = {run.plan.settings.sigma[name]:g}"
        panel.set(xscale="log", title=title, ylim=(-3, 103), xlabel="NAD index of $v$")
        indices = sorted(rows["index"].unique())
        panel.set_xticks([i + 1 for i in indices], [str(i) for i in indices], rotation=45)
        panel.minorticks_off()
    axes[0, 0].set_ylabel("test accuracy (%)")
    axes[0, -1].legend(loc="lower left")
    title = "Images ⊕ D(v): what is used when both suffice"
    return style.finish(figure, title, caption, run.notice)


def table(run: Evaluated) -> Table:
    """The table, a row for each architecture and index."""
    rows = []
    for (name, index), cells in run.summary.groupby(["architecture", "index"], sort=False):
        at = cells.set_index("test_set")
        values = [accuracy(at.loc[test]) for test in NAMES]
        rows.append([run.labels[name], index, *values, training(at.loc["all"])])
    header = ["network", "NAD index of v", "both (%)", "linear alone (%)", "images alone (%)"]
    header += ["linear label against images of the other side (%)"]
    return [[*header, "training accuracy (%) (fitted seeds)"], *rows]


def used(run: Evaluated, name: str) -> str:
    """The sentence on the channel that one architecture's fitted networks use and follow."""
    results, label = run.of(name), run.labels[name]
    networks = fitted(results[results["test_set"] == "all"])
    start = f"image_pairs, {label} ({int(networks.sum())} of {len(networks)} networks fitted):"
    rows = results[fitted(results)]
    if rows.empty:
        because = f"since training accuracies are below {100 * FITTED:g} %"
        return f"{start} nothing is said of what it uses, {because}."
    cells = rows.groupby(["test_set", "index"])["accuracy"].agg(["mean", "std", "count"])
    linear, images, conflict = (cells.loc[test] for test in ("linear", "images", "conflict"))
    more = images["mean"] > linear["mean"]
    words = {
        "the linear channel alone gives more than the images alone": more.index[~more],
        "the images alone give more than the linear channel alone": more.index[more],
    }
    parts = [f"{text} at {listed(indices)}" for text, indices in words.items() if len(indices)]
    ends = dict.fromkeys([more.index[0], more.index[-1]])
    numbers = ", ".join(
        f"{accuracy(linear.loc[i])} against {accuracy(images.loc[i])} % at {i} "
        f"(n = {linear['count'][i]})"
        for i in ends
    )
    followed = ", ".join(f"{accuracy(conflict.loc[i])} % at {i}" for i in ends)
    sentence = f"{' and '.join(parts)}: {numbers}; where the two disagree, the linear channel's "
    sentence += f"label wins in {followed}"
    if unfitted := sorted(set(results["index"]) - set(more.index)):
        sentence += f"; at {listed(unfitted)} no network was fitted"
    return f"{start} {sentence}."


def listed(indices: Sequence[int]) -> str:
    """NAD indices as text."""
    return ("index " if len(indices) == 1 else "indices ") + ", ".join(map(str, indices))


def section(whole: Run) -> Section:
    """The section of `image_pairs`."""
    run = whole.experiments["image_pairs"]
    negative, positive = run.plan.settings.sides(run.images["classes"])
    caption = f"{run.sizes()} · ε = {run.plan.settings.eps:g} · images: {run.images['name']}"
    sides = f"one side: {', '.join(negative)} · the other: {', '.join(positive)}"
    seeds = run.plan.seeds if whole.nads else ()
    labels = [artifacts.labels("image_pairs", seed, "test") for seed in seeds]
    figure = images_or_linear_channel(run, labels, f"{caption}\n{sides}\n{not_fitted('hollow')}")
    sees = "Accuracy with both channels, with either alone, and, in conflicts, how often the "
    sees += "linear channel wins against an image of the other group, over the NAD index of v."
    pictures = [Picture("images_or_linear_channel", figure, "images or linear channel", sees)]
    findings = [used(run, name) for name in run.labels]
    caption += f" · {sides} · NAD indices begin at 0, which for paper 2 is a choice"
    heading, title = "image_pairs: images ⊕ D(v)", "A photograph or a number"
    question = "One channel becomes photographs of two groups of classes; the other stays D(v). "
    question += "The photographs are what a person would look at. Which of the two does the "
    question += "network look at?"
    return Section(heading, caption, table(run), pictures, findings, title, question)
