"""The command `verify` on simulated runs: folders and commits, verdicts by figure, exit statuses, and the papers' values."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from structure import ROOT

from pipeline import verify
from pipeline.project.errors import InputError
from pipeline.report import papers, published, runs

N = 4000
FREQUENCIES = [(row, column) for row in (-8, -4, 0) for column in (-16, -12, -8, -4)]
PAIRS = [(first, second) for first in (1, 32, 1000) for second in (1, 32, 1000)]


def results(rng, kind, network, seeds):
    """Results of one network, of which half the accuracies are at 100 per cent, the others spread by two points."""
    columns, places = {"fourier": (["k_row", "k_col"], FREQUENCIES), "linear_pairs": (["index_1", "index_2"], PAIRS)}[
        kind
    ]
    rows = []
    for seed in seeds:
        for number, place in enumerate(places):
            for test_set in ("all", "first", "second") if kind == "linear_pairs" else ("all",):
                mean, deviation = (0.9995, 0.0) if number % 2 else (0.75, 0.02)
                accuracy = rng.binomial(N, np.clip(mean + deviation * rng.standard_normal(), 0, 1)) / N
                row = dict(zip(columns, place)) | {"test_set": test_set, "accuracy": accuracy, "n": N}
                rows.append({"architecture": network, "seed": seed} | row | {"train_loss": 0.0, "train_accuracy": 1.0})
    return pd.DataFrame(rows)


def write(folder, seed=0, seeds=3, scale="laptop", digest="abc", change=None):
    """The reports of a simulated run in folder/reports; change: what is done to each experiment's results."""
    rng = np.random.default_rng(seed)
    for kind in ("fourier", "linear_pairs"):
        rows = pd.concat(
            [results(rng, kind, network, range(seed, seed + seeds)) for network in ("lenet", "mlp_100_20")]
        )
        (folder / "reports" / kind).mkdir(parents=True)
        (change or (lambda kind, rows: rows))(kind, rows).to_csv(folder / "reports" / kind / "results.csv", index=False)
        (folder / "reports" / kind / "metrics.json").write_text(json.dumps({"scale": scale}))
    (folder / "reports" / "images.json").write_text(json.dumps({"name": "CIFAR-10", "digest": digest}))
    value = 0.0019 * (1 + 0.01 * rng.standard_normal())
    nads = {"lenet": {"first_singular_value": value, "relative_error": 0.1, "networks": 64}}
    (folder / "reports" / "nads.json").write_text(json.dumps(nads))
    return folder


def verdicts(output):
    """The verdicts printed, by figure, of the comparison with the other run, and of that with the published values."""
    parts = output.split("beside the published values\n")
    known = (verify.AGREES, verify.DIFFERS, verify.UNJUDGED)
    read = lambda line: next(
        (line.removeprefix(f"  {word}").split()[0], word) for word in known if line.startswith(f"  {word}")
    )
    return [dict(read(line) for line in part.splitlines() if line.startswith("  ")) for part in parts]


def test_two_runs_of_other_seeds_agree(tmp_path, capsys):
    assert verify.main(str(write(tmp_path / "a")), write(tmp_path / "b", seed=100)) == 0
    other, paper = verdicts(capsys.readouterr().out)
    figures = ["images", "nad_spectra", "fourier_maps", "linear_accuracies_lenet", "linear_accuracies_mlp_100_20"]
    assert other == dict.fromkeys(figures, verify.AGREES)
    assert paper.pop("nad_spectra") == verify.AGREES
    assert set(paper.values()) == {verify.UNJUDGED} and len(paper) == len(papers.PUBLISHED)


def test_one_cell_that_moved_is_named_by_its_figure(tmp_path, capsys):
    def lower(kind, rows):
        place = (rows["architecture"] == "lenet") & (rows.get("index_1") == 1) & (rows.get("index_2") == 32)
        return rows.assign(accuracy=rows["accuracy"] - 0.1 * (place & (rows["test_set"] == "second")))

    assert verify.main(str(write(tmp_path / "a")), write(tmp_path / "b", seed=100, change=lower)) == 1
    output = capsys.readouterr().out
    differing = [figure for figure, verdict in verdicts(output)[0].items() if verdict == verify.DIFFERS]
    assert differing == ["linear_accuracies_lenet"]
    (line,) = (line for line in output.splitlines() if line.startswith("  differs"))
    assert ": −9.9 at lenet" in line and "at lenet, index_1 1, index_2 32, second (tolerance" in line


