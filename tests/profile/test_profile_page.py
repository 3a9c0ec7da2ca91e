"""The page of one network: its numbers against a response that is known, its sentences, and that it
needs nothing else."""

import dataclasses
import html
import re

import numpy as np
import pandas as pd
import pytest

from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation
from pipeline.nads.estimator import Estimator
from pipeline.nads.leading import Leading
from pipeline.profile import figures, page, words
from pipeline.profile.response import Response, wave
from pipeline.profile.result import Result
from pipeline.profile.trained import Sizes

COLUMNS = ["direction", "seed", "accuracy", "train_accuracy", "seconds"]


def profile(complete=True, shape=(1, 8, 8), **others):
    """A profile of 40 networks whose response falls along the pixels, and of networks trained along
    two of its NADs."""
    dimension = int(np.prod(shape))
    rng, fall = np.random.default_rng(0), np.geomspace(1, 0.05, dimension)
    samples = [(fall * rng.standard_normal((4, dimension))).astype(np.float32) for _ in range(40)]
    estimation = Estimation(Covariance(shape) if complete else Leading(shape, 10), 40)
    for sample in samples:
        estimation.accumulator.add(sample)
    nads = estimation.nads(Estimator("gradient", "plain", 100.0, "many", False, False))
    rows, weights = nads.directions, nads.eigenvalues
    if not complete:
        rows, weights = np.concatenate(samples), np.full(160, 1 / 40)
    last = f"NAD {len(nads.directions) - 1}"
    cells = [("NAD 0", 0, 1.0, 1.0), ("NAD 0", 1, 0.96, 1.0), (last, 0, 0.55, 0.6)]
    whole = dict(
        name="My <net>",
        command="python profile my_networks:Net",
        parameters=1234,
        nads=nads,
        response=Response(rows, weights, shape),
        directions={"NAD 0": nads.directions[0], last: nads.directions[-1]},
        trained=pd.DataFrame([(*cell, 1.0) for cell in cells], columns=COLUMNS),
        sizes=Sizes(1000, 3, 500),
        lr=0.5,
        notices=[],
    )
    return Result(**whole | others)


