"""The response of untrained networks along given directions: √(vᵀCv), the root mean
square, over the initialisation, of the output's derivative along the unit vector v.

It is always given as a multiple of its root mean square over all directions, √(tr C/D),
which is the response to a random pattern; of a network that responds to nothing it is
0.
"""

import dataclasses
import functools

import numpy as np
import pandas as pd

from pipeline.training.fourier import fourier


@dataclasses.dataclass(frozen=True)
class Response:
    """The response by an estimate of C as a sum of squares: C = Σ r_k r_kᵀ.

    Attributes:
        rows: r, (n, D): the NADs times √λ where all D are known, else the sampled
            derivatives over √N for N networks. (n, H·W) where C is the same in each
            channel, and 0 between two.
        shape: (C, H, W) of one input.
    """

    rows: np.ndarray
    shape: tuple[int, int, int]

    @functools.cached_property
    def mean(self) -> float:
        """tr C/D, the mean of vᵀCv over all directions v."""
        squares = np.einsum("nd,nd->n", self.rows, self.rows)
        return float(squares.sum(dtype=np.float64)) / self.rows.shape[1]

    def along(self, directions: np.ndarray) -> np.ndarray:
        """Return the response (K,) along unit vectors v (K, D)."""
        parts = directions.reshape(len(directions), -1, self.rows.shape[1])
        return np.sqrt(((parts @ self.rows.T) ** 2).sum((1, 2)) / (self.mean or 1))

    @functools.cached_property
    def waves(self) -> np.ndarray:
        """The response (H, W) along the plane wave of each frequency, the root mean
        square over its phases and over channels; frequency 0 is in the middle.

        With the unitary discrete Fourier transform r̂ of a vector's channel its square
        is Σ |r̂(k)|², whose mean over k is tr C/D (Parseval).
        """
        total = np.zeros(self.shape[1:])
        for row in self.rows:
            transform = np.fft.fft2(row.reshape(-1, *self.shape[1:]), norm="ortho")
            total += (np.abs(transform) ** 2).mean(0)
        return np.sqrt(np.fft.fftshift(total) / (self.mean or 1))

    @functools.cached_property
    def half(self) -> np.ndarray:
        """One of each two frequencies k and −k, whose waves are the same, (H, W)
        booleans."""
        _, height, width = self.shape
        index = np.fft.fftshift(np.arange(height * width).reshape(height, width))
        return index <= -(index // width) % height * width + -index % width

    @functools.cached_property
    def frequencies(self) -> pd.DataFrame:
        """The response along each plane wave, weakest first; columns: k_row, k_col,
        response.

        Equal responses are in the order of their frequencies, not of their last bits.
        """
        places = np.argwhere(self.half) - np.array(self.half.shape) // 2
        table = pd.DataFrame(places, columns=["k_row", "k_col"])
        table["response"] = self.waves[self.half]
        rounded = table["response"].round(6)
        return table.loc[rounded.sort_values(kind="stable").index].reset_index(
            drop=True
        )

    @functools.cached_property
    def bands(self) -> dict[str, float]:
        """The root mean square of the response along coarse waves, of up to a quarter
        of the finest frequency, and along fine ones, of more than three quarters, which
        inputs of one pixel lack.
        """
        finest = np.array(self.shape[1:]).reshape(2, 1, 1) // 2
        offset = abs(np.indices(self.shape[1:]) - finest) / np.maximum(finest, 1)
        reach = offset.max(0)
        bands = {"coarse": self.waves[reach <= 0.25], "fine": self.waves[reach > 0.75]}
        return {name: np.sqrt((at**2).mean()) for name, at in bands.items() if at.size}


def wave(row: int, column: int, shape: tuple[int, int, int]) -> np.ndarray:
    """Return the unit vector (D,) of a plane wave, the same in every channel."""
    channels, *size = shape
    return np.tile(fourier(row, column, size), channels) / channels**0.5
