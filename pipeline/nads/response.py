"""How strongly untrained networks respond along given directions: the quadratic form vᵀCv, computed without any training.

vᵀCv is the mean square, over the initialisation, of the output's derivative along the unit vector v. Its mean over all
directions is tr C/D, so that √(vᵀCv·D/tr C) says how many times as strong the response along v is as along a random one.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np

from pipeline.nads.directions import NADs

PIECE = 256
"""Vectors that are transformed at a time."""


@dataclasses.dataclass(frozen=True)
class Response:
    """An estimate of C as a weighted sum of squares: C = Σ w_k r_k r_kᵀ.

    rows: r, (n, D); weights: w, (n,): the NADs and eigenvalues where all D are known, else the sampled vectors and 1/N of N
    networks; shape: (C, H, W) of one input.
    """

    rows: np.ndarray
    weights: np.ndarray
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, nads: NADs, sampled: np.ndarray | None = None) -> "Response":
        """The response that an estimate of all D NADs tells, or one of the first of them with the vectors (n, D) `sampled` for it."""
        if sampled is None:
            return cls(nads.directions, np.maximum(nads.eigenvalues, 0), tuple(nads.shape))
        return cls(sampled, np.full(len(sampled), 1 / nads.networks), tuple(nads.shape))

    def along(self, directions: np.ndarray) -> np.ndarray:
        """vᵀCv (K,) of unit vectors v (K, D)."""
        return self.weights @ (self.rows @ directions.T) ** 2

    @property
    def mean(self) -> float:
        """tr C/D, the mean of vᵀCv over all directions v."""
        return float(self.weights @ np.einsum("nd,nd->n", self.rows, self.rows)) / self.rows.shape[1]

    def waves(self) -> np.ndarray:
        """vᵀCv (H, W) of the plane wave of each frequency, the mean over its phases and over channels; frequency 0 is in the middle.

        With the unitary discrete Fourier transform r̂ of a vector's channel it is Σ w |r̂(k)|², and its mean over k is tr C/D
        (Parseval).
        """
        total = np.zeros(self.shape[1:])
        for rows, weights in self._pieces():
            spectra = np.fft.fft2(rows.reshape(-1, *self.shape), norm="ortho")
            total += np.tensordot(weights, (np.abs(spectra) ** 2).mean(1), 1)
        return np.fft.fftshift(total)

    def _pieces(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, len(self.rows), PIECE):
            yield self.rows[start : start + PIECE], self.weights[start : start + PIECE]


def frequencies(side: int) -> np.ndarray:
    """The frequencies (side,) in periods per side, in the order in which `Response.waves` has them."""
    return np.arange(side) - side // 2


def wave(row: int, column: int, shape: tuple[int, int, int]) -> np.ndarray:
    """The unit vector (D,) of a plane wave, the same in every channel: cos + sin of 2π(row·r/H + column·c/W).

    cos + sin is a cosine an eighth of a period on, which no frequency makes vanish.
    """
    channels, height, width = shape
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    phase = 2 * np.pi * (row * rows / height + column * columns / width)
    picture = np.broadcast_to(np.cos(phase) + np.sin(phase), shape).ravel()
    return picture / np.linalg.norm(picture)
