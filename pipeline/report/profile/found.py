"""All that was found out about one network, and the few numbers that its page says of it."""

import dataclasses
import functools

import numpy as np
import pandas as pd

from pipeline.measures.fitted import FITTED
from pipeline.nads import NADs
from pipeline.nads.response import Response, frequencies
from pipeline.nads.sweep import Sizes

SEEN, UNSEEN = 0.9, 0.6
"""Accuracies on new samples from which a direction counts as seen, and up to which as not seen; 0.5 is guessing."""

FEW = 0.5
"""Share of the span of a half's first ten NADs in the other half's, below which single NADs are mostly chance."""


@dataclasses.dataclass(frozen=True)
class Found:
    """A profile. name: the network's, as figures call it; command: what makes it; parameters: weights of the network.

    complete: whether all D NADs are known, or only the first; swept_with: networks behind the NADs in `directions`, along which
    networks were trained; results: one row for each of these: direction, seed, accuracy, train_accuracy, loss (nan and infinite
    where it diverged); lr: their rate, None if all diverged; notices: what a reader must know of how the response was taken.
    """

    name: str
    command: str
    parameters: int
    complete: bool
    nads: NADs
    response: Response
    directions: dict[str, np.ndarray]
    swept_with: int
    results: pd.DataFrame
    sizes: Sizes
    lr: float | None
    notices: list[str]
    minutes: float
    cores: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, H, W) of one input."""
        return tuple(self.nads.shape)

    @property
    def dimension(self) -> int:
        """D = C·H·W."""
        return int(np.prod(self.shape))

    @functools.cached_property
    def mean(self) -> float:
        """The mean of vᵀCv over all directions."""
        return self.response.mean

    @functools.cached_property
    def relative(self) -> np.ndarray:
        """√(λ_k/mean) (K,): how many times as strong the response along each NAD is as along a random direction."""
        return np.sqrt(np.maximum(self.nads.eigenvalues, 0) / self.mean)

    @functools.cached_property
    def waves(self) -> np.ndarray:
        """√(response along plane waves/mean), (H, W), frequency 0 in the middle."""
        return np.sqrt(self.response.waves() / self.mean)

    @property
    def frequencies_of_half(self) -> int:
        """How many frequencies, the strongest first, hold half of Σ vᵀCv over all of them."""
        falling = np.sort(self.waves**2, axis=None)[::-1].cumsum()
        return int(np.searchsorted(falling, falling[-1] / 2)) + 1

    @property
    def share(self) -> np.ndarray:
        """The part (K,) of tr C that the first k + 1 NADs hold."""
        return np.cumsum(np.maximum(self.nads.eigenvalues, 0)) / (self.mean * self.dimension)

    @property
    def agreement(self) -> float:
        """The share of the span of one half's first ten NADs that lies in the other half's: 1 where they agree."""
        known = self.nads.overlap[: min(10, len(self.nads.overlap))]
        return float(known[np.isfinite(known)][-1])

    @property
    def level(self) -> bool:
        """Whether all NADs respond alike within the errors, so that none comes first."""
        values = self.nads.eigenvalues
        return self.complete and bool(values[0] <= 1.01 * values[-1] or self.nads.nearby[0][1] == len(values) - 1)

    def extreme_waves(self, count: int, strongest: bool) -> list[tuple[int, int]]:
        """The frequencies (row, column) of the strongest or weakest waves, of k and −k the later one."""
        axes, found = [frequencies(side) for side in self.shape[1:]], []
        order = np.argsort(self.waves, axis=None, kind="stable")
        for place in order[::-1] if strongest else order:
            wave = tuple(int(axis[at]) for axis, at in zip(axes, np.unravel_index(place, self.waves.shape)))
            mirrored = tuple((-k + side // 2) % side - side // 2 for k, side in zip(wave, self.shape[1:]))
            if (named := max(wave, mirrored)) not in found:
                found.append(named)
            if len(found) == count:
                break
        return found

    def at_wave(self, wave: tuple[int, int]) -> float:
        """The relative response along a plane wave."""
        return float(self.waves[tuple(k + side // 2 for k, side in zip(wave, self.shape[1:]))])

    @functools.cached_property
    def summary(self) -> pd.DataFrame:
        """One row for each direction that was tried, strongest response first, by its name: response (relative), mean, std over
        networks (nan of one), networks, fitted (how many were), train_accuracy (mean), diverged.
        """
        vectors = np.stack(list(self.directions.values())).astype(np.float64)
        responses = dict(zip(self.directions, np.sqrt(self.response.along(vectors) / self.mean)))
        rows = []
        for name, cells in self.results.groupby("direction", sort=False):
            done = cells.dropna(subset="accuracy")
            rows.append(
                {
                    "direction": name,
                    "response": responses[name],
                    "mean": done["accuracy"].mean(),
                    "std": done["accuracy"].std(ddof=1),
                    "networks": len(done),
                    "fitted": int((done["train_accuracy"] >= FITTED).sum()),
                    "train_accuracy": done["train_accuracy"].mean(),
                    "diverged": len(cells) - len(done),
                }
            )
        columns = ["direction", "response", "mean", "std", "networks", "fitted", "train_accuracy", "diverged"]
        return pd.DataFrame(rows, columns=columns).sort_values("response", ascending=False).set_index("direction")

    @property
    def tried(self) -> pd.DataFrame:
        """The rows of `summary` in which at least one network did not diverge."""
        return self.summary[self.summary["networks"] > 0]
