"""Estimates made by the workers: their symmetries, and which NADs are kept."""

import pytest
from nads_samples import GRADIENT, SMALL

from pipeline.machine import store, workers
from pipeline.nads import task
from pipeline.nads.covariance import Covariance
from pipeline.nads.estimation import Estimation
from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.nads.task import Recipe, Task
from pipeline.networks import NETWORKS


@pytest.mark.parametrize(("height", "averaged"), [(8, "transposition"), (12, "none")])
def test_oblong_inputs_have_none_of_the_symmetries_that_a_network_states(height, averaged):
    secant, source = Estimator("secant", "readout", 100, "zero", True, False), (1, height, 8)
    resnet = Request({"network": NETWORKS["resnet18"], "width": 0.125}, Source(2, input=source))
    (made,) = task.tasks(NADsPlan("smoke", 0, secant, {"resnet": resnet}), "cpu")
    assert made.estimation.accumulator.symmetry == averaged


def test_a_network_that_cannot_be_run_ends_the_estimate_and_keeps_nothing(folder, monkeypatch):
    def run(function, jobs, make_context, device):
        for number in jobs:
            yield number, ValueError("no memory") if number == 3 else function(None, number)

    monkeypatch.setattr(workers, "run", run)
    recipe = Recipe(SMALL, {}, (1, 8, 8), (0, "net"), GRADIENT, "cpu")
    estimation = Estimation(Covariance(recipe.shape), 8)
    with pytest.raises(ValueError, match="^no memory$"):
        Task("net", recipe, estimation, "a" * 64).nads(True)
    assert not store.Store(store.default_folder()).holds("a" * 64)
