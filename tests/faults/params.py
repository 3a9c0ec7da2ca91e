"""The cases of params.yaml: hostile values, names and texts in its places (groups 4, 5, 9 and 10)."""

import copy
import functools
import json
from collections.abc import Iterator
from pathlib import Path

import yaml
from dvc.utils.serialize import parse_yaml

from tests.faults.cases import Case, Run, Stages
from tests.faults.repository import GONE, SMOKE, TINY, changed, lay_down, meant, renamed
from tests.faults.values import HOSTILE, NAMES, NO_DOCUMENTS, SCALARS


def leaves(value, path=()):
    """The path of everything in a document that is no mapping, and of the empty ones."""
    if not isinstance(value, dict) or not value:
        yield path
        return
    for key, item in value.items():
        yield from leaves(item, (*path, key))


RANGES = {
    "seed": (int, 0, 10**9),
    **dict.fromkeys(("eps", "eps1", "eps2"), (float, 0, 1e6)),
    **dict.fromkeys(("sigma", "size"), (float, 1e-30, 1e6)),
    "step": (float, 1e-3, 1e6),
    **dict.fromkeys(("seeds", "epochs"), (int, 1, 10_000)),
    **dict.fromkeys(("train_samples", "test_samples"), (int, 1, 10**6)),
    "lr": (float, 1e-30, 1000),
    "momentum": (float, 0, 1),
    "weight_decay": (float, 0, 1000),
    "width": (float, 0.01, 100),
    "growth": (int, 1, 10**4),
    **dict.fromkeys(("symmetry", "compare", "reuse", "skip"), (bool, False, True)),
    **dict.fromkeys(("estimand", "method", "point", "device", "scale", "precision", "network", "downsampling"), (str,)),
    **dict.fromkeys(("indices", "mixture_indices", "hidden"), (list,)),
}
"""What the value of a key can mean at all: its type, and where it is a number its least and its largest."""


USED = {
    name for block in SMOKE["scales"]["smoke"].values() if isinstance(block, dict) for name in block.get("networks", ())
}
"""Architectures of which something is trained: what is wrong with another's arguments changes nothing."""


def sound(path: tuple[str, ...], value: object) -> bool:
    """Whether a value can mean anything at a place; False where it must be refused, whatever stands elsewhere."""
    if path[0] == "architectures" and path[1] not in USED:
        return True
    key = path[-1] if path[-1] in RANGES else path[-2] if len(path) > 1 and path[-2] == "sigma" else None
    kind, *limits = RANGES.get(key, (None,))
    if kind is None:
        return True
    if kind is float:
        return type(value) in (int, float) and limits[0] <= value <= limits[1]
    return type(value) is kind and (not limits or limits[0] <= value <= limits[1])


def plan_of(document: object, stages: Stages, folder: Path, **options: object) -> Run:
    """The stage `plan` on a document, or on the text or the bytes of one."""
    return stages.run("plan", folder=lay_down(folder, document), memory=12 * 2**30, **options)


def _case(group: int, name: str, document: object, meaning: dict | None = None, says: str = "", **options) -> Case:
    """A case of params.yaml; meaning: the document that it may be taken for, None where it must be refused."""
    right = None if meaning is None else lambda folder, _: meant(meaning, folder)
    return Case(group, name, functools.partial(_planned, document), right, says=says, **options)


def _planned(document: object, stages: Stages, folder: Path) -> Run:
    return plan_of(document, stages, folder)


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) < 40 else f"{text[:39]}…"


def generated(each: int) -> Iterator[Case]:
    """Every leaf of params.yaml with `each` hostile values in turn, and its key renamed or taken away."""
    for number, path in enumerate(leaves(SMOKE)):
        place = "/".join(path)
        for turn in range(each):
            value = copy.deepcopy(HOSTILE[(number * each + turn) % len(HOSTILE)])
            document = changed(SMOKE, place, value)
            # Where a line holds a mapping, keys that nobody knows must be refused; in doubt, what is accepted must be what is meant.
            works = sound(path, value) and not (path[0] != "architectures" and isinstance(value, dict) and value)
            group = 9 if isinstance(value, (int, float)) and not isinstance(value, bool) else 10
            yield _case(group, f"{place}: {_shown(value)}", document, document if works else None)
        yield _case(10, f"{place}: taken away", changed(SMOKE, place, GONE), _without(path))


