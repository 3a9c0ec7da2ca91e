"""The training of a grid's cells: seeds, keys, groups, and what is kept."""

import dataclasses
import itertools

import numpy as np
import pytest
import safetensors.torch
import torch
from small_grids import ARCHITECTURES, HOW, data_of, orthonormal, plan_of

from pipeline import experiments, networks, training
from pipeline.grid import jobs
from pipeline.grid.data import Data
from pipeline.grid.experiment import Member
from pipeline.machine import store
from pipeline.project import seeds
from pipeline.training import ensembles, memory

CPU = torch.device("cpu")
SETTINGS = {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0}
GRIDS = {"logreg": {"indices": (1, 9)}, "mlp": {"indices": (1,)}}


@pytest.fixture
def made():
    """A plan of five places, its data in memory, and the cells."""
    plan = plan_of("linear_pairs", SETTINGS, GRIDS, samples=(150, 20))
    vectors = {f"{name}-{index}": vector for name in GRIDS for index, vector in zip((1, 9), orthonormal())}
    experiment = experiments.find("linear_pairs")
    data = data_of("linear_pairs", {seed: experiment.draw(plan, seed, None) for seed in plan.seeds}, vectors)
    return plan, data, experiment.cells(plan)


def keys(plan, data, cells, device=CPU):
    """The keys of all cells."""
    return [job.key for job in jobs.of_cells(plan, data, cells, device, "folder")]


def test_a_job_holds_all_that_a_worker_needs(made):
    plan, data, cells = made
    found = list(jobs.of_cells(plan, data, cells, CPU, "folder"))
    assert [job.cell for job in found] == cells and len({job.key for job in found}) == len(cells) == 10
    for job in found:
        name, cell = job.cell["architecture"], job.cell
        assert job.identity == (cell["seed"], "linear_pairs", name, cell["index_1"], cell["index_2"])
        assert (job.specification, job.training) == (ARCHITECTURES[name], HOW)
        assert (job.device, job.folder) == ("cpu", "folder")


def changed(draws, seed, name):
    """The same draws with one number of one array of one seed changed."""
    array = draws[seed][name].copy()
    array.flat[3] = -array.flat[3]
    return draws | {seed: draws[seed] | {name: array}}


def test_the_key_changes_with_all_that_decides_the_weights_and_with_nothing_else(made, monkeypatch):
    plan, data, cells = made
    before = keys(plan, data, cells)
    assert keys(plan, data, cells) == before
    # The folder, and what comes only into the test, decide nothing.
    assert [job.key for job in jobs.of_cells(plan, data, cells, CPU, "elsewhere")] == before
    draws = {seed: data.draw(seed) for seed in plan.seeds}

    def differ(plan=plan, draws=draws, vectors=data.vectors, cells=cells, device=CPU):
        """Which cells have another key."""
        other = data_of("linear_pairs", draws, vectors)
        return [key not in before for key in keys(plan, other, cells, device)]

    of = lambda condition: [bool(condition(cell)) for cell in cells]
    assert differ() == of(lambda cell: False)
    for name in ("test_labels", "test_normal"):
        assert differ(draws=changed(draws, 1, name)) == of(lambda cell: False)
    for name in ("train_labels", "train_normal"):
        assert differ(draws=changed(draws, 1, name)) == of(lambda cell: cell["seed"] == 1)
    # One bit of one direction changes the cells that use it.
    vector = data.vectors["logreg-9"].copy()
    vector[5] = np.nextafter(vector[5], 1)
    assert differ(vectors=data.vectors | {"logreg-9": vector}) == of(
        lambda cell: cell["architecture"] == "logreg" and 9 in (cell["index_1"], cell["index_2"])
    )
    for change in ({"epochs": 3}, {"lr": 0.11}, {"momentum": 0.8}, {"weight_decay": 1e-9}, {"schedule": "linear"}, {"precision": "bfloat16"}):  # fmt: skip
        members = plan.members | {
            "mlp": dataclasses.replace(plan.members["mlp"], training=dataclasses.replace(HOW, **change))
        }
        assert differ(plan=dataclasses.replace(plan, members=members)) == of(lambda cell: cell["architecture"] == "mlp")
    for specification in ({"hidden": [6, 5]}, {"hidden": [4, 6]}, {"hidden": [6, 4], "side": 32}):
        specification = {"network": networks.NETWORKS["mlp"], **specification}
        members = plan.members | {"mlp": dataclasses.replace(plan.members["mlp"], specification=specification)}
        assert differ(plan=dataclasses.replace(plan, members=members)) == of(lambda cell: cell["architecture"] == "mlp")
    for value in ("eps1", "eps2", "sigma"):
        assert differ(cells=[cell | {value: cell[value] + 1e-12} for cell in cells]) == of(lambda cell: True)
    assert differ(plan=dataclasses.replace(plan, experiment="other_pairs")) == of(lambda cell: True), "its seeds differ"
    # Sizes that the draws hold anyway, and the scale's name, decide nothing by themselves.
    sizes = {"scale": "paper", "train_samples": 9, "test_samples": 7, "seeds": (0, 1, 2)}
    assert differ(plan=dataclasses.replace(plan, **sizes)) == of(lambda cell: False)


