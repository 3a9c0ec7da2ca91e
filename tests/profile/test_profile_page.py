"""The pages: their numbers against a response that is known, their sentences, the tables behind
them, and that they need nothing else."""

import dataclasses
import html
import re
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from pipeline.nads import NADs
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation
from pipeline.nads.estimator import Estimator
from pipeline.nads.jacobian import Sampler
from pipeline.nads.leading import Leading
from pipeline.profile import page, words
from pipeline.profile.response import Response, wave
from pipeline.profile.result import Result
from pipeline.profile.trained import Course

COLUMNS = ["direction", "seed", "accuracy", "train_accuracy"]
DIVERGED = pd.DataFrame([("NAD 0", 0, np.nan, np.nan)], columns=COLUMNS)


def profile(complete=True, shape=(1, 8, 8), **others):
    """A profile of 40 networks whose response falls along the pixels, and of networks trained along
    two of its NADs."""
    dimension = int(np.prod(shape))
    rng, fall = np.random.default_rng(0), np.geomspace(1, 0.05, dimension)
    samples = [(fall * rng.standard_normal((4, dimension))).astype(np.float32) for _ in range(40)]
    estimator = Estimator("gradient", "plain", 100.0, "many", False, False)
    networks = Sampler(None, shape, (0, "profile"), estimator)
    estimation = Estimation(networks, Covariance(shape) if complete else Leading(shape, 10), 40)
    for sample in samples:
        estimation.accumulator.add(sample)
    nads = estimation.nads()
    rows = np.sqrt(nads.eigenvalues)[:, None] * nads.directions
    if not complete:
        rows = np.concatenate(samples) / np.sqrt(40)
    last = f"NAD {len(nads.directions) - 1}"
    cells = [("NAD 0", 0, 1.0, 1.0), ("NAD 0", 1, 0.96, 1.0), (last, 0, 0.55, 0.6)]
    whole = dict(
        name="My <net>",
        command="python profile my_networks:Net",
        parameters=1234,
        nads=nads,
        response=Response(rows, shape),
        directions={"NAD 0": nads.directions[0], last: nads.directions[-1]},
        course=Course({}, shape, 1000, 500, 0.5, "cpu"),
        trained=pd.DataFrame(cells, columns=COLUMNS),
        notices=[],
    )
    return Result(**whole | others)


