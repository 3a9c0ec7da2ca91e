"""What the figure, the table and the sentences of `convergence` show."""

import drawing
import numpy as np
import pandas as pd
import pytest
from small_run import ALL_FITTED, LENET, SIZES, SPREAD, captions, with_member

from pipeline.report import convergence
from pipeline.report.convergence import OURS, Speed

STEPS = {(0, 0): 20, (0, 8): 40, (8, 0): 1200, (8, 8): np.inf}
"""Of a network with four directions; (8, −8) and (−16, ·) are not in its grid."""

ACCURACY = {(0, 0): 0.9, (0, 8): 0.8, (8, 0): 0.7, (8, 8): 0.5}


def speed(values=STEPS, std=np.nan, limit=1580, label="Net", half=False, **known):
    """Deviations of steps are the part `std` of their means."""
    rows = [(*k, n, std * n if np.isfinite(n) else np.nan) for k, n in values.items()]
    steps = pd.DataFrame(rows, columns=["k_row", "k_col", "mean", "std"])
    return Speed(label, limit, steps, known, half)


def accuracies(values=ACCURACY, std=np.nan, fitted=True):
    """A table of accuracies, as `by_direction` gives them."""
    rows = [(*k, mean, std) for k, mean in values.items()]
    return pd.DataFrame(rows, columns=["k_row", "k_col", "mean", "std"]).assign(fitted=fitted)


def drawn(*speeds):
    return convergence.maps(speeds, "caption", "notice").axes


def test_directions_that_were_not_learned_come_last():
    one = speed(fourier=accuracies(), published=accuracies({(0, 0): 0.9, (4, 4): 0.1}))
    assert one.learned["mean"].tolist() == [20, 40, 1200]
    rho, p, count = one.correlation("fourier")
    assert (rho, count) == (pytest.approx(-1), 4) and p < 1e-6
    assert np.isnan(one.correlation("published")[0]) and one.correlation("published")[2] == 1
    tied = speed(
        {(0, 0): 5, (0, 8): np.inf, (8, 0): np.inf},
        fourier=accuracies({(0, 0): 0.7, (0, 8): 0.6, (8, 0): 0.9}),
    )
    # Ranks 1, 2.5, 2.5 against 2, 1, 3.
    assert tied.correlation("fourier")[0] == pytest.approx(0)


def test_maps_have_their_numbers_and_hatches():
    fast = speed({k: 10 for k in STEPS}, limit=100)
    fast, nothing, slow, beside, _ = drawn(fast, speed(fourier=accuracies()))
    # Of the axis −8, 0, 8 nothing is known at (8, −8) and (−8, 8).
    steps = [[np.inf, 1200, np.nan], [40, 20, 40], [np.nan, 1200, np.inf]]
    (image,) = slow.images
    expected = np.ma.masked_invalid(steps)
    assert np.array_equal(image.get_array().filled(0), expected.filled(0))
    assert (image.get_cmap().name, image.get_clim()) == (convergence.STEPS, (10, 1580))
    assert drawing.texts(slow) == {
        (1, 0): "1200", (0, 1): "40", (1, 1): "20", (2, 1): "40", (1, 2): "1200"
    }  # fmt: skip
    assert [patch.get_xy() for patch in slow.patches] == [(-0.5, -0.5), (1.5, 1.5)]
    assert not fast.patches and slow.get_title() == "Net\nhatched: not within 1,580 steps"
    assert beside.axison and not nothing.axison


def test_a_map_shows_the_steps_of_a_direction_and_its_transpose_at_both():
    one = speed({(8, 0): 20, (0, 0): 10, (8, 8): np.inf}, half=True)
    steps = drawn(one)[0].images[0].get_array().filled(np.nan)
    assert np.nansum(steps == 20) == 4 and np.array_equal(steps, steps.T, equal_nan=True)


