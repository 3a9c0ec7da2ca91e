"""What is asked of every figure, and how tests read what a figure shows."""

from pathlib import Path

import matplotlib.colors
import numpy as np
from matplotlib.transforms import Bbox

from pipeline.report import style

ENDING = ("caption", "notice")
"""The last arguments of every figure's function."""


def drawn_twice(make, folder: Path) -> None:
    """Assert that the figure of `make()` has its caption and notice, and the same bytes each time it is made, also where the
    layout comes out different in its last bits.
    """
    contents = []
    for attempt in (0.0, 1e-13):
        where = folder / str(attempt)
        where.mkdir()
        figure = make()
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for part in (*figure.subfigs, *figure.axes):
            box = part.bbox_relative if part in figure.subfigs else part.get_position(original=True)
            moved = box.get_points() + attempt
            box.set_points(moved) if part in figure.subfigs else part.set_position(Bbox(moved))
        style.save(figure, where, "figure")
        contents.append([(where / f"figure.{kind}").read_bytes() for kind in ("png", "svg")])
    assert contents[0] == contents[1] and all(len(data) > 5000 for data in contents[0])


def title_of(figure) -> str:
    """The title of a figure that was made with `ENDING`, which is asserted to be there."""
    title, _, notice = figure._suptitle.get_text().rpartition("\n")
    assert (figure._supxlabel.get_text(), notice) == ENDING
    return title


def numbers(values) -> list:
    """Numbers as a list, to ten digits, so that lists can be compared."""
    return np.asarray(values, float).round(10).tolist()


def ticks(axis) -> list[tuple[float, str]]:
    """Where an axis has its ticks, and what stands there."""
    return list(zip(numbers(axis.get_majorticklocs()), [label.get_text() for label in axis.get_ticklabels()]))


def texts(panel) -> dict[tuple[float, float], str]:
    """What is written in a panel, by place."""
    return {tuple(numbers(text.get_position())): text.get_text() for text in panel.texts}


def points(line) -> list[list[float]]:
    """The points of a line, each as x and y."""
    return numbers(line.get_xydata())


def whiskers(container) -> list[list[float]]:
    """Of bars, or of points on a curve: x, lower end and upper end of the whisker on each; those without one are left out."""
    drawn = getattr(container, "errorbar", container)
    segments = [segment for lines in drawn[2] for segment in lines.get_segments()] if drawn else []
    return [numbers([segment[0, 0], segment[0, 1], segment[1, 1]]) for segment in segments if len(segment)]


def curves(panel) -> dict[str, tuple]:
    """Curves through points with whiskers, by their label: points, whiskers, colour, style of the line, marker."""
    return {
        curve.get_label(): (
            points(curve[0]),
            whiskers(curve),
            colour(curve[0]),
            curve[0].get_linestyle(),
            curve[0].get_marker(),
        )
        for curve in panel.containers
        if hasattr(curve, "has_yerr") and curve[0] is not None
    }


def crosses(panel) -> list:
    """The crosses of published values."""
    return [line for line in panel.lines if line.get_marker() == "x" and len(line.get_xdata())]


def entries(legend) -> list[tuple[str, str]]:
    """A legend's entries in their order: text, and colour of what stands before it."""
    return [(text.get_text(), colour(handle)) for text, handle in zip(legend.get_texts(), legend.legend_handles)]


def colour(artist) -> str:
    """The colour that something is drawn in (filled with, where it has an area), as #rrggbb."""
    of = artist.get_facecolor if hasattr(artist, "get_facecolor") and hasattr(artist, "get_hatch") else artist.get_color
    if hasattr(artist, "get_segments"):
        of = artist.get_color
    return matplotlib.colors.to_hex(np.ravel(matplotlib.colors.to_rgba_array(of()))[:4])
