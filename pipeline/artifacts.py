"""What the stages hand to each other on disk: the one place that knows which file holds what.

data/images/                  {train,test}_{images,labels}.npy, about.json
data/nads/                    {architecture}.npz: the fields of `pipeline.anisotropy.NADs`; {architecture}.{estimand}.npz:
                              the same of the other estimand, for comparison
data/datasets/{experiment}/   cells.csv, directions.npz, draw-{seed}.npz
models/{experiment}/          {cell}.safetensors, training.csv, losses.csv; grid.json: what the networks are
reports/{experiment}/         results.csv, summary.csv, metrics.json; for some also boundaries.csv, cross_sections.npz,
                              changes.csv
"""

import functools
import json
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline import experiments
from pipeline.project.errors import InputError

IMAGES = Path("data/images")
NADS = Path("data/nads")
DATASETS = Path("data/datasets")
MODELS = Path("models")
REPORTS = Path("reports")
FIGURES = REPORTS / "figures"
GRID = "grid.json"


def present(path, stage):
    """`path` itself; raises InputError naming the stage that makes it if it does not exist."""
    if not Path(path).exists():
        raise InputError(
            f"{path} is missing; `python -m pipeline.{stage}` makes it (`dvc repro` runs all stages in order)"
        )
    return Path(path)


def fresh(folder):
    """The empty folder `folder`: a stage owns its output whole, so what an earlier run left is removed."""
    folder = Path(folder)
    if folder.exists():
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_json(path, value):
    """Write `value` as indented JSON."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def about_images():
    """What data/images holds: name, classes, counts, digest."""
    return json.loads(present(IMAGES / "about.json", "download").read_text())


def images():
    """The images as a dict: {train,test}_images uint8 (N, 3, 32, 32) mapped from disk, {train,test}_labels (N,), classes,
    and mean and deviation (3,) of the whole training split's values in [0, 1].
    """
    about = about_images()
    arrays = {
        f"{s}_{k}": np.load(IMAGES / f"{s}_{k}.npy", mmap_mode="r", allow_pickle=False)
        for s in ("train", "test")
        for k in ("images", "labels")
    }
    arrays["classes"] = about["classes"]
    arrays["mean"], arrays["deviation"] = about["mean"], about["deviation"]
    return arrays


def nads(name, part=""):
    """The NADs of an architecture as a dict of the arrays of `pipeline.anisotropy.NADs`; part: '.gradient' or '.secant' for
    those of the other estimand.
    """
    path = present(NADS / f"{name}{part}.npz", "estimate")
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file}


def rows_of(path):
    """The array in a user's .npy file of NADs; raises InputError if there is none that can be read without unpickling."""
    try:
        with open(path, "rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"the NADs {path} cannot be read: {error.strerror}") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} is not a .npy file of numbers: {error}") from None


def cells(experiment):
    """The grid of an experiment as a list of rows (dicts), in the order of cells.csv."""
    return pd.read_csv(present(DATASETS / experiment / "cells.csv", f"generate {experiment}")).to_dict("records")


def grid(experiment):
    """What the trained networks of an experiment are: scale, seeds, precision, architectures by name (a dict)."""
    return json.loads(present(MODELS / experiment / GRID, f"train {experiment}").read_text())


def cell_name(cell, coordinates):
    """The name of a cell: architecture, coordinates and seed, for example lenet-1-800-seed0."""
    return "-".join([cell["architecture"], *(str(cell[c]) for c in coordinates), f"seed{cell['seed']}"])


class Data:
    """Everything on disk that a cell's data sets are built from, read when first asked for and then kept.

    `name` is the experiment's. `functools.partial(Data, name)` is the recipe by which a worker makes its own.
    """

    def __init__(self, name):
        self.name = name
        self.module = experiments.find(name)
        self.draws = {}

    @functools.cached_property
    def images(self):
        """The images, or None where the experiment needs none."""
        return images() if self.module.NEEDS_IMAGES else None

    @functools.cached_property
    def vectors(self):
        """The experiment's directions by name."""
        with np.load(DATASETS / self.name / "directions.npz", allow_pickle=False) as file:
            return {key: file[key] for key in file}

    def draw(self, seed):
        """The arrays of one seed's draw."""
        if seed not in self.draws:
            with np.load(DATASETS / self.name / f"draw-{seed}.npz", allow_pickle=False) as file:
                # One seed at a time: the cells of a seed follow each other, and a draw at paper scale is 250 MB.
                self.draws = {seed: {key: file[key] for key in file}}
        return self.draws[seed]

    def directions(self, cell):
        """The arrays that the cell's data sets are made of."""
        return [self.vectors[name] for name in self.module.uses(cell)]

    def dataset(self, cell, split):
        """Inputs and class numbers of the cell's training or test set."""
        return self.module.dataset(cell, split, self.draw(cell["seed"]), self.directions(cell), self.images)

    def test_sets(self, cell):
        """Yields (name, inputs, class numbers) of everything that the cell's network is tested on."""
        return self.module.test_sets(cell, self.draw(cell["seed"]), self.directions(cell), self.images)

    def plane(self, cell):
        """The two directions that span the plane of the cell's boundary."""
        return self.module.plane(cell, self.directions(cell), self.draw(cell["seed"]))

    @functools.cached_property
    def outputs(self):
        """Number of outputs of the experiment's networks."""
        return self.module.OUTPUTS or len(self.images["classes"])
