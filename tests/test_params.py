"""params.yaml as shipped is sound at every scale; every wrong value ends with one sentence that names it."""

import copy
from pathlib import Path

import pytest
import yaml

from pipeline import check, experiments, params
from pipeline.project.errors import InputError, one_sentence

SHIPPED = yaml.safe_load(Path("params.yaml").read_text())
LINEAR, IMAGE = experiments.find("linear_pairs"), experiments.find("image_pairs")


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize("module", [experiments.find(name) for name in experiments.names()])
def test_shipped_values_are_sound(scale, module):
    chosen = params.parse(copy.deepcopy(SHIPPED), module, scale)
    cells = module.cells(chosen)
    assert len({tuple(cell.items()) for cell in cells}) == len(cells) > 0


def test_paper_scale_is_the_papers():
    """SCIENCE §4: sizes, epochs, learning rates, seeds and index grid of paper 2."""
    indices = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 800, 1000)
    linear = params.parse(copy.deepcopy(SHIPPED), LINEAR, "paper")
    assert (linear.eps1, linear.eps2, linear.sigma, linear.grid.seeds) == (1.0, 0.5, 1.0, 3)
    assert (linear.grid.train_samples, linear.grid.test_samples) == (10_000, 10_000)
    assert linear.grid.networks == {
        "resnet18": params.Plan(30, 0.1, 0.9, 1e-5, indices),
        "lenet": params.Plan(50, 0.2, 0.9, 0.0, indices),
        "mlp_100_20": params.Plan(50, 0.2, 0.9, 0.0, indices),
    }
    assert len(LINEAR.cells(linear)) == 3 * 3 * 144
    image = params.parse(copy.deepcopy(SHIPPED), IMAGE, "paper")
    assert (image.settings.eps, image.grid.seeds, image.grid.train_samples, image.grid.test_samples) == (
        1.0,
        3,
        50_000,
        10_000,
    )
    assert {n: image.settings.sigma[n] for n in image.grid.networks} == {
        "resnet18": 3.0,
        "lenet": 1.0,
        "mlp_200_50": 3.0,
    }
    assert image.grid.networks == {
        "resnet18": params.Plan(40, 0.15, 0.9, 1e-5, indices),
        "lenet": params.Plan(40, 0.15, 0.9, 1e-5, indices),
        "mlp_200_50": params.Plan(60, 0.15, 0.9, 1e-5, indices),
    }
    assert SHIPPED["architectures"]["mlp_100_20"]["hidden"] == [100, 20]
    assert SHIPPED["architectures"]["mlp_200_50"]["hidden"] == [200, 50]
    assert SHIPPED["architectures"]["resnet18"] == {"network": "resnet18"}
    assert SHIPPED["estimator"]["step"] == 100.0


def test_ranges_stand_for_their_numbers():
    document = copy.deepcopy(SHIPPED)
    plan = document["scales"]["smoke"]["linear_pairs"]["networks"]["lenet"]
    plan["indices"] = [3, [10, 20, 5], [100, 101, 7]]
    assert params.parse(document, LINEAR, "smoke").grid.networks["lenet"].indices == (3, 10, 15, 20, 100)
    for wrong in ([1, 2], [1, 2, 0], [1, 2, "x"]):
        plan["indices"] = [wrong]
        with pytest.raises(InputError, match=r"lenet.indices: a range is \[first, last, step\]"):
            params.parse(document, LINEAR, "smoke")


def test_a_networks_own_value_goes_before_the_shared_one():
    document = copy.deepcopy(SHIPPED)
    document["scales"]["smoke"]["linear_pairs"] |= {
        "training": {"epochs": 3, "lr": 0.2, "momentum": 0.9, "weight_decay": 0.0},
        "networks": {"lenet": {"indices": [1]}, "mlp_100_20": {"indices": [2], "epochs": 5, "lr": 0.1}},
    }
    networks = params.parse(document, LINEAR, "smoke").grid.networks
    assert networks == {"lenet": params.Plan(3, 0.2, 0.9, 0.0, (1,)), "mlp_100_20": params.Plan(5, 0.1, 0.9, 0.0, (2,))}


