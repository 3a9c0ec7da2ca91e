"""The tables of docs/findings.md."""

import itertools

import numpy as np
import pandas as pd
from scipy.stats import norm

from pipeline.measures.fitted import FITTED, fitted
from pipeline.measures.ranks import spearman
from pipeline.nads import load
from studies.tables.markdown import format_table
from studies.tables.numbers import (
    compute_checkerboard_loss,
    compute_flip_loss,
    describe_seeds,
    format_signed,
    format_spread,
    read_accuracy,
    read_run,
    select,
)

CONVOLUTIONAL = ["LeNet", "VGG-11", "ResNet-18", "ConvMixer"]

MAPS = {
    "aligned": ("principal components onto NADs, in order", "the order of variances"),
    "signs": ("random signs of the coefficients", "each coefficient's NAD and size"),
    "rotated_2": ("rotation within blocks of 2 neighbouring NADs", "the block"),
    "rotated_8": ("within blocks of 8", "the block"),
    "rotated_32": ("within blocks of 32", "the block"),
    "rotated_128": ("within blocks of 128", "the block"),
    "rotated_512": ("within blocks of 512", "the block"),
    "permuted": ("permuted pixels", "the values of pixels"),
    "rotated": ("random rotation", "nothing"),
    "aligned_pixels": ("principal components onto pixels", "the variances"),
    "flipped": ("order of the coefficients reversed", "pairs of neighbouring NADs"),
}
"""The maps of images of one run of `flip`: what each does, and what it keeps."""

ALIGNED_MAPS = {
    "plain": "as they are",
    "aligned": "principal components onto the network's own NADs",
    "aligned_cosines": "onto cosines, low frequencies first",
    "aligned_vgg11": "onto VGG-11's NADs",
    "aligned_reversed": "onto its own NADs, in reverse order",
    "rotated": "random rotation",
}
"""Maps that give images a new basis, of the runs flip/alignment_N; `aligned_vgg11` is
a run with another network's NADs."""

ALIGNED_NETWORKS = {"lenet": "LeNet", "mlp_200_50": "MLP"}
ALIGNED_SAMPLES = (1_000, 20_000, 50_000)

SCALED_IMAGES = {
    "images": "where they are",
    "nads": "onto LeNet's NADs",
    "cosines": "onto cosines, low frequencies first",
    "reversed": "onto LeNet's NADs, in reverse order",
    "rotation": "onto a random basis",
}
"""Where the principal components are put in `studies.scaled`."""

SCALES = {"none": "not scaled", "response": "by λ^(−1/4)", "white": "white"}
"""How they are scaled there."""

POISONED = {
    "lenet_photographs": "photographs",
    "lenet_gaussians": "Gaussian images",
}
"""Images with carriers, by run of `poison`."""

CARRIED = {"lenet": "LeNet", "resnet18_narrow": "ResNet-18, ⅛ width"}
"""Networks of `studies.carriers`."""

BORDERS = (
    ("LeNet", "pool", "NAD 1000", "NAD 1000"),
    ("LeNet", "pool", "no alternation", "its absolute values, in the same pixels"),
    ("LeNet", "pool", "frame", "a frame of two pixels, all alike"),
    ("LeNet", "pool", "in the middle", "NAD 1000, moved to the middle"),
    ("LeNet with strides", "stride", "in the middle", "the same"),
    ("LeNet without pooling", "none", "in the middle", "the same"),
    ("LeNet with average pooling", "average", "in the middle", "the same"),
    ("LeNet with average pooling", "average", "NAD 0", "LeNet's NAD 0"),
)
"""Rows of `make_borders`: label, downsampling and direction of `studies.border`, and
the direction in words."""

RUNS_OF_LENET = (
    "six_networks",
    "three_networks",
    "convmixer",
    "layer_scale_1",
    "damping_0.01",
    "damping_1",
)
"""Runs of `studies.controversial` in which LeNet is trained with SGD. With another
damping, directions have the same names."""

RESPONSES = (0, 10, 20, 30, 100)
"""Limits of the rows of `make_response_ranges`, in per cent of the response to NAD
0."""

OVERLAPS = {
    (0.0, 0.0): "none (as in the papers)",
    (0.5, 0.0): "noise along v, σ_v = 0.5",
    (1.0, 0.0): "noise along v, σ_v = 1",
    (0.0, 0.1): "10 % wrong training labels",
    (0.0, 0.3): "30 % wrong training labels",
}
"""What makes D(v) harder, by σ_v and η."""

