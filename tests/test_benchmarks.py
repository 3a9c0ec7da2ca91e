"""The numbers that the benchmarks print, of the smallest sizes or of times that are
made up; what this machine takes is never tested."""

import itertools
import json
import subprocess
import sys

import accelerator
import numpy as np
import pytest
import torch
from structure import ROOT
from torch import nn

from benchmarks import allocation, device, nads, outputs
from benchmarks import grid as throughput
from pipeline import networks
from pipeline.machine import lanes, workers
from pipeline.networks.lenet import LeNet
from pipeline.training.loop import BATCH, WARM_UP


def printed(text):
    """Median, least and most of each printed line that has all three, by the line's
    words."""
    found = {}
    for line in text.splitlines():
        words, bracket, rest = line.rpartition("(")
        if bracket and " to " in rest:
            *label, median = words.split()
            ends = rest.rstrip(")").partition(")")[0].split(" to ")
            found[" ".join(label)] = [float(median), *map(float, ends)]
    return found


def test_the_fourth_moment_of_a_plain_derivative():
    """E‖Jᵀa‖⁴ for the read-out's uniform a against brute force."""
    jacobian = np.random.default_rng(0).standard_normal((6, 9))
    torch.manual_seed(0)
    weights = nn.Linear(6, 200_000).weight.detach().double().numpy()
    sampled = (((weights @ jacobian) ** 2).sum(1) ** 2).mean()
    assert nads.plain_fourth_moment(jacobian / np.sqrt(18)) == pytest.approx(
        sampled, rel=0.01
    )


def test_the_reference_is_the_same_function():
    torch.manual_seed(3)
    usual = nads.UsualLeNet(1, 1)
    ours = LeNet(1, 1).eval()
    ours.load_state_dict(usual.state_dict())
    x = torch.randn(4, 1, 32, 32)
    assert torch.equal(usual(x), ours(x))


def test_the_symmetries_of_a_lenet_save_five_to_eight_of_its_networks():
    """Eight elements of the square, less what the samples of one network have in
    common."""
    _, (plain, readout, symmetric) = nads.one_round("lenet", range(4))
    assert plain > 10 * readout and 5 < readout / symmetric < 8


def test_the_cost_of_equal_error_is_of_time_and_networks(monkeypatch, capsys):
    """A network of the reference takes 3 or 4 times as long, and there are 100 or 60
    times more."""
    rounds = iter([([3.0, 1.0], [600.0, 20.0, 6.0]), ([2.0, 0.5], [600.0, 40.0, 10.0])])
    monkeypatch.setattr(nads, "one_round", lambda *_: next(rounds))
    nads.main("lenet", 2, 24)
    found = printed(capsys.readouterr().out)
    assert found["COST OF EQUAL ERROR, reference ÷ read-out"] == [75, 60, 90]
    both = "COST OF EQUAL ERROR, reference ÷ read-out and symmetries"
    assert found[both] == [270, 240, 300]
    assert found["relative error of 10,000 plain networks"] == [0.245, 0.245, 0.245]
    assert found["our networks for that error"] == [133, 100, 167]


def test_what_symmetries_save_of_networks_from_images_to_images(monkeypatch, capsys):
    """V = E‖S‖²/‖C‖² − 1 of a round is that of its networks; of the rounds the cost is
    printed."""
    added = []
    add = outputs.Covariance.add
    monkeypatch.setattr(
        outputs.Covariance, "add", lambda c, f: added.append(f) or add(c, f)
    )
    _, (plain, averaged) = outputs.one_round(range(6))
    rows = np.concatenate(added[::2]).astype(float)  # of either side
    products = (rows @ rows.T) ** 2
    relative = 6 * np.trace(products) / products.sum()  # to ‖C‖² of the six themselves
    assert plain == pytest.approx((relative - 1) * 6 / 5, rel=1e-3)
    assert averaged < plain
    rounds = iter([([2.0, 1.0], [40.0, 10.0]), ([3.0, 2.0], [90.0, 10.0])])
    monkeypatch.setattr(outputs, "one_round", lambda _: next(rounds))
    outputs.main(2, 10)
    found = printed(capsys.readouterr().out)
    assert found["COST OF EQUAL ERROR, plain ÷ symmetries"] == [10.8, 8, 13.5]
    assert found["error of C after 1,000 networks"] == [0.25, 0.2, 0.3]


def test_steps_with_and_without_the_settings_are_compared_in_each_round(
    monkeypatch, capsys
):
    times = iter([0.3, 0.1, 0.2, 0.2])
    monkeypatch.setattr(allocation, "STEPS", {"lenet": 20})
    monkeypatch.setattr(allocation, "measure", lambda *_: next(times))
    monkeypatch.setattr("sys.argv", ["allocation", "--rounds", "2"])
    allocation.main()
    assert printed(capsys.readouterr().out) == {"lenet THROUGHPUT": [2, 1, 3]}


