"""Statements of the pages that are no row of docs/claims.yaml, computed anew from the committed
tables."""

import collections
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from structure import ROOT

from pipeline.report import fourier, published
from studies import published_maps

FREQUENCY, PAIR = ["k_row", "k_col"], ["index_1", "index_2"]


def text_of(*names: str) -> str:
    """Files of docs/, without line breaks."""
    texts = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in names)
    return " ".join(" ".join(texts).split())


@pytest.fixture
def page():
    return text_of("fidelity.md", "claims.yaml")


def table(run: str, architecture: str) -> pd.DataFrame:
    """One architecture's results in a folder of reports/kept, accuracies in per cent."""
    rows = pd.read_csv(ROOT / "reports/kept" / run / "results.csv")
    rows = rows[rows["architecture"] == architecture]
    return rows.assign(accuracy=100 * rows["accuracy"])


def rms(differences) -> float:
    return np.sqrt(np.mean(np.square(differences)))


def test_fourier_map_beside_the_published(page):
    rows = table("fourier/lenet", "lenet")
    keys = [published_maps.pair(*key) for key in zip(rows["k_row"], rows["k_col"])]
    rows["accuracy"] /= 100
    groups, on_the_row = (
        published_maps.compared(rows, keys, known) for known in published_maps.published_maps()
    )
    off, on = (
        rms([np.mean(ours) - np.mean(theirs) for _, ours, theirs in part])
        for part in (groups, on_the_row)
    )
    assert f"LeNet's Fourier map lies {off:.1f} points rms from" in page
    assert f"{off:.1f} points rms over {len(groups)} groups" in page
    assert f"{len(groups)} groups, {sum(len(ours) for _, ours, _ in groups)} runs" in page
    assert f"row the two maps differ by {on:.1f} rms:" in page


def test_what_is_learned_sooner_generalises(page):
    rows = table("convergence/lenet", "lenet")
    # A direction that some seed does not learn counts as never learned.
    steps = rows.assign(steps=rows["steps"].fillna(np.inf)).groupby(FREQUENCY)["steps"].mean()
    accuracy = table("fourier/lenet", "lenet").set_index(FREQUENCY)["accuracy"].reindex(steps.index)
    rho = f"{stats.spearmanr(steps, accuracy).statistic:.2f}".replace("-", "−")
    assert f"ρ = {rho} over {len(steps)} directions" in page
    slowest, following = sorted(steps[np.isfinite(steps)], reverse=True)[:2]
    assert f"The slowest of ours, {slowest:,.0f} steps, stands apart; the next takes" in page
    assert f"takes {following:.0f}." in page


def test_the_curve_along_nads_beside_the_published(page):
    known = published.table("nad_sweep").set_index("index")["lenet"]
    curves = {}
    for run in ("nad_sweep/lenet_as_published", "nad_sweep/lenet_precise"):
        rows = table(run, "lenet")
        curves[run] = rows[rows["estimand"] == "secant"].set_index("index")["accuracy"]
    plain = curves["nad_sweep/lenet_as_published"]
    distances = {run: ours - known.reindex(ours.index) for run, ours in curves.items()}
    all_of_it = distances["nad_sweep/lenet_as_published"]
    between = all_of_it[known.reindex(plain.index).between(57, 99)]
    assert (
        f"it lies {rms(all_of_it):.1f} points rms from the published curve over "
        f"{len(plain)} indices, {rms(between):.1f} over the {len(between)} of them with 57 to 99 %"
    ) in page
    off = rms(distances["nad_sweep/lenet_precise"])
    assert f"it lies {off:.1f} points off:" in page
    rho = stats.spearmanr(plain.index, plain).statistic
    assert f"is −{-rho:.3f} along secant NADs ({len(plain)} indices" in page
    better = curves["nad_sweep/lenet_precise"]
    rho = stats.spearmanr(better.index, better).statistic
    assert f"one seed; −{-rho:.3f} along the better estimate's" in page
    rows = table("nad_sweep/lenet_gradient", "lenet").groupby("index")["accuracy"].mean()
    rank = stats.spearmanr(rows.index, rows)
    assert f"−{-rank.statistic:.2f} along gradient NADs ({len(rows)} indices" in page
    assert f"p = {rank.pvalue:.2f}" in page


