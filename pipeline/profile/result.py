"""The profile of one network: its measurements, and the numbers of its page."""

import dataclasses
import functools

import numpy as np
import pandas as pd

from pipeline.measures.fitted import fitted
from pipeline.nads import NADs
from pipeline.profile.response import Response
from pipeline.profile.trained import Sizes


@dataclasses.dataclass(frozen=True)
class Result:
    """The measurements of one network.

    command: the shell's line that made them; parameters: number of weights; directions: by name,
    those v (D,) on whose D(v) networks were trained; trained: one row for each trained network:
    direction, seed, accuracy, train_accuracy (NaN where it diverged), seconds; lr: the learning
    rate; notices: sentences on the network, and on the response where it is not the papers'.
    """

    name: str
    command: str
    parameters: int
    nads: NADs
    response: Response
    directions: dict[str, np.ndarray]
    trained: pd.DataFrame
    sizes: Sizes
    lr: float
    notices: list[str]

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, H, W) of one input."""
        return self.response.shape

    @property
    def dimension(self) -> int:
        """D = C·H·W."""
        return self.response.rows.shape[1]

    @property
    def complete(self) -> bool:
        """Whether all D NADs are known, or only the first."""
        return len(self.nads.directions) == self.dimension

    @functools.cached_property
    def relative(self) -> np.ndarray:
        """√(λ_k/mean) (K,): the response along each NAD, as a multiple of a random direction's."""
        return np.sqrt(np.maximum(self.nads.eigenvalues, 0) / self.response.mean)

    @property
    def uncertainty(self) -> float:
        """The relative standard error of √λ₀, which stands for that along any direction: of LeNet
        and ResNet-18 it exceeds that along nine waves of ten."""
        return float(self.nads.standard_errors[0] / self.nads.eigenvalues[0] / 2)

    def along(self, directions: np.ndarray) -> np.ndarray:
        """The relative response (K,) along unit vectors (K, D)."""
        return np.sqrt(self.response.along(directions) / self.response.mean)

    @functools.cached_property
    def waves(self) -> np.ndarray:
        """The relative response along plane waves, (H, W), frequency 0 in the middle."""
        return np.sqrt(self.response.waves() / self.response.mean)

    @functools.cached_property
    def frequencies(self) -> pd.DataFrame:
        """The relative response along each plane wave, one of k and −k, weakest first.

        Columns: k_row, k_col, response.
        """
        sides = height, width = self.waves.shape
        row, column = (k.ravel() - side // 2 for k, side in zip(np.indices(sides), sides))
        table = pd.DataFrame({"k_row": row, "k_col": column, "response": self.waves.ravel()})
        place = lambda row, column: row % height * width + column % width
        half = table[place(row, column) <= place(-row, -column)]
        return half.sort_values("response", kind="stable", ignore_index=True)

    @functools.cached_property
    def bands(self) -> dict[str, tuple[np.ndarray, float]]:
        """The frequencies of the coarse and of the fine waves, (H, W) booleans, and the root mean
        square of the relative response along them.

        Coarse waves have up to a quarter of the finest frequency, fine ones more than three
        quarters.
        """
        sides = np.array(self.waves.shape).reshape(2, 1, 1)
        reach = (abs(np.indices(self.waves.shape) - sides // 2) / (sides / 2)).max(0)
        bands = {"coarse": reach <= 0.25, "fine": reach > 0.75}
        return {name: (at, np.sqrt((self.waves[at] ** 2).mean())) for name, at in bands.items()}

    @functools.cached_property
    def summary(self) -> pd.DataFrame:
        """One row for each direction with a trained network, by name, strongest response first.

        Columns: response (relative); mean and std of the accuracy; numbers of networks (that did
        not diverge), fitted and diverged ones; train_accuracy (mean).
        """
        vectors = np.stack(list(self.directions.values())).astype(np.float64)
        response = pd.Series(self.along(vectors), list(self.directions))
        rows = self.trained.assign(fitted=fitted(self.trained)).groupby("direction")
        rows = rows.agg(
            mean=("accuracy", "mean"),
            std=("accuracy", "std"),
            networks=("accuracy", "count"),
            fitted=("fitted", "sum"),
            train_accuracy=("train_accuracy", "mean"),
            diverged=("accuracy", lambda column: column.isna().sum()),
        )
        rows.insert(0, "response", response.reindex(rows.index))
        return rows.sort_values("response", ascending=False)

    @property
    def tried(self) -> pd.DataFrame:
        """The rows of `summary` in which at least one network did not diverge."""
        return self.summary[self.summary["networks"] > 0]
