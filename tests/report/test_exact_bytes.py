"""Every figure has the same bytes each time it is drawn, so that a report differs where its numbers do, and nowhere else."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawing import ENDING, drawn_twice

from pipeline.experiments.flip import bands
from pipeline.measures.boundaries import POINTS
from pipeline.report import convergence, flip, fourier, image_pairs, linear_pairs, nad_sweep, nads, poison

PAIRS = [(i, j) for i in (1, 1000) for j in (1, 1000)]
LABELS = {"lenet": "LeNet", "narrow": "ResNet-18, width ×0.125"}


def table(*rows, seeds=2, **constant):
    """Rows of both architectures and every seed; accuracies differ between seeds."""
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "accuracy": 0.6 + 0.1 * seed, "test_set": "all"}
            | {"train_accuracy": 0.98 + 0.01 * seed}
            | constant
            | row
            for name in LABELS
            for seed in range(seeds)
            for row in rows
        ]
    )


def pairs(**columns):
    return table(*({"index_1": i, "index_2": j} | columns for i, j in PAIRS)).query("architecture == 'lenet'")


def half_plane(step):
    multiples = range(-16, 16, step)
    return [{"k_row": r, "k_col": c} for r in multiples for c in multiples]


SWEPT = [{"estimand": e, "index": i} for e in ("secant", "gradient") for i in (0, 10, 102)]
LOSSES = [row | {"epoch": epoch, "loss": 1 / epoch} for row in SWEPT for epoch in range(1, 6)]
SPECTRA = {(name, e): np.geomspace(1, 1e-6, 1024) for name in LABELS for e in ("secant", "gradient")}
CARRIERS = [{"data": data, "index": i} for data in ("images", "mixture") for i in (-1, 0, 100, 1000)]
MEANS = pd.DataFrame(half_plane(8)).assign(mean=[0.5 + 0.02 * n for n in range(16)], std=0.01)
SPEED = convergence.Speed(
    "LeNet",
    1580,
    MEANS.assign(mean=[np.inf] * 8 + [10 * 1.7**n for n in range(8)], seeds=2),
    {name: MEANS.assign(fitted=True) for name in (convergence.OURS, "published")},
)
PICTURE = np.full((3, 32, 32), 0.5)
CHANGES = [
    {"operation": o, "first": f, "last": n, "changed": 0.1, "relative_change": 0.5 / (1 + f)}
    for o in ("remove", "flip")
    for f, n in [*bands(1024), (8, 8), (1000, 1000)]
]

KNOWN = pd.Series({0: 0.9, 10: 0.5, 302: 0.1})
PUBLISHED_MAP = pd.DataFrame(half_plane(8)).assign(accuracy=0.7)
BARS = {"lenet": ("published", {"plain": 69, "flipped": 48})}

FIGURES = {
    "spectra": lambda: nads.spectra(
        {"lenet": (np.geomspace(1, 1e-8, 64), 0.1 * np.geomspace(1, 1e-8, 64))}, LABELS, {"lenet": KNOWN}, *ENDING
    ),
    "gallery": lambda: nads.gallery(
        np.eye(48), (3, 4, 4), np.stack([np.zeros(48), np.arange(48)], 1).astype(int), "NADs", *ENDING
    ),
    "gallery of four channels": lambda: nads.gallery(np.eye(64), (4, 4, 4), None, "NADs", *ENDING),
    "overlaps": lambda: nads.overlaps(
        dict.fromkeys("abcd", (np.eye(64), np.eye(64)[::-1])),
        dict.fromkeys("abcd", "LeNet"),
        ("secant", "gradient"),
        *ENDING,
    ),
    "two sufficient channels": lambda: linear_pairs.two_sufficient_channels(
        np.array([[-1, -0.5], [1, 0.5]]), np.array([0, 1]), (1, 0.5), {"lenet": {1: np.eye(32)}}, LABELS, *ENDING
    ),
    "accuracies": lambda: linear_pairs.accuracies(
        pd.concat([pairs(test_set=test) for test in linear_pairs.PANELS]), "LeNet", True, *ENDING
    ),
    "boundaries": lambda: linear_pairs.boundaries(
        {pair: np.linspace(0, 1, POINTS**2).reshape(POINTS, POINTS) for pair in PAIRS},
        pairs(tilt=45.0),
        (1, 0.5),
        "LeNet",
        *ENDING,
    ),
    "tilt and margins": lambda: linear_pairs.tilt_and_margins(
        {"lenet": pairs(tilt=10.0, margin_1=1.0, margin_2=np.inf)}, LABELS, (1, 0.5), *ENDING
    ),
    "images or linear channel": lambda: image_pairs.images_or_linear_channel(
        table(*({"index": i, "test_set": test} for i in (1, 64) for test in image_pairs.NAMES)),
        LABELS,
        dict.fromkeys(LABELS, 1.0),
        50.6,
        *ENDING,
    ),
    "maps": lambda: fourier.maps(table(*half_plane(8)), LABELS, {"narrow": ("published", PUBLISHED_MAP)}, *ENDING),
    "large maps": lambda: fourier.maps(table(*half_plane(2), seeds=1), LABELS, {}, *ENDING),
    "steps": lambda: convergence.maps([SPEED], *ENDING),
    "sweep": lambda: nad_sweep.sweep(
        table(*SWEPT), table(*LOSSES), SPECTRA, LABELS, {"lenet": ("published", KNOWN)}, *ENDING
    ),
    "curve": lambda: poison.curve(table(*CARRIERS, test_set="clean"), LABELS, {"narrow": KNOWN}, 10, *ENDING),
    "examples": lambda: poison.examples([(PICTURE, [PICTURE, PICTURE * 1.1])] * 2, ["ape", "bee"], [0, 100], *ENDING),
    "bars": lambda: flip.bars(table({"images": "plain"}, {"images": "flipped"}), LABELS, BARS, 10, *ENDING),
    "components": lambda: flip.components(table(*CHANGES).query("architecture == 'lenet'"), "title", *ENDING),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_the_same_bytes_each_time(name, tmp_path):
    drawn_twice(FIGURES[name], tmp_path)


def test_a_persons_own_style_of_figures_changes_none(tmp_path):
    """Nor does a backend that is not there: these are figures for files."""
    program = (
        "from pathlib import Path; from pipeline.report import style; "
        "figure = style.Figure(); figure.subplots().plot([1, 2]); style.save(figure, Path(), 'line')"
    )
    drawn = {}
    for name, style in {"plain": "", "own": "axes.facecolor: red\nfont.size: 30\nsavefig.dpi: 50\n"}.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "matplotlibrc").write_text(style, encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "MPLBACKEND": "nonsense"}
        subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, check=True)
        drawn[name] = [path.read_bytes() for path in (folder / "line.png", folder / "line.svg")]
    assert drawn["own"] == drawn["plain"]
