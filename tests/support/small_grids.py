"""Small grids for the tests: plans made by hand, directions, draws, and a table of
rows."""

import shutil

import numpy as np
import pandas as pd
from hand_overs import lay_down_plans, nads_of_file
from scipy.linalg import hadamard

from pipeline import experiments, networks
from pipeline.experiments.plan import Member, Plan
from pipeline.grid.data import Data
from pipeline.project import artifacts
from pipeline.training.loop import Training

ARCHITECTURES = {
    "lenet": {"network": networks.NETWORKS["lenet"]},
    "logreg": {"network": networks.NETWORKS["logreg"]},
    "mlp": {"network": networks.NETWORKS["mlp"], "hidden": [6, 4]},
}
SQUARE = {"channels": 1, "height": 32, "width": 32}
"""What cells say of inputs of 1×32×32."""

SMALL = {
    "colours": ({"eps": 1.0, "sigma": 1.0}, {"step": 16}),
    "convergence": ({"eps": 1.0, "sigma": 1.0}, {"step": 16}),
    "flip": ({}, {}),
    "fourier": ({"eps": 1.0, "sigma": 1.0}, {"step": 16}),
    "image_pairs": ({"eps": 1.0, "sigma": {"lenet": 1.0}}, {"indices": (3, 4)}),
    "learning": ({"eps": 1.0, "sigma": {"lenet": 1.0}}, {"indices": (3, 4)}),
    "linear_pairs": ({"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}, {"indices": (3, 4)}),
    "nad_sweep": ({"eps": 1.0, "sigma": {"lenet": 1.0}}, {"indices": (3, 4)}),
    "poison": ({"size": 0.05}, {"indices": (3,)}),
}
"""Settings, and one architecture's part of a small grid, of every experiment."""

HOW = Training(epochs=2, lr=0.1, momentum=0.9, weight_decay=0.0)


def plan_of(
    name,
    settings,
    grids,
    seeds=(0, 1),
    samples=(50, 30),
    estimands=("secant",),
    how=HOW,
):
    """A plan of the experiment `name`; settings: its own values; grids: architecture →
    the values of its part of the grid."""
    experiment = experiments.find(name)
    members = {
        architecture: Member(
            ARCHITECTURES[architecture],
            how,
            experiment.Grid(**grid),
            estimands,
            input=(experiment.supported_channels[0], 32, 32),
        )
        for architecture, grid in grids.items()
    }
    return Plan(
        name, "smoke", seeds, *samples, experiment.Settings(**settings), members
    )


def orthonormal(seed=0):
    """A basis (1024, 1024) as rows, float64, that is neither symmetric nor in any
    order."""
    rng = np.random.default_rng(seed)
    return hadamard(1024)[rng.permutation(1024)] * rng.choice([-1.0, 1.0], 1024) / 32


def nads_of(bases):
    """As the stage `generate` gives NADs: (architecture, estimand) → arrays; bases:
    estimand → (1024, 1024), the chosen first."""
    chosen = next(iter(bases))
    return lambda name, estimand=chosen: {
        "directions": bases[estimand],
        "eigenvalues": np.linspace(1, 0, 1024),
    }


def data_of(name, draws, vectors):
    """An experiment's data, in memory instead of on disk; draws: by seed; vectors: by
    name."""
    data = Data(experiments.find(name))
    data.base_noise = draws.__getitem__
    data.vectors = vectors
    return data


def table(rows, columns):
    """Rows of values as a table."""
    return pd.DataFrame([dict(zip(columns, row, strict=True)) for row in rows])


def separable(normal, y, v, eps, sigma):
    """D(v) by its definition, in float64: x = σ g + (ε y − σ⟨g, v⟩) v, (N, 1024) (paper
    2, eq. 1)."""
    normal = normal.astype(float)
    y = y.astype(float)
    return sigma * normal + np.outer(eps * y - sigma * (normal @ v), v)


def lay_down_plan(plan, device="cpu"):
    """Write what the stage `plan` leaves for an experiment, below the current
    folder."""
    lay_down_plans(
        machine={"device": device, "engine": "eager"}, **{plan.experiment: plan}
    )


def lay_down_nads(**bases):
    """Write what the stage `estimate` leaves, of the estimand that is chosen:
    architecture → (1024, 1024)."""
    if not (artifacts.PLAN / "nads.json").exists():
        artifacts.write_json(artifacts.PLAN / "nads.json", {})
    with artifacts.output(artifacts.NADS) as folder:
        shutil.copyfile(artifacts.PLAN / "nads.json", folder / "plan.json")
        for name, basis in bases.items():
            np.savez(folder / f"{name}.npz", **nads_of_file(basis, (1, 32, 32)))
