"""Pictures of directions, in pixels and over spatial frequency (paper 1, fig. 5)."""

from collections.abc import Sequence

import matplotlib.cm
import matplotlib.colors
import numpy as np
from matplotlib.figure import Figure

INDICES = (0, 1, 8, 64, 256, 1000)
"""NADs of a gallery."""

ENERGY = 0.99
"""Part of each direction's energy within the frequencies that are shown."""


def gallery(
    directions: np.ndarray, shape: tuple[int, ...], nearby: np.ndarray | None
) -> Figure:
    """Draw chosen directions as `pictures`, with their indices above them.

    Args:
        directions: (K, D).
        shape: (C, H, W) of one input.
        nearby: (K, 2), the first and last index of each direction's equal eigenvalues,
            as in `pipeline.nads.NADs`, or None if unknown.
    """
    indices = [index for index in INDICES if index < len(directions)]
    titles = []
    for index in indices:
        title = str(index)
        if nearby is not None:
            first, last = nearby[index]
            if last > first:
                title += f"\n≈ {first}–{last}"
        titles.append(title)
    return pictures(directions[indices], titles, shape)


def pictures(
    vectors: Sequence[np.ndarray], titles: Sequence[str], shape: tuple[int, ...]
) -> Figure:
    """Draw directions as pixels above and as energy over spatial frequency below.

    One channel is drawn in grey, three channels in colour, other numbers side by side;
    energies are summed over channels. Each panel has its own scale.

    Args:
        vectors: Directions (D,).
        titles: Their titles.
        shape: (C, H, W) of one input.
    """
    channels, height, width = shape
    figure = Figure(figsize=(1.45 * len(vectors) + 1.2, 4.0), layout="constrained")
    axes = figure.subplots(2, len(vectors), squeeze=False)
    images = [vector.reshape(shape) for vector in vectors]
    energies = []
    for image in images:
        energies.append(np.fft.fftshift((np.abs(np.fft.fft2(image)) ** 2).sum(0)))
    largest = max(edge_of(energy) for energy in energies)
    top, bottom = _frequency_range(height, largest)
    left, right = _frequency_range(width, largest)
    rows = slice(height // 2 + top, height // 2 + bottom + 1)
    columns = slice(width // 2 + left, width // 2 + right + 1)
    extent = (left - 0.5, right + 0.5, bottom + 0.5, top - 0.5)
    for number, image in enumerate(images):
        pixels, frequencies = axes[:, number]
        bound = np.abs(image).max() or 1  # 0 of a network that responds to nothing
        if channels == 3:
            pixels.imshow(0.5 + image.transpose(1, 2, 0) / (2 * bound))
        else:
            pixels.imshow(np.hstack(image), cmap="gray", vmin=-bound, vmax=bound)
        energy = energies[number][rows, columns]
        frequencies.imshow(energy, cmap="cividis", vmin=0, extent=extent)
        pixels.set_title(titles[number], fontsize=8)
        for panel in (pixels, frequencies):
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
    axes[0, 0].set_ylabel("pixels")
    axes[1, 0].set(ylabel="frequency", xticks=[left, 0, right], yticks=[top, 0, bottom])
    axes[1, 0].tick_params(labelsize=6)
    if channels != 3:
        _add_scale(figure, axes[0], "gray", {-1: "−max", 0: "0", 1: "max"})
    _add_scale(figure, axes[1], "cividis", {0: "0", 1: "max"})
    return figure


def edge_of(energy: np.ndarray) -> int:
    """Return the frequency up to which a spectrum has `ENERGY` of its sum.

    Args:
        energy: Energy by frequency, with frequency 0 in the middle, (H, W).
    """
    rows, columns = np.indices(energy.shape)
    vertical = np.abs(rows - energy.shape[0] // 2)
    horizontal = np.abs(columns - energy.shape[1] // 2)
    frequencies = np.maximum(vertical, horizontal)
    sums = np.cumsum(np.bincount(frequencies.ravel(), energy.ravel()))
    return int(np.searchsorted(sums, ENERGY * sums[-1]))


def _frequency_range(side: int, largest: int) -> tuple[int, int]:
    """Return the lowest and highest frequency to show along a side of some pixels."""
    return max(-(side // 2), -largest), min((side - 1) // 2, largest)


def _add_scale(
    figure: Figure, panels: np.ndarray, colours: str, ticks: dict[float, str]
) -> None:
    """Add a colour bar beside the panels of one row."""
    norm = matplotlib.colors.Normalize(min(ticks), max(ticks))
    shades = matplotlib.cm.ScalarMappable(norm, colours)
    bar = figure.colorbar(shades, ax=panels, aspect=12, shrink=0.9, pad=0.01)
    bar.set_ticks(list(ticks), labels=list(ticks.values()), fontsize=6.5)
