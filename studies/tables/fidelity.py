"""The tables of docs/fidelity.md, and their summary in README.md."""

import re

import pandas as pd

from pipeline.report.nads import read_published_spectra
from pipeline.report.numbers import format_number
from studies.tables.markdown import format_table
from studies.tables.numbers import (
    CHANCE,
    compare_curves,
    compare_maps,
    compute_checkerboard_loss,
    compute_flip_loss,
    compute_published_flip_loss,
    compute_repeat_spread,
    compute_rms_difference,
    correlate_steps,
    count_seeds,
    format_signed,
    read_accuracy,
    read_nads,
    read_published,
    read_run,
)

VERDICT = ["figure", "what the paper says", "published", "ours (size, n)", "agrees"]

KINDS = {
    "yes": "agree within the spread of repeated runs, or in our judgement",
    "qualitatively": "agree qualitatively",
    "no": "do not agree",
    "not tried": "not tried",
}
"""How a verdict begins, and what it means."""


def make_verdicts() -> str:
    """Make the table of verdicts: a row for each claim of the papers."""
    rows = make_verdicts_on_paper_1() + make_verdicts_on_paper_2()
    return format_table(VERDICT, rows)


def make_counts() -> str:
    """Make the table of README.md: how many claims of the papers have which verdict."""
    rows = make_verdicts_on_paper_1() + make_verdicts_on_paper_2()
    rows += make_verdicts_on_further_networks()
    counts = dict.fromkeys(KINDS, 0)
    for row in rows:
        kind = re.split("[,;]", row[-1])[0]
        counts[kind] += 1
    columns = ["claims of the papers", *KINDS.values()]
    return format_table(columns, [[str(len(rows)), *map(str, counts.values())]])


