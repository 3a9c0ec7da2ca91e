"""The pages as HTML files, each of which needs no other file, and the tables behind them."""

import base64
import io
import re
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup
from matplotlib.figure import Figure

from pipeline.cells import training
from pipeline.measures.fitted import FITTED
from pipeline.profile import checkpoint, figures, trained, words
from pipeline.profile.result import Result
from pipeline.report.comparison import accuracy
from pipeline.report.fourier import pair
from pipeline.report.site.document import templates


def slug(name: str) -> str:
    """A network's name as a folder's."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-")


def shown(figure: Figure, text: str, caption: str | Markup) -> Markup:
    """A figure inside the page, the text that stands in for it, and its caption."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    source = base64.b64encode(buffer.getvalue()).decode()
    image = Markup('<img src="data:image/png;base64,{}" alt="{}">').format(source, text)
    return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(image, caption)


def rendered(template: str, results: Sequence[Result]) -> str:
    """A page of this folder's template on some networks."""
    environment = templates(Path(__file__).parent)
    environment.globals |= {"figures": figures, "trained": trained, "words": words}
    environment.globals |= {"accuracy": accuracy, "pair": pair, "shown": shown, "slug": slug}
    environment.globals |= {"checkpoint": checkpoint, "training": training, "FITTED": FITTED}
    return environment.get_template(template).render(results=results, result=results[0])


def write(results: Sequence[Result], folder: Path) -> None:
    """Write the page of one network with the tables behind it, or those of each of several in a
    folder of its own and the page that compares them."""
    for result in results:
        own = folder / slug(result.name) if len(results) > 1 else folder
        own.mkdir(exist_ok=True)
        result.nads.save(own / "nads.npz")
        result.trained.to_csv(own / "networks.csv", index=False)
        result.summary.to_csv(own / "directions.csv")
        result.response.frequencies.to_csv(own / "waves.csv", index=False, float_format="%.6g")
        (own / "index.html").write_text(rendered("page.html.j2", [result]), encoding="utf-8")
    if len(results) > 1:
        comparison = rendered("comparison.html.j2", results)
        (folder / "index.html").write_text(comparison, encoding="utf-8")
