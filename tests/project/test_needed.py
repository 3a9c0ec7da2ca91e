"""What a Python lacks to run the stages is said in one line, before anything else is imported."""

import re
import shutil
import subprocess
import sys
from importlib import metadata

import pytest
from structure import ROOT

import pipeline


def test_other_versions_of_python_are_told_which_are_needed():
    for version in ((3, 10, 13), (3, 13, 0), (3, 8, 1), (4, 0, 0)):
        said = pipeline.lacking(version)
        assert f"needs Python 3.11 or 3.12, and this is Python {version[0]}.{version[1]};" in said and "\n" not in said
    assert pipeline.lacking(sys.version_info) is None and pipeline.lacking((3, 12, 1)) is None


def test_missing_and_old_packages_are_named(monkeypatch):
    known = metadata.version

    def without(name):
        if name == "seaborn":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", without)
    assert re.fullmatch(
        r"the package seaborn is not installed in .*; run `pip install .*`.*", pipeline.lacking((3, 11))
    )
    monkeypatch.setattr(metadata, "version", lambda name: {"torch": "2.9.1+cpu"}.get(name) or known(name))
    assert pipeline.lacking((3, 11)).startswith("torch 2.9.1+cpu is too old, 2.11 is needed; run `pip install")
    monkeypatch.setattr(metadata, "version", lambda name: {"torch": "2.11.0a0+cpu"}.get(name) or known(name))
    assert pipeline.lacking((3, 11)) is None


def test_every_package_that_is_needed_is_required():
    required = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    assert set(pipeline.NEEDED) <= required


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.13", "3.14"])
def test_a_stage_says_so_itself(version):
    python = shutil.which(f"python{version}")
    done = python and subprocess.run([python, "-m", "pipeline.plan"], cwd=ROOT, capture_output=True, text=True)
    if not done or "this project" not in done.stderr and "not found" in done.stderr:
        pytest.skip(f"there is no Python {version} here")
    assert done.returncode == 1 and done.stderr.startswith("error: this project needs Python 3.11 or 3.12")
    assert done.stderr.count("\n") == 1 and not done.stdout
