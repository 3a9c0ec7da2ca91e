"""Figures of `linear_pairs`: the problem itself, accuracies, decision boundaries, tilt and margins (paper 2, §3)."""

import matplotlib.patheffects
import matplotlib.pyplot as plt
import numpy as np
import seaborn

from pipeline.measures.boundaries import EXTENT, POINTS, max_margin_tilt
from pipeline.report import style

PANELS = {"all": "both channels", "first": "first channel alone", "second": "second channel alone"}


def two_sufficient_channels(points, classes, separations, nads, labels, caption, notice):
    """What underspecification means here, and the directions it is posed in (after paper 2, fig. 1).

    points: (N, 2) coordinates of samples along v₁⊕0 and 0⊕v₂; classes: (N,) in {0, 1}; separations: (ε₁, ε₂);
    nads: per architecture a dict index → (32, 32) NAD; labels: architecture → name.
    """
    columns = max(len(chosen) for chosen in nads.values())
    figure = plt.figure(figsize=(4.2 + 1.05 * columns, max(5.2, 1.25 + 1.75 * len(nads))), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[4.0, 1.05 * columns])
    axes = left.subplots()
    first, second = separations
    for label, colour, marker in ((0, "#0072B2", "o"), (1, "#D55E00", "^")):
        chosen = points[classes == label]
        axes.plot(chosen[:, 0], chosen[:, 1], marker, color=colour, markersize=7, label=f"class {label}", zorder=3)
    reach = np.array([-1.6, 1.6]) * max(first, second)
    axes.plot([0, 0], reach, "--", color="0.35", label="first channel alone")
    axes.plot(reach, [0, 0], ":", color="0.35", label="second channel alone")
    axes.plot(
        -reach * second / np.hypot(first, second),
        reach * first / np.hypot(first, second),
        "-",
        color="k",
        label=f"maximum margin ({max_margin_tilt(first, second):.1f}°)",
    )
    axes.set(
        xlabel="coordinate along $v_1 \\oplus 0$",
        ylabel="coordinate along $0 \\oplus v_2$",
        aspect="equal",
        xlim=reach,
        ylim=reach,
    )
    axes.set_title("every one of these boundaries\nseparates the two classes")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False)

    panels = right.subplots(2 * len(nads), columns, squeeze=False)
    for row, (name, chosen) in enumerate(nads.items()):
        for column in range(columns):
            pixels, energy = panels[2 * row, column], panels[2 * row + 1, column]
            for panel in (pixels, energy):
                panel.set(xticks=[], yticks=[])
                panel.spines[:].set_visible(False)
            if column >= len(chosen):
                continue
            index, nad = list(chosen.items())[column]
            bound = np.abs(nad).max()
            pixels.imshow(nad, cmap="gray", vmin=-bound, vmax=bound)
            pixels.set_title(f"NAD {index}", fontsize=8)
            energy.imshow(np.fft.fftshift(np.abs(np.fft.fft2(nad))), cmap=style.ACCURACY)
            if column == 0:
                pixels.set_ylabel(labels[name].replace(", width", ",\nwidth"), fontsize=7.5)
                energy.set_ylabel("Fourier\namplitude", fontsize=7.5)
    return style.finish(
        figure, "Two channels, each sufficient: D(v₁) ⊕ D(v₂), and NADs that v₁ and v₂ are taken from", caption, notice
    )


def accuracies(results, label, caption, notice):
    """Accuracy (%) over the pairs of NAD indices: both channels, the first alone, the second alone (figs 2a, 4, 6).

    results: rows of one architecture from reports/linear_pairs/results.csv.
    """
    size = results["index_1"].nunique()
    many = results["seed"].nunique() > 1
    figure, axes = style.new(1, 3, 3 * max(2.1, 0.42 * size) + 1.6, max(2.1, 0.42 * size) + 1.4)
    for panel, (test_set, title) in zip(axes[0], PANELS.items()):
        cells = results[results["test_set"] == test_set].groupby(["index_1", "index_2"])["accuracy"]
        mean = 100 * cells.mean().unstack()
        text = mean.map("{:.0f}".format)
        if many:
            text += (100 * cells.std().unstack()).map("\n±{:.1f}".format)
        seaborn.heatmap(
            mean,
            ax=panel,
            vmin=50,
            vmax=100,
            cmap=style.ACCURACY,
            annot=text,
            fmt="",
            square=True,
            annot_kws={"fontsize": 6 if many or size > 6 else 8},
            linewidths=0.4,
            cbar=panel is axes[0, -1],
            cbar_kws={"label": "test accuracy (%)", "shrink": 0.8},
        )
        panel.set(
            title=title,
            xlabel="NAD index of $v_2$ (second channel)",
            ylabel="NAD index of $v_1$ (first channel)" if panel is axes[0, 0] else "",
        )
        panel.tick_params(axis="y", rotation=0)
        panel.tick_params(axis="x", rotation=0 if size <= 6 else 90)
    return style.finish(figure, f"{label}: which channel carries the accuracy", caption, notice)


