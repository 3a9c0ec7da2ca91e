"""What is said when something the user gave cannot be used: one sentence, no traceback."""

import contextlib
import difflib
import sys
from collections.abc import Iterable, Iterator


class InputError(Exception):
    """Something given from outside is wrong; the message says what and what to do, a sentence a line where there are several."""


def nearest(name: object, known: Iterable[object]) -> str:
    """The end of a sentence that refuses a name: the known one that is nearest, or all."""
    known = [str(other) for other in known]
    near = difflib.get_close_matches(str(name), known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(known)}."


@contextlib.contextmanager
def one_sentence() -> Iterator[None]:
    """Context of a stage: an `InputError` inside it ends the process with its sentence and exit status 1."""
    try:
        yield
    except InputError as error:
        sys.exit("\n".join(f"error: {sentence}" for sentence in str(error).split("\n")))
    except OSError as error:
        # A full disk or a missing permission: the stage's outputs are removed by DVC, finished cells stay in the store.
        sys.exit(
            f"error: {error.strerror or error}: {error.filename or 'no file named'}; free space or fix access, then run it again."
        )