def test_the_key_holds_the_device_and_the_engine(made, monkeypatch):
    plan, data, cells = made
    reached = []
    monkeypatch.setattr(jobs.closure, "digest", lambda *roots: reached.append(roots) or "code")
    before = keys(plan, data, cells)
    monkeypatch.setattr(jobs.closure, "digest", lambda *roots: reached.append(roots) or "other code")
    assert not set(keys(plan, data, cells)) & set(before)
    monkeypatch.setattr(jobs.closure, "digest", lambda *roots: reached.append(roots) or "code")
    assert not set(keys(plan, data, cells, torch.device("cuda"))) & set(before)
    roots = [(Data, "dataset"), (Data, "outputs"), data.experiment.dataset]
    for engine, where in ((jobs.trained, reached[:20]), (jobs.trained_together, reached[20:])):
        assert [list(each) for each in where] == [
            [engine, *roots, ARCHITECTURES[cell["architecture"]]["network"]] for cell in cells
        ] * (len(where) // 10)
    assert len(reached) == 30 and jobs.TOGETHER == ("cuda",)


def expected(data, job):
    """The network of a job as its definition has it: weights and order from seeds of its identity."""
    network = networks.build(job.specification, 2, 2, seeds.derive(*job.identity, "weights"))
    x, y = data.dataset(job.cell, "train")
    outcome = training.train(network, x, y, job.training, seeds.derive(*job.identity, "order"))
    return network.state_dict(), outcome


def test_a_cell_is_trained_from_the_weights_and_in_the_order_of_its_identity(made, tmp_path):
    plan, data, cells = made
    found = list(jobs.of_cells(plan, data, cells, CPU, str(tmp_path)))
    for job in (found[1], found[-1]):
        weights, outcome = expected(data, job)
        network, found = jobs.trained(data, job)
        assert all(torch.equal(weights[name], value) for name, value in network.state_dict().items())
        assert found == outcome and len(outcome.losses) == 2
        seconds = jobs.train_one(data, job)
        kept = store.Store(tmp_path)
        assert 0 < seconds < 60 and kept.get(job.key) == dataclasses.asdict(outcome)
        loaded = safetensors.torch.load_file(kept.path(job.key))
        assert set(loaded) == set(weights) and all(torch.equal(loaded[name], weights[name]) for name in weights)


@pytest.fixture
def sweep():
    """The same of `fourier`, whose networks no later stage needs: logistic regression along four frequencies."""
    plan = plan_of("fourier", {"eps": 1.0, "sigma": 1.0}, {"logreg": {"step": 16}}, seeds=(0,), samples=(150, 20))
    experiment = experiments.find("fourier")
    data = data_of("fourier", {0: experiment.draw(plan, 0, None)}, experiment.directions(plan, None))
    return plan, data, experiment.cells(plan)


def test_of_a_network_that_no_later_stage_needs_its_outputs_are_kept(sweep, tmp_path, monkeypatch):
    plan, data, cells = sweep
    found = list(jobs.of_cells(plan, data, cells, CPU, str(tmp_path)))
    network, outcome = jobs.trained(data, found[0])
    jobs.train_one(data, found[0])
    assert jobs.train_together(data, found[1:2])[0] > 0
    kept = store.Store(tmp_path)
    assert kept.get(found[0].key) == dataclasses.asdict(outcome) and kept.get(found[1].key)
    tensors = safetensors.torch.load_file(kept.path(found[0].key))
    ((name, x, _),) = data.test_sets(cells[0])
    assert set(tensors) == {name} == {"all"} and tensors["all"].shape == (20, 2)
    weights = network.state_dict()
    expected = x.flatten(1) @ weights["1.weight"].T + weights["1.bias"]
    torch.testing.assert_close(tensors["all"], expected)


def test_which_networks_are_needed_again():
    needed = {name for name in experiments.names() if experiments.find(name).needs_networks}
    assert needed == {"linear_pairs", "image_pairs", "flip"}


def test_what_decides_the_tests_decides_the_key_of_outputs_and_not_the_weights(sweep, monkeypatch):
    plan, data, cells = sweep
    before = [(job.trained, job.key) for job in jobs.of_cells(plan, data, cells, CPU, "")]
    assert len(set(before)) == len({key for pair in before for key in pair}) / 2 == 4

    def same(data):
        found = [(job.trained, job.key) for job in jobs.of_cells(plan, data, cells, CPU, "")]
        return [all(one[n] == other[n] for one, other in zip(found, before)) for n in (0, 1)]

    assert same(data) == [True, True]
    for name in ("test_labels", "test_normal"):
        assert same(data_of("fourier", changed({0: data.draw(0)}, 0, name), data.vectors)) == [True, False]
    assert same(data_of("fourier", changed({0: data.draw(0)}, 0, "train_labels"), data.vectors)) == [False, False]
    real = jobs.closure.digest
    monkeypatch.setattr(jobs.closure, "digest", lambda *roots: real(*roots) + "edit" * (roots[0] is jobs.tested))
    assert same(data) == [True, False]
    # Accuracies are worked out from what is kept, so an edit of how they are measured trains nothing again.
    texts, _ = jobs.closure.Code().reached(
        *map(jobs.closure.root, jobs.tests(data.experiment, ARCHITECTURES["logreg"]["network"]))
    )
    assert {"pipeline.grid.jobs:tested:0", "pipeline.networks.mlp:LogReg:0"} <= set(texts)
    assert not [name for name in texts if name.startswith(("pipeline.measures", "pipeline.evaluate"))]


def test_a_network_has_the_channels_and_the_outputs_of_its_experiment(made):
    (job,) = itertools.islice(jobs.of_cells(*made, CPU, ""), 1)
    for name, outputs, inputs in (("fourier", 2, 1024), ("image_pairs", 2, 4096), ("flip", 7, 3072)):
        other = data_of(name, {}, {})
        other.outputs = outputs
        network, order = jobs.untrained(other, job)
        assert network[1].weight.shape == (outputs, inputs) and order == seeds.derive(*job.identity, "order")


def test_seconds_are_those_of_the_training(made, tmp_path, monkeypatch):
    plan, data, cells = made
    found = list(jobs.of_cells(plan, data, cells, CPU, str(tmp_path)))[:4]
    clock = itertools.count(10.0, 6.0)
    monkeypatch.setattr(jobs.time, "monotonic", lambda: next(clock))
    assert jobs.train_one(data, found[0]) == 6.0
    assert jobs.train_together(data, found) == [1.5] * 4, "each its part"


def test_cells_that_train_together_are_kept_as_each_alone_and_one_that_diverges_is_not(made, tmp_path):
    plan, data, cells = made
    found = list(jobs.of_cells(plan, data, cells, CPU, str(tmp_path)))[:4]
    real, kept = data.dataset, store.Store(tmp_path)
    data.dataset = lambda cell, split: (
        (real(cell, split)[0] * float("nan"), real(cell, split)[1]) if cell is found[2].cell else real(cell, split)
    )
    results = jobs.train_together(data, found)
    assert isinstance(results.pop(2), training.Diverged) and all(0 < seconds < 60 for seconds in results)
    assert [kept.get(job.key) is None for job in found] == [False, False, True, False]
    for job in (found[0], found[3]):
        weights, by_itself = expected(data, job)
        loaded = safetensors.torch.load_file(kept.path(job.key))
        for name, value in weights.items():
            torch.testing.assert_close(loaded[name], value, rtol=0, atol=1e-6)
        outcome = kept.get(job.key)
        assert outcome["losses"] == pytest.approx(by_itself.losses, abs=1e-5)
        assert (outcome["accuracy"], outcome["steps"]) == (pytest.approx(by_itself.accuracy), by_itself.steps)


def alone(channels, outputs):
    """A network of one's own that states nothing."""
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(channels * 1024, outputs))


