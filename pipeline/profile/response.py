"""The response of untrained networks along given directions: √(vᵀCv), the root mean
square, over the initialisation, of the output's derivative along the unit vector v.

It is always given as a multiple of its root mean square over all directions, √(tr C/D),
which is the response to a random pattern. If a network responds to nothing, it is 0.
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
        size = self.shape[1:]
        total = np.zeros(size)
        for row in self.rows:
            transform = np.fft.fft2(row.reshape(-1, *size), norm="ortho")
            total += (np.abs(transform) ** 2).mean(0)
        return np.sqrt(np.fft.fftshift(total) / (self.mean or 1))

    @functools.cached_property
    def is_first_of_pair(self) -> np.ndarray:
        """Whether a frequency is the first of k and −k, whose waves are equal."""
        _, height, width = self.shape
        index = np.fft.fftshift(np.arange(height * width).reshape(height, width))
        row = -(index // width) % height
        column = -index % width
        return index <= row * width + column

    @functools.cached_property
    def frequencies(self) -> pd.DataFrame:
        """The response along each plane wave, weakest first; columns: k_row, k_col,
        response.

        Equal responses are in the order of their frequencies, not of their last bits.
        """
        is_first = self.is_first_of_pair
        k = np.argwhere(is_first) - np.array(is_first.shape) // 2
        table = pd.DataFrame(k, columns=["k_row", "k_col"])
        table["response"] = self.waves[is_first]
        order = table["response"].round(6).sort_values(kind="stable").index
        return table.loc[order].reset_index(drop=True)

    @functools.cached_property
    def bands(self) -> dict[str, float]:
        """The root mean square of the response along coarse and along fine waves.

        Coarse waves have up to a quarter of the finest frequency, fine ones more than
        three quarters. Inputs of one pixel have no fine waves.
        """
        # The place of frequency 0 is also the finest frequency.
        finest = np.array(self.shape[1:]).reshape(2, 1, 1) // 2
        k = np.abs(np.indices(self.shape[1:]) - finest)
        fraction = (k / np.maximum(finest, 1)).max(0)
        coarse = self.waves[fraction <= 0.25]
        fine = self.waves[fraction > 0.75]
        bands = {"coarse": np.sqrt((coarse**2).mean())}
        if fine.size:
            bands["fine"] = np.sqrt((fine**2).mean())
        return bands


def wave(row: int, column: int, shape: tuple[int, int, int]) -> np.ndarray:
    """Return the unit vector of a plane wave, the same in every channel.

    Args:
        row: Frequency along the height.
        column: Frequency along the width.
        shape: (C, H, W) of one input.

    Returns:
        The vector (D,).
    """
    channels, *size = shape
    return np.tile(fourier(row, column, size), channels) / channels**0.5
