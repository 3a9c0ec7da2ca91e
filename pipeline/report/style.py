"""What all figures share: fonts, colours that survive grey print, captions, bytes."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.colors
import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

LETTERS = 17  # letters of a caption per inch

ACCURACY = "cividis"
"""Colour map of accuracies and probabilities: its lightness rises monotonically."""

PERCENTS = matplotlib.colors.Normalize(50, 100)  # accuracies from chance on

# Okabe and Ito's colours, for the colour-blind; line styles and markers tell curves
# apart as well.
BLACK = "#000000"
BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"

COLOURS = (BLUE, BLACK, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#888888")
"""Colours of our curves. Orange is for published values only."""

LINES = ("-", "--", ":", "-.")

SPECTRA = tuple((COLOURS[n % 7], LINES[n % 4]) for n in range(28))
"""Colours and line styles of networks in their order; no pair occurs twice."""

CURVES = tuple(
    {"color": colour, "linestyle": line, "marker": marker}
    for (colour, line), marker in zip(SPECTRA, "os^D", strict=False)
)
"""Properties of the curves in one panel."""

BEHIND = {"color": ORANGE, "zorder": 1.9}
"""Properties of a published curve, which is drawn behind ours and wider."""


# Figures do not depend on the user's own matplotlibrc.
matplotlib.rcdefaults()
matplotlib.rc("font", size=9)
matplotlib.rc("axes", titlesize=10)
matplotlib.rc("axes.spines", top=False, right=False)
matplotlib.rc(["xtick", "ytick"], labelsize=8)
matplotlib.rc("legend", fontsize=8)
matplotlib.rc("figure", titlesize=11)
matplotlib.rc("savefig", dpi=160)


def new_figure(
    rows: int, columns: int, width: float, height: float, **keywords: Any
) -> tuple[Figure, np.ndarray]:
    """Make a figure with panels.

    Args:
        rows: Number of rows of panels.
        columns: Number of columns.
        width: Width in inches.
        height: Height in inches.
        keywords: Passed to `Figure.subplots`.

    Returns:
        The figure, and its panels (rows, columns).
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **keywords)


def hide_frames(panels: Iterable[Axes]) -> None:
    """Hide the frames and ticks of panels that show pictures."""
    for panel in panels:
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)


def draw_curve(
    panel: Axes, x: Sequence[float], cells: pd.DataFrame, **look: Any
) -> ErrorbarContainer:
    """Draw means over seeds with error bars, with hollow markers where not `fitted`.

    Args:
        panel: The panel.
        x: Positions of the cells.
        cells: The columns mean, std and fitted of `average_over_seeds`.
        look: Passed to `Axes.errorbar`.
    """
    unfitted = np.asarray(cells["fitted"] == 0)
    if unfitted.all():  # the legend then shows a hollow marker as well
        look["markerfacecolor"] = "white"
    if cells["std"].notna().any():
        look["yerr"] = cells["std"]
    curve = panel.errorbar(x, cells["mean"], **look)
    if unfitted.any():
        draw_hollow_markers(panel, curve, unfitted)
    return curve


def draw_hollow_markers(
    panel: Axes, curve: ErrorbarContainer, points: np.ndarray
) -> None:
    """Draw hollow markers on some points of a curve.

    Args:
        panel: The panel.
        curve: The curve.
        points: Whether a point's marker is hollow, (N,).
    """
    line = curve[0]
    x, y = line.get_xydata()[points].T
    panel.plot(
        x,
        y,
        marker=line.get_marker(),
        markersize=line.get_markersize(),
        linestyle="none",
        color=line.get_color(),
        markerfacecolor="white",
        zorder=line.get_zorder() + 0.5,
    )


def draw_over_indices(
    panel: Axes, cells: pd.DataFrame, **look: Any
) -> ErrorbarContainer:
    """Draw a curve of cells by NAD index on the axis of `set_index_axis`.

    Args:
        panel: The panel.
        cells: As for `draw_curve`, by NAD index.
        look: Passed to `Axes.errorbar`.
    """
    if len(cells) <= 2:  # a line between two distant points would show no measurement
        look["linewidth"] = 0
    return draw_curve(panel, cells.index + 1, cells, **look)


