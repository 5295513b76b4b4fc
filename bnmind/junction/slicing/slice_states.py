"""The joint states of the sliced variables, without those that a table excludes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction.reduction.possible_states import Domains, possible_states
from bnmind.pgm.network import Potential
from bnmind.pgm.variable import Variable

__all__ = ["possible_slices"]


def possible_slices(
    potentials: Sequence[Potential],
    domains: Domains,
    sliced: Sequence[Variable],
    *,
    start: int = 0,
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the joint states that arc consistency does not exclude, with their numbers.

    A state of the first variables that some table excludes, excludes all joint states with it; they
    are not visited one by one.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        The possible states of all its variables; evidence has one state.
    sliced
        The variables.
    start
        The first number to yield.

    Yields
    ------
    number, states
        The number counts all joint states, the last variable fastest. The states are positions.
    """
    sizes = [v.n_states for v in sliced]

    def below(
        known: Domains, depth: int, first: int, states: tuple[int, ...]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        try:
            left = possible_states(potentials, known)
        except ImpossibleEvidenceError:
            return
        if depth == len(sliced):
            yield first, states
            return
        name, width = sliced[depth].name, math.prod(sizes[depth + 1 :])
        for state in left.get(name, range(sizes[depth])):
            number = first + state * width
            if number + width > start:
                yield from below({**left, name: (state,)}, depth + 1, number, (*states, state))

    yield from below(domains, 0, 0, ())
