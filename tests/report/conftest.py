"""The small run of `small_run`, laid down once, its sections, and what `render` makes
of it."""

import functools
import shutil

import pytest
import small_run

from pipeline import experiments, render
from pipeline.project import artifacts
from pipeline.report import run, style


@pytest.fixture(scope="session")
def laid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        small_run.lay_run()
    return folder


@pytest.fixture
def whole(laid, monkeypatch):
    """The small run, in its folder, which no test may change."""
    monkeypatch.chdir(laid)
    return run.read_run(experiments.names())


@pytest.fixture(scope="session")
def section_of(laid):
    """A function from a name to that section of the small run, made when it is first
    asked for."""

    @functools.cache
    def section_of(name):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(laid)
            patch.setattr(style, "LETTERS", 10**4)  # no caption is broken into lines
            return render.PARTS[name].make_section(run.read_run(experiments.names()))

    return section_of


@pytest.fixture(scope="session")
def rendered(laid, tmp_path_factory):
    """The folder reports/ of the small run after `render`."""
    folder = tmp_path_factory.mktemp("rendered")
    shutil.copytree(laid, folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        render.main()
    return folder / artifacts.REPORTS
