"""What all experiments share: how they are found, what their grids may be, and what
their data are, also for networks whose inputs are not 1×32×32."""

import contextlib
import dataclasses
import itertools

import numpy as np
import pytest
import torch
from small_grids import SMALL, data_of, plan_of, separable

from pipeline import experiments
from pipeline.experiments.experiment import SHAPE, shape_of
from pipeline.grid import jobs
from pipeline.training.fourier import AXES, coloured, fourier, frequencies
from pipeline.training.separable import drawn

WIDE = (6, 4)
BASES = {
    channels: np.linalg.qr(
        np.random.default_rng(0).standard_normal((24 * channels,) * 2)
    )[0].T
    for channels in (1, 3)
}
GRIDS = {name: experiments.find(name).Grid for name in SMALL}
SEPARABLE = ("linear_pairs", "nad_sweep", "fourier", "convergence", "colours")
PICTURES = ("image_pairs", "poison", "flip", "learning")


def in_colour(*names):
    """Each experiment with each number of channels that its architectures may have."""
    return [
        (name, channels)
        for name in names
        for channels in experiments.find(name).supported_channels
    ]


def nads_of(channels):
    """From an architecture to its NADs: LeNet's are the coordinate axes."""
    directions = {"lenet": np.eye(1024 * channels), "logreg": BASES[channels]}
    return lambda name, estimand=None: {
        "directions": directions[name],
        "eigenvalues": np.linspace(1, 0, 24),
    }


def plans_of(name, channels):
    """A plan with LeNet alone, and one with logistic regression on 6×4 pixels beside
    it."""
    values, grid = SMALL[name]
    if "sigma" in values and isinstance(values["sigma"], dict):
        values = values | {"sigma": {"lenet": 1.0, "logreg": 0.5}}
    grids = {"lenet": grid, "logreg": {"step": 1} if "step" in grid else grid}
    both = plan_of(name, values, grids, seeds=(3,))
    shapes = {"lenet": (channels, 32, 32), "logreg": (channels, *WIDE)}
    members = {
        network: dataclasses.replace(both.members[network], input=shape)
        for network, shape in shapes.items()
    }
    alone = dataclasses.replace(both, members={"lenet": members["lenet"]})
    return alone, dataclasses.replace(both, members=members)


def test_experiments_are_found_by_the_names_of_their_files():
    assert experiments.names() == list(SMALL)
    assert [experiments.find(name).name for name in SMALL] == list(SMALL)


INDICES = [{"index": 3}, {"index": 4}]
PLACES = {
    "linear_pairs": [{"index_1": i, "index_2": j} for i in (3, 4) for j in (3, 4)],
    "image_pairs": INDICES,
    "nad_sweep": [{"estimand": "secant"} | place for place in INDICES],
    "learning": [
        *({"data": "linear"} | p for p in INDICES),
        {"data": "images", "index": -1},
    ],
    "poison": [{"index": -1}, {"index": 3}],
    "flip": [{"images": "plain"}, {"images": "flipped"}],
}
"""The places of a network in the grids of `SMALL`, where these are not frequencies."""


def wave(cell):
    return fourier(cell["k_row"], cell["k_col"], (cell["height"], cell["width"]))


VECTORS = {
    "linear_pairs": lambda cell, basis: list(basis[[cell["index_1"], cell["index_2"]]]),
    "image_pairs": lambda cell, basis: [basis[cell["index"]]],
    "nad_sweep": lambda cell, basis: [basis[cell["index"]]],
    "fourier": lambda cell, basis: [wave(cell)],
    "convergence": lambda cell, basis: [wave(cell)],
    "colours": lambda cell, basis: [coloured(wave(cell), cell["axis"])],
}
"""The directions of a cell's data; the others take the whole basis."""


@pytest.mark.parametrize(("name", "channels"), in_colour(*SMALL))
def test_the_grid_of_every_architecture_and_seed_and_the_directions_of_its_cells(
    name, channels
):
    experiment = experiments.find(name)
    (_, plan) = plans_of(name, channels)
    plan = dataclasses.replace(plan, seeds=(3, 5))
    nads = nads_of(channels)
    expected = []
    vectors = experiment.directions(plan, nads)
    for architecture, size, step in (("lenet", (32, 32), 16), ("logreg", WIDE, 1)):
        waves = [
            {"k_row": row, "k_col": column} for row, column in frequencies(step, size)
        ]
        if name == "colours":
            waves = [{"axis": axis} | place for axis in AXES for place in waves]
        settings = {
            key: v[architecture] if isinstance(v, dict) else v
            for key, v in vars(plan.settings).items()
            if key != "positive"
        }
        for seed, place in itertools.product((3, 5), PLACES.get(name, waves)):
            cell = {"architecture": architecture, "seed": seed} | place | settings
            expected.append(cell | dict(zip(SHAPE, (channels, *size), strict=True)))
    assert experiment.cells(plan) == expected
    for cell in expected:
        used = experiment.direction_names(cell)
        basis = nads(cell["architecture"])["directions"]
        make = VECTORS.get(name, lambda _, basis: [basis])
        for direction, vector in zip(used, make(cell, basis), strict=True):
            np.testing.assert_array_equal(vectors[direction], vector)


