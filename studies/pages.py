"""The pages that are made of the kept runs: docs/templates/ and reports/kept/ -> the pages, the
table of README.md, and values.csv.

python -m studies.pages
"""

from pathlib import Path
from typing import Any

import jinja2

from pipeline.report.run import abouts
from studies import numbers, two_channels, values
from studies.numbers import KEPT

PAGES = {
    "kept.md.j2": KEPT / "README.md",
    "fidelity.md.j2": Path("docs/fidelity.md"),
    "estimator.md.j2": Path("docs/estimator.md"),
}
"""The page that each template of docs/templates/ becomes."""

README = Path("README.md")
MARKS = "<!-- made by `python -m studies.pages` -->\n", "<!-- to here -->"
"""What stands before and after the table of verdicts in README.md."""


def described(place: str, about: dict[str, Any]) -> dict[str, str]:
    """The row of a run in the table of all kept runs; about: its run.json."""
    row = {key: about[key] for key in ("title", "says", "code")} | {"place": place}
    time = "–" if about["minutes"] is None else f"{about['minutes']:g}, {about['processor']}"
    if "plan" not in about:
        return row | {"time": time, "size": "–", "recipe": f"`{about['command']}`"}
    members, seeds = about["plan"]["members"].values(), len(about["plan"]["seeds"])
    counts = sorted({member["seeds"] or seeds for member in members})
    recipes = {recipe(member["training"]): None for member in members}
    size = f"{', '.join(about['plan']['members'])}; {' and '.join(map(str, counts))}"
    return row | {"time": time, "size": size, "recipe": "; ".join(recipes)}


def recipe(training: dict[str, Any]) -> str:
    """The training of a network in a few words: '20 epochs, SGD, rate 0.5'."""
    name = {"sgd": "SGD", "adamw": "AdamW"}[training.get("optimiser", "sgd")]
    words = [f"{training['epochs']} epochs", name, f"rate {training['lr']:g}"]
    if name == "SGD" and training["momentum"]:
        words.append(f"momentum {training['momentum']:g}")
    words += ["bfloat16"] if training["precision"] == "bfloat16" else []
    return ", ".join(words)


def pages() -> dict[Path, str]:
    """The text of every page, by its path."""
    kept: dict[str, list[dict[str, str]]] = {}
    for folder, about in abouts(KEPT).items():
        place = folder.relative_to(KEPT).as_posix()
        kept.setdefault(folder.parent.name, []).append(described(place, about))
    loader = jinja2.FileSystemLoader("docs/templates")
    options = {"trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.StrictUndefined}
    environment = jinja2.Environment(loader=loader, finalize=numbers.shown, **options)
    environment.filters["digits"] = numbers.shown  # {{ rho("nad_sweep/lenet") | digits(2) }}
    mlp = {"architecture": "mlp_100_20", "test_set": "second"}
    reader = two_channels.right(numbers.mean("linear_pairs/lenet_and_mlp", **mlp))
    environment.globals |= vars(numbers) | {"kept": kept, "linear_reader": reader}
    made = lambda name: environment.get_template(name).render().rstrip() + "\n"
    before, _, rest = README.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    table = values.beside_the_published()
    return {page: made(name) for name, page in PAGES.items()} | {
        README: f"{before}{MARKS[0]}{made('verdicts.md.j2')}{MARKS[1]}{after}",
        KEPT / "values.csv": table.to_csv(index=False, float_format="%.1f", lineterminator="\n"),
    }


def main() -> None:
    """Write every page."""
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
