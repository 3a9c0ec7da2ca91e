"""README.md, docs/ and the pages of folders against the code: their links, paths,
commands, names and programs are so."""

import itertools
import re
import shlex
import string
import sys

import numpy as np
import pytest
import torch
import yaml
from dvc.utils.hydra import apply_overrides
from structure import ROOT, VERBS

from pipeline import config, experiments, networks
from pipeline.config.layout import merge
from pipeline.experiments.plan import Amplitude, Indices, Member, Plan
from pipeline.training.loop import Training

PLACES = ("*.md", "docs/*.md", "[a-z]*/README.md", "reports/kept/README.md")
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for place in PLACES
    for path in sorted(ROOT.glob(place))
}
README = PAGES["README.md"]
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
EXAMPLE = "pixels"
"""The experiment that docs/extending.md makes up."""


def code(page, language):
    """The blocks of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGES[page], re.S)


def every(pattern):
    """(page, what the pattern's group holds) wherever a page matches."""
    return [
        (page, found)
        for page, text in PAGES.items()
        for found in re.findall(pattern, text)
    ]


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    allowed = f"-_ {string.ascii_lowercase}{string.digits}"
    for heading in re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M):
        yield "#" + "".join(c for c in heading.lower() if c in allowed).replace(
            " ", "-"
        )


@pytest.mark.parametrize("page", PAGES)
def test_links_and_pictures_of_a_page_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[\w-]+)?[^)]*\)", PAGES[page]):
        if not target.startswith("https://"):
            path = ((ROOT / page).parent / target).resolve() if target else ROOT / page
            assert path.exists(), target
            assert not anchor or anchor in anchors(path), f"{target}{anchor}"


@pytest.mark.parametrize("page", PAGES)
def test_paths_that_a_page_names_exist(page):
    named = re.findall(
        r"`((?:pipeline|tests|benchmarks|studies|reports)/[\w./-]+)`", PAGES[page]
    )
    # The page of a run is an output that DVC keeps and git does not.
    made = {
        out
        for stage in STAGES.values()
        for out in stage["outs"]
        if isinstance(out, str)
    }
    # An `X` in a path stands for every experiment.
    paths = {
        path.replace("/X/", f"/{name}/")
        for path in named
        for name in experiments.names()
    }
    missing = [path for path in paths - made if not (ROOT / path).exists()]
    assert [path for path in missing if EXAMPLE not in path] == []


def test_modules_that_are_run_exist():
    commands = every(r"python -m ((?:pipeline|benchmarks|studies)\.\w+)")
    # The list of kept runs has the command of each run's own commit.
    modules = {found for page, found in commands if page != "reports/kept/README.md"}
    assert {"pipeline.train", "pipeline.verify", "studies.fitting"} <= modules
    for path in (module.replace(".", "/") for module in modules):
        assert (ROOT / f"{path}.py").exists() or (
            ROOT / path / "__main__.py"
        ).exists(), path


def all_stages():
    """Names of all stages, those of a matrix written out."""
    for name, stage in STAGES.items():
        yield from (
            (f"{name}@{e}" for e in experiments.names())
            if "matrix" in stage
            else [name]
        )


def test_names_of_stages_are_those_of_dvc_and_the_readme_has_them_all():
    parts = ("X", EXAMPLE)
    known = {*all_stages(), *(f"{verb}@{part}" for verb in VERBS for part in parts)}
    assert [found for found in every(r"\b([a-z]+@\w+)") if found[1] not in known] == []
    assert set(STAGES) == set(VERBS) and all(f"`{verb}" in README for verb in VERBS)


def experiment_runs():
    """(page, words) of every `dvc exp run` command of the pages."""
    for page, text in PAGES.items():
        for command in re.findall(
            r"dvc exp run(?:\\\n|'[^']*'|[^`#\n']|\n(?= +-S ))*", text
        ):
            yield page, shlex.split(command.replace("\\\n", " "))[3:]


