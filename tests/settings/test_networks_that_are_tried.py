"""A network tried without computing is what it is when it computes, and what cannot be run ends with one sentence."""

import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from pipeline import networks
from pipeline.networks import dry_run as tried
from pipeline.networks.dry_run import dry_run
from pipeline.project.errors import InputError

HERE = __name__


def of_table(name, **arguments):
    """The specification of a network of the table."""
    return networks.specification({"network": name} | arguments)


def own(name, **arguments):
    """The specification of a network in this file."""
    return {"network": f"{HERE}:{name}"} | arguments


def refused(specification, shape=(1, 32, 32), outputs=2):
    """What is said of a network that is refused."""
    with pytest.raises(InputError) as caught:
        dry_run(specification, shape, outputs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("specification", "shape", "outputs"),
    [
        (of_table("logreg"), (1, 32, 32), 1),
        (of_table("logreg", side=8), (3, 8, 8), 10),
        (of_table("mlp", hidden=[100, 20]), (2, 32, 32), 2),
        (of_table("mlp", hidden=[]), (1, 32, 32), 3),
        (of_table("lenet"), (4, 32, 32), 2),
        (of_table("lenet", downsampling="stride"), (1, 32, 32), 2),
        (of_table("lenet", downsampling="none"), (1, 32, 32), 2),
        (of_table("lenet", side=64), (3, 64, 64), 10),
        (of_table("vgg11"), (3, 32, 32), 10),
        (of_table("vgg11", width=0.125, side=64), (1, 64, 64), 1),
        (of_table("resnet18"), (3, 32, 32), 10),
        (of_table("resnet18", width=0.125, downsampling="none"), (1, 32, 32), 2),
        (of_table("resnet18", width=0.125, skip=False), (2, 24, 40), 2),
        (of_table("densenet121"), (1, 32, 32), 2),
        (of_table("densenet121", growth=4, blocks=[1, 2]), (3, 16, 16), 5),
    ],
)
def test_it_is_what_the_network_is_when_it_computes(specification, shape, outputs):
    found = dry_run(specification, shape, outputs)
    network = networks.build(specification, shape[0], outputs, 0).eval()
    with torch.no_grad():
        assert network(torch.zeros(2, *shape)).shape == (2, outputs)
    assert found.size == sum(value.nbytes for value in network.state_dict().values())


def test_operations_are_two_for_each_multiplication_of_a_forward_pass():
    """Of one sample: a linear layer multiplies inputs · outputs, a convolution pixels · filters · channels · 25."""
    assert dry_run(of_table("logreg"), (3, 32, 32), 10).operations == 2 * 3072 * 10
    assert dry_run(of_table("mlp", hidden=[100, 20]), (1, 32, 32), 2).operations == 2 * (102_400 + 2_000 + 40)
    linear = 400 * 120 + 120 * 84 + 84 * 2
    lenet = 28**2 * 6 * 1 * 25 + 10**2 * 16 * 6 * 25 + linear
    assert dry_run(of_table("lenet"), (1, 32, 32), 2).operations == 2 * lenet == 831_696
    four = lenet + 3 * 28**2 * 6 * 25
    assert dry_run(of_table("lenet"), (4, 32, 32), 2).operations == 2 * four


def test_the_size_is_that_of_the_state():
    assert dry_run(of_table("logreg"), (1, 32, 32), 2).size == 4 * (2 * 1024 + 2)
    # Weight and bias, mean and variance in float32, and the number of batches as one int64.
    assert dry_run(own("normalised", channels_of_norm=1), (1, 32, 32), 1024).size == 4 * 4 + 8


def test_a_network_of_ones_own_is_run_without_numbers_then_with_some_in_training_and_out_of_it():
    state = torch.get_rng_state()
    Recording.seen.clear()
    dry_run(own("Recording"), (3, 32, 32), 2)
    assert Recording.seen == [
        ("meta", (2, 3, 32, 32), False, False),
        ("cpu", (3, 3, 32, 32), True, True),
        ("cpu", (3, 3, 32, 32), False, False),
        ("cpu", (1, 3, 32, 32), False, False),
    ]
    assert torch.equal(torch.get_rng_state(), state)


def test_one_of_the_table_is_run_without_numbers_alone(monkeypatch):
    monkeypatch.setitem(networks.NETWORKS, "recording", f"{HERE}:Recording")
    Recording.seen.clear()
    dry_run(of_table("recording"), (3, 32, 32), 2)
    assert [device for device, *_ in Recording.seen] == ["meta"]


