"""3×3 convolutions with a quarter of the multiplications: Winograd's F(4×4, 3×3), for forward passes on a CPU.

A tile of 4×4 outputs Y depends on a tile of 6×6 inputs d and the filter g by Y = Aᵀ[(G g Gᵀ) ∘ (Bᵀ d B)]A (Lavin and
Gray, arXiv 1509.09308, §4.3): 36 products where the definition takes 144, each of them a product of matrices over the
channels. It is the same function; in float32 its result is off by about 3·10⁻⁶ of its size, a direct convolution's by
10⁻⁶. The sums that make and unmake the tiles cost as much as they save below about 128 channels, so smaller layers stay
as they are.
"""

import contextlib
from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import nn

TILE = 4
"""Side of a tile of outputs."""

CHANNELS = 128
"""Channels, in and out, from which a layer is faster this way."""

FILTER_TRANSFORM = (
    (1 / 4, 0, 0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0, 0, 1),
)
"""G of the paper, (6, 3)."""


def _input_transform(d: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Bᵀd: six sums of the six slices along one side of an input tile."""
    even, odd = d[4] - 4 * d[2], d[3] - 4 * d[1]
    outer, inner = d[4] - d[2], 2 * (d[3] - d[1])
    return 4 * d[0] - 5 * d[2] + d[4], even + odd, even - odd, outer + inner, outer - inner, 4 * d[1] - 5 * d[3] + d[5]


def _output_transform(m: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Aᵀm: the four slices along one side of an output tile, from six along that of the products."""
    near, far = m[1] + m[2], m[3] + m[4]
    near_difference, far_difference = m[1] - m[2], m[3] - m[4]
    return (
        m[0] + near + far,
        near_difference + 2 * far_difference,
        near + 4 * far,
        near_difference + 8 * far_difference + m[5],
    )


def transformed_filters(weight: torch.Tensor) -> torch.Tensor:
    """The filters as `convolution` multiplies with them, G g Gᵀ: (36, C, O), from `weight` (O, C, 3, 3)."""
    g = torch.tensor(FILTER_TRANSFORM, dtype=weight.dtype)
    return torch.einsum("ai,ocij,bj->abco", g, weight, g).flatten(0, 1).contiguous()


def convolution(x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """The convolution (N, O, H, W) of x (N, C, H, W) with 3×3 filters and padding 1, both channels last.

    filters: (36, C, O), from `transformed_filters`; H and W must be multiples of 4.
    """
    count, channels, height, width = x.shape
    outputs, side = filters.shape[2], TILE + 2
    down, across = height // TILE, width // TILE
    padded = F.pad(x.permute(0, 2, 3, 1), (0, 0, 1, 1, 1, 1))
    # Slice k of all tiles along one side is every fourth row (then column) from the k-th on.
    slices = [slice(k, k + TILE * (down - 1) + 1, TILE) for k in range(side)]
    rows = _input_transform([padded[:, s] for s in slices])
    slices = [slice(k, k + TILE * (across - 1) + 1, TILE) for k in range(side)]
    tiles = x.new_empty(side, side, count, down, across, channels)
    for k, row in enumerate(rows):
        for j, part in enumerate(_input_transform([row[:, :, s] for s in slices])):
            tiles[k, j] = part
    products = torch.bmm(tiles.view(side**2, -1, channels), filters).view(side, side, count, down, across, outputs)
    result = x.new_empty(count, down, TILE, across, TILE, outputs)
    for k, row in enumerate(_output_transform(products)):
        for j, part in enumerate(_output_transform(row)):
            result[:, :, k, :, j] = part
    if bias is not None:
        result += bias
    return result.view(count, height, width, outputs).permute(0, 3, 1, 2)


def _suits(layer: nn.Module) -> bool:
    """Whether a layer is a convolution that is faster this way."""
    return (
        type(layer) is nn.Conv2d
        and (layer.kernel_size, layer.stride, layer.padding, layer.dilation) == ((3, 3), (1, 1), (1, 1), (1, 1))
        and layer.groups == 1
        and layer.padding_mode == "zeros"
        and min(layer.in_channels, layer.out_channels) >= CHANNELS
        and layer.weight.device.type == "cpu"
        and layer.weight.dtype == torch.float32
    )


@contextlib.contextmanager
def used_in(network: nn.Module) -> Iterator[None]:
    """Context in which the layers of `network` that suit it convolve this way, without gradients.

    Inputs whose sides are no multiples of 4 take the direct way. The weights must stay as they are meanwhile.
    """
    layers = [layer for layer in network.modules() if _suits(layer)]

    def forward_of(layer, filters):
        def forward(x):
            if x.shape[2] % TILE or x.shape[3] % TILE:
                return nn.Conv2d.forward(layer, x)
            return convolution(x, filters, layer.bias)

        return forward

    with torch.no_grad():
        for layer in layers:
            layer.forward = forward_of(layer, transformed_filters(layer.weight))
        try:
            yield
        finally:
            for layer in layers:
                del layer.forward
