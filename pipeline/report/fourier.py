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
from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, number, percent, rms_text
from pipeline.report.labels import label as label_of
from pipeline.report.labels import papers_network, without_width
from pipeline.report.page import Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, described, not_fitted, over_seeds
from pipeline.report.site.data import value

# Mean accuracy over all frequencies of the networks without pooling, read off paper 1's fig. 3.
UNPOOLED = {"lenet": 1.0, "resnet18": 0.993}

DIRECTION = ["k_row", "k_col"]  # the columns that tell directions apart


def canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """One architecture's rows, each with the later of k and −k, which are the same v."""
    sides = 2 * rows[DIRECTION].abs().max()  # of its inputs
    k = wrapped(rows[DIRECTION], sides)
    other = wrapped(-k, sides)
    same = other["k_row"] == k["k_row"]
    later = (other["k_row"] > k["k_row"]) | (same & (other["k_col"] > k["k_col"]))
    return rows.assign(**k.where(~later, other))


def by_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracies of one architecture over seeds, a row for each direction: see `over_seeds`."""
    return over_seeds(canonical(rows), DIRECTION).reset_index()


def metrics(experiment: Evaluated, name: str) -> dict[str, float]:
    """The highest of one network's mean accuracies over seeds."""
    return {"highest": experiment.of(name).groupby(DIRECTION)["accuracy"].mean().max()}


def published_maps(experiment: Evaluated) -> Published:
    """By architecture, the label of its network's published map, and the map as `by_direction`."""
    table = published_table("fourier")
    maps = {
        network: by_direction(table[DIRECTION].assign(accuracy=table[network] / 100))
        for network in table.columns.drop(DIRECTION)
    }
    return experiment.beside(maps)


