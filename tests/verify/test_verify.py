"""The command `verify` on simulated runs: folders and commits, verdicts by experiment
and network, exit statuses, and the papers' values."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from structure import ROOT

from pipeline.networks import NETWORKS
from pipeline.project.errors import InputError
from pipeline.report import published
from pipeline.verify import __main__ as verify
from pipeline.verify import runs
from pipeline.verify.agreement import AGREES, DIFFERS, UNJUDGED

N = 4000
GRIDS = {
    "fourier": {
        "k_row": (-8, -4, 0),
        "k_col": (-16, -12, -8, -4),
        "test_set": ("all",),
    },
    "linear_pairs": {"index_1": (1, 32, 1000), "index_2": (1, 32, 1000)}
    | {"test_set": ("all", "first", "second")},
    "image_pairs": {"index": (1, 1000), "test_set": ("all", "images")},
}
SPECIFICATIONS = {
    "lenet": {"network": NETWORKS["lenet"]},
    "mlp_100_20": {"network": NETWORKS["mlp"], "hidden": [100, 20]},
}


def results(rng, kind, seeds):
    """Results of two networks, of which half the accuracies are at 100 per cent, the
    others spread by one point."""
    columns = {"architecture": ("lenet", "mlp_100_20"), "seed": seeds} | GRIDS[kind]
    rows = pd.MultiIndex.from_product(columns.values(), names=columns).to_frame(
        index=False
    )
    low = np.arange(len(rows)) % (len(rows) // 2 // len(seeds)) % 2 == 0
    part = np.where(low, 0.75 + 0.01 * rng.standard_normal(len(rows)), 0.9995)
    return rows.assign(accuracy=rng.binomial(N, part) / N, n=N, train_accuracy=1.0)


def write(
    folder,
    seed=0,
    seeds=3,
    scale="laptop",
    digest="abc",
    change=lambda kind, rows: rows,
):
    """The reports of a simulated run in folder/reports; change: what is done to each
    experiment's results."""
    rng = np.random.default_rng(seed)
    reports = folder / "reports"
    for kind in GRIDS:
        rows = change(kind, results(rng, kind, range(seed, seed + seeds)))
        (reports / kind).mkdir(parents=True)
        rows.to_csv(reports / kind / "results.csv", index=False)
        networks = rows["architecture"].unique()
        members = {name: {"specification": SPECIFICATIONS[name]} for name in networks}
        about = {"plan": {"experiment": kind, "scale": scale, "members": members}}
        (reports / kind / "run.json").write_text(json.dumps(about))
    (reports / "images.json").write_text(
        json.dumps({"name": "CIFAR-10", "digest": digest})
    )
    value = 0.0019 * (1 + 0.01 * rng.standard_normal())
    lenet = {"first_singular_value": value, "relative_error": 0.1, "networks": 64}
    nads = {"lenet": lenet | {"estimand": "secant", "input": [1, 32, 32]}}
    (reports / "nads.json").write_text(json.dumps(nads))
    return folder


@pytest.fixture
def compared(tmp_path, capsys):
    """Gives the exit status of a run beside another, and by name the lines on that and
    on the published values."""

    def compare(seeds_there=3, **of_the_run):
        other = write(tmp_path / "a", seeds=seeds_there)
        status = verify.main(str(other), write(tmp_path / "b", **of_the_run))
        parts = capsys.readouterr().out.split("beside")[1:]
        lines = [
            [line for line in part.splitlines() if line.startswith("  ")]
            for part in parts
        ]
        return status, *({line[14:44].strip(): line for line in part} for part in lines)

    return compare


def verdicts(lines):
    return {name: line[2:13].strip() for name, line in lines.items()}


def test_two_runs_of_other_seeds_agree(compared):
    status, other, paper = compared(seed=100)
    names = [
        f"{kind} {network}" for kind in GRIDS for network in ("lenet", "mlp_100_20")
    ]
    assert (status, verdicts(other)) == (0, dict.fromkeys(["nads", *names], AGREES))
    assert "12 accuracies, 3 and 3 seeds, rms difference" in other["fourier lenet"]
    assert verdicts(paper) == dict.fromkeys(GRIDS, UNJUDGED) | {"nads": AGREES}
    assert "scale laptop here, paper there: unequal sizes" in paper["fourier"]


def test_one_cell_that_moved_is_named_by_its_experiment_and_network(compared):
    def lower(kind, rows):
        if kind == "linear_pairs":
            cell = "architecture == 'lenet' and index_1 == 1 and index_2 == 32"
            rows.loc[rows.eval(f"{cell} and test_set == 'second'"), "accuracy"] -= 0.4
        return rows

    status, other, _ = compared(seed=100, change=lower)
    found = verdicts(other)
    differing = [name for name, verdict in found.items() if verdict == DIFFERS]
    assert (status, differing) == (1, ["linear_pairs lenet"])
    line = other["linear_pairs lenet"]
    assert re.search("largest: −.* at index_1 1, index_2 32, second", line)


def test_one_seed_in_both_runs_is_not_judged(compared):
    status, other, _ = compared(1, seed=100, seeds=1)
    assert (status, verdicts(other)["fourier lenet"]) == (0, UNJUDGED)


def test_other_images_and_other_cells_are_not_compared(compared):
    def elsewhere(kind, rows):
        return rows.assign(k_row=5) if kind == "fourier" else rows

    status, other, _ = compared(seed=100, digest="def", change=elsewhere)
    assert (status, verdicts(other)["linear_pairs lenet"]) == (0, AGREES)
    assert verdicts(other)["image_pairs"] == UNJUDGED
    assert "images CIFAR-10 (def) here, CIFAR-10 (abc) there" in other["image_pairs"]
    assert verdicts(other)["fourier lenet"] == UNJUDGED
    assert "no cell in common" in other["fourier lenet"]


