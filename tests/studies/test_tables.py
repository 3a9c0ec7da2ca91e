"""The generated tables of the pages: how they get there, and their numbers."""

import itertools
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from structure import ROOT

from studies.tables import details, estimator, findings, kept, numbers, pages, speed

RUN = "nad_sweep/lenet"


@pytest.fixture
def root(monkeypatch):
    """The repository as the working directory."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder in the place of reports/kept."""
    for module in (numbers, kept):
        monkeypatch.setattr(module, "KEPT", tmp_path)
    return tmp_path


@pytest.fixture
def papers(monkeypatch):
    """Published tables, by name, which a test fills."""
    tables = {}
    monkeypatch.setattr(numbers.published, "read_published", tables.__getitem__)
    return tables


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("page", pages.PAGES, ids=str)
def test_the_tables_of_a_page_are_as_made(page, root):
    text = page.read_text(encoding="utf-8")
    assert pages.fill(text) == text, "`python -m studies.tables` makes them again"
    begins = text.count("<!-- table: ")
    assert begins == text.count("<!-- end -->") == len(pages.MARKED.findall(text)) > 0


def test_values_are_as_made(root):
    text = pages.VALUES.read_text(encoding="utf-8")
    assert kept.list_published_values() == text


def test_every_table_is_on_a_page(root):
    texts = [page.read_text(encoding="utf-8") for page in pages.PAGES]
    for name in pages.TABLES:
        assert any(f"<!-- table: {name} -->\n" in text for text in texts), name


def test_a_page_keeps_what_is_not_between_markers(monkeypatch):
    monkeypatch.setitem(pages.TABLES, "sizes", lambda: "| 2 |\n")
    page = "Any words.\n<!-- table: sizes -->\n{}<!-- end -->\nMore words."
    assert pages.fill(page.format("| 1 |\n")) == page.format("| 2 |\n")
    assert pages.fill(page.format("")) == page.format("| 2 |\n")


def test_a_table_that_is_not_known_is_an_error():
    with pytest.raises(KeyError):
        pages.fill("<!-- table: sises -->\n<!-- end -->")


def test_rows_are_chosen_by_the_values_of_columns(folder):
    lines = ["0,0,0.98", "0,1,1.0", "16,0,0.5"]
    write(folder / RUN / "results.csv", "index,seed,accuracy", *lines)
    write(folder / RUN / "spectra.csv", "index,value", "0,2.5")
    assert numbers.read_accuracy(RUN, index=0).tolist() == [98, 100]
    assert numbers.read_accuracy(RUN, index=0, seed=1).tolist() == [100]
    assert numbers.read_run(f"{RUN}/spectra.csv")["value"].tolist() == [2.5]
    with pytest.raises(ValueError, match="index"):
        numbers.read_run(RUN, index=7)


def test_a_curve_is_compared_at_the_indices_of_both(folder, papers):
    lines = ["0,0,0.98", "0,1,1.0", "16,0,0.75", "1000,0,0.5"]
    write(folder / RUN / "results.csv", "index,seed,accuracy", *lines)
    rows = {"index": [0, 16, 18], "lenet": [96.0, 79.0, 0.0]}
    papers["nad_sweep"] = pd.DataFrame(rows)
    curves = numbers.compare_curves(RUN, "lenet")
    assert curves.to_dict() == {"ours": {0: 99, 16: 75}, "published": {0: 96, 16: 79}}
    assert numbers.compute_rms_difference(curves) == pytest.approx(12.5**0.5)


def test_frequencies_that_are_the_same_to_a_network_have_one_name():
    assert numbers.name_wave(-4, 2, "lenet") == (2, 4)
    assert numbers.name_wave(-2, -4, "lenet") == (2, 4)
    same = {
        numbers.name_wave(k_row, k_col, "resnet18")
        for k_row, k_col in ((-4, 2), (2, -4), (4, -2), (-2, 4))
    }
    assert same == {(-4, 2)}
    assert numbers.name_wave(-4, -2, "resnet18") == (-4, -2)
    # At the highest frequency k and −k differ by the period.
    opposite = numbers.name_wave(-16, -2, "resnet18")
    assert numbers.name_wave(-16, 2, "resnet18") == opposite


def test_maps_are_compared_by_wave_without_the_published_row_0(folder, papers):
    lines = ["-4,2,0.9", "-2,4,0.8", "-4,4,0.7", "-2,-2,0.5"]
    write(folder / "fourier/a/results.csv", "k_row,k_col,accuracy", *lines)
    rows = [(0, 4, 99.0), (-4, 0, 92.0), (-4, 2, 80.0), (-2, -2, 52.0)]
    papers["fourier"] = pd.DataFrame(rows, columns=["k_row", "k_col", "resnet18"])
    maps = numbers.compare_maps("fourier/a", "resnet18")
    assert maps.loc[(-4, 2)].tolist() == pytest.approx([85, 80])
    assert maps["published"].to_dict() == {(-4, 2): 80, (-2, -2): 52}


def test_repeated_published_runs_are_those_along_the_same_wave(papers):
    rows = [(0, 4, 99.0), (-4, 0, 92.0), (-8, 4, 90.0), (-4, 8, 93.0), (-4, -8, 96.0)]
    rows += [(-16, 4, 50.0), (-16, -4, 52.0)]
    papers["fourier"] = pd.DataFrame(rows, columns=["k_row", "k_col", "lenet"])
    # One wave has runs 3 points apart, and one has two runs with a variance of 2.
    pooled = ((2 * 9 + 2) / 3) ** 0.5
    assert numbers.compute_repeat_spread("lenet") == pytest.approx(pooled)
    assert numbers.compute_repeat_spread("lenet", 55) == pytest.approx(3)


