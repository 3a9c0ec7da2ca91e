"""What is asked of every figure."""

from pipeline.figures import style


def drawn_twice(make, folder, name):
    """Assert that the figure of `make()` has its caption and notice, and the same bytes each time it is made."""
    contents = []
    for attempt in ("one", "two"):
        where = folder / attempt
        where.mkdir()
        figure = make()
        assert figure._supxlabel.get_text() == "caption" and figure._suptitle.get_text().endswith("\nnotice")
        style.save(figure, where, name)
        contents.append([(where / f"{name}.{kind}").read_bytes() for kind in ("png", "svg")])
    assert contents[0] == contents[1] and all(len(data) > 5000 for data in contents[0])
