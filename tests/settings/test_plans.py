"""What params.yaml asks for: the papers' values as shipped, ranges, shared values, estimands, and all of it back from JSON."""

import copy
import dataclasses
import json

import pytest
from documents import GONE, changed, sentences

from pipeline import experiments
from pipeline.experiments.nad_sweep import Sweep
from pipeline.grid.experiment import Amplitude, AmplitudePerArchitecture, Indices, Member, Nothing, Plan
from pipeline.images.wanted import WantedOfSize
from pipeline.machine.workers import Machine
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.project import artifacts
from pipeline.settings import plans
from pipeline.training import Training

LENET = {"network": "pipeline.networks.lenet:LeNet"}


def lines(plan):
    """The part of the grid of every architecture of a plan."""
    return {name: member.grid for name, member in plan.members.items()}


def trainings(plan):
    """Epochs, lr, momentum and weight decay of every architecture of a plan."""
    hows = {name: member.training for name, member in plan.members.items()}
    return {name: (how.epochs, how.lr, how.momentum, how.weight_decay) for name, how in hows.items()}


def test_the_shipped_file_gives_plans_of_every_scale_the_chosen_one_first(shipped):
    assert list(plans(shipped)) == ["laptop", "smoke", "overnight", "paper"]
    shipped["scale"] = "paper"
    found = plans(shipped)
    assert list(found) == ["paper", "smoke", "laptop", "overnight"]
    for scale, asked in found.items():
        assert list(asked.experiments) == experiments.names()
        assert {asked.nads.scale, *(plan.scale for plan in asked.experiments.values())} == {scale}
        for name, plan in asked.experiments.items():
            experiment = experiments.find(name)
            assert plan.experiment == name
            assert isinstance(plan.settings, experiment.Settings)
            cells = experiment.cells(plan)
            assert len({tuple(cell.items()) for cell in cells}) == len(cells) > 0
            for architecture, member in plan.members.items():
                assert isinstance(member.grid, experiment.Grid)
                assert (member.training.schedule, member.training.precision) == (experiment.schedule, plan.precision)
                assert bool(member.estimands) == experiment.needs_nads
                assert architecture in asked.nads.members or not experiment.needs_nads


def test_a_network_may_take_fewer_seeds_than_its_experiment(shipped):
    shipped["seed"] = 5
    block = shipped["scales"]["laptop"]["linear_pairs"]
    block |= {"seeds": 3, "networks": {"lenet": {"indices": [1], "seeds": 1}, "mlp_100_20": {"indices": [1, 2]}}}
    plan = plans(shipped)["laptop"].experiments["linear_pairs"]
    assert plan.seeds == (5, 6, 7)
    assert {name: member.seeds for name, member in plan.members.items()} == {"lenet": 1, "mlp_100_20": None}
    cells = experiments.find("linear_pairs").cells(plan)
    assert [(cell["architecture"], cell["seed"]) for cell in cells] == [
        ("lenet", 5),
        *(("mlp_100_20", seed) for seed in (5, 6, 7) for _ in range(4)),
    ]
    again = Plan.read(experiments.find("linear_pairs"), json.loads(json.dumps(dataclasses.asdict(plan))))
    assert again == plan


def test_a_document_is_left_as_it_was(shipped):
    before = copy.deepcopy(shipped)
    plans(shipped)
    assert shipped == before


def test_what_stands_at_the_top_goes_to_every_scale(shipped):
    shipped |= {"device": "cpu", "reuse": False, "seed": 7}
    shipped["images"] = {"path": "here.tar", "url": "https://example.org/a", "fallback": None}
    for asked in plans(shipped).values():
        assert asked.images == WantedOfSize("here.tar", "https://example.org/a", None)
        assert asked.machine == Machine("cpu", False)
        assert asked.nads.seed == 7
        assert asked.nads.estimator == Estimator("secant", "readout", 100.0, "normal", True, True)
        assert all(plan.seeds[0] == 7 for plan in asked.experiments.values())


