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
    """Draw labels uniformly from {−1, +1}, (count,), int8."""
    return (2 * rng.integers(0, 2, count) - 1).astype(np.int8)


def normal(rng: np.random.Generator, count: int, dimension: int = D) -> np.ndarray:
    """Draw base noise: standard-normal numbers, (count, dimension), float32."""
    return rng.standard_normal((count, dimension), dtype=np.float32)


def linearly_separable(
    base_noise: np.ndarray,
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
        base_noise: Standard-normal numbers, (N, C·H·W).
        y: Labels in {−1, +1}, (N,).
        v: Unit vector, (C·H·W,).
        eps: Amplitude ε along v.
        sigma: Standard deviation σ of the noise orthogonal to v.
        shape: Shape (C, H, W) of one input.
        sigma_v: Standard deviation of the noise along v.

    Returns:
        Inputs, (N, C, H, W), float32.

    Raises:
        ValueError: v is not a unit vector.
    """
    if abs(np.linalg.norm(v) - 1) > 1e-3:
        raise ValueError(f"v must be a unit vector; its norm is {np.linalg.norm(v):g}")
    base_noise = torch.as_tensor(base_noise, dtype=torch.float32)
    y = torch.as_tensor(y, dtype=torch.float32)
    v = torch.as_tensor(v, dtype=torch.float32)
    x = sigma * base_noise
    # In place, since x may be most of the memory.
    x += torch.outer(eps * y + (sigma_v - sigma) * (base_noise @ v), v)
    return x.reshape(-1, *shape)


def flip_labels(y: np.ndarray, numbers: np.ndarray, rate: float) -> np.ndarray:
    """Invert labels with a probability.

    Args:
        y: Labels in {−1, +1}, (N,).
        numbers: Uniform random numbers, (N,).
        rate: The probability.

    Returns:
        Labels, (N,).
    """
    return np.where(numbers < rate, -y, y)


def noise_name(split: str, shape: Shape) -> str:
    """Name a split's base noise: 'train_normal', or 'train_normal_3x64x48'."""
    name = f"{split}_normal"
    if shape == INPUT:
        return name
    return f"{name}_{'x'.join(map(str, shape))}"


def direct_sum(*parts: torch.Tensor) -> torch.Tensor:
    """Form D₁ ⊕ D₂ ⊕ …: (N, C₁ + C₂ + …, H, W) from samples that share labels."""
    return torch.cat(parts, 1)


def only(x: torch.Tensor, channels: slice) -> torch.Tensor:
    """Copy x (N, C, H, W) with zeros in all channels but those of a slice."""
    result = torch.zeros_like(x)
    result[:, channels] = x[:, channels]
    return result
