"""Custom networks: they run as their authors meant them, or a check refuses them."""

import functools
import math
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from refusals import refused
from torch import nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from pipeline import networks
from pipeline.nads import estimate
from pipeline.networks import checks, custom, passes
from pipeline.networks.dry_run import dry_run
from pipeline.training import loop

SHAPE = (2, 8, 8)


def try_out(make, outputs=2):
    """The notices on a network, and whether it needs the default memory format."""
    build = functools.partial(custom.build, functools.partial(make, 2, outputs))
    build_contiguous = functools.partial(build, contiguous=True)
    contiguous = passes.needs_contiguous("it", build, build_contiguous, SHAPE)
    if contiguous:
        build = build_contiguous
    return checks.check("it", build, SHAPE, (outputs,)), contiguous


class Net(nn.Module):
    """Two linear layers, to which the networks below add something."""

    def __init__(self, channels, outputs):
        super().__init__()
        self.first = nn.Linear(64 * channels, 16)
        self.last = nn.Linear(16, outputs)
        self.prepare(channels, outputs)

    def prepare(self, channels, outputs):
        """What a network adds to the constructor."""

    def features(self, x):
        return self.first(x.flatten(1)).relu()

    def forward(self, x):
        return self.last(self.features(x))


# Refused
# ------------------------------------------------------------------------------


class DrawnByNumPy(Net):
    def prepare(self, channels, outputs):
        scale = torch.from_numpy(np.random.normal(size=16))
        self.register_buffer("scale", scale.float())

    def features(self, x):
        return self.scale * super().features(x)


class AttributeOfNumPy(DrawnByNumPy):
    def prepare(self, channels, outputs):
        self.scale = torch.from_numpy(np.random.normal(size=16)).float()


class SeedOfItsOwn(Net):
    def __init__(self, channels, outputs):
        torch.manual_seed(3)
        super().__init__(channels, outputs)


class Counted(Net):
    count = 0

    def prepare(self, channels, outputs):
        Counted.count += 1
        self.add_module(f"layer_{Counted.count}", nn.Linear(2, 2))


class LateHead(Net):
    def forward(self, x):
        if not hasattr(self, "head"):
            self.head = nn.Linear(16, 2)
        return self.head(self.features(x))


class FirstImages(Net):
    mean = None

    def features(self, x):
        if self.mean is None:
            self.mean = 3 * x[:1]
        return super().features(x - self.mean)


class Potential(Net):
    """A neuron whose potential remains after a call."""

    potential = 0

    def features(self, x):
        self.potential = 0.5 * self.potential + super().features(x).detach()
        return super().features(x) + self.potential


class PowerMethod(Net):
    """Spectral norm by one step of the power method in each call."""

    def prepare(self, channels, outputs):
        self.register_buffer("u", F.normalize(torch.randn(16), dim=0))

    def features(self, x):
        v = F.normalize(self.first.weight.detach().T @ self.u, dim=0)
        self.u = F.normalize(self.first.weight.detach() @ v, dim=0)
        return super().features(x) / (self.u @ self.first.weight @ v)


class Noise(Net):
    def forward(self, x):
        return super().forward(x) + 0.1 * torch.randn(len(x), 1)


class Centred(Net):
    def features(self, x):
        return super().features(x - x.mean(0))


class Untracked(Net):
    def prepare(self, channels, outputs):
        self.norm = nn.BatchNorm2d(channels, track_running_stats=False)

    def features(self, x):
        return super().features(self.norm(x))


def old_spectral_norm(channels, outputs):
    norm = torch.nn.utils.spectral_norm
    hidden = norm(nn.Linear(64 * channels, 64))
    return nn.Sequential(nn.Flatten(), hidden, nn.ReLU(), norm(nn.Linear(64, outputs)))


class SetByTraining(Net):
    shift = 0

    def features(self, x):
        if self.training and isinstance(self.shift, int):
            self.shift = -5 * x.detach().mean(0)
        return super().features(x + self.shift)


class Squeezed(Net):
    def features(self, x):
        return super().features(x)[:, :, None].squeeze()


class Returns(Net):
    """Returns something else than its outputs."""

    def __init__(self, channels, outputs, function):
        super().__init__(channels, outputs)
        self.function = function

    def forward(self, x):
        return self.function(super().forward(x))


