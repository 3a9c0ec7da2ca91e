"""The study of controversial directions: its order, its controls, and that a killed run
resumes."""

import dataclasses

import drawing
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from pipeline.nads import controversial, imported, load
from studies import controversial as study
from studies import fitted_rivals

NAMES = ("lenet", "convnext")
DRAWN = ("lenet", "convnext", "convmixer")


def test_the_stated_pairs_come_first_and_expensive_networks_last():
    pairs = study.pairs_of(study.NETWORKS)
    assert pairs[:3] == list(study.FIRST_PAIRS)
    assert len(pairs) == len(set(pairs)) == 15
    last = [pair for pair in pairs if "resnet18_quarter" in pair]
    assert pairs[-5:] == last
    assert all("vgg11_quarter" in pair for pair in pairs[-9:-5])


def test_the_own_nad_of_a_direction_has_the_nearest_eigenvalue():
    eigenvalues = np.array([8.0, 4.0, 1.0, 0.0])
    nads = dataclasses.replace(imported(np.eye(4), (1, 2, 2)), eigenvalues=eigenvalues)
    v = np.sqrt([0.5, 0.0, 0.3, 0.2])
    assert study.nearest_nad(nads, v) == 1
    assert study.nearest_nad(nads, np.eye(4)[3]) == 3


def test_all_networks_are_planned_alike():
    """LeNet with strides is not in `nad_sweep` at this scale."""
    plan = study.make_plan(study.NETWORKS, "overnight")
    assert list(plan.members) == list(study.NETWORKS)
    trainings = {member.training for member in plan.members.values()}
    assert {how.epochs for how in trainings} == {20} and len(trainings) == 1
    assert plan.train_samples == 10_000


@pytest.fixture
def small(in_this_process, tmp_path, monkeypatch):
    """A plan of two networks, on few samples, with the installed NADs."""
    plan = study.make_plan(NAMES, "smoke")
    return dataclasses.replace(plan, train_samples=128, test_samples=64)


def test_a_killed_run_resumes_along_the_same_directions(small, tmp_path, monkeypatch):
    table = study.train_all(small, NAMES, 1, tmp_path)
    pair = ("lenet_not_convnext", "convnext_not_lenet")
    first = [(network, direction) for direction in pair for network in NAMES]
    assert list(zip(table["network"], table["direction"], strict=True))[:4] == first
    controls = table.iloc[4:]
    shared = controls[~controls["direction"].str.contains("_nad_")]
    assert sorted(zip(shared["network"], shared["direction"], strict=True)) == [
        (network, direction)
        for network in sorted(NAMES)
        for direction in ("fourier_0_2", "random")
    ]
    owners = controls["direction"].str.partition("_nad_")[0]
    others = controls[owners.isin(NAMES) & (owners != controls["network"])]
    assert set(zip(others["network"], others["direction"], strict=True)) == {
        ("lenet", "convnext_nad_0"),
        ("convnext", "lenet_nad_0"),
    }
    with np.load(tmp_path / "directions.npz") as arrays:
        vectors = dict(arrays)
    assert vectors.pop("damping") == 0.1
    lengths = [np.linalg.norm(v) for v in vectors.values()]
    np.testing.assert_allclose(lengths, 1, rtol=1e-6)
    expected = controversial(load("lenet"), load("convnext"))[0]
    np.testing.assert_array_equal(vectors["lenet_not_convnext"], expected)

    own = pd.read_csv(tmp_path / "own_nads.csv")
    assert list(zip(own["network"], own["direction"], strict=True)) == [
        (network, direction) for network in NAMES for direction in pair
    ]
    trained = set(zip(table["network"], table["direction"], strict=True))
    assert set(zip(own["network"], own["own_nad"], strict=True)) <= trained

    # Without its last row, and with controversial directions that must not be asked for
    # again.
    path = tmp_path / "results.csv"
    table.iloc[:-1].to_csv(path, index=False)
    made = []
    train = study.train_cell

    def counted(plan, job):
        made.append(job[0]["index"])
        return train(plan, job)

    monkeypatch.setattr(study, "train_cell", counted)
    monkeypatch.setattr(study, "controversial", None)
    again = study.train_all(small, NAMES, 1, tmp_path)
    assert made == [table["direction"].iloc[-1]]
    pd.testing.assert_frame_equal(again, table)


