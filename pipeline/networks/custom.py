"""Custom networks: import and construction of networks whose code is not ours."""

import contextlib
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from pipeline.project.errors import InputError
from pipeline.training.loop import initialise

OWN = Path("own")
"""Folder of your own networks, below the current folder."""


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
    with prefix_all_errors("it cannot be built"), usual_defaults():
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
