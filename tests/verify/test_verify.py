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
from refusals import refused
from structure import ROOT

from pipeline.networks import NETWORKS
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
    "linear_pairs": {
        "index_1": (1, 32, 1000),
        "index_2": (1, 32, 1000),
        "test_set": ("all", "first", "second"),
    },
    "image_pairs": {"index": (1, 1000), "test_set": ("all", "images")},
}
TRAINING = {"lr": 0.5, "precision": "float32"}
TESTED = {"test_set": "all", "n": 10_000, "train_accuracy": 1.0}
SPECIFICATIONS = {
    "lenet": {"network": NETWORKS["lenet"]},
    "mlp_100_20": {"network": NETWORKS["mlp"], "hidden": [100, 20]},
}


def simulate_results(rng, experiment, seeds):
    """Results of two networks: half of the accuracies are at 100 %, the others vary by
    one point."""
    columns = {"architecture": ("lenet", "mlp_100_20"), "seed": seeds}
    columns |= GRIDS[experiment]
    index = pd.MultiIndex.from_product(columns.values(), names=columns)
    rows = index.to_frame(index=False)
    low = np.arange(len(rows)) % (len(rows) // 2 // len(seeds)) % 2 == 0
    share = np.where(low, 0.75 + 0.01 * rng.standard_normal(len(rows)), 0.9995)
    return rows.assign(accuracy=rng.binomial(N, share) / N, n=N, train_accuracy=1.0)


def write_table(folder, rows, plan):
    """Write results.csv and run.json."""
    folder.mkdir(parents=True)
    rows.to_csv(folder / "results.csv", index=False)
    plan = {"train_samples": 10_000, "settings": {}} | plan
    for name, member in plan["members"].items():
        plan["members"][name] = {"training": TRAINING} | member
    (folder / "run.json").write_text(json.dumps({"plan": plan}))


def write_run(
    folder, seed=0, seeds=3, scale="laptop", digest="abc", change=None, sigma=1.0
):
    """Write a simulated run to folder/reports.

    change: a function that changes the results of each experiment.
    """
    rng = np.random.default_rng(seed)
    reports = folder / "reports"
    for experiment in GRIDS:
        rows = simulate_results(rng, experiment, range(seed, seed + seeds))
        if change:
            rows = change(experiment, rows)
        members = {}
        for name in rows["architecture"].unique():
            training = TRAINING | {"precision": f"of seed {seed}"}
            specification = SPECIFICATIONS[name]
            members[name] = {"specification": specification, "training": training}
        settings = {"eps": 1.0, "sigma": {"lenet": sigma, "mlp_100_20": 1.0}}
        plan = {"experiment": experiment, "scale": scale, "members": members}
        plan["settings"] = settings
        write_table(reports / experiment, rows, plan)
    images = {"name": "CIFAR-10", "digest": digest}
    (reports / "images.json").write_text(json.dumps(images))
    lenet = {
        "first_singular_value": 0.0019 * (1 + 0.01 * rng.standard_normal()),
        "relative_error": 0.1,
        "networks": 64,
        "estimand": "secant",
        "input": [1, 32, 32],
    }
    (reports / "nads.json").write_text(json.dumps({"lenet": lenet}))
    return folder


@pytest.fixture
def compare(tmp_path, capsys):
    """A function that compares a run with another one and the published values.

    It returns the exit status, and for both comparisons the lines by what they are
    about.
    """

    def compare(other_seeds=3, **run):
        other = write_run(tmp_path / "a", seeds=other_seeds)
        status = verify.main(str(other), write_run(tmp_path / "b", **run))
        comparisons = []
        for text in capsys.readouterr().out.split("compared with")[1:]:
            lines = [line for line in text.splitlines() if line.startswith("  ")]
            comparisons.append({line[14:44].strip(): line for line in lines})
        return status, comparisons[0], comparisons[1]

    return compare


def verdicts(lines):
    return {name: line[2:13].strip() for name, line in lines.items()}


def test_two_runs_of_other_seeds_agree(compare):
    status, other, paper = compare(seed=100)
    expected = {"nads": AGREES}
    for experiment in GRIDS:
        expected[f"{experiment} lenet"] = AGREES
        expected[f"{experiment} mlp_100_20"] = AGREES
    assert status == 0
    assert verdicts(other) == expected
    assert "12 accuracies, 3 and 3 seeds" in other["fourier lenet"]
    assert verdicts(paper) == dict.fromkeys(GRIDS, UNJUDGED) | {"nads": AGREES}
    assert "scales: laptop, and paper" in paper["fourier"]


def test_one_cell_that_moved_is_named_by_its_experiment_and_network(compare):
    def lower(experiment, rows):
        if experiment == "linear_pairs":
            cell = "architecture == 'lenet' and index_1 == 1 and index_2 == 32"
            rows.loc[rows.eval(f"{cell} and test_set == 'second'"), "accuracy"] -= 0.4
        return rows

    status, other, _ = compare(seed=100, change=lower)
    assert status == 1
    for name, verdict in verdicts(other).items():
        assert verdict == (DIFFERS if name == "linear_pairs lenet" else AGREES)
    line = other["linear_pairs lenet"]
    assert re.search("largest: −.* at index_1 1, index_2 32, second", line)


def test_one_seed_in_both_runs_is_not_judged(compare):
    status, other, _ = compare(1, seed=100, seeds=1)
    assert status == 0
    assert verdicts(other)["fourier lenet"] == UNJUDGED


def test_other_images_and_other_cells_are_not_compared(compare):
    def move(experiment, rows):
        return rows.assign(k_row=5) if experiment == "fourier" else rows

    status, other, _ = compare(seed=100, digest="def", change=move)
    assert status == 0
    assert verdicts(other)["linear_pairs lenet"] == AGREES
    assert verdicts(other)["image_pairs"] == UNJUDGED
    for digest in ("CIFAR-10 (def)", "CIFAR-10 (abc)"):
        assert digest in other["image_pairs"]
    assert verdicts(other)["fourier lenet"] == UNJUDGED
    assert other["fourier lenet"].endswith("no common cells")


def test_networks_of_other_settings_are_not_judged(compare):
    """Another precision is no other setting."""
    status, other, _ = compare(seed=100, sigma=3.0)
    assert status == 0
    assert verdicts(other)["fourier lenet"] == UNJUDGED
    assert other["fourier lenet"].endswith("sigma 3.0 (there 1.0)")
    assert verdicts(other)["fourier mlp_100_20"] == AGREES


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("specification", {"width": 0.25}),  # the other has the default
        ("input", [3, 32, 32]),
        ("training", {"lr": 0.1}),
        ("training", {"clip": 0.1}),
        ("train_samples", 5_000),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_networks_that_differ_otherwise_are_not_judged(
    part, values, swapped, tmp_path, capsys
):
    """The other run has the default width and the default clipping."""
    folders = [write_run(tmp_path / name) for name in "ab"]
    path = folders[0] / "reports/fourier/run.json"
    description = json.loads(path.read_text())
    plan = description["plan"]
    place = plan if part == "train_samples" else plan["members"]["lenet"]
    place[part] = place[part] | values if isinstance(values, dict) else values
    path.write_text(json.dumps(description))
    ours, theirs = reversed(folders) if swapped else folders
    assert verify.main(str(theirs), ours) == 0
    output = capsys.readouterr().out
    (line,) = (line for line in output.splitlines() if "fourier lenet" in line)
    assert UNJUDGED in line
    assert f"{next(iter(values)) if isinstance(values, dict) else part} " in line


def test_an_experiment_that_is_not_here_is_left_out(tmp_path, capsys):
    run = write_run(tmp_path / "a")
    path = run / "reports/fourier/run.json"
    path.write_text(path.read_text().replace('"fourier"', '"pixels"'))
    assert verify.main(str(run), run) == 0
    assert "fourier lenet" not in capsys.readouterr().out


def test_tables_that_lack_a_column_are_left_out(compare):
    def drop(experiment, rows):
        return rows.drop(columns="index", errors="ignore")

    status, other, _ = compare(seed=100, change=drop)
    assert status == 0
    assert "fourier lenet" in other
    assert "image_pairs lenet" not in other


def test_what_cannot_be_compared_is_said_in_one_sentence(tmp_path, monkeypatch):
    run = write_run(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    with refused("unknown-name", name="nothing"):
        verify.main("nothing", run)
    (run / "reports" / "nads.json").unlink()
    with refused("missing-file", stage="estimate"):
        verify.main(str(run), run)
    command = [sys.executable, "-m", "pipeline.verify", str(tmp_path), str(tmp_path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.startswith("error: ")
    assert process.stderr.count("\n") == 1
    assert str(tmp_path) in process.stderr


def test_a_commit_is_another_run(tmp_path, monkeypatch, capsys):
    def git(*words):
        author = ["-c", "user.name=x", "-c", "user.email=x@y"]
        subprocess.run(["git", *author, *words], check=True)

    write_run(tmp_path)
    write_run(tmp_path / "kept", seed=7)
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "A run")
    # A run is compared with what is committed in its own folder.
    for folder in (Path("reports"), Path("kept/reports"), tmp_path / "reports"):
        assert verify.main("HEAD", folder) == 0
        output = capsys.readouterr().out
        first = output.splitlines()[0]
        assert first.startswith(f"{folder} ")
        assert "HEAD (" in first
        assert "rms difference 0.0" in output
    assert verify.main("HEAD~0", "HEAD") == 0, "two commits, without a folder"
    git("rm", "-q", "-r", "--cached", "reports")
    git("commit", "-q", "-m", "None")
    with refused("unknown-name", name="HEAD"):
        verify.main("HEAD", Path("reports"))


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, AGREES), (0.15, DIFFERS)])
def test_full_size_is_compared_with_the_published_values(compare, shift, verdict):
    table = published.read_published("fourier")
    table = table[(table["k_row"] % 4 == 0) & (table["k_col"] % 4 == 0)]
    rng = np.random.default_rng(1)

    def imitate(experiment, rows):
        if experiment != "fourier":
            return rows
        rows = pd.concat([table.assign(seed=seed) for seed in range(3)])
        noise = 0.02 * rng.standard_normal(len(rows)) * (rows["lenet"] > 52)
        accuracy = (rows["lenet"] / 100 + noise + shift).clip(0, 1)
        return rows.assign(architecture="lenet", accuracy=accuracy, **TESTED)

    status, _, paper = compare(scale="paper", change=imitate)
    assert verdicts(paper)["fourier lenet"] == verdict
    assert status == int(verdict == DIFFERS)
    count = (table["k_row"] != 0).sum()
    assert f"{count} accuracies, 3 and 1 seeds" in paper["fourier lenet"]


