"""Networks as they lie in public repositories: each runs as its author meant it, or is refused at
once, by the dry run and by `estimate` alike."""

import sys
import textwrap

import numpy as np
import pytest
import torch

from pipeline import networks, settings
from pipeline.cells import training
from pipeline.measures.gradients import of_outputs
from pipeline.nads import estimate
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError
from pipeline.settings import trial

SHAPE = (2, 8, 8)

NETWORKS = """
import itertools

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

COUNT, NORM = itertools.count(), nn.BatchNorm1d

def flat(channels, outputs):
    first, last = nn.Linear(64 * channels, 16), nn.Linear(16, outputs)
    return nn.Sequential(nn.Flatten(), first, nn.ReLU(), last)

class Net(nn.Module):
    def __init__(self, channels, outputs, how="y"):
        super().__init__()
        self.body, self.outputs, self.how = flat(channels, outputs), outputs, how
        self.made(channels)

    def made(self, channels):
        pass

    def forward(self, x):
        return eval(self.how, globals(), {"y": self.body(x)})

def normed(channels, outputs, how):
    norm = getattr(nn.utils, how, None) or getattr(nn.utils.parametrizations, how[4:])
    first, last = norm(nn.Conv2d(channels, 8, 3)), norm(nn.Linear(288, 16))
    return nn.Sequential(first, nn.ReLU(), nn.Flatten(), last, nn.ReLU(), nn.Linear(16, outputs))

def vanishing(channels, outputs):
    layers = [nn.Conv2d(channels, 8, 1), *[nn.Conv2d(8, 8, 1) for _ in range(40)], flat(8, outputs)]
    for layer in layers[:-1]:
        layer.weight.data, layer.bias.data = layer.weight / 10, 0 * layer.bias
    return nn.Sequential(*layers)

class Reshaping(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        self.first, self.last = nn.Conv2d(channels, 4, 3), nn.Linear(144, outputs)

    def forward(self, x):
        return self.last(self.first(x).reshape(-1, 144))

class Viewing(Reshaping):
    def forward(self, x):
        return self.last(self.first(x).view(-1, 144))

class Strided(Reshaping):
    def forward(self, x):
        return self.last(torch.as_strided(self.first(x), (len(x), 144), (144, 1)))

def scripted_inside(channels, outputs):
    first = nn.Sequential(nn.Conv2d(channels, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())
    return nn.Sequential(torch.jit.script(first), nn.Flatten(), nn.Linear(288, outputs))

def grouped(channels, outputs):
    first, second = nn.Conv2d(channels, 16, 3, bias=False), nn.Conv2d(16, 16, 3, groups=16)
    last = nn.ReLU(), nn.Flatten(), nn.Linear(256, outputs, bias=False)
    return nn.Sequential(first, second, nn.BatchNorm2d(16), *last)

def partly(channels, outputs):
    network = flat(channels, outputs)
    network[1].weight.data = torch.arange(1024.0 * channels).reshape(16, -1) / 10_000
    return network

def frozen(channels, outputs):
    network = partly(channels, outputs)
    network[1].requires_grad_(False)
    return network

def many_fixed(channels, outputs):
    network = nn.Sequential(*[nn.Linear(8, 8) for _ in range(9)], flat(channels, outputs))
    for layer in network[:9]:
        layer.weight.data = torch.eye(8)
    return network

def zero(channels, outputs):
    network = flat(channels, outputs)
    nn.init.zeros_(network[3].weight)
    return network

def slow(channels, outputs, momentum):
    first = nn.InstanceNorm2d(channels), flat(channels, outputs)
    return nn.Sequential(*first, NORM(outputs, momentum=momentum))

class Meta(type):
    symmetry = property(lambda cls: cls.group)

class Missing(Net, metaclass=Meta):
    pass
"""

