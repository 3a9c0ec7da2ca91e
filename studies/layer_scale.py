"""What do ConvNeXt's initial layer scales decide?

    python -m studies.layer_scale

ConvNeXt is trained on D(v) as in `studies.anatomy`, from several layer scales.
Either the scales are trained like all other weights, or they keep their initial values
("fixed"). A block with a scale of 10⁻⁶ adds nothing to its input, and the gradients of
its weights are multiplied by the scale.

Written before the run. We expect that the scales decide:

- With AdamW and scales fixed at 10⁻⁶, NAD 1000 is not learned.
- With SGD and scales fixed at 1, it is learned.
- From 10⁻⁶, AdamW has raised the scales above 0.01 when NAD 1000 is learned. SGD leaves
  them below 0.01 to the end.
- SGD learns NAD 200 even with scales fixed at 10⁻⁶.

Added when the first three networks were trained, all as expected:

- With AdamW and scales fixed at 0.01, NAD 1000 is learned, because AdamW divides each
  gradient by its usual size. SGD does not learn it from 0.01 (`studies.anatomy`).

Written before the runs along directions that ConvNeXt should not learn
(`studies.controversial`). With SGD it is near chance along all five, and with AdamW it
learns the two that were tried, those for LeNet and for VGG-11. We expect that it needs
its blocks for them, too, and that C of an untrained ConvNeXt is nearly that of a
network without blocks:

- From layer scales of 1, SGD learns all five.
- With scales fixed at 10⁻⁶, AdamW learns neither of the two.
- A direction for LeNet that is computed from C at a scale of 1 is not learned from a
  scale of 1, with SGD or with AdamW (`studies.controversial`, with the architecture
  {network: convnext, scale: 1.0} in params.yaml).

Written before the runs in which the gradients of the blocks' weights, without the
scales, are multiplied by a `gain` before they are clipped. With a scale s, gradients
are s times as large as with 1. With SGD and NAD 1000, we expect:

- With scales fixed at 0.01, a gain of 1 is not enough. Gains of 100 (gradients as large
  as with a scale of 1) and of 10,000 (steps that change the output as much) are.
- With scales fixed at 1, gains of 0.01 and 0 are too little, although the function is
  that of a network which SGD trains with a gain of 1.

Writes results.csv, with a row per network, into reports/kept/anatomy/layer_scale/. Its
columns `scale_1`, `scale_4` and `scale_20` have the root mean square of all layer
scales after so many epochs. response.csv has the untrained response √(vᵀCv) along each
direction, C divided by its mean eigenvalue, at scales of 10⁻⁶ and 1. Its column
`repeated` is the share of the direction's energy in patterns that repeat in all patches
of 16×16 pixels. Without blocks ConvNeXt takes the mean over these patches, which do not
overlap, so a linear network of this kind sees nothing else.
"""

import argparse
import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from pipeline.experiments.plan import Plan
from pipeline.nads import load
from pipeline.networks.convnext import Block
from pipeline.project.errors import one_sentence
from pipeline.training.shapes import SIDE
from studies import anatomy, controversial, in_memory
from studies.untrained import energy

FOLDER = Path("reports/kept/anatomy/layer_scale")

CASES = [
    ("AdamW", 1e-6, True, 1.0, "nad_1000"),
    ("AdamW", 1e-6, False, 1.0, "nad_1000"),
    ("SGD", 1e-6, False, 1.0, "nad_1000"),
    ("SGD", 1.0, True, 1.0, "nad_1000"),
    ("SGD", 1e-6, True, 1.0, "nad_200"),
    ("SGD", 1e-6, False, 1.0, "nad_200"),
    ("AdamW", 1e-2, True, 1.0, "nad_1000"),
    ("SGD", 1.0, False, 1.0, "lenet_not_convnext"),
    ("SGD", 1.0, False, 1.0, "vgg11_quarter_not_convnext"),
    ("AdamW", 1e-6, True, 1.0, "lenet_not_convnext"),
    ("AdamW", 1e-6, True, 1.0, "vgg11_quarter_not_convnext"),
    ("SGD", 1.0, False, 1.0, "resnet18_quarter_not_convnext"),
    ("SGD", 1.0, False, 1.0, "convmixer_not_convnext"),
    ("SGD", 1.0, False, 1.0, "lenet_strided_not_convnext"),
    ("SGD", 1.0, False, 1.0, "random"),
    ("SGD", 1e-2, True, 1.0, "nad_1000"),
    ("SGD", 1e-2, True, 1e2, "nad_1000"),
    ("SGD", 1e-2, True, 1e4, "nad_1000"),
    ("SGD", 1.0, True, 1e-2, "nad_1000"),
    ("SGD", 1.0, True, 0.0, "nad_1000"),
]
"""Optimiser, initial scale, whether scales are fixed, gain, and direction."""

