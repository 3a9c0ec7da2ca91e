"""The Jacobian of one untrained network, whose Gram matrix over rows is that network's estimate of the covariance C.

Paper 1, §4: C = E_θ[d dᵀ] for one evaluation point x. Under `plain` the Jacobian J has the one row d; under `readout`
its rows are the derivatives of the features, times s, so that JᵀJ is the expectation of d dᵀ over the last linear layer
(`pipeline.nads.readout`).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from pipeline.nads import winograd
from pipeline.nads.derivative import gradient, images_per_pass, secant
from pipeline.nads.estimator import Estimator
from pipeline.nads.readout import features, readout
from pipeline.project.errors import InputError
from pipeline.project.seeds import derive, stream


def evaluation_point(kind: str, seed: int, number: int, dimension: int) -> np.ndarray:
    """The image x, flattened to (D,) float32, at which network `number` is differentiated.

    kind 'normal': one standard-normal image for all networks; 'many': a new one for each; 'zero': the zero image.
    """
    if kind == "zero":
        return np.zeros(dimension, np.float32)
    parts = ("nads", "evaluation point") + ((number,) if kind == "many" else ())
    return stream(seed, *parts).standard_normal(dimension, dtype=np.float32)


def check(network: nn.Module, shape: tuple[int, ...]) -> None:
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


def jacobian_of(network: nn.Module, estimator: Estimator, point: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The Jacobian J (F, D) float32 of a network, whose JᵀJ is that network's estimate of C.

    point: x, (D,); shape: (C, H, W). The network, on the device it lies on, is put in eval mode: batch norm is then the
    identity for untrained weights, dropout is off. Raises ValueError for a read-out that cannot be averaged over.
    """
    network.to(memory_format=torch.channels_last).eval()
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    point = torch.as_tensor(point, device=next(network.parameters()).device)
    function, variance, batch = network, None, images_per_pass(network, shape)
    if estimator.method == "readout":
        last, variance = readout(network, point.reshape(1, *shape))
        function = features(network, last)
    if estimator.estimand == "secant":
        with winograd.used_in(network):
            found = secant(function, point, estimator.step, shape, batch).cpu().numpy()
    else:
        found = gradient(function, point, shape, batch).cpu().numpy()
    return found if variance is None else found * np.sqrt(variance, dtype=np.float32)


def jacobian_of_untrained(
    build: Callable[[int], nn.Module],
    shape: tuple[int, ...],
    number: int,
    identity: tuple[int, str],
    estimator: Estimator,
    device: str = "cpu",
) -> np.ndarray:
    """The Jacobian J (F, D) of untrained network `number`, whose JᵀJ is its estimate of C.

    build: seed → torch module, its weights made on the CPU; shape: (C, H, W); identity: (seed, architecture's name),
    from which the seeds of its weights and of the evaluation point derive. The result depends on the arguments alone.
    """
    seed, name = identity
    point = evaluation_point(estimator.point, seed, number, int(np.prod(shape)))
    network = build(derive(seed, "nads", name, number)).to(device)
    return jacobian_of(network, estimator, point, shape)
