"""Problems D(v) that one network learns and another does not, known before training.

    python -m studies.controversial [--networks ...] [--seeds 2] [--pairs-only]
        [--damping 0.1] [--out FOLDER]
    python -m studies.controversial --draw [--networks ...] [--out FOLDER]

For every pair of networks A and B, the direction `A_not_B` is `controversial(A, B)[0]`,
from the covariances of the untrained networks. Both networks are trained on D(v) along
`A_not_B` and along `B_not_A`, with the training that params.yaml plans for `nad_sweep`,
and σ = ε = 1 for all networks.

Controls, for each network: a random direction and the Fourier direction (0, 2), which
are the same for all networks, the first NAD of the other network, and for each of its
controversial directions v the network's own NAD whose eigenvalue is nearest to vᵀCv.
`--pairs-only` leaves them out.

The networks are architectures of params.yaml with the papers' input, yours too. The
covariances are those that are installed with the package. A network for whose arguments
there is none has an estimate that is made here and kept in the folder.

The folder holds:

- results.csv, with a row for each trained network as soon as it is trained. The command
  trains only the networks that results.csv lacks. `response` is √(vᵀCv), C divided by
  its mean eigenvalue. `steps` is empty for a network that did not learn its training
  set, and all measured values are empty for one whose training diverged.
- directions.npz, with the directions by name, and the `damping` δ with which they were
  made. Directions in it are not computed again, and not used with another δ.
- own_nads.csv, with the name of each network's own NAD for each direction.
- architectures.json, with the networks by name. A network with other arguments needs
  another name or another folder.

`--draw` draws the folder's networks: each pair of up to three in pairs.png, three or
more in matrix.png.
"""

import argparse
import dataclasses
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pipeline import config, experiments, networks
from pipeline.experiments.experiment import SHAPE, Cell
from pipeline.experiments.plan import Plan
from pipeline.nads import NADs, controversial, load
from pipeline.nads.named import FOLDER as NAMED
from pipeline.networks.dry_run import dry_run
from pipeline.project import artifacts
from pipeline.project.errors import InputError, notice, one_sentence
from pipeline.report import style
from pipeline.report.labels import label
from pipeline.report.run import average_percent, explain_unfitted
from pipeline.training import loop
from pipeline.training.fourier import fourier
from pipeline.training.seeds import stream
from pipeline.training.shapes import INPUT, SIDE, D
from studies import in_memory
from studies.untrained import energy, estimate_nads

KEPT = Path("reports/kept/controversial")

NETWORKS = (
    "lenet",
    "lenet_strided",
    "convnext",
    "convmixer",
    "vgg11_quarter",
    "resnet18_quarter",
)
"""Architectures of params.yaml, the cheapest training first."""

FIRST_PAIRS = (
    ("lenet", "convmixer"),
    ("lenet", "convnext"),
    ("lenet", "lenet_strided"),
)

Place = tuple[str, str]
"""A network and a direction."""

EXPERIMENT = experiments.find("nad_sweep")
EPS = 1.0
SIGMA = 1.0
WAVE = (0, 2)  # the lowest frequency of paper 1's grid that is not constant

CONTROLS = {
    "random": "random\ndirection",
    f"fourier_{WAVE[0]}_{WAVE[1]}": f"Fourier\n{WAVE}",
}
"""Titles of the directions that are the same for all networks."""

OWN_NAD = {"marker": "D", "color": "black", "markersize": 4, "linestyle": "none"}
"""The marker of the accuracy along a network's own NAD."""

UNTRAINED = 1024  # most untrained networks of an estimate that is made here
ERROR = 0.08  # relative error of C at which fewer are enough


def pairs_of(names: Sequence[str]) -> list[tuple[str, str]]:
    """All pairs in the order of work: `FIRST_PAIRS`, then the cheap networks first.

    Args:
        names: networks, the cheapest first.
    """
    pairs = sorted(
        itertools.combinations(names, 2), key=lambda pair: names.index(pair[1])
    )
    first = [pair for pair in FIRST_PAIRS if pair in pairs]
    return first + [pair for pair in pairs if pair not in first]


