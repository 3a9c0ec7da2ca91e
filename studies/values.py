"""Every published value beside ours, as a table."""

import pandas as pd

from pipeline.report.run import abouts
from pipeline.verify import runs
from studies import numbers


def beside_the_published() -> pd.DataFrame:
    """A row for every published value that a run of reports/kept has beside it.

    Columns: run, network, coordinates, test_set; published, ours, in per cent, means over what is
    repeated; networks, the number of ours.
    """
    tables, keys = [], ["network", "coordinates", "test_set"]
    for folder, about in abouts(numbers.KEPT).items():
        experiment = folder.parent.name
        if "plan" in about and experiment in runs.PUBLISHED:
            ours = runs.identified(runs.table({folder: about["plan"]}), experiment, {})
            known = runs.paper_results(experiment, ours)
            both = known.groupby(keys)["accuracy"].mean().rename("published").to_frame()
            both = both.join(ours.groupby(keys)["accuracy"].agg(ours="mean", networks="size"))
            tables.append(both.dropna().reset_index().assign(run=f"{experiment}/{folder.name}"))
    table = pd.concat(tables).astype({"networks": int})
    table[["published", "ours"]] *= 100
    return table[["run", *keys, "published", "ours", "networks"]]
