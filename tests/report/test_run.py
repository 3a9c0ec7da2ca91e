"""The record of a run, and what all captions and tables say of an experiment."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import small_run
from refusals import refused
from small_run import ABOUT, FREQUENCIES, LENET, make_nads

from pipeline import experiments
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.report import nad_sweep, run
from pipeline.report.labels import LABELS, label


def make_record(**options):
    """A record of `fourier`; options: of `small_run.make_plan`."""
    settings = {"eps": 1.0, "sigma": 3.0}
    plan = small_run.make_plan("fourier", settings, 2 * [{"step": 16}], **options)
    return small_run.make_record(plan, small_run.make_results(FREQUENCIES))


def test_the_caption_describes_what_differs_and_no_more(monkeypatch):
    def expect(seeds, epochs):
        return (
            f"scale smoke · {seeds} · 1,234 training samples · {epochs} · "
            "± standard deviation over seeds"
        )

    record = make_record()
    epochs = "epochs 3 (ResNet-18, width ×0.125), 2 (LeNet)"
    assert record.describe_sizes() == expect("2 seeds", epochs)
    assert record.describe_sizes(["a"]) == expect("2 seeds", "2 epochs")
    fewer = small_run.change_member(make_record(epochs=(4, 4)), "z", seeds=1)
    seeds = "seeds 1 (ResNet-18, width ×0.125), 2 (LeNet)"
    assert fewer.describe_sizes() == expect(seeds, "4 epochs")
    assert fewer.describe_seeds(["z"]) == "1 seed"
    monkeypatch.setattr(small_run, "SEEDS", (5,))
    text = make_record(precision="bfloat16", epochs=(4, 4)).describe_sizes()
    assert text == (
        "scale smoke · 1 seed · 1,234 training samples · 4 epochs · trained in bfloat16"
    )


def test_published_values_are_of_the_same_network_or_the_wider_one():
    published = {"lenet": 1, "resnet18": 2, "vgg11": 3}
    narrow = ("ResNet-18, published", ", full width", 2)
    lenet = ("LeNet, published", "", 1)
    record = make_record()
    assert record.find_published(published) == {"a": lenet, "z": narrow}
    unpooled = small_run.change_member(
        record, "a", specification=LENET | {"downsampling": "none"}
    )
    assert unpooled.find_published(published) == {"z": narrow}
    large = small_run.change_member(record, "a", input=(64, 64))
    assert large.find_published(published) == {"z": narrow}


def test_nothing_is_published_of_other_images(whole):
    published = {"lenet": 1}
    expected = {"a": ("LeNet, published", "", 1)}
    flip = whole.experiments["flip"]
    assert whole.notice is None
    assert flip.find_published(published) == expected
    animals = ABOUT | {"name": "Animals"}
    flip = dataclasses.replace(flip, images=animals)
    assert flip.notice == "images of this run: Animals"
    assert flip.find_published(published) == {}
    fourier = dataclasses.replace(whole.experiments["fourier"], images=animals)
    assert fourier.find_published(published) == expected


def test_seeds_of_other_folders_are_pooled(tmp_path):
    record = make_record()
    seeds = record.results["seed"] + 3
    further = record.results.assign(seed=seeds, accuracy=0.9)
    further.to_csv(tmp_path / "results.csv", index=False)
    pooled = run.pool_seeds(record, [tmp_path])
    assert pooled.describe_seeds() == "4 seeds"
    expected = record.summary["mean"] / 2 + 0.45
    assert pooled.summary["mean"].tolist() == pytest.approx(expected)


def test_captions_name_the_file_of_nads_where_networks_are_trained_along_them(whole):
    record = whole.experiments["nad_sweep"]
    assert "mine.npy" not in record.describe_sizes(["a"])
    assert "mine.npy" not in whole.experiments["fourier"].describe_sizes()
    both = dataclasses.replace(record, files=dict.fromkeys("za", "mine.npy"))
    text = both.describe_sizes("za")
    assert text.endswith("NADs of ResNet-18, width ×0.125 and LeNet from mine.npy")
    for estimand, pictures in (("secant", None), ("file", "z")):
        nads = {"z": make_nads(np.eye(4), estimand=estimand)}
        curve = next(nad_sweep.make_explorer(record, {}, nads))
        assert curve["name"].endswith(", NADs of mine.npy")
        assert curve.get("nads") == pictures


def test_points_are_fitted_where_the_networks_of_all_seeds_are():
    rows = pd.DataFrame(
        {
            "index": [5, 3, 5, 3],
            "train_accuracy": [1.0, 0.99, 0.9899, 1.0],
            "accuracy": [0.5, 0.6, 0.7, 0.6],
        }
    )
    cells = run.average_over_seeds(rows, ["index"])
    assert cells["mean"].to_dict() == pytest.approx({3: 0.6, 5: 0.6})
    assert cells["std"].to_dict() == pytest.approx({3: 0.0, 5: 0.2 * 0.5**0.5})
    assert cells["fitted"].to_dict() == {3: True, 5: False}
    assert run.average_over_seeds(rows[:2], ["index"])["std"].isna().all()
    published = rows.drop(columns="train_accuracy")
    assert run.average_over_seeds(published, ["index"])["fitted"].isna().all()


@pytest.mark.parametrize(
    ("unfitted", "network", "expected"),
    [(0, "lenet", "z"), (8, "lenet", "a"), (16, "lenet", "z"), (0, "a", "a")],
)
def test_a_finding_is_about_lenet_or_else_about_a_fitted_network(
    whole, monkeypatch, unfitted, network, expected
):
    monkeypatch.setattr(run, "NETWORK", network)
    results = small_run.make_results(FREQUENCIES, unfitted=unfitted)
    report = small_run.change_results(whole, "fourier", results)
    _, name, label = report.choose_network("fourier")
    assert name == expected
    assert label == small_run.LABELS[expected]


def test_results_of_another_plan_are_refused(run_folder, tmp_path, monkeypatch):
    shutil.copytree(run_folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    path = artifacts.REPORTS / "flip" / "run.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    about["plan"]["members"]["a"]["training"]["epochs"] += 1
    artifacts.write_json(path, about)
    with refused("stale", path="reports/flip"):
        run.read_run(experiments.names())


@pytest.mark.parametrize(
    ("network", "arguments", "text"),
    [
        (NETWORKS["mlp"], {"hidden": [100, 20]}, "MLP (100, 20)"),
        (NETWORKS["lenet"], {"downsampling": "pool", "side": 32}, "LeNet"),
        (NETWORKS["lenet"], {"downsampling": "stride"}, "LeNet with strides"),
        (
            NETWORKS["resnet18"],
            {"width": 0.125, "downsampling": "none"},
            "ResNet-18 without pooling, width ×0.125",
        ),
        (
            NETWORKS["vgg11"],
            {"width": 0.125, "side": 224},
            "VGG-11, width ×0.125, 224×224",
        ),
        (NETWORKS["resnet18"], {"width": 1}, "ResNet-18"),
        (NETWORKS["resnet18"], {"skip": False}, "ResNet-18, no skip connections"),
        (NETWORKS["densenet121"], {"growth": 4}, "DenseNet-121, growth 4"),
        (NETWORKS["densenet121"], {"blocks": [1, 2]}, "DenseNet-121, blocks [1, 2]"),
        (NETWORKS["vit"], {"width": 64}, "ViT, width 64"),
        (NETWORKS["convnext"], {"scale": 1}, "ConvNeXt, scale 1"),
        ("my.package:tiny", {"filters": 3}, "tiny (filters 3)"),
    ],
)
def test_networks_are_called_by_what_differs_from_the_papers(network, arguments, text):
    assert label({"network": network, **arguments}) == text
    assert set(LABELS) == set(NETWORKS.values())


def test_other_inputs_than_the_papers_are_in_the_label():
    shape = (3, 64, 48)
    assert label({"network": NETWORKS["vgg11"], "side": 64}, shape) == "VGG-11, 3×64×48"
    custom = {"network": "mine:net", "filters": 3}
    assert label(custom, shape) == "net (filters 3, 3×64×48)"
