"""All that runs on a device runs on an accelerator as on the CPU, and leaves no tensor behind."""

import contextlib
import dataclasses

import numpy as np
import pandas as pd
import pytest
import safetensors.torch
import torch
from accelerator import CPU, DEVICE, NAME, STATE, Accelerator
from hand_overs import lay_down_plans
from small_grids import HOW, SMALL, lay_down_nads, lay_down_plan, orthonormal, plan_of
from small_images import class_folders

from pipeline import estimate, evaluate, experiments, generate, networks, train
from pipeline.cells import stack, training
from pipeline.machine import workers
from pipeline.measures import boundaries, gradients
from pipeline.nads import NADs
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.nads.task import Recipe
from pipeline.profile import __main__ as profile
from pipeline.profile import checkpoint, trained, untrained
from pipeline.project import artifacts

FAMILIES = {
    "logreg": {},
    "mlp": {"hidden": [6, 4]},
    "lenet": {},
    "vgg11": {"width": 0.125},
    "resnet18": {"width": 0.125},
    "densenet121": {"growth": 2, "blocks": [1, 1, 1, 1]},
    "vit": {"width": 16, "depth": 1},
    "mixer": {"width": 16, "depth": 1},
    "convmixer": {"width": 8, "depth": 1},
    "convnext": {"widths": [8, 8, 8], "depths": [1, 1, 1]},
}


@pytest.fixture
def on_both(monkeypatch):
    """Calls a function of a device on the CPU and on the accelerator, where the stages find it."""

    def run(function):
        results = []
        for device, context in ((CPU, contextlib.nullcontext), (DEVICE, Accelerator)):
            monkeypatch.setattr(workers, "device_of", lambda choice: device)  # noqa: B023
            with context():
                results.append(function(device))
        return results

    return run


def trained_twice(device, specification, how):
    """The outcome and the weights of a network trained for two epochs."""
    network = networks.build(specification, 1, 2, 3)
    x = torch.randn(24, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    y = (torch.arange(24) % 2).to(device)
    outcome = training.train(network, training.channels_last(x, device), y, how, 5)
    assert {value.device.type for value in network.state_dict().values()} == {device.type}
    return outcome, {name: value.cpu().numpy() for name, value in network.state_dict().items()}


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_trains_in_both_precisions(name, precision, on_both):
    assert FAMILIES.keys() == networks.NETWORKS.keys()
    specification = networks.specification({"network": name} | FAMILIES[name])
    how = dataclasses.replace(HOW, precision=precision)
    (ours, weights), (there, others) = on_both(lambda d: trained_twice(d, specification, how))
    assert there.losses == pytest.approx(ours.losses, rel=1e-5)
    for key, value in weights.items():
        np.testing.assert_allclose(others[key], value, atol=1e-6)


def lay_down(name, images):
    """What the stages before `train` leave of a small grid of LeNets."""
    settings, grid = SMALL[name]
    how = dataclasses.replace(HOW, epochs=1)
    plan = plan_of(name, settings, {"lenet": grid}, (0,), (40, 20), how=how)
    lay_down_plan(plan)
    lay_down_nads(lenet=orthonormal())
    about = {"name": "small", "train": 60, "test": 20}
    about |= {key: images[key] for key in ("classes", "mean", "deviation")}
    with artifacts.output(artifacts.IMAGES) as where:
        for array in ("train_images", "train_labels", "test_images", "test_labels"):
            np.save(where / f"{array}.npy", images[array])
        artifacts.write_json(where / "about.json", about)
    generate.main(name)


def left(name):
    """Tables and arrays that `train` and `evaluate` have left."""
    models, reports = artifacts.MODELS / name, artifacts.REPORTS / name
    arrays = {path.stem: safetensors.torch.load_file(path) for path in models.glob("*.safe*")}
    if (file := reports / "cross_sections.npz").exists():
        arrays["sections"] = {key: torch.from_numpy(a) for key, a in np.load(file).items()}
    tables = {path.name: pd.read_csv(path) for path in [*models.glob("*.csv"), *reports.glob("*.csv")]}
    return arrays, tables


@pytest.mark.parametrize("name", ["linear_pairs", "learning", "fourier"])
def test_every_experiment_is_trained_and_evaluated(name, folder, images, on_both, in_this_process):
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
            np.testing.assert_allclose(arrays_there[key][one], value, atol=2e-3 if key == "sections" else 1e-4)
    for key, table in tables.items():
        pd.testing.assert_frame_equal(tables_there[key], table, atol=1e-3)