def test_a_process_measures_the_processor_time_of_one_step(monkeypatch):
    """4 steps in 2 seconds."""
    monkeypatch.setattr(allocation, "STEPS", {"lenet": 4})
    clock = itertools.count(7, 2)
    monkeypatch.setattr(allocation.time, "process_time", lambda: next(clock))
    assert allocation.seconds_per_step("lenet") == 0.5


def test_a_grids_throughput_is_that_of_the_usual_loop_over_ours(monkeypatch, capsys):
    """The usual loop takes 6 seconds a cell; a grid starts in 4, and takes half a
    second a cell."""
    clock = itertools.count(0, 6 * throughput.USUAL_CELLS)
    monkeypatch.setattr(throughput.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(throughput, "usual", lambda cell, *_: cell.seed / 8)
    monkeypatch.setattr(
        throughput, "ours", lambda _, n, device: (4 + n / 2, np.arange(n) / 4)
    )
    monkeypatch.setattr(workers, "cores", lambda: 2)
    monkeypatch.setattr(torch, "set_num_threads", lambda threads: None)
    words = ["grid", "--networks", "mlp", "--rounds", "2", "--device", "cpu"]
    monkeypatch.setattr("sys.argv", words)
    throughput.main()
    found = printed(out := capsys.readouterr().out)
    assert found["per further cell"] == [12, 12, 12]
    assert found["a grid of 2 with its start"] == [2.4, 2.4, 2.4]
    assert found["a grid of 32 with its start"] == [9.6, 9.6, 9.6]
    accuracies = "ours / usual: 0.0 / 0.0, 25.0 / 12.5, 50.0 / 25.0, 75.0 / 37.5"
    assert out.splitlines()[-1].endswith(accuracies)
    assert out.startswith("benchmarks.grid at ") and len(out.splitlines()) == 6


def test_a_step_is_timed_after_it_was_recorded_and_divided_by_the_networks(monkeypatch):
    """Three networks make four steps each in 6 seconds."""
    clock = iter([1.0, 7.0])
    monkeypatch.setattr(device, "synchronise", lambda _: next(clock))
    monkeypatch.setattr(lanes, "can_record", lambda device: device.type != "cpu")
    monkeypatch.setattr(lanes, "_capture", accelerator.capture)
    made = []
    real = device.make_trainer

    def make_trainer(*given):
        made.append(real(*given))
        return made[-1]

    monkeypatch.setattr(device, "make_trainer", make_trainer)
    with accelerator.Accelerator():
        found = device.milliseconds("mlp", "float32", accelerator.DEVICE, 4, count=3)
        assert found == 1e3 * 6 / (4 * 3)
        assert [trainer.step for trainer in made] == [WARM_UP + 1 + 4] * 3
        assert all(set(trainer.replays) == {BATCH} for trainer in made)
        assert device.difference("mlp", "float32", accelerator.DEVICE) < 1e-4


def test_networks_take_turns_only_if_a_gpu_has_room_for_them(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (100, 140))
    gpu = torch.device("cuda")
    assert device.has_room(4, 10, gpu)
    assert not device.has_room(8, 10, gpu)


@pytest.mark.slow
def test_the_walk_writes_a_line_for_each_network(tmp_path):
    """On the CPU, on which steps are not recorded."""
    words = ["--networks", "mlp", "--steps", "1", "--device", "cpu"]
    command = [sys.executable, "-m", "benchmarks.device", *words, "--out"]
    text = subprocess.check_output([*command, tmp_path / "out"], text=True, cwd=ROOT)
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [row["precision"] for row in rows] == list(device.PRECISIONS)
    for row in rows:
        assert {"eager", "recorded", "32 lanes", "4 processes"} < row.keys()
    assert len(text.splitlines()) == 1 + 1 + len(rows)


@pytest.mark.slow
def test_every_way_trains_the_same_cells():
    """Our loop and the usual one: same data, weights, order and schedule."""
    specification = networks.specification({"network": "mlp", "hidden": [6, 4]})
    cells = [
        throughput.Cell(specification, throughput.TRAINING(1), seed)
        for seed in range(3)
    ]
    sets = throughput.data(200)
    cpu = torch.device("cpu")
    found = [throughput.train_cell(cpu, sets, cell) for cell in cells]
    assert throughput.usual(cells[0], sets, cpu) == pytest.approx(found[0], abs=0.01)
    assert len(set(found)) > 1 and all(0.4 < accuracy <= 1 for accuracy in found)
