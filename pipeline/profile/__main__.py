"""Command `profile NETWORK`: what a network is sensitive to, and what it may miss
-> FOLDER/index.html, one page.

NETWORK is a built-in network (lenet), or module:name in the folder where the command
runs or in an installed package; its own arguments follow as name=value. Where this
project is installed, the command runs from any folder as `profile`:

    profile my_networks:Mixer depth=4 --input 3x64x64 --minutes 10
    profile lenet resnet18 width=0.25 my_networks:Mixer depth=4
    profile lenet --weights lenet.safetensors --images cifar-10-python.tar.gz

Several networks are on one page, side by side, and share the minutes. A command that
was stopped resumes when it runs again.
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import threadpoolctl
import torch
from ruamel.yaml import YAML, YAMLError

from pipeline import __version__, networks
from pipeline.experiments.plan import Plan
from pipeline.images.sources import cache_folder
from pipeline.machine import code, store, workers
from pipeline.nads.arguments import check_positive
from pipeline.nads.estimator import NADsPlan
from pipeline.networks import Shape, Specification, own
from pipeline.networks.dry_run import dry_run
from pipeline.profile import checkpoint, page, plan, work
from pipeline.profile.idle import find_idle_weights
from pipeline.project import command
from pipeline.project.errors import InputError, notice, one_sentence, prefix_errors
from pipeline.report.labels import label
from pipeline.training.loop import BATCH


def parse_networks(words: list[str], shape: Shape) -> dict[str, Specification]:
    """Parse the networks on the command line.

    Args:
        words: Networks, each with the words `name=value` after it.
        shape: (C, H, W) of one input.

    Returns:
        Specifications by names that can be in file names.

    Raises:
        InputError: If a network is unknown.
    """
    entries = []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name == "network":
            raise InputError(f"{word}: name each network by itself", "unknown-key")
        if equals and entries:
            try:
                entries[-1][name] = YAML(typ="safe").load(value)
            except YAMLError:
                raise InputError(f"{word}: the value is not YAML", "value") from None
        else:
            entries.append({"network": word})
    architectures = {}
    for entry in entries:
        specification = networks.specification(entry)
        with prefix_errors(f"{entry}: ", ValueError):
            name = re.sub(r"[^\w.]+", "-", label(specification, shape)).strip("-")
        if name in architectures:  # old:Net and new:Net
            name += "-" + specification["network"].partition(":")[0]
        unique = name
        number = 2
        while unique in architectures:
            unique = f"{name}-{number}"
            number += 1
        architectures[unique] = specification
    return architectures


def parse_shape(text: str) -> Shape:
    """Parse an input's shape such as 3x64x64."""
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){2}", text):
        raise argparse.ArgumentTypeError(
            f"{text} is no shape such as 3x64x64: CxHxW, in pixels"
        )
    channels, height, width = map(int, text.split("x"))
    return channels, height, width


@contextlib.contextmanager
def divert_stdout() -> Iterator[None]:
    """Context that sends to stderr what this process and its workers print.

    Workers inherit the file descriptor, not Python's stream.
    """
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


