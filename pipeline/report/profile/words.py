"""What the page of one network says, in sentences that hold their numbers with spread and n."""

import math
from statistics import NormalDist

import numpy as np
import pandas as pd

from pipeline.measures.fitted import FITTED
from pipeline.measures.ranks import spearman
from pipeline.nads import sweep
from pipeline.report.nads import AVERAGED
from pipeline.report.page import Table
from pipeline.report.profile.figures import times
from pipeline.report.profile.found import FEW, SEEN, UNSEEN, Found
from pipeline.training.single import BATCH, CLIP

ALIKE, NOTHING = 1.15, 1e-4
"""Factor up to which two responses count as alike; relative response from which on a direction has one, and not rounding."""


def size(found: Found) -> str:
    """The shape of an input: 3×64×64."""
    return "×".join(map(str, found.shape))


def minus(value: object) -> str:
    """A text with proper minus signs."""
    return str(value).replace("-", "−")


def per_cent(part: float, digits: int = 0) -> str:
    """A part of a whole in per cent."""
    return f"{100 * part:.{digits}f} %"


def with_error(value: float, error: float) -> str:
    """A value with its standard error, to the error's first digit: 4.4 ± 0.5."""
    digits = max(0, -math.floor(math.log10(error))) if error > 0 else 2
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def known(found: Found) -> str:
    """How well the response is known."""
    nads = found.nads
    if found.level:
        return (
            f"All directions respond alike within the errors of {nads.networks:,} untrained networks: this network prefers "
            "none, and any basis is one of NADs."
        )
    sentence = (
        f"the covariance behind these numbers has a relative error of {nads.error:.2f}, from {nads.networks:,} untrained networks; "
        f"of the first ten NADs of one half of these networks, {per_cent(found.agreement)} lies in the first ten of the other half"
    )
    if found.agreement < FEW:
        return (
            f"{sentence}. That is too little: a single NAD below is mostly chance. The frequencies are means over many directions "
            "and known better, and more minutes help."
        )
    return f"{sentence} (100 % if nothing were left to chance)."


def first(found: Found) -> str:
    """What the network responds to most."""
    if found.level:
        return known(found)
    if found.agreement < FEW:
        return (
            f"{found.nads.networks:,} untrained networks are too few to tell which single patterns this network responds to most: the "
            "pictures, the line and the responses along NADs below are mostly chance, too high for the first NADs and too low for the last."
        )
    relative, error = found.relative[0], found.nads.standard_errors[0]
    spread = relative * error / (2 * found.nads.eigenvalues[0])
    sentence = f"To its first NAD the untrained network responds {with_error(relative, spread)} times as strongly as to a random pattern"
    share = found.share
    if found.complete:
        half = int(np.searchsorted(share, 0.5)) + 1
        return (
            f"{sentence}; half of its whole response (of the squares' sum) lies in the first {half:,} of {found.dimension:,} directions, which are "
            f"{per_cent(half / found.dimension, 1)} of them."
        )
    return f"{sentence}; the first {len(share)} of {found.dimension:,} directions hold {per_cent(share[-1])} of its whole response (of the squares' sum)."


