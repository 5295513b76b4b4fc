"""Models with main effects: each skill adds its effect on the scale of a link function.

η = Σ_k (β_k0 + β_k1 α_k), with α_k = 1 if the examinee has the required level of skill k. In
`ItemEffects` an item has one intercept in place of the β_k0, and effects of its own. In
`SkillEffects` all items share the intercept and the effect of a skill.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_shape, checked, number_array
from bnmind._values import Value
from bnmind.adaptive.response_models.additive.link import LinkFunction
from bnmind.adaptive.response_models.base.model import check_item, mastery, refuse_large, table
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

__all__ = [
    "ROUNDING",
    "ItemEffects",
    "MainEffects",
    "SkillEffects",
    "needed_levels",
    "sufficient",
]

ROUNDING = 1e-9
"""Chances outside of [0, 1] by no more than this are corrected."""


def sufficient(
    required: tuple[int, ...] | None, item: Variable, parents: Sequence[Variable]
) -> NDArray[np.bool_]:
    """Return whether each skill is sufficient, ``(parents, configurations)``."""
    has = mastery(required, item, parents)
    grid = np.meshgrid(*has, indexing="ij")
    return np.array([axis.reshape(-1) for axis in grid])


def needed_levels(required: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the required levels, or None if all are 1, as by default."""
    return required if max(required) > 1 else None


@dataclass(frozen=True)
class MainEffects(Value, ABC):
    """A base of models without interactions of skills."""

    link: ClassVar[LinkFunction]
    """The scale on which effects add up."""
    always_rises: ClassVar[bool] = False
    """Whether the parameters imply that more skill never hurts."""
    _error = InvalidModelError

    @property
    @abstractmethod
    def required(self) -> tuple[int, ...] | None:
        """The required level of each parent; None for 1 of each."""

    @property
    @abstractmethod
    def coefficients(self) -> Floats:
        """The coefficients on the scale of the link, as in the columns of `design`."""

    @abstractmethod
    def with_coefficients(self, coefficients: Floats) -> Self:
        """Return the model with other coefficients.

        Parameters
        ----------
        coefficients
            One number for each column of `design`, on the scale of ``link``.
        """

    def _numbers(self, coefficients: Floats) -> Floats:
        """Return coefficients as an array; raise unless there is one for each of the model."""
        numbers = number_array(coefficients, "coefficients")
        check_shape(numbers, "coefficients", self.coefficients.shape)
        return numbers

    @staticmethod
    @abstractmethod
    def design(has: NDArray[np.bool_]) -> Floats:
        """Return the design, ``(configurations, coefficients)``.

        Parameters
        ----------
        has
            ``(skills, configurations)``: whether each skill is sufficient.
        """

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        refuse_large(item, parents)
        check_item(item, 2)
        design = self.design(sufficient(self.required, item, parents))
        coefficients = self.coefficients
        if design.shape[1] != len(coefficients):
            raise InvalidModelError(
                [f"expected the effects of {len(parents)} skills on {item.name}, got {self}"]
            )
        right = np.clip(self.link.chance(design @ coefficients), 0.0, 1.0)
        return table(item, parents, np.array([1 - right, right]))


@dataclass(frozen=True)
class ItemEffects(MainEffects):
    """A base of models in which each item has an intercept and effects of its own."""

    @staticmethod
    def design(has: NDArray[np.bool_]) -> Floats:
        """Return a column of ones, then whether each skill is sufficient."""
        rows = _rows(has)
        return np.concatenate([np.ones((rows.shape[1], 1)), rows.T], axis=1)

    @classmethod
    def _even(cls, n: int, guess: float, slip: float) -> Floats:
        """Return coefficients of n equal effects, from the guess to one minus the slip."""
        _refuse_edges(cls.link, guess, slip)
        low, high = cls.link.of(np.array([guess, 1 - slip], dtype=np.float64)).tolist()
        return np.array([low, *[(high - low) / n] * n])


@dataclass(frozen=True)
class SkillEffects(MainEffects):
    """A base of models in which the parameters of a skill are the same in all items."""

    @staticmethod
    def design(has: NDArray[np.bool_]) -> Floats:
        """Return ones for each skill, then whether each is sufficient."""
        rows = _rows(has)
        return np.concatenate([np.ones(rows.T.shape), rows.T], axis=1)


def _rows(has: NDArray[np.bool_]) -> Floats:
    """Return the rows of the skills as numbers; raise unless they are an array of two axes."""
    rows = number_array(has, "has")
    if rows.ndim != 2:
        raise InvalidArgumentError(
            f"expected has of shape (skills, configurations), got shape {rows.shape}", has
        )
    return rows


def _refuse_edges(link: LinkFunction, guess: float, slip: float) -> None:
    """Raise if the link is infinite at the guess or at one minus the slip."""
    with np.errstate(divide="ignore", invalid="ignore"):
        finite = np.all(np.isfinite(link.of(np.array([guess, 1 - slip], dtype=np.float64))))
    if not finite:
        raise InvalidModelError(
            [f"expected a guess and a slip above 0 and below 1, got {guess} and {slip}"]
        )
