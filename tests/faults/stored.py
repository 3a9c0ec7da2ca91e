"""What lies on disk between the stages and between runs: altered, cut, on full disks, left by killed stages (1, 7, 11, 14)."""

import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tests.faults.cases import Case, Run, Stages
from tests.faults.repository import TINY, after, changed, stage

EXPERIMENT = "linear_pairs"
NAMED = ("generate", "train", "evaluate")
ORDER = ("plan", "download", "estimate", *NAMED)
"""The stages of one experiment, in order."""

MADE = {
    "plan": "data/plan",
    "download": "data/images",
    "estimate": "data/nads",
    "generate": f"data/datasets/{EXPERIMENT}",
    "train": f"models/{EXPERIMENT}",
    "evaluate": f"reports/{EXPERIMENT}",
}
"""What each stage makes."""

DOCUMENT = changed(changed(TINY, "device", "cpu"), "scales/smoke/nads", {"lenet": 4})
DOCUMENT = changed(DOCUMENT, "scales/smoke/linear_pairs/networks/lenet/indices", [1])


def words(name: str) -> list[str]:
    """The arguments of a stage of the experiment."""
    return [EXPERIMENT] if name in NAMED else []


@functools.cache
def finished(stages: Stages) -> Path:
    """A repository after all stages of the experiment."""
    return after(stages, "finished", DOCUMENT, [(name, *words(name)) for name in ORDER])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, by its place there; of tables that hold how long something took, none."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def same(stages: Stages, name: str, folder: Path) -> bool:
    """Whether a stage has made, to the last byte, what it makes undisturbed."""
    return contents(folder / MADE[name]) == contents(finished(stages) / MADE[name])


def _case(
    group: int,
    title: str,
    name: str,
    harm: Callable[[Path], None],
    says: str = "",
    refusable: bool = True,
    **options: object,
) -> Case:
    """A case in which a copy of a finished repository is harmed, and a stage run in it."""
    held = []

    def action(stages: Stages, folder: Path) -> Run:
        held[:] = [stages]
        shutil.copytree(finished(stages), folder, dirs_exist_ok=True)
        harm(folder)
        return stage(stages, name, folder, *words(name))

    return Case(group, title, action, lambda folder, _: same(held[0], name, folder), refusable, says, **options)


def _one(folder: Path, pattern: str) -> Path:
    """The first file of a pattern."""
    return min(folder.glob(pattern))


def _turned(pattern: str, place: float, folder: Path) -> None:
    """Turn one bit of a file, at a fraction of its length."""
    data = bytearray((path := _one(folder, pattern)).read_bytes())
    data[int(place * (len(data) - 1))] ^= 1
    path.write_bytes(data)


def cut(pattern: str, place: float, folder: Path) -> None:
    """Cut a file at a fraction of its length."""
    data = (path := _one(folder, pattern)).read_bytes()
    path.write_bytes(data[: int(place * len(data))])


def replaced(pattern: str, content: bytes, folder: Path) -> None:
    """Put other contents in a file's place."""
    _one(folder, pattern).write_bytes(content)


def removed(pattern: str, folder: Path) -> None:
    """Take a file away."""
    _one(folder, pattern).unlink()


def _folder_instead(pattern: str, folder: Path) -> None:
    (path := _one(folder, pattern)).unlink()
    path.mkdir()


def pipe_instead(pattern: str, folder: Path) -> None:
    """Put a pipe in a file's place, which whoever reads it waits for."""
    (path := _one(folder, pattern)).unlink()
    os.mkfifo(path)