def test_what_is_never_learned_takes_longest(folder):
    lines = ["0,0,1200,0.98", "0,0,1400,1.0", "0,4,20,0.75", "4,0,,0.5"]
    write(folder / "fourier/a/results.csv", "k_row,k_col,steps,accuracy", *lines)
    # Ranks of steps 2, 1, 3 beside those of accuracy 3, 2, 1.
    assert numbers.correlate_steps("fourier/a", "fourier/a") == pytest.approx(-0.5)


def test_what_flipping_costs_is_of_each_seed(folder, papers):
    lines = ["0,plain,0.7", "0,flipped,0.5", "1,flipped,0.6", "1,plain,0.9"]
    write(folder / "flip/a/results.csv", "seed,images,accuracy", *lines)
    loss = numbers.compute_flip_loss("flip/a")
    assert loss.to_dict() == pytest.approx({0: 20, 1: 30})
    row = {"network": "lenet", "plain": 69, "flipped": 48}
    papers["flip"] = pd.DataFrame([row])
    assert numbers.compute_published_flip_loss("lenet") == 21


def test_what_ranks_families_need_not_rank_their_networks(folder):
    names = ["LeNet", '"LeNet, wide"', "MLP", '"MLP (9, 9)"']
    networks = []
    alignments = []
    for name, accuracy, response in zip(
        names, [0.5, 0.6, 0.2, 0.3], [9, 8, 2, 1], strict=True
    ):
        for images in (1000, 10_000):
            # After one epoch the order is the opposite, and does not count.
            networks.append(f"{name},{images},1,{1 - accuracy}")
            networks.append(f"{name},{images},10,{accuracy}")
        alignments.append(f"{name},{response},{response}")
    run = folder / "prediction/seventeen_networks"
    write(run / "networks.csv", "network,images,epochs,accuracy", *networks)
    write(run / "alignments.csv", "network,class_means,components", *alignments)
    rows = [row.split(" | ") for row in findings.make_families().splitlines()[2:]]
    assert [row[1] for row in rows] == ["10,000"] * 4 + ["1,000"] * 4
    assert rows[0][0] == "| all 4"
    assert rows[1][0] == "| means of 2 families"
    total, between, within, convolutional, *few = [row[2] for row in rows]
    assert (total, between) == ("0.60", "1.00")
    assert within.startswith("−")
    assert convolutional == few[-1] == "−1.00"


def test_noise_along_v_bounds_the_best_accuracy():
    assert findings.compute_best_accuracy(0) == 100
    # Φ(1) and Φ(2)
    assert findings.compute_best_accuracy(1) == pytest.approx(84.134, abs=0.001)
    assert findings.compute_best_accuracy(0.5) == pytest.approx(97.725, abs=0.001)


def test_seeds_are_counted_over_the_chosen_rows(folder):
    write(
        folder / RUN / "results.csv", "index,seed,accuracy", "0,0,1", "0,1,1", "4,1,1"
    )
    assert numbers.count_seeds(RUN) == "2 seeds"
    assert numbers.count_seeds(RUN, index=4) == "1 seed"


def test_a_cell_along_an_nad_says_when_it_was_learned():
    columns = ["accuracy", "train_accuracy", "steps"]
    networks = pd.DataFrame(
        [(0.98, 1.0, 1200), (1.0, 1.0, 1400), (0.75, 0.995, None), (0.5, 0.7, 30)],
        columns=columns,
    )
    assert estimator.describe_training(networks[:2]) == "99.0 (1,300)"
    assert estimator.describe_training(networks[2:3]) == "75.0 (fitted)"
    assert estimator.describe_training(networks[2:]) == "62.5 (not fitted)"
    assert estimator.describe_training(networks[:0]) == "–"


def test_a_cell_of_two_channels_has_the_accuracy_of_each():
    rows = [("all", 0.9, 1), ("first", 0.8, 1), ("second", 0.1, 1)]
    networks = pd.DataFrame(rows, columns=["test_set", "accuracy", "train_accuracy"])
    assert estimator.describe_channels(networks) == "80 / 10"
    networks["train_accuracy"] = 0.98
    assert estimator.describe_channels(networks) == "80 / 10 (not fitted)"


def test_waves_repeat_in_patches_where_both_frequencies_do():
    results = pd.DataFrame(
        [(0, -16, 0.9, 1.0), (8, 8, 1.0, 0.9), (0, 4, 0.5, 1.0), (12, 8, 0.6, 1.0)],
        columns=["k_row", "k_col", "accuracy", "train_accuracy"],
    )
    repeats = estimator.find_repeating(results, 4)
    assert repeats.tolist() == [True, True, False, False]
    assert estimator.find_repeating(results, 8).all()
    assert estimator.describe_range(results[repeats]) == "90.0 to 100.0 (1 of 2 fitted)"


def test_every_published_value_is_beside_ours(folder, papers):
    papers["nad_sweep"] = pd.DataFrame({"index": [0, 16], "lenet": [96.0, 79.0]})
    header = "architecture,seed,estimand,index,test_set,accuracy,n"
    lines = ["lenet,0,secant,0,all,0.98,10", "lenet,1,secant,0,all,1.0,10"]
    lines.append("lenet,0,gradient,16,all,0.6,10")
    write(folder / RUN / "results.csv", header, *lines)
    specification = {"network": "pipeline.networks.lenet:LeNet"}
    training = {"lr": 0.5, "precision": "float32"}
    members = {"lenet": {"specification": specification, "training": training}}
    plan = {"train_samples": 10, "settings": {}, "members": members}
    write(folder / RUN / "run.json", json.dumps({"plan": plan}))
    (row,) = kept.compare_published_values().to_numpy().tolist()
    assert row == [RUN, "lenet", "estimand secant, index 0", "all", 96, 99, 2]