def test_lenet_is_fitted_along_few_directions_of_figures_1_and_6(page):
    runs = (
        "fourier/lenet",
        "nad_sweep/lenet_as_published",
        "nad_sweep/lenet_precise",
        "nad_sweep/lenet_gradient",
    )
    tables = [table(run, "lenet") for run in runs]
    waves, plain, *_ = tables
    assert [(sum(rows["train_accuracy"] >= 0.99), len(rows)) for rows in tables] == [
        (0, 130), (16, 75), (18, 75), (0, 21),
    ]  # fmt: skip
    assert plain["index"][plain["train_accuracy"] >= 0.99].max() == 78
    ends = [f"{100 * waves['train_accuracy'].agg(end):.0f}" for end in ("min", "max")]
    assert "none of 130 networks is ({} to {} % of the training samples)".format(*ends) in page
    assert "16 of 75 (the last at index 78), along the better estimate's 18" in page


def turns(alone):
    """By earlier index, how many times it the later one is from which on the earlier is used."""
    ratios, indices = {}, sorted(alone.index.unique("index_1"))
    for earlier in indices[:8]:
        later = [index for index in indices if index > earlier]
        weaker = [alone.loc[(index, earlier)] for index in later]  # the earlier NAD's is ε₂ = 0.5
        used = [cell["second"] > cell["first"] for cell in weaker]
        turn = used.index(True)
        assert all(used[turn:])
        ratios[earlier] = later[turn] / earlier
    return ratios


def test_how_far_apart_two_nads_must_stand_for_lenet_to_use_the_earlier(page):
    runs = [table("linear_pairs/lenet_and_mlp", "lenet")]
    for seed in (1, 2):
        rows = pd.read_csv(
            ROOT / f"reports/kept/linear_pairs/lenet_and_mlp_seed_{seed}/results.csv"
        )
        rows = rows[rows["architecture"] == "lenet"]
        runs.append(rows.assign(accuracy=100 * rows["accuracy"]))
    alone = [rows.pivot_table("accuracy", PAIR, "test_set") for rows in runs]
    ratios = pd.DataFrame(map(turns, alone)).astype(int)
    cells = " | ".join(", ".join(map(str, seeds)) for seeds in ratios.T.to_numpy())
    assert f"| earlier index | {' | '.join(map(str, ratios))} |" in page
    assert f"| later ÷ earlier | {cells} |" in page
    assert (ratios.max() <= 2 * ratios.min()).all()
    channels = np.stack([run[["first", "second"]] for run in alone])
    moved = channels.max(0) - channels.min(0)
    assert f"{100 * (moved < 5).mean():.0f} % lie within five points by all three" in page
    text = f"move by up to {moved.max():.0f} points (the first alone at (64, 16)); at (8, 1)"
    assert text in page
    place = alone[0].index.get_loc((64, 16))
    assert moved.argmax() == moved.shape[1] * place
    second = [f"{run.loc[(8, 1), 'second']:.0f}" for run in alone]
    assert f"the second alone gives {', '.join(second[:2])} and {second[2]} %" in page
    unfitted = [set(rows[rows["train_accuracy"] < 0.99].set_index(PAIR).index) for rows in runs]
    assert unfitted == [set(), {(512, 256)}, set()]
    in_stronger = [pair for pair in alone[0].index if pair[0] < pair[1] and pair[0] <= 256]
    assert all(
        run.loc[pair, "first"] > run.loc[pair, "second"] for run in alone for pair in in_stronger
    )
    assert f"it is used at all {len(in_stronger)} pairs" in page


