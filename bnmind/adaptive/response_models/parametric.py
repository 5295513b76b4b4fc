"""Response models of your own: a formula with parameters, which are learned numerically."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind._values import converter
from bnmind.adaptive.response_models.base.model import check_item, refuse_large, table
from bnmind.adaptive.response_models.base.parameters import Number, refuse
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

__all__ = ["ParametricModel"]

_ROUNDING = 1e-9
"""Probabilities outside of [0, 1] by no more than this are corrected."""

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