def test_the_order_of_nads_is_shown_by_what_makes_the_classes_overlap(folder):
    rows = []
    for number, (sigma_v, eta) in enumerate(findings.OVERLAPS):
        for index, seed in ((0, 0), (0, 1), (9, 0)):
            accuracy = 0.9 - 0.1 * number + 0.02 * seed - 0.01 * index
            rows.append(f"{sigma_v},{eta},{index},{seed},{accuracy:.3f}")
    path = folder / "nad_sweep/lenet_overlapping/results.csv"
    write(path, "sigma_v,eta,index,seed,accuracy", *rows)
    header, _, first, *_, last = findings.make_overlaps().splitlines()
    assert header.endswith("| NAD 0 | NAD 9 |")
    assert first.endswith("| 100 | 91.0 | 81.0 |")
    assert last.endswith("| 100 | 51.0 | 41.0 |")


def test_two_cues_are_compared_with_and_without_wrong_labels(folder):
    rows = []
    for index in (1, 32, 128, 256, 1000):
        for rate in (0.0, 0.3):
            for number, test_set in enumerate(("all", "first", "second")):
                accuracy = 0.5 + rate + 0.05 * number
                place = f"0.0,{rate},0,{index},1,{test_set}"
                tilt = "" if (index, rate) == (256, 0.0) else 100 * rate
                rows.append(f"{place},{accuracy},{tilt}")
    columns = "eta1,eta2,seed,index_1,index_2,test_set,accuracy,tilt"
    path = folder / "linear_pairs/lenet_mislabelled_rates/results.csv"
    write(path, columns, *rows)
    _, _, first, second, third, *_, last = findings.make_wrong_labels().splitlines()
    assert third == "| 256 | 0 | 55.0 | 60.0 | – |", "without boundaries"
    assert first == "| 1000 | 0 | 55.0 | 60.0 | 0.0 |"
    assert second == "| 1000 | 30 | 85.0 | 90.0 | 30.0 |"
    assert last.startswith("| 1 | 30 |")


def test_the_gradient_is_shown_before_and_after_training(folder):
    rows = [
        "lenet,0,linear,5,0,0.01,0.5,",
        "lenet,0,linear,5,4,0.9,0.6,",
        "lenet,1,linear,5,4,0.8,0.6,",
        "lenet,0,images,-1,0,,0.3,0.1",
        "lenet,0,images,-1,4,,0.2,0.4",
        "mlp,0,images,-1,4,,0.7,0.8",
    ]
    columns = "architecture,seed,data,index,epoch,v,nads,components"
    write(folder / "learning/small_networks/course.csv", columns, *rows)
    _, _, before, after = findings.make_turns().splitlines()
    assert before == "| before training | 1.0 |"
    assert after == "| after it | 85.0 ± 7.1 |"
    header, _, components, nads = findings.make_course_on_images().splitlines()
    assert header.endswith("| 0 | 4 |")
    assert components.endswith("| 10.0 | 40.0 |")
    assert nads.endswith("| 30.0 | 20.0 |")


def test_the_published_row_is_compared_with_its_transpose(folder, papers):
    for run in ("lenet", "resnet18_quarter"):
        path = folder / f"fourier/{run}/results.csv"
        write(path, "seed,k_row,k_col,accuracy", "0,0,0,0.7", "1,0,0,0.9", "0,0,4,0.5")
    rows = [(0, 4, 90.0), (0, -4, 94.0), (-4, 0, 89.0), (0, 0, 72.0)]
    rows += [(-16, 2, 80.0), (-16, -2, 84.0)]
    table = pd.DataFrame(rows, columns=["k_row", "k_col", "lenet"])
    papers["fourier"] = table.assign(resnet18=table["lenet"])
    _, _, row, _ = details.make_published_row().splitlines()
    # Two repeats 4 points apart have a standard deviation of 2√2 points.
    assert row == "| LeNet | 3.0 | 2.8 | 72.0; 80.0 |"


def test_the_constant_direction_is_apart_from_the_frequencies(folder):
    header = "k_row,k_col,accuracy"
    write(folder / "fourier/lenet_unpooled/results.csv", header, "0,0,0.8", "0,4,0.9")
    momentum = folder / "fourier/lenet_unpooled_momentum/results.csv"
    write(momentum, header, "0,0,1.0", "0,4,0.95", "4,4,0.99")
    *_, first, second = details.make_unpooled().splitlines()
    assert first.endswith("| 95.0 | 100.0 |")
    assert second.endswith("| 90.0 | 80.0 |")


def test_pooling_is_compared_along_the_frequencies_with_strides(folder):
    runs = ("lenet_strided_less_noise", "lenet_strided", "lenet_less_noise", "lenet")
    lines = ["0,0,0,1.0,1.0", "0,0,4,0.9,0.98"]
    for run in runs:
        header = "seed,k_row,k_col,accuracy,train_accuracy"
        extra = ["0,0,2,0.5,0.6"] if run == "lenet" else []
        write(folder / f"fourier/{run}/results.csv", header, *lines, *extra)
    assert details.make_strides().count("| 90.0 to 100.0 | 1 of 2 |") == 4


def test_the_pairs_of_both_runs_are_counted(folder):
    header = "way,index_1,index_2,train_accuracy"
    late = ["stated,1000,1000,0.6", "clip 0.1,512,800,0.99", "clip 0.1,512,800,0.98"]
    write(folder / "fitting/lenet_late_pairs/results.csv", header, *late)
    latest = ["stated,1000,1000,1.0", "clip 0.1,1000,1000,1.0", "rate 0.1,800,256,1.0"]
    write(folder / "fitting/lenet_latest_pair/results.csv", header, *latest)
    *_, stated, clipped, slower, _ = details.make_late_pairs().splitlines()
    assert stated.endswith("| – | – | 1 of 2 |")
    assert clipped.endswith("| 1 of 2 | – | 1 of 1 |")
    assert slower.endswith("| – | 1 of 1 | – |")