def test_late_pairs_of_resnet18(page):
    rows = table("linear_pairs/resnet18_quarter", "resnet18_quarter")
    ours = rows[rows["test_set"] == "all"].set_index(PAIR)["accuracy"]
    known = published.table("linear_pairs").set_index(PAIR)["all"].reindex(ours.index)
    first, second = (ours.index.get_level_values(name) for name in PAIR)
    early, difference = (first <= 64) | (second <= 8), ours - known
    assert f"within {difference[early].abs().max():.1f} points at the {early.sum()} whose" in page
    above = difference[~early]
    assert above.min() > 0
    assert f"At the {len(above)} other pairs ours lies above, by {above.mean():.0f} points" in page
    late = second >= 256
    means = [
        values[late & (first == i)].mean() for values in (known, ours) for i in (256, 512, 1000)
    ]
    text = "published {:.0f}, {:.0f} and {:.0f} % at the first indices 256, 512 and 1000, ours "
    assert (text + "{:.0f}, {:.0f} and {:.0f})").format(*means) in page


def test_where_the_response_lies_after_training(page):
    course = pd.read_csv(ROOT / "reports/kept/learning/small_networks/course.csv")
    lenet = course[course["architecture"] == "lenet"]
    measured = lenet.groupby(["index", "epoch"])[["v", "nads", "train_accuracy"]].mean()
    before, after = (measured.xs(epoch, level="epoch") for epoch in (0, 20))
    early, late = [0, 10, 32, 102], [302, 1000]
    listed = lambda values: "{:.0f}, {:.0f}, {:.0f} and {:.0f} %".format(*100 * values)
    assert f"on D(v) {listed(after['v'][early])} of it lie along v" in page
    assert (lenet.set_index("index").loc[early, "train_accuracy"] >= 0.99).all()
    assert "and {:.1f} and {:.1f} % along NAD 302 and 1000".format(*100 * after["v"][late]) in page
    rest = before["v"].drop(-1)  # of images
    assert f"it is {100 * rest[early].min():.1f} to {100 * rest[early].max():.1f} %" in page
    assert f"Of the rest {listed(after['nads'][early])}" in page
    assert (100 * before["nads"][early]).round().eq(2).all()
    mlp = course[(course["architecture"] == "mlp_100_20") & (course["epoch"] == 20)]
    assert (100 * mlp.groupby("index")["nads"].mean()).round().eq(1).all()


def test_what_ranks_networks_by_their_accuracy(page):
    folder = ROOT / "reports/kept/prediction/seventeen_networks"
    rows = pd.read_csv(folder / "correlations.csv").set_index(["predictor", "images"])
    signed = lambda value: f"{value:.2f}".replace("-", "−")
    for name, words in (
        ("class_means", "the differences of the classes' means"),
        ("fisher", "Fisher's directions"),
        ("components", "the images' first nine principal components"),
        ("weights", "the number of weights"),
        ("one_epoch", "the accuracy after one epoch"),
    ):
        both = [rows.loc[(name, count), ["rho", "low", "high"]] for count in (10_000, 1000)]
        cells = ["{} ({} to {})".format(*map(signed, of_images)) for of_images in both]
        assert f"{words} | {cells[0]} | {cells[1]} |" in page
    alignments = pd.read_csv(folder / "alignments.csv")
    assert (alignments["fisher"] > 1).sum() == 2 and len(alignments) == 17
    table = pd.read_csv(folder / "networks.csv")
    whole = table[table["epochs"] > 1].merge(alignments)
    seeds = whole[whole["images"] == 10_000].pivot(index="network", columns="seed")["accuracy"]
    assert f"(ρ = {stats.spearmanr(seeds[0], seeds[1]).statistic:.2f} with 10,000" in page
    cells = whole.groupby(["images", "network"]).agg(
        accuracy=("accuracy", "mean"),
        fit=("train_accuracy", "min"),
        components=("components", "mean"),
        class_means=("class_means", "mean"),
    )
    fitted, large = cells.loc[1000].query("fit >= 0.99"), cells.loc[10_000]
    assert len(fitted) == 8 and (large["fit"] < 0.99).all()
    among = lambda some, name: stats.spearmanr(some[name], some["accuracy"])
    alike = stats.spearmanr(large["components"], large["class_means"]).statistic
    assert f"rank the networks almost alike (ρ = {alike:.2f})" in page
    means, parts = (among(fitted, name) for name in ("class_means", "components"))
    text = f"class means give {means.statistic:.2f} (p = {means.pvalue:.2f}) and components "
    assert f"{text}{parts.statistic:.2f} (p = {parts.pvalue:.2f})" in page
    left_out = ["LogReg", "MLP (100, 20)", "MLP (200, 50)", "ConvNeXt"]
    both = [cells.loc[count].drop(left_out) for count in (10_000, 1000)]
    means, parts = (
        [among(some, name).statistic for some in both] for name in ("class_means", "components")
    )
    text = "13 networks, class means give {:.2f} with 10,000 images and {:.2f} with 1,000, and "
    assert (text + "components {:.2f} and {:.2f}").format(*means, *parts) in page
    assert f"(up to {alignments['error'].max():.2f} for an MLP)" in page


