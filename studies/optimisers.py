"""How much of the bias is due to the optimiser? Accuracy along NADs, by optimiser.

    python -m studies.optimisers

If the architecture loses information along a direction, no optimiser learns it. If
training is merely ill-conditioned along the direction, an optimiser that rescales its
steps learns it. Reads the kept runs in `RUNS`, and writes a figure and a table into
reports/kept/optimisers/own_nads/.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.project.errors import one_sentence
from pipeline.report import style
from pipeline.report.labels import label
from pipeline.report.run import average_percent, explain_unfitted, read_descriptions

KEPT = Path("reports/kept")
FOLDER = KEPT / "optimisers/own_nads"

RUNS = {
    "lenet": ("lenet_precise", "lenet_momentum", "adamw", "adamw_lenet_fitted"),
    "vgg11_quarter": ("vgg11_quarter_authors", "vgg11_quarter_authors_adamw"),
    "convnext": ("patches", "patches_momentum", "adamw"),
    "vit_small": ("vit_small", "vit_small_adamw"),
    "convmixer": ("patches", "convmixer_adamw"),
    "resnet18_quarter": ("resnet18_quarter", "resnet18_quarter_adamw"),
}
"""The runs of `nad_sweep` in which each network is trained, along the same NADs. Of two
runs by one optimiser the later one's cells count."""

SHOWN = ("lenet", "convnext", "vit_small")
"""The networks of the figure."""

OPTIMISERS = ("SGD", "SGD with momentum", "AdamW")


def optimiser(training: dict[str, Any]) -> str:
    """The name of a training's optimiser, one of `OPTIMISERS`."""
    if training.get("optimiser") == "adamw":
        return "AdamW"
    return "SGD with momentum" if training["momentum"] else "SGD"


def table() -> pd.DataFrame:
    """Accuracies in per cent by network, optimiser and index: mean and std over seeds,
    the mean of the training accuracy, the numbers of seeds and epochs, and whether all
    were fitted.
    """
    plans = read_descriptions(KEPT)
    tables = []
    for name, runs in RUNS.items():
        for run in runs:
            folder = KEPT / "nad_sweep" / run
            member = plans[folder]["plan"]["members"][name]
            rows = pd.read_csv(folder / "results.csv").query("architecture == @name")
            cells = average_percent(rows, ["index"])
            of_index = rows.groupby("index")
            cells["train_accuracy"] = 100 * of_index["train_accuracy"].mean()
            cells["seeds"] = of_index["seed"].nunique()
            cells["epochs"] = member["training"]["epochs"]
            names = {"network": label(member["specification"])}
            names |= {"optimiser": optimiser(member["training"])}
            tables.append(cells.reset_index().assign(**names))
    order = [
        "network",
        "optimiser",
        "index",
        "mean",
        "std",
        "train_accuracy",
        "seeds",
        "epochs",
        "fitted",
    ]
    return pd.concat(tables)[order].drop_duplicates(order[:3], keep="last")


def draw(rows: pd.DataFrame) -> None:
    """Draw a panel for each network of `SHOWN`, with a curve for each optimiser."""
    networks = rows["network"].unique()[[list(RUNS).index(name) for name in SHOWN]]
    count = len(networks)
    figure, axes = style.new_figure(1, count, 10.2, 3.9, sharex=True, sharey=True)
    looks = dict(zip(OPTIMISERS, style.CURVES, strict=False))
    for panel, network in zip(axes.flat, networks, strict=True):
        panel.axhline(50, color="0.6", linewidth=0.8)
        for name, cells in rows[rows["network"] == network].groupby(
            "optimiser", sort=False
        ):
            cells = cells.set_index("index")
            look = looks[name] | {"markersize": 4.5, "linewidth": 1.4, "capsize": 2.5}
            style.draw_over_indices(panel, cells, label=name, **look)
        style.set_index_axis(panel)
        panel.set(ylim=(45, 102), title=network, xlabel="NAD index")
    axes[0, 0].set_ylabel("test accuracy (%)")
    # LeNet was trained by all three.
    axes[0, 0].legend(loc="center left", frameon=False)
    shown = rows[rows["network"].isin(networks)]
    ranges = (
        f"{shown[column].min()} to {shown[column].max()} {column}"
        for column in ("epochs", "seeds")
    )
    caption = (
        f"10,000 samples · {' · '.join(ranges)} · grey: chance · "
        f"{explain_unfitted('hollow')} · ± standard deviation over seeds"
    )
    title = "Accuracy along each network's own NADs, by optimiser"
    style.save(style.finish(figure, title, caption), FOLDER, "optimisers")


def main() -> None:
    """Write the table and the figure."""
    rows = table()
    rounded = {"mean": 2, "std": 2, "train_accuracy": 2}
    rows.round(rounded).to_csv(FOLDER / "results.csv", index=False)
    draw(rows.assign(fitted=np.asarray(rows["fitted"], bool)))


if __name__ == "__main__":
    with one_sentence():
        main()
