"""The finding of each part of the page in one sentence, from the run's tables alone: numbers, no judgement."""

import numpy as np
import pandas as pd

from pipeline.experiments.poison import CLEAN
from pipeline.nads.plan import NADsPlan
from pipeline.project import artifacts
from pipeline.report.evaluated import Evaluated, evaluated
from pipeline.report.fourier import by_direction
from pipeline.report.frequencies import pair
from pipeline.report.labels import label
from pipeline.report.linear_pairs import at
from pipeline.report.nads import all_equal
from pipeline.report.page import Section, percent


def headline(name: str, section: Section) -> str:
    """The sentence that a part opens with; of parts that have none of their own, the first of their section's findings."""
    return WRITTEN[name]() if name in WRITTEN else next(iter(section.findings), "")


def _first(run: Evaluated) -> tuple[pd.DataFrame, str]:
    """The rows of summary.csv of the run's first architecture, and what figures call it."""
    name, text = next(iter(run.labels.items()))
    summary = run.summary()
    return summary[summary["architecture"] == name], text


def _text(row: pd.Series) -> str:
    """An accuracy in per cent, and that its networks were not fitted with every seed where that is so."""
    return f"{percent(row['mean'], row['std'])} %" + ("" if row["fitted"] == row["seeds"] else " (not fitted)")


def _n(rows: pd.DataFrame) -> str:
    count = int(rows["seeds"].min())
    return f"{count} seed" + ("s" if count > 1 else "")


def nads() -> str:
    """How much the derivative of untrained networks falls from the first NAD to the last: the steepest and the flattest."""
    plan, steep = NADsPlan.read(artifacts.planned("nads")), {}
    for name, member in plan.members.items():
        found = artifacts.nads(name)
        if found["networks"] and not all_equal(found):
            values = np.maximum(found["eigenvalues"], 1e-12 * found["eigenvalues"][0])
            steep[(values[0] / values[-1]) ** 0.5] = (
                f"{label(member.specification)} ({int(found['networks'])} networks, "
            )
            steep[(values[0] / values[-1]) ** 0.5] += f"relative error of C {float(found['error']):.2f})"
    if not steep:
        return ""
    ends = [
        f"{factor:,.{0 if factor >= 100 else 1}f} in {steep[factor]}"
        for factor in dict.fromkeys((max(steep), min(steep)))
    ]
    return f"From the first NAD to the last, the derivative of an untrained network falls by a factor of {', and of '.join(ends)}."


def nad_sweep() -> str:
    """Accuracy along the first and the last NAD that the sweep has, of its first network and estimand."""
    rows, text = _first(evaluated("nad_sweep"))
    rows = rows[(rows["test_set"] == "all") & (rows["estimand"] == rows["estimand"].iloc[0])].sort_values("index")
    ends = [f"to {_text(rows.iloc[at])} along NAD {rows['index'].iloc[at]}" for at in dict.fromkeys([0, len(rows) - 1])]
    return (
        f"{text} learns to separate D(u) {' and '.join(ends)}, where guessing gives 50 ({_n(rows)}); to a linear classifier all "
        "of its NADs are equally easy."
    )


def fourier() -> str:
    """Of the networks with most directions the one whose accuracies differ most, and the one whose lowest is the highest."""
    run = evaluated("fourier")
    rows = run.results[run.results["test_set"] == "all"]
    found = {}
    for name in run.labels:
        # `_text` asks how many of the seeds were fitted; here it is known whether all of them were.
        found[name] = by_direction(rows[rows["architecture"] == name]).sort_values("mean").assign(seeds=1)
    widest = max(found, key=lambda name: (len(found[name]), np.ptp(found[name]["mean"])))
    level = max(found, key=lambda name: found[name]["mean"].iloc[0])
    low, high = found[widest].iloc[0], found[widest].iloc[-1]
    said = [f"to {_text(end)} along the frequency {pair(end)}" for end in (high, low)]
    sentence = f"{run.labels[widest]} learns to separate D(v) {' and '.join(said)}"
    if level != widest:
        sentence += f"; {run.labels[level]} nowhere below {_text(found[level].iloc[0])}"
    return f"{sentence} ({run.seeds()})."


def linear_pairs() -> str:
    """Accuracy with either channel alone where the one stands early and the other late, of the first network."""
    rows, text = _first(evaluated("linear_pairs"))
    low, high = rows["index_1"].min(), rows["index_1"].max()
    said = []
    for place in dict.fromkeys([(low, high), (high, low)]):
        first, second = (at(rows, place).set_index("test_set").loc[test] for test in ("first", "second"))
        numbers = f"{_text(first)} from the first and {_text(second)} from the second"
        said.append(f"{numbers} where their NADs are {place[0]} and {place[1]}")
    return f"Of two channels that each suffice, {text} gets {', and '.join(said)} ({_n(rows)}; guessing gives 50)."


def image_pairs() -> str:
    """How often the linear channel's label wins against images of the other side, at either end of the first network's grid."""
    rows, text = _first(evaluated("image_pairs"))
    rows = rows[rows["test_set"] == "conflict"].sort_values("index")
    ends = dict.fromkeys([0, len(rows) - 1])
    said = [f"in {_text(rows.iloc[place])} of cases along NAD {rows['index'].iloc[place]}" for place in ends]
    return f"Where images and linear channel disagree, {text} follows the linear channel {' and '.join(said)} ({_n(rows)})."


def poison() -> str:
    """Accuracy on clean images of the first network: trained without carriers, and with them along each end of its grid."""
    rows, text = _first(evaluated("poison"))
    rows = rows[(rows["data"] == "images") & (rows["test_set"] == "clean")]
    if rows.empty:
        return ""
    carried = rows[rows["index"] != CLEAN].sort_values("index")
    said = [f"{_text(row)} after training on images as they are" for _, row in rows[rows["index"] == CLEAN].iterrows()]
    for place in dict.fromkeys([0, len(carried) - 1] if len(carried) else []):
        said.append(f"{_text(carried.iloc[place])} with the class written along NAD {carried['index'].iloc[place]}")
    return f"{text} recognises {', '.join(said)} ({_n(rows)}; clean test images)."


def flip() -> str:
    """Accuracy on images as they are and with their NAD coefficients in reverse order, of the first network."""
    rows, text = _first(evaluated("flip"))
    at_images = rows.set_index("images")
    return (
        f"{text} learns images to {_text(at_images.loc['plain'])}, and the same images with the order of their NAD coefficients "
        f"reversed, which loses nothing, to {_text(at_images.loc['flipped'])} ({_n(rows)})."
    )


WRITTEN = {each.__name__: each for each in (nads, nad_sweep, fourier, linear_pairs, image_pairs, poison, flip)}
"""The sentences by part."""
