"""Command `profile NETWORK`: what a network sees of its inputs, and what it will fail to see
-> FOLDER/index.html, one page.

NETWORK is a name of the table (lenet), or module:name in the folder where the command runs or in an
installed package; its own arguments follow as name=value. Where this project is installed, the
command runs from any folder as `profile`:

    profile my_networks:Mixer depth=4 --input 3x64x64 --minutes 10
    profile lenet resnet18 width=0.125 my_networks:Mixer depth=4
    profile my_networks:Mixer --weights mixer.safetensors --images cifar-10-python.tar.gz

Several networks share the minutes; each has its page in a folder of its own below FOLDER, and
FOLDER/index.html compares them. More minutes give better numbers. All pages are written at the end.
"""

import argparse
import itertools
import math
import os
import re
import shlex
import sys
import time
from pathlib import Path

import threadpoolctl
import torch
from ruamel.yaml import YAML

from pipeline import networks
from pipeline.cells.shapes import as_text
from pipeline.machine import workers
from pipeline.networks import Shape, Specification
from pipeline.networks.dry_run import dry_run
from pipeline.profile import page, trained, untrained
from pipeline.profile.checkpoint import of_file
from pipeline.profile.result import Result
from pipeline.project import command
from pipeline.project.errors import InputError, notice, one_sentence
from pipeline.report.labels import label

SHARE = 0.45  # part of the time in which NADs are estimated; the rest is for training


def named(words: list[str]) -> dict[str, Specification]:
    """The networks on the command line by their labels, each with the words `name=value` after it.

    Raises InputError for a network that is unknown.
    """
    entries = []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and entries:
            entries[-1][name] = YAML(typ="safe").load(value)
        else:
            entries.append({"network": word})
    specifications = [networks.specification(entry) for entry in entries]
    labels = [label(each) for each in specifications]
    alike = lambda each: labels.count(label(each)) > 1  # old:Net and new:Net
    module = lambda each: f" of {each['network'].partition(':')[0]}"
    return {label(each) + module(each) * alike(each): each for each in specifications}


def input_shape(text: str) -> Shape:
    """An input's shape from text such as 3x64x64."""
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){2}", text):
        raise argparse.ArgumentTypeError(f"{text} is no shape such as 3x64x64: CxHxW, in pixels")
    channels, height, width = map(int, text.split("x"))
    return channels, height, width


def main(given: argparse.Namespace) -> None:
    """Profile the networks, and write the page of each and the page that compares several."""
    end = time.monotonic() + 60 * given.minutes
    every, shape = named(given.networks), given.input
    if given.weights and len(every) > 1:
        raise InputError(f"--weights are of one network, and {len(every)} are named")
    if bool(given.weights) != bool(given.images):
        missing = "--images" if given.weights else "--weights"
        raise InputError(
            f"--weights and the --images that it knows go together; {missing} is missing"
        )
    notices = {}
    for name, each in every.items():
        dry_run(each, shape, 1)  # NADs are of one output, and trained networks have two
        notices[name] = dry_run(each, shape, 2)
    device, checkpoint = workers.device_of("auto"), None
    if given.weights:
        ((name, each),) = every.items()
        checkpoint = of_file(each, shape, given.weights, given.images, device.type)
        notices[name] += checkpoint.notices
    for text in dict.fromkeys(itertools.chain(*notices.values())):
        notice(text)
    folder = Path(given.output or f"profile-{'-'.join(map(page.slug, every))}")
    folder.mkdir(parents=True, exist_ok=True)  # before any work, in case that nobody may
    steps = {
        name: trained.seconds_per_sample(each, shape, device.type) for name, each in every.items()
    }
    # All have one estimand and one size of training, or else they could not be compared.
    step, at_once = max(steps.values()), workers.slots(device)
    available = (end - time.monotonic()) / len(every) * at_once
    least = max(untrained.spanning(each, shape, untrained.SECANT) for each in every.values())
    estimator, reasons = untrained.affordable(shape, step, SHARE * available, least)
    sizes = trained.sizes(math.prod(shape), step, (1 - SHARE) * available, at_once)
    results = []
    words = shlex.join(["python", "-m", "pipeline.profile", *sys.argv[1:]])
    for name, specification in every.items():
        begun = time.monotonic()
        seconds = max(0.0, end - begun) / (len(every) - len(results))
        print(f"{name}, inputs {as_text(shape)}, for {seconds:.0f} s")
        asked = specification, shape, estimator, device.type
        nads, response, gaps = untrained.estimated(*asked, begun + SHARE * seconds)
        print(f"  {nads.networks:,} untrained networks, relative error of C {nads.error:.2f}")
        course = trained.Course(specification, shape, *sizes, given.lr, device.type)
        directions, each = trained.chosen(nads, response), steps[name] * course.steps
        many = f"{len(directions)} direction{'s' * (len(directions) > 1)}"
        print(f"  training along {many}, about {each:.0f} s a network")
        table = trained.outcomes(course, directions, begun + seconds, each)
        print(f"  {len(table)} networks")
        network = networks.build(specification, shape[0], 1, 0)
        result = Result(
            name=name,
            command=words,
            parameters=sum(each.numel() for each in network.parameters()),
            nads=nads,
            response=response,
            directions=directions,
            course=course,
            trained=table,
            notices=[*notices[name], *reasons, *gaps],
            checkpoint=checkpoint,
        )
        results.append(result)
    page.write(results, folder)
    print(folder / "index.html")


def parsed(words: list[str]) -> argparse.Namespace:
    """The command line."""
    reader = command.parser(__doc__, "profile")
    add = reader.add_argument
    example = "lenet, my_networks:Mixer depth=4, torchvision.models:resnet18, timm:resnet10t"
    add("networks", nargs="+", metavar="NETWORK name=value", help=f"{example}, or several of them")
    of_input = {"type": input_shape, "metavar": "CxHxW", "default": "1x32x32"}
    add("--input", **of_input, help="shape of one input (%(default)s)")
    add("--minutes", type=float, default=10, help="about how long it shall take (%(default)s)")
    add("--lr", type=float, default=0.5, help="learning rate of the first step (%(default)s)")
    add("--weights", metavar="FILE", help="a trained network's weights, as safetensors")
    add("--images", metavar="PATH", help="its images: CIFAR-10's archive, or class folders")
    add("--output", metavar="FOLDER", help="where all of it goes (profile-NETWORK)")
    return reader.parse_intermixed_args(words)


def profile() -> None:
    """The command `profile`, also as `python -m pipeline.profile`."""
    sys.path.insert(0, os.getcwd())  # where an installed command does not look for modules
    kept = "nothing is kept, so that it begins anew"
    # One thread for the decompositions too: the cores are the workers'.
    with one_sentence(kept), threadpoolctl.threadpool_limits(1):
        torch.set_num_threads(1)
        sys.stdout.reconfigure(line_buffering=True)
        main(parsed(sys.argv[1:]))


if __name__ == "__main__":
    profile()
