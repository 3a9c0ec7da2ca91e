"""Networks and NADs of one's own with a fault each: what the plan must say of them (groups 3 and 10)."""

import functools
import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.faults.cases import Case, Run, Stages
from tests.faults.params import plan_of
from tests.faults.repository import TINY, changed

HERE = "tests.faults.own_networks"


def own(name="Own", **arguments):
    """The specification of a network in own_networks.py."""
    return {"network": f"{HERE}:{name}"} | arguments


SIZE = "(3, 2, 32, 32)"
TO_THREE = f"maps {SIZE} to"
NOT_FINITE = "cannot be trained: its output is not finite for standard-normal images"
CHANGED = "cannot be used: it changes the images that it is given, so let it work on a copy of them"
MIXED = "cannot be used: in eval mode its output for an image depends on chance, or on the images beside it"
UNUSABLE = [
    (own(running="exit"), "cannot be run: SystemExit: 0"),
    (own(running="ending"), "cannot be run: Ending: at once"),
    (own(running="silent"), "cannot be run: Silent: it has no message"),
    (own(running="long"), f"cannot be run: ValueError: {'x' * (399)}…"),
    (own(running="lines"), "cannot be run: ValueError: two lines and more"),
    (own(building="exit"), "cannot be run: SystemExit: 0"),
    (own(building="ending"), "cannot be run: Ending: at once"),
    (own(building="silent"), "cannot be run: ValueError:"),
    (own(returning="a tuple"), "cannot be run: it returns a value of type tuple, not a tensor"),
    (own(returning="a mapping"), "cannot be run: it returns a value of type dict, not a tensor"),
    (own(returning="nothing"), "cannot be run: it returns a value of type NoneType, not a tensor"),
    (own(returning="a tuple in training"), "cannot be run: it returns a value of type tuple, not a tensor"),
    (own(returning="one value"), "maps (2, 2, 32, 32) to (), not to (2, 2)"),
    (own(returning="too few"), "maps (2, 2, 32, 32) to (2, 1), not to (2, 2)"),
    (own(returning="one image"), "maps (2, 2, 32, 32) to (1, 2), not to (2, 2)"),
    (own(returning="NaN"), NOT_FINITE),
    (own(returning="infinity"), NOT_FINITE),
    (own(returning="NaN in training"), NOT_FINITE),
    (own(returning="complex numbers"), "cannot be run: it returns numbers of type torch.complex64, not torch.float32"),
    (own(returning="whole numbers"), "cannot be run: it returns numbers of type torch.int64, not torch.float32"),
    (own(returning="doubles"), "cannot be run: it returns numbers of type torch.float64, not torch.float32"),
    (own(returning="bfloat16"), "cannot be run: it returns numbers of type torch.bfloat16, not torch.float32"),
    (own(returning="no gradient"), "cannot be trained: none of its weights gets a gradient from its output"),
    (
        own(returning="no finite gradient"),
        "cannot be trained: its gradient is not finite for standard-normal images",
    ),
    (own(returning="no derivative"), "cannot be run: RuntimeError: no derivative"),
    (own(returning="other images too"), MIXED),
    (own(returning="chance"), MIXED),
    (own("free_norm"), MIXED),
    (own(returning="for two images"), "cannot be run: RuntimeError: "),
    (own(returning="of a view"), "cannot be run: RuntimeError: view size is not compatible with input tensor's size"),
    (own(returning="after doubling"), CHANGED),
    (own(returning="after ReLU"), CHANGED),
    (own(returning="after .data"), CHANGED),
    (own("weightless"), "cannot be run: it has no weights"),
    (own("unseeded"), "cannot be used: its first weights are not decided by torch's seed; draw them with torch alone"),
    (own("lazy"), "cannot be run: ValueError: Attempted to use an uninitialized parameter"),
    (
        own("Stating"),
        "cannot be run: its class states symmetry = 'hexagon', which is not one of none, transposition, square, measured",
    ),
    (own("Piled"), "cannot be run: its class states together = 'pile', which is not one of stack, graph, alone"),
    (own("Method"), "cannot be run: TypeError: "),
]
"""Specifications, and what is said of each when it is tried with two channels and two outputs."""

MODULES = [
    ("import sys\nsys.exit(0)\n", "own_module:net cannot be run: SystemExit: 0"),
    ("class Ending(BaseException): pass\nraise Ending('now')\n", "own_module:net cannot be run: Ending: now"),
    ("def net(:\n", "own_module:net cannot be run: SyntaxError: invalid syntax (own_module.py, line 1)"),
    ("def net(channels, outputs):\n  return 1\n 2\n", "own_module:net cannot be run: IndentationError: "),
    ("é = 1\n".encode("latin-1"), "own_module:net cannot be run: SyntaxError: "),
    ("import own_module.net\n", "the network 'own_module:net' cannot be imported ("),
    ("def other(): pass\n", "the network 'own_module:net' cannot be imported: own_module has no 'net'"),
    ("net = 'a name'\n", "own_module:net is of type str; name a class or a function that returns a torch module"),
    (
        "def net(): pass\n",
        "the network own_module:net cannot be built with {}: net() takes 0 positional arguments but 2",
    ),
    ("from os import getcwd as net\n", "own_module:net is a function built into Python; name a class"),
]
"""The text of a module own_module, and the beginning of what is said where its `net` is asked for."""


