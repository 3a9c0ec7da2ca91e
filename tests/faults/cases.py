"""A case: one thing that goes wrong, what must come of it, and what came of it."""

import dataclasses
import enum
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]

GROUPS = {
    1: "what was kept is altered",
    2: "images",
    3: "networks and NADs of one's own, wrong",
    4: "YAML",
    5: "names",
    6: "what was changed since",
    7: "full disks",
    8: "downloads",
    9: "numbers",
    10: "types, and networks that fail",
    11: "damaged hand-overs",
    12: "archives",
    13: "names that are markup",
    14: "machine, kills, two at once",
}
"""The groups of cases: those of 1 to 6 would be silently wrong, the others would stop, hang or mislead."""


class Verdict(enum.Enum):
    """What came of a case."""

    RIGHT = "right result"
    SENTENCE = "one sentence"
    SILENT = "silent"
    HANG = "hang"
    TRACEBACK = "traceback"
    MISLEADS = "misleads"


GOOD = (Verdict.RIGHT, Verdict.SENTENCE)


@dataclasses.dataclass(frozen=True)
class Run:
    """How a stage ended: its exit status or minus the signal, what it printed, whether it had to be ended, its seconds."""

    code: int
    out: str
    err: str
    hung: bool
    seconds: float


class Stages:
    """The stages of a tree of the repository, each started in a process of its own by the program in server.py."""

    MODULES = ("plan", "download", "estimate", "generate", "train", "evaluate", "render")

    def __init__(self, tree: Path = ROOT) -> None:
        self.tree, self.folder = Path(tree).resolve(), tempfile.TemporaryDirectory(prefix="faults-")
        environment = {name: value for name, value in os.environ.items() if name not in ("CIFAR10", "DVC_STAGE")}
        kept = Path(self.folder.name) / "repository"
        environment |= {"PYTHONPATH": str(self.tree), "DVC_ROOT": str(kept), "OMP_NUM_THREADS": "1"}
        environment |= {"XDG_CACHE_HOME": str(kept / "cache")}
        kept.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("server.py"), *(f"pipeline.{name}" for name in self.MODULES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=kept,
            env=environment,
        )
        assert json.loads(self.process.stdout.readline()) == "ready"

    def __enter__(self) -> "Stages":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def run(
        self,
        stage: str,
        *arguments: str,
        folder: Path,
        limit: float = 60.0,
        memory: int = 0,
        kill: float | None = None,
        warm: bool = False,
        package: str = "pipeline.",
        **environment: str | None,
    ) -> Run:
        """Run a stage in `folder`; limit: seconds after which it counts as hanging; memory: bytes of address space, 0 for all;
        kill: seconds after which it is killed; warm: in the server itself, so that the next stages know what it computed;
        package: where the stage's module is.
        """
        out, err = (Path(self.folder.name) / name for name in ("out", "err"))
        asked = {"folder": str(folder), "argv": [f"{package}{stage}", *arguments], "environment": environment}
        asked |= {"out": str(out), "err": str(err), "limit": limit, "memory": memory, "kill": kill, "warm": warm}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if warm:
            return Run(0, "", "", False, 0.0)
        texts = (path.read_text(encoding="utf-8", errors="replace") for path in (out, err))
        return Run(answer["code"], *texts, answer["hung"], answer["seconds"])


Action = Callable[[Stages, Path], Run]


@dataclasses.dataclass(frozen=True)
class Case:
    """One thing that goes wrong.

    action: brings it about in an empty folder, and runs the stage that meets it.
    right: whether what lies there after exit status 0 is what it must be; None where nothing can be: it must be refused.
    refusable: whether it may also be refused. says: what a refusal must name, a regular expression.
    slow: of the campaign alone, not of the tests.
    """

    group: int
    name: str
    action: Action
    right: Callable[[Path, Run], bool] | None = None
    refusable: bool = True
    says: str = ""
    slow: bool = False


BANNER = re.compile(r"^!{100}$.*?^!{100}$", re.MULTILINE | re.DOTALL)


def refused(run: Run) -> str | None:
    """The sentences of a run that was refused in such; None if it ended otherwise or said more.

    A sentence is one line that begins with "error: "; several mistakes have one each. Notices may stand before them, and
    between rules of exclamation marks that digits stand in for CIFAR-10.
    """
    lines = [line for line in BANNER.sub("", run.err).splitlines() if line and not line.startswith("notice: ")]
    if run.code != 1 or not lines or not all(line.startswith("error: ") and line.isprintable() for line in lines):
        return None
    return "\n".join(lines)


def verdict(case: Case, run: Run, folder: Path) -> Verdict:
    """What came of a case."""
    if run.hung:
        return Verdict.HANG
    if "Traceback (most recent call last)" in run.err + run.out or run.code < 0:
        return Verdict.TRACEBACK
    if run.code == 0:
        return Verdict.RIGHT if case.right is not None and case.right(folder, run) else Verdict.SILENT
    sentence = refused(run)
    allowed = sentence is not None and (case.right is None or case.refusable)
    return Verdict.SENTENCE if allowed and re.search(case.says, sentence) else Verdict.MISLEADS


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A case after it was tried."""

    group: int
    name: str
    verdict: str
    code: int
    seconds: float
    said: str


def tried(case: Case, stages: Stages) -> Outcome:
    """Try one case, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="fault-", ignore_cleanup_errors=True) as name:
        folder = Path(name) / "repository"
        folder.mkdir()
        run = case.action(stages, folder)
        found = verdict(case, run, folder)
    return Outcome(case.group, case.name, found.value, run.code, round(run.seconds, 2), run.err[-2000:])
