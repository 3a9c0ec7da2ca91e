"""requirements.txt names exact versions, and the tests run with them."""

from importlib.metadata import version

from structure import ROOT


def test_requirements_are_pinned_and_installed():
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, pinned = line.split("==")
            assert version(name).split("+")[0] == pinned, name