def main(arguments: argparse.Namespace) -> None:
    """Profile the networks, write the page, and print how far it can be trusted."""
    with divert_stdout() if arguments.json else contextlib.nullcontext():
        found = run(arguments)
        print(found["page"])
        for network in found["networks"].values():
            print(f"{network['label']}: {network['trust']}")
    if arguments.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Profile the networks, and write the page.

    Args:
        arguments: The command line.

    Returns:
        The results as values that JSON has.

    Raises:
        InputError: For what cannot be profiled.
    """
    shape = arguments.input
    for option in ("minutes", "lr"):
        check_positive(f"--{option}", getattr(arguments, option))
    architectures = parse_networks(arguments.networks, shape)
    if arguments.weights and len(architectures) > 1:
        raise InputError(
            f"--weights are of one network, and {len(architectures)} are named",
            "conflict",
            names=list(architectures),
        )
    if bool(arguments.weights) != bool(arguments.images):
        raise InputError(
            "give --weights and --images together, in Python a trained module and its "
            "images",
            "conflict",
        )
    notices = []
    with own.record_reads() as paths:
        for specification in architectures.values():  # NADs are of one output
            notices += dry_run(specification, shape, 1)
    device = workers.find_device("auto")
    trained = None
    if arguments.weights:
        (specification,) = architectures.values()
        trained = checkpoint.measure(
            specification, shape, arguments.weights, arguments.images, device
        )
        notices += trained.notices
    folder = Path(arguments.output or f"profile-{'-'.join(architectures)}")
    folder.mkdir(parents=True, exist_ok=True)
    sizes = plan.load_or_choose(
        folder / "plan.json", architectures, shape, arguments.minutes, device
    )
    steps = sizes.epochs * sizes.samples // BATCH
    for specification in architectures.values():
        notices += dry_run(specification, shape, 2, steps)
        notices += find_idle_weights(specification, shape)
    notices = list(dict.fromkeys(notices))
    for text in notices:
        notice(text)
    print(
        f"planned for {arguments.minutes:g} min on {workers.device_name(device)}; for "
        f"each network at most {sizes.untrained:,} untrained networks "
        f"({sizes.estimand}), and {sizes.seeds} × {sizes.indices} trained ones, "
        f"{sizes.epochs} epochs of {sizes.samples:,} samples each"
    )
    files = plan.digest_own_files(own.find_data(paths))
    nads_plan = plan.plan_nads(
        architectures, shape, sizes.estimand, sizes.untrained, files
    )
    sweep, profiles = measure(nads_plan, sizes, arguments.lr, device)
    page.write(
        folder,
        profiles,
        nads_plan,
        sweep,
        checkpoint=trained,
        command=shlex.join(["python", "-m", "pipeline.profile", *sys.argv[1:]]),
        notices=notices,
    )
    found = {
        "page": str(folder / "index.html"),
        "networks": {name: profile.tabulate() for name, profile in profiles.items()},
        "notices": notices,
    }
    if trained:
        found["trained"] = trained.tabulate()
    return found


def measure(
    nads_plan: NADsPlan, sizes: plan.Sizes, lr: float, device: torch.device
) -> tuple[Plan, dict[str, page.Profile]]:
    """Estimate NADs and train networks along them.

    Args:
        nads_plan: The plan of the NADs.
        sizes: The sizes of the work.
        lr: Learning rate of the first step.
        device: Where the work is done.

    Returns:
        The plan of the trained networks, and what was found of each network, by name.
    """
    nads, responses = work.estimate(nads_plan, device)
    sweep = plan.plan_sweep(nads_plan, nads, sizes, lr)
    results = work.train(sweep, nads, device)
    profiles = {}
    for name, member in sweep.members.items():
        rows = results[results["architecture"] == name]
        text = label(member.specification, member.input)
        profiles[name] = page.Profile(text, nads[name], responses[name], rows)
    return sweep, profiles


def parse(words: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = command.make_parser(__doc__, "profile")
    parser.add_argument(
        "networks",
        nargs="+",
        metavar="NETWORK",
        help="lenet, my_networks:Mixer depth=4, torchvision.models:resnet18, "
        "timm:resnet10t, or several of them, each followed by its arguments",
    )
    parser.add_argument(
        "--input",
        type=parse_shape,
        metavar="CxHxW",
        default="1x32x32",
        help="shape of one input (%(default)s)",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=10,
        help="about how long it takes (%(default)s)",
    )
    parser.add_argument(
        "--lr",
        type=float,
        default=0.5,
        help="learning rate of the first step (%(default)s)",
    )
    parser.add_argument(
        "--weights", metavar="FILE", help="weights of a trained network, as safetensors"
    )
    parser.add_argument(
        "--images",
        metavar="PATH",
        help="its images: CIFAR-10's archive, or class folders",
    )
    parser.add_argument(
        "--output", metavar="FOLDER", help="where everything goes (profile-NETWORK)"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the results as JSON on stdout, and everything else on stderr",
    )
    parser.add_argument("--version", action="version", version=__version__)
    return parser.parse_intermixed_args(words)


def profile() -> None:
    """The command `profile`, also as `python -m pipeline.profile`."""
    if Path.cwd() != code.PACKAGE.parent:  # a clone has a cache of its own
        os.environ.setdefault("DVC_ROOT", str(cache_folder()))
    # Last, since the folder where an installed command runs may have a folder pipeline/
    # too.
    sys.path.append(os.getcwd())
    hint = f"finished networks are cached in {store.default_folder()}"
    # One thread for the decompositions too: the cores are the workers'.
    with one_sentence(hint), threadpoolctl.threadpool_limits(1):
        torch.set_num_threads(1)
        sys.stdout.reconfigure(line_buffering=True)
        main(parse(sys.argv[1:]))


if __name__ == "__main__":
    profile()