def test_pairs_only_trains_no_controls_along_directions_of_its_own_damping(
    small, tmp_path
):
    table = study.train_all(small, NAMES, 2, tmp_path, controls=False, damping=1.0)
    pair = ("lenet_not_convnext", "convnext_not_lenet")
    first = [(network, direction) for direction in pair for network in NAMES]
    assert list(zip(table["network"], table["direction"], strict=True)) == 2 * first
    assert list(table["seed"]) == 4 * [0] + 4 * [1]
    with np.load(tmp_path / "directions.npz") as arrays:
        assert set(arrays) == {"damping", *pair}
        expected = controversial(load("lenet"), load("convnext"), damping=1.0)[0]
        np.testing.assert_array_equal(arrays[pair[0]], expected)
    assert pd.read_csv(tmp_path / "own_nads.csv").empty
    with np.load(tmp_path / "directions.npz") as vectors:
        figure = study.pairs_figure(
            table, pd.read_csv(tmp_path / "own_nads.csv"), vectors, NAMES
        )
    assert len(figure.axes) == 4


def test_directions_of_another_damping_are_refused(tmp_path):
    path = tmp_path / "directions.npz"
    study.Directions(path, 0.1).random()
    assert set(study.Directions(path, 0.1).vectors) == {"random"}
    with refused("conflict", path=str(path)):
        study.Directions(path, 1.0)


def test_installed_nads_are_of_the_default_arguments(small, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "UNTRAINED", 2)
    given = small.members["convnext"].specification
    found = study.nads_of("convnext", given, tmp_path)
    assert found.networks == load("convnext").networks
    found = study.nads_of("convnext", given | {"scale": 1.0}, tmp_path)
    assert found.networks == 2


def test_a_folder_does_not_mix_networks_of_one_name(small, tmp_path):
    study.check_networks(small, tmp_path)
    study.check_networks(small, tmp_path)
    member = small.members["convnext"]
    other = member.specification | {"scale": 1.0}
    changed = dataclasses.replace(member, specification=other)
    plan = dataclasses.replace(small, members={"convnext": changed})
    with refused("conflict", name="convnext"):
        study.check_networks(plan, tmp_path)


def test_a_network_without_nads_has_them_estimated_once(small, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "UNTRAINED", 2)
    specification = (
        study.make_plan(["lenet_strided"], "smoke")
        .members["lenet_strided"]
        .specification
    )
    found = study.nads_of("lenet_strided", specification, tmp_path)
    assert (found.networks, found.symmetry) == (2, "transposition")
    monkeypatch.setattr(study, "estimate_nads", None)
    again = study.nads_of("lenet_strided", specification, tmp_path)
    np.testing.assert_array_equal(again.directions, found.directions)


def test_a_training_that_diverges_has_a_row_without_values(small):
    member = small.members["lenet"]
    wild = dataclasses.replace(member.training, lr=1e30, clip=1e30)
    plan = dataclasses.replace(
        small, members={"lenet": dataclasses.replace(member, training=wild)}
    )
    v = np.eye(1024)[0]
    row = study.train_cell(plan, (study.cell_of("lenet", "random", 0), v, 1.5))
    assert row["response"] == 1.5
    assert row["accuracy"] is None and row["train_accuracy"] is None


def rows(network, direction, response, train_accuracies, accuracies):
    """Rows of results.csv, a seed each."""
    return [
        {
            "network": network,
            "direction": direction,
            "seed": seed,
            "response": response,
            "train_accuracy": train_accuracy,
            "steps": None,
            "accuracy": accuracy,
        }
        for seed, (train_accuracy, accuracy) in enumerate(
            zip(train_accuracies, accuracies, strict=True)
        )
    ]


@pytest.fixture
def results():
    """Rows of two pairs, the second of which is not finished."""
    found = rows("lenet", "lenet_not_convnext", 3.0, [1, 1], [0.9, 1.0])
    found += rows("convnext", "lenet_not_convnext", 0.1, [1, 0.8], [0.5, 0.54])
    found += rows("lenet", "lenet_nad_2", 2.9, [1, 1], [0.8, 0.84])
    found += rows("lenet", "lenet_nad_9", 1.5, [1, 1], [0.6, 0.6])
    found += rows("lenet", "random", 3.0, [1, 1], [0.7, 0.7])
    found += rows("convmixer", "convmixer_not_lenet", 5.0, [1], [0.97])
    return pd.DataFrame(found)


