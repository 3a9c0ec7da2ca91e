"""The profile of one network: its measurements, and the numbers of its page."""

import dataclasses
import functools

import numpy as np
import pandas as pd

from pipeline.measures.fitted import summary
from pipeline.nads import NADs
from pipeline.nads.spectrum import agreement
from pipeline.profile.checkpoint import Checkpoint
from pipeline.profile.response import Response
from pipeline.profile.trained import Course


@dataclasses.dataclass(frozen=True)
class Result:
    """The measurements of one network.

    command: the shell's line that made them; parameters: number of weights; directions: by name,
    those v (D,) on whose D(v) networks were trained; trained: see
    `pipeline.profile.trained.outcomes`; notices: sentences on the network, and on the response
    where it is not the papers'; checkpoint: one trained network of the user's own.
    """

    name: str
    command: str
    parameters: int
    nads: NADs
    response: Response
    directions: dict[str, np.ndarray]
    course: Course
    trained: pd.DataFrame
    notices: list[str]
    checkpoint: Checkpoint | None = None

    @functools.cached_property
    def relative(self) -> np.ndarray:
        """√(λ_k/mean) (K,): the response along each NAD, as a multiple of a random direction's."""
        return np.sqrt(np.maximum(self.nads.eigenvalues, 0) / self.response.mean)

    @property
    def uncertainty(self) -> float:
        """The relative standard error of √λ₀, which stands for that along any direction: of LeNet
        and ResNet-18 it exceeds that along nine waves of ten."""
        return float(self.nads.standard_errors[0] / self.nads.eigenvalues[0] / 2)

    @property
    def agreement(self) -> float:
        """The share of the first ten NADs of one half of the untrained networks that lies in the
        first ten of the other half."""
        return agreement(self.nads.overlap)[1]

    @functools.cached_property
    def summary(self) -> pd.DataFrame:
        """One row for each direction with a trained network, by name, strongest response first.

        Columns: response; mean and std of the accuracy; numbers of seeds (that did not diverge),
        fitted and diverged ones; train_accuracy (mean).
        """
        vectors = np.stack(list(self.directions.values())).astype(np.float64)
        response = pd.Series(self.response.along(vectors), list(self.directions))
        rows = summary(self.trained, ["direction"]).set_index("direction")
        rows["diverged"] = self.trained["direction"].value_counts() - rows["seeds"]
        rows.insert(0, "response", response.reindex(rows.index))
        return rows.sort_values("response", ascending=False)

    @property
    def tried(self) -> pd.DataFrame:
        """The rows of `summary` in which at least one network did not diverge."""
        return self.summary[self.summary["seeds"] > 0]