def make_plan(names: Sequence[str], scale: str) -> Plan:
    """The plan of `nad_sweep` at a scale, with these networks only.

    A network that the scale leaves out has the training of all networks that state
    none of their own.
    """
    document = config.read()
    block = document["scales"][scale]
    for name in names:
        block["nads"].setdefault(name, 2)
        block["nad_sweep"]["networks"].setdefault(name, {"indices": [0]})
    plan = config.plans(document)[scale].experiments[EXPERIMENT.name]
    return dataclasses.replace(
        plan, members={name: plan.members[name] for name in names}
    )


def nads_of(name: str, specification: networks.Specification, folder: Path) -> NADs:
    """A network's NADs: installed, or estimated and kept in `folder`."""
    installed = NAMED / f"{name}.npz"
    estimated = folder / f"nads-{name}.npz"
    if installed.exists() and specification == {"network": networks.NETWORKS.get(name)}:
        print(f"{name}: installed NADs, {installed.name}")
        return load(name)
    if not estimated.exists():
        nads = estimate_nads(specification, UNTRAINED, error=ERROR)
        nads.save(estimated)
    print(f"{name}: NADs estimated here, {estimated}")
    return NADs.load(estimated)


def check_networks(plan: Plan, folder: Path) -> None:
    """Try the networks of a plan, and write their arguments into the folder.

    Args:
        plan: Of `make_plan`. A network that needs PyTorch's default memory format gets
            it.
        folder: An existing folder.

    Raises:
        InputError: A network does not run, or the folder has one of the same name with
            other arguments.
    """
    path = folder / "architectures.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name, member in plan.members.items():
        for text in dry_run(member.specification, INPUT, 2):
            notice(text)
        if kept.setdefault(name, member.specification) != member.specification:
            raise InputError(
                f"the network {name} of {folder} has other arguments; give yours "
                "another name in params.yaml, or name another folder with --out",
                "conflict",
                name=name,
            )
    artifacts.write_json(path, kept)


def nearest_nad(nads: NADs, v: np.ndarray) -> int:
    """The index of the NAD whose eigenvalue is nearest to vᵀCv."""
    return int(np.abs(nads.eigenvalues - energy(nads, v)).argmin())


class Directions:
    """Unit vectors (D,) by name, in a file. Vectors in it are not computed again.

    LAPACK may return another vector of equal ratio on another machine.

    Args:
        path: the file, which need not exist yet.
        damping: δ of `controversial`.

    Raises:
        InputError: The vectors in the file were made with another δ.
    """

    def __init__(self, path: Path, damping: float) -> None:
        self.path = path
        self.damping = damping
        self.vectors = {}
        if path.exists():
            with np.load(path) as arrays:
                self.vectors = dict(arrays)
            kept = float(self.vectors.pop("damping"))
            if kept != damping:
                raise InputError(
                    f"{path} has directions with δ = {kept:g}, not {damping:g}; "
                    "name another folder with --out",
                    "conflict",
                    path=str(path),
                )

    def between(self, a: str, b: str, nads: Mapping[str, NADs]) -> str:
        """The name of the direction that `a` should learn and `b` should not."""
        name = f"{a}_not_{b}"
        if name not in self.vectors:
            vectors = controversial(nads[a], nads[b], damping=self.damping)
            self._add(name, vectors[0])
        return name

    def like(self, network: str, direction: str, nads: NADs) -> str:
        """The name of the own NAD with the vᵀCv nearest to that of a direction."""
        index = nearest_nad(nads, self.vectors[direction])
        name = f"{network}_nad_{index}"
        if name not in self.vectors:
            self._add(name, nads.directions[index])
        return name

    def first(self, network: str, nads: NADs) -> str:
        """The name of a network's first NAD."""
        name = f"{network}_nad_0"
        if name not in self.vectors:
            self._add(name, nads.directions[0])
        return name

    def random(self) -> str:
        """The name of the random direction."""
        if "random" not in self.vectors:
            vector = stream("controversial", "random").standard_normal(D)
            self._add("random", vector / np.linalg.norm(vector))
        return "random"

    def wave(self) -> str:
        """The name of the Fourier direction."""
        name = f"fourier_{WAVE[0]}_{WAVE[1]}"
        if name not in self.vectors:
            self._add(name, fourier(*WAVE))
        return name

    def _add(self, name: str, vector: np.ndarray) -> None:
        self.vectors[name] = vector
        np.savez(self.path, damping=self.damping, **self.vectors)


