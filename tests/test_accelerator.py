"""All that runs on a device runs on an accelerator as on the CPU, and leaves no tensor
behind."""

import contextlib
import dataclasses
import json

import accelerator
import numpy as np
import pandas as pd
import pytest
import safetensors.torch
import torch
from accelerator import CPU, DEVICE, NAME, STATE, Accelerator
from hand_overs import lay_down_plans
from small_grids import HOW, SMALL, lay_down_nads, lay_down_plan, orthonormal, plan_of
from small_images import class_folders
from small_networks import FAMILIES

from pipeline import estimate, evaluate, generate, networks, train
from pipeline.grid.jobs import CellTraining
from pipeline.machine import lanes, workers
from pipeline.nads import NADs, jacobian
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.profile import __main__ as profile
from pipeline.profile import checkpoint, plan
from pipeline.project import artifacts
from pipeline.training import loop


@pytest.fixture
def on_both(monkeypatch):
    """Calls a function of a device on the CPU and on the accelerator, where the stages
    find it."""

    def run(function):
        results = []
        for device, context in ((CPU, contextlib.nullcontext), (DEVICE, Accelerator)):
            monkeypatch.setattr(workers, "find_device", lambda choice: device)  # noqa: B023
            with context():
                results.append(function(device))
        return results

    return run


