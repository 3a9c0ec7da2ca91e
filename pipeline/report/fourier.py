"""`fourier` in the report: accuracy on D(v) over the frequency of v (paper 1, figs 1 and 3), and
maps over frequencies: values at k and −k, transposes."""

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from pipeline.cells.fourier import wrapped
from pipeline.networks import NETWORKS
from pipeline.report import published, style
from pipeline.report.comparison import accuracy, number, percent, rms_text
from pipeline.report.labels import papers_network
from pipeline.report.page import Numbers, Picture, Section
from pipeline.report.run import Evaluated, Published, Run, described, not_fitted, over_seeds
from pipeline.report.site.document import value

# Mean accuracy over all frequencies of the networks without pooling, read off paper 1's fig. 3.
UNPOOLED = {"lenet": 1.0, "resnet18": 0.993}

DIRECTION = ["k_row", "k_col"]  # the columns that tell directions apart


def sides(rows: pd.DataFrame) -> pd.Series:
    """Height and width of one architecture's inputs: twice the highest frequencies of its grid."""
    return 2 * rows[DIRECTION].abs().max()


def canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """One architecture's rows, each with the later of k and −k, which are the same v."""
    k = wrapped(rows[DIRECTION], sides(rows))
    other = wrapped(-k, sides(rows))
    same = other["k_row"] == k["k_row"]
    later = (other["k_row"] > k["k_row"]) | (same & (other["k_col"] > k["k_col"]))
    return rows.assign(**k.where(~later, other))


def by_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracies of one architecture over seeds, a row for each direction: see `over_seeds`."""
    return over_seeds(canonical(rows), DIRECTION).reset_index()


def metrics(run: Evaluated, name: str) -> dict[str, float]:
    """The highest of one network's mean accuracies over seeds."""
    return {"highest": run.of(name).groupby(DIRECTION)["accuracy"].mean().max()}


def published_maps(run: Evaluated) -> Published:
    """By architecture, the label of its network's published map, and the map as `by_direction`."""
    table = published.table("fourier")
    maps = {
        network: by_direction(table[DIRECTION].assign(accuracy=table[network] / 100))
        for network in table.columns.drop(DIRECTION)
    }
    return run.beside(maps)


