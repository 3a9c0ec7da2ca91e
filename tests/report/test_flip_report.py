"""What the figure of `flip` shows."""


def test_published_bars_stand_to_the_right_of_ours(section_of):
    (panel,) = section_of("flip").pictures[0].figure.axes
    bars = sorted((bar.get_x(), round(bar.get_height(), 1)) for bar in panel.patches)
    assert [height for _, height in bars] == [50.1, 89, 50.5, 58, 50.9, 69, 51.3, 48]
