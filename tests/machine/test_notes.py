"""What earlier runs found out is kept from run to run."""

import pytest

from pipeline.machine.notes import Notes


@pytest.mark.parametrize("damage", [None, b"", b"\xff\xfe", b"7"])
def test_what_a_run_noted_is_known_to_the_next(damage, tmp_path):
    if damage is not None:  # as if it were not there
        (tmp_path / "rates.json").write_bytes(damage)
    notes = Notes(tmp_path, "rates")
    assert notes.get("lenet") is None
    notes.add([("lenet", 0.001), ("mlp", [1, 2])])
    notes.add([("lenet", 0.002)])
    again = Notes(tmp_path, "rates")
    assert (again.get("lenet"), again.get("mlp"), again.get("vgg11")) == (0.002, [1, 2], None)
    assert [path.name for path in tmp_path.iterdir()] == ["rates.json"]
