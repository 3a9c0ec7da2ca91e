"""Estimates made by the workers: which sums are kept, and in what order the estimates end."""

import dataclasses

import numpy as np
import pytest
import torch
from nads_samples import GRADIENT, SECANT, SMALL, filled, jacobians, nads_of

from pipeline.machine import workers
from pipeline.machine.claims import Claims
from pipeline.machine.store import Sums
from pipeline.nads import progress
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation
from pipeline.nads.progress import Task, finished
from pipeline.nads.recipe import Recipe

SHAPE = (1, 8, 8)
RECIPE = Recipe(SMALL, {}, SHAPE, (0, "net"), GRADIENT, "cpu")
OTHER = dataclasses.replace(RECIPE, identity=(0, "other"), estimator=SECANT)
KEYS = {"net": "a" * 64, "other": "b" * 64}
CPU = torch.device("cpu")


def task(folder, networks, target_error=None, recipe=RECIPE):
    """An empty estimate of which something may have been kept."""
    name, estimation = recipe.identity[1], Estimation(Covariance(SHAPE), networks, target_error)
    return Task(name, recipe, estimation, Sums(folder, KEYS[name]))


def test_sums_are_kept_now_and_then_and_at_the_end_in_place_of_what_this_run_kept(
    tmp_path, monkeypatch
):
    seconds, kept_before = [1000.0], []

    def run(function, jobs, make_context, device):
        for position, job in enumerate(jobs):
            seconds[0] += 12
            kept_before.append(made.sums.counts())
            yield position, function(None, job)

    monkeypatch.setattr(workers, "run", run)
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[0])
    made = task(tmp_path, 7)
    made.sample(CPU)
    assert kept_before == [[], [], [], [3], [3], [3], [6]] and made.sums.counts() == [7]
    assert made.minutes == pytest.approx(7 * 12 / 60)
    made = task(tmp_path, 9)
    made.restore()
    made.sample(CPU)
    assert made.sums.counts() == [9, 7], "what another run kept stays"
    np.testing.assert_array_equal(made.sums.get(9)["trace"], made.estimation.trace)


def test_an_estimate_ends_at_its_time_but_not_before_the_least_networks(tmp_path, here):
    made = task(tmp_path, 9)
    made.sample(CPU, least=5, limit=0.0)
    assert here == [("net", n) for n in range(5)] and made.sums.counts() == [5]


@pytest.mark.parametrize(
    ("networks", "target_error", "count"),
    [(12, None, 12), (20, None, 12), (11, None, 8), (7, None, 0), (12, 0.99, 0), (12, 1e-9, 12)],
)
def test_an_estimate_goes_on_from_the_most_networks_that_it_may_hold(
    tmp_path, networks, target_error, count
):
    """Kept are 8 and 12; the error 0.99 was reached after 4, which are not kept."""
    for number in (8, 12):
        whole = task(tmp_path, number)
        for each, sample in enumerate(jacobians(number, 2, SHAPE)):
            whole.estimation.add(each, sample)
        whole.sums.put(number, whole.estimation.state())
    resumed = task(tmp_path, networks, target_error)
    resumed.restore()
    assert resumed.estimation.accumulator.count == count
    looks = [look for look in (4, 6, 8, 10, 12) if look <= count]
    assert [look for look, _ in resumed.estimation.trace] == looks
    expected = filled(Covariance(SHAPE), jacobians(count, 2, SHAPE)).sums
    np.testing.assert_array_equal(resumed.estimation.accumulator.sums, expected)


@pytest.mark.parametrize("backwards", [False, True])
def test_estimates_end_in_their_order_whatever_that_of_the_results(
    tmp_path, monkeypatch, backwards
):
    """As from many workers: networks beyond the error are done when the estimate ends."""

    def run(function, jobs, make_context, device):
        results = [(position, function(None, job)) for position, job in enumerate(jobs)]
        yield from reversed(results) if backwards else results

    monkeypatch.setattr(workers, "run", run)
    tasks = [task(tmp_path, 12, 0.93), task(tmp_path, 4, recipe=OTHER)]
    expected = [nads_of(RECIPE, 8), nads_of(OTHER, 4)]  # the first stops before all networks
    for one, (ended, nads), whole in zip(tasks, finished(tasks, CPU, True), expected, strict=True):
        assert ended is one and ended.estimation is None, "the sums are let go"
        for field in dataclasses.fields(nads):
            np.testing.assert_array_equal(getattr(nads, field.name), getattr(whole, field.name))
    assert list(finished([], CPU, True)) == []


@pytest.mark.parametrize("end", [ValueError, KeyboardInterrupt])
def test_what_was_done_is_kept_before_a_failure_or_ctrl_c_ends_the_run(tmp_path, monkeypatch, end):
    def run(function, jobs, make_context, device):
        for position, job in enumerate(jobs):
            if job[1] == 3 and end is KeyboardInterrupt:
                raise end
            yield position, end("no memory") if job[1] == 3 else function(None, job)

    monkeypatch.setattr(workers, "run", run)
    made = task(tmp_path, 8)
    with pytest.raises(end):
        list(finished([made], CPU, True))
    assert made.sums.counts() == [3]


def test_an_estimate_that_another_run_has_under_way_is_waited_for_and_not_made_again(
    tmp_path, here, monkeypatch, capsys
):
    class Held(Claims):
        """Claims beside another run, which makes the NADs of `net` before it lets them go."""

        theirs = True

        def take(self, key):
            return not (self.theirs and key == KEYS["net"]) and super().take(key)

        def wait(self, key):
            Held.theirs = False
            (_,) = finished([task(tmp_path, 8)], CPU, True)
            here.append("waited")

    monkeypatch.setattr(progress, "Claims", Held)
    tasks = [task(tmp_path, 8), task(tmp_path, 8, recipe=OTHER)]
    ended = [(each.name, nads.networks) for each, nads in finished(tasks, CPU, True)]
    assert ended == [("other", 8), ("net", 8)]
    assert here == [*(("other", n) for n in range(8)), *(("net", n) for n in range(8)), "waited"]
    assert "notice: another run makes the NADs of net; this one waits" in capsys.readouterr().err
