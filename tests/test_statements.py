"""Statements of the pages that are no number of a template: of which cells, of all, of none."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from structure import ROOT

from studies import numbers

FREQUENCY, PAIR = ["k_row", "k_col"], ["index_1", "index_2"]


@pytest.fixture(autouse=True)
def root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(
    "run",
    [
        "flip/resnet18_quarter",
        "fourier/lenet_unpooled",
        "fourier/resnet18_narrow_unpooled",
        "fourier/resnet18_quarter",
        "fourier/resnet18_quarter_second_seed",
        "fourier/vgg11_quarter",
        "image_pairs/lenet",
        "image_pairs/lenet_and_mlp",
        "image_pairs/resnet18_quarter",
        "linear_pairs/lenet_and_mlp",
        "linear_pairs/lenet_mislabelled_rates",
        "linear_pairs/resnet18",
        "linear_pairs/resnet18_quarter",
        "linear_pairs/resnet18_quarter_half_amplitude",
        "fitting/resnet18_quarter_late_pair",
        "nad_sweep/resnet18_quarter",
        "nad_sweep/resnet18_widths",
        "nad_sweep/vgg11_quarter",
        "poison/resnet18_quarter",
    ],
)
def test_all_networks_of_runs_named_fitted_are_fitted(run):
    assert numbers.fitted(run) == numbers.count(run)


def test_no_network_of_runs_named_unfitted_is_fitted():
    unfitted = ["fourier/lenet", "flip/lenet", "poison/lenet", "nad_sweep/lenet_gradient"]
    assert [numbers.fitted(run) for run in unfitted] == [0, 0, 0, 0]
    assert numbers.fitted("flip/vgg11_quarter", images="flipped") == 0


def test_the_published_row_of_resnet18_stands_nowhere_below_its_transpose():
    assert numbers.above_transpose("resnet18").min() > -0.05


def test_a_second_seed_of_resnet18_guesses_along_two_waves_and_learns_the_weak_ones():
    first, second = (
        numbers.along(f"fourier/resnet18_quarter{seed}") for seed in ("", "_second_seed")
    )
    both_odd = [k for k in first.index if k[0] % 4 and k[1] % 4]
    one_odd = [k for k in first.index if bool(k[0] % 4) != bool(k[1] % 4)]
    learned, weak = first[both_odd].nlargest(2).index, first[one_odd].nsmallest(4).index
    assert first[both_odd].nlargest(3).iloc[2] < 57 < first[learned].min()
    assert set(learned) <= set(second.index) and second[learned].max() < 52
    again = second.drop(learned)
    assert set(again.index) < set(weak) and len(again) == 3 and again.min() > 89


def test_lenet_uses_an_earlier_nad_in_the_stronger_channel_and_beyond_a_turn_in_the_weaker():
    turns = []
    for seed in ("", "_seed_1", "_seed_2"):
        run = numbers.rows(f"linear_pairs/lenet_and_mlp{seed}", architecture="lenet")
        alone = run.pivot_table("accuracy", PAIR, "test_set")
        used = alone["first"] > alone["second"]
        assert all(used[i, j] for i, j in used.index if i < j and i <= 256)
        indices = sorted(used.index.unique("index_1"))
        for earlier in indices[:8]:
            leaves = [not used[later, earlier] for later in indices if later > earlier]
            assert leaves == sorted(leaves), "from the turn on it is used"
            turns.append((earlier, leaves.index(True)))
    steps = pd.DataFrame(turns).groupby(0)[1]
    assert (steps.max() - steps.min()).max() == 1, "seeds differ by a step of the grid"


def test_lenet_goes_by_the_channel_up_to_nad_128_and_by_the_images_from_512_on():
    at = numbers.rows("image_pairs/lenet").pivot(
        index="index", columns="test_set", values="accuracy"
    )
    assert at["linear"].loc[:128].min() > 98 > 50.1 > at["linear"].loc[512:].max()
    assert at["images"].loc[512:].min() > 73 and at["all"][256] > at["images"][256] > 55


def test_the_same_waves_are_fitted_in_every_colour_and_resnet18_learns_all_its_seven():
    lenet = numbers.rows("colours/lenet").pivot(
        index=FREQUENCY, columns="axis", values="train_accuracy"
    )
    fitted = lenet >= 99
    assert (fitted.all(axis=1).sum(), fitted.to_numpy().sum()) == (9, 28), "one more in grey"
    assert numbers.lowest("colours/resnet18_narrow") > 99.9


def test_networks_of_colour_learn_less_from_nad_to_nad():
    run = numbers.rows("nad_sweep/colour")
    for _, seed in run.groupby(["architecture", "seed"]):
        assert seed.set_index("index")["accuracy"].is_monotonic_decreasing
    assert numbers.fitted("nad_sweep/colour", architecture="torchvision_resnet18") == 16


# The following are of docs/estimator.md.


def text_of(*names: str) -> str:
    """Files of docs/, without line breaks."""
    texts = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in names)
    return " ".join(" ".join(texts).split())


def table(run: str, architecture: str) -> pd.DataFrame:
    """One architecture's results in a folder of reports/kept, accuracies in per cent."""
    rows = pd.read_csv(ROOT / "reports/kept" / run / "results.csv")
    rows = rows[rows["architecture"] == architecture]
    return rows.assign(accuracy=100 * rows["accuracy"])