@pytest.mark.parametrize("largest", [(4 * 2 * 3073 - 1, 10**9), (10**9, 2 * 3072 * 2 - 1)])
def test_so_is_one_that_is_large(largest, monkeypatch):
    Recording.seen.clear()
    monkeypatch.setattr(tried, "LARGEST_WITH_NUMBERS", largest)
    dry_run(own("Recording"), (3, 32, 32), 2)
    assert [device for device, *_ in Recording.seen] == ["meta"]


# Networks as a user might write them.


def normalised(channels, outputs, channels_of_norm=1):
    """A batch norm that is given `channels` channels."""
    return nn.Sequential(nn.BatchNorm2d(channels_of_norm), nn.Flatten())


class ByName(nn.Module):
    """Batch norm with keywords."""

    def __init__(self, channels, outputs, kept=1):
        super().__init__()
        self.register_buffer("mean", torch.zeros(kept))
        self.register_buffer("variance", torch.ones(kept))
        self.fc = nn.Linear(channels * 1024, outputs)

    def forward(self, x):
        x = F.batch_norm(input=x, running_mean=self.mean, running_var=self.variance)
        return self.fc(F.relu(input=x.flatten(1), inplace=True))


class Recording(nn.Module):
    """It remembers what it was given: device, shape, whether it trained, whether gradients were kept."""

    seen = []

    def __init__(self, channels, outputs):
        super().__init__()
        self.fc = nn.Linear(channels * 1024, outputs)

    def forward(self, x):
        self.seen.append((x.device.type, tuple(x.shape), self.training, torch.is_grad_enabled()))
        return self.fc(x.flatten(1))


class OfNumbers(nn.Module):
    """What it does depends on the values of its inputs, which the meta device has not."""

    def __init__(self, channels, outputs, first=0.0):
        super().__init__()
        self.fc = nn.Linear(channels * 1024, outputs)
        self.first = float(self.fc.weight.detach().sum() * 0 + first)

    def forward(self, x):
        return self.fc(x.flatten(1)) if float(x.sum() * 0) == self.first else x


class Raising(nn.Module):
    """It cannot run."""

    def __init__(self, channels, outputs, error="ValueError", text="two\nlines"):
        super().__init__()
        self.error = {"ValueError": ValueError, "SystemExit": SystemExit, "AssertionError": AssertionError}[error](text)

    def forward(self, x):
        raise self.error


class Unfinished(nn.Module):
    """It cannot be built."""

    def __init__(self, channels, outputs):
        raise RuntimeError("not\nyet")


class Two(nn.Module):
    """It returns a tuple."""

    def forward(self, x):
        return x, x


def two(channels, outputs):
    return Two()


def function(channels, outputs):
    return lambda x: x


def maps(channels, outputs, filters=5):
    """Maps instead of classes."""
    return nn.Conv2d(channels, filters, 3)


def whatever(channels, outputs, **arguments):
    """A network that takes any argument."""
    return nn.Sequential(nn.Flatten(), nn.Linear(channels * 1024, outputs * arguments.get("times", 1)))


number = 3


def test_networks_of_ones_own():
    for specification in (own("ByName"), own("OfNumbers"), own("whatever"), own("whatever", times=1, colour="red")):
        found = dry_run(specification, (1, 32, 32), 2)
        network = networks.build(specification, 1, 2, 0)
        assert found.size == sum(value.nbytes for value in network.state_dict().values())
        assert found.operations == 2 * 1024 * 2


@pytest.mark.parametrize(
    ("specification", "sentence"),
    [
        (own("Raising"), " cannot be run: ValueError: two lines"),
        (own("Raising", error="SystemExit", text="0"), " cannot be run: SystemExit: 0"),
        (own("Raising", error="AssertionError", text=""), " cannot be run: AssertionError:"),
        (own("two"), " cannot be run: it returns a value of type tuple, not a tensor"),
        (own("function"), " cannot be run: it is of type function, not a torch module"),
        (own("maps"), " maps (2, 1, 32, 32) to (2, 5, 30, 30), not to (2, 2)"),
        (own("whatever", times=2), " maps (2, 1, 32, 32) to (2, 4), not to (2, 2)"),
        (own("OfNumbers", first=1.0), " maps (2, 1, 32, 32) to (2, 1, 32, 32), not to (2, 2)"),
        (own("normalised", channels_of_norm=3), " cannot be run: ValueError: batch norm of 3 channels is given 1"),
        (own("ByName", kept=2), " cannot be run: ValueError: batch norm of 2 channels is given 1"),
        (own("number"), " is of type int; name a class or a function that returns a torch module"),
        (
            {"network": "builtins:print"},
            " is a function built into Python; name a class or a function that returns a torch module",
        ),
    ],
)
def test_what_cannot_be_run_ends_with_one_sentence(specification, sentence):
    assert refused(specification) == f"{specification['network']}{sentence}"


