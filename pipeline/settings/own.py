"""What decides results and lies outside the package: networks of one's own with the modules that they import, and files of NADs.

DVC compares the files that it is told of in dvc.yaml, but which these are is known once params.yaml has been read. So `plan` keeps a
link to each of them in the folder `LINKS`, on which it depends, and writes their digests into what it asks of the other stages: an
edit of one of them runs `plan`, and after that the stages whose part of the plan it has changed.
"""

import dataclasses
import hashlib
import os
from pathlib import Path

from pipeline.machine import closure
from pipeline.networks import NETWORKS, Specification
from pipeline.project.artifacts import fresh
from pipeline.settings import Plans

LINKS = Path(".own/links")
"""Where the links lie, each under the path of the file that it leads to."""


def _code(specification: Specification) -> str | None:
    """The digest of the code of a network that is not built in: of one that is, every stage knows the files."""
    place = specification["network"]
    return None if place in NETWORKS.values() else closure.digest(place)


def _contents(file: str) -> str:
    """The digest of a file."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def with_digests(plans: Plans) -> Plans:
    """Plans with the digest of all that lies outside the package, beside the networks and the NADs that it decides."""
    requests = {
        name: dataclasses.replace(
            request, digest=_contents(file) if (file := request.source.file) else _code(request.specification)
        )
        for name, request in plans.nads.members.items()
    }
    experiments = {
        name: dataclasses.replace(
            plan,
            members={
                architecture: dataclasses.replace(member, digest=_code(member.specification))
                for architecture, member in plan.members.items()
            },
        )
        for name, plan in plans.experiments.items()
    }
    return dataclasses.replace(plans, nads=dataclasses.replace(plans.nads, members=requests), experiments=experiments)


def files(plans: Plans) -> set[Path]:
    """The files outside the package that decide what plans ask for."""
    used = [request.specification for request in plans.nads.members.values() if request.source.file is None]
    used += [member.specification for plan in plans.experiments.values() for member in plan.members.values()]
    places = {specification["network"] for specification in used} - set(NETWORKS.values())
    found = {Path(request.source.file) for request in plans.nads.members.values() if request.source.file}
    return found | {Path(file) for place in places for file in closure.files(place)}


def link(files: set[Path]) -> None:
    """Lay a link to each of the files, and take away those to others."""
    fresh(LINKS)
    for file in files:
        # Those of the repository under their paths in it, which are the same in the copies that `dvc exp run --temp` makes.
        path = Path(os.path.relpath(file))
        if ".." in path.parts:
            path = Path("elsewhere", *file.absolute().parts[1:])
        (LINKS / path).parent.mkdir(parents=True, exist_ok=True)
        (LINKS / path).symlink_to(file.absolute())
    if not files:
        LINKS.rmdir()