def boundaries(sections, tilts, separations, label, caption, notice):
    """Class-1 probability in the plane of v₁⊕0 and 0⊕v₂ for the pairs of NAD indices (figs 2b, 5, 7).

    sections: (index_1, index_2) → (POINTS, POINTS) probability, mean over seeds; tilts: the same → degrees;
    separations: (ε₁, ε₂), drawn as the two class means.
    """
    rows, columns = (sorted({pair[side] for pair in sections}) for side in (0, 1))
    figure, axes = style.new(
        len(rows), len(columns), max(5.2, 1.35 * len(columns) + 1.6), 1.45 * len(rows) + 1.5, sharex=True, sharey=True
    )
    half = EXTENT * (1 + 1 / (POINTS - 1))
    axis = np.linspace(-EXTENT, EXTENT, POINTS)
    for r, first in enumerate(rows):
        for c, second in enumerate(columns):
            panel, section = axes[r, c], sections[first, second]
            picture = panel.imshow(
                section,
                origin="lower",
                extent=(-half, half, -half, half),
                cmap=style.ACCURACY,
                vmin=0,
                vmax=1,
                interpolation="nearest",
            )
            if section.min() < 0.5 < section.max():
                line = panel.contour(axis, axis, section, levels=[0.5], colors="white", linewidths=1.6)
                line.set_path_effects([matplotlib.patheffects.withStroke(linewidth=3, foreground="black")])
            for sign, marker in ((-1, "o"), (1, "^")):
                panel.plot(
                    sign * separations[0],
                    sign * separations[1],
                    marker,
                    markersize=5,
                    color="white",
                    markeredgecolor="black",
                )
            panel.set_title(f"{tilts[first, second]:.0f}°", fontsize=8, pad=2)
            panel.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
            panel.spines[:].set_visible(False)
            if r == len(rows) - 1:
                panel.set_xlabel(f"along $v_1$\n$v_2$: NAD {second}", fontsize=8)
            if c == 0:
                panel.set_ylabel(f"$v_1$: NAD {first}\nalong $v_2$", fontsize=8)
    figure.colorbar(picture, ax=axes, label="probability of class 1", shrink=0.6)
    return style.finish(
        figure,
        f"{label}: decision boundaries and their tilt\n0°: channel 1 only, 90°: channel 2 only, "
        f"{max_margin_tilt(*separations):.1f}°: maximum margin",
        caption,
        notice,
    )


def tilt_and_margins(tables, labels, separations, caption, notice):
    """Tilt of the boundary and median margins along v₁ and v₂ over the pairs of NAD indices, per network (fig. 8).

    tables: architecture → rows of reports/linear_pairs/boundaries.csv.
    """
    size = max(table["index_1"].nunique() for table in tables.values())
    figure, axes = style.new(len(tables), 3, 3 * max(2.3, 0.42 * size) + 1.8, len(tables) * max(2.1, 0.42 * size) + 1.3)
    columns = (
        ("tilt", "tilt (degrees)", 0, 90, "{:.0f}"),
        ("margin_1", "median margin along $v_1$", 0, 4, "{:.1f}"),
        ("margin_2", "median margin along $v_2$", 0, 4, "{:.1f}"),
    )
    for row, (name, table) in zip(axes, tables.items()):
        for panel, (column, title, low, high, form) in zip(row, columns):
            mean = table.groupby(["index_1", "index_2"])[column].mean().unstack()
            text = mean.map(lambda value, form=form: "∞" if np.isinf(value) else form.format(value))
            seaborn.heatmap(
                mean.clip(upper=high),
                ax=panel,
                vmin=low,
                vmax=high,
                cmap=style.ACCURACY,
                annot=text,
                fmt="",
                square=True,
                annot_kws={"fontsize": 6 if size > 6 else 8},
                linewidths=0.4,
                cbar_kws={"shrink": 0.8},
            )
            panel.set(
                title=title if name == next(iter(tables)) else "",
                xlabel="NAD index of $v_2$",
                ylabel=f"{labels[name]}\nNAD index of $v_1$" if column == "tilt" else "",
            )
            panel.tick_params(axis="y", rotation=0)
            panel.tick_params(axis="x", rotation=0 if size <= 6 else 90)
    return style.finish(
        figure,
        f"Tilt and margins (maximum margin: {max_margin_tilt(*separations):.1f}°; class means at "
        f"±{separations[0]:g}, ±{separations[1]:g}; ∞: no boundary within 4)",
        caption,
        notice,
    )
