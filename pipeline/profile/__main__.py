"""Command `profile NETWORK`: what a network sees of its inputs, and what it will fail to see
-> FOLDER/index.html, one page.

NETWORK is a name of the table (lenet), or module:name in the folder where the command runs or in an
installed package; its own arguments follow as name=value. Where this project is installed, the
command runs from any folder as `profile`:

    profile my_networks:Mixer depth=4 --input 3x64x64 --minutes 10

All output lies in FOLDER. The same command again goes on from there for as many minutes.
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


def arguments_of(words: list[str]) -> dict:
    """A network's keyword arguments from the words `name=value`."""
    arguments = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(
                f"{word!r} is no argument of a network; write name=value, for example depth=4"
            )
        arguments[name] = yaml.safe_load(value)
    return arguments


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


def main(given: argparse.Namespace) -> None:
    """Profile one network and write its page."""
    end = time.monotonic() + 60 * given.minutes - PAGE
    shape, cores, device = shape_of(given.input), workers.cores(), workers.device_of("auto")
    entry = {"network": given.network} | arguments_of(given.arguments)
    specification = networks.specification(entry)
    dry_run(specification, shape, 1)
    notices = list(dry_run(specification, shape, 2).notices)
    network = networks.build(specification, shape[0], 1, 0)
    parameters, name = sum(each.numel() for each in network.parameters()), label(specification)
    folder = Path(given.output or f"profile-{re.sub('[^A-Za-z0-9.]+', '-', name).strip('-')}")
    folder.mkdir(parents=True, exist_ok=True)
    cells, key = store.Store(folder / ".cells"), digest(specification, shape, network)
    print(f"{name}, inputs {given.input}, {parameters:,} weights: {given.minutes:g} minutes")

    step = trained.seconds_per_sample(specification, shape)
    note, seconds = cells.get(key), SHARE * max(0.0, end - time.monotonic())
    earlier = note and note["estimand"]
    estimator, reason = untrained.affordable(earlier, shape, step, seconds * cores)
    print(f"1 of 3: its response before training ({estimator.estimand}), for about {seconds:.0f} s")
    sums = store.Sums(cells.folder, store.digest([key, estimator.estimand]))
    recipe = Recipe(specification, {}, shape, (0, "profile"), estimator, str(device))
    nads, response = untrained.estimated(recipe, sums, device, time.monotonic() + seconds)
    print(f"  {nads.networks:,} untrained networks, relative error of C {nads.error:.2f}")

    if note is None:  # later calls train along the directions, and at the sizes, of the first
        directions = chosen(nads, response)
        sizes = trained.sizes(response.rows.shape[1], step, (end - time.monotonic()) * cores)
        note = {"estimand": nads.estimand, "names": list(directions)}
        note["sizes"] = dataclasses.astuple(sizes)
        vectors = torch.from_numpy(np.stack(list(directions.values())))
        cells.put(key, {"directions": vectors}, note)
    vectors = store.tensors(cells.path(key), "profile")["directions"].numpy()
    directions, sizes = dict(zip(note["names"], vectors)), trained.Sizes(*note["sizes"])
    each = step * sizes.samples * sizes.epochs
    print(f"2 of 3: networks trained along {len(directions)} directions, about {each:.0f} s each")
    # Every direction has its first network before any has its second.
    places = [(direction, seed) for seed in range(SEEDS) for direction in directions]
    jobs = [
        trained.Job(specification, shape, directions[direction], sizes, given.lr, seed, str(device))
        for direction, seed in places
    ]
    outcomes = trained.outcomes(jobs, cells, key, device, end, each, LEAST)
    names = "direction", "seed"
    rows = [dict(zip(names, places[position])) | vars(outcome) for position, outcome in outcomes]
    print(f"  {len(rows)} networks")
    result = Result(
        name=name,
        command=shlex.join(["python", "-m", "pipeline.profile", *sys.argv[1:]]),
        parameters=parameters,
        nads=nads,
        response=response,
        directions=directions,
        trained=pd.DataFrame(rows),
        sizes=sizes,
        lr=given.lr,
        notices=notices + [reason] * bool(reason),
    )
    page.write(result, folder)
    print(f"3 of 3: {folder / 'index.html'}; the same command goes on from there")


def parsed(words: list[str]) -> argparse.Namespace:
    """The command line."""
    reader = command.parser(__doc__, "profile")
    add = reader.add_argument
    add("network", help="lenet, my_networks:Mixer, torchvision.models:resnet18, timm:resnet10t")
    add("arguments", nargs="*", metavar="name=value", help="the network's own arguments")
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
