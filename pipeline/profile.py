"""Command `profile NETWORK`: what a network sees of its inputs, and what it will fail to see -> FOLDER/index.html, one page.

NETWORK is a name of the table (lenet), or module:name in the folder where the command runs or in an installed package; its own
arguments follow as name=value. It needs no params.yaml and no DVC, and runs from any folder:

    python /path/to/the/clone/pipeline/profile.py my_networks:Mixer depth=4 --input 3x64x64 --minutes 10

All that it makes lies in FOLDER. The same command again goes on from there for as many minutes.
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # Called by its path: Python has put the package's own folder on the path, where this file hides a module of the standard
    # library's. Workers import this module by its name.
    import runpy

    here = Path(__file__).resolve().parent
    sys.path[:] = [str(here.parent), os.getcwd(), *(place for place in sys.path if Path(place).resolve() != here)]
    runpy.run_module("pipeline.profile", run_name="__main__", alter_sys=True)
    sys.exit()

import argparse
import ast
import dataclasses
import json
import re
import shlex
import time

import numpy as np
import pandas as pd
import threadpoolctl
import torch

from pipeline import networks
from pipeline.machine import closure, store, workers
from pipeline.nads import NADs, progress, sweep, timed
from pipeline.nads.estimator import Source
from pipeline.nads.response import Response, frequencies, wave
from pipeline.networks import Shape, Specification
from pipeline.networks.dry_run import dry_run
from pipeline.project import command
from pipeline.project.errors import InputError, one_sentence
from pipeline.project.seeds import stream

SHARE, PAGE = 0.45, 8
"""Part of the time in which NADs are estimated, and seconds that the page takes on a machine that has nothing else to do."""

INDICES, SEEDS = 9, 5
"""NADs along which networks are trained, and networks along each at most."""

RATE_SEEDS = 2
"""Networks on which a learning rate is tried."""


def arguments_of(words: list[str]) -> dict:
    """A network's keyword arguments from the words `name=value`; raises InputError for others."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"{word!r} is no argument of a network; write name=value, for example depth=4")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = {"true": True, "false": False}.get(value.lower(), value)
    return found


def shape_of(text: str) -> Shape:
    """An input's shape from text such as 3x64x64; raises InputError for another."""
    if not re.fullmatch(r"[1-9]\d{0,6}([x×][1-9]\d{0,6}){2}", text):
        raise InputError(f"--input {text} is no shape; write channels x height x width, for example 3x64x64")
    shape = tuple(map(int, re.split("[x×]", text)))
    try:
        Source(2, input=shape)
    except ValueError as problem:
        raise InputError(f"--input {text}: {problem}") from None
    return shape


class Folder:
    """The folder of one profile: the page, its tables, and what a further call goes on from."""

    def __init__(self, path: Path) -> None:
        self.path, self.note, self.vectors = path, path / "profile.json", path / "directions.npz"
        # Beside the page, so that whoever removes the folder removes all of it.
        self.store = path / ".cells"

    def remembered(self) -> dict:
        """What an earlier call decided, or nothing."""
        try:
            return dict(json.loads(self.note.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError):
            raise InputError(f"{self.note} is damaged; remove it, or give another folder with --output") from None

    def remember(self, values: dict) -> None:
        """Note what this call decided."""
        text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        store.atomically(self.note, lambda path: Path(path).write_text(text, encoding="utf-8"))

    def put_directions(self, directions: dict[str, np.ndarray]) -> None:
        """Keep the directions along which networks are trained, by what they are called."""
        np.savez(self.vectors, **directions)

    def directions(self) -> dict[str, np.ndarray]:
        """The directions that were kept."""
        with np.load(self.vectors, allow_pickle=False) as file:
            return {name: file[name] for name in file}


def tried(specification: Specification, shape: Shape) -> int:
    """The number of a network's weights; raises InputError, before any work, for one that cannot be used."""
    for outputs in (1, 2):
        dry_run(specification, shape, outputs)
    try:
        closure.digest(specification["network"])
    except Exception as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"the code of {specification['network']} cannot be read, by which results are kept: {reason}"
        ) from None
    return sum(weights.numel() for weights in networks.build(specification, shape[0], 1, 0).parameters())


