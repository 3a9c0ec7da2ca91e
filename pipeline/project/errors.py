"""Errors that end a command early (bad input, a full disk, Ctrl-C): one sentence, no
traceback."""

import contextlib
import difflib
import errno
import os
import signal
import sys
import time
import typing
from collections.abc import Iterable, Iterator

STARTED = time.time()
"""Time, in seconds since 1970, when this process began to read files of the package."""

WATCHED: set[str] = set()
"""Files of your own, as absolute paths, that are checked for edits beside the modules.
"""

KEPT = "finished networks and NADs are cached in .cells/"


Kind = typing.Literal[
    "value",  # a value that cannot be used, and no kind below says why
    # Settings and names
    "settings",  # mistakes in params.yaml, listed in the field `mistakes`
    "unknown-key",
    "unknown-name",
    "missing-key",
    "wrong-type",
    "out-of-range",
    "conflict",  # values that are right by themselves and exclude each other
    # Files
    "missing-file",
    "unreadable-file",
    "outside-own",  # DVC would not see an edit of it
    "stale",  # made for another plan, or edited since the plan was made
    "edited",  # edited while the command ran
    "images",  # no set of images in train/<class>/ and test/<class>/
    "download",
    # Arrays
    "wrong-shape",
    "not-finite",
    # The machine
    "missing-package",
    "missing-device",
    "cluster",
    "crash",
    "failed-jobs",
    # A network
    "network-code",  # it raised an exception
    "network-output",  # something else than one tensor of outputs
    "network-weights",  # not all in its constructor, or not in float32
    "network-seed",  # the seed does not determine it
    "network-state",  # what it returns depends on earlier calls
    "network-random",
    "network-batch",  # an output depends on other images
    "network-derivative",
    "network-end",  # softmax or another function after its outputs
]
"""All kinds of wrong input, so that a program can tell them apart."""


class InputError(Exception):
    """Wrong input; the message says what is wrong and what to do, in sentences.

    Attributes:
        kind: The kind of mistake.
        fields: Values that the message states, such as the unknown name.
    """

    def __init__(
        self, message: str, kind: Kind = "value", **fields: typing.Any
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.fields = fields


def suggest(name: object, known: Iterable[object]) -> str:
    """Return the advice on an unknown name: what could be meant.

    Args:
        name: The name.
        known: All known names.

    Returns:
        A question with the nearest known name, or else all known names.
    """
    names = [str(item) for item in known]
    near = difflib.get_close_matches(str(name), names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"choose one of {', '.join(names)}."


@contextlib.contextmanager
def prefix_errors(
    place: str, *exceptions: type[Exception], kind: Kind = "value"
) -> Iterator[None]:
    """Context that begins the message of an InputError with its place.

    The place, without the colon, becomes a field of the error.

    Args:
        place: Such as 'nads.lenet: '.
        exceptions: Other exceptions that are wrong input there, and become one.
        kind: The kind that these become.
    """
    try:
        yield
    except (InputError, *exceptions) as error:
        fields = {}
        if isinstance(error, InputError):
            kind = error.kind
            fields = error.fields
        fields["place"] = place.removesuffix(": ")
        raise InputError(f"{place}{error}", kind, **fields) from None


def notice(text: str) -> None:
    """Print a line on stderr about something that is worth knowing."""
    print(f"notice: {text}", file=sys.stderr)


def check_unchanged(kept: str = KEPT) -> None:
    """Raise InputError if a source file was edited since this process started.

    Source files are the loaded modules of this package and those below the current
    folder, and the files of `WATCHED`. The check guards the cache, as keys are digests
    of the files before the run. It also guards dvc.lock, as DVC reads a stage's
    dependencies after the stage has ended.

    Args:
        kept: What is not lost, for the end of the sentence.
    """
    for path in _source_files() | WATCHED:
        # The inode's time of change, since a file moved here keeps its time of
        # modification.
        if not os.path.exists(path) or os.stat(path).st_ctime > STARTED:
            raise InputError(
                f"{os.path.relpath(path)} changed during the run, so results may mix "
                f"two versions; run the command again ({kept})",
                "edited",
                path=os.path.relpath(path),
            )


def _source_files() -> set[str]:
    """Return the files of the loaded modules that are this package's or your own."""
    here = os.path.join(os.getcwd(), "")
    paths = set()
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if not path:
            continue
        own = path.startswith(here) and "site-packages" not in path
        if own or name.split(".")[0] in ("pipeline", "__main__"):
            paths.add(path)
    return paths


@contextlib.contextmanager
def one_sentence(kept: str = KEPT) -> Iterator[None]:
    """Context in which an error ends the command with one sentence on stderr.

    The exit status is 1 for an `InputError` and for an error of the operating system.
    It is 130 for Ctrl-C and for SIGTERM, which `kill` and schedulers send.

    Args:
        kept: What is not lost, for the end of the sentence.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
        check_unchanged(kept)
    except InputError as error:
        sys.exit("\n".join(f"error: {sentence}" for sentence in str(error).split("\n")))
    except OSError as error:
        sys.exit(f"error: {_describe(error, kept)}")
    except MemoryError:
        sys.exit(f"error: out of memory; free some, or set fewer samples ({kept})")
    except KeyboardInterrupt:
        print(f"stopped; run the command again to resume ({kept})", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def _describe(error: OSError, kept: str) -> str:
    """Return the sentence for an error of the operating system."""
    # Where a file is copied or renamed, the second name is that of the new file.
    file = error.filename2 or error.filename or f"a file below {os.getcwd()}"
    # NumPy raises OSError("4096 requested and 512 written"), without a number.
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or " requested and " in str(error):
        return (
            f"the disk is full, so {file} cannot be written; free some space and run "
            f"the command again ({kept})"
        )
    return f"{file}: {error.strerror or error}"
