"""Estimates made by the workers: which sums are kept, and in what order the estimates end."""

import numpy as np
import pytest
import torch
from nads_samples import GRADIENT, SMALL, filled, jacobians, nads_of

from pipeline.machine import workers
from pipeline.machine.claims import Claims
from pipeline.machine.store import Sums
from pipeline.nads import progress
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.nads.progress import Recipe, Task, finished
from pipeline.networks import NETWORKS

SHAPE = (1, 8, 8)
RECIPE = Recipe(SMALL, {}, SHAPE, (0, "net"), GRADIENT, "cpu")
CPU = torch.device("cpu")


def task(folder, networks, target_error=None, kept=()):
    """An empty estimate; kept: numbers of networks after which its sums are in the store."""
    sums = Sums(folder, "a" * 64)
    for count in kept:
        whole = Estimation(Covariance(SHAPE), count)
        for number, sample in enumerate(jacobians(count, 2, SHAPE)):
            whole.add(number, sample)
        sums.put(count, whole.state())
    return Task("net", RECIPE, Estimation(Covariance(SHAPE), networks, target_error), sums)


@pytest.mark.parametrize(("height", "averaged"), [(8, "transposition"), (12, "none")])
def test_oblong_inputs_have_none_of_the_symmetries_that_a_network_states(height, averaged):
    secant, source = Estimator("secant", "readout", 100, "zero", True, False), (1, height, 8)
    resnet = Request({"network": NETWORKS["resnet18"], "width": 0.125}, Source(2, input=source))
    (made,) = progress.tasks(NADsPlan("smoke", 0, secant, {"resnet": resnet}), CPU)
    assert made.estimation.accumulator.symmetry == averaged


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


@pytest.mark.parametrize(
    ("networks", "target_error", "count"),
    [(12, None, 12), (20, None, 12), (11, None, 8), (7, None, 0), (12, 0.99, 0), (12, 1e-9, 12)],
)
def test_an_estimate_goes_on_from_the_most_networks_that_it_may_hold(
    tmp_path, networks, target_error, count
):
    """Kept are 8 and 12; the error 0.99 was reached after 4, which are not kept."""
    resumed = task(tmp_path, networks, target_error, kept=(8, 12))
    resumed.restore()
    assert resumed.estimation.accumulator.count == count
    looks = [look for look in (4, 6, 8, 10, 12) if look <= count]
    assert [look for look, _ in resumed.estimation.trace] == looks
    expected = filled(Covariance(SHAPE), jacobians(count, 2, SHAPE)).sums
    np.testing.assert_array_equal(resumed.estimation.accumulator.sums, expected)


def test_results_that_come_in_another_order_give_the_same_nads(tmp_path, monkeypatch):
    """As from many workers: networks beyond the error are done when the estimate ends."""

    def run(function, jobs, make_context, device):
        yield from reversed([(position, function(None, job)) for position, job in enumerate(jobs)])

    monkeypatch.setattr(workers, "run", run)
    made = task(tmp_path, 12, 0.93)  # it stops before all networks
    ((ended, nads),) = finished([made], CPU, True)
    assert ended is made and made.estimation is None, "the sums are let go"
    for field, value in vars(nads_of(RECIPE, 8)).items():
        np.testing.assert_array_equal(getattr(nads, field), value)


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
        """The locks beside another run, which makes the NADs before it lets them go."""

        def take(self, key):
            return False

        def wait(self, key):
            task(tmp_path, 8, kept=[8])

    monkeypatch.setattr(progress, "Claims", Held)
    ((_, nads),) = finished([task(tmp_path, 8)], CPU, True)
    assert nads.networks == 8 and here == []
    assert "notice: another run makes the NADs of net; this one waits" in capsys.readouterr().err