def test_steps_are_relative_to_the_input_that_is_not_scaled(folder):
    lines = ["1,0,10,1", "1,1,30,1", "0.5,0,90,1", "0.125,0,,0.9"]
    path = folder / "linear_networks/two_mechanisms/conditioning.csv"
    write(path, "factor,seed,steps,accuracy", *lines)
    header, _, steps, limit, accuracy = details.make_conditioning().splitlines()
    assert header == "| a | 1 | 1/2 | 1/8 |"
    assert steps.endswith("| 1 | 4.5 | – |")
    assert limit.endswith("| 1 | 4 | 64 |")
    assert accuracy.endswith("| 100 | 100 | 90 |")


def test_conflicts_are_scored_on_the_other_channel(folder):
    header = "architecture,seed,index_1,index_2,test_set,accuracy,train_accuracy"
    lines = []
    tilts = []
    for architecture in ("convnext", "lenet"):
        for seed, accuracy in ((0, 0.1), (1, 0.3)):
            lines.append(f"{architecture},{seed},1000,1,conflict,{accuracy},{1 - seed}")
            tilts.append(f"{architecture},{seed},1000,1,80")
    run = folder / "linear_pairs/adamw"
    write(run / "results.csv", header, *lines)
    write(run / "boundaries.csv", "architecture,seed,index_1,index_2,tilt", *tilts)
    _, _, row, *_ = estimator.make_conflicts().splitlines()
    assert row.endswith("| 1 of 2 | 80.0 ± 14.1 | 80.0 ± 0.0° |")


def test_directions_have_both_networks_with_both_optimisers(folder):
    columns = "network,direction,seed,response,train_accuracy,steps,accuracy"
    with_sgd = [
        "lenet,lenet_not_convnext,0,4.2,1,9,0.999",
        "lenet,lenet_not_convnext,1,4.2,1,9,0.997",
        "convnext,lenet_not_convnext,0,0.12,0.57,,0.505",
    ]
    with_adamw = [
        "lenet,lenet_not_convnext,0,4.2,1,9,0.998",
        "convnext,lenet_not_convnext,0,0.12,1,9,0.996",
    ]
    write(folder / "controversial/six_networks/results.csv", columns, *with_sgd)
    for run in findings.WITH_ADAMW:
        write(folder / f"controversial/{run}/results.csv", columns, *with_adamw)
    _, _, row, _ = findings.make_optimisers().splitlines()
    assert row == (
        "| for LeNet, not ConvNeXt | ×4.2 | 99.9, 99.7 | 99.8 "
        "| ×0.12 | 50.5 (training 57) | 99.6 |"
    )


def test_blocks_have_accuracies_by_optimiser_and_layer_scale(folder):
    columns = "network,direction,seed,train_accuracy,accuracy"
    sgd = ["convnext,lenet_not_convnext,0,0.6,0.5", "convnext,random,0,0.8,0.7"]
    write(folder / "controversial/six_networks/results.csv", columns, *sgd)
    for run, learner in zip(
        findings.WITH_ADAMW, ("lenet", "vgg11_quarter"), strict=True
    ):
        along = f"{learner}_not_convnext,0,1"
        rows = f"convnext,{along},0.999", f"{learner},{along},0.991"
        write(folder / f"controversial/{run}/results.csv", columns, *rows)
    columns = "optimiser,scale,fixed,direction,seed,train_accuracy,accuracy"
    scaled = [
        "SGD,1,False,lenet_not_convnext,0,1,0.998",
        "SGD,1,True,lenet_not_convnext,0,1,0.997",
        "AdamW,0.000001,True,random,0,0.7,0.6",
    ]
    path = folder / "anatomy/layer_scale"
    write(path / "results.csv", columns, *scaled)
    names = [f"{name}_not_convnext" for name in findings.LABELS] + ["random"]
    responses = [f"0.000001,{name},0.12,0.023" for name in names]
    responses += [f"1,{name},0.34,0.023" for name in names]
    write(path / "response.csv", "scale,direction,response,repeated", *responses)
    _, _, lenet, *_, random = findings.make_blocks().splitlines()
    before = "2.3 | ×0.12 | ×0.34"
    assert lenet == f"| for LeNet | {before} | 50.0 (training 60) | 99.8 | 99.9 | – |"
    ends = "– | – | 60.0 (training 70) |"
    assert random == f"| random | {before} | 70.0 (training 80) | {ends}"


def test_rivals_have_both_accuracies_and_an_asterisk_where_not_fitted(folder):
    columns = "network,direction,seed,response,train_accuracy,steps,accuracy"
    rows = []
    for a in findings.LABELS:
        for b in findings.LABELS:
            rows.append(f"{a},{a}_not_{b},0,2,1,9,0.999")
            rows.append(f"{a},{a}_not_{b},1,2,1,9,0.997")
            rows.append(f"{b},{a}_not_{b},0,0.1,1,9,0.51")
            rows.append(f"{b},{a}_not_{b},1,0.1,0.8,,0.50")
    write(folder / "controversial/six_networks/results.csv", columns, *rows)
    _, _, lenet, *_, resnet = findings.make_rivals().splitlines()
    assert lenet == "| LeNet | – |" + 5 * " 99.8 / 50.5* |"
    assert resnet == "| ResNet-18, ¼ width |" + 5 * " 99.8 / 50.5* |" + " – |"


