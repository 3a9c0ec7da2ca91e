"""What the tables show: accuracies of the kept runs, and published values beside them.

A run is named by its folder in reports/kept, such as 'fourier/lenet', which means its
results.csv, or by another of its tables, such as 'patches/four_networks/spectra.csv'.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.measures.fitted import FITTED, fitted
from pipeline.measures.ranks import spearman
from pipeline.report import published
from pipeline.report.numbers import format_mean
from pipeline.training.fourier import wrap_frequency

KEPT = Path("reports/kept")
CHANCE = 55  # per cent; an accuracy up to this counts as chance

CHECKERBOARD = "checkerboard/photographs"


def read_run(run: str, **values: Any) -> pd.DataFrame:
    """Read a table of a kept run.

    Args:
        run: The run's folder, or one of its tables.
        values: Columns and the value that the chosen rows have there.

    Returns:
        The rows with these values.

    Raises:
        ValueError: No row has these values.
    """
    path = KEPT / run
    if not path.suffix:
        path = path / "results.csv"
    return select(pd.read_csv(path), **values)


def select(table: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Select the rows that have these values; raises ValueError if there are none."""
    for column, value in values.items():
        table = table[table[column] == value]
    if values and table.empty:
        raise ValueError(f"the table has no rows where {values}")
    return table


def read_accuracy(run: str, **values: Any) -> pd.Series:
    """Read the accuracies of a run in per cent, of the rows with these values."""
    return 100 * read_run(run, **values)["accuracy"]


def read_nads(network: str) -> dict[str, Any]:
    """Read what is kept of a network's NADs, such as its first singular value."""
    return json.loads((KEPT / "nads.json").read_text(encoding="utf-8"))[network]


def read_published(experiment: str, column: str, **values: Any) -> float:
    """Read a published value.

    Args:
        experiment: The name of the published table.
        column: The column of the value.
        values: Columns and the value that the row has there.

    Returns:
        The value; accuracies are in per cent.
    """
    return float(select(published.read_published(experiment), **values)[column].item())


def compare_curves(run: str, network: str) -> pd.DataFrame:
    """Compare the accuracies of a `nad_sweep` run with the published curve.

    Args:
        run: A run of one network.
        network: The column of the published table.

    Returns:
        By NAD index, the columns `ours` (mean over seeds) and `published`, in per cent.
    """
    ours = 100 * read_run(run).groupby("index")["accuracy"].mean()
    theirs = published.read_published("nad_sweep").set_index("index")[network]
    return pd.DataFrame({"ours": ours, "published": theirs}).dropna()


def compare_maps(run: str, network: str) -> pd.DataFrame:
    """Compare the accuracies of a `fourier` run with the published map.

    The published row k_row = 0 is left out, since it does not agree with its transpose.

    Args:
        run: A run of one network.
        network: The column of the published table.

    Returns:
        By wave, see `name_wave`, the columns `ours` and `published`: means over all
        cells of that wave, in per cent.
    """
    ours = read_run(run)
    theirs = published.read_published("fourier")
    theirs = theirs[theirs["k_row"] < 0]
    means = {
        "ours": 100 * ours.groupby(name_waves(ours, network))["accuracy"].mean(),
        "published": theirs.groupby(name_waves(theirs, network))[network].mean(),
    }
    return pd.DataFrame(means).dropna()


def name_waves(table: pd.DataFrame, network: str) -> list[np.ndarray]:
    """Name the wave of each row, as two columns of frequencies; see `name_wave`."""
    waves = []
    for k_row, k_col in zip(table["k_row"], table["k_col"], strict=True):
        waves.append(name_wave(k_row, k_col, network))
    return list(np.transpose(waves))


def name_wave(k_row: int, k_col: int, network: str) -> tuple[int, int]:
    """Choose one frequency to stand for all that are the same to a network.

    k and −k are the same direction. The weights of every network have the same
    distribution under transposition. Those of all but ResNet-18, whose strides favour
    even pixels, also have the same distribution under flips.
    """
    if network != "resnet18":
        return tuple(sorted((abs(k_row), abs(k_col))))
    opposite_row = wrap_frequency(-k_row)
    opposite_col = wrap_frequency(-k_col)
    return min(
        (k_row, k_col),
        (k_col, k_row),
        (opposite_row, opposite_col),
        (opposite_col, opposite_row),
    )


def compute_rms(differences: pd.Series) -> float:
    """Compute the root mean square."""
    return float(np.sqrt(np.mean(np.square(differences))))


