"""Networks as they lie in public repositories: each runs as its author meant it, or is refused at
once, by the dry run and by `estimate` alike."""

import sys

import numpy as np
import pytest
import torch
from torch import nn

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

COUNT = itertools.count()


def flat(channels, outputs):
    first, last = nn.Linear(64 * channels, 16), nn.Linear(16, outputs)
    return nn.Sequential(nn.Flatten(), first, nn.ReLU(), last)


def pooled(channels, outputs):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, outputs))


class Net(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        self.body, self.outputs = flat(channels, outputs), outputs
        self.made(channels)

    def made(self, channels):
        pass

    def forward(self, x):
        return self.body(x)


class Late(Net):
    def forward(self, x):
        if not hasattr(self, "head"):
            self.head = nn.Linear(16, self.outputs)
        return self.head(self.body[:3](x))


class Replaced(Net):
    def forward(self, x):
        if "done" not in vars(self):
            self.done = True
            self.body[3].weight = nn.Parameter(torch.randn(self.outputs, 16))
        return self.body(x)


class Hidden(Net):
    def forward(self, x):
        self.layers = vars(self).get("layers") or [nn.Linear(16, self.outputs)]
        return self.layers[0](self.body[:3](x))


class FirstImages(Net):
    def forward(self, x):
        self.mean = vars(self).get("mean", 3 * x[:1])
        return self.body(x - self.mean)


class Power(Net):
    def made(self, channels):
        self.register_buffer("u", F.normalize(torch.randn(16), dim=0))

    def forward(self, x):
        w = self.body[1].weight
        with torch.no_grad():
            v = F.normalize(w.T @ self.u, dim=0)
            self.u = F.normalize(w @ v, dim=0) if self.steps() else self.u
        return self.body(x) / (self.u @ w @ (v if self.steps() else v.roll(1)))

    def steps(self):
        return True


class PowerInTraining(Power):
    def steps(self):
        self.ready = vars(self).get("ready") or self.training
        return self.ready


def normed(channels, outputs, how):
    norm = getattr(nn.utils, how, None) or getattr(nn.utils.parametrizations, how[4:])
    first, last = norm(nn.Conv2d(channels, 8, 3)), norm(nn.Linear(288, 16))
    return nn.Sequential(first, nn.ReLU(), nn.Flatten(), last, nn.ReLU(), nn.Linear(16, outputs))


class Buffer(Net):
    def made(self, channels):
        self.register_buffer("scale", torch.from_numpy(np.random.normal(size=64)).float())

    def forward(self, x):
        return self.body(x * self.scale.view(8, 8))


class Attribute(Buffer):
    def made(self, channels):
        self.scale = torch.from_numpy(np.random.normal(size=64)).float()


class Counted(Net):
    def made(self, channels):
        self.add_module(f"dense_{next(COUNT)}", nn.Linear(2, 2))


class Squeezed(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        self.first, self.last = nn.Conv2d(channels, 16, 8), nn.Linear(16, outputs)

    def forward(self, x):
        return self.last(self.first(x).squeeze())


class Checkpointed(Net):
    def forward(self, x):
        return self.body[3](checkpoint(self.body[:3], x, use_reentrant=True))


class Listed(Net):
    def made(self, channels):
        self.layers = [nn.Linear(16, 16)]

    def forward(self, x):
        return self.body[3](self.layers[0](self.body[:3](x)))


class Fresh(Net):
    def forward(self, x):
        return nn.Linear(16, self.outputs)(self.body[:3](x))


class Initialised(Net):
    def made(self, channels):
        self.shift, self.ready = nn.Parameter(torch.zeros(channels, 8, 8)), False

    def forward(self, x):
        if self.training and not self.ready:
            self.shift.data, self.ready = -x.mean(0), True
        return self.body(x + self.shift)


class State(Net):
    def get_extra_state(self):
        return {"steps": 1}


class Sparse(Net):
    def made(self, channels):
        self.register_buffer("graph", torch.eye(3).to_sparse())


class Coarse(Net):
    def forward(self, x):
        return self.body.bfloat16()(x.bfloat16()).float()


def coarse(channels, outputs):
    return Coarse(channels, outputs).bfloat16()


class Fixed(Net):
    def forward(self, x):
        return self.body(x.view(2, -1))


class Recurrent(Net):
    def made(self, channels):
        self.rnn = nn.GRU(8 * channels, 16, batch_first=True)

    def forward(self, x):
        rows = x.permute(0, 2, 1, 3).flatten(2)
        return self.body[3](self.rnn(rows, torch.zeros(1, 64, 16))[0][:, -1])


class Frozen(Net):
    def forward(self, x):
        with torch.no_grad():
            return self.body(x)


class Ending(Net):
    def forward(self, x):
        raise SystemExit("no GPU")


class Setting(Net):
    def forward(self, x):
        torch.set_default_dtype(torch.float64)
        return self.body(x)


class Noisy(Net):
    def forward(self, x):
        return self.body(x) + 1e-2 * torch.randn(len(x), 1)


class Dropping(Net):
    def forward(self, x):
        return self.body[3](F.dropout(self.body[:3](x)))


class Centred(Net):
    def forward(self, x):
        return self.body(x - x.mean(0))


class LateValue(Net):
    def forward(self, x):
        self.value = vars(self).get("value", torch.randn(16, self.outputs))
        return self.body[:3](x) @ self.value


class Detached(Net):
    def forward(self, x):
        return self.body(x.detach())


class Ended(Net):
    def __init__(self, channels, outputs, how):
        super().__init__(channels, outputs)
        self.how = how

    def forward(self, x):
        return eval(self.how)(self.body(x))


def normalised(channels, outputs):
    return Ended(channels, outputs, "lambda y: 3 * F.normalize(y)")


def vanishing(channels, outputs):
    layers = [nn.Conv2d(channels, 8, 1), *[nn.Conv2d(8, 8, 1) for _ in range(40)], flat(8, outputs)]
    for layer in layers[:-1]:
        layer.weight.data, layer.bias.data = layer.weight / 10, 0 * layer.bias
    return nn.Sequential(*layers)


class Dictionary(Net):
    def forward(self, x):
        return {"logits": self.body(x)}


class Auxiliary(Net):
    def forward(self, x):
        return (self.body(x), x) if self.training else self.body(x)


def half(channels, outputs):
    return flat(channels, outputs).half()


def driver(channels, outputs):
    raise RuntimeError("Found no NVIDIA driver on your system.")


def function(channels, outputs):
    return lambda x: x.flatten(1)[:, :outputs]


def ends(channels, outputs):
    raise SystemExit("no GPU")


class Empty(Net):
    def made(self, channels):
        self.empty = nn.Parameter(torch.empty(3, 0, 2, 2))
        self.waves = nn.Parameter(torch.randn(8, 5, dtype=torch.cfloat))
        for kind in ("float8_e4m3fn", "uint16", "bool"):
            value = torch.ones(3).to(getattr(torch, kind))
            self.register_parameter(kind, nn.Parameter(value, requires_grad=False))
        self.register_buffer("cache", torch.empty(5), persistent=False)


class Precise(Net):
    def made(self, channels):
        self.double()

    def forward(self, x):
        return self.body(x.double())


class Shifted(Net):
    def forward(self, x):
        return self.body(x.sub_(0.5).mul_(4))


class ShiftedCopy(Net):
    def forward(self, x):
        return self.body((x - 0.5) * 4)


def relu_first(channels, outputs):
    return nn.Sequential(nn.ReLU(inplace=True), flat(channels, outputs))


class Viewing(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        self.first, self.last = nn.Conv2d(channels, 4, 3), nn.Linear(144, outputs)

    def forward(self, x):
        return self.last(self.first(x).view(-1, 144))


class Strided(Viewing):
    def forward(self, x):
        return self.last(torch.as_strided(self.first(x), (len(x), 144), (144, 1)))


class Reshaping(Viewing):
    def forward(self, x):
        return self.last(self.first(x).reshape(-1, 144))


class Scripted(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        first = nn.Sequential(nn.Conv2d(channels, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.first, self.last = torch.jit.script(first), nn.Linear(288, outputs)

    def forward(self, x):
        return self.last(self.first(x).flatten(1))


def scripted(channels, outputs):
    return torch.jit.script(nn.Sequential(nn.ReLU(inplace=True), flat(channels, outputs)))


def scripted_view(channels, outputs):
    return torch.jit.script(Viewing(channels, outputs))


def untracked(channels, outputs):
    first, norm = flat(channels, 16), nn.BatchNorm1d(16, track_running_stats=False)
    return nn.Sequential(first, norm, nn.Linear(16, outputs))


def grouped(channels, outputs):
    first, second = nn.Conv2d(channels, 16, 3, bias=False), nn.Conv2d(16, 16, 3, groups=16)
    last = nn.ReLU(), nn.Flatten(), nn.Linear(256, outputs, bias=False)
    return nn.Sequential(first, second, nn.BatchNorm2d(16), *last)


def many_fixed(channels, outputs):
    network = nn.Sequential(*[nn.Linear(8, 8) for _ in range(9)], flat(channels, outputs))
    for layer in network[:9]:
        layer.weight.data = torch.eye(8)
    return network


def zero(channels, outputs):
    network = flat(channels, outputs)
    nn.init.zeros_(network[3].weight)
    return network


class Method(Net):
    def symmetry(self, x):
        return x.flip(-1)


class Flag(Net):
    symmetry = True


class Property(Net):
    symmetry = property(lambda self: "mirror")


class Word(Net):
    symmetry = "C4"


class Ends(Net):
    @staticmethod
    def symmetry():
        raise SystemExit(3)


class Meta(type):
    symmetry = property(lambda cls: cls.group)


class Missing(Net, metaclass=Meta):
    pass


class Known(Net):
    symmetry = staticmethod(lambda: "square+channels")


"""


@pytest.fixture
def people(repository):
    """The networks above, as a module of one's own."""
    (repository / "own/people.py").write_text(NETWORKS)
    return networks.constructor("people:flat").__globals__


def of(name, **arguments):
    """The specification of one of them."""
    return {"network": f"people:{name}"} | arguments


REFUSED = {
    "Late": "head.bias, head.weight came into being in the first forward pass",
    "Replaced": "body.3.weight came into being in the first forward pass",
    "Hidden": "are none of its parameters, so that no training reaches them",
    "FirstImages": "not with NumPy, Python's random or by its first images",
    "Power": "take torch.nn.utils.parametrizations.spectral_norm",
    "PowerInTraining": "its outputs in eval mode are decided by the passes before",
    "Buffer": "draw them with torch",
    "Attribute": "draw them with torch",
    "Counted": "each network has other names for its weights: dense_",
    "Squeezed": "in a batch of 1: it returns (",
    "Checkpointed": "set use_reentrant=False",
    "Noisy": "in eval mode depend on chance; give dropout the argument training=self.training",
    "Dropping": "in eval mode depend on chance",
    "Centred": "in eval mode depends on the others of its batch; batch norms need running statist",
    "untracked": "got input size torch.Size([1, 16]); batch norms need running statistics",
    "LateValue": "draw them with torch and in the constructor",
    "Detached": "leave out `torch.no_grad()` and `.detach()`",
    "normalised": "its outputs have one length for all images, as after a normalisation",
    "Listed": "weights of shape (16, 16), (16,) are none of its parameters, so that no training",
    "Fresh": "are none of its parameters, so that no training reaches them; make layers in the con",
    "Initialised": "its outputs in eval mode are decided by the passes before",
    "State": "_extra_state, which its state has, is no tensor",
    "Sparse": "graph, which its state has, is no tensor, or a sparse one",
    "coarse": "derivatives are lost in the rounding of its linear layers in torch.bfloat16",
    "Fixed": "in a batch of 1: RuntimeError: addmm",
    "Recurrent": "a network takes any number of images",
    "Frozen": "leave out `torch.no_grad()`",
    "Ending": "its code ends Python (SystemExit: no GPU)",
    "ends": "its code ends Python (SystemExit: no GPU)",
    "Setting": "its forward pass sets for all of torch: default dtype",
    "Dictionary": "returns a dict, not one tensor; put a module around it",
    "Auxiliary": "returns a tuple, not one tensor; put a module around it",
    "half": "inputs are float32: leave out `.half()`",
    "driver": "leave `.cuda()` and devices out of its code",
    "function": "what is built is a function, not a torch module",
}


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad:UserWarning")
@pytest.mark.parametrize(("name", "words"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_used_is_refused_at_once_and_by_its_own_remedy(name, words, people):
    for refused in (
        lambda: dry_run(of(name), SHAPE, 2),
        lambda: estimate(lambda: people[name](2, 1), SHAPE, 2),
    ):
        with pytest.raises(InputError) as caught:
            refused()
        sentence = str(caught.value)
        assert words in sentence and "\n" not in sentence
        assert ("inputs of another size" in sentence) == ("`input:" in words)


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
            dry_run(of("Ended", how=f"lambda y: {how}"), SHAPE, outputs)


def test_a_deep_network_whose_signal_is_lost_before_training_is_no_such_case(people):
    """Of torchvision's and others' MobileNets, in eval mode, only the features differ."""
    for outputs in (1, 2):
        network = networks.build(of("vanishing"), 2, outputs, 0)
        output = network(100 * torch.randn(4, *SHAPE))
        assert torch.equal(output, output[:1].expand_as(output))
        assert dry_run(of("vanishing"), SHAPE, outputs)[1] == []


@pytest.mark.filterwarnings("ignore:.*spectral_norm.*is deprecated:FutureWarning")
def test_norms_of_weights_are_defined_before_training_or_refused(people, capsys):
    """Of `orthogonal` the drawn values lie in a buffer, and only the parameters repeat."""
    for how in ("new_spectral_norm", "new_weight_norm", "new_orthogonal"):
        assert dry_run(of("normed", how=how), SHAPE, 2)[1] == []
    for refused in (
        lambda: dry_run(of("normed", how="spectral_norm"), SHAPE, 2),
        lambda: estimate(lambda: people["normed"](2, 1, "spectral_norm"), SHAPE, 2),
    ):
        with pytest.raises(InputError, match="in eval mode are decided by the passes before"):
            refused()


@pytest.mark.filterwarnings("ignore:.*torch.jit.* is deprecated:FutureWarning")
@pytest.mark.parametrize(
    "name",
    [
        *("Empty", "Precise", "Shifted", "relu_first", "Viewing", "Strided"),
        *("Scripted", "scripted", "scripted_view", "grouped"),
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
    ("name", "usual"),
    [("Shifted", "ShiftedCopy"), ("Viewing", "Reshaping"), ("Strided", "Reshaping")],
)
def test_what_is_written_in_another_way_has_the_nads_of_the_usual_way(name, usual, people, capsys):
    for arguments in ({}, {"estimand": "gradient"}, {"method": "plain"}):
        one, other = (
            estimate(lambda: people[each](2, 1), SHAPE, 4, **arguments)  # noqa: B023
            for each in (name, usual)
        )
        np.testing.assert_allclose(one.eigenvalues, other.eigenvalues, rtol=1e-3, atol=1e-9)
    notice = "the network runs in torch's usual memory format alone, not in channels last"
    assert (notice in capsys.readouterr().err) == (usual == "Reshaping")


def test_a_memory_format_that_the_dry_run_finds_stands_in_all_plans(people, shipped):
    document = shipped | {"scale": "smoke"}
    document["architectures"]["mine"] = {"network": "people:Viewing", "input": [8, 8]}
    smoke = document["scales"]["smoke"]
    smoke["nads"]["mine"] = 2
    smoke["linear_pairs"]["networks"]["mine"] = {"indices": [1]}
    plans = settings.plans(document)["smoke"]
    for members in (plans.nads.members, *(p.members for p in plans.experiments.values())):
        for name in members.keys() - {"mine"}:
            del members[name]
    trial.try_out(plans)
    expected = of("Viewing", memory_format="contiguous")
    assert plans.nads.members["mine"].specification == expected
    assert plans.experiments["linear_pairs"].members["mine"].specification == expected


def test_a_last_layer_that_starts_at_zero_has_the_nads_of_its_features(people, capsys):
    """Any law of the last layer scales C alone; torch's own is taken."""
    text = "has a last layer that starts at zero; its NADs are the features' then"
    for outputs in (1, 2):
        assert dry_run(of("zero"), SHAPE, outputs)[1] == [f"people:zero {text}"]
    zero, usual = (estimate(lambda: people[n](2, 1), SHAPE, 6) for n in ("zero", "flat"))  # noqa: B023
    assert f"notice: the network {text}" in capsys.readouterr().err
    assert zero.method == "readout"
    np.testing.assert_allclose(zero.eigenvalues, usual.eigenvalues)
    np.testing.assert_array_equal(zero.directions, usual.directions)


def test_many_fixed_weights_get_a_short_notice(people):
    assert dry_run(of("many_fixed"), SHAPE, 2)[1] == [
        "people:many_fixed starts from the same 0.weight, 1.weight, 2.weight and 6 more whatever "
        "the seed"
    ]


@pytest.mark.parametrize("name", ["Method", "Flag", "Property", "Word", "Ends", "Missing", "Known"])
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys\nsys.exit('no GPU')", "its code ends Python (SystemExit: no GPU), as"),
        (
            "import torchvision.models.utils",
            "the torchvision that is found here has no 'torchvision",
        ),
        ("import nowhere", "neither a file own/nowhere.py"),
    ],
)
def test_a_module_that_cannot_be_imported_says_why(text, words, repository):
    (repository / "own/script.py").write_text(text)
    with pytest.raises(InputError) as caught:
        networks.constructor("script:net")
    assert words in str(caught.value)


def test_estimate_takes_what_builds_modules_alone(people):
    for make, words in (
        (lambda: people["function"](2, 1), "the network cannot be built: .* is a function, not"),
        (lambda: 1 / 0, "the network cannot be built: ZeroDivisionError"),
        (nn.Linear, "the network cannot be built: TypeError"),
        ("people:flat", "`lambda: Net\\(\\)`, not a str"),
    ):
        with pytest.raises(InputError, match=words):
            estimate(make, SHAPE, 2)


def test_a_module_of_ones_own_is_read_in_the_encoding_that_it_states(repository):
    path = repository / "own/latin.py"
    path.write_bytes("# -*- coding: latin-1 -*-\nimport numpy  # réseau\n".encode("latin-1"))
    assert "numpy " in networks.version("latin:net", [str(path)])
