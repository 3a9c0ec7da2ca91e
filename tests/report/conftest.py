"""What tests of several figures share."""

import pytest


@pytest.fixture
def _undrawn(monkeypatch):
    """Heat maps without the picture that seaborn draws of each, to turn tick labels that overlap: our figures turn their own."""
    monkeypatch.setattr("seaborn.matrix._draw_figure", lambda figure: None)
