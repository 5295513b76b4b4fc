"""Tables of chances: G-DINA, models of your own, and steps that have models of their own.

The sequential model: a series of steps, each with a response model of its own.

P(X ≥ r | X ≥ r − 1) is the chance of a right response in step r.

References
----------
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011.

W. Ma and J. de la Torre, "A sequential cognitive diagnosis model for polytomous responses",
Br. J. Math. Stat. Psychol. 2016.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Finite, Value, converter
from bnmind.adaptive.response_models.base import (
    Formula,
    Learnable,
    Number,
    ResponseModel,
    check_item,
    check_skills,
    made_for_skills,
    normalized_rows,
    refuse,
    refuse_large,
    response_channel,
    table,
)
from bnmind.adaptive.response_models.links import IDENTITY, Link, binary, sequential
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

_Rows = Annotated[Floats, Ge(0), Finite]


class _Table(Value):
    """A base of models with a row of probabilities for each configuration of the skills."""

    probabilities: _Rows

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(probabilities=normalized_rows(self.probabilities))

    @property
    def n_responses(self) -> int:
        """The number of columns."""
        return int(self.probabilities.shape[1])

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents.

        Raises
        ------
        InvalidModelError
            If the model has not one probability for each configuration of the parents.
        """
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        needed = math.prod(v.n_states for v in parents)
        if len(self.probabilities) != needed:
            raise InvalidModelError(
                [
                    f"expected {counted(needed, 'row')} in the G-DINA model of {item.name},"
                    f" got {len(self.probabilities)}"
                ]
            )
        return table(item, parents, self.probabilities.T)


@dataclass(frozen=True, eq=False)
class Gdina(_Table):
    """The saturated model: a probability of each response for each configuration of the skills.

    Parameters
    ----------
    probabilities
        ``(parent configurations, responses)``, with the states of the last parent changing
        fastest. Rows must sum to one within 1e-6, and are normalized.

    Raises
    ------
    InvalidModelError
        If the shape is wrong, an entry is not a probability, or a row does not sum to one.
    """

    probabilities: _Rows

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Gdina:
        """Return a model whose chance of a right response rises with the share of the levels."""
        check_skills(required, sizes)
        levels = np.indices(sizes).reshape(len(sizes), -1)
        share = (levels / (np.asarray(sizes)[:, None] - 1)).mean(axis=0)
        right = guess + (1 - slip - guess) * share
        return cls(np.stack([1 - right, right], axis=1))

    def _formula(
        self, item: Variable, parents: Sequence[Variable], ordered: Sequence[bool] = ()
    ) -> Formula:
        """Return the chance of each step to a better response, given those before it.

        Parameters
        ----------
        item, parents
            As for `cpd`.
        ordered
            For each parent, whether higher levels mean more skill; by default all do.
        """
        sizes = tuple([v.n_states for v in parents])
        axes = np.flatnonzero(ordered or np.ones(len(sizes), dtype=np.bool_))
        levels = np.indices(sizes).reshape(len(sizes), -1)[axes]
        lowest = (levels == 0).all(axis=0)
        highest = (levels == np.array(sizes)[axes, None] - 1).all(axis=0)
        n = len(self.probabilities)
        roles = np.where(lowest, "lowest", np.where(highest, "highest", "chance")).tolist()
        states = [", ".join(one) for one in product(*(v.states for v in parents))]
        steps = []
        for step in range(1, self.n_responses):
            given = f"≥{step - 1}, " if step > 1 else ""
            steps.append(
                Formula(
                    link=binary(IDENTITY),
                    design=np.eye(n)[:, None],
                    names=tuple([f"P(≥{step} | {given}{state})" for state in states]),
                    roles=tuple(roles),
                    cells=np.arange(n),
                    sizes=sizes,
                    scale=IDENTITY,
                )
            )
        return in_steps(steps)

    @property
    def _numbers(self) -> Floats:
        """The chance of each step in each configuration."""
        least = np.cumsum(self.probabilities.T[::-1], axis=0)[::-1]
        half = np.full(least[1:].shape, 0.5)
        steps: Floats = np.divide(least[1:], least[:-1], out=half, where=least[:-1] > 0)
        return steps.reshape(-1)

    def _with_numbers(self, numbers: Floats) -> Gdina:
        """Return the table with other chances of the steps."""
        steps = numbers.reshape(-1, len(self.probabilities))
        ones = np.ones((1, steps.shape[1]))
        reached = np.cumprod(np.concatenate([ones, steps]), axis=0)
        return Gdina((reached * np.concatenate([1 - steps, ones])).T)


