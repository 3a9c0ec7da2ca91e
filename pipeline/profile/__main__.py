"""Command `profile NETWORK`: what a network sees of its inputs, and what it will fail to see
-> FOLDER/index.html, one page.

NETWORK is a name of the table (lenet), or module:name in the folder where the command runs or in an
installed package; its own arguments follow as name=value. Where this project is installed, the
command runs from any folder as `profile`:

    profile my_networks:Mixer depth=4 --input 3x64x64 --minutes 10
    profile lenet resnet18 width=0.125 my_networks:Mixer depth=4

Several networks share the minutes; each has its page in a folder of its own below FOLDER, and
FOLDER/index.html compares them. All output lies in FOLDER. The same command again goes on from
there for as many minutes.
"""

import argparse
import dataclasses
import functools
import os
import re
import shlex
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import threadpoolctl
import torch
import yaml
from torch import nn

from pipeline import networks
from pipeline.machine import code, store, workers
from pipeline.nads import NADs
from pipeline.nads.estimator import Estimator
from pipeline.nads.recipe import Recipe
from pipeline.networks import Shape, Specification
from pipeline.networks.dry_run import dry_run
from pipeline.profile import page, trained, untrained
from pipeline.profile.response import Response, wave
from pipeline.profile.result import Result
from pipeline.project import artifacts, command
from pipeline.project.errors import InputError, one_sentence
from pipeline.report.labels import label

SHARE, PAGE = 0.45, 8
"""Part of the time in which NADs are estimated, and seconds that the page takes."""

INDICES, SEEDS, LEAST = 9, 5, 2
"""Number of NADs along which networks are trained; of networks along each, at most; and of networks
that are trained however long they take."""

print = functools.partial(print, flush=True)


@dataclasses.dataclass(frozen=True)
class Subject:
    """One network to be profiled.

    parameters: number of weights; notices: sentences on the network; folder: where its output goes;
    key: the digest of all that determines its profile, under which the store `cells` has its note.
    """

    name: str
    specification: Specification
    shape: Shape
    parameters: int
    notices: list[str]
    folder: Path
    key: str

    @property
    def cells(self) -> store.Store:
        """The finished work in the folder."""
        return store.Store(self.folder / ".cells")

    def note(self) -> dict | None:
        """What the first call decided: the estimand, the names of directions, the sizes."""
        return self.cells.get(self.key)


def named(words: list[str]) -> dict[str, Specification]:
    """The networks on the command line by their labels, each with the words `name=value` after it.

    Raises InputError for another word, and for a network that is unknown.
    """
    entries = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            entries.append({"network": word})
        elif entries and name.isidentifier():
            entries[-1][name] = yaml.safe_load(value)
        else:
            raise InputError(
                f"{word!r} is no argument of a network; write name=value after the network, for "
                "example lenet depth=4"
            )
    specifications = [networks.specification(entry) for entry in entries]
    labels = [label(each) for each in specifications]
    alike = lambda each: labels.count(label(each)) > 1  # old:Net and new:Net
    module = lambda each: f" of {each['network'].partition(':')[0]}"
    return {label(each) + module(each) * alike(each): each for each in specifications}


def slug(name: str) -> str:
    """A network's name as a folder's."""
    return re.sub("[^A-Za-z0-9.]+", "-", name).strip("-")


def shape_of(text: str) -> Shape:
    """An input's shape from text such as 3x64x64."""
    if not re.fullmatch(r"[1-9]\d*([x×][1-9]\d*){2}", text):
        raise InputError(
            f"--input {text} is no shape; write channels x height x width, for example 3x64x64"
        )
    return tuple(map(int, re.split("[x×]", text)))


def digest(specification: Specification, shape: Shape, network: nn.Module) -> str:
    """The digest of all code, versions and initial weights that determine a profile."""
    rooms = [file for room in ("cells", "nads", "networks", "profile") for file in code.room(room)]
    # A person's own are all loaded modules that are neither installed nor ours.
    others = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[1]))
    files = {getattr(module, "__file__", None) or "" for module in sys.modules.copy().values()}
    own = [
        artifacts.file_digest(file)
        for file in sorted(files)
        if not file.startswith(others) and "site-packages" not in file and os.path.isfile(file)
    ]
    weights = [store.digest(weight.detach().numpy()) for weight in network.parameters()]
    versions = [torch.__version__, networks.version(specification["network"])]
    return store.digest([code.digest(rooms), own, versions, specification, shape, weights])


