"""Forward passes of a network at noise, in the memory format that it needs."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pipeline.networks.custom import prefix_all_errors, usual_defaults
from pipeline.project.errors import InputError, prefix_errors
from pipeline.training.shapes import Shape, as_text

ROUNDING = 1e-4
"""Relative distance up to which outputs are equal."""

Build = Callable[[int], nn.Module]
"""Builds a network from a seed."""


def noise(count: int, shape: Shape, seed: int = 0) -> Tensor:
    """Return standard-normal images in channels last.

    Args:
        count: Number of images.
        shape: (C, H, W) of one image.
        seed: Seed of the noise.
    """
    channels, height, width = shape
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(count, height, width, channels, generator=generator)
    return images.movedim(3, 1)


def run(
    network: nn.Module,
    x: Tensor,
    output_shape: tuple[int, ...] | None = None,
    seed: int = 0,
) -> Tensor:
    """Return the float32 outputs of a network in its present mode.

    Args:
        network: The network.
        x: Images (N, C, H, W).
        output_shape: Shape of one image's outputs, or None for any.
        seed: Seed of PyTorch's generator during the pass.

    Raises:
        InputError: If the pass fails or returns something else.
    """
    with prefix_all_errors(f"forward pass on inputs {as_text(x.shape)}"):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            output = network(x)
        if not isinstance(output, Tensor):
            raise InputError(
                f"it returns a {type(output).__name__}, not one tensor; wrap the "
                "network in a module that returns only its outputs, or set an argument "
                "that leaves out the rest (torchvision: aux_logits: false)",
                "network-output",
            )
        if output_shape is not None:
            expected = (len(x), *output_shape)
            if output.shape != expected:
                raise InputError(
                    f"it returns {tuple(output.shape)}, not {expected}; build it with "
                    f"{output_shape[0]} output{'s' * (output_shape[0] > 1)}",
                    "network-output",
                    shape=tuple(output.shape),
                )
        if output.is_complex():
            raise InputError(
                "it returns complex numbers; return real ones, such as their absolute "
                "values",
                "network-output",
            )
    return output.float()


def batch_norms(network: nn.Module) -> list[nn.Module]:
    """Return a network's batch-norm layers."""
    kind = nn.modules.batchnorm._BatchNorm
    return [module for module in network.modules() if isinstance(module, kind)]


def needs_contiguous(
    name: str, build: Build, build_contiguous: Build, shape: Shape
) -> bool:
    """Return whether a network needs PyTorch's default memory format.

    Such a network does not run, or computes something else, in channels last. Examples
    are `view` after a convolution, `as_strided` and parameters of five
    dimensions.

    Args:
        name: Name of the network in messages.
        build: Builds the network from a seed.
        build_contiguous: Builds the same network `contiguous`.
        shape: (C, H, W) of one input.

    Raises:
        InputError: If the network does not run in the default memory format either.
    """
    x = noise(2, shape)
    network = build_contiguous(0)
    with usual_defaults():
        with prefix_errors(f"{name}: "):
            output = _try_passes(network, x)
        try:
            network = build(0).to(memory_format=torch.channels_last)
            return not equal(_try_passes(network, x), output)
        except Exception:
            return True


def _try_passes(network: nn.Module, x: Tensor) -> Tensor:
    """Return the outputs in eval mode, after passes in both modes and directions."""
    output = run(network.eval(), x)
    train_output = run(network.train(), x)
    with prefix_all_errors("backward pass"):
        if train_output.requires_grad:
            train_output.sum().backward()
    return output.detach()


def distance(a: Tensor, b: Tensor) -> float:
    """Return the distance of outputs relative to the larger; NaN if not finite."""
    size = max(a.norm(), b.norm(), torch.tensor(1e-30))
    return float((a - b).norm() / size)


def equal(a: Tensor, b: Tensor) -> bool:
    """Return whether outputs are finite and equal up to `ROUNDING`."""
    return a.shape == b.shape and distance(a, b) <= ROUNDING
