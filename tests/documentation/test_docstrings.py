"""Public docstrings describe all parameters, and name all errors that are raised.

A method that stands for one of a base or of a protocol may leave its parameters to that one: the
reference then links to it. `docs.sphinx_pages.docstrings` finds it, for the test and the pages.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import bnmind
from bnmind import errors
from docs.sphinx_pages.docstrings import described_in, hidden_members
from docs.sphinx_pages.links import described_thing

RAISED = {
    name
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, errors.BnmindError)
}
FIELD = re.compile(
    r'^    ([a-z]\w*): (?!ClassVar|[^\n]*init=False)[^\n]*[^\n([]\n(?!    """)', re.M
)
"""A field of a class with no docstring below it."""

ELSEWHERE = re.compile(
    r"(parameters|arguments)\s+(and\s+(the\s+)?errors\s+)?are\s+those\s+of|\b(See|as\s+for)\s+`",
    re.I,
)
"""Says that another docstring describes the parameters."""

Function = Callable[..., Any]
Node = ast.FunctionDef | ast.AsyncFunctionDef


def rooms() -> Iterator[ModuleType]:
    """Yield the packages that offer names."""
    for found in walk_packages(bnmind.__path__, "bnmind."):
        private = any(part.startswith("_") for part in found.name.split("."))
        if found.ispkg and not private and ".cli" not in found.name and ".web" not in found.name:
            yield importlib.import_module(found.name)


def own(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith("bnmind.")


def classes() -> set[type]:
    """Return the public classes."""
    things = (getattr(room, name) for room in rooms() for name in getattr(room, "__all__", ()))
    return {thing for thing in things if inspect.isclass(thing) and own(thing)}


@cache
def public() -> dict[str, Function]:
    """Return the public functions, and the methods of public classes, by name."""
    offered = {
        f"{value.__module__}.{value.__qualname__}": value
        for room in rooms()
        for value in (getattr(room, name) for name in getattr(room, "__all__", ()))
        if own(value) and (inspect.isclass(value) or inspect.isroutine(value))
    }
    found: dict[str, Function] = {}
    for name, value in offered.items():
        if not inspect.isclass(value):
            found[name] = inspect.unwrap(value)
            continue
        for member in (*vars(value), *hidden_members(value)):
            method = inspect.getattr_static(value, member)
            plain = getattr(method, "__func__", method)
            if not member.startswith("_") and inspect.isfunction(plain):
                found[f"{name}.{member}"] = inspect.unwrap(plain)
    return {name: function for name, function in found.items() if inspect.isfunction(function)}


@cache
def nodes(path: str) -> dict[int, Node]:
    """Return the functions in a file by the line of their first decorator, or of ``def``."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {
        min([node.lineno, *(one.lineno for one in node.decorator_list)]): node
        for node in ast.walk(tree)
        if isinstance(node, Node)
    }


def raised(function: Function) -> set[str]:
    """Return the names of the errors of bnmind that a function raises itself."""
    code = function.__code__
    node = nodes(code.co_filename).get(code.co_firstlineno)
    calls = (
        one.exc.func if isinstance(one.exc, ast.Call) else one.exc
        for one in (ast.walk(node) if node else ())
        if isinstance(one, ast.Raise)
    )
    return {call.id for call in calls if isinstance(call, ast.Name)} & RAISED


def undescribed(function: Function) -> list[str]:
    """Return the parameters that a docstring does not describe."""
    text = inspect.getdoc(function) or ""
    if ELSEWHERE.search(text):
        return []
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", text, re.M | re.S)
    heads = re.findall(r"^\S.*$", section[1], re.M) if section else []
    told = {name.strip("* ") for head in heads for name in head.split(":")[0].split(",")}
    parameters = [name for name in inspect.signature(function).parameters if name[0] != "_"]
    names = [name for name in parameters if name not in ("self", "cls")]
    return [name for name in names if name not in told and not re.search(rf"`{name}\b", text)]


def test_every_parameter_of_a_public_function_is_described() -> None:
    functions = {name: one for name, one in public().items() if "." not in one.__qualname__}
    assert len(functions) > 250
    missing = {name: undescribed(one) for name, one in functions.items()}
    assert {name: some for name, some in missing.items() if some} == {}


def unexplained(path: str) -> list[str]:
    """Return the parameters that neither a method describes nor the one that it stands for."""
    missing = undescribed(public()[path])
    module, kind, method = path.rsplit(".", 2)
    if not missing:
        return []
    place = described_in(getattr(importlib.import_module(module), kind), method)
    if place is None:
        return missing
    left = undescribed(described_thing(place))
    names = inspect.signature(described_thing(place)).parameters
    return [name for name in missing if name in left or name not in names]


def test_every_parameter_of_a_public_method_is_described() -> None:
    methods = {name: one for name, one in public().items() if "." in one.__qualname__}
    assert len(methods) > 600
    missing = {name: unexplained(name) for name in methods}
    assert {name: some for name, some in missing.items() if some} == {}


def fields_without_a_word(kind: type) -> list[str]:
    """Return the fields of a class that neither a docstring of theirs nor of the class tells of."""
    text = Path(str(inspect.getsourcefile(kind))).read_text(encoding="utf-8")
    body = re.search(rf"^class {kind.__name__}\b.*?\n(?=\S(?<!\)))", text + "\nend", re.M | re.S)
    told = inspect.getdoc(kind) or ""
    names = FIELD.findall(body[0]) if body else []
    heads = r"`[^`\n]*\b{0}\b|^[\w, ]*\b{0}\b[\w, ]*$"
    return [name for name in names if not re.search(heads.format(name), told, re.M)]


def test_every_field_of_a_public_class_is_described() -> None:
    kinds = {f"{one.__module__}.{one.__qualname__}": one for one in classes()}
    assert len(kinds) > 350
    missing = {name: fields_without_a_word(one) for name, one in kinds.items()}
    assert {name: some for name, some in missing.items() if some} == {}


def test_every_error_that_is_raised_in_a_public_function_is_named() -> None:
    missing = {
        name: {error for error in raised(one) if error not in (inspect.getdoc(one) or "")}
        for name, one in public().items()
    }
    assert len(missing) > 900
    assert {name: some for name, some in missing.items() if some} == {}


def test_the_tests_would_notice() -> None:
    from bnmind.strategies import Knuth  # collecting tests imports no strategies

    def described(board: object, *, times: int, code: int) -> None:
        """Play a `code`.

        Parameters
        ----------
        board
            The times.
        """

    assert undescribed(described) == ["times"]
    assert undescribed(Knuth.choose) == ["belief", "situation"]
    assert unexplained(f"{Knuth.__module__}.Knuth.choose") == []
    assert raised(undescribed) == set()
    text = 'class A:\n    b: int\n    c: float = field(\n        default=1\n    )\n    """C."""\n'
    assert FIELD.findall(
        text + "    d: str = ''\n    e: int\n    f: bool = field(init=False)\n"
    ) == ["b", "d", "e"]
