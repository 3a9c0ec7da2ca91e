"""The tables of docs/estimator.md and docs/patches.md that come from kept runs."""

import numpy as np
import pandas as pd

from pipeline.measures.fitted import fitted
from studies.tables.markdown import format_table
from studies.tables.numbers import (
    count_fitted,
    describe_seeds,
    format_spread,
    read_accuracy,
    read_run,
    select,
)

SWEEP_INDICES = (0, 16, 64, 200, 1000)

SWEEPS = (
    ("ConvNeXt, p = 16", "patches", "convnext"),
    ("with AdamW", "adamw", "convnext"),
    ("ViT, p = 4", "patches_bfloat16", "vit"),
    ("smaller ViT (width 64, depth 2)", "vit_small", "vit_small"),
    ("with AdamW", "vit_small_adamw", "vit_small"),
    ("ConvMixer, p = 4", "patches", "convmixer"),
    ("with AdamW", "convmixer_adamw", "convmixer"),
    ("MLP-Mixer, p = 4", "patches_bfloat16", "mixer"),
)
"""Rows of accuracies along NADs: label, run of `nad_sweep`, architecture."""

WAVES = (
    ("ConvNeXt, p = 16", "convnext", 16, "–"),
    ("ViT, bfloat16", "vit", 4, "not tried"),
    ("smaller ViT (width 64, depth 2)", "vit_small", 4, None),
    ("ConvMixer", "convmixer", 4, None),
    ("MLP-Mixer, bfloat16", "mixer", 4, "not tried"),
)
"""Rows of accuracies along waves: label, run of `fourier`, height of a patch, and the
last cell of a run without other waves."""

LENETS = ("lenet_and_mlp", "lenet_and_mlp_seed_1", "lenet_and_mlp_seed_2")

CHANNELS = (
    ("ConvNeXt", ("convnext",), "convnext"),
    ("with AdamW", ("adamw",), "convnext"),
    ("LeNet", LENETS, "lenet"),
    ("with AdamW", ("adamw",), "lenet"),
    ("ViT", ("vit",), "vit"),
    ("ConvMixer", ("convmixer",), "convmixer"),
    ("MLP-Mixer", ("mixer",), "mixer"),
)
"""Rows of accuracies with one channel: label, runs of `linear_pairs`, architecture."""

SCALES = ("1", "0.1", "0.01", "0.001", "1e-06")
"""Initial layer scales of ConvNeXt in `studies.anatomy`."""

CHANNEL_PAIRS = ((1, 1), (1, 1000), (1000, 1), (1000, 1000))


def make_estimands() -> str:
    """Make the table of how well a ranking tells which waves are learned."""
    columns = {
        "low frequency first": "low frequency first",
        "strides or patches": "rule from strides or patches",
        "secant": "secant (error)",
        "gradient": "gradient (error)",
    }
    rows = []
    for network, rankings in read_run("definitions/waves").groupby(
        "network", sort=False
    ):
        of = rankings.set_index("ranking")
        for threshold in (60, 75):
            learned = of.loc["secant"]
            row = [network, f"{threshold} %"]
            row.append(f"{learned[f'learned_{threshold}']} of {learned['waves']}")
            for ranking in columns:
                if ranking not in of.index:
                    row.append("–")
                    continue
                text = f"{of.loc[ranking, f'auc_{threshold}']:.2f}"
                if ranking in ("secant", "gradient"):
                    text += f" ({of.loc[ranking, 'error']:.2f})"
                row.append(text)
            rows.append(row)
    titles = ["network", "accuracy of at least", "frequencies that reach it"]
    return format_table(titles + list(columns.values()), rows)