def test_paper_scale_is_paper_1s():
    """SCIENCE §4: frequencies, indices, carriers, epochs and schedules of paper 1."""
    fourier, sweep, poison, flip = (
        params.parse(copy.deepcopy(SHIPPED), experiments.find(name), "paper")
        for name in ("fourier", "nad_sweep", "poison", "flip")
    )
    along = params.Training(20, 0.5, 0.0, 0.0)
    images = params.Training(50, 0.21, 0.9, 5e-4)
    training = lambda plan: params.Training(plan.epochs, plan.lr, plan.momentum, plan.weight_decay)
    assert (fourier.settings.eps, fourier.settings.sigma) == (1.0, 3.0)
    named = {"logreg", "lenet", "vgg11", "resnet18", "densenet121", "lenet_unpooled", "resnet18_unpooled"}
    assert named < set(fourier.grid.networks)
    assert {(training(plan), plan.step) for plan in fourier.grid.networks.values()} == {(along, 2)}
    indices = (*range(11), *range(14, 1023, 4))
    assert set(sweep.grid.networks) == {"lenet", "vgg11", "resnet18", "densenet121"}
    assert {(training(plan), plan.indices) for plan in sweep.grid.networks.values()} == {(along, indices)}
    assert (sweep.settings.eps, sweep.settings.sigma["lenet"]) == (1.0, 1.0)
    (plan,) = poison.grid.networks.values()
    assert training(plan) == images and plan.indices == tuple(range(0, 1021, 10)) and poison.settings.size == 0.05
    assert set(flip.grid.networks) == {"lenet", "vgg11", "resnet18", "densenet121"}
    assert {training(plan) for plan in flip.grid.networks.values()} == {params.Training(30, 0.21, 0.9, 5e-4)}
    for name, schedule in (
        ("fourier", "linear"),
        ("nad_sweep", "linear"),
        ("poison", "linear"),
        ("flip", "triangular"),
    ):
        assert experiments.find(name).SCHEDULE == schedule


def changed(path, value):
    """The shipped document with the value at the dotted `path` replaced or added."""
    document = copy.deepcopy(SHIPPED)
    *parents, last = path.split(".")
    place = document
    for key in parents:
        place = place[key]
    place[last] = value
    return document


