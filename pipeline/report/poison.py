"""`poison` in the report: what class carriers along NADs do to training, and what they look like (paper 1, §5, fig. 7)."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline import experiments
from pipeline.experiments.poison import CLEAN
from pipeline.grid.data import Data
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.comparison import indices_text, rms
from pipeline.report.evaluated import Evaluated, all_fitted, evaluated, not_fitted, training
from pipeline.report.page import Picture, Section, Table, percent
from pipeline.report.published import table as published_table

LOOKS = {
    "images": {"color": "#000000", "linestyle": "-", "marker": "o"},
    "mixture": {"color": "#0072B2", "linestyle": "-.", "marker": "s"},
}
NAMES = {"images": "images", "mixture": "Gaussian mixture"}
DASHES = {"images": (0, (6, 2)), "mixture": (0, (3, 2))}

CLASSES, CELLS = 3, 3
"""How many images are shown with and without carriers (the first of as many classes), and along how many of the grid's NADs."""


def curve(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    published: Mapping[str, pd.Series],
    chance: float,
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy on clean test data against the NAD index of the carriers in the training data (paper 1, fig. 7).

    results: architecture, seed, data ('images' or 'mixture'), index (−1: trained on clean data, drawn as a level), test_set
    (of which 'clean' is drawn), accuracy, n, train_accuracy; labels: architecture → its name; published: architecture → the
    published accuracies of its network at full width, in per cent by index, where there are any; chance: accuracy of
    guessing, in per cent. Points are means over seeds, bars and bands one standard deviation; where not every network was
    fitted points, and the marker at a level's right end, are hollow.
    """
    results = results[results["test_set"] == "clean"]
    names = list(results["architecture"].unique())
    figure, axes = style.new(1, len(names), max(6.8, 2.9 * len(names) + 2.2), 3.9, sharey=True)
    drawn = {}
    for panel, name in zip(axes[0], names):
        rows = results[results["architecture"] == name]
        drawn["guessing"] = panel.axhline(chance, color="0.6", linewidth=0.9)
        for data, look in LOOKS.items():
            cells = rows[rows["data"] == data]
            mean, spread = style.by_index(cells, "accuracy")
            done = all_fitted(cells, ["index"])
            poisoned = mean.index != CLEAN
            if CLEAN in mean.index:
                level = 100 * mean[CLEAN]
                drawn[f"{NAMES[data]}, nothing poisoned"] = panel.axhline(
                    level, color=look["color"], linestyle=DASHES[data], linewidth=1.1
                )
                if spread is not None and not np.isnan(spread[CLEAN]):
                    half = 100 * spread[CLEAN]
                    panel.axhspan(level - half, level + half, color=look["color"], alpha=0.15, linewidth=0)
                # A level has its marker at the right edge, since a hollow line cannot be drawn.
                panel.plot(
                    1,
                    level,
                    look["marker"],
                    color=look["color"],
                    markerfacecolor=look["color"] if done[CLEAN] else "white",
                    markersize=4,
                    transform=panel.get_yaxis_transform(),
                    clip_on=False,
                )
            if poisoned.any():
                points = panel.errorbar(
                    mean.index[poisoned] + 1,
                    100 * mean[poisoned],
                    None if spread is None else 100 * spread[poisoned],
                    markersize=4,
                    capsize=2,
                    elinewidth=0.9,
                    # Between two points far apart a line would tell what was not measured.
                    linewidth=1.3 if poisoned.sum() > 2 else 0,
                    **look,
                )
                style.hollow(panel, points, ~done[mean.index[poisoned]])
                drawn[f"{NAMES[data]}, poisoned"] = points
        if name in published:
            values = published[name]
            (drawn["published: ResNet-18, full width,\n50,000 images, poisoned"],) = panel.plot(
                values.index + 1,
                values,
                color=style.PUBLISHED,
                # Wide enough to be seen where ours lies on it.
                linewidth=1.8,
                zorder=1.9,
            )
        style.index_axis(panel)
        panel.set(title=textwrap.fill(labels[name], 28), ylim=(0, 102), xlabel="first NAD index of the carriers")
    axes[0, 0].set_ylabel("accuracy on clean test data (%)")
    drawn["guessing"] = drawn.pop("guessing")
    figure.legend(drawn.values(), drawn.keys(), loc="outside right center", frameon=False)
    return style.finish(figure, "Trained on data with class carriers along NADs", caption, notice)


def examples(
    pictures: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]],
    classes: Sequence[str],
    indices: Sequence[int],
    caption: str,
    notice: str | None,
) -> Figure:
    """Clean images, the same with carriers along NADs of several indices, and the differences (paper 1, §5).

    pictures: list of (clean (3, 32, 32), list over `indices` of poisoned (3, 32, 32)), in [0, 1] when clean; classes: name of
    the class of each. Poisoned images
    are clipped to [0, 1] where they are drawn; differences are those before clipping, magnified about grey until they
    fill the range, with root mean square and largest absolute value over pixels and channels in grey levels (of 255).
    """
    columns = 1 + 2 * len(indices)
    figure, axes = style.new(len(pictures), columns, max(6.4, 1.3 * columns + 0.3), 1.85 * len(pictures) + 0.9)
    for row, name, (clean, poisoned) in zip(axes, classes, pictures):
        row[0].imshow(np.clip(clean, 0, 1).transpose(1, 2, 0))
        row[0].set_title("clean", fontsize=8)
        row[0].set_ylabel(textwrap.fill(name, 20), fontsize=8)
        for index, image, panel, beside in zip(indices, poisoned, row[1::2], row[2::2]):
            difference = np.asarray(image, np.float64) - clean
            largest = np.abs(difference).max()
            factor = 0.5 / largest if largest else 0.0
            panel.imshow(np.clip(image, 0, 1).transpose(1, 2, 0))
            panel.set_title(f"index {index}", fontsize=8)
            beside.imshow(np.clip(0.5 + factor * difference, 0, 1).transpose(1, 2, 0))
            beside.set_title(
                f"difference ×{factor:.{0 if factor >= 10 else 1}f}" if largest else "no difference", fontsize=8
            )
            beside.set_xlabel(
                f"rms {255 * np.sqrt((difference**2).mean()):.3g}, max {255 * largest:.3g}\ngrey levels", fontsize=7
            )
    for panel in axes.flat:
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
    return style.finish(figure, "Images with class carriers along NADs", caption, notice)


def table(summary: pd.DataFrame, labels: Mapping[str, str], published: Mapping[str, pd.Series]) -> Table:
    """One row per architecture, data and index of the carriers: accuracy on clean data, with carriers, and in training.

    published: as in `curve`.
    """
    rows = []
    for (name, data, index), cell in summary.groupby(["architecture", "data", "index"], sort=False):
        at = cell.set_index("test_set")
        values = [percent(at.loc[s, "mean"], at.loc[s, "std"]) if s in at.index else "–" for s in ("clean", "poisoned")]
        known = published[name] if name in published and data == "images" else {}
        beside = f"{known[index]:.1f}" if index in known else "–"
        carriers = "none" if index == CLEAN else index
        rows.append([labels[name], data, carriers, *values, training(cell.iloc[0]), beside])
    header = ["network", "data", "carriers from NAD", "clean test data (%)", "with carriers (%)"]
    return Table([*header, "training accuracy (%) (fitted seeds)", "published clean (ResNet-18, full width)"], rows)


def findings(run: Evaluated, summary: pd.DataFrame, published: Mapping[str, pd.Series]) -> list[str]:
    """What carriers do: accuracy on clean data without them and from the ends of the grid, and the published values there."""
    found, beside = [], []
    clean = summary[summary["test_set"] == "clean"]
    for (name, data), cells in clean.groupby(["architecture", "data"], sort=False):
        at = cells.set_index("index").sort_index()
        done = f"(fitted: {(at['fitted'] == at['seeds']).sum()} of {len(at)})"
        carried = at.index[at.index != CLEAN]
        ends = dict.fromkeys([*at.index[at.index == CLEAN], *carried[:1], *carried[-1:]])
        levels = [
            f"{percent(at.loc[index, 'mean'], at.loc[index, 'std'])} % "
            + ("without carriers" if index == CLEAN else f"with carriers from NAD {index}")
            for index in ends
        ]
        found.append(f"{run.labels[name]} on {NAMES[data]}: {', '.join(levels)} {done}")
        if data == "images" and name in published:
            known = published[name]
            points, count = rms(100 * at["mean"], known)
            levels = [f"{known.iloc[i]:.1f} % at NAD {known.index[i]}" for i in (0, -1)]
            beside.append(
                f"ResNet-18 of full width, trained on 50,000 images, is published with {' and '.join(levels)}"
                + (
                    f"; {run.labels[name]} lies {points:.1f} points rms from that over {indices_text(count)}"
                    if count
                    else ""
                )
            )
    return [f"Accuracy on clean test data, {run.seeds()}: {'; '.join(found)}.", *(f"{text}." for text in beside)]


def with_and_without_carriers(
    architecture: str, seed: int, classes: int
) -> tuple[list[int], list[tuple[np.ndarray, list[np.ndarray]]]]:
    """Training images of one seed as `examples` takes them: (indices, pictures), both empty where no images are poisoned.

    The first image of each of the first classes, whose carriers are in one channel each, along NADs evenly spread over the
    architecture's grid.
    """
    experiment = experiments.find("poison")
    data, planned = Data(experiment), artifacts.cells("poison", experiment.coordinates)
    cells = [
        cell
        for cell in planned
        if (cell["architecture"], cell["data"], cell["seed"]) == (architecture, "images", seed)
        and cell["index"] != CLEAN
    ]
    if not cells:
        return [], []
    cells = [cells[i] for i in np.unique(np.linspace(0, len(cells) - 1, CELLS).round().astype(int))]
    data.check(cells)
    draw = data.draw(seed)
    # Of many classes, few samples may have none.
    drawn = [np.flatnonzero(draw["train_labels"] == number) for number in range(min(CLASSES, classes))]
    first = [int(places[0]) for places in drawn if len(places)]
    x, y = experiment.clean(
        cells[0], "train", draw | {key: draw[key][first] for key in ("train_pictures", "train_labels")}
    )
    poisoned = [experiment.with_carriers(cell, x, y, data.directions(cell)).numpy() for cell in cells]
    pictures = [(clean, [images[i] for images in poisoned]) for i, clean in enumerate(x.numpy())]
    return [cell["index"] for cell in cells], pictures


def section(notice: str | None) -> Section:
    """The section of `poison`."""
    run, images = evaluated("poison"), artifacts.about_images()
    summary = run.summary()
    shown = f"coefficient ± {run.plan.settings.size:g} · images: {images['name']}"
    caption = f"{run.sizes()} · {shown}{run.deviations()}"
    values = published_table("poison").set_index("index")
    # What is published is of CIFAR-10; of other images it says nothing.
    known = {network: values[network] for network in values} if images["name"] == "CIFAR-10" else {}
    published = {name: accuracies for name, (_, accuracies) in run.beside(known).items()}
    classes = len(images["classes"])
    rows = run.results[run.results["test_set"] == "clean"]
    marked = not_fitted(rows, ["architecture", "data", "index"], "hollow", "points and levels")
    figure = curve(run.results, run.labels, published, 100 / classes, f"{caption}\n{marked}", notice)
    drawn = [Picture("poison_curve", figure, "accuracy on clean images")]
    for name, label in run.labels.items():
        indices, pictures = with_and_without_carriers(name, run.plan.seeds[0], classes)
        if not indices:
            continue
        figure = examples(pictures, images["classes"], indices, f"NADs of {label} · {shown}", notice)
        drawn.append(Picture(f"poison_examples_{name}", figure, f"images with carriers along NADs of {label}"))
    return Section(
        "poison: images with class carriers",
        caption,
        table(summary, run.labels, published),
        drawn,
        findings(run, summary, published),
    )
