"""What the figures and the table of the NADs show."""

import drawing
import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from drawing import ENDING

from pipeline.nads.estimator import Source
from pipeline.report import nads, style


def test_spectra_are_roots_with_bands_of_two_standard_errors():
    estimates = {
        "z": (np.array([16.0, 4.0, 1.0]), np.array([3.5, 0.875, 0.5])),
        "a": (np.array([25.0, 9.0]), np.array([0.0, 0.0])),
    }
    published = {"a": pd.Series({0: 6.0, 1: 4.0, 3: 3.0, 10: 2.0})}
    figure = nads.spectra(estimates, {"z": "Zeta", "a": "Alpha"}, published, *ENDING)
    assert drawing.title_of(figure) == "Spectra of the input derivative's covariance over untrained networks"
    (panel,) = figure.axes
    curves = {line.get_label(): line for line in panel.lines}
    assert drawing.points(curves["Zeta"]) == [[1, 4], [2, 2], [3, 1]]
    assert drawing.points(curves["Alpha"]) == [[1, 5], [2, 3]]
    assert [(drawing.colour(curves[name]), curves[name].get_linestyle()) for name in ("Zeta", "Alpha")] == [
        ("#000000", "-"),
        ("#0072b2", "--"),
    ]
    band, other = panel.collections
    assert (drawing.colour(band), drawing.colour(other)) == ("#000000", "#0072b2")
    corners = {tuple(drawing.numbers(corner)) for corner in band.get_paths()[0].vertices}
    # 16 ± 7, 4 ± 1.75, 1 ± 1, where nothing is lower than 16e-9.
    places = [(1, 3), (1, 23**0.5), (2, 1.5), (2, 5.75**0.5), (3, 16e-9**0.5), (3, 2**0.5)]
    assert corners == {tuple(drawing.numbers(place)) for place in places}
    known, of_the_legend = (line for line in panel.lines if line.get_marker() == "x")
    assert drawing.points(known) == [[1, 6], [2, 4], [4, 3], [11, 2]] and drawing.colour(known) == "#0072b2"
    # Crosses stand at some indices, of which the curve has 0 and 3; it lies under ours.
    assert known.get_markevery() == [0, 2] and known.get_zorder() < curves["Alpha"].get_zorder()
    assert known.get_linewidth() < curves["Alpha"].get_linewidth()
    assert drawing.entries(panel.get_legend()) == [
        ("Zeta", "#000000"),
        ("Alpha", "#0072b2"),
        ("published, $s/\\sqrt{n}$", "#4c4c4c"),
    ]
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("NAD index", "$\\sqrt{\\lambda}$ (output per unit of input)")
    assert [place for place, _ in drawing.ticks(panel.xaxis)] == [1, 11, 101, 1001]


def test_spectra_without_published_values_do_not_speak_of_them():
    figure = nads.spectra({"a": (np.array([4.0, -1e-9]), np.zeros(2))}, {"a": "A"}, {}, *ENDING)
    assert list(dict(drawing.entries(figure.axes[0].get_legend()))) == ["A"]
    assert figure.axes[0].lines[0].get_ydata()[1] == pytest.approx(4e-9**0.5)


def test_more_networks_than_looks_take_them_again():
    several = {str(number): (np.array([1.0]), np.zeros(1)) for number in range(9)}
    panel = nads.spectra(several, {name: name for name in several}, {}, *ENDING).axes[0]
    assert [drawing.colour(line) for line in panel.lines] == [c.lower() for c, _ in (*style.SPECTRA, style.SPECTRA[0])]


def directions(count, dimension):
    return np.random.default_rng(1).standard_normal((count, dimension))


def panels_of(figure, bars=2):
    """A gallery's panels, without its colour bars."""
    return np.reshape(figure.axes[:-bars], (2, -1))


