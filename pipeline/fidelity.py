"""Command `fidelity`: the published values beside ours, which docs/claims.yaml lists
-> reports/fidelity.csv and the tables of README.md and docs/fidelity.md.

Not a stage: it joins the last run with the one that is kept in reports/overnight/.
"""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from pipeline.project import command
from pipeline.project.errors import InputError, one_sentence

CLAIMS, REPORTS = Path("docs/claims.yaml"), Path("reports")
README, PAGE = Path("README.md"), Path("docs/fidelity.md")


def ours(value: dict[str, Any]) -> dict[str, Any]:
    """Our mean, standard deviation and n for a value of docs/claims.yaml.

    With `range` it is the lowest and the highest of the n rows. Raises InputError where no row has
    the value's coordinates.
    """
    path, column = REPORTS / value["file"], value.get("column", "accuracy")
    if path.suffix == ".json":
        entry = json.loads(path.read_text(encoding="utf-8"))[value["where"]]
        return {"mean": entry[column] * value["times"], "n": entry[value["count"]]}
    rows = pd.read_csv(path)
    for name, wanted in value["where"].items():
        rows = rows[rows[name] == wanted]
    if rows.empty:
        raise InputError(f"{CLAIMS}: {path} has no row where {value['where']}")
    numbers = rows[column] * (100 if "accuracy" in column else 1)
    if value.get("range"):
        return {"lowest": numbers.min(), "highest": numbers.max(), "n": len(rows)}
    return {"mean": numbers.mean(), "std": numbers.std(), "n": len(rows)}


def table(claims: list[dict[str, Any]]) -> pd.DataFrame:
    """The table reports/fidelity.csv: one row a value, with the place of ours."""
    columns = ["figure", "value", "published", "mean", "std", "lowest", "highest", "n"]
    rows = [
        {"figure": claim["figure"], "value": value["of"], "published": value.get("published")}
        | ours(value)
        | {"file": f"{REPORTS}/{value['file']}", "where": json.dumps(value["where"])}
        for claim in claims
        for value in claim["values"]
    ]
    return pd.DataFrame(rows, columns=[*columns, "file", "where"]).round(4)


def _in_words(value: dict[str, Any]) -> tuple[str, str, str]:
    """The published value, ours and n, as a table in Markdown has them."""
    numbers, digits = ours(value), value.get("digits", 1)
    lowest, highest = (
        f"{numbers.get(name, numbers.get('mean')):.{digits}f}" for name in ("lowest", "highest")
    )
    text = lowest if lowest == highest else f"{lowest} to {highest}"
    if numbers["n"] > 1 and "std" in numbers:
        text += f" ± {numbers['std']:.{digits}f}"
    return str(value.get("published", "–")), text, str(numbers["n"])


def _lines(header: str, rows: list[list[str]]) -> str:
    """A table in Markdown."""
    rule = " | ".join("---" for _ in header.split(" | "))
    return "\n".join(f"| {line} |" for line in (header, rule, *(" | ".join(row) for row in rows)))


def for_readme(claims: list[dict[str, Any]]) -> str:
    """README's table: one line a figure, with the values that docs/claims.yaml marks for it."""
    rows = []
    for claim in claims:
        values = [value for value in claim["values"] if value.get("readme")]
        published, measured, n = zip(*(_in_words(value) for value in values))
        shows = f"{claim['shows']}: {'; '.join(value['of'] for value in values)}"
        sizes = "papers'" if values[0]["file"].startswith("overnight/") else "laptop"
        counts = "; ".join(n if len(set(n)) > 1 else n[:1])
        cells = ["; ".join(published), "; ".join(measured), f"{counts}, {sizes}", claim["agrees"]]
        rows.append([claim["figure"], shows, *cells])
    return _lines("figure | value | published | ours ± std | n, size | agrees?", rows)


def for_page(claims: list[dict[str, Any]]) -> str:
    """The table of docs/fidelity.md: one line a value, and the file in which ours stands."""
    rows = [
        [claim["figure"], value["of"], *_in_words(value), f"`{REPORTS}/{value['file']}`"]
        for claim in claims
        for value in claim["values"]
    ]
    return _lines("figure | value | published | ours ± std | n | file", rows)


def put(page: Path, made: str) -> None:
    """Write a table between the markers of a page; raises InputError unless it has one pair."""
    text = page.read_text(encoding="utf-8")
    pattern = r"(<!-- made by `python -m pipeline.fidelity` -->\n).*?(<!-- to here -->)"
    text, count = re.subn(pattern, lambda match: f"{match[1]}{made}\n{match[2]}", text, flags=re.S)
    if count != 1:
        raise InputError(f"{page} has {count} pairs of markers for the table, and wants one")
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the table of all values, and those of the two pages."""
    claims = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    table(claims).to_csv(REPORTS / "fidelity.csv", index=False)
    put(README, for_readme(claims))
    put(PAGE, for_page(claims))


if __name__ == "__main__":
    command.no_arguments(__doc__, "fidelity")
    with one_sentence():
        main()
