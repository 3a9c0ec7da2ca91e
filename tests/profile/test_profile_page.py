"""The page: its sentences against a response that is known, the tables behind it, its
slider, and that it needs nothing else."""

import dataclasses
import html
import re

import numpy as np
import pandas as pd
import pytest
from browser import browse, needed

from pipeline.nads import NADs
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation
from pipeline.nads.jacobian import Sampler
from pipeline.profile import page, plan, words
from pipeline.profile.checkpoint import Checkpoint
from pipeline.profile.page import Profile
from pipeline.profile.plan import Sizes
from pipeline.profile.response import Response, wave

SHAPE = (1, 8, 8)
MLP = {"network": "pipeline.networks.mlp:MLP", "hidden": [8]}
ACCURACIES = {0: 1.0, 18: 0.97, 63: 0.52}


def profile(label="Net", accuracies=ACCURACIES, train_accuracy=1.0, **known):
    """A network whose response falls along the pixels, with accuracies by NAD index."""
    fall = np.geomspace(1, 0.05, 64)
    estimator = plan.plan_nads({"net": MLP}, SHAPE, "secant", 40, {}).estimator
    estimation = Estimation(
        Sampler(None, SHAPE, (0, "profile"), estimator), Covariance(SHAPE), 40
    )
    rng = np.random.default_rng(0)
    for _ in range(40):
        estimation.accumulator.add(
            (fall * rng.standard_normal((4, 64))).astype(np.float32)
        )
    nads = dataclasses.replace(estimation.nads(), **known)
    response = Response(np.sqrt(nads.eigenvalues)[:, None] * nads.directions, SHAPE)
    rows = pd.DataFrame({"index": accuracies.keys(), "accuracy": accuracies.values()})
    rows = rows.assign(
        architecture="net",
        estimand="secant",
        test_set="all",
        seed=0,
        train_accuracy=train_accuracy,
    )
    return Profile(label, nads, response, rows)


def test_the_summary_says_what_is_seen_what_is_missed_and_what_to_do():
    some = profile(error=0.1)
    first = np.sqrt(some.nads.eigenvalues[0] / some.nads.eigenvalues.mean())
    assert f"{words.format_response(first)} to its first NAD" in words.describe_seen(some)
    assert "NAD 0, 18" in words.describe_seen(some) and "63" not in words.describe_seen(some)
    assert "NAD 63 (networks are fitted along 1 of 1)" in words.describe_missed(some)
    assert "strides" in words.advise(some)
    assert "NAD none" in words.describe_missed(profile(accuracies={0: 1.0}))
    assert [words.format_response(value) for value in (0.0312, 14.2, 1e-9)] == [
        "×0.031",
        "×14",
        "×0",
    ]


@pytest.mark.parametrize(
    ("error", "train_accuracy", "advice", "trusted"),
    [
        (0.1, 1.0, "strides", "known (relative error of C 0.10); accuracies show"),
        (0.3, 1.0, "strides", "single later ones are not (relative error of C 0.30)"),
        (0.6, 1.0, "--minutes", "noise (relative error of C 0.60)"),
        (0.1, 0.7, "--lr", "longer training (fitted: 0 of 3)"),
        (0.1, [1.0, 1.0, 0.7], "strides", "where it is fitted (fitted: 2 of 3)"),
    ],
)
def test_what_the_page_can_be_trusted_for(error, train_accuracy, advice, trusted):
    some = profile(error=error, train_accuracy=train_accuracy)
    assert advice in words.advise(some) and trusted in words.describe_trust(some)
    count = int(train_accuracy == 1.0)
    assert f"fitted along {count} of 1" in words.describe_missed(some)


def test_of_two_networks_the_waves_are_counted_to_which_one_responds_twice_as_strongly():
    some = profile("Coarse")
    coarse = dataclasses.replace(
        some, response=Response(wave(1, 0, SHAPE)[None], SHAPE)
    )
    flat = dataclasses.replace(some, label="Flat", response=Response(np.eye(64), SHAPE))
    assert "1 of 34 waves, relatively most to (1, 0): ×5.7 and ×1" in words.compare(
        coarse, flat
    )
    assert "33 of 34 waves" in words.compare(flat, coarse)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of a page on two networks, one of them trained."""
    folder = tmp_path_factory.mktemp("page")
    profiles = {"a": profile("My <net>"), "b": profile("Other")}
    for name, each in profiles.items():
        each.rows["architecture"] = name
    estimates = plan.plan_nads(dict.fromkeys(profiles, MLP), SHAPE, "secant", 40, {})
    nads = {name: each.nads for name, each in profiles.items()}
    sweep = plan.plan_sweep(estimates, nads, Sizes("secant", 40, 3, 1, 512), 0.5)
    one = Response(np.eye(64), SHAPE)
    other = Response(np.eye(64)[:30], SHAPE)
    trained = Checkpoint("mine", 3, 9, 2 / 3, 2, 9, one, other, [])
    about = {
        "checkpoint": trained,
        "command": "profile mine:Net",
        "notices": ["Mind this."],
    }
    page.write(folder, profiles, estimates, sweep, **about)
    return folder


def test_the_page_says_what_the_tables_hold_and_asks_for_nothing_else(written):
    tables = {path.name for path in written.iterdir()}
    assert tables == {
        "index.html",
        "figures",
        "nads-a.npz",
        "nads-b.npz",
        "results.csv",
        "summary.csv",
    }
    document = (written / "index.html").read_text(encoding="utf-8")
    assert "My &lt;net&gt;" in document and "<net>" not in document
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)""", document)
    body = re.sub(r"<(style|script)\b.*?</\1>", "", document, flags=re.S)
    text = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())
    titles = re.findall(r'<a href="#(\w+)">', document)
    assert titles == ["sweep", "nads", "patterns", "trained", "trust"]
    places = [
        text.index(part) for part in ("Sees", "May miss", "What to do", "Each point")
    ]
    assert places == sorted(places)
    for part in (
        "Mind this.",
        "profile mine:Net",
        "66.7% on 9 images",
        "with 2 of 3 answers",
    ):
        assert part in text
    assert not re.search(r"\bnan\b|\binf\b", text)
    assert (
        pd.read_csv(written / "summary.csv")["mean"].tolist()
        == [*ACCURACIES.values()] * 2
    )
    assert NADs.load(written / "nads-a.npz").networks == 40


@needed
def test_the_slider_goes_through_all_nads_and_the_curve_through_the_trained_ones(
    written, tmp_path
):
    document = (written / "index.html").read_text(encoding="utf-8")
    action = """
    out.networks = [...$("nads-network").options].map((each) => each.text);
    change("nads-slider", $("nads-slider").max, "input");
    await wait();
    out.last = $("nads-read").textContent;
    change("sweep-slider", 2, "input");
    await wait();
    out.accuracy = $("sweep-read").textContent;
    out.shown = !$("sweep-tile").hidden;
    """
    out = browse(document, action, tmp_path)
    assert len(out["networks"]) == 2 and "63 of 0 to 63" in out["last"]
    assert "52.0 %" in out["accuracy"] and out["shown"]
