"""`learning` in the report: the response during training (not in the papers)."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.experiments.learning import IMAGES
from pipeline.measures.gradients import FIRST
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import (
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
    "evolution": f"response in the first\n{FIRST} directions of G S G (%)",
    "nads": f"rest of the response\nin the first {FIRST} NADs (%)",
}
"""Labels of the parts of the response, by their columns in course.csv."""


def describe_data(index: int) -> str:
    """Describe the data that a network is trained on, from the index in course.csv."""
    return "images" if index == IMAGES else f"D(v), v: NAD {index}"


def list_parts(course: pd.DataFrame) -> dict[str, str]:
    """The labels of the measured parts: tables of old kept runs may lack one."""
    return {part: text for part, text in PARTS.items() if part in course}


def draw_courses(record: Record, course: pd.DataFrame, caption: str) -> Figure:
    """Draw the parts of the response over training, a column for each network.

    A curve is hollow where not every network is fitted in the end.

    Args:
        record: The run of `learning`.
        course: The table course.csv.
        caption: The caption.
    """
    columns = len(record.labels)
    parts = list_parts(course)
    width = max(6.8, 3.2 * columns + 0.8)
    height = 2.3 * len(parts) + 1.4
    figure, axes = style.new_figure(
        len(parts), columns, width, height, sharex="col", sharey="row"
    )
    looks = dict(zip(course["index"].unique(), style.SPECTRA, strict=False))
    for panels, (name, label) in zip(axes.T, record.labels.items(), strict=True):
        rows = course[course["architecture"] == name]
        size = dimension(record.plan.members[name].input)
        for panel, part in zip(panels, parts, strict=True):
            directions = 1 if part == "v" else FIRST
            chance = directions / size
            panel.axhline(100 * chance, color="0.6")
            curves = rows.dropna(subset=part).groupby("index", sort=False)
            for index, curve in curves:
                cells = average_percent(curve, ["epoch"], part)
                colour, line = looks[index]
                style.draw_curve(
                    panel,
                    cells.index.astype(str),
                    cells,
                    label=describe_data(index),
                    color=colour,
                    linestyle=line,
                    marker="o",
                    markersize=4,
                )
            panel.set(yscale="log", ylim=(0.004, 130))
            panel.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
        panels[0].set_title(label)
        panels[-1].legend(
            ncols=2, loc="upper left", bbox_to_anchor=(0, -0.32), frameon=False
        )
        panels[-1].set_xlabel("epochs of training")
    for panel, label in zip(axes[:, 0], parts.values(), strict=True):
        panel.set_ylabel(label)
    title = "Where the response of a network lies while it learns"
    return style.finish(figure, title, caption, record.notice)


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
    """How much training along its lowest NAD turns one network's response to it."""
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
        "the two halves of their classes told apart"
    )
    lines = (
        f"{caption}\nresponse: tr C of the input gradient over test samples · "
        "grey: of random directions"
    )
    if "evolution" in course:
        lines += " · G: C of untrained networks; S: the images' covariance"
    lines += f"\n{explain_unfitted('hollow')}"
    picture = Picture("learning_courses", draw_courses(record, course, lines))
    rows = list(make_table(record, course))
    return Section(record, caption, rows, [picture], make_finding(run))
