"""The input derivative of one untrained network, as a square root of its sample of the covariance C.

Paper 1, §4: C = E_θ[d dᵀ] for one evaluation point x. Two different derivatives d carry the name *gradient* in the papers;
both are here under names of their own (the *estimand*):

- `secant`: d_i = (f(x + h e_i) − f(x − h e_i)) / 2h with h = 100, which is what the published NADs are;
- `gradient`: d = ∇ₓ f(x), the formula as printed (paper 2, eq. 2).

Two samples of the same C (the *method*):

- `plain`: one vector d per network;
- `readout`: the expectation over the last linear layer taken exactly. With f = aᵀφ(x) + b and the entries of a independent,
  of zero mean and variance s², E_a[d dᵀ] = s² JᵀJ, where J holds the derivatives of the features φ. PyTorch draws a linear
  layer's weights uniformly from ±1/√F for F inputs, so s² = 1/3F.
"""

import contextlib
import dataclasses

import numpy as np
import torch
from torch import nn

from pipeline.nads import winograd
from pipeline.project.errors import InputError
from pipeline.project.seeds import stream

BATCH = 128
"""Images per pass at most."""

ACTIVATION = 2**21
"""Values that a layer's output may hold in one pass: 8 MB, about what stays in a processor's cache. ResNet-18 at 32 images a
pass instead of 128 takes 0.86 of the time (`benchmarks/nads.py`), where LeNet's small maps want the 128.
"""


def evaluation_point(kind, seed, number, dimension):
    """The image x, flattened to (D,) float32, at which network `number` is differentiated.

    kind 'normal': one standard-normal image for all networks; 'many': a new one for each; 'zero': the zero image.
    """
    if kind == "zero":
        return np.zeros(dimension, np.float32)
    parts = ("nads", "evaluation point") + ((number,) if kind == "many" else ())
    return stream(seed, *parts).standard_normal(dimension, dtype=np.float32)


def readout(network, probe):
    """The linear layer that ends `network` and the variance s² of its weights, after checking on `probe` (N, C, H, W).

    s² is 1/3F where the weights look drawn as PyTorch draws a linear layer's by default (mean square within five standard
    errors); otherwise their own mean square, whose expectation is s² whatever the law, so that C stays exact on average.
    Raises ValueError if the output is not that of the last linear layer, or if that layer's weights do not look independent
    with zero mean (mean and neighbours' product within five standard errors of 0).
    """
    linears = [module for module in network.modules() if isinstance(module, nn.Linear)]
    if linears:
        with torch.no_grad(), _inputs_of(linears[-1]) as seen:
            output = network(probe)
        if len(seen) == 1 and torch.equal(linears[-1](seen[0]), output):
            weights, inputs = linears[-1].weight.detach().flatten().double(), linears[-1].in_features
            square, error = float((weights**2).mean()), 5 / len(weights) ** 0.5
            if not square or abs(weights.mean()) > error * square**0.5:
                raise ValueError("the last layer's weights do not have zero mean")
            if abs((weights[1:] * weights[:-1]).mean()) > error * square:
                raise ValueError("the last layer's weights are not independent")
            # Of n uniform values, the mean square varies by √(0.8/n) of itself.
            usual = 1 / (3 * inputs)
            return linears[-1], usual if abs(square / usual - 1) < error * 0.8**0.5 else square
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


def check(network, shape):
    """Raise InputError unless `network` maps inputs of `shape` (C, H, W) to one output each."""
    size = "×".join(map(str, shape))
    try:
        with torch.no_grad():
            found = tuple(network.eval()(torch.zeros(2, *shape)).shape)
    except (RuntimeError, ValueError, AssertionError, IndexError) as error:
        sentence = " ".join(str(error).split())
        raise InputError(f"the network does not take inputs of {size}: {sentence}") from None
    if found != (2, 1):
        raise InputError(f"the network maps two inputs of {size} to {found}, not to (2, 1)")


