"""The tables of docs/fidelity.md that explain the verdicts, each from kept runs."""

import pandas as pd

from pipeline.measures.fitted import fitted
from pipeline.report import published
from studies.tables.markdown import format_table
from studies.tables.numbers import (
    CHANCE,
    CHECKERBOARD,
    compare_curves,
    compare_maps,
    compute_checkerboard_loss,
    compute_flip_loss,
    compute_repeat_spread,
    compute_rms,
    compute_rms_difference,
    count_fitted,
    count_seeds,
    format_spread,
    read_accuracy,
    read_plain,
    read_published,
    read_run,
)
from studies.two_channels import compute_accuracies

ODD = ("neither is odd", "one is odd", "both are odd")
"""By the number of odd values among k_row/2 and k_col/2."""

CURVES = (
    ("LeNet", "as noisy as the paper's", "lenet_as_published", "lenet"),
    ("LeNet", "more precise", "lenet_precise", "lenet"),
    ("VGG-11", "the authors'", "vgg11_authors", "vgg11"),
    ("VGG-11, ¼ width", "the authors'", "vgg11_quarter_authors", "vgg11"),
    ("VGG-11, ¼ width", "ours, same indices", "vgg11_quarter", "vgg11"),
    ("ResNet-18", "the authors'", "resnet18_authors", "resnet18"),
    ("ResNet-18, ¼ width", "ours, same indices", "resnet18_quarter", "resnet18"),
)
"""Rows of curves along NADs: network, NADs, run of `nad_sweep`, published column."""

CARRIERS = (
    ("none", "resnet18_quarter", -1),
    ("our NAD 0", "resnet18_quarter", 0),
    ("our NAD 50", "resnet18_quarter", 50),
    ("the authors' NAD 50", "resnet18_quarter_authors", 50),
    ("our NAD 1020", "resnet18_quarter", 1020),
)
"""Columns of accuracies after carriers: first carrier, run of `poison`, its index."""

FLIPS = {
    "plain": "as they are",
    "signs": "coefficients with random signs",
    "rotated": "coefficients rotated at random",
    "flipped": "order of coefficients reversed",
}

FLIPPED_NETWORKS = {
    "LeNet": "flip/lenet",
    "VGG-11, ¼ width": "flip/vgg11_quarter",
    "ResNet-18, ¼ width": "flip/resnet18_quarter",
}
"""Columns of `make_flips`: network and run."""

CHECKERED = (
    ("LeNet, 20,000 images", "lenet", CHECKERBOARD),
    ("VGG-11, ¼ width", "vgg11_quarter", "flip/vgg11_quarter"),
    ("ResNet-18, ¼ width", "resnet18_quarter", "flip/resnet18_quarter"),
)
"""Rows of `make_checkerboards`: label, network, and the run that has the same network
on plain images."""

RECIPES = {
    "stated": "rate 0.2, clipped to norm 0.5",
    "clip 0.1": "clipped to norm 0.1",
    "rate 0.1": "rate 0.1 instead of 0.2",
    "rate 0.05": "rate 0.05",
}

SETS = {
    "all": "both channels",
    "first": "only channel 1",
    "second": "only channel 2",
}


def make_published_row() -> str:
    """Make the table of the published row k_row = 0 beside its transpose."""
    table = published.read_published("fourier")
    across = table[(table["k_row"] == 0) & (table["k_col"] != 0)]
    down = table[(table["k_col"] == 0) & (table["k_row"] < 0)].set_index("k_row")
    rows = []
    for label, run, network in (
        ("LeNet", "lenet", "lenet"),
        ("ResNet-18", "resnet18_quarter", "resnet18"),
    ):
        transposed = down.loc[-across["k_col"].abs(), network].to_numpy()
        excess = (across[network] - transposed).mean()
        spread = compute_repeat_spread(network, CHANCE)
        ours = read_accuracy(f"fourier/{run}", k_row=0, k_col=0).mean()
        known = read_published("fourier", network, k_row=0, k_col=0)
        constant = f"{known:.1f}; {ours:.1f}"
        rows.append([label, f"{excess:.1f}", f"{spread:.1f}", constant])
    columns = [
        "network",
        "row minus its transpose, mean in points",
        "standard deviation of published repeats",
        "constant direction, published; ours",
    ]
    return format_table(columns, rows)


