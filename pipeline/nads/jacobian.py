"""The Jacobian J of one untrained network, whose JᵀJ is that network's estimate of C.

Under `plain` J has the one row d; under `readout` its rows are the derivatives of the
features, times s (`pipeline.nads.readout`).
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from pipeline.nads.derivative import gradient, images_per_pass, secant
from pipeline.nads.estimator import Estimator
from pipeline.nads.readout import inputs_of, readout
from pipeline.training.seeds import derive, stream


def evaluation_point(kind: str, seed: int, number: int, dimension: int) -> np.ndarray:
    """The image x, flattened to (D,) float32, at which network `number` is
    differentiated."""
    if kind == "zero":
        return np.zeros(dimension, np.float32)
    parts = ("nads", "evaluation point") + ((number,) if kind == "many" else ())
    return stream(seed, *parts).standard_normal(dimension, dtype=np.float32)


def jacobian_of(
    network: nn.Module, estimator: Estimator, point: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """The Jacobian J (F, D) float32 of a network, which is put in eval mode.

    For the estimand `output` it is the one row f(x). point: x, (D,); shape: (C, H, W).
    Raises ValueError for a read-out that cannot be averaged over.
    """
    network.to(memory_format=torch.channels_last).eval()
    for parameter in network.parameters():  # scripted networks have no `requires_grad_`
        parameter.requires_grad_(False)
    point = torch.as_tensor(point, device=next(network.parameters()).device)
    if estimator.estimand == "output":
        with torch.no_grad():
            return network(point.reshape(1, *shape)).flatten(1).cpu().numpy()
    function = network
    scale = np.float32(1)
    batch = images_per_pass(network, shape)
    if estimator.method == "readout":
        last, variance = readout(network, shape)

        def function(images):
            return inputs_of(last, network, images)[0][0]  # the features φ

        scale = np.sqrt(variance, dtype=np.float32)
    if estimator.estimand == "secant":
        jacobian = secant(function, point, estimator.step, shape, batch)
    else:
        jacobian = gradient(function, point, shape, batch)
    return jacobian.cpu().numpy() * scale


@dataclasses.dataclass(frozen=True)
class Sampler:
    """From the number of an untrained network to its Jacobian J (F, D), which nothing
    else decides.

    build: seed → torch module, its weights made on the CPU; shape: (C, H, W); identity:
    (seed, architecture's name), from which the seeds of its weights and of the
    evaluation point derive.
    """

    build: Callable[[int], nn.Module]
    shape: tuple[int, ...]
    identity: tuple[int, str]
    estimator: Estimator
    device: str = "cpu"

    def __call__(self, number: int) -> np.ndarray:
        seed, name = self.identity
        point = evaluation_point(
            self.estimator.point, seed, number, int(np.prod(self.shape))
        )
        network = self.build(derive(seed, "nads", name, number)).to(self.device)
        return jacobian_of(network, self.estimator, point, self.shape)
