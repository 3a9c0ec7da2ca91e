"""Why does a network fail along a direction? Does its function not depend on the
direction, or do training steps not depend on it?

    python -m studies.anatomy [--networks ...] [--optimisers ...]
        [--indices 1000 400 200] [--out FOLDER]

Networks are trained on D(v) along a few NADs of the architecture, as `nad_sweep` does,
with different initial constants and different optimisers. Two numbers of the untrained
network are compared with each accuracy:

- response: √(vᵀCv), with the covariance C of the secants. It says how much the
  network's *function* depends on the direction.
- alignment: ‖Σᵢ yᵢ ∇_θ f(xᵢ)‖² / Σᵢ ‖∇_θ f(xᵢ)‖² over D(v), the alignment yᵀKy / tr K
  of the labels with the empirical neural tangent kernel K (arXiv 2106.06770). It is 1
  if the labels are no better than random ones. It says how much a step of *training*
  depends on the direction.

results.csv has a row per network, and response.csv one per variant and direction. The
command adds the rows that they lack. anatomy.png shows both along NAD 1000, and
steps.png how many steps ConvNeXt trains until it has learned each NAD.
"""

import argparse
import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline import config, experiments, networks
from pipeline.experiments.experiment import Cell, Experiment
from pipeline.experiments.plan import Plan
from pipeline.measures.fitted import fitted
from pipeline.nads import NADs, estimate, load
from pipeline.project.errors import one_sentence
from pipeline.report import style
from pipeline.training import seeds, separable
from pipeline.training.loop import Diverged
from pipeline.training.shapes import INPUT
from studies import in_memory
from studies.untrained import energy

FOLDER = Path("reports/kept/anatomy/initial_scale")

OPTIMISERS = {
    "SGD": {},
    "SGD with momentum": {"lr": 0.1, "momentum": 0.9},
    "AdamW": {
        "optimiser": "adamw",
        "lr": 1e-3,
        "weight_decay": 0.05,
        "schedule": "cosine",
    },
}
"""What each optimiser changes in the training that `nad_sweep` plans."""

RATES = {
    "vit_small": {
        "SGD, learning rate 0.1": {"lr": 0.1},
        "SGD, learning rate 0.02": {"lr": 0.02},
    }
}
"""More optimisers of some architectures."""

VARIANTS = {
    "convnext": [{"scale": scale} for scale in (1.0, 1e-6, 0.1, 1e-2, 1e-3)],
    "vit_small": [{"position_std": std} for std in (0.02, 0.2, 1.0)],
    "lenet": [{}, {"downsampling": "none"}],
    "lenet_strided": [{}],
}
"""The arguments that are varied, by architecture."""

INDICES = (1000, 400, 200)
SEEDS = (0, 1)

SHIPPED = ("convnext", "lenet")
"""The architectures whose NADs come with the package; those of the others are
estimated."""

DRAWN = 1000
"""The index of the NAD that the figure shows."""

GROUPS = {
    "ConvNeXt, by initial layer scale": {
        ("convnext", "scale=1"): "1",
        ("convnext", "scale=0.1"): "0.1",
        ("convnext", "scale=0.01"): "0.01",
        ("convnext", "scale=0.001"): "0.001",
        ("convnext", "scale=1e-06"): "10⁻⁶\n(default)",
    },
    "LeNet": {
        ("lenet", ""): "max\npooling",
        ("lenet_strided", ""): "strides",
        ("lenet", "downsampling=none"): "neither",
    },
    "ViT, by initial embeddings": {
        ("vit_small", "position_std=1"): "1",
        ("vit_small", "position_std=0.2"): "0.2",
        ("vit_small", "position_std=0.02"): "0.02\n(default)",
    },
}
"""What the columns of the figure show: tick labels by network and variant."""

LAST = 1_580
"""The number of steps of a training, 20 epochs of 79 batches."""

NEVER = 2_500
"""Where the figure of steps shows networks that did not learn the training set."""

