"""NADs in the report: their spectra, and the directions (paper 1, §4)."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.nads import NADs, load
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.nads.gallery import gallery
from pipeline.nads.named import FOLDER
from pipeline.nads.spectrum import agreement
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.labels import papers_network
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import read_published
from pipeline.report.run import NETWORK, Report
from pipeline.report.site.data import make_sprite
from pipeline.training.shapes import INPUT

PUBLISHED_ROWS = 10_000
"""Number n of untrained networks, the rows of the published matrices of secants.

The paper states it; ResNet-18's spectrum looks like one of 5,000
(`studies/published_rows.py`).
"""

COLOUR = {"torchvision_resnet18": "torchvision.models:resnet18"}
"""The network of colour images whose NADs come with the package."""

SHOWN = sorted(
    {*range(64), *range(66, 1024, 4), 64, 100, 128, 200, 256, 400, 512, 800, 1000}
)
"""Indices of the NADs that the page has pictures of.

All low ones, and of the higher ones those along which networks were trained, by the
papers and by us.
"""

BEYOND_CHANCE = 0.05
"""What two halves share of their first NADs beyond chance, if there is an order.

The noise of an MLP's estimates exceeds chance by 0.01.
"""

MARKED = (0, 3, 9, 30, 102, 302, 1002)
"""Indices at which a published spectrum has crosses."""

POINTS = {
    "normal": "at one standard-normal image",
    "many": "at a new standard-normal image for each network",
    "zero": "at the image 0",
}
"""The images x at which the derivative was taken, in words."""


def read_published_spectra() -> dict[str, pd.Series]:
    """√λ = s/√n by network and NAD index, of the published singular values s."""
    singular_values = dict(read_published("singular_values").set_index("index").items())
    # From the papers' public files; the table has none of LeNet.
    singular_values["lenet"] = pd.Series({0: 0.189})
    return {
        network: values / PUBLISHED_ROWS**0.5
        for network, values in singular_values.items()
    }


def draw_spectra(
    run: Report, names: Iterable[str], published: Mapping[str, pd.Series], caption: str
) -> Figure:
    """Draw √λ over the NAD index on two log axes, with bands of two standard errors.

    Args:
        run: The networks and their NADs.
        names: The architectures.
        published: Published √λ by index, by architecture.
        caption: The caption.
    """
    figure, ((panel,),) = style.new_figure(1, 1, 7.4, 4.6)
    crosses = {"linewidth": 0.7, "markersize": 8, "markeredgewidth": 1.6}
    for number, name in enumerate(names):
        colour, line = style.SPECTRA[number % len(style.SPECTRA)]
        values = run.nads[name].eigenvalues
        errors = run.nads[name].standard_errors
        floor = values[0] * 1e-9
        lower = np.sqrt(np.maximum(values - 2 * errors, floor))
        upper = np.sqrt(np.maximum(values + 2 * errors, floor))
        roots = np.sqrt(np.maximum(values, floor))
        x = np.arange(len(values)) + 1
        panel.fill_between(x, lower, upper, color=colour, alpha=0.2, linewidth=0)
        panel.plot(x, roots, color=colour, linestyle=line, label=run.labels[name])
        if name in published:
            index = published[name].index
            panel.plot(
                index + 1,
                published[name],
                "x-",
                zorder=1.9,
                color=colour,
                markevery=index.isin(MARKED).tolist(),
                clip_on=False,
                **crosses,
            )
    if published:
        label = f"published, $s/\\sqrt{{{PUBLISHED_ROWS:,}}}$"
        panel.plot([], [], "x-", color="0.3", label=label, **crosses)
    ylabel = "$\\sqrt{\\lambda}$ (output per unit of input)"
    panel.set(yscale="log", xlabel="NAD index", ylabel=ylabel)
    style.set_index_axis(panel)
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    title = "Spectra of the input derivative's covariance over untrained networks"
    return style.finish(figure, title, caption, run.notice)


def is_unordered(nads: NADs) -> bool:
    """Whether no direction comes first.

    Then all eigenvalues are equal, or two halves of the networks share no more of their
    first NADs than chance, whatever the number of NADs.
    """
    values = nads.eigenvalues
    overlap = nads.overlap
    chance = np.arange(1, len(overlap) + 1) / np.prod(nads.shape)
    beyond_chance = np.nan_to_num(overlap - chance).max()
    return bool(values[0] <= 1.01 * values[-1] or beyond_chance < BEYOND_CHANCE)


def format_decline(nads: NADs) -> str:
    """The factor by which √λ declines from the first NAD to the last, as text."""
    first, last = nads.eigenvalues[[0, -1]]
    # A last eigenvalue below this share of the first is zero but for rounding.
    if last <= 1e-12 * first:
        return "more than 10⁶"
    return f"{(first / last) ** 0.5:,.1f}"


def make_table(
    run: Report, others: Mapping[str, NADs], published: Mapping[str, pd.Series]
) -> Rows:
    """The table of the NADs, a row for each network.

    Args:
        run: The networks and their NADs.
        others: NADs of the other estimand, by architecture.
        published: Published √λ by index, by architecture.
    """
    for name, nads in run.nads.items():
        if not nads.networks:
            file = run.plan.members[name].source.file
            yield {"network": run.labels[name], "untrained networks": file}
            continue
        row = {
            "network": run.labels[name],
            "untrained networks": nads.networks,
            "method": nads.method,
            "symmetry": nads.symmetry,
            "relative error of C, the derivative's covariance (Frobenius norm)": (
                f"{nads.error:.3f}"
            ),
            "√λ of the first NAD ÷ last (too large if the networks are few)": (
                format_decline(nads)
            ),
        }
        # Of equal eigenvalues, the overlap shows only the eigensolver's habits.
        if not is_unordered(nads):
            row |= _describe_overlap(nads)
        if name in others:
            estimand = run.plan.estimator.swap_estimand().estimand
            column = f"span shared with the first ten {estimand} NADs"
            row[column] = _measure_shared_span(nads, others[name])
        column = (
            "first singular value of 10,000 networks, "
            "√λ × 100, ± standard error (two halves)"
        )
        row[column] = _describe_first_value(nads)
        if name in published:
            row["published"] = f"{100 * published[name][0]:.3g}"
        yield row


def _describe_overlap(nads: NADs) -> dict[str, str]:
    ten, overlap = agreement(nads.overlap)
    chance = ten / np.prod(nads.shape)
    column = "span that the first ten NADs of two halves of the networks share (chance)"
    return {column: f"{overlap:.2f} ({chance:.2f})"}


def _measure_shared_span(nads: NADs, others: NADs) -> str:
    ten, _ = agreement(nads.overlap)
    products = nads.directions[:ten] @ others.directions[:ten].T
    return f"{(products**2).sum() / ten:.2f}"


def _describe_first_value(nads: NADs) -> str:
    """The first singular value that 10,000 networks would have, and its error."""
    eigenvalue = nads.eigenvalues[0]
    value = 100 * eigenvalue**0.5
    error = value * nads.standard_errors[0] / (2 * eigenvalue)
    halves = ", ".join(f"{100 * half**0.5:.3g}" for half in nads.halves[:, 0])
    return f"{value:.3g} ± {error:.2g} ({halves})"


def make_finding(run: Report) -> Finding | None:
    """How much more strongly one network responds along its first NAD than its last.

    Returns:
        The finding; None if no network's NADs were estimated.
    """
    estimates = [name for name, nads in run.nads.items() if nads.networks]
    if not estimates:
        return None
    name = NETWORK if NETWORK in estimates else estimates[0]
    nads = run.nads[name]
    text = (
        f"Untrained, {run.labels[name]} responds {format_decline(nads)} times as much "
        "to its first NAD as to its last"
    )
    if is_unordered(nads):
        text = f"{run.labels[name]} prefers no direction"
    return Finding(name, text, f"{nads.networks:,} untrained networks")


def make_explorer(run: Report, shown: Iterable[int] = SHOWN) -> Rows:
    """The NADs of every network for the page.

    Args:
        run: The networks and their NADs.
        shown: Indices of the NADs that the page has pictures of, in increasing order.
    """
    for name, nads in run.nads.items():
        shape = list(nads.shape)
        count = len(nads.directions)
        indices = [index for index in shown if index < count]
        sprite, columns = make_sprite(nads.directions[indices], shape)
        network: dict[str, Any] = {
            "key": name,
            "name": run.labels[name],
            "shape": shape,
            "columns": columns,
            "sprite": sprite,
            "indices": indices,
            "last": count - 1,
        }
        if nads.networks:
            for key in ("eigenvalues", "standard_errors"):
                values = getattr(nads, key)[indices]
                network[key] = [float(f"{value:.3e}") for value in values]
            network["networks"] = nads.networks
            network["nearby"] = nads.nearby[indices]
        else:
            network["file"] = run.plan.members[name].source.file
        yield network


def load_named_run() -> Report:
    """Load the NADs that come with the package, as if a run had estimated them."""
    requests = {}
    nads = {}
    for name, import_path in (NETWORKS | COLOUR).items():
        if (FOLDER / f"{name}.npz").exists():
            known = load(name)
            nads[name] = known
            source = Source(known.networks, input=known.shape)
            requests[name] = Request({"network": import_path}, source)
    estimator = Estimator("secant", known.method, known.step, known.point, True, False)
    return Report(NADsPlan("paper", 0, estimator, requests), nads, {})


def make_section_without_figures(run: Report) -> Section:
    """The section of NADs without figures of its own."""
    rows = list(make_table(run, {}, find_published(run)))
    networks = list(make_explorer(run))
    return Section(None, make_caption(run), rows, [], make_finding(run), networks)


def make_caption(run: Report) -> str:
    """The scale, the derivative and its point, as a caption."""
    estimator = run.plan.estimator
    derivative = estimator.estimand
    if derivative == "secant":
        derivative += f", h = {estimator.step:g}"
    return f"scale {run.plan.scale} · {derivative}, {POINTS[estimator.point]}"


def find_published(run: Report) -> dict[str, pd.Series]:
    """The published √λ by index, by architecture: of secants, and inputs of 1×32×32."""
    if run.plan.estimator.estimand != "secant":
        return {}
    spectra = read_published_spectra()
    published = {}
    for name, request in run.plan.members.items():
        network = papers_network(request.specification)
        estimated = run.nads[name].networks
        if network in spectra and request.source.input == INPUT and estimated:
            published[name] = spectra[network]
    return published


def make_section(run: Report, shown: Iterable[int] = SHOWN) -> Section:
    """The section of the NADs, with a gallery for each network that has an order.

    Args:
        run: The networks and their NADs.
        shown: As in `make_explorer`.
    """
    estimator = run.plan.estimator
    estimates = [name for name, nads in run.nads.items() if nads.networks]
    published = find_published(run)
    caption = make_caption(run)
    lines = f"{caption} · bands: ± 2 standard errors"
    figure = draw_spectra(run, estimates, published, lines)
    pictures = [Picture("nad_spectra", figure)]
    others = {}
    for name, nads in run.nads.items():
        if name in estimates and is_unordered(nads):
            continue
        figure = draw_gallery(run, name, caption)
        pictures.append(Picture(f"nad_gallery_{name}", figure))
        if len(run.plan.members[name].source.estimators(estimator)) > 1:
            other = estimator.swap_estimand().estimand
            others[name] = NADs.load(artifacts.find_nads(name, other))
    return Section(
        None,
        caption,
        list(make_table(run, others, published)),
        pictures,
        make_finding(run),
        list(make_explorer(run, shown)),
    )


def draw_gallery(run: Report, name: str, caption: str) -> Figure:
    """Draw the NADs of one architecture.

    Args:
        run: The networks and their NADs.
        name: The architecture.
        caption: The caption, without where the NADs are from.
    """
    nads = run.nads[name]
    nearby = None
    origin = f"from {run.plan.members[name].source.file}"
    if nads.networks:
        nearby = nads.nearby
        origin = (
            f"{nads.networks} untrained networks · "
            "≈: indices whose eigenvalues are equal within the errors"
        )
    figure = gallery(nads.directions, nads.shape, nearby)
    title = f"NADs of {run.labels[name]}"
    return style.finish(figure, title, f"{caption} · {origin}", run.notice)
