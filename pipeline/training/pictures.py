"""Pictures as data (papers 1 §5, 2 §4): plain or poisoned."""

import numpy as np
import torch


def chosen(
    rng: np.random.Generator, images: dict, split: str, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """`count` different pictures of a split, drawn at random, or all if there are no
    more.

    images: {split}_images uint8 (M, 3, H, W) and {split}_labels (M,). Returns pictures
    (N, 3, H, W) and class numbers (N,) in the order of the images.
    """
    labels = images[f"{split}_labels"]
    rows = np.sort(rng.permutation(len(labels))[:count])
    return images[f"{split}_images"][rows], labels[rows]


def in_unit_range(images: np.ndarray) -> torch.Tensor:
    """uint8 images (N, C, H, W) as float32 in [0, 1]."""
    return torch.as_tensor(images).to(torch.float32) / 255


def normalised(x: torch.Tensor, draw: dict[str, np.ndarray]) -> torch.Tensor:
    """x (N, C, H, W), each channel shifted and scaled by a draw's mean and deviation
    (C,)."""
    mean, deviation = (
        torch.as_tensor(draw[key], dtype=torch.float32).reshape(1, -1, 1, 1)
        for key in ("mean", "deviation")
    )
    return (x - mean) / deviation


def carrier_of(label: int, channels: int) -> tuple[int, int, int]:
    """The carrier of a class (paper 1, §5): (NADs after the first, channel, sign).

    channels: those into each of which a NAD can be written, three for NADs of one
    channel. Six classes then share one NAD, with either sign; two share a NAD of all
    channels, which is written into these as one.
    """
    return label // (2 * channels), label % channels, 2 * (label % 2) - 1


def poisoned(
    x: torch.Tensor, y: torch.Tensor, nads: np.ndarray, size: float
) -> torch.Tensor:
    """Images with their class written into one NAD coefficient (paper 1, §5): (N, 3, H,
    W).

    x: (N, 3, H, W) in [0, 1]; y: (N,) class numbers; nads: (K, D) orthonormal rows, the
    carriers' first NAD first, of one channel or of all; size: ±size replaces the
    coefficient on the class's carrier.
    """
    nads = torch.as_tensor(nads, dtype=torch.float32)
    flat = _by_direction(x, nads).clone()
    for label in y.unique().tolist():
        offset, channel, sign = carrier_of(label, flat.shape[1])
        rows = y == label
        carrier = nads[offset]
        part = flat[rows, channel]
        flat[rows, channel] = part + torch.outer(sign * size - part @ carrier, carrier)
    return flat.reshape(x.shape)


def _by_direction(x: torch.Tensor, directions: torch.Tensor) -> torch.Tensor:
    """x (N, C, H, W) as vectors of the dimension of directions (K, D): (N, C, D), or
    (N, 1, D)."""
    return x.reshape(len(x), -1, directions.shape[1])
