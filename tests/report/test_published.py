"""The numbers that the papers and their public files give, written down a second time."""

from pipeline.report import flip, fourier, linear_pairs, nad_sweep, nads, poison


def test_accuracies_on_cifar10_and_flipped():
    plain, flipped = zip(*(flip.PUBLISHED[name] for name in ("lenet", "vgg11", "resnet18", "densenet121")))
    assert plain == (69, 87, 89, 92) and flipped == (48, 53, 58, 56) and len(flip.PUBLISHED) == 4


def test_accuracies_at_frequencies():
    assert fourier.PUBLISHED == {"lenet": [(0, -4, 81.0), (-6, 0, 67.4)]}


def test_accuracies_at_pairs_of_indices():
    both, first, second = zip(*(linear_pairs.PUBLISHED[p] for p in ((1, 1), (1, 1000), (1000, 1), (800, 800))))
    assert both == (100, 100, 98, 69) and first == (100, 100, 50, 65) and second == (80, 50, 98, 54)
    assert len(linear_pairs.PUBLISHED) == 4


def test_accuracies_along_nads():
    indices, networks = (0, 10, 102, 302), ("lenet", "resnet18", "vgg11", "densenet121")
    assert [list(nad_sweep.PUBLISHED[name]) for name in nad_sweep.PUBLISHED] == [list(indices)] * 4
    assert [[nad_sweep.PUBLISHED[name][index] for name in networks] for index in indices] == [
        [100, 97.9, 100, 100],
        [99.98, 99.2, 85.5, 67.6],
        [80.1, 69.3, 55.0, 50.3],
        [58.5, 56.4, 50.1, 50.4],
    ]


def test_accuracies_with_carriers():
    assert poison.PUBLISHED == {"resnet18": [(0, 0, 18), (110, 200, 61), (810, 1020, 80)]}


def test_first_singular_values():
    assert {name: value for name, (value, _) in nads.PUBLISHED.items()} == {
        "densenet121": 0.00233,
        "lenet": 0.189,
        "resnet18": 0.0428,
        "vgg11": 0.0638,
    }
    assert {rows for name, (_, rows) in nads.PUBLISHED.items() if name != "resnet18"} == {10_000}
    assert nads.PUBLISHED["resnet18"][1] == 5_000
