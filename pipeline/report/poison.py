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
from pipeline.report.evaluated import evaluated
from pipeline.report.page import Picture, Section, Table, percent

Known = Sequence[tuple[int, int, float]]
"""Published values of one network: first and last NAD index of the carriers, accuracy in per cent."""

PUBLISHED = {"resnet18": [(0, 0, 18), (110, 200, 61), (810, 1020, 80)]}
"""About what paper 1's fig. 7 shows: range of the first NAD index of the carriers, accuracy on clean images in per cent."""

LOOKS = {
    "images": {"color": "#000000", "linestyle": "-", "marker": "o"},
    "mixture": {"color": "#0072B2", "linestyle": "-.", "marker": "s", "markerfacecolor": "white"},
}
NAMES = {"images": "images", "mixture": "Gaussian mixture"}
DASHES = {"images": (0, (6, 2)), "mixture": (0, (3, 2))}

CLASSES, CELLS = 3, 3
"""How many images are shown with and without carriers (the first of as many classes), and along how many of the grid's NADs."""


def curve(
    results: pd.DataFrame,
    labels: Mapping[str, str],
    published: Mapping[str, Known],
    chance: float,
    caption: str,
    notice: str | None,
) -> Figure:
    """Accuracy on clean test data against the NAD index of the carriers in the training data (paper 1, fig. 7).

    results: architecture, seed, data ('images' or 'mixture'), index (−1: trained on clean data, drawn as a level), test_set
    (of which 'clean' is drawn), accuracy, n; labels: architecture → its name; published: architecture → its entry of
    `PUBLISHED`, where there is one; chance: accuracy of guessing, in per cent. Points are means over seeds, bars and bands
    one standard deviation.
    """
    results = results[results["test_set"] == "clean"]
    names = list(results["architecture"].unique())
    figure, axes = style.new(1, len(names), max(6.8, 2.9 * len(names) + 2.2), 3.9, sharey=True)
    drawn = {}
    for panel, name in zip(axes[0], names):
        rows = results[results["architecture"] == name]
        drawn["guessing"] = panel.axhline(chance, color="0.6", linewidth=0.9)
        for data, look in LOOKS.items():
            mean, spread = style.by_index(rows[rows["data"] == data], "accuracy")
            poisoned = mean.index != CLEAN
            if CLEAN in mean.index:
                level = 100 * mean[CLEAN]
                drawn[f"{NAMES[data]}, nothing poisoned"] = panel.axhline(
                    level, color=look["color"], linestyle=DASHES[data], linewidth=1.1
                )
                if spread is not None and not np.isnan(spread[CLEAN]):
                    half = 100 * spread[CLEAN]
                    panel.axhspan(level - half, level + half, color=look["color"], alpha=0.15, linewidth=0)
            if poisoned.any():
                drawn[f"{NAMES[data]}, poisoned"] = panel.errorbar(
                    mean.index[poisoned] + 1,
                    100 * mean[poisoned],
                    None if spread is None else 100 * spread[poisoned],
                    markersize=4,
                    capsize=2,
                    elinewidth=0.9,
                    linewidth=1.3,
                    **look,
                )
        for first, last, value in published.get(name, ()):
            # A cross in the middle of the range on the log axis, and a bar over the range.
            ends = np.array([first + 1, last + 1])
            panel.plot(ends, [value, value], color="#D55E00", linewidth=2.5, solid_capstyle="butt", zorder=4)
            (drawn["published, about\n(images, poisoned)"],) = panel.plot(
                np.sqrt(ends.prod()), value, "x", color="#D55E00", markersize=8, markeredgewidth=2, zorder=4
            )
        style.index_axis(panel)
        panel.set(title=textwrap.fill(labels[name], 28), ylim=(0, 102), xlabel="first NAD index of the carriers")
    axes[0, 0].set_ylabel("accuracy on clean test data (%)")
    drawn["guessing"] = drawn.pop("guessing")
    figure.legend(drawn.values(), drawn.keys(), loc="outside right center", frameon=False)
    return style.finish(figure, "Trained on data with class carriers along NADs", caption, notice)


