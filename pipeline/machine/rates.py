"""Seconds of training on this machine, which each run measures and later ones forecast with."""

import json
from pathlib import Path

from pipeline.machine import store


def _path() -> Path:
    return store.default_folder() / "rates.json"


def read() -> dict[str, float]:
    """Seconds of one core, or of the GPU, per training sample, by `pipeline.grid.jobs.rate_key`.

    Empty where the file is missing or damaged, since every rate can be measured again.
    """
    try:
        return dict(json.loads(_path().read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError):
        return {}


def write(rates: dict[str, float]) -> None:
    """Add new rates, which replace earlier ones of the same key."""
    text = json.dumps(read() | rates)
    store.atomically(_path(), lambda path: path.write_text(text, encoding="utf-8"))
