"""Figures of `poison`: what class carriers along NADs do to training, and what they look like (paper 1, §5, fig. 7)."""

import textwrap

import numpy as np

from pipeline.experiments.poison import CLEAN
from pipeline.report import style

PUBLISHED = {"resnet18": [(0, 0, 18), (110, 200, 61), (810, 1020, 80)]}
"""About what paper 1's fig. 7 shows: range of the first NAD index of the carriers, accuracy on clean images in per cent."""

LOOKS = {
    "images": {"color": "#000000", "linestyle": "-", "marker": "o"},
    "mixture": {"color": "#0072B2", "linestyle": "-.", "marker": "s", "markerfacecolor": "white"},
}
NAMES = {"images": "images", "mixture": "Gaussian mixture"}
DASHES = {"images": (0, (6, 2)), "mixture": (0, (3, 2))}


def curve(results, labels, published, chance, caption, notice):
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


def examples(pictures, indices, caption, notice):
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