def test_a_gallery_of_one_channel_shows_pixels_above_frequencies():
    some = directions(12, 30)
    nearby = np.array([[0, 1]] * 2 + [[2, 2]] * 2 + [[4, 9]] * 8)
    figure = nads.gallery(some, (1, 5, 6), nearby, "NADs", *ENDING)
    assert drawing.title_of(figure) == "NADs"
    pixels, frequencies = panels_of(figure)
    assert [panel.get_title() for panel in pixels] == ["0\n≈ 0–1", "1\n≈ 0–1", "2\nalone", "4\n≈ 4–9", "8\n≈ 4–9"]
    for above, below, index in zip(pixels, frequencies, (0, 1, 2, 4, 8), strict=True):
        nad = some[index].reshape(5, 6)
        (image,), (energy,) = above.images, below.images
        np.testing.assert_array_equal(image.get_array(), nad)
        assert image.get_clim() == (-np.abs(nad).max(), np.abs(nad).max())
        assert (image.origin, image.get_cmap().name) == ("upper", "gray")
        expected = np.fft.fftshift(np.abs(np.fft.fft2(nad)) ** 2)
        np.testing.assert_allclose(energy.get_array(), expected)
        # Rows are frequencies −2 … 2, from above; columns are −3 … 2.
        assert list(energy.get_extent()) == [-3.5, 2.5, 2.5, -2.5] and energy.origin == "upper"
        assert energy.get_clim()[0] == 0 and energy.get_cmap().name == style.ACCURACY
    assert [panel.get_ylabel() for panel in (pixels[0], frequencies[0])] == ["pixels", "frequency"]
    assert frequencies[0].get_xticks().tolist() == [-3, 0, 2] and frequencies[0].get_yticks().tolist() == [-2, 0, 2]
    others = [*pixels, *frequencies[1:]]
    assert not any(len(panel.get_xticks()) or len(panel.get_yticks()) for panel in others)
    assert not any(spine.get_visible() for panel in (*pixels, *frequencies) for spine in panel.spines.values())
    assert [drawing.ticks(bar.yaxis) for bar in figure.axes[-2:]] == [
        [(-1, "−max"), (0, "0"), (1, "max")], [(0, "0"), (1, "max")]
    ]  # fmt: skip


def test_a_gallery_of_even_sides_has_frequencies_from_minus_half():
    figure = nads.gallery(directions(1, 24), (1, 4, 6), None, "NADs", *ENDING)
    pixels, frequencies = panels_of(figure)
    assert pixels[0].get_title() == "0" and list(frequencies[0].images[0].get_extent()) == [-3.5, 2.5, 1.5, -2.5]
    assert frequencies[0].get_xticks().tolist() == [-3, 0, 2] and frequencies[0].get_yticks().tolist() == [-2, 0, 1]


def test_a_gallery_shows_three_channels_as_colours_and_others_side_by_side():
    some = directions(2, 60)
    figure = nads.gallery(some, (3, 4, 5))
    assert figure._suptitle.get_text() == "Neural anisotropy directions" and figure._supxlabel.get_text() == ""
    pixels, frequencies = panels_of(figure, bars=1)
    nad = some[1].reshape(3, 4, 5)
    image = pixels[1].images[0].get_array()
    assert image.shape == (4, 5, 3)
    for channel in range(3):
        np.testing.assert_allclose(image[..., channel], 0.5 + nad[channel] / (2 * np.abs(nad).max()))
    expected = sum(np.fft.fftshift(np.abs(np.fft.fft2(channel)) ** 2) for channel in nad)
    np.testing.assert_allclose(frequencies[1].images[0].get_array(), expected)
    pixels, _ = panels_of(nads.gallery(some, (2, 5, 6), None, "NADs", *ENDING))
    nad = some[0].reshape(2, 5, 6)
    np.testing.assert_array_equal(pixels[0].images[0].get_array(), np.concatenate([nad[0], nad[1]], 1))


def wave(k_row, k_col, side=64):
    """A cosine of one frequency."""
    rows, columns = np.indices((side, side))
    return np.cos(2 * np.pi * (k_row * rows + k_col * columns) / side).ravel()


def test_a_gallery_shows_frequencies_as_far_as_its_nads_have_energy():
    _, frequencies = panels_of(nads.gallery(np.stack([wave(0, 0), wave(3, -5)]), (1, 64, 64), None, "NADs", *ENDING))
    (constant,), (waves,) = (panel.images for panel in frequencies)
    assert list(waves.get_extent()) == list(constant.get_extent()) == [-5.5, 5.5, 5.5, -5.5]
    found = np.argwhere(waves.get_array() > 1) - 5
    assert found.tolist() == [[-3, 5], [3, -5]]
    # A hundredth of the energy at the highest frequency is left out, a little more is not.
    for weight, edge in ((0.01, 3), (0.011, 32)):
        energy = np.zeros((64, 64))
        energy[32, 35], energy[0, 32] = 1 - weight, weight
        assert nads.edge_of(energy) == edge


def test_a_gallery_of_a_whole_basis_goes_on_to_1000():
    pixels, _ = panels_of(nads.gallery(np.ones((1001, 4)), (1, 2, 2), None, "NADs", *ENDING))
    assert [panel.get_title() for panel in pixels] == "0 1 2 4 8 16 32 64 128 256 512 1000".split()
    assert panels_of(nads.gallery(np.ones((1000, 4)), (1, 2, 2), None, "NADs", *ENDING)).shape == (2, 11)