def test_an_experiment_that_moved_is_named(tmp_path, capsys):
    lower = lambda kind, rows: rows.assign(
        accuracy=rows["accuracy"] - 0.05 * (kind == "fourier") * (rows["accuracy"] < 0.9)
    )
    assert verify.main(str(write(tmp_path / "a")), write(tmp_path / "b", seed=100, change=lower)) == 1
    output = capsys.readouterr().out
    assert [figure for figure, verdict in verdicts(output)[0].items() if verdict == verify.DIFFERS] == ["fourier_maps"]
    assert "mean over cells" in output


def test_what_was_not_fitted_is_compared_and_said(tmp_path, capsys):
    unlearned = lambda kind, rows: rows.assign(train_accuracy=0.9 if kind == "fourier" else 1.0)
    verify.main(str(write(tmp_path / "a")), write(tmp_path / "b", seed=100, change=unlearned))
    lines = {line.split()[1]: line for line in capsys.readouterr().out.splitlines() if line.startswith("  agrees")}
    assert "24 of 24 accuracies" in lines["fourier_maps"] and "24 not fitted" in lines["fourier_maps"]
    assert "not fitted" not in lines["linear_accuracies_lenet"]


def test_one_seed_in_both_runs_is_not_judged(tmp_path, capsys):
    assert verify.main(str(write(tmp_path / "a", seeds=1)), write(tmp_path / "b", seed=100, seeds=1)) == 0
    assert verdicts(capsys.readouterr().out)[0]["fourier_maps"] == verify.UNJUDGED


def test_unequal_scales_are_not_compared_and_images_are_told_apart(tmp_path, capsys):
    base = write(tmp_path / "a")
    assert verify.main(str(base), write(tmp_path / "b", scale="smoke")) == 0
    other, paper = verdicts(capsys.readouterr().out)
    assert other == {"fourier": verify.UNJUDGED, "linear_pairs": verify.UNJUDGED}
    assert verify.main(str(base), write(tmp_path / "c", seed=100, digest="def")) == 0
    output = capsys.readouterr().out
    assert verdicts(output)[0]["images"] == verify.UNJUDGED and "CIFAR-10 (def) and CIFAR-10 (abc)" in output


def test_grids_without_a_cell_in_common_are_not_judged(tmp_path, capsys):
    others = lambda kind, rows: rows.assign(k_row=rows["k_row"] - 1) if kind == "fourier" else rows
    assert verify.main(str(write(tmp_path / "a")), write(tmp_path / "b", seed=100, change=others)) == 0
    other, _ = verdicts(capsys.readouterr().out)
    assert other["fourier_maps"] == verify.UNJUDGED and other["linear_accuracies_lenet"] == verify.AGREES
    nowhere = lambda kind, rows: rows.assign(architecture="other")
    assert verify.main(str(tmp_path / "a"), write(tmp_path / "c", change=nowhere)) == 0
    assert verdicts(capsys.readouterr().out)[0]["fourier_maps"] == verify.UNJUDGED


def test_another_plan_is_another_run(tmp_path):
    plan = {"scale": "laptop", "train_samples": 10, "settings": {"eps": 1.0}}
    plan["members"] = {"lenet": {"specification": {"network": "x"}, "training": {"epochs": 3}}}
    sides = [write(tmp_path / "a"), write(tmp_path / "b", seed=100)]
    for folder, epochs in zip(sides, (3, 4)):
        (folder / "data" / "plan").mkdir(parents=True)
        plan["members"]["lenet"]["training"]["epochs"] = epochs
        (folder / "data" / "plan" / "fourier.json").write_text(json.dumps(plan))
    here, there = (runs.of_folder(folder) for folder in sides)
    assert runs.unlike("fourier", here, here) is None and runs.unlike("linear_pairs", here, there) is None
    assert "training" in runs.unlike("fourier", here, there)
    assert papers.too_small("fourier", "lenet", here) == "lenet is not as the paper has it"


