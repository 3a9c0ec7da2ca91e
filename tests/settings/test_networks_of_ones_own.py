"""What a user's own network may do wrong: each ends with one sentence before any work, and none ends the check as if all were well."""

import random
import signal
import sys
import time
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from pipeline.networks import dry_run as tried
from pipeline.networks.dry_run import SAID, DryRun, dry_run
from pipeline.project.errors import InputError, Stopped

HERE = __name__


class Ending(BaseException):
    """What is no Exception, as SystemExit is none."""


class Silent(Exception):
    """An exception whose message cannot be had."""

    def __str__(self):
        raise ValueError


ERRORS = {
    "exit": SystemExit(0),
    "ending": Ending("at once"),
    "silent": Silent(),
    "long": ValueError("x" * 10_000),
    "lines": ValueError("two\r\n\x0clines\u2028 and more"),
}


class Own(nn.Module):
    """A linear network that raises an error of `ERRORS` in one of its parts."""

    def __init__(self, channels, outputs, building=None, running=None, returning=None):
        super().__init__()
        if building:
            raise ERRORS[building]
        self.running, self.returning = running, returning
        self.fc = nn.Linear(channels * 1024, outputs)

    def forward(self, x):
        if self.running:
            raise ERRORS[self.running]
        y = self.fc(x.flatten(1))
        return RETURNED[self.returning](self, x, y) if self.returning else y


class Backward(torch.autograd.Function):
    """The identity, whose derivative cannot be taken."""

    @staticmethod
    def forward(context, x):
        return x * 1

    @staticmethod
    def backward(context, gradient):
        raise RuntimeError("no derivative")


RETURNED = {
    "a tuple": lambda self, x, y: (y, y),
    "a mapping": lambda self, x, y: {"output": y},
    "nothing": lambda self, x, y: None,
    "a tuple in training": lambda self, x, y: (y, y) if self.training else y,
    "one value": lambda self, x, y: y.sum(),
    "too few": lambda self, x, y: y[:, :1],
    "one image": lambda self, x, y: y[:1],
    "a warning": lambda self, x, y: warnings.warn("beware", UserWarning, 1) or y,
    "NaN": lambda self, x, y: y * float("nan"),
    "infinity": lambda self, x, y: y / 0,
    "NaN in training": lambda self, x, y: y * float("nan") if self.training else y,
    "complex numbers": lambda self, x, y: torch.complex(y, y),
    "whole numbers": lambda self, x, y: y.long(),
    "doubles": lambda self, x, y: y.double(),
    "bfloat16": lambda self, x, y: y.bfloat16(),
    "no gradient": lambda self, x, y: y.detach(),
    "no finite gradient": lambda self, x, y: (y * 0).abs().sqrt() + y.detach(),
    "no derivative": lambda self, x, y: Backward.apply(y),
    "other images too": lambda self, x, y: y - y.mean(0),
    "chance": lambda self, x, y: self.fc(F.dropout(x).flatten(1)),
    "for two images": lambda self, x, y: self.fc(x.reshape(2, -1)),
    "of a view": lambda self, x, y: self.fc(x.view(len(x), -1)),
    "after doubling": lambda self, x, y: self.fc(x.mul_(2).flatten(1)),
    "after ReLU": lambda self, x, y: self.fc(F.relu(x, inplace=True).flatten(1)),
    "after .data": lambda self, x, y: self.fc((x.data.add_(1) * 1).flatten(1)),
}


def weightless(channels, outputs):
    """No weights, but outputs of the right shape."""
    return nn.Sequential(nn.Flatten(), nn.AdaptiveAvgPool1d(outputs))


def unseeded(channels, outputs):
    """Weights that a generator other than torch's draws."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(channels * 1024, outputs))
    nn.init.constant_(network[1].bias, random.random())
    return network


def lazy(channels, outputs):
    """Weights whose shape its first input decides."""
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(outputs))


def free_norm(channels, outputs):
    """Batch norm by the images of the batch, also in eval mode."""
    norm = nn.BatchNorm2d(channels, track_running_stats=False)
    return nn.Sequential(norm, nn.Flatten(), nn.Linear(channels * 1024, outputs))


class Stating(Own):
    """A class that states what none may."""

    symmetry = "hexagon"


class Piled(Own):
    """Another."""

    together = "pile"


class Method(Own):
    """Its symmetry is a method, which only an object of it has."""

    def symmetry(self):
        return "square"


def waiting(channels, outputs, seconds=60, stubborn=False):
    """A constructor that does not end, and that may catch every Exception."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            time.sleep(0.01)
        except Exception:
            if not stubborn:
                raise
    return Own(channels, outputs)


def own(name="Own", **arguments):
    """The specification of a network in this file."""
    return {"network": f"{HERE}:{name}"} | arguments


