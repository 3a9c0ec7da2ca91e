"""The recipe of an estimate's untrained networks, and the key of its sums in the store."""

import dataclasses
import functools
import hashlib

import numpy as np
import torch

from pipeline import networks
from pipeline.machine import code, store
from pipeline.nads.estimation import Estimation
from pipeline.nads.estimator import Estimator
from pipeline.nads.jacobian import jacobian_of_untrained


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


def jacobian(_: object, work: tuple[Recipe, int]) -> np.ndarray:
    """The Jacobian J (F, D) of one untrained network, as a worker makes it from its recipe and
    number."""
    recipe, number = work
    build = functools.partial(networks.build, recipe.specification, recipe.shape[0], 1)
    return jacobian_of_untrained(
        build, recipe.shape, number, recipe.identity, recipe.estimator, recipe.device
    )


def key(recipe: Recipe, estimation: Estimation) -> str:
    """The digest of everything that determines an estimate's sums but the number of networks."""
    place, estimator = recipe.specification["network"], recipe.estimator
    files = [file for file in code.room("nads") if file.stem != "gallery"]  # a picture
    files += [code.PACKAGE / "cells/seeds.py", *networks.files(place)]
    # The weights under one seed tell every way of drawing them apart.
    drawn = networks.build(recipe.specification, recipe.shape[0], 1, 0).state_dict()
    weights = b"".join(value.numpy().tobytes() for value in drawn.values())
    return store.digest(
        {
            "code": code.digest(files),
            "own": recipe.own,
            "versions": [torch.__version__, np.__version__, networks.version(place, recipe.own)],
            "weights": hashlib.sha256(weights).hexdigest(),
            "specification": recipe.specification,
            "input": recipe.shape,
            "identity": recipe.identity,
            "estimator": [estimator.estimand, estimator.method, estimator.step, estimator.point],
            "device": torch.device(recipe.device).type,
            "kind": type(estimation.accumulator).__name__,
            "symmetry": [estimation.accumulator.symmetry, estimation.channels],
        }
    )
