"""Figures of paper 1's experiments: same bytes each time, caption and notice, known maps and correlations."""

import matplotlib.patches
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawing import drawn_twice

from pipeline.report import flip, fourier, nad_sweep, nads, poison

LABELS = {"lenet": "LeNet", "resnet18_narrow": "ResNet-18, width ×0.125"}
BOTH = ("lenet", "resnet18_narrow")
ENDING = ("caption", "notice")


def table(*rows, names=BOTH, seeds=2, **constant):
    """Rows of every architecture and seed; accuracies differ between seeds."""
    return pd.DataFrame(
        [
            {"architecture": name, "seed": seed, "n": 100, "accuracy": 0.6 + 0.1 * seed} | constant | row
            for name in names
            for seed in range(seeds)
            for row in rows
        ]
    )


def half_plane(step):
    """One of each k and −k among the multiples of `step`, in either sign."""
    every = [(r, c) for r in range(-16, 16, step) for c in range(-16, 16, step)]
    mirrored = {k: tuple(fourier.wrapped(-x) for x in k) for k in every}
    return [k if sum(k) % (3 * step) else mirrored[k] for k in every if k <= mirrored[k]]


def frequencies(step, **options):
    return table(*({"k_row": r, "k_col": c} for r, c in half_plane(step)), test_set="all", **options)


def sweep(names=BOTH, seeds=2, accuracies=(1.0, 0.9, 0.5), estimands=("secant", "gradient")):
    rows = [
        {"estimand": e, "index": i, "accuracy": a}
        for e in estimands
        for i, a in zip((0, 10, 102), accuracies, strict=True)
    ]
    results = table(*rows, names=names, seeds=seeds, test_set="all")
    losses = table(*({**row, "epoch": epoch, "loss": 1 / epoch} for row in rows for epoch in range(1, 6)), names=names)
    return results, losses, {(name, e): np.geomspace(1, 1e-6, 1024) for name in names for e in estimands}


def carriers(names=BOTH, seeds=2, data=("images", "mixture")):
    rows = [{"data": d, "index": i, "test_set": "clean"} for d in data for i in (-1, 0, 100, 1000)]
    return table(*rows, names=names, seeds=seeds)


def flipped(names=BOTH, seeds=2):
    return table({"images": "plain"}, {"images": "flipped"}, names=names, seeds=seeds, test_set="all")


def changes(*extra, seeds=2):
    edges = nads.bands(1024)
    return table(
        *(
            {"operation": operation, "first": first, "last": last, "changed": 0.1, "relative_change": 0.5 / (1 + first)}
            for operation in ("remove", "flip")
            for first, last in (*zip(edges[:-1], np.array(edges[1:]) - 1), *extra)
        ),
        seeds=seeds,
    )


PICTURE = np.full((3, 32, 32), 0.5)

FIGURES = {
    "maps": lambda: fourier.maps(frequencies(8), LABELS, fourier.PUBLISHED, *ENDING),
    "maps_of_one_seed": lambda: fourier.maps(frequencies(2, seeds=1), LABELS, fourier.PUBLISHED, *ENDING),
    "sweep": lambda: nad_sweep.sweep(*sweep(), LABELS, nad_sweep.PUBLISHED, *ENDING),
    "sweep_of_one_seed": lambda: nad_sweep.sweep(*sweep(seeds=1), LABELS, nad_sweep.PUBLISHED, *ENDING),
    "curve": lambda: poison.curve(carriers(), LABELS, poison.PUBLISHED, 10, *ENDING),
    "curve_of_images_alone": lambda: poison.curve(carriers(seeds=1, data=["images"]), LABELS, {}, 10, *ENDING),
    "examples": lambda: poison.examples([(PICTURE, [PICTURE, PICTURE * 1.1])] * 2, [0, 100], *ENDING),
    "bars": lambda: flip.bars(flipped(), LABELS, flip.PUBLISHED, 10, *ENDING),
    "bars_of_one_seed": lambda: flip.bars(flipped(seeds=1), LABELS, flip.PUBLISHED, 10, *ENDING),
    "components": lambda: flip.components(changes((8, 8), (1000, 1000)), "title", *ENDING),
    "components_of_one_seed": lambda: flip.components(changes((8, 8), seeds=1), "title", *ENDING),
}


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_deterministic_and_carry_their_caption(name, tmp_path):
    drawn_twice(FIGURES[name], tmp_path, name)


def test_a_map_is_filled_by_symmetry():
    rows = frequencies(8, names=["lenet"], seeds=1)
    rows["accuracy"] = [0.5 + 0.01 * abs(r) / 8 + (0.1 if r * c > 0 else 0) for r, c in rows[["k_row", "k_col"]].values]
    # −16 is its own negative, so the sign of a product with it says nothing.
    rows.loc[(rows["k_row"] == -16) | (rows["k_col"] == -16), "accuracy"] = 0.75
    axis, accuracies = fourier.filled(rows)
    assert axis.tolist() == [-16, -8, 0, 8] and len(rows) == 10
    np.testing.assert_allclose(accuracies, [[75, 75, 75, 75], [75, 61, 51, 51], [75, 50, 50, 50], [75, 51, 51, 61]])


