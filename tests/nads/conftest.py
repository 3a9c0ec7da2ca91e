"""One thread for NumPy's decompositions too: the matrices are small, and more threads would wait
for each other."""

import pytest
import threadpoolctl

from pipeline.machine import workers


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """NumPy with one thread."""
    with threadpoolctl.threadpool_limits(1):
        yield


@pytest.fixture
def here(monkeypatch):
    """The (estimate, number) of each network that is sampled, all of them in this process."""
    sampled = []

    def run(function, work, make_context, device):
        for position, (recipe, number) in enumerate(work):
            sampled.append((recipe.identity[1], number))
            yield position, function(make_context(), (recipe, number))

    monkeypatch.setattr(workers, "run", run)
    return sampled
