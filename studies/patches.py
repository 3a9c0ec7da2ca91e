"""The NADs of networks that cut their inputs into patches of p×p pixels.

    python -m studies.patches

The weights of such a network have the same distribution for all patches and for all
pixels of a patch. So an untrained network hardly distinguishes patches. Its first p²
NADs are the patterns that repeat in each patch, and its response √λ falls after them.
Tables and figure go into reports/kept/patches/four_networks/.

networks.csv has one row per network. `repeating` is the share of the first p² NADs'
span that consists of repeating patterns (by chance p²/1024). `k_row` and `k_col` are
the frequency to which the network responds least. `least` is this response, as a
multiple of the response to a random pattern.

spectra.csv has, at some indices, 100 √λ with its standard error (`value`). `held_out`
is the response along the same directions of as many other networks. The last
eigenvalues of an estimate are too small, because its directions are chosen to make them
small. The response of other networks along these directions is too large, because the
directions are not quite the true ones. The true value is between the two.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import threadpoolctl
from matplotlib.figure import Figure

from pipeline import networks
from pipeline.nads import NADs
from pipeline.profile.response import Response
from pipeline.report import style
from pipeline.report.labels import label
from pipeline.training.shapes import INPUT, SIDE
from studies.untrained import energy, estimate_nads

FOLDER = Path("reports/kept/patches/four_networks")

PATCHES = {
    "vit": (4, 64),
    "mixer": (4, 64),
    "convmixer": (4, 128),
    "convnext": (16, 128),
}
"""Height of a patch (of ConvNeXt: the product of its strides), and number of untrained
networks."""

INDICES = [0, 4, 8, 15, 16, 32, 64, 100, 200, 400, 800, 1000]


def repeating(directions: np.ndarray, patch: int) -> float:
    """The part of the span of orthonormal directions (K, D) in patterns that repeat
    every patch."""
    tiles = directions.reshape(-1, SIDE // patch, patch, SIDE // patch, patch)
    mean = tiles.mean((1, 3))
    return float(np.square(mean).sum() * (SIDE // patch) ** 2 / len(directions))


def make_figure(found: dict[str, NADs], held_out: dict[str, np.ndarray]) -> Figure:
    """The spectra of all networks, and pictures of some NADs of each."""
    # Four columns for spectra, six of pictures.
    figure, axes = style.new_figure(len(found), 10, 13, 5.6)
    spectra = figure.add_subplot(axes[0, 0].get_gridspec()[:, :4])
    for panel in axes[:, :4].flat:
        panel.remove()
    style.hide_frames(axes[:, 4:].flat)
    for (name, nads), row, colour in zip(
        found.items(), axes[:, 4:], style.COLOURS, strict=False
    ):
        patch = PATCHES[name][0]
        title = label(networks.specification({"network": name}))
        values = nads.eigenvalues**0.5
        spectra.plot(np.arange(len(values)) + 1, values, color=colour, label=title)
        look = {"color": colour, "linestyle": ":", "linewidth": 1}
        spectra.plot(np.arange(len(values)) + 1, held_out[name], **look)
        for panel, index in zip(
            row, (0, 1, patch**2 - 1, patch**2, 512, 1000), strict=True
        ):
            picture = nads.directions[index].reshape(SIDE, SIDE)
            bound = np.abs(picture).max()
            panel.imshow(picture, cmap="gray", vmin=-bound, vmax=bound)
            panel.set_title(f"{index}", fontsize=8)
        row[0].set_ylabel(title, fontsize=8)
    spectra.set(xscale="log", yscale="log", xlabel="NAD index + 1", ylabel="√λ")
    spectra.legend()
    caption = (
        "Solid: √λ, too small at the end; dotted: the response of as many other "
        "networks along the same directions, too large at the end.\nPictures: NADs 0 "
        "and 1, the last of the first p² and the next, 512 and 1000; each on its own "
        "scale."
    )
    return style.finish(figure, "Untrained networks of patches", caption)


def main() -> None:
    """Estimate, and write tables and figure."""
    FOLDER.mkdir(exist_ok=True)
    rows = []
    spectra = []
    found = {}
    held_out = {}
    for name, (patch, count) in PATCHES.items():
        specification = networks.specification({"network": name})
        nads = estimate_nads(specification, count, seed=0)
        others = estimate_nads(specification, count, seed=1)
        found[name] = nads
        held_out[name] = np.sqrt(energy(others, nads.directions))
        values = np.sqrt(nads.eigenvalues)
        directions = nads.directions
        least = Response(values[:, None] * directions, INPUT).frequencies.iloc[0]
        network = networks.build(specification, 1, 2, seed=0)
        row = {
            "network": name,
            "weights": sum(parameter.numel() for parameter in network.parameters()),
        }
        row |= {"patch": patch, "networks": count, "error": nads.error}
        row |= {"repeating": repeating(directions[: patch**2], patch)}
        row |= {"k_row": int(least["k_row"]), "k_col": int(least["k_col"])}
        rows.append(row | {"least": least["response"]})
        table = pd.DataFrame(
            {"network": name, "index": sorted({*INDICES, patch**2 - 1, patch**2})}
        )
        table["value"] = 100 * values[table["index"]]
        errors = 50 * nads.standard_errors / values  # of 100 √λ
        table["standard_error"] = errors[table["index"]]
        table["held_out"] = 100 * held_out[name][table["index"]]
        spectra.append(table)
    look = {"index": False, "float_format": "%.4g"}
    pd.DataFrame(rows).to_csv(FOLDER / "networks.csv", **look)
    pd.concat(spectra).to_csv(FOLDER / "spectra.csv", **look)
    make_figure(found, held_out).savefig(
        FOLDER / "patches.png", metadata={"Software": None}
    )


if __name__ == "__main__":
    with threadpoolctl.threadpool_limits(1):
        main()
