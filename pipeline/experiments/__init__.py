"""The experiments, one file each: which cells its grid has, what its data are, what it is tested on.

An experiment module defines

- `COORDINATES`: the columns of cells.csv that place a cell in its grid, `TEST_SETS`: the channels tested alone;
- `Settings` (optional): its own block of params.yaml; `check(params)`: raises InputError on values that cannot be run;
- `cells(params)`: the grid as a table; `uses(cell)`: NAD indices that a cell's directions come from;
- `draw(params, seed, images)`: the arrays that, with the cells, determine every data set of that seed;
- `Source(params-free arrays)`: builds training and test sets of a cell; `plane(cell)`: the boundary's two directions;
- `metrics(results)`: the few numbers that `dvc metrics diff` shows.
"""

import importlib
import pkgutil

from pipeline.errors import InputError


def names():
    """Names of all experiments, without importing any."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name):
    """The experiment module `name`; raises InputError if there is none."""
    if name not in names():
        raise InputError(f"the experiment {name!r} is unknown; known are {', '.join(names())}")
    return importlib.import_module(f"pipeline.experiments.{name}")
