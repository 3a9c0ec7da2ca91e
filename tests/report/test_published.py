"""The numbers that the papers and their public files give: some of each table, written down a second time."""

import pytest

from pipeline.networks import NETWORKS
from pipeline.report import fourier, nads, published

FOUR = ["lenet", "resnet18", "densenet121", "vgg11"]


def test_accuracies_on_cifar10_and_flipped():
    found = published.table("flip").set_index("network")
    plain, flipped = (found.loc[["lenet", "vgg11", "resnet18", "densenet121"], images] for images in found)
    assert plain.tolist() == [69, 87, 89, 92] and flipped.tolist() == [48, 53, 58, 56] and len(found) == 4


def test_accuracies_at_frequencies():
    found = published.table("fourier").set_index(["k_row", "k_col"])
    assert set(found) == {*FOUR, "logreg"} <= set(NETWORKS) and len(found) == 9 * 16
    assert sorted(found.index) == [(row, column) for row in range(-16, 2, 2) for column in range(-16, 16, 2)]
    assert found["lenet"][0, -4] == 81.02 and found["lenet"][-6, 0] == 67.39 and (found["logreg"] == 100).all()
    odd = (found.index.get_level_values(0) % 4 == 2) & (found.index.get_level_values(1) % 4 == 2)
    assert found["resnet18"][odd].max() < 53 and found["resnet18"][~odd].min() > 93


def test_without_pooling_only_means_are_known():
    assert fourier.PUBLISHED_UNPOOLED == {"lenet": 1.0, "resnet18": 0.993}


def test_lenets_published_row_lies_above_its_transpose():
    found = published.table("fourier").set_index(["k_row", "k_col"])["lenet"]
    row = {k: (found[0, -k] + found[0, k]) / 2 for k in (2, 4, 6, 10, 12, 14)}
    assert all(1 < row[k] - found[-k, 0] < 17 for k in row if k not in (2, 12))


def test_accuracies_along_nads():
    found = published.table("nad_sweep").set_index("index")
    assert set(found) == set(FOUR) and list(found.index) == [*range(11), *range(14, 1023, 4)]
    assert found.loc[[0, 10, 102, 302], ["lenet", "resnet18", "vgg11", "densenet121"]].round(1).to_numpy().tolist() == [
        [100, 97.9, 100, 100],
        [100, 99.2, 85.5, 67.6],
        [80.1, 69.2, 55.0, 50.2],
        [58.5, 56.4, 50.1, 50.4],
    ]


def test_accuracies_with_carriers():
    found = published.curve("poison", "resnet18")
    assert list(found.index) == list(range(0, 1021, 10)) and found[0] == 17.6
    assert found.loc[110:200].mean() == pytest.approx(61, abs=3) and found.loc[810:].mean() == pytest.approx(
        80, abs=1.5
    )


def test_first_singular_values():
    found = published.table("singular_values").set_index("index").loc[0].to_dict() | nads.PUBLISHED_FIRST
    assert {name: float(f"{value:.3g}") for name, value in found.items()} == {
        "densenet121": 0.00233,
        "lenet": 0.189,
        "resnet18": 0.0428,
        "vgg11": 0.0638,
    }
    assert {rows for name, rows in nads.PUBLISHED_ROWS.items() if name != "resnet18"} == {10_000}
    assert nads.PUBLISHED_ROWS["resnet18"] == 5_000
