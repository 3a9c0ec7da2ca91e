"""The figures of one network's page."""

from collections.abc import Sequence

import matplotlib.colors
import matplotlib.ticker
import numpy as np
from matplotlib.figure import Figure

from pipeline.profile.response import wave
from pipeline.profile.result import Result
from pipeline.report import style

TILES = 6
"""Directions in a row of pictures."""

TIMES = matplotlib.ticker.FuncFormatter(lambda value, _: f"×{value:g}")
"""How axes write a relative response."""


def times(value: float) -> str:
    """A relative response in words: ×14, ×0.031; below a ten-thousandth it is rounding."""
    return f"×{value if value > 1e-4 else 0:.2g}" if value < 9.95 else f"×{value:.0f}"


def pictures(
    vectors: Sequence[np.ndarray], titles: Sequence[str], shape: tuple[int, int, int]
) -> Figure:
    """Directions (D,) as pictures above, and their energy over spatial frequency below.

    Directions of inputs of one row or column are drawn as curves.
    """
    figure, axes = style.new(2, len(vectors), 1.15 * len(vectors), 2.9)
    for vector, title, (pixels, energy) in zip(vectors, titles, axes.T):
        picture = vector.reshape(shape) / np.abs(vector).max()
        power = np.fft.fftshift((np.abs(np.fft.fft2(picture)) ** 2).sum(0))
        if 1 in shape[1:]:
            pixels.plot(picture.reshape(shape[0], -1).T, linewidth=0.6)
            energy.plot(power.ravel(), linewidth=0.6)
        elif shape[0] == 3:
            pixels.imshow(0.5 + picture.transpose(1, 2, 0) / 2)
        else:
            pixels.imshow(np.hstack(picture), cmap="gray", vmin=-1, vmax=1)
        if 1 not in shape[1:]:
            energy.imshow(power, cmap=style.ACCURACY, vmin=0)
        pixels.set_title(title.replace("-", "−"), fontsize=9)
        for panel in (pixels, energy):
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set(visible=True, color="0.7", linewidth=0.6)
    axes[0, 0].set_ylabel("pixels")
    axes[1, 0].set_ylabel("frequencies")
    return figure


def of_nads(result: Result, indices: Sequence[int]) -> Figure:
    """Pictures of the NADs of these indices, with their relative responses."""
    titles = [f"NAD {index}\n{times(result.relative[index])}" for index in indices]
    return pictures([result.nads.directions[index] for index in indices], titles, result.shape)


def weakest(result: Result) -> Figure:
    """Pictures of the plane waves of the weakest response, with their relative responses."""
    rows = list(result.frequencies[:TILES].itertuples(index=False))
    titles = [f"({row}, {column})\n{times(response)}" for row, column, response in rows]
    waves = [wave(row, column, result.shape) for row, column, _ in rows]
    return pictures(waves, titles, result.shape)


def spectrum(result: Result) -> Figure:
    """Relative response against the index of the NAD, with a band of two standard errors."""
    figure, ((panel,),) = style.new(1, 1, 5.4, 2.9)
    values, errors = result.nads.eigenvalues, result.nads.standard_errors
    mean = result.response.mean
    relative = lambda squares: np.sqrt(np.maximum(squares, values[0] * 1e-9) / mean)
    index, (low, high) = np.arange(len(values)) + 1, [values - 2 * errors, values + 2 * errors]
    panel.fill_between(index, relative(low), relative(high), color=style.BLUE, alpha=0.25)
    panel.plot(index, relative(values), color=style.BLUE)
    panel.axhline(1, color="0.5", linewidth=0.9, linestyle="--")
    panel.text(1, 1, " a random pattern", va="bottom", color="0.35", fontsize=8)
    style.index_axis(panel)
    panel.set(yscale="log", xlabel="index of the NAD", ylabel="response, times a random pattern's")
    # Where errors reach down to 0 the band would be all that is seen.
    panel.set_ylim(min(relative(values[-1]), 1) / 2, 2 * max(relative(high).max(), 1))
    panel.yaxis.set_major_formatter(TIMES)
    panel.set_xlim(0.95, len(values) * 1.05)
    return figure


def frequency_map(result: Result) -> Figure:
    """Relative response along the plane wave of every frequency, a curve of one row or column."""
    figure, ((panel,),) = style.new(1, 1, 4.9, 3.6)
    waves, (height, width) = result.waves, result.waves.shape
    if 1 in waves.shape:
        response = waves.ravel()[waves.size // 2 :]  # that of −k is equal
        panel.plot(response, color=style.BLUE)
        panel.set(ylim=(0, None), xlabel="periods along the input")
        panel.set_ylabel("response, times a random pattern's")
        panel.yaxis.set_major_formatter(TIMES)
        return figure
    columns, rows = (np.array([-(side // 2), (side + 1) // 2]) - 0.5 for side in (width, height))
    low = max(waves[waves > 0].min(), waves.max() * 1e-3)
    norm = matplotlib.colors.LogNorm(low, max(waves.max(), low * 1.01))
    extent = (*columns, *rows[::-1])
    image = panel.imshow(np.maximum(waves, low), cmap=style.ACCURACY, norm=norm, extent=extent)
    panel.set(xlabel="periods across the width", ylabel="periods down the height")
    ticks = np.geomspace(norm.vmin, norm.vmax, 5)
    bar = figure.colorbar(image, ax=panel, ticks=ticks, format="×%.2g")
    bar.minorticks_off()
    bar.set_label("response, times a random pattern's")
    return figure


def trained(result: Result) -> Figure:
    """Accuracy of trained networks on new samples against the response before training."""
    figure, ((panel,),) = style.new(1, 1, 5.6, 3.4)
    rows = result.tried
    x = rows["response"].clip(lower=max(rows["response"].max() * 1e-4, 1e-12))
    mean, spread = 100 * rows["mean"], 100 * rows["std"].fillna(0)
    panel.axhline(50, color="0.5", linewidth=0.9, linestyle="--")
    points = dict(fmt="o", markersize=6, capsize=3, color=style.BLUE, ecolor="0.4")
    curve = panel.errorbar(x, mean, spread, **points)
    style.hollow(panel, curve, (rows["fitted"] < rows["networks"]).to_numpy())
    for place, name in enumerate(rows.index):
        text = name.removeprefix("NAD ").replace("-", "−")
        offset = dict(textcoords="offset points", xytext=(0, -14 if place % 2 else 9))
        panel.annotate(text, (x.iloc[place], mean.iloc[place]), ha="center", fontsize=8, **offset)
    panel.set(xscale="log", ylim=(41, 107), xlabel="response before training, times a random's")
    panel.xaxis.set_major_formatter(TIMES)
    panel.set_ylabel("accuracy on new samples (%)\n(dashed: guessing)")
    panel.margins(x=0.09)
    return figure