def returning(function):
    return functools.partial(Returns, function=function)


class Tokens(Net):
    def prepare(self, channels, outputs):
        self.words = nn.Embedding(9, 1)

    def features(self, x):
        return super().features(self.words(x.clamp(0, 8).long()))


class Detached(Net):
    def features(self, x):
        return super().features(x.detach())


class Reentrant(Net):
    def features(self, x):
        return checkpoint(super().features, x, use_reentrant=True)


class Listed(Net):
    def prepare(self, channels, outputs):
        self.layers = [nn.Linear(16, 16)]

    def features(self, x):
        return self.layers[0](super().features(x))


class Frozen(Net):
    @torch.no_grad()
    def forward(self, x):
        return super().forward(x)


class Coarse(Net):
    def prepare(self, channels, outputs):
        self.bfloat16()

    def forward(self, x):
        return super().forward(x.bfloat16()).float()


class Raises(Net):
    def prepare(self, channels, outputs):
        raise RuntimeError("this codec was built for CUDA 13")


class Exits(Net):
    def forward(self, x):
        sys.exit("no GPU")


class Rescaled(Net):
    """Divides by the largest feature of the batch."""

    def features(self, x):
        features = super().features(x)
        return features / features.abs().max()


class Tasks(Net):
    """Computes many outputs and returns those of one task."""

    task = 0

    def prepare(self, channels, outputs):
        self.heads = nn.ModuleList(nn.Linear(16, outputs) for _ in range(12))

    def forward(self, x):
        features = self.features(x)
        self.last(features)
        return torch.stack([head(features) for head in self.heads], 1)[:, self.task]


class SparseExperts(Net):
    """Each image takes one of eight experts."""

    def prepare(self, channels, outputs):
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(8))

    def features(self, x):
        x = super().features(x)
        choices = x[:, :8].argmax(1)
        gathered = x
        for number, expert in enumerate(self.experts):
            rows = (choices == number).nonzero().flatten()
            if len(rows):
                gathered = gathered.index_add(0, rows, expert(x[rows]))
        return gathered


class Autocast(Net):
    """Multiplies in bfloat16."""

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return super().forward(x)


class WithoutParameters(nn.Module):
    """A network whose weights are buffers."""

    def __init__(self, channels, outputs):
        super().__init__()
        self.register_buffer("weight", torch.randn(outputs, channels))

    def forward(self, x):
        return x.mean((2, 3)) @ self.weight.T


REFUSED = [
    (Rescaled, "network-batch"),
    (returning(torch.view_as_complex), "network-output"),
    (returning(lambda y: y.softmax(1)[:, :1].expand_as(y)), "network-end"),
    (Raises, "network-code"),
    (Exits, "network-code"),
    (lambda channels, outputs: torch.neg, "wrong-type"),
    (lambda channels, outputs: Net(channels, outputs).half(), "network-code"),
    (returning(lambda y: {"logits": y}), "network-output"),
    (Reentrant, "network-code"),
    (Coarse, "network-weights"),
    (DrawnByNumPy, "network-seed"),
    (SeedOfItsOwn, "network-seed"),
    (Counted, "network-weights"),
    (LateHead, "network-weights"),
    (returning(lambda y: (-y.abs()).log()), "not-finite"),
    (Potential, "network-state"),
    (PowerMethod, "network-state"),
    (Noise, "network-random"),
    (Centred, "network-batch"),
    (Untracked, "network-batch"),
    (Squeezed, "network-output"),
    (AttributeOfNumPy, "network-seed"),
    (FirstImages, "network-seed"),
    (old_spectral_norm, "network-state"),
    (SetByTraining, "network-state"),
    (Listed, "network-weights"),
    (WithoutParameters, "network-weights"),
    (Tokens, "network-derivative"),
    (Detached, "network-derivative"),
    (Frozen, "network-derivative"),
    (
        returning(lambda y: 2 * torch.sigmoid(y)[:, :, None].squeeze(2) - 1),
        "network-end",
    ),
    (returning(lambda y: y.softmax(1)), "network-end"),
]
"""Networks, and the kind of error that refuses each."""