def trained_twice(device, specification, how):
    """The outcome and the weights of a network trained for two epochs."""
    network = networks.build(specification, 1, 2, 3)
    x = torch.randn(24, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    x = loop.channels_last(x, device)
    y = (torch.arange(24) % 2).to(device)
    STATE.waits = 0
    outcome = loop.train(network, x, y, how, 5)
    again = any(isinstance(module, torch.nn.Dropout) for module in network.modules())
    assert STATE.waits <= 2 + again, "once in a training, and not once in a step"
    loop.logits(networks.build(specification, 1, 2, 4), x)
    assert {value.device.type for value in network.state_dict().values()} == {
        device.type
    }
    return outcome, {
        name: value.cpu().numpy() for name, value in network.state_dict().items()
    }


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_trains_in_both_precisions(name, precision, on_both):
    assert FAMILIES.keys() == networks.NETWORKS.keys()
    specification = networks.specification({"network": name} | FAMILIES[name])
    how = dataclasses.replace(HOW, precision=precision)
    (ours, weights), (there, others) = on_both(
        lambda d: trained_twice(d, specification, how)
    )
    assert there.losses == pytest.approx(ours.losses, rel=1e-5)
    for key, value in weights.items():
        np.testing.assert_allclose(others[key], value, atol=1e-6)


def lay_down(name, images, architecture="lenet", epochs=1):
    """What the stages before `train` leave of a small grid of one architecture."""
    settings, grid = SMALL[name]
    how = dataclasses.replace(HOW, epochs=epochs, batch_size=32)
    plan = plan_of(name, settings, {architecture: grid}, (0,), (40, 20), how=how)
    lay_down_plan(plan)
    lay_down_nads(**{architecture: orthonormal()})
    about = {"name": "small", "train": 60, "test": 20}
    about |= {key: images[key] for key in ("classes", "mean", "deviation")}
    with artifacts.output(artifacts.IMAGES) as where:
        for array in ("train_images", "train_labels", "test_images", "test_labels"):
            np.save(where / f"{array}.npy", images[array])
        artifacts.write_json(where / "about.json", about)
    generate.main(name)


def left(name):
    """Tables and arrays that `train` and `evaluate` have left."""
    models = artifacts.MODELS / name
    reports = artifacts.REPORTS / name
    arrays = {
        path.stem: safetensors.torch.load_file(path) for path in models.glob("*.safe*")
    }
    if (file := reports / "cross_sections.npz").exists():
        arrays["sections"] = {
            key: torch.from_numpy(a) for key, a in np.load(file).items()
        }
    tables = {
        path.name: pd.read_csv(path)
        for path in [*models.glob("*.csv"), *reports.glob("*.csv")]
    }
    return arrays, tables


@pytest.mark.parametrize("name", ["linear_pairs", "learning", "fourier"])
def test_every_experiment_is_trained_and_evaluated(
    name, folder, images, on_both, in_this_process
):
    lay_down(name, images)

    def run(device):
        train.main(name)
        evaluate.main(name)
        return left(name)

    (arrays, tables), (arrays_there, tables_there) = on_both(run)
    assert not STATE.on_cpu, "products that an accelerator would have waited for"
    assert arrays.keys() == arrays_there.keys() and tables.keys() == tables_there.keys()
    for key, values in arrays.items():
        for one, value in values.items():
            np.testing.assert_allclose(arrays_there[key][one], value, atol=1e-3)
    for key, table in tables.items():
        pd.testing.assert_frame_equal(tables_there[key], table, atol=1e-3)


def test_several_networks_are_recorded_and_trained_at_once(
    folder, images, on_both, in_this_process, monkeypatch
):
    """Four cells, in lanes of at most three."""
    lay_down("linear_pairs", images, "mlp", epochs=5)
    planned = artifacts.read_plan("machine", dict)
    running = []
    at_once = []
    start = CellTraining.__init__
    end = CellTraining.result

    def count_start(cell, *given, **more):
        running.append(cell)
        at_once.append(len(running))
        start(cell, *given, **more)

    def count_end(cell, seconds):
        running.remove(cell)
        assert seconds > 0
        return end(cell, seconds)

    monkeypatch.setattr(CellTraining, "__init__", count_start)
    monkeypatch.setattr(CellTraining, "result", count_end)
    monkeypatch.setattr(lanes, "can_record", lambda device: device.type == NAME)
    monkeypatch.setattr(lanes, "_capture", accelerator.capture)
    monkeypatch.setattr(lanes, "MAX_LANES", 3)

    def run(device):
        engine = "eager" if device == CPU else "recorded"
        artifacts.write_json(
            artifacts.PLAN / "machine.json", planned | {"engine": engine}
        )
        train.main("linear_pairs")
        return left("linear_pairs")

    (arrays, tables), (arrays_there, tables_there) = on_both(run)
    assert at_once[-4:] == [1, 2, 3, 3]
    for key, values in arrays.items():
        for name, value in values.items():
            np.testing.assert_allclose(arrays_there[key][name], value, atol=1e-5)
    for key, table in tables.items():
        pd.testing.assert_frame_equal(tables_there[key], table, atol=1e-4)


@pytest.mark.parametrize("estimand", ["secant", "gradient"])
def test_nads_are_estimated(estimand, folder, on_both, in_this_process, monkeypatch):
    passes = {"cpu": [], NAME: []}
    real = jacobian.images_per_pass

    def watched(network, shape):
        images = real(network, shape)
        passes[next(network.parameters()).device.type].append(images)
        return images

    monkeypatch.setattr(jacobian, "images_per_pass", watched)
    small = {"width": 0.125, "side": 8}
    specifications = {
        "resnet18": networks.specification({"network": "resnet18"} | small),
        "vit": networks.specification(
            {"network": "vit", "width": 16, "depth": 1, "side": 8}
        ),
    }
    estimator = Estimator(estimand, "readout", 100.0, "many", True, False)
    source = Source(2, input=(1, 8, 8))
    members = {name: Request(each, source) for name, each in specifications.items()}
    lay_down_plans(
        nads=NADsPlan("smoke", 0, estimator, members),
        machine={"device": "cpu", "engine": "eager"},
    )

    def run(device):
        estimate.main()
        return [NADs.load(artifacts.NADS / f"{name}.npz") for name in members]

    both = on_both(run)
    assert len(passes["cpu"]) == len(passes[NAME]) == 4
    assert max(passes["cpu"]) == 128 < 2000 < min(passes[NAME]), (
        "by a cache, and by memory"
    )
    for ours, there in zip(*both, strict=True):
        np.testing.assert_allclose(
            there.eigenvalues, ours.eigenvalues, rtol=1e-3, atol=1e-9
        )
        assert abs(there.directions[0] @ ours.directions[0]) == pytest.approx(
            1, abs=1e-4
        )


def test_the_output_of_a_network_from_images_to_images_comes_back(on_both):
    estimator = Estimator("output", "plain", 100.0, "many", False, False)
    point = np.ones(64, "f4")

    def made():
        return loop.initialise(lambda: torch.nn.Conv2d(1, 1, 3, padding=1), 0)

    def run(device):
        return jacobian.jacobian_of(made().to(device), estimator, point, (1, 8, 8))

    np.testing.assert_allclose(*on_both(run), atol=1e-6)


def test_a_profile_with_weights(folder, on_both, in_this_process):
    """Each part of a profile gives the same numbers, and the command puts them
    together."""
    specification = networks.specification({"network": "logreg", "side": 8})
    shape = (1, 8, 8)
    pictures = str(class_folders(folder / "mine", ("ape", "bee", "cat"), size=(8, 8)))
    weights = str(folder / "net.safetensors")
    safetensors.torch.save_file(
        networks.build(specification, 1, 3, 0).state_dict(), weights
    )

    def run(device):
        found = checkpoint.measure(
            specification, shape, weights, pictures, torch.device(device)
        )
        assert plan.measure_step(specification, shape, torch.device(device)) > 0
        return [found.accuracy, found.answers], found.before.rows, found.after.rows

    for ours, there in zip(*on_both(run), strict=True):
        np.testing.assert_allclose(there, ours, atol=1e-5)
    words = [
        "logreg",
        "side=8",
        "--input",
        "1x8x8",
        "--minutes",
        "0.001",
        "--output",
        "page",
    ]
    with Accelerator():
        profile.main(
            profile.parse([*words, "--weights", weights, "--images", pictures])
        )
    request = json.loads((folder / "page/plan.json").read_text())["request"]
    assert request["device"] == NAME and (folder / "page/index.html").exists()
