"""What a grid takes: cells, those that are kept, sample passes, time, room."""

import dataclasses

import numpy as np
import pytest
import torch

from pipeline import experiments
from pipeline.grid import forecast as told
from pipeline.grid import jobs as grid_jobs
from pipeline.grid.data import Data
from pipeline.grid.experiment import Amplitude, Member, Plan
from pipeline.grid.frequencies import Frequencies
from pipeline.machine import store, workers
from pipeline.machine.notes import RATES, Notes
from pipeline.networks.dry_run import DryRun
from pipeline.project import artifacts
from pipeline.training import Training

FOURIER = experiments.find("fourier")
SPECIFICATIONS = {
    "lenet": {"network": "pipeline.networks.lenet:LeNet"},
    "logreg": {"network": "pipeline.networks.mlp:LogReg"},
}
CPU, GPU = torch.device("cpu"), torch.device("cuda")
KEPT = 500 * 2 * 4
"""Bytes of what is kept of a cell of `fourier`: two outputs for each of 500 test samples, in float32."""

DRAW = 1500 * 1024 * 4
"""Bytes of the draw of one seed: 1000 training and 500 test samples of one channel, in float32."""


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch):
    monkeypatch.setattr(workers, "cores", lambda: 2)


def fourier_plan(seeds=(0,), train_samples=1000, **epochs):
    """A plan of `fourier` with a grid of step 8, of 10 different frequencies, for some networks."""
    how = Training(2, 0.5, 0.0, 0.0, "linear", "float32")
    members = {
        name: Member(SPECIFICATIONS[name], dataclasses.replace(how, epochs=count), Frequencies(8))
        for name, count in epochs.items()
    }
    return Plan("fourier", "mine", seeds, train_samples, 500, Amplitude(1.0, 3.0), members)


def forecast_of(plan, runs, reuse=True, device=CPU, speed=1e6):
    """The forecast of a plan, from what is noted in the store's folder."""
    rates = Notes(store.default_folder(), RATES)
    return told.forecast(FOURIER, plan, reuse, device, runs, rates, lambda: speed)


def test_a_forecast_worked_out_by_hand(folder):
    """10 frequencies and 2 seeds: 20 cells of each network."""
    plan = fourier_plan((0, 1), lenet=3, logreg=5)
    runs = {"lenet": DryRun(2_000_000_000, 9_000_000), "logreg": DryRun(500_000_000, 4_000)}
    # 20 cells · 1000 samples: 3 epochs of 9 s each by its operations, 5 of 4 ms; on two cores.
    seconds = (20_000 * 3 * 9 + 20_000 * 5 * 0.004) / 2
    expected = told.Forecast(40, 0, 160_000, seconds, 40 * KEPT, 40 * KEPT + 2 * DRAW)
    assert forecast_of(plan, runs) == expected
    assert expected.row() == ["40", "0", "160,000", f"{seconds / 86400:.1f} days", "0.00", "0.01"]
    rates = Notes(store.default_folder(), RATES)
    rates.add([(grid_jobs.kind(plan.members["lenet"], 1, CPU.type), 0.0003)])
    assert forecast_of(plan, runs).seconds == pytest.approx((20_000 * 3 * 0.0003 + 20_000 * 5 * 0.004) / 2)
    rates.add([(grid_jobs.kind(plan.members["logreg"], 1, CPU.type), 0.0001)])
    seconds = (20_000 * 3 * 0.0003 + 20_000 * 5 * 0.0001) / 2
    assert forecast_of(plan, runs).seconds == pytest.approx(seconds)
    rates.add([(grid_jobs.kind(plan.members["logreg"], 2, CPU.type), 1e9)])
    assert forecast_of(plan, runs).seconds == pytest.approx(seconds), "a rate for other channels is another one's"
    assert told.at_once(GPU) == 1, "a GPU's rates are of each network's share of it"


@pytest.mark.parametrize(("measured", "asked"), [(CPU, GPU), (GPU, CPU)])
def test_what_one_device_took_forecasts_nothing_for_another(measured, asked, folder):
    plan, runs = fourier_plan(logreg=5), {"logreg": DryRun(500_000_000, 4_000)}
    rates = Notes(store.default_folder(), RATES)
    rates.add([(grid_jobs.kind(plan.members["logreg"], 1, measured.type), 7.0)])
    assert forecast_of(plan, runs, device=asked).seconds == pytest.approx(10_000 * 5 * 0.004 / told.at_once(asked))
    assert forecast_of(plan, runs, device=measured).seconds == pytest.approx(10_000 * 5 * 7 / told.at_once(measured))


def test_forecasts_add_up():
    one, other = told.Forecast(1, 2, 3, 4.5, 5, 6), told.Forecast(10, 20, 30, 40.5, 50, 60)
    assert sum([one, other], told.Forecast()) == told.Forecast(11, 22, 33, 45.0, 55, 66)
    assert len(one.row()) == len(told.COLUMNS)