FUNCTIONS = {
    "half": "flat(channels, outputs).half()",
    "normalised": "Net(channels, outputs, '3 * F.normalize(y)')",
    "spectral": "normed(channels, outputs, 'spectral_norm')",
    "untracked": "nn.Sequential(flat(channels, outputs), NORM(outputs, track_running_stats=False))",
    "function": "lambda x: x.flatten(1)[:, :outputs]",
    "driver": "torch.empty(1, device='cuda')",
    "ends": "exit('no GPU')",
    "relu_first": "nn.Sequential(nn.ReLU(inplace=True), flat(channels, outputs))",
    "scripted": "torch.jit.script(relu_first(channels, outputs))",
    "scripted_view": "torch.jit.script(Viewing(channels, outputs))",
}
CLASS = """class {}(Net):
    def made(self, channels):
{}

    def forward(self, x):
{}
"""
POWER = "self.register_buffer('u', F.normalize(torch.randn(16), dim=0))"
STEP = """w, steps = self.body[1].weight, {}
with torch.no_grad():
    v = F.normalize(w.T @ self.u, dim=0)
    self.u = F.normalize(w @ v, dim=0) if steps else self.u
self.body(x) / (self.u @ w @ (v if steps else v.roll(1)))"""
DRAWN = "torch.from_numpy(np.random.normal(size=(8, 8))).float()"
STRANGE = "are none of its parameters, so that no training reaches them; make layers in the con"
INITIALISED = """if self.training and not self.ready:
    self.shift.data, self.ready = -x.mean(0), True
self.body(x + self.shift)"""

REFUSED = {
    "Late": (
        "head.bias, head.weight came into being in the first forward pass",
        "self.head = getattr(self, 'head', None) or nn.Linear(16, self.outputs)\n"
        "self.head(self.body[:3](x))",
    ),
    "Replaced": (
        "body.3.weight came into being in the first forward pass",
        "if vars(self).setdefault('first', True):\n"
        "    self.first, self.body[3].weight = False, nn.Parameter(torch.randn(self.outputs, 16))\n"
        "self.body(x)",
    ),
    "Hidden": (
        STRANGE,
        "self.layers = vars(self).get('layers') or [nn.Linear(16, self.outputs)]\n"
        "self.layers[0](self.body[:3](x))",
    ),
    "LateValue": (
        "draw them with torch and in the constructor",
        "self.value = vars(self).get('value', torch.randn(16, self.outputs))\n"
        "self.body[:3](x) @ self.value",
    ),
    "FirstImages": (
        "not with NumPy, Python's random or by its first images",
        "self.mean = vars(self).get('mean', 3 * x[:1])\nself.body(x - self.mean)",
    ),
    "Power": ("take torch.nn.utils.parametrizations.spectral_norm", STEP.format("True"), POWER),
    "PowerInTraining": (
        "its outputs in eval mode are decided by the passes before",
        f"self.ready = vars(self).get('ready') or self.training\n{STEP.format('self.ready')}",
        POWER,
    ),
    "spectral": ("in eval mode are decided by the passes before",),
    "Initialised": (
        "its outputs in eval mode are decided by the passes before",
        INITIALISED,
        "self.shift, self.ready = nn.Parameter(torch.zeros(channels, 8, 8)), False",
    ),
    "Noisy": (
        "in eval mode depend on chance; give dropout the argument training=self.training",
        "self.body(x) + 1e-2 * torch.randn(len(x), 1)",
    ),
    "Dropping": ("in eval mode depend on chance", "self.body[3](F.dropout(self.body[:3](x)))"),
    "Centred": (
        "depends on the others of its batch; batch norms need running statistics",
        "self.body(x - x.mean(0))",
    ),
    "untracked": ("]); batch norms need running statistics",),
    "Buffer": (
        "draw them with torch",
        "self.body(x * self.scale)",
        f"self.register_buffer('scale', {DRAWN})",
    ),
    "Attribute": ("draw them with torch", "self.body(x * self.scale)", f"self.scale = {DRAWN}"),
    "Counted": (
        "each network has other names for its weights: dense_",
        "",
        "self.add_module(f'dense_{next(COUNT)}', nn.Linear(2, 2))",
    ),
    "Squeezed": (
        "in a batch of 1: it returns (",
        "self.body[3](self.body[:3](x)[:, :, None].squeeze())",
    ),
    "Fixed": ("in a batch of 1: RuntimeError: addmm", "self.body(x.view(2, -1))"),
    "Checkpointed": (
        "set use_reentrant=False",
        "self.body[3](checkpoint(self.body[:3], x, use_reentrant=True))",
    ),
    "Detached": ("leave out `torch.no_grad()` and `.detach()`", "self.body(x.detach())"),
    "Frozen": ("leave out `torch.no_grad()`", "torch.no_grad()(self.body.forward)(x)"),
    "Listed": (
        f"weights of shape (16, 16), (16,) {STRANGE}",
        "self.body[3](self.layers[0](self.body[:3](x)))",
        "self.layers = [nn.Linear(16, 16)]",
    ),
    "Fresh": (STRANGE, "nn.Linear(16, self.outputs)(self.body[:3](x))"),
    "State": (
        "_extra_state, which its state has, is no tensor",
        "",
        "type(self).get_extra_state = lambda self: {'steps': 1}",
    ),
    "Sparse": (
        "graph, which its state has, is no tensor, or a sparse one",
        "",
        "self.register_buffer('graph', torch.eye(3).to_sparse())",
    ),
    "Coarse": (
        "derivatives are lost in the rounding of its linear layers in torch.bfloat16",
        "self.body.bfloat16()(x.bfloat16()).float()",
        "self.bfloat16()",
    ),
    "Recurrent": (
        "a network takes any number of images",
        "rows = x.permute(0, 2, 1, 3).flatten(2)\n"
        "self.body[3](self.rnn(rows, torch.zeros(1, 64, 16))[0][:, -1])",
        "self.rnn = nn.GRU(8 * channels, 16, batch_first=True)",
    ),
    "Ending": (
        "SystemExit: no GPU; its code ends Python, as sys.exit and argparse do",
        "exit('no GPU')",
    ),
    "ends": ("SystemExit: no GPU; its code ends Python, as sys.exit and argparse do",),
    "Setting": (
        "its forward pass sets for all of torch: default dtype",
        "torch.set_default_dtype(torch.float64)\nself.body(x)",
    ),
    "Dictionary": (
        "returns a dict, not one tensor; put a module around it",
        "{'logits': self.body(x)}",
    ),
    "Auxiliary": (
        "returns a tuple, not one tensor; put a module around it",
        "(self.body(x), x) if self.training else self.body(x)",
    ),
    "Infinite": ("its outputs at noise are not finite", "(-self.body(x).abs()).log()"),
    "Soft": ("its outputs sum to one, as after a softmax", "self.body(x).softmax(1)"),
    "normalised": ("its outputs have one length for all images, as after a normalisation",),
    "half": ("inputs are float32: leave out `.half()`",),
    "driver": ("leave `.cuda()` and devices out of its code",),
    "function": ("what is built is a function, not a torch module",),
}
"""By the name of a network: words of its refusal, its forward pass, of which the last line is what
it returns, and the end of its constructor."""

