"""Pictures of directions, in pixels and over spatial frequency (paper 1, fig. 5)."""

from collections.abc import Sequence

import matplotlib.cm
import matplotlib.colors
import numpy as np
from matplotlib.figure import Figure

CHOSEN = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)  # indices in a gallery
WHOLE = 0.99  # part of each direction's energy within the frequencies that are shown


def gallery(
    directions: np.ndarray, shape: tuple[int, ...], nearby: np.ndarray | None
) -> Figure:
    """Chosen ones of the directions (K, D) as `pictures`, their indices above them.

    nearby: (K, 2), as in `pipeline.nads.NADs`, the first and the last index of each
    direction's equal eigenvalues, which stand above it too, or None if unknown.
    """
    indices = [index for index in CHOSEN if index < len(directions)]
    titles = [f"{index}" for index in indices]
    if nearby is not None:
        spans = [nearby[index] for index in indices]
        equals = [
            f"≈ {first}–{last}" if last > first else "alone" for first, last in spans
        ]
        titles = [
            f"{title}\n{equal}" for title, equal in zip(titles, equals, strict=True)
        ]
    return pictures(directions[indices], titles, shape)


def pictures(
    vectors: Sequence[np.ndarray], titles: Sequence[str], shape: tuple[int, ...]
) -> Figure:
    """Directions (D,) as pixels above and as energy over spatial frequency below.

    shape: (C, H, W) of one input. One channel is drawn in grey, three as colours,
    others side by side; energies are summed over channels. Each panel has a scale of
    its own.
    """
    channels, *sides = shape
    figure = Figure(figsize=(1.0 * len(vectors) + 1.2, 3.1), layout="constrained")
    axes = figure.subplots(2, len(vectors), squeeze=False)
    shown = [vector.reshape(shape) for vector in vectors]
    energies = [
        np.fft.fftshift((np.abs(np.fft.fft2(each)) ** 2).sum(0)) for each in shown
    ]
    edge = max(map(edge_of, energies))
    reach = [(max(-(side // 2), -edge), min((side - 1) // 2, edge)) for side in sides]
    (top, bottom), (left, right) = reach
    part = tuple(
        slice(s // 2 + low, s // 2 + high + 1)
        for s, (low, high) in zip(sides, reach, strict=True)
    )
    extent = (left - 0.5, right + 0.5, bottom + 0.5, top - 0.5)
    for title, picture, energy, (pixels, frequencies) in zip(
        titles, shown, energies, axes.T, strict=True
    ):
        bound = np.abs(picture).max()
        energy = energy[part]
        if channels == 3:
            pixels.imshow(0.5 + picture.transpose(1, 2, 0) / (2 * bound))
        else:
            pixels.imshow(np.hstack(picture), cmap="gray", vmin=-bound, vmax=bound)
        frequencies.imshow(energy, cmap="cividis", vmin=0, extent=extent)
        pixels.set_title(title, fontsize=8)
        for panel in (pixels, frequencies):
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
    axes[0, 0].set_ylabel("pixels")
    axes[1, 0].set(ylabel="frequency", xticks=[left, 0, right], yticks=[top, 0, bottom])
    axes[1, 0].tick_params(labelsize=6)
    if channels != 3:
        _own_scale(figure, axes[0], "gray", {-1: "−max", 0: "0", 1: "max"})
    _own_scale(figure, axes[1], "cividis", {0: "0", 1: "max"})
    return figure


def edge_of(energy: np.ndarray) -> int:
    """The frequency within which an energy (H, W), centred, has `WHOLE` of its sum."""
    k_row, k_col = np.indices(energy.shape)
    largest = np.maximum(
        np.abs(k_row - energy.shape[0] // 2), np.abs(k_col - energy.shape[1] // 2)
    )
    within = np.cumsum(np.bincount(largest.ravel(), energy.ravel()))
    return int(np.searchsorted(within, WHOLE * within[-1]))


def _own_scale(
    figure: Figure, panels: np.ndarray, colours: str, ticks: dict[float, str]
) -> None:
    norm = matplotlib.colors.Normalize(min(ticks), max(ticks))
    shades = matplotlib.cm.ScalarMappable(norm, colours)
    bar = figure.colorbar(shades, ax=panels, aspect=12, shrink=0.9, pad=0.01)
    bar.set_ticks(list(ticks), labels=list(ticks.values()), fontsize=6.5)
