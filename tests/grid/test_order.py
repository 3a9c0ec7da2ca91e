"""In which order a grid is trained: seed by seed, coarse before fine, heaviest architectures
first."""

from pipeline.grid.order import early_first, levels


def test_every_eighth_value_and_the_last_come_first_then_halves():
    by_level = [(0, 8, 9), (4,), (2, 6), (1, 3, 5, 7)]
    expected = {value: level for level, values in enumerate(by_level) for value in values}
    assert levels([3, 0, 9, 4, 1, 7, 2, 8, 6, 5]) == expected
    assert levels([7]) == {7: 0} and levels([3, 3, 5]) == {3: 0, 5: 0}


def test_seeds_come_one_after_another_and_in_each_the_coarse_grid_of_every_network_first():
    """A pair comes when both of its values do; words are there from the start."""
    heavy = [("heavy", "secant", index, 3) for index in (0, 5, 9)]
    light = [("light", word, 0, index) for word in ("secant", "gradient") for index in (0, 5, 9)]
    columns = ("seed", "architecture", "estimand", "index_1", "index_2")
    cells = [dict(zip(columns, (seed, *place))) for seed in (3, 1) for place in heavy + light]
    found = [tuple(cells[position].values()) for position in early_first(cells, columns[2:])]
    coarse = [heavy[0], heavy[2], light[0], light[2], light[3], light[5]]
    fine = [heavy[1], light[1], light[4]]
    assert found == [(seed, *place) for seed in (3, 1) for place in coarse + fine]


def test_every_value_of_a_pair_counts():
    cells = [
        {"architecture": "a", "seed": 0, "index_1": i, "index_2": j}
        for i in (0, 1, 2)
        for j in (0, 1, 2)
    ]
    found = [tuple(cells[n].values())[2:] for n in early_first(cells, ("index_1", "index_2"))]
    assert found == [(0, 0), (0, 2), (2, 0), (2, 2), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1)]