def test_bars_are_test_accuracies_in_outlines_of_training_accuracies(results):
    _, axes = study.style.new_figure(1, 1, 3, 3)
    panel = axes[0, 0]
    direction = "lenet_not_convnext"
    own = {
        ("lenet", direction): "lenet_nad_2",
        ("convnext", direction): "convnext_nad_700",
    }
    study.bars(panel, results, own, direction, NAMES)
    filled = [bar.get_height() for bar in panel.patches if bar.get_fill()]
    outlines = [bar.get_height() for bar in panel.patches if not bar.get_fill()]
    assert filled == pytest.approx([95, 52]) and outlines == pytest.approx([100, 90])
    chance, *_ = panel.lines
    assert set(chance.get_ydata()) == {50}
    diamonds = [
        line.get_xydata().tolist() for line in panel.lines if line.get_marker() == "D"
    ]
    # ConvNeXt is not trained along its own NAD yet.
    assert diamonds == [[pytest.approx([0, 82])]]


def test_a_matrix_has_both_networks_by_the_one_that_should_learn(results):
    left, right, controls = study.matrix_figure(results, DRAWN).axes
    learned, other = (
        panel.collections[0].get_array().reshape(3, 3) for panel in (left, right)
    )
    expected = np.ma.masked_all((3, 3))
    expected[DRAWN.index("lenet"), DRAWN.index("convnext")] = 95
    expected[DRAWN.index("convmixer"), DRAWN.index("lenet")] = 97
    np.testing.assert_array_equal(learned.mask, expected.mask)
    np.testing.assert_allclose(learned.compressed(), expected.compressed())
    assert other[0, 1] == pytest.approx(52) and other.count() == 1
    # One of two ConvNeXts was not fitted.
    assert not drawing.unfitted(left) and drawing.unfitted(right)
    random, wave = controls.collections[0].get_array().reshape(3, 2).T
    assert random[DRAWN.index("lenet")] == pytest.approx(70) and random.count() == 1
    assert wave.count() == 0


def test_a_run_that_is_not_finished_is_drawn(results, tmp_path):
    results.to_csv(tmp_path / "results.csv", index=False)
    own = []
    vectors = {}
    for pair in study.pairs_of(DRAWN):
        for a, b in (pair, pair[::-1]):
            vectors[f"{a}_not_{b}"] = np.eye(1024)[0]
            for network in pair:
                own.append((network, f"{a}_not_{b}", f"{network}_nad_2"))
    own_nads = pd.DataFrame(own, columns=["network", "direction", "own_nad"])
    own_nads.to_csv(tmp_path / "own_nads.csv", index=False)
    np.savez(tmp_path / "directions.npz", **vectors)
    study.draw(tmp_path, DRAWN[:2])
    assert {path.name for path in tmp_path.glob("*.png")} == {"pairs.png"}
    study.draw(tmp_path, study.NETWORKS)
    assert {path.name for path in tmp_path.glob("*.png")} == {"pairs.png", "matrix.png"}
    figure = study.pairs_figure(results, own_nads, vectors, DRAWN)
    pictures = [panel for panel in figure.axes if panel.images]
    assert len(pictures) == 4  # two directions of each pair that has rows
    assert [panel.images[0].get_clim() for panel in pictures] == [(-1, 1)] * 4


def test_networks_near_chance_that_are_not_fitted_are_trained_again():
    rows = [
        ("lenet", "convnext_not_lenet", 0.5, 0.8),
        ("lenet", "convnext_not_lenet", 0.51, 1.0),
        ("lenet", "vgg11_not_lenet", 0.52, 1.0),
        ("lenet", "convmixer_not_lenet", 0.7, 0.8),
        ("lenet", "lenet_not_vgg11", 0.99, 1.0),
        ("lenet", "random", 0.5, 0.8),
        ("convnext", "lenet_not_convnext", 0.5, 0.6),
    ]
    columns = "network direction accuracy train_accuracy".split()
    cases = fitted_rivals.find_cases(pd.DataFrame(rows, columns=columns), "lenet")
    assert cases == ["convnext_not_lenet", "lenet_not_vgg11"]
