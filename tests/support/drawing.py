"""How tests read what a figure shows."""

import numpy as np


def numbers(values) -> list:
    """Numbers as a list, to ten digits, so that lists can be compared."""
    return np.asarray(values, float).round(10).tolist()


def texts(panel) -> dict[tuple[float, float], str]:
    """What is written in a panel, by place."""
    return {
        tuple(numbers(text.get_position())): text.get_text() for text in panel.texts
    }


def points(line) -> list[list[float]]:
    """The points of a line, each as x and y."""
    return numbers(line.get_xydata())


def whiskers(curve) -> list[list[float]]:
    """Of points on a curve: x, lower end and upper end of the whisker on each; those
    without one are left out."""
    segments = [segment for lines in curve[2] for segment in lines.get_segments()]
    return [
        numbers([segment[0, 0], segment[0, 1], segment[1, 1]])
        for segment in segments
        if len(segment)
    ]


def curves(panel) -> dict[str, tuple]:
    """Curves through points with whiskers, by their label: the points, and the
    whiskers."""
    return {
        curve.get_label(): (points(curve[0]), whiskers(curve))
        for curve in panel.containers
        if hasattr(curve, "has_yerr") and curve[0] is not None
    }


def hollow(panel) -> list[list[list[float]]]:
    """The points of a panel's hollow markers."""
    marked = [line for line in panel.lines if line.get_marker() not in ("None", "")]
    return [points(line) for line in marked if line.get_markerfacecolor() == "white"]


def unfitted(panel) -> set[tuple[float, float]]:
    """The column and row of each cell of a map that has a dot."""
    marks = [line for line in panel.lines if line.get_gid() == "unfitted"]
    return {tuple(int(x) for x in point) for line in marks for point in points(line)}
