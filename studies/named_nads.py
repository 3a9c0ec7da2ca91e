"""Make the NADs that `pipeline.nads.load` gives by name,
`pipeline/named_nads/{name}.npz`, again.

    python -m studies.named_nads lenet resnet18

Names are those of params.yaml's architectures, whose `estimator` and `seed` hold as in
a stage. A finished estimate is in the store, so that a killed run goes on with the next
name. Directions are written as float16, other arrays as float32; beside what
`NADs.save` writes, a file holds `commit`, at which its networks were drawn, and
`minutes`, of one core, which they took (NaN: they were in the store).
"""

import argparse
import multiprocessing
import os
import subprocess

import numpy as np
import threadpoolctl
import torch

from pipeline import networks
from pipeline.machine import store
from pipeline.nads import NADs
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.nads.named import FOLDER
from pipeline.nads.task import make_tasks
from pipeline.project.errors import one_sentence
from pipeline.project.parameters import read
from pipeline.training.shapes import as_text

SOURCES = {
    "lenet": Source(1024),
    "vgg11": Source(256, error=0.1),
    "resnet18": Source(42),
    "densenet121": Source(18),
    "vit": Source(64),
    "mixer": Source(64),
    "convmixer": Source(128),
    "convnext": Source(128),
    "torchvision_resnet18": Source(64, input=(3, 32, 32)),
}
"""Untrained networks by architecture, for a relative error of C of about 0.1 or less;
in colour it is 0.3, of the networks along whose NADs scale `overnight` trains.
DenseNet-121's error looks like 0.07 after four networks, and rises when others unlike
them arrive."""

WHOLE = 1024
FIRST = 256
"""The number D of an input's values up to which all directions are written, and how
many else."""


def arrays_of(nads: NADs) -> dict[str, object]:
    """The arrays of a small file: of many directions the first, of each number fewer
    digits."""
    count = len(nads.directions)
    kept = count if count <= WHOLE else FIRST
    small = {
        name: getattr(nads, name)[..., :kept].astype(np.float32)
        for name in ("eigenvalues", "standard_errors", "halves", "overlap")
    }
    small["directions"] = nads.directions[:kept].astype(np.float16)
    small["nearby"] = nads.nearby[:kept].clip(max=kept - 1)
    return vars(nads) | small


def core_minutes() -> float:
    """Minutes of processor time that this process and its workers, which have ended,
    took."""
    for worker in multiprocessing.active_children():
        worker.join()
    return sum(os.times()[:4]) / 60


def numbers(name: str) -> str:
    """The numbers of a file, as the table of docs/api.md has them."""
    path = FOLDER / f"{name}.npz"
    nads = NADs.load(path)
    with np.load(path) as arrays:
        minutes = arrays["minutes"]
    directions = f"{len(nads.directions):,}"
    networks = f"{nads.networks:,}"
    sizes = f"{as_text(nads.shape)} | {directions} | {networks}"
    return f"{sizes} | {nads.error:.3f} | {minutes:.1f}"


def main(names: list[str]) -> None:
    """Estimate what is not in the store, write a file for each name, and print its
    numbers."""
    commit = subprocess.check_output(
        ["git", "rev-parse", "--short", "HEAD"], text=True
    ).strip()
    params = read()
    estimator = Estimator(**params["estimator"] | {"compare": False})
    kept = store.Store(store.default_folder())
    for name in names:
        architecture = {
            k: v for k, v in params["architectures"][name].items() if k != "input"
        }
        request = Request(networks.specification(architecture), SOURCES[name])
        plan = NADsPlan("named", params["seed"], estimator, {name: request})
        (task,) = make_tasks(plan, torch.device("cpu"))
        known = kept.holds(task.key)
        started = core_minutes()
        nads = task.nads()
        minutes = np.nan if known else core_minutes() - started
        about = arrays_of(nads) | {"commit": commit, "minutes": minutes}
        FOLDER.mkdir(exist_ok=True)
        with open(FOLDER / f"{name}.npz", "wb") as file:
            np.savez_compressed(file, **about)
        print(f"{name} | {numbers(name)}", flush=True)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(
        "python -m studies.named_nads", description=__doc__.partition("\n")[0]
    )
    reader.add_argument("names", nargs="+", choices=tuple(SOURCES), metavar="NAME")
    # Workers use the cores, and no bit may depend on the number of threads.
    with one_sentence(), threadpoolctl.threadpool_limits(1):
        main(reader.parse_args().names)