def test_accuracies_stand_against_steps_and_those_of_directions_never_learned_beyond():
    known = {
        OURS: accuracies(std=0.02, fitted=[1, 0, 1, 1]),
        "published": accuracies({(8, 8): 0.6}, fitted=np.nan),
    }
    panel = drawn(speed(std=0.1, **known))[1]
    ours, published = drawing.curves(panel).items()
    assert ours[0] == "fourier: ρ = −1.00 (p < 0.001, 4 directions)"
    assert published[0] == "published: ρ undefined (1 directions)"
    assert ours[1][0] == [[20, 90], [40, 80], [1200, 70], [1.25 * 1580, 50]]
    assert published[1][0] == [[1.25 * 1580, 60]]
    across, up = ([s.tolist() for s in bars.get_segments()] for bars in panel.containers[0][2])
    np.testing.assert_allclose(across[:2], [[[18, 90], [22, 90]], [[36, 80], [44, 80]]])
    np.testing.assert_allclose(up[0], [[20, 88], [20, 92]])
    assert drawing.hollow(panel) == [[[40, 80]]]
    assert [line.get_xdata()[0] for line in panel.lines if line.get_linestyle() == ":"] == [1580]
    assert panel.get_xlabel().endswith("(right of the dotted line: not within 1,580)")


def numbers(*speeds):
    return convergence.numbers(speeds, "σ = 0.5", "σ = 3", "2 seeds")


def test_findings_say_how_soon_and_what_goes_with_it():
    none = speed(dict.fromkeys(STEPS, np.inf), limit=8, label="None")
    assert len(drawn(none)[0].patches) == 7
    one = speed(std=0.1, fourier=accuracies(), **{"published, full width": accuracies()})
    rho = "ρ = −1.00 (p < 0.001, 4 directions)"
    table, sentences = numbers(one, none)
    both = f"fourier: {rho}; published, full width: {rho}"
    assert table.rows == [
        ["Net", "3 of 4", "1,580", "20 ± 2 at (0, 0)", "40", "1,200 ± 120 at (8, 0)", both],
        ["None", "0 of 4", "8", "–", "–", "–", "–"],
    ]
    assert sentences == [
        "D(v) along Fourier directions (σ = 0.5, 2 seeds) is learned by Net after 20 ± 2 steps at "
        "(0, 0) at the earliest, 1,200 ± 120 steps at (8, 0) at the latest, and not within 1,580 "
        "along 1 of 4 directions; by None along none of 4 directions within 8 steps.",
        "Rank correlation of these steps with the accuracy along the same directions (σ = 3): "
        f"Net {rho} with the accuracies of `fourier`, {rho} with the published ones of full width: "
        "what is learned sooner generalises better.",
    ]
    worse = accuracies({k: 1 - value for k, value in ACCURACY.items()})
    assert numbers(speed(fourier=worse))[1][1].endswith("sooner generalises worse.")
    unlike = speed(fourier=worse, published=accuracies())
    assert numbers(unlike)[1][1].endswith(": no relation is established.")


def test_the_section(sections):
    section = sections["convergence"]
    caption = SIZES.format("1,234") + " · ε = 1, σ = 0.5" + SPREAD
    caption += " · learned: mean loss of 10 batches in a row at most 0.01"
    beside = f"accuracies: of the experiment fourier, ε = 1.5, σ = 3 · 2 seeds · {ALL_FITTED}"
    correlation = "ρ: rank correlation (Spearman) of steps and accuracy"
    assert section.caption == f"{caption} · {beside} · {correlation}"
    text = "steps until D(v) is learned"
    assert captions(section) == [("convergence_maps", text, f"{caption} {beside} {correlation}")]
    # Ten batches of 128 for 1,234 samples; two of the four directions are never learned.
    assert [row[1:3] for row in section.table.rows] == [["2 of 4", "30"], ["2 of 4", "20"]]
    published = [row[-1].partition("; ")[2].partition(":")[0] for row in section.table.rows]
    assert published == ["published, full width", "published"]


def test_accuracies_of_another_network_of_the_same_name_are_not_compared(whole):
    run, other = whole.experiments["convergence"], whole.experiments["fourier"]
    other = with_member(other, "a", specification=LENET | {"downsampling": "none"})
    assert list(convergence.speed_of("z", run, other, {}).accuracies) == [OURS]
    assert not convergence.speed_of("a", run, other, {}).accuracies
