"""Orthogonal maps of pictures along a basis of NADs (paper 1, §5, table 1, and its
controls).

A map keeps every picture's norm and loses nothing: a linear classifier learns mapped
pictures as well as plain ones. The paper's map reverses the order of the coefficients
on the NADs. Its controls change one thing at a time:

- `signs` gives every coefficient a random sign. Order, energy and covariance stay as
  they are.
- `rotated_8` rotates the coefficients at random within blocks of 8 neighbouring NADs,
  `rotated` all of them.
- `permuted` permutes the pixels at random; with NADs of three channels, the values of
  all pixels and channels.
- `aligned` puts the pictures' principal components, in decreasing variance, onto the
  NADs. `aligned_reversed`, `aligned_cosines` and `aligned_pixels` put them onto the
  NADs in reverse order, the two-dimensional cosines from low to high frequency, and the
  pixels row by row.
"""

import re

import numpy as np
import torch

from pipeline.training.fourier import cosines

MAPS = (
    "plain",
    "flipped",
    "signs",
    "rotated",
    "permuted",
    "aligned",
    "aligned_reversed",
    "aligned_cosines",
    "aligned_pixels",
)
"""Names of maps, beside `rotated_B` for blocks of B NADs."""


def check(name: str) -> None:
    """Raise ValueError unless `name` is the name of a map."""
    if name not in MAPS and not re.fullmatch(r"rotated_[1-9]\d*", name):
        raise ValueError(
            f"maps must be among {', '.join(MAPS)} or rotated_8, not {name!r}"
        )


def needs_components(name: str) -> bool:
    """Whether a map starts from the pictures' principal components."""
    return name.startswith("aligned")


def principal_components(x: torch.Tensor) -> np.ndarray:
    """The principal components of pictures, all channels taken together.

    Args:
        x: Pictures, (N, C, H, W).

    Returns:
        The eigenvectors of their covariance as rows, (H·W, H·W), float32, in decreasing
        variance.
    """
    vectors = x.flatten(2).flatten(0, 1).double().numpy()
    _, components = np.linalg.eigh(np.cov(vectors, rowvar=False))
    return components.T[::-1].astype(np.float32)


def apply_map(
    x: torch.Tensor,
    basis: np.ndarray | None,
    name: str,
    rng: np.random.Generator,
    components: np.ndarray | None = None,
) -> torch.Tensor:
    """Apply one of the maps to pictures.

    Args:
        x: Pictures, (N, C, H, W).
        basis: NADs as rows, (D, D): of one channel, each of which is then mapped by
            itself, or of all channels for maps without components. `plain` needs none.
        name: Name of the map.
        rng: Source of random signs, rotations and permutations.
        components: `principal_components` of the training pictures, for the maps that
            need them.

    Returns:
        The mapped pictures, (N, C, H, W).
    """
    if name == "plain":
        return x
    basis = torch.as_tensor(basis, dtype=torch.float32)
    dimension = basis.shape[1]
    vectors = x.reshape(len(x), -1, dimension)
    if name == "permuted":
        order = torch.as_tensor(rng.permutation(dimension))
        return vectors[..., order].reshape(x.shape)
    if needs_components(name):
        # The sign of an eigenvector is arbitrary, so it is drawn.
        coefficients = vectors @ torch.as_tensor(components).T * _signs(rng, dimension)
        target = _target(name, basis, x.shape[2:])
        return (coefficients @ target).reshape(x.shape)
    coefficients = vectors @ basis.T
    if name == "flipped":
        coefficients = coefficients.flip(-1)
    elif name == "signs":
        coefficients = coefficients * _signs(rng, dimension)
    else:
        block = int(name.partition("_")[2] or dimension)
        coefficients = _rotate(coefficients, block, rng)
    return (coefficients @ basis).reshape(x.shape)


def _signs(rng: np.random.Generator, count: int) -> torch.Tensor:
    return torch.as_tensor(rng.choice([-1.0, 1.0], count), dtype=torch.float32)


def _target(name: str, basis: torch.Tensor, pixels: tuple[int, int]) -> torch.Tensor:
    """The basis (D, D), as rows, onto which principal components are put."""
    if name == "aligned":
        return basis
    if name == "aligned_reversed":
        return basis.flip(0)
    if name == "aligned_cosines":
        return torch.as_tensor(cosines(pixels))
    return torch.eye(len(basis))


def _rotate(
    coefficients: torch.Tensor, block: int, rng: np.random.Generator
) -> torch.Tensor:
    """Coefficients (..., D), rotated at random within blocks of neighbours."""
    parts = []
    for part in coefficients.split(block, dim=-1):
        size = part.shape[-1]
        # The orthogonal factor of a normal matrix, its signs made unique, is uniform
        # (Haar).
        rotation, triangle = np.linalg.qr(rng.standard_normal((size, size)))
        rotation = rotation * np.sign(np.diag(triangle))
        parts.append(part @ torch.as_tensor(rotation, dtype=torch.float32))
    return torch.cat(parts, -1)
