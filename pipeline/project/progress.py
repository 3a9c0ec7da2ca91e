"""Lines of progress, where neither a terminal nor a notebook shows a bar."""

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator

MINUTE = 60.0  # seconds between two lines


def shows_bars() -> bool:
    """Return whether a terminal or a notebook shows the bars of tqdm."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextlib.contextmanager
def progress(
    what: str, total: int = 0, count: Callable[[], int] | None = None
) -> Iterator[None]:
    """Print a line a minute on stderr while the context lasts.

    If a bar is shown, nothing is printed about work that is counted.

    Args:
        what: What is done.
        total: How many there are to do, at most.
        count: Returns how many are done; None for work that is not counted.
    """
    if count is not None and shows_bars():
        yield
        return
    end = threading.Event()
    start = time.monotonic()
    before = count() if count else 0

    def print_lines() -> None:
        while not end.wait(MINUTE):
            minutes = (time.monotonic() - start) / 60
            text = f"  {what}: {minutes:.0f} min so far"
            if count:
                done = count()
                text += f", {done:,} of {total:,}"
                if done > before:
                    left = math.ceil(minutes * (total - done) / (done - before))
                    text += f", about {left:,} min left"
            print(text, file=sys.stderr, flush=True)

    thread = threading.Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