def test_leading_nads_of_networks_of_patches():
    text = text_of("estimator.md")
    folder = ROOT / "reports/kept/patches/four_networks"
    found = pd.read_csv(folder / "networks.csv").set_index("network")
    spectra = pd.read_csv(folder / "spectra.csv").set_index(["network", "index"])
    for row in found.itertuples():
        size, at = row.patch**2, spectra.loc[row.Index]
        ours, others = at["value"], at["held_out"]
        cells = f"| {row.weights:,} | {row.networks} ({row.error:.3f}) | {ours[0]:.3g} to "
        cells += f"{ours[size - 1]:.3g} | {others[size]:.2g} to {ours[size]:.2g} | "
        cells += f"{others[0] / others[1000]:.0f} to {ours[0] / ours[1000]:.0f} |"
        (_, after) = text.split(cells)
        least = f"| ({row.k_row}, {row.k_col}), {row.least:.2g} |".replace("-", "−")
        assert least in after[:40]
    assert found["repeating"].min() > 0.96
    flat = [spectra.loc[name].loc[16:, "held_out"] for name in ("vit", "mixer")]
    factors = [each.max() / each.min() for each in flat]
    assert "by factors of at most {:.1f} and {:.1f}".format(*factors) in text
    vit = spectra.loc["vit"]
    falls = [vit[column][15] / vit[column][16] for column in ("value", "held_out")]
    assert "The ViT's falls by {:.0f} to {:.0f} after NAD 15".format(*falls) in text
    mixer = spectra.loc["convmixer"].loc[[32, 64, 100, 200]] * 1e5
    assert "it is {:.1f}, {:.1f}, {:.1f} and {:.1f} × 10⁻⁵".format(*mixer["held_out"]) in text
    assert "directions: {:.1f}, {:.1f}, {:.1f}, {:.1f};".format(*mixer["value"]) in text
    sweep = pd.read_csv(ROOT / "reports/nad_sweep/summary.csv").set_index(["architecture", "index"])
    assert (
        sweep["mean"]["vit_small", 15] > 0.99 and abs(sweep["mean"]["vit_small", 16] - 0.5) < 0.02
    )


