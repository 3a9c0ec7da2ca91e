"""The page of one network as one HTML file."""

import tempfile
from pathlib import Path

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from pipeline.measures.fitted import FITTED
from pipeline.report import style
from pipeline.report.profile import figures, words
from pipeline.report.profile.found import Found
from pipeline.report.site.document import Drawn, filled
from pipeline.report.site.embedded import LEVELS, STEP, ZERO, figure, script_json
from pipeline.report.site.explorers import colours, network

HERE = Path(__file__).parent


def drawn(picture: Figure, text: str) -> Drawn:
    """A figure inside the page, and the text that stands in for it."""
    with tempfile.TemporaryDirectory() as folder:
        style.save(picture, Path(folder), "figure")
        return Drawn(figure(Path(folder) / "figure.png"), text)


def explorer(found: Found) -> str:
    """The NADs for the page's script, with the accuracies along those that were tried."""
    accuracies = {
        int(name.removeprefix("NAD ")): (row["mean"], row["std"], int(row["networks"]), int(row["fitted"]))
        for name, row in found.tried.iterrows()
        if name.startswith("NAD ") and found.swept_with == found.nads.networks
    }
    made = network(found.name, vars(found.nads), {found.nads.estimand: accuracies})
    made |= {"file": None, "estimand": found.nads.estimand}
    return script_json({"colours": colours(), "tile": [ZERO, STEP * LEVELS], "nads": [made]})


def document(found: Found) -> str:
    """The page of a profile."""
    count = len(found.nads.directions)
    early = list(range(min(figures.TILES, count)))
    late = list(range(max(0, count - figures.TILES), count))
    pictures = {"spectrum": drawn(figures.spectrum(found), "response over the index of the NAD")}
    if not found.level:
        pictures["first"] = drawn(figures.of_nads(found, early), "the first NADs")
    if found.complete and not found.level:
        pictures["last"] = drawn(figures.of_nads(found, late), "the last NADs")
    for name, strongest in (("strongest", True), ("weakest", False)):
        some = found.extreme_waves(figures.TILES, strongest)
        pictures[name] = drawn(figures.of_waves(found, some), f"the {name} waves")
    pictures["map"] = drawn(figures.frequency_map(found), "response over frequency")
    if not found.tried.empty:
        pictures["trained"] = drawn(
            figures.trained(found), "accuracy of trained networks over the response before training"
        )
    return filled(
        HERE / "profile.html.j2",
        found=found,
        words=words,
        pictures=pictures,
        random=1 / np.sqrt(found.dimension),
        fitted_at=FITTED,
        json=Markup(explorer(found)),
    )
