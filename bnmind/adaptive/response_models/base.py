"""What response models share: their interface, formulas, parameters, and abilities on a grid.

A response model determines, with few parameters, the distribution of the responses to an item
given the skills that the item needs. Responses are ordered, the worst first: "0" is wrong.

A model states its *formula*, chances = link(design @ x), once; its table and learning follow from
it. See `Formula`.

The parameters of a response model as a vector of numbers, for derivatives and draws.

The numbers are the fields of the model that hold real numbers: one, or one for each skill or
threshold. Levels and other whole numbers are no parameters. In place of a difficulty or a threshold
b of a curve with the slope a stands the intercept −a b, which is finite for flat curves too.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Bounded, Sealed, Value, sealed
from bnmind.adaptive.response_models.links import Link, LinkFunction
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import CPD, TabularCPD, Variable
from bnmind.pgm.formats.declared import MOST_AXES
from bnmind.pgm.tabular import DEFAULT_CELLS, refuse_large_table

_ROW_TOLERANCE = 1.000001e-6
"""Distributions that sum to one this closely are accepted and normalized, as in tables."""

LARGEST = 1e100
"""Products and sums of numbers up to this are finite."""


Number = Annotated[float, Bounded(LARGEST)]
"""A parameter without limits of its own."""
Scale = Annotated[float, Gt(0), Bounded(LARGEST)]
"""A parameter above 0."""


def chance_faults(model: Any) -> Iterator[str]:
    """Yield what is wrong with the guesses and the slips of a model together."""
    guess, slip = model.guess, model.slip
    lengths = {len(x) for x in (guess, slip) if isinstance(x, tuple)}
    if len(lengths) > 1:
        yield f"expected as many guesses as slips, got {guess} and {slip}"
    elif np.any(np.add(guess, slip) > 1 + 1e-12):
        yield f"expected guess + slip of at most 1, got {guess} and {slip}"


def slope_faults(curve: Any) -> Iterator[str]:
    """Yield the fault of the slope of a curve with difficulties: a flat curve has none."""
    if not curve.slope:
        yield "expected a slope other than 0, got 0"


def threshold_faults(curve: Any, *, falls: bool = False) -> Iterator[str]:
    """Yield the fault of thresholds, which must increase; decrease if ``falls``."""
    thresholds = curve.thresholds
    steps = pairwise(reversed(thresholds) if falls else thresholds)
    if not thresholds or any(low > high for low, high in steps):
        order = "decreasing thresholds with a negative slope" if falls else "increasing thresholds"
        yield f"expected {order}, got {shown(thresholds)}"


def refuse(problems: Sequence[str]) -> None:
    """Raise `InvalidModelError` if there are faults."""
    if problems:
        raise InvalidModelError(problems)


def normalized_rows(values: Floats) -> Floats:
    """Return rows of probabilities normalized to sum to one; read-only.

    Raises
    ------
    InvalidModelError
        If there are no rows, or a row does not sum to one within 1e-6.
    """
    if values.ndim != 2 or not values.size:
        told = "a G-DINA model needs at least one row of probabilities in an array"
        raise InvalidModelError([f"{told} (configurations, responses)"])
    sums = values.sum(axis=1, keepdims=True)
    wrong = np.flatnonzero(np.abs(sums - 1) > _ROW_TOLERANCE)
    if wrong.size:
        got = f"{float(sums[wrong[0], 0]):.9g} in row {wrong[0] + 1}"
        raise InvalidModelError([f"expected rows that sum to one in a G-DINA model, got {got}"])
    # Rows that sum to one up to rounding are not changed, so that a copy has the same digits.
    off = np.abs(sums - 1) > 4 * values.shape[1] * np.finfo(np.float64).eps
    return sealed(np.where(off, values / sums, values))


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
class Learnable(ResponseModel, Protocol):
    """The interface of response models that state their formula, so that they can be learned."""

    @property
    def _numbers(self) -> Floats:
        """The parameters of the formula."""

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return how the chances of an item depend on the parameters."""

    def _with_numbers(self, numbers: Floats) -> ResponseModel:
        """Return the model with other parameters of the formula."""


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
    return model_table(model, item, parents)


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


def sufficient(
    required: tuple[int, ...] | None, item: Variable, parents: Sequence[Variable]
) -> NDArray[np.bool_]:
    """Return whether each skill is sufficient, ``(parents, configurations)``."""
    has = mastery(required, item, parents)
    grid = np.meshgrid(*has, indexing="ij")
    return np.array([axis.reshape(-1) for axis in grid])


def grid_of(n_skills: int) -> Floats:
    """Return which skills are sufficient in each set of them, ``(sets, skills)``."""
    levels: Floats = np.indices((2,) * n_skills).reshape(n_skills, -1).T.astype(np.float64)
    return levels


