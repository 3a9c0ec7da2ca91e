"""A binary classifier's decision boundary in the plane of two directions, margins, and
its accuracy at the best threshold.

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

# A cross-section is sampled at POINTS × POINTS points of [−EXTENT, EXTENT]², a line at
# POINTS.
EXTENT = 2.0
POINTS = 33
LEARNED = (
    0.55  # accuracy on new samples above which a network has learned something (choice)
)
REACH = 4.0  # margins are searched up to this many lengths of the direction
MARGIN_SAMPLES = 64  # test samples whose margins are measured


def cross_section(
    score: Score, first: torch.Tensor, second: torch.Tensor
) -> np.ndarray:
    """Score on the grid a·u₁ + b·u₂ around the origin: (POINTS, POINTS), row = b,
    column = a."""
    axis = torch.linspace(-EXTENT, EXTENT, POINTS)
    points = torch.cartesian_prod(axis, axis)[:, :, None, None, None]
    # In batches: of 3×224×224 the whole plane would take 656 MB.
    scores = [
        score(b_a[:, 1] * first + b_a[:, 0] * second) for b_a in points.split(BATCH)
    ]
    return np.concatenate(scores).reshape(POINTS, POINTS)


def tilt(scores: np.ndarray, lengths: tuple[float, float] = (1.0, 1.0)) -> float:
    """Tilt of the boundary in degrees, from 0 (only u₁ decides) to 90 (only u₂); nan
    without one.

    scores: a cross-section; lengths: of u₁ and u₂, the units of its axes. The
    boundary's normal is the gradient of the least-squares plane through the scores, as
    a vector of the input space (choice); the tilt is its angle to u₁. Where all scores
    have one sign, there is no boundary.
    """
    if scores.min() >= 0 or scores.max() <= 0:
        return float("nan")
    axis = np.linspace(-EXTENT, EXTENT, POINTS)
    along_first = (scores * axis).sum() / lengths[0]
    along_second = (scores * axis[:, None]).sum() / lengths[1]
    return float(np.degrees(np.arctan2(abs(along_second), abs(along_first))))


def of_learners(
    planes: pd.DataFrame, results: pd.DataFrame, coordinates: Sequence[str]
) -> pd.DataFrame:
    """A table of boundaries in which `tilt` is empty for networks that have learned
    nothing.

    The score of a network that has merely memorised its training set changes sign
    somewhere in the plane, but the network has no boundary between the classes.
    results: the same networks' accuracies; the test set `all` decides.
    """
    keys = ["architecture", "seed", *coordinates]
    learned = (
        results[results["test_set"] == "all"].set_index(keys)["accuracy"] > LEARNED
    )
    return planes.assign(
        tilt=planes["tilt"].where(
            learned[pd.MultiIndex.from_frame(planes[keys])].to_numpy()
        )
    )


def max_margin_tilt(first: float, second: float) -> float:
    """Tilt in degrees of the maximum-margin separator of classes at ±(first, second)."""
    return float(np.degrees(np.arctan2(second, first)))


def margins(score: Score, x: torch.Tensor, direction: torch.Tensor) -> np.ndarray:
    """Distance of each sample to the boundary along ±`direction`, (N,); inf beyond
    REACH.

    x: (N, C, H, W); direction: (C, H, W), whose length is the unit of the distance. The
    line is sampled at POINTS points, and the crossing nearest to the sample is
    interpolated linearly. Two crossings closer than 2·REACH/(POINTS − 1) are not seen.
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
    """The cross-section of a network's score in the plane of two directions, its tilt
    and margins.

    x: test inputs (N, C, H, W); first, second: the directions (C, H, W), orthogonal.
    The cross-section is the probability of class 1, float16 (POINTS, POINTS).
    """
    scores = cross_section(score, first, second)
    row = {"tilt": round(tilt(scores, (float(first.norm()), float(second.norm()))), 3)}
    for name, direction in (("margin_1", first), ("margin_2", second)):
        some = x[:: -(-len(x) // MARGIN_SAMPLES)]  # images are sorted by content
        distances = margins(score, some, direction)
        row[name] = round(float(np.median(distances)), 4)
    # A picture shows no more than three digits, and files of this size can live in git.
    return (1 / (1 + np.exp(-scores.astype(np.float64)))).astype(np.float16), row


def best_accuracy(score: np.ndarray, y: np.ndarray) -> float:
    """The accuracy of a score at its best threshold, which does not change if the score
    is shifted.

    score: (N,), the logit of class 1 minus that of class 0; y: (N,), class numbers. The
    accuracy of a score that guesses lies a little above one half.
    """
    order = np.argsort(score, kind="stable")
    score = score[order]
    y = y[order]
    # The k-th entry is of the threshold after the k-th smallest score: class 0 below,
    # class 1 above. A threshold never parts equal scores.
    right = np.concatenate([[y.sum()], y.sum() + np.cumsum(1 - 2 * y)])
    between = np.concatenate([[True], score[1:] != score[:-1], [True]])
    return float(right[between].max() / len(y))