def coarse_and_fine(found: Found) -> tuple[float, float]:
    """Root mean square relative response to waves of up to a quarter, and of more than three quarters, of the finest frequency."""
    height, width = found.waves.shape
    rows, columns = np.abs(np.arange(height) - height // 2), np.abs(np.arange(width) - width // 2)
    reach = np.maximum((rows / (height / 2))[:, None], (columns / (width / 2))[None])
    return tuple(float(np.sqrt((found.waves[which] ** 2).mean())) for which in (reach <= 0.25, reach > 0.75))


def called(wave: tuple[int, int]) -> str:
    """A plane wave in words."""
    row, column = wave
    if wave == (0, 0):
        return "even brightness"
    down, across = (f"{abs(k)} period{'s' if abs(k) > 1 else ''}" for k in wave)
    if not row or not column:
        return f"{across} across the width" if not row else f"{down} down the height"
    return f"{down} down and {across} across" + (", rising" if row * column < 0 else "")


def waves(found: Found) -> str:
    """Which frequencies the network responds to."""
    coarse, fine = coarse_and_fine(found)
    (strongest,), (weakest,) = (found.extreme_waves(1, which) for which in (True, False))
    compared = "coarse and fine patterns about alike"
    if abs(math.log(coarse / fine)) > math.log(ALIKE):
        more, less, factor = ("coarse", "fine", coarse / fine) if coarse > fine else ("fine", "coarse", fine / coarse)
        compared = f"{more} patterns {factor:.2g} times as much as {less} ones"
    return (
        f"The untrained network responds to {compared}: to waves of up to a quarter of the finest frequency {coarse:.2g} times as strongly "
        f"as to a random pattern, and to those beyond three quarters {fine:.2g} times. Most of all waves it responds to "
        f"{called(strongest)} ({times(found.at_wave(strongest))}), and least to {called(weakest)} ({times(found.at_wave(weakest))}). Half of "
        f"its response to waves lies at {found.frequencies_of_half:,} of {found.waves.size:,} frequencies."
    )


def last(found: Found) -> str:
    """What it is expected not to see."""
    if found.level:
        return "Nothing sets a direction behind the others: before training they all move the output alike."
    if not found.complete:
        (weakest,) = found.extreme_waves(1, False)
        return (
            f"The last NADs are not known here: of {found.dimension:,} directions only the first {len(found.nads.directions)} were "
            f"sought, since all would take a matrix of {found.dimension:,}×{found.dimension:,}. What is known is the response to every "
            f"wave, and the weakest are below; least of all is that to {called(weakest)}, {times(found.at_wave(weakest))}."
        )
    value = found.relative[-1]
    how = (
        f"responds {many(1 / value)} times less than to a random pattern, and {many(found.relative[0] / value)} times less than to the first"
        if value > NOTHING
        else "does not respond at all, but for rounding"
    )
    return (
        f"To its last NAD the untrained network {how}. What distinguishes your classes along such directions it is expected to miss, "
        "or to learn late and not from few samples."
    )


def many(factor: float) -> str:
    """A factor to three digits: 8.41, 1,020."""
    rounded = float(f"{factor:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def accuracy(row: pd.Series) -> str:
    """An accuracy with its spread and n: 97.1 ± 0.4 % (3)."""
    spread = "" if np.isnan(row["std"]) else f" ± {100 * row['std']:.1f}"
    return f"{100 * row['mean']:.1f}{spread} % ({row['networks']:.0f})"


def listed(names: list[str]) -> str:
    """Names with commas and a last 'and'."""
    return minus(names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}")


def trained(found: Found) -> str:
    """What trained networks saw."""
    rows = found.tried
    if rows.empty:
        rates = ", ".join(f"{rate:g}" for rate in sweep.RATES)
        return (
            f"Every network that was trained diverged, at all learning rates that were tried ({rates}): what it learns is not "
            "known here."
        )
    work = f"networks trained in {found.sizes.epochs} passes through {found.sizes.samples:,} samples"
    if len(rows) == 1:
        (name,), (row,) = rows.index, rows.iloc
        return f"There was time for one direction alone, {minus(name)}: {work} are right on {accuracy(row)} of new samples."
    parts = []
    for text, some in (
        (f"see {{}} ({per_cent(SEEN)} or more right on new samples)", rows[rows["mean"] >= SEEN]),
        (f"do not see {{}} ({per_cent(UNSEEN)} or less; 50 % is guessing)", rows[rows["mean"] <= UNSEEN]),
    ):
        parts.append(text.format(len(some) or "none") + (f": {listed(some.index.tolist())}" if len(some) else ""))
    sentence = f"Of {len(rows)} directions, each made equally easy, {work} {parts[0]}, and {parts[1]}."
    if len(rows) > 3:
        rho, _ = spearman(rows["response"], rows["mean"])
        if not np.isnan(rho):
            number = minus(f"{rho:.2f}")
            sentence += f" Spearman's ρ of accuracy and response is {number} over these {len(rows)}: {meaning(rho)}."
    return sentence


def meaning(rho: float) -> str:
    """What a rank correlation of accuracy and response says."""
    if rho > 0.7:
        return "what moves the untrained output most is what is learned"
    if rho > 0.3:
        return "what moves the untrained output more tends to be learned better"
    return "here the untrained response does not tell what is learned"


def fitted(found: Found) -> str:
    """Which networks had not even fitted their training sets."""
    total, done = (int(found.tried[column].sum()) for column in ("networks", "fitted"))
    if done == total:
        return f"All {total} networks fitted their training sets."
    return (
        f"{done} of {total} networks fitted their training sets ({per_cent(FITTED)} or more right on what they were trained on). Of the "
        "others, hollow in the figure, the accuracy says what so short a training finds, and not that a longer one would find nothing."
    )


def training(found: Found) -> list[str]:
    """How networks were trained."""
    s, eps = found.sizes, sweep.amplitude(found.dimension, found.sizes.samples)
    said = [
        f"Each network is trained on {s.samples:,} samples of two classes in {s.epochs} passes and tested on {s.tests:,} new ones. A "
        f"sample is noise of standard deviation {sweep.SIGMA:g} in every direction but one, v; along v it is +{eps:.3g} for one class "
        f"and −{eps:.3g} for the other. So the classes can be told apart without error by looking along v, for every v alike: the mere "
        f"difference of the two classes' means would be right in {per_cent(NormalDist().cdf(sweep.REACH), 1)} of new samples."
    ]
    if found.lr is None:
        return said
    rate = (
        f"Stochastic gradient descent in batches of {BATCH}, its learning rate falling from {found.lr:g} to 0, gradients clipped at norm "
        f"{CLIP:g}, no momentum, no weight decay."
    )
    if found.lr != sweep.RATES[0]:
        tried = ", ".join(f"{each:g}" for each in sweep.RATES)
        rate += (
            f" The rate is smaller than the {sweep.RATES[0]:g} of the papers, by which the networks did not fit even along the first NAD; "
            f"of {tried} it is the first that fits, or else the one of least loss."
        )
    said.append(rate)
    if found.swept_with != found.nads.networks:
        said.append(
            f"The NADs among these directions are those of the first call, known from {found.swept_with:,} untrained networks then; "
            "their responses are those of all networks now."
        )
    return said


def table(found: Found) -> Table:
    """The numbers of the trained networks."""
    header = [
        "direction",
        "response, times a random pattern's",
        "accuracy on new samples (networks)",
        "on training samples",
    ]
    rows = [
        [
            minus(name),
            times(row["response"]),
            accuracy(row) if row["networks"] else "–",
            per_cent(row["train_accuracy"], 1) if row["networks"] else "–",
            f"{row['fitted']:.0f} of {row['networks']:.0f}",
            f"{row['diverged']:.0f}",
        ]
        for name, row in found.summary.iterrows()
    ]
    return Table([*header, "fitted", "diverged"], rows)


def estimated(found: Found) -> str:
    """How the response was taken."""
    nads = found.nads
    what = (
        f"the output's change between steps of ±{nads.step:g} in each input value, divided by {2 * nads.step:g}, as in the papers"
        if nads.estimand == "secant"
        else "the output's gradient with respect to the input, at a new standard-normal image for each network"
    )
    readout = "; the last linear layer is averaged over exactly" if nads.method == "readout" else ""
    symmetry = "" if nads.symmetry == "none" else f"; C is averaged over {AVERAGED[nads.symmetry]}"
    if symmetry and np.isfinite(nads.asymmetry):
        symmetry += f", which changes it by {per_cent(nads.asymmetry, 1)}"
    return f"The response is {what}, of {nads.networks:,} networks with weights drawn anew{readout}{symmetry}."