def test_networks_of_patches_along_their_own_nads():
    page, rows, gaps = text_of("estimator.md"), {}, {}
    names = {"convnext": "ConvNeXt, p = 16", "vit": "ViT, p = 4", "convmixer": "ConvMixer, p = 4"}
    rounded = {"vit": "nad_sweep/patches_bfloat16", "mixer": "nad_sweep/patches_bfloat16"}
    for name, title in (names | {"mixer": "MLP-Mixer, p = 4"}).items():
        every = table(rounded.get(name, "nad_sweep/patches"), name)
        assert set(every["seed"]) == {0, 1}
        means = every.groupby("index")[["accuracy", "steps", "train_accuracy"]].mean()
        texts = {
            index: f"{accuracy:.1f} ({f'{steps:,.0f}' if fitted >= 0.99 else 'not fitted'})"
            for index, accuracy, steps, fitted in means.itertuples()
        }
        cells = [texts.get(index, "–") for index in (0, 8, 16, 64, 200, 800)]
        assert f"| {title} | {' | '.join(cells)} |" in page
        rho = f"{stats.spearmanr(means.index, means['accuracy']).statistic:.2f}".replace("-", "−")
        (row,) = (line for line in page.split(f"| {title} | ") if f" | {rho} | (" in line)
        assert len(means) == 12
        gaps |= {(name, index): np.ptp(of) for index, of in every.groupby("index")["accuracy"]}
        rows[name] = means
    most = gaps.pop(("convmixer", 400))
    text = (
        f"by at most {max(gaps.values()):.1f} points, but by {most:.1f} along ConvMixer's NAD 400"
    )
    assert text in page
    early, late = rows["convnext"].loc[:200], rows["convnext"].loc[400:]
    assert len(early) == 9 and early["accuracy"].min() > 99.8 and len(late) == 3
    assert late["accuracy"].max() < 50.5 and late["train_accuracy"].max() < 0.57
    two = rows["convnext"], rows["vit"]
    chance = [stats.spearmanr(r.index, r["accuracy"]).pvalue for r in two]
    assert "(p = {:.2f} and {:.2f})".format(*chance) in page
    early, late = rows["vit"].loc[:15], rows["vit"].loc[16:]
    assert len(early) == 4 and early["accuracy"].min() > 99.95 and len(late) == 8
    assert (
        late["accuracy"].round().eq(50).all() and late["train_accuracy"].between(0.515, 0.565).all()
    )
    single = table("nad_sweep/patches_bfloat16", "vit").query("index >= 16")["train_accuracy"]
    assert [f"{single.agg(end):.0%}" for end in ("min", "max")] == ["51%", "59%"]
    for name, beyond in ("convnext", 256), ("vit", 16):
        other = table("nad_sweep/patches_momentum", name).set_index("index")
        assert list(other.index) == list(rows[name].index)
        early, late = other.loc[: beyond - 1], other.loc[beyond:]
        assert (early["train_accuracy"] >= 0.99).all() and early["accuracy"].min() >= 99.8
        ends = [late["accuracy"].agg(end) for end in ("min", "max")]
        ends += [100 * late["train_accuracy"].agg(end) for end in ("min", "max")]
        assert name == "convnext" or early["accuracy"].min() > 99.95
        text = "{:.1f} to {:.1f} along the " + ("three" if name == "convnext" else "eight")
        assert (text + " ({:.0f} to {:.0f} %").format(*ends) in page
    right = rows["convmixer"]["accuracy"].round()
    assert (rows["convmixer"]["train_accuracy"] == 1).all() and (right.loc[:32] == 100).all()
    assert "93 along NAD 100, and 50 to 58 along NAD 64 and those from 200 on" in page
    assert right[100] == 93 and right[[64, 200, 400, 800, 1000]].between(50, 58).all()
    late, slower = rows["mixer"].loc[16:], rows["mixer"]["steps"] / rows["mixer"]["steps"][0]
    assert [round(slower.loc[16:].agg(end)) for end in ("min", "max")] == [5, 9]
    assert (100 - late["accuracy"]).round().between(1, 6).all()
    one = table("nad_sweep/patches", "mixer").set_index("index")["accuracy"]
    other = table("nad_sweep/patches_bfloat16", "mixer").query("seed == 0").set_index("index")
    assert (other["accuracy"].loc[one.index] - one).abs().max() < 0.1 and len(one) == 6


