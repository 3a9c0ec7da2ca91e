"""Checks of networks whose code is not ours.

They refuse what would give a wrong number without a word: weights that the seed does
not determine or training does not reach, and outputs that are no function of one image.
Each check raises InputError with one sentence. Any other exception of the network's
code keeps its own text, after one line that names the network and the step.
"""

import textwrap
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from pipeline.networks.custom import prefix_all_errors, usual_defaults
from pipeline.networks.passes import (
    Build,
    batch_norms,
    distance,
    equal,
    noise,
    run,
)
from pipeline.project.errors import InputError, prefix_errors
from pipeline.training.shapes import Shape

PASSES = 8
"""Most passes in which a parameter may get its gradient."""

IMAGES = 16
"""Images of each of these passes."""

JUMP = 0.2
"""Relative change of eval-mode outputs by one pass in train mode that may be a jump.
The first power iteration of `torch.nn.utils.spectral_norm` changes 99 of 100 networks
by more."""

LAYERS = set("Addmm Mm Bmm Baddbmm Mv Addmv Dot Convolution Sum".split())
"""Functions that end a layer, as autograd names them. A layer by hand ends in a sum."""

LINEAR = set(
    """
    Add Sub Rsub Mul Div Neg Mean AvgPool2D ToCopy AdaptiveAvgPool2D NativeBatchNorm
    CudnnBatchNorm View UnsafeView ReshapeAlias AsStrided Expand Repeat T Transpose
    Permute Squeeze Unsqueeze Slice Select Split Unbind Index Gather IndexSelect Clone
    Alias Cat Stack ViewAsReal
    """.split()
)
"""Functions after a layer that are linear, in eval mode."""

SQUASHING = set(
    """
    Sigmoid Tanh Softmax LogSoftmax Hardtanh Hardsigmoid Clamp Atan Erf NativeLayerNorm
    """.split()
)
"""Functions that leave logits in a range, or with one length for all images."""


def check(
    name: str,
    build: Build,
    shape: Shape,
    output_shape: tuple[int, ...] | None = None,
    copies: int = 2,
) -> list[str]:
    """Check that an untrained network is a function of one image and PyTorch's seed.

    Args:
        name: Name of the network in messages.
        build: Builds the network from a seed.
        shape: (C, H, W) of one input.
        output_shape: Shape of one image's outputs, or None for any.
        copies: Number of images in the batch of `check_batch`.

    Returns:
        A sentence for each property that may be intended.

    Raises:
        InputError: If the network does not run, or fails a check.
    """
    first = build(0)
    same = build(0)
    different = build(1)
    with prefix_errors(f"{name}: "), usual_defaults():
        check_weights(first)
        check_seed(first, same, different)
        notices = find_fixed(first, different)
        for network in (first, same):
            network.to(memory_format=torch.channels_last).eval()
        x = noise(2, shape)
        with torch.no_grad():
            output = check_first_pass(first, x, output_shape)
            check_eval_mode(first, x, output)
            check_batch(first, shape, copies)
            check_same_function(same, x, output)
        notices += check_end(same, x)
        notices += check_training(first, x, output)
    return [f"{name} {text}" for text in notices]


def check_weights(network: nn.Module) -> None:
    """Check that there are weights, that they have values, and those to be trained at
    least four bytes.

    Differences between outputs, and so secants, are lost in the rounding of smaller
    types.
    """
    if next(network.parameters(), None) is None:
        raise InputError(
            "it has no parameters to train; make its weights `nn.Parameter`",
            "network-weights",
        )
    for key, weight in network.named_parameters():
        if nn.parameter.is_lazy(weight):
            raise InputError(
                f"the weights {key} have no values before the first forward pass; give "
                "their layer all its sizes",
                "network-weights",
                name=key,
            )
        if weight.requires_grad and weight.itemsize < 4:
            raise InputError(
                f"the weights {key} are {weight.dtype}; leave them float32 and set "
                "`precision: bfloat16` to train so",
                "network-weights",
                name=key,
            )


