"""The networks of the table: their numbers of parameters, their layers' geometry, and
the function they compute."""

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


def built(name, channels=1, outputs=1, **arguments):
    """An untrained network of the table."""
    return networks.build(
        networks.specification({"network": name, **arguments}), channels, outputs, 0
    )


@pytest.mark.parametrize(
    ("architecture", "number"),
    [
        ({"name": "logreg"}, 1_025),
        ({"name": "lenet"}, 60_941),
        ({"name": "vgg11"}, 9_750_657),
        ({"name": "resnet18"}, 11_168_193),
        ({"name": "densenet121"}, 6_945_921),
        (
            {"name": "mlp", "hidden": [200, 50], "outputs": 2},
            1025 * 200 + 201 * 50 + 51 * 2,
        ),
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
    ids=lambda value: (
        "-".join(map(str, value.values())) if isinstance(value, dict) else ""
    ),
)
def test_parameter_counts(architecture, number):
    with torch.device("meta"):
        parameters = built(**architecture).parameters()
    assert sum(parameter.numel() for parameter in parameters) == number


@pytest.mark.parametrize("downsampling", ["pool", "stride", "none"])
def test_lenet_is_the_usual_function(downsampling):
    """Convolution, ReLU, pooling, twice; then linear layers with ReLU between them."""
    network = built("lenet", 2, 3, downsampling=downsampling)
    x = torch.randn(5, 2, 32, 32, generator=torch.Generator().manual_seed(0))
    pool = (
        (lambda maps: F.max_pool2d(maps, 2))
        if downsampling == "pool"
        else (lambda maps: maps)
    )
    y = pool(F.relu(network.conv2(pool(F.relu(network.conv1(x)))))).flatten(1)
    expected = network.fc3(F.relu(network.fc2(F.relu(network.fc1(y)))))
    assert torch.equal(network(x), expected)


def test_the_mlp_is_linear_maps_with_relus_between_them():
    network = built("mlp", 2, 3, hidden=[7, 5])
    x = torch.randn(4, 2, 32, 32)
    one, two, three = (layer for layer in network if isinstance(layer, nn.Linear))
    expected = F.relu(F.linear(x.flatten(1), one.weight, one.bias))
    expected = F.relu(F.linear(expected, two.weight, two.bias))
    assert torch.equal(network(x), F.linear(expected, three.weight, three.bias))
    linear = built("logreg", 2, 3)
    assert torch.equal(
        linear(x), F.linear(x.flatten(1), linear[1].weight, linear[1].bias)
    )


def same_function(ours, theirs, x):
    """Whether two networks with the weights of the first, in order, are the same
    function."""
    theirs.load_state_dict(
        dict(zip(theirs.state_dict(), ours.state_dict().values(), strict=True))
    )
    return torch.allclose(ours.train()(x), theirs.train()(x), atol=1e-4)


def test_resnet18_is_torchvisions_with_a_stem_of_3_by_3_without_pooling():
    theirs = torchvision.models.resnet18(num_classes=3)
    theirs.conv1 = nn.Conv2d(2, 64, 3, padding=1, bias=False)
    theirs.maxpool = nn.Identity()
    assert same_function(built("resnet18", 2, 3), theirs, torch.randn(2, 2, 32, 32))


def test_vgg11_is_torchvisions_with_a_head_of_512_512_outputs_and_drawn_as_in_the_papers():
    """Filters from N(0, 2/(k²·out)) with zero bias."""
    ours = built("vgg11", 3, 10)
    for layer in ours.features:
        if isinstance(layer, nn.Conv2d):
            assert not layer.bias.any() and layer.kernel_size == (3, 3)
            deviation = math.sqrt(2 / (9 * layer.out_channels))
            weights = layer.weight.detach()
            assert float(weights.std()) == pytest.approx(deviation, rel=0.05)
            inside = (weights.abs() < deviation).float().mean()
            assert float(inside) == pytest.approx(0.6827, abs=0.03), (
                "normal, not uniform"
            )
    theirs = torchvision.models.vgg11_bn().features
    assert same_function(ours.features, theirs, torch.randn(2, 3, 32, 32))
    head = [
        getattr(layer, "out_features", getattr(layer, "p", 0)) for layer in ours.head
    ]
    assert head == [0, 512, 0, 0.5, 512, 0, 0.5, 10], (
        "linear layers, and dropout after each ReLU"
    )


def test_the_other_networks_are_drawn_as_the_framework_draws_them():
    """Uniform within ±1/√fan-in, weights and biases."""
    small = {"lenet": {}, "resnet18": {"width": 0.125}, "densenet121": {"growth": 4}}
    small |= {"vit": {}, "mixer": {}, "convmixer": {}}
    for name, arguments in small.items():
        for layer in built(name, **arguments).modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                bound = 1 / math.sqrt(layer.weight[0].numel())
                largest = float(layer.weight.detach().abs().max())
                assert 0.9 * bound < largest <= bound, layer
            if isinstance(layer, nn.BatchNorm2d):
                assert (layer.weight == 1).all() and not layer.bias.any()


def test_resnet18_without_downsampling_reads_its_whole_maps():
    network = built("resnet18", width=0.125, downsampling="none")
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
    torch.testing.assert_close(block(x), F.relu(expected + x if skip else expected))


def test_densenet121s_layers():
    """Blocks of 6, 12, 24 and 16 layers, growth 32; transitions halve channels and
    maps: 64, 128, 256, 512 and last 1,024."""
    network = built("densenet121", 3, 10)
    found = []
    layers = [module for module in network.modules() if isinstance(module, Dense)]
    for layer in layers:
        layer.register_forward_hook(
            lambda _, inputs, output: found.append(inputs[0].shape[1:])
        )
    with torch.no_grad():
        network.eval()(torch.randn(1, 3, 32, 32))
    assert found == [
        (start + 32 * number, side, side)
        for start, count, side in (
            (64, 6, 32),
            (128, 12, 16),
            (256, 24, 8),
            (512, 16, 4),
        )
        for number in range(count)
    ]
    assert network.fc.in_features == 1024
    assert {
        (layer.conv1.out_channels, layer.conv2.out_channels) for layer in layers
    } == {(128, 32)}


def test_vits_attention_is_the_frameworks():
    torch.manual_seed(0)
    block = Block(8, 2).eval()
    options = {"batch_first": True, "norm_first": True}
    theirs = nn.TransformerEncoderLayer(8, 2, 32, 0.0, "gelu", **options)
    ours = block.state_dict()
    layers = ["qkv", "project", "mlp.0", "mlp.2", "norm1", "norm2"]
    values = [
        ours[f"{layer}.{part}"] for layer in layers for part in ("weight", "bias")
    ]
    theirs.load_state_dict(dict(zip(theirs.state_dict(), values, strict=True)))
    x = torch.randn(2, 5, 8)
    torch.testing.assert_close(block(x), theirs.train()(x))


def test_convnext_is_drawn_as_its_authors_draw_it_and_its_blocks_start_as_identities():
    network = built("convnext")
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            assert not layer.bias.any()
    assert float(network.features[4].weight.detach().std()) == pytest.approx(
        0.02, rel=0.05
    )
    x = torch.randn(2, 32, 8, 8)
    torch.testing.assert_close(network.features[2](x), x)
    assert not torch.allclose(
        built("convnext", scale=1.0).features[2](x), x, rtol=0, atol=1e-3
    )


@pytest.mark.parametrize("name", ["vit", "mixer"])
def test_patches_are_alike_before_training(name):
    """Networks without positions, or whose patches' weights are permuted, give permuted
    patches the same output: their law knows no neighbourhood."""
    network = built(name, width=16).double().eval()
    x = torch.randn(2, 1, 32, 32, dtype=torch.float64)
    order = torch.randperm(64, generator=torch.Generator().manual_seed(0))

    def permute(maps):
        return maps.flatten(-2)[..., order].unflatten(-1, (8, 8))

    patches = permute(F.pixel_unshuffle(x, 4))
    permuted = moved(
        network, lambda maps: permute(maps) if maps.shape[-1] == 8 else maps, 0
    )
    assert not torch.allclose(
        network(F.pixel_shuffle(patches, 4)), network(x), rtol=0, atol=1e-10
    )
    torch.testing.assert_close(permuted(F.pixel_shuffle(patches, 4)), network(x))


def moved(network, move, maps):
    """A copy of a network whose filters are moved, with all that belongs to single
    patches and the columns of the linear layer that takes `maps` maps as they lie."""
    network = copy.deepcopy(network)
    linear = bool(maps)

    # The last axis of these weights runs over the patches of an 8×8 grid.
    def moved_patches(weight):
        return move(weight.unflatten(-1, (8, 8)).clone()).flatten(-2)

    for module in network.modules():
        if isinstance(module, ViT):
            module.positions.data[1:] = moved_patches(module.positions.data[1:].mT).mT
        if isinstance(module, mixer.Block):
            first, _, last = module.mix_patches
            first.weight.data, last.bias.data = map(
                moved_patches, (first.weight, last.bias)
            )
            last.weight.data = moved_patches(last.weight.mT).mT
        if isinstance(module, nn.Conv2d):
            module.weight.data = move(module.weight.data)
        if isinstance(module, nn.Linear) and linear:
            linear = False
            columns = module.weight.data
            side = math.isqrt(columns.shape[1] // maps)
            module.weight.data = move(columns.unflatten(1, (maps, side, side))).flatten(
                1
            )
    return network


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
    ids=lambda value: (
        "-".join(map(str, value.values())) if isinstance(value, dict) else ""
    ),
)
def test_the_stated_symmetries_are_those_that_a_network_has(architecture, maps):
    """Its weights are as likely as the moved ones, with which it does to moved images
    what it does to the images."""
    specification = networks.specification(architecture)
    network = networks.build(specification, 2, 3, 0).double().eval()
    x = torch.randn(
        2, 2, 32, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    holds = {
        name: torch.allclose(
            moved(network, move, maps)(move(x)), network(x), atol=1e-10
        )
        for name, move in {
            "transposed": lambda x: x.mT,
            "flipped": lambda x: x.flip(-1),
        }.items()
    }
    stated = networks.symmetry(specification).square
    assert holds == {"transposed": True, "flipped": stated == "square"}
    # Its first weights, drawn alike for each channel, with channels exchanged and one
    # turned.
    first = next(
        w for n, w in network.named_parameters() if w.dim() > 1 and n != "positions"
    )
    channels = first.data.unflatten(1, (2, -1))
    expected = network(x)

    def turn(pair):
        return torch.stack([pair[:, 1], -pair[:, 0]], 1)

    first.data = turn(channels).reshape(first.shape)
    assert torch.allclose(network(turn(x)), expected, atol=1e-10)
