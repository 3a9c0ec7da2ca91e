"""The published values beside ours, as docs/claims.yaml lists them -> the tables of README.md and
docs/fidelity.md.

    python -m benchmarks.fidelity

Ours are of the last run and of the one that is kept in reports/kept/.
"""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from pipeline.project.errors import InputError, one_sentence

CLAIMS, REPORTS = Path("docs/claims.yaml"), Path("reports")
README, PAGE = Path("README.md"), Path("docs/fidelity.md")


def row(value: dict[str, Any]) -> list[str]:
    """What a value of docs/claims.yaml is of, the published one, ours, and the n rows of ours.

    Ours is their mean ± standard deviation; with `range`, the lowest to the highest. Raises
    InputError where no row has the value's coordinates.
    """
    path, column = REPORTS / value["file"], value.get("column", "accuracy")
    in_words = lambda number: f"{number:.{value.get('digits', 1)}f}"
    if path.suffix == ".json":
        entry = json.loads(path.read_text(encoding="utf-8"))[value["where"]]
        ours, n = in_words(entry[column] * value["times"]), entry[value["count"]]
    else:
        rows = pd.read_csv(path)
        for name, wanted in value["where"].items():
            rows = rows[rows[name] == wanted]
        if rows.empty:
            raise InputError(f"{CLAIMS}: {path} has no row where {value['where']}")
        numbers, n = rows[column] * (100 if "accuracy" in column else 1), len(rows)
        if value.get("range"):
            ends = in_words(numbers.min()), in_words(numbers.max())
            ours = " to ".join(dict.fromkeys(ends))
        else:
            spread = f" ± {in_words(numbers.std())}" if n > 1 else ""
            ours = in_words(numbers.mean()) + spread
    return [value["of"], str(value.get("published", "–")), ours, str(n)]


def for_readme(claims: list[dict[str, Any]]) -> list[str]:
    """README's table: one line a figure, with the values that docs/claims.yaml marks for it."""
    lines = ["figure | value | published | ours ± std | n, size | agrees?"]
    for claim in claims:
        values = [value for value in claim["values"] if value.get("readme")]
        *columns, n = zip(*map(row, values))
        cells = map("; ".join, (*columns, n if len(set(n)) > 1 else n[:1]))
        size = "papers'" if values[0]["file"].startswith("kept/") else "laptop"
        line = "{figure} | {shows}: {} | {} | {} | {}, {size} | {agrees}"
        lines.append(line.format(*cells, size=size, **claim))
    return lines


def for_page(claims: list[dict[str, Any]]) -> list[str]:
    """The table of docs/fidelity.md: one line a value, and the file in which ours stands."""
    rows = [
        [f"{claim['figure']}: {claim['shows']}", *row(value), f"`{REPORTS}/{value['file']}`"]
        for claim in claims
        for value in claim["values"]
    ]
    return ["figure | value | published | ours ± std | n | file", *map(" | ".join, rows)]


def put(page: Path, lines: list[str]) -> None:
    """Write a table between the markers of a page; raises InputError unless it has one pair."""
    rule = " | ".join("---" for _ in lines[0].split(" | "))
    table = "".join(f"| {line} |\n" for line in (lines[0], rule, *lines[1:]))
    text = page.read_text(encoding="utf-8")
    pattern = r"(<!-- made by `python -m benchmarks.fidelity` -->\n).*?(<!-- to here -->)"
    text, count = re.subn(pattern, lambda match: f"{match[1]}{table}{match[2]}", text, flags=re.S)
    if count != 1:
        raise InputError(f"{page} has {count} pairs of markers for the table, and wants one")
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the tables of the two pages."""
    claims = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    put(README, for_readme(claims))
    put(PAGE, for_page(claims))


if __name__ == "__main__":
    with one_sentence():
        main()
