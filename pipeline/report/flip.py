"""`flip` in the report: accuracy on images with their NADs in reverse order (paper 1, §5)."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, mean_text, training
from pipeline.report.page import Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, not_fitted, percents

REVERSED = "flipped: NAD coefficients in reverse order"
BARS = {
    "plain": {"facecolor": style.BLUE, "label": "images as they are"},
    "flipped": {"facecolor": "#F6C667", "hatch": "///", "label": REVERSED},
}
WIDTH, NARROW = 0.25, 0.16  # widths of our bars and of the published bars beside them


def metrics(experiment: Evaluated, name: str) -> dict[str, float]:
    """The mean accuracy on flipped images of networks that were trained on such."""
    return {"flipped": experiment.of(name, images="flipped")["accuracy"].mean()}


def bars(experiment: Evaluated, published: Published, caption: str) -> Figure:
    """Accuracy on images as they are and on flipped ones, trained and tested alike (table 1).

    White bars to the right of ours are published accuracies. The outline is dashed where not every
    network was fitted.
    """
    figure, ((panel,),) = style.new(1, 1, max(6.9, 1.9 * len(experiment.labels) + 0.8), 4.4)
    chance = {"color": "0.35", "linewidth": 1, "linestyle": (0, (4, 2)), "zorder": 3}
    guessing = panel.axhline(100 / len(experiment.images["classes"]), label="guessing", **chance)
    cells = percents(experiment.results, ["images", "architecture"])
    white = {"facecolor": "white", "edgecolor": style.PUBLISHED}
    above = {"ha": "center", "va": "bottom", "fontsize": 8}
    for images, look in BARS.items():
        for place, name in enumerate(experiment.labels):
            # Our bar and the published one touch; plain images left of the middle, flipped right.
            pair = WIDTH + (NARROW if name in published else 0)
            left = place + (-0.02 - pair if images == "plain" else 0.02)
            cell, hatch = cells.loc[images, name], look.get("hatch")
            error = None if np.isnan(cell["std"]) else cell["std"]
            width, line = (0.7, "-") if cell["fitted"] else (1.1, (0, (2, 1.5)))
            outline = {"edgecolor": "black", "linewidth": width, "linestyle": line}
            outline |= {"error_kw": {"capsize": 3, "elinewidth": 1.2, "capthick": 1.2}}
            middle, mean, face = left + WIDTH / 2, cell["mean"], look["facecolor"]
            panel.bar(middle, mean, WIDTH, facecolor=face, hatch=hatch, yerr=error, **outline)
            panel.text(middle, mean + (error or 0) + 1, f"{mean:.1f}", **above)
            if name in published:
                value, middle = published[name][1][images], left + WIDTH + NARROW / 2
                panel.bar(middle, value, NARROW, hatch=hatch, linewidth=1, **white)
                panel.text(middle, value + 1, f"{value:g}", color=style.PUBLISHED, **above)
    entries = [Patch(edgecolor="black", linewidth=0.6, **look) for look in BARS.values()]
    entries += [Patch(label="published", **white)] if published else []
    ticks = {name: text.replace(", ", ",\n") for name, text in experiment.labels.items()}
    for name, (called, _) in published.items():
        ticks[name] += "" if called == "published" else f"\n({called})"
    panel.set_xticks(range(len(ticks)), ticks.values())
    panel.set(ylabel="test accuracy (%)", ylim=(0, 105), xlim=(-0.6, len(ticks) - 0.4))
    panel.set_yticks(range(0, 101, 20))
    panel.tick_params(axis="x", length=0)
    panel.legend(handles=[*entries, guessing], ncol=4, **style.ABOVE)
    title = "Accuracy on images, and on images with their NAD coefficients in reverse order"
    return style.finish(figure, title, caption, experiment.notice)


def loss(experiment: Evaluated, name: str) -> str:
    """The points of accuracy that the flip costs one architecture, over seeds."""
    seeds = experiment.of(name).pivot(index="seed", columns="images", values="accuracy")
    lost = 100 * (seeds["plain"] - seeds["flipped"])
    return mean_text(lost.mean(), lost.std())


def table(experiment: Evaluated, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture."""
    for name, label in experiment.labels.items():
        at = experiment.summary_of(name).set_index("images")
        row = {"network": label}
        row |= {f"{images} (%)": accuracy(at.loc[images]) for images in BARS}
        row["loss (points)"] = loss(experiment, name)
        for images in BARS:
            row[f"training accuracy, {images} (%) (fitted seeds)"] = training(at.loc[images])
        if name in published:
            called, values = published[name]
            pair = " / ".join(f"{values[images]:g}" for images in BARS)
            row["published (plain / flipped)"] = pair + called.removeprefix("published")
        yield row


def finding(run: Report) -> str:
    """What the reverse order costs one network."""
    experiment, name, label = run.shown("flip")
    start = f"{label} loses {loss(experiment, name)} points of accuracy when the order of its"
    return f"{start} NADs is reversed {basis(experiment.summary_of(name))}."


def section(run: Report) -> Section:
    """The section of `flip`."""
    experiment = run.experiments["flip"]
    published = experiment.beside(published_table("flip").set_index("network").to_dict("index"))
    caption = f"{experiment.sizes()} · images: {experiment.images['name']}"
    figure = bars(experiment, published, f"{caption}\n{not_fitted('dashed outlines')}")
    picture = Picture("flip_bars", figure, "accuracy on plain and flipped images", "bars")
    return Section(experiment, caption, [*table(experiment, published)], [picture], finding(run))