def text(result):
    """What a reader sees of a profile's page."""
    body = re.sub(r"<style\b.*?</style>", "", page.document(result), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_relative_responses_are_multiples_of_a_random_directions():
    """The mean square of the multiples over all NADs, or over all waves, is 1."""
    whole, part = profile(), profile(complete=False)
    assert whole.complete and not part.complete
    assert (whole.relative**2).mean() == pytest.approx(1)
    for each in (whole, part):
        assert (each.waves**2).mean() == pytest.approx(1, rel=1e-5)


def test_the_summary_holds_mean_spread_n_and_how_many_were_fitted():
    summary = profile().summary
    assert summary.index.tolist() == ["NAD 0", "NAD 63"]
    first, last = summary.loc["NAD 0"], summary.loc["NAD 63"]
    assert first["response"] == pytest.approx(profile().relative[0], rel=1e-5)
    assert (first["mean"], first["networks"], first["fitted"]) == (pytest.approx(0.98), 2, 2)
    assert first["std"] == pytest.approx(0.04 / np.sqrt(2))
    assert np.isnan(last["std"]) and (last["networks"], last["fitted"]) == (1, 0)
    assert [figures.times(value) for value in (0.0312, 14.2, 1e-9)] == ["×0.031", "×14", "×0"]
    assert words.accuracy(first) == "98.0 ± 2.8 % (2)" and words.accuracy(last) == "55.0 % (1)"
    sentence = words.trained(profile())
    assert "see 1 (90% or more right on new samples): NAD 0; they do not see 1" in sentence
    assert "try another --lr" not in sentence


def test_networks_that_diverged_or_were_not_fitted_are_counted_and_no_accuracy_is_made_up():
    rows = pd.DataFrame([("NAD 0", 0, np.nan, np.nan, 1.0)], columns=COLUMNS)
    some = profile(trained=rows)
    assert some.summary.loc["NAD 0", "diverged"] == 1 and some.tried.empty
    assert words.accuracy(some.summary.loc["NAD 0"]) == "–"
    sentences = text(some)
    assert "trained at the learning rate 0.5 diverged" in sentences
    assert not re.search(r"\bnan\b", sentences)
    rows = pd.DataFrame([("NAD 0", 0, 0.6, 0.7, 1.0)], columns=COLUMNS)
    assert "try another --lr" in words.trained(profile(trained=rows)), "none was fitted"


def test_the_weakest_and_the_strongest_waves_are_those_of_the_response():
    """C = e eᵀ of one wave, and a little of everything."""
    rows = np.stack([wave(2, -1, (1, 8, 8)), *np.eye(64)])
    some = profile(response=Response(rows, np.array([100.0, *[1.0] * 64]), (1, 8, 8)))
    # 4 frequencies of 64 are their own mirror images.
    assert len(some.frequencies) == 34
    *weak, strongest = some.frequencies.itertuples(index=False)
    assert strongest == (2, -1, pytest.approx(np.sqrt(51 / (164 / 64))))
    assert all(each.response == pytest.approx(np.sqrt(64 / 164)) for each in weak)
    assert "of all waves most to (2, −1) (×4.5)" in words.waves(some)


def test_what_is_not_known_of_large_inputs_is_said_and_the_weakest_waves_stand_in():
    part = text(profile(complete=False))
    assert "The last NADs are not known here: of 64 directions only the first 10 were" in part
    assert "The waves that it responds to least" in part
    whole = text(profile())
    assert "not known here" not in whole and "The last NADs: patterns" in whole


def known(name, vectors, error=0.0, agreement=1.0):
    """A profile of inputs 1×8×8 with C = 1 and 100 more along each of some orthonormal vectors,
    whose eigenvalues have a relative standard error."""
    some = profile(name=name)
    directions = np.linalg.qr(np.concatenate([vectors, np.eye(64)]).T)[0].T
    values = np.where(np.arange(64) < len(vectors), 101.0, 1.0)
    nads = dataclasses.replace(
        some.nads,
        directions=directions,
        eigenvalues=values,
        standard_errors=error * values,
        overlap=np.full(64, agreement),
    )
    return dataclasses.replace(some, nads=nads, response=Response(directions, values, (1, 8, 8)))


COARSE, FLAT = known("Coarse", wave(1, 0, (1, 8, 8))[None]), known("Flat", np.zeros((0, 64)))


def test_what_one_network_responds_to_and_another_hardly_does_is_counted():
    """The wave (1, 0) has half the energy of `wave`: √((50 + 1)/(164/64)) = 4.5."""
    sentences = words.stronger(COARSE, FLAT)
    assert (
        "Coarse responds at least twice as strongly as Flat to 1 of 34 waves, 1 of the 5 coarse"
        in (sentences)
    )
    assert "0 of the 9 fine ones among them, most so to (1, 0) (×4.5 against ×1)" in sentences
    assert "first 6 NADs of Coarse to 1: NAD 0 (×6.3 against ×1)." in sentences
    # √(1/(164/64)) = 0.62 is more than half.
    assert words.stronger(FLAT, COARSE) == (
        "Flat responds at least twice as strongly as Coarse to 0 of 34 waves; and of the first 6 "
        "NADs of Flat to 0: none."
    )
    # Its NADs are arbitrary, and the other network may respond to some of them by chance.
    blind = dataclasses.replace(COARSE, response=Response(np.eye(64)[8:], np.ones(56), (1, 8, 8)))
    assert (blind.along(FLAT.nads.directions[:6]) == 0).all()
    assert words.stronger(FLAT, blind).endswith("NADs of Flat to 0: none.")


def test_a_ratio_counts_where_it_exceeds_two_by_two_standard_errors():
    """That of eigenvalues is twice that of responses: ratios of 4.5 and 6.3, and 2·e^(2·0.45) = 4.9
    or 2·e^(2·0.39) = 4.4."""
    for error, count in ((0.78, 1), (0.9, 0)):
        some = known("Coarse", wave(1, 0, (1, 8, 8))[None], error)
        assert some.uncertainty == pytest.approx(error / 2)
        sentences = words.stronger(some, FLAT)
        assert f"to {count} of 34 waves" in sentences and "Coarse to 1: NAD 0" in sentences
        # The other network's error counts alike.
        assert f"to {count} of 34 waves" in words.stronger(
            COARSE, known("Flat", np.zeros((0, 64)), error)
        )


def test_single_nads_that_are_mostly_chance_are_not_compared():
    some = known("Coarse", wave(1, 0, (1, 8, 8))[None], agreement=0.49)
    sentences = words.stronger(some, FLAT)
    assert "Single NADs of Coarse are mostly chance" in sentences and "NAD 0" not in sentences


def test_ratios_have_a_panel_for_each_pair():
    third = known("Third", wave(0, 3, (1, 8, 8))[None])
    *panels, _ = figures.ratios([COARSE, FLAT, third]).axes
    assert [panel.get_title() for panel in panels] == [
        "Coarse\n÷ Flat",
        "Coarse\n÷ Third",
        "Flat\n÷ Third",
    ]
    ratio = panels[1].images[0].get_array()
    assert ratio[5, 4] == pytest.approx(np.sqrt(51)) == 1 / ratio[4, 7] and ratio[0, 0] == 1


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 6, 8), (1, 1, 16)])
@pytest.mark.parametrize("complete", [True, False])
def test_the_page_that_compares_names_and_links_every_network(shape, complete, tmp_path):
    diverged = pd.DataFrame([("NAD 0", 0, np.nan, np.nan, 1.0)], columns=COLUMNS)
    some = [profile(complete, shape, notices=["Mind this."]), profile(complete, shape, name="B")]
    some.append(profile(complete, shape, name="C", trained=diverged))
    page.write_comparison(some, ["a/index.html", "b/index.html", "c/index.html"], tmp_path)
    document = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "What does one of My &lt;net&gt;, B and C see" in document and "<net>" not in document
    for link in "abc":
        assert document.count(f'<a href="{link}/index.html">') == 2
    assert document.count("Mind this.") == 1 and document.count('class="finding"') == 6
    seen = html.unescape(re.sub(r"<[^>]*>|base64[^>]*", " ", document))
    assert not re.search(r"\bnan\b|\binf\b", seen)


