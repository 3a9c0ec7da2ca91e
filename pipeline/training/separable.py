"""Linearly separable data D(v), direct sums, and channels switched off (paper 2,
§§2–3).

D(v), paper 2 eq. 1:  x = ε y v + w,  w ~ N(0, σ²(I − v vᵀ)),  y ∈ {−1, +1},  ‖v‖ = 1.
With g ~ N(0, I) this is x = σ g + (ε y − σ⟨g, v⟩) v, a rank-one change of one
standard-normal draw g, which therefore serves every v, ε and σ.

With noise σ_v along v as well (not in the papers), x = σ g + (ε y + (σ_v − σ)⟨g, v⟩) v.
The two classes then overlap, and the best classifier reaches an accuracy of Φ(ε/σ_v).
"""

import numpy as np
import torch

from pipeline.training.shapes import INPUT, D, Shape


def labels(rng: np.random.Generator, count: int) -> np.ndarray:
    """`count` labels drawn uniformly from {−1, +1}, int8."""
    return (2 * rng.integers(0, 2, count) - 1).astype(np.int8)


def normal(rng: np.random.Generator, count: int, dimension: int = D) -> np.ndarray:
    """One draw: (count, dimension) independent standard-normal numbers, float32."""
    return rng.standard_normal((count, dimension), dtype=np.float32)


def linearly_separable(
    draw: np.ndarray,
    y: np.ndarray,
    v: np.ndarray,
    eps: float,
    sigma: float,
    shape: Shape = INPUT,
    sigma_v: float = 0.0,
) -> torch.Tensor:
    """D(v) as inputs of one shape (paper 2, eq. 1).

    The component along v is ε y exactly unless `sigma_v` adds noise to it.

    Args:
        draw: Standard-normal base noise, (N, C·H·W).
        y: Labels in {−1, +1}, (N,).
        v: Unit vector, (C·H·W,).
        eps: Amplitude ε along v.
        sigma: Standard deviation σ of the noise orthogonal to v.
        shape: Shape (C, H, W) of one input.
        sigma_v: Standard deviation of the noise along v.

    Returns:
        Inputs, (N, C, H, W), float32.
    """
    draw, y, v = (torch.as_tensor(a).to(torch.float32) for a in (draw, y, v))
    x = sigma * draw
    # In place, since x may be most of the memory.
    x += torch.outer(eps * y + (sigma_v - sigma) * (draw @ v), v)
    return x.reshape(-1, *shape)


def mislabelled(y: np.ndarray, numbers: np.ndarray, rate: float) -> np.ndarray:
    """Labels with label noise: y (N,), inverted where uniform numbers (N,) are below
    `rate`."""
    return np.where(numbers < rate, -y, y)


def drawn(split: str, shape: Shape) -> str:
    """The name of a split's draw: 'train_normal', or for other inputs
    'train_normal_3x64x48'."""
    return f"{split}_normal" + (
        "" if shape == INPUT else "_" + "x".join(map(str, shape))
    )


def direct_sum(*parts: torch.Tensor) -> torch.Tensor:
    """D₁ ⊕ D₂ ⊕ …: channels stacked, (N, C₁ + C₂ + …, H, W), of samples paired by
    label."""
    return torch.cat(parts, 1)


def only(x: torch.Tensor, channels: slice) -> torch.Tensor:
    """A copy of x (N, C, H, W) with all channels but those of a slice switched off
    (zeros)."""
    kept = torch.zeros_like(x)
    kept[:, channels] = x[:, channels]
    return kept
