"""What all experiments share: how they are found, what their grids may be, and what
their data are, also for networks whose inputs are not 1×32×32."""

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from small_grids import SMALL, data_of, plan_of, separable

from pipeline import experiments
from pipeline.experiments.experiment import SHAPE, Experiment, shape_of
from pipeline.grid import jobs
from pipeline.training.fourier import AXES, fourier, frequencies, in_colour
from pipeline.training.separable import noise_name

WIDE = (6, 4)
SEPARABLE = ("linear_pairs", "nad_sweep", "fourier", "convergence", "colours")
PICTURES = ("image_pairs", "poison", "flip", "learning")


def orthonormal(size):
    """An orthonormal basis (size, size), as rows."""
    rows = np.random.default_rng(0).standard_normal((size, size))
    basis, _ = np.linalg.qr(rows)
    return basis.T


BASES = {1: orthonormal(24), 3: orthonormal(72)}
"""NADs of inputs of 6×4 pixels, by their number of channels."""


def with_each_channels(*names):
    """Run a test with each experiment and each number of channels that it supports."""
    cases = []
    for name in names:
        for channels in experiments.find(name).supported_channels:
            cases.append((name, channels))
    return pytest.mark.parametrize(("name", "channels"), cases)


def nads_of(channels):
    """From an architecture to its NADs: LeNet's are the coordinate axes."""
    directions = {"lenet": np.eye(1024 * channels), "logreg": BASES[channels]}

    def read_nads(architecture, estimand=None):
        eigenvalues = np.linspace(1, 0, 24)
        return {"directions": directions[architecture], "eigenvalues": eigenvalues}

    return read_nads


def plan_with(name, channels, *networks):
    """A plan with LeNet on 32×32 pixels, logistic regression on 6×4 pixels, or both."""
    settings, grid = SMALL[name]
    settings = dict(settings)
    if isinstance(settings.get("sigma"), dict):
        settings["sigma"] = {"lenet": 1.0, "logreg": 0.5}
    grids = {"lenet": grid, "logreg": {"step": 1} if "step" in grid else grid}
    plan = plan_of(name, settings, grids, seeds=(3,))
    shapes = {"lenet": (channels, 32, 32), "logreg": (channels, *WIDE)}
    members = {}
    for network in networks:
        member = plan.members[network]
        members[network] = dataclasses.replace(member, input=shapes[network])
    return dataclasses.replace(plan, members=members)


def directions_of(experiment, vectors, cell):
    """The arrays from which a cell's data are made."""
    return [vectors[name] for name in experiment.direction_names(cell)]


