"""`flip` in the report: accuracy on images with their NADs in reverse order (paper 1, §5)."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pipeline.report import published, style
from pipeline.report.comparison import accuracy, basis, mean_text, training
from pipeline.report.page import Picture, Section, Table, table_of
from pipeline.report.run import Evaluated, Published, Run, not_fitted, percents

REVERSED = "flipped: NAD coefficients in reverse order"
BARS = {
    "plain": {"facecolor": style.BLUE, "label": "images as they are"},
    "flipped": {"facecolor": "#F6C667", "hatch": "///", "label": REVERSED},
}
WIDTH, NARROW = 0.25, 0.16  # widths of our bars and of the published bars beside them


def metrics(run: Evaluated, name: str) -> dict[str, float]:
    """The mean accuracy on flipped images of networks that were trained on such."""
    return {"flipped": run.of(name, images="flipped")["accuracy"].mean()}


def bars(run: Evaluated, known: Published, caption: str) -> Figure:
    """Accuracy on images as they are and on flipped ones, trained and tested alike (table 1).

    White bars to the right of ours are published accuracies. The outline is dashed where not every
    network was fitted.
    """
    figure, ((panel,),) = style.new(1, 1, max(6.9, 1.9 * len(run.labels) + 0.8), 4.4)
    chance = {"color": "0.35", "linewidth": 1, "linestyle": (0, (4, 2)), "zorder": 3}
    guessing = panel.axhline(100 / len(run.images["classes"]), label="guessing", **chance)
    cells = percents(run.results, ["images", "architecture"])
    white = {"facecolor": "white", "edgecolor": style.PUBLISHED}
    above = {"ha": "center", "va": "bottom", "fontsize": 8}
    for images, look in BARS.items():
        for place, name in enumerate(run.labels):
            # Our bar and the published one touch; plain images left of the middle, flipped right.
            pair = WIDTH + (NARROW if name in known else 0)
            left = place + (-0.02 - pair if images == "plain" else 0.02)
            cell, hatch = cells.loc[images, name], look.get("hatch")
            error = None if np.isnan(cell["std"]) else cell["std"]
            width, line = (0.7, "-") if cell["fitted"] else (1.1, (0, (2, 1.5)))
            outline = {"edgecolor": "black", "linewidth": width, "linestyle": line}
            outline |= {"error_kw": {"capsize": 3, "elinewidth": 1.2, "capthick": 1.2}}
            middle, mean, face = left + WIDTH / 2, cell["mean"], look["facecolor"]
            panel.bar(middle, mean, WIDTH, facecolor=face, hatch=hatch, yerr=error, **outline)
            panel.text(middle, mean + (error or 0) + 1, f"{mean:.1f}", **above)
            if name in known:
                value, middle = known[name][1][images], left + WIDTH + NARROW / 2
                panel.bar(middle, value, NARROW, hatch=hatch, linewidth=1, **white)
                panel.text(middle, value + 1, f"{value:g}", color=style.PUBLISHED, **above)
    entries = [Patch(edgecolor="black", linewidth=0.6, **look) for look in BARS.values()]
    entries += [Patch(label="published", **white)] if known else []
    ticks = {name: text.replace(", ", ",\n") for name, text in run.labels.items()}
    for name, (called, _) in known.items():
        ticks[name] += "" if called == "published" else f"\n({called})"
    panel.set_xticks(range(len(ticks)), ticks.values())
    panel.set(ylabel="test accuracy (%)", ylim=(0, 105), xlim=(-0.6, len(ticks) - 0.4))
    panel.set_yticks(range(0, 101, 20))
    panel.tick_params(axis="x", length=0)
    panel.legend(handles=[*entries, guessing], ncol=4, **style.ABOVE)
    title = "Accuracy on images, and on images with their NAD coefficients in reverse order"
    return style.finish(figure, title, caption, run.notice)


def loss(run: Evaluated, name: str) -> str:
    """The points of accuracy that the flip costs one architecture, over seeds."""
    seeds = run.of(name).pivot(index="seed", columns="images", values="accuracy")
    lost = 100 * (seeds["plain"] - seeds["flipped"])
    return mean_text(lost.mean(), lost.std())


def table(run: Evaluated, known: Published) -> Table:
    """The table of accuracies, a row for each architecture."""
    rows = []
    for name, label in run.labels.items():
        at = {images: run.summary_of(name).set_index("images").loc[images] for images in BARS}
        row = {"network": label} | {f"{images} (%)": accuracy(at[images]) for images in BARS}
        row["loss (points)"] = loss(run, name)
        for images, cell in at.items():
            row[f"training accuracy, {images} (%) (fitted seeds)"] = training(cell)
        if name in known:
            called, values = known[name]
            pair = " / ".join(f"{values[images]:g}" for images in BARS)
            row["published (plain / flipped)"] = pair + called.removeprefix("published")
        rows.append(row)
    return table_of(rows)


def finding(whole: Run) -> str:
    """What the reverse order costs one network."""
    run, name = whole.shown("flip")
    start = f"{run.labels[name]} loses {loss(run, name)} points of accuracy when the order of its"
    return f"{start} NADs is reversed {basis(run.summary_of(name))}."


def section(whole: Run) -> Section:
    """The section of `flip`."""
    run = whole.experiments["flip"]
    known = run.beside(published.table("flip").set_index("network").to_dict("index"))
    caption = f"{run.sizes()} · images: {run.images['name']}"
    figure = bars(run, known, f"{caption}\n{not_fitted('dashed outlines')}")
    picture = Picture("flip_bars", figure, "accuracy on plain and flipped images", "bars")
    return Section.of("flip", caption, table(run, known), [picture], finding(whole))
