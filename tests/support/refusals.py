"""The kind and the fields of an InputError are what tests assert, not its wording."""

import contextlib

import pytest

from pipeline.project.errors import InputError


@contextlib.contextmanager
def refused(kind, **fields):
    """Context that must raise an InputError of a kind, with these of its fields."""
    with pytest.raises(InputError) as caught:
        yield caught
    error = caught.value
    assert error.kind == kind, f"{error.kind}: {error}"
    found = {name: error.fields.get(name) for name in fields}
    assert found == fields
    assert kind == "settings" or "\n" not in str(error)
