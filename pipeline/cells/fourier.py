"""Directions of one channel that need no estimate: the Fourier basis.

v(r, c) ∝ cos(2π(k_row r/H + k_col c/W)). Frequencies are taken modulo the sides, and k and −k give
the same v.
"""

import numpy as np

from pipeline.cells.shapes import INPUT, SIDE, Input


def fourier(k_row: int, k_col: int, pixels: Input = INPUT) -> np.ndarray:
    """The unit vector (H·W,) of one frequency, float32."""
    height, width = pixels
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    # Whole numbers until the end: at 32×32 these are the bits of a division by 32.
    wave = np.cos(2 * np.pi * (k_row * rows * width + k_col * columns * height) / (height * width))
    return (wave / np.linalg.norm(wave)).astype(np.float32).ravel()


def wrapped(frequency: int, side: int = SIDE) -> int:
    """The same frequency between −side/2 and side/2 − 1."""
    return (frequency + side // 2) % side - side // 2


def frequencies(step: int, pixels: Input = INPUT, transposes: bool = True) -> list[tuple[int, int]]:
    """One (k_row, k_col) for each different v among the multiples of `step`, in order.

    transposes: whether a v and its transpose, which has k_row and k_col exchanged, are both there;
    without, the one with the larger |k_row| is, of inputs as high as they are wide.
    """
    rows, columns = (
        [k for k in range(-(side // 2), side // 2) if k % step == 0] for side in pixels
    )
    kept = {}
    for row in rows:
        for column in columns:
            same = [(row, column)] if transposes else [(row, column), (column, row)]
            if not any(
                (wrapped(-a, pixels[0]), wrapped(-b, pixels[1])) in kept or (a, b) in kept
                for a, b in same
            ):
                kept[row, column] = None
    return list(kept)
