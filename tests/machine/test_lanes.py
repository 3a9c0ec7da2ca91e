"""Jobs in lanes: their order, how many at once, and jobs that fail; recorders."""

import random
import threading

import numpy as np
import pytest
import torch

from pipeline.machine import lanes

CPU = torch.device("cpu")  # stands for an accelerator without streams


class Task:
    """A job of so many steps, shareable after the first; notes its steps in a log."""

    def __init__(self, log, job, data):
        assert data == job["name"]
        self.log = log
        self.job = job
        self.left = job["steps"]
        self.shareable = False
        if job.get("fails") == "start":
            raise ValueError("at the start")

    @property
    def finished(self):
        return self.left == 0

    def advance(self):
        self.log.append(self.job["name"])
        self.left -= 1
        self.shareable = self.job.get("shares", True)
        if self.job.get("fails") == "step":
            raise ValueError("in a step")
        if self.job.get("fails") == "memory" and self.log[-2] != self.log[-1]:
            raise torch.OutOfMemoryError

    def result(self, seconds):
        return self.job["name"].upper()


def prepare(log, job):
    """The data of a job, which may fail."""
    if job.get("fails") == "data":
        raise ValueError("in the data")
    return job["name"]


def run(jobs, at_most=3):
    """The results by name, and the names in the order of steps."""
    log = []
    found = lanes.run(
        Task, prepare, jobs, lambda: log, lambda job: job.get("kind"), CPU, at_most
    )
    return {job["name"]: result for job, result in found}, "".join(log)


def job(name, steps, **more):
    return {"name": name, "steps": steps, **more}


def test_the_first_job_of_a_kind_runs_alone_until_it_is_shareable():
    results, log = run([job("a", 3), job("b", 2), job("c", 2), job("d", 1)])
    # c's end frees a lane for d in the next turn.
    assert log == "a" + "abc" + "abc" + "d"
    assert results == {"a": "A", "b": "B", "c": "C", "d": "D"}


def test_kinds_do_not_share():
    _, log = run([job("a", 2), job("b", 2), job("c", 1, kind=1), job("d", 2, kind=1)])
    assert log == "a" + "ab" + "b" + "c" + "dd"


def test_a_job_that_is_not_shareable_has_the_device_alone():
    _, log = run([job(name, 3, shares=False) for name in "abc"])
    assert log == "aaabbbccc"


def test_no_more_than_that_many_at_once():
    _, log = run([job(name, 3) for name in "abcde"], at_most=2)
    assert log == "a" + "abab" + "bc" + "cdcd" + "de" + "ee"


def test_a_job_that_fails_disturbs_no_other():
    results, log = run(
        [
            job("a", 4),
            job("b", 2, fails="start"),
            job("c", 2, fails="step"),
            job("e", 2, fails="data"),
            job("d", 2),
        ]
    )
    assert log == "a" + "ac" + "ad" + "ad"
    assert [results["a"], results["d"]] == ["A", "D"]
    for name in "bce":
        assert isinstance(results[name], ValueError)
        assert results[name].__traceback__ is None, "frames would keep tensors"


def test_only_the_data_of_the_next_job_are_prepared_ahead():
    """As a grid claims a cell when it is asked for it, and data fill memory."""
    log = []
    prepared = []

    def jobs():
        for name in "abcd":
            log.append(name.upper())
            yield job(name, 2)

    def note(log, job):
        prepared.append((job["name"], threading.current_thread()))
        return job["name"]

    list(lanes.run(Task, note, jobs(), lambda: log, lambda job: None, CPU, 2))
    assert "".join(log).startswith("ABa" + "C" + "ab"), log
    assert [name for name, _ in prepared] == ["a", "b", "c", "d"]
    assert threading.current_thread() not in [thread for _, thread in prepared]


def test_data_that_were_taken_are_not_kept():
    """As the training sets of all networks in lanes would fill memory."""
    made = []
    (ahead,) = lanes.prepare_ahead(["a"], made.append)
    ahead.take()
    assert made == ["a"]
    ahead.take()
    assert made == ["a", "a"]


def test_a_job_that_runs_out_of_memory_is_done_again_by_itself():
    results, log = run([job("a", 3), job("b", 2, fails="memory"), job("c", 2)])
    # b fails beside a; it is begun again when a and c are finished, and its second
    # step has no other beside it.
    assert log.startswith("a" + "abc")
    assert isinstance(results["b"], torch.OutOfMemoryError), "it fails by itself, too"
    assert [results["a"], results["c"]] == ["A", "C"]


def replay():
    pass


@pytest.mark.parametrize("draw", [random.random, np.random.rand, torch.rand])
def test_a_function_that_draws_on_the_host_is_not_recorded(draw, monkeypatch, capsys):
    """The replay would take the same branches for ever."""

    def capture(function):
        function()
        return replay

    monkeypatch.setattr(lanes, "_capture", capture)
    recorder = lanes.Recorder()
    assert recorder(lambda: draw(1) if draw is torch.rand else draw()) is None
    assert "notice" in capsys.readouterr().err
    assert recorder(lambda: None) is replay


def test_after_a_failure_nothing_more_is_recorded(monkeypatch, capsys):
    def fail(function):
        raise RuntimeError("operation not permitted when stream is capturing")

    recorder = lanes.Recorder()
    monkeypatch.setattr(lanes, "_capture", fail)
    assert recorder(lambda: None) is None
    assert "not permitted" in capsys.readouterr().err
    monkeypatch.setattr(lanes, "_capture", lambda function: replay)
    assert recorder(lambda: None) is None
    assert lanes.Recorder()(lambda: None) is replay


def test_out_of_memory_is_no_reason_to_train_without_graphs(monkeypatch):
    def fail(function):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(lanes, "_capture", fail)
    with pytest.raises(torch.OutOfMemoryError):
        lanes.Recorder()(lambda: None)


def test_gradients_get_the_strides_of_their_parameters():
    """A depthwise convolution of one channel, channels last: sides of length 1."""
    network = torch.nn.Conv2d(1, 8, 1).to(memory_format=torch.channels_last)
    weight = network.weight
    weight.data = weight.data.as_strided((8, 1, 1, 1), (1, 8, 8, 8))
    reference = []
    for align in (False, True):
        network.zero_grad()
        if align:
            lanes.align_gradients(network)
        x = torch.ones(2, 1, 3, 3)
        (network(x) * torch.arange(8.0).reshape(8, 1, 1)).sum().backward()
        reference.append(weight.grad.clone())
    assert weight.grad.stride() == weight.stride()
    assert torch.equal(*reference)