def make_patches() -> str:
    """Make the table of the leading NADs of networks of patches."""
    columns = [
        "network",
        "weights",
        "untrained networks (error of C)",
        "response along NAD p² − 1, % of NAD 0's",
        "p²",
        "1000",
        "weakest frequency",
    ]
    labels = {
        "convnext": "ConvNeXt",
        "vit": "ViT",
        "convmixer": "ConvMixer",
        "mixer": "MLP-Mixer",
    }
    networks = read_run("patches/four_networks/networks.csv").set_index("network")
    by_name = networks.to_dict("index")
    rows = []
    for name, label in labels.items():
        network = by_name[name]
        spectrum = read_run("patches/four_networks/spectra.csv", network=name)
        spectrum = spectrum.set_index("index")[["value", "held_out"]]
        responses = []
        for index in (network["patch"] ** 2 - 1, network["patch"] ** 2, 1000):
            own, held_out = 100 * spectrum.loc[index] / spectrum.loc[0]
            responses.append(f"{own:.3g}; {held_out:.3g}")
        wave = f"({network['k_row']}, {network['k_col']})".replace("-", "−")
        rows.append(
            [
                f"{label}, p = {network['patch']}",
                f"{network['weights']:,}",
                f"{network['networks']} ({network['error']:.3f})",
                *responses,
                f"{wave}, {network['least']:.2g}",
            ]
        )
    return format_table(columns, rows)


def make_sweeps() -> str:
    """Make the table of accuracies along NADs, by network and optimiser."""
    rows = []
    for label, run, architecture in SWEEPS:
        results = read_run(f"nad_sweep/{run}", architecture=architecture)
        row = [label, str(results["seed"].nunique())]
        for index in SWEEP_INDICES:
            row.append(describe_training(results[results["index"] == index]))
        rows.append(row)
    columns = ["network", "seeds", "NAD 0", *map(str, SWEEP_INDICES[1:])]
    return format_table(columns, rows)


def describe_training(networks: pd.DataFrame) -> str:
    """Describe the networks of one cell.

    Args:
        networks: Their rows of results.csv, one for each seed.

    Returns:
        The mean accuracy in per cent, and in brackets the mean step at which the
        training set was learned, or whether it is fitted: '99.9 (280)',
        '50.1 (not fitted)'. A dash if there are no networks.
    """
    if networks.empty:
        return "–"
    accuracy = 100 * networks["accuracy"]
    steps = networks["steps"].mean(skipna=False)
    if not fitted(networks).all():
        outcome = "not fitted"
    elif np.isnan(steps):
        outcome = "fitted"
    else:
        outcome = f"{steps:,.0f}"
    return f"{accuracy.mean():.1f} ({outcome})"


def make_waves() -> str:
    """Make the table of accuracies along waves that repeat in the patches or not."""
    rows = []
    for label, run, patch, missing in WAVES:
        results = read_run(f"fourier/{run}")
        repeats = find_repeating(results, patch)
        others = missing or describe_range(results[~repeats])
        rows.append([label, describe_range(results[repeats]), others])
    columns = ["network", "frequencies that repeat in its patches", "other frequencies"]
    return format_table(columns, rows)