SIZE = "(3, 2, 32, 32)"
TO_THREE = f"maps {SIZE} to"
NOT_FINITE = "cannot be trained: its output is not finite for standard-normal images"
CHANGED = "cannot be used: it changes the images that it is given, so let it work on a copy of them"
MIXED = "cannot be used: in eval mode its output for an image depends on chance, or on the images beside it"
CASES = [
    (own(running="exit"), "cannot be run: SystemExit: 0"),
    (own(running="ending"), "cannot be run: Ending: at once"),
    (own(running="silent"), "cannot be run: Silent: it has no message"),
    (own(running="long"), f"cannot be run: ValueError: {'x' * (SAID - 1)}…"),
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


@pytest.mark.parametrize(("specification", "sentence"), CASES)
def test_it_ends_with_one_sentence(specification, sentence):
    with pytest.raises(InputError) as caught:
        dry_run(specification, (2, 32, 32), 2)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert said.startswith(f"{specification['network']} {sentence}")


def half_frozen(channels, outputs):
    """A part of its weights is not trained, another not used."""
    network = Own(channels, outputs)
    network.fc.bias.requires_grad_(False)
    network.unused = nn.Linear(3, 3)
    return network


def usual(channels, outputs):
    """Batch norm over single values, dropout and tied weights."""
    tied = nn.Linear(8, 8)
    middle = [tied, nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout(), tied]
    return nn.Sequential(nn.Flatten(), nn.Linear(channels * 1024, 8), *middle, nn.Linear(8, outputs))


def test_what_is_unusual_but_sound():
    linear = 2 * 2048 * 2
    assert dry_run(own("half_frozen"), (2, 32, 32), 2) == DryRun(4 * (2 * 2049 + 12), linear)
    assert dry_run(own(returning="a warning"), (2, 32, 32), 2).operations == linear
    assert dry_run(own("usual"), (2, 32, 32), 2).operations == 2 * (2048 * 8 + 2 * 64 + 16)


def test_a_network_that_is_never_done(monkeypatch):
    monkeypatch.setattr(tried, "LONGEST", 0.1)
    before = signal.getsignal(signal.SIGALRM)
    for stubborn in (False, True):
        with pytest.raises(InputError, match=f"^{HERE}:waiting cannot be run: it was not done after 0.1 seconds$"):
            dry_run(own("waiting", stubborn=stubborn), (2, 32, 32), 2)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_trial_that_the_user_stops_is_stopped(monkeypatch):
    monkeypatch.setitem(ERRORS, "exit", Stopped(signal.SIGINT))
    with pytest.raises(Stopped):
        dry_run(own(running="exit"), (2, 32, 32), 2)
    monkeypatch.setitem(ERRORS, "exit", KeyboardInterrupt())
    # Whoever runs these tests may have them ignore Ctrl-C, as a shell's `&` does.
    monkeypatch.setattr(tried, "_may_be_interrupted", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        dry_run(own(running="exit"), (2, 32, 32), 2)
    # In a stage Ctrl-C is `Stopped`, so this is the network's own doing.
    monkeypatch.setattr(tried, "_may_be_interrupted", lambda: False)
    with pytest.raises(InputError, match=r"cannot be run: KeyboardInterrupt:$"):
        dry_run(own(running="exit"), (2, 32, 32), 2)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import sys\nsys.exit(0)\n", "own_module:net cannot be run: SystemExit: 0"),
        ("class Ending(BaseException): pass\nraise Ending('now')\n", "own_module:net cannot be run: Ending: now"),
        ("def net(:\n", "own_module:net cannot be run: SyntaxError: invalid syntax (own_module.py, line 1)"),
        ("def net(channels, outputs):\n  return 1\n 2\n", "own_module:net cannot be run: IndentationError: "),
        ("é = 1\n".encode("latin-1"), "own_module:net cannot be run: SyntaxError: "),
        ("import own_module.net\n", "the network 'own_module:net' cannot be imported ("),
        (
            "def other(): pass\n",
            "the network 'own_module:net' cannot be imported: own_module has no 'net'",
        ),
        ("net = 'a name'\n", "own_module:net is of type str; name a class or a function that returns a torch module"),
        (
            "def net(): pass\n",
            "the network own_module:net cannot be built with {}: net() takes 0 positional arguments but 2",
        ),
        ("from os import getcwd as net\n", "own_module:net is a function built into Python; name a class"),
    ],
)
def test_a_module_of_ones_own_that_does_not_do(text, sentence, tmp_path, monkeypatch):
    (tmp_path / "own_module.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_module", raising=False)
    with pytest.raises(InputError) as caught:
        dry_run({"network": "own_module:net"}, (2, 32, 32), 2)
    assert str(caught.value).startswith(sentence) and len(str(caught.value).splitlines()) == 1
