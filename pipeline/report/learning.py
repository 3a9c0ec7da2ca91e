"""`learning` in the report: the response in the course of training (not in the papers)."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.cells.shapes import dimension
from pipeline.experiments.learning import IMAGES
from pipeline.measures.gradients import FIRST
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import accuracy, mean_text, training
from pipeline.report.page import Numbers, Picture, Section
from pipeline.report.run import Evaluated, Run, not_fitted, percents

# Labels of the parts of the response, by their columns in course.csv.
PARTS = {
    "v": "response along v (%)",
    "components": f"response in the images'\nfirst {FIRST} components (%)",
    "nads": f"rest of the response\nin the first {FIRST} NADs (%)",
}


def named(index: int) -> str:
    """What a network is trained on, as text."""
    return "images" if index == IMAGES else f"D(v), v: NAD {index}"


def metrics(run: Evaluated, name: str) -> dict[str, float]:
    """The part of the response along v after training on D(v), mean over seeds and indices."""
    course = artifacts.evaluated(run.folder, "course.csv")
    rows = course[(course["architecture"] == name) & (course["data"] == "linear")]
    return {"along_v": rows[rows["epoch"] == rows["epoch"].max()]["v"].mean()}


def courses(run: Evaluated, course: pd.DataFrame, caption: str) -> Figure:
    """The parts of the response after some epochs of training, a column for each network.

    A course is hollow where not every network was fitted at its end. course: course.csv.
    """
    columns = len(run.labels)
    size = max(6.8, 3.2 * columns + 0.8), 2.3 * len(PARTS) + 1.4
    figure, axes = style.new(len(PARTS), columns, *size, sharex="col", sharey="row")
    looks = dict(zip(course["index"].unique(), style.SPECTRA))
    for panels, (name, label) in zip(axes.T, run.labels.items()):
        rows = course[course["architecture"] == name]
        for panel, part in zip(panels, PARTS):
            chance = (1 if part == "v" else FIRST) / dimension(run.plan.members[name].input)
            panel.axhline(100 * chance, color="0.6")
            for index, measured in rows.dropna(subset=part).groupby("index", sort=False):
                cells = percents(measured, ["epoch"], part)
                colour, line = looks[index]
                look = {"color": colour, "linestyle": line, "marker": "o", "markersize": 4}
                style.curve(panel, cells.index.astype(str), cells, label=named(index), **look)
            panel.set(yscale="log", ylim=(0.004, 130))
            panel.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
        panels[0].set_title(label)
        place = {"loc": "upper left", "bbox_to_anchor": (0, -0.32), "frameon": False}
        panels[-1].legend(ncols=2, **place)
        panels[-1].set_xlabel("epochs of training")
    for panel, label in zip(axes[:, 0], PARTS.values()):
        panel.set_ylabel(label)
    title = "Where the response of a network lies while it learns"
    return style.finish(figure, title, caption, run.notice)


def numbers(run: Evaluated, course: pd.DataFrame) -> Numbers:
    """The table of the parts before and after training, and a sentence for each network."""
    rows, words = [], {name: [] for name in run.labels}
    for (name, data, index), cells in course.groupby(["architecture", "data", "index"], sort=False):
        ends = {}
        for part in PARTS:
            known = percents(cells.dropna(subset=part), ["epoch"], part)[["mean", "std"]]
            ends[part] = [mean_text(*known.iloc[n]) if len(known) else "–" for n in (0, -1)]
        at = run.summary_of(name).set_index(["data", "index"]).loc[(data, index)]
        texts = [text for both in ends.values() for text in both]
        rows.append([run.labels[name], named(index), *texts, accuracy(at), training(at)])
        if index == IMAGES:
            part, where, beside = "components", "in the images' first components", ""
        else:
            part, where, beside = "v", "along v", " of the rest"
        text = f"trained on {named(index)}, from {' to '.join(ends[part])} % {where} and from "
        text += f"{' to '.join(ends['nads'])} %{beside} in the first {FIRST} NADs"
        text += "" if at["fitted"] == at["seeds"] else " (not fitted by every seed)"
        words[name].append(text)
    header = ["network", "trained on"]
    for label in PARTS.values():
        header += [label.replace("\n", " ") + " before training", "after"]
    header += ["accuracy (%)", "training accuracy (%) (fitted seeds)"]
    sentences = [
        f"The response of {run.labels[name]} goes, {'; '.join(texts)} ({run.seeds()})."
        for name, texts in words.items()
    ]
    return [header, *rows], sentences


def section(whole: Run) -> Section:
    """The section of `learning`."""
    run = whole.experiments["learning"]
    course = artifacts.evaluated(run.folder, "course.csv")
    caption = f"{run.sizes()} · {run.science()} · images: {run.images['name']}, in grey, the two "
    caption += "halves of their classes told apart"
    lines = "response: tr C of the input gradient over test samples · grey: of random directions"
    drawn = courses(run, course, f"{caption}\n{lines}\n{not_fitted('hollow')}")
    sees = "Which part of the response lies along the direction that is to be learned, and which "
    sees += "part of the rest still lies in the directions that the untrained network prefers."
    table, findings = numbers(run, course)
    pictures = [Picture("learning_courses", drawn, "the response in the course of training", sees)]
    title = "What becomes of the preferences (not in the papers)"
    question = "The NADs belong to an untrained network. Training turns its response to what the "
    question += "data ask for: how soon, and what is left of the preferences?"
    return Section(title, question, caption, table, pictures, findings)