def in_steps(steps: Sequence[Formula]) -> Formula:
    """Return the formula of some steps, one after the other."""
    if len(steps) == 1:
        return steps[0]
    cells = np.arange(len(steps[0].cells))
    designs = [step.design[step.cells] for step in steps]
    sizes = tuple([design.shape[1] for design in designs])
    columns = np.cumsum([0, *(design.shape[2] for design in designs)])
    rows = np.cumsum([0, *sizes])
    design = np.zeros((len(cells), rows[-1], columns[-1]))
    for place, one in enumerate(designs):
        across = slice(columns[place], columns[place + 1])
        design[:, rows[place] : rows[place + 1], across] = one
    return Formula(
        link=sequential(tuple([step.link for step in steps]), sizes),
        design=design,
        names=tuple([name for step in steps for name in step.names]),
        roles=tuple([role for step in steps for role in step.roles]),
        cells=cells,
        steps=tuple(steps),
    )


@dataclass(frozen=True, eq=False)
class Tabulated(_Table):
    """The table of a model of your own, as files hold it; see `ParametricModel`.

    It serves in tests as the model itself does. It cannot be learned: its formula is unknown.

    Parameters
    ----------
    name
        The name of the model.
    probabilities
        As for `Gdina`.
    parameters
        The parameters of the model by name, each a number or a list of numbers.
    """

    name: str
    probabilities: _Rows
    parameters: Mapping[str, Any] = field(default_factory=dict)


_ROUNDING = 1e-9
"""Probabilities outside of [0, 1] by no more than this are corrected."""

_STEP = 1e-6
"""The step of differences by a parameter."""

_NUMBERS = converter(Number | tuple[Number, ...])