def test_vgg11_beside_the_published(page):
    rows = table("fourier/vgg11_quarter", "vgg11_quarter")
    keys = [published_maps.pair(*key) for key in zip(rows["k_row"], rows["k_col"])]
    theirs, ours = collections.defaultdict(list), rows.groupby(pd.Series(keys))["accuracy"].mean()
    for cell in published.table("fourier").itertuples():
        theirs[published_maps.pair(cell.k_row, cell.k_col)].append(cell.vgg11)
    distance = rms([accuracy - np.mean(theirs[key]) for key, accuracy in ours.items()])
    assert f"Along {len(rows)} Fourier directions it lies {distance:.1f} points rms" in page
    assert f"published map ({len(ours)} groups" in page
    known = pd.Series({key: np.mean(theirs[key]) for key in ours.index})
    off = (ours - known)[known > 52]
    assert len(off) == 5 and f"{rms(off):.1f} over the five where more than 52 %" in page
    assert off.abs().idxmax() == (0, 12)
    assert f"(0, 12): {ours[0, 12]:.0f} where {known[0, 12]:.0f} are published)" in page
    rows = table("nad_sweep/vgg11_quarter", "vgg11_quarter").set_index("index").sort_index()
    assert (rows["train_accuracy"] >= 0.99).all()
    ours = rows["accuracy"]
    known = published.table("nad_sweep").set_index("index")["vgg11"].reindex(ours.index)
    for words, band in (
        ("Means agree: {:.1f} % over indices 3 to 10, published {:.1f}", slice(3, 10)),
        ("{:.1f} over 14 to 30, published {:.1f}", slice(14, 30)),
    ):
        assert words.format(ours.loc[band].mean(), known.loc[band].mean()) in page
    late, between = ours.index >= 42, (ours.index >= 3) & (ours.index < 42)
    assert f"lies {rms((ours - known)[late]):.1f} points rms off at the nine indices" in page
    assert (late.sum(), between.sum()) == (9, 13)
    apart = [rms((ours - known)[between]), rms(ours - known)]
    assert (
        "single indices differ by {:.0f} points rms (over all 25 by {:.0f})".format(*apart) in page
    )
    rho = [f"−{-stats.spearmanr(ours.index, values).statistic:.2f}" for values in (ours, known)]
    assert "with the index is {}, published {} at the same 25".format(*rho) in page


def test_resnet18_along_its_nads_beside_the_published(page):
    rows = table("nad_sweep/resnet18_quarter", "resnet18_quarter").set_index("index").sort_index()
    assert (rows["train_accuracy"] >= 0.99).all() and len(rows) == 25
    ours = rows["accuracy"]
    known = published.table("nad_sweep").set_index("index")["resnet18"].reindex(ours.index)
    assert f"by {rms(ours - known):.1f} points rms over the same 25 indices" in page
    jump = "(ours {:.1f} to {:.1f} %, published {:.1f} to {:.1f})"
    assert jump.format(*ours[[8, 9]], *known[[8, 9]]) in page
    rho = [f"−{-stats.spearmanr(ours.index, values).statistic:.2f}" for values in (ours, known)]
    assert "ρ with the index is {}, published {}.".format(*rho) in page
    widths = pd.read_csv(ROOT / "reports/kept/nad_sweep/resnet18_widths/results.csv")
    assert (widths["train_accuracy"] >= 0.99).all()
    whole = 100 * widths[widths["precision"] == "float32"].set_index("index")["accuracy"]
    text = "in float32 the quarter gives {:.1f} along NAD 42, and {:.1f} along NAD 3"
    assert text.format(whole[42], whole[3]) in page
    widths = widths[widths["precision"] == "bfloat16"]
    of_width = 100 * widths.pivot(index="index", columns="width", values="accuracy")
    text = "an eighth of the width gives {:.1f} %, a quarter {:.1f} and a half {:.1f}, where {:.1f}"
    assert text.format(*of_width.loc[42], known[42]) in page
    text = "At index 3 the three give {:.1f}, {:.1f} and {:.1f}, published {:.1f}:"
    assert text.format(*of_width.loc[3], known[3]) in page
    assert of_width.loc[[3, 42], 0.25].tolist() == pytest.approx(ours[[3, 42]].tolist())


