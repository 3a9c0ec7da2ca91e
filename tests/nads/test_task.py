"""Estimates made by the workers: their symmetries, and which NADs are kept."""

import pytest
from nads_samples import GRADIENT, SMALL

from pipeline.machine import store, workers
from pipeline.machine.claims import Claims
from pipeline.nads import task
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.nads.task import Recipe, Task
from pipeline.networks import NETWORKS

SHAPE = (1, 8, 8)
RECIPE = Recipe(SMALL, {}, SHAPE, (0, "net"), GRADIENT, "cpu")


def empty(networks):
    return Task("net", RECIPE, Estimation(Covariance(SHAPE), networks), "a" * 64)


@pytest.mark.parametrize(("height", "averaged"), [(8, "transposition"), (12, "none")])
def test_oblong_inputs_have_none_of_the_symmetries_that_a_network_states(height, averaged):
    secant, source = Estimator("secant", "readout", 100, "zero", True, False), (1, height, 8)
    resnet = Request({"network": NETWORKS["resnet18"], "width": 0.125}, Source(2, input=source))
    (made,) = task.tasks(NADsPlan("smoke", 0, secant, {"resnet": resnet}), "cpu")
    assert made.estimation.accumulator.symmetry == averaged


def test_a_network_that_cannot_be_run_ends_the_estimate_and_keeps_nothing(folder, monkeypatch):
    def run(function, jobs, make_context, device):
        for position, job in enumerate(jobs):
            yield position, ValueError("no memory") if job[1] == 3 else function(None, job)

    monkeypatch.setattr(workers, "run", run)
    with pytest.raises(ValueError, match="^no memory$"):
        empty(8).nads(True)
    assert not store.Store(store.default_folder()).holds("a" * 64)


def test_an_estimate_that_another_run_has_under_way_is_waited_for_and_not_made_again(
    folder, here, monkeypatch, capsys
):
    class Held(Claims):
        """The locks beside another run, which makes the NADs before it lets them go."""

        def take(self, key):
            return False

        def wait(self, key):
            monkeypatch.setattr(task, "Claims", Claims)
            empty(8).nads(True)

    monkeypatch.setattr(task, "Claims", Held)
    nads = empty(8).nads(True)
    assert nads.networks == 8 and len(here) == 8
    assert "notice: another run makes the NADs of net; this one waits" in capsys.readouterr().err