SOUND = {
    "Empty": (
        "",
        "self.empty = nn.Parameter(torch.empty(3, 0, 2, 2))\n"
        "self.waves = nn.Parameter(torch.randn(8, 5, dtype=torch.cfloat))\n"
        "for kind in ('float8_e4m3fn', 'uint16', 'bool'):\n"
        "    value = torch.ones(3).to(getattr(torch, kind))\n"
        "    self.register_parameter(kind, nn.Parameter(value, requires_grad=False))\n"
        "self.register_buffer('cache', torch.empty(5), persistent=False)",
    ),
    "Precise": ("self.body(x.double())", "self.double()"),
    "Shifted": ("self.body(x.sub_(0.5).mul_(4))",),
    "ShiftedCopy": ("self.body((x - 0.5) * 4)",),
}
SYMMETRIES = {
    "Method": "lambda self, x: x.flip(-1)",
    "Flag": "True",
    "Property": "property(lambda self: 'mirror')",
    "Word": "'C4'",
    "Ends": "staticmethod(lambda: exit(3))",
    "Known": "staticmethod(lambda: 'square+channels')",
}


@pytest.fixture
def people(repository):
    """The networks above, as a module of one's own."""
    text = NETWORKS
    for name, value in FUNCTIONS.items():
        text += f"def {name}(channels, outputs):\n    return {value}\n\n\n"
    for name, row in (SOUND | {name: row[1:] for name, row in REFUSED.items()}).items():
        if row:
            forward, made, *_ = *row, "pass"
            *before, last = (forward or "self.body(x)").split("\n")
            forward = "\n".join([*before, f"return {last}"])
            text += CLASS.format(
                name, *(textwrap.indent(each, 8 * " ") for each in (made, forward))
            )
    for name, value in SYMMETRIES.items():
        text += f"class {name}(Net):\n    symmetry = {value}\n\n\n"
    (repository / "own/people.py").write_text(text)
    return networks.constructor("people:flat").__globals__


def of(name, **arguments):
    """The specification of one of them."""
    return {"network": f"people:{name}"} | arguments


@pytest.mark.filterwarnings(
    "ignore:None of the inputs have requires_grad:UserWarning",
    "ignore:.*spectral_norm.*is deprecated:FutureWarning",
)
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_at_once_and_by_its_own_remedy(name, people):
    for refused in (
        lambda: dry_run(of(name), SHAPE, 2),
        lambda: estimate(lambda: people[name](2, 1), SHAPE, 2),
    ):
        with pytest.raises(InputError) as caught:
            refused()
        sentence = str(caught.value)
        assert REFUSED[name][0] in sentence and "\n" not in sentence
        assert "inputs of another size" not in sentence


