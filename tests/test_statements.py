"""Statements of the pages that are no number of a template: of which cells, of all, of none."""

import re

import pandas as pd
import pytest
from structure import ROOT

from pipeline.report.run import abouts
from studies import numbers

FITTED = re.compile(
    r"(\d+) of (\d+) networks are fitted|(none) of[^.:;]* fitted"
    r"|(?:\b(?:all|both)\b[^.:;]* |it is |guesses, )fitted[.,;]",
    re.IGNORECASE,
)
"""How a record says that so many, none or all of its networks are fitted."""

FREQUENCY, PAIR = ["k_row", "k_col"], ["index_1", "index_2"]


@pytest.fixture(autouse=True)
def root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_as_many_networks_are_fitted_as_the_record_of_their_run_says():
    parts = {"fourier/resnet18_quarter_second_seed": 1.0}  # which does not say it
    for folder, about in abouts(numbers.KEPT).items():
        for fitted, of, none in FITTED.findall(about["says"]):
            run = folder.relative_to(numbers.KEPT).as_posix()
            parts[run] = int(fitted) / int(of) if of else float(not none)
    assert len(parts) > 30
    assert {run: numbers.fitted(run) / numbers.count(run) for run in parts} == parts
    assert numbers.fitted("flip/vgg11_quarter", images="flipped") == 0


def test_the_published_row_of_resnet18_stands_nowhere_below_its_transpose():
    assert numbers.above_transpose("resnet18").min() > -0.05


def test_a_second_seed_of_resnet18_guesses_along_two_waves_and_learns_the_weak_ones():
    first, second = (
        numbers.along(f"fourier/resnet18_quarter{seed}") for seed in ("", "_second_seed")
    )
    both_odd = [k for k in first.index if k[0] % 4 and k[1] % 4]
    one_odd = [k for k in first.index if bool(k[0] % 4) != bool(k[1] % 4)]
    learned, weak = first[both_odd].nlargest(2).index, first[one_odd].nsmallest(4).index
    assert first[both_odd].nlargest(3).iloc[2] < 57 < first[learned].min()
    assert set(learned) <= set(second.index) and second[learned].max() < 52
    again = second.drop(learned)
    assert set(again.index) < set(weak) and len(again) == 3 and again.min() > 89


def test_lenet_uses_an_earlier_nad_in_the_stronger_channel_and_beyond_a_turn_in_the_weaker():
    turns = []
    for seed in ("", "_seed_1", "_seed_2"):
        run = numbers.rows(f"linear_pairs/lenet_and_mlp{seed}", architecture="lenet")
        alone = run.pivot_table("accuracy", PAIR, "test_set")
        used = alone["first"] > alone["second"]
        assert all(used[i, j] for i, j in used.index if i < j and i <= 256)
        indices = sorted(used.index.unique("index_1"))
        for earlier in indices[:8]:
            leaves = [not used[later, earlier] for later in indices if later > earlier]
            assert leaves == sorted(leaves), "from the turn on it is used"
            turns.append((earlier, leaves.index(True)))
    steps = pd.DataFrame(turns).groupby(0)[1]
    assert (steps.max() - steps.min()).max() == 1, "seeds differ by a step of the grid"


def test_lenet_goes_by_the_channel_up_to_nad_128_and_by_the_images_from_512_on():
    at = numbers.rows("image_pairs/lenet").pivot(
        index="index", columns="test_set", values="accuracy"
    )
    assert at["linear"].loc[:128].min() > 98 > 50.1 > at["linear"].loc[512:].max()
    assert at["images"].loc[512:].min() > 73 and at["all"][256] > at["images"][256] > 55


def test_the_same_waves_are_fitted_in_every_colour_and_resnet18_learns_all_its_seven():
    lenet = numbers.rows("colours/lenet").pivot(
        index=FREQUENCY, columns="axis", values="train_accuracy"
    )
    fitted = lenet >= 99
    assert (fitted.all(axis=1).sum(), fitted.to_numpy().sum()) == (9, 28), "one more in grey"
    assert numbers.lowest("colours/resnet18_narrow") > 99.9


def test_networks_of_colour_learn_less_from_nad_to_nad():
    run = numbers.rows("nad_sweep/colour")
    for _, seed in run.groupby(["architecture", "seed"]):
        assert seed.set_index("index")["accuracy"].is_monotonic_decreasing
    assert numbers.fitted("nad_sweep/colour", architecture="torchvision_resnet18") == 16


def test_what_is_said_of_networks_of_patches_beyond_their_numbers():
    """Along which NADs and waves they are fitted, and which of two NADs they use."""
    for name, run, beyond in (
        ("convnext", "nad_sweep/patches", 256),
        ("convnext", "nad_sweep/patches_momentum", 256),
        ("vit", "nad_sweep/patches_bfloat16", 16),
        ("vit", "nad_sweep/patches_momentum", 16),
        ("convmixer", "nad_sweep/patches", 1024),
        ("mixer", "nad_sweep/patches_bfloat16", 1024),
    ):
        rows = numbers.rows(run, architecture=name)
        assert rows["index"].nunique() == 12
        assert (numbers.are_fitted(rows) == (rows["index"] < beyond)).all()
    steps = (
        numbers.rows("nad_sweep/patches_bfloat16", architecture="mixer")
        .groupby("index")["steps"]
        .mean()
    )
    assert (steps.loc[16:] > 5 * steps[0]).all()
    mixer = ("nad_sweep/patches", "nad_sweep/patches_bfloat16")
    both = [numbers.along(run, architecture="mixer", seed=0) for run in mixer]
    assert (both[0] - both[1]).dropna().abs().lt(0.1).sum() == len(both[0]) == 6
    spectra = numbers.rows("patches/four_networks/spectra.csv")
    response = spectra.set_index(["network", "index"])["held_out"]
    assert response["convmixer", 64] < response["convmixer", 100]
    for name in ("vit", "mixer"):
        assert response[name].loc[16:].max() < 1.6 * response[name].loc[16:].min()
