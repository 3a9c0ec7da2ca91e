"""The small run of `small_run`, laid down once, its sections, and what `render` makes of it."""

import shutil

import pytest
import small_run

from pipeline import experiments, render
from pipeline.project import artifacts
from pipeline.report import run, style


@pytest.fixture(scope="session")
def _laid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        small_run.lay_run()
    return folder


@pytest.fixture
def whole(_laid, monkeypatch):
    """The small run, in its folder, which no test may change."""
    monkeypatch.chdir(_laid)
    return run.read(experiments.names())


@pytest.fixture
def unbroken(monkeypatch):
    """Captions whose lines are as long as they are."""
    monkeypatch.setattr(style, "LETTERS", 10**4)


class Sections(dict):
    """The sections of the small run by their names, each made when it is first asked for."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def __missing__(self, name):
        (part,) = (part for part in render.IN_ORDER if part.__name__.endswith(f".{name}"))
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            # seaborn draws the figure of each heat map, to turn tick labels that overlap: our
            # figures turn their own.
            patch.setattr("seaborn.matrix._draw_figure", lambda figure: None)
            patch.setattr(style, "LETTERS", 10**4)  # no caption is broken into lines
            self[name] = part.section(run.read(experiments.names()))
        return self[name]


@pytest.fixture(scope="session")
def sections(_laid):
    """`Sections` of the small run."""
    return Sections(_laid)


@pytest.fixture(scope="session")
def rendered(_laid, tmp_path_factory):
    """The folder reports/ of the small run after `render`."""
    folder = tmp_path_factory.mktemp("rendered")
    shutil.copytree(_laid, folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        artifacts.FIGURES.mkdir()
        (artifacts.FIGURES / "of_before.png").touch()
        render.main()
    return folder / artifacts.REPORTS
