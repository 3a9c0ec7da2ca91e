"""`linear_pairs` in the report: the problem itself, accuracies, decision boundaries, tilt and margins (paper 2, §3).

These are paper 2's figures 1, 2a, 2b and 4–8.
"""

from collections.abc import Collection, Mapping

import matplotlib.patheffects
import numpy as np
import pandas as pd
import seaborn
from matplotlib.figure import Figure

from pipeline import experiments
from pipeline.measures.boundaries import EXTENT, POINTS, REACH, max_margin_tilt
from pipeline.nads.plan import NADsPlan
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.project.shapes import SIDE
from pipeline.report import style
from pipeline.report.evaluated import Evaluated, evaluated
from pipeline.report.page import Picture, Section, Table, percent

PANELS = {"all": "both channels", "first": "first channel alone", "second": "second channel alone"}

PUBLISHED = {
    (1, 1): (100, 100, 80),
    (1, 1000): (100, 100, 50),
    (1000, 1): (98, 50, 98),
    (800, 800): (69, 65, 54),
}
"""Accuracies in per cent of ResNet-18 in paper 2's fig. 2: (index of v₁, index of v₂) → with both, first, second channel."""

GALLERY = 6
"""Number of NADs shown per network: of its grid's indices, evenly spread."""

Pair = tuple[int, int]
"""NAD indices of v₁ and v₂."""


def two_sufficient_channels(
    points: np.ndarray,
    classes: np.ndarray,
    separations: tuple[float, float],
    nads: Mapping[str, Mapping[int, np.ndarray]],
    labels: Mapping[str, str],
    caption: str,
    notice: str | None,
) -> Figure:
    """What underspecification means here, and the directions it is posed in (after paper 2, fig. 1).

    points: (N, 2) coordinates of samples along v₁⊕0 and 0⊕v₂; classes: (N,) in {0, 1}; separations: (ε₁, ε₂);
    nads: per architecture a dict index → (32, 32) NAD; labels: architecture → name.
    """
    columns = max(len(chosen) for chosen in nads.values())
    figure = style.blank(4.2 + 1.05 * columns, max(5.2, 1.25 + 1.75 * len(nads)))
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


def accuracies(results: pd.DataFrame, label: str, caption: str, notice: str | None) -> Figure:
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


def boundaries(
    probabilities: Mapping[Pair, np.ndarray],
    tilts: Mapping[Pair, float],
    separations: tuple[float, float],
    label: str,
    caption: str,
    notice: str | None,
) -> Figure:
    """Class-1 probability in the plane of v₁⊕0 and 0⊕v₂ for the pairs of NAD indices (figs 2b, 5, 7).

    probabilities: (index_1, index_2) → (POINTS, POINTS), row = coordinate along 0⊕v₂, mean over seeds; tilts: the same →
    degrees; separations: (ε₁, ε₂), drawn as the two class means.
    """
    rows, columns = (sorted({pair[side] for pair in probabilities}) for side in (0, 1))
    figure, axes = style.new(
        len(rows), len(columns), max(5.2, 1.35 * len(columns) + 1.6), 1.45 * len(rows) + 1.5, sharex=True, sharey=True
    )
    half = EXTENT * (1 + 1 / (POINTS - 1))
    axis = np.linspace(-EXTENT, EXTENT, POINTS)
    for r, first in enumerate(rows):
        for c, second in enumerate(columns):
            panel, probability = axes[r, c], probabilities[first, second]
            picture = panel.imshow(
                probability,
                origin="lower",
                extent=(-half, half, -half, half),
                cmap=style.ACCURACY,
                vmin=0,
                vmax=1,
                interpolation="nearest",
            )
            if probability.min() < 0.5 < probability.max():
                line = panel.contour(axis, axis, probability, levels=[0.5], colors="white", linewidths=1.6)
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


def tilt_and_margins(
    tables: Mapping[str, pd.DataFrame],
    labels: Mapping[str, str],
    separations: tuple[float, float],
    caption: str,
    notice: str | None,
) -> Figure:
    """Tilt of the boundary and median margins along v₁ and v₂ over the pairs of NAD indices, per network (fig. 8).

    tables: architecture → rows of reports/linear_pairs/boundaries.csv.
    """
    size = max(table["index_1"].nunique() for table in tables.values())
    figure, axes = style.new(len(tables), 3, 3 * max(2.3, 0.42 * size) + 1.8, len(tables) * max(2.1, 0.42 * size) + 1.3)
    columns = (
        ("tilt", "tilt (degrees)", 0, 90, "{:.0f}"),
        ("margin_1", "median margin along $v_1$", 0, REACH, "{:.1f}"),
        ("margin_2", "median margin along $v_2$", 0, REACH, "{:.1f}"),
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
        f"±{separations[0]:g}, ±{separations[1]:g}; ∞: no boundary within {REACH:g})",
        caption,
        notice,
    )


