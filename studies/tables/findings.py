"""The tables of docs/findings.md."""

import numpy as np
import pandas as pd

from pipeline.measures.ranks import spearman
from studies.tables.markdown import format_table
from studies.tables.numbers import (
    compute_flip_loss,
    format_signed,
    read_accuracy,
    read_run,
)

CONVOLUTIONAL = ["LeNet", "VGG-11", "ResNet-18", "ConvMixer"]

MAPS = {
    "aligned": ("principal components onto NADs, in order", "the order of variances"),
    "signs": ("random signs of the coefficients", "each coefficient's NAD and size"),
    "rotated_8": ("rotation within blocks of 8 neighbouring NADs", "the block"),
    "rotated_32": ("within blocks of 32", "the block"),
    "rotated_128": ("within blocks of 128", "the block"),
    "permuted": ("permuted pixels", "the values of pixels"),
    "rotated": ("random rotation", "nothing"),
    "aligned_pixels": ("principal components onto pixels", "the variances"),
    "flipped": ("order of the coefficients reversed", "pairs of neighbouring NADs"),
}
"""The maps of images of one run of `flip`: what each does, and what it keeps."""

OVERLAPS = {
    (0.0, 0.0): ("none (as in the papers)", "100"),
    (0.5, 0.0): ("noise along v, σ_v = 0.5", "97.7"),
    (1.0, 0.0): ("noise along v, σ_v = 1", "84.1"),
    (0.0, 0.1): ("10 % wrong training labels", "100"),
    (0.0, 0.3): ("30 % wrong training labels", "100"),
}
"""By σ_v and η: what makes D(v) harder, and the best possible accuracy, Φ(ε/σ_v)."""


def make_maps() -> str:
    """Make the table of the accuracy that maps of the images cost."""
    rows = []
    for name, (words, kept) in MAPS.items():
        loss = compute_flip_loss("flip/lenet_locality", name)
        rows.append([words, kept, f"{loss.mean():.1f} ± {loss.std():.1f}"])
    columns = [
        "map of the images, in training and test alike",
        "what it keeps",
        "loss in points",
    ]
    return format_table(columns, rows)


def make_overlaps() -> str:
    """Make the table of accuracies along NADs when the classes overlap."""
    run = "nad_sweep/lenet_overlapping"
    indices = read_run(run)["index"].unique()
    rows = []
    for (sigma_v, eta), (words, best) in OVERLAPS.items():
        row = [words, best]
        for index in indices:
            accuracies = read_accuracy(run, sigma_v=sigma_v, eta=eta, index=index)
            row.append(f"{accuracies.mean():.1f}")
        rows.append(row)
    columns = ["difficulty", "best possible", *(f"NAD {index}" for index in indices)]
    return format_table(columns, rows)


def make_families() -> str:
    """Make the table of rank correlations of accuracy with untrained responses."""
    many = read_responses(10_000)
    few = read_responses(1000)
    columns = [
        "response along",
        f"between {many['family'].nunique()} families",
        "within them",
        f"{len(many)} networks",
        "8 convolutional",
        "these, from 1,000 images",
    ]
    predictors = {
        "class_means": "the class means",
        "components": "the images' components, without labels",
    }
    rows = []
    for predictor, words in predictors.items():
        logs = many.assign(log=np.log(many[predictor]))[["family", "log", "accuracy"]]
        families = logs.groupby("family")
        between = families.mean()
        # The only network of a family says nothing of differences within families.
        several = logs[families["log"].transform("size") > 1].set_index("family")
        within = several - several.groupby("family").mean()
        correlations = [
            spearman(between["log"], between["accuracy"]),
            spearman(within["log"], within["accuracy"]),
            spearman(many[predictor], many["accuracy"]),
            correlate_convolutional(many, predictor),
            correlate_convolutional(few, predictor),
        ]
        rows.append([words, *map(format_signed, correlations)])
    return format_table(columns, rows)


def read_responses(images: int) -> pd.DataFrame:
    """Read the networks of `studies.prediction` that were fully trained.

    Args:
        images: The number of training images.

    Returns:
        A row for each network: its responses before training, its accuracy (mean over
        seeds) and its family.
    """
    run = "prediction/seventeen_networks"
    networks = read_run(f"{run}/networks.csv", images=images)
    networks = networks[networks["epochs"] > 1]
    accuracy = networks.groupby("network", as_index=False)["accuracy"].mean()
    accuracy["family"] = accuracy["network"].str.extract("([^ ,]+)", expand=False)
    return accuracy.merge(read_run(f"{run}/alignments.csv"))


def correlate_convolutional(networks: pd.DataFrame, predictor: str) -> float:
    """Compute the rank correlation of a response with accuracy, CNNs only."""
    networks = networks[networks["family"].isin(CONVOLUTIONAL)]
    return spearman(networks[predictor], networks["accuracy"])
