"""`image_pairs` in the report: the channel that is used, and conflicts (paper 2, §4,
fig. 3)."""

import textwrap

from matplotlib.figure import Figure

from pipeline.report import style
from pipeline.report.numbers import (
    describe_basis,
    format_accuracy,
    format_share,
    format_training,
)
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.run import Record, Report, average_percent, explain_unfitted

NAMES = {
    "all": "both",
    "linear": "only the linear channel",
    "images": "only the images",
    "conflict": "linear channel against\nimages of the other side",
}
"""Labels of the test sets."""


def draw_accuracies(record: Record, title: str, caption: str) -> Figure:
    """Draw accuracy with both channels, single channels and conflicts (fig. 3)."""
    columns = len(record.labels)
    width = max(7.3, 2.9 * columns + 0.5)
    figure, axes = style.new_figure(1, columns, width, 4.6, sharey=True)
    for panel, (name, label) in zip(axes[0], record.labels.items(), strict=True):
        for (test_set, text), look in zip(NAMES.items(), style.CURVES, strict=True):
            rows = record.select_results(name, test_set=test_set)
            style.draw_over_indices(
                panel,
                average_percent(rows, ["index"]),
                label=text,
                linewidth=1.3,
                elinewidth=1.3,
                markersize=5,
                capsize=3,
                **look,
            )
        panel.axhline(50, color="0.6", linewidth=0.8, zorder=0)  # chance
        label = textwrap.fill(f"{label}, σ = {record.sigma(name):g}", 30)
        panel.set(title=label, ylim=(-3, 103), xlabel="NAD index of $v$")
        style.set_index_axis(panel)
    axes[0, 0].set_ylabel("test accuracy (%)")
    axes[0, -1].legend(loc="lower left")
    return style.finish(figure, title, caption, record.notice)


def make_table(record: Record) -> Rows:
    """The table, a row for each architecture and index."""
    groups = record.summary.groupby(["architecture", "index"], sort=False)
    for (name, index), cells in groups:
        tests = cells.set_index("test_set")
        row = {"network": record.labels[name], "NAD index of v": index}
        for test_set, text in NAMES.items():
            column = text.replace("\n", " ") + " (%)"
            row[column] = format_accuracy(tests.loc[test_set])
        row["training accuracy (%) (fitted seeds)"] = format_training(tests.loc["all"])
        yield row


def make_finding(run: Report) -> Finding:
    """State the accuracy of each channel by itself at the NAD that favours it most."""
    record, name, label = run.choose_network("image_pairs")
    cells = average_percent(record.select_results(name), ["test_set", "index"])
    linear = cells.loc["linear"].iloc[0]
    images = cells.loc["images"].iloc[-1]
    text = (
        f"{label} reaches {format_share(linear)} with only the linear channel at NAD "
        f"{linear.name}, and {format_share(images)} with only the images at NAD "
        f"{images.name}"
    )
    networks = record.select_results(name, test_set="all")
    return Finding(name, text, describe_basis(networks, linear, images))


def make_section(run: Report) -> Section:
    """The section of `image_pairs`."""
    record = run.experiments["image_pairs"]
    settings = record.plan.settings
    caption = (
        f"{record.describe_sizes()} · ε = {settings.eps:g} · "
        f"images: {record.images['name']}"
    )
    negative, positive = settings.sides(record.images["classes"])
    sides = f"one side: {', '.join(negative)} · the other: {', '.join(positive)}"
    finding = make_finding(run)
    lines = f"{caption}\n{sides}\n{explain_unfitted('hollow')}"
    figure = draw_accuracies(record, finding.title, lines)
    caption += f" · {sides} · NAD indices begin at 0 (our choice for paper 2)"
    return Section(
        record,
        caption,
        list(make_table(record)),
        [Picture("images_or_linear_channel", figure)],
        finding,
    )