def _without(path: tuple[str, ...]) -> dict | None:
    """What a document may be taken for that lacks a leaf: the same, where the leaf is an entry of a mapping of names."""
    entries = ("sigma", "nads", "networks", "training")
    free = len(path) > 1 and (path[-2] in entries or path[0] == "architectures" or "networks" in path)
    return changed(SMOKE, "/".join(path), GONE) if free or path[-1] in ("positive", "path", "fallback") else None


def by_hand() -> Iterator[Case]:
    """What people do to a file, text by text."""
    text = yaml.safe_dump(SMOKE, sort_keys=False)
    for scalar in SCALARS:
        for key in ("seed", "eps1"):
            lines = [f"{key}: {scalar}" if line.startswith(f"{key}: ") else line for line in text.splitlines()]
            changed_text = "\n".join(lines) + "\n"
            try:
                value = parse_yaml(changed_text, "params.yaml")[key]
            except Exception:
                value = None
            meaning = changed(SMOKE, key, value) if sound((key,), value) else None
            slow = key == "eps1"
            yield _case(4, f"{key}: {scalar}", changed_text, meaning, refusable=meaning is None, slow=slow)
    for number, (broken, _) in enumerate(NO_DOCUMENTS):
        yield _case(4, f"text {number}: {broken[:30]!r}", broken)
    # As it stands, in other ways to write it.
    for name, given in {
        "byte order mark": b"\xef\xbb\xbf" + text.encode(),
        "CRLF": text.replace("\n", "\r\n"),
        "no last end of line": text.rstrip("\n"),
        "a document's marks": f"---\n{text}...\n",
        "trailing spaces": text.replace("\n", "   \n"),
        "blank lines and comments": text.replace("\n", "\n\n# é ∇\n"),
        "an anchor and its alias": text.replace("seed: 0\n", "seed: &s 0\n", 1).replace(
            "fallback: digits", "fallback: digits "
        ),
        "flow style": json.dumps(SMOKE),
    }.items():
        yield _case(4, name, given, SMOKE, refusable=False)
    for name, given in {
        "empty": b"",
        "a space": b" ",
        "zeros": bytes(1000),
        "UTF-16": text.encode("utf-16"),
        "UTF-32": text.encode("utf-32"),
        "Latin-1": text.replace("eps1", "épsilon").encode("latin-1"),
        "tabs": text.replace("  ", "\t"),
        "a tab before one key": text.replace("\neps1", "\n\teps1"),
        "twice": text + text,
        "a seed twice": text + "seed: 1\n",
        "cut in half": text[: len(text) // 2],
        "cut after a colon": text[: text.index("scales:") + 7],
        "no space after a colon": text.replace("seed: 0", "seed:0"),
        "a comma for a point": text.replace("eps1: 1.0", "eps1: 1,0"),
        "a fullwidth digit": text.replace("seed: 0", "seed: \uff11"),
        "a minus sign of Unicode": text.replace("seed: 0", "seed: \u22121"),
        "a no-break space": text.replace("seed: 0", "seed:\u00a00"),
        "a merge conflict": text.replace("seed: 0", "<<<<<<< HEAD\nseed: 0\n=======\nseed: 1\n>>>>>>> other"),
        "JSON cut": json.dumps(SMOKE)[:-1],
        "a pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94.",
        "an image": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "ten megabytes": b"# " + b"x" * 10_000_000,
        "a surrogate": text.replace("seed: 0", 'seed: "\\ud800"'),
    }.items():
        yield _case(4, name, given)
    for name, path, value in (
        ("a scale as a list", "scale", ["smoke"]),
        ("another scale's name", "scale", "Smoke"),
        ("a network's name as its block", "architectures/lenet", "lenet"),
        ("hidden: [0]", "architectures/mlp_100_20/hidden", [0]),
        ("hidden: [-1]", "architectures/mlp_100_20/hidden", [-1]),
        ("hidden: a billion", "architectures/mlp_100_20/hidden", [10**9, 10**9]),
        ("a tuple as text", "scales/smoke/linear_pairs/networks/lenet/indices", "(1, 2)"),
        ("indices as one number", "scales/smoke/linear_pairs/networks/lenet/indices", 1),
        ("a float index", "scales/smoke/linear_pairs/networks/lenet/indices", [1.0]),
        ("a true index", "scales/smoke/linear_pairs/networks/lenet/indices", [True]),
        ("index 1024", "scales/smoke/linear_pairs/networks/lenet/indices", [1024]),
        ("a range backwards", "scales/smoke/linear_pairs/networks/lenet/indices", [[9, 1, 1]]),
        ("precision missing", "scales/smoke/precision", GONE),
        ("precision float16", "scales/smoke/precision", "float16"),
        ("device cuda:0", "device", "cuda:0"),
        ("device CPU", "device", "CPU"),
        ("a URL with a password", "images/url", "https://me:hunter2@example.org/x"),
        ("a file URL", "images/url", "file:///etc/passwd"),
        ("an ftp URL", "images/url", "ftp://example.org/x"),
        ("a URL with spaces", "images/url", "https://example.org/a b"),
        ("a URL with a bad port", "images/url", "https://example.org:99999/"),
        ("a class twice", "image_pairs/positive", ["cat", "cat"]),
        ("no class", "image_pairs/positive", []),
        ("a class as text", "image_pairs/positive", "cat"),
        ("one network", "scales/smoke/nads/lenet", 1),
        ("error 0", "scales/smoke/nads/lenet", {"networks": 4, "error": 0}),
        ("error 1", "scales/smoke/nads/lenet", {"networks": 4, "error": 1}),
        ("an input of two numbers", "scales/smoke/nads/lenet", {"networks": 4, "input": [32, 32]}),
        ("an input without end", "scales/smoke/nads/lenet", {"networks": 4, "input": [3, 10**6, 10**6]}),
        ("both a file and networks", "scales/smoke/nads/lenet", {"networks": 4, "file": "a.npy"}),
        ("a file that is a folder", "scales/smoke/nads/lenet", {"file": "."}),
        ("a device as a file", "scales/smoke/nads/lenet", {"file": "/dev/null"}),
        ("no experiments", "scales/smoke/flip", GONE),
        ("an experiment of its own", "scales/smoke/mine", {}),
        ("a network without NADs", "scales/smoke/linear_pairs/networks/vgg11_narrow", {"indices": [1]}),
    ):
        yield _case(10 if name != "a class twice" else 5, name, changed(SMOKE, path, value))
    for block in ("architectures", "scales"):
        for name in NAMES:
            value = list(SMOKE[block].values())[-1]
            slow = block == "scales"
            yield _case(5, f"{block}: {name!r}"[:60], SMOKE | {block: SMOKE[block] | {name: value}}, slow=slow)
    yield _case(5, "two names that differ in case", changed(SMOKE, "architectures/LeNet", {"network": "lenet"}))
    yield _case(
        5,
        "a class of TeX",
        changed(TINY, "image_pairs/positive", ["$\\frac$", "|", "<b>"]),
        changed(TINY, "image_pairs/positive", ["$\\frac$", "|", "<b>"]),
    )
    for path in ("seed", "scales/smoke/precision", "architectures/lenet/network", "scales/smoke/flip/training/lr"):
        yield _case(5, f"{path}: renamed", renamed(SMOKE, path, "sead"))


def cases(each: int = 3) -> list[Case]:
    """All cases of params.yaml; each: hostile values for each of its leaves."""
    return [*generated(each), *by_hand()]
