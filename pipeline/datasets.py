"""Data sets: the linearly separable D(v), direct sums, channels switched off; images chosen, poisoned, flipped, replaced.

D(v), paper 2 eq. 1:  x = ε y v + w,  w ~ N(0, σ²(I − v vᵀ)),  y ∈ {−1, +1},  ‖v‖ = 1. With g ~ N(0, I) this is
x = σ g + (ε y − σ⟨g, v⟩) v, a rank-one change of one standard-normal draw g, which therefore serves every v, ε and σ.
"""

import numpy as np
import torch

from pipeline.params import SIDE, D
from pipeline.seeds import stream


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


def draws(seed, name, train_samples, test_samples, channels):
    """One seed's labels (N,) and draws (N, channels, D) of both splits, for the experiment `name`."""
    arrays = {}
    for split, count in (("train", train_samples), ("test", test_samples)):
        rng = stream(seed, name, split)
        arrays[f"{split}_labels"] = labels(rng, count)
        arrays[f"{split}_normal"] = np.stack([normal(rng, count) for _ in range(channels)], 1)
    return arrays


def at_indices(params, nads):
    """The NADs of every architecture of a grid at its indices, by '{architecture}-{index}'."""
    return {
        f"{name}-{index}": nads(name)["directions"][index]
        for name, plan in params.grid.networks.items()
        for index in plan.indices
    }


def direct_sum(first, second):
    """D₁ ⊕ D₂: channels stacked, (N, C₁ + C₂, 32, 32); the samples are already paired by label."""
    return torch.cat([first, second], 1)


def only(x, channels):
    """A copy of x (N, C, H, W) in which all channels but those in the slice `channels` are switched off (zeros)."""
    kept = torch.zeros_like(x)
    kept[:, channels] = x[:, channels]
    return kept


def with_channels_alone(x, y, channels):
    """Yield (name, x, y) of 'all' channels and of each group of `channels` (name → slice) alone."""
    yield "all", x, y
    for name, kept in channels.items():
        yield name, only(x, kept), y


def chosen(rng, available, count):
    """`count` different numbers below `available`, or all of them where there are no more, in increasing order, int32."""
    return np.sort(rng.permutation(available)[:count]).astype(np.int32)


def binary(classes, number_of_classes):
    """Class numbers as labels: −1 for the first half of the classes (CIFAR-10: < 5), +1 for the rest, int8."""
    return np.where(classes < number_of_classes // 2, -1, 1).astype(np.int8)


def in_unit_range(images):
    """uint8 images (N, C, H, W) as float32 in [0, 1]."""
    return torch.as_tensor(images).to(torch.float32) / 255


def normalised(x, mean, deviation):
    """x (N, C, H, W), each channel shifted and scaled by (C,) mean and deviation."""
    mean, deviation = (torch.as_tensor(a, dtype=torch.float32).reshape(1, -1, 1, 1) for a in (mean, deviation))
    return (x - mean) / deviation


def carrier_of(label):
    """The carrier of a class (paper 1, §5): (NADs after the first, channel, sign).

    Six carriers share one NAD: three channels with either sign. The next classes take the next NAD.
    """
    return label // 6, label % 3, 2 * (label % 2) - 1


def poisoned(x, y, nads, size):
    """Images with their class written into one NAD coefficient (paper 1, §5): (N, 3, H, W).

    x: (N, 3, H, W) in [0, 1]; y: (N,) class numbers; nads: (K, D) orthonormal rows, K the number of NADs that the classes
    need; size: the coefficient on a class's carrier is replaced by ±size.
    """
    flat, nads = x.flatten(2).clone(), torch.as_tensor(nads, dtype=torch.float32)
    for label in y.unique().tolist():
        offset, channel, sign = carrier_of(label)
        rows, carrier = y == label, nads[offset]
        part = flat[rows, channel]
        flat[rows, channel] = part + torch.outer(sign * size - part @ carrier, carrier)
    return flat.reshape(x.shape)


def flipped(x, basis):
    """x' = Uᵀ flip(U x), channel by channel: the coefficient on the first NAD moves to the last (paper 1, §5, table 1).

    x: (N, C, H, W); basis: U, (D, D) with NADs as rows.
    """
    basis = torch.as_tensor(basis, dtype=torch.float32)
    return ((x.flatten(2) @ basis.T).flip(-1) @ basis).reshape(x.shape)


def scaled_along(x, rows, factor):
    """x with its components along orthonormal `rows` (K, D) multiplied by `factor`, channel by channel: (N, C, H, W)."""
    rows = torch.as_tensor(rows, dtype=torch.float32)
    flat = x.flatten(2)
    return (flat + (factor - 1) * (flat @ rows.T) @ rows).reshape(x.shape)


def gaussian_mixture(rng, images, classes, wanted):
    """Samples of the Gaussian mixture with the mean and covariance of each class of images, (N, 3, H, W) float16 in units of 1.

    images: uint8 (M, 3, H, W) with class numbers classes (M,); wanted: (N,), the class of each sample. A sample is
    mean + Σ gᵢ (xᵢ − mean)/√(m − 1) over the class's m images with standard-normal gᵢ, whose covariance is the images' own,
    so that no 3072×3072 matrix is made. Sums are in float64, so that their rounding to float16 is the same for any number of
    threads; it moves a value by at most 1/16 of a grey level within [0, 1].
    """
    made = np.empty((len(wanted), *images.shape[1:]), np.float16)
    for label in np.unique(wanted):
        x = images[classes == label].reshape(-1, np.prod(images.shape[1:])).astype(np.float64) / 255
        mean = x.mean(0)
        rows = wanted == label
        weights = rng.standard_normal((rows.sum(), len(x))) / np.sqrt(len(x) - 1)
        made[rows] = (mean + weights @ (x - mean)).reshape(-1, *images.shape[1:])
    return made