PREDICTORS = {
    "class_means": "the class means",
    "components": "the images' components, without labels",
}
"""The directions along which networks respond before training."""


WITH_ADAMW = ("adamw", "adamw_vgg11")
"""Runs of `studies.controversial` with AdamW in place of SGD."""

LAYER_SCALES = {1e-6: "10⁻⁶", 0.01: "0.01", 1.0: "1"}
"""Initial layer scales of `studies.layer_scale`, as text."""

ALTERED = {"lenet": "LeNet", "resnet18_narrow": "⅛-width ResNet-18"}
"""Networks of `studies.altered`."""

BLIND_SPOTS = (
    ("LeNet with strides", "lenet_strided", "", "does not read these pixels"),
    ("LeNet", "lenet", "", "probably pooling"),
    ("LeNet without pooling", "lenet", "downsampling=none", "(control)"),
    ("ConvNeXt", "convnext", "scale=1e-06", "small initial layer scale"),
    ("ConvNeXt, layer scale 1", "convnext", "scale=1", "(control)"),
)
"""Rows of `make_blind_spots`: label, network and variant of `studies.anatomy`, and the
reason."""

ALONG = ["untrained response, % of NAD 0's", "SGD, %", "with momentum, %", "AdamW, %"]
"""Columns of `describe_along`."""

POSITION_OPTIMISERS = {
    "SGD": "SGD, learning rate 0.5, %",
    "SGD, learning rate 0.1": "0.1, %",
    "SGD, learning rate 0.02": "0.02, %",
    "SGD with momentum": "with momentum, %",
    "AdamW": "AdamW, %",
}
"""Columns of `make_position_embeddings`."""

ALTERATIONS = (
    ("removed", "changed", 100, "removed: changed predictions (%)"),
    ("removed", "changed_per_norm", 1, "removed: fraction changed ÷ norm removed"),
    ("moved", "changed", 100, "moved: changed predictions (%)"),
)
"""Rows of `make_alterations`: alteration, column, its factor, and words."""

LABELS = {
    "lenet": "LeNet",
    "lenet_strided": "LeNet with strides",
    "convnext": "ConvNeXt",
    "convmixer": "ConvMixer",
    "vgg11_quarter": "VGG-11, ¼ width",
    "resnet18_quarter": "ResNet-18, ¼ width",
}


def make_maps() -> str:
    """Make the table of the accuracy that maps of the images cost."""
    alignment = read_run("alignment/lenet_maps").groupby("images")["alignment"].mean()
    run = "flip/resnet18_quarter_locality"
    tried = set(read_run(run)["images"])
    rows = [["(none)", "everything", f"{alignment['plain']:.2g}", "–", "–"]]
    for name, (words, kept) in MAPS.items():
        loss = format_spread(compute_flip_loss("flip/lenet_locality", name))
        deep_loss = "–"
        if name in tried:
            deep_loss = format_spread(compute_flip_loss(run, name))
        rows.append([words, kept, f"{alignment[name]:.2g}", loss, deep_loss])
    checkered = read_run("checkerboard/photographs", network="lenet")
    rho = checkered.groupby("images")["alignment"].mean()["checkered"]
    loss = compute_checkerboard_loss("lenet")
    words = "multiplied by a checkerboard of +1 and −1", "each value's pixel and size"
    rows.insert(1, [*words, f"{rho:.2g}", format_spread(loss), "–"])
    columns = [
        "map of the images, in training and test alike",
        "what it keeps",
        "alignment ρ with LeNet's NADs",
        "loss of LeNet, points",
        "loss of ResNet-18, points",
    ]
    return format_table(columns, rows)


def make_alignments() -> str:
    """Make the table of accuracies on images in a new basis."""
    columns = ["images"]
    cells = {name: [] for name in ALIGNED_MAPS}
    for samples in ALIGNED_SAMPLES:
        results = read_run(f"flip/alignment_{samples}")
        if samples == 20_000:
            other = read_run("flip/alignment_vgg11").assign(images="aligned_vgg11")
            results = pd.concat([results, other])
        for network, label in ALIGNED_NETWORKS.items():
            columns.append(f"{label}, {samples:,} images")
            for name, row in cells.items():
                chosen = results["architecture"] == network
                accuracies = (
                    100 * results[chosen & (results["images"] == name)].accuracy
                )
                row.append(format_spread(accuracies))
    rows = [[ALIGNED_MAPS[name], *row] for name, row in cells.items()]
    return format_table(columns, rows)


