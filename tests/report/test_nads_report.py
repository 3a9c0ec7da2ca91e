"""What the figures, the table and the finding on the NADs themselves show."""

import dataclasses

import numpy as np
from small_run import LENET, NARROW, captions, save
from small_run import nads as arrays

from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.networks import NETWORKS
from pipeline.project import artifacts
from pipeline.report import nads


def run_of(whole, members, compare=True, estimand="secant"):
    """A run with other NADs; members: by name the network, the source of its NADs,
    their arrays."""
    estimator = Estimator(estimand, "plain", 50.0, "many", False, compare)
    asked = {
        name: Request(network, source) for name, (network, source, _) in members.items()
    }
    arrays = {name: one for name, (*_, one) in members.items()}
    return dataclasses.replace(
        whole, plan=NADsPlan("smoke", 7, estimator, asked), nads=arrays
    )


def test_networks_without_a_first_nad_have_no_gallery_and_single_ones_no_overlap(
    whole, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    other = arrays(np.roll(np.eye(4), 1, 0), error=0.3)
    save(artifacts.NADS / "a.gradient.npz", **other)
    level = {"eigenvalues": np.array([1.0, 1.0, 1.0, 0.995]), "networks": 2}
    first = Source(networks=64, input=(1, 2, 2), first=4)
    members = {
        "mine": (LENET, Source(file="mine.npy"), arrays(np.eye(4), networks=0)),
        "a": (LENET, Source(networks=64), arrays(np.eye(4), networks=32)),
        "flat": (
            {"network": NETWORKS["logreg"]},
            Source(networks=2),
            arrays(np.eye(4), **level),
        ),
        "noise": (
            {"network": NETWORKS["mlp"], "hidden": [7]},
            Source(networks=2),
            arrays(np.eye(4), networks=2, overlap=np.array([0.28, 0.53, 0.74, 1.0])),
        ),
        "first": (NARROW, first, arrays(np.eye(4))),
    }
    section = nads.make_section(run_of(whole, members))
    below = captions(section)
    galleries = [f"nad_gallery_{name}" for name in ("mine", "a", "first")]
    assert [*below] == ["nad_spectra", *galleries]
    lenet, level = (
        dict(zip(section.table[0], section.table[row], strict=True)) for row in (2, 3)
    )
    # √λ₀ is 2, and an error of 0.5 in 4 is one of 0.125 in its root.
    assert [*lenet.values()][5:] == [
        "2.8", "0.80 (1.00)", "1.00", "200 ± 12 (300, 100)", "0.189"
    ]  # fmt: skip
    assert [*level.values()][5:] == ["1.0", "–", "–", "100 ± 25 (300, 100)", "–"]
    fall = "Untrained, LeNet responds 2.8 times as much to its first NAD as to its last"
    assert str(section.finding) == f"{fall} (32 untrained networks)."
    _, imported, gallery, _ = (picture.figure for picture in section.pictures)
    assert [panel.get_title() for panel in gallery.axes[1:3]] == [
        "1\n≈ 0–1",
        "2\nalone",
    ]
    assert [panel.get_title() for panel in imported.axes[:2]] == ["0", "1"]


def test_gradients_are_not_set_beside_published_secants(whole):
    found = arrays(np.eye(4), estimand="gradient")
    run = run_of(whole, {"a": (LENET, Source(networks=64), found)}, False, "gradient")
    section = nads.make_section(run)
    where = "at a new standard-normal image for each network"
    assert section.caption == f"scale smoke · gradient, {where}"
    assert [picture.name for picture in section.pictures] == [
        "nad_spectra",
        "nad_gallery_a",
    ]
    assert "published" not in section.table[0]


def test_the_finding_says_where_no_direction_comes_first_and_where_none_was_estimated(
    whole,
):
    level = arrays(np.eye(4), networks=2, eigenvalues=np.ones(4))
    run = run_of(
        whole, {"a": ({"network": NETWORKS["logreg"]}, Source(networks=2), level)}
    )
    assert (
        str(nads.make_finding(run))
        == "No direction comes first for LogReg (2 untrained networks)."
    )
    files = run_of(
        whole, {"a": (LENET, Source(file="mine.npy"), arrays(np.eye(4), networks=0))}
    )
    assert nads.make_finding(files) is None
    zero = arrays(np.eye(4), eigenvalues=np.array([1.0, 1, 1, -1e-17]))
    assert nads.format_decline(zero) == "more than 10⁶"
