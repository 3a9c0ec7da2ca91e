"""What the study of blind spots measures, against closed forms."""

import numpy as np
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
    ]
    specification = anatomy.variants(["vit_small"])[1].specification
    assert specification["position_std"] == 0.2 and specification["width"] == 64


def test_the_plan_trains_along_the_indices_with_one_sigma():
    plan = anatomy.planned(["convnext", "vit_small"])
    assert plan.settings.sigma == {"convnext": 1.0, "vit_small": 1.0}
    assert {member.grid.indices for member in plan.members.values()} == {
        anatomy.INDICES
    }
    assert (
        plan.train_samples == 10_000 and plan.members["convnext"].training.epochs == 20
    )


def test_a_table_that_grows_on_disk_knows_its_rows_after_a_restart(tmp_path):
    path = tmp_path / "rows.csv"
    row = {"network": "lenet", "variant": "", "index": 400, "accuracy": 0.5}
    table = in_memory.Rows(path, keys=3)
    assert not table.holds("lenet", "", 400)
    table.add(row)
    table.add(row | {"index": 200})
    for again in (table, in_memory.Rows(path, keys=3)):
        assert again.holds("lenet", "", 400) and again.holds("lenet", "", 200)
        assert not again.holds("lenet", "", 1000) and not again.holds(
            "lenet", "scale=1", 400
        )
    assert path.read_text().splitlines()[1].split(",")[2] == "200"