def make_scales() -> str:
    """Make the table of accuracies on scaled images."""
    results = read_run("alignment/scaled")
    cells = results.groupby(["network", "target", "scale"])["accuracy"]
    rows = []
    for target, words in SCALED_IMAGES.items():
        row = [words]
        for network in ALIGNED_NETWORKS:
            for scale in SCALES:
                key = network, target, scale
                if key in cells.groups:
                    row.append(format_spread(100 * cells.get_group(key)))
                else:
                    row.append("–")
        rows.append(row)
    columns = [
        f"{label}, {words}"
        for label in ALIGNED_NETWORKS.values()
        for words in SCALES.values()
    ]
    return format_table(["principal components", *columns], rows)


def make_carriers() -> str:
    """Make the table of LeNet's accuracies on clean images after carriers."""
    rows = []
    for run, words in POISONED.items():
        clean = read_run(f"poison/{run}", test_set="clean")
        row = [words]
        for _, of_index in clean.groupby("index"):  # first −1, which means no carriers
            accuracies = 100 * of_index["accuracy"]
            row.append(format_spread(accuracies))
        rows.append(row)
    indices = [f"NAD {index}" for index in (0, 10, 30, 110)]
    columns = ["images", "without carriers", *(f"carriers from {i}" for i in indices)]
    return format_table(columns, rows)


def make_gaps() -> str:
    """Make the table of networks trained with carriers of paper 1's size."""
    results = read_run("carriers/photographs", size=0.05)
    rows = []
    keys = ["network", "kind", "index"]
    for (network, kind, index), seeds in results.groupby(keys):
        row = [CARRIED[network], f"{len(seeds)}", kind, f"{index}"]
        for test_set in ("clean", "gap", "carriers", "erased", "follows"):
            accuracies = 100 * seeds[test_set]
            row.append(format_spread(accuracies))
        rows.append(row)
    columns = ["network", "seeds", "training images", "carriers from NAD", "clean"]
    columns += ["only the gap", "with carriers", "erased", "class of a wrong carrier"]
    return format_table(columns, rows)


def make_carrier_sizes() -> str:
    """Make the table of how often LeNet follows wrong carriers, by their size."""
    results = read_run("carriers/photographs", network="lenet", kind="erased")
    indices = sorted(results["index"].unique())
    rows = []
    for size, of_size in results.groupby("size"):
        row = [f"{size:g}"]
        for index in indices:
            follows = 100 * of_size[of_size["index"] == index]["follows"]
            row.append(format_spread(follows))
        rows.append(row)
    columns = ["size of the carriers", *(f"from NAD {index}" for index in indices)]
    return format_table(columns, rows)


def make_borders() -> str:
    """Make the table of LeNets along NAD 1000 and directions made from it."""
    results = read_run("border/lenet")
    rows = []
    for network, downsampling, direction, words in BORDERS:
        seeds = select(results, downsampling=downsampling, direction=direction)
        border, response = 100 * seeds[["border", "response"]].mean()
        accuracy = describe_seeds(seeds)
        rows.append([network, words, f"{border:.0f}", f"{response:.1f}", accuracy])
    columns = [
        "network",
        "direction",
        "energy at the border (%)",
        "untrained response, % of NAD 0's",
    ]
    return format_table([*columns, "SGD, %"], rows)


def read_lenets_directions() -> pd.DataFrame:
    """Read LeNet's accuracy along all directions that are not its own NADs, with paper
    1's SGD and 20 epochs of 10,000 samples.

    Returns:
        A row per direction: response in per cent of that to NAD 0, mean accuracy in per
        cent, and the least training accuracy.
    """
    nads = load("lenet")
    # The kept responses are multiples of the root mean square over all directions.
    first = (nads.eigenvalues[0] / nads.eigenvalues.mean()) ** 0.5
    tables = []
    for run in RUNS_OF_LENET:
        table = read_run(f"controversial/{run}/results.csv", network="lenet")
        table = table[~table["direction"].str.startswith("lenet_nad_")]
        name = table["direction"] + (f" {run}" if "damping" in run else "")
        tables.append(table.assign(direction=name, response=table["response"] / first))
    border = read_run("border/lenet", downsampling="pool")
    tables.append(border[border["direction"] != "NAD 1000"])
    seeds = pd.concat(tables).drop_duplicates(["direction", "seed"])
    seeds = seeds.assign(
        response=100 * seeds["response"], accuracy=100 * seeds["accuracy"]
    )
    of_direction = seeds.groupby("direction")
    return of_direction.agg(
        {"response": "mean", "accuracy": "mean", "train_accuracy": "min"}
    )