def table(
    summary: pd.DataFrame,
    tilts: Mapping[tuple[str, int, int], float],
    labels: Mapping[str, str],
    published: Collection[str],
) -> Table:
    """Rows for the corners of each architecture's grid and the published pairs: accuracies and tilt.

    tilts: (architecture, index_1, index_2) → mean tilt in degrees; published: the architectures that `PUBLISHED` stands beside.
    """
    rows = []
    for name, cells in summary.groupby("architecture", sort=False):
        low, high = cells["index_1"].min(), cells["index_1"].max()
        shown = {(low, low), (low, high), (high, low), (high, high)} | set(PUBLISHED)
        for (first, second), cell in cells.groupby(["index_1", "index_2"]):
            if (first, second) not in shown:
                continue
            at = cell.set_index("test_set")
            beside = PUBLISHED.get((first, second), ()) if name in published else ()
            rows.append(
                [
                    labels[name],
                    f"({first}, {second})",
                    *(percent(at.loc[test, "mean"], at.loc[test, "std"]) for test in PANELS),
                    f"{tilts[name, first, second]:.1f}°",
                    " / ".join(map(str, beside)) or "–",
                ]
            )
    header = ["network", "NAD indices of v₁, v₂", "both (%)", "first alone (%)", "second alone (%)", "tilt"]
    return Table([*header, "published (ResNet-18, full width)"], rows)


def gallery(run: Evaluated) -> dict[str, dict[int, np.ndarray]]:
    """Some of each architecture's NADs (32, 32) that v₁ and v₂ are taken from, by index."""
    vectors = artifacts.directions("linear_pairs")
    nads = {}
    for name in run.labels:
        indices = sorted(run.plan.members[name].grid.indices)
        some = [indices[i] for i in np.unique(np.linspace(0, len(indices) - 1, GALLERY).round().astype(int))]
        nads[name] = {index: vectors[f"{name}-{index}"].reshape(SIDE, SIDE) for index in some}
    return nads


def origins(labels: Mapping[str, str]) -> str:
    """Where each architecture's NADs come from: of how many untrained networks, or of which file."""
    counts = {name: int(artifacts.nads(name)["networks"]) for name in labels}
    sources = {name: member.source for name, member in NADsPlan.read(artifacts.planned("nads")).members.items()}
    return ", ".join(
        f"{counts[name]} untrained {label}" if counts[name] else f"{sources[name].file} ({label})"
        for name, label in labels.items()
    )


def mean_probabilities(planes: pd.DataFrame) -> dict[Pair, np.ndarray]:
    """The probability of class 1 on the cross-sections (POINTS, POINTS) of one architecture, mean over seeds, by NAD indices.

    planes: its rows of reports/linear_pairs/boundaries.csv.
    """
    coordinates = experiments.find("linear_pairs").coordinates
    path = artifacts.present(artifacts.REPORTS / "linear_pairs" / "cross_sections.npz", "evaluate linear_pairs")
    with np.load(path, allow_pickle=False) as file:
        return {
            pair: np.mean(
                [file[artifacts.cell_name(cell, coordinates)].astype(np.float64) for cell in cells.to_dict("records")],
                0,
            )
            for pair, cells in planes.groupby(list(coordinates))
        }


def section(notice: str | None) -> Section:
    """The section of `linear_pairs`."""
    run = evaluated("linear_pairs")
    settings, labels = run.plan.settings, run.labels
    separations = (settings.eps1, settings.eps2)
    science = f"ε₁ = {settings.eps1:g}, ε₂ = {settings.eps2:g}, σ = {settings.sigma:g}"
    measured = run.table("boundaries")
    planes = {name: measured[measured["architecture"] == name] for name in labels}
    tilts = measured.groupby(["architecture", "index_1", "index_2"])["tilt"].mean()

    classes = np.array([0, 1])
    means = np.outer(2 * classes - 1, separations)
    caption = f"scale {run.plan.scale} · {science} · NADs from {origins(labels)}"
    figure = two_sufficient_channels(means, classes, separations, gallery(run), labels, caption, notice)
    pictures = [Picture("two_sufficient_channels", figure, "the problem and the NADs")]
    for name, label in labels.items():
        caption = f"{run.sizes([name])} · {science}"
        figure = accuracies(run.results[run.results["architecture"] == name], label, caption, notice)
        pictures.append(Picture(f"linear_accuracies_{name}", figure, f"accuracies of {label}"))
        figure = boundaries(mean_probabilities(planes[name]), tilts[name], separations, label, caption, notice)
        pictures.append(Picture(f"linear_boundaries_{name}", figure, f"boundaries of {label}"))
    caption = f"{run.sizes()} · {science}"
    figure = tilt_and_margins(planes, labels, separations, caption, notice)
    pictures.append(Picture("linear_tilt_and_margins", figure, "tilt and margins"))

    resnets = [name for name in labels if run.plan.members[name].specification["network"] == NETWORKS["resnet18"]]
    return Section(
        "linear_pairs: D(v₁) ⊕ D(v₂)",
        f"{caption} · mean ± standard deviation over seeds where there are several",
        table(run.table("summary"), tilts, labels, resnets),
        pictures,
    )