KERNEL_SAMPLES = 2_000
KERNEL_NETWORKS = 3
TRACE_SHARE = 20  # tr K is estimated from a twentieth of the samples
RESPONSE_NETWORKS = 48


@dataclasses.dataclass(frozen=True)
class Variant:
    """An architecture of params.yaml with some arguments of its network changed."""

    architecture: str
    arguments: tuple[tuple[str, Any], ...]

    @property
    def specification(self) -> networks.Specification:
        """The network's specification."""
        given = config.read()["architectures"][self.architecture]
        return networks.specification(given | dict(self.arguments))

    @property
    def text(self) -> str:
        """The changed arguments, for example 'scale=0.1'."""
        values = {
            name: f"{value:g}" if isinstance(value, float) else value
            for name, value in self.arguments
        }
        return ", ".join(f"{name}={value}" for name, value in values.items())

    @property
    def key(self) -> dict[str, str]:
        """The columns of a row that identify it."""
        return {"network": self.architecture, "variant": self.text}


@dataclasses.dataclass(frozen=True, eq=False)
class Measurement:
    """A variant to measure before training along `direction`, (D,), which is NAD
    `index`."""

    variant: Variant
    index: int
    direction: np.ndarray

    @property
    def key(self) -> dict[str, Any]:
        """The columns of its row that identify it."""
        return self.variant.key | {"index": self.index}


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """One network to train: on D(v) along `direction`, (D,), which is NAD `index`."""

    variant: Variant
    optimiser: str
    index: int
    seed: int
    direction: np.ndarray

    @property
    def key(self) -> dict[str, Any]:
        """The columns of its row that identify it."""
        rest = {"optimiser": self.optimiser, "index": self.index, "seed": self.seed}
        return self.variant.key | rest


def optimisers(architecture: str) -> dict[str, dict[str, Any]]:
    """What each optimiser of an architecture changes, by its name."""
    return OPTIMISERS | RATES.get(architecture, {})


def variants(architectures: list[str]) -> list[Variant]:
    """The variants of some architectures."""
    return [
        Variant(name, tuple(arguments.items()))
        for name in architectures
        for arguments in VARIANTS[name]
    ]


def find_cell(
    plan: Plan, architecture: str, seed: int, index: int
) -> tuple[Experiment, Cell]:
    """Find a cell of `nad_sweep`, and return it with the experiment."""
    experiment = experiments.find("nad_sweep")
    (cell,) = (
        cell
        for cell in experiment.cells(plan)
        if (cell["architecture"], cell["seed"], cell["index"])
        == (architecture, seed, index)
    )
    return experiment, cell


def train_variant(plan: Plan, job: Job) -> dict[str, Any]:
    """Train one network and return its row; runs in a worker.

    Args:
        plan: Plan of `nad_sweep` with the architectures of `VARIANTS`.
        job: The network to train.

    Returns:
        The job's key, training accuracy, test accuracy, and the step at which the
        training set was learned, NaN if it never was.
    """
    experiment, cell = find_cell(plan, job.variant.architecture, job.seed, job.index)
    try:
        outcome, accuracy = in_memory.learn_direction(
            experiment,
            plan,
            cell,
            job.direction,
            specification=job.variant.specification,
            **optimisers(job.variant.architecture)[job.optimiser],
        )
    except Diverged:
        missing = {"train_accuracy": np.nan, "accuracy": np.nan, "steps": np.nan}
        return job.key | missing
    return job.key | {
        "train_accuracy": round(outcome.accuracy, 5),
        "accuracy": round(accuracy, 5),
        "steps": outcome.steps,
    }


@functools.lru_cache(1)
def untrained_nads(variant: Variant, count: int) -> NADs:
    """NADs of a variant, estimated from `count` untrained networks."""
    specification = variant.specification
    return estimate(
        lambda: networks.build(specification, 1, 1, int(torch.randint(2**31, ()))),
        shape=INPUT,
        networks=count,
        symmetry=networks.symmetry(specification).square,
    )