def _state(network: nn.Module) -> dict[str, Tensor]:
    """Return all parameters and persistent buffers by name."""
    return dict(network.named_parameters()) | network.state_dict()


def _differences(a: nn.Module, b: nn.Module) -> set[str]:
    """Return the names of parameters and buffers whose values differ."""
    state_a = _state(a)
    state_b = _state(b)
    if names := state_a.keys() ^ state_b.keys():
        raise InputError(
            f"each network has other names for its weights: {_some(names)}",
            "network-weights",
        )
    with prefix_all_errors("comparison of weights"):
        return {key for key in state_a if not torch.equal(state_a[key], state_b[key])}


def check_seed(first: nn.Module, same: nn.Module, different: nn.Module) -> None:
    """Check that the seed, and only the seed, determines parameters and buffers.

    Args:
        first: Network of seed 0.
        same: Another network of seed 0.
        different: Network of seed 1.
    """
    if _differences(first, same):
        raise InputError(
            "its weights differ under the same seed; draw them with torch, not with "
            "NumPy or Python's random",
            "network-seed",
        )
    if not _differences(first, different):
        raise InputError(
            "its weights are the same under two seeds; build a new network in each "
            "call, without a checkpoint and without torch.manual_seed",
            "network-seed",
        )


def find_fixed(first: nn.Module, different: nn.Module) -> list[str]:
    """Return a sentence on parameters that neither the seed nor a constant determines.

    Args:
        first: Network of seed 0.
        different: Network of seed 1.
    """
    random = _differences(first, different)
    fixed = []
    for key, value in first.named_parameters():
        values = value.flatten()
        constant = (values == values[:1]).all()
        # `parametrizations.orthogonal` multiplies a fixed parameter by a random buffer.
        if key not in random and not constant and not key.endswith(".original"):
            fixed.append(key)
    if not fixed:
        return []
    return [f"starts from the same {_some(fixed)} whatever the seed"]


def check_first_pass(
    network: nn.Module, x: Tensor, output_shape: tuple[int, ...] | None
) -> Tensor:
    """Check that the first pass returns finite outputs and leaves no new state.

    Args:
        network: Network in eval mode.
        x: Images.
        output_shape: Shape of one image's outputs, or None for any.

    Returns:
        The outputs.
    """
    names = _state(network).keys()
    parameters = set(network.parameters())
    output = run(network, x, output_shape)
    late = _state(network).keys() - names
    for key, parameter in network.named_parameters():
        if parameter not in parameters:
            late.add(key)
    if late:
        raise InputError(
            f"its first forward pass creates {_some(late)}, which neither the seed nor "
            "training reaches; make all parameters and buffers in the constructor",
            "network-weights",
        )
    if not output.isfinite().all():
        raise InputError("its outputs at noise are not finite", "not-finite")
    return output


def check_eval_mode(network: nn.Module, x: Tensor, output: Tensor) -> None:
    """Check that outputs in eval mode depend on one image only.

    Args:
        network: Network in eval mode after its first pass.
        x: Images of its first pass.
        output: Outputs of its first pass.
    """
    if not equal(run(network, x), output):
        raise InputError(
            "two equal passes in eval mode give different outputs, so it keeps state "
            "from one call to the next or draws numbers without torch; reset its state "
            "at the start of `forward`",
            "network-state",
        )
    if not equal(run(network, x, seed=1), output):
        raise InputError(
            "its outputs in eval mode are random; give dropout "
            "`training=self.training`, add noise only in train mode, and make layers "
            "in the constructor",
            "network-random",
        )


