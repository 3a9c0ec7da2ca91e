"""The numbers that the papers and their public files give: some of each table, written down a
second time."""

import pytest

from pipeline.networks import NETWORKS
from pipeline.report import nads, published

FOUR = ["lenet", "resnet18", "densenet121", "vgg11"]


def test_accuracies_on_cifar10_and_flipped():
    found = published.table("flip").set_index("network")
    assert found.T.to_dict("list") == {
        "lenet": [69, 48], "vgg11": [87, 53], "resnet18": [89, 58], "densenet121": [92, 56]
    }  # fmt: skip


def test_accuracies_at_frequencies():
    found = published.table("fourier").set_index(["k_row", "k_col"])
    assert set(found) == {*FOUR, "logreg"} <= set(NETWORKS) and len(found) == 9 * 16
    assert sorted(found.index) == [
        (row, column) for row in range(-16, 2, 2) for column in range(-16, 16, 2)
    ]
    assert found["lenet"][[(0, -4), (-6, 0)]].tolist() == [81.02, 67.39]
    assert (found["logreg"] == 100).all()
    odd = (found.index.get_level_values(0) % 4 == 2) & (found.index.get_level_values(1) % 4 == 2)
    assert found["resnet18"][odd].max() < 53 and found["resnet18"][~odd].min() > 93


def test_accuracies_along_nads():
    found = published.table("nad_sweep").set_index("index")
    assert set(found) == set(FOUR) and list(found.index) == [*range(11), *range(14, 1023, 4)]
    assert found.loc[[0, 10, 102, 302]].round(1).to_dict("list") == {
        "lenet": [100, 100, 80.1, 58.5],
        "resnet18": [97.9, 99.2, 69.2, 56.4],
        "vgg11": [100, 85.5, 55.0, 50.1],
        "densenet121": [100, 67.6, 50.2, 50.4],
    }


def test_accuracies_with_carriers():
    found = published.curve("poison", "resnet18")
    assert list(found.index) == list(range(0, 1021, 10)) and found[0] == 17.6
    assert found.loc[110:200].mean() == pytest.approx(61, abs=3)
    assert found.loc[810:].mean() == pytest.approx(80, abs=1.5)


def test_first_singular_values():
    found = published.table("singular_values").set_index("index").loc[0].round(5).to_dict()
    assert found == {"densenet121": 0.00233, "resnet18": 0.04283, "vgg11": 0.06382}
    assert {rows for name, rows in nads.PUBLISHED_ROWS.items() if name != "resnet18"} == {10_000}
    assert nads.PUBLISHED_ROWS["resnet18"] == 5_000
