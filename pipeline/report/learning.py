"""`learning` in the report: the response in the course of training (not in the papers)."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.experiments.learning import IMAGES
from pipeline.measures.gradients import FIRST
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, mean_text, share, training
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.run import Evaluated, Report, not_fitted, percents
from pipeline.training.shapes import dimension

# Labels of the parts of the response, by their columns in course.csv.
PARTS = {
    "v": "response along v (%)",
    "components": f"response in the images'\nfirst {FIRST} components (%)",
    "evolution": f"response in the first\n{FIRST} directions of G S G (%)",
    "nads": f"rest of the response\nin the first {FIRST} NADs (%)",
}


def named(index: int) -> str:
    """What a network is trained on, as text."""
    return "images" if index == IMAGES else f"D(v), v: NAD {index}"


def measured_in(course: pd.DataFrame) -> dict[str, str]:
    """The labels of the parts that were measured: runs that are kept may be older than
    one."""
    return {part: text for part, text in PARTS.items() if part in course}


def courses(experiment: Evaluated, course: pd.DataFrame, caption: str) -> Figure:
    """The parts of the response after some epochs of training, a column for each
    network.

    A course is hollow where not every network was fitted at its end. course:
    course.csv.
    """
    columns = len(experiment.labels)
    parts = measured_in(course)
    size = max(6.8, 3.2 * columns + 0.8), 2.3 * len(parts) + 1.4
    figure, axes = style.new(len(parts), columns, *size, sharex="col", sharey="row")
    looks = dict(zip(course["index"].unique(), style.SPECTRA, strict=False))
    for panels, (name, label) in zip(axes.T, experiment.labels.items(), strict=True):
        rows = course[course["architecture"] == name]
        for panel, part in zip(panels, parts, strict=False):
            chance = (1 if part == "v" else FIRST) / dimension(
                experiment.plan.members[name].input
            )
            panel.axhline(100 * chance, color="0.6")
            for index, measured in rows.dropna(subset=part).groupby(
                "index", sort=False
            ):
                cells = percents(measured, ["epoch"], part)
                colour, line = looks[index]
                look = {
                    "color": colour,
                    "linestyle": line,
                    "marker": "o",
                    "markersize": 4,
                }
                style.curve(
                    panel, cells.index.astype(str), cells, label=named(index), **look
                )
            panel.set(yscale="log", ylim=(0.004, 130))
            panel.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
        panels[0].set_title(label)
        place = {"loc": "upper left", "bbox_to_anchor": (0, -0.32), "frameon": False}
        panels[-1].legend(ncols=2, **place)
        panels[-1].set_xlabel("epochs of training")
    for panel, label in zip(axes[:, 0], parts.values(), strict=True):
        panel.set_ylabel(label)
    title = "Where the response of a network lies while it learns"
    return style.finish(figure, title, caption, experiment.notice)


def before_and_after(rows: pd.DataFrame, part: str) -> list[pd.Series]:
    """Mean and std of a part of the response in per cent at the first epoch and at the
    last, if it was measured; rows: of one cell's networks in course.csv."""
    cells = percents(rows.dropna(subset=part), ["epoch"], part)[["mean", "std"]]
    return [cells.iloc[end] for end in (0, -1)] if len(cells) else []


def table(experiment: Evaluated, course: pd.DataFrame) -> Rows:
    """The table of the parts before and after training."""
    for (name, data, index), cells in course.groupby(
        ["architecture", "data", "index"], sort=False
    ):
        row = {"network": experiment.labels[name], "trained on": named(index)}
        for part, text in measured_in(course).items():
            columns = (
                " ".join([*text.split(), when])
                for when in ("before training", "after it")
            )
            texts = [mean_text(*cell) for cell in before_and_after(cells, part)]
            row |= zip(columns, texts or ["–", "–"], strict=True)
        at = experiment.summary_of(name).set_index(["data", "index"]).loc[(data, index)]
        row["accuracy (%)"] = accuracy(at)
        yield row | {"training accuracy (%) (fitted seeds)": training(at)}


def finding(run: Report) -> Finding:
    """How much of one network's response turns to the first NAD that it is trained
    along."""
    experiment, name, label = run.shown("learning")
    rows = experiment.of(name, data="linear")
    rows = rows[rows["index"] == rows["index"].min()]
    course = artifacts.read_results(experiment.folder, "course.csv")
    before, after = before_and_after(
        course.merge(rows[["architecture", "index", "seed"]]), "v"
    )
    text = (
        f"Trained along NAD {rows['index'].iloc[0]}, {label} has {share(after)} of its "
    )
    text += f"response along it, {share(before)} before"
    return Finding(name, text, basis(rows, after, before))


def section(run: Report) -> Section:
    """The section of `learning`."""
    experiment = run.experiments["learning"]
    course = artifacts.read_results(experiment.folder, "course.csv")
    caption = f"{experiment.sizes()} · {experiment.science()} · images: "
    caption += f"{experiment.images['name']}, in grey, the two halves of their classes told apart"
    lines = "response: tr C of the input gradient over test samples · grey: of random directions"
    if "evolution" in course:
        lines += " · G: C of untrained networks; S: the images' covariance"
    figure = courses(experiment, course, f"{caption}\n{lines}\n{not_fitted('hollow')}")
    picture = Picture("learning_courses", figure)
    return Section(
        experiment, caption, [*table(experiment, course)], [picture], finding(run)
    )