def test_what_cannot_be_compared_is_said_in_one_sentence(tmp_path, monkeypatch):
    base = write(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for other, sentence in (
        ("nothing", "'nothing' is neither a folder nor a commit"),
        ("empty", "empty holds no reports"),
    ):
        with pytest.raises(InputError, match=sentence):
            verify.main(other, base)
    old = write(tmp_path / "old", change=lambda kind, rows: rows.drop(columns="train_accuracy"))
    with pytest.raises(
        InputError,
        match=r"fourier/results.csv of .*old is damaged \(it has no column train_accuracy\); .*another version",
    ):
        verify.main(str(old), base)
    (base / "reports" / "nads.json").unlink()
    with pytest.raises(InputError, match="nads.json of .* is missing; bring it back"):
        verify.main(str(base), base)
    os.mkfifo(base / "reports" / "nads.json")
    with pytest.raises(InputError, match=r"nads.json of .* is damaged \(it is no regular file\)"):
        verify.main(str(base), base)


def test_a_commit_is_another_run(tmp_path, monkeypatch, capsys):
    git = lambda *words: subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], check=True)
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in (("init", "-q"), ("add", "reports"), ("commit", "-q", "-m", "A run")):
        git(*words)
    assert verify.main("HEAD", Path("reports")) == 0
    assert "reports beside HEAD (" in capsys.readouterr().out
    rows = pd.read_csv("reports/fourier/results.csv")
    rows.assign(accuracy=rows["accuracy"] - 0.2).to_csv("reports/fourier/results.csv", index=False)
    assert verify.main("HEAD", Path("reports")) == 1
    git("rm", "-q", "-r", "--cached", "reports")
    git("commit", "-q", "-m", "None")
    with pytest.raises(InputError, match="the commit HEAD .* holds no reports"):
        verify.main("HEAD", Path("reports"))


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, verify.AGREES), (0.05, verify.DIFFERS)])
def test_full_size_is_compared_with_the_published_values(tmp_path, capsys, shift, verdict):
    table = published.table("fourier")
    table = table[(table["k_row"] % 4 == 0) & (table["k_col"] % 4 == 0)]
    rng = np.random.default_rng(1)

    def ours(kind, rows):
        if kind != "fourier":
            return rows
        seeds = [table[["k_row", "k_col"]].assign(seed=seed) for seed in range(3)]
        for one in seeds:
            noise = 0.02 * rng.standard_normal(len(table)) * (table["lenet"] > 52)
            one["accuracy"] = (table["lenet"] / 100 + noise + shift).clip(0, 1)
        return pd.concat(seeds).assign(architecture="lenet", test_set="all", n=10_000, train_accuracy=1.0)

    run = write(tmp_path, scale="paper", change=ours)
    assert verify.main(str(run), run) == int(verdict == verify.DIFFERS)
    output = capsys.readouterr().out
    assert verdicts(output)[1]["fourier_maps"] == verdict
    count = (table["k_row"] != 0).sum()
    assert f"{count} of {len(table)} accuracies, 3 and 1 seeds" in output.split("published values")[1]


def test_nads_that_are_exact_are_compared(tmp_path, capsys):
    """A linear network's have no sampling error."""
    for name in ("here", "there"):
        file = write(tmp_path / name) / "reports" / "nads.json"
        exact = {"first_singular_value": 0.018, "relative_error": 0.0, "networks": 4}
        file.write_text(json.dumps(json.loads(file.read_text()) | {"logreg": exact}))
    assert verify.main(str(tmp_path / "there"), tmp_path / "here") == 0
    assert "2 first singular values" in capsys.readouterr().out


def test_published_tables_are_results():
    for name in papers.PUBLISHED:
        rows = papers.results(name)
        assert rows["accuracy"].between(0.1, 1).all() and not rows["place"].duplicated().all()
    rows = papers.results("linear_pairs").set_index(["place", "test_set"])
    assert rows.loc[("index_1 1, index_2 1", "second"), "accuracy"] == pytest.approx(0.804)
    assert (papers.results("fourier")["k_row"] != 0).all()
    flipped = papers.results("flip").set_index(["architecture", "place"])["accuracy"]
    assert flipped["lenet", "images plain"] == 0.69 and flipped["lenet", "images flipped"] == 0.48
    assert papers.first_singular_values()["lenet"]["first_singular_value"] == pytest.approx(0.00189)


def test_a_reader_who_has_seen_enough_is_no_difference(tmp_path):
    """Exit status 1 would say that a figure differs."""
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "pipeline.verify", str(write(tmp_path)), str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_the_command_ends_with_one_sentence_where_nothing_can_be_compared(tmp_path):
    words = [sys.executable, "-m", "pipeline.verify", str(tmp_path), str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr == f"error: the folder {tmp_path} holds no reports: none of its folders has a results.csv\n"
