"""What response models share: links, formulas of chances, parameters, and a base of your own.

A response model determines, with few parameters, the distribution of the responses to an item
given the skills that the item needs. Responses are ordered, the worst first: "0" is wrong.

A model states its *formula*, chances = link(design @ x), once; its table and learning follow from
it. See `Formula`. Link functions are the scales on which the effects of skills add up:

==================  ======================================================================
symbol              name here
==================  ======================================================================
p                   the chance of a right response
η                   the predictor: the sum of the effects, increasing with p
==================  ======================================================================

For derivatives and draws, the parameters of a response model are a vector of numbers: the fields of
the model that hold real numbers, one, or one for each skill or threshold. Levels and other whole
numbers are no parameters. In place of a difficulty or a threshold b of a curve with the slope a
stands the intercept −a b, which is finite for flat curves too.

P. McCullagh and J. Nelder, *Generalized Linear Models*, 1989; J. de la Torre, Psychometrika 2011.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    runtime_checkable,
)

import numpy as np
from annotated_types import Gt
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Bounded, Sealed, Value, converter, sealed
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import CPD, TabularCPD, Variable
from bnmind.pgm.formats.declared import MOST_AXES
from bnmind.pgm.tabular import DEFAULT_CELLS, refuse_large_table

LARGEST = 1e100
"""Products and sums of numbers up to this are finite."""

Number = Annotated[float, Bounded(LARGEST)]
"""A parameter without limits of its own."""
Scale = Annotated[float, Gt(0), Bounded(LARGEST)]
"""A parameter above 0."""

# --- Links: how predictors, which are sums of effects, become chances of responses ----------------


def both_tails(distances: Floats) -> tuple[Floats, Floats]:
    """Return 1 / (1 + exp(−x)) and 1 / (1 + exp(x)), both accurate; faster than `logistic`."""
    small = np.exp(-np.abs(distances))
    near = 1 / (1 + small)
    far = small * near
    up = distances >= 0
    return np.where(up, near, far), np.where(up, far, near)


def logistic(distances: ArrayLike) -> Floats:
    """Return 1 / (1 + exp(−x)) without overflow, accurate in both tails."""
    return both_tails(np.asarray(distances, dtype=np.float64))[0]


def chances_of_steps(taken: Floats, missed: Floats) -> Floats:
    """Return the chances of the responses ``(…, responses)`` of steps ``(…, steps)``.

    Response r is given if step r is the first that is not taken, after r that are.
    """
    reached = np.cumprod(taken, axis=-1)
    before = np.concatenate([np.ones_like(reached[..., :1]), reached[..., :-1]], axis=-1)
    return np.concatenate([before * missed, reached[..., -1:]], axis=-1)


@dataclass(frozen=True)
class LinkFunction:
    """A link function: the scale on which effects add up."""

    of: Callable[[Floats], Floats]
    """η of p."""
    chance: Callable[[Floats], Floats]
    """p of η."""
    rates: Callable[[Floats, Floats], tuple[Floats, Floats]]
    """dp/dη and d²p/dη² of 1 − p and p."""


IDENTITY = LinkFunction(
    lambda p: p, lambda x: x, lambda q, p: (np.ones(p.shape), np.zeros(p.shape))
)
"""η = p."""
LOGIT = LinkFunction(
    lambda p: np.log(p) - np.log1p(-p), logistic, lambda q, p: (p * q, p * q * (q - p))
)
"""η = ln(p / (1 − p))."""
LOG = LinkFunction(np.log, np.exp, lambda q, p: (p, p))
"""η = ln p."""
COMPLEMENTARY = LinkFunction(lambda p: -np.log1p(-p), lambda x: -np.expm1(-x), lambda q, p: (q, -q))
"""η = −ln(1 − p)."""


class Link(NamedTuple):
    """How predictors become chances."""

    chances: Callable[[Floats], Floats]
    """The chances ``(…, responses)`` of predictors ``(…, predictors)``."""
    slopes: Callable[[Floats], Floats]
    """Their derivatives, ``(…, predictors, responses)``."""
    scale: LinkFunction | None = None
    """The scale of the better of two responses; None to take expected information."""


@lru_cache
def binary(link: LinkFunction) -> Link:
    """Return the link of two responses of which the second has a chance on a scale."""

    def chances(predictors: Floats) -> Floats:
        both = np.empty((*predictors.shape[:-1], 2))
        if link is LOGIT:
            both[..., 1], both[..., 0] = both_tails(predictors[..., 0])
        else:
            right = np.minimum(np.maximum(link.chance(predictors[..., 0]), 0.0), 1.0)
            both[..., 0], both[..., 1] = 1 - right, right
        return both

    def slopes(predictors: Floats) -> Floats:
        rate = link.rates(*np.moveaxis(chances(predictors), -1, 0))[0]
        return np.stack([-rate, rate], axis=-1)[..., None, :]

    return Link(chances, slopes, link)


def _cumulative_chances(predictors: Floats) -> Floats:
    above, below = both_tails(predictors)
    # Subtract the smaller pair of tails, for accuracy.
    between = np.where(
        predictors[..., :-1] + predictors[..., 1:] < 0,
        above[..., :-1] - above[..., 1:],
        below[..., 1:] - below[..., :-1],
    )
    return np.concatenate([below[..., :1], np.maximum(between, 0), above[..., -1:]], axis=-1)


def _cumulative_slopes(predictors: Floats) -> Floats:
    above, below = both_tails(predictors)
    n = predictors.shape[-1]
    return (above * below)[..., None] * (np.eye(n, n + 1, 1) - np.eye(n, n + 1))


def _softmax_chances(predictors: Floats) -> Floats:
    logits = np.concatenate([np.zeros_like(predictors[..., :1]), predictors], axis=-1)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _softmax_slopes(predictors: Floats) -> Floats:
    chances = _softmax_chances(predictors)
    n = predictors.shape[-1]
    return chances[..., 1:, None] * (np.eye(n, n + 1, 1) - chances[..., None, :])


CUMULATIVE = Link(_cumulative_chances, _cumulative_slopes)
"""Graded responses: predictor r is the logit of the chance of at least r; they decrease."""
SOFTMAX = Link(_softmax_chances, _softmax_slopes)
"""Predictor r is the logarithm of the chance of response r over that of response 0."""


@lru_cache
def sequential(links: tuple[Link, ...], sizes: tuple[int, ...]) -> Link:
    """Return the link of steps, each with a link of two responses and some of the predictors."""
    ends = np.cumsum(sizes)[:-1].tolist()

    def split(predictors: Floats) -> list[tuple[Link, Floats]]:
        return list(zip(links, np.split(predictors, ends, axis=-1), strict=True))

    def steps_of(predictors: Floats) -> tuple[Floats, Floats]:
        steps = np.stack([link.chances(part) for link, part in split(predictors)], axis=-2)
        return steps[..., 1], steps[..., 0]

    def slopes(predictors: Floats) -> Floats:
        found, steps = [], steps_of(predictors)
        for place, (link, part) in enumerate(split(predictors)):
            # Before the step nothing changes; later responses are in proportion to its chance.
            taken, missed = np.array(steps)
            taken[..., place], missed[..., place] = 1.0, -1.0
            by_chance = chances_of_steps(taken, missed)
            by_chance[..., :place] = 0.0
            found.append(link.slopes(part)[..., 1, None] * by_chance[..., None, :])
        return np.concatenate(found, axis=-2)

    return Link(lambda predictors: chances_of_steps(*steps_of(predictors)), slopes)


# --- The interface of response models -------------------------------------------------------------


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


@lru_cache
def _some_item(n_responses: int) -> Variable:
    """Return a variable that stands for any item."""
    return Variable.of_integers("item", range(n_responses))


def response_channel(model: ResponseModel, parents: Sequence[Variable]) -> Floats:
    """Return the chance of each response, ``(parent configurations, responses)``.

    The last parent's states change fastest.

    Parameters
    ----------
    model, parents
        The response model of an item, and the skills that the item needs.

    Examples
    --------
    >>> from bnmind.adaptive import Dina
    >>> skills = [Variable.of_integers(name, range(2)) for name in "ab"]
    >>> response_channel(Dina(0.2, 0.1), skills)[:, 1].tolist()
    [0.2, 0.2, 0.2, 0.9]
    """
    item = _some_item(model.n_responses)
    values = np.real(model.cpd(item, parents).to_factor().values)
    return np.ascontiguousarray(values.reshape(item.n_states, -1).T)


def check_item(item: Variable, n_responses: int) -> None:
    """Raise `InvalidModelError` if an item has another number of responses than its model."""
    if item.n_states != n_responses:
        raise InvalidModelError(
            [f"expected {counted(n_responses, 'response')} to {item.name}, got {item.n_states}"]
        )


def one_each(what: str, values: float | tuple[float, ...], item: Variable, n: int) -> Floats:
    """Return ``n`` numbers, such as one for each parent of an item, from one number or from ``n``.

    Raises
    ------
    InvalidModelError
        If there is another number of them.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim and len(numbers) != n:
        raise InvalidModelError([f"expected {n} {what} for {item.name}, got {len(numbers)}"])
    each: Floats = np.broadcast_to(numbers, (n,))
    return each