def compute_rms_difference(comparison: pd.DataFrame) -> float:
    """Compute the root mean square of `ours` minus `published`."""
    return compute_rms(comparison["ours"] - comparison["published"])


def compute_repeat_spread(network: str, above: float = 0) -> float:
    """Compute the standard deviation of published runs along the same wave.

    Waves are the same as in `compare_maps`, and the row k_row = 0 is left out too.

    Args:
        network: The column of the published table.
        above: Only waves with a higher mean accuracy than this count, in per cent.

    Returns:
        The standard deviation, pooled over waves, in points of accuracy.
    """
    table = published.read_published("fourier")
    table = table[table["k_row"] < 0]
    waves = table.groupby(name_waves(table, network))[network]
    waves = waves.agg(["mean", "var", "count"]).query("count > 1 and mean > @above")
    freedom = waves["count"] - 1
    return float(np.sqrt((freedom * waves["var"]).sum() / freedom.sum()))


def correlate_steps(steps_run: str, accuracy_run: str) -> float:
    """Compute the rank correlation of accuracy with the steps until a wave is learned.

    Args:
        steps_run: The run that counted steps. A wave that some seed does not learn
            comes last.
        accuracy_run: The run whose accuracies along the same waves are compared.

    Returns:
        Spearman's ρ over waves.
    """
    wave = ["k_row", "k_col"]
    steps = read_run(steps_run)
    steps["steps"] = steps["steps"].fillna(np.inf)
    steps = steps.groupby(wave)["steps"].mean()
    accuracy = read_run(accuracy_run).groupby(wave)["accuracy"].mean()
    return spearman(steps, accuracy[steps.index])


def compute_flip_loss(run: str, images: str = "flipped") -> pd.Series:
    """Compute the accuracy lost by a map of the images, by seed, in points.

    Args:
        run: Run of `flip`, as a folder of reports/kept.
        images: Name of the map.
    """
    plain = read_run(run, images="plain").set_index("seed")["accuracy"]
    changed = read_run(run, images=images).set_index("seed")["accuracy"]
    return 100 * (plain - changed)


def compute_checkerboard_loss(network: str, run: str = CHECKERBOARD) -> pd.Series:
    """Compute the accuracy lost by a checkerboard, by seed, in points.

    Args:
        network: A network of `studies.checkerboard`.
        run: The run that has it on plain images.
    """
    chosen = {"network": network, "images": "checkered"}
    checkered = read_run(CHECKERBOARD, **chosen).set_index("seed")["accuracy"]
    plain = read_plain(network, run).set_index("seed")["accuracy"]
    return 100 * (plain - checkered)


def read_plain(network: str, run: str) -> pd.DataFrame:
    """Read the rows of a network on plain images.

    Args:
        network: A network of `studies.checkerboard`.
        run: That study's run, or a run of `flip` that has only this network.
    """
    plain = read_run(run, images="plain")
    return select(plain, network=network) if run == CHECKERBOARD else plain


def compute_published_flip_loss(network: str) -> float:
    """Compute the published loss by flipped coefficients, in points."""
    plain = read_published("flip", "plain", network=network)
    return plain - read_published("flip", "flipped", network=network)


def format_spread(values: pd.Series) -> str:
    """Format the mean of values ± their standard deviation; a dash if there is none."""
    if values.isna().all():
        return "–"
    return format_mean(values.mean(), values.std())


def format_signed(correlation: float) -> str:
    """Format a correlation with a minus sign, not a hyphen: '−0.97'."""
    return f"{correlation:.2f}".replace("-", "−")


def count_fitted(networks: pd.DataFrame) -> str:
    """Count the networks that are fitted: '18 of 75'."""
    return f"{fitted(networks).sum()} of {len(networks)}"


def count_seeds(run: str, **values: Any) -> str:
    """Count the seeds of the rows of a run with these values: '1 seed', '3 seeds'."""
    number = read_run(run, **values)["seed"].nunique()
    return "1 seed" if number == 1 else f"{number} seeds"


def describe_seeds(networks: pd.DataFrame) -> str:
    """Describe the test accuracy of each seed, and of an unfitted one the training."""
    texts = []
    networks = networks.sort_values("seed")
    for accuracy, training in zip(
        networks["accuracy"], networks["train_accuracy"], strict=True
    ):
        text = f"{100 * accuracy:.1f}"
        if training < FITTED:
            percent = f"{100 * training:.0f}"
            if training > 0.985:  # rounded, it would look fitted
                percent = f"{math.floor(1000 * training) / 10:.1f}"
            text += f" (training {percent})"
        texts.append(text)
    return ", ".join(texts)