@pytest.mark.filterwarnings(
    "ignore:None of the inputs have requires_grad:UserWarning",
    "ignore:.*spectral_norm.*is deprecated:FutureWarning",
)
@pytest.mark.parametrize(("make", "kind"), REFUSED)
def test_a_network_that_gives_wrong_numbers_is_refused(make, kind):
    default = torch.get_default_dtype()
    with refused(kind):
        try_out(make)
    assert torch.get_default_dtype() == default


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize(
    ("function", "names"),
    [
        (torch.tanh, "Tanh"),
        (torch.atan, "Atan"),
        (lambda y: y.clamp(0, 1), "Clamp"),
        (F.hardtanh, "Hardtanh"),
        (lambda y: 30 * torch.tanh(y / 30), "Tanh"),
        (lambda y: torch.sigmoid(y).exp(), "Sigmoid, Exp"),
        (lambda y: F.log_softmax(y, 1), "LogSoftmax"),
        (lambda y: F.layer_norm(y, y.shape[1:]), "NativeLayerNorm"),
    ],
)
def test_a_squashing_end_is_named_for_any_number_of_outputs(function, names, outputs):
    with refused("network-end", functions=names):
        try_out(returning(function), outputs)


class Capacity(Net):
    """Two experts, each of which takes only the first images that choose it."""

    def __init__(self, channels, outputs, capacity):
        super().__init__(channels, outputs)
        self.capacity = capacity

    def prepare(self, channels, outputs):
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

    def features(self, x):
        x = super().features(x)
        choices = (x[:, 0] > x[:, 1]).long()
        gathered = x
        for number, expert in enumerate(self.experts):
            rows = (choices == number).nonzero().flatten()[: self.capacity]
            gathered = gathered.index_add(0, rows, expert(x[rows]))
        return gathered


class First(Net):
    """Has outputs for the first images only."""

    def forward(self, x):
        return super().forward(x[:64])


def test_images_that_a_network_leaves_out_are_refused():
    with refused("network-output", shape=(64, 2)):
        dry_run({"network": f"{__name__}:First"}, SHAPE, 2)


@pytest.mark.parametrize("capacity", [1, 8, 100])
def test_experts_of_a_fixed_capacity_are_refused(capacity):
    with refused("network-batch"):
        estimate(lambda: Capacity(2, 1, capacity), SHAPE, 4)
    with refused("network-batch"):
        dry_run({"network": f"{__name__}:Capacity", "capacity": capacity}, SHAPE, 2)


def test_experts_that_take_all_images_of_any_batch_run():
    specification = {"network": f"{__name__}:Capacity", "capacity": 1000}
    assert dry_run(specification, SHAPE, 2) == []
    assert estimate(lambda: Capacity(2, 1, 1000), SHAPE, 4).eigenvalues[0] > 0


# Accepted
# ------------------------------------------------------------------------------


class View(nn.Module):
    """The old way to flatten."""

    def __init__(self, channels, outputs):
        super().__init__()
        self.first = nn.Conv2d(channels, 4, 3)
        self.last = nn.Linear(144, outputs)

    def flatten(self, x):
        return x.view(-1, 144)

    def forward(self, x):
        return self.last(self.flatten(self.first(x).relu()))


class Strided(View):
    def flatten(self, x):
        return torch.as_strided(x, (len(x), 144), (144, 1))


class Reshape(View):
    def flatten(self, x):
        return x.reshape(-1, 144)


class FiveDimensions(Net):
    """Matrices that vote, in one tensor of five dimensions."""

    def prepare(self, channels, outputs):
        del self.last
        self.votes = nn.Parameter(torch.randn(1, 4, outputs, 3, 4))
        self.register_buffer("places", torch.randn(1, 2, 2, 2, 2))

    def forward(self, x):
        parts = self.features(x).view(-1, 4, 1, 4, 1)
        return (self.votes @ parts).sum((1, 3, 4))


class Experts(Net):
    """A mixture of experts that gathers their outputs in zeros."""

    def prepare(self, channels, outputs):
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

    def features(self, x):
        x = super().features(x)
        gathered = torch.zeros(len(x), 16, requires_grad=True)
        choices = (x[:, 0] > x[:, 1]).long()
        for number, expert in enumerate(self.experts):
            rows = (choices == number).nonzero().flatten()
            gathered = gathered.index_add(0, rows, expert(x[rows]))
        return gathered


