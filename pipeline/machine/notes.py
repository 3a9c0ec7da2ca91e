"""What earlier runs found out about this machine, by key: small files of JSON beside the store."""

import json
import typing
from collections.abc import Iterable
from pathlib import Path

from pipeline.machine.store import atomically

RATES = "rates"
"""Notes of the seconds of one core, or of the GPU, that a sample takes in training, by
`pipeline.grid.jobs.kind`."""


class Notes:
    """The notes of one kind in a store's folder. What is noted can be found out again, so a damaged
    file is an empty one."""

    def __init__(self, folder: Path | str, kind: str) -> None:
        self.path = Path(folder) / f"{kind}.json"
        try:
            self.noted = dict(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError):
            self.noted = {}

    def get(self, key: str) -> typing.Any:
        """What was noted under a key, or None."""
        return self.noted.get(key)

    def add(self, found: Iterable[tuple[str, typing.Any]]) -> None:
        """Note values of JSON under their keys, in place of what earlier runs did."""
        if found := dict(found):
            self.noted |= found
            atomically(
                self.path,
                lambda path: Path(path).write_text(json.dumps(self.noted), encoding="utf-8"),
            )