def text(document):
    """What a reader sees of a page."""
    body = re.sub(r"<style\b.*?</style>", "", document, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def page_of(result):
    """What a reader sees of a network's page, whose figures are not drawn to the end."""
    with mock.patch.object(page, "shown", lambda figure, text, caption: caption):
        return text(page.rendered("page.html.j2", [result]))


def test_the_summary_holds_mean_spread_n_and_how_many_were_fitted():
    summary = profile().summary
    assert summary.index.tolist() == ["NAD 0", "NAD 63"]
    first, last = summary.loc["NAD 0"], summary.loc["NAD 63"]
    assert first["response"] == pytest.approx(profile().relative[0], rel=1e-5)
    assert (first["mean"], first["seeds"], first["fitted"]) == (pytest.approx(0.98), 2, 2)
    assert first["std"] == pytest.approx(0.04 / np.sqrt(2), abs=1e-6)
    assert np.isnan(last["std"]) and (last["seeds"], last["fitted"]) == (1, 0)
    assert [words.times(value) for value in (0.0312, 14.2, 1e-9)] == ["×0.031", "×14", "×0"]
    seen = page_of(profile())
    assert "see 1 (90% or more right on new samples): NAD 0; they do not see 1" in seen
    assert "98.0 ± 2.8 % (2)" in seen and "55.0 % (1)" in seen and "try another --lr" not in seen


def test_networks_that_diverged_or_were_not_fitted_are_counted_and_no_accuracy_is_made_up():
    some = profile(trained=DIVERGED)
    assert some.summary.loc["NAD 0", "diverged"] == 1 and some.tried.empty
    assert re.search(r"NAD 0 ×[\d.]+ – – 0 of 0 1 ", page_of(some))
    assert "trained at the learning rate 0.5 diverged" in page_of(some)
    rows = pd.DataFrame([("NAD 0", 0, 0.6, 0.7)], columns=COLUMNS)
    assert "try another --lr" in words.trained(profile(trained=rows)), "none was fitted"


def test_the_weakest_and_the_strongest_waves_are_those_of_the_response():
    """C = e eᵀ of one wave, and a little of everything."""
    rows = np.stack([10 * wave(2, -1, (1, 8, 8)), *np.eye(64)])
    some = profile(response=Response(rows, (1, 8, 8)))
    # 4 frequencies of 64 are their own mirror images.
    assert len(some.response.frequencies) == 34
    *weak, strongest = some.response.frequencies.itertuples(index=False)
    assert strongest == (2, -1, pytest.approx(np.sqrt(51 / (164 / 64))))
    assert all(each.response == pytest.approx(np.sqrt(64 / 164)) for each in weak)
    assert "of all waves most to (2, −1) (×4.5)" in page_of(some)


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
    rows = np.sqrt(values)[:, None] * directions
    return dataclasses.replace(some, nads=nads, response=Response(rows, (1, 8, 8)))


COARSE, FLAT = known("Coarse", wave(1, 0, (1, 8, 8))[None]), known("Flat", np.zeros((0, 64)))


def test_what_one_network_responds_to_and_another_hardly_does_is_counted():
    """The wave (1, 0) has half the energy of `wave`: √((50 + 1)/(164/64)) = 4.5."""
    assert words.stronger(COARSE, FLAT) == (
        "Coarse responds at least twice as strongly as Flat to 1 of 34 waves, 1 of the 5 coarse "
        "ones and 0 of the 9 fine ones among them, most so to (1, 0) (×4.5 against ×1); and of the "
        "first 6 NADs of Coarse to 1: NAD 0 (×6.3 against ×1)."
    )
    # √(1/(164/64)) = 0.62 is more than half.
    assert words.stronger(FLAT, COARSE) == (
        "Flat responds at least twice as strongly as Coarse to 0 of 34 waves; and of the first 6 "
        "NADs of Flat to 0: none."
    )
    # Its NADs are arbitrary, and the other network may respond to some of them by chance.
    blind = dataclasses.replace(COARSE, response=Response(np.eye(64)[8:], (1, 8, 8)))
    assert (blind.response.along(FLAT.nads.directions[:6]) == 0).all()
    assert words.stronger(FLAT, blind).endswith("NADs of Flat to 0: none.")
    # Single NADs of a network whose halves disagree are mostly chance.
    some = known("Coarse", wave(1, 0, (1, 8, 8))[None], agreement=0.49)
    sentences = words.stronger(some, FLAT)
    assert "Single NADs of Coarse are mostly chance" in sentences and "NAD 0" not in sentences


@pytest.mark.parametrize(("error", "count"), [(0.78, 1), (0.9, 0)])
def test_a_ratio_counts_where_it_exceeds_two_by_two_standard_errors(error, count):
    """That of eigenvalues is twice that of responses: ratios of 4.5 and 6.3, and 2·e^(2·0.45) = 4.9
    or 2·e^(2·0.39) = 4.4. The errors of both networks count alike."""
    some = known("Coarse", wave(1, 0, (1, 8, 8))[None], error)
    sentences = words.stronger(some, FLAT)
    assert f"to {count} of 34 waves" in sentences and "Coarse to 1: NAD 0" in sentences
    other = known("Flat", np.zeros((0, 64)), error)
    assert f"to {count} of 34 waves" in words.stronger(COARSE, other)


@pytest.mark.parametrize(
    ("shape", "complete"),
    [((1, 8, 8), True), ((3, 6, 8), False), ((2, 5, 5), True), ((20, 1, 1), True)],
)
def test_pages_say_what_the_tables_beside_them_hold_and_ask_for_nothing_else(
    shape, complete, tmp_path
):
    some = profile(complete, shape, notices=["Mind this."])
    page.write([some], tmp_path)
    tables = {path.name for path in tmp_path.iterdir()}
    assert tables == {"index.html", "nads.npz", "networks.csv", "directions.csv", "waves.csv"}
    document = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "What does My &lt;net&gt; see" in document and "<net>" not in document
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", document)
    seen = text(document)
    for part in ("Mind this.", "1,234 weights", "python profile my_networks:Net"):
        assert part in seen
    assert not re.search(r"\bnan\b|\binf\b", seen)
    assert ("times to those beyond three quarters" in seen) == (shape[1:] != (1, 1))
    assert ("The last NADs are not known here" in seen) != complete

    for row in pd.read_csv(tmp_path / "directions.csv").itertuples():
        accuracy = f"{100 * row.mean:.1f}" + (
            "" if np.isnan(row.std) else f" ± {100 * row.std:.1f}"
        )
        assert f"{row.direction} {words.times(row.response)} {accuracy} % ({row.seeds})" in seen
    waves = pd.read_csv(tmp_path / "waves.csv")
    for word, row in (("most", waves.iloc[-1]), ("least", waves.iloc[0])):
        place = f"({row.k_row:.0f}, {row.k_col:.0f}) ({words.times(row.response)})"
        assert f"{word} to {place.replace('-', '−')}" in seen
    np.testing.assert_array_equal(NADs.load(tmp_path / "nads.npz").directions, some.nads.directions)
