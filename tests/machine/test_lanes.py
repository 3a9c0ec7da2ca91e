"""Jobs in lanes: their order, how many at once, and jobs that fail."""

import torch

from pipeline.machine import lanes

CPU = torch.device("cpu")  # stands for an accelerator without streams


class Task:
    """A job of so many steps, shareable after the first; notes its steps in a log."""

    def __init__(self, log, job):
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

    def result(self, at_once):
        return at_once


def run(jobs, at_most=3):
    """The results by name, and the names in the order of steps."""
    log = []
    found = lanes.run(
        Task, jobs, lambda: log, lambda job: job.get("kind"), CPU, at_most
    )
    return {job["name"]: result for job, result in found}, "".join(log)


def job(name, steps, **more):
    return {"name": name, "steps": steps, **more}


def test_the_first_job_of_a_kind_runs_alone_until_it_is_shareable():
    results, log = run([job("a", 3), job("b", 2), job("c", 2), job("d", 1)])
    # c's end frees a lane for d in the next turn.
    assert log == "a" + "abc" + "abc" + "d"
    assert results == {"a": 3, "b": 2, "c": 1, "d": 1}


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
            job("d", 2),
        ]
    )
    assert log == "a" + "ac" + "ad" + "ad"
    assert [results["a"], results["d"]] == [2, 1]
    for name in "bc":
        assert isinstance(results[name], ValueError)
        assert results[name].__traceback__ is None, "frames would keep tensors"


def test_jobs_are_asked_for_when_a_lane_is_free():
    """As a grid claims a cell when it is asked for it."""
    log = []

    def jobs():
        for name in "abcd":
            log.append(name.upper())
            yield job(name, 2)

    list(lanes.run(Task, jobs(), lambda: log, lambda job: None, CPU, 2))
    assert "".join(log).startswith("Aa" + "B" + "ab"), log
