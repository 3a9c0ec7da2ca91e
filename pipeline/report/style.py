"""What all figures share: type, colours that survive grey print and colour blindness, caption line, exact bytes."""

import re
import sys
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

DOT = " · "
"""What stands between the parts of a caption."""

LETTERS = 17
"""Letters of a caption to an inch."""

TICKS = (0, 10, 100, 1000)
"""NAD indices that are named at an axis."""

POSITIONS = 6
"""Decimals to which the places of panels are rounded, in units of the figure."""

ACCURACY = "cividis"
"""Colour map of accuracies and probabilities: its lightness rises monotonically."""

CURVES = {  # Okabe and Ito's colours; line style and marker tell the curves apart without them
    "all": {"color": "#000000", "linestyle": "-", "marker": "o"},
    "linear": {"color": "#0072B2", "linestyle": "--", "marker": "s"},
    "images": {"color": "#D55E00", "linestyle": ":", "marker": "^"},
}

SPECTRA = (
    ("#000000", "-"),
    ("#0072B2", "--"),
    ("#D55E00", ":"),
    ("#009E73", "-."),
    ("#CC79A7", (0, (5, 1))),
    ("#E69F00", "-"),
    ("#56B4E9", (0, (3, 1, 1, 1, 1, 1))),
    ("#888888", "-"),
)
"""Colours and line styles of networks, in the order in which they are drawn."""

PUBLISHED = "#D55E00"
"""The colour of published values beside ours."""

FORMULAS = re.compile(
    r"(\$(?:k_[cr]|v(?:_[12])?(?: \\oplus 0)?|0 \\oplus v_2|\\sqrt\{\\lambda\}|s/\\sqrt\{n\}|\\langle x, v \\rangle)\$)"
)
"""The formulas in figures; nothing else between two $ is one."""

RC = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "svg.hashsalt": "nads",
    "svg.fonttype": "path",
    "figure.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.family": "DejaVu Sans",
}

# The style that a person keeps for their own figures (matplotlibrc) does not change these.
matplotlib.rcdefaults()
matplotlib.rcParams.update(RC)


def blank(width: float, height: float) -> Figure:
    """An empty figure of width×height inches, which needs no display and, unlike those of pyplot, ends with its last use."""
    figure = Figure(figsize=(width, height), layout="constrained")
    # seaborn draws on it to measure tick labels, which lays the figure out for the first time.
    FigureCanvasAgg(figure)
    return figure


def new(rows: int, columns: int, width: float, height: float, **keywords: Any) -> tuple[Figure, np.ndarray]:
    """A figure of width×height inches and its panels (rows, columns)."""
    figure = blank(width, height)
    return figure, figure.subplots(rows, columns, squeeze=False, **keywords)


def by_index(rows: pd.DataFrame, column: str) -> tuple[pd.Series, pd.Series | None]:
    """Mean over seeds and standard deviation of a column per NAD index; None for the latter where there is one seed."""
    cells = rows.groupby("index")[column]
    spread = cells.std(ddof=1)
    return cells.mean(), None if spread.isna().all() else spread


def hollow(panel: Axes, curve: ErrorbarContainer, which: Sequence[bool]) -> None:
    """Empty the markers of some points of a curve, those at which not every network was fitted."""
    line, which = curve[0], np.asarray(which, bool)
    if not which.any():
        return
    panel.plot(
        line.get_xdata()[which],
        line.get_ydata()[which],
        linestyle="none",
        marker=line.get_marker(),
        markersize=line.get_markersize(),
        color=line.get_color(),
        markerfacecolor="white",
        zorder=line.get_zorder() + 0.5,
    )


def index_axis(panel: Axes) -> None:
    """Make the x axis, which holds index + 1, logarithmic, with ticks that name the index itself."""
    panel.set_xscale("log")
    panel.set_xticks([index + 1 for index in TICKS], [f"{index}" for index in TICKS])
    panel.minorticks_off()


def filled(line: str, width: int) -> str:
    """A line of a caption as lines of at most `width` letters, broken between its parts, which dots part, where that is enough."""
    first, *parts = line.split(DOT)
    lines = [first]
    for part in parts:
        if len(lines[-1]) + len(DOT) + len(part) <= width:
            lines[-1] += DOT + part
        else:
            lines[-1] += DOT.rstrip()
            lines.append(part)
    # The dot at a line's end may stand beyond the width: alone on the next line it would look like a mistake.
    end = DOT.rstrip()
    return "\n".join(
        textwrap.fill(part.removesuffix(end), width) + (end if part.endswith(end) else "") for part in lines
    )


def finish(figure: Figure, title: str, caption: str, notice: str | None = None) -> Figure:
    """The figure with its title above, the notice (if any) under that, and the caption's lines, as long as it is wide, below."""
    figure.suptitle(title + (f"\n{notice}" if notice else ""))
    width = int(LETTERS * figure.get_figwidth())
    figure.supxlabel("\n".join(filled(line, width) for line in caption.splitlines()), fontsize=7.5, color="#333333")
    return figure


def as_they_are(figure: Figure) -> None:
    """Have the texts of a figure drawn as they are, but for `FORMULAS`: names of the user's may hold a $."""
    figures = [figure, *figure.subfigs]
    legends = [legend for panel in figure.axes if (legend := panel.get_legend())]
    legends += [legend for one in figures for legend in one.legends]
    texts = [text for one in figures for text in one.texts]
    texts += [*(text for legend in legends for text in (*legend.get_texts(), legend.get_title()))]
    for panel in figure.axes:
        texts += [panel.title, panel.xaxis.label, panel.yaxis.label, *panel.texts]
    for text in texts:
        text.set_text(without_formulas(text.get_text()))


def without_formulas(text: str) -> str:
    """A text as matplotlib takes it, in which nothing is a formula but `FORMULAS`."""
    parts = FORMULAS.split(text)
    return "".join(part if place % 2 else re.sub(r"(?<!\\)\$", r"\\$", part) for place, part in enumerate(parts))


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write {name}.png and {name}.svg into `folder`, with bytes that depend on the figure alone.

    What matplotlib warns of, such as letters that its typeface has not, is said once on stderr.
    """
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        _save(figure, folder, name)
    for said in dict.fromkeys(" ".join(str(warning.message).split()) for warning in found):
        print(f"notice: figure {name}: {said}", file=sys.stderr)


def _save(figure: Figure, folder: Path, name: str) -> None:
    as_they_are(figure)
    # The layout is solved once: savefig would solve it again for each file.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # The solver's last bits vary from run to run, and the names of clipping paths are digests of positions.
    for part in figure.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(POSITIONS))
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(POSITIONS)))
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
