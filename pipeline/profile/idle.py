"""Weights that hardly affect the output of an untrained network."""

import torch
from torch import nn

from pipeline import networks
from pipeline.networks import Shape, Specification, custom

SMALL = 1e-3
"""Effect below which weights are idle, relative to the largest effect. Of the built-in
networks only ConvNeXt, with its layer scale of 10⁻⁶, has such weights: 92 % of all."""

SHARE = 0.5
"""Share of idle weights from which a notice says so."""

SAMPLES = 8


def idle_share(network: nn.Module, shape: Shape) -> float:
    """Compute the share of the weights that are idle.

    The effect of a tensor W of weights is ‖W‖·‖∂f/∂W‖, where f is the sum of the
    outputs at some noise images: to first order, how much the output changes if W
    changes by as much as its own size. Biases are left out, because they may start at
    zero, and so are frozen weights.

    Args:
        network: An untrained network.
        shape: (C, H, W) of one input.

    Returns:
        A number from 0 to 1; 0 if the output does not depend on any weight.
    """
    weights = [
        weight
        for weight in network.parameters()
        if weight.dim() > 1 and weight.requires_grad
    ]
    if not weights:
        return 0.0
    output = network(custom.noise(SAMPLES, shape)).sum()
    gradients = torch.autograd.grad(output, weights, allow_unused=True)
    effects = torch.zeros(len(weights))
    for position, (weight, gradient) in enumerate(zip(weights, gradients, strict=True)):
        if gradient is not None:
            effects[position] = weight.detach().norm() * gradient.norm()
    sizes = torch.tensor([weight.numel() for weight in weights])
    return float(sizes[effects < SMALL * effects.max()].sum() / sizes.sum())


def find_idle_weights(specification: Specification, shape: Shape) -> list[str]:
    """Return a sentence if most weights of an untrained network are idle.

    Args:
        specification: The network.
        shape: (C, H, W) of one input.
    """
    network = networks.build(specification, shape[0], 1, 0)
    share = idle_share(network.train(), shape)
    if share < SHARE:
        return []
    return [
        f"{share:.0%} of the weights of {specification['network']} hardly affect its "
        "output before training, for example because its blocks start with a small "
        "layer scale; the NADs are those of the rest of the network, and with AdamW it "
        "may learn more (docs/profile.md)"
    ]
