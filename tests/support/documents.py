"""Documents of params.yaml with one thing changed."""

import copy

GONE = object()
"""The value that `changed` takes away."""


def changed(document: dict, path: str, value: object) -> dict:
    """A copy of a document whose value at `path` (keys with slashes between them) is
    another one, new, or gone."""
    document = copy.deepcopy(document)
    *parents, last = path.split("/")
    place = document
    for key in parents:
        place = place.setdefault(key, {})
    place[last] = value
    if value is GONE:
        del place[last]
    return document
