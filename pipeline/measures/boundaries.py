"""A binary classifier's decision boundary in the plane of two directions, and margins.

The classifier is given as a function `score` from inputs (N, C, H, W) to the logit of
class 1 minus that of class 0 (N,): its sign is the decision. The plane is spanned by
two orthogonal directions u₁ and u₂ of the input space, for paper 2 v₁⊕0 and 0⊕v₂; the
length of each is the unit of its axis.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch

from pipeline.training.loop import BATCH

Score = Callable[[torch.Tensor], np.ndarray]
"""From inputs (N, C, H, W) to the logit of class 1 minus that of class 0 (N,)."""

EXTENT = 2.0
"""A cross-section is [−EXTENT, EXTENT]²."""

POINTS = 33
"""Points along a line, and along each side of a cross-section."""

LEARNED = 0.55
"""Test accuracy above which a network has learned something (choice)."""

REACH = 4.0
"""Margins are searched up to this many lengths of the direction."""

MARGIN_SAMPLES = 64
"""Test samples whose margins are measured."""


def cross_section(
    score: Score, first: torch.Tensor, second: torch.Tensor
) -> np.ndarray:
    """Compute the score on the grid a·u₁ + b·u₂ around the origin.

    Args:
        score: The classifier.
        first: u₁, (C, H, W).
        second: u₂, (C, H, W).

    Returns:
        (POINTS, POINTS), row = b, column = a.
    """
    axis = torch.linspace(-EXTENT, EXTENT, POINTS)
    points = torch.cartesian_prod(axis, axis)[:, :, None, None, None]
    scores = []
    # In batches: of 3×224×224 the whole plane would take 656 MB.
    for batch in points.split(BATCH):
        scores.append(score(batch[:, 1] * first + batch[:, 0] * second))
    return np.concatenate(scores).reshape(POINTS, POINTS)


def tilt(scores: np.ndarray, lengths: tuple[float, float] = (1.0, 1.0)) -> float:
    """Compute the tilt of the boundary, from 0° (only u₁ decides) to 90° (only u₂).

    The boundary's normal is the gradient of the least-squares plane through the scores,
    as a vector of the input space (choice); the tilt is its angle to u₁.

    Args:
        scores: A cross-section.
        lengths: Lengths of u₁ and u₂, the units of its axes.

    Returns:
        The tilt in degrees, or NaN if all scores have one sign: there is no boundary.
    """
    if scores.min() >= 0 or scores.max() <= 0:
        return float("nan")
    axis = np.linspace(-EXTENT, EXTENT, POINTS)
    along_first = (scores * axis).sum() / lengths[0]
    along_second = (scores * axis[:, None]).sum() / lengths[1]
    return float(np.degrees(np.arctan2(abs(along_second), abs(along_first))))


def mask_tilts(
    planes: pd.DataFrame, results: pd.DataFrame, coordinates: Sequence[str]
) -> pd.DataFrame:
    """Empty the column `tilt` for networks that have learned nothing.

    The score of a network that has merely memorised its training set changes sign
    somewhere in the plane, but the network has no boundary between the classes.

    Args:
        planes: A table of boundaries.
        results: The same networks' accuracies; the test set `all` decides.
        coordinates: Columns that tell the cells apart.
    """
    keys = ["architecture", "seed", *coordinates]
    whole = results[results["test_set"] == "all"]
    learned = whole.set_index(keys)["accuracy"] > LEARNED
    rows = learned[pd.MultiIndex.from_frame(planes[keys])].to_numpy()
    return planes.assign(tilt=planes["tilt"].where(rows))


def max_margin_tilt(first: float, second: float) -> float:
    """Compute the tilt of the maximum-margin separator of classes at ±(first, second).

    Args:
        first: Amplitude along u₁.
        second: Amplitude along u₂.

    Returns:
        The tilt in degrees.
    """
    return float(np.degrees(np.arctan2(second, first)))


def margins(score: Score, x: torch.Tensor, direction: torch.Tensor) -> np.ndarray:
    """Compute the distance of each sample to the boundary along ±`direction`.

    The line is sampled at POINTS points, and the crossing nearest to the sample is
    interpolated linearly. Two crossings closer than 2·REACH/(POINTS − 1) are not seen.

    Args:
        score: The classifier.
        x: Samples (N, C, H, W).
        direction: (C, H, W), whose length is the unit of the distance.

    Returns:
        Distances (N,); inf beyond REACH.
    """
    steps = torch.linspace(-REACH, REACH, POINTS)
    values = np.stack([score(x + t * direction) for t in steps])
    t = steps.numpy()[:, None]
    before = values[:-1]
    after = values[1:]
    crossed = np.sign(before) != np.sign(after)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = t[:-1] + (t[1:] - t[:-1]) * before / (before - after)
    return np.where(crossed, np.abs(crossing), np.inf).min(0)


def boundary(
    score: Score, x: torch.Tensor, first: torch.Tensor, second: torch.Tensor
) -> tuple[np.ndarray, dict[str, float]]:
    """Measure the boundary of a network in the plane of two directions.

    Args:
        score: The classifier.
        x: Test inputs (N, C, H, W).
        first: u₁, (C, H, W).
        second: u₂, (C, H, W), orthogonal to u₁.

    Returns:
        The probability of class 1 on the cross-section, float16 (POINTS, POINTS), and
        its tilt and the median margins along u₁ and u₂.
    """
    scores = cross_section(score, first, second)
    lengths = (float(first.norm()), float(second.norm()))
    samples = x[:: -(-len(x) // MARGIN_SAMPLES)]  # images are sorted by content
    row = {
        "tilt": round(tilt(scores, lengths), 3),
        "margin_1": _median_margin(score, samples, first),
        "margin_2": _median_margin(score, samples, second),
    }
    # A picture shows no more than three digits, and files of this size can live in git.
    probabilities = 1 / (1 + np.exp(-scores.astype(np.float64)))
    return probabilities.astype(np.float16), row


def _median_margin(score: Score, x: torch.Tensor, direction: torch.Tensor) -> float:
    return round(float(np.median(margins(score, x, direction))), 4)


def best_accuracy(score: np.ndarray, y: np.ndarray) -> float:
    """Compute the accuracy of a score at its best threshold.

    It does not change if the score is shifted. At chance it is a little above one half.

    Args:
        score: (N,), the logit of class 1 minus that of class 0.
        y: (N,), class numbers.
    """
    order = np.argsort(score, kind="stable")
    score = score[order]
    y = y[order]
    # The k-th entry is of the threshold after the k-th smallest score: class 0 below,
    # class 1 above. A threshold never parts equal scores.
    correct = np.concatenate([[y.sum()], y.sum() + np.cumsum(1 - 2 * y)])
    possible = np.concatenate([[True], score[1:] != score[:-1], [True]])
    return float(correct[possible].max() / len(y))
