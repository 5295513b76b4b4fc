"""The contractions of a junction tree toward a target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bnmind.junction.graphs.junction_tree import JunctionTree
from bnmind.junction.program.contraction import ProgramBuilder
from bnmind.junction.program.message_passing import Passing, TreeShape
from bnmind.junction.program.program import Program

__all__ = ["program_of"]


def program_of(
    tree: JunctionTree,
    sizes: Mapping[str, int],
    scopes: Sequence[Sequence[str]],
    target: str | None,
) -> tuple[Program, int | None]:
    """Return the contractions toward the target, and the register of their result."""
    number = {name: i for i, name in enumerate(sizes)}
    registers = [tuple([number[name] for name in scope]) for scope in scopes]
    builder = ProgramBuilder(tuple(sizes.values()), registers)

    def numbered(names: Iterable[str]) -> frozenset[int]:
        return frozenset([number[name] for name in names])

    shape = TreeShape(
        tuple([numbered(clique.variables) for clique in tree.cliques]),
        tuple([(i, j, numbered(scope)) for i, j, scope in tree.edges]),
    )
    passing = Passing(shape, builder, [i for i, scope in enumerate(registers) if scope])
    end = passing.answer(numbered([target] if target else []))
    return builder.build(() if end is None else [end]), end