def alignment(variant: Variant, v: np.ndarray, seed: int) -> float:
    """‖Σᵢ yᵢ ∇_θ f(xᵢ)‖² / Σᵢ ‖∇_θ f(xᵢ)‖² of an untrained network f over D(v).

    Args:
        variant: The network, whose f is the difference of its two outputs.
        v: Unit vector, (D,).
        seed: Of weights and data.
    """
    rng = seeds.stream(seed, "anatomy", "kernel")
    y = separable.labels(rng, KERNEL_SAMPLES)
    noise = separable.normal(rng, KERNEL_SAMPLES)
    x = separable.linearly_separable(noise, y, v, 1.0, 1.0)
    network = networks.build(
        variant.specification, 1, 2, seeds.derive(seed, "anatomy")
    ).eval()
    weights = dict(network.named_parameters())

    def output(weights, x):
        return torch.func.functional_call(network, weights, (x,)).diff()[:, 0]

    labels = torch.as_tensor(y, dtype=torch.float32)
    total = torch.func.grad(lambda weights: labels @ output(weights, x))(weights)
    of_each = torch.func.vmap(
        torch.func.grad(lambda weights, x: output(weights, x[None]).sum()),
        in_dims=(None, 0),
    )
    some = x[: KERNEL_SAMPLES // TRACE_SHARE]
    trace = 0.0
    for gradients in of_each(weights, some).values():
        trace += TRACE_SHARE * float(gradients.detach().square().sum())
    squares = sum(gradient.detach().square().sum() for gradient in total.values())
    return float(squares) / trace


def measure_untrained(_: None, job: Measurement) -> dict[str, Any]:
    """Measure the response and the alignment along a direction; runs in a worker."""
    variant = job.variant
    nads = untrained_nads(variant, RESPONSE_NETWORKS)
    kernel = [
        alignment(variant, job.direction, seed) for seed in range(KERNEL_NETWORKS)
    ]
    return job.key | {
        "response": energy(nads, job.direction) ** 0.5,
        "alignment": np.mean(kernel),
        "alignment_std": np.std(kernel, ddof=1),
    }


def make_plan(architectures: list[str], indices: Sequence[int]) -> Plan:
    """The plan of `nad_sweep` at scale overnight, with these architectures and NADs."""
    plan = config.plans(config.read())["overnight"].experiments["nad_sweep"]
    line = plan.members["convnext"]
    grid = dataclasses.replace(line.grid, indices=tuple(indices))
    members = {
        name: dataclasses.replace(line, grid=grid, seeds=None) for name in architectures
    }
    sigma = dict.fromkeys(architectures, 1.0)
    values = dataclasses.replace(plan.settings, sigma=sigma)
    return dataclasses.replace(plan, settings=values, members=members, seeds=SEEDS)


def place_rows(table: pd.DataFrame, group: Mapping, index: int) -> pd.DataFrame:
    """Return the rows of a group of networks along a NAD, with their `place`."""
    places = {key: place for place, key in enumerate(group)}
    keys = zip(table["network"], table["variant"], strict=True)
    table = table.assign(place=[places.get(key) for key in keys])
    return table[table["index"] == index].dropna(subset="place").sort_values("place")


def draw_alignments(panel: Axes, table: pd.DataFrame, group: Mapping) -> None:
    """Draw the kernel alignment along NAD 0 and along the chosen NAD."""
    panel.axhline(1, color="0.6", linewidth=0.9)
    for index, curve in zip((0, DRAWN), style.CURVES[1::-1], strict=True):
        rows = place_rows(table, group, index)
        curve = curve | {"linestyle": "none", "capsize": 2.5}
        label = f"along NAD {index}"
        panel.errorbar(
            rows["place"],
            rows["alignment"],
            rows["alignment_std"],
            label=label,
            **curve,
        )


def draw_trained(panel: Axes, table: pd.DataFrame, group: Mapping) -> None:
    """Draw the test accuracy of each seed along the chosen NAD, by optimiser."""
    panel.axhline(50, color="0.6", linewidth=0.9)
    rows = place_rows(table, group, DRAWN)
    shifts = np.linspace(-0.25, 0.25, len(OPTIMISERS))
    for name, shift, look in zip(OPTIMISERS, shifts, style.CURVES, strict=False):
        look = look | {"linestyle": "none", "markersize": 5}
        panel.plot([], [], label=name, **look)
        part = rows[rows["optimiser"] == name]
        for filled, points in part.groupby(fitted(part)):
            face = look["color"] if filled else "white"
            x, y = points["place"] + shift, 100 * points["accuracy"]
            panel.plot(x, y, markerfacecolor=face, **look)


def make_figure(results: pd.DataFrame, untrained: pd.DataFrame) -> Figure:
    """Draw what can be measured before training above what training makes of it.

    Args:
        results: results.csv, with texts where there are no arguments.
        untrained: response.csv, likewise.
    """
    widths = [len(group) for group in GROUPS.values()]
    figure, axes = style.new_figure(
        3, 3, 9.5, 7.2, sharex="col", sharey="row", width_ratios=widths
    )
    first = untrained[untrained["index"] == 0].set_index(["network", "variant"])
    keys = pd.MultiIndex.from_frame(untrained[["network", "variant"]])
    share = 100 * untrained["response"] / first["response"].loc[keys].to_numpy()
    untrained = untrained.assign(share=share)
    look = style.CURVES[0] | {"linestyle": "none"}
    for panels, (title, group) in zip(axes.T, GROUPS.items(), strict=True):
        response, kernel, trained = panels
        rows = place_rows(untrained, group, DRAWN)
        response.plot(rows["place"], rows["share"], **look)
        response.set(title=title, ylim=(-1, None))
        draw_alignments(kernel, untrained, group)
        draw_trained(trained, results, group)
        trained.set(ylim=(45, 102), xlim=(-0.5, len(group) - 0.5))
        trained.set_xticks(range(len(group)), group.values())
    response, kernel, trained = axes[:, 0]
    response.set_ylabel("response before training\n(% of NAD 0's)")
    kernel.set_ylabel("kernel alignment before\ntraining (random labels: 1)")
    trained.set_ylabel("test accuracy after\ntraining (%)")
    axes[1, 1].legend(frameon=False, loc="upper center")
    axes[2, 0].legend(frameon=False, loc="center")
    caption = (
        f"top: {RESPONSE_NETWORKS} untrained networks · middle: {KERNEL_NETWORKS}, "
        "± standard deviation · bottom: each seed · "
        "hollow: training accuracy below 99 %"
    )
    title = f"NAD {DRAWN} before and after training"
    return style.finish(figure, title, caption)


def draw_steps(panel: Axes, table: pd.DataFrame) -> None:
    """Draw the steps until each network has learned a direction, by its layer scale.

    Args:
        panel: The panel.
        table: Rows of results.csv, of ConvNeXt along one NAD.
    """
    scales = table["variant"].str.removeprefix("scale=").astype(float)
    table = table.assign(scale=scales, filled=fitted(table))
    shifts = (0.6, 1.0, 1.65)  # so that optimisers do not hide each other
    for name, shift, look in zip(OPTIMISERS, shifts, style.CURVES, strict=False):
        look = look | {"linestyle": "none"}
        rows = table[table["optimiser"] == name]
        panel.plot([], [], label=name, **look)
        for filled, part in rows.groupby("filled"):
            face = look["color"] if filled else "white"
            steps = part["steps"].fillna(NEVER)
            panel.plot(part["scale"] * shift, steps, markerfacecolor=face, **look)
    start = table[(table["optimiser"] == "SGD") & (table["scale"] == 1)]["steps"].mean()
    x = np.geomspace((start / LAST) ** 2, 1)
    panel.plot(x, start * x**-0.5, color="0.6", linewidth=0.9, label="predicted (SGD)")
    panel.axhline(LAST, color="0.8", linewidth=0.9, label="end of training")


def make_steps_figure(results: pd.DataFrame) -> Figure:
    """Draw how the steps until a direction is learned depend on ConvNeXt's layer scale.

    Args:
        results: As for `make_figure`.
    """
    of_index = results[results["network"] == "convnext"].groupby("index")
    figure, axes = style.new_figure(1, len(of_index), 10.5, 3.6, sharey=True)
    for panel, (index, table) in zip(axes[0], of_index, strict=True):
        draw_steps(panel, table)
        panel.set(title=f"NAD {index}", xscale="log", yscale="log")
        panel.set(xlabel="initial layer scale", ylim=(80, 3_500))
        panel.set_yticks([100, 300, 1_000, NEVER], ["100", "300", "1,000", "never"])
        panel.minorticks_off()
    axes[0, 0].set_ylabel("steps until learned")
    axes[0, 1].legend(frameon=False, loc="lower left", fontsize=8)
    caption = (
        "each seed · learned: training loss of 0.01, which some fitted networks do not "
        "reach\npredicted: steps grow as scale^(−½) · hollow: training accuracy below "
        "99 %"
    )
    title = "Steps of ConvNeXt until D(v) is learned"
    return style.finish(figure, title, caption)


def complete(
    path: Path, function: Callable, jobs: Mapping[tuple, Any], context: Any = None
) -> pd.DataFrame:
    """Complete a table as `in_memory.complete` does, and sort its rows."""
    table = in_memory.complete(path, function, jobs, context)
    # A column of empty texts only is read as numbers.
    table = table.astype({"variant": object}).fillna({"variant": ""})
    table = table.sort_values([*next(iter(jobs.values())).key])
    table.to_csv(path, index=False)
    return table


def main() -> None:
    """Measure untrained networks, train the others, and write both tables as they
    come."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", nargs="+", choices=VARIANTS, default=[*VARIANTS])
    names = list(OPTIMISERS)
    for rates in RATES.values():
        names += rates
    parser.add_argument("--optimisers", nargs="+", choices=names, default=names)
    parser.add_argument("--indices", nargs="+", type=int, default=INDICES)
    parser.add_argument("--out", type=Path, default=FOLDER)
    asked = parser.parse_args()
    chosen = variants(asked.networks)
    directions = {}
    for name in asked.networks:
        base = next(variant for variant in chosen if variant.architecture == name)
        nads = (
            load(name)
            if name in SHIPPED
            else untrained_nads(base, 2 * RESPONSE_NETWORKS)
        )
        directions[name] = nads.directions.astype(np.float32)
    jobs = {}
    for seed, index, variant in itertools.product(SEEDS, asked.indices, chosen):
        direction = directions[variant.architecture][index]
        for optimiser in optimisers(variant.architecture):
            if optimiser in asked.optimisers:
                job = Job(variant, optimiser, index, seed, direction)
                jobs[tuple(job.key.values())] = job
    if not jobs:
        parser.error("none of the networks is trained with any of these optimisers")
    to_measure = {}
    for variant, index in itertools.product(chosen, (0, *asked.indices)):
        job = Measurement(variant, index, directions[variant.architecture][index])
        to_measure[tuple(job.key.values())] = job
    untrained = complete(asked.out / "response.csv", measure_untrained, to_measure)
    plan = make_plan(asked.networks, asked.indices)
    table = complete(asked.out / "results.csv", train_variant, jobs, plan)
    style.save(make_figure(table, untrained), asked.out, "anatomy")
    if "convnext" in asked.networks:
        style.save(make_steps_figure(table), asked.out, "steps")


if __name__ == "__main__":
    with one_sentence():
        main()