def usable(network, estimator, shape):
    """`estimator` itself, or with `plain` in place of a `readout` that this network does not allow, and the reason or None.

    network: a torch module for inputs of `shape` (C, H, W), put in eval mode.
    """
    if estimator.method == "readout":
        try:
            readout(network.eval(), torch.zeros(1, *shape))
        except ValueError as error:
            return dataclasses.replace(estimator, method="plain"), str(error)
    return estimator, None


def features(network, last):
    """The function from images (N, C, H, W) to the inputs (N, F) of the layer `last`."""

    def function(images):
        with _inputs_of(last) as seen:
            network(images)
        return seen[0]

    return function


def batch_of(network, shape):
    """Images of `shape` (C, H, W) in one pass: up to `BATCH`, as long as the largest layer's output keeps to `ACTIVATION`."""
    sizes = [int(np.prod(shape))]
    note = lambda module, inputs, output: sizes.append(output.numel() if isinstance(output, torch.Tensor) else 0)
    handles = [module.register_forward_hook(note) for module in network.modules()]
    try:
        with torch.no_grad():
            network(torch.zeros(1, *shape, device=next(network.parameters()).device))
    finally:
        for handle in handles:
            handle.remove()
    return max(1, min(BATCH, ACTIVATION // max(sizes)))


@torch.no_grad()
def secant(function, point, step, shape, batch=BATCH):
    """Secants of `function` at x: (F, D), column i = (f(x + h e_i) − f(x − h e_i)) / 2h.

    function: images (N, C, H, W) → (N, F); point: x, (D,); step: h; shape: (C, H, W); batch: images per pass.
    """
    columns, pixels = [], max(1, batch // 2)
    for start in range(0, len(point), pixels):
        steps = torch.zeros(min(pixels, len(point) - start), len(point), dtype=point.dtype, device=point.device)
        steps.diagonal(start).fill_(step)
        images = torch.cat([point + steps, point - steps]).reshape(-1, *shape)
        plus, minus = function(images.contiguous(memory_format=torch.channels_last)).chunk(2)
        columns.append((plus - minus) / (2 * step))
    return torch.cat(columns).T


def gradient(function, point, shape, batch=BATCH):
    """Gradients of `function` at x: (F, D), row k = ∇ₓ f_k(x).

    function: images (N, C, H, W) → (N, F), each image treated by itself; point: x, (D,); shape: (C, H, W); batch: images per
    pass. Row k comes from its own copy of x, so that one backward pass gives many rows.
    """
    with torch.no_grad():
        total = function(point.reshape(1, *shape)).shape[1]
    rows = []
    for chosen in torch.arange(total, device=point.device).split(batch):
        copies = (
            point.expand(len(chosen), -1)
            .reshape(-1, *shape)
            .contiguous(memory_format=torch.channels_last)
            .requires_grad_()
        )
        (found,) = torch.autograd.grad(
            function(copies)[torch.arange(len(chosen), device=point.device), chosen].sum(), copies
        )
        rows.append(found.reshape(len(chosen), -1))
    return torch.cat(rows)


def derivative(network, estimator, point, shape):
    """Square root of one network's sample of C: (F, D) float32, whose Gram matrix over rows is the sample.

    estimator: params.yaml's block; point: x, (D,); shape: (C, H, W). The network, on the device it lies on, is put in eval
    mode: batch norm is then the identity for untrained weights, dropout is off.
    """
    network.to(memory_format=torch.channels_last).eval()
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    point = torch.as_tensor(point, device=next(network.parameters()).device)
    function, variance, batch = network, None, batch_of(network, shape)
    if estimator.method == "readout":
        last, variance = readout(network, point.reshape(1, *shape))
        function = features(network, last)
    if estimator.estimand == "secant":
        with winograd.used_in(network):
            found = secant(function, point, estimator.step, shape, batch).cpu().numpy()
    else:
        found = gradient(function, point, shape, batch).cpu().numpy()
    return found if variance is None else found * np.sqrt(variance, dtype=np.float32)