def mastery(
    required: tuple[int, ...] | None, item: Variable, parents: Sequence[Variable]
) -> list[NDArray[np.bool_]]:
    """Return for each parent a mask of its sufficient states, ``(states of the parent,)``.

    Parameters
    ----------
    required
        The level that is needed of each parent; 1 if None.
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
    if problems:
        raise InvalidModelError(problems)
    return [np.arange(v.n_states) >= level for v, level in zip(parents, levels, strict=True)]


def sufficient(
    required: tuple[int, ...] | None, item: Variable, parents: Sequence[Variable]
) -> NDArray[np.bool_]:
    """Return whether each skill is sufficient, ``(parents, configurations)``."""
    grid = np.meshgrid(*mastery(required, item, parents), indexing="ij")
    return np.array([axis.reshape(-1) for axis in grid])


def grid_of(n_skills: int) -> Floats:
    """Return which skills are sufficient in each set of them, ``(sets, skills)``."""
    levels: Floats = np.indices((2,) * n_skills).reshape(n_skills, -1).T.astype(np.float64)
    return levels


def grid_cells(has: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the place in `grid_of` of each configuration, given what is sufficient in it."""
    places: NDArray[np.intp] = 2 ** np.arange(len(has))[::-1] @ has
    return places


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


# --- Formulas, and models that state one ----------------------------------------------------------