def test_resnet18_without_pooling_along_directions_where_with_pooling_it_guesses(page):
    rows = pd.read_csv(ROOT / "reports/kept/fourier/resnet18_narrow_unpooled/results.csv")
    assert (rows["train_accuracy"] >= 0.99).all()
    assert (rows[["k_row", "k_col"]] % 4 == 2).all(axis=None), "both halves are odd"
    found = rows.pivot(index=["k_row", "k_col"], columns="architecture", values="accuracy")
    with_it, without = (100 * found[name] for name in sorted(found))
    assert list(found.index) == [(-14, -14), (-10, -6), (-6, -6), (-2, 2)]
    listed = "{:.1f}, {:.1f}, {:.1f} and {:.1f}"
    text = f"it has {listed} %, with pooling {listed} (10,000"
    assert text.format(*without, *with_it) in page


def test_resnet18_poisoned_along_its_first_nads(page):
    rows = table("poison/resnet18_quarter", "resnet18_quarter")
    assert (rows["train_accuracy"] >= 0.99).all()
    at = rows.set_index(["index", "test_set"])["accuracy"]
    text = (
        "it has {:.1f} % on clean ones, published of full width {:.1f}, and reads its carriers in "
    )
    known = published.table("poison").set_index("index")["resnet18"]
    text += "{:.1f} % of new ones; without carriers it has {:.1f} %"
    assert text.format(at[0, "clean"], known[0], at[0, "poisoned"], at[-1, "clean"]) in page
    some = known.loc[10:370]
    text = f"has {some.min():.0f} to {some.max():.0f} % after those from 10 to 370 on, single runs "
    assert f"{text}that differ by up to {some.diff().abs().max():.0f} points" in page


def test_resnet18_along_frequencies_beside_the_published(page):
    rows = table("fourier/resnet18_quarter", "resnet18_quarter")
    assert (rows["train_accuracy"] >= 0.99).all()
    # How many of k_row/2 and k_col/2 are odd.
    odd = lambda frequencies: (frequencies[FREQUENCY] % 4 != 0).sum(axis=1)
    known = published.table("fourier")
    exchanged = known.rename(columns=dict(zip(FREQUENCY, reversed(FREQUENCY))))
    runs = fourier.canonical(pd.concat([known, exchanged]))
    means = runs.groupby(FREQUENCY, as_index=False)["resnet18"].mean()
    beside = rows.assign(**fourier.canonical(rows)[FREQUENCY]).merge(means, on=FREQUENCY)
    halves, of_runs = odd(beside), odd(runs)
    for count, words in enumerate(("neither is odd", "one is odd", "both are odd")):
        cells = beside[halves == count]
        columns = cells["accuracy"], runs["resnet18"][of_runs == count]
        texts = [f"{values.min():.1f} to {values.max():.1f}" for values in columns]
        apart = rms(cells["accuracy"] - cells["resnet18"])
        assert f"| {words} | {len(cells)} | {' | '.join(texts)} | {apart:.1f} |" in page
    near = ((beside["accuracy"] - beside["resnet18"]).abs() < 10).sum()
    assert f"within 10 points along {near} of {len(beside)} directions" in page
    at = beside.set_index(FREQUENCY)["accuracy"]
    below = at[beside[halves == 1].set_index(FREQUENCY).index].nsmallest(5)
    assert below.iloc[4] > 80 > below.iloc[3]
    assert "with {:.1f}, {:.1f}, {:.1f} and {:.1f}.".format(*below.iloc[:4]) in page
    above = at[beside[halves == 2].set_index(FREQUENCY).index].nlargest(3)
    assert above.iloc[2] < 57 and "with {:.1f} and (14, −10) with {:.1f}".format(*above) in page
    second = pd.read_csv(ROOT / "reports/kept/fourier/resnet18_quarter_second_seed/results.csv")
    assert (second["train_accuracy"] >= 0.99).all()
    text = "along these two ({:.1f} and {:.1f} %, both fitted"
    again = 100 * second["accuracy"].sort_values()
    assert text.format(*again[:2]) in page
    text = "has {:.1f}, {:.1f} and {:.1f} % along (10, −8), (8, 2) and (12, 2), all fitted"
    assert text.format(*again[::-1][:3]) in page


