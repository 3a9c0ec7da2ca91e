"""The covariance of a network's input gradient over data, and what it is made of."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from pipeline.training.maps import principal_components

SAMPLES = 1000
"""Test samples over which the covariance is computed."""

FIRST = 10
"""NADs, and principal components, that span a part of the response."""


def output_gradients(network: nn.Module, x: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the gradients of each output less the outputs' mean, in eval mode.

    Classification ignores the outputs' mean.

    Args:
        network: The network.
        x: Inputs (N, C, H, W).

    Yields:
        Gradients (N, C, H, W) of one output.
    """
    network.eval()
    x = x.detach().clone().requires_grad_()
    outputs = network(x)
    for output in (outputs - outputs.mean(1, keepdim=True)).unbind(1):
        yield torch.autograd.grad(output.sum(), x, retain_graph=True)[0]


def covariance(network: nn.Module, x: torch.Tensor) -> np.ndarray:
    """Compute Σ ∇f ∇fᵀ/N over inputs.

    It is the average gradient outer product (arXiv 2309.00570), summed over
    `output_gradients` and channels.

    Args:
        network: The network.
        x: Inputs (N, C, H, W).

    Returns:
        (D, D) with D = H·W.
    """
    dimension = x[0, 0].numel()
    total = torch.zeros(dimension, dimension, dtype=torch.float64)
    for gradient in output_gradients(network, x):
        # Summed by the CPU, since not every accelerator has float64.
        rows = gradient.flatten(2).flatten(0, 1).cpu().double()
        total += rows.T @ rows
    return (total / len(x)).numpy()


def evolution(
    nads: np.ndarray, eigenvalues: np.ndarray, x: torch.Tensor, count: int
) -> np.ndarray:
    """Compute the first eigenvectors of C S C (arXiv 2410.12025).

    The response evolves towards them early in training.

    Args:
        nads: (D, D), the eigenvectors of C, the covariance of untrained networks.
        eigenvalues: (D,), of C.
        x: Inputs (N, 1, H, W), whose covariance is S.
        count: Number of eigenvectors.

    Returns:
        Unit vectors (count, D).
    """
    untrained = nads.T * eigenvalues @ nads
    of_pixels = np.cov(x.flatten(1).double().numpy(), rowvar=False)
    _, vectors = np.linalg.eigh(untrained @ of_pixels @ untrained)
    return vectors[:, ::-1][:, :count].T


def response_parts(
    cell: Mapping[str, Any],
    nads: np.ndarray,
    eigenvalues: np.ndarray,
    x: torch.Tensor,
    response: np.ndarray,
) -> dict[str, float]:
    """Compute the parts of a trained network's total response along some spans.

    Args:
        cell: A cell of `learning`.
        nads: (D, D), the architecture's NADs.
        eigenvalues: (D,), of the NADs, NaN where they were made elsewhere.
        x: Test inputs (N, 1, H, W).
        response: (D, D), of `covariance` at some of them.

    Returns:
        On D(v): `v`, the part along v, and `nads`, the part of the rest in the span of
        the first NADs but v. On images: `components` and `evolution`, the parts in the
        spans of the images' first principal components and of the first eigenvectors of
        C S C, and `nads`.
    """
    if cell["data"] == "images":
        spans = {"components": principal_components(x)[:FIRST], "nads": nads[:FIRST]}
        if np.isfinite(eigenvalues).all():
            spans["evolution"] = evolution(nads, eigenvalues, x, FIRST)
        return {name: part_along(response, span) for name, span in spans.items()}
    index = cell["index"]
    v = nads[index][None]
    projection = np.eye(v.size) - v.T @ v
    rest = projection @ response @ projection
    numbers = [number for number in range(FIRST) if number != index]
    return {
        "v": part_along(response, v),
        "nads": part_along(rest, nads[numbers]),
    }


def part_along(covariance: np.ndarray, directions: np.ndarray) -> float:
    """Compute the part of tr C in the span of directions; by chance K/D.

    Args:
        covariance: C, (D, D).
        directions: (K, D), orthonormal.
    """
    along = np.trace(directions @ covariance @ directions.T)
    return float(along / np.trace(covariance))
