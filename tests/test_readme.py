"""What README.md, docs/ and the pages of data/ and models/ say is so: their paths, commands, names, programs and numbers."""

import hashlib
import itertools
import json
import re
import shlex
import string
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from dvc.utils.hydra import apply_overrides

from pipeline import experiments, networks, profile, settings
from pipeline.grid.experiment import Amplitude, Indices, Member, Plan
from pipeline.training import Training

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("[a-z]*/README.md")))
}
README = PAGES["README.md"]
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]

EXAMPLE = "pixels"
"""The experiment that docs/extending.md makes up; `test_the_example_experiment_can_be_run` runs it."""


def every(pattern):
    """What `pattern` finds in any page, with the page's name before it."""
    return [(name, *found) for name, text in PAGES.items() for found in map(_groups, re.finditer(pattern, text, re.M))]


def _groups(match):
    return match.groups() or (match[0],)


def section(heading):
    """The part of README.md under a heading."""
    return README.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def code(page, language):
    """The blocks of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGES[page], re.S)


def test_the_pages_are_there():
    wanted = {"README.md", "data/README.md", "models/README.md"}
    assert set(PAGES) == wanted | {
        f"docs/{name}.md"
        for name in (
            "cluster",
            "estimator",
            "experiments",
            "extending",
            "fidelity",
            "install",
            "profile",
            "remote",
            "speed",
            "trust",
            "verify",
        )
    }


def test_the_readme_is_short_and_every_page_of_docs_opens_with_what_it_answers():
    assert len(README.splitlines()) <= 170
    for name, text in PAGES.items():
        if name.startswith("docs/"):
            heading, blank, opening, *_ = text.splitlines()
            assert heading.startswith("# ") and heading.endswith("?") and not blank, name
            assert opening.startswith("This page says "), name


@pytest.mark.parametrize("page", PAGES)
def test_paths_that_a_page_names_exist(page):
    named = re.findall(r"`((?:pipeline|tests|benchmarks|reports)/[\w./-]+)`", PAGES[page])
    # An `X` in a path stands for every experiment.
    paths = {path.replace("/X/", f"/{name}/") for path in named for name in experiments.names()}
    # The page of a run is an output that DVC keeps and git does not.
    made = {out for stage in STAGES.values() for out in stage.get("outs", []) if isinstance(out, str)}
    assert [path for path in paths - made if EXAMPLE not in path and not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_and_pictures_of_a_page_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[\w-]+)?[^)]*\)", PAGES[page]):
        if not target.startswith("https://"):
            path = ((ROOT / page).parent / target).resolve() if target else ROOT / page
            assert path.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
                kept = f"-_ {string.ascii_lowercase}{string.digits}"
                anchors = ["#" + "".join(c for c in h.lower() if c in kept).replace(" ", "-") for h in headings]
                assert anchor in anchors, f"{target}{anchor}"


def test_modules_that_are_run_exist():
    found = every(r"python -m (pipeline|benchmarks)\.(\w+)")
    assert found
    assert [run for run in found if not (ROOT / run[1] / f"{run[2]}.py").exists()] == []


def commands():
    """Every `dvc exp run` command of the pages, as (page, its words)."""
    for page, text in PAGES.items():
        for command in re.findall(r"dvc exp run(?:\\\n|'[^']*'|[^`#\n']|\n(?= +-S ))*", text):
            yield page, shlex.split(command.replace("\\\n", " "))[3:]


@pytest.mark.parametrize(("page", "words"), list(commands()))
def test_commands_set_what_the_plan_accepts_and_ask_for_stages_that_exist(page, words, tmp_path):
    overrides, targets = [], []
    words = iter(words)
    for word in words:
        if word == "-S":
            overrides.append(next(words))
        elif not word.startswith("-"):
            targets.append(word)
    assert overrides
    path = tmp_path / "params.yaml"
    path.write_text((ROOT / "params.yaml").read_text())
    # As DVC does it: an unknown key is refused unless the override begins with a plus.
    apply_overrides(str(path), overrides)
    settings.plans(settings.read(path))
    assert [target for target in targets if target not in all_stages()] == []


def test_keys_that_are_set_anywhere_are_keys_of_params():
    document = settings.read(ROOT / "params.yaml")
    for page, key in every(r"-S '?[~+]?([\w.]+)"):
        place = document
        *parts, last = key.split(".")
        for part in parts:
            assert part in place, (page, key)
            place = place[part]
        assert last in place or key == "scales.paper.poison.networks.lenet", (page, key)


def all_stages():
    """Names of all stages, those of a matrix written out."""
    return {
        f"{name}@{experiment}" if "matrix" in stage else name
        for name, stage in STAGES.items()
        for experiment in experiments.names()
    }


def test_every_stage_is_named_and_every_name_of_a_stage_is_one():
    table = section("Stages and rooms")
    assert re.findall(r"^\| `(\w+)(?:@X)?` \|", table, re.M) == list(STAGES)
    assert set(re.findall(r"`(\w+)@X`", table)) == {name for name, stage in STAGES.items() if "matrix" in stage}
    known = all_stages() | {f"{name.partition('@')[0]}@{other}" for name in all_stages() for other in ("X", EXAMPLE)}
    assert [found for found in every(r"\b([a-z]+@\w+)") if found[1] not in known] == []
    assert set(re.findall(r"`(\w+)`", table.split("X is an experiment:")[1].split("Stages")[0])) == set(
        experiments.names()
    )


def test_the_tree_shows_every_room():
    tree = section("Stages and rooms").split("```")[1]
    rooms = {path.parent.name for path in (ROOT / "pipeline").glob("*/__init__.py")}
    assert set(re.findall(r"(?<=  )(\w+)/", tree)) == rooms


def test_every_figure_of_the_table_is_a_file():
    rows = [
        row.split(" | ")
        for row in section("Does it reproduce the papers?").splitlines()
        if re.match(r"\| paper \d, ", row)
    ]
    assert len(rows) >= 12
    for row in rows:
        for name in re.findall(r"`(\w+)`", row[1]):
            assert (ROOT / "reports" / "figures" / f"{name}.png").exists(), name


def test_every_figure_stands_in_the_list_of_figures():
    listed = PAGES["docs/experiments.md"].split("## The figures")[1]
    drawn = {path.stem for path in (ROOT / "reports" / "figures").glob("*.png")}
    named = set()
    for name in re.findall(r"`(\w+(?:<network>)?)`", listed):
        found = {figure for figure in drawn if re.fullmatch(name.replace("<network>", r"\w+"), figure)}
        assert found, name
        named |= found
    assert named == drawn


NUMBER = r'\[(−?[\d.]+)\]\((?:\.\./)?(reports/[\w./-]+) "([^"]+)"\)'
"""A number of a committed file: a link to it whose title says where in the file the number stands, as `committed` reads it."""


def committed(file, place):
    """The number that a file in reports/ holds at a `place`: 'a/b/c' in a JSON file, 'column where a=b, c=d' in a table (the mean
    of those rows), either with ' × 100' after the first word.
    """
    name, _, rest = place.partition(" ")
    scale = 100 if rest.startswith("× 100") else 1
    if file.endswith(".json"):
        value = json.loads((ROOT / file).read_text(encoding="utf-8"))
        for key in name.split("/"):
            value = value[key]
        return scale * value
    rows = pd.read_csv(ROOT / file)
    for condition in rest.partition("where ")[2].split(", "):
        column, _, value = condition.partition("=")
        rows = rows[rows[column].astype(str) == value]
    assert len(rows), place
    return scale * rows[name].mean()


def test_numbers_of_committed_files_are_those_that_the_files_hold():
    found = every(NUMBER)
    assert len(found) > 30
    wrong = []
    for page, text, file, place in found:
        digits = len(text.partition(".")[2])
        value = f"{committed(file, place):.{digits}f}".replace("-", "−")
        if value != text:
            wrong.append(f"{page}: {text} should be {value} ({file}: {place})")
    assert wrong == []


def test_the_lines_to_expect_are_those_of_the_committed_run():
    (lines,) = re.findall(r"```\n(.*?figures in reports.*?)```", README, re.S)
    for name, cells in re.findall(r"^(\w+): (\d+) cells trained", lines, re.M):
        rows = pd.read_csv(ROOT / "reports" / name / "results.csv")
        columns = ["architecture", "seed", *experiments.find(name).coordinates]
        assert int(cells) == len(rows.groupby(columns, sort=False)), name
    assert int(re.search(r"(\d+) figures", lines)[1]) == len(list((ROOT / "reports" / "figures").glob("*.png")))
    nads = json.loads((ROOT / "reports" / "nads.json").read_text())
    for name, count, error, first in re.findall(
        r"^(\w+): .* from (\d+) .* of C ([\d.]+), .* value ([\d.e-]+);", lines, re.M
    ):
        assert nads[name]["networks"] == int(count) and f"{nads[name]['relative_error']:.3f}" == error
        assert f"{nads[name]['first_singular_value']:.4g}" == first


def test_the_size_of_the_papers_scale():
    plans = settings.plans(settings.read(ROOT / "params.yaml"))["paper"].experiments
    cells = sum(len(experiments.find(name).cells(plan)) for name, plan in plans.items())
    said = {int(number.replace(",", "")) for _, number in every(r"about ([\d,]+) (?:networks|cells)")}
    assert said == {round(cells, -2)}


@pytest.mark.slow
def test_the_readmes_program_takes_a_network_to_a_picture_of_its_nads(tmp_path, monkeypatch, capsys):
    """The program as it stands, but for an eighth of the networks, which are most of its time."""
    (program,) = code("README.md", "python")
    assert len([line for line in program.splitlines() if line]) <= 10
    assert program.count("networks=64") == 1
    monkeypatch.chdir(tmp_path)
    exec(compile(program.replace("networks=64", "networks=8"), "README.md", "exec"), {})
    assert re.search(r"relative error of C: 0\.\d+, averaged over: \w+", capsys.readouterr().out)
    assert (tmp_path / "my_nads.png").stat().st_size > 20_000


def test_the_test_command_of_the_readme_is_what_ci_runs():
    found = re.findall(r"^python3 -m venv .*pytest.*$", README, re.M)
    assert len(found) == 1 and "requirements.txt" in found[0]
    pattern = re.search(r"grep -m 1 -E '(.*)' README.md", (ROOT / ".ci" / "run").read_text())[1]
    assert [line for line in README.splitlines() if re.search(pattern, line)] == found


def test_the_network_that_docs_profile_gives_is_one_of_a_million_weights_that_can_be_profiled(tmp_path, monkeypatch):
    (tmp_path / "my_vit.py").write_text(code("docs/profile.md", "python")[0])
    monkeypatch.syspath_prepend(tmp_path)
    assert 0.9e6 < profile.tried(networks.specification({"network": "my_vit:ViT", "width": 128}), (1, 32, 32)) < 1.1e6
    (command,) = (shlex.split(line)[2:] for line in code("docs/profile.md", "sh")[0].splitlines())
    given = profile.parsed(command)
    assert given.network == "my_networks:ViT" and profile.shape_of(given.input) == (1, 32, 32)
    named = set(re.findall(r"^\| `(--\w+)", PAGES["docs/profile.md"], re.M))
    assert named == {f"--{name}" for name in vars(given)} - {"--network", "--arguments", "--words"}


def merged(document, addition):
    """A document of params.yaml with another one's keys added where they are new, and those that both have merged."""
    if not isinstance(document, dict) or not isinstance(addition, dict):
        return addition
    return document | {
        key: merged(document[key], addition[key]) if key in document else addition[key] for key in addition
    }