def make_response_ranges() -> str:
    """Make the table of LeNet's accuracies by the response before training."""
    eigenvalues = load("lenet").eigenvalues
    nads = read_run("nad_sweep/lenet_precise")
    response = 100 * np.sqrt(eigenvalues[nads["index"]] / eigenvalues[0])
    nads = nads.assign(response=response, accuracy=100 * nads["accuracy"])
    others = read_lenets_directions()
    rows = []
    for low, high in itertools.pairwise(RESPONSES):
        row = [f"{low} to {high}"]
        for table in (nads, others):
            inside = table[table["response"].between(low, high, inclusive="right")]
            accuracy = inside["accuracy"]
            row += [
                f"{len(inside)}",
                f"{accuracy.min():.0f} to {accuracy.max():.0f}",
                f"{fitted(inside).sum()}",
            ]
        rows.append(row)
    columns = ["untrained response, % of NAD 0's"]
    for kind in ("own NADs", "other directions"):
        columns += [kind, "accuracy, %", "fitted"]
    return format_table(columns, rows)


def make_overlaps() -> str:
    """Make the table of accuracies along NADs when the classes overlap."""
    run = "nad_sweep/lenet_overlapping"
    indices = read_run(run)["index"].unique()
    rows = []
    for (sigma_v, eta), words in OVERLAPS.items():
        row = [words, f"{compute_best_accuracy(sigma_v):.3g}"]
        for index in indices:
            accuracies = read_accuracy(run, sigma_v=sigma_v, eta=eta, index=index)
            row.append(f"{accuracies.mean():.1f}")
        rows.append(row)
    columns = ["difficulty", "best possible", *(f"NAD {index}" for index in indices)]
    return format_table(columns, rows)


def compute_best_accuracy(sigma_v: float) -> float:
    """Compute the best possible accuracy on D(v) with ε = 1 in per cent, Φ(1/σ_v).

    Args:
        sigma_v: Standard deviation of the noise along v.
    """
    if sigma_v == 0:
        return 100.0
    return 100 * float(norm.cdf(1 / sigma_v))


def make_wrong_labels() -> str:
    """Make the table of two cues, the channel of NAD 1 with correct or wrong labels."""
    run = "linear_pairs/lenet_mislabelled_rates"
    rows = []
    for index in (1000, 256, 128, 32, 1):
        for rate in (0.0, 0.3):
            cell = {"eta1": 0.0, "eta2": rate, "index_1": index, "index_2": 1}
            row = [str(index), f"{100 * rate:.0f}"]
            for test_set in ("first", "second"):
                accuracies = read_accuracy(run, **cell, test_set=test_set)
                row.append(format_spread(accuracies))
            tilt = read_run(run, **cell, test_set="all")["tilt"]
            row.append(format_spread(tilt))
            rows.append(row)
    columns = [
        "NAD of the reliable channel",
        "wrong labels of NAD 1 (%)",
        "only the reliable channel (%)",
        "only NAD 1 (%)",
        "tilt (°)",
    ]
    return format_table(columns, rows)


def make_turns() -> str:
    """Make the table of the response along v before and after training on D(v)."""
    course = read_run(
        "learning/small_networks/course.csv", architecture="lenet", data="linear"
    )
    indices = course["index"].unique()
    rows = []
    for epoch, words in ((0, "before training"), (course["epoch"].max(), "after it")):
        row = [words]
        for index in indices:
            shares = 100 * select(course, epoch=epoch, index=index)["v"]
            row.append(format_spread(shares))
        rows.append(row)
    columns = ["share of the squared gradient along v (%)"]
    columns += [f"NAD {index}" for index in indices]
    return format_table(columns, rows)