PLAN = "scales.laptop.linear_pairs.networks.lenet"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("epz2", 0.3, "unknown key 'epz2'; did you mean 'eps2'?"),
        ("eps2", "0.3", "eps2 must be a finite number, not '0.3'"),
        ("eps1", True, "eps1 must be a finite number"),
        ("sigma", 0, "sigma must be positive"),
        ("sigma", float("nan"), "sigma must be a finite number"),
        ("seed", 1.5, "seed must be a whole number"),
        ("scale", "lapptop", "scale 'lapptop' is not one of smoke, laptop, paper"),
        ("device", "gpu", "device must be one of auto, cpu, cuda, not 'gpu'"),
        ("images.fallback", "mnist", "images.fallback must be"),
        ("estimator.step", -1, "step must be positive"),
        ("estimator.stepp", 1, "unknown key 'stepp'; did you mean 'step'?"),
        ("estimator.estimand", "secants", "estimand must be one of secant, gradient"),
        ("estimator.estimand", "gradient", "symmetry does not hold for the gradient at one fixed image"),
        ("scales.laptop.nads.lenett", 8, "unknown architecture 'lenett'; did you mean 'lenet'?"),
        ("scales.laptop.nads.lenet", 1, "networks must be at least 2"),
        ("scales.laptop.nads.lenet", {"network": 4}, "unknown key 'network'; did you mean 'networks'?"),
        ("scales.laptop.nads.lenet", {"error": 0.1}, "the key 'networks' (or 'file') is missing"),
        ("scales.laptop.nads.lenet", {"networks": 9, "error": 2.0}, "error must lie between 0 and 1"),
        ("scales.laptop.nads.lenet", {"networks": 9, "file": "a.npy"}, "not both"),
        ("scales.laptop.nads.lenet", {"networks": 9, "input": [32, 32]}, "input must be [channels, height, width]"),
        ("scales.laptop.nads.lenet", {"networks": 9, "first": 2000}, "first must lie between 1 and 1024"),
        ("scales.laptop.nads.lenet", {"networks": 9, "first": 100}, "NAD 128 is not among the first 100"),
        ("scales.laptop.nads.lenet", {"networks": 9, "input": [3, 32, 32]}, "its NADs are for inputs 3×32×32"),
        ("scales.laptop.nads.lenet", "many", "must be a mapping, not 'many'"),
        (f"{PLAN}.indices", [1, 1024], "NAD index 1024 is out of range; indices run from 0 to 1023"),
        (f"{PLAN}.indices", [-1], "NAD index -1 is out of range"),
        (f"{PLAN}.indices", [1, 1], "repeat a value"),
        (f"{PLAN}.indices", [], "indices is empty"),
        (f"{PLAN}.indices", 5, "must be a list"),
        (f"{PLAN}.epochs", 0, "epochs must be at least 1"),
        (f"{PLAN}.lr", "1e-5", "YAML reads 1e-5 as text"),
        (f"{PLAN}.epoch", 3, "unknown key 'epoch'; did you mean 'epochs'?"),
        (
            "scales.laptop.linear_pairs.networks.vgg",
            SHIPPED["scales"]["laptop"]["linear_pairs"]["networks"]["lenet"],
            "unknown architecture",
        ),
        ("scales.laptop.linear_pairs.seeds", 0, "seeds must be at least 1"),
        ("scales.laptop.linear_pairs.training", {"lr": 1, "momentun": 0}, "unknown key 'momentun'; did you mean"),
        ("scales.laptop.linear_pairs.training", {"lr": 0.2, "momentum": 0.9}, "the key 'epochs' is missing"),
        ("scales.laptop.linear_pairs.training", {"lr": "fast"}, "linear_pairs.training.lr must be a finite number"),
        ("scales.laptop.linear_pairs.training", 5, "linear_pairs.training must be a mapping"),
        ("scales.laptop.precision", "float16", "precision must be one of float32, bfloat16, not 'float16'"),
        ("linear_pairs", {}, "has no block of its own"),
    ],
)
def test_a_wrong_value_is_refused_with_one_sentence(path, value, sentence):
    with pytest.raises(InputError) as caught:
        params.parse(changed(path, value), LINEAR)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)
    assert str(caught.value).startswith("params.yaml")


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("image_pairs.sigma", {"lenet": 1.0}, "image_pairs: sigma has no value for"),
        ("image_pairs.sigma.lenet", -1.0, "sigma.lenet must be positive"),
        ("image_pairs.eps", "one", "image_pairs.eps must be a finite number, not 'one'"),
        ("scales.laptop.image_pairs", None, "must be a mapping"),
    ],
)
def test_a_wrong_value_of_image_pairs_is_refused(path, value, sentence):
    with pytest.raises(InputError, match=sentence):
        params.parse(changed(path, value), IMAGE)


def test_a_number_alone_is_a_number_of_networks_and_the_other_estimand_is_never_wrongly_averaged():
    chosen = params.parse(changed("scales.laptop.nads.lenet", {"file": "my.npy"}), LINEAR)
    assert chosen.nads["lenet"] == params.Source(file="my.npy") and chosen.nads["mlp_100_20"] == params.Source(64)
    other = chosen.estimator.other()
    assert (other.estimand, other.symmetry, other.point) == ("gradient", False, "normal")
    chosen = params.parse(changed("estimator.point", "many"), LINEAR)
    assert chosen.estimator.other().symmetry


def test_a_missing_key_is_named():
    document = copy.deepcopy(SHIPPED)
    del document["eps2"]
    with pytest.raises(InputError, match="the key 'eps2' is missing"):
        params.parse(document)


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(InputError, match="is missing; run from the root"):
        params.load(tmp_path / "params.yaml")
    (tmp_path / "params.yaml").write_text("a: [1,")
    with pytest.raises(InputError, match="is not valid YAML"):
        params.load(tmp_path / "params.yaml")


def test_the_check_stage_refuses_an_unknown_network_at_any_scale(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(SHIPPED))
    check.main()
    assert "params.yaml is sound" in capsys.readouterr().out
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(changed("architectures.lenet", {"network": "lenet7"})))
    with pytest.raises(SystemExit, match="error: networks.lenet: the network 'lenet7' is unknown"), one_sentence():
        check.main()
    (tmp_path / "params.yaml").write_text(
        yaml.safe_dump(changed("scales.paper.linear_pairs.networks.lenet.indices", [2000]))
    )
    with pytest.raises(SystemExit, match="index 2000 is out of range"), one_sentence():
        check.main()
