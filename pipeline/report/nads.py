"""The NADs themselves in the report: spectra, the directions, and how far two estimands agree (paper 1, §4)."""

from collections.abc import Mapping

import matplotlib.cm
import matplotlib.colors
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.nads.estimator import Source
from pipeline.nads.plan import NADsPlan
from pipeline.project import artifacts
from pipeline.project.shapes import INPUT
from pipeline.report import style
from pipeline.report.labels import label, of_the_papers
from pipeline.report.page import Picture, Section, Table
from pipeline.report.published import table as published_table

NADs = Mapping[str, np.ndarray]
"""The arrays of one file of data/nads: the fields of `pipeline.nads.NADs`."""

PUBLISHED_FIRST = {"lenet": 0.189}
"""First singular values of networks of which the published table has none (paper 1's public files of NADs)."""

PUBLISHED_ROWS = {"lenet": 10_000, "vgg11": 10_000, "resnet18": 5_000, "densenet121": 10_000}
"""Number n of untrained networks, the rows of the published matrices of secants.

n is what the paper says, but for ResNet-18, whose whole published spectrum is that of 5,000 rows: see
`benchmarks/published_rows.py`.
"""

MARKED = (0, 3, 9, 30, 102, 302, 1002)
"""Indices at which a published spectrum has crosses, where it has a value there."""

CHOSEN = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
"""Indices that a gallery shows, as far as there are so many."""

WHOLE = 0.99
"""Part of a NAD's energy that must lie within the frequencies that a gallery shows."""

AVERAGED = {"none": "no symmetries", "transposition": "the transposition", "square": "the symmetries of the square"}
"""What an estimate of C was averaged over, in words."""

FIRST_TEN = 10
"""Directions whose span is compared, between halves of an estimate and between estimands."""


def published_spectra() -> dict[str, pd.Series]:
    """√λ by NAD index of each network of which singular values s of a matrix of secants are published: s/√n."""
    singular = published_table("singular_values").set_index("index")
    values = {network: singular[network] for network in singular}
    values |= {network: pd.Series({0: first}) for network, first in PUBLISHED_FIRST.items()}
    return {network: found / PUBLISHED_ROWS[network] ** 0.5 for network, found in values.items()}


