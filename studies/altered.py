"""How do predictions on images change if a few NADs are altered in the images?

    python -m studies.altered

Networks are trained on images as in `flip` (paper 1, table 1). Then a set of directions
is altered in each colour channel of the test images, in one of three ways:

- `removed`: the image's component in the set is removed;
- `negated`: this component gets the opposite sign;
- `moved`: a random vector within the set is added. Its norm is half of the image's, so
  images change by the same amount for every set.

The sets are the eight bands of 128 NADs, 128 random directions, and each of the first
eight NADs by itself. The NADs are each network's own, as `python -m pipeline.estimate`
writes them.

results.csv has three numbers for each network, seed, alteration and set: the fraction
of the test images whose prediction changed, the mean of ‖Δx‖²/‖x‖², and the fraction
divided by the square root of this mean. The last number is a fairer comparison of sets,
because images have most of their energy in low NADs.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import torch

from pipeline import config, experiments, networks
from pipeline.experiments.experiment import Cell
from pipeline.experiments.flip import Maps
from pipeline.experiments.plan import Plan
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.labels import label
from pipeline.training import loop
from studies import in_memory

FOLDER = Path("reports/kept/altered/plain_images")

NETWORKS = {"lenet": 3, "resnet18_narrow": 1}
"""The number of seeds of each architecture."""

BAND = 128  # NADs that are altered together, an eighth of a channel's
SINGLE = 8  # first NADs that are altered one at a time
LENGTH = 0.5  # of what moves an image, as a part of the image's


def sets(basis: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the name and the orthonormal rows of every set of directions.

    Args:
        basis: NADs as rows, (D, D).
    """
    for first in range(0, len(basis), BAND):
        yield f"NADs {first}–{first + BAND - 1}", basis[first : first + BAND]
    normal = torch.randn(
        basis.shape[1], BAND, generator=torch.Generator().manual_seed(1)
    )
    yield "random", torch.linalg.qr(normal)[0].T
    for index in range(SINGLE):
        yield f"NAD {index}", basis[index : index + 1]


def alterations(
    x: torch.Tensor, rows: torch.Tensor
) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the name and the altered images of every alteration.

    Args:
        x: Images, (N, C, H, W).
        rows: Orthonormal directions, (K, D).
    """
    flat = x.reshape(len(x), -1, rows.shape[1])
    within = flat @ rows.T
    steps = torch.randn(within.shape, generator=torch.Generator().manual_seed(0))
    wanted = LENGTH * flat.flatten(1).norm(dim=1) / steps.flatten(1).norm(dim=1)
    changes = {
        "removed": -within,
        "negated": -2 * within,
        "moved": steps * wanted[:, None, None],
    }
    for name, change in changes.items():
        yield name, (flat + change @ rows).reshape(x.shape)


def rows_of(
    network: torch.nn.Module, x: torch.Tensor, y: torch.Tensor, basis: torch.Tensor
) -> Iterator[dict]:
    """Yield a row of the table for each set and alteration, without its network.

    Args:
        network: A trained network.
        x: Test images, (N, C, H, W).
        y: Class numbers, (N,).
        basis: NADs as rows, (D, D).
    """

    def predictions(x):
        return loop.logits(network, loop.channels_last(x, "cpu")).argmax(1)

    before = predictions(x)
    for band, rows in sets(basis):
        for name, altered in alterations(x, rows):
            after = predictions(altered)
            change = (altered - x).flatten(1).norm(dim=1) / x.flatten(1).norm(dim=1)
            changed = float((after != before).float().mean())
            energy = float(change.square().mean())
            yield {
                "alteration": name,
                "band": band,
                "altered": energy,
                "changed": changed,
                "changed_per_norm": changed / energy**0.5,
                "accuracy": float((after == y).float().mean()),
                "unaltered": float((before == y).float().mean()),
            }


def train_network(plan: Plan, cell: Cell) -> list[dict]:
    """The rows of one network; runs in a worker."""
    name = cell["architecture"]
    experiment = experiments.find("flip")
    directions = artifacts.read_nads(name)["directions"]
    images = artifacts.read_images()
    draw = experiment.draw_base_noise(plan, cell["seed"], images)
    x, y = experiment.dataset(cell, "train", draw, [directions])
    network, outcome, _ = in_memory.train(
        experiment, plan, cell, x, y, len(images["classes"])
    )
    x, y = experiment.dataset(cell, "test", draw, [directions])
    place = {
        "architecture": name,
        "seed": cell["seed"],
        "train_accuracy": outcome.accuracy,
    }
    basis = torch.as_tensor(directions, dtype=torch.float32)
    return [place | row for row in rows_of(network, x, y, basis)]


def draw(table: pd.DataFrame, names: dict[str, str]) -> None:
    """Draw, for each network, the predictions that change per norm removed, and those
    that a move of fixed length changes."""
    bands = [name for name in table["band"].unique() if "–" in name or name == "random"]
    panels = (
        (
            "removed",
            "changed_per_norm",
            "fraction of predictions changed\nper relative norm removed",
        ),
        (
            "moved",
            "changed",
            "fraction of predictions changed\nby a move of half the image's norm",
        ),
    )
    figure, axes = style.new_figure(1, len(panels), 9.6, 4.2)
    for panel, (alteration, column, label_of_axis) in zip(
        axes[0], panels, strict=False
    ):
        for (name, title), look in zip(names.items(), style.CURVES, strict=False):
            chosen = table[
                (table["architecture"] == name) & (table["alteration"] == alteration)
            ]
            of_band = chosen.groupby("band")[column].agg(["mean", "std"]).loc[bands]
            look = look | {"markersize": 5, "linewidth": 1.3, "capsize": 2.5}
            of_band.insert(0, "x", range(len(bands)))
            is_random = of_band.index == "random"
            panel.errorbar(*of_band[~is_random].to_numpy().T, label=title, **look)
            # No line joins it, as it is no further band.
            panel.errorbar(*of_band[is_random].to_numpy().T, **look)
        ticks = [name.removeprefix("NADs ") for name in bands]
        panel.set_xticks(range(len(bands)), ticks, rotation=45, ha="right")
        panel.set(xlabel="altered NADs, or 128 random directions", ylabel=label_of_axis)
        panel.set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False)
    caption = "Test images of CIFAR-10 · ± standard deviation over seeds"
    title = "Predictions that change when a band of NADs is altered in the image"
    style.save(style.finish(figure, title, caption), FOLDER, "altered")


def main() -> None:
    """Train, alter, and write the table and the figure; images must have been
    downloaded."""
    plan = config.plans(config.read())["overnight"].experiments["flip"]
    line = dataclasses.replace(plan.members["lenet"], grid=Maps(("plain",)))
    members = {
        name: dataclasses.replace(
            line,
            specification=networks.specification(config.read()["architectures"][name]),
        )
        for name in NETWORKS
    }
    plan = dataclasses.replace(plan, members=members)
    cells = [
        cell
        for cell in experiments.find("flip").cells(plan)
        if cell["images"] == "plain" and cell["seed"] < NETWORKS[cell["architecture"]]
    ]
    rows = in_memory.collect(train_network, cells, plan)
    FOLDER.mkdir(parents=True, exist_ok=True)
    columns = ["architecture", "seed", "alteration"]
    table = pd.DataFrame(rows).sort_values(columns, kind="stable")
    table.round(5).to_csv(FOLDER / "results.csv", index=False)
    draw(table, {name: label(member.specification) for name, member in members.items()})


if __name__ == "__main__":
    main()
