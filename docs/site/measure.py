"""Measure what the networks of the article reach that train in the reader's browser.

`python -m docs.site.measure > docs/site/measured.json` trains them with Node.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from docs.site.engine import compose_engine, read_kernel

SEEDS = (1, 2, 3, 4, 5)

FREQUENCIES = (2, 4, 8)

INDICES = (0, 3, 10, 18, 30, 80, 180, 250)
"""NADs along which the network with max pooling is trained, with the first seed."""

NETWORKS = 60
"""Untrained networks from which its NADs are estimated."""


def run_node(expression: str, kernel: bytes | None = None) -> Any:
    """The value of an expression of JavaScript that uses docs/site/training.

    Args:
        expression: The expression.
        kernel: See `compose_engine`; by default training/kernel.wat.
    """
    code = compose_engine(read_kernel() if kernel is None else kernel)
    code += f"\nprocess.stdout.write(JSON.stringify({expression}));"
    done = subprocess.run(
        ["node", "-"], input=code, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def train_networks(name: str, v: str, seeds: Sequence[int]) -> Mapping[str, list]:
    """Accuracies on training and on test samples, one for each seed.

    Args:
        name: Name of the network.
        v: The direction, an expression of JavaScript.
        seeds: The seeds.
    """
    command = f"((v) => {list(seeds)}.map((seed) => trainNetwork('{name}', v, seed)))"
    results = run_node(f"{command}({v})")
    return {split: [each[split] for each in results] for split in ("train", "test")}


def measure() -> dict[str, Any]:
    """The contents of measured.json."""
    waves = []
    for frequency in FREQUENCIES:
        v = f"fourierDirection({frequency}, {frequency})"
        row: dict[str, Any] = {"frequency": frequency}
        for name in ("linear", "pooled", "strided"):
            row[name] = train_networks(name, v, SEEDS)
        waves.append(row)
    along = []
    for index in INDICES:
        v = f"nadsOf(drawSecants({NETWORKS}, 1))[{index}].direction"
        along.append({"index": index, **train_networks("pooled", v, SEEDS[:1])})
    return {"seeds": SEEDS, "waves": waves, "nads": along}


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
