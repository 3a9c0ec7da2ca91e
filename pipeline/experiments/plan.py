"""The plan of one experiment at one scale: its settings, and each architecture's part
of it."""

import dataclasses
import math
import typing

from pydantic import Field, NonNegativeFloat, PositiveFloat

from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.training.loop import Training
from pipeline.training.shapes import INPUT, Shape, dimension

Settings = typing.TypeVar("Settings")  # the dataclass of an experiment's own values
Grid = typing.TypeVar("Grid")  # the dataclass of one architecture's part of its grid

CLASSES = 10
"""Number of classes of images that are not here yet."""

Rate = typing.Annotated[float, Field(ge=0, le=1)]
"""A fraction of the samples."""


@dataclasses.dataclass(frozen=True)
class Nothing:
    """The settings of an experiment that has none."""


@dataclasses.dataclass(frozen=True)
class Indices:
    """One architecture's part of a grid over its own NADs."""

    indices: tuple[int, ...]

    def count_nads(self, shape: Shape) -> int:
        """Return the number of first NADs, up to the largest index.

        Raises:
            ValueError: There are no indices, or one is out of range or repeated.
        """
        if not self.indices:
            raise ValueError("indices is empty; name at least one NAD index")
        count = dimension(shape)
        for index in self.indices:
            if not 0 <= index < count:
                raise ValueError(
                    f"NAD index {index} is out of range; indices run from 0 to "
                    f"{count - 1}"
                )
        if len(set(self.indices)) < len(self.indices):
            raise ValueError("indices repeat a value")
        return max(self.indices) + 1


@dataclasses.dataclass(frozen=True)
class Frequencies:
    """One architecture's part of the grid of frequencies.

    Attributes:
        step: Frequencies are multiples of it (paper 1: 2).
        transposes: Whether (k_row, k_col) and (k_col, k_row) are both trained. They are
            equivalent for a network with a distribution that is symmetric under
            transposition.
    """

    step: int
    transposes: bool = True

    def count_nads(self, shape: Shape) -> int:
        """Return 0, the number of NADs.

        Raises:
            ValueError: A side is odd, or `step` does not divide its half.
        """
        for side in shape[1:]:
            half = side // 2
            if side % 2:
                raise ValueError(
                    f"sides must be even, not {side}: frequencies go up to half of it"
                )
            if self.step <= 0 or half % self.step:
                raise ValueError(
                    f"step must divide {half}, so that 0 and −{half} are in"
                )
        return 0


@dataclasses.dataclass(frozen=True)
class Amplitude:
    """Amplitude ε and noise σ of D(v), the same for every architecture."""

    eps: NonNegativeFloat
    sigma: PositiveFloat


@dataclasses.dataclass(frozen=True)
class AmplitudePerArchitecture:
    """Amplitude ε of D(v), and its noise σ by architecture."""

    eps: NonNegativeFloat
    sigma: dict[str, PositiveFloat]


@dataclasses.dataclass(frozen=True)
class Member(typing.Generic[Grid]):
    """One architecture's part of an experiment.

    Attributes:
        specification: The network and its arguments (see `pipeline.networks`).
        training: Its hyperparameters.
        grid: Its part of the grid.
        estimands: Estimands of its NADs, the chosen one first.
        seeds: Number of the plan's seeds with which it is trained; None for all.
        input: Shape (C, H, W) of its inputs.
        own: sha256, by path, of your own files that decide its network.
    """

    specification: dict[str, typing.Any]
    training: Training
    grid: Grid
    estimands: tuple[str, ...] = ()
    seeds: int | None = None
    input: Shape = INPUT
    own: dict[str, str] = dataclasses.field(default_factory=dict)

    def count_steps(self, samples: int) -> int:
        """Return the number of training steps with this number of samples."""
        return self.training.epochs * math.ceil(samples / self.training.batch_size)


@dataclasses.dataclass(frozen=True)
class Plan(typing.Generic[Settings, Grid]):
    """One experiment at one scale, with all its values from params.yaml.

    Attributes:
        experiment: Name of the experiment.
        scale: Name of the scale.
        seeds: Seeds of the grid.
        train_samples: Number of training samples of each cell.
        test_samples: Number of test samples of each cell.
        settings: The experiment's own values.
        members: Parts by architecture; empty if the scale leaves the experiment out.
    """

    experiment: str
    scale: str
    seeds: tuple[int, ...]
    train_samples: int
    test_samples: int
    settings: Settings
    members: dict[str, Member[Grid]]

    @classmethod
    def read(cls, experiment: typing.Any) -> "Plan":
        """Read the plan that the stage `plan` wrote for an `Experiment`.

        Raises:
            InputError: The scale leaves the experiment out.
        """
        plan = artifacts.read_plan(
            experiment.name, cls[experiment.Settings, experiment.Grid]
        )
        if not plan.members:
            raise InputError(
                f"scale {plan.scale} leaves {plan.experiment} out; "
                "`dvc repro evaluate@X` runs an experiment X that it has",
                "unknown-name",
            )
        return plan

    @property
    def inputs(self) -> list[Shape]:
        """The distinct shapes (C, H, W) of the architectures' inputs, sorted."""
        return sorted({member.input for member in self.members.values()})

    @property
    def precision(self) -> str:
        """The precision of training, which is the same for all networks of a run."""
        return next(iter(self.members.values())).training.precision
