"""Does the response of an untrained network predict its accuracy on images?

    python -m studies.prediction

The covariance C of a network's derivative is compared with directions that separate the
classes of CIFAR-10 in grey: the differences of the classes' means, and Fisher's
discriminants. Does the alignment of C with these directions rank `NETWORKS` by
accuracy? Does it rank them better than the alignment with the images' principal
components, the number of weights, or the accuracy after one epoch?

Tables and figure go into reports/kept/prediction/seventeen_networks/. Networks that are
in the tables are not trained again. Images are those of the last run.
"""

import functools
import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd
import threadpoolctl
import torch
from matplotlib.figure import Figure
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from pipeline import networks
from pipeline.measures.fitted import fitted
from pipeline.nads import NADs
from pipeline.project import artifacts
from pipeline.report import style
from pipeline.report.labels import label
from pipeline.training import loop, seeds
from pipeline.training.loop import Training
from pipeline.training.maps import principal_components
from pipeline.training.pictures import choose, in_unit_range
from studies import in_memory
from studies.untrained import estimate_nads

FOLDER = Path("reports/kept/prediction/seventeen_networks")

NETWORKS = (
    {"network": "logreg"},
    {"network": "mlp", "hidden": [100, 20]},
    {"network": "mlp", "hidden": [200, 50]},
    {"network": "lenet"},
    {"network": "lenet", "downsampling": "stride"},
    {"network": "lenet", "downsampling": "none"},
    {"network": "vgg11", "width": 0.125},
    {"network": "vgg11", "width": 0.25},
    {"network": "resnet18", "width": 0.125},
    {"network": "resnet18", "width": 0.125, "skip": False},
    {"network": "vit", "width": 64, "depth": 2},
    {"network": "vit", "width": 64, "depth": 2, "patch": 8},
    {"network": "mixer", "width": 64, "depth": 2},
    {"network": "mixer", "width": 64, "depth": 2, "patch": 8},
    {"network": "convmixer", "width": 64, "depth": 3},
    {"network": "convnext"},
    {"network": "convnext", "scale": 1.0},
)

SIZES = {1000: 50, 10_000: 10}  # numbers of training images, each with its epochs
SEEDS = 2  # networks of each architecture for each of these
SGD = {"lr": 0.1, "momentum": 0.9, "weight_decay": 5e-4, "clip": 0.5}
"""How all networks are trained, with the triangular schedule."""

UNTRAINED = 64  # untrained networks of an estimate of C at most
ERROR = 0.1  # relative error of C that ends an estimate

PREDICTORS = {
    "class_means": "response along the classes' means",
    "fisher": "response along Fisher's directions",
    "components": "response along principal components",
    "weights": "number of weights",
    "one_epoch": "accuracy after one epoch (%)",
}
"""What may rank the networks: alignments of C, as multiples of that with a random
direction, and two baselines."""

RESAMPLED = 10_000
"""Number of bootstrap samples for the intervals of rank correlations."""


@functools.cache
def images() -> dict[str, tuple[torch.Tensor, np.ndarray]]:
    """Grey images (N, 1, 32, 32) and class numbers (N,) of each split.

    The training images have mean 0 and variance 1.
    """
    whole = artifacts.read_images()
    grey = {}
    for split in ("train", "test"):
        coloured = in_unit_range(np.array(whole[f"{split}_images"]))
        grey[split] = coloured.mean(1, keepdim=True)
    deviation, mean = torch.std_mean(grey["train"])
    return {
        split: ((x - mean) / deviation, whole[f"{split}_labels"])
        for split, x in grey.items()
    }