def test_the_smoke_scale_value_by_value(shipped):
    asked = plans(shipped)["smoke"]
    narrow = {"network": "pipeline.networks.resnet:ResNet18", "width": 0.125}
    mlp = {"network": "pipeline.networks.mlp:MLP", "hidden": [100, 20]}
    assert asked.nads.members == {
        "resnet18_narrow": Request(narrow, Source(2)),
        "lenet": Request(LENET, Source(16)),
        "mlp_100_20": Request(mlp, Source(16)),
        "mlp_200_50": Request(mlp | {"hidden": [200, 50]}, Source(16)),
    }
    both = ("secant", "gradient")
    linear = Training(2, 0.2, 0.9, 0.0, "triangular", "float32")
    assert asked.experiments["linear_pairs"] == Plan(
        "linear_pairs",
        "smoke",
        (0,),
        512,
        256,
        experiments.find("linear_pairs").Settings(1.0, 0.5, 1.0),
        {
            "resnet18_narrow": Member(
                narrow, Training(1, 0.1, 0.9, 1e-5, "triangular", "float32"), Indices((1,)), both
            ),
            "lenet": Member(LENET, linear, Indices((1, 1000)), both),
            "mlp_100_20": Member(mlp, linear, Indices((1, 1000)), both),
        },
    )
    fourier = asked.experiments["fourier"]
    assert fourier.settings == Amplitude(1.0, 3.0)
    assert fourier.members["lenet"] == Member(
        LENET, Training(2, 0.5, 0.0, 0.0, "linear", "float32"), experiments.find("fourier").Grid(8), ()
    )
    sweep = asked.experiments["nad_sweep"]
    assert sweep.settings == AmplitudePerArchitecture(
        1.0, {"lenet": 1.0, "logreg": 1.0, "resnet18": 3.0, "vgg11": 3.0, "densenet121": 3.0}
    )
    poison, flip = asked.experiments["poison"], asked.experiments["flip"]
    assert poison.settings.size == 0.05
    assert poison.members["lenet"].grid == experiments.find("poison").Grid((0, 1020), (0,))
    assert flip.settings == Nothing()
    assert (flip.members["lenet"].grid, flip.members["lenet"].estimands) == (experiments.find("flip").Grid(), both)


def test_the_paper_scale_is_that_of_paper_2(shipped):
    """§3 and §4: samples, epochs, learning rates, seeds and the grid of indices."""
    asked = plans(shipped)["paper"].experiments
    grid = Indices((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 800, 1000))
    linear, image = asked["linear_pairs"], asked["image_pairs"]
    assert dataclasses.astuple(linear.settings) == (1.0, 0.5, 1.0)
    assert (linear.seeds, linear.train_samples, linear.test_samples) == ((0, 1, 2), 10_000, 10_000)
    assert lines(linear) == dict.fromkeys(["resnet18", "lenet", "mlp_100_20"], grid)
    assert trainings(linear) == {
        "resnet18": (30, 0.1, 0.9, 1e-5),
        "lenet": (50, 0.2, 0.9, 0.0),
        "mlp_100_20": (50, 0.2, 0.9, 0.0),
    }
    assert len(experiments.find("linear_pairs").cells(linear)) == 3 * 3 * 144
    assert image.settings.eps == 1.0
    assert {name: image.settings.sigma[name] for name in image.members} == {
        "resnet18": 3.0,
        "lenet": 1.0,
        "mlp_200_50": 3.0,
    }
    assert (image.seeds, image.train_samples, image.test_samples) == ((0, 1, 2), 50_000, 10_000)
    assert lines(image) == dict.fromkeys(["resnet18", "lenet", "mlp_200_50"], grid)
    assert trainings(image) == {
        "resnet18": (40, 0.15, 0.9, 1e-5),
        "lenet": (40, 0.15, 0.9, 1e-5),
        "mlp_200_50": (60, 0.15, 0.9, 1e-5),
    }
    assert linear.members["resnet18"].specification == {"network": "pipeline.networks.resnet:ResNet18"}
    assert linear.members["mlp_100_20"].specification["hidden"] == [100, 20]
    assert image.members["mlp_200_50"].specification["hidden"] == [200, 50]
    assert {member.training.schedule for plan in (linear, image) for member in plan.members.values()} == {"triangular"}