def _planned(architecture: dict, files: dict[str, bytes], stages: Stages, folder: Path) -> Run:
    """The stage `plan` with a network of one's own, beside modules by their names."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    document = changed(TINY, "architectures/mine", architecture)
    document = changed(document, "scales/smoke/nads/mine", 2)
    document = changed(document, "scales/smoke/linear_pairs/networks/mine", {"indices": [1]})
    return plan_of(document, stages, folder)


def _of_networks() -> Iterator[Case]:
    text = Path(__file__).with_name("own_networks.py").read_bytes()
    for specification, _ in UNUSABLE:
        given = specification | {"network": specification["network"].replace(HERE, "own_networks")}
        name = ", ".join(str(value) for value in given.values())
        action = functools.partial(_planned, given, {"own_networks.py": text})
        yield Case(10, name, action, says="own_networks:")
    for module, _ in MODULES:
        content = module if isinstance(module, bytes) else module.encode()
        action = functools.partial(_planned, {"network": "own_module:net"}, {"own_module.py": content})
        yield Case(3 if "exit" in str(module) else 10, f"a module {module[:40]!r}", action, says="own_module:net")
    for place in (
        *(
            "torchvision:models",
            "torchvision.models:none",
            "timm:create_model",
            "os:system",
            "builtins:exec",
            "sys:exit",
        ),
        *(
            "pipeline.plan:main",
            "antigravity:x",
            "this:d",
            ":x",
            "x:",
            "a.b.c:d",
            "..:x",
            "own module:net",
            "json:dumps",
        ),
    ):
        yield Case(10, f"the network {place}", functools.partial(_planned, {"network": place}, {}))


RNG = np.random.default_rng(0)
ROWS = np.linalg.qr(RNG.standard_normal((1024, 8)))[0].T


def _saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def _header(shape: str) -> bytes:
    """A .npy whose header says that it holds more than it does."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64)


class _Hostile:
    """What makes a folder where it is unpickled."""

    def __reduce__(self) -> tuple:
        return os.mkdir, ("executed",)


NPY = {
    "1e300": np.full((8, 1024), 1e300),
    "NaN": np.where(RNG.random((8, 1024)) < 0.01, np.nan, ROWS),
    "infinity": np.where(ROWS > 0.05, np.inf, ROWS),
    "complex numbers": ROWS * 1j,
    "text": np.array([["a"] * 1024]),
    "truth values": np.ones((8, 1024), bool),
    "whole numbers": np.ones((8, 1024), np.int64),
    "dates": np.zeros((8, 1024), "datetime64[s]"),
    "a structure": np.zeros(8, [("a", "f8"), ("b", "f8")]),
    "one row as a vector": ROWS[0],
    "columns for rows": ROWS.T,
    "no rows": ROWS[:0],
    "too many rows": np.concatenate([np.eye(1024), ROWS]),
    "other inputs": ROWS[:, :1000],
    "three axes": ROWS.reshape(8, 32, 32),
    "twice the same": np.repeat(ROWS[:1], 2, 0),
    "rows twice as long": 2 * ROWS,
    "rows that are not orthogonal": ROWS + np.roll(ROWS, 1, 0),
    "zeros": np.zeros((8, 1024)),
    "an object that runs code": np.array([_Hostile()], object),
}
"""Arrays that are no NADs of 32×32 pixels."""


def _with_file(content: bytes, stages: Stages, folder: Path) -> Run:
    (folder / "mine.npy").write_bytes(content)
    document = changed(TINY, "scales/smoke/nads/lenet", {"file": "mine.npy"})
    for name in ("linear_pairs", "nad_sweep"):
        document = changed(document, f"scales/smoke/{name}/networks/lenet/indices", [1])
    run = plan_of(document, stages, folder)
    assert not (folder / "executed").exists()
    return run


def npy(each: int) -> Iterator[Case]:
    """Files of NADs: arrays that are none, headers that lie, `each` cuts and `each` turned bits."""
    for name, array in NPY.items():
        yield Case(3, f"NADs: {name}", functools.partial(_with_file, _saved(array)), says="mine.npy")
    whole = _saved(ROWS)
    files = {"empty": b"", "text": b"0.1,0.2", "a zip": b"PK\x05\x06" + bytes(18)}
    for shape in ("(10**12, 1024)", "(1000000000000, 1024)", "(-1, 1024)", "(8,", "(8, 1024.0)", "()", "'x'", "[8]*8"):
        files[f"the shape {shape}"] = _header(shape)
    for cut in np.random.default_rng(1).integers(0, len(whole), each):
        files[f"cut at {cut}"] = whole[:cut]
    for name, content in files.items():
        yield Case(3, f"NADs: {name}", functools.partial(_with_file, content), says="mine.npy")
    for bit in (*range(0, 8 * 128, 8 * 128 // each), *RNG.integers(8 * 128, 8 * len(whole), each)):
        turned = bytearray(whole)
        turned[bit // 8] ^= 1 << bit % 8
        # There is no checksum in a .npy, and what is still orthonormal within rounding are NADs.
        check = lambda folder, _: np.allclose(
            (rows := np.load(folder / "mine.npy")) @ rows.T, np.eye(len(rows)), atol=1e-3
        )
        yield Case(3, f"NADs: bit {bit}", functools.partial(_with_file, bytes(turned)), check)


def cases(each: int = 12) -> list[Case]:
    """All cases of networks and NADs of one's own; each: cuts and turned bits of a file of NADs."""
    return [*_of_networks(), *npy(each)]
