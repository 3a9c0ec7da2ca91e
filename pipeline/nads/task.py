"""Estimates of NADs, made by all workers and kept in the store."""

import dataclasses
import functools
import hashlib
import io
import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from tqdm import tqdm

from pipeline import networks
from pipeline.machine import code, store, workers
from pipeline.nads.directions import NADs
from pipeline.nads.estimation import Estimation, begun
from pipeline.nads.estimator import Estimator, NADsPlan, Source
from pipeline.nads.jacobian import jacobian_of_untrained
from pipeline.project.errors import at, check_unchanged

SHOWN_AND_KEPT = ("__init__", "directions", "gallery", "named", "task")
"""Files of this room that decide no NAD: they name, show, read and store what the others make."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Everything but its number that determines an untrained network of one estimate.

    specification: the network's place and its arguments; own: sha256 by path of the files of a
    person's own network; shape: (C, H, W) of one input; identity: (seed, name of the estimate),
    from which the networks' seeds derive; device: 'cpu' or 'cuda'.
    """

    specification: networks.Specification
    own: dict[str, str]
    shape: tuple[int, ...]
    identity: tuple[int, str]
    estimator: Estimator
    device: str


def jacobian(recipe: Recipe, _: object, number: int) -> np.ndarray:
    """The Jacobian J (F, D) of one untrained network, which a worker makes of recipe and number."""
    build = functools.partial(networks.build, recipe.specification, recipe.shape[0], 1)
    return jacobian_of_untrained(
        build, recipe.shape, number, recipe.identity, recipe.estimator, recipe.device
    )


def jacobians(
    recipe: Recipe, numbers: Iterable[int], **bar: object
) -> Iterator[tuple[int, np.ndarray]]:
    """The Jacobians of the networks 0, 1, …, each with its number, as soon as workers have made
    them; numbers: asked for the next one when a worker is free; bar: options of tqdm's bar.

    Raises the exception of a network that cannot be run.
    """
    function, device = functools.partial(jacobian, recipe), torch.device(recipe.device)
    results = workers.run(function, numbers, dict, device)
    for number, result in tqdm(results, unit="network", disable=None, **bar):
        if isinstance(result, Exception):
            raise result
        yield number, result


def key(recipe: Recipe, estimation: Estimation, source: Source) -> str:
    """The digest of everything that determines an estimate."""
    place, estimator = recipe.specification["network"], recipe.estimator
    files = [file for file in code.room("nads") if file.stem not in SHOWN_AND_KEPT]
    files += [code.PACKAGE / "cells/seeds.py", *networks.files(place)]
    # The weights under one seed tell every way of drawing them apart.
    drawn = networks.build(recipe.specification, recipe.shape[0], 1, 0).state_dict()
    flat = (value.contiguous().view(-1) for value in drawn.values())
    weights = b"".join(value.view(torch.uint8).numpy() for value in flat)
    return store.digest(
        {
            "code": code.digest(files),
            "own": recipe.own,
            "versions": [torch.__version__, np.__version__, networks.version(place, recipe.own)],
            "weights": hashlib.sha256(weights).hexdigest(),
            "specification": recipe.specification,
            "fields": [field.name for field in dataclasses.fields(NADs)],
            "source": dataclasses.asdict(source),
            "identity": recipe.identity,
            "estimator": [estimator.estimand, estimator.method, estimator.step, estimator.point],
            "device": torch.device(recipe.device).type,
            "symmetry": [estimation.accumulator.symmetry, estimation.channels],
        }
    )


@dataclasses.dataclass(frozen=True)
class Task:
    """One estimate of NADs to make; key: of its entry in the store."""

    name: str
    recipe: Recipe
    estimation: Estimation
    key: str

    def nads(self) -> NADs:
        """The NADs, from the store, else of networks that all workers sample.

        Raises the exception of a network that cannot be run, and InputError as `Estimation.nads`.
        """
        kept = store.Store(store.default_folder())
        if contents := kept.contents(self.key):
            return NADs.load(io.BytesIO(contents[0]["npz"].numpy()))
        with at(f"nads.{self.name}: "):
            self.sample()
            nads = self.estimation.nads(self.recipe.estimator)
        check_unchanged()  # the key was made before the networks were
        file = io.BytesIO()
        nads.save(file)
        kept.put(self.key, {"npz": torch.frombuffer(file.getbuffer(), dtype=torch.uint8)}, {})
        return nads

    def sample(self) -> None:
        """Add untrained networks until the estimate is finished."""
        estimation, most = self.estimation, self.estimation.networks
        numbers = itertools.takewhile(lambda _: not estimation.finished, range(most))
        for result in jacobians(self.recipe, numbers, desc=f"estimate {self.name}", total=most):
            estimation.add(*result)
            if estimation.finished:
                break


def tasks(plan: NADsPlan, device: torch.device) -> Iterator[Task]:
    """The estimates that a plan asks for, not begun yet; raises InputError, which names one."""
    for name, request in plan.members.items():
        specification, source = request.specification, request.source
        for asked in source.estimators(plan.estimator) if source.file is None else ():
            # Seeds derive from the name, so two estimates share no networks and no errors.
            full_name = name if asked is plan.estimator else f"{name}.{asked.estimand}"
            with at(f"nads.{name}: "):
                stated = networks.symmetry_of_inputs(specification, source.input)
                symmetry = stated if asked.symmetry else "none"
                network = networks.build(specification, source.input[0], 1, plan.seed)
                estimator, estimation = begun(network, asked, source, symmetry, f"{full_name}: ")
            identity, shape = (plan.seed, full_name), source.input
            recipe = Recipe(specification, request.own, shape, identity, estimator, str(device))
            yield Task(full_name, recipe, estimation, key(recipe, estimation, source))
