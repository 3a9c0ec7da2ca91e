"""The page of one network as one HTML file, the tables behind it, and the page that compares
several."""

import base64
import io
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from matplotlib.figure import Figure

from pipeline.cells.training import BATCH, CLIP
from pipeline.measures.fitted import FITTED
from pipeline.profile import figures, words
from pipeline.profile import trained as sweep
from pipeline.profile.result import Result


def embedded(figure: Figure, text: str) -> Markup:
    """A figure inside the page, and the text that stands in for it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    source = base64.b64encode(buffer.getvalue()).decode()
    return Markup('<img src="data:image/png;base64,{}" alt="{}">').format(source, text)


def pictures(result: Result) -> dict[str, Markup]:
    """The figures of the page by their place; a place without data has none."""
    count, tiles = len(result.nads.directions), figures.TILES
    drawn = {
        "spectrum": (figures.spectrum(result), "response over the index of the NAD"),
        "first": (figures.of_nads(result, range(min(tiles, count))), "the first NADs"),
        "map": (figures.frequency_map(result), "response over frequency"),
        "weakest": (figures.weakest(result), "the waves of the weakest response"),
    }
    if result.complete:
        late = figures.of_nads(result, range(max(0, count - tiles), count))
        drawn["last"] = late, "the last NADs"
    if not result.tried.empty:
        drawn["trained"] = figures.trained(result), "accuracy over the response before training"
    return {name: embedded(*each) for name, each in drawn.items()}


def rendered(template: str, **values: Any) -> str:
    """A page of this folder's template."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(template).render(words=words, **values)


def document(result: Result) -> str:
    """The page of a profile."""
    return rendered(
        "page.html.j2",
        result=result,
        pictures=pictures(result),
        size="×".join(map(str, result.shape)),
        eps=sweep.amplitude(result.dimension, result.sizes.samples),
        training={"batch": BATCH, "clip": CLIP, "fitted": FITTED},
    )


def write(result: Result, folder: Path) -> None:
    """Write index.html and the numbers behind it."""
    result.nads.save(folder / "nads.npz")
    result.trained.to_csv(folder / "networks.csv", index=False)
    result.summary.to_csv(folder / "directions.csv")
    result.frequencies.to_csv(folder / "waves.csv", index=False, float_format="%.6g")
    (folder / "index.html").write_text(document(result), encoding="utf-8")


def write_comparison(results: Sequence[Result], links: Sequence[str], folder: Path) -> None:
    """Write the index.html that compares several networks; links: the pages of their own."""
    drawn = {
        "ratios": embedded(figures.ratios(results), "ratios of the responses over frequency"),
        "spectra": embedded(figures.spectrum(*results), "responses over the index of the NAD"),
        "trained": embedded(figures.trained(*results), "accuracy over the response"),
    }
    count = min(figures.TILES, results[0].dimension)
    document = rendered(
        "comparison.html.j2",
        results=results,
        links=links,
        pictures=drawn,
        first=[embedded(figures.of_nads(each, range(count)), "first NADs") for each in results],
        findings=[words.stronger(a, b) for a, b in itertools.permutations(results, 2)],
        times=figures.times,
        size="×".join(map(str, results[0].shape)),
    )
    (folder / "index.html").write_text(document, encoding="utf-8")
