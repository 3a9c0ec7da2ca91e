"""What the figures, the table and the sentence of `flip` show."""

import drawing
from small_run import LABELS, NOT_FITTED, SIZES, SPREAD, captions, of_cifar10

from pipeline.report import flip


def test_published_values_stand_beside_ours(whole, unbroken):
    section = flip.section(of_cifar10(whole))
    # Of images there are but 700.
    caption = SIZES.format("700") + " · images: CIFAR-10" + SPREAD
    assert section.caption == caption
    z, a = ["98.0 (0 of 2)", "99.0 (1 of 2)"], ["100.0 (2 of 2)"] * 2
    assert section.table.rows == [
        [LABELS["z"], "50.1 ± 0.1", "50.5 ± 0.1", *z, "89 / 58, full width"],
        ["LeNet", "50.9 ± 0.1", "51.3 ± 0.1", *a, "69 / 48"],
    ]
    assert section.findings == [
        "Accuracy with NAD coefficients in reverse order, 2 seeds: ResNet-18, width ×0.125: "
        "50.1 ± 0.1 % on images as they are and 50.5 ± 0.1 % on flipped ones, a loss of −0.4 ± 0.0 "
        "points, not fitted: training accuracies 98 % and 99 % (published, full width 89 and 58 %)"
        "; LeNet: 50.9 ± 0.1 % on images as they are and 51.3 ± 0.1 % on flipped ones, a loss of "
        "−0.4 ± 0.0 points (published 69 and 48 %)."
    ]
    components = [
        (
            f"flip_components_{name}",
            f"what predictions of {label} rest on",
            f"{caption} trained to {trained} % training accuracy",
        )
        for (name, label), trained in zip(LABELS.items(), (98.0, 100.0))
    ]
    marked = f"{caption} dashed outlines: 2 of 4 bars, {NOT_FITTED}"
    bars = ("flip_bars", "accuracy on plain and flipped images", marked)
    assert captions(section) == [bars, *components]


def test_bars_are_ours_and_to_their_right_the_published_ones(whole):
    figure = flip.section(of_cifar10(whole)).pictures[0].figure
    (panel,) = figure.axes
    middle = lambda bar: round(bar.get_x() + bar.get_width() / 2, 3)
    height = lambda bar: round(bar.get_height(), 1)
    look = [(middle(bar), height(bar), drawing.colour(bar)) for bar in panel.patches]
    blue, yellow, white = "#0072b2", "#f6c667", "#ffffff"
    assert look == [
        (-0.305, 50.1, blue), (-0.1, 89, white), (0.695, 50.9, blue), (0.9, 69, white),
        (0.145, 50.5, yellow), (0.35, 58, white), (1.145, 51.3, yellow), (1.35, 48, white),
    ]  # fmt: skip
    dashed = [bar.get_linestyle() not in ("solid", "-") for bar in panel.patches]
    assert dashed == [True, False, False, False, True, False, False, False]
    ticks = [label.get_text() for label in panel.get_xticklabels()]
    assert ticks == ["ResNet-18,\nwidth ×0.125\n(published, full width)", "LeNet"]
    (guessing,) = [line for line in panel.lines if line.get_label() == "guessing"]
    assert list(guessing.get_ydata()) == [20, 20]


def test_components_are_bands_above_and_single_nads_below(sections):
    figure = sections["flip"].pictures[2].figure
    assert figure._suptitle.get_text().startswith("What the predictions of LeNet rest on")
    above, below = figure.axes[0], figure.axes[2]
    assert [text for _, text in drawing.ticks(above.xaxis)] == ["0", "2–9"]
    assert [text for _, text in drawing.ticks(below.xaxis)] == ["0", "2"]
    points, whiskers, *_ = drawing.curves(below)["predictions that change"]
    assert points == [[0, 80.5], [1, 80.5]]
    half = 0.5**0.5
    assert whiskers == drawing.numbers([[x, 80.5 - half, 80.5 + half] for x in (0, 1)])
    assert [round(bar.get_height(), 6) for bar in below.patches] == [10, 10]
