"""`flip` in the report: accuracy on images with their NADs in reverse order (paper 1,
§5)."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, mean_text, number, training
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, not_fitted, percents

MAPS = {
    "plain": "unchanged",
    "aligned": "principal\ncomponents\non NADs",
    "aligned_cosines": "principal\ncomponents\non cosines",
    "aligned_pixels": "principal\ncomponents\non pixels",
    "aligned_reversed": "principal\ncomponents\non NADs,\nreversed",
    "signs": "random\nsigns",
    "rotated": "rotated",
    "permuted": "pixels\npermuted",
    "flipped": "order\nreversed",
}
"""Tick labels of the maps, in the order of the figure. Blocks of rotations precede
`rotated`."""

PAPERS = ("plain", "flipped")  # the maps of table 1


def maps_of(experiment: Evaluated) -> dict[str, str]:
    """The maps with which networks were trained, in order, and their tick labels."""
    names = set(experiment.results["images"])
    blocks = sorted(
        int(name.partition("_")[2]) for name in names if name.startswith("rotated_")
    )
    labels = {}
    for name, text in MAPS.items():
        if name == "rotated":
            for block in blocks:
                labels[f"rotated_{block}"] = f"rotated in\nblocks of {block}"
        labels[name] = text
    return {name: text for name, text in labels.items() if name in names}


def curves(experiment: Evaluated, published: Published, caption: str) -> Figure:
    """Test accuracy after each map, trained and tested alike, a line for each network
    (table 1).

    Published accuracies are orange. Markers are hollow where not every network was
    fitted.
    """
    maps = maps_of(experiment)
    positions = {name: position for position, name in enumerate(maps)}
    figure, ((panel,),) = style.new(1, 1, max(6.4, 0.95 * len(maps) + 2.6), 4.2)
    chance = 100 / len(experiment.images["classes"])
    panel.axhline(chance, color="0.6", linewidth=0.9, label="chance")
    cells = percents(experiment.results, ["architecture", "images"])
    for (name, label), look in zip(
        experiment.labels.items(), style.CURVES, strict=False
    ):
        own = cells.loc[name]
        own = own.loc[[name for name in maps if name in own.index]]
        at = [positions[name] for name in own.index]
        look = look | {"markersize": 5, "linewidth": 1.3, "capsize": 2.5}
        style.curve(panel, at, own, label=label, **look)
        panel.annotate(
            f"{own['mean'].iloc[-1]:.1f}",
            (at[-1], own["mean"].iloc[-1]),
            (6, -3),
            textcoords="offset points",
            color=look["color"],
        )
        if name in published:
            theirs = [published[name].values[images] for images in PAPERS]
            at = [positions[images] for images in PAPERS]
            behind = style.BEHIND | {"marker": look["marker"], "linestyle": ":"}
            text = published[name].name + published[name].width
            panel.plot(at, theirs, markersize=6, label=text, **behind)
    panel.set_xticks(range(len(maps)), maps.values())
    panel.set(ylabel="test accuracy (%)", ylim=(0, 102), xlim=(-0.4, len(maps) - 0.4))
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    title = "Accuracy on images whose NAD coefficients are changed, in training and test alike"
    return style.finish(figure, title, caption, experiment.notice)


def loss(experiment: Evaluated, name: str, images: str = "flipped") -> pd.Series:
    """Mean and std over seeds of the points of accuracy that a map costs one
    architecture."""
    seeds = experiment.of(name).pivot(index="seed", columns="images", values="accuracy")
    if images not in seeds:
        return pd.Series({"mean": np.nan, "std": np.nan})
    return (100 * (seeds["plain"] - seeds[images])).agg(["mean", "std"])


def table(experiment: Evaluated, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture."""
    maps = maps_of(experiment)
    for name, label in experiment.labels.items():
        at = experiment.summary_of(name).set_index("images")
        own = [images for images in maps if images in at.index]
        row = {"network": label}
        row |= {f"{images} (%)": accuracy(at.loc[images]) for images in own}
        row["loss (points)"] = mean_text(*loss(experiment, name))
        if "signs" in own:
            row["loss by signs (points)"] = mean_text(*loss(experiment, name, "signs"))
        for images in own:
            row[f"training accuracy, {images} (%) (fitted seeds)"] = training(
                at.loc[images]
            )
        if name in published:
            theirs = " / ".join(
                f"{published[name].values[images]:g}" for images in PAPERS
            )
            row["published (plain / flipped)"] = theirs + published[name].width
        yield row


def finding(run: Report) -> Finding:
    """What the reverse order costs one network, and what signs cost it that keep the
    order."""
    experiment, name, label = run.shown("flip")
    lost = loss(experiment, name)
    signs = loss(experiment, name, "signs")
    text = f"{label} loses {number(lost['mean'], 1)} points of accuracy when the order of its NADs "
    text += "is reversed"
    cells = [lost]
    if np.isfinite(signs["mean"]):
        text += f", and {number(signs['mean'], 1)} when random signs leave the order as it is"
        cells.append(signs)
    return Finding(name, text, basis(experiment.of(name), *cells))


def section(run: Report) -> Section:
    """The section of `flip`."""
    experiment = run.experiments["flip"]
    published = experiment.beside(
        published_table("flip").set_index("network").to_dict("index")
    )
    caption = f"{experiment.sizes()} · images: {experiment.images['name']}"
    figure = curves(experiment, published, f"{caption}\n{not_fitted('hollow')}")
    rows = [*table(experiment, published)]
    picture = Picture("flip_maps", figure)
    return Section(experiment, caption, rows, [picture], finding(run))