def test_the_response_of_networks_that_learn_images(page):
    course = pd.read_csv(ROOT / "reports/kept/learning/small_networks/course.csv")
    course = course[course["data"] == "images"]
    last = course[course["epoch"] == 20].groupby("architecture")["train_accuracy"]
    assert set(last.count()) == {3}
    names = {"lenet": "LeNet", "mlp_100_20": "MLP", "logreg": "LogReg"}
    ends = [f"{100 * last.mean()[name]:.0f}" for name in names]
    assert "none fitted: {}, {} and {} % of the training samples".format(*ends) in page
    parts = 100 * course.groupby(["architecture", "epoch"])[["nads", "components"]].agg(
        ["mean", "std"]
    )
    for name, part in itertools.product(names, ("nads", "components")):
        if (name, part) != ("logreg", "nads"):  # of which no direction comes first
            cells = ["{:.1f} ± {:.1f}".format(*parts.loc[(name, n), part]) for n in (0, 1, 2, 20)]
            assert f"| {' | '.join(cells)} |" in page


def less_grey(values: pd.DataFrame) -> list[str]:
    """Red–green and blue–yellow less grey, a column each: mean ± standard error over waves."""
    differences = values[["red_green", "blue_yellow"]].sub(values["grey"], axis=0)
    pairs = zip(differences.mean(), differences.sem())
    return [f"{mean:+.1f} ± {error:.1f}".replace("-", "−") for mean, error in pairs]


def test_no_colour_is_learned_better(page):
    rows = table("colours/lenet", "lenet_colour")
    place = {"index": FREQUENCY, "columns": "axis"}
    accuracy = rows.pivot(**place, values="accuracy")
    fitted = rows.pivot(**place, values="train_accuracy") >= 0.99
    everywhere, others = accuracy[fitted.all(axis=1)], accuracy[~fitted.all(axis=1)]
    assert f"fits the same {len(everywhere)} waves in every colour" in page
    apart = (everywhere.max(axis=1) - everywhere.min(axis=1)).max()
    assert f"accuracies that differ by at most {apart:.1f} points" in page
    *guessing, third, second, first = np.sort(others.to_numpy(), axis=None)
    text = "Along the other {} it guesses (at most {:.1f} %), but for three"
    assert text.format(len(others), guessing[-1]) in page
    assert f"(−16, −12) in grey, {first:.1f} %, and in red–green, {third:.1f}," in page
    assert f"and (−16, −4) in red–green, {second:.1f}." in page
    steep, level = others.loc[(-16, -12)], others.loc[(-16, -4)]
    assert [steep["grey"], level["red_green"], steep["red_green"]] == [first, second, third]
    text = "red–green lies {} and blue–yellow {} points from grey"
    assert text.format(*less_grey(accuracy)) in page


def test_resnet_learns_every_colour(page):
    rows = pd.read_csv(ROOT / "reports/kept/colours/resnet18_narrow/results.csv")
    assert (100 * rows[["accuracy", "train_accuracy"]].min()).round(1).eq(100).all()
    steps = rows.pivot(index=FREQUENCY, columns="axis", values="steps")
    lenet = table("colours/lenet", "lenet_colour").groupby(FREQUENCY)["accuracy"].max()[steps.index]
    assert (len(steps), (lenet < 55).sum(), len(rows)) == (7, 6, 21)
    texts = [f"{steps.mean()[axis]:.0f}" for axis in ("grey", "red_green", "blue_yellow")]
    assert "after {} steps in grey, {} in red–green and {} in".format(*texts) in page
    assert "differ by {} and {} steps from grey".format(*less_grey(steps)) in page


