"""Neural anisotropy directions (NADs): which directions of its input a network prefers, before it has seen any data.

Two papers as one DVC pipeline: "Neural Anisotropy Directions" (NeurIPS 2020, paper 1) and "A neural anisotropic view of
underspecification in deep learning" (ICLR workshop 2021, paper 2).

    plan                      params.yaml, checked            -> data/plan/
    download                  images                          -> data/images/
    estimate                  NADs of the scale's networks    -> data/nads/
    generate  EXPERIMENT      cells, directions, draws        -> data/datasets/
    train     EXPERIMENT      the grid of networks            -> models/
    evaluate  EXPERIMENT      accuracies, boundaries          -> reports/{experiment}/
    render                    figures and two pages           -> reports/figures/, report.md, index.html

    prune     [DAYS]          size of .cells/; with DAYS, what was not used for so long is removed (a command, no stage)
    profile   NETWORK         what one network sees           -> a page of its own, from any folder (a command, no stage)

Stages are verbs and run as `python -m pipeline.train linear_pairs`; the rooms hold nouns, which never import a verb.

Rooms, from the ground up: project (files, seeds, errors); machine, networks, datasets, images, training, measures; nads and grid
(experiments' cells); experiments; settings (params.yaml) and report. A room imports those before it alone.

Glossary: N images, C channels, H×W pixels, D = C·H·W, K directions, S seeds; *cell*: one training run of a grid;
*direction*: a unit vector v; *index*: the place of a NAD, 0 first; *draw*: the standard-normal images of one seed.
"""

import atexit
import gc
import os
import signal
import sys

PYTHONS = ((3, 11), (3, 12))
"""Versions of Python on which all that requirements.txt names exists and was run."""

NEEDED = {
    "jinja2": None,
    "matplotlib": None,
    "numpy": None,
    "pandas": None,
    "pillow": None,
    "psutil": None,
    "pydantic": None,
    "ruamel.yaml": None,
    "safetensors": None,
    "scikit-learn": None,
    "scipy": None,
    "seaborn": None,
    "threadpoolctl": None,
    "torch": (2, 11),
    "tqdm": None,
}
"""The packages that the stages import, with the first version that will do where another is known not to."""


def lacking(python):
    """What a Python of this version lacks to run the stages, as a sentence that says what to do; None where it lacks nothing.

    Versions that are too old for all other files read this one, so it is written for them too.
    """
    if tuple(python[:2]) not in PYTHONS:
        return (
            f"this project needs Python 3.11 or 3.12, and this is Python {python[0]}.{python[1]}; make an environment with one of "
            "them: `python3.12 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt`"
        )
    from importlib import metadata  # is not in every Python that gets as far as here

    for name, least in NEEDED.items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            return f"the package {name} is not installed in {sys.prefix}; run `pip install -r requirements.txt` there"
        if least and tuple(int(part) for part in found.split(".")[:2]) < least:
            needed = ".".join(map(str, least))
            return f"{name} {found} is too old, {needed} is needed; run `pip install -r requirements.txt`"
    return None


def closed_streams():
    """Open those of standard input, output and error that are closed, on /dev/null, and return their numbers.

    A file that is opened later would take such a number, and what is printed would end up in it.
    """
    found = []
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            found.append(number)
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    return found


def unloadable(kind, error, trace):
    """Say in one sentence that a library cannot be loaded, where the system refuses it memory or files: as `sys.excepthook`."""
    if not issubclass(kind, (ImportError, MemoryError, OSError)):
        return sys.__excepthook__(kind, error, trace)
    said = " ".join(str(error).split()) or kind.__name__
    print(
        f"error: the libraries that this needs cannot be loaded ({said}); give it memory, or install them anew",
        file=sys.stderr,
    )


def let_go():
    """Let what is left at the end go with the process: among PyTorch's modules Python would look for garbage for half a second."""
    # Triton, which PyTorch loads where it counts operations or compiles, complains of what is not let go one by one.
    if "triton" not in sys.modules:
        gc.freeze()


if sys.argv[:1] == ["-m"]:
    sentence = lacking(sys.version_info)
    if sentence:
        sys.exit(f"error: {sentence}")
    # Python meets streams and locale when it starts. In another locale than UTF-8 a class would have another name, and so
    # networks trained on its images another key, or no name that can be printed.
    if closed_streams() or sys.getfilesystemencoding() != "utf-8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    sys.excepthook = unloadable
    # Nothing that is imported is garbage, and to look for some again and again would take a seventh of the imports' time; `one_sentence`
    # lets Python look again.
    gc.disable()
    atexit.register(let_go)
    from pipeline.project import unchanged  # before everything else that a stage imports

    unchanged.begin()
    from pipeline.machine import forkserver

    # It imports PyTorch while this process does.
    if forkserver.WORKING.intersection(sys.orig_argv):
        forkserver.start()

if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # A stage's imports have nothing to keep, so Ctrl-C ends them without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