def completed(experiment: Evaluated, name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of an architecture's whole map, with the transposes that it is not trained along."""
    if experiment.plan.members[name].grid.transposes:
        return rows
    turned = canonical(rows.rename(columns=dict(zip(DIRECTION, reversed(DIRECTION)))))
    return pd.concat([rows, turned], ignore_index=True).drop_duplicates(DIRECTION)


def transposed_text(experiment: Evaluated) -> str:
    """The part of a caption on the architectures that are trained along half of the directions."""
    members, labels = experiment.plan.members, experiment.labels
    halves = [label for name, label in labels.items() if not members[name].grid.transposes]
    whose = "" if len(halves) == len(labels) else f" ({', '.join(halves)})"
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


def maps(experiment: Evaluated, published: Published, caption: str) -> Figure:
    """Accuracy over the frequency of v, and the published maps beside it (paper 1, figs 1, 3)."""
    rows = [[]]
    for name, label in experiment.labels.items():
        own = completed(experiment, name, by_direction(experiment.of(name)))
        drawn = [(label, own)] + ([published[name]] if name in published else [])
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
    title = "Accuracy on D(v) over the frequency of v"
    return style.finish(figure, title, caption, experiment.notice)


def accuracy_map(panel: Axes, directions: pd.DataFrame, title: str) -> QuadMesh:
    """Draw one map; directions: as `by_direction`, of one architecture.

    Those along which not every network was fitted are hatched, unless the title says that none was.
    """
    mean, std, fitted = (plane(directions, column) for column in ("mean", "std", "fitted"))
    nowhere = (directions["fitted"] == 0).all()
    panel.set_title(textwrap.fill(title, 26) + ("\n(none fitted)" if nowhere else ""))
    unfitted = (fitted == 0) & ~nowhere
    return style.heat_map(panel, 100 * mean, 100 * std, unfitted)


def said_of(cells: pd.DataFrame) -> dict[str, str]:
    """What tables say of one map: directions fitted, mean, and lowest and highest accuracy."""
    directions, means = by_direction(cells), cells.groupby("seed")["accuracy"].mean()
    said = {"directions fitted": f"{int(directions['fitted'].sum())} of {len(directions)}"}
    said["mean accuracy (%)"] = percent(means.mean(), means.std())
    for column, end in (("lowest", "argmin"), ("highest", "argmax")):
        direction = directions.loc[directions["mean"].agg(end)]
        said[column] = f"{accuracy(direction)} % at {pair(direction)}"
    return said


def table(experiment: Evaluated, published: Published) -> Rows:
    """The table of the maps, a row for each architecture.

    The published mean is over the directions of our map, and the distance over those of them off
    k_row = 0: LeNet's published row k_row = 0 lies above its transpose, which the symmetry of the
    network's law does not allow.
    """
    no_pooling = {"downsampling": "none"}
    for name, label in experiment.labels.items():
        cells, network = experiment.of(name), described(experiment.plan.members[name])
        means = by_direction(cells).set_index(DIRECTION)["mean"]
        row = {"network": label} | said_of(cells)
        row["directions above 75 % (%)"] = f"{100 * (means > 0.75).mean():.0f}"
        if unpooled := UNPOOLED.get(papers_network(network, **no_pooling)):
            row["published mean (%)"] = f"{100 * unpooled:.1f}"
        if name in published:
            called, theirs = published[name]
            width = called.removeprefix("published")
            theirs = 100 * theirs.set_index(DIRECTION)["mean"].reindex(means.index)
            row["published mean (%)"] = f"{theirs.mean():.1f}{width}"
            off = theirs[theirs.index.get_level_values("k_row") != 0]
            distance = "root mean square distance from the published off k_row = 0 (directions)"
            row[distance] = rms_text(100 * means, off) + width
        yield row


def finding(run: Report) -> str:
    """The waves along which one network does worst and best."""
    experiment, name, label = run.shown("fourier")
    _, _, low, high = said_of(experiment.of(name)).values()
    fit = basis(experiment.summary_of(name))
    return f"{label}: from {low} to {high} over the waves {fit}."


def key(row: Mapping[str, Any]) -> str:
    """The frequency of a row as the page's script asks for it."""
    return f"{row['k_row']:.0f},{row['k_col']:.0f}"


def explorer(experiment: Evaluated, published: Published) -> Rows:
    """The maps of the page: by frequency accuracies and the steps until all seeds had learned, of
    each network, and the published accuracies of its network at full width."""
    settings = experiment.plan.settings
    for name, label in experiment.labels.items():
        learned = experiment.of(name).groupby(DIRECTION)["steps"]
        steps = learned.agg(lambda seeds: seeds.mean(skipna=False))
        own = canonical(experiment.summary_of(name).join(steps, on=DIRECTION))
        own = unfolded(completed(experiment, name, own)).dropna(subset="mean")
        member, sigma = experiment.plan.members[name], settings.sigma
        about = {"sides": member.input[1:], "eps": settings.eps}
        about["sigma"] = sigma[name] if isinstance(sigma, dict) else sigma
        about["science"] = experiment.science([name])
        cells = {key(row): value(row) for row in own.to_dict("records")}
        soon = {key(row): row["steps"] for row in own.dropna(subset="steps").to_dict("records")}
        yield {"name": label, "cells": cells, "steps": soon, **about}
        if name in published:
            theirs = unfolded(published[name][1]).to_dict("records")
            cells = {key(row): [row["mean"]] for row in theirs}
            wide = label_of(without_width(described(member)))
            yield {"name": f"{wide}, published", "cells": cells, **about}


def section(run: Report) -> Section:
    """The section of `fourier`."""
    experiment = run.experiments["fourier"]
    published = published_maps(experiment)
    caption = f"{experiment.sizes()} · {experiment.science()}{transposed_text(experiment)}"
    figure = maps(experiment, published, f"{caption}\n{not_fitted('hatched or “none fitted”')}")
    networks = [experiment.plan.members[name].specification["network"] for name in published]
    if NETWORKS["lenet"] in networks:
        caption += " · LeNet's published row k_row = 0 lies above its transpose, "
        caption += "though the network's law is symmetric"
    pictures = [Picture("fourier_maps", figure, "accuracy over frequencies", "maps")]
    rows, live = [*table(experiment, published)], [*explorer(experiment, published)]
    return Section(experiment, caption, rows, pictures, finding(run), live)
