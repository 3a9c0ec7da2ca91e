"""Neural anisotropy directions: eigenvectors of the covariance of a network's input derivative over its initialisation.

Paper 1, §4: C = E_θ[d dᵀ] for one evaluation point x; its eigenvectors in decreasing eigenvalue are the NADs. Here d is
the *secant*, d_i = (f(x + h e_i) − f(x − h e_i)) / 2h, which is what the published NADs are.

The expectation over the read-out is taken exactly. With f = aᵀφ(x) + b and the entries of a independent, of zero mean and
variance s², E_a[d dᵀ] = s² JᵀJ, where J holds the secants of the features φ. PyTorch draws a linear layer's weights
uniformly from ±1/√F for F inputs, so s² = 1/(3F).

This file estimates; which networks, how many and where they are kept is decided elsewhere.
"""

import dataclasses

import numpy as np
import torch
from torch import nn

from pipeline import architectures
from pipeline.seeds import derive, stream

BATCH = 128
"""Images per forward pass of the secant: large enough to fill a core, small enough for its cache."""


@dataclasses.dataclass(frozen=True)
class NADs:
    """The NADs of one architecture.

    directions: (K, D) float64, orthonormal rows, index 0 first; eigenvalues: (K,) of C, decreasing;
    error: relative Frobenius distance that the estimate of C is expected to have from the true C (from split halves);
    networks: how many untrained networks were averaged; step: half-width h of the secant.
    """

    directions: np.ndarray
    eigenvalues: np.ndarray
    error: float
    networks: int
    step: float


def evaluation_point(seed, dimension):
    """The one standard-normal image, flattened to (D,), at which all the networks of an estimate are differentiated."""
    return stream(seed, "nads", "evaluation point").standard_normal(dimension, dtype=np.float32)


def readout(network, probe):
    """The linear layer that ends `network`, after checking on `probe` (N, C, H, W) that it does.

    Raises ValueError if the network's output is not the output of its last linear layer.
    """
    linears = [module for module in network.modules() if isinstance(module, nn.Linear)]
    if linears:
        seen = []
        with torch.no_grad(), _inputs_of(linears[-1], seen):
            output = network(probe)
        if len(seen) == 1 and torch.equal(linears[-1](seen[0]), output):
            return linears[-1]
    raise ValueError("the network does not end in a linear layer, so its read-out cannot be averaged over exactly")


def _inputs_of(module, into):
    """Context in which every input of `module` is appended to the list `into`."""
    return module.register_forward_pre_hook(lambda _, inputs: into.append(inputs[0]))


@torch.no_grad()
def secant_features(network, point, step, shape):
    """Secants of the features that the read-out sees: J of shape (F, D), J[:, i] = (φ(x + h e_i) − φ(x − h e_i)) / 2h.

    `point` is x, of shape (D,); `shape` is its (C, H, W); `step` is h. The network is put in eval mode (batch norm is
    then the identity for untrained weights, dropout is off).
    """
    network.to(memory_format=torch.channels_last).eval()
    point = torch.as_tensor(point)
    last = readout(network, point.reshape(1, *shape))
    columns = []
    for start in range(0, len(point), BATCH // 2):
        steps = torch.zeros(min(BATCH // 2, len(point) - start), len(point))
        steps.diagonal(start).fill_(step)
        seen = []
        with _inputs_of(last, seen):
            images = torch.cat([point + steps, point - steps]).reshape(-1, *shape)
            network(images.contiguous(memory_format=torch.channels_last))
        plus, minus = seen[0].chunk(2)
        columns.append((plus - minus) / (2 * step))
    return torch.cat(columns).T


def secant_of_one(specification, name, number, seed, step):
    """√(1/3F) · J of the architecture's network `number`, (F, D) float32: its Gram matrix JᵀJ is one sample of C."""
    shape = architectures.input_shape(1)
    point = evaluation_point(seed, int(np.prod(shape)))
    network = architectures.build(specification, shape[0], 1, derive(seed, "nads", name, number))
    jacobian = secant_features(network, point, step, shape).numpy()
    return jacobian / np.sqrt(3 * len(jacobian), dtype=np.float32)


class Covariance:
    """Running float64 estimate of C (D×D) from the samples of one network after another, kept in two halves."""

    def __init__(self, dimension):
        self.halves = np.zeros((2, dimension, dimension))
        self.count = 0

    def add(self, jacobian):
        """Add one network's scaled secants (F, D). The order of the calls decides the last bits, nothing else."""
        jacobian = jacobian.astype(np.float64)
        self.halves[self.count % 2] += jacobian.T @ jacobian
        self.count += 1

    def mean(self):
        """The estimate of C, (D, D)."""
        return self.halves.sum(0) / self.count

    def error(self):
        """Expected relative Frobenius distance of `mean` from C, from the two halves: ‖C₁ − C₂‖ / 2‖C‖."""
        first, second = self.halves[0] / ((self.count + 1) // 2), self.halves[1] / (self.count // 2)
        return float(np.linalg.norm(first - second) / (2 * np.linalg.norm(self.mean())))


def directions_of(covariance, step):
    """The `NADs` of a `Covariance`: eigenvectors in decreasing eigenvalue, each with its largest entry positive."""
    values, vectors = np.linalg.eigh(covariance.mean())
    directions = vectors.T[::-1]
    largest = np.take_along_axis(directions, np.abs(directions).argmax(1)[:, None], 1)
    return NADs(np.ascontiguousarray(directions * np.sign(largest)), values[::-1].copy(), covariance.error(),
                covariance.count, step)