def test_a_network_that_does_not_say_how_is_trained_alone(made):
    plan, data, cells = made
    (job,) = itertools.islice(jobs.of_cells(plan, data, cells, CPU, ""), 1)
    job = dataclasses.replace(job, specification={"network": "test_jobs:alone"})
    weights, outcome = expected(data, job)
    (network,), (found,) = jobs.trained_together(data, [job])
    assert all(torch.equal(weights[name], value) for name, value in network.state_dict().items())
    assert found == outcome


def test_groups_are_neighbours_of_one_architecture_and_training(monkeypatch):
    lenet = {"network": networks.NETWORKS["lenet"]}
    vgg = {"network": networks.NETWORKS["vgg11"], "width": 0.125}
    resnet = {"network": networks.NETWORKS["resnet18"], "width": 0.125}
    own = {"network": "torchvision.models:resnet18"}
    short, long = HOW, dataclasses.replace(HOW, epochs=3)
    work = [
        jobs.Job({}, specification, how, (), "cuda", "", "", "")
        for specification, how, count in (
            (lenet, short, 130), (lenet, long, 2), (vgg, long, 2), (resnet, long, 5), (own, long, 2), (lenet, short, 1),
        )
        for _ in range(count)
    ]  # fmt: skip
    groups = jobs.groups(work, 3, 2, 1000, 2**40)
    assert [len(group) for group in groups] == [128, 2, 2, 1, 1, 4, 1, 1, 1, 1]
    assert list(itertools.chain(*groups)) == list(enumerate(work))
    small = jobs.groups(work, 3, 2, 1000, 10**9)
    lenets = [len(group) for group in small[: -8 - 1]]
    assert list(itertools.chain(*small)) == list(enumerate(work)) and 1 < max(lenets) < 20
    needed = memory.needed(networks.build(lenet, 3, 2, 0), (3, 32, 32), 1000, short, "stack")
    assert max(lenets) * needed <= 0.9e9 < (max(lenets) + 1) * needed


