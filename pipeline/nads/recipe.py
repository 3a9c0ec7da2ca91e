"""The recipe of an estimate's untrained networks, and the key under which its sums are kept."""

import dataclasses
import functools
import hashlib
import importlib.util

import numpy as np
import torch

from pipeline import networks
from pipeline.machine import code, store
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimator import Estimator
from pipeline.nads.jacobian import jacobian_of_untrained
from pipeline.nads.leading import Leading


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a worker needs for each untrained network of one estimate, besides its number.

    specification: the network's place and its arguments; own: sha256 by path of a person's own
    files that decide it; shape: (C, H, W) of one input; identity: (seed, name of the estimate),
    from which the networks' seeds derive; device: 'cpu' or 'cuda'.
    """

    specification: networks.Specification
    own: dict[str, str]
    shape: tuple[int, ...]
    identity: tuple[int, str]
    estimator: Estimator
    device: str


def jacobian(_: object, work: tuple[Recipe, int]) -> np.ndarray:
    """The Jacobian of one network of a recipe, as a worker makes it from (recipe, number)."""
    recipe, number = work
    build = functools.partial(networks.build, recipe.specification, recipe.shape[0], 1)
    return jacobian_of_untrained(
        build, recipe.shape, number, recipe.identity, recipe.estimator, recipe.device
    )


def key(recipe: Recipe, accumulator: Covariance | Leading) -> str:
    """The digest of everything that determines an estimate's sums but the number of networks."""
    place, estimator = recipe.specification["network"], recipe.estimator
    files = [file for file in code.room("nads") if file.stem != "gallery"]  # a picture
    files.append(code.PACKAGE / "cells/seeds.py")
    if place in networks.NETWORKS.values():
        files.append(importlib.util.find_spec(place.partition(":")[0]).origin)
    # The weights under one seed tell every way of drawing them apart.
    drawn = networks.build(recipe.specification, recipe.shape[0], 1, 0).state_dict()
    weights = b"".join(value.numpy().tobytes() for value in drawn.values())
    return store.digest(
        {
            "code": code.digest(files),
            "own": recipe.own,
            "versions": [torch.__version__, np.__version__, networks.version(place)],
            "weights": hashlib.sha256(weights).hexdigest(),
            "specification": recipe.specification,
            "input": recipe.shape,
            "identity": recipe.identity,
            "estimator": [estimator.estimand, estimator.method, estimator.step, estimator.point],
            "device": torch.device(recipe.device).type,
            "kind": type(accumulator).__name__,
            "symmetry": accumulator.symmetry,
        }
    )
