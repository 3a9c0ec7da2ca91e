"""`fourier` in the report: accuracy on D(v) over the frequency of v (paper 1, figs 1
and 3), and maps over frequencies: values at k and −k, transposes."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from pipeline.networks import NETWORKS
from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, number, percent, rms_text, share
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, not_fitted, over_seeds
from pipeline.report.site.data import value
from pipeline.training.fourier import wrap_frequency

DIRECTION = ["k_row", "k_col"]  # the columns that tell directions apart


def canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """One architecture's rows, each with the later of k and −k, which are the same v."""
    sides = 2 * rows[DIRECTION].abs().max()  # of its inputs
    k = wrap_frequency(rows[DIRECTION], sides)
    other = wrap_frequency(-k, sides)
    same = other["k_row"] == k["k_row"]
    later = (other["k_row"] > k["k_row"]) | (same & (other["k_col"] > k["k_col"]))
    return rows.assign(**k.where(~later, other))


def by_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracies of one architecture over seeds, a row for each direction: see
    `over_seeds`."""
    return over_seeds(canonical(rows), DIRECTION).reset_index()


def published_maps(experiment: Evaluated) -> Published:
    """By architecture, its network's published map as `by_direction`."""
    table = published_table("fourier")
    maps = {
        network: by_direction(table[DIRECTION].assign(accuracy=table[network] / 100))
        for network in table.columns.drop(DIRECTION)
    }
    return experiment.beside(maps)


