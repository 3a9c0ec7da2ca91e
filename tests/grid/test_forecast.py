"""What a grid asks for: networks, cached networks, minutes."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from small_grids import HOW, lay_down_nads, lay_down_plan, orthonormal, plan_of

from pipeline import experiments, generate
from pipeline.grid import forecast as told
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.machine import store, workers
from pipeline.project import artifacts

FOURIER = experiments.find("fourier")
CPU = torch.device("cpu")
GPU = torch.device("cuda")


@pytest.fixture(autouse=True)
def _two_cores_and_an_h200(monkeypatch):
    monkeypatch.setattr(workers, "cores", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")


def fourier_plan(seeds=(0,), train_samples=1000, **epochs):
    """A plan of `fourier` with a grid of step 8, of 10 different frequencies, for some
    networks."""
    settings = {"eps": 1.0, "sigma": 3.0}
    samples = (train_samples, 500)
    plan = plan_of(
        "fourier", settings, dict.fromkeys(epochs, {"step": 8}), seeds, samples
    )
    members = {
        name: dataclasses.replace(
            member, training=dataclasses.replace(HOW, epochs=epochs[name])
        )
        for name, member in plan.members.items()
    }
    return dataclasses.replace(plan, members=members)


def forecast_of(plan, device=CPU):
    """The forecast of a plan, its time unknown as None."""
    found = told.forecast(FOURIER, plan, device)
    return [
        None if np.isnan(value) else pytest.approx(value) for value in found.values()
    ]


def note(plan, device=CPU, experiment=FOURIER, **seconds):
    """Note the seconds that a sample of each architecture took."""
    keys = (jobs.rate_key(experiment, plan.members[name], device) for name in seconds)
    told.add_rates(dict(zip(keys, seconds.values(), strict=True)))


def test_a_forecast_worked_out_by_hand(folder):
    """10 frequencies and 2 seeds: 20 cells of each network, 3 and 5 epochs, on two
    cores."""
    plan = fourier_plan((0, 1), lenet=3, logreg=5)
    assert forecast_of(plan) == [40, 0, None]
    note(plan, lenet=0.0009)
    note(plan, lenet=0.0003)  # which replaces it
    note(plan, experiment=experiments.find("linear_pairs"), logreg=7)
    note(plan, device=GPU, logreg=0.002)
    assert forecast_of(plan) == [40, 0, None], "no logistic regression was timed yet"
    note(plan, logreg=0.0001)
    seconds = 20_000 * 3 * 0.0003 + 20_000 * 5 * 0.0001
    assert forecast_of(plan) == [40, 0, seconds / 2 / 60]
    note(plan, device=GPU, lenet=0.001)
    seconds = 20_000 * 3 * 0.001 + 20_000 * 5 * 0.002
    assert forecast_of(plan, device=GPU)[2] == seconds / 60, (
        "a GPU's rates are of a network's share"
    )


def test_an_h200_that_has_measured_nothing_has_the_steps_of_the_table(
    folder, monkeypatch
):
    """20 cells, 1,000 samples, 3 epochs."""
    plan = fourier_plan((0, 1), lenet=3)
    table = pd.read_csv(told.STEPS).set_index(["network", "precision"])
    for engine in ("eager", "recorded"):
        found = told.forecast(FOURIER, plan, GPU, engine)["minutes left"]
        milliseconds = table.loc[("lenet", "float32"), engine]
        assert found == pytest.approx(20 * 3000 / 128 * milliseconds / 1000 / 60)
    assert forecast_of(fourier_plan(logreg=3), device=GPU)[2] is None
    member = dataclasses.replace(plan.members["lenet"], input=(3, 32, 32))
    colour = dataclasses.replace(plan, members={"lenet": member})
    assert forecast_of(colour, device=GPU)[2] is None, "the table is of grey inputs"
    for name in ("NVIDIA T4", "NVIDIA GH200 480GB", "NVIDIA H200 MIG 1g.18gb"):
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda name=name: name)
        assert forecast_of(plan, device=GPU)[2] is None
    note(plan, device=GPU, lenet=0.001)
    assert forecast_of(plan, device=GPU)[2] == 20 * 3000 * 0.001 / 60


def test_a_forecast_counts_the_images_that_there_are(folder):
    """Four LeNets with 61 of the 1,000 planned images, and two epochs."""
    flip = experiments.find("flip")
    plan = plan_of("flip", {}, {"lenet": {}}, samples=(1000, 20))
    about = {"classes": list("ab"), "train": 61, "test": 20}
    artifacts.write_json(artifacts.DATASETS / "flip/images.json", about)
    note(plan, experiment=flip, lenet=0.5)
    minutes = told.forecast(flip, plan, CPU)["minutes left"]
    assert minutes == pytest.approx(len(flip.cells(plan)) * 61 * 2 * 0.5 / 2 / 60)


def keep(plan, cells):
    """Put cells into the store."""
    kept = store.Store(store.default_folder())
    for job in jobs.of_cells(plan, Data(FOURIER), cells, CPU):
        kept.put(job.key, {}, {"losses": [1.0], "accuracy": 1.0})


def test_cells_in_the_store_are_counted_and_not_trained_again(folder):
    plan = fourier_plan((0, 1), train_samples=8, lenet=3, logreg=5)
    note(plan, lenet=1, logreg=1)
    assert forecast_of(plan)[1] == 0, "there are no data yet"
    lay_down_plan(plan)
    generate.main("fourier")
    # Of ten cells a network and seed: six of 20 LeNets, and two of 20 logistic
    # regressions.
    keep(plan, [FOURIER.cells(plan)[n] for n in (0, 1, 5, 9, 10, 19, 21, 39)])
    minutes = (14 * 8 * 3 + 18 * 8 * 5) / 2 / 60
    assert forecast_of(plan) == [40, 8, minutes]
    assert forecast_of(plan, device=GPU)[1] == 0, "a GPU's networks are others"
    for more in ({"train_samples": 9}, {"test_samples": 501}):
        assert forecast_of(dataclasses.replace(plan, **more))[1] == 0, (
            "data are to be drawn anew"
        )


def test_networks_that_are_cached_count_beside_new_networks_and_indices(folder):
    """Data of a new index are not there yet."""
    settings = {"eps": 1.0, "sigma": {"lenet": 1.0}}
    grids = {"lenet": {"indices": (0, 3)}}
    plan = plan_of("nad_sweep", settings, grids, (0,), (8, 4))
    lay_down_plan(plan)
    lay_down_nads(lenet=orthonormal())
    generate.main("nad_sweep")
    experiment = experiments.find("nad_sweep")
    kept = store.Store(store.default_folder())
    for job in jobs.of_cells(plan, Data(experiment), experiment.cells(plan), CPU):
        kept.put(job.key, {}, {"losses": [1.0], "accuracy": 1.0})
    settings = {"eps": 1.0, "sigma": {"lenet": 1.0, "logreg": 2.0}}
    grids = {"lenet": {"indices": (0, 3, 9)}, "logreg": {"indices": (0,)}}
    more = plan_of("nad_sweep", settings, grids, (0,), (8, 4))
    found = told.forecast(experiment, more, CPU)
    assert (found["networks"], found["cached"]) == (4, 2)


def test_data_of_networks_with_fewer_seeds_do_for_more(folder):
    """The base noise is drawn for all seeds of the experiment."""
    plan = fourier_plan((0, 1), train_samples=8, lenet=3)
    member = dataclasses.replace(plan.members["lenet"], seeds=1)
    lay_down_plan(dataclasses.replace(plan, members={"lenet": member}))
    generate.main("fourier")
    keep(plan, FOURIER.cells(plan)[:3])
    assert forecast_of(plan)[:2] == [20, 3]