def test_bands_double_in_width():
    assert nads.bands(512) == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert nads.bands(100) == [0, 1, 2, 4, 8, 16, 32, 64, 100] and nads.bands(65)[-2:] == [64, 65]


def test_overlap_of_bands_is_one_by_chance_and_counts_shared_energy():
    # Every row of the Hadamard matrix has the same share in every pixel, which is what chance gives on average.
    np.testing.assert_allclose(nads.overlap_of_bands(np.eye(16), scipy.linalg.hadamard(16) / 4), np.ones((5, 5)))
    np.testing.assert_allclose(nads.overlap_of_bands(np.eye(8), np.eye(8)), np.diag([8, 8, 4, 2.0]))
    # The first of one is the last of the other, so first row, last column: 1 of 1·4/8.
    moved = np.roll(np.eye(8), 1, 0)
    assert nads.overlap_of_bands(np.eye(8), moved)[0].tolist() == [0, 8, 0, 0]
    assert nads.overlap_of_bands(moved, np.eye(8))[0].tolist() == [0, 0, 0, 2]


def test_overlaps_have_one_estimand_along_the_rows_and_the_other_along_the_columns():
    moved = np.roll(np.eye(8), 1, 0)
    pairs = {"z": (moved, np.eye(8)), "a": (np.eye(8), np.eye(8)), "b": (np.eye(4), np.eye(4)), "c": (moved, moved)}
    labels = {name: f"{name.upper()}\nerrors" for name in pairs}
    figure = nads.overlaps(pairs, labels, ("secant", "gradient"), *ENDING)
    assert drawing.title_of(figure) == "Overlap of secant and gradient NADs"
    *panels, bar = figure.axes
    shown = [panel for panel in panels if panel.get_visible()]
    assert shown == panels[:4] and panels[0].get_subplotspec().get_gridspec().get_geometry() == (2, 3)
    for panel, name in zip(shown, pairs):
        (image,) = panel.images
        np.testing.assert_allclose(image.get_array(), np.maximum(nads.overlap_of_bands(*pairs[name]), 1e-6))
        assert (image.origin, image.get_cmap().name, image.get_clim()) == ("lower", "RdBu_r", (1 / 16, 16))
        assert image.norm(1.0) == pytest.approx(0.5) and image.norm(4.0) == pytest.approx(0.75)
        expected = [(0, "0"), (1, "1"), (2, "2")] + ([(3, "4")] if name != "b" else [])
        assert drawing.ticks(panel.xaxis) == drawing.ticks(panel.yaxis) == expected
        assert (panel.get_xlabel(), panel.get_ylabel()) == ("gradient NADs, from index", "secant NADs, from index")
        assert panel.get_title() == labels[name]
    assert bar.get_ylabel() == "shared energy ÷ chance"
    numbers = [(1 / 16, "1/16"), (1 / 4, "1/4"), (1, "1"), (4, "4"), (16, "16")]
    assert drawing.ticks(bar.yaxis) == numbers


def test_one_overlap_stands_alone():
    figure = nads.overlaps({"a": (np.eye(4), np.eye(4))}, {"a": "A"}, ("secant", "gradient"), *ENDING)
    assert figure.axes[0].get_subplotspec().get_gridspec().get_geometry() == (1, 1)


@pytest.mark.parametrize(
    ("groups", "text"), [([0, 0, 0], "none"), ([0, 0, 2, 2, 4], "1, 3"), ([0, 1, 2, 3, 4, 5], "0, 1, 2, 3")]
)
def test_gaps_are_named_by_the_index_before_them(groups, text):
    assert nads.gaps(np.array(groups), 4) == text


def test_what_is_published_are_singular_values_of_so_many_rows():
    found = nads.published_spectra()
    assert set(found) == {"lenet", "vgg11", "resnet18", "densenet121"}
    assert found["lenet"].to_dict() == {0: pytest.approx(0.00189)}
    # ResNet-18's published values are those of 5,000 networks, the others' of 10,000.
    assert found["vgg11"][0] == pytest.approx(0.06381839 / 100) and len(found["vgg11"]) == 264
    assert found["resnet18"][10] == pytest.approx(0.012035271 / 5000**0.5)


@pytest.mark.parametrize(
    ("eigenvalues", "last", "equal"),
    [((1.0, 1.0, 1.0), 0, True), ((1.009, 1.0), 0, True), ((1.02, 1.0), 0, False), ((2.0, 1.5, 1.0), 2, True)],
)
def test_eigenvalues_are_equal_to_a_hundredth_or_within_their_errors(eigenvalues, last, equal):
    """last: the last index whose eigenvalue equals the first within its error."""
    nearby = np.array([[0, last]] * len(eigenvalues))
    if last == 0 and len(eigenvalues) == 2:
        nearby[1] = [1, 1]
    assert nads.all_equal({"eigenvalues": np.array(eigenvalues), "nearby": nearby}) is equal


