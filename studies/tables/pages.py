"""The pages that have generated tables, and how a table gets into its page."""

import re
from pathlib import Path

from studies.tables import estimator, fidelity, findings, kept
from studies.tables.numbers import KEPT

PAGES = [
    Path("README.md"),
    Path("docs/fidelity.md"),
    Path("docs/findings.md"),
    Path("docs/estimator.md"),
    Path("docs/patches.md"),
    KEPT / "README.md",
]

VALUES = KEPT / "values.csv"

TABLES = {
    "summary": fidelity.make_summary,
    "counts of verdicts": fidelity.make_counts,
    "verdicts": fidelity.make_verdicts,
    "further verdicts": fidelity.make_further_verdicts,
    "latest pair": fidelity.make_latest_pair,
    "families": findings.make_families,
    "maps": findings.make_maps,
    "wrong labels": findings.make_wrong_labels,
    "turns": findings.make_turns,
    "course on images": findings.make_course_on_images,
    "overlaps": findings.make_overlaps,
    "estimands": estimator.make_estimands,
    "networks of patches": estimator.make_patches,
    "accuracy along NADs": estimator.make_sweeps,
    "accuracy along waves": estimator.make_waves,
    "two channels": estimator.make_channels,
    "kept runs": kept.make_runs,
}
"""The function that makes each table, by the name in the table's marker."""

MARKED = re.compile(r"(<!-- table: ([^>]*) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(text: str) -> str:
    """Make the tables of a page again.

    Args:
        text: The page, with tables between `<!-- table: NAME -->` and `<!-- end -->`.

    Returns:
        The page with a new table between each pair of markers.
    """

    def make(match: re.Match) -> str:
        begin, name, end = match.groups()
        return begin + TABLES[name]() + end

    return MARKED.sub(make, text)
