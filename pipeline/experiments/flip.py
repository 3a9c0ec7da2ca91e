"""`flip` (paper 1, §5, table 1): images, and images with NAD coefficients in reverse
order.

The flip loses nothing, but moves content from directions that the network prefers to
directions that it neglects. The other maps of `pipeline.training.maps`, which the paper
does not have, tell how much of the damage needs that move.
"""

import dataclasses

from pipeline.experiments.experiment import BasisExperiment
from pipeline.training import maps
from pipeline.training.seeds import stream
from pipeline.training.shapes import Shape, dimension


@dataclasses.dataclass(frozen=True)
class Maps:
    """One architecture's part of the grid: it is trained and tested once with each map."""

    maps: tuple[str, ...] = ("plain", "flipped")

    def __post_init__(self) -> None:
        for name in self.maps:
            maps.check(name)

    def nads(self, shape: Shape) -> int:
        """The number of NADs of the basis, which is always complete."""
        return dimension(shape)


class Flip(BasisExperiment):
    """Pictures as they are, with their NAD coefficients in reverse order, and after
    other maps."""

    coordinates = ("images",)
    Grid = Maps

    def points(self, member):
        """Every map."""
        for name in member.grid.maps:
            yield {"images": name}

    def draw(self, plan, seed, images):
        """Also the principal components (H·W, H·W) of the training pictures, if a map
        needs them."""
        arrays = super().draw(plan, seed, images)
        names = [name for member in plan.members.values() for name in member.grid.maps]
        if any(map(maps.needs_components, names)):
            x = self.pictures("train", arrays)
            arrays["components"] = maps.principal_components(x)
        return arrays

    def reads(self, cell, array):
        """Whether an array decides a cell: principal components do so for some maps
        only."""
        return array != "components" or maps.needs_components(cell["images"])

    def dataset(self, cell, split, draw, directions):
        """Inputs (N, 3, H, W) and class numbers (N,) of a cell; directions: the NADs
        (D, D).

        Pictures are normalised before they are mapped, so the mean image is mapped too.
        A seed has one random map of each kind, the same for training and test.
        """
        name = cell["images"]
        rng = stream(cell["seed"], self.name, name)
        components = draw.get("components")
        x = maps.mapped(
            self.pictures(split, draw), directions[0], name, rng, components
        )
        return x, self.classes(split, draw)
