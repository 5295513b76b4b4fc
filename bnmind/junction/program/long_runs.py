"""The order of the axes of large registers: their numbers are read and written in long runs.

A product with a small table takes a large register in the order: shared variables that stay, summed
variables, all others. If its axes are in any other order, they are copied into this one, two
numbers at a time in the worst case, which takes far longer than the product. Here, the first axes
of a large register are those that the next steps take, so that a copy has long runs or is not
necessary. The small table comes first in a product, so that the others are the last axes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bnmind.junction.program.products import Products
from bnmind.junction.program.program import Product, Program, Scope, Step, Sum

__all__ = ["with_long_runs"]

_LARGE = 2**14
"""The fewest cells of a large register."""


def with_long_runs(program: Program) -> Program:
    """Return a program whose large registers have their axes in a better order.

    The inputs keep their order, and so do the registers of steps that are neither dense products
    nor dense sums.
    """
    if max(program.held, default=0) < _LARGE:
        return program
    orders = _orders(program)
    products = Products(program.sizes)
    scopes = list(program.scopes[: program.n_inputs])
    steps = []
    for register, (operation, left, right) in enumerate(program.steps, program.n_inputs):
        scope, order = program.scopes[register], orders[register]
        first, second = scopes[left], scopes[right]
        if type(operation) is Sum:
            out = tuple([axis for axis, v in enumerate(first) if v not in scope])
            operation, scope = Sum(out, operation.cost), tuple([v for v in first if v in scope])
        elif type(operation) is Product and not operation.sums:
            overwrites = operation.overwrites
            operation, scope = products.broadcast(first, second)
            operation = replace(operation, overwrites=overwrites)
        elif type(operation) is Product:
            if order is not None and program.cells(left) > program.cells(right):
                left, right, first, second = right, left, second, first
            operation, scope = products.arranged(first, second, order or scope)
        scopes.append(scope)
        steps.append(Step(operation, left, right))
    return replace(program, steps=tuple(steps), scopes=tuple(scopes))


def _orders(program: Program) -> list[Scope | None]:
    """Return the best order of the axes of each register; None if it must keep its order."""
    orders: list[Scope | None] = list(program.scopes)
    costs = [0] * len(orders)

    def want(register: int, first: Sequence[int], then: Sequence[int], cost: int) -> None:
        """Ask for an order for a step of a cost; the costliest step gets it."""
        if orders[register] is not None and cost > costs[register]:
            scope = program.scopes[register]
            rest = [v for v in then if v in scope and v not in first]
            orders[register], costs[register] = (*first, *rest), cost

    for register in range(len(program.scopes) - 1, program.n_inputs - 1, -1):
        operation, left, right = program.steps[register - program.n_inputs]
        order = orders[register]
        if type(operation) not in (Product, Sum):
            orders[register] = orders[left] = orders[right] = None
        elif isinstance(operation, Product) and operation.sums:
            large = max(left, right, key=program.cells)
            if program.cells(large) < _LARGE:
                orders[register] = None
            scope, other = program.scopes[large], program.scopes[left + right - large]
            kept = program.scopes[register]
            first = [v for v in order or kept if v in scope and v in other]
            first += [v for v in scope if v not in kept]
            want(large, first, order or kept, operation.cost)
        elif order is None:
            # The result has the order of its operands.
            orders[left] = orders[right] = None
        else:
            gone = [v for v in program.scopes[left] if v not in order]
            want(left, gone, order, operation.cost)
    return orders
