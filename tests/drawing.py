"""What is asked of every figure."""

from matplotlib.transforms import Bbox

from pipeline.report import style


def drawn_twice(make, folder, name):
    """Assert that the figure of `make()` has its caption and notice, and the same bytes each time it is made, also where the
    layout comes out different in its last bits.
    """
    contents = []
    for attempt in (0.0, 1e-13):
        where = folder / str(attempt)
        where.mkdir()
        figure = make()
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for part in (*figure.subfigs, *figure.axes):
            box = part.bbox_relative if part in figure.subfigs else part.get_position(original=True)
            moved = box.get_points() + attempt
            box.set_points(moved) if part in figure.subfigs else part.set_position(Bbox(moved))
        assert figure._supxlabel.get_text() == "caption" and figure._suptitle.get_text().endswith("\nnotice")
        style.save(figure, where, name)
        contents.append([(where / f"{name}.{kind}").read_bytes() for kind in ("png", "svg")])
    assert contents[0] == contents[1] and all(len(data) > 5000 for data in contents[0])
