"""The sentences of the page that depend on numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pipeline.measures.ranks import spearman
from pipeline.profile.checkpoint import Checkpoint
from pipeline.profile.plan import INDICES
from pipeline.report.fourier import format_frequency
from pipeline.report.numbers import format_number

if TYPE_CHECKING:
    from pipeline.profile.page import Profile

FIRST = 10  # NADs of the architecture in which a trained network's response is counted
FLOOR = 1e-4  # response below which there is only rounding

SEEN = 0.9  # test accuracy from which on a network sees a direction
UNSEEN = 0.6  # test accuracy up to which it does not; chance is 0.5

KNOWN = 0.15  # relative error of C up to which NADs count as known
NOISY = 0.5  # relative error of C above which they are mostly sampling error


def limit_below(responses: np.ndarray) -> np.ndarray:
    """Limit responses to at least `FLOOR`, so that ratios can be taken."""
    return np.maximum(responses, FLOOR)


def format_response(value: float) -> str:
    """Format a response: ×14, ×0.031, and ×0 below `FLOOR`."""
    if value <= FLOOR:
        return "×0"
    return f"×{value:.2g}" if value < 9.95 else f"×{value:.0f}"


def format_percent(share: float, digits: int = 0) -> str:
    """Format a share: '90 %'."""
    return f"{100 * share:.{digits}f} %"


def format_indices(indices: Sequence[int]) -> str:
    """Format NAD indices, such as 'NAD 0, 18'."""
    return f"NAD {', '.join(map(str, indices)) or 'none'}"


def describe_seen(profile: "Profile") -> str:
    """Describe what a network is sensitive to and learns."""
    first = profile.response.along(profile.nads.directions[:1])[0]
    texts = [f"{format_response(first)} to its first NAD"]
    for name, response in profile.response.bands.items():
        texts.append(f"{format_response(response)} to {name} waves")
    rows = profile.accuracies
    seen = format_indices(rows.index[rows["mean"] >= SEEN])
    return (
        f"Before training, its response relative to a random pattern is "
        f"{', '.join(texts)}. Test accuracy is at least {format_percent(SEEN)} along "
        f"{seen}."
    )


def split_missed(profile: "Profile") -> tuple[list[int], list[int]]:
    """Split the indices of the NADs that are not learned into those along which all
    networks are fitted, and those along which a longer training may do better."""
    rows = profile.accuracies
    missed = rows[rows["mean"] <= UNSEEN]
    fitted = missed["fitted"] == missed["seeds"]
    return missed.index[fitted].tolist(), missed.index[~fitted].tolist()


def describe_missed(profile: "Profile") -> str:
    """Describe what a network may fail to see."""
    memorised, undecided = split_missed(profile)
    weakest = profile.response.frequencies.iloc[0]
    low = format_percent(UNSEEN)
    texts = []
    if memorised:
        texts.append(
            f"Test accuracy is at most {low} along {format_indices(memorised)}, "
            "although the network fits its training set."
        )
    if undecided:
        texts.append(
            f"Not decided: test accuracy is at most {low} along "
            f"{format_indices(undecided)}, but not every network fits its training "
            "set, so a longer training may learn them."
        )
    if not texts:
        texts.append(f"Test accuracy is above {low} along all NADs tried.")
    rows = profile.accuracies
    in_part = rows.index[(rows["mean"] > UNSEEN) & (rows["mean"] < SEEN)].tolist()
    if in_part:
        high = format_percent(SEEN)
        along = format_indices(in_part)
        texts.append(f"Test accuracy is between {low} and {high} along {along}.")
    texts.append(
        f"The weakest response to a wave is {format_response(weakest['response'])}, "
        f"at {format_frequency(weakest)}."
    )
    return " ".join(texts)


def advise(profile: "Profile") -> str:
    """Advise what to do about a network."""
    if profile.nads.error > NOISY:
        return "Give more --minutes or a smaller --input: its NADs are mostly noise."
    if not profile.fitted:
        return "Give more --minutes, or try --lr 0.1: no trained network is fitted."
    memorised, undecided = split_missed(profile)
    texts = []
    if memorised:
        texts.append(
            f"If your classes differ along {format_indices(memorised)}, change its "
            "strides, poolings or patches, or filter, rescale or crop the images."
        )
    if undecided:
        texts.append(
            f"Give more --minutes to decide whether it misses "
            f"{format_indices(undecided)}."
        )
    if texts:
        return " ".join(texts)
    count = len(profile.accuracies)
    more = " Give more --minutes to try more." if count < INDICES[1] else ""
    return f"Nothing: it misses none of the {count} NADs tried.{more}"


def describe_trust(profile: "Profile") -> str:
    """Describe what the numbers of one network can be trusted for."""
    error = profile.nads.error
    first, last = profile.nads.nearby.T
    known = "All NADs are known"
    if (first < last).any():
        known = "NADs with nearly equal eigenvalues are known only as a group"
    if error > KNOWN:
        known = "The first NADs are known, single later ones are not"
    if last[0] > 0:
        known = f"NADs 0 to {last[0]} are known only as a group"
        if error > KNOWN:
            known += ", and single later ones are not known"
    if error > NOISY:
        known = "NADs are mostly noise"
    fitted = f"Fitted: {profile.fitted} of {len(profile.rows)} networks."
    if profile.fitted < len(profile.rows):
        fitted += " An accuracy without fit says nothing about longer training."
    return f"Relative error of C: {error:.2f}. {known}. {fitted}"


def compare(a: "Profile", b: "Profile") -> str:
    """Count the waves to which network a responds at least twice as strongly as b, by
    two standard errors of the ratio."""
    error_a = a.nads.standard_errors[0] / a.nads.eigenvalues[0]
    error_b = b.nads.standard_errors[0] / b.nads.eigenvalues[0]
    # The relative error of √λ is half of that of λ.
    least = 2 * np.exp(np.hypot(error_a, error_b))
    half = a.response.is_first_of_pair
    ratio = half * limit_below(a.response.waves) / limit_below(b.response.waves)
    place = np.unravel_index(ratio.argmax(), ratio.shape)
    rows, columns = ratio.shape
    frequency = {"k_row": place[0] - rows // 2, "k_col": place[1] - columns // 2}
    return (
        f"{a.label} responds at least twice as strongly as {b.label} to "
        f"{(ratio >= least).sum():,} of {half.sum():,} waves, relatively most to "
        f"{format_frequency(frequency)}: {format_response(a.response.waves[place])} "
        f"and {format_response(b.response.waves[place])}."
    )


def describe_checkpoint(checkpoint: Checkpoint, profile: "Profile") -> str:
    """Describe a trained network's response beside that of untrained ones."""
    directions = profile.nads.directions
    first = directions[:FIRST]
    count, dimension = first.shape
    before = (checkpoint.before.along(first) ** 2).sum() / dimension
    after = (checkpoint.after.along(first) ** 2).sum() / dimension
    bands = []
    for name, response in checkpoint.after.bands.items():
        untrained = format_response(checkpoint.before.bands[name])
        bands.append(f"{format_response(response)} to {name} waves ({untrained})")
    rho = spearman(
        checkpoint.before.along(directions), checkpoint.after.along(directions)
    )
    return (
        f"Test accuracy is {format_percent(checkpoint.accuracy, 1)} on "
        f"{checkpoint.tested:,} images of {checkpoint.images}; it gives "
        f"{checkpoint.answers} of the {checkpoint.classes} answers. The architecture's "
        f"first {count} NADs hold {format_percent(after, 1)} of its squared response "
        f"(before training {format_percent(before, 1)}, by chance "
        f"{format_percent(count / dimension, 1)}). Its response is {'; '.join(bands)}. "
        f"Along all {len(directions):,} NADs, Spearman's ρ of the responses before and "
        f"after training is {format_number(rho, 2)}."
    )