def test_the_paper_scale_is_that_of_paper_1(shipped):
    """§2, §4 and §5: frequencies, indices, carriers, epochs and schedules."""
    asked = plans(shipped)["paper"].experiments
    fourier, sweep, poison, flip = (asked[name] for name in ("fourier", "nad_sweep", "poison", "flip"))
    speed = asked["convergence"]
    assert speed.settings == Amplitude(1.0, 0.5) and list(speed.members) == ["densenet121", "resnet18", "lenet"]
    assert set(trainings(speed).values()) == {(20, 0.5, 0.0, 0.0)} and {g.step for g in lines(speed).values()} == {2}
    assert fourier.settings == Amplitude(1.0, 3.0)
    named = {"logreg", "lenet", "vgg11", "resnet18", "densenet121", "lenet_unpooled", "resnet18_unpooled"}
    assert named == set(fourier.members)
    assert set(trainings(fourier).values()) == set(trainings(sweep).values()) == {(20, 0.5, 0.0, 0.0)}
    assert {name: grid.step for name, grid in lines(fourier).items() if grid.step != 2} == {"resnet18_unpooled": 4}
    indices = (*range(11), *range(14, 1023, 4))
    along_one = dict.fromkeys(["densenet121", "resnet18", "vgg11"], Sweep(indices, compare=False))
    assert lines(sweep) == along_one | {"lenet": Sweep(indices, compare=True)}
    assert (sweep.settings.eps, sweep.settings.sigma["lenet"]) == (1.0, 1.0)
    assert trainings(poison) == {"resnet18": (50, 0.21, 0.9, 5e-4)}
    assert poison.members["resnet18"].grid.indices == tuple(range(0, 1021, 10))
    assert poison.settings.size == 0.05
    assert trainings(flip) == dict.fromkeys(["densenet121", "resnet18", "vgg11", "lenet"], (30, 0.21, 0.9, 5e-4))
    schedules = {name: {member.training.schedule for member in asked[name].members.values()} for name in asked}
    assert schedules == {
        "convergence": {"linear"},
        "fourier": {"linear"},
        "nad_sweep": {"linear"},
        "poison": {"linear"},
        "flip": {"triangular"},
        "linear_pairs": {"triangular"},
        "image_pairs": {"triangular"},
    }


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize(("compare", "symmetry"), [(True, True), (False, False)])
def test_all_that_a_scale_asks_for_comes_back_from_json(shipped, scale, compare, symmetry):
    shipped["estimator"] |= {"compare": compare, "symmetry": symmetry}
    for name, source in (
        ("vgg11", {"networks": 9, "error": 0.1, "input": [3, 64, 64], "first": 7}),
        ("densenet121_narrow", {"file": "mine.npy", "input": [3, 16, 8]}),
    ):
        if name not in shipped["scales"][scale]["nads"]:
            shipped["scales"][scale]["nads"][name] = source
    asked = plans(shipped)[scale]

    def through_json(value):
        return json.loads(json.dumps(dataclasses.asdict(value), allow_nan=False))

    for name, plan in asked.experiments.items():
        back = Plan.read(experiments.find(name), through_json(plan))
        assert back == plan
        assert repr(back) == repr(plan), "also in the types of numbers and lists"
        assert experiments.find(name).cells(back) == experiments.find(name).cells(plan)
    for value, back in (
        (asked.nads, NADsPlan.read(through_json(asked.nads))),
        (asked.images, artifacts.as_planned(WantedOfSize, "images", through_json(asked.images))),
        (asked.machine, Machine(**through_json(asked.machine))),
    ):
        assert back == value
        assert repr(back) == repr(value)


@pytest.mark.parametrize(
    ("given", "indices"),
    [
        ([3, [10, 20, 5], [100, 101, 7]], (3, 10, 15, 20, 100)),
        ([[0, 1022, 511], 7], (0, 511, 1022, 7)),
        ([[5, 5, 1]], (5,)),
        ([[1, 3, 1], [4, 6, 2]], (1, 2, 3, 4, 6)),
        ([9, 2], (9, 2)),
    ],
)
def test_ranges_stand_for_their_numbers(shipped, given, indices):
    document = changed(shipped, "scales/smoke/linear_pairs/networks/lenet/indices", given)
    assert plans(document)["smoke"].experiments["linear_pairs"].members["lenet"].grid == Indices(indices)
    document = changed(shipped, "scales/smoke/poison/networks/lenet/mixture_indices", given)
    assert plans(document)["smoke"].experiments["poison"].members["lenet"].grid.mixture_indices == indices


def test_a_network_s_own_value_goes_before_the_shared_one(shipped):
    shipped["scales"]["smoke"]["linear_pairs"] |= {
        "training": {"epochs": 3, "lr": 0.2, "momentum": 0.9, "weight_decay": 0.0},
        "networks": {
            "lenet": {"indices": [1]},
            "mlp_100_20": {"indices": [2], "epochs": 5, "lr": 0.1},
            "resnet18_narrow": {"indices": [1], "momentum": 0.5, "weight_decay": 0.25},
        },
    }
    found = plans(shipped)["smoke"].experiments["linear_pairs"]
    assert trainings(found) == {
        "lenet": (3, 0.2, 0.9, 0.0),
        "mlp_100_20": (5, 0.1, 0.9, 0.0),
        "resnet18_narrow": (3, 0.2, 0.5, 0.25),
    }
    assert list(found.members) == ["lenet", "mlp_100_20", "resnet18_narrow"], "trained in the order of the file"


