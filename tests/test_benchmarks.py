"""The formulas that the benchmarks rest on; the times that they measure are never tested."""

import types

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from benchmarks import grid as throughput
from benchmarks import mixtures, nads, patches, prediction, published_maps, published_rows
from pipeline import networks
from pipeline.nads.symmetry import symmetrised
from pipeline.networks.lenet import LeNet


def test_the_fourth_moment_of_a_plain_derivative():
    """E‖Jᵀa‖⁴ for the read-out's uniform a against brute force."""
    jacobian = np.random.default_rng(0).standard_normal((6, 9))
    torch.manual_seed(0)
    weights = nn.Linear(6, 200_000).weight.detach().double().numpy()
    sampled = (((weights @ jacobian) ** 2).sum(1) ** 2).mean()
    assert nads.plain_fourth_moment(jacobian / np.sqrt(18)) == pytest.approx(sampled, rel=0.01)


def test_the_reference_is_the_same_function():
    torch.manual_seed(3)
    usual = nads.UsualLeNet(1, 1)
    ours = LeNet(1, 1).eval()
    ours.load_state_dict(usual.state_dict())
    x = torch.randn(4, 1, 32, 32)
    assert torch.equal(usual(x), ours(x))


def test_the_symmetries_of_a_lenet_save_five_to_eight_of_its_networks():
    """Eight elements of the square, less what the samples of one network have in common."""
    _, (plain, readout, symmetric) = nads.one_round("lenet", range(4))
    assert plain > 10 * readout and 5 < readout / symmetric < 8


def test_the_part_of_a_span_that_repeats_in_every_patch():
    whole = np.linalg.qr(np.random.default_rng(0).standard_normal((1024, 1024)))[0]
    assert patches.repeating(whole, 4) == pytest.approx(16 / 1024)
    pattern = np.tile(np.eye(16).reshape(16, 4, 4), (1, 8, 8)).reshape(16, 1024) / 8
    assert patches.repeating(pattern, 4) == pytest.approx(1)
    other = np.roll(pattern[0].reshape(32, 32), 1, 0) * np.repeat([1, -1], 16)
    assert patches.repeating(other.reshape(1, 1024), 4) == pytest.approx(0)


def test_the_number_of_rows_of_a_spectrum_is_found_again():
    rng, eigenvalues = np.random.default_rng(1), np.geomspace(1, 1e-3, 256)
    rows = rng.standard_normal((600, 256)) * np.sqrt(eigenvalues)
    published = dict(enumerate(np.linalg.svd(rows, compute_uv=False)))
    spread = {
        rows: np.abs(np.log(published_rows.ratios(eigenvalues, published, rows, rng))).mean()
        for rows in (400, 600, 900)
    }
    assert min(spread, key=spread.get) == 600 and spread[600] < 0.05


def test_the_part_of_a_covariance_that_breaks_transposition_tells_the_number_of_rows():
    """Of normal rows of a law that transposition leaves as it is, on 1×6×6 inputs."""
    rng, shape = np.random.default_rng(2), (1, 6, 6)
    root = symmetrised("transposition", rng.standard_normal((36, 36)), shape)
    assert published_rows.odd_part(root @ root.T, shape) == pytest.approx(0, abs=1e-12)
    for rows in (100, 400):
        sizes, expected = [], []
        for _ in range(40):
            sample = rng.standard_normal((rows, 36)) @ root
            matrix = sample.T @ sample / rows
            flipped = matrix.reshape(6, 6, 6, 6).transpose(1, 0, 3, 2).reshape(36, 36)
            sizes.append(np.linalg.norm(matrix - flipped) / 2 / np.linalg.norm(matrix))
            assert published_rows.odd_part(matrix, shape) == pytest.approx(sizes[-1])
            expected.append(published_rows.expected_odd_part(matrix, shape, rows))
        # Twice the rows would make it 1.41 times as small.
        assert np.mean(sizes) == pytest.approx(np.mean(expected), rel=0.03)


