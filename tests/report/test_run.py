"""The record of a run, and what all captions and tables say of an experiment."""

import shutil

import numpy as np
import pandas as pd
import pytest
import small_run
from small_run import ALL_FITTED, FREQUENCIES, LENET, NOT_FITTED, NOTICE, SIZES, SPREAD

from pipeline import experiments
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.project.errors import InputError
from pipeline.report import run
from pipeline.report.comparison import indices_text, number, p_text, percent, rms, rms_text
from pipeline.report.labels import label

SETTINGS = {"eps": 1.0, "sigma": 3.0}


def fourier(**keywords):
    return small_run.evaluated(
        small_run.plan("fourier", SETTINGS, [{"step": 16}] * 2, **keywords),
        small_run.rows_of(FREQUENCIES),
    )


def test_the_caption_says_what_differs_and_no_more():
    one = fourier()
    assert one.sizes() == SIZES.format("1,234")
    assert one.sizes(["a"]) == "scale smoke · 2 seeds · 1,234 training samples · 2 epochs"
    assert (one.seeds(), one.seeds(["z"]), one.deviations()) == ("2 seeds", "2 seeds", SPREAD)
    alone = fourier(precision="bfloat16", seeds=(5,), epochs=(4, 4))
    expected = "scale smoke · 1 seed · 1,234 training samples · 4 epochs · trained in bfloat16"
    assert alone.sizes() == expected and alone.deviations() == ""


def test_networks_may_have_fewer_seeds_than_others():
    one = small_run.with_member(fourier(epochs=(4, 4)), "z", seeds=1)
    seeds = "seeds 1 (ResNet-18, width ×0.125), 2 (LeNet)"
    assert one.seeds() == seeds and one.seeds(["z"]) == "1 seed" and one.deviations() == SPREAD
    assert one.sizes() == f"scale smoke · {seeds} · 1,234 training samples · 4 epochs"


def test_published_is_what_the_same_network_came_to_or_the_wider_one():
    wide = ("published, full width", 2)
    published = {"lenet": 1, "resnet18": 2, "vgg11": 3}
    assert fourier().beside(published) == {"a": ("published", 1), "z": wide}
    for change in ({"specification": LENET | {"downsampling": "none"}}, {"input": (64, 64)}):
        assert small_run.with_member(fourier(), "a", **change).beside(published) == {"z": wide}


def test_nothing_is_published_of_other_images(whole):
    published = {"lenet": 1}
    assert whole.notice == NOTICE and whole.experiments["flip"].beside(published) == {}
    assert small_run.of_cifar10(whole).experiments["flip"].beside(published) == {
        "a": ("published", 1)
    }
    assert whole.experiments["fourier"].beside(published) == {"a": ("published", 1)}


def test_points_are_fitted_where_the_networks_of_every_seed_are():
    accuracies = {"train_accuracy": [1.0, 0.99, 0.9899, 1.0], "accuracy": [0.5, 0.6, 0.7, 0.6]}
    rows = pd.DataFrame({"index": [5, 3, 5, 3], **accuracies})
    found = run.over_seeds(rows, ["index"])
    assert found["mean"].to_dict() == pytest.approx({3: 0.6, 5: 0.6})
    assert found["std"].to_dict() == pytest.approx({3: 0.0, 5: 0.2 * 0.5**0.5})
    assert found["fitted"].to_dict() == {3: True, 5: False}
    assert run.over_seeds(rows[:2], ["index"])["std"].isna().all()
    assert run.over_seeds(rows.drop(columns="train_accuracy"), ["index"])["fitted"].isna().all()
    text = run.not_fitted(rows, ["index"], "hollow", "points")
    assert text == f"hollow: 1 of 2 points, {NOT_FITTED}"
    assert run.not_fitted(rows[1::2], ["index"], "hollow", "points") == ALL_FITTED


def test_results_of_other_cells_than_the_planned_ones_are_refused(whole, tmp_path, monkeypatch):
    shutil.copytree(".", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    path = artifacts.REPORTS / "flip" / "results.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match="reports/flip is not of the cells that are planned"):
        run.read(experiments.names())


def test_differences_are_at_what_both_have():
    ours, published = pd.Series({0: 1.0, 4: 5.0, 7: 90.0}), pd.Series({4: 8.0, 1: 50.0, 0: 5.0})
    # −4 and −3.
    assert rms(ours, published) == (pytest.approx(12.5**0.5), 2)
    assert rms_text(ours, published) == "3.5 (2)"
    assert rms_text(pd.Series({0: 1.0}), pd.Series({1: 1.0})) == "–"


def test_numbers_are_written_as_in_print():
    assert [p_text(p) for p in (0.00099, 0.001, 0.19)] == ["p < 0.001", "p = 0.001", "p = 0.19"]
    values = [(-0.4, 1), (-0.04, 1), (0.9981, 3), (-12, 0)]
    assert [number(*value) for value in values] == ["−0.4", "0.0", "0.998", "−12"]
    accuracies = [(0.8725, 0.0149), (0.8725, 0.0), (0.5, np.nan)]
    assert [percent(*pair) for pair in accuracies] == ["87.2 ± 1.5", "87.2 ± 0.0", "50.0"]
    assert (indices_text(1), indices_text(2)) == ("1 index", "2 indices")


@pytest.mark.parametrize(
    ("network", "arguments", "text"),
    [
        (NETWORKS["mlp"], {"hidden": [100, 20]}, "MLP (100, 20)"),
        (NETWORKS["lenet"], {"downsampling": "pool", "side": 32}, "LeNet"),
        (NETWORKS["lenet"], {"downsampling": "stride"}, "LeNet, stride for pooling"),
        (NETWORKS["vgg11"], {"width": 0.125, "side": 224}, "VGG-11, width ×0.125, 224×224"),
        (NETWORKS["resnet18"], {"width": 1, "input": (64, 48)}, "ResNet-18, 64×48"),
        (NETWORKS["resnet18"], {"skip": False}, "ResNet-18, no skip connections"),
        (NETWORKS["densenet121"], {"growth": 4}, "DenseNet-121, growth 4"),
        ("my.package:tiny", {"filters": 3, "input": (64, 48)}, "tiny (filters 3, 64×48)"),
    ],
)
def test_networks_are_called_by_what_differs_from_the_papers(network, arguments, text):
    assert label({"network": network, **arguments}) == text
