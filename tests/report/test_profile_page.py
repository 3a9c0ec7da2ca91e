"""The page of one network: its numbers against a response that is known, its sentences, and that it needs nothing else."""

import html
import re
import types

import numpy as np
import pandas as pd
import pytest
from profile_found import found

from pipeline.nads import NADs
from pipeline.nads.response import Response, wave
from pipeline.report import profile
from pipeline.report.profile import figures, words

NO_RESULTS = pd.DataFrame(columns=["direction", "seed", "accuracy", "train_accuracy", "loss", "seconds"])


def text(page):
    """What a reader sees of a page, without its style and scripts."""
    body = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_relative_responses_are_multiples_of_a_random_directions():
    """The mean square of the multiples over all NADs, or over all waves, is 1."""
    both = found(), found(complete=False)
    assert (both[0].relative ** 2).mean() == pytest.approx(1)
    assert both[0].share[-1] == pytest.approx(1) and 0.3 < both[1].share[-1] < 1
    for each in both:
        assert (each.waves**2).mean() == pytest.approx(1, rel=1e-5)
        assert each.relative[0] == pytest.approx(np.sqrt(each.nads.eigenvalues[0] / each.mean))


def test_the_summary_holds_mean_spread_n_and_how_many_were_fitted():
    summary = found().summary
    assert summary.index.tolist() == ["NAD 0", "NAD 63"]
    first, last = summary.loc["NAD 0"], summary.loc["NAD 63"]
    assert (first["mean"], first["networks"], first["fitted"]) == (pytest.approx(0.98), 2, 2)
    assert first["std"] == pytest.approx(0.04 / np.sqrt(2))
    assert np.isnan(last["std"]) and (last["networks"], last["fitted"]) == (1, 0)
    assert words.accuracy(first) == "98.0 ± 2.8 % (2)" and words.accuracy(last) == "55.0 % (1)"
    said = words.trained(found())
    assert "see 1 (90 % or more right on new samples): NAD 0, and do not see 1" in said and "NAD 63" in said
    assert words.fitted(found()).startswith("2 of 3 networks fitted")


def test_networks_that_diverged_are_counted_and_no_accuracy_is_made_up():
    rows = pd.DataFrame([("NAD 0", 0, np.nan, np.nan, np.inf, np.nan)], columns=NO_RESULTS.columns)
    some = found(results=rows)
    assert some.summary.loc["NAD 0", "diverged"] == 1 and some.tried.empty
    assert "diverged, at all learning rates" in words.trained(some)
    page = text(profile.document(found(results=NO_RESULTS, lr=None)))
    assert "diverged, at all learning rates" in page and "nan" not in page.lower()


def test_the_weakest_and_the_strongest_waves_are_those_of_the_response():
    """C = e eᵀ of one wave, and a little of everything."""
    one = np.stack([wave(2, -1, (1, 8, 8)), *np.eye(64)])
    response = Response(one, np.array([100.0, *[1.0] * 64]), (1, 8, 8))
    some = found(response=response)
    assert some.extreme_waves(1, True) == [(2, -1)]
    assert some.at_wave((2, -1)) == pytest.approx(np.sqrt(51 / (164 / 64)))
    assert all(some.at_wave(each) == pytest.approx(np.sqrt(64 / 164)) for each in some.extreme_waves(6, False))
    assert "2 periods down and 1 period across, rising" in words.waves(some)
    # Twice 51 for it and its mirror image, and 62 others of 1: 82 of 164 are in the first two.
    assert some.frequencies_of_half == 2 and "lies at 2 of 64 frequencies" in words.waves(some)


@pytest.mark.parametrize(
    ("frequency", "said"),
    [((0, 0), "even brightness"), ((0, 3), "3 periods across the width"), ((1, 0), "1 period down the height")],
)
def test_waves_are_called_by_their_periods(frequency, said):
    assert words.called(frequency) == said


@pytest.mark.parametrize(
    ("value", "error", "said"), [(4.449, 0.46, "4.4 ± 0.5"), (14.2, 0.031, "14.20 ± 0.03"), (140.4, 23, "140 ± 23")]
)
def test_a_value_has_as_many_digits_as_its_error(value, error, said):
    assert words.with_error(value, error) == said