Ends: TypeAlias = tuple[Floats, Floats]
"""Predictors of guesses and of right responses with all skills, ``(predictors, parameters)``."""

CHANCES = frozenset({"guess", "right", "chance"})
"""The roles of parameters that are chances of a right response, on the scale of the formula: at the
lowest levels, at the highest ones, and others."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Formula(Sealed):
    """How the chances of an item depend on its parameters: chances = link(design @ x).

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
    noise
        The predictors to which the priors of guesses and slips apply, if they are not `ends`.
    rises
        Whether more skill never hurts, whatever the parameters.
    limits
        The least and the largest value of each parameter, if the model has its own.
    steps
        The formulas of steps, of which this is made; see `sequential`.
    """

    link: Link
    design: Floats
    names: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    cells: NDArray[np.intp]
    sizes: tuple[int, ...] = ()
    noise: Ends | None = None
    rises: bool = False
    limits: Floats | None = None
    steps: tuple[Formula, ...] = ()

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas of the steps, or this one."""
        return self.steps or (self,)

    @property
    def scale(self) -> LinkFunction | None:
        """The scale on which skills add to the chance of the better of two responses."""
        return self.link.scale if self.sizes else None

    @property
    def is_main(self) -> bool:
        """Whether the parameters are an intercept and the effects of skills."""
        return "effect" in self.roles

    @property
    def ends(self) -> Ends:
        """The predictors to which the bounds of guesses and slips apply."""
        if self.is_main:
            return self.design[0], self.design[-1]
        eye, roles = np.eye(len(self.roles)), np.array(self.roles)
        return eye[np.isin(roles, ("guess", "lower"))], eye[np.isin(roles, ("right", "upper"))]

    def table(self, x: Floats) -> Floats:
        """Return the chances given the parameters, ``(configurations, responses)``."""
        return self.link.chances(self.design @ x)[self.cells]