class Odd(Net):
    """State of unusual types and sizes, part of which nothing reads."""

    def prepare(self, channels, outputs):
        self.device_holder = nn.Parameter(torch.empty(0))
        self.waves = nn.Parameter(
            torch.randn(8, dtype=torch.cfloat), requires_grad=False
        )
        for kind in (torch.float8_e4m3fn, torch.uint16, torch.bool):
            value = nn.Parameter(torch.ones(3).to(kind), requires_grad=False)
            self.register_parameter(str(kind)[6:], value)
        self.register_buffer("cache", torch.empty(5), persistent=False)


class Tied(Net):
    def prepare(self, channels, outputs):
        self.second = nn.Linear(16, 16)
        self.third = nn.Linear(16, 16)
        self.third.weight = self.second.weight

    def features(self, x):
        return self.third(self.second(super().features(x)).relu())


class Shifted(Net):
    def features(self, x):
        return super().features(x.sub_(0.5).mul_(4))


class ShiftedCopy(Net):
    def features(self, x):
        return super().features((x - 0.5) * 4)


def parametrised(channels, outputs, norm):
    hidden = norm(nn.Linear(64 * channels, 64))
    return nn.Sequential(nn.Flatten(), hidden, nn.ReLU(), norm(nn.Linear(64, outputs)))


class Faint(Net):
    """Outputs that hardly differ between images, with no layer at the end."""

    def forward(self, x):
        return F.linear(1e-4 * self.features(x), self.last.weight, self.last.bias)


class Lengths(Net):
    """Each output is the length of a vector."""

    def prepare(self, channels, outputs):
        self.last = nn.Linear(16, 3 * outputs)

    def forward(self, x):
        return super().forward(x).unflatten(1, (-1, 3)).norm(dim=2)


class GateLast(Net):
    """Logits of two experts, weighted by a gate that is computed after them."""

    def prepare(self, channels, outputs):
        self.other = nn.Linear(16, outputs)
        self.gate = nn.Linear(16, 2)

    def forward(self, x):
        x = self.features(x)
        outputs = torch.stack([self.last(x), self.other(x)], 2)
        return (outputs * self.gate(x).softmax(1)[:, None]).sum(2)


class Cosine(Net):
    def forward(self, x):
        x = F.normalize(self.features(x) - 0.5)
        return 16 * F.linear(x, F.normalize(self.last.weight), self.last.bias)


class Elementwise(Net):
    def forward(self, x):
        x = self.features(x).tanh()
        return (x[:, None] * self.last.weight).sum(2) + self.last.bias


class Unreturned(Net):
    """Computes more than it returns."""

    def prepare(self, channels, outputs):
        self.further = nn.Linear(16, 3)

    def forward(self, x):
        x = self.features(x)
        outputs = self.last(x)
        self.loss = self.further(x).tanh().mean()
        return outputs


def scripted(channels, outputs):
    layers = [nn.ReLU(inplace=True), Reshape(channels, outputs)]
    return torch.jit.script(nn.Sequential(*layers))


