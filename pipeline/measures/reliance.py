"""Measures of what a trained network relies on: its boundary, and its score."""

from collections.abc import Callable

import numpy as np
import torch

from pipeline.measures import boundaries

MARGIN_SAMPLES = 64
"""Test samples whose margins are measured."""


def boundary(
    score: Callable[[torch.Tensor], torch.Tensor],
    x: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
) -> tuple[np.ndarray, dict[str, float]]:
    """The cross-section of a network's score in the plane of two directions, its tilt and margins.

    score: the logit of class 1 minus that of class 0; x: test inputs (N, C, H, W); first, second:
    the directions (C, H, W), orthogonal. The cross-section is the probability of class 1, float16
    (POINTS, POINTS).
    """
    scores = boundaries.cross_section(score, first, second)
    row = {"tilt": round(boundaries.tilt(scores, (float(first.norm()), float(second.norm()))), 3)}
    for name, direction in (("margin_1", first), ("margin_2", second)):
        margins = boundaries.margins(score, x[:MARGIN_SAMPLES], direction)
        row[name] = round(float(np.median(margins)), 4)
    # A picture shows no more than three digits, and files of this size can live in git.
    return (1 / (1 + np.exp(-scores.astype(np.float64)))).astype(np.float16), row


def best_accuracy(score: np.ndarray, y: np.ndarray) -> float:
    """The accuracy of a score at its best threshold, which does not change if the score is shifted.

    score: (N,), the logit of class 1 minus that of class 0; y: (N,), class numbers. The accuracy of
    a score that guesses lies a little above one half.
    """
    order = np.argsort(score, kind="stable")
    score, y = score[order], y[order]
    # The k-th entry is of the threshold after the k-th smallest score: class 0 below, class 1
    # above. A threshold never parts equal scores.
    right = np.concatenate([[y.sum()], y.sum() + np.cumsum(1 - 2 * y)])
    between = np.concatenate([[True], score[1:] != score[:-1], [True]])
    return float(right[between].max() / len(y))
