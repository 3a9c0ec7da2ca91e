"""The NADs themselves in the report: spectra, the directions, and how far two estimands agree (paper 1, §4)."""

from collections.abc import Mapping

import matplotlib.colors
import numpy as np
from matplotlib.figure import Figure

from pipeline.nads.estimator import Source
from pipeline.nads.plan import NADsPlan
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.labels import label, of_the_papers
from pipeline.report.page import Picture, Section, Table

NADs = Mapping[str, np.ndarray]
"""The arrays of one file of data/nads: the fields of `pipeline.nads.NADs`."""

PUBLISHED = {
    "lenet": (0.189, 10_000),
    "vgg11": (0.0638, 10_000),
    "resnet18": (0.0428, 5_000),
    "densenet121": (0.00233, 10_000),
}
"""First singular value s of the published matrices of secants (paper 1's public files) and their number n of rows: s = √(n λ).

n is what the paper says, but for ResNet-18, whose whole published spectrum is that of 5,000 rows: see
`benchmarks/published_rows.py`.
"""

CHOSEN = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
"""Indices that a gallery shows, as far as there are so many."""


def spectra(
    estimates: Mapping[str, tuple[np.ndarray, np.ndarray]],
    labels: Mapping[str, str],
    published: Mapping[str, tuple[float, int]],
    caption: str,
    notice: str | None,
) -> Figure:
    """√λ against the NAD index on two log axes, with bands of two standard errors and the published first values.

    estimates: architecture → (eigenvalues (K,), their standard errors (K,)); labels: architecture → name; published:
    architecture → its entry of `PUBLISHED`, where there is one.
    """
    figure, axes = style.new(1, 1, 7.4, 4.6)
    panel = axes[0, 0]
    for (name, (eigenvalues, errors)), (colour, line) in zip(estimates.items(), style.SPECTRA * len(estimates)):
        index = np.arange(len(eigenvalues)) + 1
        floor = eigenvalues[0] * 1e-9
        band = [np.sqrt(np.maximum(eigenvalues + sign * 2 * errors, floor)) for sign in (-1, 1)]
        panel.fill_between(index, *band, color=colour, alpha=0.2, linewidth=0)
        panel.plot(index, np.sqrt(np.maximum(eigenvalues, floor)), color=colour, linestyle=line, label=labels[name])
        if name in published:
            value, rows = published[name]
            panel.plot(1, value / np.sqrt(rows), "x", color=colour, markersize=9, markeredgewidth=2, clip_on=False)
    if published:
        panel.plot([], [], "x", color="0.3", markersize=9, markeredgewidth=2, label="published first value")
    panel.set(yscale="log", xlabel="NAD index", ylabel="$\\sqrt{\\lambda}$ (output per unit of input)")
    style.index_axis(panel)
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return style.finish(figure, "Spectra of the input derivative's covariance over untrained networks", caption, notice)


