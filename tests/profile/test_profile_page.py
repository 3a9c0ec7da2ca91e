"""The page of a profile: its sentences, the tables behind it, and its sliders."""

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


def make_profile(label="Net", accuracies=ACCURACIES, train_accuracy=1.0, **changes):
    """A network whose response declines along the pixels.

    accuracies: test accuracies by NAD index; changes: of the fields of its NADs.
    """
    scales = np.geomspace(1, 0.05, 64)
    estimator = plan.plan_nads({"net": MLP}, SHAPE, "secant", 40, {}).estimator
    estimation = Estimation(
        Sampler(None, SHAPE, (0, "profile"), estimator), Covariance(SHAPE), 40
    )
    rng = np.random.default_rng(0)
    for _ in range(40):
        estimation.accumulator.add(
            (scales * rng.standard_normal((4, 64))).astype(np.float32)
        )
    nads = dataclasses.replace(estimation.nads(), **changes)
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
    found = make_profile(error=0.1)
    first = np.sqrt(found.nads.eigenvalues[0] / found.nads.eigenvalues.mean())
    seen = words.describe_seen(found)
    assert f"{words.format_response(first)} to its first NAD" in seen
    assert "NAD 0, 18" in seen
    assert "63" not in seen
    assert words.split_missed(found) == ([63], [])
    assert "along NAD 63, although the network fits" in words.describe_missed(found)
    assert "strides" in words.advise(found)
    assert "between" not in words.describe_missed(found)
    assert "all NADs" in words.describe_missed(make_profile(accuracies={0: 1.0}))
    assert words.format_response(0.0312) == "×0.031"
    assert words.format_response(14.2) == "×14"
    assert words.format_response(1e-9) == "×0"


@pytest.mark.parametrize(
    ("error", "train_accuracy", "advice", "trust"),
    [
        (
            0.1,
            1.0,
            "strides",
            "C: 0.10. All NADs are known. Fitted: 3",
        ),
        (
            0.3,
            1.0,
            "strides",
            "0.30. The first NADs are known, single",
        ),
        (0.6, 1.0, "--minutes", "0.60. NADs are mostly noise."),
        (0.1, 0.7, "--lr", "Fitted: 0 of 3 networks. An accuracy without fit"),
        (
            0.1,
            [1.0, 1.0, 0.7],
            "decide",
            "Fitted: 2 of 3 networks. An accuracy without fit",
        ),
    ],
)
def test_what_the_page_can_be_trusted_for(error, train_accuracy, advice, trust):
    single = np.stack([np.arange(64)] * 2, 1)
    found = make_profile(error=error, train_accuracy=train_accuracy, nearby=single)
    assert advice in words.advise(found)
    assert trust in words.describe_trust(found)
    fitted = train_accuracy == 1.0
    assert words.split_missed(found) == (([63], []) if fitted else ([], [63]))
    assert ("longer training" in words.describe_missed(found)) != fitted
    assert "strides" not in words.advise(found) or fitted


def test_nads_that_cannot_be_told_from_the_first_one_are_not_called_known():
    nearby = np.stack([np.arange(64)] * 2, 1)
    nearby[8:10] = 8, 9
    pair = words.describe_trust(make_profile(error=0.1, nearby=nearby))
    assert "NADs with nearly equal eigenvalues are known only as a group." in pair
    nearby[:4] = 0, 3
    precise = words.describe_trust(make_profile(error=0.1, nearby=nearby))
    assert "NADs 0 to 3 are known only as a group." in precise
    coarse = words.describe_trust(make_profile(error=0.3, nearby=nearby))
    assert "first NADs are known" not in coarse and "later ones are not" in coarse
    noise = words.describe_trust(make_profile(error=0.6, nearby=nearby))
    assert "NADs are mostly noise" in noise


def test_nads_that_are_learned_in_part_are_named():
    found = make_profile(accuracies={0: 1.0, 18: 0.7, 63: 0.92})
    text = words.describe_missed(found)
    assert "between 60 % and 90 % along NAD 18." in text
    assert "above 60 % along all" in text


def test_a_nad_along_which_only_some_networks_are_fitted_is_not_decided():
    found = make_profile()
    unfitted = found.rows.assign(seed=1, train_accuracy=0.7)
    both = dataclasses.replace(found, rows=pd.concat([found.rows, unfitted]))
    assert words.split_missed(both) == ([], [63])
    assert "Not decided" in words.describe_missed(both)


