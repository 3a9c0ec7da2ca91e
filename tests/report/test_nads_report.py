"""What the figures, the table and the finding on the NADs themselves show."""

import dataclasses

import numpy as np
from small_run import LENET, NARROW, list_captions, make_nads, save_nads

from pipeline.nads.estimator import Estimator, NADsPlan, Request, Source
from pipeline.networks import NETWORKS
from pipeline.report import nads

BASIS = np.eye(4)
LOGREG = {"network": NETWORKS["logreg"]}
MLP = {"network": NETWORKS["mlp"], "hidden": [7]}


def make_run(whole, estimand="secant", compare=False, **networks):
    """A run with other NADs; networks: by name, their request and the NADs."""
    requests = {}
    found = {}
    for name, (specification, source, estimated) in networks.items():
        requests[name] = Request(specification, source)
        found[name] = estimated
    estimator = Estimator(estimand, "plain", 50.0, "many", False, compare)
    plan = NADsPlan("smoke", 7, estimator, requests)
    return dataclasses.replace(whole, plan=plan, nads=found)


def test_networks_without_a_first_nad_have_no_gallery_and_no_overlap(
    whole, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    save_nads("a.gradient", make_nads(np.roll(BASIS, 1, 0), error=0.3))
    equal = np.array([1.0, 1.0, 1.0, 0.995])
    noise = np.array([0.28, 0.53, 0.74, 1.0])
    run = make_run(
        whole,
        compare=True,
        mine=(LENET, Source(file="mine.npy"), make_nads(BASIS, networks=0)),
        a=(LENET, Source(networks=64), make_nads(BASIS, networks=32)),
        flat=(
            LOGREG,
            Source(networks=2),
            make_nads(BASIS, networks=2, eigenvalues=equal),
        ),
        noise=(MLP, Source(networks=2), make_nads(BASIS, networks=2, overlap=noise)),
        first=(
            NARROW,
            Source(networks=64, input=(1, 2, 2), first=4),
            make_nads(BASIS),
        ),
    )
    section = nads.make_section(run)
    assert list(list_captions(section)) == [
        "nad_spectra",
        "nad_gallery_mine",
        "nad_gallery_a",
        "nad_gallery_first",
    ]
    _, _, lenet, flat, *_ = section.table
    # √λ of the first NAD is 2, and an error of 0.5 in 4 is one of 0.125 in its root.
    assert lenet[5:] == ["2.8", "0.80 (1.00)", "1.00", "200 ± 12 (300, 100)", "0.189"]
    assert flat[5:] == ["1.0", "–", "–", "100 ± 25 (300, 100)", "–"]
    text = "Untrained, LeNet responds 2.8 times as much to its first NAD as to its last"
    assert str(section.finding) == f"{text} (32 untrained networks)."
    _, imported, gallery, _ = (picture.figure for picture in section.pictures)
    titles = [panel.get_title() for panel in gallery.axes]
    assert titles[:2] == ["0\n≈ 0–1", "1\n≈ 0–1"]
    titles = [panel.get_title() for panel in imported.axes]
    assert titles[:2] == ["0", "1"]


def test_gradients_are_not_compared_with_published_secants(whole):
    found = make_nads(BASIS, estimand="gradient")
    run = make_run(whole, "gradient", a=(LENET, Source(networks=64), found))
    section = nads.make_section(run)
    point = "at a new standard-normal image for each network"
    assert section.caption == f"scale smoke · gradient, {point}"
    names = [picture.name for picture in section.pictures]
    assert names == ["nad_spectra", "nad_gallery_a"]
    assert "published" not in section.table[0]


def test_the_finding_names_a_network_without_a_first_direction(whole):
    found = make_nads(BASIS, networks=2, eigenvalues=np.ones(4))
    run = make_run(whole, a=(LOGREG, Source(networks=2), found))
    text = "LogReg prefers no direction (2 untrained networks)."
    assert str(nads.make_finding(run)) == text


def test_there_is_no_finding_if_no_nads_were_estimated(whole):
    found = make_nads(BASIS, networks=0)
    run = make_run(whole, a=(LENET, Source(file="mine.npy"), found))
    assert nads.make_finding(run) is None


def test_the_decline_to_an_eigenvalue_of_zero_has_a_limit():
    found = make_nads(BASIS, eigenvalues=np.array([1.0, 1.0, 1.0, -1e-17]))
    assert nads.format_decline(found) == "more than 10⁶"