def test_initial_scales_have_what_was_measured_before_training_and_after(folder):
    untrained = []
    for scale in estimator.SCALES:
        untrained.append(f"convnext,scale={scale},0,0.5,8,1")
        untrained.append(f"convnext,scale={scale},1000,0.05,0.97,0.1")
    run = folder / "anatomy/initial_scale"
    columns = "network,variant,index,response,alignment,alignment_std"
    write(run / "response.csv", columns, *untrained)
    columns = "network,variant,optimiser,index,seed,train_accuracy,accuracy,steps"
    trained = [
        "convnext,scale=1,SGD,1000,0,1,0.998,5",
        "convnext,scale=1,SGD,9,0,1,1,5",
    ]
    write(run / "results.csv", columns, *trained)
    _, _, first, *_, last = estimator.make_initial_scales().splitlines()
    assert first == "| 1 | 10 | 0.97 ± 0.10 | 99.8 | – | – |"
    assert last == "| 1e-06 | 10 | 0.97 ± 0.10 | – | – | – |"


def test_steps_by_scale_have_the_accuracy_of_networks_that_did_not_learn(folder):
    columns = "network,variant,optimiser,index,seed,train_accuracy,accuracy,steps"
    rows = ["convnext,scale=1,SGD,400,1,1,0.999,1210"]
    for scale, optimiser, index in itertools.product(
        estimator.SCALES, ("SGD", "SGD with momentum", "AdamW"), (200, 400, 1000)
    ):
        rows.append(f"convnext,scale={scale},{optimiser},{index},0,0.6,0.514,")
    write(folder / "anatomy/initial_scale/results.csv", columns, *rows)
    table = estimator.make_scale_steps().splitlines()
    assert len(table) == 2 + 3 * 3
    assert table[5].startswith("| 400 | SGD | – (51 %), 1,210 | – (51 %) |")


def test_layer_scales_are_measured_where_they_are_trained(folder):
    columns = "optimiser,scale,fixed,gain,direction,seed,train_accuracy,accuracy"
    rows = [
        "SGD,1,True,1,nad_1000,0,1,0.999,1,1",
        "SGD,1,True,0.01,nad_1000,0,0.6,0.5,1,1",
        "AdamW,0.000001,False,1,nad_1000,0,1,0.998,0.03,0.05",
        "AdamW,0.000001,False,1,nad_1000,1,0.6,0.5,0.05,0.07",
    ]
    path = folder / "anatomy/layer_scale/results.csv"
    write(path, f"{columns},scale_4,scale_20", *rows)
    _, _, adamw, sgd = findings.make_layer_scales().splitlines()
    texts = "99.8, 50.0 (training 60)"
    assert adamw == f"| 1000 | AdamW | from 10⁻⁶ | 0.04 | 0.06 | {texts} |"
    assert sgd == "| 1000 | SGD | fixed at 1 | – | – | 99.9 |"


def test_gains_are_those_of_sgd_with_fixed_layer_scales(folder):
    columns = "optimiser,scale,fixed,gain,direction,seed,train_accuracy,accuracy,steps"
    rows = [
        "SGD,1,True,1,nad_1000,0,1,0.999,500",
        "SGD,1,False,1,nad_1000,0,1,0.998,400",
        "SGD,0.01,True,10000,nad_1000,1,0.6,0.5,",
        "SGD,0.01,True,10000,nad_1000,0,1,0.997,700",
        "AdamW,0.01,True,1,nad_1000,1,0.6,0.5,",
    ]
    write(folder / "anatomy/layer_scale/results.csv", columns, *rows)
    _, _, small, large = findings.make_gains().splitlines()
    assert small == "| 0.01 | ×10,000 | 700, – | 99.7, 50.0 (training 60) |"
    assert large == "| 1 | ×1 | 500 | 99.9 |"


def test_fitted_rivals_have_both_recipes(folder):
    columns = "network,direction,seed,train_accuracy,accuracy"
    first = ["lenet,convnext_not_lenet,0,0.8,0.5", "lenet,lenet_not_convnext,0,1,0.99"]
    write(folder / "controversial/six_networks/results.csv", columns, *first)
    again = ["lenet,lenet_not_convnext,0,1,1", "lenet,convnext_not_lenet,0,1,0.51"]
    write(folder / "controversial/fitted/results.csv", columns, *again)
    header, _, row = findings.make_fitted_rivals().splitlines()
    assert header.endswith("10,000 samples, 20 epochs | fewer samples, more epochs |")
    assert row == "| LeNet | for ConvNeXt | 50.0 (training 80) | 51.0 |"


def test_carriers_have_a_row_for_each_network_and_its_directions(folder):
    columns = "directions,architecture,seed,data,test_set,accuracy,train_accuracy"
    cells = "images,clean,0.6,0.9", "carriers,clean,0.3,1", "carriers,poisoned,0.8,1"
    rows = [
        f"lenet_not_convmixer,{name},0,{cell}"
        for name in ("lenet", "convmixer")
        for cell in cells
    ]
    write(folder / "controversial/carriers/results.csv", columns, *rows)
    _, _, lenet, convmixer = findings.make_controversial_carriers().splitlines()
    numbers = "60.0 (training 90) | 30.0 | 80.0 |"
    assert lenet == f"| for LeNet, not ConvMixer | LeNet | {numbers}"
    assert convmixer == f"| for LeNet, not ConvMixer | ConvMixer | {numbers}"


def test_few_samples_have_accuracy_and_fit_by_index(folder):
    columns = "architecture,index,seed,train_accuracy,accuracy"
    rows = [
        "lenet,400,0,1,0.54",
        "lenet,400,1,0.9,0.56",
        "lenet,3,0,1,1",
        "mlp,3,0,1,1",
    ]
    write(folder / "nad_sweep/lenet_few_samples/results.csv", columns, *rows)
    header, _, accuracy, counts = details.make_few_samples().splitlines()
    assert header == "| NAD | 3 | 400 |"
    assert accuracy == "| accuracy, % | 100.0 | 55.0 ± 1.4 |"
    assert counts == "| networks fitted | 1 of 1 | 1 of 2 |"