def chosen(nads: NADs, response: Response) -> dict[str, np.ndarray]:
    """Directions along which networks are trained, by what they are called, in the order in which they are.

    NADs; where the last are not known, also the weakest wave and a random direction.
    """
    some = {f"NAD {index}": nads.directions[index] for index in sweep.spread_out(len(nads.directions), INDICES)}
    dimension = response.rows.shape[1]
    if len(nads.directions) < dimension:
        waves, axes = response.waves(), [frequencies(side) for side in response.shape[1:]]
        row, column = (int(axis[at]) for axis, at in zip(axes, np.unravel_index(waves.argmin(), waves.shape)))
        rest = stream("profile", "random direction").standard_normal(dimension)
        weak = {f"wave ({row}, {column})": wave(row, column, response.shape), "random": rest / np.linalg.norm(rest)}
        first, *others = some
        some = {first: some[first], **weak} | {name: some[name] for name in others}
    return {name: vector.astype(np.float32) for name, vector in some.items()}


def trained(
    trainer: sweep.Sweep, directions: dict[str, np.ndarray], make: sweep.Maker, lr: float | None
) -> tuple[float | None, pd.DataFrame]:
    """The learning rate, found on the first direction where it is None, and a row for each network that was trained.

    make: (v, seed, rate) → job. Every direction has its first network before any has its second.
    """
    if lr is None:
        first = next(iter(directions.values()))
        lr = trainer.rate(lambda rate: [make(first, seed, rate) for seed in range(RATE_SEEDS)])
    rows = []
    if lr is not None:
        places = [(name, seed) for seed in range(SEEDS) for name in directions]
        jobs = [make(directions[name], seed, lr) for name, seed in places]
        for position, outcome in trainer.outcomes(jobs):
            name, seed = places[position]
            rows.append({"direction": name, "seed": seed, "loss": np.inf} | (outcome or {}))
    columns = ["direction", "seed", "accuracy", "train_accuracy", "loss", "seconds"]
    return lr, pd.DataFrame(rows, columns=columns)


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def at(moment: float) -> str:
    """The time of day of a `time.monotonic`."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() + moment - time.monotonic()))


def main(given: argparse.Namespace) -> None:
    """Profile one network and write its page."""
    # Drawn at the end: workers import this module too, and need no figures.
    from pipeline.report import profile as report
    from pipeline.report.labels import label

    started, end = time.monotonic(), time.monotonic() + 60 * given.minutes
    shape, cores, device = shape_of(given.input), workers.cores(), workers.device_of("auto")
    specification = networks.specification({"network": given.network} | arguments_of(given.arguments))
    name, size = label(specification), "×".join(map(str, shape))
    folder = Folder(Path(given.output or f"profile-{re.sub('[^A-Za-z0-9.]+', '-', name).strip('-')}"))
    remembered, weights = folder.remembered(), tried(specification, shape)
    folder.path.mkdir(parents=True, exist_ok=True)
    say(f"{name}, inputs {size}, {weights:,} weights: {given.minutes:g} min on {cores} cores, until {at(end)}")

    began, worked = time.monotonic(), time.process_time()
    forward, step = sweep.seconds_per_sample(specification, shape)
    # Beside the work of others, what this process does alone takes as much longer as that did.
    slower = max(1.0, (time.monotonic() - began) / (time.process_time() - worked))
    last, left = end - slower * PAGE, max(0.0, end - time.monotonic())
    # However long the eigenvectors take, there is time for what they are of.
    left = max(left - slower * (PAGE + timed.decomposition(shape, forward, SHARE * left * cores)), left / 2)
    asked = given.estimand or remembered.get("estimand")
    estimator, reason = timed.affordable(asked, shape, forward, SHARE * left * cores)
    task = timed.task(specification, shape, estimator, folder.store, str(device))
    task.limit, key = time.monotonic() + SHARE * left, task.sums.folder.name
    if remembered.get("key") != key:
        if remembered:
            say("the network, its inputs or its code are other than they were for this folder, so it is begun anew")
        remembered = {"key": key, "estimand": estimator.estimand}
        folder.remember(remembered)
    ready = max(task.limit, time.monotonic() + timed.fewest(task.recipe, forward) / cores)
    say(f"1 of 3: its response before training ({estimator.estimand}) until {at(ready)}, then its eigenvectors")
    ((_, nads),) = progress.finished([task], device, True)
    rows = None if timed.complete(shape) else task.sums.get(nads.networks)["rows"]
    response = Response.of(nads, rows)
    say(f"  {nads.networks:,} untrained networks, relative error of C {nads.error:.2f}")

    if "sizes" not in remembered:
        folder.put_directions(chosen(nads, response))
        sizes = sweep.sizes(int(np.prod(shape)), step, max(0.0, last - time.monotonic()) * cores)
        remembered |= {"sizes": dataclasses.astuple(sizes), "swept_with": nads.networks}
        folder.remember(remembered)
    sizes, directions = sweep.Sizes(*remembered["sizes"]), folder.directions()
    each = step * sizes.samples * sizes.epochs
    # Those on which the first rate is tried are trained however long they take.
    ready = max(last, time.monotonic() + each * RATE_SEEDS / min(RATE_SEEDS, cores))
    say(f"2 of 3: networks trained along {len(directions)} directions until {at(ready)}, about {each:.0f} s each")
    trainer = sweep.Sweep(store.Store(folder.store), device, last, each)
    make = lambda vector, seed, rate: sweep.Job(specification, shape, vector, sizes, rate, seed, str(device))
    remembered["lr"], results = trained(trainer, directions, make, remembered.get("lr"))
    folder.remember(remembered)
    say(f"  {len(trainer.taken)} networks trained, {trainer.reused} taken from before")

    found = report.Found(
        name=name,
        command=shlex.join(["python", sys.argv[0], *given.words]),
        parameters=weights,
        complete=timed.complete(shape),
        nads=nads,
        response=response,
        directions=directions,
        swept_with=remembered["swept_with"],
        results=results,
        sizes=sizes,
        lr=remembered["lr"],
        notices=[reason] if reason else [],
        minutes=(time.monotonic() - started) / 60,
        cores=cores,
    )
    report.write(found, folder.path)
    minutes = (time.monotonic() - started) / 60
    say(f"3 of 3: {folder.path / 'index.html'}, after {minutes:.1f} min; the same command goes on from there")


def parsed(words: list[str]) -> argparse.Namespace:
    """The command line; raises InputError for a time that is none."""
    reader = command.parser(__doc__, "profile")
    reader.add_argument("network", help="lenet, my_networks:Mixer, torchvision.models:resnet18, timm:resnet10t")
    reader.add_argument("arguments", nargs="*", metavar="name=value", help="the network's own arguments")
    reader.add_argument("--input", default="1x32x32", metavar="CxHxW", help="shape of one input (%(default)s)")
    reader.add_argument("--minutes", type=float, default=10.0, help="how long this call shall take (%(default)s)")
    reader.add_argument("--output", metavar="FOLDER", help="where all of it goes (profile-NETWORK)")
    reader.add_argument(
        "--estimand", choices=("secant", "gradient"), help="which response; if not given, as time allows"
    )
    given = reader.parse_intermixed_args(words)
    if not 0 < given.minutes < 100_000:
        raise InputError(f"--minutes must be a positive number, not {given.minutes:g}")
    given.words = words
    return given


if __name__ == "__main__":
    # One thread for the decompositions too: the cores are the workers'.
    with one_sentence(), threadpoolctl.threadpool_limits(1):
        torch.set_num_threads(1)
        main(parsed(sys.argv[1:]))
