"""What the tests of NADs share."""

import pytest

from pipeline.machine import workers


@pytest.fixture
def here(monkeypatch):
    """The (estimate, number) of each network that is sampled, all of them in this process."""
    sampled = []

    def run(function, jobs, make_context, device):
        (recipe,) = function.args
        for number in jobs:
            sampled.append((recipe.identity[1], number))
            yield number, function(make_context(), number)

    monkeypatch.setattr(workers, "run", run)
    return sampled