@pytest.mark.parametrize(
    ("how", "one", "two"),
    [
        ("F.log_softmax(y, 1)", "the same for all images, as after a log-softmax", "a log-softmax"),
        ("10 * y.softmax(1)", "the same for all images", "one length for all images"),
        ("y / y.abs().sum(1, keepdim=True)", "one length", "one length for all images"),
        ("y / y.abs().amax(1, keepdim=True)", "one length", "one length for all images"),
        ("F.layer_norm(y, y.shape[1:])", "the same for all images", "one length for all images"),
    ],
)
def test_outputs_that_are_no_logits_are_named_before_any_work(how, one, two, people):
    for outputs, words in ((1, one), (2, two)):
        with pytest.raises(InputError, match=f"{words}.*; leave that out, since training and NADs"):
            dry_run(of("Net", how=how), SHAPE, outputs)


TEXT = "has a last layer that starts at zero; its NADs are the features' then"
FIXED = "whatever the seed"
FORMAT = "runs in torch's usual memory format alone, not in channels last"


@pytest.mark.parametrize(
    ("name", "arguments", "notices"),
    [
        # Of torchvision's and others' MobileNets, in eval mode, only the features differ.
        ("vanishing", {}, []),
        ("normed", {"how": "new_spectral_norm"}, []),
        ("normed", {"how": "new_weight_norm"}, []),
        # The drawn values lie in a buffer, and only the parameters repeat.
        ("normed", {"how": "new_orthogonal"}, []),
        ("zero", {}, [TEXT]),
        ("partly", {}, [f"starts from the same 1.weight {FIXED}"]),
        ("frozen", {}, [f"starts from the same 1.weight {FIXED}"]),
        (
            "many_fixed",
            {},
            [f"starts from the same 0.weight, 1.weight, 2.weight and 6 more {FIXED}"],
        ),
        ("Viewing", {}, [FORMAT]),
        ("Reshaping", {}, []),
    ],
)
def test_what_may_be_intended_gets_a_notice_and_the_callers_chance_is_left_alone(
    name, arguments, notices, people
):
    state = torch.get_rng_state()
    for outputs in (1, 2):
        found = dry_run(of(name, **arguments), SHAPE, outputs)[1]
        assert found == [f"people:{name} {each}" for each in notices]
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.filterwarnings("ignore:.*torch.jit.* is deprecated:FutureWarning")
@pytest.mark.parametrize(
    "name",
    [
        *("Empty", "Precise", "Shifted", "relu_first", "Viewing", "Strided"),
        *("scripted_inside", "scripted", "scripted_view", "grouped"),
    ],
)
def test_what_is_odd_but_sound_is_trained_and_has_both_derivatives(name, people):
    specification = of(name)
    dry_run(specification, SHAPE, 2)
    network = networks.build(specification, 2, 2, 0)
    x = training.channels_last(torch.randn(6, *SHAPE), "cpu")
    before = x.clone()
    training.train(network, x, torch.arange(6) % 2, training.Training(2, 0.1, 0, 0), 0)
    assert training.logits(network, x[:1]).shape == (1, 2)
    assert all(gradient.isfinite().all() for gradient in of_outputs(network, x))
    assert torch.equal(x, before), "the images of later epochs are those of the first"
    for estimand in ("secant", "gradient"):
        nads = estimate(lambda: people[name](2, 1), SHAPE, 4, estimand=estimand)
        assert nads.eigenvalues[0] > 0


@pytest.mark.parametrize(
    ("name", "usual", "notice"),
    [
        ("Shifted", "ShiftedCopy", ""),
        ("Viewing", "Reshaping", FORMAT),
        ("Strided", "Reshaping", FORMAT),
        # Any law of the last layer scales C alone; torch's own is taken.
        ("zero", "flat", TEXT),
    ],
)
def test_what_is_written_in_another_way_has_the_nads_of_the_usual_way(
    name, usual, notice, people, capsys
):
    plain = [{"method": "plain"}] * (name != "zero")
    for arguments in ({}, {"estimand": "gradient"}, *plain):
        one, other = (
            estimate(lambda: people[each](2, 1), SHAPE, 4, **arguments)  # noqa: B023
            for each in (name, usual)
        )
        np.testing.assert_allclose(one.eigenvalues, other.eigenvalues, rtol=1e-3, atol=1e-9)
        assert one.method == arguments.get("method", "readout")
    assert notice in capsys.readouterr().err