def test_together_is_asked_of_the_engine_with_each_cells_own(made, monkeypatch):
    """All cells of a group have their own weights, data and order, and the group's training and device."""
    plan, data, cells = made
    found, seen = list(jobs.of_cells(plan, data, cells, CPU, ""))[:3], []
    monkeypatch.setattr(ensembles, "train", lambda *arguments: seen.append(arguments) or "results")
    made_networks, results = jobs.trained_together(data, found)
    ((given, sets, how, orders, device, way),) = seen
    assert given is made_networks and results == "results" and (how, device, way) == (HOW, CPU, "stack")
    assert list(orders) == [seeds.derive(*job.identity, "order") for job in found]
    for job, (x, y) in zip(found, sets):
        assert torch.equal(x, data.dataset(job.cell, "train")[0]) and torch.equal(y, data.dataset(job.cell, "train")[1])


def test_the_kind_of_a_cell_is_what_its_time_depends_on():
    member = Member(ARCHITECTURES["mlp"], HOW, None)
    kinds = {
        jobs.kind(member, 2, "cpu"),
        jobs.kind(member, 3, "cpu"),
        jobs.kind(member, 2, "cuda"),
        jobs.kind(dataclasses.replace(member, specification=ARCHITECTURES["lenet"]), 2, "cpu"),
        jobs.kind(dataclasses.replace(member, training=dataclasses.replace(HOW, precision="bfloat16")), 2, "cpu"),
    }
    assert len(kinds) == 5
    longer = dataclasses.replace(member, training=dataclasses.replace(HOW, epochs=9, lr=0.7))
    assert jobs.kind(longer, 2, "cpu") in kinds


def test_what_a_training_is_given_is_arranged_for_convolutions(made, monkeypatch):
    plan, data, cells = made
    (job,) = itertools.islice(jobs.of_cells(plan, data, cells, CPU, ""), 1)
    seen = []
    monkeypatch.setattr(training, "train", lambda network, x, y, how, seed: seen.append(x.stride()) or ([0.0], 1.0))
    jobs.trained(data, job)
    assert seen == [(2048, 1, 64, 2)]