ESTIMATED = {
    "networks": np.array(64),
    "method": np.array("readout"),
    "symmetry": np.array("square"),
    "shape": np.array([1, 5, 8]),
    "error": np.array(0.0625),
    "overlap": np.array(np.linspace(0.99, 0.9, 10).tolist() + [0.1] * 30),
    "groups": np.array([0, 0, 2]),
    "eigenvalues": np.array([4e-6, 1e-6]),
    "standard_errors": np.array([8e-7, 1e-7]),
    "nearby": np.array([[0, 0], [1, 1]]),
    "halves": np.array([[9e-6, 1.0], [1e-6, 2.0]]),
}
"""Of an estimate whose first singular value of 10,000 networks is 0.2; 8e-7 in 4e-6 are an error of a fifth, a tenth of the root."""


def test_the_table_says_how_good_the_estimates_are():
    few = ESTIMATED | {"overlap": np.array([0.8, 0.7]), "shape": np.array([3, 1, 2]), "networks": np.array(2)}
    flat = ESTIMATED | {"eigenvalues": np.array([1e-6, 1e-6]), "standard_errors": np.array([0.0, 0.0])}
    every = {"z": ESTIMATED, "file": {"networks": np.array(0)}, "few": few, "flat": flat}
    sources = {name: Source(networks=64) for name in every} | {"file": Source(file="mine.npy")}
    labels = {"z": "Zeta", "file": "Own", "few": "Few", "flat": "Flat"}
    table = nads.table(every, sources, labels, {"z": pd.Series({0: 0.00267, 1: 0.001})})
    assert table.header == [
        "network",
        "untrained networks",
        "method",
        "averaged over",
        "relative error of C",
        "overlap of the halves' first ten (chance)",
        "first clear gaps after index",
        "first singular value × √10,000 ± standard error (the two halves)",
        "published",
    ]
    assert table.rows == [
        [
            "Zeta",
            64,
            "readout",
            "the symmetries of the square",
            "0.062",
            "0.90 (0.25)",
            "1",
            "0.2 ± 0.02 (0.3, 0.1)",
            "0.267",
        ],
        ["Own", "mine.npy", *["–"] * 7],
        [
            "Few",
            2,
            "readout",
            "the symmetries of the square",
            "0.062",
            "0.70 (0.33)",
            "1",
            "0.2 ± 0.02 (0.3, 0.1)",
            "–",
        ],
        ["Flat", 64, "readout", "the symmetries of the square", "0.062", "–", "1", "0.1 ± 0 (0.3, 0.1)", "–"],
    ]


def test_findings_are_steepness_first_values_and_overlap():
    flat = ESTIMATED | {"eigenvalues": np.array([1e-6, 1e-6])}
    steep = ESTIMATED | {"eigenvalues": np.array([4.0, 1e-5])}
    rank = ESTIMATED | {"eigenvalues": np.array([4.0, -1e-16])}
    labels = {"z": "Zeta", "flat": "Flat", "steep": "Steep", "rank": "Rank"}
    # Half of the first ten of one are among the first ten of the other.
    pairs = {"z": (np.eye(40), np.roll(np.eye(40), 5, 0))}
    found = nads.findings(
        {"z": ESTIMATED, "flat": flat, "steep": steep, "rank": rank},
        pairs,
        labels,
        ("secant", "gradient"),
        {"z": pd.Series({0: 0.00267})},
    )
    assert found == [
        "√λ falls from the first NAD to the last by a factor of 2.0 for Zeta (64 untrained networks), 632 for Steep (64 untrained "
        "networks), more than 10⁶ for Rank (64 untrained networks); for Flat (64 untrained networks) all eigenvalues are equal "
        "within their errors, and no direction comes first.",
        "First singular value × √10,000 ± standard error: Zeta 0.2 ± 0.02 (published 0.267).",
        "The spans of the first 10 NADs of secant and gradient share 0.50 for Zeta (halves of one estimate 0.90, chance 0.25).",
    ]
    alone = nads.findings({"flat": flat}, {}, labels, ("secant", "gradient"), {})
    assert alone == [
        "For Flat (64 untrained networks) all eigenvalues are equal within their errors, and no direction comes first."
    ]
    assert nads.findings({}, {}, {}, ("secant", "gradient"), {}) == []
