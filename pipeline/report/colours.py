"""`colours` in the report: accuracy on D(v) for one colour of v (not in the papers)."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.measures.fitted import fitted
from pipeline.report import fourier, style
from pipeline.report.fourier import DIRECTION
from pipeline.report.numbers import format_mean, format_number
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.run import Record, Report, explain_unfitted
from pipeline.training.fourier import AXES

NAMES = {axis: axis.replace("_", "–") for axis in AXES}
"""Names of the colours in figures, by axis."""


def draw_maps(record: Record, title: str, caption: str) -> Figure:
    """Draw accuracy over frequency, a row per network and a column per colour."""
    rows = []
    for name, label in record.labels.items():
        row = []
        for axis, colour in NAMES.items():
            results = record.select_results(name, axis=axis)
            cells = fourier.average_by_direction(results)
            whole = fourier.add_transposes(record, name, cells)
            row.append((f"{label}, {colour}", whole))
        rows.append(row)
    figure = fourier.draw_accuracy_maps(rows)
    return style.finish(figure, title, caption, record.notice)


def measure_gains(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Measure the gain in accuracy of each colour over grey at the same frequencies.

    Only frequencies and seeds that are fitted in every colour count.

    Args:
        rows: Results of one architecture.

    Returns:
        The gains in points, with columns mean and sem (its standard error) and a row
        per colour, none if nothing was fitted; and the number of fitted frequencies
        and seeds, of all.
    """
    keys = ["seed", *DIRECTION]
    cells = rows.assign(fitted=fitted(rows)).pivot(index=keys, columns="axis")
    accuracy = cells["accuracy"][cells["fitted"].all(axis=1)]
    colours = list(NAMES)[1:]
    gains = 100 * accuracy[colours].sub(accuracy["grey"], axis=0)
    statistics = gains.agg(["mean", "sem"]).T.dropna(how="all")
    return statistics, f"{len(accuracy)} of {len(cells)}"


def make_table(record: Record) -> Rows:
    """The table, a row for each network and colour."""
    for name, label in record.labels.items():
        gains, count = measure_gains(record.select_results(name))
        for axis, colour in NAMES.items():
            cells = record.select_results(name, axis=axis)
            row = {"network": label, "colour": colour, **fourier.describe_map(cells)}
            if axis in gains.index:
                mean, error = gains.loc[axis]
                row["points above grey, ± standard error"] = format_mean(mean, error, 2)
                row["frequencies and seeds fitted in every colour"] = count
            yield row


def make_finding(run: Report) -> Finding:
    """The gain of each colour over grey for one network."""
    record, name, label = run.choose_network("colours")
    gains, count = measure_gains(record.select_results(name))
    if gains.empty:
        text = f"{label} fits no frequency in every colour"
        return Finding(name, text, f"{count} fitted")
    points = []
    for axis, gain in gains["mean"].items():
        verdict = "worse" if gain < 0 else "better"
        points.append(
            f"{format_number(abs(gain), 1)} points {verdict} in {NAMES[axis]}"
        )
    text = f"{label} is {' and '.join(points)} than in grey"
    errors = [format_number(error, 1) for error in gains["sem"].dropna()]
    spread = f"standard error {', '.join(errors)}; " if errors else ""
    return Finding(name, text, f"{spread}{count} fitted")


def make_section(run: Report) -> Section:
    """The section of `colours`."""
    record = run.experiments["colours"]
    caption = (
        f"{record.describe_sizes()} · {record.describe_problem()}"
        f"{fourier.describe_transposes(record)}"
    )
    finding = make_finding(run)
    lines = f"{caption}\n{explain_unfitted('dot')}"
    picture = Picture("colours_maps", draw_maps(record, finding.title, lines))
    return Section(record, caption, list(make_table(record)), [picture], finding)