def make_odd_frequencies() -> str:
    """Make the table of ResNet-18's accuracies by how many k/2 are odd."""
    maps = compare_maps("fourier/resnet18_quarter", "resnet18")
    row, column = map(maps.index.get_level_values, (0, 1))
    odd = (row % 4 != 0).astype(int) + (column % 4 != 0)
    skips = read_run("skips/resnet18_quarter")
    skips = skips[skips.duplicated(["k_row", "k_col"], keep=False)]
    rows = []
    for count, label in enumerate(ODD):
        of_count = maps[odd == count]
        tried = skips[skips["odd_halves"] == count]
        rows.append(
            [
                f"{label} ({len(of_count)} frequencies)",
                describe_range(of_count["published"]),
                describe_range(of_count["ours"]),
                describe_range(100 * tried[tried["skip"]]["accuracy"]),
                describe_range(100 * tried[~tried["skip"]]["accuracy"]),
            ]
        )
    columns = [
        "k_row/2 and k_col/2",
        "published",
        "¼ width",
        "nine of these frequencies",
        "these without skip connections",
    ]
    return format_table(columns, rows)


def make_unpooled() -> str:
    """Make the table of LeNet without pooling, by recipe."""
    rows = []
    for label, run in (
        ("momentum 0.9, learning rate 0.1", "fourier/lenet_unpooled_momentum"),
        ("no momentum, learning rate 0.5", "fourier/lenet_unpooled"),
    ):
        results = read_run(run)
        constant = (results["k_row"] == 0) & (results["k_col"] == 0)
        accuracy = 100 * results["accuracy"]
        lowest = f"{accuracy[~constant].min():.1f}"
        rows.append([label, lowest, f"{accuracy[constant].item():.1f}"])
    columns = ["SGD", "lowest of 20 frequencies", "constant direction"]
    return format_table(columns, rows)


def make_strides() -> str:
    """Make the table of LeNet with strides or pooling along Fourier directions."""
    wave = ["k_row", "k_col"]
    strided = read_run("fourier/lenet_strided").set_index(wave).index.unique()
    rows = []
    for label, run in (
        ("strides, σ = 1", "lenet_strided_less_noise"),
        ("strides, σ = 3", "lenet_strided"),
        ("pooling, σ = 1", "lenet_less_noise"),
        ("pooling, σ = 3", "lenet"),
    ):
        results = read_run(f"fourier/{run}").set_index(wave)
        results = results[results.index.isin(strided)]
        accuracy = 100 * results.groupby(wave)["accuracy"].mean()
        rows.append([label, describe_range(accuracy), count_fitted(results)])
    columns = ["LeNet", "accuracy along 21 directions, %", "networks fitted"]
    return format_table(columns, rows)


def make_strided_nads() -> str:
    """Make the table of LeNet with strides along its own NADs."""
    run = "nad_sweep/lenet_strided"
    results = read_run(run)
    response = read_run(f"{run}/spectrum.csv").set_index("index")["response"]
    steps = results.groupby("index")["steps"].mean()
    indices = list(steps.index)
    rows = [["untrained response"], ["steps until learned"]]
    for index in indices:
        rows[0].append(f"{response[index]:.3f}")
        rows[1].append("–" if pd.isna(steps[index]) else f"{steps[index]:.0f}")
    rows.append(["accuracy, %", *list_accuracies(results, indices)])
    return format_table(["NAD", *map(str, indices)], rows)


def make_curves() -> str:
    """Make the table of accuracy curves along NADs against the published ones."""
    authors = read_run("nad_sweep/vgg11_quarter_authors")["index"]
    rows = []
    for network, nads, run, column in CURVES:
        results = read_run(f"nad_sweep/{run}")
        curves = compare_curves(f"nad_sweep/{run}", column)
        if run == "vgg11_quarter":
            results = results[results["index"].isin(authors)]
            curves = curves[curves.index.isin(authors)]
        rms = f"{compute_rms_difference(curves):.1f}"
        rows.append([network, nads, str(len(curves)), rms, count_fitted(results)])
    columns = ["network", "NADs", "number", "points rms", "networks fitted"]
    return format_table(columns, rows)