def spectra(
    estimates: Mapping[str, tuple[np.ndarray, np.ndarray]],
    labels: Mapping[str, str],
    published: Mapping[str, pd.Series],
    caption: str,
    notice: str | None,
) -> Figure:
    """√λ against the NAD index on two log axes, with bands of two standard errors, and the published spectra under ours.

    estimates: architecture → (eigenvalues (K,), their standard errors (K,)); labels: architecture → name; published:
    architecture → its published √λ by index, where there is one.
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
            values = published[name]
            panel.plot(
                values.index + 1,
                values,
                "x-",
                color=colour,
                linewidth=0.7,
                markevery=[place for place, at in enumerate(values.index) if at in MARKED],
                markersize=8,
                markeredgewidth=1.6,
                zorder=1.9,
                clip_on=False,
            )
    if published:
        panel.plot(
            [],
            [],
            "x-",
            color="0.3",
            linewidth=0.7,
            markersize=8,
            markeredgewidth=1.6,
            label="published, $s/\\sqrt{n}$",
        )
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
    drawn in grey, three as colours, others side by side; the energy is summed over channels, and shown out to the frequency
    within which each of these NADs has `WHOLE` of it. The scale of each panel is its own.
    """
    indices = [index for index in CHOSEN if index < len(directions)]
    figure, axes = style.new(2, len(indices), 1.0 * len(indices) + 1.2, 3.1)
    shown = [directions[index].reshape(shape) for index in indices]
    energies = [np.fft.fftshift((np.abs(np.fft.fft2(nad)) ** 2).sum(0)) for nad in shown]
    edge = max(map(edge_of, energies))
    reach = [(max(-(side // 2), -edge), min((side - 1) // 2, edge)) for side in shape[1:]]
    rows, columns = (slice(side // 2 + low, side // 2 + high + 1) for side, (low, high) in zip(shape[1:], reach))
    for index, nad, energy, (pixels, frequencies) in zip(indices, shown, energies, axes.T):
        bound = np.abs(nad).max()
        if shape[0] == 3:
            pixels.imshow(0.5 + nad.transpose(1, 2, 0) / (2 * bound))
        else:
            pixels.imshow(np.hstack(nad), cmap="gray", vmin=-bound, vmax=bound)
        (top, bottom), (left, right) = reach
        extent = (left - 0.5, right + 0.5, bottom + 0.5, top - 0.5)
        frequencies.imshow(energy[rows, columns], cmap=style.ACCURACY, vmin=0, extent=extent)
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
    axes[1, 0].set_xticks([reach[1][0], 0, reach[1][1]])
    axes[1, 0].set_yticks([reach[0][0], 0, reach[0][1]])
    axes[1, 0].tick_params(labelsize=6)
    if shape[0] != 3:
        _own_scale(figure, axes[0], "gray", {-1: "−max", 0: "0", 1: "max"})
    _own_scale(figure, axes[1], style.ACCURACY, {0: "0", 1: "max"})
    return style.finish(figure, title, caption, notice)


def edge_of(energy: np.ndarray) -> int:
    """The frequency, in either direction and sign, within which an energy (H, W) has `WHOLE` of its sum; 0 is in the middle."""
    k_row, k_col = np.indices(energy.shape)
    largest = np.maximum(np.abs(k_row - energy.shape[0] // 2), np.abs(k_col - energy.shape[1] // 2))
    within = np.cumsum(np.bincount(largest.ravel(), energy.ravel()))
    return int(np.searchsorted(within, WHOLE * within[-1]))


def _own_scale(figure: Figure, panels: np.ndarray, colours: str, ticks: Mapping[float, str]) -> None:
    """Give a row of panels, each of which has a scale of its own, one colour bar in units of each one's largest value."""
    shades = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(min(ticks), max(ticks)), colours)
    bar = figure.colorbar(shades, ax=panels, aspect=12, shrink=0.9, pad=0.01)
    bar.set_ticks(list(ticks), labels=list(ticks.values()), fontsize=6.5)


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


def all_equal(nads: NADs) -> bool:
    """Whether all eigenvalues are equal within their errors, as in logistic regression: any basis then is one of NADs."""
    values = nads["eigenvalues"]
    return bool(values[0] <= 1.01 * values[-1] or nads["nearby"][0][1] == len(values) - 1)


def first_singular_value(nads: NADs) -> tuple[float, float]:
    """√(10,000 λ₀), the first singular value that 10,000 networks would have, and its standard error."""
    value = 100 * float(nads["eigenvalues"][0]) ** 0.5
    return value, value * float(nads["standard_errors"][0]) / (2 * float(nads["eigenvalues"][0]))


def table(
    estimates: Mapping[str, NADs],
    sources: Mapping[str, Source],
    labels: Mapping[str, str],
    published: Mapping[str, pd.Series],
) -> Table:
    """One row per architecture: how its NADs were estimated, how well, and the first singular value beside the published one.

    sources: architecture → where its NADs come from; published: as in `spectra`.
    """
    header = [
        "network",
        "untrained networks",
        "method",
        "averaged over",
        "relative error of C",
        "overlap of the halves' first ten (chance)",
        "first clear gaps after index",
        "first singular value × √10,000 ± standard error (the two halves)",
        "published",
    ]
    rows = []
    for name, nads in estimates.items():
        networks = int(nads["networks"])
        if not networks:
            rows.append([labels[name], sources[name].file, *["–"] * (len(header) - 2)])
            continue
        first, error = first_singular_value(nads)
        halves = 100 * np.sqrt(nads["halves"][:, 0])
        ten = min(FIRST_TEN, len(nads["overlap"]))
        overlap = f"{nads['overlap'][ten - 1]:.2f} ({ten / np.prod(nads['shape']):.2f})"
        rows.append(
            [
                labels[name],
                networks,
                nads["method"],
                AVERAGED[str(nads["symmetry"])],
                f"{float(nads['error']):.3f}",
                # Where any basis is one of NADs, two halves' bases agree or not by the habits of the eigensolver.
                "–" if all_equal(nads) else overlap,
                gaps(nads["groups"], 4),
                f"{first:.3g} ± {error:.2g} ({halves[0]:.3g}, {halves[1]:.3g})",
                f"{100 * published[name][0]:.3g}" if name in published else "–",
            ]
        )
    return Table(header, rows)


def findings(
    estimates: Mapping[str, NADs],
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray]],
    labels: Mapping[str, str],
    names: tuple[str, str],
    published: Mapping[str, pd.Series],
) -> list[str]:
    """What the spectra show: how steep each is, the first singular values beside the published ones, the estimands' overlap.

    pairs: architecture → the directions of either estimand, as in `overlaps`; names: the two estimands.
    """
    found, steep, level = [], [], []
    for name, nads in estimates.items():
        values = nads["eigenvalues"]
        of = f"{labels[name]} ({int(nads['networks'])} untrained networks)"
        if all_equal(nads):
            level.append(f"for {of} all eigenvalues are equal within their errors, and no direction comes first")
        elif values[-1] > 1e-12 * values[0]:
            factor = (values[0] / values[-1]) ** 0.5
            steep.append(f"{factor:,.{0 if factor >= 100 else 1}f} for {of}")
        else:
            # The last eigenvalue is zero but for rounding.
            steep.append(f"more than 10⁶ for {of}")
    if steep:
        level.insert(0, f"√λ falls from the first NAD to the last by a factor of {', '.join(steep)}")
    if level:
        sentence = "; ".join(level)
        found.append(f"{sentence[0].upper()}{sentence[1:]}.")
    beside = [
        "{} {:.3g} ± {:.2g} (published {:.3g})".format(
            labels[name], *first_singular_value(estimates[name]), 100 * values[0]
        )
        for name, values in published.items()
    ]
    if beside:
        found.append(f"First singular value × √10,000 ± standard error: {', '.join(beside)}.")
    shared = []
    for name, (one, other) in pairs.items():
        ten = min(FIRST_TEN, len(one))
        share, halves = float(((one[:ten] @ other[:ten].T) ** 2).sum()) / ten, estimates[name]["overlap"][ten - 1]
        shared.append(
            f"{share:.2f} for {labels[name]} (halves of one estimate {halves:.2f}, chance {ten / one.shape[1]:.2f})"
        )
    if shared:
        found.append(f"The spans of the first {FIRST_TEN} NADs of {names[0]} and {names[1]} share {', '.join(shared)}.")
    return found


def section(notice: str | None) -> Section:
    """The section of the NADs; it shows no gallery of an architecture whose eigenvalues are all equal."""
    plan = NADsPlan.read(artifacts.planned("nads"))
    estimator = plan.estimator
    step = f", h = {estimator.step:g}" if estimator.estimand == "secant" else ""
    caption = f"scale {plan.scale} · {estimator.estimand}{step} · point: {estimator.point}"
    labels = {name: label(member.specification) for name, member in plan.members.items()}
    sources = {name: member.source for name, member in plan.members.items()}
    every = {name: artifacts.nads(name) for name in plan.members}
    estimates = {name: nads for name, nads in every.items() if nads["networks"]}
    # The published singular values are those of secants, for one channel of 32×32.
    secants = {
        name: plan.members[name].specification
        for name, nads in estimates.items()
        if nads["estimand"] == "secant" and sources[name].input == (1, *INPUT)
    }
    published = of_the_papers(secants, published_spectra())

    pictures = []
    if estimates:
        curves = {name: (nads["eigenvalues"], nads["standard_errors"]) for name, nads in estimates.items()}
        figure = spectra(curves, labels, published, f"{caption} · bands: ± 2 standard errors", notice)
        pictures.append(Picture("nad_spectra", figure, "spectra"))
    for name, nads in every.items():
        if name in estimates and all_equal(nads):
            continue  # whatever basis the solver returned, it would be looked at as if it meant something
        origin, nearby = f"from {sources[name].file}", None
        if name in estimates:
            origin = f"{nads['networks']} untrained networks · ≈: indices whose eigenvalues are equal within the errors"
            nearby = nads["nearby"]
        title = f"NADs of {labels[name]}"
        figure = gallery(nads["directions"], tuple(nads["shape"]), nearby, title, f"{caption} · {origin}", notice)
        pictures.append(Picture(f"nad_gallery_{name}", figure, title))

    names = (estimator.estimand, estimator.other().estimand)
    compared = [
        name
        for name, nads in estimates.items()
        if estimator.compare and sources[name].first is None and not all_equal(nads)
    ]
    others = {name: artifacts.nads(name, names[1]) for name in compared}
    pairs = {name: (every[name]["directions"], others[name]["directions"]) for name in compared}
    if compared:
        errors = {name: f"{float(every[name]['error']):.2f}, {float(others[name]['error']):.2f}" for name in compared}
        other = others[compared[-1]]
        figure = overlaps(
            pairs,
            {name: f"{labels[name]}\nerrors of C: {errors[name]}" for name in compared},
            names,
            f"{caption} · {names[1]}: {other['point']}, averaged over {AVERAGED[str(other['symmetry'])]}",
            notice,
        )
        pictures.append(Picture("nad_overlaps", figure, "overlap of the two estimands' NADs"))
    return Section(
        "NADs",
        caption,
        table(every, sources, labels, published),
        pictures,
        findings(estimates, pairs, labels, names, published),
    )
