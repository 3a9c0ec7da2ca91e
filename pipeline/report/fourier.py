"""`fourier` in the report: accuracy on D(v) over the frequency of v (paper 1, figs 1
and 3), and maps over frequencies, with their values at k and −k and at transposes."""

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
from pipeline.report.numbers import (
    describe_basis,
    format_accuracy,
    format_number,
    format_percent,
    format_rms,
    format_share,
)
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import read_published
from pipeline.report.run import (
    Published,
    Record,
    Report,
    average_over_seeds,
    explain_unfitted,
)
from pipeline.report.site.data import accuracy_cell
from pipeline.training.fourier import wrap_frequency

DIRECTION = ["k_row", "k_col"]
"""The columns that tell directions apart."""

PUBLISHED_EPS = 1.0
"""The amplitude ε of D(v) for the published maps."""

PUBLISHED_SIGMA = 3.0
"""The noise σ of D(v) for the published maps."""


def keep_later_frequency(rows: pd.DataFrame) -> pd.DataFrame:
    """Replace the frequency k in each row by the later of k and −k: v is the same.

    Args:
        rows: Rows of one architecture with the columns of `DIRECTION`.
    """
    sides = 2 * rows[DIRECTION].abs().max()  # of the inputs, in pixels
    k = wrap_frequency(rows[DIRECTION], sides)
    minus_k = wrap_frequency(-k, sides)
    same_row = minus_k["k_row"] == k["k_row"]
    later = minus_k["k_row"] > k["k_row"]
    later |= same_row & (minus_k["k_col"] > k["k_col"])
    return rows.assign(**k.where(~later, minus_k))


def average_by_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """Average the accuracies of one architecture over seeds, in a row per direction.

    See `average_over_seeds` for the columns.
    """
    return average_over_seeds(keep_later_frequency(rows), DIRECTION).reset_index()


def find_published_maps(record: Record) -> Published:
    """The published map of each architecture's network, averaged by direction.

    With another ε or σ there is none: the accuracies are not comparable.
    """
    table = read_published("fourier")
    maps = {}
    for network in table.columns.drop(DIRECTION):
        rows = table[DIRECTION].assign(accuracy=table[network] / 100)
        maps[network] = average_by_direction(rows)
    published = record.find_published(maps)
    return {
        architecture: values
        for architecture, values in published.items()
        if record.sigma(architecture) == PUBLISHED_SIGMA
        and record.plan.settings.eps == PUBLISHED_EPS
    }


def add_transposes(
    record: Record, architecture: str, rows: pd.DataFrame
) -> pd.DataFrame:
    """Add the transposed directions that an architecture is not trained along.

    Args:
        record: A run over frequencies.
        architecture: The architecture.
        rows: A row for each of its directions, with the later of k and −k.
    """
    if record.plan.members[architecture].grid.transposes:
        return rows
    transposed = rows.rename(columns={"k_row": "k_col", "k_col": "k_row"})
    both = pd.concat([rows, keep_later_frequency(transposed)], ignore_index=True)
    return both.drop_duplicates(DIRECTION)


def describe_transposes(record: Record) -> str:
    """Describe which architectures are trained along half of the directions, if any."""
    halves = []
    for name, label in record.labels.items():
        if not record.plan.members[name].grid.transposes:
            halves.append(label)
    if not halves:
        return ""
    text = " · of each v and its transpose, which are equivalent, only one is trained"
    if len(halves) < len(record.labels):
        text += f" ({', '.join(halves)})"
    return text


def unfold(rows: pd.DataFrame) -> pd.DataFrame:
    """Extend a map by the frequencies −k, which have the values of k.

    Args:
        rows: Rows of one architecture, with one of each k and −k.

    Returns:
        A row for every k_row and k_col of either sign. The frequency side/2 is −side/2,
        so both have its values. Values of frequencies that are not in `rows` are nan.
    """
    axes = [np.union1d(rows[name], -rows[name]) for name in DIRECTION]
    index = pd.MultiIndex.from_product(axes, names=DIRECTION)
    frequencies = index.to_frame(index=False)
    later = keep_later_frequency(frequencies)
    values = later.merge(keep_later_frequency(rows), "left", on=DIRECTION)
    return values.assign(**frequencies)


