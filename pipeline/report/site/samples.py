"""The first part of the page: what D(v) is, drawn from samples, and how small the class is in them."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from matplotlib.figure import Figure

from pipeline import experiments
from pipeline.datasets import separable
from pipeline.nads.plan import NADsPlan
from pipeline.project import artifacts
from pipeline.project.seeds import stream
from pipeline.project.shapes import INPUT, Input, dimension
from pipeline.report import style
from pipeline.report.labels import label
from pipeline.report.page import Picture, Section, Table

EPS, SIGMA = 1.0, 1.0
"""Amplitude and noise of the samples that are drawn."""

COUNT = 400
"""Samples in the histograms."""

CLASSES = {-1: ("#0072B2", "class −1"), 1: ("#D55E00", "class +1")}


def amplitudes() -> Iterator[tuple[str, int, float, float]]:
    """(where, D, ε, σ) of every D(v) among the experiments that are planned, each once."""
    for name in experiments.names():
        plan = artifacts.planned(name)
        settings, sigma = plan["settings"], plan["settings"].get("sigma")
        every = [
            (dimension(member["input"]), sigma[architecture] if isinstance(sigma, dict) else sigma)
            for architecture, member in plan["members"].items()
        ]
        of = {key: settings[key] for key in ("eps", "eps1", "eps2") if key in settings}
        for key, eps in of.items():
            channel = {"eps1": ", first channel", "eps2": ", second channel"}.get(key, "")
            yield from ((name + channel, count, eps, noise) for count, noise in dict.fromkeys(every))


def share(count: int, eps: float, sigma: float) -> float:
    """The part of the mean square length of a sample of D(v) that the class makes up: ε² of ε² + σ²(D − 1); count: D."""
    return eps**2 / (eps**2 + sigma**2 * (count - 1))


def picture(v: np.ndarray, pixels: Input, caption: str, title: str, notice: str | None) -> Figure:
    """One v, one sample of either class, and two things that can be measured on samples: ⟨x, v⟩, and the best single pixel.

    v: (D,), a unit vector, of height and width `pixels`.
    """
    rng = stream(0, "site", "samples")
    y = np.repeat([-1, 1], COUNT // 2)
    x = separable.linearly_separable(separable.normal(rng, COUNT, len(v)), y, v, EPS, SIGMA, (1, *pixels)).flatten(1)
    figure = style.blank(8.2, 2.7)
    grid = figure.add_gridspec(2, 4, width_ratios=[1, 1, 1, 1.6])
    images = {"the direction v": v, "a sample, y = −1": x[0].numpy(), "a sample, y = +1": x[-1].numpy()}
    for column, (text, values) in enumerate(images.items()):
        panel = figure.add_subplot(grid[:, column])
        bound = np.abs(values).max()
        panel.imshow(values.reshape(pixels), cmap="gray", vmin=-bound, vmax=bound)
        panel.set_title(text, fontsize=9)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
    along = (x @ torch.as_tensor(v, dtype=x.dtype)).numpy()
    pixel = x[:, int(np.abs(v).argmax())].numpy()
    # Of twice a tenth in width, so that ±ε is in the middle of a bin.
    edges = np.arange(-3.9, 4, 0.2)
    for row, (values, text) in enumerate(
        ((along, "$\\langle x, v \\rangle$"), (pixel, "the pixel of x where |v| is largest"))
    ):
        panel = figure.add_subplot(grid[row, 3])
        for sign, (colour, called) in CLASSES.items():
            panel.hist(values[y == sign], edges, color=colour, alpha=0.6, label=called)
        panel.set(xlabel=text, yticks=[])
        panel.spines["left"].set_visible(False)
        if row == 0:
            panel.legend(loc="upper right", frameon=False)
    return style.finish(figure, title, caption, notice)


def section(notice: str | None) -> Section:
    """The section on D(v), with v a NAD of the first network whose NADs have one channel."""
    caption = f"{COUNT} samples · ε = {EPS:g}, σ = {SIGMA:g}"
    name, index, v, pixels = chosen()
    v = v / np.linalg.norm(v)
    figure = picture(
        v,
        pixels,
        f"v: NAD {index} of {name} · {caption}",
        "D(v): a class that is a number along v, and noise everywhere else",
        notice,
    )
    places = list(amplitudes())
    rows = [
        [where, count, f"{eps:g}", f"{sigma:g}", f"{100 * share(count, eps, sigma):.2g}"]
        for where, count, eps, sigma in places
    ]
    finding = (
        f"Along v every sample of D(v) lies at −ε or at +ε exactly, with no spread, so one number separates the classes; of a sample's "
        f"mean square length the class makes up {span([share(*place) for _, *place in places])} % in the experiments of this run."
    )
    table = Table(["experiment", "D", "ε", "σ", "share of the class in a sample's mean square (%)"], rows)
    return Section(
        "D(v)", caption, table, [Picture("samples", figure, "one direction and samples of both classes")], [finding]
    )


def span(shares: Sequence[float]) -> str:
    """The smallest and the largest of some shares, in per cent."""
    return " to ".join(dict.fromkeys(f"{100 * value:.2g}" for value in (min(shares), max(shares))))


def chosen() -> tuple[str, int, np.ndarray, Input]:
    """A direction to show: NAD 8 (the last one, where there are fewer) of a network with NADs of one channel, LeNet's first.

    What the network is called, the index, the direction (D,), its height and width.
    """
    members = NADsPlan.read(artifacts.planned("nads")).members
    for name in sorted(members, key=lambda name: name != "lenet"):
        found = artifacts.nads(name)
        channels, *pixels = found["shape"].tolist()
        if channels == 1:
            index = min(8, len(found["directions"]) - 1)
            return label(members[name].specification), index, found["directions"][index], tuple(pixels)
    return "no network (the constant direction)", 0, np.ones(dimension(INPUT)), INPUT