def make_summary() -> str:
    """Make the table of README.md: seven claims of the papers in words."""
    curves = {
        "LeNet": compare_curves("nad_sweep/lenet_as_published", "lenet"),
        "VGG-11": compare_curves("nad_sweep/vgg11_authors", "vgg11"),
        "ResNet-18": compare_curves("nad_sweep/resnet18_authors", "resnet18"),
    }
    apart = []
    for network, curve in curves.items():
        learned = select_learned(curve)
        apart.append(f"{compute_rms_difference(learned):.1f} ({network})")
    frequencies = select_learned(compare_maps("fourier/lenet", "lenet"))
    unpooled = read_accuracy("fourier/lenet_unpooled_momentum")
    precise = compute_rms_difference(
        select_learned(compare_curves("nad_sweep/lenet_precise", "lenet"))
    )
    higher, lower = read_two_cues(64, 1)
    by_itself, _ = read_two_cues(64, 64)
    loss = compute_flip_loss("flip/lenet").mean()
    signs = compute_flip_loss("flip/lenet", "signs").mean()
    deep_loss = compute_flip_loss("flip/resnet18_quarter").mean()
    deep_signs = compute_flip_loss("flip/resnet18_quarter", "signs").mean()
    checkered = format_number(compute_checkerboard_loss("lenet").mean(), 1)
    vgg_run = "flip/vgg11_quarter"
    vgg = compute_checkerboard_loss("vgg11_quarter", vgg_run).mean()
    carried = {}
    poisoned = {}
    for index in (0, 1020):
        clean = read_accuracy("poison/resnet18_quarter", index=index, test_set="clean")
        carried[index] = clean.mean()
        poisoned[index] = read_published("poison", "resnet18", index=index)
    latest = {"index_1": 1000, "index_2": 1000}
    resnet = read_latest_pair()
    published = read_published("linear_pairs", "all", **latest)
    published_loss = compute_published_flip_loss("lenet")
    published_deep_loss = compute_published_flip_loss("resnet18")
    rows = [
        [
            "Accuracy falls along a network's NADs.",
            f"Close curves, {', '.join(apart)} points rms apart, with the authors' "
            "NADs or, for LeNet, NADs as noisy as theirs. With more precise NADs "
            f"LeNet's curve is {precise:.1f} points apart.",
        ],
        [
            "LeNet learns some Fourier directions and not others.",
            f"Same map, {compute_rms_difference(frequencies):.1f} points rms apart "
            f"(published repeats: ± {compute_repeat_spread('lenet', CHANCE):.1f}).",
        ],
        [
            "Without pooling, LeNet learns all of them.",
            f"Yes, with momentum: accuracy is at least {unpooled.min():.1f} % along "
            f"all {len(unpooled)} tried.",
        ],
        [
            "Given two cues, LeNet relies on the one with the clearly lower NAD index.",
            "Yes, with gradients clipped to norm 0.1, our choice: trained on NADs 64 "
            "(full amplitude) and 1 (half of it), accuracy is "
            f"{lower.mean():.1f} % with only NAD 1 and {higher.mean():.1f} % with only "
            "NAD 64. If both channels carry NAD 64, accuracy with only channel 1 is "
            f"{by_itself.mean():.1f} %, so LeNet can learn NAD 64.",
        ],
        [
            "A network trained on images with their class on a low NAD fails on clean "
            "images.",
            f"Qualitatively: ResNet-18 reaches {carried[0]:.1f} % with NAD 0 "
            f"(published: {poisoned[0]:.1f}) and {carried[1020]:.1f} % with NAD 1020 "
            f"({poisoned[1020]:.1f}). But the class replaces a large component of the "
            "image on NAD 0. If this component is removed from all images, two "
            "networks ignore carriers of this size on NAD 0.",
        ],
        [
            "Images whose NAD coefficients are reversed are harder to learn, because "
            "images and NADs are then misaligned.",
            f"Same loss (LeNet {loss:.1f} points, published {published_loss:.0f}; "
            f"ResNet-18 {deep_loss:.1f}, published {published_deep_loss:.0f}), but "
            "misalignment is not needed for most of it: random signs, which keep every "
            f"coefficient on its NAD, cost {signs:.1f} and {deep_signs:.1f} points. "
            "Nor is it sufficient: a checkerboard, which misaligns images but leaves "
            f"every magnitude at its pixel, costs LeNet {checkered} (20,000 images) "
            f"and VGG-11 {vgg:.1f}.",
        ],
        [
            f"ResNet-18 partly learns two NADs of high index ({published:.1f} %).",
            f"It learns them (at least {resnet.min():.1f} %, {len(resnet)} seeds) with "
            "gradients clipped to norm 0.5, and reaches "
            f"{read_clipped_pair():.1f} % with 0.3 (one seed), both fitted. The paper "
            "does not "
            "say how it clips.",
        ],
    ]
    return format_table(["what the papers say", "what we find"], rows)


