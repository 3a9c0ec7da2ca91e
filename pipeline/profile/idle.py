"""Weights that hardly affect the output of an untrained network."""

import torch
from torch import nn

from pipeline import networks
from pipeline.networks import Shape, Specification, custom, passes
from pipeline.report.labels import label

SMALL = 1e-3
"""Effect below which weights are idle, relative to the largest effect. Of the built-in
networks only ConvNeXt, with its layer scale of 10⁻⁶, has such weights: 92 % of all."""

SHARE = 0.5
"""Share of idle weights from which a notice says so."""

PASSES = 4  # more than one, because a pass may skip blocks or experts
SAMPLES = 16


def idle_share(network: nn.Module, shape: Shape) -> float:
    """Compute the share of the weights that are idle.

    The effect of a tensor W of weights is ‖W‖·‖∂f/∂W‖. To first order, it is the change
    of f if W changes by as much as its own size. f is a random contrast between the
    outputs at some noise images: what biases or batch norms make alike in all images
    has no part in it. Of several passes the largest effect counts.

    Args:
        network: An untrained network. It gets the gradients of the last pass.
        shape: (C, H, W) of one input.

    Returns:
        A number from 0 to 1; 0 if the output does not depend on any weight. Frozen
        weights and biases are left out.
    """
    weights = [
        weight
        for weight in network.train().parameters()
        if weight.dim() > 1 and weight.requires_grad
    ]
    if not weights:
        return 0.0
    effects = torch.zeros(len(weights))
    for seed in range(PASSES):
        network.zero_grad()
        output = passes.run(network, passes.noise(SAMPLES, shape, seed), seed=seed)
        generator = torch.Generator().manual_seed(seed)
        contrast = torch.randn(output.shape, generator=generator)
        contrast -= contrast.mean(0)
        (contrast * output).sum().backward()
        for position, weight in enumerate(weights):
            if weight.grad is not None:
                effect = weight.detach().norm() * weight.grad.norm()
                effects[position] = max(effects[position], effect)
    sizes = torch.tensor([weight.numel() for weight in weights])
    return float(sizes[effects < SMALL * effects.max()].sum() / sizes.sum())


def find_idle_weights(specification: Specification, shape: Shape) -> list[str]:
    """Return a sentence if most weights of an untrained network are idle.

    Args:
        specification: The network.
        shape: (C, H, W) of one input.

    Raises:
        InputError: If the network does not run, or has no gradient.
    """
    name = label(specification, shape)
    with custom.prefix_all_errors(name):
        network = networks.build(specification, shape[0], 1, 0)
        share = idle_share(network, shape)
    if share < SHARE:
        return []
    return [
        f"{name}: before training, {share:.0%} of the weights hardly affect the "
        "output, for example because blocks start with a small layer scale or a last "
        "layer of zeros; the NADs are those of the rest of the network, and the "
        "trained network may respond to further directions (docs/profile.md)"
    ]
