"""The Jacobian J of one untrained network, whose JᵀJ is that network's estimate of C.

Under `plain`, J has the one row d. Under `readout`, its rows are the derivatives of the
features, times s (`pipeline.nads.readout`).
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from pipeline.nads.derivative import gradient, images_per_pass, secant
from pipeline.nads.estimator import Estimator
from pipeline.nads.readout import calls_of, find_readout
from pipeline.training.seeds import derive, stream


def evaluation_point(kind: str, seed: int, number: int, dimension: int) -> np.ndarray:
    """Return the image x at which a network is differentiated.

    Args:
        kind: 'normal', 'many' or 'zero', see `pipeline.nads.estimator.Estimator`.
        seed: Seed of all points of an estimate.
        number: Number of the network.
        dimension: D.

    Returns:
        x, flattened to (D,) float32.
    """
    if kind == "zero":
        return np.zeros(dimension, np.float32)
    if kind == "many":
        generator = stream(seed, "nads", "evaluation point", number)
    else:
        generator = stream(seed, "nads", "evaluation point")
    return generator.standard_normal(dimension, dtype=np.float32)


def jacobian_of(
    network: nn.Module, estimator: Estimator, point: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """Compute the Jacobian of a network, which is put in eval mode.

    Args:
        network: The network, on its device.
        estimator: The derivative and the method.
        point: x, (D,).
        shape: (C, H, W) of one input.

    Returns:
        J, (F, D) float32. For the estimand `output` it is the one row f(x).

    Raises:
        ValueError: For a read-out that cannot be averaged over.
    """
    network.to(memory_format=torch.channels_last).eval()
    for parameter in network.parameters():  # scripted networks have no `requires_grad_`
        parameter.requires_grad_(False)
    point = torch.as_tensor(point, device=next(network.parameters()).device)
    if estimator.estimand == "output":
        with torch.no_grad():
            return network(point.reshape(1, *shape)).flatten(1).float().cpu().numpy()
    function = network
    scale = np.float32(1)
    batch = images_per_pass(network, shape)
    if estimator.method == "readout":
        last, variance = find_readout(network, shape)

        def features_of(images):
            ((features, _),), _ = calls_of(last, network, images)
            return features

        function = features_of
        scale = np.sqrt(variance, dtype=np.float32)
    if estimator.estimand == "secant":
        jacobian = secant(function, point, estimator.step, shape, batch)
    else:
        jacobian = gradient(function, point, shape, batch)
    return jacobian.float().cpu().numpy() * scale


@dataclasses.dataclass(frozen=True)
class Sampler:
    """A function from the number of an untrained network to its Jacobian J (F, D).

    Attributes:
        build: Builds a network from a seed, its weights drawn on the CPU.
        shape: (C, H, W) of one input.
        identity: Seed of the estimate and name of the architecture, from which the
            seeds of weights and evaluation points derive.
        estimator: The derivative and the method.
        device: Where the networks run.
    """

    build: Callable[[int], nn.Module]
    shape: tuple[int, ...]
    identity: tuple[int, str]
    estimator: Estimator
    device: str = "cpu"

    def __call__(self, number: int) -> np.ndarray:
        """Return the Jacobian of the network with this number."""
        return self.jacobian(number, self.make_network(number))

    def make_network(self, number: int) -> nn.Module:
        """Build the network with this number, on the CPU."""
        seed, name = self.identity
        return self.build(derive(seed, "nads", name, number))

    def jacobian(self, number: int, network: nn.Module) -> np.ndarray:
        """Return the Jacobian of a network.

        Args:
            number: Its number.
            network: The result of `make_network`.
        """
        seed, _ = self.identity
        dimension = math.prod(self.shape)
        point = evaluation_point(self.estimator.point, seed, number, dimension)
        network = network.to(self.device)
        return jacobian_of(network, self.estimator, point, self.shape)
