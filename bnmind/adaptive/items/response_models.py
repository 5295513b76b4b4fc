r"""Gates: how the skills that an item needs make its responses, with few parameters.

With α_k = 1 if the examinee has the level of skill k that the item requires, else 0:

===========  ======================================================================
gate         P(right | α)
===========  ======================================================================
Dina         1 − s if every α_k = 1, else g
Dino         1 − s if some α_k = 1, else g
NoisyAnd     c · Π_k (1 − s_k)^{α_k} g_k^{1−α_k}
NoisyOr      1 − (1 − f) · Π_k s_k^{α_k} (1 − g_k)^{1−α_k}
Sequential   P(X ≥ r | X ≥ r − 1) is that of step r, a gate of its own
Graded       P(X ≥ r) = 1 / (1 + exp(−(Σ_k a_k·level_k − b_r)))
FreeTable    any
===========  ======================================================================

g is ``guess``, s is ``slip``, c is ``ceiling``, f is ``floor``, a is ``slopes``, b is
``thresholds``. The items' first response is the worst, "0" where it is wrong.

References
----------
E. Haertel, "Using restricted latent class models to map the skill structure of
achievement items", J. Educ. Meas. 1989 (DINA); J. Templin and R. Henson, "Measurement of
psychological disorders using cognitive diagnosis models", Psychol. Methods 2006 (DINO);
B. Junker and K. Sijtsma, "Cognitive assessment models with few assumptions", Appl.
Psychol. Meas. 2001 (NIDA, the noisy-and); J. de la Torre, "The generalized DINA model
framework", Psychometrika 2011 (saturated); W. Ma and J. de la Torre, "A sequential
cognitive diagnosis model for polytomous responses", Br. J. Math. Stat. Psychol. 2016;
F. Samejima, "Estimation of latent ability using a response pattern of graded scores",
Psychometrika monograph 17, 1969.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_fields, checked
from bnmind.adaptive.items.response_parameters import (
    chance_faults,
    increasing,
    make_plain,
    normalized_rows,
    probability_faults,
    refuse,
)
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import CPD, NoisyMaximum, NoisyMinimum, TabularCPD, Variable
from bnmind.pgm.factor import numbers_of
from bnmind.pgm.formats.declared import MOST_AXES
from bnmind.pgm.tabular import DEFAULT_CELLS, refuse_large_table

__all__ = [
    "Dina",
    "Dino",
    "FreeTable",
    "Gate",
    "GateMaker",
    "Graded",
    "NoisyAnd",
    "NoisyOr",
    "Sequential",
    "gate_channel",
]


@runtime_checkable
class Gate(Protocol):
    """What makes the distribution of an item from the variables that it depends on."""

    @property
    def n_responses(self) -> int:
        """The number of responses that an item with this gate has."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item given its parents.

        Parameters
        ----------
        item
            A variable with ``n_responses`` states, the worst first.
        parents
            The skills that it needs, their states from the lowest level to the highest.

        Raises
        ------
        InvalidModelError
            If the gate's parameters do not fit the parents or the item.
        """


GateMaker: TypeAlias = Callable[[float, float], Gate]
"""What makes a gate of a chance of guessing and one of slipping."""


def gate_channel(gate: Gate, parents: Sequence[Variable]) -> Floats:
    """Return the chance of each response, ``(configurations of the parents, responses)``.

    The last parent's states change fastest.

    >>> skills = [Variable.of_integers(name, range(2)) for name in "ab"]
    >>> gate_channel(Dina(0.2, 0.1), skills)[:, 1].tolist()
    [0.2, 0.2, 0.2, 0.9]
    """
    item = Variable.of_integers("item", range(gate.n_responses))
    values = np.real(gate.cpd(item, parents).to_factor().values)
    return np.ascontiguousarray(values.reshape(gate.n_responses, -1).T)


@dataclass(frozen=True)
class Dina:
    """The noise after an "and": right with chance 1 − slip given all skills, else guess.

    Parameters
    ----------
    guess, slip
        In [0, 1], with ``guess + slip`` at most 1: more skill never hurts.
    required
        For each parent the level that is enough, counted from 0; 1 of each unless given,
        and 0 where the skill is not needed.
    """

    guess: float
    slip: float
    required: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        problems = make_plain(self, one=("guess", "slip"), levels=("required",))
        refuse(problems or chance_faults(self.guess, self.slip))

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item given its parents."""
        _refuse_large(item, parents)
        has = _along_axes(_mastery(self.required, item, parents))
        able = functools.reduce(np.logical_and, has)
        return _binary(item, parents, np.where(able, 1 - self.slip, self.guess))