def test_networks_of_variants_are_compared_with_the_published_ones_of_full_width(
    tmp_path, capsys
):
    """The largest run of each architecture counts; LeNet of three channels is another
    network."""
    run = write_run(tmp_path / "a", scale="paper")
    table = published.read_published("fourier")
    thin = table.assign(
        architecture="thin", accuracy=table["vgg11"] / 100, seed=0, **TESTED
    )
    lenet = thin.assign(architecture="lenet", accuracy=0.1)
    colour = thin.assign(architecture="colour", accuracy=0.1)
    lenet_network = {"network": NETWORKS["lenet"]}
    members = {
        "thin": {"specification": {"network": NETWORKS["vgg11"], "width": 0.25}},
        "lenet": {"specification": lenet_network},
        "colour": {"specification": lenet_network, "input": [3, 32, 32]},
    }
    plan = {"experiment": "fourier", "scale": "paper", "members": members}
    folder = run / "reports/fourier"
    write_table(folder / "thin", pd.concat([thin, lenet, colour]), plan)
    write_table(folder / "few", thin[:9].assign(accuracy=0.1), plan)
    verify.main(str(run), run)
    text = capsys.readouterr().out.split("compared with")[-1]
    assert re.search("fourier thin .* 1 and 1 seeds, rms difference 0.0 points", text)
    # 144 accuracies of one seed, not the few of three seeds.
    assert re.search("fourier lenet .* 1 and 1 seeds", text)
    assert re.search("fourier colour .* no common cells", text)


