"""The command `verify` on simulated runs: folders and commits, verdicts by figure, exit statuses,
and the papers' values."""

import json
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
from pipeline.verify import papers

N = 4000
FREQUENCIES = [(row, column) for row in (-8, -4, 0) for column in (-16, -12, -8, -4)]
PAIRS = [(first, second) for first in (1, 32, 1000) for second in (1, 32, 1000)]


def results(rng, columns, places, test_sets, seeds):
    """Results of two networks, of which half the accuracies are at 100 per cent, the others spread
    by two points."""
    rows = []
    for network in ("lenet", "mlp_100_20"):
        for seed in seeds:
            for number, place in enumerate(places):
                mean, deviation = (0.9995, 0.0) if number % 2 else (0.75, 0.02)
                cell = {"architecture": network, "seed": seed, **dict(zip(columns, place))}
                for test_set in test_sets:
                    part = np.clip(mean + deviation * rng.standard_normal(), 0, 1)
                    rows.append(
                        cell | {"test_set": test_set, "accuracy": rng.binomial(N, part) / N}
                    )
    return pd.DataFrame(rows).assign(n=N, train_accuracy=1.0)


def write(folder, seed=0, seeds=3, scale="laptop", digest="abc", change=lambda kind, rows: rows):
    """The reports of a simulated run in folder/reports; change: what is done to each experiment's
    results."""
    rng, reports = np.random.default_rng(seed), folder / "reports"
    grids = {
        "fourier": (["k_row", "k_col"], FREQUENCIES, ["all"]),
        "linear_pairs": (["index_1", "index_2"], PAIRS, ["all", "first", "second"]),
    }
    for kind, grid in grids.items():
        rows = change(kind, results(rng, *grid, range(seed, seed + seeds)))
        (reports / kind).mkdir(parents=True)
        rows.to_csv(reports / kind / "results.csv", index=False)
        (reports / kind / "metrics.json").write_text(json.dumps({"scale": scale}))
    (reports / "images.json").write_text(json.dumps({"name": "CIFAR-10", "digest": digest}))
    value = 0.0019 * (1 + 0.01 * rng.standard_normal())
    nads = {"lenet": {"first_singular_value": value, "relative_error": 0.1, "networks": 64}}
    (reports / "nads.json").write_text(json.dumps(nads))
    return folder


def verdicts(output):
    """The verdicts printed, by figure and network, beside the other run and beside the published
    values."""
    parts = output.split("beside the published values\n")
    lines = [[line[2:] for line in part.splitlines() if line.startswith("  ")] for part in parts]
    return [{line[12:54].strip(): line[:11].strip() for line in part} for part in lines]


@pytest.fixture
def compared(tmp_path, capsys):
    """Gives exit status, verdicts on both comparisons and all that is printed of a run beside
    another of three seeds."""

    def compare(**others):
        status = verify.main(str(write(tmp_path / "a")), write(tmp_path / "b", **others))
        output = capsys.readouterr().out
        return status, *verdicts(output), output

    return compare


def test_two_runs_of_other_seeds_agree(compared):
    status, other, paper, _ = compared(seed=100)
    figures = ["images", "nad_spectra", "fourier_maps lenet", "fourier_maps mlp_100_20"]
    figures += ["linear_accuracies lenet", "linear_accuracies mlp_100_20"]
    assert (status, other) == (0, dict.fromkeys(figures, verify.AGREES))
    assert paper.pop("nad_spectra") == verify.AGREES
    assert set(paper.values()) == {verify.UNJUDGED} and len(paper) == len(papers.PUBLISHED)


def test_one_cell_that_moved_is_named_by_its_figure(compared):
    def lower(kind, rows):
        if kind == "linear_pairs":
            cell = "architecture == 'lenet' and index_1 == 1 and index_2 == 32"
            rows.loc[rows.eval(f"{cell} and test_set == 'second'"), "accuracy"] -= 0.1
        return rows

    status, other, _, output = compared(seed=100, change=lower)
    assert status == 1
    assert [name for name in other if other[name] == verify.DIFFERS] == ["linear_accuracies lenet"]
    (line,) = (line for line in output.splitlines() if line.startswith("  differs"))
    assert ": −9.9 at lenet, index_1 1, index_2 32, second (tolerance" in line


def test_what_was_not_fitted_is_compared_and_counted(compared):
    unlearned = lambda kind, rows: rows.assign(train_accuracy=0.9 if kind == "fourier" else 1.0)
    *_, output = compared(seed=100, change=unlearned)
    lines = {line[14:56].strip(): line for line in output.splitlines()}
    assert "12 of 12 accuracies, 3 and 3 seeds" in lines["fourier_maps lenet"]
    assert "12 not fitted" in lines["fourier_maps lenet"]
    assert "not fitted" not in lines["linear_accuracies lenet"]