@dataclass(frozen=True)
class Dino:
    """The noise after an "or": right with chance 1 − slip given any of the skills, else guess.

    Parameters are those of `Dina`; a required level of 0 is had by everybody.
    """

    guess: float
    slip: float
    required: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        problems = make_plain(self, one=("guess", "slip"), levels=("required",))
        refuse(problems or chance_faults(self.guess, self.slip))

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item given its parents."""
        _refuse_large(item, parents)
        has = _along_axes(_mastery(self.required, item, parents))
        able = functools.reduce(np.logical_or, has)
        return _binary(item, parents, np.where(able, 1 - self.slip, self.guess))


@dataclass(frozen=True)
class NoisyAnd:
    """The noise before an "and": each skill fails or is replaced by luck by itself.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all of them; ``guess + slip`` at most 1.
    ceiling
        The chance of a right response when all the skills work.
    required
        As for `Dina`.
    """

    guess: float | tuple[float, ...]
    slip: float | tuple[float, ...] = 0.0
    ceiling: float = 1.0
    required: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        problems = make_plain(self, one=("ceiling",), each=("guess", "slip"), levels=("required",))
        refuse(
            problems
            or [
                *chance_faults(self.guess, self.slip),
                *probability_faults("a ceiling", self.ceiling),
            ]
        )

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> NoisyMinimum:
        """Return the distribution of an item given its parents."""
        links = _links(self.guess, self.slip, self.required, (item, *parents))
        leak = np.array([1 - self.ceiling, self.ceiling])
        return NoisyMinimum(item, tuple(parents), links, leak)


@dataclass(frozen=True)
class NoisyOr:
    """The noise before an "or": each skill alone is enough, unless it fails by itself.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all of them; ``guess + slip`` at most 1.
    floor
        The chance of a right response when none of the skills works.
    required
        As for `Dina`.
    """

    guess: float | tuple[float, ...]
    slip: float | tuple[float, ...] = 0.0
    floor: float = 0.0
    required: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        problems = make_plain(self, one=("floor",), each=("guess", "slip"), levels=("required",))
        refuse(
            problems
            or [
                *chance_faults(self.guess, self.slip),
                *probability_faults("a floor", self.floor),
            ]
        )

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> NoisyMaximum:
        """Return the distribution of an item given its parents."""
        links = _links(self.guess, self.slip, self.required, (item, *parents))
        return NoisyMaximum(item, tuple(parents), links, np.array([1 - self.floor, self.floor]))


@dataclass(frozen=True)
class Sequential:
    """Steps taken one after the other; the response is the number of steps taken.

    Parameters
    ----------
    steps
        For each step a gate with two responses: the step is taken, given that those
        before it were. A required level of 0 keeps a skill out of a step.
    """

    steps: tuple[Gate, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "steps", tuple(self.steps))
        wrong = [step for step in self.steps if step.n_responses != 2]
        if wrong or not self.steps:
            raise InvalidModelError(
                [f"expected steps that are gates with two responses, got {self.steps}"]
            )

    @property
    def n_responses(self) -> int:
        """One more than steps."""
        return len(self.steps) + 1

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        _check_item(item, self.n_responses)
        _refuse_large(item, parents)
        reached = np.ones(math.prod(v.n_states for v in parents))
        rows = []
        for step in self.steps:
            channel = gate_channel(step, parents)
            rows.append(reached * channel[:, 0])
            reached = reached * channel[:, 1]
        return _table(item, parents, np.array([*rows, reached]))


@dataclass(frozen=True)
class Graded:
    """Graded responses to a weighted sum of the skills' levels, by a logistic curve.

    With one threshold and skills of two levels it is the compensatory model (C-RUM).

    Parameters
    ----------
    slopes
        What a level of each skill adds, at least zero; or one number for all of them.
    thresholds
        What must be reached for each response but the first, increasing.
    """

    slopes: float | tuple[float, ...]
    thresholds: tuple[float, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        refuse(make_plain(self, each=("slopes",), many=("thresholds",)))
        problems = increasing(self.thresholds)
        if not np.all(np.asarray(self.slopes) >= 0):
            problems.append(f"expected slopes of at least 0, got {self.slopes}")
        refuse(problems)

    @property
    def n_responses(self) -> int:
        """One more than thresholds."""
        return len(self.thresholds) + 1

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        _check_item(item, self.n_responses)
        _refuse_large(item, parents)
        slopes = _each("slopes", self.slopes, (item, *parents))
        levels = np.ix_(
            *[slope * np.arange(v.n_states) for slope, v in zip(slopes, parents, strict=True)]
        )
        total = sum(levels, np.zeros(()))
        return _table(item, parents, graded(total[None] - _column(self.thresholds, total.ndim)))


@dataclass(frozen=True, eq=False)
class FreeTable:
    """Any chances at all: the saturated model (G-DINA).

    Parameters
    ----------
    probabilities
        ``(configurations of the parents, responses)``, rows summing to one, the last
        parent's states changing fastest; sums within 1e-6 of one are normalized.

    Raises
    ------
    InvalidModelError
        If it has no such shape, an entry is no probability, or a row does not sum to one.
    """

    probabilities: Floats

    def __post_init__(self) -> None:
        check_fields(self)
        values = np.array(numbers_of(self.probabilities, "in a free table", real=True).real)
        if values.ndim != 2 or not np.all((values >= 0) & np.isfinite(values)):
            raise InvalidModelError(
                ["expected an array of probabilities (configurations, responses) in a free table"]
            )
        object.__setattr__(self, "probabilities", normalized_rows(values))

    def __reduce__(self) -> tuple[Any, ...]:
        return (FreeTable, (self.probabilities,))

    @property
    def n_responses(self) -> int:
        """The number of columns."""
        return int(self.probabilities.shape[1])

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        _check_item(item, self.n_responses)
        _refuse_large(item, parents)
        needed = math.prod(v.n_states for v in parents)
        if len(self.probabilities) != needed:
            raise InvalidModelError(
                [
                    f"expected {needed} rows in the free table of {item.name},"
                    f" got {len(self.probabilities)}"
                ]
            )
        return _table(item, parents, self.probabilities.T)


def graded(distances: ArrayLike) -> Floats:
    """Return the chance of each graded response, ``(responses, …)``.

    Parameters
    ----------
    distances
        ``(responses − 1, …)``: how far the ability is above each threshold, decreasing;
        the response is at least r with chance 1 / (1 + exp(−distance_r)).
    """
    d = np.asarray(distances, dtype=np.float64)
    above, below = logistic(d), logistic(-d)
    # Neighbors are subtracted where they are small: at the far end below, at the near above.
    between = np.where(d[:-1] + d[1:] < 0, above[:-1] - above[1:], below[1:] - below[:-1])
    return np.concatenate([below[:1], np.maximum(between, 0.0), above[-1:]])


def logistic(distances: ArrayLike) -> Floats:
    """Return 1 / (1 + exp(−x)), which overflows nowhere and keeps its digits in both tails."""
    x = np.asarray(distances, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # of nan
        result: Floats = np.exp(-np.logaddexp(0.0, -x))
    return result


def _column(values: Sequence[float], n_axes: int) -> Floats:
    return np.asarray(values, dtype=np.float64).reshape(-1, *(1,) * n_axes)


def _check_item(item: Variable, n_responses: int) -> None:
    if item.n_states != n_responses:
        raise InvalidModelError(
            [f"expected {n_responses} responses to {item.name}, got {item.n_states}"]
        )


def _each(what: str, values: float | tuple[float, ...], scope: Sequence[Variable]) -> list[float]:
    """Return one number for each parent of an item."""
    item, n = scope[0], len(scope) - 1
    each = np.asarray(values, dtype=np.float64)
    if each.ndim and len(each) != n:
        raise InvalidModelError([f"expected {n} {what} for {item.name}, got {len(each)}"])
    numbers: list[float] = np.broadcast_to(each, (n,)).tolist()
    return numbers


def _mastery(
    required: tuple[int, ...] | None, item: Variable, parents: Sequence[Variable]
) -> list[NDArray[np.bool_]]:
    """Return for each parent whether its states are enough, ``(states of the parent,)``."""
    levels = (1,) * len(parents) if required is None else required
    problems = [] if len(parents) else [f"expected skills as parents of {item.name}, got none"]
    if len(levels) != len(parents):
        problems.append(f"expected {len(parents)} levels for {item.name}, got {len(levels)}")
    problems += [
        f"expected a level from 0 to {v.n_states - 1} of {v.name} for {item.name}, got {level}"
        for level, v in zip(levels, parents, strict=False)
        if not 0 <= level < v.n_states
    ]
    refuse(problems)
    return [np.arange(v.n_states) >= level for v, level in zip(parents, levels, strict=True)]


def _along_axes(has: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
    """Return arrays of one axis, each along an axis of its own."""
    return [
        array.reshape(*(1,) * place, -1, *(1,) * (len(has) - place - 1))
        for place, array in enumerate(has)
    ]


def _links(guess: Any, slip: Any, required: Any, scope: Sequence[Variable]) -> tuple[Floats, ...]:
    item, *parents = scope
    _check_item(item, 2)
    guesses, slips = _each("guesses", guess, scope), _each("slips", slip, scope)
    links = []
    for g, s, has in zip(guesses, slips, _mastery(required, item, parents), strict=True):
        works = np.where(has, 1 - s, g)
        links.append(np.array([1 - works, works]))
    return tuple(links)


def _binary(item: Variable, parents: Sequence[Variable], right: Floats) -> TabularCPD:
    _check_item(item, 2)
    return _table(item, parents, np.array([1 - right, right]))


def _refuse_large(item: Variable, parents: Sequence[Variable]) -> None:
    """Raise if the table of an item has too many axes or cells; before any of it is made."""
    if len(parents) >= MOST_AXES:
        raise InvalidModelError(
            [f"expected fewer than {MOST_AXES} parents of {item.name}, got {len(parents)}"]
        )
    refuse_large_table((item, *parents), DEFAULT_CELLS)


def _table(item: Variable, parents: Sequence[Variable], values: Floats) -> TabularCPD:
    shape = (item.n_states, *(v.n_states for v in parents))
    return TabularCPD(item, tuple(parents), values.reshape(shape))
