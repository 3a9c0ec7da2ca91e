"""Measurements of this machine that later runs use, as small JSON files beside the store."""

import json
import typing
from collections.abc import Iterable
from pathlib import Path

from pipeline.machine.store import atomically

RATES = "rates"
"""Seconds of one core, or of the GPU, per sample in training, by `pipeline.grid.jobs.kind`."""


class Notes:
    """A table of JSON values in a store's folder. It can be measured again, so a damaged file
    counts as an empty one."""

    def __init__(self, folder: Path | str, kind: str) -> None:
        self.path = Path(folder) / f"{kind}.json"
        try:
            self.noted = dict(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError):
            self.noted = {}

    def get(self, key: str) -> typing.Any:
        """The value of a key, or None."""
        return self.noted.get(key)

    def add(self, values: Iterable[tuple[str, typing.Any]]) -> None:
        """Set values by their keys, in place of those of earlier runs."""
        if values := dict(values):
            self.noted |= values
            atomically(
                self.path,
                lambda path: Path(path).write_text(json.dumps(self.noted), encoding="utf-8"),
            )
