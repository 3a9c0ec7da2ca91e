"""Networks that score anisotropy directions need, and what the symmetries of the square
save.

    python -m benchmarks.outputs [rounds] [networks per round]

C = E[F Fᵀ] of a small untrained U-Net on 1×32×32, F one output a network for a new
standard-normal image each, as arXiv 2510.22899 takes 1,000,000 of them; as it is, and
averaged over the symmetries of the square. The relative error of C after n networks is
√(V/n), V from the networks' spread; the cost of equal error is V times the time of one
network. Both sides in turns, on one thread; printed are medians over rounds and their
range; the decompositions at the end are left out.
"""

import functools
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from threadpoolctl import threadpool_limits
from torch import nn

from pipeline.nads.covariance import Covariance
from pipeline.nads.estimator import Estimator
from pipeline.nads.jacobian import Sampler
from pipeline.training.loop import initialise
from pipeline.training.shapes import INPUT

OUTPUT = Estimator("output", "plain", 100.0, "many", True, False)


class UNet(nn.Module):
    """A U-Net of three sizes with average pooling, nearest upsampling and skip
    connections."""

    def __init__(self, channels: int = 1, width: int = 16) -> None:
        super().__init__()
        conv = functools.partial(nn.Conv2d, kernel_size=3, padding=1)
        self.down = nn.ModuleList(
            [conv(channels, width), conv(width, 2 * width), conv(2 * width, 4 * width)]
        )
        self.up = nn.ModuleList([conv(6 * width, 2 * width), conv(3 * width, width)])
        self.last = conv(width, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = []
        for layer in self.down:
            skips.append(F.relu(layer(F.avg_pool2d(skips[-1], 2) if skips else x)))
        x = skips.pop()
        for layer in self.up:
            x = torch.cat([F.interpolate(x, scale_factor=2), skips.pop()], 1)
            x = F.relu(layer(x))
        return self.last(x)


def one_round(numbers: range) -> tuple[list[float], list[float]]:
    """Seconds per network, and V, without and with the symmetries."""

    def build(seed):
        return initialise(UNet, seed)

    sides = [(Covariance(INPUT, symmetry), []) for symmetry in ("none", "square")]
    for number in numbers:
        for covariance, times in sides:
            started = time.perf_counter()
            covariance.add(Sampler(build, INPUT, (0, "benchmark"), OUTPUT)(number))
            times.append(time.perf_counter() - started)
    seconds = [statistics.median(times) for _, times in sides]
    return seconds, [
        covariance.error() ** 2 * covariance.count for covariance, _ in sides
    ]


def main(rounds: int = 5, per_round: int = 1000) -> None:
    """Run the rounds and print their medians and ranges."""
    figures = {}
    for number in range(rounds):
        numbers = range(number * per_round, (number + 1) * per_round)
        seconds, (plain, averaged) = one_round(numbers)
        for label, value in {
            "error of C after 1,000 networks": (plain / 1000) ** 0.5,
            "error of C after 1,000,000 networks": (plain / 1e6) ** 0.5,
            "networks for equal error, plain ÷ symmetries": plain / averaged,
            "COST OF EQUAL ERROR, plain ÷ symmetries": plain
            * seconds[0]
            / (averaged * seconds[1]),
        }.items():
            figures.setdefault(label, []).append(value)
    print(
        f"U-Net, {rounds} rounds of {per_round} networks, one thread, torch "
        f"{torch.__version__}"
    )
    for label, values in figures.items():
        extremes = f"({min(values):.3g} to {max(values):.3g})"
        print(f"{label:50s} {statistics.median(values):10.3g}   {extremes}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main(*map(int, sys.argv[1:]))