def make_verdicts_on_paper_1() -> list[list[str]]:
    """Make the rows of paper 1."""
    lenet_map = compare_maps("fourier/lenet", "lenet")
    resnet_map = compare_maps("fourier/resnet18_quarter", "resnet18")
    k_row = resnet_map.index.get_level_values(0)
    k_col = resnet_map.index.get_level_values(1)
    both_odd = resnet_map[(k_row % 4 != 0) & (k_col % 4 != 0)]
    steps = correlate_steps("fourier/resnet18_quarter", "fourier/resnet18_quarter")
    waves = len(read_run("fourier/resnet18_quarter"))
    unpooled = read_accuracy("fourier/lenet_unpooled_momentum")
    nads = read_nads("lenet")
    first = 100 * nads["first_singular_value"]
    lenet = compare_curves("nad_sweep/lenet_as_published", "lenet")
    vgg = compare_curves("nad_sweep/vgg11_authors", "vgg11")
    resnet = compare_curves("nad_sweep/resnet18_authors", "resnet18")
    lenet_loss = compute_flip_loss("flip/lenet")
    signs_loss = compute_flip_loss("flip/lenet", "signs")
    resnet_loss = compute_flip_loss("flip/resnet18_quarter")
    resnet_signs = compute_flip_loss("flip/resnet18_quarter", "signs")
    checkered = format_number(compute_checkerboard_loss("lenet").mean(), 1)
    resnet_seeds = count_seeds("flip/resnet18_quarter")
    map_seeds = count_seeds("fourier/lenet")
    curve_seeds = count_seeds("nad_sweep/lenet_as_published")
    return [
        [
            "paper 1, fig. 1",
            "LeNet learns some frequencies, not others",
            f"± {compute_repeat_spread('lenet', CHANCE):.1f} between repeats",
            describe_difference(lenet_map, "full", f"frequencies, {map_seeds}"),
            "yes",
        ],
        [
            "paper 1, fig. 1",
            "ResNet-18 is at chance if both k/2 are odd",
            f"{both_odd['published'].max():.1f} at most",
            f"{both_odd['ours'].max():.1f} at most "
            f"(¼ width, {len(both_odd)} frequencies)",
            "qualitatively",
        ],
        [
            "paper 1, figs 1, 6",
            "DenseNet-121 learns in its own order",
            "two curves",
            "–",
            "not tried",
        ],
        [
            "paper 1, fig. 2",
            "ResNet-18: learned earlier, learned better",
            "in words",
            f"ρ = {format_signed(steps)} (¼ width, {waves} frequencies)",
            "qualitatively",
        ],
        [
            "paper 1, fig. 3",
            "LeNet without pooling learns every frequency",
            "100 at every frequency",
            f"{unpooled.min():.1f} at least (full, {len(unpooled)} frequencies)",
            "yes, with momentum",
        ],
        [
            "paper 1, fig. 5",
            "LeNet's first singular value",
            f"{100 * read_published_spectra()['lenet'][0]:.3f}",
            f"{first:.3f} (full, {nads['networks']:,} networks)",
            "yes",
        ],
        [
            "paper 1, fig. 6",
            "LeNet: accuracy falls with the NAD index",
            "one run per NAD",
            describe_difference(
                lenet, "full", f"NADs, as noisy as the paper's, {curve_seeds}"
            ),
            "yes",
        ],
        [
            "paper 1, fig. 6",
            "VGG-11: accuracy falls non-monotonically",
            "one run per NAD",
            describe_difference(vgg, "full", "of the authors' NADs"),
            "yes, with the authors' NADs",
        ],
        [
            "paper 1, fig. 6",
            "ResNet-18: accuracy falls with the NAD index",
            "one run per NAD",
            describe_difference(resnet, "full", "of the authors' NADs"),
            "yes, with the authors' NADs",
        ],
        make_verdict_on_carriers(),
        [
            "paper 1, table 1",
            "LeNet loses accuracy if coefficients are flipped",
            f"{compute_published_flip_loss('lenet'):.0f} points",
            f"{lenet_loss.mean():.1f} points (full, {len(lenet_loss)} seeds)",
            f"yes; not the interpretation: {signs_loss.mean():.1f} with random signs, "
            f"and with fewer images {checkered} with a checkerboard",
        ],
        [
            "paper 1, table 1",
            "ResNet-18 loses more",
            f"{compute_published_flip_loss('resnet18'):.0f} points",
            f"{resnet_loss.mean():.1f} points (¼ width, {resnet_seeds})",
            f"yes; not the interpretation: {resnet_signs.mean():.1f} with random signs",
        ],
    ]


def make_verdict_on_carriers() -> list[str]:
    """Make the row of figure 7: accuracy on clean images after carriers."""
    known = []
    ours = []
    for index in (0, 50, 1020):
        published = read_published("poison", "resnet18", index=index)
        clean = read_accuracy("poison/resnet18_quarter", index=index, test_set="clean")
        known.append(f"{published:.1f}")
        ours.append(f"{clean.mean():.1f}")
    run = "poison/resnet18_quarter_authors"
    authors = read_accuracy(run, index=50, test_set="clean").mean()
    there = f"{', '.join(ours)} from our NADs 0, 50, 1020"
    seeds = count_seeds(run)
    after = f"{authors:.1f} from the authors' NAD 50"
    return [
        "paper 1, fig. 7",
        "ResNet-18: higher carriers harm less",
        f"{', '.join(known)} from NADs 0, 50, 1020",
        f"{there}; {after} (¼ width, {seeds})",
        "qualitatively, three points; on average, higher carriers also replace less",
    ]


