"""Custom networks: import, construction and checks of networks whose code is not ours.

The checks refuse what would give a wrong number without a word: weights that the seed
does not determine or training does not reach, and outputs that are no function of one
image. Each check raises InputError with one sentence. Any other exception of the
network's code keeps its own text, after one line that names the network and the step.
"""

import contextlib
import importlib
import sys
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from pipeline.project.errors import InputError, prefix_errors
from pipeline.training.loop import initialise
from pipeline.training.shapes import Shape, as_text

OWN = Path("own")
"""Folder of your own networks, below the current folder."""

ROUNDING = 1e-4
"""Relative distance up to which outputs are equal."""

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

Build = Callable[[int], nn.Module]


# Import and construction
# ------------------------------------------------------------------------------


@contextlib.contextmanager
def usual_defaults() -> Iterator[None]:
    """Context with PyTorch's usual defaults, which undoes changes to them.

    TF32, which rounds to three digits, is off for convolutions too. A caller may be in
    `torch.inference_mode` or `torch.autocast`, and its default device a GPU. Other
    people's code may set them for the whole process when it is imported or run. It sees
    no arguments of the command line, which it would take for its options.
    """
    dtype = torch.get_default_dtype()
    device = torch.get_default_device()
    precision = torch.get_float32_matmul_precision()
    tf32 = torch.backends.cudnn.allow_tf32
    arguments = sys.argv
    sys.argv = arguments[:1]
    torch.set_default_dtype(torch.float32)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    is_cpu = device.type == "cpu"
    try:
        with (
            contextlib.nullcontext() if is_cpu else torch.device("cpu"),
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autocast("cpu", enabled=False),
            torch.autocast("cuda", enabled=False),
        ):
            yield
    finally:
        sys.argv = arguments
        torch.set_default_dtype(dtype)
        torch.set_float32_matmul_precision(precision)
        torch.backends.cudnn.allow_tf32 = tf32
        if torch.get_default_device() != device:
            torch.set_default_device(None if device.type == "cpu" else device)


@contextlib.contextmanager
def prefix_all_errors(name: str) -> Iterator[None]:
    """Context of a part of a network's own code.

    Args:
        name: What it does, with which the message of an exception begins.

    Raises:
        InputError: For any exception of that code, SystemExit included.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}", error.kind, **error.fields) from error
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())
        kind = type(error).__name__
        raise InputError(
            f"{name}: {kind}: {message}", "network-code", exception=kind
        ) from error


def load(module: str) -> types.ModuleType:
    """Import a module that contains a network, from own/ or the environment.

    Raises:
        InputError: If it cannot be imported.
    """
    folder = str(OWN.absolute())
    if folder not in sys.path:
        sys.path.append(folder)
    with prefix_all_errors(
        f"the module {module}, in own/, the current folder or installed, cannot be "
        "imported"
    ):
        sys.path.insert(0, folder)
        try:
            with usual_defaults():
                imported = importlib.import_module(module)
        except ImportError as error:
            missing = error.name or ""
            _check_project(missing)
            absent = module == missing or module.startswith(f"{missing}.")
            if absent and isinstance(error, ModuleNotFoundError):
                raise InputError(
                    "there is no such module; put its file into own/, install its "
                    "package, or correct its name",
                    "unknown-name",
                    name=module,
                ) from error
            raise
        finally:
            # Workers inherit this path, and own/ may have modules of any name.
            sys.path.remove(folder)
        _check_project(module)
        return imported


def _check_project(module: str) -> None:
    """Check that a module of yours does not have the name of this project's package.

    Args:
        module: Name of a module that is missing, or that has no networks.
    """
    package = __name__.partition(".")[0]
    has_networks = module.startswith(f"{__package__}.")
    if module.partition(".")[0] == package and not has_networks:
        raise InputError(
            f"{module} is looked for in this project, whose package is named "
            f"{package}; give your {package}.py or {package}/ another name",
            "conflict",
            name=module,
        )


def build(
    make: Callable[[], nn.Module], seed: int, contiguous: bool = False
) -> nn.Module:
    """Build a network with other people's code, its weights drawn from a seed.

    The weights are drawn on the CPU. The network maps a copy of its inputs, since many
    networks change them in place.

    Args:
        make: Builds the network.
        seed: Seed of PyTorch's generator.
        contiguous: Whether the network always runs in PyTorch's default memory format.

    Raises:
        InputError: If `make` fails or does not return a module.
    """
    called = "called with (channels, outputs) and its further arguments by name"
    with prefix_all_errors(f"it cannot be built when {called}"), usual_defaults():
        network = initialise(make, seed)
        if not isinstance(network, nn.Module):
            raise InputError(
                f"it is a {type(network).__name__}, not a torch.nn.Module", "wrong-type"
            )
    memory_format = torch.contiguous_format if contiguous else torch.preserve_format

    def copy(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(x.clone(memory_format=memory_format) for x in inputs)

    # Scripted modules refuse their own method.
    nn.Module.register_forward_pre_hook(network, copy)
    if contiguous:
        network.to = types.MethodType(_to, network)
    return network


def _to(network: nn.Module, *arguments: object, **keywords: object) -> nn.Module:
    """Call `nn.Module.to` without a memory format, for tensors of five dimensions."""
    keywords.pop("memory_format", None)
    return type(network).to(network, *arguments, **keywords)


# Passes
# ------------------------------------------------------------------------------


def noise(count: int, shape: Shape, seed: int = 0) -> Tensor:
    """Return standard-normal images in channels last.

    Args:
        count: Number of images.
        shape: (C, H, W) of one image.
        seed: Seed of the noise.
    """
    channels, height, width = shape
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(count, height, width, channels, generator=generator)
    return images.movedim(3, 1)


def run(
    network: nn.Module,
    x: Tensor,
    output_shape: tuple[int, ...] | None = None,
    seed: int = 0,
) -> Tensor:
    """Return the float32 outputs of a network in its present mode.

    Args:
        network: The network.
        x: Images (N, C, H, W).
        output_shape: Shape of one image's outputs, or None for any.
        seed: Seed of PyTorch's generator during the pass.

    Raises:
        InputError: If the pass fails or returns something else.
    """
    with prefix_all_errors(f"forward pass on inputs {as_text(x.shape)}"):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            output = network(x)
        if not isinstance(output, Tensor):
            raise InputError(
                f"it returns a {type(output).__name__}, not one tensor; wrap the "
                "network in a module that returns only its outputs, or set an argument "
                "that leaves out the rest (torchvision: aux_logits: false)",
                "network-output",
            )
        if output_shape is not None:
            expected = (len(x), *output_shape)
            if output.shape != expected:
                raise InputError(
                    f"it returns {tuple(output.shape)}, not {expected}; build it with "
                    f"{output_shape[0]} output{'s' * (output_shape[0] > 1)}",
                    "network-output",
                    shape=tuple(output.shape),
                )
        if output.is_complex():
            raise InputError(
                "it returns complex numbers; return real ones, such as their absolute "
                "values",
                "network-output",
            )
    return output.float()


def batch_norms(network: nn.Module) -> list[nn.Module]:
    """Return a network's batch-norm layers."""
    kind = nn.modules.batchnorm._BatchNorm
    return [module for module in network.modules() if isinstance(module, kind)]