def completed(experiment: Evaluated, name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of an architecture's whole map, with the transposes that it is not
    trained along."""
    if experiment.plan.members[name].grid.transposes:
        return rows
    turned = canonical(
        rows.rename(columns=dict(zip(DIRECTION, reversed(DIRECTION), strict=True)))
    )
    return pd.concat([rows, turned], ignore_index=True).drop_duplicates(DIRECTION)


def transposed_text(experiment: Evaluated) -> str:
    """The part of a caption on the architectures that are trained along half of the
    directions."""
    members = experiment.plan.members
    labels = experiment.labels
    halves = [
        label for name, label in labels.items() if not members[name].grid.transposes
    ]
    whose = "" if len(halves) == len(labels) else f" ({', '.join(halves)})"
    text = f" · one of each v and its transpose, which are alike by symmetry, is trained{whose}"
    return text if halves else ""


def unfolded(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of both halves of a map, of one architecture's rows, one of each k and
    −k.

    There is a row for every k_row and every k_col of either sign; −side/2 equals
    side/2, and its values stand at both. Frequencies that `rows` lacks have the values
    nan.
    """
    axes = [np.union1d(rows[name], -rows[name]) for name in DIRECTION]
    places = pd.MultiIndex.from_product(axes, names=DIRECTION).to_frame(index=False)
    return (
        canonical(places).merge(canonical(rows), "left", on=DIRECTION).assign(**places)
    )


def plane(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The values of a column of `unfolded` rows, with k_row along the rows."""
    cells = (
        unfolded(rows)
        .pivot(index="k_row", columns="k_col", values=column)
        .astype(float)
    )
    cells = cells.rename(index=lambda k: number(k, 0), columns=lambda k: number(k, 0))
    return cells.rename_axis(
        index="row frequency $k_r$", columns="column frequency $k_c$"
    )


def pair(direction: pd.Series) -> str:
    """The frequency of a direction as text: '(0, −4)'."""
    return "({}, {})".format(*(number(direction[name], 0) for name in DIRECTION))


def maps(experiment: Evaluated, published: Published, caption: str) -> Figure:
    """Accuracy over the frequency of v, and the published maps beside it (paper 1, figs
    1, 3)."""
    rows = [[]]
    for name, label in experiment.labels.items():
        drawn = [
            (label, completed(experiment, name, by_direction(experiment.of(name))))
        ]
        if name in published:
            drawn.append((published[name].called, published[name].values))
        if (
            len(rows[-1]) + len(drawn) > 3
        ):  # a published map stands in the same row as ours
            rows.append([])
        rows[-1] += drawn
    title = "Accuracy on D(v) over the frequency of v"
    return style.finish(accuracy_maps(rows), title, caption, experiment.notice)


def accuracy_maps(rows: Sequence[Sequence[tuple[str, pd.DataFrame]]]) -> Figure:
    """Maps in rows, each with its title; see `accuracy_map`."""
    columns = max(map(len, rows))
    side = max(2.75, 3.6 / columns)
    size = side * columns + 1.1, (side + 0.35) * len(rows) + 0.8
    figure, axes = style.new(len(rows), columns, *size)
    for panels, row in zip(axes, rows, strict=True):
        for panel in panels[len(row) :]:
            panel.set_visible(False)
        for panel, (title, directions) in zip(panels, row, strict=False):
            image = accuracy_map(panel, directions, title)
        for panel in panels[1:]:
            panel.set_ylabel("")
    figure.colorbar(
        image, ax=axes, label="test accuracy (%)", shrink=0.7, panchor=False
    )
    return figure


def accuracy_map(panel: Axes, directions: pd.DataFrame, title: str) -> QuadMesh:
    """Draw one map; directions: as `by_direction`, of one architecture.

    Those along which not every network was fitted are hatched, unless the title says
    that none was.
    """
    mean, std, fitted = (
        plane(directions, column) for column in ("mean", "std", "fitted")
    )
    nowhere = (directions["fitted"] == 0).all()
    panel.set_title(
        textwrap.fill(title, 26) + ("\n(nowhere all fitted)" if nowhere else "")
    )
    return style.heat_map(panel, 100 * mean, 100 * std, (fitted == 0) & ~nowhere)


def said_of(cells: pd.DataFrame) -> dict[str, str]:
    """What tables say of one map: directions fitted, mean, and lowest and highest
    accuracy."""
    directions = by_direction(cells)
    means = cells.groupby("seed")["accuracy"].mean()
    said = {
        "directions fitted": f"{int(directions['fitted'].sum())} of {len(directions)}"
    }
    said["mean accuracy (%)"] = percent(means.mean(), means.std())
    for column, direction in zip(
        ("lowest", "highest"), extremes(directions), strict=True
    ):
        said[column] = f"{accuracy(direction)} % at {pair(direction)}"
    return said


def extremes(directions: pd.DataFrame) -> list[pd.Series]:
    """The direction along which a network does worst, and that along which it does
    best."""
    return [directions.loc[directions["mean"].agg(end)] for end in ("argmin", "argmax")]


def table(experiment: Evaluated, published: Published) -> Rows:
    """The table of the maps, a row for each architecture.

    The published mean is over the directions of our map, and the distance over those of
    them off k_row = 0: LeNet's published row k_row = 0 lies above its transpose, which
    the symmetry of the network's law does not allow.
    """
    for name, label in experiment.labels.items():
        cells = experiment.of(name)
        means = by_direction(cells).set_index(DIRECTION)["mean"]
        row = {"network": label} | said_of(cells)
        row["directions above 75 % (%)"] = f"{100 * (means > 0.75).mean():.0f}"
        if name in published:
            _, width, theirs = published[name]
            theirs = 100 * theirs.set_index(DIRECTION)["mean"].reindex(means.index)
            row["published mean (%)"] = f"{theirs.mean():.1f}{width}"
            off = theirs[theirs.index.get_level_values("k_row") != 0]
            distance = "root mean square distance from the published off k_row = 0 (directions)"
            row[distance] = rms_text(100 * means, off) + width
        yield row


def finding(run: Report) -> Finding:
    """The waves along which one network does worst and best."""
    experiment, name, label = run.shown("fourier")
    rows = experiment.of(name)
    ends = extremes(by_direction(rows))
    cells = [100 * end[["mean", "std"]] for end in ends]
    low, high = (
        f"{share(cell)} at {pair(end)}" for cell, end in zip(cells, ends, strict=True)
    )
    text = f"Over the waves {label} is right on {low} to {high}"
    return Finding(name, text, basis(rows, *cells))


def key(row: Mapping[str, Any]) -> str:
    """The frequency of a row as the page's script asks for it."""
    return f"{row['k_row']:.0f},{row['k_col']:.0f}"


def explorer(experiment: Evaluated, published: Published) -> Rows:
    """The maps of the page: by frequency accuracies and the steps until all seeds had
    learned, of each network, and the published accuracies of its network at full width.
    """
    settings = experiment.plan.settings
    for name, label in experiment.labels.items():
        learned = experiment.of(name).groupby(DIRECTION)["steps"]
        steps = learned.agg(lambda seeds: seeds.mean(skipna=False))
        own = canonical(experiment.summary_of(name).join(steps, on=DIRECTION))
        own = unfolded(completed(experiment, name, own)).dropna(subset="mean")
        member = experiment.plan.members[name]
        sigma = settings.sigma
        about = {"sides": member.input[1:], "eps": settings.eps}
        about["sigma"] = sigma[name] if isinstance(sigma, dict) else sigma
        about["science"] = experiment.science([name])
        cells = {key(row): value(row) for row in own.to_dict("records")}
        soon = {
            key(row): row["steps"]
            for row in own.dropna(subset="steps").to_dict("records")
        }
        yield {"name": label, "cells": cells, "steps": soon, **about}
        if name in published:
            theirs = unfolded(published[name].values).to_dict("records")
            cells = {key(row): [row["mean"]] for row in theirs}
            yield {"name": published[name].name, "cells": cells, **about}


def section(run: Report) -> Section:
    """The section of `fourier`."""
    experiment = run.experiments["fourier"]
    published = published_maps(experiment)
    caption = (
        f"{experiment.sizes()} · {experiment.science()}{transposed_text(experiment)}"
    )
    mark = not_fitted("hatched or “nowhere all fitted”")
    figure = maps(experiment, published, f"{caption}\n{mark}")
    networks = [
        experiment.plan.members[name].specification["network"] for name in published
    ]
    if NETWORKS["lenet"] in networks:
        caption += " · LeNet's published row k_row = 0 lies above its transpose, "
        caption += "though the network's law is symmetric"
    picture = Picture("fourier_maps", figure)
    rows, live = ([*made(experiment, published)] for made in (table, explorer))
    return Section(experiment, caption, rows, [picture], finding(run), live)