def make_course_on_images() -> str:
    """Make the table of the gradient of LeNet while it learns images."""
    course = read_run(
        "learning/small_networks/course.csv", architecture="lenet", data="images"
    )
    parts = {
        "components": "in the images' first ten principal components",
        "nads": "in the first ten NADs",
    }
    epochs = course["epoch"].unique()
    rows = []
    for part, words in parts.items():
        row = [words]
        for epoch in epochs:
            shares = 100 * select(course, epoch=epoch)[part]
            row.append(format_spread(shares))
        rows.append(row)
    columns = ["share of the squared gradient (%), after epochs", *map(str, epochs)]
    return format_table(columns, rows)


def make_order_in_time() -> str:
    """Make the table of accuracies on projected images in the course of training."""
    course = read_run("order_in_time/lenet", carriers="none")
    epochs = sorted(course["epoch"].unique())
    rows = []
    for test_set, of_set in course.groupby("test_set", sort=False):
        words = test_set.replace("clean", "everything")
        energy = f"{100 * of_set['energy'].iloc[0]:.0f}"
        row = [words.replace("components", "principal components"), energy]
        for epoch in epochs:
            accuracies = 100 * select(of_set, epoch=epoch)["accuracy"]
            row.append(format_spread(accuracies))
        rows.append(row)
    columns = ["accuracy (%) on test images that keep", "of their energy (%)"]
    columns += [f"epoch {epoch}" for epoch in epochs]
    return format_table(columns, rows)


def make_optimisers() -> str:
    """Make the table of directions that one of two networks should learn, with SGD and
    with AdamW."""
    columns = ["direction"]
    for network in ("should learn", "should not"):
        columns += [f"response of the network that {network}", "SGD, %", "AdamW, %"]
    with_sgd = read_run("controversial/six_networks")
    rows = []
    for run in WITH_ADAMW:
        with_adamw = read_run(f"controversial/{run}")
        for direction in with_adamw["direction"].unique():
            pair = direction.split("_not_")
            learner, rival = (LABELS[network] for network in pair)
            row = [f"for {learner}, not {rival}"]
            for network in pair:
                place = {"network": network, "direction": direction}
                seeds = select(with_sgd, **place)
                row.append(f"×{seeds['response'].iloc[0]:.2g}")
                row.append(describe_seeds(seeds))
                row.append(describe_seeds(select(with_adamw, **place)))
            rows.append(row)
    return format_table(columns, rows)


def make_blocks() -> str:
    """Make the table of ConvNeXt along directions that it should not learn, with its
    blocks at first without effect (layer scale 10⁻⁶) and with effect."""
    sgd = read_run("controversial/six_networks", network="convnext")
    runs = [read_run(f"controversial/{run}", network="convnext") for run in WITH_ADAMW]
    adamw = pd.concat(runs)
    scaled = read_run("anatomy/layer_scale")
    columns = {
        "SGD, scale starts at 10⁻⁶, %": sgd,
        "SGD, starts at 1, %": select(scaled, optimiser="SGD", scale=1.0, fixed=False),
        "AdamW, starts at 10⁻⁶, %": adamw,
        "AdamW, fixed at 10⁻⁶, %": select(
            scaled, optimiser="AdamW", scale=1e-6, fixed=True
        ),
    }
    directions = {
        f"{name}_not_convnext": f"for {label}"
        for name, label in LABELS.items()
        if name != "convnext"
    }
    responses = read_run("anatomy/layer_scale/response.csv")
    rows = []
    for direction, words in (directions | {"random": "random"}).items():
        along = select(responses, direction=direction)
        row = [words, f"{100 * along['repeated'].iloc[0]:.2g}"]
        for scale in (1e-6, 1.0):
            row.append(f"×{select(along, scale=scale)['response'].item():.2g}")
        for table in columns.values():
            seeds = table[table["direction"] == direction]
            row.append("–" if seeds.empty else describe_seeds(seeds))
        rows.append(row)
    untrained = ["repeated, % of energy", "response, scale 10⁻⁶", "response, scale 1"]
    return format_table(["direction", *untrained, *columns], rows)


def make_rivals() -> str:
    """Make the table of six networks that are trained along directions for one of two.

    An asterisk marks a mean over seeds of which some are not fitted.
    """
    results = read_run("controversial/six_networks")

    def describe(network: str, direction: str) -> str:
        seeds = select(results, network=network, direction=direction)
        unfitted = seeds["train_accuracy"].min() < FITTED
        return f"{100 * seeds['accuracy'].mean():.1f}{'*' if unfitted else ''}"

    rows = []
    for learner, label in LABELS.items():
        row = [label]
        for rival in LABELS:
            if rival == learner:
                row.append("–")
                continue
            along = f"{learner}_not_{rival}"
            row.append(f"{describe(learner, along)} / {describe(rival, along)}")
        rows.append(row)
    return format_table(
        ["A (row) should learn, B (column) should not", *LABELS.values()], rows
    )


