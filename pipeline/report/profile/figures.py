"""The figures of one network's page: directions as pictures, the spectrum, the map over frequencies, the trained networks."""

from collections.abc import Sequence

import matplotlib.colors
import matplotlib.ticker
import numpy as np
from matplotlib.figure import Figure

from pipeline.nads.response import wave
from pipeline.report import style
from pipeline.report.profile.found import UNSEEN, Found

TILES = 6
"""Directions in a row of pictures."""


TIMES = matplotlib.ticker.FuncFormatter(lambda value, _: f"×{value:g}")
"""How axes write a relative response."""


def times(value: float) -> str:
    """A relative response in words: ×14, ×0.031."""
    return f"×{value:.2g}" if value < 9.95 else f"×{value:.0f}"


def round_numbers(low: float, high: float) -> list[float]:
    """The numbers 1, 2 and 5 times powers of ten between two positive ones, or these two where there are fewer than two."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    found = [digit * 10.0**power for power in powers for digit in (1, 2, 5) if low <= digit * 10.0**power <= high]
    return found if len(found) > 1 else [float(f"{low:.2g}"), float(f"{high:.2g}")]


def pictures(vectors: Sequence[np.ndarray], titles: Sequence[str], shape: tuple[int, int, int]) -> Figure:
    """Directions in pixels above, and their energy over spatial frequency, zero in the middle, below.

    vectors: K of (D,); one channel is drawn in grey, three as colours around grey, other numbers side by side.
    """
    figure, axes = style.new(2, len(vectors), 1.15 * len(vectors), 2.9)
    for vector, title, (pixels, energy) in zip(vectors, titles, axes.T):
        picture = vector.reshape(shape) / np.abs(vector).max()
        if shape[0] == 3:
            pixels.imshow(0.5 + picture.transpose(1, 2, 0) / 2)
        else:
            pixels.imshow(np.hstack(picture), cmap="gray", vmin=-1, vmax=1)
        power = np.fft.fftshift((np.abs(np.fft.fft2(picture)) ** 2).sum(0))
        energy.imshow(power, cmap=style.ACCURACY, vmin=0)
        pixels.set_title(title, fontsize=9)
        for panel in (pixels, energy):
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set(visible=True, color="0.7", linewidth=0.6)
    axes[0, 0].set_ylabel("pixels")
    axes[1, 0].set_ylabel("frequencies")
    return figure


def of_nads(found: Found, indices: Sequence[int]) -> Figure:
    """NADs of these indices, with their relative responses."""
    titles = [f"NAD {index}\n{times(found.relative[index])}" for index in indices]
    return pictures([found.nads.directions[index] for index in indices], titles, found.shape)


def of_waves(found: Found, frequencies: Sequence[tuple[int, int]]) -> Figure:
    """Plane waves of these frequencies, with their relative responses."""
    titles = [f"({r}, {c})\n{times(found.at_wave((r, c)))}".replace("-", "−") for r, c in frequencies]
    return pictures([wave(*each, found.shape) for each in frequencies], titles, found.shape)


def spectrum(found: Found) -> Figure:
    """Relative response against the index of the NAD, with a band of two standard errors; 1 is a random direction."""
    figure, ((panel,),) = style.new(1, 1, 5.4, 2.9)
    values, errors = found.nads.eigenvalues, found.nads.standard_errors
    floor = values[0] * 1e-9
    index = np.arange(len(values)) + 1
    band = [np.sqrt(np.maximum(values + sign * 2 * errors, floor) / found.mean) for sign in (-1, 1)]
    panel.fill_between(index, *band, alpha=0.25, color="#0072B2", linewidth=0)
    panel.plot(index, np.sqrt(np.maximum(values, floor) / found.mean), color="#0072B2")
    panel.axhline(1, color="0.5", linewidth=0.9, linestyle="--")
    panel.text(1, 1, " a random pattern", va="bottom", color="0.35", fontsize=8)
    style.index_axis(panel)
    panel.set(yscale="log", xlabel="index of the NAD", ylabel="response, times a random pattern's")
    # Where errors reach down to 0 the band would be all that is seen.
    low, high = np.sqrt(np.maximum(values[-1], floor) / found.mean), band[1].max()
    panel.set_ylim(min(low, 1) / 2, 2 * max(high, 1))
    panel.yaxis.set_major_formatter(TIMES)
    panel.set_xlim(0.95, max(len(values) * 1.05, 2))
    return figure


def frequency_map(found: Found) -> Figure:
    """Relative response along the plane wave of every frequency."""
    figure, ((panel,),) = style.new(1, 1, 4.9, 3.6)
    height, width = found.waves.shape
    extent = (-(width // 2) - 0.5, (width + 1) // 2 - 0.5, (height + 1) // 2 - 0.5, -(height // 2) - 0.5)
    positive = found.waves[found.waves > 0]
    low = max(positive.min(), found.waves.max() * 1e-3)
    norm = matplotlib.colors.LogNorm(low, max(found.waves.max(), low * 1.01))
    image = panel.imshow(np.maximum(found.waves, low), cmap=style.ACCURACY, norm=norm, extent=extent)
    panel.set(xlabel="periods across the width", ylabel="periods down the height")
    bar = figure.colorbar(image, ax=panel, ticks=round_numbers(norm.vmin, norm.vmax), format=TIMES)
    bar.minorticks_off()
    bar.set_label("response, times a random pattern's")
    return figure


def trained(found: Found) -> Figure:
    """Accuracy of trained networks on new samples against the response before training, a point for each direction."""
    figure, ((panel,),) = style.new(1, 1, 5.6, 3.4)
    rows = found.tried
    floor = max(rows["response"].max() * 1e-4, 1e-12)
    x = rows["response"].clip(lower=floor)
    panel.axhline(50, color="0.5", linewidth=0.9, linestyle="--")
    panel.axhspan(45, 100 * UNSEEN, color="0.5", alpha=0.08, linewidth=0)
    curve = panel.errorbar(
        x,
        100 * rows["mean"],
        100 * rows["std"].fillna(0),
        fmt="o",
        markersize=6,
        capsize=3,
        color="#0072B2",
        ecolor="0.4",
    )
    style.hollow(panel, curve, (rows["fitted"] < rows["networks"]).to_numpy())
    for place, (name, at) in enumerate(zip(rows.index, x)):
        below = place % 2
        panel.annotate(
            name.removeprefix("NAD ").replace("-", "−"),
            (at, 100 * rows["mean"].iloc[place]),
            textcoords="offset points",
            xytext=(0, -14 if below else 9),
            ha="center",
            fontsize=8,
        )
    panel.set(xscale="log", ylim=(41, 107), xlabel="response before training, times a random pattern's")
    panel.xaxis.set_major_formatter(TIMES)
    panel.set_ylabel("accuracy on new samples (%)\n(dashed: guessing)")
    panel.margins(x=0.09)
    return figure
