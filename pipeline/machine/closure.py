"""The code that decides a result: every definition that given ones reach through the source, and the digest of it.

A result may be kept for as long as the code that made it is the same. Which code that is, is read from the source without
running it: from a function, each name that it uses is looked up where Python would look, in its module, in what that imports,
and so on to the end, one function, class or constant at a time. What decides nothing is left out: comments, docstrings,
annotations, what is printed, and the sentences of exceptions. Code that is installed, such as torch, counts by its version.

Two things cannot be seen from the source: methods called on an argument, and names that are strings. So the roots must be all
objects that a piece of work is handed, such as an experiment's `dataset` and a network's class.
"""

import ast
import functools
import hashlib
import importlib
import importlib.machinery
import inspect
import json
import re
import sys
import sysconfig
import typing
from importlib import metadata
from pathlib import Path

from pipeline.project import unchanged

INSTALLED = tuple(
    {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(module.__file__).parent) for module in (ast, json)}
)
"""Folders of the standard library and of installed packages, whose code counts by its version."""

PACKAGES = ("site-packages", "dist-packages")
"""What folders of installed packages are called in other places of which Python is told: the system's, the user's, a cluster's."""


@functools.cache
def _recorded(folder: str) -> set[str]:
    """Names of the modules and packages of which installers left records in a folder, as `pip install --target` does anywhere."""
    records = (found.read_text("RECORD") or "" for found in metadata.distributions(path=[folder]))
    return {re.split("[/,]", line)[0].removesuffix(".py") for record in records for line in record.splitlines()}


def installed(name: str, file: str) -> bool:
    """Whether a module's file is the standard library's or an installed package's, wherever that lies."""
    parts = Path(file).parts
    if file.startswith(INSTALLED) or not set(parts).isdisjoint(PACKAGES):
        return True
    # The folder in which the whole package lies: above as many names as the module's own has, and an __init__.py.
    depth = len(name.split(".")) + (parts[-1] == "__init__.py")
    return name.partition(".")[0] in _recorded(str(Path(*parts[:-depth])))


class _Stripped(ast.NodeTransformer):
    """Removes from a syntax tree what decides nothing: docstrings, annotations, printing, sentences of exceptions."""

    def visit_Expr(self, node):
        printing = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in ("print", "tqdm.write")
        return None if printing or isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Raise(self, node):
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return ast.Raise(kind, None)

    def visit_Assert(self, node):
        return ast.Assert(self.visit(node.test), None)

    def visit_arg(self, node):
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node):
        return ast.AnnAssign(node.target, ast.Constant(None), node.value and self.visit(node.value), node.simple)

    def visit_FunctionDef(self, node):
        node.returns = None
        node = self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        node = self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


class Source:
    """One module's top level: `definitions` (name → statements that bind it), `imports` (name → (module, name or None)), and
    `effects`, the statements that bind nothing and act when the module is imported. `path` is its file, and `stars` are the
    modules of which it imports all, without saying what.
    """

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        package = name if Path(path).name == "__init__.py" else name.rpartition(".")[0]
        self.definitions, self.imports, self.effects = {}, {}, []
        content = Path(path).read_bytes()
        unchanged.note(path, content)
        tree = _Stripped().visit(ast.parse(content))
        for statement in tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                found = imported(statement, package)
                self.imports |= {f"* of {found['*'][0]}": found["*"]} if "*" in found else found
            elif isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
                continue  # the module is imported, not run
            elif bound := _bound(statement):
                for name in bound:
                    self.definitions.setdefault(name, []).append(statement)
            else:
                self.effects.append(statement)
        self.package, self.stars = package, [module for module, name in self.imports.values() if name == "*"]


