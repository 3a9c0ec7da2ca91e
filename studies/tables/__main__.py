"""Write the tables of the pages and reports/kept/values.csv from the kept runs.

    python -m studies.tables

Only what is between a `<!-- table: NAME -->` and the next `<!-- end -->` changes.
Everything else on a page is edited by hand.
"""

import argparse

from studies.tables.kept import list_published_values
from studies.tables.pages import PAGES, VALUES, fill


def main() -> None:
    """Write every page and values.csv."""
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")
    VALUES.write_text(list_published_values(), encoding="utf-8")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    main()