class TableModel(Value, ABC):
    """A base of response models whose distributions are tables; of two responses by default."""

    _error = InvalidModelError

    @property
    def n_responses(self) -> int:
        """The number of responses to an item."""
        return 2

    @abstractmethod
    def _channel(self, item: Variable, parents: Sequence[Variable]) -> Floats:
        """Return the chance of each response, ``(parent configurations, responses)``."""

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item given its parents.

        Raises
        ------
        InvalidModelError
            If the parameters of the model do not fit the parents or the item.
        """
        check_item(item, self.n_responses)
        if len(parents) >= MOST_AXES:
            raise InvalidModelError(
                [f"expected fewer than {MOST_AXES} parents of {item.name}, got {len(parents)}"]
            )
        refuse_large_table((item, *parents), DEFAULT_CELLS)
        return self._table(item, tuple(parents))

    def _table(self, item: Variable, parents: tuple[Variable, ...]) -> TabularCPD:
        """Return the distribution of an item that fits the model."""
        shape = (item.n_states, *(v.n_states for v in parents))
        return TabularCPD(item, parents, self._channel(item, parents).T.reshape(shape))


class Learnable(TableModel):
    """A base of response models that state their formula, so that they can be learned."""

    @abstractmethod
    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return how the chances of an item depend on what is learned of it."""

    _learned: Any = slice(None)
    """Which of the parameters of the model are those of the formula, a mask."""

    @property
    def _numbers(self) -> Floats:
        """The parameters of the formula."""
        return np.asarray(parameter_vector(self)[self._learned])

    def _with_numbers(self, numbers: Floats) -> ResponseModel:
        """Return the model with other parameters of the formula."""
        every = parameter_vector(self)
        every[self._learned] = numbers
        return with_parameters(self, every)

    def _channel(self, item: Variable, parents: Sequence[Variable]) -> Floats:
        if math.prod([v.n_states for v in parents]) <= _SMALL_TABLE:
            with suppress(InvalidModelError):  # the error below names the item
                return _known_chances(self, tuple(parents))
        return self._formula(item, parents).table(self._numbers)

    def _table(self, item: Variable, parents: tuple[Variable, ...]) -> TabularCPD:
        small = math.prod([v.n_states for v in parents]) <= _SMALL_TABLE
        return _known_table(self, item, parents) if small else super()._table(item, parents)


_SMALL_TABLE = 2**8
"""The most configurations of a table that is remembered."""


@lru_cache(maxsize=256)
def _known_table(model: Learnable, item: Variable, parents: tuple[Variable, ...]) -> TabularCPD:
    """Return the table of an item, which is made again to check its bank."""
    return TableModel._table(model, item, parents)


@lru_cache(maxsize=256)
def _known_chances(model: Learnable, parents: tuple[Variable, ...]) -> Floats:
    """Return the chances of items with the same model and skills, of which banks have many."""
    item = _some_item(model.n_responses)
    return sealed(model._formula(item, parents).table(model._numbers))


# --- The parameters of a response model as a vector of numbers ------------------------------------

_LEAST_SLOPE = 1e-12
"""The slope in place of 0 of a curve with difficulties."""

_SHARES = (1.0, 0.75, 0.5, 0.25)
"""The shares of a step that are tried, the whole step first."""


def number_fields(model: ResponseModel) -> dict[str, float | tuple[float, ...]]:
    """Return the fields of a model that hold real numbers: one, or several."""
    fields: Any = dataclasses.fields(model) if dataclasses.is_dataclass(model) else ()
    found = {field.name: getattr(model, field.name) for field in fields}

    def is_number(value: Any) -> bool:
        several = isinstance(value, tuple) and value
        return isinstance(value, float) or bool(several and all(type(x) is float for x in value))

    return {name: value for name, value in found.items() if is_number(value)}


def _parameters(model: ResponseModel) -> dict[str, Any]:
    """Return these numbers as arrays, with intercepts in place of difficulties."""
    found: dict[str, Any] = {name: np.asarray(x) for name, x in number_fields(model).items()}
    if (divided := getattr(model, "_per_slope", None)) is not None:
        found[divided] = np.asarray(0.0 - found[divided] * found["slope"])
    return found


def parameter_names(model: ResponseModel) -> tuple[str, ...]:
    """Return the names of the parameters; those of a list are numbered.

    >>> from bnmind.adaptive import GradedResponse
    >>> parameter_names(GradedResponse(1.5, (-1.0, 0.0)))
    ('slope', 'thresholds 1', 'thresholds 2')
    """
    names: list[str] = []
    for name, numbers in _parameters(model).items():
        several = [f"{name} {place}" for place in range(1, numbers.size + 1)]
        names += several if numbers.ndim else [name]
    return tuple(names)