def chosen(nads: NADs, response: Response) -> dict[str, np.ndarray]:
    """The directions v (D,) along which networks are trained, by name, in their order: NADs, and
    second the weakest wave where the last NADs are not known."""
    indices = trained.spread_out(len(nads.directions), INDICES)
    directions = {f"NAD {index}": nads.directions[index] for index in indices}
    if len(nads.directions) < response.rows.shape[1]:
        waves = response.waves()
        place = np.unravel_index(waves.argmin(), waves.shape)
        row, column = (int(at) - side // 2 for at, side in zip(place, waves.shape))
        weakest = {f"wave ({row}, {column})": wave(row, column, response.shape)}
        directions = {"NAD 0": directions["NAD 0"]} | weakest | directions
    return {name: vector.astype(np.float32) for name, vector in directions.items()}


def subjects(words: list[str], shape: Shape, output: str | None) -> list[Subject]:
    """The networks on the command line, each tried on inputs of this shape, without any output."""
    given = named(words)
    folder = Path(output or f"profile-{'-'.join(map(slug, given))}")
    made = []
    for name, specification in given.items():
        dry_run(specification, shape, 1)
        notices = list(dry_run(specification, shape, 2).notices)
        network = networks.build(specification, shape[0], 1, 0)
        parameters = sum(each.numel() for each in network.parameters())
        own = folder / slug(name) if len(given) > 1 else folder
        key = digest(specification, shape, network)
        made.append(Subject(name, specification, shape, parameters, notices, own, key))
    return made


def profiled(
    subject: Subject,
    estimator: Estimator,
    steps: tuple[float, float],
    lr: float,
    device: torch.device,
    end: float,
) -> Result:
    """The measurements of one network, until the time `end`.

    steps: seconds that one sample takes in a step of training, of this network and of the slowest
    of those that are compared, which decides the sizes of all.
    """
    shape, cells, key, note = subject.shape, subject.cells, subject.key, subject.note()
    seconds = SHARE * max(0.0, end - time.monotonic())
    print(f"1 of 3: its response before training ({estimator.estimand}), for about {seconds:.0f} s")
    sums = store.Sums(cells.folder, store.digest([key, estimator.estimand]))
    recipe = Recipe(subject.specification, {}, shape, (0, "profile"), estimator, str(device))
    nads, response = untrained.estimated(recipe, sums, device, time.monotonic() + seconds)
    print(f"  {nads.networks:,} untrained networks, relative error of C {nads.error:.2f}")

    if note is None:  # later calls train along the directions, and at the sizes, of the first
        directions = chosen(nads, response)
        available = (end - time.monotonic()) * workers.cores()
        sizes = trained.sizes(response.rows.shape[1], max(steps), available)
        note = {"estimand": nads.estimand, "names": list(directions)}
        note["sizes"] = dataclasses.astuple(sizes)
        vectors = torch.from_numpy(np.stack(list(directions.values())))
        cells.put(key, {"directions": vectors}, note)
    vectors = store.tensors(cells.path(key), "profile")["directions"].numpy()
    directions, sizes = dict(zip(note["names"], vectors)), trained.Sizes(*note["sizes"])
    each = steps[0] * sizes.samples * sizes.epochs
    print(f"2 of 3: networks trained along {len(directions)} directions, about {each:.0f} s each")
    # Every direction has its first network before any has its second.
    places = [(direction, seed) for seed in range(SEEDS) for direction in directions]
    jobs = [
        trained.Job(
            subject.specification, shape, directions[direction], sizes, lr, seed, str(device)
        )
        for direction, seed in places
    ]
    outcomes = trained.outcomes(jobs, cells, key, device, end, each, LEAST)
    names = "direction", "seed"
    rows = [dict(zip(names, places[position])) | vars(outcome) for position, outcome in outcomes]
    print(f"  {len(rows)} networks")
    return Result(
        name=subject.name,
        command=shlex.join(["python", "-m", "pipeline.profile", *sys.argv[1:]]),
        parameters=subject.parameters,
        nads=nads,
        response=response,
        directions=directions,
        trained=pd.DataFrame(rows),
        sizes=sizes,
        lr=lr,
        notices=subject.notices,
    )


def main(given: argparse.Namespace) -> None:
    """Profile the networks, and write the page of each and the page that compares several."""
    end = time.monotonic() + 60 * given.minutes
    shape, device = shape_of(given.input), workers.device_of("auto")
    every = subjects(given.networks, shape, given.output)
    several, results = len(every) > 1, []
    end -= PAGE * several
    steps = [trained.seconds_per_sample(each.specification, shape) for each in every]
    # All have one estimand, since responses of two estimands cannot be compared.
    earlier = next((note["estimand"] for each in every if (note := each.note())), None)
    seconds = SHARE * max(0.0, (end - time.monotonic()) / len(every) - PAGE)
    estimator, reason = untrained.affordable(earlier, shape, max(steps), seconds * workers.cores())
    for place, (subject, step) in enumerate(zip(every, steps)):
        minutes, weights = given.minutes / len(every), f"{subject.parameters:,} weights"
        print(f"{subject.name}, inputs {given.input}, {weights}: {minutes:.4g} minutes")
        subject.folder.mkdir(parents=True, exist_ok=True)
        subject.notices.extend([reason] * bool(reason))
        now = time.monotonic()
        last = now + (end - now) / (len(every) - place) - PAGE
        result = profiled(subject, estimator, (step, max(steps)), given.lr, device, last)
        page.write(result, subject.folder)
        print(f"3 of 3: {subject.folder / 'index.html'}; the same command goes on from there")
        results.append(result)
    if several:
        folder = subject.folder.parent
        links = [f"{each.folder.name}/index.html" for each in every]
        page.write_comparison(results, links, folder)
        print(f"side by side: {folder / 'index.html'}")


def parsed(words: list[str]) -> argparse.Namespace:
    """The command line."""
    reader = command.parser(__doc__, "profile")
    add = reader.add_argument
    example = "lenet, my_networks:Mixer depth=4, torchvision.models:resnet18, timm:resnet10t"
    add("networks", nargs="+", metavar="NETWORK name=value", help=f"{example}, or several of them")
    add("--input", default="1x32x32", metavar="CxHxW", help="shape of one input (%(default)s)")
    add("--minutes", type=float, default=10, help="how long this call shall take (%(default)s)")
    add("--lr", type=float, default=0.5, help="learning rate of the first step (%(default)s)")
    add("--output", metavar="FOLDER", help="where all of it goes (profile-NETWORK)")
    return reader.parse_intermixed_args(words)


def profile() -> None:
    """The command `profile`, also as `python -m pipeline.profile`."""
    sys.path.insert(0, os.getcwd())  # where an installed command does not look for modules
    # One thread for the decompositions too: the cores are the workers'.
    with one_sentence(), threadpoolctl.threadpool_limits(1):
        torch.set_num_threads(1)
        main(parsed(sys.argv[1:]))


if __name__ == "__main__":
    profile()
