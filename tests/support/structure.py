"""The import structure of the package, read from its source without running it."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERBS = ("plan", "download", "estimate", "generate", "train", "evaluate", "render")


@functools.cache
def imports(path):
    """Files of the package that the file `path` imports, as paths from the repository's
    root."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for parts in (
            name.split(".") for name in names if name.startswith("pipeline.")
        ):
            # Python runs the __init__ of every package on the way.
            for depth in range(2, len(parts) + 1):
                base = "/".join(parts[:depth])
                found |= {
                    file
                    for file in (f"{base}.py", f"{base}/__init__.py")
                    if (ROOT / file).exists()
                }
    return found


def closure(*paths):
    """`paths` and everything that they import, directly or not."""
    seen = set()
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += imports(path)
    return seen


def files(room=""):
    """All source files of the package, or of one room."""
    return [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pipeline" / room).rglob("*.py")
    ]


def room(path):
    """The room of the package in which a file stands, or its own name for a verb."""
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 else Path(path).stem
