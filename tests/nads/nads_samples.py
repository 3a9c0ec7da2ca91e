"""Estimators, networks and samples that the tests of NADs share."""

import dataclasses
import functools

import numpy as np
import torch
from torch import nn

from pipeline import networks
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation, run_in_process
from pipeline.nads.estimator import Estimator
from pipeline.nads.jacobian import Sampler

SMALL = {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4], "side": 8}
SECANT = Estimator("secant", "readout", 100.0, "normal", True, False)
GRADIENT = dataclasses.replace(SECANT, estimand="gradient", symmetry=False)


def linear_features(matrix):
    """The network f(x) = aᵀ(A x) + b with a fixed A and the framework's default a and
    b."""
    inner = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False)
    inner.weight.data = torch.as_tensor(matrix)
    return nn.Sequential(nn.Flatten(), inner, nn.Linear(matrix.shape[0], 1))


def jacobians(count, rows, shape, seed=0):
    """Jacobians of `count` networks, `rows` vectors each, of a covariance that falls
    with the index."""
    rng = np.random.default_rng(seed)
    fall = np.geomspace(1, 0.05, int(np.prod(shape)))
    return [
        (fall * rng.standard_normal((rows, len(fall)))).astype(np.float32)
        for _ in range(count)
    ]


def sampler(specification=SMALL, identity=(0, "net"), estimator=SECANT):
    """A sampler of a specification's networks for inputs 1×8×8."""
    build = functools.partial(networks.build, specification, 1, 1)
    return Sampler(build, (1, 8, 8), identity, estimator)


def nads_of(sampler, count, symmetry="none"):
    """The NADs of a sampler's first networks, without workers or store."""
    estimation = Estimation(sampler, Covariance(sampler.shape, symmetry), count)
    estimation.run(run_in_process, "NADs")
    return estimation.nads()


def filled(accumulator, samples):
    """The accumulator with all samples added."""
    for sample in samples:
        accumulator.add(sample)
    return accumulator


def distance(one, other):
    """Relative Frobenius distance."""
    return np.linalg.norm(one - other) / np.linalg.norm((one + other) / 2)
