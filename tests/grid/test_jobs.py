"""The training of a grid's cells: seeds, keys, groups, and what is kept of a trained
cell."""

import dataclasses
import pickle

import numpy as np
import pytest
import torch
from small_grids import ARCHITECTURES, HOW, data_of, orthonormal, plan_of

from pipeline import experiments, networks
from pipeline.grid import jobs
from pipeline.machine import store
from pipeline.training import loop, seeds

CPU = torch.device("cpu")
SETTINGS = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
GRIDS = {"logreg": {"indices": (1, 9)}, "mlp": {"indices": (1,)}}


@pytest.fixture
def made():
    """A plan of five places, its data in memory, and the cells."""
    plan = plan_of("linear_pairs", SETTINGS, GRIDS, samples=(150, 20))
    basis = dict(zip((1, 9), orthonormal(), strict=False))
    vectors = {f"{name}-{index}": basis[index] for name in GRIDS for index in basis}
    experiment = experiments.find("linear_pairs")
    draws = {seed: experiment.draw_base_noise(plan, seed, None) for seed in plan.seeds}
    return plan, data_of("linear_pairs", draws, vectors), experiment.cells(plan)


@pytest.fixture
def sweep():
    """`fourier`, whose networks no later stage needs: logistic regression along four
    directions."""
    grid = {"logreg": {"step": 16}}
    plan = plan_of(
        "fourier", {"eps": 1.0, "sigma": 1.0}, grid, seeds=(0,), samples=(150, 20)
    )
    experiment = experiments.find("fourier")
    draws = {0: experiment.draw_base_noise(plan, 0, None)}
    vectors = experiment.directions(plan, None)
    return plan, data_of("fourier", draws, vectors), experiment.cells(plan)


def keys(plan, data, cells, device=CPU):
    """The keys of all cells."""
    return [job.key for job in jobs.of_cells(plan, data, cells, device)]


def changed(draws, seed, name):
    """The same draws with one number of one array of one seed changed."""
    array = draws[seed][name].copy()
    array.flat[3] = -array.flat[3]
    return draws | {seed: draws[seed] | {name: array}}


def with_member(plan, name, **changes):
    """The plan with one architecture's part changed."""
    member = dataclasses.replace(plan.members[name], **changes)
    return dataclasses.replace(plan, members=plan.members | {name: member})


def test_the_key_changes_with_everything_that_decides_the_weights_and_with_nothing_else(
    made,
):
    plan, data, cells = made
    before = keys(plan, data, cells)
    assert len(set(before)) == len(cells) == 10
    draws = {seed: data.base_noise(seed) for seed in plan.seeds}

    def differ(plan=plan, draws=draws, vectors=data.vectors, cells=cells, device=CPU):
        """Which cells have another key."""
        other = data_of("linear_pairs", draws, vectors)
        return [key not in before for key in keys(plan, other, cells, device)]

    def of(condition):
        return [bool(condition(cell)) for cell in cells]

    everywhere = of(lambda cell: True)
    nowhere = of(lambda cell: False)
    in_mlp = of(lambda cell: cell["architecture"] == "mlp")
    assert differ() == nowhere
    for name in ("test_labels", "test_normal"):
        assert differ(draws=changed(draws, 1, name)) == nowhere
    for name in ("train_labels", "train_normal"):
        assert differ(draws=changed(draws, 1, name)) == of(
            lambda cell: cell["seed"] == 1
        )
    # One bit of one direction changes the cells that use it.
    vector = data.vectors["logreg-9"].copy()
    vector[5] = np.nextafter(vector[5], 1)
    assert differ(vectors=data.vectors | {"logreg-9": vector}) == of(
        lambda cell: (
            cell["architecture"] == "logreg" and 9 in (cell["index_1"], cell["index_2"])
        )
    )
    changes = {
        "epochs": 3,
        "lr": 0.11,
        "momentum": 0.8,
        "weight_decay": 1e-9,
        "clip": 0.4,
        "batch_size": 64,
    }
    for name, value in (
        changes | {"schedule": "linear", "precision": "bfloat16"}
    ).items():
        other = with_member(
            plan, "mlp", training=dataclasses.replace(HOW, **{name: value})
        )
        assert differ(plan=other) == in_mlp
    mlp = {"network": networks.NETWORKS["mlp"], "hidden": [4, 6]}
    assert differ(plan=with_member(plan, "mlp", specification=mlp)) == in_mlp
    assert (
        differ(plan=with_member(plan, "mlp", own={"own/net.py": "another digest"}))
        == in_mlp
    )
    for value in ("eps1", "eps2", "sigma"):
        other = [cell | {value: cell[value] + 1e-12} for cell in cells]
        assert differ(cells=other) == everywhere
    assert differ(device=torch.device("cuda")) == everywhere
    # Sizes that the draws hold anyway, and the scale's name, decide nothing by
    # themselves.
    sizes = {
        "scale": "paper",
        "train_samples": 9,
        "test_samples": 7,
        "seeds": (0, 1, 2),
    }
    assert differ(plan=dataclasses.replace(plan, **sizes)) == nowhere


