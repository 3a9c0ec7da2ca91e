"""`learning` in the report: the response during training (not in the papers)."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.experiments.experiment import NO_NAD
from pipeline.measures.gradients import FIRST
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.numbers import (
    describe_basis,
    format_accuracy,
    format_mean,
    format_share,
    format_training,
)
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.run import Record, Report, average_percent, explain_unfitted
from pipeline.training.shapes import dimension

PARTS = {
    "v": "response along v (%)",
    "components": f"response in the images'\nfirst {FIRST} components (%)",
    "evolution": f"response in the first\n{FIRST} directions of C S C (%)",
    "nads": f"response in the first\n{FIRST} NADs (%; D(v): without v)",
}
"""Labels of the parts of the response, by their columns in course.csv."""


def describe_data(index: int) -> str:
    """Describe the data that a network is trained on, from the index in course.csv."""
    return "images" if index == NO_NAD else f"D(v), v: NAD {index}"


def list_parts(course: pd.DataFrame) -> dict[str, str]:
    """The labels of the measured parts: tables of old kept runs may lack one."""
    return {part: text for part, text in PARTS.items() if part in course}


def draw_courses(
    record: Record, course: pd.DataFrame, title: str, caption: str
) -> Figure:
    """Draw the response over training, a panel for each network.

    Networks that are trained on D(v) have the share along v, and networks that are
    trained on images the share in the images' first principal components. A curve is
    hollow where not every network is fitted in the end.

    Args:
        record: The run of `learning`.
        course: The table course.csv.
        title: The title.
        caption: The caption.
    """
    columns = len(record.labels)
    width = max(6.8, 3.6 * columns + 0.8)
    figure, axes = style.new_figure(1, columns, width, 4.7, sharex=True, sharey=True)
    looks = dict(zip(course["index"].unique(), style.SPECTRA, strict=False))
    for panel, (name, label) in zip(axes[0], record.labels.items(), strict=True):
        rows = course[course["architecture"] == name]
        chance = 100 / dimension(record.plan.members[name].input)
        panel.axhline(chance, color="0.6")
        for index, curve in rows.groupby("index", sort=False):
            part = "components" if index == NO_NAD else "v"
            cells = average_percent(curve.dropna(subset=part), ["epoch"], part)
            colour, line = looks[index]
            style.draw_curve(
                panel,
                cells.index.astype(str),
                cells,
                label=describe_curve(index),
                color=colour,
                linestyle=line,
                marker="o",
                markersize=4,
            )
        panel.set(yscale="log", ylim=(0.004, 130), title=label)
        panel.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
        panel.set_xlabel("epochs of training")
        panel.legend(loc="upper left", bbox_to_anchor=(0, -0.25), frameon=False)
    axes[0, 0].set_ylabel("share of the response (%)")
    return style.finish(figure, title, caption, record.notice)


def describe_curve(index: int) -> str:
    """Describe a curve of the figure, from the index in course.csv."""
    if index == NO_NAD:
        return f"in the images' first {FIRST} components, trained on images"
    return f"along v, trained on D(v), v: NAD {index}"


def before_and_after(
    rows: pd.DataFrame, part: str
) -> tuple[pd.Series, pd.Series] | None:
    """A part of the response before and after training.

    Args:
        rows: The networks of one cell in course.csv.
        part: Column of the part.

    Returns:
        Mean and std in per cent at the first and the last epoch; None if the part was
        not measured.
    """
    rows = rows.dropna(subset=part)
    if rows.empty:
        return None
    cells = average_percent(rows, ["epoch"], part)[["mean", "std"]]
    return cells.iloc[0], cells.iloc[-1]


def make_table(record: Record, course: pd.DataFrame) -> Rows:
    """The table of the parts before and after training."""
    groups = course.groupby(["architecture", "data", "index"], sort=False)
    for (name, data, index), rows in groups:
        row = {"network": record.labels[name], "trained on": describe_data(index)}
        for part, label in list_parts(course).items():
            label = " ".join(label.split())
            texts = ["–", "–"]
            cells = before_and_after(rows, part)
            if cells:
                texts = [format_mean(cell["mean"], cell["std"]) for cell in cells]
            row[f"{label} before training"] = texts[0]
            row[f"{label} after it"] = texts[1]
        cells = record.select_summary(name).set_index(["data", "index"])
        cell = cells.loc[(data, index)]
        row["accuracy (%)"] = format_accuracy(cell)
        row["training accuracy (%) (fitted seeds)"] = format_training(cell)
        yield row


def make_finding(run: Report) -> Finding:
    """State how far training along the lowest NAD turns one network towards it."""
    record, name, label = run.choose_network("learning")
    rows = record.select_results(name, data="linear")
    rows = rows[rows["index"] == rows["index"].min()]
    course = artifacts.read_results(record.folder, "course.csv")
    courses = course.merge(rows[["architecture", "index", "seed"]])
    before, after = before_and_after(courses, "v")
    text = (
        f"After training along NAD {rows['index'].iloc[0]}, {format_share(after)} of "
        f"{label}'s response is along it; before, {format_share(before)}"
    )
    return Finding(name, text, describe_basis(rows, after, before))


def make_section(run: Report) -> Section:
    """The section of `learning`."""
    record = run.experiments["learning"]
    course = artifacts.read_results(record.folder, "course.csv")
    caption = (
        f"{record.describe_sizes()} · {record.describe_problem()} · "
        f"images: {record.images['name']}, in grey, "
        "one half of the classes against the other"
    )
    lines = (
        f"{caption}\nresponse: tr C of the input gradient over test samples · "
        f"grey: along a random direction\n{explain_unfitted('hollow')}"
    )
    finding = make_finding(run)
    figure = draw_courses(record, course, finding.title, lines)
    picture = Picture("learning_courses", figure)
    rows = list(make_table(record, course))
    return Section(record, caption, rows, [picture], finding)
