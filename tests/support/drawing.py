"""How tests read what a figure shows."""

import matplotlib.colors
import numpy as np


def numbers(values) -> list:
    """Numbers as a list, to ten digits, so that lists can be compared."""
    return np.asarray(values, float).round(10).tolist()


def ticks(axis) -> list[tuple[float, str]]:
    """Where an axis has its ticks, and what stands there."""
    return list(
        zip(
            numbers(axis.get_majorticklocs()), [label.get_text() for label in axis.get_ticklabels()]
        )
    )


def texts(panel) -> dict[tuple[float, float], str]:
    """What is written in a panel, by place."""
    return {tuple(numbers(text.get_position())): text.get_text() for text in panel.texts}


def points(line) -> list[list[float]]:
    """The points of a line, each as x and y."""
    return numbers(line.get_xydata())


def whiskers(container) -> list[list[float]]:
    """Of bars, or of points on a curve: x, lower end and upper end of the whisker on each; those
    without one are left out."""
    drawn = getattr(container, "errorbar", container)
    segments = [segment for lines in drawn[2] for segment in lines.get_segments()] if drawn else []
    return [
        numbers([segment[0, 0], segment[0, 1], segment[1, 1]])
        for segment in segments
        if len(segment)
    ]


def curves(panel) -> dict[str, tuple]:
    """Curves through points with whiskers, by their label: points, whiskers, colour, style of the
    line, marker."""
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


def hollow(panel) -> list[list[list[float]]]:
    """The points of a panel's hollow markers."""
    marked = [line for line in panel.lines if line.get_marker() not in ("None", "")]
    return [points(line) for line in marked if line.get_markerfacecolor() == "white"]


def crosses(panel) -> list:
    """The crosses of published values."""
    return [line for line in panel.lines if line.get_marker() == "x" and len(line.get_xdata())]


def colour(artist) -> str:
    """The colour that something is drawn in (filled with, where it has an area), as #rrggbb."""
    of = (
        artist.get_facecolor
        if hasattr(artist, "get_facecolor") and hasattr(artist, "get_hatch")
        else artist.get_color
    )
    if hasattr(artist, "get_segments"):
        of = artist.get_color
    return matplotlib.colors.to_hex(np.ravel(matplotlib.colors.to_rgba_array(of()))[:4])