def test_a_memory_format_that_the_dry_run_finds_stands_in_all_plans(people, shipped):
    """Whatever is done with the network later, `view` finds its values in their order."""
    document = shipped | {"scale": "smoke"}
    document["architectures"]["mine"] = {"network": "people:Viewing", "input": [8, 8]}
    smoke = document["scales"]["smoke"]
    smoke["nads"]["mine"] = 2
    smoke["linear_pairs"]["networks"]["mine"] = {"indices": [1]}
    plans = settings.plans(document)["smoke"]
    for members in (plans.nads.members, *(p.members for p in plans.experiments.values())):
        for name in members.keys() - {"mine"}:
            del members[name]
    for _ in range(2):
        trial.try_out(plans)
        expected = of("Viewing", memory_format="contiguous")
        assert plans.nads.members["mine"].specification == expected
        assert plans.experiments["linear_pairs"].members["mine"].specification == expected
    x = training.channels_last(torch.randn(8, *SHAPE), "cpu")
    network, plain = (networks.build(expected, 2, 2, 0) for _ in range(2))
    plain._forward_pre_hooks.clear()
    assert torch.equal(network.to(memory_format=torch.channels_last)(x), plain(x.contiguous()))


def test_the_size_is_that_of_the_state(people):
    """In four bytes, of batch norm's mean and variance too, and its count in eight."""
    assert dry_run(of("flat"), SHAPE, 2) == (4 * (129 * 16 + 17 * 2), [])
    assert dry_run(of("grouped"), SHAPE, 2) == (4 * (18 * 16 + 10 * 16 + 4 * 16 + 256 * 2) + 8, [])


def test_batch_norms_that_a_short_training_leaves_behind_get_a_notice(people):
    (text,) = dry_run(of("slow", momentum=0.01), SHAPE, 2, 100)[1]
    assert "37% are still their first values after 100 steps" in text
    for momentum, steps in ((0.01, 300), (0.1, 100), (None, 1)):
        assert dry_run(of("slow", momentum=momentum), SHAPE, 2, steps)[1] == []


@pytest.mark.parametrize("shape", [(32, 32, 3), (3, 32, 32), (32, 3, 3), (32, 32, 32)])
def test_a_shape_that_looks_as_if_its_channels_came_last_gets_a_notice(shape):
    text = "inputs of 32×32×3 are 32 channels of 32×3 pixels; a shape is channels × height × width"
    specification = networks.specification({"network": "resnet18", "width": 0.125})
    assert dry_run(specification, shape, 2)[1] == [text] * (shape == (32, 32, 3))


@pytest.mark.parametrize("name", [*SYMMETRIES, "Missing"])
def test_a_symmetry_of_another_meaning_is_measured(name, people):
    expected = "square+channels" if name == "Known" else "measured"
    assert str(networks.symmetry(of(name))) == expected


@pytest.mark.parametrize(
    "line",
    [
        "torch.set_default_dtype(torch.float64)",
        "torch.set_default_device('meta')",
        "torch.set_grad_enabled(False)",
        "torch.set_num_threads(2)",
        "torch.use_deterministic_algorithms(True)",
        "torch.set_float32_matmul_precision('medium')",
        "os.chdir('/')",
    ],
)
def test_what_a_module_sets_globally_is_put_back(line, repository):
    """When it is imported and when a network is built; in a forward pass it is refused."""
    net = "def net(channels, outputs):\n    net = nn.Sequential(nn.Flatten(), nn.Linear(128, 1))\n"
    text = f"import os\nimport torch\nfrom torch import nn\n{line}\n{net}    {line}\n    return net"
    (repository / "own/setting.py").write_text(text)
    before = networks.defaults()
    dry_run({"network": "setting:net"}, SHAPE, 1)
    assert networks.defaults() == before
    assert estimate(lambda: sys.modules["setting"].net(2, 1), SHAPE, 2).eigenvalues[0] > 0
    assert networks.defaults() == before


def test_estimate_puts_back_what_its_caller_has_set(people):
    with torch.no_grad():
        torch.set_default_dtype(torch.float64)
        try:
            assert estimate(lambda: people["flat"](2, 1), SHAPE, 2).eigenvalues[0] > 0
            assert torch.get_default_dtype() == torch.float64 and not torch.is_grad_enabled()
        finally:
            torch.set_default_dtype(torch.float32)
