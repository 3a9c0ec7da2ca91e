"""`colours` in the report: accuracy on D(v), v a wave of one colour (not in the papers)."""

from matplotlib.figure import Figure

from pipeline.cells.fourier import AXES
from pipeline.measures.fitted import fitted
from pipeline.report import fourier, style
from pipeline.report.comparison import mean_text
from pipeline.report.fourier import DIRECTION, accuracy_map
from pipeline.report.page import Numbers, Picture, Section
from pipeline.report.run import Evaluated, Run, not_fitted

NAMES = {axis: axis.replace("_", "–") for axis in AXES}


def maps(run: Evaluated, caption: str) -> Figure:
    """Accuracy over the frequency of v, a row for each network and a column for each colour."""
    rows, columns = len(run.labels), len(NAMES)
    figure, axes = style.new(rows, columns, 3 * columns + 1.1, 3.2 * rows + 0.8)
    for panels, (name, label) in zip(axes, run.labels.items()):
        for panel, (axis, colour) in zip(panels, NAMES.items()):
            own = fourier.completed(run, name, fourier.by_direction(run.of(name, axis=axis)))
            image = accuracy_map(panel, own, f"{label}, {colour}")
    figure.colorbar(image, ax=axes, label="test accuracy (%)", shrink=0.7, panchor=False)
    title = "Accuracy on D(v) over the frequency of v, by its colour"
    return style.finish(figure, title, caption, run.notice)


def numbers(run: Evaluated) -> Numbers:
    """The table, a row for each network and colour, and the sentence on grey and the colours."""
    rows, compared = [], []
    for name, label in run.labels.items():
        for axis, colour in NAMES.items():
            rows.append([label, colour, *fourier.said_of(run.of(name, axis=axis))])
        own = run.of(name)
        waves = own.assign(fitted=fitted(own)).pivot(index=["seed", *DIRECTION], columns="axis")
        of_axis = waves["accuracy"][waves["fitted"].all(axis=1)]
        if of_axis.empty:
            compared.append(f"{label}: no wave was fitted in every colour")
            continue
        texts = []
        for axis, colour in list(NAMES.items())[1:]:
            points = 100 * (of_axis[axis] - of_axis["grey"])
            texts.append(f"{colour} {mean_text(points.mean(), points.sem(), 2)} points")
        count = f"{len(of_axis)} of {len(waves)} waves and seeds"
        compared.append(f"{label} {' and '.join(texts)}, over the {count} fitted in every colour")
    start = "Accuracy less that along the same wave in grey (± standard error of the mean)"
    header = ["network", "colour", "directions fitted", "mean accuracy (%)", "lowest", "highest"]
    return [header, *rows], [f"{start}: {'; '.join(compared)}."]


def section(whole: Run) -> Section:
    """The section of `colours`."""
    run = whole.experiments["colours"]
    caption = f"{run.sizes()} · {run.science()}{fourier.transposed_text(run)}"
    figure = maps(run, f"{caption}\n{not_fitted('hatched or “none fitted”')}")
    sees = "Test accuracy over the frequency of v, by the colour of the wave. Maps of one row that "
    sees += "look alike belong to a network that does not care for colour."
    pictures = [Picture("colours_maps", figure, "accuracy over frequencies, by colour", sees)]
    table, findings = numbers(run)
    title = "Does the colour matter?"
    question = "Inputs get three channels, and the same wave is written into them in grey, from "
    question += "red to green, or from blue to yellow. Is one colour learned better?"
    return Section(title, question, caption, table, pictures, findings)