def batch_norm(channels, outputs):
    return nn.Sequential(
        nn.Conv2d(channels, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(288, outputs),
    )


SOUND = [
    Net,
    SparseExperts,
    Autocast,
    Experts,
    Odd,
    Tied,
    Shifted,
    Reshape,
    Faint,
    GateLast,
    Cosine,
    Elementwise,
    returning(lambda y: 1e20 * y),
    scripted,
    batch_norm,
    functools.partial(parametrised, norm=parametrizations.spectral_norm),
    functools.partial(parametrised, norm=parametrizations.weight_norm),
    functools.partial(parametrised, norm=parametrizations.orthogonal),
]
CONTIGUOUS = [View, Strided, FiveDimensions]


@pytest.mark.filterwarnings("ignore:.*torch.jit.* is deprecated:FutureWarning")
@pytest.mark.parametrize(
    ("make", "contiguous"),
    [(make, False) for make in SOUND] + [(make, True) for make in CONTIGUOUS],
)
def test_a_sound_network_is_trained_and_has_both_derivatives(make, contiguous):
    state = torch.get_rng_state()
    assert try_out(make) == ([], contiguous)
    assert torch.equal(torch.get_rng_state(), state)
    network = custom.build(functools.partial(make, 2, 2), 0, contiguous)
    x = loop.channels_last(torch.randn(6, *SHAPE), "cpu")
    before = x.clone()
    loop.train(network, x, torch.arange(6) % 2, loop.Training(2, 0.1, 0, 0), 0)
    assert loop.logits(network, x[:1]).shape == (1, 2)
    assert torch.equal(x, before), "the images of later epochs are those of the first"
    for estimand in ("secant", "gradient"):
        nads = estimate(functools.partial(make, 2, 1), SHAPE, 4, estimand=estimand)
        assert nads.eigenvalues[0] > 0


@pytest.mark.parametrize("estimand", ["secant", "gradient"])
@pytest.mark.parametrize(
    ("make", "usual"), [(Shifted, ShiftedCopy), (View, Reshape), (Strided, Reshape)]
)
def test_an_unusual_way_of_writing_has_the_nads_of_the_usual_way(make, usual, estimand):
    nads = estimate(functools.partial(make, 2, 1), SHAPE, 4, estimand=estimand)
    expected = estimate(functools.partial(usual, 2, 1), SHAPE, 4, estimand=estimand)
    np.testing.assert_allclose(
        nads.eigenvalues, expected.eigenvalues, rtol=1e-3, atol=1e-9
    )


# Notices
# ------------------------------------------------------------------------------


class ZeroHead(Net):
    def prepare(self, channels, outputs):
        nn.init.zeros_(self.last.weight)


class FixedFirst(Net):
    def prepare(self, channels, outputs):
        self.first.weight.data = torch.arange(2048.0).reshape(16, 128) / 1e4


class UntrainedBias(Net):
    def prepare(self, channels, outputs):
        self.shift = nn.Parameter(torch.zeros(16))

    def features(self, x):
        return super().features(x) + self.shift.detach()


@pytest.mark.parametrize(
    ("make", "weights"),
    [
        (ZeroHead, "last"),
        (Tasks, "last.bias"),
        (returning(torch.exp), "Exp"),
        (FixedFirst, "first.weight"),
        (UntrainedBias, "shift"),
        (Unreturned, "further.bias"),
        (Lengths, "LinalgVectorNorm"),
        (returning(F.relu), "Relu"),
        (returning(torch.abs), "Abs"),
        (returning(F.gelu), "Gelu"),
        (returning(F.logsigmoid), "LogSigmoid"),
        (returning(lambda y: 1 / (1 + torch.exp(-y))), "Exp, Reciprocal"),
        (returning(lambda y: y.exp() / y.exp().sum(1, keepdim=True)), "Div"),
        (returning(F.normalize), "Div"),
        (returning(F.softsign), "Div"),
    ],
)
def test_what_may_be_intended_gets_a_notice_that_names_the_weights(make, weights):
    notices, contiguous = try_out(make)
    assert len(notices) == 1
    assert f" {weights}" in notices[0]
    assert not contiguous


# Files and places
# ------------------------------------------------------------------------------

FILE = """
import argparse

import torch
from torch import nn

{line}


def net(channels, outputs, momentum=0.1):
    return nn.Sequential(
        nn.Conv2d(channels, 4, 3),
        nn.BatchNorm2d(4, momentum=momentum),
        nn.Flatten(),
        nn.Linear(144, outputs),
    )


class Flag(nn.Sequential):
    symmetry = True


class Method(nn.Sequential):
    def symmetry(self):
        return self


class Word(nn.Sequential):
    symmetry = "C4"


class Known(nn.Sequential):
    symmetry = "square+channels"


class Heir(Known):
    pass


class View(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        self.first = nn.Conv2d(channels, 4, 3)
        self.last = nn.Linear(144, outputs)

    def forward(self, x):
        return self.last(self.first(x).view(-1, 144))
"""


@pytest.fixture
def write(repository):
    """A function that writes own/mine.py, with a line at its top."""

    def write(line=""):
        (repository / "own/mine.py").write_text(FILE.format(line=line))

    return write


@pytest.mark.parametrize(
    "line",
    [
        "torch.set_default_dtype(torch.float64)",
        "torch.set_default_device('meta')",
        "torch.set_grad_enabled(False)",
        "torch.set_float32_matmul_precision('medium')",
        "argparse.ArgumentParser().parse_args()",
    ],
)
def test_what_a_module_sets_for_the_process_ends_with_its_import(
    line, write, monkeypatch
):
    monkeypatch.setattr(sys, "argv", ["train", "linear_pairs", "--width=5"])
    write(line)
    specification = {"network": "mine:net"}
    dry_run(specification, SHAPE, 2)
    logreg = networks.specification({"network": "logreg", "side": 8})
    output = networks.build(logreg, 2, 2, 0)(torch.zeros(1, *SHAPE))
    assert output.dtype == torch.float32
    assert output.requires_grad
    assert torch.get_float32_matmul_precision() == "highest"
    assert sys.argv[1:] == ["linear_pairs", "--width=5"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("raise SystemExit('no GPU')", "network-code"),
        ("import absent.part", "network-code"),
        ("from mine import nothing", "network-code"),  # of itself
        ("def net(:", "network-code"),
        ("net = nn.Flatten()", "unknown-name"),
    ],
)
def test_a_module_that_cannot_be_imported_is_refused(line, kind, write):
    write(line)
    with refused(kind):
        dry_run({"network": "mine:absent"}, SHAPE, 2)


