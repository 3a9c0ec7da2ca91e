"""Estimators, networks and samples that the tests of NADs share."""

import dataclasses
import functools
import math

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
    """The network f(x) = aᵀ(A x) + b with a fixed A and default a and b."""
    features, pixels = matrix.shape
    inner = nn.Linear(pixels, features, bias=False)
    inner.weight.data = torch.as_tensor(matrix)
    return nn.Sequential(nn.Flatten(), inner, nn.Linear(features, 1))


def jacobians(count, rows, shape, seed=0):
    """Jacobians (rows, D) of networks whose covariance falls with the index."""
    rng = np.random.default_rng(seed)
    deviations = np.geomspace(1, 0.05, math.prod(shape))
    samples = []
    for _ in range(count):
        noise = rng.standard_normal((rows, len(deviations)))
        samples.append((deviations * noise).astype(np.float32))
    return samples


def make_sampler(specification=SMALL, identity=(0, "net"), estimator=SECANT):
    """A sampler of a specification's networks for inputs 1×8×8."""
    build = functools.partial(networks.build, specification, 1, 1)
    return Sampler(build, (1, 8, 8), identity, estimator)


def nads_of(sampler, count, symmetry="none"):
    """The NADs of a sampler's first networks, without workers or cache."""
    estimation = Estimation(sampler, Covariance(sampler.shape, symmetry), count)
    estimation.run(run_in_process, "NADs")
    return estimation.nads()


def fill(accumulator, samples):
    """The accumulator with all samples added."""
    for sample in samples:
        accumulator.add(sample)
    return accumulator


def distance(a, b):
    """Relative Frobenius distance."""
    return np.linalg.norm(a - b) / np.linalg.norm((a + b) / 2)
