"""The interface of response models, and functions that its implementations share.

A response model determines, with few parameters, the distribution of the responses to an item
given the skills that the item needs. Responses are ordered, the worst first: "0" is wrong.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import counted, shown
from bnmind.adaptive.response_models.base.parameters import refuse
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import CPD, TabularCPD, Variable
from bnmind.pgm.formats.declared import MOST_AXES
from bnmind.pgm.tabular import DEFAULT_CELLS, refuse_large_table

__all__ = [
    "MadeForSkills",
    "ResponseModel",
    "check_item",
    "check_skills",
    "made_for_skills",
    "mastery",
    "one_each",
    "refuse_large",
    "response_channel",
    "table",
]


@runtime_checkable
class ResponseModel(Protocol):
    """The interface of response models, which make the distributions of items."""

    @property
    def n_responses(self) -> int:
        """The number of responses to an item."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item given its parents.

        Parameters
        ----------
        item
            A variable with ``n_responses`` states, the worst first.
        parents
            The skills that it needs, with their states from the lowest level to the highest.

        Raises
        ------
        InvalidModelError
            If the parameters of the model do not fit the parents or the item.
        """


@runtime_checkable
class MadeForSkills(Protocol):
    """The interface of response models whose number of parameters depends on the skills."""

    @classmethod
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> ResponseModel:
        """Return a model for an item, the first start of learning.

        Parameters
        ----------
        required
            The level of each skill that the item needs, at least 1.
        sizes
            The number of levels of these skills.
        guess, slip
            The chance of a right response without any of them, and of a wrong response with
            all of them.
        """


def made_for_skills(
    make: Callable[..., ResponseModel],
    required: Sequence[int],
    sizes: Sequence[int],
    *,
    guess: float,
    slip: float,
) -> ResponseModel:
    """Return a response model for an item of a Q-matrix; see `MadeForSkills`.

    Parameters
    ----------
    make
        A class with the method `for_skills`, or a function of a guess and a slip.
    required, sizes, guess, slip
        As for `MadeForSkills.for_skills`.
    """
    if isinstance(make, MadeForSkills):
        return make.for_skills(tuple(required), tuple(sizes), guess=guess, slip=slip)
    model: Any = make(guess, slip)
    if max(required) > 1:
        model = dataclasses.replace(model, required=tuple(required))
    return model  # type: ignore[no-any-return]


def check_skills(required: Sequence[int], sizes: Sequence[int]) -> None:
    """Raise `InvalidModelError` unless there is a required level and a size of each skill.

    Parameters
    ----------
    required
        The level that is needed of each skill.
    sizes
        The number of levels of each skill, at least 2.

    Raises
    ------
    InvalidModelError
        If a number is missing, or a skill has fewer than two levels.

    Examples
    --------
    >>> check_skills((1,), (2, 2))
    Traceback (most recent call last):
    bnmind.errors.InvalidModelError: expected one required level and one number of levels, at \
least 2, for each skill, got required (1,) and sizes (2, 2)
    """
    if not len(required) or len(required) != len(sizes) or min(sizes) < 2:
        raise InvalidModelError(
            [
                "expected one required level and one number of levels, at least 2, for each skill,"
                f" got required {shown(required)} and sizes {shown(sizes)}"
            ]
        )


def response_channel(model: ResponseModel, parents: Sequence[Variable]) -> Floats:
    """Return the chance of each response, ``(parent configurations, responses)``.

    The last parent's states change fastest.

    Parameters
    ----------
    model
        The response model of an item.
    parents
        The skills that the item needs.

    Examples
    --------
    >>> from bnmind.adaptive import Dina
    >>> skills = [Variable.of_integers(name, range(2)) for name in "ab"]
    >>> response_channel(Dina(0.2, 0.1), skills)[:, 1].tolist()
    [0.2, 0.2, 0.2, 0.9]
    """
    item = Variable.of_integers("item", range(model.n_responses))
    values = np.real(model.cpd(item, parents).to_factor().values)
    return np.ascontiguousarray(values.reshape(model.n_responses, -1).T)


def check_item(item: Variable, n_responses: int) -> None:
    """Raise `InvalidModelError` if an item has another number of responses.

    Parameters
    ----------
    item
        The variable of the item.
    n_responses
        The number of responses that its model has.

    Raises
    ------
    InvalidModelError
        If the numbers of responses differ.
    """
    if item.n_states != n_responses:
        raise InvalidModelError(
            [f"expected {counted(n_responses, 'response')} to {item.name}, got {item.n_states}"]
        )


def one_each(
    what: str, values: float | tuple[float, ...], scope: Sequence[Variable]
) -> list[float]:
    """Return one number for each parent of an item.

    Parameters
    ----------
    what
        What the numbers are, in words, for messages.
    values
        One number for all parents, or one for each.
    scope
        The variables of the table: the item, then its parents.

    Raises
    ------
    InvalidModelError
        If there is neither one number nor one for each parent.
    """
    item, n = scope[0], len(scope) - 1
    each = np.asarray(values, dtype=np.float64)
    if each.ndim and len(each) != n:
        raise InvalidModelError([f"expected {n} {what} for {item.name}, got {len(each)}"])
    numbers: list[float] = np.broadcast_to(each, (n,)).tolist()
    return numbers


def mastery(
    required: tuple[int, ...] | None, item: Variable, parents: Sequence[Variable]
) -> list[NDArray[np.bool_]]:
    """Return for each parent a mask of its sufficient states, ``(states of the parent,)``.

    Parameters
    ----------
    required
        The level that is needed of each parent; the highest if None.
    item
        The variable of the item.
    parents
        The skills that the item needs.
    """
    levels = (1,) * len(parents) if required is None else required
    problems = [] if len(parents) else [f"{item.name} needs at least one skill as parent"]
    if len(levels) != len(parents):
        problems.append(f"expected {len(parents)} levels for {item.name}, got {len(levels)}")
    problems += [
        f"expected a level from 0 to {v.n_states - 1} of {v.name} for {item.name}, got {level}"
        for level, v in zip(levels, parents, strict=False)
        if not 0 <= level < v.n_states
    ]
    refuse(problems)
    return [np.arange(v.n_states) >= level for v, level in zip(parents, levels, strict=True)]


def refuse_large(item: Variable, parents: Sequence[Variable]) -> None:
    """Raise if the table of an item would have too many axes or cells.

    Parameters
    ----------
    item
        The variable of the item.
    parents
        The skills that the item needs.

    Raises
    ------
    InvalidModelError
        If the table would be too large.
    """
    if len(parents) >= MOST_AXES:
        raise InvalidModelError(
            [f"expected fewer than {MOST_AXES} parents of {item.name}, got {len(parents)}"]
        )
    refuse_large_table((item, *parents), DEFAULT_CELLS)


def table(item: Variable, parents: Sequence[Variable], values: Floats) -> TabularCPD:
    """Return the table of an item, from ``(responses, configurations of the parents)``.

    Parameters
    ----------
    item
        The variable of the item.
    parents
        The skills that the item needs.
    values
        ``(responses, parent configurations)``, probabilities; columns add up to 1.
    """
    shape = (item.n_states, *(v.n_states for v in parents))
    return TabularCPD(item, tuple(parents), values.reshape(shape))
