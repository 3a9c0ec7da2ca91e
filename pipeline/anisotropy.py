"""Neural anisotropy directions: eigenvectors of the covariance of a network's input derivative over its initialisation.

Paper 1, §4: C = E_θ[d dᵀ] for one evaluation point x; its eigenvectors in decreasing eigenvalue are the NADs. Two different
derivatives d carry the name *gradient* in the papers; both are here under names of their own (the *estimand*):

- `secant`: d_i = (f(x + h e_i) − f(x − h e_i)) / 2h with h = 100, which is what the published NADs are;
- `gradient`: d = ∇ₓ f(x), the formula as printed (paper 2, eq. 2).

Two estimators of the same C (the *method*):

- `plain`: one vector d per network;
- `readout`: the expectation over the last linear layer taken exactly. With f = aᵀφ(x) + b and the entries of a independent,
  of zero mean and variance s², E_a[d dᵀ] = s² JᵀJ, where J holds the derivatives of the features φ. PyTorch draws a linear
  layer's weights uniformly from ±1/√F for F inputs, so s² = 1/(3F).

Where the law of the weights and the layers' geometry do not change under a symmetry P of the square, C at Px is P C Pᵀ, and C
may be averaged over the symmetry if the point x is as likely as Px (point `many` or `zero`) or does not matter (the secant,
whose step of 100 dwarfs it). The gradient at one fixed image has no symmetry: its ReLUs are switched by that image.

This file estimates; which networks, how many and where they are kept is decided elsewhere.
"""

import contextlib
import dataclasses

import numpy as np
import torch
from torch import nn

from pipeline import architectures
from pipeline.seeds import derive, stream

BATCH = 128
"""Images per pass: large enough to fill a core, small enough for its cache."""


@dataclasses.dataclass(frozen=True)
class NADs:
    """The NADs of one architecture and how they were made.

    directions: (K, D) float64, orthonormal rows, index 0 first; eigenvalues: (K,) of C, decreasing;
    error: relative Frobenius distance that the estimate of C is expected to have from the true C (from split halves);
    halves: (2, K), u_kᵀ C_h u_k of each half's estimate C_h along each direction u_k, whose gap is twice the error of λ_k;
    networks: how many untrained networks were averaged;
    estimand, method, step, point: as in params.yaml's `estimator`; symmetry: what C was averaged over.
    """

    directions: np.ndarray
    eigenvalues: np.ndarray
    halves: np.ndarray
    error: float
    networks: int
    estimand: str
    method: str
    step: float
    point: str
    symmetry: str


def evaluation_point(kind, seed, number, dimension):
    """The image x, flattened to (D,) float32, at which network `number` is differentiated.

    kind 'normal': one standard-normal image for all networks; 'many': a new one for each; 'zero': the zero image.
    """
    if kind == "zero":
        return np.zeros(dimension, np.float32)
    parts = ("nads", "evaluation point") + ((number,) if kind == "many" else ())
    return stream(seed, *parts).standard_normal(dimension, dtype=np.float32)


def readout(network, probe):
    """The linear layer that ends `network`, after checking on `probe` (N, C, H, W) that it does.

    Raises ValueError if the network's output is not the output of its last linear layer, or if that layer's weights do not
    look drawn as PyTorch draws them by default (mean and variance within five standard errors of 0 and 1/3F).
    """
    linears = [module for module in network.modules() if isinstance(module, nn.Linear)]
    if linears:
        with torch.no_grad(), _inputs_of(linears[-1]) as seen:
            output = network(probe)
        if len(seen) == 1 and torch.equal(linears[-1](seen[0]), output):
            weights = linears[-1].weight.detach().flatten().double() * (3 * linears[-1].in_features) ** 0.5
            # Of n values uniform with variance 1, the mean varies by 1/√n and the mean square by √(0.8/n).
            if (
                abs(weights.mean()) < 5 / len(weights) ** 0.5
                and abs((weights**2).mean() - 1) < 5 * (0.8 / len(weights)) ** 0.5
            ):
                return linears[-1]
            raise ValueError("the last layer's weights are not drawn as PyTorch draws a linear layer's by default")
    raise ValueError("the network does not end in a linear layer, so its read-out cannot be averaged over exactly")


@contextlib.contextmanager
def _inputs_of(module):
    """Context that gives a list to which every input of `module` is appended."""
    seen = []
    handle = module.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        yield seen
    finally:
        handle.remove()


def features(network, last):
    """The function from images (N, C, H, W) to the inputs (N, F) of the layer `last`."""

    def function(images):
        with _inputs_of(last) as seen:
            network(images)
        return seen[0]

    return function


