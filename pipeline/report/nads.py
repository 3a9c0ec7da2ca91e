"""NADs in the report: their spectra, and the directions (paper 1, §4)."""

import itertools
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.nads import load
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.nads.gallery import gallery
from pipeline.nads.named import FOLDER
from pipeline.nads.spectrum import agreement
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.labels import papers_network
from pipeline.report.page import Finding, Picture, Rows, Section
from pipeline.report.published import table as published_table
from pipeline.report.run import NETWORK, Report
from pipeline.report.site.data import sprite
from pipeline.training.shapes import INPUT

# The arrays of one file of data/nads: the fields of `pipeline.nads.NADs`.
NADs = Mapping[str, np.ndarray]

# Number n of untrained networks, the rows of the published matrices of secants, as the
# paper states it; ResNet-18's spectrum looks like one of 5,000
# (`studies/published_rows.py`).
PUBLISHED_ROWS = 10_000

# The network of colour images among those whose NADs come with the package.
COLOUR = {"torchvision_resnet18": "torchvision.models:resnet18"}

# Indices of the NADs of which the page has pictures: all early ones, and of the later
# ones those along which networks were trained, by the papers and by us.
SHOWN = sorted(
    {*range(64), *range(66, 1024, 4), 64, 100, 128, 200, 256, 400, 512, 800, 1000}
)

BEYOND_CHANCE = (
    0.05  # of the share of two halves' NADs; of an MLP's noise it exceeds it by 0.01
)

MARKED = (
    0,
    3,
    9,
    30,
    102,
    302,
    1002,
)  # indices at which a published spectrum has crosses

# The images x at which the derivative was taken, in words.
POINTS = {
    "normal": "at one standard-normal image",
    "many": "at a new standard-normal image for each network",
    "zero": "at the image 0",
}


def published_spectra() -> dict[str, pd.Series]:
    """√λ = s/√n by network and NAD index, of the published singular values s of n
    secants."""
    singular = dict(published_table("singular_values").set_index("index").items())
    singular["lenet"] = pd.Series(
        {0: 0.189}
    )  # of the papers' public files; the table has none
    return {
        network: values / PUBLISHED_ROWS**0.5 for network, values in singular.items()
    }


def spectra(
    run: Report, names: Iterable[str], published: Mapping[str, pd.Series], caption: str
) -> Figure:
    """√λ against the NAD index on two log axes, with bands of two standard errors.

    names: the architectures; published: √λ by index, by architecture.
    """
    figure, ((panel,),) = style.new(1, 1, 7.4, 4.6)
    crosses = {"linewidth": 0.7, "markersize": 8, "markeredgewidth": 1.6}
    for name, (colour, line) in zip(names, itertools.cycle(style.SPECTRA)):
        values = run.nads[name]["eigenvalues"]
        errors = run.nads[name]["standard_errors"]
        squares = np.maximum(
            [values, values - 2 * errors, values + 2 * errors], values[0] * 1e-9
        )
        index = np.arange(len(values)) + 1
        (middle, *band) = np.sqrt(squares)
        panel.fill_between(index, *band, color=colour, alpha=0.2, linewidth=0)
        panel.plot(index, middle, color=colour, linestyle=line, label=run.labels[name])
        if name in published:
            index = published[name].index
            look = {
                "color": colour,
                "markevery": index.isin(MARKED).tolist(),
                "clip_on": False,
            }
            panel.plot(index + 1, published[name], "x-", zorder=1.9, **look, **crosses)
    if published:
        entry = f"published, $s/\\sqrt{{{PUBLISHED_ROWS:,}}}$"
        panel.plot([], [], "x-", color="0.3", label=entry, **crosses)
    ylabel = "$\\sqrt{\\lambda}$ (output per unit of input)"
    panel.set(yscale="log", xlabel="NAD index", ylabel=ylabel)
    style.index_axis(panel)
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    title = "Spectra of the input derivative's covariance over untrained networks"
    return style.finish(figure, title, caption, run.notice)


def unordered(nads: NADs) -> bool:
    """Whether no direction comes first: all eigenvalues are equal, or two halves of the
    networks share no more of their first NADs than chance, however many are taken."""
    values = nads["eigenvalues"]
    overlap = nads["overlap"]
    chance = np.arange(1, len(overlap) + 1) / np.prod(nads["shape"])
    shared = np.nan_to_num(overlap - chance).max()
    return bool(values[0] <= 1.01 * values[-1] or shared < BEYOND_CHANCE)


def fall(nads: NADs) -> str:
    """By which factor √λ falls from the first NAD to the last."""
    first, last = nads["eigenvalues"][[0, -1]]
    # A last eigenvalue below this share of the first is zero but for rounding.
    return f"{(first / last) ** 0.5:,.1f}" if last > 1e-12 * first else "more than 10⁶"


