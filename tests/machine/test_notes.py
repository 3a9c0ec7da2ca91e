"""What earlier runs found out is kept from run to run."""

import pytest

from pipeline.machine.notes import Notes


def test_what_a_run_noted_is_known_to_the_next(tmp_path):
    folder = tmp_path / "store"
    kept = Notes(folder, "rates")
    assert kept.get("lenet") is None
    kept.add([])
    assert not folder.exists(), "nothing to note is not written"
    kept.add([("lenet", 0.001), ("mlp", [1, 2])])
    kept.add([("lenet", 0.002)])
    again = Notes(folder, "rates")
    assert (again.get("lenet"), again.get("mlp"), again.get("vgg11")) == (0.002, [1, 2], None)
    assert Notes(folder, "others").get("lenet") is None
    assert [path.name for path in folder.iterdir()] == ["rates.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"7", b"[1]", b"null"])
def test_a_damaged_file_is_as_if_it_were_not_there(content, tmp_path):
    (tmp_path / "rates.json").write_bytes(content)
    kept = Notes(tmp_path, "rates")
    assert kept.get("lenet") is None
    kept.add([("lenet", 1.0)])
    assert Notes(tmp_path, "rates").get("lenet") == 1.0
