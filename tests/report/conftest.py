"""The small run of `small_run`, written once, its sections, and what `render` makes of
it."""

import functools
import shutil

import pytest
import small_run

from pipeline import experiments, render
from pipeline.project import artifacts
from pipeline.report import run, style


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """The folder of the small run, which no test may change."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        small_run.write_run()
    return folder


@pytest.fixture
def whole(run_folder, monkeypatch):
    """The small run, in its folder."""
    monkeypatch.chdir(run_folder)
    return run.read_run(experiments.names())


@pytest.fixture(scope="session")
def section_of(run_folder):
    """A function from a name to that section of the small run, made only once."""

    @functools.cache
    def make_section(name):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(run_folder)
            patch.setattr(style, "LETTERS", 10**4)  # no caption is broken into lines
            report = run.read_run(experiments.names())
            return render.PARTS[name].make_section(report)

    return make_section


@pytest.fixture(scope="session")
def rendered(run_folder, tmp_path_factory):
    """The folder reports/ of the small run after `render`."""
    folder = tmp_path_factory.mktemp("rendered")
    shutil.copytree(run_folder, folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        render.main()
    return folder / artifacts.REPORTS