def make_verdicts_on_paper_2() -> list[list[str]]:
    """Make the rows of paper 2."""
    pairs = "linear_pairs/lenet_and_mlp"
    latest = {"index_1": 1000, "index_2": 1000}
    published = read_published("linear_pairs", "all", **latest)
    resnet = read_latest_pair()
    late = {"index": 1000, "test_set": "linear"}
    runs = "image_pairs/lenet", "image_pairs/lenet_seeds"
    linear = pd.concat([read_accuracy(run, **late) for run in runs])
    linear_seeds = f"{len(linear)} seeds"
    tilt = read_run(f"{pairs}/boundaries.csv", architecture="mlp_100_20")["tilt"]
    first = read_accuracy(pairs, architecture="mlp_100_20", test_set="first")
    other = read_accuracy(pairs, architecture="mlp_100_20", test_set="second")
    higher, lower = read_two_cues(64, 1)
    return [
        [
            "paper 2, figs 2, 8",
            "ResNet-18 partly learns two NADs of high index",
            f"{published:.1f} at (1000, 1000)",
            f"{resnet.min():.1f} at least (¼ width, {len(resnet)} seeds)",
            "no, learned with gradients clipped to norm 0.5; "
            f"{read_clipped_pair():.1f} with 0.3 (one network, fitted); the paper does "
            "not state its norm",
        ],
        [
            "paper 2, fig. 3",
            "LeNet uses the images if the NAD index is high",
            "50 with only NAD 1000",
            f"{linear.mean():.1f} with only NAD 1000 (full, {linear_seeds})",
            f"yes, {linear_seeds} (the paper: 3)",
        ],
        [
            "paper 2, figs 4, 5",
            "MLP: one boundary for all pairs",
            "in words",
            f"tilt {tilt.mean():.1f} ± {tilt.std():.1f}° (full, {len(tilt)} pairs)",
            "yes",
        ],
        [
            "paper 2, figs 4, 5",
            "MLP: less accurate with one channel than both",
            "in words",
            f"{first.min():.1f} with only channel 1, {other.mean():.1f} with only "
            f"channel 2 (full, {len(first)} pairs)",
            "no, only with channel 2",
        ],
        [
            "paper 2, figs 6, 7",
            "LeNet relies on the clearly lower NAD",
            "in words",
            f"{lower.mean():.1f} with only NAD 1, {higher.mean():.1f} with only NAD "
            f"64, which is twice as strong (full, {len(lower)} seeds)",
            "yes, clipped at 0.1",
        ],
    ]


def read_two_cues(first: int, second: int) -> tuple[pd.Series, pd.Series]:
    """Read LeNet's accuracies with only channel 1 and with only channel 2, by seed.

    Args:
        first: NAD index of channel 1.
        second: NAD index of channel 2, which has half the amplitude.
    """
    runs = [f"linear_pairs/lenet_and_mlp{seed}" for seed in ("", "_seed_1", "_seed_2")]
    cell = {"architecture": "lenet", "index_1": first, "index_2": second}
    only_first, only_second = (
        pd.concat([read_accuracy(run, test_set=channel, **cell) for run in runs])
        for channel in ("first", "second")
    )
    return only_first, only_second


def read_clipped_pair() -> float:
    """Read the accuracy of quarter-width ResNet-18 at (1000, 1000), in per cent, with
    gradients clipped to norm 0.3."""
    run = "fitting/resnet18_quarter_late_pair"
    return 100 * read_run(run, way="clip 0.3")["all"].item()


def read_latest_pair() -> pd.Series:
    """Read quarter-width ResNet-18's accuracies at the pair (1000, 1000), by seed."""
    runs = "linear_pairs/resnet18_quarter", "linear_pairs/resnet18_quarter_latest_seeds"
    cell = {"index_1": 1000, "index_2": 1000, "test_set": "all"}
    return pd.concat([read_accuracy(run, **cell) for run in runs])


def make_further_verdicts() -> str:
    """Make the table of verdicts on further networks."""
    return format_table(VERDICT, make_verdicts_on_further_networks())


