"""What params.yaml asks for: values of which one goes before another, ranges, sources of NADs,
estimands, sizes."""

import copy
import dataclasses
import json

import pydantic
from documents import GONE, changed

from pipeline import experiments
from pipeline.cells.training import Training
from pipeline.experiments.plan import Indices, Member, Plan
from pipeline.images.wanted import WantedOfSize
from pipeline.machine.workers import Machine
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.settings import plans

LENET = {"network": "pipeline.networks.lenet:LeNet"}
MLP = {"network": "pipeline.networks.mlp:MLP", "hidden": [100, 20]}
NARROW = {"network": "pipeline.networks.resnet:ResNet18", "width": 0.125}
BOTH = ("secant", "gradient")


def smoke(document, name):
    """The plan of one experiment at the scale smoke."""
    return plans(document)["smoke"].experiments[name]


def test_the_shipped_file_gives_plans_of_every_scale_the_chosen_one_first(shipped):
    before = copy.deepcopy(shipped)
    assert list(plans(shipped)) == ["laptop", "smoke", "overnight", "paper"]
    assert shipped == before
    for scale, asked in plans(shipped | {"scale": "paper"}).items():
        assert list(asked.experiments) == experiments.names()
        assert {asked.nads.scale, *(plan.scale for plan in asked.experiments.values())} == {scale}


def test_the_smoke_scale_value_by_value(shipped):
    asked = plans(shipped)["smoke"]
    mlp = MLP | {"hidden": [200, 50]}
    assert asked.nads.members == {
        "resnet18_narrow": Request(NARROW, Source(2)),
        "lenet": Request(LENET, Source(16)),
        "mlp_100_20": Request(MLP, Source(16)),
        "mlp_200_50": Request(mlp, Source(16)),
    }
    how = Training(2, 0.2, 0.9, 0.0, "triangular", "float32")
    narrow = Training(1, 0.1, 0.9, 1e-5, "triangular", "float32")
    assert asked.experiments["linear_pairs"] == Plan(
        "linear_pairs",
        "smoke",
        (0,),
        512,
        256,
        experiments.find("linear_pairs").Settings(1.0, 0.5, 1.0),
        {
            "resnet18_narrow": Member(NARROW, narrow, Indices((1,)), BOTH),
            "lenet": Member(LENET, how, Indices((1, 1000)), BOTH),
            "mlp_100_20": Member(MLP, how, Indices((1, 1000)), BOTH),
        },
    )
    poison = asked.experiments["poison"]
    assert poison.settings.size == 0.05
    assert poison.members["lenet"].grid == experiments.find("poison").Grid((0, 1020), (0,))


def test_what_stands_at_the_top_goes_to_every_scale(shipped):
    shipped |= {"device": "cpu", "reuse": False, "seed": 7, "precision": "bfloat16"}
    shipped["images"] = {"path": "here.tar", "url": "https://example.org/a", "fallback": None}
    for asked in plans(shipped).values():
        assert asked.images == WantedOfSize("here.tar", "https://example.org/a", None)
        assert asked.machine == Machine("cpu", False) and asked.nads.seed == 7
        assert asked.nads.estimator == Estimator("secant", "readout", 100.0, "normal", True, True)
        for plan in asked.experiments.values():
            assert plan.seeds[0] == 7 and plan.precision == "bfloat16"


def test_the_narrower_value_goes_before_the_wider_one(shipped):
    """The line of a network, the experiment at a scale, the scale, the experiment's own block."""

    def found(name="linear_pairs", architecture="lenet"):
        plan = smoke(shipped, name)
        training = plan.members[architecture].training
        return plan.test_samples, training.epochs, training.momentum

    shipped = changed(shipped, "scales/smoke/training", GONE)
    shipped = changed(shipped, "scales/smoke/test_samples", GONE)
    assert found() == (10_000, 50, 0.9) and found("fourier") == (10_000, 20, 0.0)
    shipped = changed(shipped, "scales/smoke/training", {"epochs": 3})
    shipped = changed(shipped, "scales/smoke/test_samples", 300)
    assert found() == (300, 3, 0.9) and found("fourier") == (300, 3, 0.0)
    shipped = changed(shipped, "scales/smoke/linear_pairs/training", {"epochs": 4, "momentum": 0.5})
    shipped = changed(shipped, "scales/smoke/linear_pairs/test_samples", 400)
    assert found() == (400, 4, 0.5) and found("fourier") == (300, 3, 0.0)
    shipped = changed(shipped, "scales/smoke/linear_pairs/networks/lenet/epochs", 5)
    assert found() == (400, 5, 0.5) and found(architecture="mlp_100_20") == (400, 4, 0.5)


def test_a_scale_may_have_its_own_values_of_an_experiment(shipped):
    document = changed(shipped, "scales/smoke/nad_sweep/sigma", {"vgg11": 2.0})
    for scale, sigma in (("smoke", 2.0), ("laptop", 3.0)):
        settings = plans(document)[scale].experiments["nad_sweep"].settings
        assert (settings.sigma["vgg11"], settings.sigma["lenet"]) == (sigma, 1.0)


