"""The derivative of a function of images, of the two kinds that the papers call *gradient* (the *estimand*).

- `secant`: d_i = (f(x + h e_i) − f(x − h e_i)) / 2h with h = 100, which is what the published NADs are;
- `gradient`: d = ∇ₓ f(x), the formula as printed (paper 2, eq. 2).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

BATCH = 128
"""Images per pass at most."""

ACTIVATION = 2**21
"""Values that a layer's output may hold in one pass: 8 MB, about what stays in a processor's cache.

ResNet-18 at 32 images a pass instead of 128 takes 0.86 of the time (`benchmarks/nads.py`), where LeNet's small maps
want the 128.
"""


def images_per_pass(network: nn.Module, shape: tuple[int, ...]) -> int:
    """Images of `shape` (C, H, W) in one pass: at most `BATCH`, and no layer's output beyond `ACTIVATION`."""
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
def secant(
    function: Callable[[torch.Tensor], torch.Tensor],
    point: torch.Tensor,
    step: float,
    shape: tuple[int, ...],
    batch: int = BATCH,
) -> torch.Tensor:
    """The secants (F, D) of a function with F values at the image x: column i is (f(x + h e_i) − f(x − h e_i)) / 2h.

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


def gradient(
    function: Callable[[torch.Tensor], torch.Tensor], point: torch.Tensor, shape: tuple[int, ...], batch: int = BATCH
) -> torch.Tensor:
    """The gradients (F, D) of a function with F values at the image x: row k is ∇ₓ f_k(x).

    function: images (N, C, H, W) → (N, F), each image treated by itself; point: x, (D,); shape: (C, H, W); batch:
    images per pass. Row k comes from its own copy of x, so that one backward pass gives many rows.
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
