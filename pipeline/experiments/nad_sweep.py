"""`nad_sweep` (paper 1, §4, fig 6): test accuracy on D(uᵢ) along the network's own
NADs.

Where both estimands' NADs are estimated (`estimator.compare`), both are swept: which of
the two predicts training better? The loss of the first epochs tells how fast each
direction is learned.
"""

import dataclasses

from pydantic import NonNegativeFloat

from pipeline.experiments.experiment import SeparableExperiment
from pipeline.experiments.plan import AmplitudePerArchitecture, Indices, Rate


@dataclasses.dataclass(frozen=True)
class Sweep(Indices):
    """The indices of one architecture.

    Attributes:
        compare: Whether the other estimand's NADs are swept too.
    """

    compare: bool = False


@dataclasses.dataclass(frozen=True)
class Settings(AmplitudePerArchitecture):
    """Amplitude ε of D(v), and its noise σ by architecture.

    Attributes:
        sigma_v: Standard deviation of the noise along v, 0 in the papers.
        eta: Fraction of the training samples with the wrong label, 0 in the papers.
    """

    sigma_v: NonNegativeFloat = 0.0
    eta: Rate = 0.0


def estimands_of(member):
    """Return the estimands whose NADs are swept, the chosen one first."""
    if member.grid.compare:
        return member.estimands
    return member.estimands[:1]


class NADSweep(SeparableExperiment):
    """D(u) along single NADs u, of one channel or of colour."""

    coordinates = ("estimand", "index")
    supported_channels = (1, 3)
    schedule = "linear"
    label_noise = ("eta",)
    Settings = Settings
    Grid = Sweep

    def grid_points(self, member):
        """Yield every index of every estimand."""
        for estimand in estimands_of(member):
            for index in member.grid.indices:
                yield {"estimand": estimand, "index": index}

    def directions(self, plan, nads):
        """Return NADs by '{architecture}-{estimand}-{index}'."""
        vectors = {}
        for name, member in plan.members.items():
            for estimand in estimands_of(member):
                directions = nads(name, estimand)["directions"]
                for index in member.grid.indices:
                    vectors[f"{name}-{estimand}-{index}"] = directions[index]
        return vectors

    def direction_names(self, cell):
        """Return the name of uᵢ."""
        return [f"{cell['architecture']}-{cell['estimand']}-{cell['index']}"]
