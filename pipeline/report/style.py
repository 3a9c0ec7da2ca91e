"""What all figures share: type, colours that survive grey print, captions, exact bytes."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.colors
import matplotlib.patches
import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

LETTERS = 17  # letters of a caption in an inch

# Colour map of accuracies and probabilities: its lightness rises monotonically.
ACCURACY = "cividis"
PERCENTS = matplotlib.colors.Normalize(50, 100)  # of accuracies, from guessing on

# Okabe and Ito's colours, for the colour-blind; line styles and markers tell curves
# apart as well.
BLACK = "#000000"
BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"

COLOURS = (BLACK, BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#888888")
LINES = ("-", "--", ":", "-.")

# Colours and line styles of networks, in the order in which they are drawn: each pair
# once.
SPECTRA = tuple((COLOURS[n % 8], LINES[(n + n // 8) % 4]) for n in range(32))

# The looks of curves in one panel.
CURVES = tuple(
    {"color": colour, "linestyle": line, "marker": marker}
    for (colour, line), marker in zip(SPECTRA, "os^D", strict=False)
)

PUBLISHED = ORANGE  # the colour of published values beside ours
BEHIND = {
    "color": PUBLISHED,
    "zorder": 1.9,
}  # of a published curve, wide enough to be seen there

# The place of a legend above its panel, where no curve or bar runs through it.
ABOVE = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.01), "frameon": False}

# A person's own style of figures (matplotlibrc) does not change these.
matplotlib.rcdefaults()
matplotlib.rc("font", size=9)
matplotlib.rc("axes", titlesize=10)
matplotlib.rc("axes.spines", top=False, right=False)
matplotlib.rc(["xtick", "ytick"], labelsize=8)
matplotlib.rc("legend", fontsize=8)
matplotlib.rc("figure", titlesize=11)
matplotlib.rc("savefig", dpi=160)


def new(
    rows: int, columns: int, width: float, height: float, **keywords: Any
) -> tuple[Figure, np.ndarray]:
    """A figure of width×height inches and its panels (rows, columns)."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **keywords)


def bare(panels: Iterable[Axes]) -> None:
    """Take the frames and ticks from panels that hold pictures."""
    for panel in panels:
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)


def curve(
    panel: Axes, x: Sequence[float], cells: pd.DataFrame, **look: Any
) -> ErrorbarContainer:
    """Means over seeds with error bars, if there are any, and hollow markers where not
    `fitted`.

    cells: mean, std and fitted, as `over_seeds` returns them.
    """
    unfitted = np.asarray(cells["fitted"] == 0)
    if unfitted.all():  # the legend then shows a hollow marker as well
        look |= {"markerfacecolor": "white"}
    if cells["std"].notna().any():
        look["yerr"] = cells["std"]
    drawn = panel.errorbar(x, cells["mean"], **look)
    hollow(panel, drawn, unfitted)
    return drawn


def hollow(panel: Axes, curve: ErrorbarContainer, which: np.ndarray) -> None:
    """Draw hollow markers on the points `which` of a curve: not every network there was
    fitted."""
    line = curve[0]
    look = {"marker": line.get_marker(), "markersize": line.get_markersize()}
    look |= {"linestyle": "none", "color": line.get_color(), "markerfacecolor": "white"}
    if which.any():
        panel.plot(*line.get_xydata()[which].T, zorder=line.get_zorder() + 0.5, **look)


def over_indices(panel: Axes, cells: pd.DataFrame, **look: Any) -> ErrorbarContainer:
    """A `curve` of cells by NAD index over index + 1."""
    if (
        len(cells) <= 2
    ):  # between two points far apart a line would tell what was not measured
        look |= {"linewidth": 0}
    return curve(panel, cells.index + 1, cells, **look)


def heat_map(
    panel: Axes,
    mean: pd.DataFrame,
    std: pd.DataFrame,
    unfitted: pd.DataFrame,
    norm: matplotlib.colors.Normalize = PERCENTS,
    cmap: str = ACCURACY,
) -> QuadMesh:
    """A map of means with their numbers, hatched where `unfitted`.

    mean, std, unfitted: of one index and columns, whose names are the axes' labels.
    Missing means are grey. A map of more than 12 rows has no numbers, and names a few
    rows and columns.
    """
    text = mean.map("{:.0f}".format)
    text += std.map(lambda value: "" if np.isnan(value) else f"\n±{value:.1f}")
    few = len(mean) <= 12
    size = 8 if len(mean) <= 6 else 6
    look = {"annot": text if few else None, "fmt": "", "annot_kws": {"fontsize": size}}
    look |= {
        "vmin": norm.vmin,
        "vmax": norm.vmax,
    }  # else it seeks them, though all be missing
    look |= dict.fromkeys(("xticklabels", "yticklabels"), 1 if few else len(mean) // 4)
    seaborn.heatmap(
        mean, ax=panel, norm=norm, cmap=cmap, square=True, cbar=False, **look
    )
    panel.set_facecolor("0.88")
    mesh = panel.collections[0]
    for row, column in np.argwhere(unfitted):
        hatch(panel, (column, row), (1, 1))
    for number in panel.texts:  # which stand clear of the hatches
        column, row = (int(place) for place in number.get_position())
        if unfitted.iloc[row, column]:
            ground = mesh.to_rgba(mean.iloc[row, column])
            number.set_bbox({"facecolor": ground, "edgecolor": "none", "pad": 1})
    panel.tick_params(rotation=0, labelsize=7)
    return mesh


def hatch(panel: Axes, corner: tuple[float, float], sides: tuple[float, float]) -> None:
    """Hatch a rectangle, with light lines whose dark rims show on light colours."""
    for colour, width in (("0.2", 1.0), ("0.95", 0.5)):
        look = {
            "fill": False,
            "hatch": "//",
            "edgecolor": colour,
            "linewidth": 0,
            "zorder": 1.5,
        }
        rectangle = matplotlib.patches.Rectangle(corner, *sides, **look)
        rectangle.set_hatch_linewidth(width)
        panel.add_patch(rectangle)


def index_axis(panel: Axes) -> None:
    """Make the x axis, which holds index + 1, logarithmic, with ticks that name the
    index."""
    panel.set_xscale("log")
    panel.set_xlim(left=0.7)  # also where one point alone would stand in the middle
    panel.set_xticks([1, 11, 101, 1001], ["0", "10", "100", "1000"])
    panel.minorticks_off()


def finish(
    figure: Figure, title: str, caption: str, notice: str | None = None
) -> Figure:
    """The figure with its title and notice above it and its caption below it."""
    figure.suptitle(title + (f"\n{notice}" if notice else ""))
    # No line ends within σ = 1 (LeNet) or 99 %, behind ±, or before a dot.
    caption = re.sub("(?<=[=±]) | (?=[=(%·])", "\N{NO-BREAK SPACE}", caption)
    width = int(LETTERS * figure.get_figwidth())
    text = "\n".join(textwrap.fill(line, width) for line in caption.splitlines())
    figure.supxlabel(text, fontsize=7.5, color="#333333")
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write {name}.png into `folder`, with bytes that depend on the figure alone."""
    # Here the layout is solved, which maps of square cells take two passes for.
    for _ in range(2):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # The solver's last bits vary from run to run.
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(6)))
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
