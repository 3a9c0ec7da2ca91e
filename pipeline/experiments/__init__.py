"""The experiments, one file each: which cells its grid has, what its data are, what it is tested on.

An experiment module defines

- `COORDINATES`: the columns of cells.csv (NAD indices) that place a cell in its grid; `CHANNELS` of its inputs;
- `TEST_SETS`: the channels tested alone, by name; `NEEDS_IMAGES`: whether data/images is read;
- `Settings` (optional): its own block of params.yaml; `check(params)`: raises InputError on values that cannot be run;
- `cells(params)`: the grid, one dict per cell;
- `draw(params, seed, images)`: the arrays that, with the cells, determine every data set of that seed;
- `dataset(cell, split, draw, direction, images)`: a cell's inputs and class numbers;
- `plane(cell, direction, draw)`: the two directions that span the plane of the boundary;
- `metrics(results, boundaries)`: the few numbers that `dvc metrics diff` shows.
"""

import importlib
import pkgutil

from pipeline.errors import InputError


def names():
    """Names of all experiments, without importing any."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def asked_for(arguments):
    """The one experiment that a stage's command line names; raises InputError unless it names exactly one."""
    if len(arguments) != 1:
        raise InputError(f"name one experiment after the stage; known are {', '.join(names())}")
    return find(arguments[0]).__name__.rpartition(".")[2]


def find(name):
    """The experiment module `name`; raises InputError if there is none."""
    if name not in names():
        raise InputError(f"the experiment {name!r} is unknown; known are {', '.join(names())}")
    return importlib.import_module(f"pipeline.experiments.{name}")