def work(
    pairs: Sequence[tuple[str, str]],
    nads: Mapping[str, NADs],
    directions: Directions,
    controls: bool,
) -> tuple[list[tuple[str, str]], pd.DataFrame]:
    """What is trained: the pairs in their order, each followed by its controls.

    Args:
        pairs: networks by name.
        nads: NADs by network.
        directions: where the directions are kept.
        controls: whether the controls are trained too.

    Returns:
        (network, direction) of all trainings, each of them once.
        Table of the networks' own NADs, with columns network, direction and own_nad.
    """
    places = []
    own = []
    for pair in pairs:
        a, b = pair
        between = directions.between(a, b, nads), directions.between(b, a, nads)
        for direction in between:
            for network in pair:
                places.append((network, direction))
        for network, other in (pair, pair[::-1]) if controls else ():
            for direction in between:
                nad = directions.like(network, direction, nads[network])
                places.append((network, nad))
                own.append((network, direction, nad))
            places.append((network, directions.first(other, nads[other])))
            places.append((network, directions.random()))
            places.append((network, directions.wave()))
    table = pd.DataFrame(own, columns=["network", "direction", "own_nad"])
    return list(dict.fromkeys(places)), table


def cell_of(network: str, direction: str, seed: int) -> Cell:
    """A cell of `nad_sweep` that has a direction's name in place of the index."""
    place = {
        "architecture": network,
        "seed": seed,
        "estimand": "secant",
        "index": direction,
    }
    return place | {"eps": EPS, "sigma": SIGMA} | dict(zip(SHAPE, INPUT, strict=True))


def train_cell(plan: Plan, job: tuple[Cell, np.ndarray, float]) -> dict[str, Any]:
    """The row of one network; runs in a worker.

    Args:
        plan: of `make_plan`.
        job: the cell, its direction v (D,), and the untrained network's response.
    """
    cell, v, response = job
    row = {
        "network": cell["architecture"],
        "direction": cell["index"],
        "seed": cell["seed"],
    }
    row |= {
        "response": response,
        "train_accuracy": None,
        "steps": None,
        "accuracy": None,
    }
    try:
        outcome, accuracy = in_memory.learn_direction(
            EXPERIMENT, plan, cell, v, name="controversial"
        )
    except loop.Diverged:
        return row
    measured = {
        "train_accuracy": outcome.accuracy,
        "steps": outcome.steps,
        "accuracy": accuracy,
    }
    return row | measured


def train_all(
    plan: Plan,
    names: Sequence[str],
    seeds: int,
    folder: Path,
    *,
    controls: bool = True,
    damping: float = 0.1,
) -> pd.DataFrame:
    """Train all networks that results.csv in `folder` lacks, seed by seed; returns the
    table."""
    check_networks(plan, folder)
    nads = {
        name: nads_of(name, plan.members[name].specification, folder) for name in names
    }
    directions = Directions(folder / "directions.npz", damping)
    places, own_nads = work(pairs_of(names), nads, directions, controls)
    path = folder / "own_nads.csv"
    if path.exists():
        own_nads = pd.concat([pd.read_csv(path), own_nads])
        own_nads = own_nads.drop_duplicates(["network", "direction"], keep="last")
    own_nads.to_csv(path, index=False)
    jobs = {}
    for seed, (network, direction) in itertools.product(range(seeds), places):
        v = directions.vectors[direction]
        response = np.sqrt(energy(nads[network], v) / nads[network].eigenvalues.mean())
        cell = cell_of(network, direction, seed)
        jobs[network, direction, seed] = (cell, v, response)
    return in_memory.complete(folder / "results.csv", train_cell, jobs, plan)


def title_of(name: str) -> str:
    """A network's label."""
    architecture = config.read()["architectures"][name]
    return label(networks.specification(architecture))