@dataclass(frozen=True)
class ParametricModel(ABC):
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
        refuse(problems)

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
        """Return a model for an item, the first start of learning; see `MadeForSkills`.

        By default the model with the default parameters, with guess and slip where the model
        has parameters of these names.

        Raises
        ------
        InvalidModelError
            If the class has a parameter without a default value, and no method of its own.
        """
        fields = {field.name for field in dataclasses.fields(cls)}
        values = {
            name: float(np.clip(value, *(cls.limits.get(name) or (0.0, 1.0))))
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
        fits = values.shape == shape and bool(np.all(np.isfinite(values)))
        if fits:
            sums = np.abs(values.sum(axis=1) - 1)
            fits = bool(np.all(values >= -_ROUNDING) and np.all(sums <= _ROUNDING))
        if not fits:
            raise InvalidModelError(
                [
                    f"expected chances of {type(self).__name__} of shape {shape[:1]}, or {shape}"
                    f" with sums of one, all in [0, 1], got {values.tolist()[:8]}"
                ]
            )
        clipped = np.maximum(values, 0.0)
        result: Floats = clipped / clipped.sum(axis=1, keepdims=True)
        return result

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        return table(item, parents, self.channel([v.n_states for v in parents]).T)

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the table as a function of all parameters, with differences as its slopes."""
        names: list[str] = []
        limits = []
        for name, value in self.parameters.items():
            n = len(value) if isinstance(value, tuple) else 1
            names += [f"{name} {k + 1}" for k in range(n)] if isinstance(value, tuple) else [name]
            limits += [self.limits_of(name)] * n
        bounds = np.array(limits, dtype=np.float64).reshape(-1, 2)
        sizes = [v.n_states for v in parents]
        n_cells = math.prod(sizes)

        def chances(predictors: Floats) -> Floats:
            """Return the tables of predictors that are the parameters, the same in all cells."""
            points = predictors[..., 0, :].reshape(-1, len(names))
            tables = np.stack([self._table_of(x, sizes) for x in points])
            return tables.reshape(*predictors.shape[:-1], -1)

        def slopes(predictors: Floats) -> Floats:
            here, found = chances(predictors), []
            for step in np.eye(len(names)) * _STEP:
                ends, places = [], []
                for moved in (predictors + step, predictors - step):
                    near = np.clip(moved, *bounds.T)
                    there = chances(near)
                    valid = ~np.isnan(there)
                    ends.append(np.where(valid, there, here))
                    places.append(
                        np.where(valid, ((near - predictors) @ step / _STEP)[..., None], 0)
                    )
                width = places[0] - places[1]
                change = ends[0] - ends[1]
                found.append(np.divide(change, width, out=np.zeros_like(change), where=width > 0))
            return np.stack(found, axis=-2)

        return Formula(
            link=Link(chances, slopes),
            design=np.broadcast_to(np.eye(len(names)), (n_cells, len(names), len(names))),
            names=tuple(names),
            roles=("own",) * len(names),
            cells=np.arange(n_cells),
            limits=bounds,
        )

    def _table_of(self, numbers: Floats, sizes: Sequence[int]) -> Floats:
        """Return the table with other parameters, not numbers if they are invalid."""
        try:
            return self._with_numbers(numbers).channel(sizes)
        except (InvalidModelError, ArithmeticError, ValueError):
            return np.full((math.prod(sizes), self.n_responses), np.nan)

    @property
    def _numbers(self) -> Floats:
        """The parameters in a row."""
        values = [np.atleast_1d(value) for value in self.parameters.values()]
        return np.concatenate([*values, np.zeros(0)])

    def _with_numbers(self, numbers: Floats) -> Self:
        """Return the model with other parameters."""
        rest, changed = numbers.tolist(), {}
        for name, value in self.parameters.items():
            n = len(value) if isinstance(value, tuple) else 1
            changed[name] = tuple(rest[:n]) if isinstance(value, tuple) else rest[0]
            rest = rest[n:]
        return dataclasses.replace(self, **changed)


@dataclass(frozen=True)
class Sequential(Value):
    """A series of steps; the response is the number of steps taken.

    Parameters
    ----------
    steps
        For each step a response model with two responses: whether the step is taken, given
        that all steps before it were. A skill with required level 0 is not used in a step.
    """

    steps: tuple[ResponseModel, ...]

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        if not self.steps or any(step.n_responses != 2 for step in self.steps):
            yield f"the steps must be response models with two responses, got {self.steps}"

    @classmethod
    @checked
    def of(cls, make: Callable[..., ResponseModel]) -> StepsOf:
        """Return a gate for Q-matrices: each step of an item has a model of this kind.

        >>> from bnmind.adaptive import Rrum, learn
        >>> learn([[0, 2], [1, 0], [2, 1], [0, 2]], [[1], [1]], gate=Sequential.of(Rrum)).bank
        ItemBank(2 items, 1 skill)

        Parameters
        ----------
        make
            A response model's class, or a function that makes a model from a guess and a slip.
        """
        return StepsOf(make)

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> ResponseModel:
        """Return the model of a single step, saturated; `learn` repeats it."""
        return Gdina.for_skills(required, sizes, guess=guess, slip=slip)

    @property
    def n_responses(self) -> int:
        """The number of steps plus one."""
        return len(self.steps) + 1

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the formulas of the steps, one after the other."""
        two = Variable.of_integers(item.name, range(2))
        parts = []
        for number, step in enumerate(self._learnable, 1):
            own = step._formula(two, parents)
            names = tuple([f"step {number}: {name}" for name in own.names])
            # A step with a guess and a slip must not become a table, so its order holds.
            rises = own.rises or "guess" in own.roles
            parts.append(dataclasses.replace(own, names=names, rises=rises))
        return in_steps(parts)

    @property
    def _learnable(self) -> list[Learnable]:
        refuse([f"{step!r} cannot be learned" for step in self.steps if not is_learnable(step)])
        return [step for step in self.steps if isinstance(step, Learnable)]

    @property
    def _numbers(self) -> Floats:
        """Those of all steps."""
        return np.concatenate([step._numbers for step in self._learnable])

    def _with_numbers(self, numbers: Floats) -> Sequential:
        """Return the model with other steps."""
        ends = np.cumsum([len(step._numbers) for step in self._learnable])[:-1]
        parts = np.split(numbers, ends)
        pairs = zip(self._learnable, parts, strict=True)
        return Sequential(tuple([step._with_numbers(part) for step, part in pairs]))

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        reached = np.ones(math.prod(v.n_states for v in parents))
        rows = []
        for step in self.steps:
            chances = response_channel(step, parents)
            rows.append(reached * chances[:, 0])
            reached = reached * chances[:, 1]
        return table(item, parents, np.array([*rows, reached]))


def is_learnable(model: ResponseModel) -> bool:
    """Return whether a model states its formula."""
    if isinstance(model, Sequential):
        return all(map(is_learnable, model.steps))
    return hasattr(model, "_formula")


@dataclass(frozen=True)
class StepsOf:
    """A gate for Q-matrices; see `Sequential.of`."""

    make: Callable[..., ResponseModel]

    def for_skills(
        self, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> ResponseModel:
        """Return the model of a single step; `learn` repeats it."""
        return made_for_skills(self.make, required, sizes, guess=guess, slip=slip)

    def __call__(self, guess: float, slip: float) -> ResponseModel:
        """Return the model of a single step."""
        return self.make(guess, slip)