def test_whole_numbers_stand_for_real_ones(shipped):
    found = smoke(shipped | {"eps1": 2, "sigma": 3}, "linear_pairs").settings
    assert repr(dataclasses.astuple(found)) == "(2.0, 0.5, 3.0)"


def test_a_network_may_take_fewer_seeds_than_its_experiment(shipped):
    document = changed(shipped | {"seed": 5}, "scales/smoke/linear_pairs/seeds", 3)
    document = changed(document, "scales/smoke/linear_pairs/networks/lenet/seeds", 1)
    plan = smoke(document, "linear_pairs")
    assert plan.seeds == (5, 6, 7) and smoke(document, "fourier").seeds == (5,)
    cells = experiments.find("linear_pairs").cells(plan)
    assert {cell["seed"] for cell in cells if cell["architecture"] == "lenet"} == {5}
    assert {cell["seed"] for cell in cells if cell["architecture"] == "mlp_100_20"} == {5, 6, 7}


def test_ranges_stand_for_their_numbers(shipped):
    given, indices = [3, [10, 20, 5], [100, 101, 7], [5, 5, 1]], (3, 10, 15, 20, 100, 5)
    document = changed(shipped, "scales/smoke/linear_pairs/networks/lenet/indices", given)
    document = changed(document, "scales/smoke/poison/networks/lenet/mixture_indices", given)
    assert smoke(document, "linear_pairs").members["lenet"].grid == Indices(indices)
    assert smoke(document, "poison").members["lenet"].grid.mixture_indices == indices


def test_sources_of_nads(shipped):
    shipped["scales"]["smoke"]["nads"] |= {
        "lenet": {"file": "my_nads.npy"},
        "mlp_100_20": {"networks": 9, "error": 0.25, "first": 1001},
        "logreg": 2,
        "vgg11": {"networks": 4, "input": [3, 64, 64], "first": 7},
    }
    nads = plans(shipped)["smoke"].nads
    assert {name: request.source for name, request in nads.members.items()} == {
        "resnet18_narrow": Source(2),
        "lenet": Source(file="my_nads.npy"),
        "mlp_100_20": Source(9, 0.25, (1, 32, 32), 1001),
        "mlp_200_50": Source(16),
        "logreg": Source(2),
        "vgg11": Source(4, None, (3, 64, 64), 7),
    }
    document = json.dumps(dataclasses.asdict(nads))
    assert pydantic.TypeAdapter(NADsPlan).validate_json(document) == nads


def test_estimands_are_those_whose_nads_there_will_be(shipped):
    def estimands(document):
        return smoke(document, "linear_pairs").members["lenet"].estimands

    source = "scales/smoke/nads/lenet"
    assert estimands(shipped) == BOTH
    assert estimands(changed(shipped, "estimator/compare", False)) == ("secant",)
    assert estimands(changed(shipped, source, {"file": "mine.npy"})) == ("secant",)
    assert estimands(changed(shipped, source, {"networks": 16, "error": 0.5})) == BOTH
    assert estimands(changed(shipped, source, {"networks": 16, "first": 1024})) == ("secant",)
    document = changed(shipped, "estimator/point", "many")
    assert estimands(changed(document, "estimator/estimand", "gradient")) == ("gradient", "secant")


def test_nads_grids_and_images_have_the_inputs_of_their_architecture(shipped):
    wide = {"network": "logreg", "side": 64, "input": [64, 48]}
    document = changed(shipped, "architectures/wide", wide)
    for path, value in (
        ("image_pairs/sigma/wide", 1.0),
        ("scales/smoke/nads/wide", 2),
        ("scales/smoke/linear_pairs/networks/wide", {"indices": [0, 3071]}),
        ("scales/smoke/fourier/networks/wide", {"step": 8}),
        ("scales/smoke/image_pairs/networks", {"wide": {"indices": [1, 3071]}}),
        ("scales/smoke/poison/networks", {"wide": {"indices": [3070], "mixture_indices": []}}),
        ("scales/smoke/flip/networks", {"wide": None}),
        ("learning/sigma/wide", 1.0),
        ("scales/smoke/learning/networks", {"wide": {"indices": [0, 3071]}}),
    ):
        document = changed(document, path, value)
    found = plans(document)["smoke"]
    assert found.nads.members["wide"].source.input == (1, 64, 48)
    assert found.nads.members["lenet"].source.input == (1, 32, 32)
    assert found.images.size == (64, 48) and plans(document)["laptop"].images.size == (32, 32)
    for name in ("linear_pairs", "fourier"):
        members = found.experiments[name].members
        assert (members["wide"].input, members["lenet"].input) == ((64, 48), (32, 32))
    assert members["wide"].specification == {"network": "pipeline.networks.mlp:LogReg", "side": 64}