def test_blind_spots_are_told_apart_by_optimisers(folder, monkeypatch):
    spots = (("LeNet", "lenet", "", "a"), ("ConvNeXt", "convnext", "scale=1", "b"))
    monkeypatch.setattr(findings, "BLIND_SPOTS", spots)
    run = folder / "anatomy/initial_scale"
    untrained = ["lenet,,0,0.8", "lenet,,1000,0.004"]
    for scale in ("0.1", "1"):
        untrained.append(f"convnext,scale={scale},0,{scale}")
        untrained.append(f"convnext,scale={scale},1000,0.1")
    write(run / "response.csv", "network,variant,index,response", *untrained)
    columns = "network,variant,optimiser,index,seed,train_accuracy,accuracy"
    trained = [
        "lenet,,SGD,1000,0,0.7,0.5",
        "lenet,,SGD,400,0,1,1",
        "convnext,scale=1,AdamW,1000,0,1,0.998",
        "convnext,scale=0.1,AdamW,1000,0,1,0.7",
    ]
    write(run / "results.csv", columns, *trained)
    _, _, lenet, convnext = findings.make_blind_spots().splitlines()
    assert lenet == "| LeNet | a | 0.5 | 50.0 (training 70) | – | – |"
    assert convnext == "| ConvNeXt | b | 10.0 | – | – | 99.8 |"


def test_earlier_nads_have_a_row_per_network(folder, monkeypatch):
    spots = (("LeNet", "lenet", "", "a"), ("ConvNeXt", "convnext", "scale=1", "b"))
    monkeypatch.setattr(findings, "BLIND_SPOTS", spots)
    run = folder / "anatomy/initial_scale"
    untrained = []
    for network in ("lenet,", "convnext,scale=1"):
        untrained += [f"{network},0,0.8", f"{network},200,0.4", f"{network},400,0.2"]
    write(run / "response.csv", "network,variant,index,response", *untrained)
    columns = "network,variant,optimiser,index,seed,train_accuracy,accuracy"
    trained = []
    for index in (200, 400):
        trained.append(f"lenet,,SGD,{index},0,0.7,0.5")
        trained.append(f"convnext,scale=1,AdamW,{index},0,1,0.998")
    write(run / "results.csv", columns, *trained)
    _, _, first, *_, last = findings.make_earlier_nads().splitlines()
    assert first == "| 200 | LeNet | 50.0 | 50.0 (training 70) | – | – |"
    assert last == "| 400 | ConvNeXt | 25.0 | – | – | 99.8 |"


def test_position_embeddings_have_a_row_per_nad(folder):
    run = folder / "anatomy/initial_scale"
    columns = "network,variant,index,response,alignment,alignment_std"
    untrained = [
        f"vit_small,position_std={std},{index},{response},0.4,0.2"
        for std in ("0.02", "1")
        for index, response in ((0, 2), (200, 0.02), (1000, 0.01))
    ]
    write(run / "response.csv", columns, *untrained)
    columns = "network,variant,optimiser,index,seed,train_accuracy,accuracy,steps"
    trained = [
        'vit_small,position_std=0.02,"SGD, learning rate 0.1",200,0,1,0.998,5',
        "vit_small,position_std=0.02,AdamW,1000,0,0.9,0.8,",
        "vit_small,position_std=1,SGD,1000,0,0.5,0.49,",
    ]
    write(run / "results.csv", columns, *trained)
    _, _, *rows = findings.make_position_embeddings().splitlines()
    assert rows == [
        "| 0.02 | 200 | 1.0 | 0.4 ± 0.2 | – | 99.8 | – | – | – |",
        "| 0.02 | 1000 | 0.5 | 0.4 ± 0.2 | – | – | – | – | 80.0 (training 90) |",
        "| 1 | 1000 | 0.5 | 0.4 ± 0.2 | 49.0 (training 50) | – | – | – | – |",
    ]


def test_hours_on_a_gpu_are_steps_times_milliseconds(root):
    """Scale paper: 104 ResNet-18, 50 epochs of 391 steps."""
    rows = speed.make_forecast().splitlines()
    (poison,) = [row for row in rows if "`poison`" in row]
    steps = 104 * 50 * 391
    eager = f"{steps * 9.8e-3 / 3600:.1f}"
    recorded = f"{steps * 3.3e-3 / 3600:.1f}"
    assert poison == f"| `poison` | 104 | 2.03 | {eager} | {recorded} | – |"
    (pairs,) = [row for row in rows if "`linear_pairs`" in row]
    assert pairs.endswith("| MLP (100, 20) |"), "which no GPU has measured"


def test_alterations_have_a_column_for_each_band_and_none_for_single_nads(folder):
    columns = "architecture,seed,alteration,band,changed,changed_per_norm"
    rows = []
    for network in findings.ALTERED:
        for alteration in ("removed", "moved"):
            rows.append(f"{network},0,{alteration},NADs 0–127,0.5,0.7")
            rows.append(f"{network},1,{alteration},NADs 0–127,0.7,0.9")
            rows.append(f"{network},0,{alteration},random,0.1,0.2")
            rows.append(f"{network},0,{alteration},NAD 0,0.9,0.9")
    write(folder / "altered/plain_images/results.csv", columns, *rows)
    head, _, removed, per_norm, moved, *_ = findings.make_alterations().splitlines()
    assert head == "|  | 0–127 | random |"
    assert removed == "| LeNet, removed: changed predictions (%) | 60 | 10 |"
    assert per_norm.endswith("| 0.8 | 0.2 |") and moved.endswith("| 60 | 10 |")


