"""The sentences of one network's page, and of the page that compares several; their numbers carry
their spread and n."""

import numpy as np
import pandas as pd

from pipeline.measures.ranks import spearman
from pipeline.profile.figures import TILES, floored, times
from pipeline.profile.result import Result

SEEN, UNSEEN = 0.9, 0.6
"""Accuracies on new samples from which a direction counts as seen, and up to which as not seen; 0.5
is guessing."""

TWICE = 2
"""Ratio of two networks' relative responses from which the one counts as stronger."""

AGREEING = 0.5
"""Agreement of the two halves' NADs below which a single NAD is mostly chance."""


def accuracy(row: pd.Series) -> str:
    """An accuracy with its spread and n: 97.1 ± 0.4 % (3)."""
    if not row["networks"]:
        return "–"
    spread = "" if np.isnan(row["std"]) else f" ± {100 * row['std']:.1f}"
    return f"{100 * row['mean']:.1f}{spread} % ({row['networks']:.0f})"


def strongly(value: float) -> str:
    """A relative response as words: 5.5 times as strongly as to a random pattern."""
    return f"{times(value)[1:]} times as strongly as to a random pattern"


def agreement(result: Result) -> float:
    """The share of the first ten NADs of one half of the untrained networks that lies in the first
    ten of the other half."""
    overlap = result.nads.overlap[:10]
    return float(overlap[np.isfinite(overlap)][-1])


def known(result: Result) -> str:
    """The sentences on the error of C and the agreement of its two halves."""
    return (
        f"The covariance C behind these numbers has a relative error of {result.nads.error:.2f}, "
        f"from {result.nads.networks:,} untrained networks; of the first ten NADs of one half, "
        f"{100 * agreement(result):.0f} % lies in the first ten of the other half. Below 50 % a "
        "single NAD is mostly chance, and responses along NADs are too high for the first and too "
        "low for the last. Frequencies are means over many directions and known better."
    )


def first(result: Result) -> str:
    """The sentence on the strongest response."""
    share = np.cumsum(result.relative**2) / result.dimension
    half = int(np.searchsorted(share, 0.5)) + 1
    part = f"first {half:,} of {result.dimension:,} directions hold half"
    if half > len(share):
        part = f"first {len(share):,} of {result.dimension:,} directions hold {share[-1]:.0%}"
    strength = strongly(result.relative[0])
    return f"To its first NAD the untrained network responds {strength}; the {part} of it all."


def waves(result: Result) -> str:
    """The sentence on the response by spatial frequency."""
    (_, coarse), (_, fine) = result.bands.values()
    least, most = result.frequencies.iloc[0], result.frequencies.iloc[-1]
    of = lambda wave: f"({wave['k_row']:.0f}, {wave['k_col']:.0f}) ({times(wave['response'])})"
    return (
        f"To waves of up to a quarter of the finest frequency the untrained network responds "
        f"{strongly(coarse)}, and {times(fine)[1:]} times to those beyond three quarters; of all "
        f"waves most to {of(most)}, and least to {of(least)}."
    ).replace("-", "−")


def last(result: Result) -> str:
    """The sentences on the weakest response, and on what such a network is expected to miss."""
    if not result.complete:
        return (
            f"The last NADs are not known here: of {result.dimension:,} directions only the first "
            f"{len(result.nads.directions)} were sought. The weakest waves stand in for them."
        )
    return (
        f"To its last NAD the untrained network responds {strongly(result.relative[-1])}. What "
        "distinguishes your classes along such directions it is expected to miss, or to learn late "
        "and not from few samples."
    )


def trained(result: Result) -> str:
    """The sentences on the accuracies of the trained networks."""
    rows = result.tried
    if rows.empty:
        return f"Every network that was trained at the learning rate {result.lr:g} diverged."
    seen, unseen = rows.index[rows["mean"] >= SEEN], rows.index[rows["mean"] <= UNSEEN]
    sentence = (
        f"Of {len(rows)} directions, each made equally easy, trained networks see {len(seen)} "
        f"({SEEN:.0%} or more right on new samples): {', '.join(seen) or 'none'}; they do not see "
        f"{len(unseen)} ({UNSEEN:.0%} or less; 50% is guessing): {', '.join(unseen) or 'none'}."
    )
    rho, _ = spearman(rows["response"], rows["mean"])
    if len(rows) > 3 and not np.isnan(rho):
        sentence += f" Spearman's ρ of accuracy and response before training is {rho:.2f}."
    sentence = sentence.replace("-", "−")
    if not rows["fitted"].any():
        sentence += " No network was fitted: try another --lr, or more --minutes in a new --output."
    return sentence


def stronger(a: Result, b: Result) -> str:
    """The sentences on the waves and on the first NADs of network a to which a responds at least
    `TWICE` as strongly as network b, by two standard errors of the ratio."""
    least = TWICE * np.exp(2 * np.hypot(a.uncertainty, b.uncertainty))
    against = lambda one, other: f"({times(one)} against {times(other)})"
    waves = a.frequencies.merge(b.frequencies, on=["k_row", "k_col"], suffixes=("_a", "_b"))
    ratio = floored(waves["response_a"]) / floored(waves["response_b"])
    more = waves[ratio >= least]
    sentence = f"{a.name} responds at least twice as strongly as {b.name} to "
    sentence += f"{len(more):,} of {len(waves):,} waves"
    if len(more):
        row, column = (side // 2 for side in a.waves.shape)
        shares = []
        for name, (band, _) in a.bands.items():
            inside, every = (band[at["k_row"] + row, at["k_col"] + column] for at in (more, waves))
            shares.append(f"{inside.sum()} of the {every.sum()} {name} ones")
        most = waves.loc[ratio.idxmax()]
        place = f"({most['k_row']:.0f}, {most['k_col']:.0f})".replace("-", "−")
        numbers = against(most["response_a"], most["response_b"])
        sentence += f", {' and '.join(shares)} among them, most so to {place} {numbers}"
    if agreement(a) < AGREEING:
        return f"{sentence}. Single NADs of {a.name} are mostly chance and are not compared."
    own = a.relative[:TILES]
    others = b.along(a.nads.directions[:TILES])
    # Where all responses are alike, as those of logistic regression, no direction is special.
    clear = np.flatnonzero((floored(own) / floored(others) >= least) & (own >= TWICE))
    names = ", ".join(f"NAD {k} {against(own[k], others[k])}" for k in clear) or "none"
    return f"{sentence}; and of the first {len(own)} NADs of {a.name} to {len(clear)}: {names}."
