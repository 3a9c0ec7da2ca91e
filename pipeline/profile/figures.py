"""The figures of one network's page, and of the page that compares several."""

import itertools
from collections.abc import Iterator, Sequence

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


FLOOR = 1e-4
"""Relative response below which there is only rounding."""


def floored(responses: np.ndarray) -> np.ndarray:
    """Relative responses of at least `FLOOR`, of which ratios can be taken."""
    return np.maximum(responses, FLOOR)


def times(value: float) -> str:
    """A relative response in words: ×14, ×0.031; below `FLOOR` it is 0."""
    return f"×{value if value > FLOOR else 0:.2g}" if value < 9.95 else f"×{value:.0f}"


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


def looks(results: Sequence[Result]) -> Iterator[tuple[Result, str, str | tuple]]:
    """Networks with the colour and the line style of each."""
    styles = style.SPECTRA if len(results) > 1 else [(style.BLUE, "-")]
    return ((result, *look) for result, look in zip(results, itertools.cycle(styles)))


def spectrum(*results: Result) -> Figure:
    """Relative response against the index of the NAD, with a band of two standard errors."""
    figure, ((panel,),) = style.new(1, 1, 5.4, 2.9)
    lowest, highest, count = 1.0, 1.0, 1
    for result, colour, line in looks(results):
        values, errors = result.nads.eigenvalues, result.nads.standard_errors
        squares = np.stack([values, values - 2 * errors, values + 2 * errors])
        middle, low, high = np.sqrt(np.maximum(squares, values[0] * 1e-9) / result.response.mean)
        index = np.arange(len(values)) + 1
        panel.fill_between(index, low, high, color=colour, alpha=0.25)
        panel.plot(index, middle, color=colour, linestyle=line, label=result.name)
        lowest, highest = min(lowest, middle[-1]), max(highest, high.max())
        count = max(count, len(values))
    if len(results) > 1:
        panel.legend()
    panel.axhline(1, color="0.5", linewidth=0.9, linestyle="--")
    panel.text(1, 1, " a random pattern", va="bottom", color="0.35", fontsize=8)
    style.index_axis(panel)
    panel.set(yscale="log", xlabel="index of the NAD", ylabel="response, times a random pattern's")
    # Where errors reach down to 0 the band would be all that is seen.
    panel.set_ylim(lowest / 2, 2 * highest)
    panel.yaxis.set_major_formatter(TIMES)
    panel.set_xlim(0.95, count * 1.05)
    return figure


def extent(waves: np.ndarray) -> tuple[float, ...]:
    """The corners of a picture (H, W) over frequency, 0 in the middle, as matplotlib takes them."""
    rows, columns = (np.array([-(side // 2), (side + 1) // 2]) - 0.5 for side in waves.shape)
    return *columns, *rows[::-1]


def ratios(results: Sequence[Result]) -> Figure:
    """The ratio of two networks' relative responses along the wave of each frequency, a panel for
    each pair."""
    pairs = list(itertools.combinations(results, 2))
    across = min(3, len(pairs))
    down = -(-len(pairs) // across)
    figure, panels = style.new(down, across, 2.9 * across + 0.9, 3.1 * down)
    maps = [floored(a.waves) / floored(b.waves) for a, b in pairs]
    most = np.clip(max(abs(np.log(each)).max() for each in maps), np.log(2), np.log(100))
    norm = matplotlib.colors.LogNorm(np.exp(-most), np.exp(most))
    style.bare(panels.flat[len(pairs) :])
    for panel, (a, b), ratio in zip(panels.flat, pairs, maps):
        flat = "auto" if 1 in ratio.shape else "equal"
        image = panel.imshow(ratio, "PuOr", norm, extent=extent(ratio), aspect=flat)
        panel.set_title(f"{a.name}\n÷ {b.name}", fontsize=9)
    figure.supxlabel("periods across the width", fontsize=9)
    figure.supylabel("periods down the height", fontsize=9)
    ticks = np.exp(np.linspace(-most, most, 5))
    bar = figure.colorbar(image, ax=panels, ticks=ticks, format="×%.2g", shrink=0.9)
    bar.minorticks_off()
    bar.set_label("ratio of the responses")
    return figure


def frequency_map(result: Result) -> Figure:
    """Relative response along the plane wave of every frequency, a curve of one row or column."""
    figure, ((panel,),) = style.new(1, 1, 4.9, 3.6)
    waves = result.waves
    if 1 in waves.shape:
        response = waves.ravel()[waves.size // 2 :]  # that of −k is equal
        panel.plot(response, color=style.BLUE)
        panel.set(ylim=(0, None), xlabel="periods along the input")
        panel.set_ylabel("response, times a random pattern's")
        panel.yaxis.set_major_formatter(TIMES)
        return figure
    low = max(waves[waves > 0].min(), waves.max() * 1e-3)
    norm = matplotlib.colors.LogNorm(low, max(waves.max(), low * 1.01))
    image = panel.imshow(np.maximum(waves, low), style.ACCURACY, norm, extent=extent(waves))
    panel.set(xlabel="periods across the width", ylabel="periods down the height")
    ticks = np.geomspace(norm.vmin, norm.vmax, 5)
    bar = figure.colorbar(image, ax=panel, ticks=ticks, format="×%.2g")
    bar.minorticks_off()
    bar.set_label("response, times a random pattern's")
    return figure


def trained(*results: Result) -> Figure:
    """Accuracy of trained networks on new samples against the response before training, with the
    names of the directions where there is one network."""
    figure, ((panel,),) = style.new(1, 1, 5.6, 3.4)
    panel.axhline(50, color="0.5", linewidth=0.9, linestyle="--")
    for (result, colour, _), marker in zip(looks(results), itertools.cycle("os^Dv")):
        rows = result.tried
        x = rows["response"].clip(lower=max(rows["response"].max() * 1e-4, 1e-12))
        mean, spread = 100 * rows["mean"], 100 * rows["std"].fillna(0)
        points = dict(markersize=6, capsize=3, color=colour, ecolor="0.4", label=result.name)
        curve = panel.errorbar(x, mean, spread, fmt=marker, **points)
        style.hollow(panel, curve, (rows["fitted"] < rows["networks"]).to_numpy())
        for place, name in enumerate(rows.index if len(results) == 1 else []):
            text = name.removeprefix("NAD ").replace("-", "−")
            offset = dict(textcoords="offset points", xytext=(0, -14 if place % 2 else 9))
            at = x.iloc[place], mean.iloc[place]
            panel.annotate(text, at, ha="center", fontsize=8, **offset)
    if len(results) > 1:
        panel.legend()
    panel.set(xscale="log", ylim=(41, 107), xlabel="response before training, times a random's")
    panel.xaxis.set_major_formatter(TIMES)
    panel.set_ylabel("accuracy on new samples (%)\n(dashed: guessing)")
    panel.margins(x=0.09)
    return figure