def make_widths() -> str:
    """Make the table of ResNet-18 along six of the authors' NADs, by width."""
    narrow = read_run(
        "nad_sweep/resnet18_narrower_authors", architecture="resnet18_quarter"
    )
    indices = list(narrow["index"])
    full = read_run("nad_sweep/resnet18_authors")
    known = published.read_published("nad_sweep")
    known = known.assign(accuracy=known["resnet18"] / 100)
    rows = [
        ["¼ width", *list_accuracies(narrow, indices)],
        ["full width", *list_accuracies(full, indices)],
        ["published", *list_accuracies(known, indices)],
    ]
    return format_table(["the authors' NAD", *map(str, indices)], rows)


def make_carriers() -> str:
    """Make the table of ResNet-18's accuracy on clean images, by carriers."""
    known = published.read_published("poison").set_index("index")["resnet18"]
    rows = [["¼ width"], ["published"]]
    for _, run, index in CARRIERS:
        clean = read_accuracy(f"poison/{run}", index=index, test_set="clean").item()
        rows[0].append(f"{clean:.1f}")
        rows[1].append(f"{known[index]:.1f}" if index in known else "–")
    columns = ["carriers start at", *(label for label, *_ in CARRIERS)]
    return format_table(columns, rows)


def make_flips() -> str:
    """Make the table of what maps of the images cost three networks."""
    rows = []
    for images, label in FLIPS.items():
        row = [label]
        for run in FLIPPED_NETWORKS.values():
            networks = read_run(run, images=images)
            row.append(describe_mean(networks))
            loss = compute_flip_loss(run, images)
            row.append("–" if images == "plain" else format_spread(loss))
        rows.append(row)
    columns = ["images"]
    for network, run in FLIPPED_NETWORKS.items():
        columns += [f"{network} ({count_seeds(run)}), %", "loss in points"]
    return format_table(columns, rows)


def make_checkerboards() -> str:
    """Make the table of what a checkerboard costs."""
    rows = []
    for label, network, run in CHECKERED:
        chosen = {"network": network, "images": "checkered"}
        checkered = read_run(CHECKERBOARD, **chosen)
        plain = read_plain(network, run)
        loss = compute_checkerboard_loss(network, run)
        rho = checkered[["plain_alignment", "alignment"]].mean()
        row = [label, f"{len(checkered)}", *(f"{value:.2g}" for value in rho)]
        row += [describe_mean(plain), describe_mean(checkered)]
        rows.append([*row, format_spread(loss)])
    columns = [
        "network",
        "seeds",
        "alignment, plain",
        "alignment, multiplied",
        "plain, %",
    ]
    return format_table([*columns, "multiplied, %", "loss in points"], rows)


def describe_mean(networks: pd.DataFrame) -> str:
    """Describe the mean test accuracy of networks, with training accuracy if not all
    are fitted."""
    accuracy = f"{100 * networks['accuracy'].mean():.1f}"
    if fitted(networks).all():
        return accuracy
    return f"{accuracy} (training {100 * networks['train_accuracy'].mean():.0f})"


def make_conditioning() -> str:
    """Make the table of the steps of a linear network whose input is scaled."""
    run = "linear_networks/two_mechanisms/conditioning.csv"
    results = read_run(run).sort_values("factor", ascending=False)
    of_factor = results.groupby("factor", sort=False)
    steps = of_factor["steps"].mean()
    accuracy = 100 * of_factor["accuracy"].mean()
    rows = [["steps, relative"], ["1/a²"], ["test accuracy, %"]]
    for factor in steps.index:
        relative = steps[factor] / steps[1]
        rows[0].append("–" if pd.isna(relative) else f"{relative:.2g}")
        rows[1].append(f"{factor**-2:.0f}")
        rows[2].append(f"{accuracy[factor]:.0f}")
    factors = ["1" if factor == 1 else f"1/{1 / factor:.0f}" for factor in steps.index]
    return format_table(["a", *factors], rows)


def make_fitted_lenets() -> str:
    """Make the table of how many LeNets are fitted with paper 1's settings."""
    cells = []
    for run in (
        "fourier/lenet",
        "nad_sweep/lenet_as_published",
        "poison/lenet",
        "flip/lenet",
    ):
        results = read_run(run)
        if "index" in results:
            results = results.drop_duplicates(["seed", "index"])
        cells.append(count_fitted(results))
    columns = [
        "data",
        "Fourier directions",
        "NADs",
        "images with and without carriers",
        "images, plain and changed",
    ]
    return format_table(columns, [["LeNets fitted", *cells]])


