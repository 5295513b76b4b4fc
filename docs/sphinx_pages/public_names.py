"""All public names of bnmind, found in its files without importing it.

A public module is a package of bnmind with a list of names, ``__all__`` or a stub, at most two
levels down (`bnmind.mastermind`, `bnmind.lab.mastermind`), or one of the few modules that users
import from directly. A thing that several of them offer is described once, in its home: the
shortest of them that its file lies below.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PublicName", "defined_at", "described", "home_of", "public_modules", "public_names"]

ROOT = Path(__file__).parents[2]

PRIVATE = ("bnmind.cli", "bnmind.web")
"""The program, not the library: their names may change."""


@dataclass(frozen=True)
class PublicName:
    """One public name, where it is offered, and what its file says of it."""

    module: str
    """The public module."""
    name: str
    defined_in: str
    """The module whose file defines it."""
    original: str
    """Its name there."""
    kind: str
    """``class``, ``exception``, ``enum``, ``function`` or ``data``."""
    doc: str
    annotation: str = ""
    value: str = ""
    """The type and the value of data, as written."""
    bases: tuple[str, ...] = ()
    """The bases of a class, as written, without their arguments."""

    @property
    def path(self) -> str:
        """The dotted name by which users import it."""
        return f"{self.module}.{self.name}"

    @property
    def thing(self) -> tuple[str, str]:
        """The same for all names of one thing."""
        return self.defined_in, self.original

    @property
    def summary(self) -> str:
        """The first sentence of the documentation."""
        paragraph = " ".join(self.doc.strip().split("\n\n")[0].split())
        sentence, stop, _ = paragraph.partition(". ")
        return sentence + "." if stop else paragraph


def _file_of(module: str) -> Path | None:
    place = ROOT.joinpath(*module.split("."))
    for path in (place / "__init__.pyi", place / "__init__.py", place.with_suffix(".py")):
        if path.is_file():
            return path
    return None


@functools.cache
def _tree(module: str) -> ast.Module:
    path = _file_of(module)
    assert path is not None, module
    return ast.parse(path.read_text(encoding="utf-8"))


def _statements(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    """Yield the statements of a module with those that follow, also below ``if TYPE_CHECKING``."""
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.If))]
    for body in bodies:
        yield from zip(body, [*body[1:], None], strict=True)


def _listed(module: str) -> list[str] | None:
    """Return the names that a module offers, or None if it has no list of them."""
    path = _file_of(module)
    if path is None:
        return None
    if path.suffix == ".pyi":
        return [
            alias.name
            for node in _tree(module).body
            if isinstance(node, ast.ImportFrom) and node.module != module
            for alias in node.names
        ]
    names: list[str] | None = None
    for node, _ in _statements(_tree(module)):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            names = [str(name) for name in ast.literal_eval(node.value)]
        elif isinstance(node, ast.AugAssign) and names is not None:
            # The lists of packages below: ``__all__ += pilot.__all__``.
            for part in ast.walk(node.value):
                if isinstance(part, ast.Attribute) and part.attr == "__all__":
                    names += _listed(f"{module}.{ast.unparse(part.value)}") or ()
    return names


@functools.cache
def public_modules() -> tuple[str, ...]:
    """Return the modules that users import from, those of one room together."""
    packages = [
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "bnmind").rglob("__init__.py")
    ]
    found = {name for name in packages if name.count(".") <= 2}
    # A room may be a single file, and a few modules are the fronts of deeper rooms.
    found |= {f"bnmind.{path.stem}" for path in (ROOT / "bnmind").glob("*.py")} - {
        "bnmind.__init__"
    }
    found |= {"bnmind.pgm.files", "bnmind.pgm.competition", "bnmind.pgm.bridges"}
    return tuple(
        name
        for name in sorted(found)
        if not any(part.startswith("_") for part in name.split("."))
        and not name.startswith(PRIVATE)
        and _listed(name)
    )


def _find(module: str, name: str) -> tuple[str, str, ast.stmt | None, ast.stmt | None]:
    """Return where a name is defined: module, name, statement, and the one after it."""
    for node, after in _statements(_tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                if alias.name == "*" and name in (_listed(node.module) or ()):
                    return _find(node.module, name)
                if (alias.asname or alias.name) == name:
                    if _file_of(node.module) is None:
                        return node.module, alias.name, None, None
                    return _find(node.module, alias.name)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return module, name, node, None
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return module, name, node, after
    raise LookupError(f"{module} offers {name}, and nobody defines it")


def defined_at(module: str, name: str) -> tuple[str, str]:
    """Return the module that defines what a module knows by a name, and its name there.

    Raises
    ------
    LookupError
        If the module neither defines nor imports the name.
    """
    return _find(module, name)[:2]


def described(module: str, name: str) -> PublicName:
    """Return what the files say of a name of a module."""
    defined_in, original, node, after = _find(module, name)
    if isinstance(node, ast.ClassDef):
        bases = {ast.unparse(base) for base in node.bases}
        kind = (
            "exception"
            if any(base.endswith(("Error", "Warning", "Exception")) for base in bases)
            else "enum"
            if any("Enum" in base for base in bases)
            else "class"
        )
        doc = ast.get_docstring(node) or ""
        written = tuple(base.split("[")[0] for base in sorted(bases))
        return PublicName(module, name, defined_in, original, kind, doc, bases=written)
    if isinstance(node, ast.FunctionDef):
        doc = ast.get_docstring(node) or ""
        return PublicName(module, name, defined_in, original, "function", doc)
    if node is None:
        return PublicName(module, name, defined_in, original, "data", "")
    doc = ""
    if (
        isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    ):
        doc = after.value.value
    annotation = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
    assert isinstance(node, ast.Assign | ast.AnnAssign)
    value = ast.unparse(node.value) if node.value is not None else ""
    return PublicName(module, name, defined_in, original, "data", doc, annotation, value)


@functools.cache
def public_names() -> tuple[PublicName, ...]:
    """Return every name of every public module."""
    return tuple(
        described(module, name) for module in public_modules() for name in _listed(module) or ()
    )


@functools.cache
def homes() -> Mapping[tuple[str, str], PublicName]:
    """Return the one public name by which each thing is described."""
    found: dict[tuple[str, str], PublicName] = {}

    def preference(public: PublicName) -> tuple[bool, bool, int]:
        below = f"{public.defined_in}.".startswith(f"{public.module}.")
        return public.module == "bnmind", not below, public.module.count(".")

    for public in sorted(public_names(), key=preference):
        found.setdefault(public.thing, public)
    return found


def home_of(public: PublicName) -> PublicName:
    """Return the name by which a thing is described."""
    return homes()[public.thing]
