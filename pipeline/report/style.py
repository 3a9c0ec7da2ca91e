"""What all figures share: type, colours that survive grey print, captions, exact bytes."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.colors
import matplotlib.patches
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

LETTERS = 17  # letters of a caption in an inch
TICKS = (0, 10, 100, 1000)  # NAD indices that are named at an axis
POSITIONS = 6  # decimals to which the places of panels are rounded, in units of the figure

Place = tuple[float, float]  # along x and y

# Colour map of accuracies and probabilities: its lightness rises monotonically.
ACCURACY = "cividis"

# Okabe and Ito's colours, for the colour-blind; line styles and markers tell curves apart as well.
BLACK, BLUE, ORANGE, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"

COLOURS = (BLACK, BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#888888")
LINES = ("-", "--", ":", "-.")

# Colours and line styles of networks, in the order in which they are drawn: each pair once.
SPECTRA = tuple((COLOURS[n % 8], LINES[(n + n // 8) % 4]) for n in range(32))

# The looks of curves in one panel.
CURVES = tuple(
    {"color": colour, "linestyle": line, "marker": marker}
    for (colour, line), marker in zip(SPECTRA, "os^D")
)

PUBLISHED = ORANGE  # the colour of published values beside ours

# A person's own style of figures (matplotlibrc) does not change these.
matplotlib.rcdefaults()
matplotlib.rc("font", size=9)
matplotlib.rc("axes", titlesize=10)
matplotlib.rc("axes.spines", top=False, right=False)
matplotlib.rc(["xtick", "ytick"], labelsize=8)
matplotlib.rc("legend", fontsize=8)
matplotlib.rc("figure", titlesize=11)
matplotlib.rc("savefig", dpi=160)
matplotlib.rc("svg", hashsalt="nads")


def new(
    rows: int, columns: int, width: float, height: float, **keywords: Any
) -> tuple[Figure, np.ndarray]:
    """A figure of width×height inches and its panels (rows, columns)."""
    figure = Figure(figsize=(width, height), layout="constrained")
    # seaborn draws on it to measure tick labels, which lays the figure out for the first time.
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **keywords)


def bare(panels: Iterable[Axes]) -> None:
    """Take the frames and ticks from panels that hold pictures."""
    for panel in panels:
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)


def curve(panel: Axes, x: Sequence[float], cells: pd.DataFrame, **look: Any) -> ErrorbarContainer:
    """Means over seeds with error bars, if there are any, and hollow markers where not `fitted`.

    cells: mean, std and fitted, as `over_seeds` returns them, and std_x if x has error bars too.
    """
    unfitted = np.asarray(cells["fitted"] == 0)
    if unfitted.all():  # the legend then shows a hollow marker as well
        look |= {"markerfacecolor": "white"}
    for key, name in (("yerr", "std"), ("xerr", "std_x")):
        if name in cells and cells[name].notna().any():
            look[key] = cells[name]
    drawn = panel.errorbar(x, cells["mean"], **look)
    hollow(panel, drawn, unfitted)
    return drawn


def hollow(panel: Axes, curve: ErrorbarContainer, which: np.ndarray) -> None:
    """Draw hollow markers on the points `which` of a curve: not every network there was fitted."""
    line = curve[0]
    look = {"marker": line.get_marker(), "markersize": line.get_markersize()}
    look |= {"linestyle": "none", "color": line.get_color(), "markerfacecolor": "white"}
    if which.any():
        panel.plot(*line.get_xydata()[which].T, zorder=line.get_zorder() + 0.5, **look)


def over_indices(panel: Axes, cells: pd.DataFrame, **look: Any) -> ErrorbarContainer:
    """A `curve` of cells by NAD index over index + 1."""
    if len(cells) <= 2:  # between two points far apart a line would tell what was not measured
        look |= {"linewidth": 0}
    return curve(panel, cells.index + 1, cells, **look)


def published_curve(panel: Axes, values: pd.Series, **look: Any) -> Line2D:
    """Draw published values by index, wide enough to be seen where our curve lies on them."""
    (line,) = panel.plot(values.index + 1, values, color=PUBLISHED, zorder=1.9, **look)
    return line


def evenly(indices: Sequence[int], most: int) -> list[int]:
    """At most `most` of the indices in ascending order, spread evenly over them."""
    places = np.linspace(0, len(indices) - 1, most).round().astype(int)
    return [sorted(indices)[place] for place in np.unique(places)]


def lines(panel: Axes, corner: Place, sides: Place, hatch: str, colour: Any, width: float) -> None:
    """Hatch a rectangle with lines of a colour and a width."""
    look = {"fill": False, "hatch": hatch, "edgecolor": colour, "linewidth": 0, "zorder": 1.5}
    rectangle = matplotlib.patches.Rectangle(corner, *sides, **look)
    rectangle.set_hatch_linewidth(width)
    panel.add_patch(rectangle)


def hatch(
    panel: Axes,
    corner: Place,
    sides: Place,
    ground: Sequence[float],
    ink: str,
    number: Text | None,
) -> None:
    """Hatch a cell of the colour `ground`: not every network was fitted there.

    The lines are half as dark or light as `ink`, that of the cell's number, which stands clear of
    them.
    """
    between = np.mean([ground, matplotlib.colors.to_rgba(ink)], 0)
    lines(panel, corner, sides, "///", between, 0.6)
    if number:
        number.set_bbox({"facecolor": ground, "edgecolor": "none", "pad": 1})


def index_axis(panel: Axes) -> None:
    """Make the x axis, which holds index + 1, logarithmic, with ticks that name the index."""
    panel.set_xscale("log")
    panel.set_xticks([index + 1 for index in TICKS], [f"{index}" for index in TICKS])
    panel.minorticks_off()


def finish(figure: Figure, title: str, caption: str, notice: str | None = None) -> Figure:
    """The figure with its title and notice above it and its caption below it."""
    figure.suptitle(title + (f"\n{notice}" if notice else ""))
    width = int(LETTERS * figure.get_figwidth())
    text = "\n".join(textwrap.fill(line, width) for line in caption.splitlines())
    figure.supxlabel(text, fontsize=7.5, color="#333333")
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write {name}.png and {name}.svg into `folder`, with bytes that depend on the figure alone."""
    # Here the layout is solved once; savefig would solve it again for each file.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # The solver's last bits vary from run to run, and the names of clipping paths are digests of
    # positions.
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(POSITIONS)))
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