def spread_over_plane(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Arrange a column of a map by frequency.

    Args:
        rows: As for `unfold`.
        column: The column.

    Returns:
        Its values, with k_row along the rows and k_col along the columns.
    """
    cells = unfold(rows).pivot(index="k_row", columns="k_col", values=column)
    cells = cells.astype(float)
    cells.index = [format_number(k, 0) for k in cells.index]
    cells.columns = [format_number(k, 0) for k in cells.columns]
    return cells.rename_axis(
        index="row frequency $k_r$", columns="column frequency $k_c$"
    )


def format_frequency(direction: pd.Series) -> str:
    """Format the frequency of a direction, such as '(0, −4)'."""
    row = format_number(direction["k_row"], 0)
    column = format_number(direction["k_col"], 0)
    return f"({row}, {column})"


def draw_maps(record: Record, published: Published, title: str, caption: str) -> Figure:
    """Draw our maps of accuracy and the published ones (paper 1, figs 1 and 3).

    Args:
        record: The run of `fourier`.
        published: The maps of `find_published_maps`.
        title: The title.
        caption: The caption.
    """
    rows: list[list[tuple[str, pd.DataFrame]]] = [[]]
    for name, label in record.labels.items():
        cells = average_by_direction(record.select_results(name))
        maps = [(label, add_transposes(record, name, cells))]
        if name in published:
            maps.append((published[name].label, published[name].values))
        # A published map is in the same row as ours.
        if len(rows[-1]) + len(maps) > 3:
            rows.append([])
        rows[-1].extend(maps)
    return style.finish(draw_accuracy_maps(rows), title, caption, record.notice)


def draw_accuracy_maps(rows: Sequence[Sequence[tuple[str, pd.DataFrame]]]) -> Figure:
    """Draw rows of maps, given by their titles and values: see `draw_accuracy_map`."""
    columns = max(len(row) for row in rows)
    side = max(2.75, 3.6 / columns)
    width = side * columns + 1.1
    height = (side + 0.35) * len(rows) + 0.8
    figure, axes = style.new_figure(len(rows), columns, width, height)
    for panels, row in zip(axes, rows, strict=True):
        for panel, (title, directions) in zip(panels, row, strict=False):
            mesh = draw_accuracy_map(panel, directions, title)
        for panel in panels[len(row) :]:
            panel.set_visible(False)
        for panel in panels[1:]:
            panel.set_ylabel("")
    figure.colorbar(mesh, ax=axes, label="test accuracy (%)", shrink=0.7, panchor=False)
    return figure


def draw_accuracy_map(panel: Axes, directions: pd.DataFrame, title: str) -> QuadMesh:
    """Draw one map of accuracy, with dots where not every network was fitted.

    Args:
        panel: The panel.
        directions: The rows of `average_by_direction`.
        title: The panel's title.
    """
    mean = 100 * spread_over_plane(directions, "mean")
    std = 100 * spread_over_plane(directions, "std")
    unfitted = spread_over_plane(directions, "fitted") == 0
    panel.set_title(textwrap.fill(title, 26))
    return style.draw_heat_map(panel, mean, std, unfitted)


def describe_map(rows: pd.DataFrame) -> dict[str, str]:
    """Describe the results of one map: fitted directions, mean, and extremes."""
    directions = average_by_direction(rows)
    means = rows.groupby("seed")["accuracy"].mean()
    lowest, highest = find_extremes(directions)
    fitted = int(directions["fitted"].sum())
    return {
        "directions fitted": f"{fitted} of {len(directions)}",
        "mean accuracy (%)": format_percent(means.mean(), means.std()),
        "lowest": f"{format_accuracy(lowest)} % at {format_frequency(lowest)}",
        "highest": f"{format_accuracy(highest)} % at {format_frequency(highest)}",
    }


def find_extremes(directions: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Find the directions of the lowest and of the highest mean accuracy."""
    mean = directions["mean"]
    return directions.loc[mean.idxmin()], directions.loc[mean.idxmax()]


def make_table(record: Record, published: Published) -> Rows:
    """The table of the maps, a row for each architecture.

    The published mean is over the directions of our map. The distance leaves out
    k_row = 0, since LeNet's published accuracies there exceed those of their
    transposes, which the symmetry of the network's weights does not allow.

    Args:
        record: The run of `fourier`.
        published: The maps of `find_published_maps`.
    """
    for name, label in record.labels.items():
        results = record.select_results(name)
        means = average_by_direction(results).set_index(DIRECTION)["mean"]
        row = {"network": label, **describe_map(results)}
        row["directions above 75 % (%)"] = f"{100 * (means > 0.75).mean():.0f}"
        if name in published:
            _, width, values = published[name]
            theirs = values.set_index(DIRECTION)["mean"].reindex(means.index)
            theirs *= 100
            row["published mean (%)"] = f"{theirs.mean():.1f}{width}"
            comparable = theirs[theirs.index.get_level_values("k_row") != 0]
            column = (
                "root mean square distance from the published "
                "off k_row = 0 (directions)"
            )
            row[column] = format_rms(100 * means, comparable) + width
        yield row


def make_finding(run: Report) -> Finding:
    """The lowest and the highest accuracy of one network, and their frequencies."""
    record, name, label = run.choose_network("fourier")
    rows = record.select_results(name)
    extremes = find_extremes(average_by_direction(rows))
    cells = [100 * direction[["mean", "std"]] for direction in extremes]
    lowest, highest = (format_share(cell) for cell in cells)
    first, last = (format_frequency(direction) for direction in extremes)
    text = (
        f"Over the frequencies, {label} reaches {lowest} at {first} "
        f"to {highest} at {last}"
    )
    if lowest == highest:
        text = f"{label} reaches {lowest} along every Fourier direction"
    return Finding(name, text, describe_basis(rows, *cells))


def page_key(row: Mapping[str, Any]) -> str:
    """The frequency of a row as the script of the page looks it up."""
    return f"{row['k_row']:.0f},{row['k_col']:.0f}"


def make_explorer(record: Record, published: Published) -> Rows:
    """The maps of the page: our networks, and the published ones at full width.

    Each has accuracies by frequency, and ours the steps until all seeds had learned.

    Args:
        record: The run of `fourier`.
        published: The maps of `find_published_maps`.
    """
    for name, label in record.labels.items():
        about = {
            "sides": record.plan.members[name].input[1:],
            "eps": record.plan.settings.eps,
            "sigma": record.sigma(name),
            "science": record.describe_problem([name]),
        }
        seeds = record.select_results(name).groupby(DIRECTION)["steps"]
        # If one seed did not learn a direction, its mean is missing.
        mean_steps = seeds.agg(lambda steps: steps.mean(skipna=False))
        own = record.select_summary(name).join(mean_steps, on=DIRECTION)
        own = unfold(add_transposes(record, name, keep_later_frequency(own)))
        cells = {}
        steps = {}
        for row in own.dropna(subset="mean").to_dict("records"):
            cells[page_key(row)] = accuracy_cell(row)
            if not np.isnan(row["steps"]):
                steps[page_key(row)] = row["steps"]
        yield {"name": label, "cells": cells, "steps": steps, **about}
        if name in published:
            rows = unfold(published[name].values).to_dict("records")
            cells = {page_key(row): [row["mean"]] for row in rows}
            yield {"name": published[name].name, "cells": cells, **about}


def make_section(run: Report) -> Section:
    """The section of `fourier`."""
    record = run.experiments["fourier"]
    published = find_published_maps(record)
    caption = (
        f"{record.describe_sizes()} · {record.describe_problem()}"
        f"{describe_transposes(record)}"
    )
    finding = make_finding(run)
    lines = f"{caption}\n{explain_unfitted('dot')}"
    figure = draw_maps(record, published, finding.title, lines)
    members = record.plan.members
    networks = [members[name].specification["network"] for name in published]
    if NETWORKS["lenet"] in networks:
        caption += (
            " · LeNet's published row k_row = 0 exceeds its transpose, "
            "although the distribution of its weights is symmetric"
        )
    return Section(
        record,
        caption,
        list(make_table(record, published)),
        [Picture("fourier_maps", figure)],
        finding,
        list(make_explorer(record, published)),
    )