def test_a_network_of_ones_own_takes_the_lines_that_the_pages_give(tmp_path, monkeypatch):
    program = code("docs/extending.md", "python")[0]
    (tmp_path / "my_networks.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_networks", raising=False)  # another test's
    for lines in (code("README.md", "yaml")[0], code("docs/extending.md", "yaml")[0]):
        document = merged(settings.read(ROOT / "params.yaml"), yaml.safe_load(lines))
        plan = settings.plans(document)["laptop"].experiments["linear_pairs"]
        member = plan.members["mine"]
        assert member.specification["depth"] == 4 and member.grid.indices == (1, 128, 1000)
        for channels, outputs in ((1, 1), (2, 2)):
            network = networks.build(member.specification, channels, outputs, 0)
            x = torch.randn(3, channels, 32, 32)
            assert network(x).shape == (3, outputs)
            assert not torch.equal(network(x), network(x.flip(-1))), "the picture decides"
    assert len([line for line in code("README.md", "yaml")[0].splitlines() if line]) == 4


def test_the_lines_that_give_an_architecture_its_nads_are_accepted(tmp_path):
    """Each line of docs/estimator.md, on its own, and the file of NADs of docs/extending.md."""
    lines = code("docs/estimator.md", "yaml")[0].splitlines()
    assert len(lines) == 4
    document = settings.read(ROOT / "params.yaml")
    document["architectures"]["mine"] = {"network": "mlp", "hidden": [4]}
    for line in lines:
        plans = settings.plans(merged(document, {"scales": {"laptop": {"nads": yaml.safe_load(line)}}}))
        assert next(iter(yaml.safe_load(line))) in plans["laptop"].nads.members
    (given,) = (lines for lines in code("docs/extending.md", "yaml") if "file:" in lines)
    plans = settings.plans(merged(document, yaml.safe_load(given)))
    assert plans["laptop"].nads.members["lenet"].source.file == "my_nads.npy"