def imported(statement: ast.Import | ast.ImportFrom, package: str) -> dict[str, tuple[str, str | None]]:
    """What an import statement in a module of `package` binds: name → (module, name in it, or None for the module itself)."""
    if isinstance(statement, ast.Import):
        return {
            alias.asname or alias.name.split(".")[0]: (alias.name if alias.asname else alias.name.split(".")[0], None)
            for alias in statement.names
        }
    base = package.split(".")[: len(package.split(".")) + 1 - statement.level] if statement.level else []
    module = ".".join([*base, *([statement.module] if statement.module else [])])
    return {alias.asname or alias.name: (module, alias.name) for alias in statement.names}


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement binds, blocks under `if`, `try`, `for` and `with` included."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    inner = {part.name for part in ast.walk(statement) if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
    return inner | {
        part.id for part in ast.walk(statement) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


@functools.cache
def _text(statement: ast.stmt) -> str:
    """A statement as source text: made once, since many roots reach it."""
    return ast.unparse(statement)


@functools.cache
def chains(node: ast.AST) -> list[tuple[str, ...]]:
    """The dotted names that a definition reads from outside itself, as tuples: ('torch', 'nn', 'Linear'), ('BATCH',)."""
    found = []

    def visit(node, local):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            arguments = node.args
            for part in [*getattr(node, "decorator_list", []), *arguments.defaults, *arguments.kw_defaults]:
                visit(part, local) if part else None
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            body = node.body if isinstance(node.body, list) else [node.body]
            inside = {argument.arg for argument in named if argument} | set().union(*map(_stored, body))
            inside -= {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
            for part in body:
                visit(part, local | inside)
            return
        parts, base = [], node
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name) and (parts or isinstance(base.ctx, ast.Load)):
            if base.id not in local:
                found.append((base.id, *reversed(parts)))
            return
        for part in ast.iter_child_nodes(node):
            visit(part, local)

    visit(node, frozenset())
    return found


def _stored(node: ast.AST) -> set[str]:
    """The names that a statement binds in the scope in which it stands, or in one inside it."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return names | {part.name for part in ast.walk(node) if isinstance(part, (ast.FunctionDef, ast.ClassDef))}


class Code:
    """The source that can be imported from the folders of `path` (sys.path), and what is reached in it."""

    def __init__(self, path: list[str] | None = None) -> None:
        self.path, self.sources = path, {}

    def source(self, name: str) -> Source | None:
        """The `Source` of a module, or None if it is installed, built in or not there.

        Raises ValueError where it imports all of a module that is not installed: what it uses of that cannot be told.
        """
        if name not in self.sources:
            self.sources[name] = found = Source(name, path) if (path := self._file(name)) else None
            for module in found.stars if found else ():
                if self.source(module):
                    raise ValueError(
                        f"{path} imports * from {module}; name what it imports, so that an edit of it is seen"
                    )
        return self.sources[name]

    def _file(self, name):
        folders, parts = self.path, name.split(".")
        for depth in range(len(parts)):
            spec = importlib.machinery.PathFinder.find_spec(".".join(parts[: depth + 1]), folders)
            if spec is None:
                # A package that is installed in place is found by a hook of its own.
                return self._loaded(name) if self.path is None else None
            folders = spec.submodule_search_locations
        own = spec.origin and spec.origin.endswith(".py") and not installed(name, spec.origin)
        return spec.origin if own else None

    @staticmethod
    def _loaded(name):
        origin = getattr(sys.modules.get(name), "__file__", None) or ""
        return origin if origin.endswith(".py") and not installed(name, origin) else None

    def reached(self, *roots: str) -> tuple[dict[str, str], set[str]]:
        """What `roots` reach: ({name: source text of a definition}, names of the installed packages that they use).

        A root is 'module:name' or 'module:Class.member'; of a class, one member alone reaches what that member does.
        """
        texts, packages, seen, waiting = {}, set(), set(), []
        for module, name in (root.split(":", 1) for root in roots):
            chain, source = tuple(name.split(".")), self.source(module)
            if source is None or chain[0] in source.definitions:
                waiting.append((module, *chain))
                continue
            # A network may also be named where a module of one's own imports it.
            used = set()
            found = self._resolved(source, chain, used)
            if not found and not used:
                raise LookupError(f"{module} does not define {chain[0]}")
            packages |= used
            waiting += found + self._effects(source, texts, packages)
            seen.add((module, None))
        while waiting:
            item = waiting.pop()
            if item in seen:
                continue
            seen.add(item)
            module, name, *member = item
            source = self.source(module)
            if source is None:
                packages.add(module.partition(".")[0])
                continue
            if (module, None) not in seen:
                seen.add((module, None))
                waiting += self._effects(source, texts, packages)
            if member:
                waiting += self._member(source, name, member[0], (module, name), texts, packages)
                continue
            for number, statement in enumerate(source.definitions[name]):
                texts[f"{module}:{name}:{number}"] = _text(statement)
                waiting += self._uses(source, statement, packages)
        return texts, packages

    def _effects(self, source, texts, packages):
        """Uses of the statements that act when a module is imported."""
        for number, statement in enumerate(source.effects):
            texts[f"{source.name}:{number}"] = _text(statement)
        return [item for statement in source.effects for item in self._uses(source, statement, packages)]

    def _member(self, source, name, member, owner, texts, packages):
        """Uses of a class's member, or of its base classes' where it has none; `owner`: the class that `self` is of."""
        for statement in source.definitions.get(name, ()):
            if not isinstance(statement, ast.ClassDef):
                continue
            for part in statement.body:
                if member not in _bound(part):
                    continue
                texts[f"{source.name}:{name}.{member}"] = _text(part)
                found = self._uses(source, part, packages)
                if isinstance(part, ast.FunctionDef) and part.args.args:
                    found += self._of_self(source, part, owner, statement)
                return found
            for base in statement.bases:
                for module, *rest in self._resolved(source, tuple(ast.unparse(base).split(".")), packages):
                    inherited = rest and self.source(module)
                    if inherited and (found := self._member(inherited, rest[0], member, owner, texts, packages)):
                        return found
        return []

    def _of_self(self, source, function, owner, statement):
        """Members of `owner` that a method uses through its first argument; the whole class where it hands that on."""
        me, found, parents = function.args.args[0].arg, [], set()
        for part in ast.walk(function):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == me:
                # An attribute that is no member of the class is one that its instances are given when they are made.
                found += [(*owner, name) for name in (part.attr, "__init__", "__post_init__")]
                parents.add(part.value)
            elif isinstance(part, ast.Attribute) and ast.unparse(part.value) == "super()":
                for base in statement.bases:
                    found += [
                        (module, *rest, part.attr)
                        for module, *rest in self._resolved(source, tuple(ast.unparse(base).split(".")), set())
                        if len(rest) == 1
                    ]
        for part in ast.walk(function):
            if isinstance(part, ast.Name) and part.id == me and part not in parents:
                found.append(owner)
        return found

    def _uses(self, source, statement, packages):
        """The items that a statement's names stand for."""
        local = {}
        for part in ast.walk(statement):
            if isinstance(part, (ast.Import, ast.ImportFrom)):
                local |= imported(part, source.package)
        return [item for chain in chains(statement) for item in self._resolved(source, chain, packages, local)]

    def _resolved(self, source, chain, packages, local=None):
        """The items of a dotted name in a module: nothing, a definition or a class's member, or all of a module."""
        head, *rest = chain
        if local and head in local:
            return self._from(*local[head], rest, packages)
        if head in source.definitions:
            statements = source.definitions[head]
            if rest and all(isinstance(statement, ast.ClassDef) for statement in statements):
                return [(source.name, head, rest[0])]
            return [(source.name, head)]
        if head in source.imports:
            return self._from(*source.imports[head], rest, packages)
        return []

    def _from(self, module, name, rest, packages):
        """The items of `name` and the attributes `rest` after it in a module; of the module itself where name is None."""
        if name is not None:
            rest = [name, *rest]
        while True:
            source = self.source(module)
            if source is None:
                packages.add(module.partition(".")[0])
                return []
            if not rest:
                return [(module, definition) for definition in source.definitions]
            # What a package imports from itself, and does not define, is a module of its own.
            if rest[0] in source.definitions or source.imports.get(rest[0], (module, rest[0])) != (module, rest[0]):
                return self._resolved(source, tuple(rest), packages)
            if self.source(f"{module}.{rest[0]}") is None:
                return []
            module, rest = f"{module}.{rest[0]}", rest[1:]


def root(thing: typing.Any) -> str:
    """A function, class, bound method or (class, name of a member) as the root that `Code.reached` takes."""
    if inspect.ismethod(thing):
        thing = type(thing.__self__), thing.__name__
    if isinstance(thing, tuple):
        kind, member = thing
        return f"{kind.__module__}:{kind.__qualname__}.{member}"
    return thing if isinstance(thing, str) else f"{thing.__module__}:{thing.__qualname__}"


@functools.lru_cache(1)
def _loaded_code():
    return Code()


def digest(*things: typing.Any) -> str:
    """sha256 of all code that functions, classes and bound methods reach, with the versions of the packages it uses."""
    return _digest(tuple(map(root, things)))


def files(*things: typing.Any) -> list[str]:
    """The files that were read to tell what functions, classes and bound methods reach: an edit elsewhere changes no `digest` of them."""
    code = Code()
    code.reached(*map(root, things))
    return sorted(source.path for source in code.sources.values() if source)


def _version(package: str) -> str:
    """The version of an installed package; 'None' of one that names none, or cannot be imported, which a user's code may do without."""
    try:
        return str(getattr(importlib.import_module(package), "__version__", None))
    except (Exception, SystemExit):
        return "None"


@functools.lru_cache(None)
def _digest(roots):
    texts, packages = _loaded_code().reached(*roots)
    versions = {name: _version(name) for name in sorted(packages - sys.stdlib_module_names)}
    return hashlib.sha256(json.dumps([sorted(texts.values()), versions]).encode()).hexdigest()
