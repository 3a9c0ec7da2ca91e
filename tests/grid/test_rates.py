"""The rates that earlier runs measured are kept from run to run."""

from pipeline.grid.forecast import add_rates, rates


def test_the_rates_of_one_run_are_known_to_the_next(folder):
    assert rates() == {}
    add_rates({"lenet": 0.001, "mlp": 0.004})
    add_rates({"lenet": 0.002})
    assert rates() == {"lenet": 0.002, "mlp": 0.004}
    assert [path.name for path in folder.glob(".cells/*")] == ["rates.json"]