def test_published_maps_are_compared_by_the_size_of_the_frequencies():
    usual, odd = published_maps.published_maps()
    # Of |k| = 0, 2, …, 16 in either order: 45 pairs, of which the published row k_row = 0 has nine,
    # and alone (0, 0).
    assert len(usual) == 44 and len(odd) == 9 and odd[0, 0] == [72.46]
    assert usual[4, 12] == [61.65, 53.89, 62.35, 56.91] and odd[0, 4] == [81.02, 79.43]
    results = pd.DataFrame({"accuracy": [0.80, 0.82, 0.5]})
    rows = published_maps.compared(results, [(0, 4), (0, 4), (1, 2)], usual)
    assert [(key, ours) for key, ours, _ in rows] == [((0, 4), [80, 82])]
    pairs = [((0, 4), [80.0, 82.0], [81.0]), ((0, 8), [60.0], [50.0])]
    assert (
        "mean difference +5.00 points, root mean square 7.07"
        in (list(published_maps.lines(pairs, "k"))[-1])
    )
    bands = published_maps.in_bands(
        [(11, [100.0], [98.0]), (12, [90.0, 92.0], [80.0]), (69, [70.0], [60.0])]
    )
    assert bands == [("0–11", [100.0], [98.0]), ("12–69", [91.0, 70.0], [80.0, 60.0])]


def test_a_direction_between_two_nads_mixes_two():
    between = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
    eigenvalues = np.array([4.0, 2.0, 1.0])
    assert mixtures.mixture(np.eye(3), eigenvalues, between) == pytest.approx((3, 2))
    assert mixtures.mixture(np.eye(3)[::-1], eigenvalues, np.eye(3)[0]) == pytest.approx((1, 1))


@pytest.mark.slow
def test_every_way_trains_the_same_cells():
    """One at a time, together, and the usual loop: same data, weights, order and schedule."""
    specification = networks.specification({"network": "mlp", "hidden": [6, 4]})
    cells = [throughput.Cell(specification, throughput.TRAINING(1), seed) for seed in range(3)]
    sets, device = throughput.data(200), torch.device("cpu")
    found = [throughput.train_group(device, sets, [cell])[0] for cell in cells]
    assert throughput.train_group(device, sets, cells) == pytest.approx(found, abs=0.01)
    assert throughput.usual(cells[0], sets, device) == pytest.approx(found[0], abs=0.01)
    assert len(set(found)) > 1 and all(0.4 < accuracy <= 1 for accuracy in found)


def test_the_alignment_of_c_with_directions_is_their_response_over_a_random_one():
    directions = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    c = types.SimpleNamespace(directions=directions, eigenvalues=np.array([4.0, 2.0, 1.0, 1.0]))
    assert prediction.alignment(c, directions) == pytest.approx(1)
    assert prediction.alignment(c, -3 * directions[:1]) == pytest.approx(2)
    two = np.stack([directions[0], 2 * directions[3]])
    assert prediction.alignment(c, two) == pytest.approx((4 + 4 * 1) / (1 + 4) / 2)


def test_the_directions_that_separate_classes():
    """Classes at (±1, ±1, 0) with noise along (1, −1): the means differ along (1, 1, 0) alone."""
    rng, y = np.random.default_rng(0), np.arange(4000) % 2
    x = np.outer(2 * y - 1, [1.0, 1, 0]) + rng.standard_normal((4000, 3)) * [1, 0.2, 1]
    np.testing.assert_allclose(prediction.class_means(x, y), [[-1, -1, 0], [1, 1, 0]], atol=0.05)
    (fisher,) = prediction.fisher(x, y)
    # S_W⁻¹(μ₁ − μ₀), with S_W = diag(1, 0.04, 1)
    assert np.abs(fisher @ [0.04, 1, 0]) / np.hypot(0.04, 1) == pytest.approx(1, abs=2e-3)