def test_experiments_are_found_by_the_names_of_their_files():
    assert experiments.names() == list(SMALL)
    assert [experiments.find(name).name for name in SMALL] == list(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_networks_are_kept_where_evaluation_needs_them(name):
    kind = type(experiments.find(name))
    has_plane = kind.boundary_plane is not Experiment.boundary_plane
    assert kind.needs_networks == (has_plane or kind.needs_courses)


INDICES = [{"index": 3}, {"index": 4}]
POINTS = {
    "linear_pairs": [
        {"index_1": first, "index_2": second}
        for first, second in itertools.product((3, 4), repeat=2)
    ],
    "image_pairs": INDICES,
    "nad_sweep": [{"estimand": "secant", **point} for point in INDICES],
    "learning": [
        {"data": "linear", "index": 3},
        {"data": "linear", "index": 4},
        {"data": "images", "index": -1},
    ],
    "poison": [
        {"data": "images", "index": -1},
        {"data": "carriers", "index": 3},
    ],
    "flip": [{"images": "plain"}, {"images": "flipped"}],
}
"""The points of the grids of `SMALL`, except those of frequencies."""


def points_of(name, size, step):
    """The points of an experiment's grid."""
    if name in POINTS:
        return POINTS[name]
    waves = []
    for row, column in frequencies(step, size):
        waves.append({"k_row": row, "k_col": column})
    if name == "colours":
        return [{"axis": axis, **wave} for axis in AXES for wave in waves]
    return waves


def vectors_of(name, cell, basis):
    """The directions from which a cell's data are made, by definition."""
    if "k_row" in cell:
        size = (cell["height"], cell["width"])
        wave = fourier(cell["k_row"], cell["k_col"], size)
        return [in_colour(wave, cell["axis"]) if name == "colours" else wave]
    if name == "linear_pairs":
        return [basis[cell["index_1"]], basis[cell["index_2"]]]
    if name in ("image_pairs", "nad_sweep"):
        return [basis[cell["index"]]]
    if name == "poison" and cell["data"] == "images":
        return []
    if name == "flip" and cell["images"] == "plain":
        return []
    return [basis]


@pytest.mark.parametrize("name", SMALL)
def test_a_cells_data_are_made_without_what_its_key_leaves_out(name, images):
    experiment = experiments.find(name)
    channels = experiment.supported_channels[0]
    shapes = ("lenet", "logreg") if name in SEPARABLE else ("lenet",)
    plan = plan_with(name, channels, *shapes)
    base_noise = experiment.draw_base_noise(plan, 3, images)
    vectors = experiment.directions(plan, nads_of(channels))
    for cell in experiment.cells(plan):
        needed = {}
        for array, values in base_noise.items():
            if experiment.depends_on(cell, array):
                needed[array] = values
        directions = directions_of(experiment, vectors, cell)
        for whole, part in zip(
            experiment.test_sets(cell, base_noise, directions),
            experiment.test_sets(cell, needed, directions),
            strict=True,
        ):
            assert torch.equal(whole[1], part[1])
        experiment.dataset(cell, "train", needed, directions)


@with_each_channels(*SMALL)
def test_the_grid_of_every_architecture_and_seed_and_the_directions_of_its_cells(
    name, channels
):
    experiment = experiments.find(name)
    plan = plan_with(name, channels, "lenet", "logreg")
    plan = dataclasses.replace(plan, seeds=(3, 5))
    expected = []
    for architecture, size, step in (("lenet", (32, 32), 16), ("logreg", WIDE, 1)):
        settings = {}
        for key, value in vars(plan.settings).items():
            if key != "positive":
                by_name = isinstance(value, dict)
                settings[key] = value[architecture] if by_name else value
        shape = dict(zip(SHAPE, (channels, *size), strict=True))
        points = points_of(name, size, step)
        for seed, point in itertools.product((3, 5), points):
            cell = {"architecture": architecture, "seed": seed}
            expected.append(cell | point | settings | shape)
    assert experiment.cells(plan) == expected
    nads = nads_of(channels)
    vectors = experiment.directions(plan, nads)
    for cell in expected:
        found = directions_of(experiment, vectors, cell)
        basis = nads(cell["architecture"])["directions"]
        for vector, truth in zip(found, vectors_of(name, cell, basis), strict=True):
            np.testing.assert_array_equal(vector, truth)


@pytest.mark.parametrize(
    ("name", "values", "shape"),
    [
        ("linear_pairs", (0, 47), (1, 8, 6)),
        ("fourier", 16, (1, 32, 32)),
        ("poison", (0, 1022), (1, 32, 32)),
        ("poison", (3067,), (3, 32, 32)),
    ],
)
def test_what_a_grid_may_be(name, values, shape):
    experiments.find(name).Grid(values).count_nads(shape)


@pytest.mark.parametrize(
    ("name", "values", "shape", "words"),
    [
        ("linear_pairs", (0, 48), (1, 8, 6), "NAD index 48 is out of range"),
        ("linear_pairs", (), (1, 8, 6), "indices is empty"),
        ("fourier", 0, (1, 32, 32), "step must divide 16, so that 0 and"),
        ("fourier", 3, (1, 32, 32), "step must divide 16, so that 0 and"),
        ("fourier", 16, (1, 32, 33), "sides must be even, not 33"),
        ("fourier", 16, (1, 64, 48), "step must divide 24, so that 0 and −24 are in"),
        ("poison", (1023,), (1, 32, 32), "10 classes take 2 NADs, so the last index"),
        ("poison", (47,), (1, 8, 6), "10 classes .* the last index is 46, not 47"),
        ("poison", (0, 3068), (3, 32, 32), "10 classes take 5 NADs, .* 3067, not 3068"),
        ("poison", (2, 2), (1, 32, 32), "^indices repeat a value"),
    ],
)
def test_what_a_grid_may_not_be(name, values, shape, words):
    grid = experiments.find(name).Grid(values)
    with pytest.raises(ValueError, match=words):
        grid.count_nads(shape)


@with_each_channels(*SMALL)
def test_names_of_arrays_that_decide_only_the_test_begin_with_test(
    name, channels, images
):
    """A cell's key leaves out these arrays, so the training set must not need them."""
    experiment = experiments.find(name)
    plan = plan_with(name, channels, "lenet")
    base_noise = experiment.draw_base_noise(plan, 3, images)
    of_training = {}
    for key, array in base_noise.items():
        if not key.startswith("test"):
            of_training[key] = array
    vectors = experiment.directions(plan, nads_of(channels))
    for cell in experiment.cells(plan):
        directions = directions_of(experiment, vectors, cell)
        x, y = experiment.dataset(cell, "train", base_noise, directions)
        same_x, same_y = experiment.dataset(cell, "train", of_training, directions)
        assert torch.equal(x, same_x)
        assert torch.equal(y, same_y)


@with_each_channels(*SEPARABLE)
def test_every_channel_is_linearly_separable_along_its_direction(name, channels):
    experiment = experiments.find(name)
    plan = plan_with(name, channels, "lenet", "logreg")
    vectors = experiment.directions(plan, nads_of(channels))
    base_noise = experiment.draw_base_noise(plan, 3, None)
    for cell in experiment.cells(plan):
        shape = shape_of(cell)
        directions = directions_of(experiment, vectors, cell)
        for split, count in (("train", 50), ("test", 30)):
            x, classes = experiment.dataset(cell, split, base_noise, directions)
            assert x.shape == (count, *experiment.inputs(shape))
            y = base_noise[f"{split}_labels"]
            assert set(y.tolist()) == {-1, 1}
            assert classes.dtype == torch.int64
            assert classes.tolist() == (y == 1).tolist()
            normal = base_noise[noise_name(split, shape)]
            parts = x.chunk(experiment.channels, 1)
            for channel, v in enumerate(directions):
                expected = separable(
                    normal[:, channel],
                    y,
                    v.astype(float),
                    cell[experiment.amplitudes[channel]],
                    cell["sigma"],
                )
                found = parts[channel].flatten(1)
                np.testing.assert_allclose(found, expected, atol=5e-5)


@with_each_channels(*SEPARABLE)
def test_a_network_of_other_inputs_changes_no_cell_of_those_beside_it(name, channels):
    experiment = experiments.find(name)
    keys = []
    inputs = []
    for networks in (["lenet"], ["lenet", "logreg"]):
        plan = plan_with(name, channels, *networks)
        vectors = experiment.directions(plan, nads_of(channels))
        base_noise = experiment.draw_base_noise(plan, 3, None)
        data = data_of(name, {3: base_noise}, vectors)
        cells = experiment.cells(plan)
        cells = [cell for cell in cells if cell["architecture"] == "lenet"]
        of_cells = jobs.of_cells(plan, data, cells, torch.device("cpu"))
        keys.append([job.key for job in of_cells])
        x, _ = data.dataset(cells[0], "train")
        inputs.append(x)
    assert keys[0] == keys[1]
    assert torch.equal(*inputs)


@with_each_channels(*PICTURES)
def test_pictures_of_another_size_are_kept_as_they_are(name, channels, images):
    experiment = experiments.find(name)
    plan = plan_with(name, channels, "logreg")
    for split in ("train", "test"):
        images[f"{split}_images"] = images[f"{split}_images"][..., :6, :4]
    vectors = experiment.directions(plan, nads_of(channels))
    base_noise = experiment.draw_base_noise(plan, 3, images)
    for cell in experiment.cells(plan):
        directions = directions_of(experiment, vectors, cell)
        for _, x, classes in experiment.test_sets(cell, base_noise, directions):
            assert x.shape == (20, experiment.channels, *WIDE)
            assert len(classes) == 20
        x, classes = experiment.dataset(cell, "train", base_noise, directions)
        assert x.shape == (50, experiment.channels, *WIDE)
        if name == "image_pairs":
            found = x[:, 3].flatten(1).numpy() @ directions[0]
            np.testing.assert_allclose(found, 2 * classes.numpy() - 1, atol=1e-5)
