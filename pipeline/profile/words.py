"""Numbers as words, and the sentences of the pages that take some counting."""

import numpy as np

from pipeline.measures.ranks import spearman
from pipeline.profile.result import Result
from pipeline.report.comparison import number
from pipeline.report.fourier import DIRECTION, pair

TILES = 6  # NADs at either end that are shown, and at the strong end compared between networks
FIRST = 10  # NADs of the architecture in which a trained network's response is counted
FLOOR = 1e-4  # response below which there is only rounding

SEEN = 0.9  # accuracy on new samples from which on a direction counts as seen
UNSEEN = 0.6  # accuracy up to which it counts as not seen; 0.5 is guessing


def floored(responses: np.ndarray) -> np.ndarray:
    """Responses of at least `FLOOR`, of which ratios can be taken."""
    return np.maximum(responses, FLOOR)


def times(value: float) -> str:
    """A response as text: ×14, ×0.031; below `FLOOR` it is 0."""
    return f"×{value if value > FLOOR else 0:.2g}" if value < 9.95 else f"×{value:.0f}"


def trained(result: Result) -> str:
    """The sentences on the accuracies of the trained networks."""
    rows = result.tried
    if rows.empty:
        return f"Every network that was trained at the learning rate {result.course.lr:g} diverged."
    seen, unseen = rows.index[rows["mean"] >= SEEN], rows.index[rows["mean"] <= UNSEEN]
    sentence = (
        f"Of {len(rows)} directions, each made equally easy, trained networks see {len(seen)} "
        f"({SEEN:.0%} or more right on new samples): {', '.join(seen) or 'none'}; they do not see "
        f"{len(unseen)} ({UNSEEN:.0%} or less; 50% is guessing): {', '.join(unseen) or 'none'}."
    )
    rho = spearman(rows["response"], rows["mean"])
    if len(rows) > 3 and not np.isnan(rho):
        sentence += f" Spearman's ρ of accuracy and response before training is {rho:.2f}."
    sentence = sentence.replace("-", "−")
    if not rows["fitted"].any():
        sentence += " No network was fitted: try another --lr, or more --minutes."
    return sentence


def learned(result: Result) -> str:
    """The sentences on a trained network's response, beside that of untrained ones."""
    checkpoint, nads = result.checkpoint, result.nads.directions
    before, after, first = checkpoint.before, checkpoint.after, nads[:FIRST]
    classes, answers = len(after.rows) // checkpoint.count, checkpoint.answers
    few = {1: ", with one answer for all", classes: ""}
    text = (
        f"Trained, it is right on {checkpoint.accuracy:.1%} of {checkpoint.tested:,} test images "
        f"of {checkpoint.images}{few.get(answers, f', with {answers} of {classes} answers')}. "
    )
    if not after.mean:
        return text + (
            f"At {checkpoint.count:,} of them it responds to nothing: no small change of an image "
            "changes its outputs, less their mean, as where all units of a layer are dead."
        )
    share = lambda run: f"{(run.along(first) ** 2).sum() / first.shape[1]:.1%}"
    bands = [
        f"to {name} waves is {times(response)}, before training {times(before.bands[name][1])}"
        for name, (_, response) in after.bands.items()
        if response is not None
    ]
    rho = spearman(before.along(nads), after.along(nads))
    compared = (
        f"Along the {len(nads):,} NADs the responses before and after training have Spearman's ρ = "
        f"{number(rho, 2)}."
    )
    return text + (
        f"Of its squared response at {checkpoint.count:,} of them "
        f"{share(after)} lies in the architecture's first {len(first)} NADs, before training "
        f"{share(before)}, by chance {len(first) / first.shape[1]:.1%}. Its response "
        f"{'; '.join(bands)}. "
        + (compared if before.mean else "Before training it responds to nothing.")
    )


def stronger(a: Result, b: Result) -> str:
    """The sentences on the waves and on the first NADs of network a to which a responds at least
    twice as strongly as network b, by two standard errors of the ratio."""
    least = 2 * np.exp(2 * np.hypot(a.uncertainty, b.uncertainty))
    against = lambda one, other: f"({times(one)} against {times(other)})"
    half, ratio = a.response.half, floored(a.response.waves) / floored(b.response.waves)
    more = half & (ratio >= least)
    sentence = f"{a.name} responds at least twice as strongly as {b.name} to "
    sentence += f"{more.sum():,} of {half.sum():,} waves"
    if more.any():
        shares = [
            f"{(more & band).sum()} of the {(half & band).sum()} {name} ones"
            for name, (band, _) in a.response.bands.items()
        ]
        most = np.unravel_index((ratio * half).argmax(), ratio.shape)
        strongest = pair(dict(zip(DIRECTION, np.subtract(most, np.array(ratio.shape) // 2))))
        numbers = against(a.response.waves[most], b.response.waves[most])
        sentence += f", {' and '.join(shares)} among them, most so to {strongest} {numbers}"
    if a.agreement < 0.5:
        return f"{sentence}. Single NADs of {a.name} are mostly chance and are not compared."
    own = a.relative[:TILES]
    others = b.response.along(a.nads.directions[:TILES])
    # Where all responses are alike, as those of logistic regression, no direction is special.
    clear = np.flatnonzero((floored(own) / floored(others) >= least) & (own >= 2))
    names = ", ".join(f"NAD {k} {against(own[k], others[k])}" for k in clear) or "none"
    return f"{sentence}; and of the first {len(own)} NADs of {a.name} to {len(clear)}: {names}."
