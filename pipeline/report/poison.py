"""`poison` in the report: what class carriers along NADs do to training (paper 1, §5, fig. 7)."""

import textwrap

import numpy as np
from matplotlib.figure import Figure

from pipeline.experiments.poison import CLEAN
from pipeline.report import style
from pipeline.report.comparison import accuracy, basis, training
from pipeline.report.page import Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import Evaluated, Published, Report, not_fitted, percents


def metrics(experiment: Evaluated, name: str) -> dict[str, float]:
    """The mean accuracy on clean images of networks with carriers from the first index on."""
    means = experiment.of(name, test_set="clean").groupby("index")["accuracy"].mean()
    return {"poisoned_early": means.drop(CLEAN).iloc[0]}


def curve(experiment: Evaluated, published: Published, caption: str) -> Figure:
    """Accuracy on clean test images over the NAD index of the training images' carriers (fig. 7).

    The accuracy of networks trained without carriers is a horizontal line with a marker at its
    right end.
    """
    columns = len(experiment.labels)
    figure, axes = style.new(1, columns, max(6.8, 2.9 * columns + 2.2), 3.9, sharey=True)
    look = {"color": style.BLACK, "marker": "o", "markersize": 4}
    dashed = {"linestyle": (0, (6, 2)), "linewidth": 1.1, "markevery": [1], "clip_on": False}
    curves, beside = [], {}
    for panel, (name, label) in zip(axes[0], experiment.labels.items()):
        chance = 100 / len(experiment.images["classes"])
        guessing = panel.axhline(chance, color="0.6", linewidth=0.9)
        cells = percents(experiment.of(name, test_set="clean"), ["index"])
        clean, cells = cells.loc[CLEAN], cells.drop(index=CLEAN)
        if not np.isnan(clean["std"]):
            ends = (clean["mean"] - clean["std"], clean["mean"] + clean["std"])
            panel.axhspan(*ends, color=style.BLACK, alpha=0.15, linewidth=0)
        face = {"markerfacecolor": style.BLACK if clean["fitted"] else "white"}
        across = {"transform": panel.get_yaxis_transform(), **look, **dashed, **face}
        (level,) = panel.plot([0, 1], [clean["mean"]] * 2, **across)
        sizes = {"linewidth": 1.3, "elinewidth": 0.9, "capsize": 2}
        curves.append(style.over_indices(panel, cells, **sizes, **look))
        if name in published:
            values = published[name][1]
            (line,) = panel.plot(values.index + 1, values, linewidth=1.8, **style.BEHIND)
            beside["published: ResNet-18, full width,\n50,000 images, with carriers"] = line
        style.index_axis(panel)
        panel.set(title=textwrap.fill(label, 28), ylim=(0, 102))
        panel.set_xlabel("first NAD index of the carriers")
    axes[0, 0].set_ylabel("accuracy on clean test data (%)")
    # A panel of one or two points has no line to show.
    longest = max(curves, key=lambda drawn: len(drawn[0].get_xdata()))
    drawn = {"trained without carriers": level, "trained with carriers": longest}
    drawn |= beside | {"guessing": guessing}
    legend = {"frameon": False, "handlelength": 3.5}  # long enough for dashes beside the marker
    figure.legend(drawn.values(), drawn.keys(), loc="outside right center", **legend)
    title = "Trained on images with class carriers along NADs"
    return style.finish(figure, title, caption, experiment.notice)


def table(experiment: Evaluated, published: Published) -> Rows:
    """The table of accuracies, a row for each architecture and index of the carriers."""
    tests = {"clean": "clean test data (%)", "poisoned": "with carriers (%)"}
    for (name, index), cells in experiment.summary.groupby(["architecture", "index"], sort=False):
        at = cells.set_index("test_set")
        carriers = "none" if index == CLEAN else index
        row = {"network": experiment.labels[name], "carriers from NAD": carriers}
        row |= {text: accuracy(at.loc[test]) for test, text in tests.items() if test in at.index}
        row["training accuracy (%) (fitted seeds)"] = training(cells.iloc[0])
        if name in published and index in published[name][1]:
            row["published clean (ResNet-18, full width)"] = f"{published[name][1][index]:.1f}"
        yield row


def finding(run: Report) -> str:
    """What carriers along the first NADs cost one network on clean images."""
    experiment, name, label = run.shown("poison")
    cells = experiment.summary_of(name).query("test_set == 'clean'").set_index("index").sort_index()
    clean, first = cells.loc[CLEAN], cells.drop(index=CLEAN).iloc[0]
    start = f"{label}: {accuracy(first)} % on clean images after carriers from NAD "
    start += f"{first.name} on, {accuracy(clean)} % without"
    return f"{start} {basis(cells.loc[[CLEAN, first.name]])}."


def section(run: Report) -> Section:
    """The section of `poison`."""
    experiment = run.experiments["poison"]
    published = experiment.beside(published_table("poison").set_index("index"))
    shown = f"coefficient ± {experiment.plan.settings.size:g} · images: {experiment.images['name']}"
    caption = f"{experiment.sizes()} · {shown}"
    figure = curve(experiment, published, f"{caption}\n{not_fitted('hollow')}")
    pictures = [Picture("poison_curve", figure, "accuracy on clean images", "curve")]
    return Section(experiment, caption, [*table(experiment, published)], pictures, finding(run))