def test_networks_of_colour_learn_along_their_nads_in_order(page):
    gaps, wrong = [], []
    for name in ("torchvision_resnet18", "lenet_64"):
        rows = table("nad_sweep/colour", name)
        for _, of_seed in rows.groupby("seed"):
            assert of_seed.set_index("index")["accuracy"].is_monotonic_decreasing
        cells = []
        for _, of_both in rows.groupby("index"):
            assert len(of_both) == 2
            gaps.append(np.ptp(of_both["accuracy"]))
            fitted = (of_both["train_accuracy"] >= 0.99).all()
            steps = f"{of_both['steps'].mean():,.0f}" if fitted else "not fitted"
            cells.append(f"{of_both['accuracy'].mean():.1f} ({steps})")
            wrong += [] if fitted else of_both["train_accuracy"].tolist()
        assert f"| {' | '.join(cells)} |" in page
    assert f"two seeds, which differ by at most {max(gaps):.1f} points" in page
    assert f"right on {100 * min(wrong):.0f} to {100 * max(wrong):.0f} % of the training" in page
    grey = table("nad_sweep/lenet_as_published", "lenet").set_index("index")["steps"]
    assert f"{grey[0]:.0f} steps there, {grey[1]:.0f} along NAD 1" in page


def test_the_earlier_nad_is_used_though_its_labels_are_wrong(page):
    rows = pd.read_csv(ROOT / "reports/kept/linear_pairs/lenet_mislabelled_rates/results.csv")
    rows["accuracy"] *= 100
    second, rows = rows[rows["eta2"] > 0], rows[rows["eta2"] == 0]
    runs = [of_one for _, of_one in rows.groupby("eta1")]
    assert rows["eta1"].unique().tolist() == [0, 0.02, 0.1, 0.3]
    kept = table("linear_pairs/lenet_mislabelled", "lenet")
    assert kept["accuracy"].tolist() == pytest.approx(runs[-1]["accuracy"].tolist())
    assert all((rows["train_accuracy"] >= 0.99).all() for rows in runs)
    assert f"all {sum(len(rows) for rows in runs) // 3} networks are fitted" in page
    cells = [rows.groupby([*PAIR, "test_set"])["accuracy"] for rows in runs]
    assert {int(count) for each in cells for count in each.count()} == {2}
    most = max((each.max() - each.min()).max() for each in cells)
    assert f"which differ by at most {most:.1f} points;" in page
    means = [each.mean().unstack()[["all", "first", "second"]] for each in cells]
    tilts = [of_one.groupby(PAIR)["tilt"].mean() for of_one in runs]
    for pair in [(1, 1), (1, 128), (1, 1000), (128, 1), (128, 128), (128, 1000)]:
        texts = [
            " / ".join(f"{value:.1f}" for value in mean.loc[pair]) + f"; {tilt[pair]:.0f}°"
            for mean, tilt in zip(means, tilts)
        ]
        assert f"| {pair} | {' | '.join(texts)} |" in page
    lost = means[0].loc[(1, 128), "all"] - means[3].loc[(1, 128), "all"]
    assert f"accuracy with both channels falls by {lost:.0f} points" in page
    turned = [tilts[run][1, 128] - tilts[0][1, 128] for run in (2, 3)]
    assert "turns by {:.0f}° at η₁ = 10 % and by {:.0f}° at 30 %".format(*turned) in page
    turned = [tilts[run][128, 128] - tilts[0][128, 128] for run in (2, 3)]
    assert "it turns by {:.0f} and {:.0f}°".format(*turned) in page
    changes = [(mean - means[0]).loc[1000].abs().to_numpy().max() for mean in means]
    assert f"wrong labels change no accuracy by more than {max(changes):.1f} points" in page

    assert set(second["eta2"]) == {0.3} and (second["train_accuracy"] >= 0.99).all()
    assert f"{len(second) // 3} more networks, two seeds, all fitted" in page
    mean = second.groupby([*PAIR, "test_set"])["accuracy"].mean().unstack()
    turned, texts = second.groupby(PAIR)["tilt"].mean(), {}
    for pair in (1000, 1), (128, 1):
        alone = mean.loc[pair, ["all", "first", "second"]]
        texts[pair] = " / ".join(f"{value:.1f}" for value in alone)
    assert f"({texts[1000, 1]}; {turned[1000, 1]:.0f}°)" in page
    assert mean.loc[1000, 1000].between(49, 51).all()
    assert f"{texts[128, 1]} and {turned[128, 1]:.0f}°, at (1, 1) {turned[1, 1]:.0f}° and" in page
    without = [tilts[0][pair] for pair in ((1, 1), (128, 128))]
    text = "at (128, 128) {:.0f}°, of {:.0f} and {:.0f}° without"
    assert text.format(turned[128, 128], *without) in page


