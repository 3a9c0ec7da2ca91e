"""Errors that end a command early (bad input, a full disk, Ctrl-C): one sentence, no
traceback."""

import contextlib
import difflib
import errno
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator

STARTED = time.time()
"""Time, in seconds since 1970, when this process began to read files of the package."""

WATCHED: set[str] = set()
"""Files of your own, as absolute paths, that are checked for edits beside the modules.
"""

KEPT = "finished networks and NADs are kept in .cells/, and the same command goes on"


class InputError(Exception):
    """Wrong input; the message says what is wrong and what to do, in sentences."""


def suggest(name: object, known: Iterable[object]) -> str:
    """Return the end of a sentence that refuses a name: what could be meant.

    Args:
        name: The name.
        known: All known names.

    Returns:
        The nearest known name in a question, or else all known names.
    """
    names = [str(item) for item in known]
    near = difflib.get_close_matches(str(name), names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known are: {', '.join(names)}."


@contextlib.contextmanager
def prefix_errors(place: str, *kinds: type[Exception]) -> Iterator[None]:
    """Context that begins the message of an InputError with its place.

    Args:
        place: Such as 'nads.lenet: '.
        kinds: Other exceptions that are wrong input there and become an InputError.
    """
    try:
        yield
    except (InputError, *kinds) as error:
        raise InputError(f"{place}{error}") from None


def notice(text: str) -> None:
    """Print a line on stderr about something that is worth knowing but no error."""
    print(f"notice: {text}", file=sys.stderr)


def check_unchanged(kept: str = KEPT) -> None:
    """Raise InputError if a source file was edited since this process started.

    Source files are the loaded modules of this package and those below the current
    folder, and the files of `WATCHED`. The check guards the cache, as keys are digests
    of the files before the run. It also guards dvc.lock, as DVC reads a stage's
    dependencies after the stage has ended.

    Args:
        kept: What the command leaves, as the end of the sentence.
    """
    for path in _source_files() | WATCHED:
        # The inode's time of change, since a file moved here keeps its time of
        # modification.
        if not os.path.exists(path) or os.stat(path).st_ctime > STARTED:
            raise InputError(
                f"{os.path.relpath(path)} was edited during the run, so results may "
                f"mix two versions; run it again: {kept}"
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
        kept: What the command leaves, as the end of the sentence.
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
        sys.exit(
            "error: there is not enough memory; free some, or ask for fewer samples: "
            f"{kept}"
        )
    except KeyboardInterrupt:
        print(f"stopped: {kept}", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def _describe(error: OSError, kept: str) -> str:
    """Return the sentence for an error of the operating system."""
    # Where a file is copied or renamed, the second name is that of the new file.
    file = error.filename2 or error.filename or f"a file below {os.getcwd()}"
    # NumPy raises OSError("4096 requested and 512 written"), without a number.
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or " requested and " in str(error):
        return (
            f"the disk is full: {file} cannot be written; free space and run it "
            f"again: {kept}"
        )
    return f"{file}: {error.strerror or error}"
