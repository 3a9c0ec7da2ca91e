"""Estimates made by the workers: what is kept of them, and in what order they end."""

import dataclasses

import numpy as np
import pytest
import torch
from nads_samples import GRADIENT, SECANT, jacobians

from pipeline.machine import workers
from pipeline.machine.claims import Claims
from pipeline.machine.store import Sums
from pipeline.nads import Covariance, Estimation, progress
from pipeline.nads.progress import Task, finished
from pipeline.nads.recipe import Recipe, jacobian

SHAPE = (1, 8, 8)
SMALL = {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4], "side": 8}
RECIPE = Recipe(SMALL, {}, SHAPE, (0, "net"), GRADIENT, "cpu")
OTHER = dataclasses.replace(RECIPE, identity=(0, "other"), estimator=SECANT)
KEYS = {"net": "a" * 64, "other": "b" * 64}
CPU = torch.device("cpu")


def task(folder, networks, target_error=None, name="net", recipe=RECIPE):
    """An empty estimate of which something may have been kept."""
    estimation = Estimation(Covariance(SHAPE), networks, target_error)
    return Task(name, recipe, estimation, Sums(folder, KEYS[name]))


def started(folder, *arguments, **others):
    """A task whose first network has been asked for."""
    made = task(folder, *arguments, **others)
    made.restore()
    next(made.numbers(), None)
    return made


@pytest.fixture
def clock(monkeypatch):
    """A list of the seconds that the clock shows."""
    seconds = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[0])
    return seconds


def test_what_is_kept_takes_the_place_of_what_this_run_kept_before(tmp_path, clock):
    samples = jacobians(9, 2, SHAPE)
    first = started(tmp_path, 4)
    first.keep()
    assert first.sums.counts() == [], "nothing of nothing"
    for number in range(4):
        clock[0] += 31
        first.take(number, samples[number])
        assert first.sums.counts() == [number + 1]
    more = started(tmp_path, 9)
    assert more.estimation.accumulator.count == 4
    assert list(more.numbers()) == [4, 5, 6, 7, 8]
    for number in (5, 4, 6):
        clock[0] += 31
        more.take(number, samples[number])
    assert more.sums.counts() == [7, 4], "what another run kept stays"
    np.testing.assert_array_equal(more.sums.get(7)["trace"], more.estimation.trace)


def test_sums_are_kept_at_the_end_and_now_and_then_before(tmp_path, clock):
    samples, made = jacobians(7, 2, SHAPE), started(tmp_path, 7)
    for number, (seconds, counts) in enumerate(
        ((30, []), (1, [2]), (30, [2]), (0.5, [4]), (1, [4]), (0, [4]), (0, [7]))
    ):
        clock[0] += seconds
        made.take(number, samples[number])
        assert made.sums.counts() == counts
    assert made.minutes == pytest.approx(62.5 / 60)


@pytest.mark.parametrize(
    ("networks", "target_error", "count"),
    [(12, None, 12), (20, None, 12), (11, None, 8), (7, None, 0), (12, 0.99, 0), (12, 1e-9, 12)],
)
def test_an_estimate_goes_on_from_the_most_networks_that_it_may_hold(
    tmp_path, networks, target_error, count
):
    """Kept are 8 and 12; the error 0.99 was reached after 4, which are not kept."""
    samples = jacobians(12, 2, SHAPE)
    for number in (8, 12):
        whole = task(tmp_path, number)
        for each in range(number):
            whole.estimation.add(each, samples[each])
        whole.sums.put(number, whole.estimation.state())
    resumed = started(tmp_path, networks, target_error)
    assert resumed.estimation.accumulator.count == count
    looks = [look for look in (4, 6, 8, 10, 12) if look <= count]
    assert [look for look, _ in resumed.estimation.trace] == looks
    assert list(resumed.numbers()) == list(range(count, networks))


def directly(count, target_error=None, recipe=RECIPE):
    """The NADs of an estimate without workers or store."""
    estimation = Estimation(Covariance(SHAPE), count, target_error)
    for number in range(count):
        estimation.add(number, jacobian(None, (recipe, number)))
    return estimation.nads(recipe.estimator)


def test_estimates_end_in_their_order_with_their_nads_and_only_what_is_due_is_sampled(
    tmp_path, here
):
    expected = [directly(12, 0.93), directly(4, recipe=OTHER)]
    assert expected[0].networks == 8, "before all networks are there"
    both = [("net", n) for n in range(8)] + [("other", n) for n in range(4)]
    for reuse, sampled in ((True, both), (True, []), (False, both)):
        here.clear()
        tasks = [task(tmp_path, 12, 0.93), task(tmp_path, 4, name="other", recipe=OTHER)]
        for one, (ended, nads), whole in zip(
            tasks, finished(tasks, CPU, reuse), expected, strict=True
        ):
            assert ended is one
            assert ended.estimation is None, "the sums are let go"
            for field in dataclasses.fields(nads):
                np.testing.assert_array_equal(getattr(nads, field.name), getattr(whole, field.name))
        assert here == sampled
    assert list(finished([], CPU, True)) == []


def test_results_may_come_in_any_order_and_after_the_end(tmp_path, monkeypatch):
    """As from many workers: the next estimate has begun, and networks beyond the error are done,
    when the first ends."""

    def run(function, work, make_context, device):
        for position, item in reversed(list(zip(range(16), work))):
            yield position, function(make_context(), item)

    monkeypatch.setattr(workers, "run", run)
    tasks = [task(tmp_path, 12, 0.93), task(tmp_path, 4, name="other", recipe=OTHER)]
    ended = list(finished(tasks, CPU, True))
    assert [one.name for one, _ in ended] == ["net", "other"]
    for (_, nads), whole in zip(ended, [directly(12, 0.93), directly(4, recipe=OTHER)]):
        np.testing.assert_array_equal(nads.directions, whole.directions)
        assert nads.networks == whole.networks


def test_a_failure_is_raised_after_what_was_done_is_kept(tmp_path, monkeypatch):
    def run(function, work, make_context, device):
        for position, item in enumerate(work):
            failed = item[1] == 3
            yield position, ValueError("no memory") if failed else function(make_context(), item)

    monkeypatch.setattr(workers, "run", run)
    tasks = [task(tmp_path, 8), task(tmp_path, 8, name="other")]
    with pytest.raises(ValueError, match="no memory"):
        list(finished(tasks, CPU, True))
    assert tasks[0].sums.counts() == [3]


def test_an_estimate_that_another_run_has_under_way_is_waited_for_and_not_made_again(
    tmp_path, here, monkeypatch, capsys
):
    class Held(Claims):
        """Claims of a run beside which another makes the NADs of `net`, which are there when it
        lets them go."""

        theirs = True

        def take(self, key):
            return not (self.theirs and key == KEYS["net"]) and super().take(key)

        def wait(self, key):
            Held.theirs = False
            (_,) = finished([task(tmp_path, 8)], CPU, True)
            here.append("waited")

    monkeypatch.setattr(progress, "Claims", Held)
    tasks = [task(tmp_path, 8), task(tmp_path, 8, name="other", recipe=OTHER)]
    ended = [(each.name, nads.networks) for each, nads in finished(tasks, CPU, True)]
    assert ended == [("other", 8), ("net", 8)]
    assert here == [*(("other", n) for n in range(8)), *(("net", n) for n in range(8)), "waited"]
    assert "notice: another run makes the NADs of net; this one waits" in capsys.readouterr().err
