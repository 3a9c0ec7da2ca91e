"""The derivative of a function of images, of the two kinds (*estimands*) that the
papers mean.

- `secant`: d_i = (f(x + h e_i) − f(x − h e_i)) / 2h with h = 100, which is what the
  published NADs are;
- `gradient`: d = ∇ₓ f(x), the formula as printed (paper 2, eq. 2).

Networks from images to images have no single output to differentiate. For them the
estimand `output` uses f(x) itself in place of d, and the eigenvectors are score
anisotropy directions (arXiv 2510.22899).
"""

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

BATCH = 128
"""Images per pass of a CPU at most."""

ACTIVATION = 2**21
"""Values of a layer's output in one pass: 8 MB stay in a processor's cache."""

ACTIVATION_OF_DEVICE = 2**26
"""The same on an accelerator, where each pass costs the start of its kernels: 256 MB,
of which the graph of a gradient holds 18 at once for ResNet-18, 38 for DenseNet-121
(choice; its speed is unmeasured)."""

Function = Callable[[torch.Tensor], torch.Tensor]
"""From images (N, C, H, W) to features (N, F), each image treated by itself."""


def images_per_pass(network: nn.Module, shape: tuple[int, ...]) -> int:
    """Choose the number of images in one pass through a network.

    Args:
        network: The network.
        shape: (C, H, W) of one image.
    """
    sizes = [math.prod(shape)]

    def note_size(module, inputs, output):
        if isinstance(output, torch.Tensor):
            sizes.append(output.numel())

    device = next(network.parameters()).device
    with register_module_forward_hook(note_size), torch.no_grad():
        network(torch.zeros(1, *shape, device=device))
    if device.type != "cpu":
        return max(1, ACTIVATION_OF_DEVICE // max(sizes))
    return max(1, min(BATCH, ACTIVATION // max(sizes)))


@torch.no_grad()
def secant(
    function: Function,
    point: torch.Tensor,
    step: float,
    shape: tuple[int, ...],
    batch: int = BATCH,
) -> torch.Tensor:
    """Compute the secants at the image x.

    Args:
        function: f.
        point: x, (D,).
        step: h, in units of the input.
        shape: (C, H, W) of one image.
        batch: Images per pass.

    Returns:
        (F, D), whose column i is (f(x + h e_i) − f(x − h e_i)) / 2h.
    """
    columns = []
    pixels = max(1, batch // 2)
    for start in range(0, len(point), pixels):
        count = min(pixels, len(point) - start)
        steps = point.new_zeros(count, len(point))
        steps.diagonal(start).fill_(step)
        images = torch.cat([point + steps, point - steps]).reshape(-1, *shape)
        images = images.contiguous(memory_format=torch.channels_last)
        plus, minus = function(images).chunk(2)
        columns.append((plus - minus) / (2 * step))
    return torch.cat(columns).T


def gradient(
    function: Function,
    point: torch.Tensor,
    shape: tuple[int, ...],
    batch: int = BATCH,
) -> torch.Tensor:
    """Compute the gradients at the image x.

    One backward pass through copies of x gives many rows.

    Args:
        function: f.
        point: x, (D,).
        shape: (C, H, W) of one image.
        batch: Images per pass.

    Returns:
        (F, D), whose row k is ∇ₓ f_k(x).
    """
    with torch.no_grad():
        count = function(point.reshape(1, *shape)).shape[1]
    rows = []
    for features in torch.arange(count, device=point.device).split(batch):
        copies = point.expand(len(features), -1).reshape(-1, *shape)
        copies = copies.contiguous(memory_format=torch.channels_last).requires_grad_()
        numbers = torch.arange(len(features), device=point.device)
        values = function(copies)[numbers, features]
        (derivatives,) = torch.autograd.grad(values.sum(), copies)
        rows.append(derivatives.reshape(len(features), -1))
    return torch.cat(rows)
