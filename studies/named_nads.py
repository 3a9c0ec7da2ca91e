"""Regenerate the NADs that `pipeline.nads.load` returns by name.

    python -m studies.named_nads lenet resnet18

Names are those of the architectures in params.yaml. The settings `estimator` and `seed`
apply as in a stage. Finished estimates are cached, so a killed run resumes with the
next name. Each file pipeline/named_nads/{name}.npz has directions as float16 and other
arrays as float32. It has two fields that `NADs.save` does not write: `commit`, at which
the untrained networks were drawn, and `minutes` of one core (NaN if the estimate was
cached).
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
"""Number of untrained networks by architecture.

The relative error of C is then about 0.1 or less. In colour it is 0.3; scale
`overnight` trains along these NADs. The error of DenseNet-121 is about 0.07 after four
networks. It rises when networks are added that differ from these four."""

WHOLE = 1024
FIRST = 256
"""All directions are written of inputs with at most `WHOLE` values, else `FIRST`."""


def arrays_of(nads: NADs) -> dict[str, object]:
    """Make the arrays of a small file: fewer directions and fewer digits."""
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
    """Measure the minutes of processor time of this process and its ended workers."""
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
