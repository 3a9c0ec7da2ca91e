"""The response of untrained networks along given directions: vᵀCv, the mean square, over the
initialisation, of the output's derivative along the unit vector v."""

import dataclasses

import numpy as np

PIECE = 256
"""Vectors that are transformed at a time."""


@dataclasses.dataclass(frozen=True)
class Response:
    """An estimate of C as a weighted sum of squares: C = Σ w_k r_k r_kᵀ.

    rows: r, (n, D), and weights: w, (n,): the NADs and their eigenvalues where all D are known, or
    else the sampled vectors and 1/N for N networks; shape: (C, H, W) of one input.
    """

    rows: np.ndarray
    weights: np.ndarray
    shape: tuple[int, int, int]

    def along(self, directions: np.ndarray) -> np.ndarray:
        """vᵀCv (K,) of unit vectors v (K, D)."""
        return self.weights @ (self.rows @ directions.T) ** 2

    @property
    def mean(self) -> float:
        """tr C/D, the mean of vᵀCv over all directions v."""
        squares = np.einsum("nd,nd->n", self.rows, self.rows)
        return float(self.weights @ squares) / self.rows.shape[1]

    def waves(self) -> np.ndarray:
        """vᵀCv (H, W) of the plane wave of each frequency, the mean over its phases and over
        channels; frequency 0 is in the middle.

        With the unitary discrete Fourier transform r̂ of a vector's channel it is Σ w |r̂(k)|², and
        its mean over k is tr C/D (Parseval).
        """
        total = np.zeros(self.shape[1:])
        for start in range(0, len(self.rows), PIECE):
            rows = self.rows[start : start + PIECE].reshape(-1, *self.shape)
            power = np.abs(np.fft.fft2(rows, norm="ortho")) ** 2
            total += np.tensordot(self.weights[start : start + PIECE], power.mean(1), 1)
        return np.fft.fftshift(total)


def wave(row: int, column: int, shape: tuple[int, int, int]) -> np.ndarray:
    """The unit vector (D,) of a plane wave, cos + sin, which vanishes at no frequency."""
    rows, columns = np.indices(shape[1:])
    phase = 2 * np.pi * (row * rows / shape[1] + column * columns / shape[2])
    picture = np.broadcast_to(np.cos(phase) + np.sin(phase), shape).ravel()
    return picture / np.linalg.norm(picture)