@torch.no_grad()
def secant(function, point, step, shape):
    """Secants of `function` at x: (F, D), column i = (f(x + h e_i) − f(x − h e_i)) / 2h.

    function: images (N, C, H, W) → (N, F); point: x, (D,); step: h; shape: (C, H, W).
    """
    columns = []
    for start in range(0, len(point), BATCH // 2):
        steps = torch.zeros(min(BATCH // 2, len(point) - start), len(point), dtype=point.dtype)
        steps.diagonal(start).fill_(step)
        images = torch.cat([point + steps, point - steps]).reshape(-1, *shape)
        plus, minus = function(images.contiguous(memory_format=torch.channels_last)).chunk(2)
        columns.append((plus - minus) / (2 * step))
    return torch.cat(columns).T


def gradient(function, point, shape):
    """Gradients of `function` at x: (F, D), row k = ∇ₓ f_k(x).

    function: images (N, C, H, W) → (N, F), each image treated by itself; point: x, (D,); shape: (C, H, W). Row k comes from
    its own copy of x, so that one backward pass gives many rows.
    """
    with torch.no_grad():
        total = function(point.reshape(1, *shape)).shape[1]
    rows = []
    for chosen in torch.arange(total).split(BATCH):
        copies = (
            point.expand(len(chosen), -1)
            .reshape(-1, *shape)
            .contiguous(memory_format=torch.channels_last)
            .requires_grad_()
        )
        (found,) = torch.autograd.grad(function(copies)[torch.arange(len(chosen)), chosen].sum(), copies)
        rows.append(found.reshape(len(chosen), -1))
    return torch.cat(rows)


def derivative(network, estimator, point, shape):
    """Square root of one network's sample of C: (F, D) float32, whose Gram matrix over rows is the sample.

    estimator: params.yaml's block; point: x, (D,); shape: (C, H, W). The network is put in eval mode: batch norm is then the
    identity for untrained weights, dropout is off.
    """
    network.to(memory_format=torch.channels_last).eval()
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    point = torch.as_tensor(point)
    if estimator.method == "readout":
        function = features(network, readout(network, point.reshape(1, *shape)))
    else:
        function = network
    if estimator.estimand == "secant":
        found = secant(function, point, estimator.step, shape).numpy()
    else:
        found = gradient(function, point, shape).numpy()
    return found / np.sqrt(3 * len(found), dtype=np.float32) if estimator.method == "readout" else found


def sample(specification, name, number, seed, estimator):
    """`derivative` of the architecture's network `number`: a function of its arguments alone."""
    shape = architectures.input_shape(1)
    point = evaluation_point(estimator.point, seed, number, int(np.prod(shape)))
    network = architectures.build(specification, shape[0], 1, derive(seed, "nads", name, number))
    return derivative(network, estimator, point, shape)


class Covariance:
    """Running float64 estimate of C (D×D) from the samples of one network after another, kept in two halves."""

    def __init__(self, dimension):
        self.halves = np.zeros((2, dimension, dimension))
        self.count = 0

    def add(self, root):
        """Add one network's root (F, D). The order of the calls decides the last bits, nothing else."""
        root = root.astype(np.float64)
        self.halves[self.count % 2] += root.T @ root
        self.count += 1

    def mean(self):
        """The estimate of C, (D, D)."""
        return self.halves.sum(0) / self.count

    def half_means(self):
        """The estimates of C from the networks of even and of odd number, each (D, D)."""
        return self.halves[0] / ((self.count + 1) // 2), self.halves[1] / (self.count // 2)


def sampling_error(first, second):
    """Expected relative Frobenius distance from C of the mean of two independent estimates: ‖C₁ − C₂‖ / ‖C₁ + C₂‖."""
    return float(np.linalg.norm(first - second) / np.linalg.norm(first + second))


def images_of(symmetry, matrix, shape):
    """The covariance `matrix` (D, D) carried along by each element of a symmetry of the square, the identity first.

    symmetry: 'square' (flips and transposition, 8 elements), 'transposition' (2) or 'none' (1); shape: (C, H, W).
    """
    channels, height, width = shape
    tensor = matrix.reshape(channels, height, width, channels, height, width)
    elements = [tensor]
    if symmetry == "square":
        elements = [np.flip(t, axes) for t in elements for axes in ((), (1, 4), (2, 5), (1, 2, 4, 5))]
    if symmetry in ("square", "transposition"):
        elements += [t.transpose(0, 2, 1, 3, 5, 4) for t in elements]
    return [t.reshape(matrix.shape) for t in elements]


def symmetrised(symmetry, matrix, shape):
    """The covariance `matrix` (D, D) averaged over a symmetry of the square (see `images_of`)."""
    elements = images_of(symmetry, matrix, shape)
    return sum(elements) / len(elements)


def directions_of(covariance, estimator, symmetry, shape):
    """The `NADs` of a `Covariance` averaged over `symmetry`: eigenvectors in decreasing eigenvalue, largest entry positive."""
    halves = [symmetrised(symmetry, half, shape) for half in covariance.half_means()]
    values, vectors = np.linalg.eigh(symmetrised(symmetry, covariance.mean(), shape))
    directions = vectors.T[::-1]
    largest = np.take_along_axis(directions, np.abs(directions).argmax(1)[:, None], 1)
    return NADs(
        directions=np.ascontiguousarray(directions * np.sign(largest)),
        eigenvalues=values[::-1].copy(),
        halves=np.stack([np.einsum("kd,kd->k", directions @ half, directions) for half in halves]),
        error=sampling_error(*halves),
        networks=covariance.count,
        estimand=estimator.estimand,
        method=estimator.method,
        step=estimator.step,
        point=estimator.point,
        symmetry=symmetry,
    )