def tick_of(name: str) -> str:
    """A network's label, each argument on a line of its own."""
    return title_of(name).replace(", ", "\n").replace(" with", "\nwith")


def bars(
    panel: Axes,
    table: pd.DataFrame,
    own_nads: Mapping[tuple[str, str], str],
    direction: str,
    pair: tuple[str, str],
) -> None:
    """Draw the accuracies of a pair along one direction.

    Args:
        panel: where to draw.
        table: results.csv.
        own_nads: name of the own NAD by network and direction.
        direction: its name.
        pair: the network that should learn the direction, and the other one.
    """
    panel.axhline(50, color="black", linewidth=0.8, linestyle=":", zorder=3)
    for place, (network, colour) in enumerate(
        zip(pair, (style.BLUE, style.ORANGE), strict=True)
    ):
        of_network = table[table["network"] == network]
        rows = of_network[of_network["direction"] == direction]
        if rows.empty:
            continue
        mean = 100 * rows["accuracy"].mean()
        std = 100 * rows["accuracy"].std()  # NaN for one seed, which draws no error bar
        panel.bar(place, mean, 0.6, yerr=std, color=colour, alpha=0.8, capsize=2.5)
        train = 100 * rows["train_accuracy"].mean()
        panel.bar(place, train, 0.76, fill=False, edgecolor="black", linewidth=0.7)
        nad = own_nads.get((network, direction))
        control = of_network[of_network["direction"] == nad]
        if not control.empty:
            panel.plot(place, 100 * control["accuracy"].mean(), **OWN_NAD)
    panel.set(xlim=(-0.6, 1.6), ylim=(0, 106), yticks=[0, 50, 100])
    panel.set_xticks([0, 1], [tick_of(network) for network in pair], fontsize=7)


def pairs_figure(
    table: pd.DataFrame,
    own_nads: pd.DataFrame,
    vectors: Mapping[str, np.ndarray],
    names: Sequence[str],
) -> Figure:
    """A row per pair of the networks `names`: its two directions, each with the
    accuracies of both networks."""
    own = own_nads.set_index(["network", "direction"])["own_nad"].to_dict()
    trained = set(table["direction"])
    pairs = [
        (a, b)
        for a, b in pairs_of(names)
        if f"{a}_not_{b}" in trained or f"{b}_not_{a}" in trained
    ]
    figure, axes = style.new_figure(len(pairs), 4, 8.4, 2.1 * len(pairs) + 1.1)
    style.hide_frames(axes[:, ::2].flat)
    for row, pair in zip(axes, pairs, strict=True):
        for picture, panel, (a, b) in zip(
            row[::2], row[1::2], (pair, pair[::-1]), strict=True
        ):
            direction = f"{a}_not_{b}"
            pixels = vectors[direction].reshape(SIDE, SIDE)
            bound = np.abs(pixels).max()
            picture.imshow(pixels, cmap="RdBu_r", vmin=-bound, vmax=bound)
            learns, does_not = (title_of(name) for name in (a, b))
            picture.set_title(f"for {learns},\nnot {does_not}", fontsize=8)
            bars(panel, table, own, direction, (a, b))
        row[1].set_ylabel("accuracy (%)")
    handles = [
        Patch(color=style.BLUE, alpha=0.8, label="should learn it"),
        Patch(color=style.ORANGE, alpha=0.8, label="should not"),
        Patch(fill=False, linewidth=0.7, label="training accuracy"),
        Line2D(
            [], [], **OWN_NAD, label="along an own NAD with nearly the same response"
        ),
    ]
    figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 0.2 / figure.get_figheight()),
        ncols=4,
        frameon=False,
    )
    # The empty lines make room for the legend.
    title = "Directions that one network learns and another does not\n\n"
    caption = (
        "red: +, blue: − · dotted: chance · bars: ± standard deviation over seeds · "
        "no diamond: not trained · ε = σ = 1"
    )
    return style.finish(figure, title, caption)