def test_a_network_without_preferences_gets_no_pictures_of_noise():
    nads = found().nads
    flat = dict(eigenvalues=np.ones(64), nearby=np.tile([0, 63], (64, 1)))
    level = found(nads=NADs(**vars(nads) | flat), response=Response(np.eye(64), np.ones(64), (1, 8, 8)))
    assert level.level
    page = profile.document(level)
    assert "prefers none" in text(page) and "the first NADs" not in page and 'id="live-nads"' not in page


def test_what_is_not_known_of_large_inputs_is_said_and_the_weakest_waves_stand_in():
    page = text(profile.document(found(complete=False)))
    assert "The last NADs are not known here: of 64 directions only the first 10 were sought" in page
    assert "The waves that it responds to least" in page
    whole = text(profile.document(found()))
    assert "not known here" not in whole and "The last NADs: patterns" in whole


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 6, 8), (2, 5, 5)])
def test_the_page_is_one_file_that_names_the_network_and_asks_for_nothing_else(shape, tmp_path):
    some = found(shape=shape)
    profile.write(some, tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page and "What does My &lt;net&gt; see" in page and "<net>" not in page
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)""", page) and "@import" not in page
    seen = text(page)
    assert "1,234 weights" in seen and "1.2 minutes on 2 cores" in seen and "python profile.py my_networks:Net" in seen
    assert "98.0 ± 2.8 % (2)" in seen and not re.search(r"\bnan\b|\binf\b|Undefined", seen)
    tables = {path.name for path in tmp_path.iterdir()}
    assert tables == {"index.html", "nads.npz", "networks.csv", "directions.csv", "waves.csv"}
    waves = pd.read_csv(tmp_path / "waves.csv")
    assert len(waves) == shape[1] * shape[2] and (waves["response"] ** 2).mean() == pytest.approx(1, rel=1e-4)
    np.testing.assert_array_equal(np.load(tmp_path / "nads.npz")["directions"], some.nads.directions)


def test_notices_and_directions_of_an_earlier_call_are_said():
    page = text(profile.document(found(notices=["Mind this."], swept_with=12)))
    assert "Mind this." in page and "known from 12 untrained networks then" in page


def test_poorly_known_nads_are_called_chance():
    poor = found(nads=NADs(**vars(found().nads) | {"overlap": np.full(64, 0.1)}))
    assert "too few to tell" in words.first(poor) and "too few" not in words.first(found())
    assert "mostly chance" in words.known(poor) and "mostly chance" not in words.known(found())


def test_one_direction_and_large_factors_are_said_in_words():
    alone = found().results.query("direction == 'NAD 0'")
    said = words.trained(found(results=alone))
    assert said.startswith(
        "There was time for one direction alone, NAD 0: networks trained in 3 passes through 1,000 samples are right on "
    )
    assert said.endswith(" 98.0 ± 2.8 % (2) of new samples.")
    assert [words.many(factor) for factor in (8.4123, 84.12, 1019.4, 8.51e6)] == ["8.41", "84.1", "1,020", "8,510,000"]


@pytest.mark.parametrize("shape", [(32, 32), (24, 48), (48, 24)])
def test_no_label_of_the_map_is_cut_off(shape):
    """Of a network that reads patches, whose few frequencies stand far above the others."""
    waves = np.full(shape, 0.01)
    waves[::8, ::8] = 8.3
    figure = figures.frequency_map(types.SimpleNamespace(waves=waves))
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    for panel in figure.axes:
        box = panel.get_tightbbox(renderer)
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


def test_ticks_are_round_numbers():
    assert figures.round_numbers(0.43, 4.4) == pytest.approx([0.5, 1, 2])
    assert figures.round_numbers(1.1, 1.9) == [1.1, 1.9]
    assert [figures.times(value) for value in (0.0312, 2.34, 14.2)] == ["×0.031", "×2.3", "×14"]


def test_a_smaller_learning_rate_is_said():
    assert "smaller than the 0.5 of the papers" in " ".join(words.training(found(lr=0.125)))
    assert "smaller" not in " ".join(words.training(found()))
