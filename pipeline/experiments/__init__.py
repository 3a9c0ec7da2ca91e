"""The experiments, one file each: a subclass of `Experiment` with its grid and data."""

import importlib
import pkgutil

from pipeline.experiments.experiment import Experiment

__all__ = ["find", "names"]


def names() -> list[str]:
    """Return the names of all experiments: the names of their files in this folder."""
    files = {module.name for module in pkgutil.iter_modules(__path__)}
    return sorted(files - {"experiment", "plan"})


def find(name: str) -> Experiment:
    """Return the experiment of a name."""
    # Only this experiment's module is imported, so that its results do not depend on
    # the code of other experiments.
    module = importlib.import_module(f"{__name__}.{name}")
    found = []
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Experiment):
            if value.__module__ == module.__name__:
                found.append(value)
    (experiment,) = found
    has_plane = experiment.boundary_plane is not Experiment.boundary_plane
    if has_plane and not experiment.needs_networks:
        # Without the networks, boundaries would be left out silently.
        raise TypeError(f"the experiment {name} must set needs_networks = True")
    return experiment()