def make_fitted_rivals() -> str:
    """Make the table of networks that were not fitted along a direction for another
    network, and are with fewer samples and more epochs."""
    before = read_run("controversial/six_networks")
    after = read_run("controversial/fitted")
    rows = []
    for network, of_network in after.groupby("network", sort=False):
        for direction, seeds in of_network.groupby("direction", sort=False):
            learner, _, rival = direction.partition("_not_")
            if rival != network:
                continue
            first = select(before, network=network, direction=direction)
            row = [LABELS[network], f"for {LABELS[learner]}"]
            rows.append([*row, describe_seeds(first), describe_seeds(seeds)])
    sizes = ["10,000 samples, 20 epochs", "fewer samples, more epochs"]
    return format_table(["network", "direction", *sizes], rows)


def make_controversial_carriers() -> str:
    """Make the table of networks whose training images have carriers along directions
    for one of them."""
    results = read_run("controversial/carriers")
    rows = []
    for (direction, network), cells in results.groupby(
        ["directions", "architecture"], sort=False
    ):
        learner, _, rival = direction.partition("_not_")
        row = [f"for {LABELS[learner]}, not {LABELS[rival]}", LABELS[network]]
        for data, test_set in (
            ("images", "clean"),
            ("carriers", "clean"),
            ("carriers", "poisoned"),
        ):
            row.append(describe_seeds(select(cells, data=data, test_set=test_set)))
        rows.append(row)
    columns = ["carriers along the directions", "network"]
    columns += ["without carriers, clean images", "with carriers, clean images"]
    columns += ["with carriers, images with carriers"]
    return format_table(columns, rows)


def read_variants(run: str) -> pd.DataFrame:
    """Read a table of `studies.anatomy`; a network without changed arguments has the
    variant ''."""
    return read_run(run).fillna({"variant": ""})


def describe_along(network: str, variant: str, index: int) -> list[str]:
    """Describe a network of `studies.anatomy` along one of its NADs: its untrained
    response and the accuracies of each seed, by optimiser."""
    run = "anatomy/initial_scale"
    chosen = {"network": network, "variant": variant}
    untrained = select(read_variants(f"{run}/response.csv"), **chosen)
    responses = untrained.set_index("index")["response"]
    cells = [f"{100 * responses[index] / responses[0]:.1f}"]
    trained = select(read_variants(run), **chosen, index=index)
    for optimiser in ("SGD", "SGD with momentum", "AdamW"):
        seeds = trained[trained["optimiser"] == optimiser]
        cells.append("–" if seeds.empty else describe_seeds(seeds))
    return cells


def make_blind_spots() -> str:
    """Make the table of why networks fail along their NAD 1000."""
    rows = [
        [label, reason, *describe_along(network, variant, 1000)]
        for label, network, variant, reason in BLIND_SPOTS
    ]
    return format_table(["network", "reason", *ALONG], rows)


def make_earlier_nads() -> str:
    """Make the table of the same networks along NADs 200 and 400."""
    rows = [
        [str(index), label, *describe_along(network, variant, index)]
        for index in (200, 400)
        for label, network, variant, _ in BLIND_SPOTS
    ]
    return format_table(["NAD", "network", *ALONG], rows)


def make_layer_scales() -> str:
    """Make the table of ConvNeXt with trained and with fixed layer scales, along its
    NADs."""
    table = read_run("anatomy/layer_scale", gain=1)
    table["index"] = table["direction"].str.extract(r"^nad_(\d+)$")[0].astype(float)
    keys = ["index", "optimiser", "scale", "fixed"]
    rows = []
    for (index, optimiser, scale, fixed), seeds in table.groupby(keys):
        start = LAYER_SCALES[scale]
        row = [f"{index:.0f}", optimiser, f"{'fixed at' if fixed else 'from'} {start}"]
        for epochs in (4, 20):
            mean = seeds[f"scale_{epochs}"].mean()
            row.append("–" if fixed else f"{mean:.2g}")
        rows.append([*row, describe_seeds(seeds)])
    columns = ["NAD", "optimiser", "initial layer scale"]
    columns += ["layer scale after 4 epochs", "after 20 epochs"]
    return format_table([*columns, "test accuracy, %"], rows)