@pytest.mark.parametrize(
    ("grid", "shape", "sentence"),
    [
        (GRIDS["linear_pairs"]((0, 47)), (8, 6), None),
        (
            GRIDS["linear_pairs"]((0, 48)),
            (8, 6),
            "NAD index 48 is out of range; indices run from",
        ),
        (GRIDS["fourier"](16), (32, 32), None),
        *(
            (GRIDS["fourier"](n), (32, 32), "step must divide 16, so that 0 and")
            for n in (0, 3)
        ),
        (GRIDS["fourier"](16), (32, 33), "sides must be even, not 33"),
        (
            GRIDS["fourier"](16),
            (64, 48),
            "step must divide 24, so that 0 and −24 are in",
        ),
        (GRIDS["poison"]((0, 1022)), (32, 32), None),
        (
            GRIDS["poison"]((1023,)),
            (32, 32),
            "10 classes take 2 NADs, so the last index is",
        ),
        (
            GRIDS["poison"]((47,)),
            (8, 6),
            "10 classes .* so the last index is 46, not 47",
        ),
        (GRIDS["poison"]((3067,)), (3, 32, 32), None),
        (
            GRIDS["poison"]((0, 3068)),
            (3, 32, 32),
            "10 classes take 5 NADs, .* 3067, not 3068",
        ),
        (GRIDS["poison"]((2, 2)), (32, 32), "^indices repeat a value"),
    ],
)
def test_what_a_grid_may_be(grid, shape, sentence):
    with (
        pytest.raises(ValueError, match=sentence)
        if sentence
        else contextlib.nullcontext()
    ):
        grid.nads(shape if len(shape) == 3 else (1, *shape))


@pytest.mark.parametrize(("name", "channels"), in_colour(*SMALL))
def test_names_of_arrays_that_decide_only_the_test_begin_with_test(
    name, channels, images
):
    """What a cell's key leaves out is what its training set does not depend on."""
    experiment = experiments.find(name)
    (plan, _) = plans_of(name, channels)
    draw = experiment.draw_base_noise(plan, 3, images)
    vectors = experiment.directions(plan, nads_of(channels))
    trained = {key: array for key, array in draw.items() if not key.startswith("test")}
    for cell in experiment.cells(plan):
        used = [vectors[direction] for direction in experiment.direction_names(cell)]
        (x, y), (full, same) = (
            experiment.dataset(cell, "train", arrays, used)
            for arrays in (trained, draw)
        )
        assert torch.equal(x, full) and torch.equal(y, same)


@pytest.mark.parametrize(("name", "channels"), in_colour(*SEPARABLE))
def test_every_part_is_linearly_separable_along_its_direction(name, channels):
    experiment = experiments.find(name)
    (_, plan) = plans_of(name, channels)
    vectors = experiment.directions(plan, nads_of(channels))
    draw = experiment.draw_base_noise(plan, 3, None)
    for cell in experiment.cells(plan):
        directions = [vectors[used] for used in experiment.direction_names(cell)]
        amplitudes = [cell[key] for key in ("eps", "eps1", "eps2") if key in cell]
        for split, count in (("train", 50), ("test", 30)):
            x, classes = experiment.dataset(cell, split, draw, directions)
            assert x.shape == (count, *experiment.inputs(shape_of(cell)))
            y = draw[f"{split}_labels"]
            normal = draw[drawn(split, shape_of(cell))]
            assert (
                classes.dtype == torch.int64 and classes.tolist() == (y == 1).tolist()
            )
            assert set(y.tolist()) == {-1, 1}
            parts = x.chunk(experiment.channels, 1)
            for part, (v, eps) in enumerate(zip(directions, amplitudes, strict=True)):
                expected = separable(
                    normal[:, part], y, v.astype(float), eps, cell["sigma"]
                )
                np.testing.assert_allclose(parts[part].flatten(1), expected, atol=5e-5)


@pytest.mark.parametrize(("name", "channels"), in_colour(*SEPARABLE))
def test_a_network_of_other_inputs_changes_no_cell_of_those_beside_it(name, channels):
    experiment = experiments.find(name)
    keys = []
    sets = []
    nads = nads_of(channels)
    for plan in plans_of(name, channels):
        cells = [
            cell for cell in experiment.cells(plan) if cell["architecture"] == "lenet"
        ]
        data = data_of(
            name,
            {3: experiment.draw_base_noise(plan, 3, None)},
            experiment.directions(plan, nads),
        )
        keys.append(
            [job.key for job in jobs.of_cells(plan, data, cells, torch.device("cpu"))]
        )
        sets.append(data.dataset(cells[0], "train")[0])
    assert keys[0] == keys[1] and torch.equal(*sets)


@pytest.mark.parametrize(("name", "channels"), in_colour(*PICTURES))
def test_pictures_of_another_size_are_kept_as_they_are(name, channels, images):
    experiment = experiments.find(name)
    (_, plan) = plans_of(name, channels)
    plan = dataclasses.replace(plan, members={"logreg": plan.members["logreg"]})
    small = images | {
        f"{split}_images": images[f"{split}_images"][..., :6, :4]
        for split in ("train", "test")
    }
    vectors = experiment.directions(plan, nads_of(channels))
    draw = experiment.draw_base_noise(plan, 3, small)
    for cell in experiment.cells(plan):
        directions = [vectors[used] for used in experiment.direction_names(cell)]
        for _, x, classes in experiment.test_sets(cell, draw, directions):
            assert x.shape == (20, experiment.channels, *WIDE) and len(classes) == 20
        x, classes = experiment.dataset(cell, "train", draw, directions)
        assert x.shape == (50, experiment.channels, *WIDE)
        if name == "image_pairs":
            found = x[:, 3].flatten(1).numpy() @ directions[0]
            np.testing.assert_allclose(found, 2 * classes.numpy() - 1, atol=1e-5)