def gallery(
    directions: np.ndarray,
    shape: tuple[int, int, int],
    nearby: np.ndarray | None = None,
    title: str = "Neural anisotropy directions",
    caption: str = "",
    notice: str | None = None,
) -> Figure:
    """Chosen NADs, in the pixel domain above and as energy over spatial frequency below (paper 1, fig. 5).

    directions: (K, D), index 0 first; shape: (C, H, W); nearby: (K, 2), as in `pipeline.nads.NADs`, or None: under each
    index stand those whose eigenvalues equal its own within the errors, since only their span means something. One channel is
    drawn in grey, three as colours, others side by side; the energy is summed over channels.
    """
    indices = [index for index in CHOSEN if index < len(directions)]
    figure, axes = style.new(2, len(indices), 1.0 * len(indices) + 0.6, 3.1)
    for index, (pixels, frequencies) in zip(indices, axes.T):
        nad = directions[index].reshape(shape)
        bound = np.abs(nad).max()
        if shape[0] == 3:
            pixels.imshow(0.5 + nad.transpose(1, 2, 0) / (2 * bound))
        else:
            pixels.imshow(np.hstack(nad), cmap="gray", vmin=-bound, vmax=bound)
        energy = np.fft.fftshift((np.abs(np.fft.fft2(nad)) ** 2).sum(0))
        reach = [(-(side // 2) - 0.5, (side + 1) // 2 - 0.5) for side in shape[1:]]
        frequencies.imshow(energy, cmap=style.ACCURACY, vmin=0, extent=(*reach[1], *reach[0][::-1]))
        name = f"{index}"
        if nearby is not None:
            first, last = nearby[index]
            name += f"\n≈ {first}–{last}" if last > first else "\nalone"
        pixels.set_title(name, fontsize=8)
        for panel in (pixels, frequencies):
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
    axes[0, 0].set_ylabel("pixels")
    axes[1, 0].set_ylabel("frequency")
    bottom, right = shape[1] // 2, shape[2] // 2
    axes[1, 0].set_xticks([-right, 0, right - 1 + shape[2] % 2])
    axes[1, 0].set_yticks([-bottom, 0, bottom - 1 + shape[1] % 2])
    axes[1, 0].tick_params(labelsize=6)
    return style.finish(figure, title, caption, notice)


def bands(count: int) -> list[int]:
    """Edges of bands of indices that double in width: 0, 1, 2, 4, … count."""
    edges = [0, 1]
    while edges[-1] * 2 < count:
        edges.append(edges[-1] * 2)
    return [*edges, count]


def overlap_of_bands(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How much two orthonormal bases (D, D) share, band by band of indices, in units of chance: (bands, bands).

    Entry (A, B) is Σ ⟨u_i, g_j⟩² over i in A and j in B, divided by |A||B|/D, what two random bases give.
    """
    edges = np.array(bands(len(one)))
    sums = np.add.reduceat(np.add.reduceat((one @ other.T) ** 2, edges[:-1], 0), edges[:-1], 1)
    return sums * len(one) / np.outer(np.diff(edges), np.diff(edges))


def overlaps(
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray]],
    labels: Mapping[str, str],
    names: tuple[str, str],
    caption: str,
    notice: str | None,
) -> Figure:
    """Heatmaps of `overlap_of_bands` between the NADs of two estimands, one panel per architecture.

    pairs: architecture → ((D, D), (D, D)), the directions of either estimand; labels: architecture → name and errors;
    names: the two estimands, rows first.
    """
    columns = min(3, len(pairs))
    rows = -(-len(pairs) // columns)
    figure, axes = style.new(rows, columns, 3.3 * columns + 0.8, 3.4 * rows + 0.5)
    scale = matplotlib.colors.LogNorm(1 / 16, 16)
    for panel in axes.flat[len(pairs) :]:
        panel.set_visible(False)
    for panel, (name, (one, other)) in zip(axes.flat, pairs.items()):
        edges = bands(len(one))
        image = panel.imshow(np.maximum(overlap_of_bands(one, other), 1e-6), cmap="RdBu_r", norm=scale, origin="lower")
        ticks = [f"{first}" for first in edges[:-1]]
        panel.set_xticks(range(len(ticks)), ticks, rotation=90)
        panel.set_yticks(range(len(ticks)), ticks)
        panel.set(xlabel=f"{names[1]} NADs, from index", ylabel=f"{names[0]} NADs, from index", title=labels[name])
    bar = figure.colorbar(image, ax=axes, extend="both", shrink=0.8, ticks=[1 / 16, 1 / 4, 1, 4, 16])
    bar.ax.set_yticklabels(["1/16", "1/4", "1", "4", "16"])
    bar.set_label("shared energy ÷ chance")
    return style.finish(figure, f"Overlap of {names[0]} and {names[1]} NADs", caption, notice)


def gaps(groups: np.ndarray, count: int) -> str:
    """The indices after which the first `count` clear gaps of a spectrum lie, as text.

    groups: (K,), the index at which the group of each direction begins.
    """
    return ", ".join(f"{first - 1}" for first in np.unique(groups)[1 : count + 1]) or "none"


def table(
    estimates: Mapping[str, NADs],
    sources: Mapping[str, Source],
    labels: Mapping[str, str],
    published: Mapping[str, tuple[float, int]],
) -> Table:
    """One row per architecture: how its NADs were estimated, how well, and the first singular value beside the published one.

    sources: architecture → where its NADs come from; published: architecture → its entry of `PUBLISHED`, where there is one.
    """
    header = [
        "network",
        "untrained networks",
        "method",
        "averaged over",
        "relative error of C",
        "overlap of the halves' first ten (chance)",
        "first clear gaps after index",
        "first singular value × √10,000 (the two halves)",
        "published",
    ]
    rows = []
    for name, nads in estimates.items():
        networks = int(nads["networks"])
        if not networks:
            rows.append([labels[name], sources[name].file, *["–"] * (len(header) - 2)])
            continue
        first, *halves = 100 * np.sqrt([nads["eigenvalues"][0], *nads["halves"][:, 0]])
        ten = min(10, len(nads["overlap"]))
        rows.append(
            [
                labels[name],
                networks,
                nads["method"],
                nads["symmetry"],
                f"{float(nads['error']):.3f}",
                f"{nads['overlap'][ten - 1]:.2f} ({ten / np.prod(nads['shape']):.2f})",
                gaps(nads["groups"], 4),
                f"{first:.3g} ({halves[0]:.3g}, {halves[1]:.3g})",
                f"{100 * published[name][0] / published[name][1] ** 0.5:.3g}" if name in published else "–",
            ]
        )
    return Table(header, rows)


def section(notice: str | None) -> Section:
    """The section of the NADs."""
    plan = NADsPlan.read(artifacts.planned("nads"))
    estimator = plan.estimator
    step = f", h = {estimator.step:g}" if estimator.estimand == "secant" else ""
    caption = f"scale {plan.scale} · {estimator.estimand}{step} · point: {estimator.point}"
    labels = {name: label(member.specification) for name, member in plan.members.items()}
    sources = {name: member.source for name, member in plan.members.items()}
    every = {name: artifacts.nads(name) for name in plan.members}
    estimates = {name: nads for name, nads in every.items() if nads["networks"]}
    # The published singular values are those of secants.
    secants = {
        name: plan.members[name].specification for name, nads in estimates.items() if nads["estimand"] == "secant"
    }
    published = of_the_papers(secants, PUBLISHED)

    pictures = []
    if estimates:
        curves = {name: (nads["eigenvalues"], nads["standard_errors"]) for name, nads in estimates.items()}
        figure = spectra(curves, labels, published, f"{caption} · bands: ± 2 standard errors", notice)
        pictures.append(Picture("nad_spectra", figure, "spectra"))
    for name, nads in every.items():
        origin, nearby = f"from {sources[name].file}", None
        if name in estimates:
            origin = f"{nads['networks']} untrained networks · ≈: indices whose eigenvalues are equal within the errors"
            nearby = nads["nearby"]
        title = f"NADs of {labels[name]}"
        figure = gallery(nads["directions"], tuple(nads["shape"]), nearby, title, f"{caption} · {origin}", notice)
        pictures.append(Picture(f"nad_gallery_{name}", figure, title))

    # Where all eigenvalues are equal, as in logistic regression, there are no directions to compare.
    compared = [
        name
        for name, nads in estimates.items()
        if estimator.compare and sources[name].first is None and nads["eigenvalues"][0] > 1.01 * nads["eigenvalues"][-1]
    ]
    if compared:
        names = (estimator.estimand, estimator.other().estimand)
        others = {name: artifacts.nads(name, names[1]) for name in compared}
        errors = {name: f"{float(every[name]['error']):.2f}, {float(others[name]['error']):.2f}" for name in compared}
        other = others[compared[-1]]
        figure = overlaps(
            {name: (every[name]["directions"], others[name]["directions"]) for name in compared},
            {name: f"{labels[name]}\nerrors of C: {errors[name]}" for name in compared},
            names,
            f"{caption} · {names[1]}: {other['point']}, averaged over {other['symmetry']}",
            notice,
        )
        pictures.append(Picture("nad_overlaps", figure, "overlap of the two estimands' NADs"))
    return Section("NADs", caption, table(every, sources, labels, published), pictures)
