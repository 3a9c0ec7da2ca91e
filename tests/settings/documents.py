"""Documents with one thing changed, and what is said of them."""

import copy

import pytest

from pipeline.project.errors import InputError
from pipeline.settings import plans

GONE = object()
"""The value that `changed` takes away."""


def changed(document: dict, path: str, value: object) -> dict:
    """A copy of a document whose value at `path` (keys with slashes between them) is another one, new, or gone."""
    found = copy.deepcopy(document)
    *parents, last = path.split("/")
    place = found
    for key in parents:
        place = place[key]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return found


def renamed(document: dict, path: str, name: str) -> dict:
    """A copy of a document in which the key at `path` has another name, at the end of its mapping."""
    parent, _, last = path.rpartition("/")
    value = document
    for key in path.split("/"):
        value = value[key]
    return changed(changed(document, path, GONE), f"{parent}/{name}" if parent else name, value)


def sentences(document: dict) -> list[str]:
    """What is said of a document that is refused."""
    with pytest.raises(InputError) as caught:
        plans(document)
    return str(caught.value).split("\n")