def make_verdicts_on_further_networks() -> list[list[str]]:
    """Make the rows on networks that the first table does not have."""
    vgg_map = compare_maps("fourier/vgg11_quarter", "vgg11")
    steps = correlate_steps("convergence/lenet", "fourier/lenet")
    waves = read_run("convergence/lenet").groupby(["k_row", "k_col"]).ngroups
    loss = compute_flip_loss("flip/vgg11_quarter")
    vgg_seeds = count_seeds("flip/vgg11_quarter")
    unpooled = read_accuracy(
        "fourier/resnet18_narrow_unpooled", architecture="resnet18_narrow_unpooled"
    )
    run = "image_pairs/resnet18_quarter"
    linear = read_accuracy(run, index=1000, test_set="linear")
    images = read_accuracy(
        "image_pairs/lenet_and_mlp", architecture="mlp_200_50", test_set="images"
    )
    lowest_to_highest = f"{images.min():.1f} to {images.max():.1f}"
    return [
        [
            "paper 1, fig. 1",
            "VGG-11 learns only low frequencies",
            f"± {compute_repeat_spread('vgg11', CHANCE):.1f} between repeats",
            describe_difference(vgg_map, "¼ width", "frequencies"),
            "qualitatively",
        ],
        [
            "paper 1, fig. 2",
            "LeNet: learned earlier, learned better",
            "in words",
            f"ρ = {format_signed(steps)} (full, {waves} frequencies)",
            "qualitatively",
        ],
        [
            "paper 1, fig. 3",
            "ResNet-18 without pooling learns every frequency",
            "94.7 at least",
            f"{unpooled.min():.1f} at least (⅛ width, {len(unpooled)} frequencies)",
            "yes, for these four",
        ],
        [
            "paper 1, table 1",
            "VGG-11 loses accuracy if coefficients are flipped",
            f"{compute_published_flip_loss('vgg11'):.0f} points",
            f"{loss.mean():.1f} points (¼ width, {vgg_seeds})",
            "qualitatively, flipped not fitted",
        ],
        [
            "paper 2, fig. 3",
            "ResNet-18 uses the images if the NAD index is high",
            "50 with only NAD 1000",
            f"{linear.mean():.1f} with only NAD 1000 (¼ width, {count_seeds(run)})",
            "qualitatively",
        ],
        [
            "paper 2, fig. 3",
            "the MLP never uses the images",
            "50 with only images",
            f"{lowest_to_highest} with only images (full, {len(images)} NADs)",
            "qualitatively",
        ],
    ]


def make_latest_pair() -> str:
    """Make the table of ResNet-18's accuracy at the latest pair, with both channels."""
    latest = {"index_1": 1000, "index_2": 1000}
    runs = "linear_pairs/resnet18"
    quarter = read_accuracy(f"{runs}_quarter", test_set="all", **latest).mean()
    full = read_accuracy(runs, test_set="all").mean()
    half = read_accuracy(f"{runs}_quarter_half_amplitude", test_set="all").mean()
    recipes = read_run("fitting/resnet18_quarter_late_pair").set_index("way")["all"]
    published = read_published("linear_pairs", "all", **latest)
    columns = {
        "ours": f"{quarter:.1f}",
        "full width": f"{full:.1f}",
        "no clipping": f"{100 * recipes['no clip']:.1f}",
        "clipped at 0.3": f"{100 * recipes['clip 0.3']:.1f}",
        "at 0.2": f"{100 * recipes['clip 0.2']:.1f}",
        "at 0.1": f"{100 * recipes['clip 0.1']:.1f}",
        "half the ε": f"{half:.1f}",
        "published": f"{published:.1f}",
    }
    return format_table(list(columns), [list(columns.values())])


def describe_difference(comparison: pd.DataFrame, size: str, unit: str) -> str:
    """Describe how far ours is from the published: '2.6 rms (full, 15 of 44
    waves)'.

    Args:
        comparison: The values, with the columns `ours` and `published`.
        size: The width of the network.
        unit: What the rows are, and the number of seeds.
    """
    learned = select_learned(comparison)
    rms = compute_rms_difference(learned)
    count = f"{len(learned)} of {len(comparison)} {unit}"
    return f"{rms:.1f} rms ({size}, {count})"


def select_learned(comparison: pd.DataFrame) -> pd.DataFrame:
    """Select the rows in which our value or the published one is above chance.

    Rows in which both values are at chance agree whatever the network.

    Args:
        comparison: The values, with the columns `ours` and `published`.
    """
    return comparison[(comparison > CHANCE).any(axis=1)]
