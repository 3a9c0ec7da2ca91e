"""How fast a machine trains: kept from run to run, estimated where it is not known."""

import pytest
import torch

from pipeline.machine import rates


def test_what_a_run_took_is_known_to_the_next(tmp_path):
    folder = tmp_path / "store"
    kept = rates.Rates(folder)
    assert kept.get("lenet") is None
    kept.note("lenet", 0.001)
    kept.note("mlp", 0.0001)
    kept.note("lenet", 0.002)
    again = rates.Rates(folder)
    assert (again.get("lenet"), again.get("mlp"), again.get("vgg11")) == (0.002, 0.0001, None)
    assert [path.name for path in folder.iterdir()] == ["rates.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
def test_a_damaged_file_is_as_if_it_were_not_there(content, tmp_path):
    (tmp_path / "rates.json").write_bytes(content)
    kept = rates.Rates(tmp_path)
    assert kept.get("lenet") is None
    kept.note("lenet", 1.0)
    assert rates.Rates(tmp_path).get("lenet") == 1.0


def test_the_speed_of_a_machine_on_which_four_products_take_two_seconds(monkeypatch):
    """4 · 2 · 512³ operations in 2 s; a network reaches 0.3 of that, and training takes three times a forward pass."""
    seen = []

    def clock():
        seen.append(torch.get_num_threads())
        return 2.0 * len(seen)

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        monkeypatch.setattr(rates.time, "perf_counter", clock)
        assert rates.speed() == pytest.approx(0.3 / 3 * 4 * 2 * 512**3 / 2)
        assert seen == [1, 1], "timed with one thread"
        assert torch.get_num_threads() == 2, "and the caller's threads are restored"
    finally:
        torch.set_num_threads(threads)
