"""The record of a run, and what all captions and tables say of an experiment."""

import dataclasses
import shutil

import pandas as pd
import pytest
import small_run
from small_run import ABOUT, FREQUENCIES, LENET

from pipeline import experiments
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import nad_sweep, run
from pipeline.report.labels import LABELS, label


def fourier(**keywords):
    settings = {"eps": 1.0, "sigma": 3.0}
    planned = small_run.plan("fourier", settings, [{"step": 16}] * 2, **keywords)
    return small_run.evaluated(planned, small_run.rows_of(FREQUENCIES))


def test_the_caption_says_what_differs_and_no_more(monkeypatch):
    one = fourier()
    narrow = "ResNet-18, width ×0.125"
    sizes = "scale smoke · {} · 1,234 training samples · {} · ± standard deviation over seeds"
    assert one.describe_sizes() == sizes.format("2 seeds", f"epochs 3 ({narrow}), 2 (LeNet)")
    assert one.describe_sizes(["a"]) == sizes.format("2 seeds", "2 epochs")
    fewer = small_run.with_member(fourier(epochs=(4, 4)), "z", seeds=1)
    assert fewer.describe_sizes() == sizes.format(f"seeds 1 ({narrow}), 2 (LeNet)", "4 epochs")
    assert fewer.describe_seeds(["z"]) == "1 seed"
    monkeypatch.setattr(small_run, "SEEDS", (5,))
    alone = fourier(precision="bfloat16", epochs=(4, 4)).describe_sizes()
    assert alone.endswith(
        "1 seed · 1,234 training samples · 4 epochs · trained in bfloat16"
    )


def test_published_is_what_the_same_network_came_to_or_the_wider_one():
    wide = ("ResNet-18, published", ", full width", 2)
    published = {"lenet": 1, "resnet18": 2, "vgg11": 3}
    assert fourier().find_published(published) == {"a": ("LeNet, published", "", 1), "z": wide}
    for change in (
        {"specification": LENET | {"downsampling": "none"}},
        {"input": (64, 64)},
    ):
        assert small_run.with_member(fourier(), "a", **change).find_published(published) == {
            "z": wide
        }


def test_nothing_is_published_of_other_images(whole, monkeypatch):
    published = {"lenet": 1}
    known = {"a": ("LeNet, published", "", 1)}
    assert whole.notice is None and whole.experiments["flip"].find_published(published) == known
    for name, beside in (("flip", {}), ("fourier", known)):
        one = dataclasses.replace(
            whole.experiments[name], images=ABOUT | {"name": "Animals"}
        )
        assert (
            one.notice == "images of this run: Animals"
            and one.find_published(published) == beside
        )


def test_seeds_of_other_folders_are_pooled(tmp_path):
    one = fourier()
    further = one.results.assign(seed=one.results["seed"] + 3, accuracy=0.9)
    further.to_csv(tmp_path / "results.csv", index=False)
    pooled = run.pool_seeds(one, [tmp_path])
    assert pooled.describe_seeds() == "4 seeds"
    assert pooled.summary["mean"].tolist() == pytest.approx(
        one.summary["mean"] / 2 + 0.45
    )


def test_the_file_of_nads_stands_in_the_caption_of_what_is_trained_along_them(whole):
    one = whole.experiments["nad_sweep"]
    other = whole.experiments["fourier"]
    assert "mine.npy" not in one.describe_sizes(["a"]) + other.describe_sizes()
    both = dataclasses.replace(one, files=dict.fromkeys("za", "mine.npy"))
    assert both.describe_sizes("za").endswith(
        "NADs of ResNet-18, width ×0.125 and LeNet from mine.npy"
    )
    for estimand, pictures in (("secant", None), ("file", "z")):
        first, *_ = nad_sweep.make_explorer(one, {}, {"z": {"estimand": estimand}})
        assert (
            first["name"].endswith(", NADs of mine.npy")
            and first.get("nads") == pictures
        )


def test_points_are_fitted_where_the_networks_of_every_seed_are():
    accuracies = {
        "train_accuracy": [1.0, 0.99, 0.9899, 1.0],
        "accuracy": [0.5, 0.6, 0.7, 0.6],
    }
    rows = pd.DataFrame({"index": [5, 3, 5, 3], **accuracies})
    found = run.average_over_seeds(rows, ["index"])
    assert found["mean"].to_dict() == pytest.approx({3: 0.6, 5: 0.6})
    assert found["std"].to_dict() == pytest.approx({3: 0.0, 5: 0.2 * 0.5**0.5})
    assert found["fitted"].to_dict() == {3: True, 5: False}
    assert run.average_over_seeds(rows[:2], ["index"])["std"].isna().all()
    assert (
        run.average_over_seeds(rows.drop(columns="train_accuracy"), ["index"])["fitted"]
        .isna()
        .all()
    )


def test_a_finding_is_about_lenet_or_else_about_a_network_that_was_fitted(
    whole, monkeypatch
):
    half = small_run.rows_of(FREQUENCIES, unfitted=8)  # all of `z`
    fits = small_run.with_rows(whole, "fourier", half)
    none = small_run.with_rows(whole, "fourier", half.assign(train_accuracy=0.5))

    def shown(one):
        return one.choose_network("fourier")[1]

    assert [*map(shown, (whole, fits, none))] == ["z", "a", "z"]
    monkeypatch.setattr(run, "NETWORK", "a")
    assert [*map(shown, (whole, fits, none))] == ["a", "a", "a"]


def test_results_of_other_cells_than_the_planned_ones_are_refused(
    whole, tmp_path, monkeypatch
):
    shutil.copytree(".", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    path = artifacts.REPORTS / "flip" / "results.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(
        InputError, match="reports/flip is not of the cells that are planned"
    ):
        run.read_run(experiments.names())


@pytest.mark.parametrize(
    ("network", "arguments", "text"),
    [
        (NETWORKS["mlp"], {"hidden": [100, 20]}, "MLP (100, 20)"),
        (NETWORKS["lenet"], {"downsampling": "pool", "side": 32}, "LeNet"),
        (NETWORKS["lenet"], {"downsampling": "stride"}, "LeNet, stride for pooling"),
        (NETWORKS["lenet"], {"downsampling": "none"}, "LeNet, no pooling"),
        (
            NETWORKS["vgg11"],
            {"width": 0.125, "side": 224},
            "VGG-11, width ×0.125, 224×224",
        ),
        (NETWORKS["resnet18"], {"width": 1}, "ResNet-18"),
        (NETWORKS["resnet18"], {"skip": False}, "ResNet-18, no skip connections"),
        (NETWORKS["densenet121"], {"growth": 4}, "DenseNet-121, growth 4"),
        ("my.package:tiny", {"filters": 3}, "tiny (filters 3)"),
    ],
)
def test_networks_are_called_by_what_differs_from_the_papers(network, arguments, text):
    assert label({"network": network, **arguments}) == text
    assert set(LABELS) == set(NETWORKS.values())


def test_other_inputs_than_the_papers_are_in_the_label():
    assert (
        label({"network": NETWORKS["vgg11"], "side": 64}, (3, 64, 48))
        == "VGG-11, 3×64×48"
    )
    assert (
        label({"network": "mine:net", "filters": 3}, (3, 64, 48))
        == "net (filters 3, 3×64×48)"
    )