@torch.no_grad()
def check_batch(network: nn.Module, shape: Shape, count: int) -> None:
    """Check that an image has the same output by itself and in two batches.

    The batches are another image with it, and copies of it. Copies take the same way
    through a network, so an expert that takes only the first images leaves some out.

    Args:
        network: Network in eval mode.
        shape: (C, H, W) of one input.
        count: Number of copies.

    Raises:
        InputError: If the outputs differ.
    """
    x = noise(2, shape).to(next(network.parameters()).device)
    pair = run(network, x)
    alone = torch.cat([run(network, image, pair.shape[1:]) for image in x.split(1)])
    copies = run(network, x[1:].repeat(count, 1, 1, 1), pair.shape[1:])
    if equal(alone, pair) and equal(alone[1:].expand_as(copies), copies):
        return
    raise InputError(
        "its output for an image in eval mode depends on the other images of the batch",
        "network-batch",
    )


def check_same_function(same: nn.Module, x: Tensor, output: Tensor) -> None:
    """Check that two networks of one seed are the same function, whatever they saw.

    Args:
        same: Network of the seed, before its first pass.
        x: Images.
        output: Outputs of the first network of the seed.
    """
    run(same, x[1:], seed=1)
    if not equal(run(same, x), output):
        raise InputError(
            "two networks of the same seed have different outputs; draw everything "
            "with torch and in the constructor, not in the first pass, from its "
            "images, or with NumPy",
            "network-seed",
        )


def check_training(network: nn.Module, x: Tensor, output: Tensor) -> list[str]:
    """Check one pass in train mode, and that inputs and all weights have derivatives.

    Args:
        network: Network in eval mode.
        x: Images.
        output: Outputs in eval mode.

    Returns:
        A sentence for each property that may be intended.
    """
    for norm in batch_norms(network):
        norm.momentum = 0.0  # so that passes in train mode keep its running statistics
    images = 2 * x + 1
    train_output = run(network.train(), images, output.shape[1:])
    x = x.clone().requires_grad_()
    after = run(network.eval(), x)
    check_leaves(network, train_output, after)
    check_derivatives(train_output, after, x)
    check_jump(network, images, x, output, after)
    constant = find_untrained(network, images)
    if not constant:
        return []
    return [f"may not train {_some(constant)}, which got no gradient at noise"]


def find_untrained(network: nn.Module, images: Tensor) -> list[str]:
    """Find the parameters that get no gradient in any of a few passes in train mode.

    An expert, or a block that is dropped at random, may get one in another pass.

    Args:
        network: Network after one backward pass.
        images: Images for passes in train mode.
    """
    network.train()
    for seed in range(1, PASSES + 1):
        constant = []
        for key, weight in network.named_parameters():
            if weight.requires_grad and weight.grad is None and weight.numel():
                constant.append(key)
        if not constant:
            break
        several = noise(IMAGES, tuple(images.shape[1:]), seed).to(images)
        with prefix_all_errors("backward pass in train mode"):
            run(network, several, seed=seed).sum().backward()
    network.eval()
    return constant


def check_derivatives(train_output: Tensor, output: Tensor, x: Tensor) -> None:
    """Check that outputs have derivatives with respect to weights and inputs.

    Args:
        train_output: Outputs in train mode, whose weights get gradients.
        output: Outputs in eval mode at the inputs x.
        x: Images that require gradients.
    """
    gradient = None
    with prefix_all_errors("backward pass"):
        if train_output.requires_grad:
            train_output.sum().backward()
        if output.requires_grad:
            (gradient,) = torch.autograd.grad(output.sum(), x, allow_unused=True)
    if not train_output.requires_grad or gradient is None:
        raise InputError(
            "its outputs have no derivative with respect to weights or inputs; "
            "no_grad, detach, argmax and conversion to integers remove it",
            "network-derivative",
        )


def check_leaves(network: nn.Module, train_output: Tensor, output: Tensor) -> None:
    """Check that the weights in the graphs of two passes are parameters of the network.

    A tensor that only one pass has, such as zeros with `requires_grad=True`, is no
    weight.

    Args:
        network: The network.
        train_output: Outputs in train mode with their graph.
        output: Outputs in eval mode with their graph.
    """
    parameters = {id(weight) for weight in network.parameters()}
    leaves = _leaves(output)
    hidden = []
    for key, leaf in _leaves(train_output).items():
        if key in leaves and key not in parameters:
            hidden.append(str(tuple(leaf.shape)))
    if hidden:
        raise InputError(
            f"weights of shape {_some(hidden)} are not among its parameters, so they "
            "are never trained; make layers in the constructor, several in an "
            "nn.ModuleList",
            "network-weights",
        )