def test_published_tables_are_results(tmp_path):
    names = pd.DataFrame(
        {"architecture": ["ours", "large"], "network": ["lenet", "resnet18"]}
    )
    tables = {name: runs.make_published_results(name, names) for name in runs.PUBLISHED}
    for rows in tables.values():
        assert len(rows)
        assert rows["accuracy"].between(0.1, 1).all()
    rows = tables["linear_pairs"].set_index(["architecture", "coordinates", "test_set"])
    assert rows.loc[("large", "index_1 1, index_2 1", "second"), "accuracy"] == 0.804
    assert (tables["fourier"]["k_row"] != 0).all()
    flip = tables["flip"].set_index(["architecture", "coordinates"])["accuracy"]
    assert flip["ours", "images plain"] == 0.69
    assert flip["ours", "images flipped"] == 0.48
    nads = runs.make_published_run(runs.read_folder(write_run(tmp_path))).nads
    assert nads["lenet"]["first_singular_value"] == pytest.approx(0.00189)


def test_of_several_runs_that_with_the_largest_training_set_is_compared(tmp_path):
    for name, samples, accuracies in (("small", 20_000, 4), ("large", 50_000, 2)):
        rows = pd.DataFrame({"architecture": "lenet", "accuracy": [0.5] * accuracies})
        members = {"lenet": {"specification": SPECIFICATIONS["lenet"]}}
        plan = {"experiment": "flip", "train_samples": samples, "members": members}
        write_table(tmp_path / name, rows, plan)
    plans = {}
    for path, description in runs.read_descriptions(tmp_path).items():
        plans[path] = description["plan"]
    assert len(runs.collect_results(plans)) == 2
