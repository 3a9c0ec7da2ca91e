"""The figures of one network's page, and of the page that compares several."""

import itertools
from collections.abc import Mapping, Sequence

import matplotlib.colors
import numpy as np
from matplotlib.figure import Figure

from pipeline.nads.gallery import pictures
from pipeline.profile.response import wave
from pipeline.profile.result import Result
from pipeline.profile.words import TILES, floored, times
from pipeline.report import style
from pipeline.report.fourier import DIRECTION, pair

RESPONSE = "response, times a random pattern's"  # an axis's name for a relative response
TIMES = "×{x:g}"  # and how its values are written


def nads(result: Result, indices: Sequence[int]) -> Figure:
    """Pictures of the NADs of these indices, with their relative responses."""
    titles = [f"NAD {index}\n{times(result.relative[index])}" for index in indices]
    return pictures(result.nads.directions[list(indices)], titles, result.response.shape)


def weakest(result: Result) -> Figure:
    """Pictures of the plane waves of the weakest response, with their responses."""
    rows, shape = result.response.frequencies[:TILES], result.response.shape
    titles = [f"{pair(row)}\n{times(row['response'])}" for _, row in rows.iterrows()]
    waves = [wave(*frequency, shape) for frequency in rows[DIRECTION].to_numpy()]
    return pictures(waves, titles, shape)


def spectrum(*results: Result) -> Figure:
    """Response against the index of the NAD, with a band of two standard errors."""
    figure, ((panel,),) = style.new(1, 1, 5.4, 2.9)
    lowest = 1.0
    for result, (colour, line) in zip(results, style.SPECTRA):
        values, errors = result.nads.eigenvalues, result.nads.standard_errors
        squares = np.maximum([values, values - 2 * errors, values + 2 * errors], values[0] * 1e-9)
        middle, low, high = np.sqrt(squares / result.response.mean)
        index = np.arange(len(values)) + 1
        panel.fill_between(index, low, high, color=colour, alpha=0.25)
        panel.plot(index, middle, color=colour, linestyle=line, label=result.name)
        lowest = min(lowest, middle[-1])
    if len(results) > 1:
        panel.legend()
    panel.axhline(1, color="0.5", linewidth=0.9, linestyle="--")
    panel.text(1, 1, " a random pattern", va="bottom", color="0.35", fontsize=8)
    style.index_axis(panel)
    panel.set(yscale="log", xlabel="index of the NAD", ylabel=RESPONSE)
    panel.set_xlim(0.95, 1.05 * max(len(each.relative) for each in results))
    panel.set_ylim(lowest / 2)  # where errors reach down to 0 the band would be all that is seen
    panel.yaxis.set_major_formatter(TIMES)
    return figure


def maps(
    panels: Mapping[str, np.ndarray],
    label: str = RESPONSE,
    colours: str = style.ACCURACY,
    ends: tuple[float, float] | None = None,
) -> Figure:
    """Numbers (H, W) over spatial frequency, 0 in the middle, by their titles, all on one
    logarithmic scale; ends: of the scale, which by default spans a factor of 1000 at most."""
    if ends is None:
        every = np.concatenate([*panels.values()], axis=None)
        least = max(every.min(), every.max() * 1e-3)
        ends = least, max(every.max(), least * 1.01)
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure, axes = style.new(down, across, 3.1 * across + 0.9, 3.2 * down)
    style.bare(axes.flat[len(panels) :])
    norm = matplotlib.colors.LogNorm(*ends, clip=True)  # zeros have the lowest colour
    for axis, (title, numbers) in zip(axes.flat, panels.items()):
        rows, columns = ((-(side // 2) - 0.5, (side + 1) // 2 - 0.5) for side in numbers.shape)
        image = axis.imshow(numbers, colours, norm, extent=(*columns, *rows[::-1]))
        axis.set_title(title, fontsize=9)
    figure.supxlabel("periods across the width", fontsize=9)
    figure.supylabel("periods down the height", fontsize=9)
    bar = figure.colorbar(image, ax=axes, ticks=np.geomspace(*ends, 5), format="×%.2g", shrink=0.9)
    bar.minorticks_off()
    bar.set_label(label)
    return figure


def ratios(results: Sequence[Result]) -> Figure:
    """The ratio of two networks' relative responses along the wave of each frequency, a panel for
    each pair."""
    panels = {
        f"{a.name}\n÷ {b.name}": floored(a.response.waves) / floored(b.response.waves)
        for a, b in itertools.combinations(results, 2)
    }
    most = np.clip(max(abs(np.log(each)).max() for each in panels.values()), np.log(2), np.log(100))
    return maps(panels, "ratio of the responses", "PuOr", (np.exp(-most), np.exp(most)))


def learned(result: Result) -> Figure:
    """Relative response at images along each NAD of the architecture, before and after training."""
    figure, ((panel,),) = style.new(1, 1, 5.4, 2.9)
    runs = {"before training": result.checkpoint.before, "trained": result.checkpoint.after}
    for (name, run), look in zip(runs.items(), style.CURVES):
        along = floored(run.along(result.nads.directions))
        points = {"linestyle": "none", "marker": look["marker"], "color": look["color"]}
        panel.plot(np.arange(len(along)) + 1, along, label=name, markersize=2.5, **points)
    panel.legend(loc="lower left")
    style.index_axis(panel)
    panel.set(yscale="log", xlabel="index of the architecture's NAD", ylabel=RESPONSE)
    panel.yaxis.set_major_formatter(TIMES)
    return figure


def learned_directions(result: Result) -> Figure:
    """Pictures of the directions to which the trained network responds most."""
    some = result.checkpoint.directions(TILES)
    titles = [times(each) for each in result.checkpoint.after.along(some)]
    return pictures(some, titles, result.response.shape)


def trained(*results: Result) -> Figure:
    """Accuracy of trained networks on new samples against the response before training, with the
    names of the directions where there is one network."""
    figure, ((panel,),) = style.new(1, 1, 5.6, 3.4)
    panel.axhline(50, color="0.5", linewidth=0.9, linestyle="--")
    for result, (colour, _), marker in zip(results, style.SPECTRA, itertools.cycle("os^Dv")):
        rows = result.tried
        x = floored(rows["response"])
        mean, spread = 100 * rows["mean"], 100 * rows["std"].fillna(0)
        points = dict(markersize=6, capsize=3, color=colour, ecolor="0.4", label=result.name)
        curve = panel.errorbar(x, mean, spread, fmt=marker, **points)
        style.hollow(panel, curve, (rows["fitted"] < rows["seeds"]).to_numpy())
        for number, name in enumerate(rows.index if len(results) == 1 else []):
            text = name.removeprefix("NAD ").replace("-", "−")
            offset = dict(textcoords="offset points", xytext=(0, -14 if number % 2 else 9))
            at = x.iloc[number], mean.iloc[number]
            panel.annotate(text, at, ha="center", fontsize=8, **offset)
    if len(results) > 1:
        panel.legend()
    panel.set(xscale="log", ylim=(41, 107), xlabel="response before training, times a random's")
    panel.xaxis.set_major_formatter(TIMES)
    panel.set_ylabel("accuracy on new samples (%)\n(dashed: guessing)")
    panel.margins(x=0.14)
    return figure
