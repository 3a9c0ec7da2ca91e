"""What is asked of an estimate of NADs: which derivative, how averaged, where (`Estimator`), and of whom (`Source`)."""

import dataclasses
import math
import typing
from typing import Literal, Self

from pipeline.project.shapes import SIDE

SMALLEST_STEP, LARGEST_STEP = 1e-3, 1e6
"""Steps of the secant: float32's rounding drowns what smaller ones change, and outputs leave its range for much larger ones."""

MOST_NETWORKS, MOST_VALUES = 1_000_000, 1_000_000
"""Most untrained networks that one estimate may average, and most values that one input may have (3×577×577 has fewer)."""


@dataclasses.dataclass(frozen=True)
class Estimator:
    """How the covariance C of an untrained network's input derivative is estimated (paper 1, §4).

    estimand: which derivative, see `pipeline.nads.derivative`; method: how its covariance is averaged over the last
    linear layer, see `pipeline.nads.readout`; step: the secant's half-width h, in units of the input; point: the image
    x at which the derivative is taken: one standard-normal image, a new one per network, or zero; symmetry: average C
    over the symmetries of the square that the network has; compare: estimate the other estimand too, for the figure of
    their overlap. Raises ValueError, with one sentence, for values that no estimate can have.
    """

    estimand: Literal["secant", "gradient"]
    method: Literal["readout", "plain"]
    step: float
    point: Literal["normal", "many", "zero"]
    symmetry: bool
    compare: bool

    def __post_init__(self) -> None:
        for name in ("estimand", "method", "point"):
            known, value = typing.get_args(type(self).__annotations__[name]), getattr(self, name)
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        if not 0 < self.step < math.inf:
            raise ValueError(f"step must be positive, not {self.step}")
        if not SMALLEST_STEP <= self.step <= LARGEST_STEP:
            raise ValueError(f"step must lie between {SMALLEST_STEP:g} and {LARGEST_STEP:g}, not {self.step}")
        if self.symmetry and not self.symmetric():
            raise ValueError(
                "symmetry does not hold for the gradient at one fixed image; "
                "set symmetry: false, or point: many or zero"
            )

    def symmetric(self) -> bool:
        """Whether C has the symmetries of the network's law: not so for the gradient at one fixed image."""
        return not (self.estimand == "gradient" and self.point == "normal")

    def other(self) -> Self:
        """The estimator of the other estimand, averaged over symmetries where both that is asked for and C has them."""
        other = {"secant": "gradient", "gradient": "secant"}[self.estimand]
        plain = dataclasses.replace(self, estimand=other, symmetry=False)
        return dataclasses.replace(plain, symmetry=self.symmetry and plain.symmetric())


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the NADs of one architecture come from: so many untrained networks, or a file of NADs made elsewhere.

    networks: how many untrained networks are averaged at most; error: the relative error of C at which fewer are
    enough; input: (C, H, W) of one input; first: only so many leading directions, for inputs whose D×D matrix fits
    nowhere; file: a .npy with orthonormal rows (K, D) instead of an estimate. Raises ValueError, with one sentence, for
    values that do not fit together.
    """

    networks: int | None = None
    error: float | None = None
    input: tuple[int, ...] = (1, SIDE, SIDE)
    first: int | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if len(self.input) != 3 or min(self.input) <= 0:
            raise ValueError(f"input must be [channels, height, width], not {self.input}")
        if self.dimension > MOST_VALUES:
            raise ValueError(f"input must hold at most {MOST_VALUES:,} values, not {self.dimension}")
        if self.file is not None:
            if (self.networks, self.error, self.first) != (None, None, None):
                raise ValueError("give either file, or networks with error and first, not both")
            return
        if self.networks is None:
            raise ValueError("the key 'networks' (or 'file') is missing")
        if self.networks < 2:
            raise ValueError(f"networks must be at least 2 (halves are compared), not {self.networks}")
        if self.networks > MOST_NETWORKS:
            raise ValueError(f"networks must be at most {MOST_NETWORKS:,}, not {self.networks}")
        if self.error is not None and not 0 < self.error < 1:
            raise ValueError(f"error must lie between 0 and 1, not {self.error}")
        if self.first is not None and not 0 < self.first <= self.dimension:
            raise ValueError(f"first must lie between 1 and {self.dimension}, not {self.first}")

    @property
    def dimension(self) -> int:
        """D = C·H·W, the number of values of one input."""
        return math.prod(self.input)

    def covers(self, index: int) -> bool:
        """Whether these NADs will have a direction of this index."""
        return index < (self.first or self.dimension)