def test_rankings_stand_beside_those_that_need_no_network(folder):
    columns = "network,waves,ranking,learned_60,auc_60,learned_75,auc_75,error"
    rows = [
        "LeNet,130,low frequency first,29,0.88,9,1,",
        "LeNet,130,secant,29,0.97,9,0.99,0.15",
        "LeNet,130,gradient,29,0.53,9,0.48,0.31",
        "ViT,21,low frequency first,7,0.49,7,0.48,",
        "ViT,21,strides or patches,7,0.98,7,0.99,",
        "ViT,21,secant,7,1,7,1,0.14",
        "ViT,21,gradient,7,1,7,1,0.17",
    ]
    write(folder / "definitions/waves/results.csv", columns, *rows)
    _, _, sixty, seventy_five, vit, _ = estimator.make_estimands().splitlines()
    assert (
        sixty == "| LeNet | 60 % | 29 of 130 | 0.88 | – | 0.97 (0.15) | 0.53 (0.31) |"
    )
    assert seventy_five.endswith("| 9 of 130 | 1.00 | – | 0.99 (0.15) | 0.48 (0.31) |")
    assert vit.endswith("| 7 of 21 | 0.49 | 0.98 | 1.00 (0.14) | 1.00 (0.17) |")


def test_the_order_in_time_is_that_of_networks_trained_on_clean_images(folder):
    columns = "carriers,seed,epoch,test_set,energy,accuracy"
    rows = []
    for seed, accuracy in ((0, 0.2), (1, 0.4)):
        rows.append(f"none,{seed},1,clean,1,{accuracy}")
        rows.append(f"none,{seed},0,first 8 components,0.7,0.1")
        rows.append(f"none,{seed},1,first 8 components,0.7,{accuracy / 2}")
        rows.append(f"none,{seed},0,clean,1,0.1")
        rows.append(f"30,{seed},0,clean,1,0.9")
    write(folder / "order_in_time/lenet/results.csv", columns, *rows)
    head, _, whole, first = findings.make_order_in_time().splitlines()
    assert head.endswith("| epoch 0 | epoch 1 |")
    assert whole == "| everything | 100 | 10.0 ± 0.0 | 30.0 ± 14.1 |"
    assert first.endswith("principal components | 70 | 10.0 ± 0.0 | 15.0 ± 7.1 |")


def test_losses_stand_beside_training_accuracies_of_unfitted_networks(
    folder, monkeypatch
):
    networks = {"A": "flip/a", "B": "flip/b"}
    monkeypatch.setattr(details, "FLIPPED_NETWORKS", networks)
    monkeypatch.setattr(details, "FLIPS", {"plain": "plain", "signs": "signs"})
    columns = "seed,images,train_accuracy,accuracy"
    rows = "0,plain,0.7,0.7", "1,plain,0.9,0.8", "0,signs,1,0.5", "1,signs,1,0.5"
    write(folder / "flip/a/results.csv", columns, *rows)
    write(folder / "flip/b/results.csv", columns, "0,plain,1,0.9", "0,signs,1,0.6")
    head, _, plain, signs = details.make_flips().splitlines()
    assert "| A (2 seeds), % |" in head and "| B (1 seed), % |" in head
    assert plain == "| plain | 75.0 (training 80) | – | 90.0 | – |"
    assert signs == "| signs | 50.0 | 25.0 ± 7.1 | 60.0 | 30.0 |"


def test_images_in_a_new_basis_have_a_column_for_each_network_and_size(folder):
    columns = "architecture,seed,images,accuracy"
    rows = "lenet,0,plain,0.6", "lenet,1,plain,0.8", "mlp_200_50,0,plain,0.5"
    write(folder / "flip/alignment_1000/results.csv", columns, *rows)
    write(folder / "flip/alignment_20000/results.csv", columns, "lenet,0,aligned,0.4")
    write(folder / "flip/alignment_50000/results.csv", columns, "lenet,0,aligned,0.5")
    write(folder / "flip/alignment_vgg11/results.csv", columns, "lenet,0,aligned,0.3")
    head, _, plain, aligned, _, other, *_ = findings.make_alignments().splitlines()
    assert other == "| onto VGG-11's NADs | – | – | 30.0 | – | – | – |"
    assert "| LeNet, 1,000 images | MLP, 1,000 images | LeNet, 20,000 images |" in head
    assert plain == "| as they are | 70.0 ± 14.1 | 50.0 | – | – | – | – |"
    assert aligned.endswith("| – | – | 40.0 | – | 50.0 | – |")


def test_scaled_images_have_a_row_for_each_basis_and_a_column_for_each_scale(folder):
    columns = "network,target,scale,seed,accuracy"
    rows = [
        f"{network},{target},{scale},{seed},0.{number}{seed}"
        for target in findings.SCALED_IMAGES
        for network in findings.ALIGNED_NETWORKS
        for number, scale in enumerate(findings.SCALES, 3)
        for seed in (0, 2)
    ]
    rows = [row for row in rows if not row.startswith("mlp_200_50,cosines")]
    write(folder / "alignment/scaled/results.csv", columns, *rows)
    head, _, in_place, _, cosines, *_, rotated = findings.make_scales().splitlines()
    assert "| LeNet, white | MLP, not scaled | MLP, by λ^(−1/4) |" in head
    numbers = 2 * "31.0 ± 1.4 | 41.0 ± 1.4 | 51.0 ± 1.4 | "
    assert in_place == f"| where they are | {numbers}".rstrip()
    assert cosines.endswith("| 51.0 ± 1.4 | – | – | – |")
    assert rotated.startswith("| onto a random basis | 31.0 ± 1.4 |")


def test_carriers_are_judged_on_clean_images(folder):
    columns = "seed,data,index,test_set,accuracy"
    rows = ["0,images,-1,clean,0.7"]
    for index in (0, 30, 90, 330):
        rows.append(f"0,carriers,{index},clean,0.6")
        rows.append(f"0,carriers,{index},poisoned,0.9")
    for run in findings.POISONED:
        write(folder / f"poison/{run}/results.csv", columns, *rows)
    _, _, photographs, *_ = findings.make_carriers().splitlines()
    assert photographs == "| photographs | 70.0 | 60.0 | 60.0 | 60.0 | 60.0 |"