def test_shared_values_may_be_left_out_where_every_line_has_its_own(shipped):
    own = {"epochs": 3, "lr": 0.2, "momentum": 0.9, "weight_decay": 0.0}
    block = shipped["scales"]["smoke"]["flip"]
    block["networks"] = {"lenet": own}
    whole = plans(shipped)["smoke"].experiments["flip"]
    block["training"] = {}
    assert plans(shipped)["smoke"].experiments["flip"] == whole
    del block["training"]
    assert plans(shipped)["smoke"].experiments["flip"] == whole
    del own["lr"]
    assert sentences(shipped) == [
        "params.yaml: scales.smoke.flip.training: the key 'lr' is missing; give it here, or in the line of lenet"
    ]


def test_whole_numbers_stand_for_real_ones(shipped):
    found = plans(shipped | {"eps1": 2, "sigma": 3})["smoke"].experiments["linear_pairs"].settings
    assert repr(dataclasses.astuple(found)) == "(2.0, 0.5, 3.0)"


def test_seeds_begin_with_the_first_one(shipped):
    document = changed(shipped | {"seed": 40}, "scales/smoke/fourier/seeds", 3)
    asked = plans(document)["smoke"]
    assert asked.experiments["fourier"].seeds == (40, 41, 42)
    assert asked.experiments["flip"].seeds == (40,)
    assert asked.nads.seed == 40


def test_precision_is_the_scale_s(shipped):
    found = plans(changed(shipped, "scales/smoke/precision", "bfloat16"))
    for scale, precision in (("smoke", "bfloat16"), ("laptop", "float32")):
        for plan in found[scale].experiments.values():
            assert {member.training.precision for member in plan.members.values()} == {precision}
            assert plan.precision == precision


def estimands(document, name="linear_pairs"):
    """The estimands of LeNet's NADs in an experiment of the smoke scale."""
    return plans(document)["smoke"].experiments[name].members["lenet"].estimands


def test_estimands_are_those_whose_nads_there_will_be(shipped):
    source = "scales/smoke/nads/lenet"
    assert estimands(shipped) == ("secant", "gradient")
    assert estimands(changed(shipped, "estimator/compare", False)) == ("secant",)
    assert estimands(changed(shipped, source, {"file": "mine.npy"})) == ("secant",)
    assert estimands(changed(shipped, source, {"networks": 16, "error": 0.5})) == ("secant", "gradient")
    assert estimands(changed(shipped, source, {"networks": 16, "first": 1024})) == ("secant",)
    gradient = changed(changed(shipped, "estimator/estimand", "gradient"), "estimator/point", "many")
    assert estimands(gradient) == ("gradient", "secant")
    assert estimands(changed(gradient, source, {"file": "mine.npy"})) == ("gradient",)
    assert estimands(gradient, "fourier") == ()


def test_both_estimands_are_swept_where_both_are_estimated(shipped):
    sweep = experiments.find("nad_sweep")
    for compare, count in ((True, 6), (False, 3)):
        asked = plans(changed(shipped, "estimator/compare", compare))["smoke"]
        assert len(sweep.cells(asked.experiments["nad_sweep"])) == count


def test_sources_of_nads(shipped):
    shipped["scales"]["smoke"]["nads"] |= {
        "lenet": {"file": "mine.npy"},
        "mlp_100_20": {"networks": 9, "error": 0.25, "first": 1001},
        "logreg": 2,
    }
    members = plans(shipped)["smoke"].nads.members
    assert members["lenet"].source == Source(file="mine.npy")
    assert members["mlp_100_20"].source == Source(9, 0.25, (1, 32, 32), 1001)
    assert members["logreg"].source == Source(networks=2)
    assert members["lenet"].specification == LENET


def test_networks_of_one_s_own_keep_their_place_and_arguments(shipped):
    own = {"network": "my_package.networks:Net", "filters": 3, "deep": {"a": [1, None, "x"]}}
    members = plans(changed(shipped, "architectures/lenet", own))["smoke"].nads.members
    assert members["lenet"].specification == own


def test_a_scale_need_not_train_what_another_does(shipped):
    document = changed(changed(shipped, "scales/paper", GONE), "scales/overnight", GONE)
    assert list(plans(document)) == ["laptop", "smoke"]
    document = changed(document, "nad_sweep/sigma", {"lenet": 1.0})
    assert plans(document)["laptop"].experiments["nad_sweep"].settings.sigma == {"lenet": 1.0}