def test_the_room_is_that_of_the_networks_where_they_are_needed_again_and_of_their_outputs_else(folder):
    kept = {}
    for name in experiments.names():
        plan = dataclasses.replace(fourier_plan(logreg=1), experiment=name)
        kept[name] = told.kept_of(experiments.find(name), plan, DryRun(10**9, 0))
    assert kept == dict.fromkeys(("flip", "image_pairs", "linear_pairs"), 10**9) | {
        "convergence": KEPT,
        "fourier": KEPT,
        "nad_sweep": KEPT,
        "poison": 5 * KEPT,
    }


def lay_data(plan):
    """What `generate` would lay down of a plan."""
    where = artifacts.fresh(artifacts.DATASETS / plan.experiment)
    np.savez(where / "directions.npz", **FOURIER.directions(plan, None))
    for seed in plan.seeds:
        np.savez(where / f"draw-{seed}.npz", **FOURIER.draw(plan, seed, None))


def keep(plan, cells):
    """Put cells into the store."""
    kept = store.Store(store.default_folder())
    for job in grid_jobs.of_cells(plan, Data(FOURIER), cells, CPU, ""):
        kept.put(job.key, {}, {"losses": [1.0], "accuracy": 1.0})


def test_cells_in_the_store_are_counted_and_not_trained_again(folder):
    plan = fourier_plan((0, 1), train_samples=8, lenet=3, logreg=5)
    cells = FOURIER.cells(plan)
    runs = dict.fromkeys(("lenet", "logreg"), DryRun(10**9, 10**6))
    assert told.stored(FOURIER, plan, cells, CPU) == set(), "there are no data yet"
    lay_data(plan)
    assert told.stored(FOURIER, plan, cells, CPU) == set()
    kept = [0, 1, 5, 9, 10, 19, 21, 39]
    keep(plan, [cells[n] for n in kept])
    assert told.stored(FOURIER, plan, cells, CPU) == set(kept)
    # Kept are 6 of 20 LeNets and 2 of 20 logistic regressions; a sample takes one second.
    seconds = (14 * 8 * 3 + 18 * 8 * 5) / 2
    assert forecast_of(plan, runs) == told.Forecast(40, 8, 20 * 8 * 8, seconds, 40 * KEPT, 32 * KEPT)
    seconds = (20 * 8 * 3 + 20 * 8 * 5) / 2
    assert forecast_of(plan, runs, reuse=False) == told.Forecast(40, 8, 20 * 8 * 8, seconds, 40 * KEPT, 40 * KEPT)
    assert forecast_of(plan, runs, reuse=False, device=GPU).seconds == 2 * seconds


def test_what_is_stored_is_told_as_far_as_the_data_go(folder):
    plan = fourier_plan((0, 1), train_samples=8, logreg=5)
    cells = FOURIER.cells(plan)
    lay_data(plan)
    keep(plan, cells)
    found = lambda plan: told.stored(FOURIER, plan, FOURIER.cells(plan), CPU)
    assert found(plan) == set(range(20)) and told.undrawn(FOURIER, plan) == 0
    three = dataclasses.replace(plan, seeds=(2, 0, 1))
    assert len(found(three)) == 20, "seed 2 has no data"
    assert told.undrawn(FOURIER, three) == 508 * 1024 * 4
    more = dataclasses.replace(plan, train_samples=9)
    assert found(more) == set(), "the data on disk are of another plan"
    assert told.undrawn(FOURIER, more) == 2 * 509 * 1024 * 4
    change = lambda **values: dataclasses.replace(
        plan, members={"logreg": dataclasses.replace(plan.members["logreg"], **values)}
    )
    finer = change(grid=Frequencies(4))
    assert len(FOURIER.cells(finer)) > 20 and len(found(finer)) == 20, "some directions are not there"
    longer = change(training=dataclasses.replace(plan.members["logreg"].training, epochs=2))
    assert found(longer) == set(), "they were trained otherwise"
    assert told.stored(FOURIER, plan, cells, GPU) == set(), "a GPU's networks are others"


def test_where_there_are_fewer_pictures_all_of_them_are_drawn(folder):
    plan = fourier_plan(train_samples=8, logreg=5)
    assert told.drawn(plan) == 8
    for there, drawn in ((7, 7), (9, 8)):
        artifacts.write_json(artifacts.DATASETS / "fourier" / "images.json", {"train": there})
        assert told.drawn(plan) == drawn


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 min"),
        (6, "0.1 min"),
        (60, "1.0 min"),
        (5399, "90.0 min"),
        (5400, "1.5 h"),
        (48 * 3600 - 1, "48.0 h"),
        (48 * 3600, "2.0 days"),
        (1e9, "11,574.1 days"),
    ],
)
def test_a_time_is_given_in_the_unit_that_suits_it(seconds, text):
    assert told.duration(seconds) == text