@pytest.mark.parametrize("shape", [(1, 1, 16), (2, 16, 1)])
def test_inputs_of_one_row_or_column_have_curves(shape):
    some = profile(shape=shape)
    pixels, energy = figures.of_nads(some, [3]).axes
    vectors = some.nads.directions[3].reshape(shape[0], 16)
    drawn = [line.get_ydata() for line in pixels.lines]
    np.testing.assert_allclose(drawn, vectors / np.abs(vectors).max())
    assert len(energy.lines[0].get_ydata()) == 16 and not pixels.images + energy.images
    (curve,) = figures.frequency_map(some).axes[0].lines
    np.testing.assert_allclose(curve.get_ydata(), some.waves.ravel()[8:])
    seen = text(some)
    assert "NADs as curves" in seen and "8 here" in seen and "Bright frequencies" not in seen


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 6, 8), (2, 5, 5), (1, 1, 16)])
def test_the_page_is_one_file_that_names_the_network_and_asks_for_nothing_else(shape, tmp_path):
    some = profile(shape=shape, notices=["Mind this."])
    page.write(some, tmp_path)
    document = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "What does My &lt;net&gt; see" in document and "<net>" not in document
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", document)
    seen = text(some)
    for part in ("Mind this.", "1,234 weights", "python profile my_networks:Net", "98.0 ± 2.8 %"):
        assert part in seen
    assert not re.search(r"\bnan\b|\binf\b", seen)
    tables = {path.name for path in tmp_path.iterdir()}
    assert tables == {"index.html", "nads.npz", "networks.csv", "directions.csv", "waves.csv"}
    kept = np.load(tmp_path / "nads.npz")["directions"]
    np.testing.assert_array_equal(kept, some.nads.directions)