def test_convnext_along_frequencies_and_of_two_channels():
    page = text_of("estimator.md")
    waves = table("fourier/convnext", "convnext")
    lenet = table("fourier/lenet", "lenet").query("k_row % 4 == 0 and k_col % 4 == 0")["accuracy"]
    of_eight = (waves["k_row"] % 8 == 0) & (waves["k_col"] % 8 == 0)
    most = waves["accuracy"][of_eight].max()
    assert most < waves["accuracy"][~of_eight].min() and (waves["train_accuracy"] < 0.99).all()
    ends = [(c.min(), c.max()) for c in (waves["accuracy"], lenet, 100 * waves["train_accuracy"])]
    text = "between {:.1f} and {:.1f} %, the lower ones (at most {:.1f}) at multiples of 8 (LeNet"
    text += "'s along the 21 go from {:.0f} to {:.0f}); none is fitted ({:.1f} to {:.1f} % of"
    assert text.format(*ends[0], most, *ends[1], *ends[2]) in page and len(waves) == 21
    pairs = table("linear_pairs/convnext", "convnext")
    assert (pairs.groupby(PAIR)["seed"].nunique() == 2).all()
    alone = pairs.groupby([*PAIR, "test_set"])["accuracy"].mean()
    text = "at (1, 1000) the first alone has {:.0f} % and the second {:.0f}, at (1000, 1) {:.0f} "
    text += "and {:.0f}, at (1, 1) {:.0f} and {:.0f}. At (1000, 1000) it is not fitted"
    places = [(*p, part) for p in ((1, 1000), (1000, 1), (1, 1)) for part in ("first", "second")]
    assert text.format(*alone[places]) in page
    fitted = pairs.groupby(PAIR)["train_accuracy"].min() >= 0.99
    assert fitted.to_list() == [True, True, True, False]
    last = pairs.query("index_1 == 1000 and index_2 == 1000").pivot(
        index="seed", columns="test_set", values="accuracy"
    )
    text = "right on {:.0f} % of new samples with both channels, {:.0f} with the first alone and "
    text += "{:.0f} with the second"
    assert text.format(*last.loc[0]) in page and last.loc[1].between(49, 51).all()


def test_networks_of_small_patches_along_frequencies_and_mixer_of_two_channels():
    page = text_of("estimator.md")
    waves, others = table("fourier/mixer", "mixer"), table("fourier/vit", "vit")
    more = table("fourier/convmixer", "convmixer")
    seven = more[(more["k_row"] % 8 == 0) & (more["k_col"] % 8 == 0)]
    off = more["accuracy"].drop(seven.index)
    text = f"and {off.min():.1f} to {off.max():.1f} along the others"
    assert text in page and len(off) == 14 and (more["train_accuracy"] >= 0.99).all()
    for text, run in (
        ("ViT {:.1f} to {:.1f} %,", others),
        ("in float32, {:.1f} to {:.1f} %, both fitted", seven),
        ("with {:.1f} to {:.1f} % along the seven and", seven),
    ):
        assert text.format(*(run["accuracy"].agg(end) for end in ("min", "max"))) in page
        assert (run["train_accuracy"] >= 0.99).all() and len(run) == 7
    ends = [waves["accuracy"].agg(end) for end in ("min", "max")]
    seen = [100 * waves["train_accuracy"].agg(end) for end in ("min", "max")]
    assert "the Mixer has {:.1f} to {:.1f} %".format(*ends) in page and len(waves) == 7
    assert "({:.1f} to {:.1f} % of the training samples)".format(*seen) in page
    pairs = table("linear_pairs/mixer", "mixer").set_index(["index_1", "index_2", "test_set"])
    assert (pairs["train_accuracy"] >= 0.99).all()
    assert round(100 * pairs["best_accuracy"][1000, 1, "first"]) == 75
    alone = lambda *pair: [pairs["accuracy"][*pair, part] for part in ("first", "second")]
    text = "At (1, 1000) the first channel alone has {:.0f} % and the second {:.0f}, at (1000, 1) "
    assert text.format(*alone(1, 1000)) in page
    assert (
        "{:.0f} and {:.0f}, at (1, 1) {:.0f} and {:.0f}, at (1000, 1000) {:.0f} and {:.0f}".format(
            *alone(1000, 1), *alone(1, 1), *alone(1000, 1000)
        )
        in page
    )


