"""Pictures as data (papers 1 §5, 2 §4): plain or poisoned."""

import numpy as np
import torch


def choose(
    rng: np.random.Generator, images: dict, split: str, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Choose different pictures of a split at random, or all if there are no more.

    Args:
        rng: Source of randomness.
        images: {split}_images, uint8 (M, 3, H, W), and {split}_labels, (M,).
        split: 'train' or 'test'.
        count: Number N of pictures.

    Returns:
        Pictures, (N, 3, H, W), and class numbers, (N,), in the order of the images.
    """
    labels = images[f"{split}_labels"]
    rows = np.sort(rng.permutation(len(labels))[:count])
    return images[f"{split}_images"][rows], labels[rows]


def in_unit_range(images: np.ndarray) -> torch.Tensor:
    """uint8 images (N, C, H, W) as float32 in [0, 1]."""
    return torch.as_tensor(images).to(torch.float32) / 255


def normalise(x: torch.Tensor, statistics: dict[str, np.ndarray]) -> torch.Tensor:
    """Shift and scale each channel of pictures.

    Args:
        x: Pictures, (N, C, H, W).
        statistics: 'mean' and 'deviation' of each channel, (C,).

    Returns:
        Pictures, (N, C, H, W).
    """
    mean = torch.as_tensor(statistics["mean"], dtype=torch.float32)
    deviation = torch.as_tensor(statistics["deviation"], dtype=torch.float32)
    return (x - mean.reshape(1, -1, 1, 1)) / deviation.reshape(1, -1, 1, 1)


def carrier_of(label: int, channels: int) -> tuple[int, int, int]:
    """Return a class's carrier (paper 1, §5): (NADs after the first, channel, sign).

    With NADs of one channel and three channels, six classes share one NAD, with either
    sign. With NADs of all channels, two classes do.

    Args:
        label: Number of the class.
        channels: Channels into each of which a NAD can be written; 1 for NADs of all
            channels, which are written into these as one.
    """
    return label // (2 * channels), label % channels, 2 * (label % 2) - 1


def poison(
    x: torch.Tensor, y: torch.Tensor, nads: np.ndarray, size: float
) -> torch.Tensor:
    """Write the class of images into one NAD coefficient of each (paper 1, §5).

    Args:
        x: Images, (N, 3, H, W), in [0, 1].
        y: Class numbers, (N,).
        nads: Orthonormal rows, (K, D), of one channel or of all, the first NAD of the
            carriers first.
        size: Magnitude of the coefficient on the carrier, which replaces the image's.

    Returns:
        Images, (N, 3, H, W).
    """
    nads = torch.as_tensor(nads, dtype=torch.float32)
    flat = x.reshape(len(x), -1, nads.shape[1]).clone()
    for label in y.unique().tolist():
        offset, channel, sign = carrier_of(label, flat.shape[1])
        rows = y == label
        carrier = nads[offset]
        part = flat[rows, channel]
        flat[rows, channel] = part + torch.outer(sign * size - part @ carrier, carrier)
    return flat.reshape(x.shape)
