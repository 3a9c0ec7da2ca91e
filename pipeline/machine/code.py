"""Digests of source files by their syntax trees without docstrings, comments, and
annotations of functions."""

import ast
import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


class _Decisive(ast.NodeTransformer):
    """Removes what decides no result."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node


@functools.cache
def _of_file(path: Path) -> str:
    tree = _Decisive().visit(ast.parse(path.read_bytes()))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def digest(files: Iterable[Path | str]) -> str:
    """One sha256 of several source files, whatever their order."""
    digests = sorted(_of_file(Path(file).resolve()) for file in files)
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def files_of(folder: str) -> list[Path]:
    """Return the source files of a folder of this package, for example 'training'."""
    return sorted((PACKAGE / folder).rglob("*.py"))
