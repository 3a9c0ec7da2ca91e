"""Why even a linear network prefers some directions (paper 1, figure 4 and its lemmas).

    python -m studies.linear_networks

Pooling *loses* information: after 2×2 average pooling only a share s of the energy of a
direction v is left, and no later layer can exceed an accuracy of Φ((ε/σ)·√(s/(1 − s)))
on D(v). Poor conditioning *slows* training: if the input is scaled by a < 1 along v,
nothing is lost, but gradient descent needs about 1/a² times as many steps. Linear
networks are trained on D(v) with the project's own loop. Writes two tables and a figure
into reports/kept/linear_networks/two_mechanisms/.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import torch
from torch import nn

from pipeline.report import style
from pipeline.training import loop, seeds, separable
from pipeline.training.fourier import fourier, frequencies
from pipeline.training.loop import Training
from pipeline.training.shapes import SIDE, D

FOLDER = Path("reports/kept/linear_networks/two_mechanisms")

SAMPLES = 10_000
SEEDS = (0, 1)

POOLED = Training(epochs=30, lr=0.5, momentum=0.0, weight_decay=0.0, schedule="linear")
SIGMA = 3.0  # as in paper 1, figure 1

SCALED = Training(
    epochs=100, lr=0.5, momentum=0.0, weight_decay=0.0, schedule="linear", clip=1e9
)
FACTORS = (1.0, 0.5, 0.25, 0.125)


class ScaledLinear(nn.Module):
    """A linear classifier after the input along one direction v was scaled by a
    factor."""

    def __init__(self, v: np.ndarray, factor: float) -> None:
        super().__init__()
        self.register_buffer("v", torch.as_tensor(v))
        self.factor = factor
        self.fc = nn.Linear(len(v), 2)

    def forward(self, x):
        x = x.flatten(1)
        along = x @ self.v
        return self.fc(x + (self.factor - 1) * along[:, None] * self.v)


def pooled_linear() -> nn.Module:
    """A linear classifier after 2×2 average pooling."""
    return nn.Sequential(nn.AvgPool2d(2), nn.Flatten(), nn.Linear(D // 4, 2))


def energy_left(v: np.ndarray) -> float:
    """The share of the energy of v, (D,), that 2×2 average pooling leaves."""
    blocks = v.reshape(SIDE // 2, 2, SIDE // 2, 2)
    # Of orthonormal averages, each pixel has weight 1/2.
    return float(np.square(blocks.sum((1, 3)) / 2).sum())


def best_accuracy(share: float, eps: float, sigma: float) -> float:
    """The best accuracy on D(v) of a network that keeps this share of the energy of
    v."""
    if share > 1 - 1e-6:
        return 1.0
    return NormalDist().cdf(eps / sigma * (share / (1 - share)) ** 0.5)


def train_on(
    network: nn.Module, v: np.ndarray, sigma: float, how: Training, seed: int
) -> tuple[loop.Outcome, float]:
    """How a network's training on D(v) went, and its test accuracy."""
    sets = []
    for split in ("train", "test"):
        rng = seeds.stream(seed, "linear networks", split)
        y = separable.labels(rng, SAMPLES)
        x = separable.linearly_separable(
            separable.normal(rng, SAMPLES), y, v, 1.0, sigma
        )
        sets.append((x, torch.as_tensor(y > 0).long()))
    outcome = loop.train(network, *sets[0], how, seeds.derive(seed, "linear networks"))
    return outcome, loop.accuracy(network, *sets[1])


def pooling_rows() -> Iterator[dict]:
    """Yields a row for each frequency and seed: the accuracy beside the closed form."""
    for row, column in frequencies(4, transposes=False):
        v = fourier(row, column)
        share = energy_left(v)
        for seed in SEEDS:
            network = loop.initialise(pooled_linear, seeds.derive(seed, "pooled"))
            outcome, accuracy = train_on(network, v, SIGMA, POOLED, seed)
            yield {
                "k_row": row,
                "k_col": column,
                "seed": seed,
                "energy_left": share,
                "best_accuracy": best_accuracy(share, 1.0, SIGMA),
                "accuracy": accuracy,
                "train_accuracy": outcome.accuracy,
            }


def conditioning_rows() -> Iterator[dict]:
    """Yields a row for each factor and seed: the step at which D(v) was learned."""
    v = fourier(2, 4)
    for factor in FACTORS:
        for seed in SEEDS:
            network = loop.initialise(
                lambda factor=factor: ScaledLinear(v, factor),
                seeds.derive(seed, "scaled"),
            )
            outcome, accuracy = train_on(network, v, 1.0, SCALED, seed)
            yield {
                "factor": factor,
                "seed": seed,
                "steps": outcome.steps,
                "accuracy": accuracy,
                "train_accuracy": outcome.accuracy,
            }


def draw(pooling: pd.DataFrame, conditioning: pd.DataFrame) -> None:
    """Draw accuracy over the energy left, and steps over the factor."""
    figure, ((left, right),) = style.new_figure(1, 2, 9.0, 3.8)
    shares = np.linspace(0, 0.999, 200)
    closed = [100 * best_accuracy(share, 1.0, SIGMA) for share in shares]
    left.plot(shares, closed, color="0.5", label="closed form, best possible")
    left.plot(
        pooling["energy_left"],
        100 * pooling["accuracy"],
        "o",
        color=style.BLUE,
        markersize=4,
        label="trained, one point per frequency and seed",
    )
    left.set(
        xlabel="share of v's energy left by 2×2 average pooling",
        ylabel="test accuracy (%)",
    )
    left.set_title("Pooling loses information")
    left.legend(frameon=False)
    cells = conditioning.groupby("factor")["steps"].agg(["mean", "std"])
    look = {"color": style.BLUE, "marker": "o", "linestyle": "none", "capsize": 2.5}
    right.errorbar(cells.index, cells["mean"], cells["std"], label="trained", **look)
    factors = np.array(FACTORS)
    right.plot(
        factors,
        cells["mean"][1.0] / factors**2,
        color="0.5",
        label="proportional to 1/a², from a = 1 on",
    )
    right.set_xscale("log", base=2)
    right.set_yscale("log")
    right.set_xticks(FACTORS, ["1", "1/2", "1/4", "1/8"])
    right.set(xlabel="factor a by which the input along v is scaled")
    right.set(ylabel="steps until the mean loss is 0.01")
    right.set_title("Bad conditioning slows training")
    right.legend(frameon=False)
    caption = (
        f"{SAMPLES:,} samples · {len(SEEDS)} seeds · σ = {SIGMA:g} (left), 1 (right)"
    )
    for factor in cells.index[cells["mean"].isna()]:
        caption += f" · loss of 0.01 not reached with a = 1/{1 / factor:g}"
    title = "Two reasons why linear networks learn some directions better"
    style.save(style.finish(figure, title, caption), FOLDER, "linear_networks")


def main() -> None:
    """Train, and write the tables and the figure."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pooling = pd.DataFrame(pooling_rows())
    conditioning = pd.DataFrame(conditioning_rows())
    pooling.to_csv(FOLDER / "pooling.csv", index=False, float_format="%.5g")
    conditioning.to_csv(FOLDER / "conditioning.csv", index=False, float_format="%.5g")
    draw(pooling, conditioning)


if __name__ == "__main__":
    main()
