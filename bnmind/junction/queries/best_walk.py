"""The k most probable explanations, by one backward walk that keeps k partial ones.

The registers of a max-product run hold the exact weight of the best completion of every partial
configuration. The walk extends k partial configurations at a time by all configurations of the
variables of a step, and keeps the k whose best completions weigh most. No other one can belong to
the k best explanations, because each of those kept has a completion that weighs at least as much.

References
----------
D. Nilsson, "An efficient algorithm for finding the M most probable configurations in
probabilistic expert systems", Statistics and Computing 8 (1998). Nilsson divides the rest of the
configurations after each explanation; here, the exact weights of completions make one pass enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.program.program import Program
from bnmind.junction.queries.backward_walk import (
    CHUNK,
    Choice,
    choice_of,
    look_up,
    weights_of,
)
from bnmind.pgm.factor import Values

__all__ = ["in_order", "walk_back_to_best"]

_TIE = 1e-10
"""The relative difference of logarithms below which explanations are equally probable."""

_States = NDArray[np.intp]


def walk_back_to_best(
    program: Program, registers: Sequence[Values], count: int
) -> tuple[_States, Floats]:
    """Return the most probable states of all variables of a program that eliminates all of them.

    Parameters
    ----------
    program
        The program of a plan made by `compile_elimination`.
    registers
        The registers after a run with maxima on logarithms.
    count
        The largest number of explanations.

    Returns
    -------
    states, differences
        State positions ``(variables, found)``, and the logarithm of each explanation's probability
        minus that of the best one, descending. There are fewer explanations than ``count`` if there
        are fewer possible configurations.
    """
    states = np.zeros((len(program.sizes), 1), dtype=np.intp)
    scores = np.zeros(1)
    for number in reversed(range(len(program.steps))):
        look_up(program, registers, number, states)
        choice = choice_of(program, registers, number)
        if choice is not None:
            rows, chosen, scores = _best_extensions(choice, states, scores, count)
            states = states[:, rows]
            states[list(choice.gone)] = np.stack(np.unravel_index(chosen, choice.sizes))
    return states, scores


def _best_extensions(
    choice: Choice, states: _States, scores: Floats, count: int
) -> tuple[_States, _States, Floats]:
    """Return the rows, the choices and the scores of the best extensions, best first."""
    found: tuple[_States, _States, Floats] = (
        np.empty(0, dtype=np.intp),
        np.empty(0, dtype=np.intp),
        np.empty(0),
    )
    chunk = max(1, CHUNK // math.prod(choice.sizes))
    for start in range(0, len(scores), chunk):
        part = slice(start, min(start + chunk, len(scores)))
        weights = weights_of(choice, states, part, np.add)
        # A row is kept only if its best extension is possible.
        extended = scores[part, None] + (weights - weights.max(axis=1, keepdims=True))
        rows, chosen = np.nonzero(extended > -np.inf)
        merged = (
            np.concatenate([found[0], rows + start]),
            np.concatenate([found[1], chosen]),
            np.concatenate([found[2], extended[rows, chosen]]),
        )
        best = _largest(merged[2], count)
        found = (merged[0][best], merged[1][best], merged[2][best])
    return found


def _largest(scores: Floats, count: int) -> _States:
    """Return the positions of the largest scores, descending; of equal ones, the first."""
    order: _States = np.arange(len(scores))
    if len(scores) > 2 * count:
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        order = np.flatnonzero(scores >= least)
    order = order[np.argsort(-scores[order], kind="stable")]
    return order[:count]


def in_order(positions: NDArray[np.intp], log_probabilities: Floats) -> list[int]:
    """Return the order of explanations: by probability, and equally probable ones by their states.

    Parameters
    ----------
    positions
        State positions ``(variables, explanations)``.
    log_probabilities
        Their logarithms, descending. Those that differ by less than 1e-10, relatively, from the
        one before are equal.
    """
    near = _TIE * np.maximum(1.0, np.abs(log_probabilities[1:]))
    groups = np.concatenate([[0], np.cumsum(-np.diff(log_probabilities) > near)])
    keys = [*positions[::-1], groups]
    order: list[int] = np.lexsort(keys).tolist()
    return order