def draw_heat_map(
    panel: Axes,
    mean: pd.DataFrame,
    std: pd.DataFrame,
    unfitted: pd.DataFrame,
    norm: matplotlib.colors.Normalize = PERCENTS,
    cmap: str = ACCURACY,
    digits: int = 1,
) -> QuadMesh:
    """Draw a map of means, with a dot in the corner of each cell that is `unfitted`.

    The three tables have the same index and columns, whose names label the axes. A map
    of at most 6 rows has numbers. One of more than 12 rows names some rows only.

    Args:
        panel: The panel.
        mean: Means. Missing ones are grey.
        std: Standard deviations.
        unfitted: Whether a cell gets a dot.
        norm: Scale of the colours.
        cmap: Colour map.
        digits: Digits after the point of a mean.
    """
    few = len(mean) <= 6
    ticks = 1 if len(mean) <= 12 else len(mean) // 4
    text = mean.map(f"{{:.{digits}f}}".format)
    text += std.map(lambda value: "" if np.isnan(value) else f"\n±{value:.1f}")
    seaborn.heatmap(
        mean,
        ax=panel,
        norm=norm,
        vmin=norm.vmin,  # otherwise seaborn looks for them, even if all are missing
        vmax=norm.vmax,
        cmap=cmap,
        square=True,
        cbar=False,
        annot=text if few else None,
        fmt="",
        annot_kws={"fontsize": 8},
        xticklabels=ticks,
        yticklabels=ticks,
    )
    panel.set_facecolor("0.88")
    rows, columns = np.nonzero(unfitted.to_numpy())
    mark_unfitted(panel, columns + 0.85, rows + 0.15, size=30 / len(mean))
    panel.tick_params(rotation=0, labelsize=7)
    return panel.collections[0]


def mark_unfitted(
    panel: Axes, x: np.ndarray, y: np.ndarray, size: float, marker: str = "o"
) -> None:
    """Draw dots that mark cells in which not every network is fitted.

    Args:
        panel: The panel.
        x: Their positions, (N,).
        y: Their positions, (N,).
        size: Their diameter in points, unless 4 is less.
        marker: Their shape.
    """
    size = min(size, 4)
    # White with a dark rim, so that dots show on every colour.
    panel.plot(
        x,
        y,
        marker=marker,
        markersize=size,
        linestyle="none",
        color="white",
        markeredgecolor="0.2",
        markeredgewidth=size / 6,
        zorder=3,
        gid="unfitted",
    )


def set_index_axis(panel: Axes) -> None:
    """Make the x axis, the NAD index + 1, logarithmic with ticks at indices."""
    panel.set_xscale("log")
    panel.set_xlim(left=0.7)  # a single point would otherwise be in the middle
    panel.set_xticks([1, 11, 101, 1001], ["0", "10", "100", "1000"])
    panel.minorticks_off()


def wrap_evenly(text: str, width: int) -> str:
    """Wrap a text into as few lines as its width allows, of about equal length.

    Args:
        text: The text.
        width: Letters of the longest line at most.
    """
    count = len(textwrap.wrap(text, width))
    while width > 1 and len(textwrap.wrap(text, width - 1)) == count:
        width -= 1
    return textwrap.fill(text, width)


def finish(
    figure: Figure, title: str, caption: str, notice: str | None = None
) -> Figure:
    """Add title, notice and caption to a figure.

    Args:
        figure: The figure, which is changed.
        title: Title above the panels.
        caption: Text below the panels.
        notice: Second line of the title, if any.

    Returns:
        The same figure.
    """
    width = int(LETTERS * figure.get_figwidth())
    # Letters of the title are larger than those of the caption.
    lines = [wrap_evenly(line, 2 * width // 3) for line in title.splitlines()]
    title = "\n".join(lines)
    figure.suptitle(f"{title}\n{notice}" if notice else title)
    # No line ends within σ = 1 (LeNet) or 99 %, behind ±, or before a dot.
    caption = re.sub("(?<=[=±]) | (?=[=(%·])", "\N{NO-BREAK SPACE}", caption)
    lines = [textwrap.fill(line, width) for line in caption.splitlines()]
    figure.supxlabel("\n".join(lines), fontsize=7.5, color="#333333")
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Save a figure as PNG, with bytes that depend on the figure only.

    Args:
        figure: The figure.
        folder: Folder of the file.
        name: Name of the file without its ending.
    """
    # The layout is solved here. Maps of square cells need two passes.
    for _ in range(2):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # The last bits of the solver's result vary from run to run.
    for axes in figure.axes:
        position = axes.get_position(original=True).get_points()
        axes.set_position(Bbox(position.round(6)))
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
