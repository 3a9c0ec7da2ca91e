"""What is said when something the user gave cannot be used: one sentence, no traceback."""

import contextlib
import sys


class InputError(Exception):
    """Something given from outside is wrong; the message is one sentence that says what, and what to do."""


@contextlib.contextmanager
def one_sentence():
    """Context of a stage: an `InputError` inside it ends the process with its sentence and exit status 1."""
    try:
        yield
    except InputError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        # A full disk or a missing permission: the stage's outputs are removed by DVC, finished cells stay in the store.
        sys.exit(
            f"error: {error.strerror or error}: {error.filename or 'no file named'}; free space or fix access, then run it again."
        )