def test_convmixer_of_two_channels():
    pairs = table("linear_pairs/convmixer", "convmixer")
    assert (pairs["train_accuracy"] >= 0.99).all() and set(pairs["seed"]) == {0}
    at = pairs.set_index([*PAIR, "test_set"])
    parts = [
        (*pair, part) for pair in ((1, 1000), (1000, 1), (1, 1)) for part in ("first", "second")
    ]
    text = "has {:.0f} % and the second {:.0f}, at (1000, 1) {:.0f} and {:.0f}, at (1, 1) {:.0f} "
    text += "and {:.0f} ({:.0f} at the best threshold), and at (1000, 1000) it learns its samples "
    text += "by heart ({:.0f} % with both"
    best, both = 100 * at["best_accuracy"][1, 1, "second"], at["accuracy"][1000, 1000, "all"]
    assert text.format(*at["accuracy"][parts], best, both) in text_of("estimator.md")


def test_vit_of_two_channels_and_a_small_one_along_waves():
    page, pairs = text_of("estimator.md"), table("linear_pairs/vit", "vit")
    assert set(pairs["seed"]) == {0} and len(pairs) == 12
    at = pairs.set_index([*PAIR, "test_set"]).sort_index()
    parts = [(*p, part) for p in ((1, 1000), (1000, 1), (1, 1)) for part in ("first", "second")]
    best, late = 100 * at["best_accuracy"][1, 1, "second"], at.loc[1000, 1000]
    text = "at (1, 1000) {:.0f} and {:.0f} %, at (1000, 1) {:.0f} and {:.0f}, at (1, 1) {:.0f} and "
    text += "{:.0f} ({:.0f} at the best threshold), and at (1000, 1000) it guesses ({:.0f} % with"
    assert text.format(*at["accuracy"][parts], best, late["accuracy"]["all"]) in page
    unfitted = at["train_accuracy"][at["train_accuracy"] < 0.99]
    assert set(unfitted.index) == {(1000, 1000, part) for part in ("all", "first", "second")}
    assert f"where it has {100 * unfitted.iloc[0]:.0f} % of the training samples" in page
    waves = table("fourier/vit_small", "vit_small")
    repeat = (waves["k_row"] % 8 == 0) & (waves["k_col"] % 8 == 0)
    ends = []
    for some in (waves[repeat], waves[~repeat]):
        for column, scale in (("accuracy", 1), ("train_accuracy", 100)):
            ends += [scale * some[column].agg(end) for end in ("min", "max")]
    text = "has {:.1f} to {:.1f} % along the seven waves at multiples of 8 ({:.1f} to {:.1f} % of "
    text += "the training samples; four of them fitted) and {:.1f} to {:.1f} % along the other 14 "
    text += "at multiples of 4 (one of each transposed pair), none of which it fits ({:.0f} to "
    assert (text + "{:.0f} % of the").format(*ends) in page
    fitted = waves["train_accuracy"] >= 0.99
    assert (repeat.sum(), (~repeat).sum(), fitted[repeat].sum()) == (7, 14, 4)
    assert not fitted[~repeat].any()
