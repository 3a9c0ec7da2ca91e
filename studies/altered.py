"""Does a prediction change when a band of NADs is altered in an image, and the image how much?

    python -m studies.altered

Networks are trained on images as in `flip` (paper 1, table 1), and tested on images of which one
band of 128 NADs was altered, in each channel of colour: taken away (`removed`), given the other
sign (`negated`), or, so that the image changes as much in every band, moved by a random vector of
the band whose length is half of the image's (`moved`). results.csv has, by network, seed,
alteration and first index of the band, the part of the test images whose prediction changed, the
mean of ‖Δx‖²/‖x‖², and the accuracy. The NADs are those of `pipeline.nads.load`, at full width.
"""

import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import torch

from pipeline import experiments, networks, settings
from pipeline.cells import training
from pipeline.experiments.experiment import Cell
from pipeline.experiments.plan import Plan
from pipeline.machine import workers
from pipeline.nads import load
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.labels import label
from studies import in_memory

FOLDER = Path("reports/kept/altered/plain_images")

NETWORKS = {"lenet": ("lenet", 3), "resnet18_narrow": ("resnet18", 1)}
"""Name of the NADs of each architecture, and number of seeds."""

BAND = 128  # NADs that are altered together, an eighth of a channel's
LENGTH = 0.5  # of what moves an image, as a part of the image's


def alterations(
    x: torch.Tensor, basis: torch.Tensor, band: slice
) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields (name, altered x); x: (N, C, H, W); basis: (D, D), the NADs as rows; band: of them."""
    rows = basis[band]
    flat = x.reshape(len(x), -1, basis.shape[1])
    within = flat @ rows.T
    steps = torch.randn(within.shape, generator=torch.Generator().manual_seed(0))
    wanted = LENGTH * flat.flatten(1).norm(dim=1) / steps.flatten(1).norm(dim=1)
    changes = {"removed": -within, "negated": -2 * within, "moved": steps * wanted[:, None, None]}
    for name, change in changes.items():
        yield name, (flat + change @ rows).reshape(x.shape)


def rows_of(network: torch.nn.Module, x: torch.Tensor, y: torch.Tensor, basis) -> Iterator[dict]:
    """Yields a row of the table for each band and alteration, without its network."""
    answer = lambda x: training.logits(network, training.channels_last(x, "cpu")).argmax(1)
    before = answer(x)
    for first in range(0, len(basis), BAND):
        for name, altered in alterations(x, basis, slice(first, first + BAND)):
            after = answer(altered)
            change = (altered - x).flatten(1).norm(dim=1) / x.flatten(1).norm(dim=1)
            values = {
                "altered": change.square(),
                "changed": (after != before).float(),
                "accuracy": (after == y).float(),
                "unaltered": (before == y).float(),
            }
            means = {column: float(value.mean()) for column, value in values.items()}
            yield {"alteration": name, "first_index": first} | means


def trained(plan: Plan, cell: Cell) -> list[dict]:
    """The rows of one network; runs in a worker."""
    name, experiment = cell["architecture"], experiments.find("flip")
    nads, images = load(NETWORKS[name][0]), artifacts.images()
    draw = experiment.draw(plan, cell["seed"], images)
    basis = torch.as_tensor(nads.directions, dtype=torch.float32)
    x, y = experiment.dataset(cell, "train", draw, [nads.directions])
    network, outcome, _ = in_memory.trained(experiment, plan, cell, x, y, len(images["classes"]))
    x, y = experiment.dataset(cell, "test", draw, [nads.directions])
    place = {"architecture": name, "seed": cell["seed"], "train_accuracy": outcome.accuracy}
    return [place | row for row in rows_of(network, x, y, basis)]


def draw(table: pd.DataFrame, names: dict[str, str]) -> None:
    """Draw, for each network, the part of the predictions that change over the band."""
    looks = dict(zip(("removed", "negated", "moved"), style.CURVES))
    figure, axes = style.new(len(names), 1, 6.4, 2.4 * len(names) + 1.2, sharex=True)
    for panel, (name, title) in zip(axes[:, 0], names.items()):
        for alteration, look in looks.items():
            chosen = table[(table["architecture"] == name) & (table["alteration"] == alteration)]
            of_band = 100 * chosen.groupby("first_index")["changed"].agg(["mean", "std"])
            panel.errorbar(of_band.index, of_band["mean"], of_band["std"], label=alteration, **look)
        panel.set(ylim=(0, 100), ylabel=f"{title}\npredictions changed (%)")
    axes[0, 0].legend(frameon=False)
    axes[-1, 0].set_xlabel(f"first of the {BAND} NADs that are altered")
    caption = (
        "Test images of CIFAR-10 · removed, negated: the image's own part in the band; moved: "
    )
    caption += "by half of the image's length within the band · ± standard deviation over seeds"
    title = "Predictions that change when a band of NADs is altered in the image"
    style.save(style.finish(figure, title, caption), FOLDER, "altered")


def main() -> None:
    """Train, alter, and write the table and the figure; images must have been downloaded."""
    plan = settings.plans(settings.read())["overnight"].experiments["flip"]
    line = plan.members["lenet"]
    members = {
        name: dataclasses.replace(
            line, specification=networks.specification(settings.read()["architectures"][name])
        )
        for name in NETWORKS
    }
    plan = dataclasses.replace(plan, members=members)
    cells = [
        cell
        for cell in experiments.find("flip").cells(plan)
        if cell["images"] == "plain" and cell["seed"] < NETWORKS[cell["architecture"]][1]
    ]
    rows, make = [], functools.partial(dataclasses.replace, plan)
    work = workers.run(trained, cells, make, torch.device("cpu"))
    for _, result in work:
        if isinstance(result, Exception):
            raise result
        rows += result
    FOLDER.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows).sort_values(["architecture", "seed", "alteration", "first_index"])
    table.round(5).to_csv(FOLDER / "results.csv", index=False)
    draw(table, {name: label(member.specification) for name, member in members.items()})


if __name__ == "__main__":
    main()
