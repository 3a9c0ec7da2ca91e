"""What a trained network relies on: its boundary, and predictions that change with its inputs."""

from collections.abc import Callable, Iterable

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
    (C, H, W), orthogonal. The cross-section is the probability of class 1, float16 (POINTS,
    POINTS).
    """
    scores = boundaries.cross_section(score, first, second)
    some = x[:MARGIN_SAMPLES]
    margins = [
        float(np.median(boundaries.margins(score, some, direction)))
        for direction in (first, second)
    ]
    row = {
        "tilt": round(boundaries.tilt(scores, (float(first.norm()), float(second.norm()))), 3),
        "margin_1": round(margins[0], 4),
        "margin_2": round(margins[1], 4),
    }
    # A picture shows no more than three digits, and files of this size can live in git.
    return (1 / (1 + np.exp(-scores.astype(np.float64)))).astype(np.float16), row


def best_accuracy(score: np.ndarray, y: np.ndarray) -> float:
    """The accuracy of a score at the best threshold, which a mere shift of the score leaves.

    score: (N,), the logit of class 1 minus that of class 0; y: (N,), class numbers. At chance it
    lies a little above one half.
    """
    order = np.argsort(score, kind="stable")
    score, y = score[order], y[order]
    # With the threshold after the k-th smallest score: class 0 up to there, class 1 beyond. Equal
    # scores are never parted.
    right = np.concatenate([[y.sum()], y.sum() + np.cumsum(1 - 2 * y)])
    between = np.concatenate([[True], score[1:] != score[:-1], [True]])
    return float(right[between].max() / len(y))


def changes(
    predict: Callable[[torch.Tensor], torch.Tensor],
    x: torch.Tensor,
    y: torch.Tensor,
    alterations: Iterable[tuple[dict, torch.Tensor]],
) -> list[dict]:
    """A row for each alteration of the inputs: how often predictions change with it.

    predict: from inputs to class numbers; alterations: pairs of (columns, altered inputs).
    `relative_change` is the mean of ‖x′ − x‖/‖x‖ over the inputs as the network takes them.
    """
    before, size, rows = predict(x), x.flatten(1).norm(dim=1), []
    for place, altered in alterations:
        after, moved = predict(altered), (altered - x).flatten(1).norm(dim=1)
        means = {
            "changed": (after != before).float().mean(),
            "relative_change": (moved / size).mean(),
            "accuracy": (after == y).float().mean(),
        }
        rows.append(place | {k: round(float(v), 6) for k, v in means.items()} | {"n": len(y)})
    return rows
