"""The sentences of the page that depend on numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pipeline.measures.ranks import spearman
from pipeline.profile.checkpoint import Checkpoint
from pipeline.report.comparison import number
from pipeline.report.fourier import DIRECTION, pair

if TYPE_CHECKING:
    from pipeline.profile.page import Profile

FIRST = 10  # NADs of the architecture in which a trained network's response is counted
FLOOR = 1e-4  # response below which there is only rounding

SEEN = 0.9  # test accuracy from which on a network sees a direction
UNSEEN = 0.6  # test accuracy up to which it does not; chance is 0.5

KNOWN = 0.15  # relative error of C up to which NADs count as known
NOISY = 0.5  # relative error of C above which they are mostly sampling error


def floored(responses: np.ndarray) -> np.ndarray:
    """Return responses of at least `FLOOR`, of which ratios can be taken."""
    return np.maximum(responses, FLOOR)


def times(value: float) -> str:
    """Return a response as text: ×14, ×0.031; below `FLOOR` it is 0."""
    return f"×{value if value > FLOOR else 0:.2g}" if value < 9.95 else f"×{value:.0f}"


def listed(indices: Sequence[int]) -> str:
    """Return NAD indices as text."""
    return f"NAD {', '.join(map(str, indices)) or 'none'}"


def sees(profile: "Profile") -> str:
    """Return the sentences on what a network is sensitive to and learns."""
    first = times(profile.response.along(profile.nads.directions[:1])[0])
    bands = ", ".join(
        f"{times(response)} to {name} waves"
        for name, response in profile.response.bands.items()
    )
    rows = profile.accuracies
    seen = listed(rows.index[rows["mean"] >= SEEN])
    return (
        f"Before training, its response relative to a random pattern is {first} to its "
        f"first NAD, {bands}. Test accuracy is at least {SEEN:.0%} along {seen}."
    )


def may_miss(profile: "Profile") -> str:
    """Return the sentences on what a network may fail to see."""
    rows = profile.accuracies
    missed = rows[rows["mean"] <= UNSEEN]
    count = (missed["fitted"] == missed["seeds"]).sum()
    weakest = profile.response.frequencies.iloc[0]
    return (
        f"Test accuracy is at most {UNSEEN:.0%} along {listed(missed.index)} "
        f"(networks are fitted along {count} of {len(missed)}). The weakest response to a wave is "
        f"{times(weakest['response'])}, at {pair(weakest[DIRECTION])}."
    )


def what_to_do(profile: "Profile") -> str:
    """Return the advice on a network."""
    if profile.nads.error > NOISY:
        return "Give more --minutes or a smaller --input: its NADs are mostly noise."
    if not profile.fitted:
        return "Try --lr 0.1, or more --minutes: no trained network is fitted."
    if (profile.accuracies["mean"] <= UNSEEN).any():
        return (
            "If your classes differ along what it may miss, change its strides, poolings "
            "or patches, or filter, rescale or crop the images."
        )
    return "Nothing: it misses no direction that was tested."


def trust(profile: "Profile") -> str:
    """Return what the numbers of one network can be trusted for."""
    error = profile.nads.error
    known = "NADs are known"
    if error > KNOWN:
        known = "the first NADs are known, single later ones are not"
    if error > NOISY:
        known = "NADs are mostly noise"
    check = "accuracies show what it learns"
    if profile.fitted < len(profile.rows):
        check = "accuracies count where it is fitted"
    if not profile.fitted:
        check = "accuracies say nothing about a longer training"
    return (
        f"{profile.label}: {known} (relative error of C {error:.2f}); {check} "
        f"(fitted: {profile.fitted} of {len(profile.rows)})"
    )


def compare(a: "Profile", b: "Profile") -> str:
    """Return the sentence on the waves to which network a responds at least twice as
    strongly as network b, by two standard errors of the ratio."""
    errors = [
        each.nads.standard_errors[0] / each.nads.eigenvalues[0] for each in (a, b)
    ]
    least = 2 * np.exp(np.hypot(*errors))  # that of √λ is half of that of λ
    half = a.response.half
    ratio = half * floored(a.response.waves) / floored(b.response.waves)
    place = np.unravel_index(ratio.argmax(), ratio.shape)
    frequency = dict(
        zip(DIRECTION, np.subtract(place, np.array(ratio.shape) // 2), strict=True)
    )
    return (
        f"{a.label} responds at least twice as strongly as {b.label} to "
        f"{(ratio >= least).sum():,} of {half.sum():,} waves, relatively most to "
        f"{pair(frequency)}: {times(a.response.waves[place])} and "
        f"{times(b.response.waves[place])}."
    )


def learned(checkpoint: Checkpoint, profile: "Profile") -> str:
    """Return the sentences on a trained network's response beside untrained ones."""
    directions = profile.nads.directions
    first = directions[:FIRST]
    after, before = (
        (run.along(first) ** 2).sum() / first.shape[1]
        for run in (checkpoint.after, checkpoint.before)
    )
    bands = "; ".join(
        f"{times(response)} to {name} waves ({times(checkpoint.before.bands[name])})"
        for name, response in checkpoint.after.bands.items()
    )
    rho = spearman(
        checkpoint.before.along(directions), checkpoint.after.along(directions)
    )
    return (
        f"Test accuracy is {checkpoint.accuracy:.1%} on {checkpoint.tested:,} images of "
        f"{checkpoint.images}, with {checkpoint.answers} of {checkpoint.classes} answers. "
        f"The architecture's first {len(first)} NADs hold {after:.1%} of its squared "
        f"response (before training {before:.1%}, by chance "
        f"{len(first) / first.shape[1]:.1%}). Its response is {bands}. Along all "
        f"{len(directions):,} NADs, Spearman's ρ of the responses before and after "
        f"training is {number(rho, 2)}."
    )
