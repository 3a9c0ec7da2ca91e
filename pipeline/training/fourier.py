"""Directions that need no estimate: the Fourier basis of one channel, and of each
colour axis.

v(r, c) ∝ cos(2π(k_row r/H + k_col c/W)). Frequencies are taken modulo the sides, and k
and −k give the same v.
"""

import itertools

import numpy as np

from pipeline.training.shapes import SIDE, SIZE, Size

AXES = {"grey": (1, 1, 1), "red_green": (1, -1, 0), "blue_yellow": (-1, -1, 2)}
"""Orthogonal axes of colour by name, as weights of red, green and blue."""


def fourier(k_row: int, k_col: int, pixels: Size = SIZE) -> np.ndarray:
    """Return the unit vector (H·W,) of one frequency, float32.

    Args:
        k_row: Frequency from row to row.
        k_col: Frequency from column to column.
        pixels: Height H and width W.
    """
    height, width = pixels
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    # Whole numbers until the end: at 32×32 these are the bits of a division by 32.
    wave = np.cos(
        2 * np.pi * (k_row * rows * width + k_col * columns * height) / (height * width)
    )
    return (wave / np.linalg.norm(wave)).astype(np.float32).ravel()


def in_colour(wave: np.ndarray, axis: str) -> np.ndarray:
    """Return a unit vector along a colour axis.

    Args:
        wave: Unit vector of one channel, (H·W,).
        axis: Name of the axis in `AXES`.

    Returns:
        Unit vector, (3·H·W,), float32.
    """
    weights = np.array(AXES[axis]) / np.linalg.norm(AXES[axis])
    return np.kron(weights, wave).astype(np.float32)


def cosines(pixels: Size = SIZE) -> np.ndarray:
    """Return the basis of the two-dimensional discrete cosine transform.

    Args:
        pixels: Height H and width W.

    Returns:
        Orthonormal rows, (H·W, H·W), float32, in the order of k_row/H + k_col/W.
    """
    height, width = pixels
    rows = _cosines_of_one_axis(height)
    columns = _cosines_of_one_axis(width)
    frequency = np.arange(height)[:, None] / height + np.arange(width) / width
    order = np.argsort(frequency.ravel(), kind="stable")
    return np.kron(rows, columns)[order].astype(np.float32)


def _cosines_of_one_axis(side: int) -> np.ndarray:
    frequency, position = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    waves = np.cos(np.pi * frequency * (2 * position + 1) / (2 * side))
    return waves / np.linalg.norm(waves, axis=1, keepdims=True)


def wrap_frequency(frequency: int, side: int = SIDE) -> int:
    """Return the same frequency between −side/2 and side/2 − 1."""
    return (frequency + side // 2) % side - side // 2


def frequencies(
    step: int, pixels: Size = SIZE, transposes: bool = True
) -> list[tuple[int, int]]:
    """List one (k_row, k_col) for each different v among the multiples of `step`.

    Args:
        step: A divisor of half of both sides.
        pixels: Height H and width W.
        transposes: Whether v and its transpose, which has k_row and k_col exchanged,
            are both listed. Otherwise only the one with the larger |k_row| is.
    """
    height, width = pixels
    representatives = []
    for row, column in itertools.product(
        range(-(height // 2), height // 2, step),
        range(-(width // 2), width // 2, step),
    ):
        negative = (wrap_frequency(-row, height), wrap_frequency(-column, width))
        equivalents = {(row, column), negative}
        if not transposes:
            equivalents |= {k[::-1] for k in equivalents}
        if equivalents.isdisjoint(representatives):
            representatives.append((row, column))
    return representatives
