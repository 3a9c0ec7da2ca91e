"""requirements.txt names exact versions, and the tests run with them; requirements.lock has these
and all that they need, with hashes."""

import ast
import re
import sys
from importlib.metadata import version

from structure import ROOT, files

import pipeline

PINNED = [
    line.split("==")
    for line in (ROOT / "requirements.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
LOCK = (ROOT / "requirements.lock").read_text()


def test_requirements_are_pinned_and_installed():
    for name, pinned in PINNED:
        assert version(name).split("+")[0] == pinned, name


def test_every_package_that_the_code_imports_is_looked_for_at_its_start():
    nodes = [
        node
        for path in files()
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    ]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    imported = {name.split(".")[0] for name in names} - sys.stdlib_module_names
    # Of its own, of a cluster, of networks from elsewhere, and what DVC and Jinja bring along.
    others = {"pipeline", "ray", "timm", "dvc", "markupsafe"}
    assert imported - others == {name.split(".")[0] for name in pipeline.NEEDED}


def test_the_lock_has_every_requirement_in_its_version_with_hashes():
    locked = re.findall(r"^(\S+)==(\S+)(?: ; [^\n]*?)? \\\n    --hash=sha256:", LOCK, re.M)
    assert {(name.replace(".", "-"), pinned) for name, pinned in PINNED} <= set(locked)
    assert len(locked) == len(re.findall(r"^[^\s#]", LOCK, re.M))


def test_the_image_is_made_from_files_that_its_build_is_sent():
    (copied,) = re.findall(r"^COPY (.*) \S+$", (ROOT / "Dockerfile").read_text(), re.M)
    sent = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), re.M)
    assert sorted(copied.split()) == sorted(sent) and all((ROOT / name).exists() for name in sent)