def test_one_seed_in_both_runs_is_not_judged(tmp_path, capsys):
    one = write(tmp_path / "a", seeds=1)
    assert verify.main(str(one), write(tmp_path / "b", seed=100, seeds=1)) == 0
    output = capsys.readouterr().out
    assert verdicts(output)[0]["fourier_maps lenet"] == verify.UNJUDGED
    assert "of one seed not judged" in output and "too few seeds to tell" in output


def test_unequal_scales_are_not_compared(compared):
    status, other, _, output = compared(scale="smoke")
    assert (status, other) == (0, dict.fromkeys(["fourier", "linear_pairs"], verify.UNJUDGED))
    assert "scale smoke here, laptop there" in output


def test_other_images_are_told_apart(compared):
    _, other, _, output = compared(seed=100, digest="def")
    assert other["images"] == verify.UNJUDGED and "CIFAR-10 (def) and CIFAR-10 (abc)" in output


def test_grids_without_a_cell_in_common_are_not_judged(compared):
    elsewhere = lambda kind, rows: rows.assign(k_row=5) if kind == "fourier" else rows
    status, verdicts, _, output = compared(seed=100, change=elsewhere)
    assert (status, verdicts["linear_accuracies lenet"]) == (0, verify.AGREES)
    assert verdicts["fourier_maps lenet"] == verify.UNJUDGED and "no cell in common" in output


def test_what_cannot_be_compared_is_said_in_one_sentence(tmp_path, monkeypatch):
    base = write(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="'nothing' is neither a folder nor a commit"):
        verify.main("nothing", base)
    with pytest.raises(InputError, match="empty holds no reports"):
        verify.main("empty", base)
    (base / "reports" / "nads.json").unlink()
    with pytest.raises(InputError, match="nads.json is missing; `python -m pipeline.estimate`"):
        verify.main(str(base), base)


def test_a_commit_is_another_run(tmp_path, monkeypatch, capsys):
    git = lambda *words: subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], check=True
    )
    write(tmp_path)
    write(tmp_path / "kept", seed=7)
    monkeypatch.chdir(tmp_path)
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "A run")):
        git(*words)
    assert verify.main("HEAD", Path("reports")) == 0
    output = capsys.readouterr().out
    assert "reports beside HEAD (" in output and "rms difference 0.0" in output
    # A run is compared with what is committed at its own place.
    assert verify.main("HEAD", Path("kept/reports")) == 0
    assert "rms difference 0.0" in capsys.readouterr().out
    git("rm", "-q", "-r", "--cached", "reports")
    git("commit", "-q", "-m", "None")
    with pytest.raises(InputError, match="'HEAD' is neither a folder nor a commit that holds rep"):
        verify.main("HEAD", Path("reports"))


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, verify.AGREES), (0.05, verify.DIFFERS)])
def test_full_size_is_compared_with_the_published_values(compared, shift, verdict):
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
        constant = dict(architecture="lenet", test_set="all", n=10_000, train_accuracy=1.0)
        return pd.concat(seeds).assign(**constant)

    status, _, paper, output = compared(scale="paper", change=ours)
    assert (status, paper["fourier_maps lenet"]) == (int(verdict == verify.DIFFERS), verdict)
    count = (table["k_row"] != 0).sum()
    assert f"{count} of {len(table)} accuracies, 3 and 1 seeds" in output


def test_networks_of_variants_stand_beside_the_published_ones_of_full_width(tmp_path, capsys):
    """The folder's own LeNet counts, and of two folders of the narrow VGG-11 the larger one."""
    run = write(tmp_path / "a", scale="paper")
    table = published.table("fourier")
    rows = table[["k_row", "k_col"]].assign(architecture="thin", accuracy=table["vgg11"] / 100)
    rows = rows.assign(seed=0, test_set="all", n=10_000, train_accuracy=1.0)
    other = rows.assign(architecture="lenet", accuracy=0.1)
    variants = {
        "fourier_thin": pd.concat([rows, other]),
        "fourier_few": rows[:9].assign(accuracy=0.1),
    }
    plan = {"members": {"thin": {"specification": {"network": NETWORKS["vgg11"], "width": 0.25}}}}
    plan["members"]["lenet"] = {"specification": {"network": NETWORKS["lenet"]}}
    for name, rows_of_folder in variants.items():
        (run / "reports" / name).mkdir()
        rows_of_folder.to_csv(run / "reports" / name / "results.csv", index=False)
        (run / "reports" / name / "plan.json").write_text(json.dumps(plan))
    assert verify.main(str(run), run) in (0, 1)
    _, beside = capsys.readouterr().out.split("beside the published values\n")
    lines = {line[14:56].strip(): line for line in beside.splitlines()}
    assert "1 and 1 seeds, rms difference 0.0 points" in lines["fourier_maps thin"]
    assert "3 and 1 seeds" in lines["fourier_maps lenet"]


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


def test_the_command_ends_with_one_sentence_where_nothing_can_be_compared(tmp_path):
    words = [sys.executable, "-m", "pipeline.verify", str(tmp_path), str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    sentence = f"the folder {tmp_path} holds no reports: none of its folders has a results.csv"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {sentence}\n")
