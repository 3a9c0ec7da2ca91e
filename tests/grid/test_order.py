"""In which order a grid is trained: seed by seed, coarse before fine, heaviest architectures first."""

import random

from pipeline import experiments, settings
from pipeline.grid.order import early_first, levels


def test_every_eighth_value_and_the_last_come_first_then_halves():
    assert levels([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) == {0: 0, 8: 0, 9: 0, 4: 1, 2: 2, 6: 2, 1: 3, 3: 3, 5: 3, 7: 3}
    indices = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 800, 1000]
    found = levels(random.Random(0).sample(indices, 12))
    assert [sorted(value for value in indices if found[value] == level) for level in range(4)] == [
        [1, 256, 1000],
        [16],
        [4, 64, 800],
        [2, 8, 32, 128, 512],
    ]
    assert levels([7]) == {7: 0} and levels([3, 3, 5]) == {3: 0, 5: 0}


def cell(architecture, seed, index, estimand="secant"):
    return {"architecture": architecture, "seed": seed, "estimand": estimand, "index": index}


def test_seeds_come_one_after_another_and_in_each_the_coarse_grid_of_every_network_first():
    cells = [cell(name, seed, index) for name in ("heavy", "light") for seed in (3, 1) for index in (0, 5, 9)]
    found = [cells[position] for position in early_first(cells, ("estimand", "index"))]
    expected = [
        (name, seed, index)
        for seed in (3, 1)
        for some in ((0, 9), (5,))
        for name in ("heavy", "light")
        for index in some
    ]
    assert [(one["architecture"], one["seed"], one["index"]) for one in found] == expected


def test_a_pair_comes_when_both_of_its_values_do_and_words_are_there_at_once():
    cells = [{"architecture": "a", "seed": 0, "index_1": i, "index_2": j} for i in (0, 1, 2) for j in (0, 1, 2)]
    found = [tuple(cells[n].values())[2:] for n in early_first(cells, ("index_1", "index_2"))]
    assert found == [(0, 0), (0, 2), (2, 0), (2, 2), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1)]
    words = [cell("a", 0, index, estimand) for estimand in ("secant", "gradient") for index in (0, 1, 2)]
    assert early_first(words, ("estimand", "index")) == [0, 2, 3, 5, 1, 4]
    flips = [{"architecture": "a", "seed": 0, "images": images} for images in ("plain", "flipped")]
    assert early_first(flips, ("images",)) == [0, 1] and early_first([], ("images",)) == []


def test_a_sixteenth_of_a_week_of_fourier_leaves_a_map_of_every_network(shipped):
    """The frequencies that come first are the map at step 16, but for the row and the column at 14, which end the axes."""
    experiment = experiments.find("fourier")
    cells = experiment.cells(settings.plans(shipped)["paper"].experiments["fourier"])
    order = early_first(cells, experiment.coordinates)
    assert sorted(order) == list(range(len(cells)))
    first = [cells[position] for position in order[: len(cells) // 16]]
    for name in {one["architecture"] for one in cells}:
        mine = {(one["k_row"], one["k_col"]) for one in first if one["architecture"] == name}
        assert {(-16, -16), (-16, 0), (0, -16), (0, 0)} <= mine, name