def altered(each: int) -> Iterator[Case]:
    """What the store keeps, altered: the cell and the sums must be made again, with the same bytes."""
    for name, pattern in (("train", ".cells/??/*.safetensors"), ("estimate", ".cells/nads/*/*.safetensors")):
        for place in np.linspace(0, 1, each):
            harm = functools.partial(_turned, pattern, place)
            yield _case(1, f"{name}: a bit at {place:.2f}", name, harm, refusable=False, slow=0 < place < 1)
        for title, harm in {
            "cut in half": functools.partial(cut, pattern, 0.5),
            "emptied": functools.partial(replaced, pattern, b""),
            "a pickle": functools.partial(replaced, pattern, b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94."),
            "removed": functools.partial(removed, pattern),
            "a pipe in its place": functools.partial(pipe_instead, pattern),
        }.items():
            yield _case(1, f"{name}: {title}", name, harm, refusable=False, slow=True)
        yield _case(1, f"{name}: a folder in its place", name, functools.partial(_folder_instead, pattern), slow=True)


HANDED_OVER = {
    "data/plan/images.json": ("download",),
    "data/plan/nads.json": ("estimate",),
    "data/plan/machine.json": ("train",),
    f"data/plan/{EXPERIMENT}.json": NAMED[:2],
    "data/nads/lenet.npz": ("generate",),
    f"data/datasets/{EXPERIMENT}/cells.csv": ("train",),
    f"data/datasets/{EXPERIMENT}/directions.npz": ("train",),
    f"data/datasets/{EXPERIMENT}/draw-0.npz": ("train",),
    f"data/datasets/{EXPERIMENT}/digests.json": ("train",),
    f"models/{EXPERIMENT}/*.safetensors": ("evaluate",),
    f"models/{EXPERIMENT}/grid.json": ("evaluate",),
    f"models/{EXPERIMENT}/training.csv": ("evaluate",),
    f"models/{EXPERIMENT}/losses.csv": ("evaluate",),
}
"""What a stage reads that another one made, and which stages."""


def handed_over() -> Iterator[Case]:
    """Files between stages that are not as they were made: the sentence names the file, or the stage that makes it."""
    for pattern, names in HANDED_OVER.items():
        harms = {
            "removed": functools.partial(removed, pattern),
            "emptied": functools.partial(replaced, pattern, b""),
            "cut in half": functools.partial(cut, pattern, 0.5),
            "noise": functools.partial(replaced, pattern, np.random.default_rng(0).bytes(500)),
            "of another kind": functools.partial(replaced, pattern, b"[1, 2]" if "json" in pattern else b"a,b\n1,2\n"),
            "a folder in its place": functools.partial(_folder_instead, pattern),
            "a pipe in its place": functools.partial(pipe_instead, pattern),
        }
        for name in names:
            for title, harm in harms.items():
                says = f"{Path(pattern).name.lstrip('*')}|`python -m pipeline"
                yield _case(11, f"{name}: {pattern} {title}", name, harm, says=says.replace(".", r"\."), slow=True)


def _place(made: str, instead: str, folder: Path) -> None:
    """Put something else where a folder of the repository stands, or shall stand."""
    path = folder / made
    shutil.rmtree(path, ignore_errors=True)
    match instead:
        case "a file":
            path.touch()
        case "a link that leads nowhere":
            path.symlink_to("nowhere")
        case "a pipe":
            os.mkfifo(path)


def misplaced() -> Iterator[Case]:
    """What is no folder where one must be: the sentence names it."""
    for name, made in (
        ("plan", ".cells"),
        ("plan", "data"),
        ("plan", ".own"),
        ("train", "models"),
        ("evaluate", "reports"),
    ):
        for instead in ("a file", "a link that leads nowhere", "a pipe"):
            harm, says = (
                functools.partial(_place, made, instead),
                rf"{re.escape(made)} is no folder, and one must be there",
            )
            yield _case(11, f"{name}: {instead} at {made}", name, harm, says=says, slow=name == "evaluate")


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[bool]:
    """Context with a file system of a size at a folder; False where it cannot be mounted, which only root can."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    try:
        yield not mounted.returncode
    finally:
        if not mounted.returncode:
            subprocess.run(["umount", "-l", folder], check=True)


def _full(name: str, where: str, size: str, stages: Stages, folder: Path) -> Run:
    """A stage whose store, or whose output, lies on a small disk."""
    shutil.copytree(finished(stages), folder, dirs_exist_ok=True)
    place = folder / (".cells" if where == "store" else MADE[name])
    shutil.rmtree(place)
    shutil.rmtree(folder / MADE[name], ignore_errors=True)
    with small_disk(place, size):
        return stage(stages, name, folder, *words(name))


def can_mount() -> bool:
    """Whether a small disk can be mounted here."""
    with tempfile.TemporaryDirectory() as name, small_disk(Path(name), "100k") as mounted:
        return mounted


def full_disks() -> Iterator[Case]:
    """Disks that are full at once, and after a while."""
    for name, where, sizes in (
        ("plan", "output", ("4k",)),
        ("download", "output", ("4k", "1m")),
        ("generate", "output", ("4k", "100k")),
        ("estimate", "store", ("4k", "1m")),
        ("estimate", "output", ("4k", "1m")),
        ("train", "store", ("4k", "64k")),
        ("train", "output", ("4k", "64k")),
        ("evaluate", "output", ("4k",)),
    ):
        for size in sizes:
            action, slow = functools.partial(_full, name, where, size), name in ("estimate", "train", "evaluate")
            yield Case(7, f"{name}: {size} for its {where}", action, says="the disk is full: ", slow=slow)


def _killed(name: str, part: float, stages: Stages, folder: Path) -> Run:
    """A stage that is killed at a part of its time, and then run again."""
    shutil.copytree(finished(stages), folder, dirs_exist_ok=True)
    whole = _seconds(stages, name)
    for made in (MADE[name], *(() if name in ("plan", "download") else [".cells"])):
        shutil.rmtree(folder / made, ignore_errors=True)
    stage(stages, name, folder, *words(name), kill=part * whole)
    return stage(stages, name, folder, *words(name))


@functools.cache
def _seconds(stages: Stages, name: str) -> float:
    """How long a stage takes in which nothing is kept."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(finished(stages), place, dirs_exist_ok=True)
        shutil.rmtree(Path(place) / ".cells", ignore_errors=True)
        return stage(stages, name, Path(place), *words(name)).seconds


def kills(parts: tuple[float, ...] = (0.3, 0.6, 0.9)) -> Iterator[Case]:
    """Every stage, killed at parts of its time: the next run makes the same bytes."""
    for name in ORDER:
        for part in parts:
            held = []

            def action(stages: Stages, folder: Path, name=name, part=part, held=held) -> Run:
                held[:] = [stages]
                return _killed(name, part, stages, folder)

            right = lambda folder, _, name=name, held=held: same(held[0], name, folder)
            slow = name not in ("plan", "download", "generate") and part != 0.6
            yield Case(14, f"{name}: killed at {part:.0%}", action, right, refusable=False, slow=slow)


def cases(each: int = 4) -> list[Case]:
    """All cases of what lies on disk; each: turned bits of a kept cell and of kept sums."""
    disks = full_disks() if can_mount() else ()
    return [*altered(each), *handed_over(), *misplaced(), *disks, *kills()]
