"""In which order a grid is trained: seed by seed, coarse before fine, heaviest architectures
first."""

from pipeline.grid.order import early_first, levels


def test_every_eighth_value_and_the_last_come_first_then_halves():
    by_level = [(0, 8, 9), (4,), (2, 6), (1, 3, 5, 7)]
    expected = {value: level for level, values in enumerate(by_level) for value in values}
    assert levels([3, 0, 9, 4, 1, 7, 2, 8, 6, 5]) == expected
    assert levels([7]) == {7: 0} and levels([3, 3, 5]) == {3: 0, 5: 0}


def cell(architecture, seed, index, estimand="secant"):
    return {"architecture": architecture, "seed": seed, "estimand": estimand, "index": index}


def test_seeds_come_one_after_another_and_in_each_the_coarse_grid_of_every_network_first():
    cells = [
        cell(name, seed, index)
        for name in ("heavy", "light")
        for seed in (3, 1)
        for index in (0, 5, 9)
    ]
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
    cells = [
        {"architecture": "a", "seed": 0, "index_1": i, "index_2": j}
        for i in (0, 1, 2)
        for j in (0, 1, 2)
    ]
    found = [tuple(cells[n].values())[2:] for n in early_first(cells, ("index_1", "index_2"))]
    assert found == [(0, 0), (0, 2), (2, 0), (2, 2), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1)]
    words = [
        cell("a", 0, index, estimand) for estimand in ("secant", "gradient") for index in (0, 1, 2)
    ]
    assert early_first(words, ("estimand", "index")) == [0, 2, 3, 5, 1, 4]
    flips = [{"architecture": "a", "seed": 0, "images": images} for images in ("plain", "flipped")]
    assert early_first(flips, ("images",)) == [0, 1] and early_first([], ("images",)) == []
