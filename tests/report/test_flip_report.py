"""What the figures, the table and the sentence of `flip` show."""

import drawing


def test_bars_are_ours_and_to_their_right_the_published_ones(section_of):
    (panel,) = section_of("flip").pictures[0].figure.axes
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
