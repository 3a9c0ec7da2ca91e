"""Cost of NADs at equal error: the procedure of the papers against ours, network by
network.

    python -m benchmarks.nads [lenet|resnet18] [rounds] [networks per round]

Reference, written after paper 1's description: a network in PyTorch's default layout,
ReLU before pooling, its secant at one standard-normal image from 2 × 1,024 perturbed
images in two passes, one vector d per network. Ours: `pipeline.nads` with the read-out
averaged exactly, then also over the network's symmetries, accumulated into C in
float64. One thread each.

Both are unbiased, so their relative Frobenius error after n networks is √(V/n) with V =
E‖S‖²/‖C‖² − 1, S one network's sample of C (d dᵀ for the reference). ‖C‖² comes from
products of different networks' samples, E‖d‖⁴ from its closed form over read-outs: with
a uniform, E‖Jᵀa‖⁴ = s⁴((tr G)² + 2‖G‖² − 1.2 Σ G_ii²) for G = JJᵀ (the reference's own
vectors are too few to give it well; they are timed only). The cost of equal error is V
times the time of one network. Printed are medians over rounds and their range; the
decompositions at the end are left out.
"""

import argparse
import functools
import statistics
import sys
import time
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F

from pipeline import networks
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimator import Estimator
from pipeline.nads.jacobian import Sampler, evaluation_point
from pipeline.nads.symmetry import symmetrise
from pipeline.networks.lenet import LeNet
from pipeline.networks.resnet import ResNet18
from pipeline.training.shapes import INPUT, D

OURS = Estimator("secant", "readout", 100.0, "normal", True, False)


class UsualLeNet(LeNet):
    """LeNet as it is usually written: ReLU first, then pooling."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc2(F.relu(self.fc1(x.flatten(1)))))
        return self.fc3(x)


USUAL = {"lenet": UsualLeNet, "resnet18": ResNet18}


@torch.no_grad()
def reference(name: str, number: int) -> np.ndarray:
    """The secant d (1024,) of one network of the reference procedure."""
    torch.manual_seed(number)
    network = USUAL[name](1, 1).eval()
    point = torch.from_numpy(evaluation_point("normal", 0, 0, D)).reshape(INPUT)
    steps = 100.0 * torch.eye(D).reshape(-1, *INPUT)
    return ((network(point + steps) - network(point - steps)) / 200.0).flatten().numpy()


def plain_fourth_moment(jacobian: np.ndarray) -> float:
    """E‖d‖⁴ over read-outs with uniform weights, from the Jacobian s J (F, D) of one
    network."""
    gram = jacobian.astype(np.float64) @ jacobian.T.astype(np.float64)
    return np.trace(gram) ** 2 + 2 * (gram**2).sum() - 1.2 * (np.diag(gram) ** 2).sum()


def one_round(name: str, numbers: Sequence[int]) -> tuple[list[float], list[float]]:
    """Seconds per network of both sides (medians), and V of plain, read-out, with
    symmetries."""
    specification = networks.specification({"network": name})
    build = functools.partial(networks.build, specification, 1, 1)
    symmetry = networks.symmetry(specification).square
    covariance = Covariance(INPUT, symmetry)
    times = ([], [])
    fourth = []
    own = []
    averaged = []
    for number in numbers:
        started = time.perf_counter()
        reference(name, number)
        middle = time.perf_counter()
        jacobian = Sampler(build, INPUT, (0, "benchmark"), OURS)(number)
        covariance.add(jacobian)
        times[0].append(middle - started)
        times[1].append(time.perf_counter() - middle)
        sample = jacobian.T.astype(np.float64) @ jacobian
        fourth.append(plain_fourth_moment(jacobian))
        own.append((sample**2).sum())
        averaged.append((symmetrise(symmetry, sample, INPUT) ** 2).sum())
    count = len(numbers)
    total = (symmetrise(symmetry, covariance.sums.sum(0), INPUT) ** 2).sum()
    square = (total - np.sum(averaged)) / (count * (count - 1))
    variances = [np.mean(moment) / square - 1 for moment in (fourth, own, averaged)]
    return [statistics.median(side) for side in times], variances


def main(name: str, rounds: int, per_round: int) -> None:
    """Run the rounds and print their medians and ranges."""
    torch.set_num_threads(1)
    figures = {}
    for number in range(rounds):
        numbers = range(number * per_round, (number + 1) * per_round)
        (usual, ours), (plain, readout, symmetric) = one_round(name, numbers)
        for label, value in {
            "time of one network, reference ÷ ours": usual / ours,
            "networks for equal error, plain ÷ read-out": plain / readout,
            "networks for equal error, plain ÷ read-out and symmetries": plain
            / symmetric,
            "COST OF EQUAL ERROR, reference ÷ read-out": usual / ours * plain / readout,
            "COST OF EQUAL ERROR, reference ÷ read-out and symmetries": usual
            * plain
            / (ours * symmetric),
            "relative error of 10,000 plain networks": (plain / 10_000) ** 0.5,
            "our networks for that error": 10_000 * symmetric / plain,
            "seconds per network of ours": ours,
        }.items():
            figures.setdefault(label, []).append(value)
        print(f"round {number + 1} of {rounds} done", file=sys.stderr)
    sizes = f"{rounds} rounds of {per_round} networks on either side"
    print(f"{name}: {sizes}, one thread, torch {torch.__version__}")
    for label, values in figures.items():
        extremes = f"({min(values):.3g} to {max(values):.3g})"
        print(f"{label:60s} {statistics.median(values):10.3g}   {extremes}")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(
        "python -m benchmarks.nads", description=__doc__.partition("\n")[0]
    )
    reader.add_argument("network", nargs="?", choices=tuple(USUAL), default="lenet")
    reader.add_argument("rounds", nargs="?", type=int, default=5)
    reader.add_argument("networks_per_round", nargs="?", type=int, default=24)
    chosen = reader.parse_args()
    main(chosen.network, chosen.rounds, chosen.networks_per_round)