def _leaves(output: Tensor) -> dict[int, Tensor]:
    """Return the leaf tensors of a graph by their identity."""
    nodes = [output.grad_fn]
    seen = set()
    leaves = {}
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        nodes += [edge for edge, _ in node.next_functions]
        if type(node).__name__ == "AccumulateGrad":
            leaves[id(node.variable)] = node.variable
    return leaves


def check_end(network: nn.Module, x: Tensor) -> list[str]:
    """Check that outputs (N, outputs) are logits.

    Args:
        network: Network in eval mode, of which only this check has a use.
        x: Images.

    Returns:
        Sentences on functions after the last layer that are not linear, and on a last
        linear layer that starts at zero.

    Raises:
        InputError: If one of `SQUASHING` is applied after the last layer.
    """
    notices = []
    for weight in network.parameters():
        weight.requires_grad = False  # the graph then has what depends on images
    output = run(network, x.clone().requires_grad_())
    functions = _functions_after_last_layer(output) if output.dim() == 2 else []
    names = ", ".join(functions)
    if SQUASHING.intersection(functions):
        raise InputError(
            f"its outputs are squashed or normalised after its last layer ({names}), "
            "and training and NADs need the values before this; leave it out",
            "network-end",
            functions=names,
        )
    if functions:
        notices.append(
            f"applies {names} after its last layer, which is not linear; if its "
            "outputs are meant to be logits, leave it out"
        )
    last = None
    for key, module in network.named_modules():
        if isinstance(module, nn.Linear):
            last = key
    if last is not None and not network.get_submodule(last).weight.any():
        notices.append(
            f"has a last layer {last} that starts at zero; its NADs are the features'"
        )
    return notices


def _functions_after_last_layer(output: Tensor) -> list[str]:
    """Return the functions that are not linear between the last layer and the output.

    They are found up to the first function of two values that depend on the image, such
    as an expert's output times its gate.

    Args:
        output: Outputs whose graph has only what depends on the images.
    """
    functions = []
    node = output.grad_fn
    while node is not None:
        name, _, number = type(node).__name__.partition("Backward")
        if name in LAYERS or not number:  # other people's functions have no number
            break
        inputs = [edge for edge, _ in node.next_functions if edge is not None]
        is_alone = len(inputs) == 1
        if is_alone and name not in LINEAR:
            functions.insert(0, name)
        elif not is_alone and name == "Div":
            functions.insert(0, name)
        node = inputs[0] if is_alone else None
    return functions


@torch.no_grad()
def check_jump(
    network: nn.Module, images: Tensor, x: Tensor, output: Tensor, after: Tensor
) -> None:
    """Check that eval-mode outputs do not jump at the first pass in train mode.

    Args:
        network: Network after one pass in train mode.
        images: Images for passes in train mode.
        x: Images in eval mode.
        output: Outputs at x before the first pass in train mode.
        after: Outputs at x after it.
    """
    jump = distance(output, after)
    if jump <= JUMP:
        return
    run(network.train(), images)
    second = distance(after, run(network.eval(), x))
    if second < jump / 2:  # running means change as much again
        raise InputError(
            "its first pass in train mode sets values that eval mode uses, so the "
            "untrained network is not defined; set them in the constructor, and "
            "replace torch.nn.utils.spectral_norm by "
            "torch.nn.utils.parametrizations.spectral_norm",
            "network-state",
        )


def _some(names: Iterable[str]) -> str:
    """Return the first names as text."""
    return textwrap.shorten(", ".join(sorted(names)), 100)