def test_gaps_have_means_over_seeds_and_only_the_papers_size(folder):
    columns = "network,kind,size,index,seed,clean,gap,carriers,erased,follows"
    write(
        folder / "carriers/photographs/results.csv",
        columns,
        "lenet,replaced,0.05,0,0,0.2,0.8,0.9,0.3,0.1",
        "lenet,replaced,0.05,0,1,0.4,0.8,0.9,0.3,0.1",
        "lenet,erased,0.05,0,0,0.5,,0.6,0.6,0.04",
        "lenet,erased,0.5,0,0,0.1,,0.98,0.2,0.9",
        "lenet,erased,0.5,30,0,0.1,,0.98,0.2,0.8",
    )
    _, _, erased, replaced = findings.make_gaps().splitlines()
    assert erased == "| LeNet | 1 | erased | 0 | 50.0 | – | 60.0 | 60.0 | 4.0 |"
    assert "| 2 | replaced | 0 | 30.0 ± 14.1 | 80.0 ± 0.0 | 90.0" in replaced
    _, _, small, large = findings.make_carrier_sizes().splitlines()
    assert small == "| 0.05 | 4.0 | – |"
    assert large == "| 0.5 | 90.0 | 80.0 |"


def test_a_checkerboard_costs_what_the_same_seed_loses(folder):
    columns = "network,images,seed,plain_alignment,alignment,train_accuracy,accuracy"
    lines = ["lenet,plain,0,9,9,0.7,0.6", "lenet,plain,1,9,9,0.7,0.7"]
    for network in ("lenet", "vgg11_quarter", "resnet18_quarter"):
        lines.append(f"{network},checkered,0,9,0.5,0.7,0.5")
    lines.append("lenet,checkered,1,9,0.5,0.7,0.6")
    write(folder / "checkerboard/photographs/results.csv", columns, *lines)
    for name in ("vgg11_quarter", "resnet18_quarter"):
        run = folder / f"flip/{name}/results.csv"
        write(
            run,
            "architecture,images,seed,train_accuracy,accuracy",
            f"{name},plain,0,1,0.8",
        )
    _, _, lenet, vgg, _ = details.make_checkerboards().splitlines()
    assert lenet.startswith("| LeNet, 20,000 images | 2 | 9 | 0.5 | 65.0 (training 70)")
    assert lenet.endswith("| 10.0 ± 0.0 |")
    assert vgg.endswith("| 80.0 | 50.0 (training 70) | 30.0 |")


def test_directions_made_from_nad_1000_have_their_response_in_per_cent(folder):
    rows = [
        f"{downsampling},{direction},0,0.96,0.027,0.75,0.506"
        for _, downsampling, direction, _ in findings.BORDERS
    ]
    columns = "downsampling,direction,seed,border,response,train_accuracy,accuracy"
    write(folder / "border/lenet/results.csv", columns, *rows)
    first = findings.make_borders().splitlines()[2]
    assert first == "| LeNet | NAD 1000 | 96 | 2.7 | 50.6 (training 75) |"


def test_directions_are_counted_by_the_response_to_them(folder, monkeypatch):
    shares = np.array([1, 0.25, 0.15, 0.05])  # of the response to NAD 0
    nads = SimpleNamespace(eigenvalues=shares**2)
    first = 1 / (shares**2).mean() ** 0.5
    monkeypatch.setattr(findings, "load", lambda name: nads)
    monkeypatch.setattr(findings, "RUNS_OF_LENET", ["damping_0.1", "six"])
    monkeypatch.setattr(findings, "RESPONSES", (0, 10, 30, 100))
    columns = "network,direction,seed,response,train_accuracy,accuracy"
    rows = [
        f"lenet,a_not_b,0,{0.05 * first},0.9,0.5",
        f"lenet,a_not_b,1,{0.05 * first},1,0.52",
        f"lenet,lenet_not_a,0,{0.5 * first},1,1",
        f"lenet,lenet_nad_1,0,{0.05 * first},1,1",
        f"other,b_not_a,0,{0.05 * first},1,1",
    ]
    write(folder / "controversial/six/results.csv", columns, *rows)
    row = f"lenet,a_not_b,0,{0.25 * first},1,0.9"
    write(folder / "controversial/damping_0.1/results.csv", columns, row)
    columns = "downsampling,direction,seed,response,train_accuracy,accuracy"
    rows = ["pool,NAD 1000,0,0.01,0.7,0.5", "pool,frame,0,0.15,0.9,0.8"]
    write(folder / "border/lenet/results.csv", columns, *rows)
    rows = ["0,1,1", "1,1,0.97", "3,0.8,0.55"]
    columns = "index,train_accuracy,accuracy"
    write(folder / "nad_sweep/lenet_precise/results.csv", columns, *rows)
    assert findings.make_response_ranges().splitlines()[2:] == [
        "| 0 to 10 | 1 | 55 to 55 | 0 | 1 | 51 to 51 | 0 |",
        "| 10 to 30 | 1 | 97 to 97 | 1 | 2 | 80 to 90 | 1 |",
        "| 30 to 100 | 1 | 100 to 100 | 1 | 1 | 100 to 100 | 1 |",
    ]


def test_lanes_have_milliseconds_and_the_difference_of_losses(folder):
    columns = "network,precision,difference,eager,recorded,4 lanes,16 lanes,4 processes"
    rows = ["lenet,float32,0.00000009,2.26,0.36,0.157,0.119,0.342"]
    write(folder / "devices/h200_recorded/results.csv", columns, *rows)
    _, _, lenet = speed.make_lanes().splitlines()
    assert lenet == "| lenet | float32 | 9e-08 | 2.3 | 0.36 | 0.16 | 0.12 | 0.34 |"