def test_the_example_experiment_can_be_run():
    program = code("docs/extending.md", "python")[1]
    names = {"__name__": f"pipeline.experiments.{EXAMPLE}"}
    exec(compile(program, "docs/extending.md", "exec"), names)
    experiment = names["Pixels"]()
    assert experiment.name == EXAMPLE
    (lines,) = (lines for lines in code("docs/extending.md", "yaml") if f"{EXAMPLE}:" in lines)
    document = yaml.safe_load(lines)
    sizes = document["scales"]["laptop"][EXAMPLE]
    training = Training(**sizes["training"], schedule=experiment.schedule, precision="float32")
    members = {
        name: Member({"network": "lenet"}, training, Indices(tuple(line["indices"])))
        for name, line in sizes["networks"].items()
    }
    plan = Plan(EXAMPLE, "laptop", (0,), 200, 50, Amplitude(**document[EXAMPLE]), members)
    cells, directions = experiment.cells(plan), experiment.directions(plan, None)
    assert [cell["index"] for cell in cells] == sizes["networks"]["lenet"]["indices"]
    draw = experiment.draw(plan, 0, None)
    for cell, (split, count) in itertools.product(cells, (("train", 200), ("test", 50))):
        (name,) = experiment.uses(cell)
        x, y = experiment.dataset(cell, split, draw, [directions[name]])
        pixel = x.flatten(1)[:, cell["index"]].numpy()
        assert x.shape == (count, 1, 32, 32)
        assert np.allclose(pixel, 2.0 * y.numpy() - 1), "ε y along v, and nothing else"
    results = pd.DataFrame({"architecture": ["lenet", "lenet"], "index": [0, 528], "accuracy": [0.5, 0.75]})
    assert experiment.metrics({"results": results}, directions) == {"lenet": {"mean": 0.625}}


