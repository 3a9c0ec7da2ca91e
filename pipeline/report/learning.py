"""`learning` in the report: the response in the course of training (not in the papers)."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.cells.shapes import dimension
from pipeline.experiments.learning import FIRST, IMAGES
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import mean_text, training
from pipeline.report.curves import percents
from pipeline.report.page import Picture, Section, Table
from pipeline.report.run import Evaluated, Run, not_fitted

PLACE = ["architecture", "data", "index"]  # the columns that tell the cells of one seed apart

# Labels of the parts of the response, by their columns in course.csv.
PARTS = {
    "v": "response along v (%)",
    "components": f"response in the images'\nfirst {FIRST} components (%)",
    "nads": f"rest of the response\nin the first {FIRST} NADs (%)",
}


def parts(rows: pd.DataFrame, part: str) -> pd.DataFrame:
    """`percents` of a part of the response by epoch, where it is measured."""
    return percents(rows.dropna(subset=part), ["epoch"], part)


def named(index: int) -> str:
    """What a network is trained on, as text."""
    return "images" if index == IMAGES else f"D(v), v: NAD {index}"


def courses(run: Evaluated, course: pd.DataFrame, caption: str) -> Figure:
    """The parts of the response after some epochs of training, a column for each network.

    Points are means over seeds, bars standard deviations; a course is hollow where not every
    network was fitted at its end. course: course.csv.
    """
    columns = len(run.labels)
    size = max(6.8, 3.2 * columns + 0.8), 2.3 * len(PARTS) + 1.4
    figure, axes = style.new(len(PARTS), columns, *size, sharex="col", sharey="row")
    looks = dict(zip(course["index"].unique(), style.SPECTRA))
    for panels, (name, label) in zip(axes.T, run.labels.items()):
        rows, drawn = course[course["architecture"] == name], {}
        epochs = sorted(rows["epoch"].unique())
        for panel, part in zip(panels, PARTS):
            chance = (1 if part == "v" else FIRST) / dimension(run.plan.members[name].input)
            panel.axhline(100 * chance, color="0.6")
            for index, of_index in rows.groupby("index", sort=False):
                cells = parts(of_index, part)
                if cells.empty:
                    continue
                colour, line = looks[index]
                look = {"color": colour, "linestyle": line, "marker": "o", "markersize": 4}
                x = [epochs.index(epoch) for epoch in cells.index]
                errors = cells["fitted"], cells["std"]
                drawn[named(index)] = style.curve(panel, x, cells["mean"], *errors, **look)
            panel.set(yscale="log", ylim=(0.004, 130), yticks=[0.01, 0.1, 1, 10, 100])
            panel.set_yticklabels(["0.01", "0.1", "1", "10", "100"])
            panel.set_xticks(range(len(epochs)), map(str, epochs))
        panels[0].set_title(label)
        place = {"loc": "upper left", "bbox_to_anchor": (0, -0.32), "frameon": False}
        panels[-1].legend(drawn.values(), drawn.keys(), ncols=2, **place)
        panels[-1].set_xlabel("epochs of training")
    for panel, label in zip(axes[:, 0], PARTS.values()):
        panel.set_ylabel(label)
    title = "Where the response of a network lies while it learns"
    return style.finish(figure, title, caption, run.notice)


def table(run: Evaluated, course: pd.DataFrame) -> Table:
    """The table, a row for each network and data: the parts before and after training."""
    rows = []
    for (name, _, index), cells in course.groupby(PLACE, sort=False):
        row = [run.labels[name], named(index)]
        for part in PARTS:
            known = parts(cells, part)
            row += [_percent(known.iloc[place]) if len(known) else "–" for place in (0, -1)]
        summary = run.summary_of(name)
        at = summary[summary["index"] == index].iloc[0]
        rows.append([*row, mean_text(100 * at["mean"], 100 * at["std"]), training(at)])
    header = ["network", "trained on"]
    for label in PARTS.values():
        text = label.replace("\n", " ")
        header += [f"{text} before training", "after"]
    header += ["accuracy (%)", "training accuracy (%) (fitted seeds)"]
    return Table(header, rows)


def _percent(cell: pd.Series) -> str:
    return mean_text(cell["mean"], cell["std"])


def findings(run: Evaluated, course: pd.DataFrame) -> list[str]:
    """A sentence for each network: what becomes of its response along v and of its first NADs."""
    sentences = []
    for name, label in run.labels.items():
        rows, words = course[course["architecture"] == name], []
        for index, cells in rows.groupby("index", sort=False):
            part = "components" if index == IMAGES else "v"
            known, rest = parts(cells, part), parts(cells, "nads")
            where = "in the images' first components" if index == IMAGES else "along v"
            beside = "" if index == IMAGES else " of the rest"
            words.append(
                f"trained on {named(index)}, from {_percent(known.iloc[0])} to "
                f"{_percent(known.iloc[-1])} % {where} and from {_percent(rest.iloc[0])} to "
                f"{_percent(rest.iloc[-1])} %{beside} in the first {FIRST} NADs"
            )
        sentences.append(f"The response of {label} turns, {'; '.join(words)} ({run.seeds()}).")
    return sentences


def section(whole: Run) -> Section:
    """The section of `learning`."""
    run = whole.experiments["learning"]
    course, settings = artifacts.evaluated(run.folder, "course"), run.plan.settings
    sigmas = ", ".join(f"{settings.sigma[name]:g} ({text})" for name, text in run.labels.items())
    caption = f"{run.sizes()} · ε = {settings.eps:g}, σ = {sigmas} · images: {run.images['name']}, "
    caption += f"in grey, the two halves of their classes told apart{run.deviations()}"
    marked = not_fitted(run.results, PLACE, "hollow", "courses")
    lines = "response: tr C of the input gradient over test samples · grey: of random directions"
    drawn = courses(run, course, f"{caption}\n{lines}\n{marked}")
    sees = (
        "Which part of the response lies along the direction that is to be learned, and which part "
        "of the rest still lies in the directions that the untrained network prefers."
    )
    return Section(
        "learning: the response in the course of training (not in the papers)",
        caption,
        table(run, course),
        [Picture("learning_courses", drawn, "the response in the course of training", sees)],
        findings(run, course),
        "What becomes of the preferences",
        "The NADs belong to an untrained network. Training turns its response to what the data ask "
        "for: how soon, and what is left of the preferences?",
    )
