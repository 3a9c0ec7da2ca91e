"""How fast a machine trains what it has not trained yet: estimated."""

import pytest
import torch

from pipeline.machine import rates


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
        assert rates.speed(torch.device("cpu"), "float32") == pytest.approx(0.3 / 3 * 4 * 2 * 512**3 / 2)
        assert seen == [1, 1], "timed with one thread"
        assert torch.get_num_threads() == 2, "and the caller's threads are restored"
    finally:
        torch.set_num_threads(threads)
