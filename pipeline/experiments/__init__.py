"""The experiments, one file each: which cells its grid has, what its data are, what it is tested on.

An experiment module defines

- `COORDINATES`: the columns of cells.csv that place a cell in its grid;
- `CHANNELS` of its inputs; `OUTPUTS` of its networks, None for one per class of the images; `SCHEDULE` of the learning rate,
  one of `pipeline.training.SCHEDULES`; `NEEDS_IMAGES`, `NEEDS_NADS`: whether data/images and data/nads are read;
- `Settings` (optional): its own block of params.yaml; `Plan` (optional): an architecture's part of the grid, where it is not
  a list of NAD indices; `check(params)`: raises InputError on values that cannot be run;
- `cells(params)`: the grid, one dict per cell;
- `directions(params, nads)`: every vector or basis that its data sets are made of, by name; `nads(architecture, estimand)`
  gives the arrays of data/nads;
- `uses(cell)`: the names of those that one cell's data sets are made of;
- `draw(params, seed, images)`: the arrays that, with cells and directions, determine every data set of that seed; names of
  those that decide only the test begin with `test`;
- `dataset(cell, split, draw, directions, images)`: a cell's inputs and class numbers; `directions`: the arrays that it uses;
- `test_sets(cell, draw, directions, images)`: yields (name, inputs, class numbers) of everything a network is tested on;
- `plane(cell, directions, draw)` (optional): the two directions that span the plane in which the boundary is drawn;
- `alterations(cell, directions, x)` (optional): yields (columns, altered inputs) of test inputs with a part taken away;
- `metrics(tables, directions)`: the few numbers that `dvc metrics diff` shows, from the tables that `evaluate` writes, the losses
  of training, and all directions, each by name.
"""

import importlib
import pkgutil

from pipeline.project.errors import InputError


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
