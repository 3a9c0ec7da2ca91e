"""The derivative of a function of images, of the two kinds (*estimands*) that the
papers mean.

- `secant`: d_i = (f(x + h e_i) − f(x − h e_i)) / 2h with h = 100, which is what the
  published NADs are;
- `gradient`: d = ∇ₓ f(x), the formula as printed (paper 2, eq. 2).

Networks from images to images have no single output to derive. Of them `output` takes
f(x) itself in the place of d, and the eigenvectors are score anisotropy directions
(arXiv 2510.22899).
"""

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

BATCH = 128  # images per pass of a CPU at most
ACTIVATION = (
    2**21
)  # values of a layer's output in one pass: 8 MB stay in a processor's cache
ACTIVATION_OF_DEVICE = 2**26
"""The same on an accelerator, where each pass costs the start of its kernels: 256 MB,
of which the graph of a gradient holds 18 at once for ResNet-18, 38 for DenseNet-121
(choice; its speed is unmeasured)."""


def images_per_pass(network: nn.Module, shape: tuple[int, ...]) -> int:
    """Images of `shape` (C, H, W) in one pass through `network`."""
    sizes = [math.prod(shape)]

    def note(module, inputs, output):
        if isinstance(output, torch.Tensor):
            sizes.append(output.numel())

    device = next(network.parameters()).device
    with register_module_forward_hook(note), torch.no_grad():
        network(torch.zeros(1, *shape, device=device))
    if device.type != "cpu":
        return max(1, ACTIVATION_OF_DEVICE // max(sizes))
    return max(1, min(BATCH, ACTIVATION // max(sizes)))


@torch.no_grad()
def secant(
    function: Callable[[torch.Tensor], torch.Tensor],
    point: torch.Tensor,
    step: float,
    shape: tuple[int, ...],
    batch: int = BATCH,
) -> torch.Tensor:
    """The secants (F, D) at the image x: column i is (f(x + h e_i) − f(x − h e_i)) /
    2h.

    function: images (N, C, H, W) → (N, F); point: x, (D,); step: h; batch: images per
    pass.
    """
    columns = []
    pixels = max(1, batch // 2)
    for start in range(0, len(point), pixels):
        steps = torch.zeros(
            min(pixels, len(point) - start),
            len(point),
            dtype=point.dtype,
            device=point.device,
        )
        steps.diagonal(start).fill_(step)
        images = torch.cat([point + steps, point - steps]).reshape(-1, *shape)
        plus, minus = function(
            images.contiguous(memory_format=torch.channels_last)
        ).chunk(2)
        columns.append((plus - minus) / (2 * step))
    return torch.cat(columns).T


def gradient(
    function: Callable[[torch.Tensor], torch.Tensor],
    point: torch.Tensor,
    shape: tuple[int, ...],
    batch: int = BATCH,
) -> torch.Tensor:
    """The gradients (F, D) at the image x: row k is ∇ₓ f_k(x).

    function: images (N, C, H, W) → (N, F), each image treated by itself, so that one
    backward pass through copies of x gives many rows; point: x, (D,); batch: images per
    pass.
    """
    with torch.no_grad():
        features = function(point.reshape(1, *shape)).shape[1]
    rows = []
    for chosen in torch.arange(features, device=point.device).split(batch):
        copies = point.expand(len(chosen), -1).reshape(-1, *shape)
        copies = copies.contiguous(memory_format=torch.channels_last).requires_grad_()
        values = function(copies)[
            torch.arange(len(chosen), device=point.device), chosen
        ]
        (derivatives,) = torch.autograd.grad(values.sum(), copies)
        rows.append(derivatives.reshape(len(chosen), -1))
    return torch.cat(rows)
