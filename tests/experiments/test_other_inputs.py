"""Networks whose inputs are not 32×32 pixels: their data have their own shape, and those of the
others stay what they were."""

import dataclasses

import numpy as np
import pytest
import torch
from small_grids import data_of, plan_of

from pipeline import experiments
from pipeline.experiments.experiment import pixels
from pipeline.grid import jobs

WIDE = (6, 4)
SETTINGS = {
    "linear_pairs": {"eps1": 1.0, "eps2": 0.5, "sigma": 1.0},
    "nad_sweep": {"eps": 1.0, "sigma": {"lenet": 1.0, "logreg": 1.0}},
    "fourier": {"eps": 1.0, "sigma": 1.0},
    "convergence": {"eps": 1.0, "sigma": 1.0},
}
BASIS = np.linalg.qr(np.random.default_rng(0).standard_normal((24, 24)))[0].T


def nads(name, estimand=None):
    return {
        "directions": np.eye(1024) if name == "lenet" else BASIS,
        "eigenvalues": np.linspace(1, 0, 24),
    }


def plans_of(name):
    """A plan with LeNet alone, and with a network of 6×4 pixels beside it."""
    grid = {"step": 1} if name in ("fourier", "convergence") else {"indices": (0, 3)}
    lenet = {"step": 16} if "step" in grid else grid
    both = plan_of(name, SETTINGS[name], {"lenet": lenet, "logreg": grid}, seeds=(3,))
    wide = dataclasses.replace(both.members["logreg"], input=WIDE)
    alone = dataclasses.replace(both, members={"lenet": both.members["lenet"]})
    return alone, dataclasses.replace(both, members=both.members | {"logreg": wide})


@pytest.mark.parametrize("name", SETTINGS)
def test_the_data_have_the_shape_of_their_networks_inputs_and_lie_along_v(name):
    experiment, (_, plan) = experiments.find(name), plans_of(name)
    vectors, draw = experiment.directions(plan, nads), experiment.draw(plan, 3, None)
    cells = [cell for cell in experiment.cells(plan) if cell["architecture"] == "logreg"]
    assert len(cells) == {"linear_pairs": 4, "nad_sweep": 2}.get(name, 14)
    for cell in cells:
        directions = [vectors[used] for used in experiment.uses(cell)]
        for split, count in (("train", 50), ("test", 30)):
            x, classes = experiment.dataset(cell, split, draw, directions)
            assert x.shape == (count, experiment.channels, *WIDE) and x.dtype == torch.float32
            for channel, (v, eps) in enumerate(zip(directions, experiment.amplitudes(cell))):
                found = x[:, channel].flatten(1).numpy() @ v
                np.testing.assert_allclose(found, eps * (2 * classes.numpy() - 1), atol=1e-5)
    if name == "linear_pairs":
        first, second = experiment.plane(cells[1], draw, [vectors["logreg-0"], vectors["logreg-3"]])
        assert first.shape == second.shape == (2, *WIDE)
        np.testing.assert_allclose(second[1].flatten(), BASIS[3].astype(np.float32))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_network_of_other_inputs_changes_no_cell_of_those_beside_it(name):
    experiment, keys, sets = experiments.find(name), [], []
    for plan in plans_of(name):
        cells = [cell for cell in experiment.cells(plan) if cell["architecture"] == "lenet"]
        data = data_of(name, {3: experiment.draw(plan, 3, None)}, experiment.directions(plan, nads))
        keys.append([job.key for job in jobs.of_cells(plan, data, cells, torch.device("cpu"))])
        sets.append(data.dataset(cells[0], "train")[0])
    assert keys[0] == keys[1] and torch.equal(*sets)


PICTURES = {
    "image_pairs": ({"eps": 1.0, "sigma": {"lenet": 1.0, "logreg": 1.0}}, {"indices": (0, 3)}, 4),
    "poison": ({"size": 0.05}, {"indices": (0, 3), "mixture_indices": (3,)}, 3),
    "flip": ({}, {}, 3),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_another_size_are_kept_as_they_are(name, images):
    settings, grid, channels = PICTURES[name]
    plan = plan_of(name, settings, {"logreg": grid}, seeds=(3,))
    experiment = experiments.find(name)
    assert not any("height" in cell for cell in experiment.cells(plan))
    plan = dataclasses.replace(
        plan, members={"logreg": dataclasses.replace(plan.members["logreg"], input=WIDE)}
    )
    cells = experiment.cells(plan)
    assert {pixels(cell) for cell in cells} == {WIDE}
    small = images | {
        f"{split}_images": images[f"{split}_images"][..., :6, :4] for split in ("train", "test")
    }
    vectors, draw = experiment.directions(plan, nads), experiment.draw(plan, 3, small)
    for cell in cells:
        directions = [vectors[used] for used in experiment.uses(cell)]
        for _, x, classes in experiment.test_sets(cell, draw, directions):
            assert x.shape == (20, channels, *WIDE) and len(classes) == 20
        x, classes = experiment.dataset(cell, "train", draw, directions)
        assert x.shape == (50, channels, *WIDE)
        if name == "image_pairs":
            found = x[:, 3].flatten(1).numpy() @ directions[0]
            np.testing.assert_allclose(found, 2 * classes.numpy() - 1, atol=1e-5)
            first, second = experiment.plane(cell, draw, directions)
            assert first.shape == second.shape == (4, *WIDE)
            assert not first[3].any() and not second[:3].any()
            np.testing.assert_array_equal(second[3].flatten(), directions[0].astype(np.float32))
    if name == "flip":
        places = [place for place, _ in experiment.alterations(cells[0], [BASIS], x)][::2]
        last = [place["last"] for place in places]
        assert last == [0, 1, 3, 7, 15, 23, 2, 4, 8, 16], "the last band ends with the basis"
