"""The work of a profile on small networks: the cache, large inputs, failures."""

import numpy as np
import pytest
import torch
from refusals import refused

from pipeline.grid import jobs
from pipeline.profile import plan, work
from pipeline.profile.plan import Sizes
from pipeline.training.loop import Diverged

CPU = torch.device("cpu")
SIZES = Sizes("secant", 8, 3, 1, 256, 6)
MLP = {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4]}


def profile(side):
    """NADs and response of a small network, and the results of its trained networks."""
    shape = (1, side, side)
    architectures = {"mlp": MLP | {"side": side}}
    estimates = plan.plan_nads(architectures, shape, "secant", SIZES.untrained, {})
    nads, responses = work.estimate(estimates, CPU)
    sweep = plan.plan_sweep(estimates, nads, SIZES, 0.5)
    results = work.train(sweep, nads, CPU)
    return nads["mlp"], responses["mlp"], results


def test_finished_work_comes_from_the_cache(folder, in_this_process, monkeypatch):
    nads, response, results = profile(8)
    assert response.mean == pytest.approx(nads.eigenvalues.mean())
    assert results["index"].tolist() == [0, 18, 63]
    for name in ("Trainer", "logits"):
        monkeypatch.setattr(jobs.loop, name, None)
    again, _, rows = profile(8)
    np.testing.assert_array_equal(again.directions, nads.directions)
    assert rows.equals(results)


def test_large_inputs_have_the_first_nads_and_the_response_to_all_waves(
    folder, in_this_process
):
    nads, response, results = profile(72)
    assert nads.method == "plain"
    assert nads.networks == len(nads.directions) == 8
    squares = response.along(nads.directions) ** 2 * response.mean
    np.testing.assert_allclose(squares, nads.eigenvalues, rtol=1e-4)
    assert response.waves.shape == (72, 72)
    assert len(results) == 3


def test_a_network_that_diverges_says_what_to_do_and_other_failures_are_raised(
    folder, in_this_process, monkeypatch
):
    def diverge(*_):
        raise Diverged("the loss became nan")

    monkeypatch.setattr(jobs.loop.Trainer, "outcome", diverge)
    with refused("not-finite") as caught:
        profile(8)
    assert "--lr" in str(caught.value)
    monkeypatch.setattr(jobs.loop.Trainer, "outcome", lambda *_: {}["loss"])
    with pytest.raises(KeyError):
        profile(8)