def test_test_data_decide_the_key_where_outputs_on_them_are_kept(sweep):
    plan, data, cells = sweep
    before = keys(plan, data, cells)
    for name in ("test_labels", "test_normal", "train_labels"):
        other = data_of(
            "fourier", changed({0: data.base_noise(0)}, 0, name), data.vectors
        )
        assert not set(keys(plan, other, cells)) & set(before)


def test_a_cell_is_trained_from_the_weights_and_in_the_order_of_its_identity(made):
    plan, data, cells = made
    found = list(jobs.of_cells(plan, data, cells, CPU))
    for job in (found[1], found[-1]):
        cell = job.cell
        places = (cell["index_1"], cell["index_2"])
        assert job.identity == (
            cell["seed"],
            "linear_pairs",
            cell["architecture"],
            *places,
        )
        weights = seeds.derive(*job.identity, "weights")
        network = networks.build(ARCHITECTURES[cell["architecture"]], 2, 2, weights)
        x, y = data.dataset(cell, "train")
        outcome = loop.train(network, x, y, HOW, seeds.derive(*job.identity, "order"))
        result = jobs.train_cell(data, job)
        assert result.outcome == outcome and 0 < result.seconds < 60
        assert set(result.tensors) == set(network.state_dict())
        for name, weight in network.state_dict().items():
            assert torch.equal(result.tensors[name], weight)


def test_weights_of_any_type_are_kept_exactly(tmp_path):
    network = torch.nn.Linear(5, 3).bfloat16()
    kept = store.Store(tmp_path)
    network.register_buffer("eighths", torch.randn(9).to(torch.float8_e5m2))
    weights = network.state_dict()
    kept.put("ab12", pickle.loads(pickle.dumps(jobs._to_cpu(weights))), {})
    found, _ = kept.contents("ab12")
    for name, value in weights.items():
        assert torch.equal(found[name].float(), value.float())


def test_of_a_network_that_no_later_stage_needs_its_outputs_are_kept(sweep):
    plan, data, cells = sweep
    (job, *_) = jobs.of_cells(plan, data, cells, CPU)
    result = jobs.train_cell(data, job)
    ((_, x, _),) = data.test_sets(job.cell)
    network = networks.build(
        job.specification, 1, 2, seeds.derive(*job.identity, "weights")
    )
    order = seeds.derive(*job.identity, "order")
    loop.train(network, *data.dataset(job.cell, "train"), HOW, order)
    expected = network(x).detach()
    assert set(result.tensors) == {"all"} and expected.shape == (20, 2)
    torch.testing.assert_close(result.tensors["all"], expected, rtol=1e-5, atol=1e-6)


def test_a_cell_that_diverges_says_so(made):
    plan, data, cells = made
    job = next(jobs.of_cells(plan, data, cells, CPU))
    real = data.dataset

    def dataset_without_numbers(cell, split):
        x, y = real(cell, split)
        return x * float("nan"), y

    data.dataset = dataset_without_numbers
    with pytest.raises(loop.Diverged):
        jobs.train_cell(data, job)


def test_the_engine_of_a_gpu_decides_the_key_and_that_of_a_cpu_does_not(made):
    plan, data, cells = made
    found = {
        (device.type, engine): next(
            jobs.of_cells(plan, data, cells, device, engine)
        ).key
        for device in (CPU, torch.device("cuda"))
        for engine in ("eager", "recorded")
    }
    assert found["cpu", "eager"] == found["cpu", "recorded"]
    assert len(set(found.values())) == 3


def test_a_key_holds_the_versions_of_libraries(made, monkeypatch):
    before = set(keys(*made))
    for module in (jobs.metadata, jobs.networks):
        with monkeypatch.context() as patch:
            patch.setattr(module, "version", lambda *_: "another")
            jobs.code_of.cache_clear()
            assert not before & set(keys(*made))
    jobs.code_of.cache_clear()
