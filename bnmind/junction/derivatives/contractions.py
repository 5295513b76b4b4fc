"""The contractions of a junction tree toward a target, and the order of their inputs' axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bnmind.junction.graphs.junction_tree import JunctionTree
from bnmind.junction.program.contraction import ProgramBuilder
from bnmind.junction.program.message_passing import Passing, TreeShape
from bnmind.junction.program.program import Product, Program, Step

__all__ = ["program_of", "with_inputs_in_order"]


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


def with_inputs_in_order(program: Program) -> Program:
    """Return a program whose products take the axes of its inputs in the order in which they come.

    Runs then need not bring large tables into another order again and again. The scopes of the
    inputs have the order that the inputs must have.
    """
    uses = Counter([register for step in program.steps for register in {step.left, step.right}])
    scopes, steps = list(program.scopes), []
    for operation, left, right in program.steps:
        if isinstance(operation, Product):
            for register, axes in ((left, operation.left_axes), (right, operation.right_axes)):
                if register < program.n_inputs and uses[register] == 1 and axes is not None:
                    scopes[register] = tuple([program.scopes[register][axis] for axis in axes])
                    if register == left:
                        operation = replace(operation, left_axes=None)
                    else:
                        operation = replace(operation, right_axes=None)
        steps.append(Step(operation, left, right))
    return replace(program, steps=tuple(steps), scopes=tuple(scopes))
