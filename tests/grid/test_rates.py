"""The rates that earlier runs measured are kept from run to run."""

import pytest

from pipeline.grid.forecast import add_rates, rates
from pipeline.machine import store


@pytest.mark.parametrize("damage", [None, b"", b"\xff\xfe", b"7"])
def test_the_rates_of_one_run_are_known_to_the_next(damage, tmp_path, monkeypatch):
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    folder = store.default_folder()
    folder.mkdir()
    if damage is not None:  # as if it were not there
        (folder / "rates.json").write_bytes(damage)
    assert rates() == {}
    add_rates({"lenet": 0.001, "mlp": 0.004})
    add_rates({"lenet": 0.002})
    assert rates() == {"lenet": 0.002, "mlp": 0.004}
    assert [path.name for path in folder.iterdir()] == ["rates.json"]
