"""The settings of an estimate of NADs, the derivative, its point, and the untrained
networks; and the plan of all NADs that a scale needs."""

import dataclasses
import math
import typing
from typing import Literal, Self

from pipeline.training.shapes import INPUT, Shape, as_text


@dataclasses.dataclass(frozen=True)
class Estimator:
    """How the covariance C of an untrained network's input derivative is estimated
    (paper 1, §4).

    estimand: see `pipeline.nads.derivative`; method: see `pipeline.nads.readout`; step:
    the secant's half-width h, in units of the input; point: the image x at which the
    derivative is taken, one standard-normal image, a new one for each network, or zero;
    symmetry: whether C is averaged over the symmetries of the square that the network
    has; compare: whether the other estimand is estimated too. Raises ValueError for
    values that no estimate can have.
    """

    estimand: Literal["secant", "gradient", "output"]
    method: Literal["readout", "plain"]
    step: float
    point: Literal["normal", "many", "zero"]
    symmetry: bool
    compare: bool

    def __post_init__(self) -> None:
        for name in ("estimand", "method", "point"):
            known = typing.get_args(type(self).__annotations__[name])
            value = getattr(self, name)
            if value not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, not {value!r}"
                )
        # Smaller steps drown in float32's rounding; outputs of larger ones leave its
        # range.
        if not 1e-3 <= self.step <= 1e6:
            raise ValueError(f"step must lie between 0.001 and 1e+06, not {self.step}")
        if self.symmetry and self.estimand != "secant" and self.point == "normal":
            raise ValueError(
                f"symmetry does not hold for the {self.estimand} at one fixed image; "
                "set symmetry: false (in Python 'none'), or point: many or zero"
            )

    def other(self) -> Self:
        """The estimator of the other estimand, without symmetries where its C has none."""
        estimand = "gradient" if self.estimand == "secant" else "secant"
        symmetry = self.symmetry and (estimand == "secant" or self.point != "normal")
        return dataclasses.replace(self, estimand=estimand, symmetry=symmetry)


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the NADs of one architecture come from: untrained networks, or a file made
    elsewhere.

    networks: number of untrained networks, at most; error: the relative error of C at
    which fewer are enough; input: (C, H, W) of one input; first: number of leading
    directions, for inputs whose D×D matrix fits nowhere; file: a .npy with orthonormal
    rows (K, D) instead of an estimate. Raises ValueError for values that do not fit
    together.
    """

    networks: int | None = None
    error: float | None = None
    input: tuple[int, ...] = INPUT
    first: int | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if len(self.input) != 3 or min(self.input) <= 0:
            raise ValueError(
                f"input must be [channels, height, width], not {self.input}"
            )
        if self.file is not None:
            if (self.networks, self.error, self.first) != (None, None, None):
                raise ValueError(
                    "give either file, or networks with error and first, not both"
                )
            return
        dimension = math.prod(self.input)
        if self.networks is None:
            raise ValueError("the key 'networks' (or 'file') is missing")
        if self.networks < 2:
            raise ValueError(
                f"networks must be at least 2 (halves are compared), not {self.networks}"
            )
        if self.error is not None and not 0 < self.error < 1:
            raise ValueError(f"error must lie between 0 and 1, not {self.error}")
        if self.first is not None and not 0 < self.first <= dimension:
            raise ValueError(
                f"first must lie between 1 and {dimension}, not {self.first}"
            )

    def estimators(self, chosen: Estimator) -> list[Estimator]:
        """The chosen estimator, and the other estimand's where its NADs are estimated
        too: all of them, and of one channel, since the gradient's C is of no symmetry.
        """
        whole = self.file is None and self.first is None
        both = chosen.compare and whole and self.input[0] == 1
        return [chosen, chosen.other()] if both else [chosen]

    def check(self, last: int, shape: Shape) -> None:
        """Raise ValueError unless these NADs are of inputs of a shape, up to the index
        `last`."""
        if self.input != shape:
            raise ValueError(
                f"its NADs are for inputs {as_text(self.input)}, and the architecture's are "
                f"{as_text(shape)}; give both the same input"
            )
        if self.first is not None and last >= self.first:
            raise ValueError(
                f"NAD {last} is not among the first {self.first}; give nads a larger first"
            )


@dataclasses.dataclass(frozen=True)
class Request:
    """The NADs of one architecture that a scale needs.

    specification: the network and its arguments; source: see `Source`; own: sha256 by
    path of the files of a person's own network.
    """

    specification: dict[str, typing.Any]
    source: Source
    own: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class NADsPlan:
    """All NADs that a scale needs.

    seed: the seeds of the untrained networks derive from it; members: requests by
    architecture.
    """

    scale: str
    seed: int
    estimator: Estimator
    members: dict[str, Request]
