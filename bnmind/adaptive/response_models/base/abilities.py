"""Abilities on a grid: the numbers denoted by the states of a latent variable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bnmind._messages import counted, shown
from bnmind.adaptive.response_models.base.parameters import LARGEST
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Variable

__all__ = ["ability_values", "fisher", "parent_abilities"]


def ability_values(variable: Variable) -> Floats:
    """Return the states of a latent ability as numbers, ``(states,)``.

    Raises
    ------
    InvalidModelError
        If a state is not a number.
    """
    return _values(variable)


@lru_cache(maxsize=64)
def _values(variable: Variable) -> Floats:
    """Return the states as numbers, read-only; the items of a bank ask for the same ones."""
    try:
        values = np.array([float(state) for state in variable.states])
    except ValueError:
        values = np.array([math.nan])
    if not np.all(np.abs(values) <= LARGEST):
        raise InvalidModelError(
            [f"expected numbers as states of {variable.name}, got {shown(variable.states)}"]
        )
    values.setflags(write=False)
    return values


def parent_abilities(item: Variable, parents: Sequence[Variable]) -> Floats:
    """Return the values of the ability on which an item depends, ``(states,)``."""
    if len(parents) != 1:
        raise InvalidModelError(
            [f"{item.name} must depend on one ability, got {counted(len(parents), 'variable')}"]
        )
    return ability_values(parents[0])


def fisher(slopes: Floats, chances: Floats) -> Floats:
    """Return Σ_r P_r'² / P_r; an impossible response adds nothing."""
    ratio = np.divide(slopes**2, chances, out=np.zeros_like(chances), where=chances > 0)
    result: Floats = ratio.sum(axis=-1)
    return result