def grid_cells(has: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the place in `grid_of` of each configuration, given what is sufficient in it."""
    places: NDArray[np.intp] = 2 ** np.arange(len(has))[::-1] @ has
    return places


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


@lru_cache(maxsize=64)
def ability_values(variable: Variable) -> Floats:
    """Return the states of a latent ability as numbers, ``(states,)``; read-only.

    Raises
    ------
    InvalidModelError
        If a state is not a number.
    """
    try:
        values = np.array([float(state) for state in variable.states])
    except ValueError:
        values = np.array([math.nan])
    if not np.all(np.abs(values) <= LARGEST):
        raise InvalidModelError(
            [f"expected numbers as states of {variable.name}, got {shown(variable.states)}"]
        )
    return sealed(values)


def parent_abilities(item: Variable, parents: Sequence[Variable]) -> Floats:
    """Return the values of the ability on which an item depends, ``(states,)``."""
    if len(parents) != 1:
        raise InvalidModelError(
            [f"{item.name} must depend on one ability, got {counted(len(parents), 'variable')}"]
        )
    return ability_values(parents[0])


Ends: TypeAlias = tuple[Floats, Floats]
"""Predictors of lowest chances, the guesses, and of highest ones, ``(predictors, parameters)``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Formula(Sealed):
    """How the chances of an item depend on its parameters: chances = link(design @ x).

    The parameters with a role in `CHANCES` are chances v; x is v, or 1 − v of a slip, on the
    scale. Other parameters are x themselves.

    Parameters
    ----------
    link
        How predictors become chances.
    design
        ``(cells, predictors, parameters)``.
    names, roles
        What each parameter is called, and which bounds and priors apply to it.
    cells
        The cell of each configuration of the parents.
    sizes
        The levels of the grid of cells, of which the last changes fastest; none if they are not
        a grid in which more is better.
    scale
        The scale of the chance of the better of two responses, if there is one predictor.
    bounded
        The predictors to which the bounds of guesses and slips apply, if there are such.
    noise
        Those to which their priors apply.
    rises
        Whether more skill never hurts, whatever the parameters.
    limits
        The least and the largest value of each parameter, if the model has its own.
    steps
        The formulas of steps, of which this is made; see `sequential`.
    """

    link: Link
    design: Floats
    names: tuple[str, ...]
    roles: tuple[str, ...]
    cells: NDArray[np.intp]
    sizes: tuple[int, ...] = ()
    scale: LinkFunction | None = None
    bounded: Ends | None = None
    noise: Ends | None = None
    rises: bool = False
    limits: Floats | None = None
    steps: tuple[Formula, ...] = ()

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas of the steps, or this one."""
        return self.steps or (self,)

    @property
    def is_chance(self) -> NDArray[np.bool_]:
        """Whether each parameter is a chance."""
        return np.array([role in CHANCES for role in self.roles], dtype=np.bool_)

    def points(self, values: Floats) -> Floats:
        """Return x of parameters, ``(…, parameters)``."""
        return self._mapped(values, lambda scale, v, slip: scale.of(np.where(slip, 1 - v, v)))

    def values(self, points: Floats) -> Floats:
        """Return the parameters of x; the inverse of `points`."""

        def of(scale: LinkFunction, x: Floats, slip: NDArray[np.bool_]) -> Floats:
            chances = scale.chance(x)
            return np.where(slip, 1 - chances, chances)

        return self._mapped(points, of)

    def rates(self, points: Floats) -> Floats:
        """Return how fast the parameters change with x, ``(…, parameters)``."""

        def of(scale: LinkFunction, x: Floats, slip: NDArray[np.bool_]) -> Floats:
            return np.where(slip, -scale.slope(x), scale.slope(x))

        rates = self._mapped(points, of)
        return np.where(self.is_chance, rates, 1.0)

    def _mapped(self, numbers: Floats, of: Callable[..., Floats]) -> Floats:
        found, end = np.array(numbers, dtype=np.float64), 0
        for part in self.parts:
            place = slice(end, end := end + len(part.roles))
            if part.scale is not None and part.roles and part.roles[0] in CHANCES:
                slip = np.array(part.roles) == "slip"
                found[..., place] = of(part.scale, found[..., place], slip)
        return found

    def table(self, values: Floats) -> Floats:
        """Return the chances given the parameters, ``(configurations, responses)``."""
        with np.errstate(divide="ignore"):
            predictors = self.design @ self.points(values)
        return self.link.chances(predictors)[self.cells]


CHANCES = frozenset({"guess", "slip", "lowest", "highest", "chance", "edge"})
"""The roles of parameters that are chances: of the lowest and the highest cell of a table, of the
cells between, and of what is not due to the skills, too."""


class FormulaModel(Value, ABC):
    """A base of response models that state a formula."""

    _error = InvalidModelError

    @property
    @abstractmethod
    def n_responses(self) -> int:
        """The number of responses to an item."""

    @abstractmethod
    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return how the chances of an item depend on what is learned of it."""

    @property
    def _numbers(self) -> Floats:
        """The parameters of the formula."""
        return parameter_vector(self)

    def _with_numbers(self, numbers: Floats) -> ResponseModel:
        """Return the model with other parameters of the formula."""
        return with_parameters(self, numbers)

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item given its parents."""
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        if math.prod([v.n_states for v in parents]) <= _SMALL_TABLE:
            with suppress(InvalidModelError):  # the error below names the item
                return _known_table(self, item, tuple(parents))
        return table(item, parents, self._channel(item, parents).T)

    def _channel(self, item: Variable, parents: Sequence[Variable]) -> Floats:
        return self._formula(item, parents).table(self._numbers)


_SMALL_TABLE = 2**8
"""The most configurations of a table that is remembered."""


@lru_cache(maxsize=256)
def _known_table(model: FormulaModel, item: Variable, parents: tuple[Variable, ...]) -> TabularCPD:
    """Return the table of an item, which is made again to check its bank."""
    return table(item, parents, _known_chances(model, parents).T)


@lru_cache(maxsize=256)
def _known_chances(model: FormulaModel, parents: tuple[Variable, ...]) -> Floats:
    """Return the chances of items with the same model and skills, of which banks have many."""
    item = Variable.of_integers("item", range(model.n_responses))
    return sealed(model._channel(item, parents))


LEAST_SLOPE = 1e-12
"""The slope in place of 0 of a curve with difficulties."""

_SHARES = (1.0, 0.75, 0.5, 0.25)
"""The shares of a step that are tried, the whole step first."""


def _numbers(model: ResponseModel) -> list[tuple[str, float | tuple[float, ...]]]:
    if not dataclasses.is_dataclass(model):
        return []
    found: list[tuple[str, float | tuple[float, ...]]] = []
    for field in dataclasses.fields(model):
        value: Any = getattr(model, field.name)
        one_number = isinstance(value, float)
        if one_number or (
            isinstance(value, tuple) and value and all(isinstance(x, float) for x in value)
        ):
            if field.name == getattr(model, "_per_slope", None):
                value = _turned(value, lambda b: b * model.slope)
            found.append((field.name, value))
    return found


def _turned(value: Any, scaled: Callable[[float], float]) -> Any:
    """Return minus a scaled number, or the numbers of a tuple."""
    if isinstance(value, tuple):
        return tuple(0.0 - scaled(x) for x in value)
    return 0.0 - scaled(value)


def parameter_names(model: ResponseModel) -> tuple[str, ...]:
    """Return the names of the parameters; those of a list are numbered.

    >>> from bnmind.adaptive import GradedResponse
    >>> parameter_names(GradedResponse(1.5, (-1.0, 0.0)))
    ('slope', 'thresholds 1', 'thresholds 2')
    """
    names: list[str] = []
    for name, value in _numbers(model):
        several = isinstance(value, tuple)
        names += [f"{name} {n + 1}" for n in range(len(value))] if several else [name]  # type: ignore[arg-type]
    return tuple(names)


def parameter_vector(model: ResponseModel) -> Floats:
    """Return the parameters of a model, ``(parameters,)``."""
    return np.array([x for _, value in _numbers(model) for x in np.atleast_1d(value)], dtype=float)


def with_parameters(model: ResponseModel, numbers: Sequence[float] | Floats) -> ResponseModel:
    """Return a model with other parameters.

    Raises
    ------
    InvalidModelError
        If they are out of range.
    """
    rest = [float(x) for x in numbers]
    values: dict[str, Any] = {}
    for name, value in _numbers(model):
        if isinstance(value, tuple):
            values[name], rest = tuple(rest[: len(value)]), rest[len(value) :]
        else:
            values[name], rest = rest[0], rest[1:]
    if (divided := getattr(model, "_per_slope", None)) is not None:
        slope = values["slope"] = values["slope"] or LEAST_SLOPE
        values[divided] = _turned(values[divided], lambda d: d / slope)
    changed: ResponseModel = dataclasses.replace(model, **values)  # type: ignore[type-var]
    return changed


def model_near(model: ResponseModel, step: Floats) -> ResponseModel:
    """Return a model whose parameters differ by a step, or by as much of it as is valid."""
    start = parameter_vector(model)
    for share in _SHARES:
        try:
            return with_parameters(model, start + share * step)
        except InvalidModelError:
            continue
    return model


def model_table(model: ResponseModel, item: Variable, parents: Sequence[Variable]) -> Floats:
    """Return the chance of each response, ``(parent configurations, responses)``."""
    values = np.real(model.cpd(item, parents).to_factor().values)
    return np.ascontiguousarray(values.reshape(item.n_states, -1).T)