def test_the_licence_is_the_standard_text():
    digest = hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest()
    assert digest == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30", (
        "apache.org/licenses/LICENSE-2.0.txt"
    )


def test_the_citation_file_and_the_readme_name_the_same_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0" and citation["license"] == "Apache-2.0"
    assert citation["message"] and citation["title"] and citation["authors"]
    (entries,) = code("README.md", "bibtex")
    entries = [entry for entry in entries.split("@inproceedings") if entry.strip()]
    assert len(entries) == len(citation["references"]) == 2
    for entry, reference in zip(entries, citation["references"]):
        assert reference["type"] == "conference-paper" and reference["conference"]["name"]
        plain = entry.replace("{\\'e}", "é")
        assert f"title = {{{reference['title']}}}" in plain and f"year = {{{reference['year']}}}" in plain
        assert f"booktitle = {{{reference['collection-title']}}}" in plain
        arxiv = re.search(r"eprint = \{([\d.]+)\}", entry)[1]
        assert reference["doi"] == f"10.48550/arXiv.{arxiv}" and reference["url"] == f"https://arxiv.org/abs/{arxiv}"
        assert reference["url"] in README.split("## Quick start")[0]
        authors = [f"{author['family-names']}, {author['given-names']}" for author in reference["authors"]]
        assert f"author = {{{' and '.join(authors)}}}" in plain