def test_waves_to_which_one_network_responds_twice_as_strongly_are_counted():
    first_wave = Response(wave(1, 0, SHAPE)[None], SHAPE)
    all_waves = Response(np.eye(64), SHAPE)
    coarse = dataclasses.replace(make_profile(), response=first_wave)
    flat = dataclasses.replace(make_profile(), response=all_waves)
    text = words.compare(coarse, flat)
    assert "1 of 34 waves, relatively most to (1, 0): ×5.7 and ×1" in text
    assert "33 of 34 waves" in words.compare(flat, coarse)


def test_two_networks_disagree_most_where_only_one_of_them_responds():
    a = make_profile("A")
    mirrored = dataclasses.replace(a.nads, directions=a.nads.directions[:, ::-1])
    response = Response(
        np.sqrt(mirrored.eigenvalues)[:, None] * mirrored.directions, SHAPE
    )
    b = dataclasses.replace(make_profile("B"), nads=mirrored, response=response)
    figure = page.draw_disagreement(a, b)
    for_a, for_b = (panel.images[0].get_array().ravel() for panel in figure.axes[:2])
    # A responds to the first pixels, B to the last ones.
    assert np.abs(for_a).argmax() < 8
    assert np.abs(for_b).argmax() >= 56
    assert figure.axes[0].get_title().startswith("A: ×")
    assert figure.axes[1].get_title().startswith("B: ×")


def test_networks_of_which_some_nads_are_unknown_are_not_told_apart():
    few = make_profile()
    nads = dataclasses.replace(few.nads, directions=few.nads.directions[:9])
    few = dataclasses.replace(few, nads=nads)
    assert page.can_disagree(make_profile())
    assert not page.can_disagree(few)
    figures = page.draw_profiles({"a": make_profile(), "b": few})
    assert not [name for name in figures if name.startswith("apart")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a page on two networks, one of them trained."""
    folder = tmp_path_factory.mktemp("page")
    profiles = {"a": make_profile("My <net>"), "b": make_profile("Other")}
    for name, profile in profiles.items():
        profile.rows["architecture"] = name
    estimates = plan.plan_nads(dict.fromkeys(profiles, MLP), SHAPE, "secant", 40, {})
    nads = {name: profile.nads for name, profile in profiles.items()}
    sweep = plan.plan_sweep(estimates, nads, Sizes("secant", 40, 3, 1, 512, 6), 0.5)
    before = Response(np.eye(64), SHAPE)
    after = Response(np.eye(64)[:30], SHAPE)
    page.write(
        folder,
        profiles,
        estimates,
        sweep,
        checkpoint=Checkpoint("mine", 3, 9, 2 / 3, 2, 9, before, after, []),
        command="profile mine:Net",
        notices=["Mind this."],
    )
    return folder


def test_the_page_says_what_the_tables_say_and_needs_no_other_file(folder):
    files = {path.name for path in folder.iterdir()}
    assert files == {
        "index.html",
        "figures",
        "nads-a.npz",
        "nads-b.npz",
        "results.csv",
        "summary.csv",
    }
    document = (folder / "index.html").read_text(encoding="utf-8")
    assert "My &lt;net&gt;" in document
    assert "<net>" not in document
    loaded = r"""(?:src|<link[^>]* href)\s*=\s*["'](?!data:)"""
    assert not re.findall(loaded, document)
    body = re.sub(r"<(style|script)\b.*?</\1>", "", document, flags=re.S)
    text = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())
    titles = re.findall(r'<a href="#(\w+)">', document)
    assert titles == ["sweep", "nads", "patterns", "trained", "trust"]
    assert re.search("Sees .*May miss .*What to do .*Each point", text)
    assert "Mind this." in text
    assert "profile mine:Net" in text
    assert "66.7 % on 9 images" in text
    assert "2 of the 3 answers" in text
    assert not re.search(r"\bnan\b|\binf\b", text)
    means = pd.read_csv(folder / "summary.csv")["mean"]
    assert means.tolist() == 2 * list(ACCURACIES.values())
    assert NADs.load(folder / "nads-a.npz").networks == 40


@needed
def test_the_slider_goes_through_all_nads_and_the_curve_through_the_trained_ones(
    folder, tmp_path
):
    document = (folder / "index.html").read_text(encoding="utf-8")
    action = """
    out.networks = [...$("nads-network").options].map((option) => option.text);
    change("nads-slider", $("nads-slider").max, "input");
    await wait();
    out.last = $("nads-read").textContent;
    slide("sweep-slider", 63);
    await wait();
    out.accuracy = $("sweep-read").textContent;
    out.shown = !$("sweep-tile").hidden;
    """
    out = browse(document, action, tmp_path)
    assert len(out["networks"]) == 2
    assert "63 of 0 to 63" in out["last"]
    assert "52.0 %" in out["accuracy"]
    assert out["shown"]
