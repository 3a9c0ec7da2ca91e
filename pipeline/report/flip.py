"""`flip` in the report: accuracy on images with their NADs in reverse order (paper 1, §5)."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, mean_text, number, training
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, not_fitted, percents

WIDTH, NARROW = 0.25, 0.16  # widths of our bars and of the published bars beside them
BARS = {
    "plain": {"facecolor": style.BLUE, "label": "images as they are"},
    "flipped": {"facecolor": "#F6C667", "hatch": "///", "label": "NAD coefficients reversed"},
}


def bars(experiment: Evaluated, published: Published, caption: str) -> Figure:
    """Accuracy on images as they are and on flipped ones, trained and tested alike (table 1).

    White bars to the right of ours are published accuracies. The outline is dashed where not every
    network was fitted.
    """
    names, places = [*experiment.labels], np.arange(len(experiment.labels))
    figure, ((panel,),) = style.new(1, 1, max(6.9, 1.9 * len(names) + 0.8), 4.4)
    chance = 100 / len(experiment.images["classes"])
    panel.axhline(chance, color="0.35", linewidth=1, linestyle=(0, (4, 2)), label="guessing")
    cells = percents(experiment.results, ["images", "architecture"])
    for (images, look), side in zip(BARS.items(), (-1, 1)):
        ours, middle = cells.loc[images].loc[names], places + side * (WIDTH + NARROW) / 2
        look = look | {"edgecolor": "black", "capsize": 3, "yerr": ours["std"]}
        drawn = panel.bar(middle - NARROW / 2, ours["mean"], WIDTH, **look)
        for bar, fitted in zip(drawn, ours["fitted"]):
            bar.set_linestyle("-" if fitted else (0, (2, 1.5)))
        panel.bar_label(drawn, fmt="%.1f")
        theirs = [published[name].values[images] if name in published else np.nan for name in names]
        white = {"facecolor": "white", "edgecolor": style.PUBLISHED, "hatch": look.get("hatch")}
        drawn = panel.bar(middle + WIDTH / 2, theirs, NARROW, **white)
        panel.bar_label(drawn, fmt="%g", color=style.PUBLISHED)
    drawn.set_label("published, full width")
    ticks = [text.replace(", ", ",\n") for text in experiment.labels.values()]
    panel.set_xticks(places, ticks)
    panel.set(ylabel="test accuracy (%)", ylim=(0, 105), xlim=(-0.6, len(names) - 0.4))
    panel.set_yticks(range(0, 101, 20))
    panel.tick_params(axis="x", length=0)
    panel.legend(ncol=4, **style.ABOVE)
    title = "Accuracy on images, and on images with their NAD coefficients in reverse order"
    return style.finish(figure, title, caption, experiment.notice)


def loss(experiment: Evaluated, name: str) -> pd.Series:
    """Mean and std over seeds of the points of accuracy that the flip costs one architecture."""
    seeds = experiment.of(name).pivot(index="seed", columns="images", values="accuracy")
    return (100 * (seeds["plain"] - seeds["flipped"])).agg(["mean", "std"])


def table(experiment: Evaluated, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture."""
    for name, label in experiment.labels.items():
        at = experiment.summary_of(name).set_index("images")
        row = {"network": label}
        row |= {f"{images} (%)": accuracy(at.loc[images]) for images in BARS}
        row["loss (points)"] = mean_text(*loss(experiment, name))
        for images in BARS:
            row[f"training accuracy, {images} (%) (fitted seeds)"] = training(at.loc[images])
        if name in published:
            theirs = " / ".join(f"{published[name].values[images]:g}" for images in BARS)
            row["published (plain / flipped)"] = theirs + published[name].width
        yield row


def finding(run: Report) -> Finding:
    """What the reverse order costs one network."""
    experiment, name, label = run.shown("flip")
    lost = loss(experiment, name)
    text = f"{label} loses {number(lost['mean'], 1)} points of accuracy when the order of its NADs "
    rests = basis(experiment.of(name), lost)
    return Finding(name, f"{text}is reversed", rests, {"loss": lost["mean"] / 100})


def section(run: Report) -> Section:
    """The section of `flip`."""
    experiment = run.experiments["flip"]
    published = experiment.beside(published_table("flip").set_index("network").to_dict("index"))
    caption = f"{experiment.sizes()} · images: {experiment.images['name']}"
    figure = bars(experiment, published, f"{caption}\n{not_fitted('dashed outlines')}")
    rows, picture = [*table(experiment, published)], Picture("flip_bars", figure)
    return Section(experiment, caption, rows, [picture], finding(run))