def make_few_samples() -> str:
    """Make the table of LeNet along its NADs with few samples and many epochs."""
    results = read_run("nad_sweep/lenet_few_samples", architecture="lenet")
    of_index = results.groupby("index")
    accuracies = ["accuracy, %"]
    counts = ["networks fitted"]
    for _, networks in of_index:
        accuracies.append(format_spread(100 * networks["accuracy"]))
        counts.append(count_fitted(networks))
    indices = map(str, of_index.groups)
    return format_table(["NAD", *indices], [accuracies, counts])


def make_late_pairs() -> str:
    """Make the table of which recipes fit LeNet along late pairs of NADs."""
    runs = [read_run(f"fitting/lenet_{run}") for run in ("late_pairs", "latest_pair")]
    results = pd.concat(runs)
    pairs = [(512, 800), (800, 256), (1000, 1000)]
    rows = []
    for way, label in RECIPES.items():
        cells = results[results["way"] == way].groupby(["index_1", "index_2"])
        row = [label]
        for pair in pairs:
            row.append(
                count_fitted(cells.get_group(pair)) if pair in cells.groups else "–"
            )
        rows.append(row)
    return format_table(["recipe", *map(str, pairs)], rows)


def make_zeroed() -> str:
    """Make the table of linear readers of two channels, one of them replaced."""
    run = "linear_pairs/lenet_and_mlp"
    first = read_accuracy(run, architecture="mlp_100_20", test_set="first")
    second = read_accuracy(run, architecture="mlp_100_20", test_set="second")
    closed = compute_accuracies(second.mean())
    rows = [
        [
            f"MLP, {len(first)} pairs",
            "zeros",
            f"{first.mean():.0f}",
            f"{second.mean():.0f}",
        ],
        [
            "linear classifier, closed form",
            "white noise",
            f"{closed['first_white']:.0f}",
            f"{closed['second_white']:.0f}",
        ],
        [
            "linear classifier, closed form",
            "noise without v",
            f"{closed['first_off_v']:.2f}",
            "–",
        ],
    ]
    columns = ["classifier", "in the other channel", SETS["first"], SETS["second"]]
    return format_table(columns, rows)


def make_resnet_pairs() -> str:
    """Make the table of ResNet-18's differences at late and at other pairs."""
    pair = ["index_1", "index_2"]
    results = read_run("linear_pairs/resnet18_quarter")
    ours = 100 * results.pivot(index=pair, columns="test_set", values="accuracy")
    known = published.read_published("linear_pairs").set_index(pair)
    differences = (ours - known)[list(SETS)].dropna()
    first, second = map(differences.index.get_level_values, pair)
    late = (first >= 256) & (second >= 64)
    rows = []
    for label, group in (
        ("NADs of at least 256 and 64", differences[late]),
        ("all others", differences[~late]),
    ):
        row = [label, str(len(group)), f"{group['all'].mean():.1f}"]
        for channels in SETS:
            row.append(f"{compute_rms(group[channels]):.1f}")
        rows.append(row)
    columns = ["pairs", "number", "mean difference, both channels"]
    columns += [f"rms, {label}" for label in SETS.values()]
    return format_table(columns, rows)


def make_images_or_nad() -> str:
    """Make the table of fitted LeNets with images and a linear channel, by NAD."""
    runs = "image_pairs/lenet", "image_pairs/lenet_seeds"
    results = pd.concat([read_run(run, architecture="lenet") for run in runs])
    results = results[fitted(results)]
    indices = sorted(results["index"].unique())
    rows = []
    for test_set, label in (
        ("linear", "only the linear channel"),
        ("images", "only images"),
        ("all", "both"),
    ):
        of_index = results[results["test_set"] == test_set].groupby("index")["accuracy"]
        row = [label]
        for index in indices:
            accuracy = 100 * of_index.get_group(index)
            row.append(format_spread(accuracy))
        rows.append(row)
    return format_table(["NAD", *map(str, indices)], rows)


def list_accuracies(networks: pd.DataFrame, indices: list[int]) -> list[str]:
    """List accuracies in per cent along these NADs; a dash where there is none."""
    accuracy = 100 * networks.groupby("index")["accuracy"].mean()
    return [f"{accuracy[index]:.1f}" if index in accuracy else "–" for index in indices]


def describe_range(accuracy: pd.Series) -> str:
    """Describe lowest and highest accuracy: '58.0 to 99.7'."""
    return f"{accuracy.min():.1f} to {accuracy.max():.1f}"
