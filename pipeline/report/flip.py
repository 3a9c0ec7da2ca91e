"""`flip` in the report: accuracy on images with their NADs in reverse order (paper 1,
§5)."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.report import style
from pipeline.report.numbers import (
    describe_basis,
    format_accuracy,
    format_mean,
    format_number,
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

MAPS = {
    "plain": "unchanged",
    "signs": "random\nsigns",
    "rotated": "rotated",
    "flipped": "order\nreversed",
    "permuted": "pixels\npermuted",
    "aligned": "principal\ncomponents\non NADs",
    "aligned_cosines": "principal\ncomponents\non cosines",
    "aligned_pixels": "principal\ncomponents\non pixels",
    "aligned_reversed": "principal\ncomponents\non NADs,\nreversed",
}
"""Tick labels of the maps, in the order of the figure. Blocks of rotations precede
`rotated`."""

PAPERS = ("plain", "flipped")  # the maps of table 1

LOSSES = {
    "flipped": "when the order of its NADs is reversed",
    "signs": "with random signs",
}
"""The maps whose loss the finding quotes."""

PAPER = "50,000 images, 30 epochs"
"""The paper's training, which a run of another size does not have."""


def list_maps(record: Record) -> dict[str, str]:
    """The maps with which networks were trained, in order, and their tick labels."""
    names = set(record.results["images"])
    blocks = sorted(
        int(name.removeprefix("rotated_"))
        for name in names
        if name.startswith("rotated_")
    )
    labels = {}
    for name, text in MAPS.items():
        if name == "rotated":
            for block in blocks:
                labels[f"rotated_{block}"] = f"rotated in\nblocks of {block}"
        if name in names:
            labels[name] = text
    return labels


def draw_accuracies(
    record: Record, published: Published, title: str, caption: str
) -> Figure:
    """Draw test accuracy after each map, a marker for each network (table 1).

    Training and test images are mapped alike. Published accuracies are orange.

    Args:
        record: The run of `flip`.
        published: Accuracies in per cent by map.
        title: The title.
        caption: The caption.
    """
    maps = list_maps(record)
    positions = {name: position for position, name in enumerate(maps)}
    width = max(6.4, 0.95 * len(maps) + 2.6)
    figure, ((panel,),) = style.new_figure(1, 1, width, 4.2)
    cells = average_percent(record.results, ["architecture", "images"])
    for (name, label), look in zip(record.labels.items(), style.CURVES, strict=False):
        own = cells.loc[name]
        own = own.loc[[images for images in maps if images in own.index]]
        x = [positions[images] for images in own.index]
        look = look | {"linestyle": "none"}  # maps have no order
        style.draw_curve(panel, x, own, label=label, markersize=5, capsize=2.5, **look)
        if name in published:
            known = [images for images in PAPERS if images in positions]
            panel.plot(
                [positions[images] for images in known],
                [published[name].values[images] for images in known],
                marker=look["marker"],
                linestyle="none",
                markersize=6,
                label=f"{published[name].name}{published[name].width},\n{PAPER}",
                **style.BEHIND,
            )
    panel.set_xticks(range(len(maps)), maps.values())
    panel.set(ylabel="test accuracy (%)", xlim=(-0.4, len(maps) - 0.4))
    panel.grid(axis="y", color="0.9", linewidth=0.6)
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return style.finish(figure, title, caption, record.notice)


def measure_loss(
    record: Record, architecture: str, images: str = "flipped"
) -> pd.Series:
    """Measure the points of accuracy that an architecture loses through a map.

    Args:
        record: The run of `flip`.
        architecture: The architecture.
        images: The map.

    Returns:
        Mean and std over seeds; nan if no network was trained with the map, or none
        without a map.
    """
    rows = record.select_results(architecture)
    seeds = rows.pivot(index="seed", columns="images", values="accuracy")
    if not {"plain", images} <= set(seeds):
        return pd.Series({"mean": np.nan, "std": np.nan})
    return (100 * (seeds["plain"] - seeds[images])).agg(["mean", "std"])


def make_table(record: Record, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture."""
    for name, label in record.labels.items():
        cells = record.select_summary(name).set_index("images")
        maps = [images for images in list_maps(record) if images in cells.index]
        row = {"network": label}
        for images in maps:
            row[f"{images} (%)"] = format_accuracy(cells.loc[images])
        if "flipped" in maps:
            row["loss (points)"] = format_mean(*measure_loss(record, name))
        if "signs" in maps:
            loss = measure_loss(record, name, "signs")
            row["loss by signs (points)"] = format_mean(*loss)
        for images in maps:
            column = f"training accuracy, {images} (%) (fitted seeds)"
            row[column] = format_training(cells.loc[images])
        if name in published:
            _, width, values = published[name]
            texts = [f"{values[images]:g}" for images in PAPERS]
            row["published (plain / flipped)"] = " / ".join(texts) + width
        yield row


def make_finding(run: Report) -> Finding:
    """The loss of one network by the reverse order, and by signs in the same order."""
    record, name, label = run.choose_network("flip")
    cells = []
    parts = []
    for images, words in LOSSES.items():
        loss = measure_loss(record, name, images)
        if np.isfinite(loss["mean"]):
            unit = "" if parts else "points of accuracy "
            parts.append(f"{format_number(loss['mean'], 1)} {unit}{words}")
            cells.append(loss)
    text = f"{label} on images in {len(list_maps(record))} forms"
    if parts:
        text = f"{label} loses {', and '.join(parts)}"
    return Finding(name, text, describe_basis(record.select_results(name), *cells))


def make_section(run: Report) -> Section:
    """The section of `flip`."""
    record = run.experiments["flip"]
    table = read_published("flip").set_index("network")
    published = record.find_published(table.to_dict("index"))
    chance = 100 / len(record.images["classes"])
    caption = (
        f"{record.describe_sizes()} · images: {record.images['name']} · "
        f"chance: {chance:g} %"
    )
    lines = f"{caption}\n{explain_unfitted('hollow')}"
    finding = make_finding(run)
    figure = draw_accuracies(record, published, finding.title, lines)
    rows = list(make_table(record, published))
    return Section(record, caption, rows, [Picture("flip_maps", figure)], finding)