def table(
    run: Report, others: Mapping[str, NADs], published: Mapping[str, pd.Series]
) -> Rows:
    """The table of the NADs, a row for each network; others: the NADs of the other
    estimand."""
    for name, nads in run.nads.items():
        row = {"network": run.labels[name]}
        if not nads["networks"]:
            row["untrained networks"] = run.plan.members[name].source.file
            yield row
            continue
        values = nads["eigenvalues"]
        row["untrained networks"] = int(nads["networks"])
        row |= {"method": nads["method"], "symmetry": nads["symmetry"]}
        norm = "relative error of C, the derivative's covariance (Frobenius norm)"
        row |= {norm: f"{float(nads['error']):.3f}"}
        row["√λ of the first NAD ÷ last (too large of few networks)"] = fall(nads)
        if not unordered(
            nads
        ):  # of equal eigenvalues these show the eigensolver's habits alone
            ten, overlap = agreement(nads["overlap"])
            chance = f"{ten / np.prod(nads['shape']):.2f}"
            halves = "span that the first ten NADs of two halves of the networks share (chance)"
            row[halves] = f"{overlap:.2f} ({chance})"
        if name in others:  # which has ordered NADs alone
            both = nads["directions"][:ten] @ others[name]["directions"][:ten].T
            second = run.plan.estimator.swap_estimand().estimand
            row[f"span shared with the first ten {second} NADs"] = (
                f"{(both**2).sum() / ten:.2f}"
            )
        # The first singular value that 10,000 networks would have, and its standard
        # error.
        first = 100 * values[0] ** 0.5
        error = first * nads["standard_errors"][0] / (2 * values[0])
        halves = ", ".join(f"{100 * value**0.5:.3g}" for value in nads["halves"][:, 0])
        value = "first singular value of 10,000 networks, √λ × 100, ± standard error (two halves)"
        row[value] = f"{first:.3g} ± {error:.2g} ({halves})"
        if name in published:
            row["published"] = f"{100 * published[name][0]:.3g}"
        yield row


def finding(run: Report) -> Finding | None:
    """How much stronger one network responds along its first NAD than along its last;
    None where those of all networks are from files."""
    estimates = [name for name, nads in run.nads.items() if nads["networks"]]
    if not estimates:
        return None
    name = NETWORK if NETWORK in estimates else estimates[0]
    label = run.labels[name]
    nads = run.nads[name]
    text = f"Untrained, {label} responds {fall(nads)} times as much to its first NAD as to its last"
    text = f"No direction comes first for {label}" if unordered(nads) else text
    return Finding(name, text, f"{nads['networks']:,} untrained networks")


def explorer(run: Report, shown: Iterable[int] = SHOWN) -> Rows:
    """The NADs of every network for the page.

    Args:
        run: The networks and their NADs.
        shown: Indices of the NADs of which the page has pictures, in increasing order.
    """
    for name, nads in run.nads.items():
        shape = nads["shape"].tolist()
        indices = [index for index in shown if index < len(nads["directions"])]
        source, columns = sprite(nads["directions"][indices], shape)
        network = {
            "key": name,
            "name": run.labels[name],
            "shape": shape,
            "columns": columns,
        }
        network |= {
            "sprite": source,
            "indices": indices,
            "last": len(nads["directions"]) - 1,
        }
        if nads["networks"]:
            for key in ("eigenvalues", "standard_errors"):
                network[key] = [float(f"{number:.3e}") for number in nads[key][indices]]
            network |= {"networks": nads["networks"], "nearby": nads["nearby"][indices]}
        else:
            network["file"] = run.plan.members[name].source.file
        yield network


def named() -> Report:
    """The NADs that come with the package, as if a run had estimated them."""
    networks = NETWORKS | COLOUR
    requests = {}
    nads = {}
    for name in (name for name in networks if (FOLDER / f"{name}.npz").exists()):
        known = load(name)
        nads[name] = vars(known) | {"shape": np.array(known.shape)}
        source = Source(known.networks, input=known.shape)
        requests[name] = Request({"network": networks[name]}, source)
    estimator = Estimator("secant", known.method, known.step, known.point, True, False)
    return Report(NADsPlan("paper", 0, estimator, requests), nads, {})


def listed(run: Report) -> Section:
    """The section of NADs without figures of its own."""
    rows = [*table(run, {}, published_of(run))]
    return Section(None, caption(run), rows, [], finding(run), [*explorer(run)])


def caption(run: Report) -> str:
    """The scale, the derivative and its point, as a caption."""
    estimator = run.plan.estimator
    step = f", h = {estimator.step:g}" if estimator.estimand == "secant" else ""
    return f"scale {run.plan.scale} · {estimator.estimand}{step}, {POINTS[estimator.point]}"


def published_of(run: Report) -> dict[str, pd.Series]:
    """The published √λ by index, by architecture: of secants, for one channel of 32×32."""
    values = published_spectra() if run.plan.estimator.estimand == "secant" else {}
    return {
        name: values[network]
        for name, request in run.plan.members.items()
        if (network := papers_network(request.specification)) in values
        and request.source.input == INPUT
        and run.nads[name]["networks"]
    }


def section(run: Report, shown: Iterable[int] = SHOWN) -> Section:
    """The section of the NADs; where no direction comes first, there is no gallery.

    Args:
        run: The networks and their NADs.
        shown: As in `explorer`.
    """
    estimator = run.plan.estimator
    members = run.plan.members
    estimates = [name for name, nads in run.nads.items() if nads["networks"]]
    published = published_of(run)
    text = caption(run)
    figure = spectra(run, estimates, published, f"{text} · bands: ± 2 standard errors")
    pictures = [Picture("nad_spectra", figure)]
    ordered = [
        name
        for name in run.nads
        if name not in estimates or not unordered(run.nads[name])
    ]
    for name in ordered:
        nads = run.nads[name]
        title = f"NADs of {run.labels[name]}"
        nearby = None
        origin = f"from {members[name].source.file}"
        if name in estimates:
            origin = f"{nads['networks']} untrained networks · "
            nearby = nads["nearby"]
            origin += "≈: indices whose eigenvalues are equal within the errors"
        figure = gallery(nads["directions"], tuple(nads["shape"]), nearby)
        style.finish(figure, title, f"{text} · {origin}", run.notice)
        pictures.append(Picture(f"nad_gallery_{name}", figure))
    others = {
        name: artifacts.read_nads(name, estimator.swap_estimand().estimand)
        for name in ordered
        if len(members[name].source.estimators(estimator)) > 1
    }
    rows = [*table(run, others, published)]
    live = [*explorer(run, shown)]
    return Section(None, text, rows, pictures, finding(run), live)