def parameter_vector(model: ResponseModel) -> Floats:
    """Return the parameters of a model, ``(parameters,)``."""
    return np.concatenate([np.zeros(0), *map(np.atleast_1d, _parameters(model).values())])


def with_parameters(model: ResponseModel, numbers: Sequence[float] | Floats) -> ResponseModel:
    """Return a model with other parameters.

    Raises
    ------
    InvalidModelError
        If they are out of range.
    """
    rest, values = [float(x) for x in numbers], dict[str, Any]()
    for name, known in _parameters(model).items():
        own, rest = rest[: known.size], rest[known.size :]
        values[name] = tuple(own) if known.ndim else own[0]
    if (divided := getattr(model, "_per_slope", None)) is not None:
        slope = values["slope"] = values["slope"] or _LEAST_SLOPE
        turned = (0.0 - np.asarray(values[divided]) / slope).tolist()
        values[divided] = tuple(turned) if isinstance(turned, list) else turned
    changed: ResponseModel = dataclasses.replace(model, **values)  # type: ignore[type-var]
    return changed


def model_near(model: ResponseModel, step: Floats) -> ResponseModel:
    """Return a model whose parameters differ by a step, or by as much of it as is valid."""
    start = parameter_vector(model)
    for share in _SHARES:
        with suppress(InvalidModelError):
            return with_parameters(model, start + share * step)
    return model


# --- Models of your own ---------------------------------------------------------------------------

_ROUNDING = 1e-9
"""Probabilities outside of [0, 1] by no more than this are corrected."""

_STEP = 1e-6
"""The step of differences by a parameter."""

_NUMBERS = converter(Number | tuple[Number, ...])


