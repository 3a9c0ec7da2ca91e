"""The settings of an estimate of NADs, and the plan of all NADs that a scale needs."""

import dataclasses
import math
import typing
from typing import Literal, Self

from pipeline.training.shapes import INPUT, Shape, as_text


@dataclasses.dataclass(frozen=True)
class Estimator:
    """How the covariance C of an untrained network's input derivative is estimated.

    Paper 1, §4.

    Attributes:
        estimand: The derivative, see `pipeline.nads.derivative`.
        method: See `pipeline.nads.readout`.
        step: The secant's half-width h, in units of the input.
        point: The image x at which the derivative is taken: 'normal', one
            standard-normal image; 'many', a new one for each network; or 'zero'.
        symmetry: Whether C is averaged over the symmetries of the square that the
            network has.
        compare: Whether the other estimand is estimated too.

    Raises:
        ValueError: For values that no estimate can have.
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

    def swap_estimand(self) -> Self:
        """Return the estimator of the other estimand, secant or gradient.

        It has no symmetry where the C of that estimand has none.
        """
        if self.estimand != "secant":
            return dataclasses.replace(self, estimand="secant")
        symmetry = self.symmetry and self.point != "normal"
        return dataclasses.replace(self, estimand="gradient", symmetry=symmetry)


@dataclasses.dataclass(frozen=True)
class Source:
    """Where the NADs of one architecture come from: untrained networks, or a file.

    Attributes:
        networks: Number of untrained networks, at most.
        error: Relative error of C at which fewer networks are enough.
        input: (C, H, W) of one input.
        first: Number of leading directions, for inputs whose D×D matrix fits into no
            memory.
        file: A .npy with orthonormal rows (K, D) instead of an estimate.

    Raises:
        ValueError: For values that do not fit together.
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
                "networks must be at least 2 (halves are compared), not "
                f"{self.networks}"
            )
        if self.error is not None and not 0 < self.error < 1:
            raise ValueError(f"error must lie between 0 and 1, not {self.error}")
        if self.first is not None and not 0 < self.first <= dimension:
            raise ValueError(
                f"first must lie between 1 and {dimension}, not {self.first}"
            )

    def estimators(self, estimator: Estimator) -> list[Estimator]:
        """Return an estimator, and that of the other estimand if it is estimated too.

        It is estimated only for all directions, and for one channel, since the
        gradient's C has no symmetry.
        """
        has_all = self.file is None and self.first is None
        if estimator.compare and has_all and self.input[0] == 1:
            return [estimator, estimator.swap_estimand()]
        return [estimator]

    def check(self, last: int, shape: Shape) -> None:
        """Check that an experiment can use these NADs.

        Args:
            last: Largest index of a NAD that it needs.
            shape: (C, H, W) of its inputs.

        Raises:
            ValueError: If it cannot.
        """
        if self.input != shape:
            raise ValueError(
                f"its NADs are for inputs {as_text(self.input)}, and the "
                f"architecture's are {as_text(shape)}; give both the same input"
            )
        if self.first is not None and last >= self.first:
            raise ValueError(
                f"NAD {last} is not among the first {self.first}; give nads a larger "
                "first"
            )


@dataclasses.dataclass(frozen=True)
class Request:
    """The NADs of one architecture that a scale needs.

    Attributes:
        specification: The network and its arguments.
        source: Where they come from.
        own: The sha256 of the files of your own network, by path.
    """

    specification: dict[str, typing.Any]
    source: Source
    own: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class NADsPlan:
    """All NADs that a scale needs.

    Attributes:
        scale: Name of the scale.
        seed: The seeds of the untrained networks derive from it.
        estimator: How they are estimated.
        members: Requests by architecture.
    """

    scale: str
    seed: int
    estimator: Estimator
    members: dict[str, Request]