def find_repeating(results: pd.DataFrame, patch: int) -> pd.Series:
    """Find the waves that repeat in each patch×patch pixels of a 32×32 input."""
    frequencies = results[["k_row", "k_col"]]
    return (frequencies % (32 // patch) == 0).all(axis=1)


def describe_range(networks: pd.DataFrame) -> str:
    """Describe lowest and highest accuracy: '49.2 to 52.7 (14 of 14 fitted)'."""
    accuracy = 100 * networks["accuracy"]
    count = f"{fitted(networks).sum()} of {len(networks)} fitted"
    return f"{accuracy.min():.1f} to {accuracy.max():.1f} ({count})"


def make_channels() -> str:
    """Make the table of accuracies with only the first or only the second channel."""
    rows = []
    for label, runs, architecture in CHANNELS:
        results = []
        for run in runs:
            results.append(read_run(f"linear_pairs/{run}", architecture=architecture))
        results = pd.concat(results)
        cells = results.groupby(["index_1", "index_2"])
        row = [label, str(results["seed"].nunique())]
        for pair in CHANNEL_PAIRS:
            row.append(describe_channels(cells.get_group(pair)))
        rows.append(row)
    columns = ["network", "seeds", *(f"NADs {pair}" for pair in CHANNEL_PAIRS)]
    return format_table(columns, rows)


def describe_channels(networks: pd.DataFrame) -> str:
    """Describe the networks of one pair: '62 / 55 (not fitted)'."""
    cells = []
    for channel in ("first", "second"):
        accuracy = 100 * networks[networks["test_set"] == channel]["accuracy"]
        cells.append(f"{accuracy.mean():.0f}")
    cell = " / ".join(cells)
    if not fitted(networks).all():
        cell += " (not fitted)"
    return cell


def make_conflicts() -> str:
    """Make the table of which channel decides if they carry opposite labels."""
    run = "linear_pairs/adamw"
    rows = []
    for label, architecture in (("ConvNeXt", "convnext"), ("LeNet", "lenet")):
        cell = {"architecture": architecture, "index_1": 1000, "index_2": 1}
        networks = read_run(run, test_set="conflict", **cell)
        followed = 100 - read_accuracy(run, test_set="conflict", **cell)
        tilt = read_run(f"{run}/boundaries.csv", **cell)["tilt"]
        rows.append(
            [
                f"{label} with AdamW",
                count_fitted(networks),
                format_spread(followed),
                f"{format_spread(tilt)}°",
            ]
        )
    columns = [
        "conflicts at (1000, 1)",
        "networks fitted",
        "samples in which it follows NAD 1, %",
        "tilt",
    ]
    return format_table(columns, rows)


def make_initial_scales() -> str:
    """Make the table of ConvNeXt along NAD 1000 by its initial layer scale."""
    run = "anatomy/initial_scale"
    untrained = read_run(f"{run}/response.csv", network="convnext")
    trained = read_run(run, network="convnext", index=1000)
    rows = []
    for scale in SCALES:
        variant = f"scale={scale}"
        first = select(untrained, variant=variant, index=0).iloc[0]
        last = select(untrained, variant=variant, index=1000).iloc[0]
        row = [
            scale,
            f"{100 * last['response'] / first['response']:.0f}",
            f"{last['alignment']:.2f} ± {last['alignment_std']:.2f}",
        ]
        for optimiser in ("SGD", "SGD with momentum", "AdamW"):
            chosen = trained["variant"] == variant
            chosen &= trained["optimiser"] == optimiser
            row.append(describe_seeds(trained[chosen]) if any(chosen) else "–")
        rows.append(row)
    columns = [
        "initial layer scale",
        "untrained response, % of NAD 0's",
        "kernel alignment",
        "SGD, %",
        "with momentum, %",
        "AdamW, %",
    ]
    return format_table(columns, rows)


def describe_steps(networks: pd.DataFrame) -> str:
    """Describe the steps of each seed until the training set was learned; where it was
    not, the test accuracy in per cent."""
    texts = []
    networks = networks.sort_values("seed")
    for steps, accuracy in zip(networks["steps"], networks["accuracy"], strict=True):
        learned = pd.notna(steps)
        texts.append(f"{steps:,.0f}" if learned else f"– ({100 * accuracy:.0f} %)")
    return ", ".join(texts)


def make_scale_steps() -> str:
    """Make the table of the steps that ConvNeXt takes by its initial layer scale."""
    trained = read_run("anatomy/initial_scale", network="convnext")
    rows = []
    for index in (200, 400, 1000):
        for optimiser in ("SGD", "SGD with momentum", "AdamW"):
            row = [str(index), optimiser]
            for scale in SCALES:
                networks = select(
                    trained, index=index, optimiser=optimiser, variant=f"scale={scale}"
                )
                row.append(describe_steps(networks))
            rows.append(row)
    scales = [f"from {scale}" for scale in SCALES]
    return format_table(["NAD", "optimiser", *scales], rows)
