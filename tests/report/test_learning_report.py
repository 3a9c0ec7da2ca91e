"""What the figure, the table and the sentences of `learning` show."""

import drawing
import pytest

from pipeline.report import style

HALF = 0.1 * 0.5**0.5


def test_courses_stand_over_the_epochs_beside_what_random_directions_have(section_of):
    axes = section_of("learning").pictures[0].figure.axes
    (linear, _), (images, _), (both, last) = (axes[place : place + 2] for place in (0, 2, 4))
    ((points, whiskers, colour, *_),) = drawing.curves(linear).values()
    assert points == drawing.numbers([[0, 1.56], [1, 2.57], [2, 3.58]]) and colour == style.BLACK
    assert whiskers[0] == pytest.approx([0, 1.56 - HALF, 1.56 + HALF])
    assert drawing.hollow(linear)[-1] == points, "no network of `z` was fitted"
    assert not drawing.hollow(last)
    assert len(drawing.curves(images)) == 1 and len(drawing.curves(both)) == 2
    chance = [panel.lines[0].get_ydata()[0] for panel in (linear, images, both)]
    assert chance == pytest.approx([100 / 1024, 1000 / 1024, 1000 / 1024])
    assert drawing.ticks(last.xaxis) == [(0, "0"), (1, "1"), (2, "2")]
    names = [text.get_text() for text in last.get_legend().get_texts()]
    assert names == ["D(v), v: NAD 10", "images"]
