"""What the study of blind spots measures, against closed forms."""

import drawing
import numpy as np
import pandas as pd
import pytest

from studies import anatomy, in_memory


def test_alignment_of_a_linear_network_is_that_of_its_inputs(monkeypatch):
    """∇_θ f = x: N labels align with (N ε² + σ² (D − 1)) / (ε² + σ² (D − 1)) on
    average."""
    monkeypatch.setattr(
        anatomy.config,
        "read",
        lambda: {"architectures": {"l": {"network": "logreg"}}},
    )
    v = np.eye(1024, dtype=np.float32)[3]
    found = anatomy.alignment(anatomy.Variant("l", ()), v, seed=0)
    assert found == pytest.approx((anatomy.KERNEL_SAMPLES + 1023) / 1024, rel=0.06)


def test_variants_change_the_arguments_of_the_network():
    names = [variant.text for variant in anatomy.variants(["convnext", "lenet"])]
    assert names == [
        "scale=1",
        "scale=1e-06",
        "scale=0.1",
        "scale=0.01",
        "scale=0.001",
        "",
        "downsampling=none",
    ]
    specification = anatomy.variants(["vit_small"])[1].specification
    assert specification["position_std"] == 0.2 and specification["width"] == 64


def test_some_architectures_have_more_learning_rates():
    assert list(anatomy.optimisers("convnext")) == list(anatomy.OPTIMISERS)
    rates = [change.get("lr") for change in anatomy.optimisers("vit_small").values()]
    assert rates == [None, 0.1, 1e-3, 0.1, 0.02]


def test_the_plan_trains_along_the_indices_with_one_sigma():
    plan = anatomy.make_plan(["convnext", "vit_small"], (200, 5))
    assert plan.settings.sigma == {"convnext": 1.0, "vit_small": 1.0}
    assert {member.grid.indices for member in plan.members.values()} == {(200, 5)}
    training = plan.members["convnext"].training
    assert plan.train_samples == 10_000 and training.epochs == 20
    batches = -(-plan.train_samples // training.batch_size)
    assert training.epochs * batches == anatomy.LAST


def count_and_repeat(context, key):
    """The row of a job of the next test, which each call to this adds a line for."""
    with open(context, "a") as log:
        log.write(f"{key}\n")
    network, variant, index = key
    return {"network": network, "variant": variant, "index": index, "accuracy": 0.5}


def test_a_table_that_grows_on_disk_knows_its_rows_after_a_restart(tmp_path):
    path = tmp_path / "rows.csv"
    log = tmp_path / "log"
    keys = [("lenet", "", 400), ("lenet", "scale=1", 400), ("lenet", "", 200)]
    for count in (1, 3, 3):
        jobs = {key: key for key in keys[:count]}
        table = in_memory.complete(path, count_and_repeat, jobs, log)
        assert len(table) == count
    assert sorted(log.read_text().splitlines()) == sorted(map(str, keys))
    rows = path.read_text().splitlines()[1:]
    assert sorted(rows) == [
        "lenet,,200,0.5",
        "lenet,,400,0.5",
        "lenet,scale=1,400,0.5",
    ]


def test_the_figure_has_untrained_networks_beside_trained_ones():
    """One scale, of which SGD fits one network of two, and LeNet as a control."""
    untrained = pd.DataFrame(
        [
            ("convnext", "scale=0.1", 0, 0.4, 8.0, 1.0),
            ("convnext", "scale=0.1", 1000, 0.1, 1.0, 0.5),
            ("lenet", "", 0, 2.0, 1.2, 0.1),
            ("lenet", "", 1000, 0.02, 0.5, 0.1),
        ],
        columns="network variant index response alignment alignment_std".split(),
    )
    results = pd.DataFrame(
        [
            ("convnext", "scale=0.1", "SGD", 1000, 0, 0.7, 0.6),
            ("convnext", "scale=0.1", "SGD", 1000, 1, 1.0, 0.9),
            ("convnext", "scale=0.1", "SGD", 400, 0, 1.0, 1.0),
            ("lenet", "", "SGD with momentum", 1000, 0, 1.0, 0.5),
        ],
        columns="network variant optimiser index seed train_accuracy accuracy".split(),
    )
    axes = anatomy.make_figure(results, untrained).axes
    response, of_lenet, _, kernel, _, _, trained, lenet, vit = axes
    points = [line.get_xydata().tolist() for line in response.get_lines()]
    assert points == [[[1, 25]]]
    assert of_lenet.get_lines()[0].get_xydata().tolist() == [[0, 1]]
    points, whiskers = drawing.curves(kernel)["along NAD 0"]
    assert points == [[1, 8]] and whiskers[0] == [1, 7, 9]
    points = {}
    for line in trained.get_lines():
        hollow = line.get_markerfacecolor() == "white"
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):
            points[round(float(x), 2), float(y)] = hollow
    assert points[0.75, 60] and not points[0.75, 90], "each seed of SGD"
    fitted = [tuple(point) for line in lenet.get_lines() for point in line.get_xydata()]
    assert (0, 50) in fitted
    assert [text.get_text() for text in vit.get_xticklabels()][0] == "1"
    legend = [text.get_text() for text in trained.get_legend().get_texts()]
    assert legend == [*anatomy.OPTIMISERS]


def test_the_steps_figure_shows_each_seed_by_scale_and_what_was_never_learned():
    results = pd.DataFrame(
        [
            ("convnext", "scale=1", "SGD", 200, 1.0, 240),
            ("convnext", "scale=1", "SGD", 400, 1.0, 500),
            ("convnext", "scale=1", "AdamW", 400, 1.0, 350),
            ("convnext", "scale=0.01", "SGD", 400, 0.6, np.nan),
            ("convnext", "scale=0.01", "SGD", 400, 1.0, np.nan),
            ("lenet", "", "SGD", 400, 0.6, np.nan),
        ],
        columns="network variant optimiser index train_accuracy steps".split(),
    )
    first, second = anatomy.make_steps_figure(results).axes
    assert [panel.get_title() for panel in (first, second)] == ["NAD 200", "NAD 400"]
    points = set()
    for line in second.get_lines():
        if line.get_linestyle() == "None":
            hollow = line.get_markerfacecolor() == "white"
            name = line.get_color()
            for x, y in line.get_xydata():
                points.add((name, round(float(np.log10(x))), float(y), hollow))
    sgd, _, adamw = (look["color"] for look in anatomy.style.CURVES[:3])
    assert points == {
        (sgd, 0, 500, False),
        (adamw, 0, 350, False),
        (sgd, -2, anatomy.NEVER, True),
        (sgd, -2, anatomy.NEVER, False),
    }
    (predicted,) = (
        line for line in second.get_lines() if line.get_label() == "predicted (SGD)"
    )
    assert predicted.get_xydata()[-1] == pytest.approx([1, 500])
    assert predicted.get_ydata()[0] == pytest.approx(anatomy.LAST)
