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
    """One architecture's part of the grid: one training and test with each map."""

    maps: tuple[str, ...] = ("plain", "flipped")

    def __post_init__(self) -> None:
        for name in self.maps:
            maps.check(name)
        if not self.maps or len(set(self.maps)) < len(self.maps):
            raise ValueError("maps must name at least one map, and each only once")

    def count_nads(self, shape: Shape) -> int:
        """Return the number of NADs of the basis, which is always complete.

        Raises:
            ValueError: A map needs NADs of one channel, and these are of three.
        """
        for name in self.maps:
            if maps.needs_components(name) and shape[0] != 1:
                raise ValueError(f"the map {name} is only for NADs of one channel")
        return dimension(shape)


class Flip(BasisExperiment):
    """Pictures as they are, with their NAD coefficients in reverse order, and after
    other maps."""

    coordinates = ("images",)
    Grid = Maps

    def grid_points(self, member):
        """Yield every map."""
        for name in member.grid.maps:
            yield {"images": name}

    def draw_base_noise(self, plan, seed, images):
        """Draw also the principal components (H·W, H·W) of the training pictures, if a
        map needs them."""
        arrays = super().draw_base_noise(plan, seed, images)
        names = set()
        for member in plan.members.values():
            names.update(member.grid.maps)
        if any(maps.needs_components(name) for name in names):
            x = self.normalised_pictures("train", arrays)
            arrays["components"] = maps.principal_components(x)
        return arrays

    def direction_names(self, cell):
        """Return the name of the cell's architecture, unless images stay as they
        are."""
        return [] if cell["images"] == "plain" else super().direction_names(cell)

    def depends_on(self, cell, array):
        """Return False for principal components that the cell's map does not need."""
        return array != "components" or maps.needs_components(cell["images"])

    def dataset(self, cell, split, base_noise, directions):
        """Return inputs (N, 3, H, W) and class numbers; directions: NADs (D, D).

        Pictures are normalised before they are mapped, so the mean image is mapped too.
        A seed has one random map of each kind, the same for training and test.
        """
        name = cell["images"]
        x = maps.apply_map(
            self.normalised_pictures(split, base_noise),
            directions[0] if directions else None,
            name,
            stream(cell["seed"], self.name, name),
            base_noise.get("components"),
        )
        return x, self.classes(split, base_noise)
