"""One thread for NumPy's decompositions too: the matrices are small, and more threads would wait for each other."""

import pytest
import threadpoolctl


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """NumPy with one thread."""
    with threadpoolctl.threadpool_limits(1):
        yield
