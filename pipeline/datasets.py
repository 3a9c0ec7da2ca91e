"""Data sets: the linearly separable D(v), their direct sums with each other and with images, channels switched off.

D(v), paper 2 eq. 1:  x = ε y v + w,  w ~ N(0, σ²(I − v vᵀ)),  y ∈ {−1, +1},  ‖v‖ = 1. With g ~ N(0, I) this is
x = σ g + (ε y − σ⟨g, v⟩) v, a rank-one change of one standard-normal draw g, which therefore serves every v, ε and σ.
"""

import numpy as np
import torch

from pipeline.params import SIDE, D


def labels(rng, count):
    """`count` labels drawn uniformly from {−1, +1}, int8."""
    return (2 * rng.integers(0, 2, count) - 1).astype(np.int8)


def normal(rng, count):
    """One draw: (count, D) independent standard-normal numbers, float32."""
    return rng.standard_normal((count, D), dtype=np.float32)


def linearly_separable(draw, y, v, eps, sigma):
    """D(v) as images: (N, 1, 32, 32) float32.

    draw: (N, D) standard normal; y: (N,) in {−1, +1}; v: (D,) unit vector; eps: amplitude ε; sigma: noise σ.
    The component along v is ε y exactly, the rest is noise (paper 2, eq. 1).
    """
    draw, y, v = (torch.as_tensor(a).to(torch.float32) for a in (draw, y, v))
    return (sigma * draw + torch.outer(eps * y - sigma * (draw @ v), v)).reshape(-1, 1, SIDE, SIDE)


def direct_sum(first, second):
    """D₁ ⊕ D₂: channels stacked, (N, C₁ + C₂, 32, 32); the samples are already paired by label."""
    return torch.cat([first, second], 1)


def only(x, channels):
    """A copy of x (N, C, H, W) in which all channels but those in the slice `channels` are switched off (zeros)."""
    kept = torch.zeros_like(x)
    kept[:, channels] = x[:, channels]
    return kept


def binary(classes, number_of_classes):
    """Class numbers as labels: −1 for the first half of the classes (CIFAR-10: < 5), +1 for the rest, int8."""
    return np.where(classes < number_of_classes // 2, -1, 1).astype(np.int8)


def normalised(images, mean, deviation):
    """uint8 images (N, C, H, W) as float32 in [0, 1], each channel then shifted and scaled by (C,) mean and deviation."""
    x = torch.as_tensor(images).to(torch.float32) / 255
    mean, deviation = (torch.as_tensor(a, dtype=torch.float32).reshape(1, -1, 1, 1) for a in (mean, deviation))
    return (x - mean) / deviation
