"""The networks of the table: parameters, geometry and the function they compute."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
import torchvision
from torch import nn

from pipeline import networks
from pipeline.networks import mixer
from pipeline.networks.densenet import Dense
from pipeline.networks.resnet import Residual
from pipeline.networks.vit import Block, ViT


def build(name, channels=1, outputs=1, **arguments):
    """An untrained network of the table."""
    specification = networks.specification({"network": name, **arguments})
    return networks.build(specification, channels, outputs, 0)


@pytest.mark.parametrize(
    ("architecture", "number"),
    [
        ({"name": "logreg"}, 1_025),
        ({"name": "lenet"}, 60_941),
        ({"name": "vgg11"}, 9_750_657),
        ({"name": "resnet18"}, 11_168_193),
        ({"name": "densenet121"}, 6_945_921),
        ({"name": "mlp", "hidden": [200, 50], "outputs": 2}, 215_152),
        ({"name": "lenet", "channels": 2, "outputs": 2}, 60_941 + 150 + 85),
        ({"name": "vit"}, 605_825),
        ({"name": "mixer"}, 424_193),
        ({"name": "convmixer"}, 124_673),
        ({"name": "convnext"}, 504_353),
        ({"name": "lenet", "downsampling": "stride"}, 60_941),
        ({"name": "lenet", "downsampling": "none"}, 60_941 + (24**2 - 5**2) * 16 * 120),
        ({"name": "resnet18", "downsampling": "none"}, 11_168_193 + (32**2 - 1) * 512),
        # Without the three strided 1×1 convolutions and their batch norms.
        ({"name": "resnet18", "skip": False}, 11_168_193 - 21 * 8192 - 2 * 896),
    ],
    ids=str,
)
def test_parameter_counts(architecture, number):
    with torch.device("meta"):
        parameters = build(**architecture).parameters()
    assert sum(parameter.numel() for parameter in parameters) == number


@pytest.mark.parametrize("downsampling", ["pool", "stride", "none"])
def test_lenet_is_the_usual_function(downsampling):
    """Convolution, ReLU, pooling, twice; then linear layers with ReLU between them."""
    network = build("lenet", 2, 3, downsampling=downsampling)
    x = torch.randn(5, 2, 32, 32, generator=torch.Generator().manual_seed(0))
    y = x
    for convolution in (network.conv1, network.conv2):
        y = F.relu(convolution(y))
        if downsampling == "pool":
            y = F.max_pool2d(y, 2)
    y = F.relu(network.fc1(y.flatten(1)))
    y = F.relu(network.fc2(y))
    assert torch.equal(network(x), network.fc3(y))


def test_the_mlp_is_linear_maps_with_relus_between_them():
    network = build("mlp", 2, 3, hidden=[7, 5])
    x = torch.randn(4, 2, 32, 32)
    first, second, last = [layer for layer in network if isinstance(layer, nn.Linear)]
    expected = last(F.relu(second(F.relu(first(x.flatten(1))))))
    assert torch.equal(network(x), expected)
    logreg = build("logreg", 2, 3)
    assert torch.equal(logreg(x), logreg[1](x.flatten(1)))


def copy_weights(ours, theirs):
    """Copy weights in the order in which the networks list them."""
    values = ours.state_dict().values()
    theirs.load_state_dict(dict(zip(theirs.state_dict(), values, strict=True)))


def is_same_function(ours, theirs, x):
    """Whether two networks with the same weights, in order, are the same function."""
    copy_weights(ours, theirs)
    return torch.allclose(ours.train()(x), theirs.train()(x), atol=1e-4)


def test_resnet18_is_torchvisions_with_a_stem_of_3_by_3_without_pooling():
    theirs = torchvision.models.resnet18(num_classes=3)
    theirs.conv1 = nn.Conv2d(2, 64, 3, padding=1, bias=False)
    theirs.maxpool = nn.Identity()
    assert is_same_function(build("resnet18", 2, 3), theirs, torch.randn(2, 2, 32, 32))


def test_the_filters_of_vgg11_are_normal_with_zero_bias():
    """N(0, 2/(k²·out)), as in the papers."""
    for layer in build("vgg11", 3, 10).features:
        if isinstance(layer, nn.Conv2d):
            assert not layer.bias.any()
            assert layer.kernel_size == (3, 3)
            deviation = math.sqrt(2 / (9 * layer.out_channels))
            weights = layer.weight.detach()
            assert float(weights.std()) == pytest.approx(deviation, rel=0.05)
            inside = (weights.abs() < deviation).float().mean()
            assert float(inside) == pytest.approx(0.6827, abs=0.03), "not uniform"


def test_vgg11_is_torchvisions_with_a_head_of_512_512_outputs():
    ours = build("vgg11", 3, 10)
    theirs = torchvision.models.vgg11_bn().features
    assert is_same_function(ours.features, theirs, torch.randn(2, 3, 32, 32))
    kinds = [nn.Flatten, *[nn.Linear, nn.ReLU, nn.Dropout] * 2, nn.Linear]
    assert [type(layer) for layer in ours.head] == kinds
    widths = [layer.out_features for layer in ours.head if isinstance(layer, nn.Linear)]
    assert widths == [512, 512, 10]
    assert ours.head[3].p == ours.head[6].p == 0.5


def test_the_weights_of_the_other_networks_are_drawn_as_by_pytorch():
    """Uniform within ±1/√fan-in, weights and biases."""
    small = {
        "lenet": {},
        "resnet18": {"width": 0.125},
        "densenet121": {"growth": 4},
        "vit": {},
        "mixer": {},
        "convmixer": {},
    }
    for name, arguments in small.items():
        for layer in build(name, **arguments).modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                bound = 1 / math.sqrt(layer.weight[0].numel())
                largest = float(layer.weight.detach().abs().max())
                assert 0.9 * bound < largest <= bound, layer
            if isinstance(layer, nn.BatchNorm2d):
                assert (layer.weight == 1).all()
                assert not layer.bias.any()


def test_resnet18_without_downsampling_reads_its_whole_maps():
    network = build("resnet18", width=0.125, downsampling="none")
    x = torch.randn(1, 1, 32, 32)
    maps = network.blocks(F.relu(network.bn1(network.conv1(x))))
    assert maps.shape == (1, 64, 32, 32)
    torch.testing.assert_close(network(x), network.fc(maps.flatten(1)))


@pytest.mark.parametrize("skip", [True, False])
def test_a_residual_block_is_two_convolutions_beside_its_input(skip):
    block = Residual(4, 4, 1, skip).eval()
    x = torch.randn(2, 4, 8, 8)
    nn.init.normal_(block.bn2.bias)
    expected = block.bn2(block.conv2(F.relu(block.bn1(block.conv1(x)))))
    if skip:
        expected = expected + x
    torch.testing.assert_close(block(x), F.relu(expected))


def test_densenet121s_layers():
    """Blocks of 6, 12, 24 and 16 layers, growth 32.

    Transitions halve channels and maps: 64, 128, 256, 512 and last 1,024.
    """
    network = build("densenet121", 3, 10)
    found = []

    def note_shape(layer, inputs, output):
        found.append(inputs[0].shape[1:])

    for layer in network.modules():
        if isinstance(layer, Dense):
            layer.register_forward_hook(note_shape)
            assert layer.conv1.out_channels == 128
            assert layer.conv2.out_channels == 32
    with torch.no_grad():
        network.eval()(torch.randn(1, 3, 32, 32))
    expected = []
    for start, count, side in ((64, 6, 32), (128, 12, 16), (256, 24, 8), (512, 16, 4)):
        for number in range(count):
            expected.append((start + 32 * number, side, side))
    assert found == expected
    assert network.fc.in_features == 1024


def test_the_attention_of_vit_is_pytorchs():
    torch.manual_seed(0)
    block = Block(8, 2).eval()
    theirs = nn.TransformerEncoderLayer(
        8, 2, 32, 0.0, "gelu", batch_first=True, norm_first=True
    )
    values = []
    for name in ("qkv", "project", "mlp.0", "mlp.2", "norm1", "norm2"):
        layer = block.get_submodule(name)
        values += [layer.weight.data, layer.bias.data]
    theirs.load_state_dict(dict(zip(theirs.state_dict(), values, strict=True)))
    x = torch.randn(2, 5, 8)
    torch.testing.assert_close(block(x), theirs.train()(x))


def test_convnext_is_drawn_as_by_its_authors_and_its_blocks_start_as_identities():
    network = build("convnext")
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            assert not layer.bias.any()
    deviation = float(network.features[4].weight.detach().std())
    assert deviation == pytest.approx(0.02, rel=0.05)
    x = torch.randn(2, 32, 8, 8)
    torch.testing.assert_close(network.features[2](x), x)
    block = build("convnext", scale=1.0).features[2]
    assert not torch.allclose(block(x), x, rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", ["vit", "mixer"])
def test_patches_are_alike_before_training(name):
    """Permuted patches have the same output if their weights are permuted too."""
    network = build(name, width=16).double().eval()
    x = torch.randn(2, 1, 32, 32, dtype=torch.float64)
    order = torch.randperm(64, generator=torch.Generator().manual_seed(0))

    def permute(maps):
        if maps.shape[-1] != 8:
            return maps
        return maps.flatten(-2)[..., order].unflatten(-1, (8, 8))

    permuted = F.pixel_shuffle(permute(F.pixel_unshuffle(x, 4)), 4)
    expected = network(x)
    assert not torch.allclose(network(permuted), expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(move_weights(network, permute, 0)(permuted), expected)


def move_weights(network, move, maps):
    """A copy of a network whose weights are moved as its inputs are.

    These are its filters, the weights of single patches, and the columns of the linear
    layer on so many whole maps, if there is one.
    """
    network = copy.deepcopy(network)

    # The last axis of these weights runs over the patches of an 8×8 grid.
    def move_patches(weight):
        return move(weight.unflatten(-1, (8, 8)).clone()).flatten(-2)

    for module in network.modules():
        if isinstance(module, ViT):
            module.positions.data[1:] = move_patches(module.positions.data[1:].mT).mT
        if isinstance(module, mixer.Block):
            first, _, last = module.mix_patches
            first.weight.data = move_patches(first.weight)
            last.bias.data = move_patches(last.bias)
            last.weight.data = move_patches(last.weight.mT).mT
        if isinstance(module, nn.Conv2d):
            module.weight.data = move(module.weight.data)
    if maps:
        linear = [layer for layer in network.modules() if isinstance(layer, nn.Linear)]
        columns = linear[0].weight.data
        side = math.isqrt(columns.shape[1] // maps)
        columns = move(columns.unflatten(1, (maps, side, side)))
        linear[0].weight.data = columns.flatten(1)
    return network


MOVES = {"transposed": lambda x: x.mT, "flipped": lambda x: x.flip(-1)}


@pytest.mark.parametrize(
    ("architecture", "maps"),
    [
        ({"network": "logreg"}, 2),
        ({"network": "mlp", "hidden": [9]}, 2),
        ({"network": "lenet"}, 16),
        ({"network": "lenet", "downsampling": "none"}, 16),
        ({"network": "lenet", "downsampling": "stride"}, 16),
        ({"network": "vgg11", "width": 0.125}, 0),
        ({"network": "resnet18", "width": 0.125}, 0),
        ({"network": "resnet18", "width": 0.125, "downsampling": "none"}, 64),
        ({"network": "densenet121", "growth": 4, "blocks": [1, 2, 1, 1]}, 0),
        ({"network": "vit", "width": 16}, 0),
        ({"network": "mixer", "width": 16}, 0),
        ({"network": "convmixer", "width": 16}, 0),
        ({"network": "convnext", "widths": [4, 8, 16], "scale": 1.0}, 0),
    ],
    ids=str,
)
def test_the_stated_symmetries_are_those_that_a_network_has(architecture, maps):
    """With moved weights, which are as likely, moved images have the same output."""
    specification = networks.specification(architecture)
    network = networks.build(specification, 2, 3, 0).double().eval()
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 2, 32, 32, dtype=torch.float64, generator=generator)
    expected = network(x)
    found = {}
    for name, move in MOVES.items():
        output = move_weights(network, move, maps)(move(x))
        found[name] = torch.allclose(output, expected, atol=1e-10)
    stated = networks.symmetry(specification).square
    assert found == {"transposed": True, "flipped": stated == "square"}

    # The same for channels: they are exchanged, and one changes its sign.
    def exchange(pair):
        return torch.stack([pair[:, 1], -pair[:, 0]], 1)

    first = first_layer(network)
    channels = first.weight.data.unflatten(1, (2, -1))
    first.weight.data = exchange(channels).reshape(first.weight.shape)
    assert torch.allclose(network(exchange(x)), expected, atol=1e-10)


def first_layer(network):
    """The first convolution or linear layer."""
    layers = network.modules()
    return next(layer for layer in layers if isinstance(layer, nn.Conv2d | nn.Linear))