@pytest.mark.parametrize(
    ("network", "line"),
    [
        ("pipeline:net", ""),
        ("pipeline.parts:net", ""),
        ("mine:net", "from pipeline import net"),
        ("mine:net", "import pipeline.parts"),
    ],
)
def test_a_module_with_the_projects_own_name_is_refused_by_this_name(
    network, line, write, repository
):
    (repository / "own/pipeline").mkdir()
    for name in ("__init__.py", "parts.py"):
        (repository / "own/pipeline" / name).write_text("def net(): pass")
    write(line)
    with refused("conflict"):
        dry_run({"network": network}, SHAPE, 2)


def test_modules_in_own_hide_none_of_the_project_from_workers(write, repository):
    (repository / "own/pipeline.py").write_text("raise SystemExit")
    write("from pipeline.networks import registry")
    assert dry_run({"network": "mine:net"}, SHAPE, 2) == []
    assert sys.path.index(str(repository / "own")) == len(sys.path) - 1


def test_a_memory_format_is_kept_in_the_specification(write):
    write()
    specification = {"network": "mine:View"}
    assert len(dry_run(specification, SHAPE, 2)) == 1
    assert specification == {"network": "mine:View", "memory_format": "contiguous"}
    assert networks.keywords(specification) == {}
    dry_run(specification, SHAPE, 2)


def test_nothing_is_said_of_a_plain_network(write):
    write()
    assert dry_run({"network": "mine:net"}, SHAPE, 2) == []


@pytest.mark.parametrize(
    ("momentum", "steps", "count"),
    [
        (0.01, 100, 1),
        (0.01, 300, 0),
        (0.1, 100, 0),
        (None, 1, 0),
        (0.0, 300, 1),
        (0.0, math.inf, 0),
    ],
)
def test_batch_norms_that_a_short_training_leaves_behind_get_a_notice(
    momentum, steps, count, write
):
    write()
    notices = dry_run({"network": "mine:net", "momentum": momentum}, SHAPE, 2, steps)
    assert len(notices) == count


@pytest.mark.parametrize(
    ("shape", "count"),
    [((32, 32, 3), 1), ((3, 32, 32), 0), ((32, 3, 3), 0), ((32, 32, 32), 0)],
)
def test_a_shape_that_seems_to_have_its_channels_last_gets_a_notice(shape, count):
    specification = networks.specification({"network": "resnet18", "width": 0.125})
    assert len(dry_run(specification, shape, 2)) == count


@pytest.mark.parametrize("name", ["Flag", "Method", "Word", "Known", "Heir", "net"])
def test_a_symmetry_of_another_meaning_is_measured(name, write):
    write()
    expected = "square+channels" if name == "Known" else "measured"
    assert str(networks.symmetry({"network": f"mine:{name}"})) == expected


def test_estimate_restores_what_its_caller_has_set():
    with torch.no_grad():
        torch.set_default_dtype(torch.float64)
        try:
            assert estimate(lambda: Net(2, 1), SHAPE, 2).eigenvalues[0] > 0
            assert torch.get_default_dtype() == torch.float64
            assert not torch.is_grad_enabled()
        finally:
            torch.set_default_dtype(torch.float32)
