"""`image_pairs` in the report: the channel that is used, and conflicts (paper 2, §4,
fig. 3)."""

import textwrap

from matplotlib.figure import Figure

from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, share, training
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.run import Evaluated, Report, not_fitted, percents

NAMES = {
    "all": "both",
    "linear": "linear channel alone",
    "images": "images alone",
    "conflict": "linear channel against\nimages of the other side",
}


def images_or_linear_channel(experiment: Evaluated, caption: str) -> Figure:
    """Accuracy with both channels, with either alone and in conflicts, over v's index
    (fig. 3)."""
    columns = len(experiment.labels)
    figure, axes = style.new(
        1, columns, max(7.3, 2.9 * columns + 0.5), 4.6, sharey=True
    )
    for panel, (name, label) in zip(axes[0], experiment.labels.items(), strict=True):
        for (test_set, text), look in zip(NAMES.items(), style.CURVES, strict=False):
            cells = percents(experiment.of(name, test_set=test_set), ["index"])
            sizes = {"linewidth": 1.3, "elinewidth": 1.3, "markersize": 5, "capsize": 3}
            style.over_indices(panel, cells, label=text, **sizes, **look)
        title = textwrap.fill(
            f"{label}, σ = {experiment.plan.settings.sigma[name]:g}", 30
        )
        panel.set(title=title, ylim=(-3, 103), xlabel="NAD index of $v$")
        style.index_axis(panel)
    axes[0, 0].set_ylabel("test accuracy (%)")
    axes[0, -1].legend(loc="lower left")
    title = "Images ⊕ D(v): what is used when both suffice"
    return style.finish(figure, title, caption, experiment.notice)


def table(experiment: Evaluated) -> Rows:
    """The table, a row for each architecture and index."""
    for (name, index), cells in experiment.summary.groupby(
        ["architecture", "index"], sort=False
    ):
        at = cells.set_index("test_set")
        row = {"network": experiment.labels[name], "NAD index of v": index}
        for test, text in NAMES.items():
            row[text.replace("\n", " ") + " (%)"] = accuracy(at.loc[test])
        yield row | {"training accuracy (%) (fitted seeds)": training(at.loc["all"])}


def finding(run: Report) -> Finding:
    """What either channel gives one network where NADs prefer it most."""
    experiment, name, label = run.shown("image_pairs")
    cells = percents(experiment.of(name), ["test_set", "index"])
    linear = cells.loc["linear"].iloc[0]
    images = cells.loc["images"].iloc[-1]
    text = f"Alone, the linear channel gives {label} {share(linear)} at NAD "
    text += f"{linear.name}, the images {share(images)} at NAD {images.name}"
    return Finding(
        name, text, basis(experiment.of(name, test_set="all"), linear, images)
    )


def section(run: Report) -> Section:
    """The section of `image_pairs`."""
    experiment = run.experiments["image_pairs"]
    negative, positive = experiment.plan.settings.sides(experiment.images["classes"])
    science = (
        f"ε = {experiment.plan.settings.eps:g} · images: {experiment.images['name']}"
    )
    caption = f"{experiment.sizes()} · {science}"
    sides = f"one side: {', '.join(negative)} · the other: {', '.join(positive)}"
    lines = f"{caption}\n{sides}\n{not_fitted('hollow')}"
    figure = images_or_linear_channel(experiment, lines)
    picture = Picture("images_or_linear_channel", figure)
    caption += f" · {sides} · NAD indices begin at 0, which for paper 2 is a choice"
    return Section(experiment, caption, [*table(experiment)], [picture], finding(run))