@dataclass(frozen=True)
class ParametricModel(Learnable):
    """A base of response models of your own.

    Write a frozen dataclass. Each field is a parameter: a number, or a tuple with a number for
    each skill. `chances` computes the table from them. `learn` maximizes the likelihood over the
    parameters within `limits`. Bank files store the table, with the name and the parameters of
    the model, so that they can be read without your class.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Half(ParametricModel):
    ...     '''Right with a higher chance given at least half of the skills.'''
    ...
    ...     guess: float = 0.2
    ...     slip: float = 0.1
    ...     limits = {"guess": (0, 0.5), "slip": (0, 0.5)}
    ...
    ...     def chances(self, levels):
    ...         return np.where(levels.mean(axis=1) >= 0.5, 1 - self.slip, self.guess)
    >>> from bnmind.adaptive import ItemBank
    >>> ItemBank.from_qmatrix([[1, 1]], gate=Half).channel("item_1")[:, 1].tolist()
    [0.2, 0.9, 0.9, 0.9]
    """

    limits: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType({})
    """The least and the largest value of each parameter; (0, 1) for those not named."""

    def __post_init__(self) -> None:
        owner, problems = type(self).__name__, []
        for name, value in self.parameters.items():
            numbers = _NUMBERS.convert(value.tolist() if isinstance(value, np.ndarray) else value)
            if not _NUMBERS.fits(numbers):
                problems.append(f"expected {name} to be {_NUMBERS.words}, got {shown(value)}")
                continue
            object.__setattr__(self, name, numbers)
            (low, high), values = self.limits_of(name), np.asarray(numbers)
            if not np.all((values >= low - _ROUNDING) & (values <= high + _ROUNDING)):
                problems.append(f"expected {name} of {owner} in [{low:g}, {high:g}], got {value}")
        if problems:
            raise InvalidModelError(problems)

    @abstractmethod
    def chances(self, levels: NDArray[np.intp]) -> ArrayLike:
        """Return the chance of a right response in each configuration of the skills.

        With more than two responses, return ``(configurations, responses)``.

        Parameters
        ----------
        levels
            ``(configurations, skills)``: the level of each skill that the item needs.
        """

    @classmethod
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model for an item, the first start of learning.

        By default the model with the default parameters, with guess and slip where the model
        has parameters of these names.

        Parameters
        ----------
        required
            The level of each skill that the item needs, at least 1.
        sizes
            The number of levels of these skills.
        guess, slip
            The chance of a right response without any of them, and of a wrong response with
            all of them.

        Raises
        ------
        InvalidModelError
            If the class has a parameter without a default value, and no method of its own.
        """
        fields = {field.name for field in dataclasses.fields(cls)}
        values = {
            name: float(np.clip(value, *cls.limits_of(name)))
            for name, value in (("guess", guess), ("slip", slip))
            if name in fields
        }
        try:
            return cls(**values)
        except TypeError as fault:
            raise InvalidModelError(
                [
                    f"{cls.__name__} needs default values of its parameters, or the method"
                    f" for_skills: {fault}"
                ]
            ) from fault

    @property
    def n_responses(self) -> int:
        """Two, unless overridden."""
        return 2

    @classmethod
    def limits_of(cls, name: str) -> tuple[float, float]:
        """Return the least and the largest value of a parameter.

        Parameters
        ----------
        name
            The name of the parameter.
        """
        low, high = cls.limits.get(name, (0.0, 1.0))
        return float(low), float(high)

    @property
    def parameters(self) -> dict[str, float | tuple[float, ...]]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def channel(self, sizes: Sequence[int]) -> Floats:
        """Return the chance of each response, ``(configurations, responses)``.

        Parameters
        ----------
        sizes
            The number of levels of each skill of the item.

        Raises
        ------
        InvalidModelError
            If `chances` returns no distributions.
        """
        levels = np.indices(tuple(sizes)).reshape(len(sizes), -1).T
        values: Any = np.asarray(self.chances(levels), dtype=np.float64)
        if values.ndim == 1:
            values = np.stack([1 - values, values], axis=1)
        shape = (len(levels), self.n_responses)
        fits = values.shape == shape and bool(np.all(values >= -_ROUNDING))
        if not (fits and np.all(np.abs(values.sum(axis=1) - 1) <= _ROUNDING)):
            raise InvalidModelError(
                [
                    f"expected chances of {type(self).__name__} of shape {shape[:1]}, or {shape}"
                    f" with sums of one, all in [0, 1], got {values.tolist()[:8]}"
                ]
            )
        clipped = np.maximum(values, 0.0)
        result: Floats = clipped / clipped.sum(axis=1, keepdims=True)
        return result

    def _channel(self, item: Variable, parents: Sequence[Variable]) -> Floats:
        return self.channel([v.n_states for v in parents])

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the table as a function of all parameters, with differences as its slopes."""
        names, sizes = parameter_names(self), [v.n_states for v in parents]
        limits = [[self.limits_of(name)] * np.size(x) for name, x in self.parameters.items()]
        bounds = np.array([one for each in limits for one in each], dtype=np.float64).reshape(-1, 2)
        eye, n_cells = np.eye(len(names)), math.prod(sizes)

        def chances(predictors: Floats) -> Floats:
            """Return the tables of predictors that are the parameters, the same in all cells."""
            points = predictors[..., 0, :].reshape(-1, len(names))
            tables = np.stack([self._table_of(x, sizes) for x in points])
            return tables.reshape(*predictors.shape[:-1], -1)

        def slopes(predictors: Floats) -> Floats:
            here, found = chances(predictors), []
            for step in eye:
                width, change = np.zeros((2, *here.shape))
                for sign in (1, -1):
                    near = np.clip(predictors + sign * _STEP * step, *bounds.T)
                    there = chances(near)
                    valid = ~np.isnan(there)
                    width += np.where(valid, sign * ((near - predictors) @ step)[..., None], 0.0)
                    change += np.where(valid, sign * (there - here), 0.0)
                found.append(np.divide(change, width, out=np.zeros_like(change), where=width > 0))
            return np.stack(found, axis=-2)

        return Formula(
            link=Link(chances, slopes),
            design=np.broadcast_to(eye, (n_cells, *eye.shape)),
            names=names,
            roles=("own",) * len(names),
            cells=np.arange(n_cells),
            limits=bounds,
        )

    def _table_of(self, numbers: Floats, sizes: Sequence[int]) -> Floats:
        """Return the table with other parameters, not numbers if they are invalid."""
        try:
            changed: Any = self._with_numbers(numbers)
            return changed.channel(sizes)  # type: ignore[no-any-return]
        except (InvalidModelError, ArithmeticError, ValueError):
            return np.full((math.prod(sizes), self.n_responses), np.nan)
