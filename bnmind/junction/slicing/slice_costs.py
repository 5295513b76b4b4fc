"""The choice of the variables on which a program is conditioned, by its predicted cost.

If a variable is fixed to a state, every register that depends on it loses an axis, and the program
runs once for each state. The greedy search fixes the variable that reduces the peak of the memory
most for the multiplications that it adds (J. Gray & S. Kourtis, *Hyper-optimized tensor network
contraction*, Quantum 5, 2021, section 3.4; for networks, J. Pearl, *A constraint-propagation
approach to probabilistic reasoning*, 1986, "conditioning").
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.program.program import Product, Program, Scatter

__all__ = ["SliceCosts", "chosen_variables"]

_FREE = 1e-3
"""The natural logarithm of a factor of multiplications that counts as nothing."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Shape:
    """The steps of a program as arrays."""

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    """``(steps,)`` the registers that each step takes."""
    copies: tuple[Floats, Floats]
    """``(steps,)`` 1 where a step copies its left and its right register, otherwise 0."""
    scattered: Floats
    """``(steps,)`` the other cells that a step takes for a moment."""
    spent: NDArray[np.intp]
    """``(registers,)`` the registers that are freed,"""
    freed: NDArray[np.intp]
    """``(registers,)`` and the steps after which they are."""

    @classmethod
    def of(cls, program: Program) -> _Shape:
        """Return the steps of a program."""
        operations = [step.operation for step in program.steps]
        left = [isinstance(o, Product) and o.sums and o.left_axes is not None for o in operations]
        right = [isinstance(o, Product) and o.sums and o.right_axes is not None for o in operations]
        pairs = [(step, register) for step, spent in enumerate(program.spent) for register in spent]
        return cls(
            left=np.array([step.left for step in program.steps], dtype=np.intp),
            right=np.array([step.right for step in program.steps], dtype=np.intp),
            copies=(np.array(left, dtype=np.float64), np.array(right, dtype=np.float64)),
            scattered=np.array([2.0 * o.cost if isinstance(o, Scatter) else 0 for o in operations]),
            spent=np.array([register for _, register in pairs], dtype=np.intp),
            freed=np.array([step for step, _ in pairs], dtype=np.intp),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SliceCosts:
    """The predicted costs of one run of a program with some variables fixed."""

    program: Program
    shape: _Shape
    cells: Floats
    """``(registers,)`` the cells of each register."""
    work: Floats
    """``(steps,)`` the multiplications of each step."""

    @classmethod
    def of(cls, program: Program) -> SliceCosts:
        """Return the costs of a program without fixed variables."""
        cells = [float(program.cells(register)) for register in range(len(program.scopes))]
        work = [float(step.operation.cost) for step in program.steps]
        return cls(
            program=program,
            shape=_Shape.of(program),
            cells=np.array(cells),
            work=np.array(work),
        )

    def without(self, variable: int) -> SliceCosts:
        """Return the costs with one more variable fixed."""
        n_states = self.program.sizes[variable]
        has = np.array([variable in scope for scope in self.program.scopes], dtype=np.bool_)
        takes = has[self.shape.left] | has[self.shape.right] | has[self.program.n_inputs :]
        return replace(
            self,
            cells=np.where(has, self.cells / n_states, self.cells),
            work=np.where(takes, self.work / n_states, self.work),
        )

    @property
    def multiplications(self) -> float:
        """The multiplications of a run."""
        return float(self.work.sum())

    def held(self) -> Floats:
        """Return the cells that are held during each step, ``(steps,)``; see `peak_cells`."""
        shape, cells = self.shape, self.cells
        filled = cells[self.program.n_inputs :]
        freed = np.bincount(shape.freed, weights=cells[shape.spent], minlength=len(filled))
        left, right = shape.copies
        held: Floats = np.cumsum(filled) - np.cumsum(freed) + freed + shape.scattered
        held += left * cells[shape.left] + right * cells[shape.right]
        return held


def chosen_variables(
    program: Program, candidates: Collection[int], most_cells: float, most_work: float = math.inf
) -> tuple[int, ...]:
    """Return the variables to fix until a run holds at most some cells, in the order of choice.

    Parameters
    ----------
    program
        The program.
    candidates
        The variables that may be fixed, by number.
    most_cells
        The cells that the registers may hold at any time.
    most_work
        The multiplications of all runs together above which no more variables are chosen.

    Returns
    -------
    tuple of int
        All useful candidates if they do not suffice.
    """
    costs, chosen = SliceCosts.of(program), list[int]()
    while True:
        held = costs.held()
        runs = math.prod([program.sizes[v] for v in chosen])
        fits = not len(held) or held.max() <= most_cells
        if fits or runs * costs.multiplications > most_work:
            return tuple(chosen)
        live = _registers_at(program, int(held.argmax()), costs.cells)
        names = {v for register in live for v in program.scopes[register]}
        useful = sorted(names.intersection(candidates).difference(chosen))
        if not useful:
            return tuple(chosen)
        best = max(useful, key=lambda v: (_gain(costs, held, v), -v))
        chosen.append(best)
        costs = costs.without(best)


def _registers_at(program: Program, at: int, cells: Floats) -> Sequence[int]:
    """Return the largest registers that are held during a step: a quarter of the largest, or more.

    The variables of small registers do not reduce the peak.
    """
    live = {*range(program.n_inputs, program.n_inputs + at + 1)}
    for spent in program.spent[:at]:
        live.difference_update(spent)
    step = program.steps[at]
    held: NDArray[np.intp] = np.array(sorted({*live, step.left, step.right}), dtype=np.intp)
    large: list[int] = held[cells[held] >= cells[held].max() / 4].tolist()
    return large


def _gain(costs: SliceCosts, held: Floats, variable: int) -> float:
    """Return the reduction of the memory for the multiplications that fixing a variable adds.

    Both are logarithms of ratios. Besides the peak, all other steps count a little, so that of
    several equal peaks each is reduced in turn.
    """
    after = costs.without(variable)
    now = after.held()
    saved = math.log(held.max() / now.max()) + math.log(held.sum() / now.sum()) / 100
    before = max(costs.multiplications, 1.0)
    added = math.log(costs.program.sizes[variable] * max(after.multiplications, 1.0) / before)
    return saved / (max(added, 0.0) + _FREE)
