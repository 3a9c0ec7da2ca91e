"""The covariance of a network's input gradient over data, and where its response lies."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

SAMPLES = 1000  # test samples over which the covariance is taken
FIRST = 10  # NADs, and principal components, that span a part of the response


def of_outputs(network: nn.Module, x: torch.Tensor) -> Iterator[torch.Tensor]:
    """The gradients (N, C, H, W) at inputs x (N, C, H, W) of each output less the
    outputs' mean, which classification ignores; in eval mode."""
    network.eval()
    x = x.detach().clone().requires_grad_()
    outputs = network(x)
    for output in (outputs - outputs.mean(1, keepdim=True)).unbind(1):
        yield torch.autograd.grad(output.sum(), x, retain_graph=True)[0]


def covariance(network: nn.Module, x: torch.Tensor) -> np.ndarray:
    """C = Σ ∇f ∇fᵀ/N over inputs x (N, C, H, W), (D, D) with D = H·W.

    The average gradient outer product (arXiv 2309.00570), summed over `of_outputs` and
    channels.
    """
    total = torch.zeros(2 * [x[0, 0].numel()], dtype=torch.float64)
    for gradient in of_outputs(network, x):
        # Summed by the CPU, since not every accelerator has float64.
        rows = gradient.flatten(2).flatten(0, 1).cpu().double()
        total += rows.T @ rows
    return (total / len(x)).numpy()


def components(x: torch.Tensor, count: int) -> np.ndarray:
    """The first principal components (count, D) of inputs x (N, 1, H, W)."""
    covariance = np.cov(x.flatten(1).double().numpy(), rowvar=False)
    return np.linalg.eigh(covariance)[1][:, ::-1][:, :count].T


def evolution(
    nads: np.ndarray, eigenvalues: np.ndarray, x: torch.Tensor, count: int
) -> np.ndarray:
    """The first eigenvectors (count, D) of G S G, towards which the response evolves
    early in training (arXiv 2410.12025).

    nads, eigenvalues: (D, D) and (D,), of G, the covariance C of untrained networks; S:
    that of inputs x (N, 1, H, W).
    """
    untrained = nads.T * eigenvalues @ nads
    samples = np.cov(x.flatten(1).double().numpy(), rowvar=False)
    return np.linalg.eigh(untrained @ samples @ untrained)[1][:, ::-1][:, :count].T


def course(
    cell: Mapping[str, Any],
    nads: np.ndarray,
    eigenvalues: np.ndarray,
    x: torch.Tensor,
    covariance: np.ndarray,
) -> dict[str, float]:
    """The parts of tr C, a trained network's response, along what it learns and its
    first NADs.

    Of a cell of `learning` on D(v): `v`, the part along v, and `nads`, the part of the
    rest in the span of the first NADs but v. Of one on images: `components` and
    `evolution`, the parts in the spans of the images' first principal components and of
    the first eigenvectors of G S G, and `nads`. nads: (D, D), the architecture's;
    eigenvalues: (D,), of these, NaN where they were made elsewhere; x: test inputs (N,
    1, H, W); covariance: (D, D), of `covariance` at some of them.
    """
    if cell["data"] == "images":
        spans = {"components": components(x, FIRST), "nads": nads[:FIRST]}
        if np.isfinite(eigenvalues).all():
            spans["evolution"] = evolution(nads, eigenvalues, x, FIRST)
        return {name: part_along(covariance, span) for name, span in spans.items()}
    v = nads[cell["index"]][None]
    off = np.eye(v.size) - v.T @ v
    others = nads[[number for number in range(FIRST) if number != cell["index"]]]
    return {
        "v": part_along(covariance, v),
        "nads": part_along(off @ covariance @ off, others),
    }


def part_along(covariance: np.ndarray, directions: np.ndarray) -> float:
    """The part of tr C that lies in the span of orthonormal directions (K, D); by
    chance K/D."""
    return float(
        np.trace(directions @ covariance @ directions.T) / np.trace(covariance)
    )
