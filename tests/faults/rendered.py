"""The stage `render`: tables that are not as they were made, a full disk, kills, and names that are markup (7, 11, 13, 14)."""

import functools
import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.cases import Case, Run, Stages
from tests.faults.repository import TINY, after, changed, stage
from tests.faults.stored import can_mount, contents, cut, pipe_instead, removed, replaced, small_disk

EXPERIMENTS = ("linear_pairs", "image_pairs", "fourier", "convergence", "nad_sweep", "poison", "flip")
CLASSES = (
    "$\\frac$",
    "a|b",
    "<script>alert(1)</script>",
    "</script><b>",
    "&lt;",
    "[a](javascript:b)",
    "`x`",
    "![](x)",
    "שלום 猫",
    '"quoted"',
)
SETS = ("$\\frac$ a|b `x` </script><script>alert(1)</script> [a](javascript:b) &lt;", "שלום 猫", "x" * 100)
"""What classes, and a set of images, may be called: markup somewhere, or not among the letters of the font."""

READ = (
    "data/images/about.json",
    "data/nads/lenet.npz",
    "data/plan/nads.json",
    "data/plan/fourier.json",
    "models/nad_sweep/losses.csv",
    "reports/linear_pairs/results.csv",
    "reports/linear_pairs/cross_sections.npz",
    "reports/nad_sweep/metrics.json",
    "reports/convergence/results.csv",
    "reports/flip/summary.csv",
    "reports/flip/changes.csv",
)
"""Some of what is read, of each kind."""

BORDER = re.compile(r"(?<!\\)\|")
"""What ends a cell of a table in Markdown, wherever in the cell it stands."""


@functools.cache
def finished(stages: Stages) -> Path:
    """A repository after all stages of all experiments."""
    order = [("plan",), ("download",), ("estimate",)]
    order += [(name, experiment) for experiment in EXPERIMENTS for name in ("generate", "train", "evaluate")]
    return after(stages, "all finished", changed(TINY, "device", "cpu"), [*order, ("render",)])


def drawn(folder: Path) -> dict[str, bytes]:
    """The figures and report.md; index.html says when it was made."""
    return contents(folder / "reports/figures") | {"report.md": (folder / "reports/report.md").read_bytes()}


def _case(
    group: int, name: str, harm: Callable[[Path], None], right: Callable | None = None, **options: object
) -> Case:
    """A case in which a copy of a finished repository is harmed, and rendered."""
    held = []

    def action(stages: Stages, folder: Path) -> Run:
        held[:] = [stages]
        shutil.copytree(finished(stages), folder, dirs_exist_ok=True)
        harm(folder)
        return stage(stages, "render", folder)

    check = right and (lambda folder, _: right(held[0], folder))
    return Case(group, f"render: {name}", action, check, slow=True, **options)


def _named(told: dict[str, object], folder: Path) -> None:
    """Give the images another name, or other classes, wherever these stand."""
    for path in [
        folder / "data/images/about.json",
        folder / "reports/images.json",
        *folder.glob("data/datasets/*/images.json"),
    ]:
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | told), encoding="utf-8")


def _shown(names: tuple[str, ...], stages: Stages, folder: Path) -> bool:
    """Whether there are as many figures as ever, neither page holds a name as markup, and no name ends a cell of a table."""
    markdown, page = ((folder / f"reports/{name}").read_text(encoding="utf-8") for name in ("report.md", "index.html"))
    raw = [name for name in names if "<" in name and (name in markdown or name in page)]
    raw += [name for name in names if "](" in name and name in markdown]
    widths = [len(BORDER.findall(line)) if line.startswith("|") else 0 for line in markdown.splitlines()]
    even = all(0 in pair or len(set(pair)) == 1 for pair in itertools.pairwise(widths))
    return not raw and even and drawn(folder).keys() == drawn(finished(stages)).keys()


def _full(stages: Stages, folder: Path) -> Run:
    shutil.copytree(finished(stages), folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "reports/figures")
    with small_disk(folder / "reports/figures", "300k"):
        return stage(stages, "render", folder)


def _killed(part: float, stages: Stages, folder: Path) -> Run:
    shutil.copytree(finished(stages), folder, dirs_exist_ok=True)
    stage(stages, "render", folder, kill=part * 10)
    return stage(stages, "render", folder)


def cases() -> Iterator[Case]:
    """All of them."""
    for told, names in (({"classes": CLASSES}, CLASSES), *(({"name": name}, (name,)) for name in SETS)):
        harm, right = functools.partial(_named, told), functools.partial(_shown, names)
        yield _case(13, f"{next(iter(told))} of images: {names[0][:40]}", harm, right, refusable=False)
    for pattern in READ:
        for title, harm in {
            "removed": functools.partial(removed, pattern),
            "cut in half": functools.partial(cut, pattern, 0.5),
            "emptied": functools.partial(replaced, pattern, b""),
            "a pipe in its place": functools.partial(pipe_instead, pattern),
        }.items():
            yield _case(
                11, f"{pattern} {title}", harm, says=f"{Path(pattern).name}|`python -m pipeline".replace(".", r"\.")
            )
    if can_mount():
        yield Case(7, "render: 300k for its output", _full, says="the disk is full: ", slow=True)
    for part in (0.2, 0.5, 0.8):
        held = []

        def action(stages: Stages, folder: Path, part=part, held=held) -> Run:
            held[:] = [stages]
            return _killed(part, stages, folder)

        right = lambda folder, _, held=held: drawn(folder) == drawn(finished(held[0]))
        yield Case(14, f"render: killed after {part * 10:g} s", action, right, refusable=False, slow=True)