def test_a_map_has_means_over_seeds_and_frequencies_are_modulo_32():
    rows = frequencies(4, names=["lenet"])
    axis, accuracies = fourier.filled(rows.assign(k_row=rows["k_row"] + 32))
    assert axis.tolist() == list(range(-16, 16, 4)) and accuracies.shape == (8, 8)
    np.testing.assert_allclose(accuracies, 65)


def test_a_map_with_a_missing_frequency_is_refused():
    rows = frequencies(4, names=["lenet"])
    gone = (rows["k_row"].abs() == 4) & (rows["k_col"] == rows["k_row"])
    assert gone.any()
    with pytest.raises(ValueError, match=r"no accuracy at 2 frequencies .*\(-4, -4\)"):
        fourier.filled(rows[~gone])


def test_published_frequencies_are_framed_where_the_map_has_them():
    for step, count in ((2, 2), (4, 1), (8, 0)):
        figure = fourier.maps(frequencies(step), LABELS, fourier.PUBLISHED, *ENDING)
        lenet, other = figure.axes[:2]
        frames = [patch for patch in lenet.patches if isinstance(patch, matplotlib.patches.Rectangle)]
        assert len(frames) == count == lenet.get_xlabel().count("published") and not other.patches
        if count:
            # Row k_row = 0, column k_col = −4.
            assert frames[0].get_xy() == (12 / step - 0.5, 16 / step - 0.5)
            assert "published at (0, −4): 81.0, here 65.0 ± 7.1" in lenet.get_xlabel()


def crosses(panel):
    return [line for line in panel.lines if line.get_marker() == "x" and len(line.get_xdata())]


def test_a_sweep_shows_correlations_the_early_epoch_and_published_values():
    figure = nad_sweep.sweep(*sweep(), LABELS, nad_sweep.PUBLISHED, *ENDING)
    lenet, other = figure.axes[:2]
    texts = [text.get_text() for text in lenet.get_legend().get_texts()]
    assert texts == ["secant, ρ = −1.00", "gradient, ρ = −1.00", "published (secant)"]
    (cross,) = crosses(lenet)
    assert cross.get_xdata().tolist() == [1, 11, 103, 303] and cross.get_ydata().tolist() == [100, 99.98, 80.1, 58.5]
    assert not crosses(other) and len(other.get_legend().get_texts()) == 2
    assert "epoch 2 of 5" in figure.axes[2].get_ylabel()


def test_a_sweep_takes_constant_spectra_and_a_single_estimand():
    results, losses, spectra = sweep(names=["lenet"], accuracies=(1, 1, 1), estimands=["secant"])
    figure = nad_sweep.sweep(results, losses, {key: np.full(1024, 0.1) for key in spectra}, LABELS, {}, *ENDING)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["secant, ρ undefined"]
    np.testing.assert_allclose(figure.axes[2].lines[0].get_ydata(), 1)


def test_published_values_of_poison_and_flip_stand_where_they_are_given():
    figure = poison.curve(carriers(), LABELS, {"lenet": [(0, 0, 18), (110, 200, 61)]}, 10, *ENDING)
    assert [line.get_ydata()[0] for line in crosses(figure.axes[0])] == [18, 61] and not crosses(figure.axes[1])
    assert any(text.get_text().startswith("published") for text in figure.legends[0].get_texts())
    figure = poison.curve(carriers(), LABELS, {}, 10, *ENDING)
    assert not any(text.get_text().startswith("published") for text in figure.legends[0].get_texts())
    panel = flip.bars(flipped(), LABELS, flip.PUBLISHED, 10, *ENDING).axes[0]
    assert [line.get_ydata()[0] for line in crosses(panel)] == [69, 48]
    assert not crosses(flip.bars(flipped(), LABELS, {}, 10, *ENDING).axes[0])


def test_examples_say_how_large_the_difference_is():
    changed = PICTURE.copy()
    changed[0, 0, 0] += 0.1
    figure = poison.examples([(PICTURE, [changed, PICTURE])], [0, 100], *ENDING)
    assert figure.axes[2].get_title() == "difference ×5.0" and figure.axes[4].get_title() == "no difference"
    assert figure.axes[2].get_xlabel() == "rms 0.46, max 25.5\ngrey levels"
    shown = figure.axes[2].images[0].get_array()
    assert shown[0, 0, 0] == pytest.approx(1) and shown[1, 1, 0] == pytest.approx(0.5)