def accuracies_of(
    table: pd.DataFrame, rows: Sequence[str], places: Mapping[str, list[Place]]
) -> dict[str, pd.DataFrame]:
    """Mean accuracies in per cent as maps of one panel.

    Args:
        table: results.csv.
        rows: Networks, a row of the map each.
        places: By column of the map, a network and a direction for each row.

    Returns:
        Maps `mean`, `std` and `fitted`, with NaN where no network is trained.
    """
    cells = average_percent(table, ["network", "direction"])
    maps = {}
    for column in ("mean", "std", "fitted"):
        values = {
            title: [cells[column].get(place, np.nan) for place in of_column]
            for title, of_column in places.items()
        }
        maps[column] = pd.DataFrame(values, [tick_of(name) for name in rows])
    return maps


def matrix_figure(table: pd.DataFrame, names: Sequence[str]) -> Figure:
    """Test accuracies of both networks of all pairs of the networks `names`, by the
    network that should learn, and of each network along directions for no pair."""
    # There is no direction of a network with itself, so the diagonal stays empty.
    of_a = {tick_of(b): [(a, f"{a}_not_{b}") for a in names] for b in names}
    of_b = {tick_of(b): [(b, f"{a}_not_{b}") for a in names] for b in names}
    controls = {
        title: [(name, direction) for name in names]
        for direction, title in CONTROLS.items()
    }
    figure, (panels,) = style.new_figure(
        1, 3, 13, 5.6, width_ratios=[len(names), len(names), len(controls)]
    )
    for panel, places in zip(panels, (of_a, of_b, controls), strict=True):
        maps = accuracies_of(table, names, places)
        style.draw_heat_map(panel, maps["mean"], maps["std"], maps["fitted"] == 0)
    for panel, title in zip(panels, ("accuracy of A", "accuracy of B"), strict=False):
        panel.set(xlabel="B, should not learn", ylabel="A, should learn", title=title)
    panels[2].set_title("controls")
    caption = (
        f"Test accuracy (%) · {explain_unfitted('dot')} · "
        "± standard deviation over seeds; without ±: one seed · grey: not trained"
    )
    title = "Directions from two untrained networks: A should learn them, B should not"
    return style.finish(figure, title, caption)


def draw(folder: Path, names: Sequence[str] | None) -> None:
    """Draw figures of networks from `folder`: pairs.png of at most three, matrix.png of
    at least three.

    Args:
        folder: Where the tables are.
        names: The networks; None for all that are trained.
    """
    table = pd.read_csv(folder / "results.csv")
    own_nads = pd.read_csv(folder / "own_nads.csv")
    trained = set(table["network"])
    if names is None:
        names = [*NETWORKS, *sorted(trained.difference(NETWORKS))]
    names = [name for name in names if name in trained]
    if len(names) <= 3:
        with np.load(folder / "directions.npz") as vectors:
            figure = pairs_figure(table, own_nads, vectors, names)
        style.save(figure, folder, "pairs")
    if len(names) >= 3:
        style.save(matrix_figure(table, names), folder, "matrix")


def main() -> None:
    """Train, or draw what is trained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    architectures = config.read()["architectures"]
    parser.add_argument(
        "--networks",
        nargs="+",
        choices=[name for name, given in architectures.items() if "input" not in given],
        help="architectures of params.yaml, the cheapest training first",
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--scale", choices=config.read()["scales"], default="overnight")
    parser.add_argument("--out", type=Path, help="by default a folder of reports/kept")
    parser.add_argument("--pairs-only", action="store_true", help="train no controls")
    parser.add_argument("--damping", type=float, default=0.1, help="δ")
    parser.add_argument(
        "--draw", action="store_true", help="draw the figures, train nothing"
    )
    asked = parser.parse_args()
    folder = asked.out or KEPT / asked.scale
    if asked.draw:
        draw(folder, asked.networks)
        return
    names = list(dict.fromkeys(asked.networks or NETWORKS))
    folder.mkdir(parents=True, exist_ok=True)
    train_all(
        make_plan(names, asked.scale),
        names,
        asked.seeds,
        folder,
        controls=not asked.pairs_only,
        damping=asked.damping,
    )


if __name__ == "__main__":
    with one_sentence("results.csv keeps the networks"):
        main()
