"""The mutants of a module: copies of it with one small fault each.

The faults are those of Cosmic Ray's operators: a changed number, operator or comparison, a negated
condition, ``break`` for ``continue``, a loop without rounds, an exception that is not caught.
Annotations, decorators, blocks for type checkers and the marks of keyword arguments are left out.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

__all__ = ["Mutant", "drawn_mutants", "mutated_source"]

_WITHOUT = ("NoOp", "RemoveDecorator", "VariableReplacer", "VariableInserter")


@dataclass(frozen=True)
class Mutant:
    """One fault: the occurrence of an operator in a module, and the line where it is."""

    module: str
    operator: str
    occurrence: int
    line: int

    @classmethod
    def of(cls, key: str, line: int) -> Mutant:
        """Return the mutant of a `key`."""
        module, operator, occurrence = key.rsplit(":", 2)
        return cls(module, operator, int(occurrence), line)

    @property
    def key(self) -> str:
        """A name of the mutant in files."""
        return f"{self.module}:{self.operator}:{self.occurrence}"


def drawn_mutants(
    modules: list[Path], number: int, rng: np.random.Generator, *, root: Path
) -> list[Mutant]:
    """Draw places in modules uniformly without replacement, and for each place one fault."""
    places: dict[tuple[str, int, int], list[Mutant]] = {}
    for module in modules:
        for place, mutant in _mutants_of(module, str(module.relative_to(root))):
            places.setdefault((mutant.module, *place), []).append(mutant)
    keys = sorted(places)
    chosen: list[Mutant] = []
    for index in rng.permutation(len(keys)).tolist():
        if len(chosen) == number:
            break
        mutant = places[keys[index]][rng.integers(len(places[keys[index]]))]
        if _differs(mutant, root):
            chosen.append(mutant)
    return chosen


def mutated_source(mutant: Mutant, root: Path) -> str:
    """Return the source of the module with the fault."""
    source = (root / mutant.module).read_text(encoding="utf-8")
    mutated = mutate_code(source, _operator(mutant.operator), mutant.occurrence)
    assert isinstance(mutated, str)
    return mutated


def _differs(mutant: Mutant, root: Path) -> bool:
    """Return whether there is a program with the fault, and another one than the module."""
    source = (root / mutant.module).read_text(encoding="utf-8")
    try:
        faulty = ast.parse(mutated_source(mutant, root))
    except SyntaxError:
        return False
    return ast.dump(ast.parse(source)) != ast.dump(faulty)


def _operator(name: str) -> object:
    return get_operator(name)()


def _mutants_of(module: Path, name: str) -> list[tuple[tuple[int, int], Mutant]]:
    source = module.read_text(encoding="utf-8")
    nodes = list(ast_nodes(get_ast(source)))
    hidden = _hidden(ast.parse(source))
    lines = source.splitlines()
    found = []
    for operator_name in operator_names():
        if operator_name.rpartition("/")[2] in _WITHOUT:
            continue
        operator = get_operator(operator_name)()
        positions = (position for node in nodes for position in operator.mutation_positions(node))
        for occurrence, (start, _) in enumerate(positions):
            marks_keywords = lines[start[0] - 1][start[1] : start[1] + 2] == "*,"
            if not marks_keywords and not any(first <= start < last for first, last in hidden):
                found.append((start, Mutant(name, operator_name, occurrence, start[0])))
    return found


def _hidden(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the ranges of a module that do nothing when it runs, or only make it faster."""
    parts: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign):
            parts.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts += [*node.decorator_list, *filter(None, [node.returns])]
            spec = node.args
            names = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
            parts += [name.annotation for name in names if name and name.annotation]
        elif isinstance(node, ast.ClassDef):
            parts += node.decorator_list
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            parts += [node.test, *node.body]
    return [
        ((part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0))
        for part in parts
        if isinstance(part, ast.expr | ast.stmt)
    ]
