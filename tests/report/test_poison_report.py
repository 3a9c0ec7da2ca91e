"""What the figures of `poison` show."""

from pipeline.report import published


def test_the_published_curve_stands_beside_ours(section_of):
    panel = section_of("poison").pictures[0].figure.axes[0]
    known = published.table("poison")["resnet18"]
    assert list(known) in [list(line.get_ydata()) for line in panel.lines]