def examples(
    pictures: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]],
    indices: Sequence[int],
    caption: str,
    notice: str | None,
) -> Figure:
    """Clean images, the same with carriers along NADs of several indices, and the differences (paper 1, §5).

    pictures: list of (clean (3, 32, 32), list over `indices` of poisoned (3, 32, 32)), in [0, 1] when clean. Poisoned images
    are clipped to [0, 1] where they are drawn; differences are those before clipping, magnified about grey until they
    fill the range, with root mean square and largest absolute value over pixels and channels in grey levels (of 255).
    """
    columns = 1 + 2 * len(indices)
    figure, axes = style.new(len(pictures), columns, max(6.4, 1.3 * columns + 0.3), 1.85 * len(pictures) + 0.9)
    for row, (clean, poisoned) in zip(axes, pictures):
        row[0].imshow(np.clip(clean, 0, 1).transpose(1, 2, 0))
        row[0].set_title("clean", fontsize=8)
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


def table(summary: pd.DataFrame, labels: Mapping[str, str], published: Mapping[str, Known]) -> Table:
    """One row per architecture, data and index of the carriers: accuracy on clean data, and on data with carriers."""
    rows = []
    for (name, data, index), cell in summary.groupby(["architecture", "data", "index"], sort=False):
        at = cell.set_index("test_set")
        values = [percent(at.loc[s, "mean"], at.loc[s, "std"]) if s in at.index else "–" for s in ("clean", "poisoned")]
        known = published.get(name, ()) if data == "images" else ()
        beside = [f"about {value}" for first, last, value in known if first <= index <= last]
        rows.append([labels[name], data, "none" if index == CLEAN else index, *values, ", ".join(beside) or "–"])
    header = ["network", "data", "carriers from NAD", "clean test data (%)", "with carriers (%)", "published"]
    return Table(header, rows)


def with_and_without_carriers(
    architecture: str, seed: int, classes: int
) -> tuple[list[int], list[tuple[np.ndarray, list[np.ndarray]]]]:
    """Training images of one seed as `examples` takes them: (indices, pictures), both empty where no images are poisoned.

    The first image of each of the first classes, whose carriers are in one channel each, along NADs evenly spread over the
    architecture's grid.
    """
    experiment = experiments.find("poison")
    data = Data(experiment)
    cells = [
        cell
        for cell in artifacts.cells("poison")
        if (cell["architecture"], cell["data"], cell["seed"]) == (architecture, "images", seed)
        and cell["index"] != CLEAN
    ]
    if not cells:
        return [], []
    cells = [cells[i] for i in np.unique(np.linspace(0, len(cells) - 1, CELLS).round().astype(int))]
    draw = data.draw(seed)
    first = [int(np.flatnonzero(draw["train_labels"] == number)[0]) for number in range(min(CLASSES, classes))]
    x, y = experiment.clean(
        cells[0], "train", draw | {key: draw[key][first] for key in ("train_pictures", "train_labels")}
    )
    poisoned = [experiment.with_carriers(cell, x, y, data.directions(cell)).numpy() for cell in cells]
    pictures = [(clean, [images[i] for images in poisoned]) for i, clean in enumerate(x.numpy())]
    return [cell["index"] for cell in cells], pictures


def section(notice: str | None) -> Section:
    """The section of `poison`."""
    run, images = evaluated("poison"), artifacts.about_images()
    shown = f"coefficient ± {run.plan.settings.size:g} · images: {images['name']}"
    caption = f"{run.sizes()} · {shown}"
    published = run.of_the_papers(PUBLISHED)
    classes = len(images["classes"])
    figure = curve(run.results, run.labels, published, 100 / classes, caption, notice)
    drawn = [Picture("poison_curve", figure, "accuracy on clean images")]
    for name, label in run.labels.items():
        indices, pictures = with_and_without_carriers(name, run.plan.seeds[0], classes)
        if not indices:
            continue
        figure = examples(pictures, indices, f"NADs of {label} · {shown}", notice)
        drawn.append(Picture(f"poison_examples_{name}", figure, f"images with carriers along NADs of {label}"))
    return Section(
        "poison: images with class carriers", caption, table(run.table("summary"), run.labels, published), drawn
    )