@pytest.mark.parametrize(("page", "words"), list(experiment_runs()))
def test_commands_set_what_the_plan_accepts_and_ask_for_stages_that_exist(
    page, words, tmp_path
):
    overrides = [word for option, word in itertools.pairwise(words) if option == "-S"]
    targets = [word for word in words if word[0] != "-" and word not in overrides]
    assert overrides and set(targets) <= set(all_stages())
    path = tmp_path / "params.yaml"
    path.write_text(
        (ROOT / "params.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    # As DVC does it: an unknown key is refused unless the override begins with a plus.
    apply_overrides(str(path), overrides)
    config.plans(config.read(path))


@pytest.mark.slow
def test_the_readmes_program_takes_a_network_to_a_picture_of_its_nads(
    tmp_path, monkeypatch, capsys
):
    """The program as it stands, but for two of the networks, which are most of its
    time."""
    program = code("README.md", "python")[0]
    assert program.count("networks=64") == 1
    monkeypatch.chdir(tmp_path)
    exec(compile(program.replace("networks=64", "networks=2"), "README.md", "exec"), {})
    assert "from 2 untrained networks" in capsys.readouterr().out
    (picture,) = tmp_path.glob("*.png")
    assert picture.stat().st_size > 20_000


def test_a_network_of_ones_own_takes_the_lines_that_the_pages_give(
    tmp_path, monkeypatch, shipped
):
    """Also when `dvc exp run -S` has written them anew, without the quotes around its
    name."""
    program = code("docs/extending.md", "python")[0]
    params = tmp_path / "params.yaml"
    (tmp_path / "own").mkdir()
    for folder in (tmp_path, tmp_path / "own"):
        (folder / "my_networks.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("my_networks", None)  # another test's
    for page in ("README.md", "docs/extending.md"):
        params.write_text(code(page, "yaml")[0], encoding="utf-8")
        apply_overrides(params, ["+eps2=0.3"])
        plans = config.plans(merge(shipped, config.read(params)))
        member = plans["laptop"].experiments["linear_pairs"].members["mine"]
        for channels, outputs in ((1, 1), (2, 2)):
            network = networks.build(member.specification, channels, outputs, 0)
            x = torch.randn(3, channels, 32, 32)
            assert network(x).shape == (3, outputs)
            assert not torch.equal(network(x), network(x.flip(-1))), (
                "the picture decides"
            )
    for name in [name for name in sys.modules if name.split(".")[-1] == "my_networks"]:
        del sys.modules[name]  # another test's may be another


def test_the_example_experiment_can_be_run(shipped):
    program = code("docs/extending.md", "python")[-1]
    names = {"__name__": f"pipeline.experiments.{EXAMPLE}"}
    exec(compile(program, "docs/extending.md", "exec"), names)
    experiment = names["Pixels"]()
    (lines,) = (
        lines for lines in code("docs/extending.md", "yaml") if f"{EXAMPLE}:" in lines
    )
    document = yaml.safe_load(lines)
    block = document[EXAMPLE]
    sizes = document["scales"]["laptop"][EXAMPLE]
    training = Training(
        **block["training"] | sizes["training"], schedule=experiment.schedule
    )
    members = {
        name: Member({"network": "lenet"}, training, Indices(tuple(line["indices"])))
        for name, line in sizes["networks"].items()
    }
    plan = Plan(
        EXAMPLE,
        "laptop",
        (0,),
        200,
        50,
        Amplitude(block["eps"], block["sigma"]),
        members,
    )
    cells = experiment.cells(plan)
    directions = experiment.directions(plan, None)
    assert [cell["index"] for cell in cells] == sizes["networks"]["lenet"]["indices"]
    draw = experiment.draw_base_noise(plan, 0, None)
    for cell, (split, count) in itertools.product(
        cells, (("train", 200), ("test", 50))
    ):
        (name,) = experiment.direction_names(cell)
        x, y = experiment.dataset(cell, split, draw, [directions[name]])
        assert x.shape == (count, 1, 32, 32)
        pixel = x.flatten(1)[:, cell["index"]].numpy()
        assert np.allclose(pixel, 2.0 * y.numpy() - 1), "ε y along v, and nothing else"