@pytest.mark.parametrize(
    ("specification", "sentence"),
    [
        (own("Unfinished"), f"the network {HERE}:Unfinished cannot be built with {{}}: not yet"),
        (own("maps", filter=3), f"the network {HERE}:maps takes no argument 'filter'; did you mean 'filters'?"),
        (own("two", filters=3), f"the network {HERE}:two takes no argument 'filters'; it takes none"),
        (of_table("lenet", width=2), "takes no argument 'width'; known are: side, downsampling."),
        (of_table("mlp", hidden=[0]), "hidden must be made of whole numbers from 1 to 100,000, not 0"),
        (of_table("mlp", hidden=[20, 1.5]), "hidden must be made of whole numbers from 1 to 100,000, not 1.5"),
        (of_table("mlp", hidden=[True]), "hidden must be made of whole numbers from 1 to 100,000, not True"),
        (of_table("mlp", hidden=[100_001]), "hidden must be made of whole numbers from 1 to 100,000, not 100001"),
        (of_table("mlp", hidden=5), "'int' object is not iterable"),
        (of_table("mlp"), "missing 1 required positional argument: 'hidden'"),
        (of_table("densenet121", growth=0), "growth must be made of whole numbers from 1 to 1,000, not 0"),
        (of_table("densenet121", growth=1001), "growth must be made of whole numbers from 1 to 1,000, not 1001"),
        (
            of_table("densenet121", blocks=[6, 10**9]),
            "blocks must be made of whole numbers from 1 to 100, not 1000000000",
        ),
        (of_table("resnet18", width=0.01), "width must lie between 0.125 and 4"),
        (of_table("vgg11", side=40), "side must be a multiple of 32"),
        (of_table("lenet", side=64), "mat1 and mat2 shapes cannot be multiplied (2x400 and 2704x120)"),
        (
            of_table("mlp", hidden=[100_000, 100_000]),
            "pipeline.networks.mlp:MLP cannot be run: its weights take 40 GB, more than 4",
        ),
        (
            of_table("lenet", side=40_000),
            "pipeline.networks.lenet:LeNet cannot be run: its weights take 768 GB, more than 4",
        ),
        (
            {"network": "torchvision:resnet18"},
            "the network 'torchvision:resnet18' cannot be imported: torchvision has no 'resnet18'; "
            "did you mean 'torchvision.models:resnet18'?",
        ),
        ({"network": f"{HERE}:ow"}, f"{HERE} has no 'ow'; did you mean '{HERE}:own'?"),
        ({"network": f"{HERE}:no_such_name"}, "cannot be imported"),
        (
            {"network": "no_such_module:net"},
            "cannot be imported (No module named 'no_such_module'); its module "
            "must lie in the repository's root, or in a folder that the environment variable PYTHONPATH names",
        ),
        ({"network": ":net"}, "cannot be imported"),
        ({"network": "..a:net"}, "cannot be run: TypeError"),
    ],
)
def test_what_is_refused(specification, sentence):
    assert sentence in refused(specification)


def test_the_largest_network_that_is_tried(monkeypatch):
    monkeypatch.setattr(tried, "LARGEST", 4 * (2 * 1024 + 2))
    assert dry_run(of_table("logreg"), (1, 32, 32), 2)
    monkeypatch.setattr(tried, "LARGEST", 4 * (2 * 1024 + 2) - 1)
    assert "weights take" in refused(of_table("logreg"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def net(:\n", "cannot be run: SyntaxError: invalid syntax (broken.py, line 1)"),
        ("import sys\nsys.exit(0)\n", "cannot be run: SystemExit: 0"),
        ("raise RuntimeError('no\\nluck')\n", "cannot be run: RuntimeError: no luck"),
        ("1 / 0\n", "cannot be run: ZeroDivisionError: division by zero"),
        (
            "import no_such_module\n",
            "cannot be imported (No module named 'no_such_module'); its module "
            "must lie in the repository's root, or in a folder that the environment variable PYTHONPATH names",
        ),
        # Of one release of Python a SyntaxError, of another a ValueError, which an import may raise.
        ("\x00", "source code string cannot contain null bytes"),
    ],
)
def test_a_module_that_cannot_be_imported(text, reason, tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    assert reason in refused({"network": "broken:net"})
