"""The NADs that are installed with the package, by name.

`python -m studies.named_nads` makes their files.
"""

import dataclasses
from pathlib import Path

from pipeline.nads.directions import NADs
from pipeline.project.errors import InputError

FOLDER = Path(__file__).parents[1] / "named_nads"


def load(name: str) -> NADs:
    """Load the NADs of an architecture of params.yaml, estimated in advance.

    Args:
        name: Name of the architecture.

    Returns:
        The NADs of the untrained architecture.

    Raises:
        InputError: For an architecture without such NADs; it lists the names.

    >>> nads = load("vit")
    >>> nads.networks, nads.shape, nads.estimand
    (64, (1, 32, 32), 'secant')
    """
    names = sorted(path.stem for path in FOLDER.glob("*.npz"))
    if name not in names:
        raise InputError(
            f"there are no NADs named {name!r}; choose one of {', '.join(names)}",
            "unknown-name",
            name=name,
            known=names,
        )
    nads = NADs.load(FOLDER / f"{name}.npz")
    directions = nads.directions
    # Rounded to float16, rows are orthonormal within 0.001. Each of these steps towards
    # the nearest orthonormal rows about squares what is missing.
    for _ in range(3):
        directions = 1.5 * directions - 0.5 * (directions @ directions.T) @ directions
    return dataclasses.replace(nads, directions=directions)
