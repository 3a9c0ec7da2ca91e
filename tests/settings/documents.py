"""Documents with one thing changed, and what is said of them."""

import copy

import pytest

from pipeline.project.errors import InputError
from pipeline.settings import plans

GONE = object()
"""The value that `changed` takes away."""


def changed(document: dict, path: str, value: object) -> dict:
    """A copy of a document whose value at `path` (keys with slashes between them) is another one,
    new, or gone."""
    found = copy.deepcopy(document)
    *parents, last = path.split("/")
    place = found
    for key in parents:
        place = place.setdefault(key, {})
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return found


def sentences(document: dict) -> list[str]:
    """What is said of a document that is refused, each sentence without the name of the file."""
    with pytest.raises(InputError) as caught:
        plans(document)
    lines = str(caught.value).split("\n")
    assert all(line.startswith("params.yaml: ") for line in lines)
    return [line.removeprefix("params.yaml: ") for line in lines]