def completed(run: Evaluated, name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of an architecture's whole map, with the transposes that it is not trained along."""
    if run.plan.members[name].grid.transposes:
        return rows
    turned = canonical(rows.rename(columns=dict(zip(DIRECTION, reversed(DIRECTION)))))
    return pd.concat([rows, turned], ignore_index=True).drop_duplicates(DIRECTION)


def transposed_text(run: Evaluated) -> str:
    """The part of a caption on the architectures that are trained along half of the directions."""
    members = run.plan.members
    halves = [label for name, label in run.labels.items() if not members[name].grid.transposes]
    whose = "" if len(halves) == len(run.labels) else f" ({', '.join(halves)})"
    text = f" · one of each v and its transpose, which are alike by symmetry, is trained{whose}"
    return text if halves else ""


def unfolded(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of both halves of a map, of one architecture's rows, one of each k and −k.

    There is a row for every k_row and every k_col of either sign; −side/2 equals side/2, and its
    values stand at both. Frequencies that `rows` lacks have the values nan.
    """
    axes = [np.union1d(rows[name], -rows[name]) for name in DIRECTION]
    places = pd.MultiIndex.from_product(axes, names=DIRECTION).to_frame(index=False)
    return canonical(places).merge(canonical(rows), "left", on=DIRECTION).assign(**places)


def plane(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The values of a column of `unfolded` rows, with k_row along the rows."""
    cells = unfolded(rows).pivot(index="k_row", columns="k_col", values=column).astype(float)
    cells = cells.rename(index=lambda k: number(k, 0), columns=lambda k: number(k, 0))
    return cells.rename_axis(index="row frequency $k_r$", columns="column frequency $k_c$")


def pair(direction: pd.Series) -> str:
    """The frequency of a direction as text: '(0, −4)'."""
    return "({}, {})".format(*(number(direction[name], 0) for name in DIRECTION))


def maps(run: Evaluated, known: Published, caption: str) -> Figure:
    """Accuracy over the frequency of v, and the published maps beside it (paper 1, figs 1, 3)."""
    rows = [[]]
    for name, label in run.labels.items():
        own = completed(run, name, by_direction(run.of(name)))
        drawn = [(label, own)] + ([known[name]] if name in known else [])
        if len(rows[-1]) + len(drawn) > 3:  # a published map stands in the same row as ours
            rows.append([])
        rows[-1] += drawn
    columns = max(map(len, rows))
    side = max(2.75, 3.6 / columns)
    size = side * columns + 1.1, (side + 0.35) * len(rows) + 0.8
    figure, axes = style.new(len(rows), columns, *size)
    for panels, row in zip(axes, rows):
        for panel in panels[len(row) :]:
            panel.set_visible(False)
        for panel, (title, directions) in zip(panels, row):
            image = accuracy_map(panel, directions, title)
        for panel in panels[1:]:
            panel.set_ylabel("")
    figure.colorbar(image, ax=axes, label="test accuracy (%)", shrink=0.7, panchor=False)
    return style.finish(figure, "Accuracy on D(v) over the frequency of v", caption, run.notice)


def accuracy_map(panel: Axes, directions: pd.DataFrame, title: str) -> QuadMesh:
    """Draw one map; directions: as `by_direction`, of one architecture.

    Those along which not every network was fitted are hatched, unless the title says that none was.
    """
    mean, std, fitted = (plane(directions, column) for column in ("mean", "std", "fitted"))
    nowhere = (directions["fitted"] == 0).all()
    panel.set_title(textwrap.fill(title, 26) + ("\n(none fitted)" if nowhere else ""))
    unfitted = (fitted == 0) & ~nowhere
    return style.heat_map(panel, 100 * mean, 100 * std, unfitted)


def level_of(cells: pd.DataFrame) -> str:
    """The mean of one architecture's map with its standard deviation over seeds, as text."""
    means = cells.groupby("seed")["accuracy"].mean()
    return percent(means.mean(), means.std())


def said_of(cells: pd.DataFrame) -> list[str]:
    """What tables say of one map: directions fitted, mean, and lowest and highest accuracy."""
    directions = by_direction(cells)
    ends = [directions.loc[place] for place in directions["mean"].agg(["argmin", "argmax"])]
    fitted = f"{int(directions['fitted'].sum())} of {len(directions)}"
    return [fitted, level_of(cells), *(f"{accuracy(end)} at {pair(end)}" for end in ends)]


def numbers(run: Evaluated, known: Published) -> Numbers:
    """The table of the maps, a row for each architecture, and sentences.

    The published mean is over the directions of our map, and the distance over those of them off
    k_row = 0: LeNet's published row k_row = 0 lies above its transpose, which the symmetry of the
    network's law does not allow.
    """
    networks = {name: described(run.plan.members[name]) for name in run.labels}
    no_pooling = {"downsampling": "none"}
    rows, levels, without = [], [], []
    for name, label in run.labels.items():
        cells = run.of(name)
        directions = by_direction(cells)
        means = directions.set_index(DIRECTION)["mean"]
        fitted, level, low, high = said = said_of(cells)
        alike = means.min() == means.max()
        where = "along all" if alike else f"in the mean, from {low} to {high}"
        levels.append(f"{label}: {level} % {where} (fitted along {fitted})")
        unpooled = UNPOOLED.get(papers_network(networks[name], **no_pooling))
        beside = [f"{100 * unpooled:.1f}" if unpooled else "–", "–"]
        if name in known:
            called, theirs = known[name]
            wide = called.removeprefix("published")
            theirs = 100 * theirs.set_index(DIRECTION)["mean"].reindex(means.index)
            off = theirs[theirs.index.get_level_values("k_row") != 0]
            beside = [f"{theirs.mean():.1f}{wide}", rms_text(100 * means, off) + wide]
        for other, network in networks.items():
            if "downsampling" in network or networks[name] != network | no_pooling:
                continue
            same = by_direction(run.of(other)).merge(directions, on=DIRECTION)
            without_it, with_it = (
                level_of(canonical(run.of(one)).merge(same[DIRECTION])) for one in (name, other)
            )
            text = f"{run.labels[other]} has {without_it} % instead of {with_it} %, "
            text += f"means over the {len(same)} directions of both"
            epochs = [run.plan.members[one].training.epochs for one in (name, other)]
            text += "" if len({*epochs}) == 1 else ", after {} and {} epochs".format(*epochs)
            text += f"; published {100 * unpooled:.1f} % without" if unpooled else ""
            without.append(text)
        rows.append([label, *said, f"{100 * (means > 0.75).mean():.0f}", *beside])
    sentences = [f"Accuracy over Fourier directions, {run.seeds()}: {'; '.join(levels)}."]
    if without:
        sentences.append(f"Without pooling {', '.join(without)}.")
    header = ["network", "directions fitted", "mean accuracy (%)", "lowest", "highest"]
    header += ["directions above 75 % (%)", "published mean (%)"]
    header += ["root mean square distance from the published off k_row = 0 (directions)"]
    return [header, *rows], sentences


def key(row: Mapping[str, Any]) -> str:
    """The frequency of a row as the page's script asks for it."""
    return f"{row['k_row']:.0f},{row['k_col']:.0f}"


def explorer(run: Evaluated, known: Published) -> list[dict[str, Any]]:
    """The data of the page's maps: accuracies by frequency, ours and the published ones."""
    maps = []
    for name, label in run.labels.items():
        own = unfolded(completed(run, name, canonical(run.summary_of(name))))
        cells = {key(row): value(row) for row in own.dropna(subset="mean").to_dict("records")}
        maps.append({"name": label, "cells": cells, "sides": run.plan.members[name].input[1:]})
        if name in known:
            called, theirs = known[name]
            cells = {key(row): [row["mean"]] for row in unfolded(theirs).to_dict("records")}
            maps[-1] |= {"called": called, "published": cells}
    return maps


def section(whole: Run) -> Section:
    """The section of `fourier`."""
    run = whole.experiments["fourier"]
    known = published_maps(run)
    caption = f"{run.sizes()} · {run.science()}{transposed_text(run)}"
    figure = maps(run, known, f"{caption}\n{not_fitted('hatched or “none fitted”')}")
    if any(run.plan.members[name].specification["network"] == NETWORKS["lenet"] for name in known):
        caption += " · LeNet's published row k_row = 0 lies above its transpose, "
        caption += "though the network's law is symmetric"
    table, findings = numbers(run, known)
    sees = "Test accuracy over the frequency of v. The middle of a map is frequency 0. A network "
    sees += "without a preference has one colour everywhere; hatched are waves along which "
    sees += "training itself did not succeed."
    pictures = [Picture("fourier_maps", figure, "accuracy over frequencies", sees)]
    title = "Which spatial frequencies a network can learn"
    question = "Now v is a wave, the same for every network: a pattern of stripes with a frequency "
    question += "along rows and one along columns. Each cell of a map is a network that was "
    question += "trained on D(v) for that wave."
    live = explorer(run, known)
    return Section(title, question, caption, table, pictures, findings, live)
