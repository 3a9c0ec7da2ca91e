"""`colours` in the report: accuracy on D(v), v a wave of one colour (not in the
papers)."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.measures.fitted import fitted
from pipeline.report import fourier, style
from pipeline.report.comparison import mean_text, number
from pipeline.report.fourier import DIRECTION
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.run import Evaluated, Report, not_fitted
from pipeline.training.fourier import AXES

NAMES = {axis: axis.replace("_", "–") for axis in AXES}


def maps(experiment: Evaluated, caption: str) -> Figure:
    """Accuracy over the frequency of v, a row for each network and a column for each
    colour."""

    def drawn(name, axis):
        return fourier.by_direction(experiment.of(name, axis=axis))

    rows = [
        [
            (
                f"{label}, {colour}",
                fourier.completed(experiment, name, drawn(name, axis)),
            )
            for axis, colour in NAMES.items()
        ]
        for name, label in experiment.labels.items()
    ]
    title = "Accuracy on D(v) over the frequency of v, by its colour"
    return style.finish(fourier.accuracy_maps(rows), title, caption, experiment.notice)


def above_grey(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The points of accuracy that one architecture gains in each colour over the same
    waves in grey, with their standard error, `mean` and `sem` by axis; and how many
    waves and seeds these are of.

    They are those fitted in every colour; without any there are no points.
    """
    keys = ["seed", *DIRECTION]
    waves = rows.assign(fitted=fitted(rows)).pivot(index=keys, columns="axis")
    every = waves["accuracy"][waves["fitted"].all(axis=1)]
    gains = 100 * every[list(NAMES)[1:]].sub(every["grey"], axis=0)
    return gains.agg(["mean", "sem"]).T.dropna(
        how="all"
    ), f"{len(every)} of {len(waves)}"


def table(experiment: Evaluated) -> Rows:
    """The table, a row for each network and colour."""
    for name, label in experiment.labels.items():
        gains, count = above_grey(experiment.of(name))
        for axis, colour in NAMES.items():
            row = {"network": label, "colour": colour}
            row |= fourier.said_of(experiment.of(name, axis=axis))
            if axis in gains.index:
                row["points above grey, ± standard error"] = mean_text(
                    *gains.loc[axis], 2
                )
                row["waves and seeds fitted in every colour"] = count
            yield row


def finding(run: Report) -> Finding:
    """What the colours give one network beside grey."""
    experiment, name, label = run.shown("colours")
    gains, count = above_grey(experiment.of(name))
    points = [
        f"{number(abs(gain), 1)} points {'worse' if gain < 0 else 'better'} in {NAMES[axis]}"
        for axis, gain in gains["mean"].items()
    ]
    text = f"{label} is {' and '.join(points)} than in grey"
    text = text if points else f"No wave was fitted in every colour by {label}"
    errors = ", ".join(number(error, 1) for error in gains["sem"].dropna())
    spread = f"standard error {errors}; " if errors else ""
    return Finding(name, text, f"{spread}{count} fitted")


def section(run: Report) -> Section:
    """The section of `colours`."""
    experiment = run.experiments["colours"]
    caption = f"{experiment.sizes()} · {experiment.science()}{fourier.transposed_text(experiment)}"
    figure = maps(
        experiment, f"{caption}\n{not_fitted('hatched or “nowhere all fitted”')}"
    )
    picture = Picture("colours_maps", figure)
    return Section(experiment, caption, [*table(experiment)], [picture], finding(run))
