"""The experiments, one file each: a subclass of `Experiment` with a grid, data and metrics."""

import importlib
import pkgutil

from pipeline.experiments.experiment import Experiment
from pipeline.project.errors import InputError, nearest

__all__ = ["find", "names"]


def names() -> list[str]:
    """The names of all experiments, those of their files in this folder; none is imported."""
    return sorted(
        module.name
        for module in pkgutil.iter_modules(__path__)
        if module.name not in ("experiment", "plan")
    )


def find(name: str) -> Experiment:
    """The experiment `name`; raises InputError if there is none."""
    if name not in names():
        raise InputError(f"the experiment {name!r} is unknown; {nearest(name, names())}")
    # One experiment at a time: what an experiment's results depend on must not be the code of the
    # others.
    module = importlib.import_module(f"{__name__}.{name}")
    (kind,) = (
        kind
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, Experiment)
        and kind.__module__ == module.__name__
    )
    return kind()
