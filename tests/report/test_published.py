"""The numbers that the papers and their public files give: some of each table, written down a
second time."""

import pytest

from pipeline.report import published

FOUR = ["lenet", "resnet18", "densenet121", "vgg11"]


def test_accuracies_on_cifar10_and_flipped():
    table = published.table("flip").set_index("network")
    assert table.loc[FOUR].to_numpy().tolist() == [[69, 48], [89, 58], [92, 56], [87, 53]]


def test_accuracies_at_frequencies():
    table = published.table("fourier").set_index(["k_row", "k_col"])
    rows, columns = range(-16, 2, 2), range(-16, 16, 2)
    assert sorted(table.index) == [(row, column) for row in rows for column in columns]
    assert table["lenet"][[(0, -4), (-6, 0)]].tolist() == [81.02, 67.39]
    assert set(table) == {*FOUR, "logreg"} and (table["logreg"] == 100).all()
    odd = (table.index.get_level_values(0) % 4 == 2) & (table.index.get_level_values(1) % 4 == 2)
    assert table["resnet18"][odd].max() < 53 and table["resnet18"][~odd].min() > 93


def test_values_along_nads():
    table = published.table("nad_sweep").set_index("index")[FOUR]
    assert list(table.index) == [*range(11), *range(14, 1023, 4)]
    assert table.loc[[0, 10, 302]].round(1).to_numpy().tolist() == [
        [100, 97.9, 100, 100], [100, 99.2, 67.6, 85.5], [58.5, 56.4, 50.4, 50.1]
    ]  # fmt: skip
    carriers = published.table("poison").set_index("index")["resnet18"]
    assert list(carriers.index) == list(range(0, 1021, 10)) and carriers[0] == 17.6
    assert carriers.loc[110:200].mean() == pytest.approx(61, abs=3)
    assert carriers.loc[810:].mean() == pytest.approx(80, abs=1.5)
    first = published.table("singular_values").set_index("index").loc[0].round(5).to_dict()
    assert first == {"densenet121": 0.00233, "resnet18": 0.04283, "vgg11": 0.06382}