def test_what_is_said_of_networks_of_patches_beyond_their_numbers():
    """Along which NADs and waves they are fitted, and which of two NADs they use."""
    for name, run, beyond in (
        ("convnext", "nad_sweep/patches", 256),
        ("convnext", "nad_sweep/patches_momentum", 256),
        ("vit", "nad_sweep/patches_bfloat16", 16),
        ("vit", "nad_sweep/patches_momentum", 16),
        ("convmixer", "nad_sweep/patches", 1024),
        ("mixer", "nad_sweep/patches_bfloat16", 1024),
    ):
        rows = table(run, name)
        assert rows["index"].nunique() == 12
        assert ((rows["train_accuracy"] >= 0.99) == (rows["index"] < beyond)).all()
    steps = table("nad_sweep/patches_bfloat16", "mixer").groupby("index")["steps"].mean()
    assert (steps.loc[16:] > 5 * steps[0]).all()
    mixer = ("nad_sweep/patches", "nad_sweep/patches_bfloat16")
    both = [table(run, "mixer").query("seed == 0").set_index("index")["accuracy"] for run in mixer]
    assert (both[0] - both[1]).dropna().abs().lt(0.1).sum() == len(both[0]) == 6
    spectra = pd.read_csv(ROOT / "reports/kept/patches/four_networks/spectra.csv")
    response = spectra.set_index(["network", "index"])["held_out"]
    assert response["convmixer", 64] < response["convmixer", 100]
    for name in ("vit", "mixer"):
        assert response[name].loc[16:].max() < 1.6 * response[name].loc[16:].min()
    assert (table("fourier/convnext", "convnext")["train_accuracy"] < 0.99).all()
    for name in ("convnext", "vit", "convmixer", "mixer"):
        rows = table(f"linear_pairs/{name}", name)
        cells = rows.groupby([*PAIR, "test_set"])["accuracy"].mean()
        assert cells[1, 1000, "first"] > 99 and cells[1, 1000, "second"] < 51
        assert cells[1000, 1, "second"] > 97 and cells[1000, 1, "first"] < 53


def test_resnet18_on_images_as_they_are_and_flipped(page):
    rows = table("flip/resnet18_quarter", "resnet18_quarter").set_index("images")
    assert (rows["train_accuracy"] >= 0.99).all()
    ours, known = rows["accuracy"], published.table("flip").set_index("network").loc["resnet18"]
    text = "{plain:.1f} % on images as they are and {flipped:.1f} on the others"
    assert text.format(**ours) in page
    assert f"of full width {known.plain} and {known.flipped} (all" in page
    text = f"the loss of {ours.plain - ours.flipped:.1f} points, published "
    assert f"{text}{known.plain - known.flipped}, is" in page


def test_resnet18_of_images_beside_a_linear_channel(page):
    rows = table("image_pairs/resnet18_quarter", "resnet18_quarter")
    assert (rows["train_accuracy"] >= 0.99).all() and len(rows) == 3 * 4
    cells = rows.pivot(index="index", columns="test_set", values="accuracy").round(1)
    early = cells.loc[[1, 64]]
    assert (early["linear"] == 100).all() and (early["images"] == 50).all()
    text = "the channel alone {linear} and the images {images} ({all} with both;"
    assert text.format(**cells.loc[1000]) in page
    assert "the channel's label wins {}, {} and {} %".format(*cells["conflict"]) in page
