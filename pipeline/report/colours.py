"""`colours` in the report: accuracy on D(v), v a wave of one colour (not in the papers)."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.cells.fourier import AXES
from pipeline.measures.fitted import fitted
from pipeline.report import fourier, style
from pipeline.report.comparison import mean_text
from pipeline.report.fourier import DIRECTION, accuracy_map
from pipeline.report.page import Picture, Rows, Section
from pipeline.report.run import Evaluated, Report, not_fitted

NAMES = {axis: axis.replace("_", "–") for axis in AXES}


def maps(experiment: Evaluated, caption: str) -> Figure:
    """Accuracy over the frequency of v, a row for each network and a column for each colour."""
    rows, columns = len(experiment.labels), len(NAMES)
    figure, axes = style.new(rows, columns, 3 * columns + 1.1, 3.2 * rows + 0.8)
    for panels, (name, label) in zip(axes, experiment.labels.items()):
        for panel, (axis, colour) in zip(panels, NAMES.items()):
            own = fourier.by_direction(experiment.of(name, axis=axis))
            own = fourier.completed(experiment, name, own)
            image = accuracy_map(panel, own, f"{label}, {colour}")
    figure.colorbar(image, ax=axes, label="test accuracy (%)", shrink=0.7, panchor=False)
    title = "Accuracy on D(v) over the frequency of v, by its colour"
    return style.finish(figure, title, caption, experiment.notice)


def above_grey(rows: pd.DataFrame) -> tuple[dict[str, str], str]:
    """The points of accuracy that one architecture gains in each colour over the same waves in
    grey, with their standard error, by axis; and how many waves and seeds these are of.

    They are those fitted in every colour; without any there are no points.
    """
    keys = ["seed", *DIRECTION]
    waves = rows.assign(fitted=fitted(rows)).pivot(index=keys, columns="axis")
    every = waves["accuracy"][waves["fitted"].all(axis=1)]
    gains = 100 * every[list(NAMES)[1:]].sub(every["grey"], axis=0)
    texts = {axis: mean_text(gain.mean(), gain.sem(), 2) for axis, gain in gains.items()}
    return texts if len(every) else {}, f"{len(every)} of {len(waves)}"


def table(experiment: Evaluated) -> Rows:
    """The table, a row for each network and colour."""
    for name, label in experiment.labels.items():
        gains, count = above_grey(experiment.of(name))
        for axis, colour in NAMES.items():
            row = {"network": label, "colour": colour}
            row |= fourier.said_of(experiment.of(name, axis=axis))
            if axis in gains:
                row["points above grey, ± standard error"] = gains[axis]
                row["waves and seeds fitted in every colour"] = count
            yield row


def finding(run: Report) -> str:
    """What the colours give one network beside grey."""
    experiment, name, label = run.shown("colours")
    gains, count = above_grey(experiment.of(name))
    if not gains:
        return f"{label}: no wave was fitted in every colour."
    each = ", ".join(f"{NAMES[axis]} {gain}" for axis, gain in gains.items())
    start = f"{label}: {each} points above grey"
    return f"{start} (standard error, {count} waves and seeds fitted)."


def section(run: Report) -> Section:
    """The section of `colours`."""
    experiment = run.experiments["colours"]
    caption = f"{experiment.sizes()} · {experiment.science()}{fourier.transposed_text(experiment)}"
    figure = maps(experiment, f"{caption}\n{not_fitted('hatched or “none fitted”')}")
    picture = Picture("colours_maps", figure, "accuracy over frequencies, by colour", "maps")
    return Section(experiment, caption, [*table(experiment)], [picture], finding(run))
