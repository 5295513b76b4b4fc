"""The tests that execute a line, from a run of the tests with coverage by test.

A kernel runs as machine code, and coverage does not see its lines. Its tests are those of the lines
that name it, or of the lines that name a kernel which names it, and so on, and the tests that name
one of these themselves. The tests of a constant and of a field of a class are found in the same
way. The tests of a default value of a function are those of the function's lines.
"""

from __future__ import annotations

import ast
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

__all__ = ["Covering"]

_DEPTH = 6


class Covering:
    """The tests of each line.

    Parameters
    ----------
    root
        The directory of the project.
    coverage
        The file that ``pytest --cov --cov-context=test`` wrote, here or in a copy of the project.
    times
        The file of ``pytest --junitxml`` from the same run.
    """

    def __init__(self, root: Path, coverage: Path, times: Path) -> None:
        self._root = root
        self._data = CoverageData(str(coverage))
        self._data.read()
        self._measured = [(Path(name).parts, name) for name in self._data.measured_files()]
        self._seconds = _seconds(times)

    def tests_of(self, module: str, line: int) -> list[tuple[str, float]]:
        """Return the tests of a line and their seconds, those of the module's room first."""
        tests = self._tests(module, line, _DEPTH, set())
        room = module.split("/")[1].removesuffix(".py")
        own = [name for name in module.removesuffix(".py").split("/")[2:] if name != "__init__"]

        def order(test: str) -> tuple[int, float]:
            near = sum(part.strip("_") in test for part in [*own, room])
            return -near, self._seconds.get(test, 1.0)

        return [(test, self._seconds.get(test, 1.0)) for test in sorted(tests, key=order)]

    def _tests(self, module: str, line: int, depth: int, met: set[str]) -> set[str]:
        executed = self._lines(module)
        tests = set().union(*(executed.get(at, ()) for at in self._executed(module, line)))
        names, is_seen = self._named(module, line)
        if depth == 0 or (tests and is_seen):
            return tests
        for name in names - met:
            met.add(name)
            tests = tests | self._callers.get(name, set())
            for user, number in self._uses.get(name, []):
                if user == module or not name.startswith("_"):
                    tests = tests | self._tests(user, number, depth - 1, met)
        return tests

    def _executed(self, module: str, line: int) -> range:
        """Return the lines of a function if the line is in its signature, else the line."""
        for node in ast.walk(self._trees[module]):
            if isinstance(node, ast.FunctionDef) and node.lineno <= line < node.body[0].lineno:
                return range(line, (node.end_lineno or 0) + 1)
        return range(line, line + 1)

    def _lines(self, module: str) -> dict[int, set[str]]:
        if module not in self._cache:
            end = Path(module).parts
            names = [name for parts, name in self._measured if parts[-len(end) :] == end]
            found = self._data.contexts_by_lineno(names[0]) if names else {}
            self._cache[module] = {
                line: {context.rpartition("|")[0] for context in contexts if context}
                for line, contexts in found.items()
            }
        return self._cache[module]

    @cached_property
    def _cache(self) -> dict[str, dict[int, set[str]]]:
        return {}

    def _named(self, module: str, line: int) -> tuple[set[str], bool]:
        """Return the constants, function or class of a line, and whether coverage sees it."""
        for node in self._trees[module].body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and _holds(node, line):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                return {name.id for name in ast.walk(target) if isinstance(name, ast.Name)}, False
        around = [
            node
            for node in ast.walk(self._trees[module])
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and _holds(node, line)
        ]
        if not around:
            return set(), True
        inner = max(around, key=lambda node: node.lineno)
        is_kernel = "njit" in ast.unparse(inner).partition("def ")[0]
        return {inner.name}, isinstance(inner, ast.FunctionDef) and not is_kernel

    @cached_property
    def _trees(self) -> dict[str, ast.Module]:
        return {
            str(path.relative_to(self._root)): ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted((self._root / "bnmind").rglob("*.py"))
        }

    @cached_property
    def _callers(self) -> dict[str, set[str]]:
        """The tests that name something in their own lines."""
        named = defaultdict(set)
        for path in sorted((self._root / "tests").rglob("test_*.py")):
            file = str(path.relative_to(self._root))
            for test in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                    for node in ast.walk(test):
                        if isinstance(node, ast.Name | ast.Attribute):
                            name = node.id if isinstance(node, ast.Name) else node.attr
                            named[name].add((file, test.name))
        tests = defaultdict(set)
        for test_name in self._seconds:
            file, *_, function = test_name.partition("[")[0].split("::")
            tests[file, function].add(test_name)
        return {
            name: set().union(*(tests[place] for place in places)) for name, places in named.items()
        }

    @cached_property
    def _uses(self) -> dict[str, list[tuple[str, int]]]:
        uses = defaultdict(list)
        for module, tree in self._trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                    name = node.id if isinstance(node, ast.Name) else node.attr
                    uses[name].append((module, node.lineno))
        return dict(uses)


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def _seconds(times: Path) -> dict[str, float]:
    """Return the seconds of each test by its name for pytest."""
    seconds: dict[str, float] = {}
    for case in ElementTree.parse(times).getroot().iter("testcase"):
        parts = str(case.get("classname")).split(".")
        outer = [part for part in parts if part[:1].isupper()]
        file = "/".join(part for part in parts if not part[:1].isupper()) + ".py"
        name = "::".join([file, *outer, str(case.get("name"))])
        seconds[name] = float(case.get("time") or 0)
    return seconds
