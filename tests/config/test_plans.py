"""What params.yaml asks for: which value overrides which, ranges, sources of NADs,
estimands, sizes."""

import copy
import dataclasses

import pytest
from documents import GONE, changed

from pipeline import experiments
from pipeline.config import plans
from pipeline.experiments.plan import Indices
from pipeline.images.settings import SizedImageSettings
from pipeline.nads.estimator import Estimator, Source

BOTH = ("secant", "gradient")


def smoke(document, name="linear_pairs"):
    """The plan of one experiment at the scale smoke."""
    return plans(document)["smoke"].experiments[name]


def test_the_shipped_file_gives_plans_of_every_scale_the_chosen_one_first(shipped):
    before = copy.deepcopy(shipped)
    assert list(plans(shipped)) == ["laptop", "smoke", "overnight", "paper"]
    assert shipped == before
    for scale, found in plans(shipped | {"scale": "paper"}).items():
        assert found.nads.scale == scale
        assert list(found.experiments) == experiments.names()
        for plan in found.experiments.values():
            assert plan.scale == scale


def test_values_at_the_top_level_are_of_every_scale(shipped):
    images = {"path": "here.tar", "url": "https://example.org/a", "fallback": None}
    shipped |= {"device": "cpu", "seed": 7, "precision": "bfloat16", "images": images}
    estimator = Estimator("secant", "readout", 100.0, "normal", True, True)
    for found in plans(shipped).values():
        assert found.images == SizedImageSettings(**images)
        assert found.device == "cpu"
        assert found.nads.seed == 7
        assert found.nads.estimator == estimator
        for plan in found.experiments.values():
            assert plan.seeds[0] == 7
            assert plan.precision == "bfloat16"


def test_a_scales_block_overrides_the_experiments_and_a_networks_line_both(shipped):
    training = smoke(shipped).members["lenet"].training
    assert (training.epochs, training.momentum) == (2, 0.9)
    block = {"test_samples": 400, "training": {"epochs": 4, "momentum": 0.5}}
    for key, value in block.items():
        shipped = changed(shipped, f"scales/smoke/linear_pairs/{key}", value)
    line = "scales/smoke/linear_pairs/networks/lenet"
    shipped = changed(shipped, f"{line}/epochs", 5)
    plan = smoke(shipped)
    assert (plan.train_samples, plan.test_samples) == (512, 400)
    for name, epochs in (("lenet", 5), ("mlp_100_20", 4)):
        training = plan.members[name].training
        assert (training.epochs, training.momentum, training.lr) == (epochs, 0.5, 0.2)
    assert smoke(shipped, "fourier").members["lenet"].training.epochs == 2


def test_the_schedule_is_the_experiments_unless_given(shipped):
    training = smoke(shipped, "fourier").members["lenet"].training
    assert (training.optimiser, training.schedule) == ("sgd", "linear")
    block = "scales/smoke/linear_pairs"
    document = changed(shipped, f"{block}/training/optimiser", "adamw")
    document = changed(document, f"{block}/networks/lenet/schedule", "cosine")
    for name, schedule in (("lenet", "cosine"), ("mlp_100_20", "triangular")):
        training = smoke(document).members[name].training
        assert (training.optimiser, training.schedule) == ("adamw", schedule)


def test_batches_and_clipping_are_settings(shipped):
    for name in experiments.names():
        for member in smoke(shipped, name).members.values():
            assert (member.training.batch_size, member.training.clip) == (128, 0.5)
    document = changed(shipped, "fourier/training/batch_size", 64)
    assert smoke(document, "fourier").members["lenet"].training.batch_size == 64


def test_every_network_has_one_sigma_its_own_or_the_default(shipped):
    document = changed(shipped, "nad_sweep/sigma", {"default": 1.5, "vgg11": 3.0})
    document = changed(document, "scales/paper/nad_sweep/sigma", {"lenet": 2.0})
    sigma = plans(document)["paper"].experiments["nad_sweep"].settings.sigma
    expected = {"densenet121": 1.5, "resnet18": 1.5, "vgg11": 3.0, "lenet": 2.0}
    assert sigma == expected


def test_a_scale_may_leave_an_experiment_out(shipped):
    found = plans(changed(shipped, "scales/smoke/flip", GONE))["smoke"].experiments
    assert [name for name, plan in found.items() if not plan.members] == ["flip"]