def class_means(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The differences (classes, D) between the classes' means and the mean of inputs x
    (N, D)."""
    return np.stack([x[y == c].mean(0) for c in np.unique(y)]) - x.mean(0)


def fisher(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Fisher's discriminants (classes − 1, D) of inputs x (N, D) as unit vectors.

    The covariance within classes is that of Ledoit and Wolf.
    """
    found = (
        LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
        .fit(x, y)
        .scalings_.T
    )
    found = found[: len(np.unique(y)) - 1]
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def alignment(nads: NADs, vectors: np.ndarray) -> float:
    """Compute D · Σ vᵀCv / (tr C · Σ‖v‖²) over vectors v (F, D): 1 if C ∝ I."""
    along = ((vectors @ nads.directions.T) ** 2).sum(0)
    return float(along @ nads.eigenvalues / nads.eigenvalues.mean() / along.sum())


def measure_alignments(vectors: dict[str, np.ndarray], architecture: dict) -> dict:
    """The row of one architecture: its alignments, and its number of weights."""
    specification = networks.specification(architecture)
    nads = estimate_nads(specification, UNTRAINED, error=ERROR)
    network = networks.build(specification, 1, 10, seed=0)
    weights = sum(parameter.numel() for parameter in network.parameters())
    row = {"network": label(specification), "weights": weights}
    row |= {name: alignment(nads, v) for name, v in vectors.items()}
    return row | {"untrained": nads.networks, "error": nads.error}


def train_network(_: object, job: tuple[dict, int, int, int]) -> dict:
    """Train one network and return its row; runs in a worker.

    Args:
        job: Architecture, number of training images, seed, number of epochs.
    """
    architecture, count, seed, epochs = job
    started = time.monotonic()
    specification = networks.specification(architecture)
    rng = seeds.stream("prediction", count, seed)
    (x, y), (x_test, y_test) = images().values()
    whole = {"train_images": x.numpy(), "train_labels": y}
    x, y = choose(rng, whole, "train", count)
    row = {
        "network": label(specification),
        "images": count,
        "seed": seed,
        "epochs": epochs,
    }
    test = loop.channels_last(x_test, "cpu"), torch.as_tensor(y_test).long()
    identity = ("prediction", row["network"], count, seed)
    network = networks.build(specification, 1, 10, seeds.for_weights(*identity))
    course = Training(epochs, **SGD)
    x = loop.channels_last(torch.as_tensor(x), "cpu")
    y = torch.as_tensor(y).long()
    outcome = loop.train(network, x, y, course, seeds.for_order(*identity))
    row |= {
        "accuracy": loop.accuracy(network, *test),
        "train_accuracy": outcome.accuracy,
    }
    return row | {"seconds": time.monotonic() - started}


def rank_correlation(
    predictor: np.ndarray, accuracy: np.ndarray, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Compute Spearman's ρ over networks, and the ends of its 95 % interval.

    The interval is from a percentile bootstrap over networks.
    """
    rows = rng.integers(len(accuracy), size=(RESAMPLED, len(accuracy)))
    ranks = [stats.rankdata(x[rows], axis=1) for x in (predictor, accuracy)]
    a, b = (x - x.mean(1, keepdims=True) for x in ranks)
    with np.errstate(invalid="ignore"):  # where all of a sample are one network
        sampled = (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))
    return stats.spearmanr(predictor, accuracy).statistic, *np.nanquantile(
        sampled, (0.025, 0.975)
    )


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Correlate each predictor with accuracy, with an interval, by number of images.

    Args:
        table: Means over seeds by network and number of images.
    """
    rows = []
    rng = np.random.default_rng(0)
    for count, cells in table.groupby("images"):
        for name in PREDICTORS:
            rho, low, high = rank_correlation(
                cells[name].values, cells["accuracy"].values, rng
            )
            rows.append(
                {"images": count, "predictor": name, "networks": len(cells), "rho": rho}
            )
            rows[-1] |= {"low": low, "high": high}
    return pd.DataFrame(rows)


def make_figure(table: pd.DataFrame, ranked: pd.DataFrame) -> Figure:
    """Draw accuracy over each predictor; a number in a panel is a network.

    Args:
        table: Means over seeds by network and number of images.
        ranked: Result of `correlations` for this table.
    """
    figure, panels = style.new_figure(
        len(SIZES), len(PREDICTORS), 13, 6.4, sharey="row"
    )
    names = list(table["network"].unique())
    for row, (count, cells) in zip(panels, table.groupby("images"), strict=False):
        accuracy = 100 * cells["accuracy"]
        for panel, (name, text) in zip(row, PREDICTORS.items(), strict=True):
            percent = 100 if "%" in text else 1
            places = percent * cells[name], accuracy, cells["network"], cells["fitted"]
            for x, y, network, of_seeds in zip(*places, strict=True):
                panel.plot(x, y, "none")
                look = {"ha": "center", "va": "center", "fontsize": 8}
                look |= {"color": style.BLACK if of_seeds == 1 else style.BLUE}
                panel.text(x, y, names.index(network) + 1, **look)
            if cells[name].max() > 10 * cells[name].min():
                panel.set_xscale("log")
            panel.set_xlabel(text)
            chosen = (ranked["images"] == count) & (ranked["predictor"] == name)
            rho, low, high = ranked[chosen].iloc[0][["rho", "low", "high"]]
            interval = f"ρ = {rho:+.2f} ({low:+.2f} to {high:+.2f})"
            panel.set_title(interval.replace("-", "−"))
        row[0].set_ylabel(f"test accuracy (%), {count:,} images")
    courses = [
        f"{SIZES[count]} epochs of {count:,} images ({sum(cells['fitted'] == 1)} "
        "fitted)"
        for count, cells in table.groupby("images")
    ]
    caption = " · ".join(f"{number} {name}" for number, name in enumerate(names, 1))
    known = artifacts.read_about_images()["name"]
    caption += f"\n{known} in grey · {SEEDS} seeds · {' and '.join(courses)}"
    caption += (
        "\nblack: fitted by both seeds, blue: not · response: times a random "
        "direction's · ρ: rank correlation over networks, with its interval of 95 %"
    )
    title = "Does what an untrained network prefers tell how accurate it will be?"
    return style.finish(figure, title, caption)


def main() -> None:
    """Estimate, train what is not trained yet, and write tables and figure."""
    FOLDER.mkdir(exist_ok=True)
    by_label = {label(networks.specification(network)): network for network in NETWORKS}
    x, y = images()["train"]
    x = x.flatten(1).double().numpy()
    vectors = {"class_means": class_means(x, y), "fisher": fisher(x, y)}
    components = principal_components(images()["train"][0])
    vectors["components"] = components[: len(vectors["fisher"])]
    jobs = {(name,): network for name, network in by_label.items()}
    path = FOLDER / "alignments.csv"
    alignments = in_memory.complete(path, measure_alignments, jobs, vectors)
    jobs = {
        (name, count, seed, epochs): (network, count, seed, epochs)
        for seed, (count, all_epochs) in itertools.product(range(SEEDS), SIZES.items())
        for epochs in (1, all_epochs)
        for name, network in by_label.items()
    }
    table = in_memory.complete(FOLDER / "networks.csv", train_network, jobs, None)
    keys = ["network", "images"]
    short = table["epochs"] == 1
    whole = table[~short].assign(fitted=fitted(table)).groupby(keys, as_index=False)
    means = whole.agg({"accuracy": "mean", "fitted": "min"}).merge(alignments)
    one_epoch = table[short].rename(columns={"accuracy": "one_epoch"})
    means = means.merge(one_epoch.groupby(keys, as_index=False)["one_epoch"].mean())
    means = means.sort_values(
        "network", key=lambda names: names.map(list(by_label).index)
    )
    ranked = correlations(means)
    ranked.to_csv(FOLDER / "correlations.csv", index=False, float_format="%.6f")
    make_figure(means, ranked).savefig(
        FOLDER / "prediction.png", metadata={"Software": None}
    )
    print(ranked.to_string(index=False))


if __name__ == "__main__":
    with threadpoolctl.threadpool_limits(1):
        main()