def needs_contiguous(
    name: str, build: Build, build_contiguous: Build, shape: Shape
) -> bool:
    """Return whether a network needs PyTorch's default memory format.

    Such a network does not run, or computes something else, in channels last. Examples
    are `view` after a convolution, `as_strided` and parameters of five
    dimensions.

    Args:
        name: Name of the network in messages.
        build: Builds the network from a seed.
        build_contiguous: Builds the same network `contiguous`.
        shape: (C, H, W) of one input.

    Raises:
        InputError: If the network does not run in the default memory format either.
    """
    x = noise(2, shape)
    network = build_contiguous(0)
    with usual_defaults():
        with prefix_errors(f"{name}: "):
            output = _try_passes(network, x)
        try:
            network = build(0).to(memory_format=torch.channels_last)
            return not _equal(_try_passes(network, x), output)
        except Exception:
            return True


def _try_passes(network: nn.Module, x: Tensor) -> Tensor:
    """Return the outputs in eval mode, after passes in both modes and directions."""
    output = run(network.eval(), x)
    train_output = run(network.train(), x)
    with prefix_all_errors("backward pass"):
        if train_output.requires_grad:
            train_output.sum().backward()
    return output.detach()


def _distance(a: Tensor, b: Tensor) -> float:
    """Return the distance of outputs relative to the larger; NaN if not finite."""
    size = max(a.norm(), b.norm(), torch.tensor(1e-30))
    return float((a - b).norm() / size)


def _equal(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and _distance(a, b) <= ROUNDING


# Checks
# ------------------------------------------------------------------------------


def check(
    name: str,
    build: Build,
    shape: Shape,
    output_shape: tuple[int, ...] | None = None,
) -> list[str]:
    """Check that an untrained network is a function of one image and PyTorch's seed.

    Args:
        name: Name of the network in messages.
        build: Builds the network from a seed.
        shape: (C, H, W) of one input.
        output_shape: Shape of one image's outputs, or None for any.

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
            check_batch(first, shape, 2)
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
    if not _equal(run(network, x), output):
        raise InputError(
            "two equal passes in eval mode give different outputs, so it keeps state "
            "from one call to the next or draws numbers without torch; reset its state "
            "at the start of `forward`",
            "network-state",
        )
    if not _equal(run(network, x, seed=1), output):
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
    if _equal(alone, pair) and _equal(alone[1:].expand_as(copies), copies):
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
    if not _equal(run(same, x), output):
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
    jump = _distance(output, after)
    if jump <= JUMP:
        return
    run(network.train(), images)
    second = _distance(after, run(network.eval(), x))
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
