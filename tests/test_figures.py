"""Figures have the same bytes each time, and carry caption and notice."""

import numpy as np
import pandas as pd
import pytest
from drawing import drawn_twice

from pipeline.measures.boundaries import POINTS
from pipeline.report import image_pairs, linear_pairs, nads, tables

PAIRS = [(i, j) for i in (1, 1000) for j in (1, 1000)]


def results(seeds):
    return pd.DataFrame(
        [
            {"architecture": "lenet", "seed": s, "index_1": i, "index_2": j, "test_set": t, "accuracy": 0.5 + 0.1 * s}
            for s in range(seeds)
            for i, j in PAIRS
            for t in ("all", "first", "second")
        ]
    )


FIGURES = {
    "spectra": lambda: nads.spectra(
        {"lenet": (np.geomspace(1, 1e-8, 64), 0.1 * np.geomspace(1, 1e-8, 64))},
        {"lenet": "LeNet"},
        {"lenet": (0.189, 10_000)},
        "caption",
        "notice",
    ),
    "gallery": lambda: nads.gallery(
        np.eye(48), (3, 4, 4), np.stack([np.zeros(48), np.arange(48)], 1).astype(int), "NADs", "caption", "notice"
    ),
    "gallery_of_four_channels": lambda: nads.gallery(np.eye(64), (4, 4, 4), None, "NADs", "caption", "notice"),
    "overlaps": lambda: nads.overlaps(
        dict.fromkeys("abcd", (np.eye(64), np.eye(64)[::-1])),
        dict.fromkeys("abcd", "LeNet"),
        ("secant", "gradient"),
        "caption",
        "notice",
    ),
    "accuracies": lambda: linear_pairs.accuracies(results(2), "LeNet", "caption", "notice"),
    "boundaries": lambda: linear_pairs.boundaries(
        {p: np.linspace(0, 1, POINTS**2).reshape(POINTS, POINTS) for p in PAIRS},
        dict.fromkeys(PAIRS, 45.0),
        (1, 0.5),
        "LeNet",
        "caption",
        "notice",
    ),
    "tilt_and_margins": lambda: linear_pairs.tilt_and_margins(
        {
            "lenet": pd.DataFrame(
                [{"index_1": i, "index_2": j, "tilt": 10.0, "margin_1": 1.0, "margin_2": np.inf} for i, j in PAIRS]
            )
        },
        {"lenet": "LeNet"},
        (1, 0.5),
        "caption",
        "notice",
    ),
    "two_sufficient_channels": lambda: linear_pairs.two_sufficient_channels(
        np.array([[-1, -0.5], [1, 0.5]]),
        np.array([0, 1]),
        (1, 0.5),
        {"lenet": {1: np.eye(32)}},
        {"lenet": "LeNet"},
        "caption",
        "notice",
    ),
    "images_or_linear_channel": lambda: image_pairs.images_or_linear_channel(
        pd.DataFrame(
            [
                {"architecture": "lenet", "seed": s, "index": i, "test_set": t, "accuracy": 0.6 + 0.1 * s}
                for s in (0, 1)
                for i in (1, 64)
                for t in ("all", "images", "linear")
            ]
        ),
        {"lenet": "LeNet"},
        {"lenet": 1.0},
        "caption",
        "notice",
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_deterministic_and_carry_their_caption(name, tmp_path):
    drawn_twice(FIGURES[name], tmp_path, name)


def test_the_report_shows_means_spread_and_published_values():
    rows = [("resnet18_narrow", i, j, s, 0.75, 0.01, 3) for i, j in PAIRS for s in ("all", "first", "second")]
    rows += [("lenet", 1, 1, s, 0.5, float("nan"), 1) for s in ("all", "first", "second")]
    summary = pd.DataFrame(rows, columns=["architecture", "index_1", "index_2", "test_set", "mean", "std", "seeds"])
    tilts = {("resnet18_narrow", i, j): 30.0 for i, j in PAIRS} | {("lenet", 1, 1): 26.6}
    lines = tables.linear_pairs(summary, tilts, {"resnet18_narrow": "narrow", "lenet": "LeNet"}, "resnet18")
    assert "| narrow | (1000, 1) | 75.0 ± 1.0 | 75.0 ± 1.0 | 75.0 ± 1.0 | 30.0° | 98 / 50 / 98 |" in lines
    assert "| LeNet | (1, 1) | 50.0 | 50.0 | 50.0 | 26.6° | – |" in lines
    page = tables.page("Title", ["**notice**"], [("Section", lines, {"one": "a picture"})])
    assert page.startswith("# Title\n\n**notice**\n") and "![a picture](figures/one.png)" in page


def test_overlap_of_bands_is_one_by_chance_and_counts_shared_energy():
    rng = np.random.default_rng(0)
    random = [np.linalg.qr(rng.standard_normal((512, 512)))[0] for _ in range(2)]
    assert nads.bands(512) == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512] and nads.bands(100)[-2:] == [64, 100]
    found = nads.overlap_of_bands(*random)
    np.testing.assert_allclose(found[-4:, -4:], 1, atol=0.1)
    np.testing.assert_allclose(nads.overlap_of_bands(np.eye(8), np.eye(8)), np.diag([8, 8, 4, 2.0]))
