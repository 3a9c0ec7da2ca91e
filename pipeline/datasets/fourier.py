"""Directions of one channel that need no estimate: the Fourier basis.

v(r, c) ∝ cos(2π(k_row r + k_col c)/side). Frequencies are taken modulo the side, and k and −k give the same v.
"""

import numpy as np

from pipeline.project.shapes import SIDE


def fourier(k_row: int, k_col: int, side: int = SIDE) -> np.ndarray:
    """The unit vector (side²,) of one frequency, float32."""
    rows, columns = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    wave = np.cos(2 * np.pi * (k_row * rows + k_col * columns) / side)
    return (wave / np.linalg.norm(wave)).astype(np.float32).ravel()


def wrapped(frequency: int, side: int = SIDE) -> int:
    """The same frequency between −side/2 and side/2 − 1."""
    return (frequency + side // 2) % side - side // 2


def frequencies(step: int, side: int = SIDE) -> list[tuple[int, int]]:
    """One (k_row, k_col) for each different v among the multiples of `step` from −side/2 to side/2 − 1, in order."""
    axis = [k for k in range(-(side // 2), side // 2) if k % step == 0]
    kept = []
    for row in axis:
        for column in axis:
            other = wrapped(-row, side), wrapped(-column, side)
            if other not in kept:
                kept.append((row, column))
    return kept