def test_whole_numbers_stand_for_real_ones_and_ranges_for_their_numbers(shipped):
    settings = smoke(shipped | {"eps1": 2, "sigma": 3}).settings
    assert repr(dataclasses.astuple(settings)) == "(2.0, 0.5, 3.0, 0.0, 0.0)"
    line = "scales/smoke/linear_pairs/networks/lenet"
    ranges = [3, [10, 20, 5], [100, 101, 7], [5, 5, 1]]
    plan = smoke(changed(shipped, f"{line}/indices", ranges))
    assert plan.members["lenet"].grid == Indices((3, 10, 15, 20, 100, 5))


def test_a_network_may_take_fewer_seeds_than_its_experiment(shipped):
    block = "scales/smoke/linear_pairs"
    document = changed(shipped | {"seed": 5}, f"{block}/seeds", 3)
    document = changed(document, f"{block}/networks/lenet/seeds", 1)
    plan = smoke(document)
    assert plan.seeds == (5, 6, 7)
    assert smoke(document, "fourier").seeds == (5,)
    cells = experiments.find("linear_pairs").cells(plan)
    for name, seeds in (("lenet", {5}), ("mlp_100_20", {5, 6, 7})):
        assert {cell["seed"] for cell in cells if cell["architecture"] == name} == seeds


@pytest.mark.parametrize(
    ("given", "source", "estimands"),
    [
        (16, Source(16), BOTH),
        ({"file": "my_nads.npy"}, Source(file="my_nads.npy"), BOTH[:1]),
        ({"networks": 9, "error": 0.25}, Source(9, 0.25), BOTH),
        ({"networks": 9, "first": 1024}, Source(9, first=1024), BOTH[:1]),
    ],
)
def test_sources_of_nads_and_the_estimands_that_they_have(
    given, source, estimands, shipped
):
    found = plans(changed(shipped, "scales/smoke/nads/lenet", given))["smoke"]
    assert found.nads.members["lenet"].source == source
    member = found.experiments["linear_pairs"].members["lenet"]
    assert member.estimands == estimands


def test_nads_may_be_of_other_inputs(shipped):
    given = {"networks": 4, "input": [3, 64, 64]}
    found = plans(changed(shipped, "scales/smoke/nads/vgg11", given))["smoke"]
    assert found.nads.members["vgg11"].source == Source(4, None, (3, 64, 64))


@pytest.mark.parametrize(
    ("changes", "estimands"),
    [
        ({"compare": False}, BOTH[:1]),
        ({"point": "many"}, BOTH),
        ({"point": "many", "estimand": "gradient"}, BOTH[::-1]),
    ],
)
def test_the_chosen_estimand_comes_first(changes, estimands, shipped):
    shipped["estimator"] |= changes
    assert smoke(shipped).members["lenet"].estimands == estimands


def test_nads_grids_and_images_have_the_inputs_of_their_architecture(shipped):
    wide = {"network": "logreg", "side": 64, "input": [64, 48]}
    shipped["architectures"]["wide"] = wide
    scale = shipped["scales"]["smoke"]
    scale["nads"]["wide"] = 2
    scale["linear_pairs"]["networks"]["wide"] = {"indices": [0, 3071]}
    scale["fourier"]["networks"]["wide"] = {"step": 8}
    scale["image_pairs"]["networks"] = {"wide": {"indices": [1, 3071]}}
    scale["poison"]["networks"] = {"wide": {"indices": [3070]}}
    scale["flip"]["networks"] = {"wide": None}
    scale["learning"]["networks"] = {"wide": {"indices": [0, 3071]}}
    by_scale = plans(shipped)
    assert by_scale["laptop"].images.size == (32, 32)
    found = by_scale["smoke"]
    assert found.images.size == (64, 48)
    assert found.nads.members["wide"].source.input == (1, 64, 48)
    for name in ("linear_pairs", "fourier"):
        members = found.experiments[name].members
        assert members["wide"].input == (1, 64, 48)
        assert members["lenet"].input == (1, 32, 32)
    specification = members["wide"].specification
    assert specification == {"network": "pipeline.networks.mlp:LogReg", "side": 64}
