"""requirements.txt names exact versions, and the tests run with them; requirements.lock
has these and all that they need, with hashes."""

import re
from importlib.metadata import version

from structure import ROOT

PINNED = [
    line.split("==")
    for line in (ROOT / "requirements.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
LOCK = (ROOT / "requirements.lock").read_text()


def test_requirements_are_pinned_and_installed():
    for name, pinned in PINNED:
        assert version(name).split("+")[0] == pinned, name


def test_the_lock_has_every_requirement_in_its_version_with_hashes():
    locked = re.findall(
        r"^(\S+)==(\S+)(?: ; [^\n]*?)? \\\n    --hash=sha256:", LOCK, re.M
    )
    assert {(name.replace(".", "-"), pinned) for name, pinned in PINNED} <= set(locked)
    assert len(locked) == len(re.findall(r"^[^\s#]", LOCK, re.M))


def test_the_image_is_made_from_files_that_its_build_is_sent():
    (copied,) = re.findall(r"^COPY (.*) \S+$", (ROOT / "Dockerfile").read_text(), re.M)
    sent = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), re.M)
    assert sorted(copied.split()) == sorted(sent) and all(
        (ROOT / name).exists() for name in sent
    )
