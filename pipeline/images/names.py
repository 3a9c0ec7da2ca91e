"""Names of files and classes, as sentences and reports can hold them."""

from collections.abc import Iterable

from pipeline.project.errors import InputError

LONGEST = 100
"""Characters of a class's name, and of a file's as a sentence repeats it."""

DROPPINGS = {"Thumbs.db", "desktop.ini", ".DS_Store", "__MACOSX"}
"""Files and folders that Windows and macOS leave beside a user's own."""


def shown(name: object) -> str:
    """A name on one line: its middle left out if it is long, and what cannot be printed written as an escape."""
    text = str(name)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 + 1 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def dropped(parts: Iterable[str]) -> bool:
    """Whether a path is among what an operating system left there (Thumbs.db, and ._0.png of a Mac's archive)."""
    return any(part in DROPPINGS or part.startswith("._") for part in parts)


def check_class(name: str, source: str) -> None:
    """Raise InputError if reports could not hold the name of a class: too long, or not of printable characters."""
    if len(name) > LONGEST or not name.isprintable() or name != name.strip():
        raise InputError(
            f"{source}: the class folder {shown(repr(name))} must have a name of at most {LONGEST} printable "
            f"characters without spaces around it; rename it"
        )
