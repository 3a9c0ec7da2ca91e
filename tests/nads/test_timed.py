"""Estimates in a given time: secants where enough networks can be had, gradients elsewhere; all NADs or the first; what is kept."""

import pytest

from pipeline.nads import Covariance, Leading, timed
from pipeline.nads.progress import Recipe

SMALL = {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4], "side": 8}


def test_secants_are_taken_where_eight_networks_can_be_had_or_where_they_are_asked_for():
    """Each takes 2·64 forward passes: 1.28 s at a hundredth of a second, 10.24 for eight."""
    shape = (1, 8, 8)
    assert timed.affordable(None, shape, 0.01, 10.3)[0].estimand == "secant"
    estimator, reason = timed.affordable(None, shape, 0.01, 10.2)
    assert (estimator.estimand, estimator.method, estimator.point) == ("gradient", "readout", "many")
    assert "128 forward passes, here 1 seconds" in reason
    assert timed.affordable("secant", shape, 0.01, 0.0)[0].estimand == "secant"
    assert timed.affordable("gradient", shape, 0.01, 1e6)[0].estimand == "gradient"
    assert timed.affordable("secant", (3, 64, 64), 1.0, 0.0)[1] is None


def test_beyond_4096_values_only_the_first_nads_are_sought_from_a_vector_a_network():
    assert timed.complete((1, 64, 64)) and not timed.complete((3, 37, 37))
    assert timed.affordable("gradient", (3, 64, 64), 1.0, 0.0)[0].method == "plain"


@pytest.mark.parametrize(("side", "kind"), [(8, Covariance), (72, Leading)])
def test_the_estimate_takes_as_many_networks_as_there_is_time_for_and_memory(tmp_path, side, kind):
    shape = (1, side, side)
    specification = SMALL | {"side": side}
    estimator, _ = timed.affordable("gradient", shape, 1.0, 0.0)
    task = timed.task(specification, shape, estimator, tmp_path, "cpu")
    assert isinstance(task.estimation.accumulator, kind) and task.limit is None
    assert task.estimation.networks == (timed.NETWORKS if kind is Covariance else timed.ROWS // 8)
    assert getattr(task.estimation.accumulator, "first", timed.FIRST) == timed.FIRST
    assert task.sums.folder.parent == tmp_path / "nads"
    other = timed.task(specification | {"hidden": [8, 5]}, shape, estimator, tmp_path, "cpu")
    assert other.sums.folder != task.sums.folder


def test_the_time_that_the_fewest_networks_take():
    shape = (1, 8, 8)
    recipe = lambda asked: Recipe(SMALL, shape, (0, "x"), timed.affordable(asked, shape, 1.0, 0.0)[0], "cpu")
    assert timed.fewest(recipe("secant"), 0.01) == pytest.approx(4 * 128 * 0.01)
    # Four features before the read-out.
    assert timed.fewest(recipe("gradient"), 0.01) == pytest.approx(4 * 3 * 4 * 0.01)


def test_eigenvectors_take_longer_of_more_values_and_beyond_the_largest_of_more_vectors():
    assert 0 < timed.decomposition((1, 8, 8), 1.0, 0.0) < timed.decomposition((1, 64, 64), 1.0, 0.0)
    few, many = (timed.decomposition((3, 64, 64), 0.01, seconds) for seconds in (9.0, 90.0))
    assert 0 < few < many