NADS = {"nad_1000": 1000, "nad_200": 200}
"""Index of each direction that is one of ConvNeXt's NADs."""

RESPONSE_NETWORKS = 48

PATCH = 16  # pixels of the input that ConvNeXt without blocks sees at once

EPOCHS = (1, 4, 20)
"""The epochs after which the scales are measured."""


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """One network to train along `v`, (D,), which is called `direction`."""

    optimiser: str
    scale: float
    fixed: bool
    gain: float
    direction: str
    seed: int
    v: np.ndarray

    @property
    def key(self) -> dict[str, Any]:
        """The columns of its row that identify it."""
        return {
            "optimiser": self.optimiser,
            "scale": self.scale,
            "fixed": self.fixed,
            "gain": self.gain,
            "direction": self.direction,
            "seed": self.seed,
        }


def read_scales(network: nn.Module) -> list[nn.Parameter]:
    """Return the layer scales of all blocks."""
    return [module.scale for module in network.modules() if isinstance(module, Block)]


def multiply_gradients(network: nn.Module, gain: float) -> None:
    """Multiply the gradients of all weights of blocks, but not of their scales."""
    for block in network.modules():
        if isinstance(block, Block):
            for weight in block.parameters():
                if weight is not block.scale:
                    weight.register_hook(lambda gradient: gain * gradient)


def train_network(plan: Plan, job: Job) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: Plan of `studies.anatomy`.
        job: The network to train.
    """
    scales = {}

    def watch(network: nn.Module, epochs: int) -> None:
        if epochs == 0:
            multiply_gradients(network, job.gain)
        if job.fixed:
            for scale in read_scales(network):
                scale.requires_grad_(False)
        if epochs in EPOCHS:
            values = torch.cat([scale.detach() for scale in read_scales(network)])
            scales[f"scale_{epochs}"] = float(values.square().mean().sqrt())

    variant = anatomy.Variant("convnext", (("scale", job.scale),))
    if job.direction in NADS:
        index = NADS[job.direction]
        experiment, cell = anatomy.find_cell(plan, "convnext", job.seed, index)
        name = experiment.name
    else:
        experiment = controversial.EXPERIMENT
        cell = controversial.cell_of("convnext", job.direction, job.seed)
        name = "controversial"
    outcome, accuracy = in_memory.learn_direction(
        experiment,
        plan,
        cell,
        job.v,
        name=name,
        specification=variant.specification,
        callback=watch,
        **anatomy.OPTIMISERS[job.optimiser],
    )
    return (
        job.key
        | {
            "train_accuracy": outcome.accuracy,
            "accuracy": accuracy,
            "steps": outcome.steps,
        }
        | scales
    )


def repeated_energy(v: np.ndarray) -> float:
    """Compute the share of the energy of v in patterns that repeat in all patches.

    Args:
        v: Unit vector, (D,).
    """
    rows = SIDE // PATCH
    patches = v.reshape(rows, PATCH, rows, PATCH).astype(np.float64)
    return float(rows**2 * (patches.mean((0, 2)) ** 2).sum())


def measure_response(_: None, job: tuple[float, str, np.ndarray]) -> dict[str, Any]:
    """Measure the response of an untrained ConvNeXt; runs in a worker.

    Args:
        job: The layer scale, and the direction with its name.
    """
    scale, direction, v = job
    variant = anatomy.Variant("convnext", (("scale", scale),))
    nads = anatomy.untrained_nads(variant, RESPONSE_NETWORKS)
    response = np.sqrt(energy(nads, v) / nads.eigenvalues.mean())
    return {
        "scale": scale,
        "direction": direction,
        "response": response,
        "repeated": repeated_energy(v),
    }


def main() -> None:
    """Train all networks that the table lacks."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    nads = load("convnext").directions.astype(np.float32)
    with np.load(controversial.KEPT / "six_networks/directions.npz") as kept:
        directions = dict(kept) | {name: nads[index] for name, index in NADS.items()}
    jobs = {}
    for seed, case in itertools.product(anatomy.SEEDS, CASES):
        job = Job(*case, seed, directions[case[-1]])
        jobs[tuple(job.key.values())] = job
    plan = anatomy.make_plan(["convnext"], tuple(NADS.values()))
    in_memory.complete(FOLDER / "results.csv", train_network, jobs, plan)
    names = dict.fromkeys(case[-1] for case in CASES)
    to_measure = {
        (scale, name): (scale, name, directions[name])
        for scale in (1e-6, 1.0)
        for name in names
    }
    in_memory.complete(FOLDER / "response.csv", measure_response, to_measure, None)


if __name__ == "__main__":
    with one_sentence():
        main()