def test_what_cannot_be_compared_is_said_in_one_sentence(tmp_path, monkeypatch):
    base = write(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="'nothing' is neither a folder nor a commit"):
        verify.main("nothing", base)
    (base / "reports" / "nads.json").unlink()
    with pytest.raises(
        InputError, match="nads.json is missing; `python -m pipeline.estimate`"
    ):
        verify.main(str(base), base)
    words = [sys.executable, "-m", "pipeline.verify", str(tmp_path), str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    sentence = f"none of the folders in {tmp_path} has a run.json beside its tables"
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        f"error: {sentence}\n",
    )


def test_a_commit_is_another_run(tmp_path, monkeypatch, capsys):
    def git(*words):
        return subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], check=True
        )

    write(tmp_path)
    write(tmp_path / "kept", seed=7)
    monkeypatch.chdir(tmp_path)
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "A run")):
        git(*words)
    # A run is compared with what is committed at its own place.
    for place in (Path("reports"), Path("kept/reports"), tmp_path / "reports"):
        assert verify.main("HEAD", place) == 0
        output = capsys.readouterr().out
        assert f"{place} beside HEAD (" in output and "rms difference 0.0" in output
    assert verify.main("HEAD~0", "HEAD") == 0, "two commits, without a folder"
    git("rm", "-q", "-r", "--cached", "reports")
    git("commit", "-q", "-m", "None")
    with pytest.raises(
        InputError, match="'HEAD' is neither a folder nor a commit that holds rep"
    ):
        verify.main("HEAD", Path("reports"))


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, AGREES), (0.15, DIFFERS)])
def test_full_size_is_compared_with_the_published_values(compared, shift, verdict):
    table = published.read_published("fourier")
    table = table[(table["k_row"] % 4 == 0) & (table["k_col"] % 4 == 0)]
    rng = np.random.default_rng(1)

    def ours(kind, rows):
        if kind != "fourier":
            return rows
        seeds = pd.concat([table.assign(seed=seed) for seed in range(3)])
        noise = 0.02 * rng.standard_normal(len(seeds)) * (seeds["lenet"] > 52)
        accuracy = (seeds["lenet"] / 100 + noise + shift).clip(0, 1)
        constant = dict(
            architecture="lenet", test_set="all", n=10_000, train_accuracy=1.0
        )
        return seeds[["k_row", "k_col", "seed"]].assign(accuracy=accuracy, **constant)

    status, _, paper = compared(scale="paper", change=ours)
    assert verdicts(paper)["fourier lenet"] == verdict
    assert status == int(verdict == DIFFERS)
    count = (table["k_row"] != 0).sum()
    assert f"{count} accuracies, 3 and 1 seeds" in paper["fourier lenet"]


def test_networks_of_variants_stand_beside_the_published_ones_of_full_width(
    tmp_path, capsys
):
    """The folder's own LeNet counts, and of two folders of the narrow VGG-11 the larger
    one; LeNet of three channels is another network."""
    run = write(tmp_path / "a", scale="paper")
    table = published.read_published("fourier")
    cells = dict(seed=0, test_set="all", n=10_000, train_accuracy=1.0)
    rows = table.assign(architecture="thin", accuracy=table["vgg11"] / 100, **cells)
    other = rows.assign(architecture="lenet", accuracy=0.1)
    specifications = {"thin": {"network": NETWORKS["vgg11"], "width": 0.25}}
    specifications["lenet"] = specifications["colour"] = {"network": NETWORKS["lenet"]}
    members = {name: {"specification": s} for name, s in specifications.items()}
    plan = {"experiment": "fourier", "scale": "paper", "members": members}
    plan["members"]["colour"]["input"] = [3, 32, 32]
    for name, variant in (
        ("thin", pd.concat([rows, other, other.assign(architecture="colour")])),
        ("few", rows[:9].assign(accuracy=0.1)),
    ):
        folder = run / "reports/fourier" / name
        folder.mkdir()
        variant.to_csv(folder / "results.csv", index=False)
        (folder / "run.json").write_text(json.dumps({"plan": plan}))
    verify.main(str(run), run)
    lines = capsys.readouterr().out.split("beside")[-1].splitlines()
    thin, lenet, colour = (
        next(x for x in lines if f"fourier {name}" in x) for name in specifications
    )
    assert "no cell in common" in colour
    assert "1 and 1 seeds, rms difference 0.0 points" in thin, (
        "the larger of its two runs"
    )
    assert "1 and 1 seeds" in lenet, (
        "144 accuracies of one seed, not the few of three seeds"
    )


def test_published_tables_are_results(tmp_path):
    names = pd.DataFrame(
        {"architecture": ["ours", "large"], "network": ["lenet", "resnet18"]}
    )
    tables = {name: runs.make_published_results(name, names) for name in runs.PUBLISHED}
    for rows in tables.values():
        assert len(rows) and rows["accuracy"].between(0.1, 1).all()
    rows = tables["linear_pairs"].set_index(["architecture", "coordinates", "test_set"])
    assert rows.loc[("large", "index_1 1, index_2 1", "second"), "accuracy"] == 0.804
    assert (tables["fourier"]["k_row"] != 0).all()
    flipped = tables["flip"].set_index(["architecture", "coordinates"])["accuracy"]
    assert (
        flipped["ours", "images plain"] == 0.69
        and flipped["ours", "images flipped"] == 0.48
    )
    nads = runs.make_published_run(runs.read_folder(write(tmp_path))).nads
    assert nads["lenet"]["first_singular_value"] == pytest.approx(0.00189)