def make_gains() -> str:
    """Make the table of ConvNeXt with SGD and fixed layer scales, along NAD 1000, by
    the factor on the gradients of its blocks' weights."""
    table = read_run(
        "anatomy/layer_scale", optimiser="SGD", fixed=True, direction="nad_1000"
    )
    rows = []
    for (scale, gain), seeds in table.groupby(["scale", "gain"]):
        steps = seeds.sort_values("seed")["steps"]
        rows.append(
            [
                LAYER_SCALES[scale],
                f"×{gain:,.6g}",
                ", ".join(
                    "–" if np.isnan(count) else f"{count:.0f}" for count in steps
                ),
                describe_seeds(seeds),
            ]
        )
    columns = ["layer scales, fixed at", "gradients of the blocks' weights"]
    columns += ["steps until learned", "test accuracy, %"]
    return format_table(columns, rows)


def make_position_embeddings() -> str:
    """Make the table of a vision transformer along its NADs by the standard deviation
    of its initial position embeddings."""
    run = "anatomy/initial_scale"
    untrained = read_run(f"{run}/response.csv", network="vit_small")
    rows = []
    for variant, trained in read_run(run, network="vit_small").groupby("variant"):
        responses = select(untrained, variant=variant).set_index("index")
        for index, networks in trained.groupby("index"):
            along = responses.loc[index]
            row = [
                variant.removeprefix("position_std="),
                str(index),
                f"{100 * along['response'] / responses.loc[0, 'response']:.1f}",
                f"{along['alignment']:.1f} ± {along['alignment_std']:.1f}",
            ]
            for optimiser in POSITION_OPTIMISERS:
                seeds = networks[networks["optimiser"] == optimiser]
                row.append("–" if seeds.empty else describe_seeds(seeds))
            rows.append(row)
    columns = ["position embeddings", "NAD", "untrained response, % of NAD 0's"]
    columns += ["kernel alignment", *POSITION_OPTIMISERS.values()]
    return format_table(columns, rows)


def make_alterations() -> str:
    """Make the table of predictions that change when a set of NADs is altered."""
    table = read_run("altered/plain_images")
    bands = [name for name in table["band"].unique() if not name.startswith("NAD ")]
    rows = []
    for architecture, network in ALTERED.items():
        for alteration, column, factor, words in ALTERATIONS:
            row = [f"{network}, {words}"]
            for band in bands:
                chosen = select(
                    table, architecture=architecture, alteration=alteration, band=band
                )
                value = factor * chosen[column].mean()
                row.append(f"{value:.0f}" if factor > 1 else f"{value:.1f}")
            rows.append(row)
    return format_table(["", *(band.removeprefix("NADs ") for band in bands)], rows)


def make_families() -> str:
    """Make the table of rank correlations of accuracy with untrained responses."""
    rows = []
    for images in (10_000, 1000):
        networks = read_responses(images)
        for words, logs in group_responses(networks).items():
            row = [words, f"{images:,}"]
            for predictor in PREDICTORS:
                rho = spearman(logs[predictor], logs["accuracy"])
                row.append(format_signed(rho))
            rows.append(row)
    columns = ["networks", "training images", *PREDICTORS.values()]
    return format_table(columns, rows)


def group_responses(networks: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group networks in four ways, over each of which a correlation is computed.

    Args:
        networks: What `read_responses` returns.

    Returns:
        Logarithms of the responses, and accuracies, by a description of the group.
    """
    logs = networks[["family", "accuracy"]].copy()
    for predictor in PREDICTORS:
        logs[predictor] = np.log(networks[predictor])
    between = logs.groupby("family").mean()
    # The only network of a family says nothing of differences within families.
    several = logs[logs["family"].map(logs["family"].value_counts()) > 1]
    several = several.set_index("family")
    within = several - several.groupby("family").mean()
    convolutional = logs[logs["family"].isin(CONVOLUTIONAL)]
    return {
        f"all {len(logs)}": logs,
        f"means of {len(between)} families": between,
        f"{len(within)}, deviation from their family's mean": within,
        f"{len(convolutional)} convolutional": convolutional,
    }


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
