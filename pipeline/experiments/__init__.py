"""The experiments, one file each: a subclass of `Experiment` with its grid and data."""

import importlib
import pkgutil

from pipeline.experiments.experiment import Experiment

__all__ = ["find", "names"]


def names() -> list[str]:
    """The names of all experiments: the names of their files in this folder."""
    files = {module.name for module in pkgutil.iter_modules(__path__)}
    return sorted(files - {"experiment", "plan"})


def find(name: str) -> Experiment:
    """The experiment `name`."""
    # Only this experiment's module, so that its results do not depend on the code of
    # others.
    module = importlib.import_module(f"{__name__}.{name}")
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    own = (kind for kind in classes if kind.__module__ == module.__name__)
    (experiment,) = (kind for kind in own if issubclass(kind, Experiment))
    return experiment()
