"""Models with main effects: each skill adds to the chance on the scale of a link function.

Link functions: the scale on which the effects of the skills add up.

==================  ======================================================================
symbol              name here
==================  ======================================================================
p                   the chance of a right response
η                   ``predictor``: the sum of the effects, increasing with p
y, w                ``right``, ``wrong``: numbers of responses
l(η)                y ln p(η) + w ln(1 − p(η)), concave in η for every link here
==================  ======================================================================

Models with main effects: each skill adds its effect on the scale of a link function.

η = Σ_k (β_k0 + β_k1 α_k), with α_k = 1 if the examinee has the required level of skill k. In
`ItemEffects` an item has one intercept in place of the β_k0, and effects of its own. In
`SkillEffects` all items share the intercept and the effect of a skill.

The additive model (A-CDM): each skill adds to the chance of a right response.

P(right | α) = δ_0 + Σ_k δ_k α_k, with α_k = 1 if the examinee has the required level of skill k,
δ_0 the ``intercept`` and δ_k the ``effects``. It is G-DINA with the identity link and without
interactions.

The linear logistic model (LLM): each skill adds to the log-odds of a right response.

logit P(right | α) = λ_0 + Σ_k λ_k α_k, with α_k = 1 if the examinee has the required level of
skill k, λ_0 the ``intercept`` and λ_k the ``effects``. It is G-DINA with the logit link and
without interactions, and also known as the compensatory RUM (C-RUM).

The reduced reparametrized unified model (RRUM): each missing skill divides the chance.

P(right | α) = π* Π_k r_k*^(1 − α_k), with α_k = 1 if the examinee has the required level of skill
k, π* the ``baseline`` and r_k* the ``penalties``. It is G-DINA with the log link and without
interactions, a noisy-and with a leak, and also known as the generalized NIDA model.

The noisy-or with a leak: each skill alone may be enough, and so may other causes.

P(right | α) = 1 − (1 − ℓ) Π_k (1 − c_k)^α_k, with α_k = 1 if the examinee has the required level
of skill k, ℓ the ``leak`` and c_k the ``links``. A missing skill never helps, other than in
`NoisyOr`, so that all parameters are identified. The noisy-and with a leak is `Rrum`.

The NIDA model: noisy inputs, deterministic "and"; each skill has one guess and one slip.

P(right | α) = Π_k (1 − s_k)^α_k g_k^(1 − α_k), with α_k = 1 if the examinee has the required level
of skill k. The guess g_k and the slip s_k of a skill are the same in all items that need it.
An item holds a copy of them; learning keeps the copies equal. With parameters of its own for
each item, it is `NoisyAnd`.

The NIDO model: the compensatory counterpart of NIDA; each skill adds to the log-odds.

logit P(right | α) = Σ_k (β_k0 + β_k1 α_k) over the skills that the item needs, with α_k = 1 if the
examinee has the required level of skill k, β_k0 the ``intercepts`` and β_k1 the ``effects``. Those
of a skill are the same in all items that need it. An item holds a copy of them; learning keeps the
copies equal. With parameters of its own for each item, it is `Llm`.

References
----------
P. McCullagh and J. Nelder, *Generalized Linear Models*, 1989; J. de la Torre, "The generalized
DINA model framework", Psychometrika 2011 (identity, logit and log links).

J. de la Torre, "The generalized DINA model framework", Psychometrika 2011, equation 11.

E. Maris, "Estimating multiple classification latent class models", Psychometrika 1999; J. de la
Torre, "The generalized DINA model framework", Psychometrika 2011, equation 13.

S. Hartz, *A Bayesian framework for the unified model for assessing cognitive abilities*,
dissertation, University of Illinois, 2002; J. de la Torre, "The generalized DINA model
framework", Psychometrika 2011, equation 15.

M. Henrion, "Some practical issues in constructing belief networks", UAI 1987; J. Vomlel,
"Noisy-or classifier", Int. J. Intell. Syst. 2006.

E. Maris, "Estimating multiple classification latent class models", Psychometrika 1999; B. Junker
and K. Sijtsma, "Cognitive assessment models with few assumptions, and connections with
nonparametric item response theory", Appl. Psychol. Meas. 2001.

J. Templin, *CDM user's guide*, 2006; A. Rupp, J. Templin and R. Henson, *Diagnostic
Measurement*, 2010, chapter 6.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

from bnmind._arguments import check_shape, checked, number_array
from bnmind._values import Probability, sealed
from bnmind.adaptive.response_models.base import (
    Ends,
    Formula,
    FormulaModel,
    Number,
    Scale,
    chance_faults,
    check_skills,
    grid_cells,
    grid_of,
    refuse,
    sufficient,
)
from bnmind.adaptive.response_models.links import (
    COMPLEMENTARY,
    IDENTITY,
    LOG,
    LOGIT,
    LinkFunction,
    binary,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Variable

ROUNDING = 1e-9
"""Chances outside of [0, 1] by no more than this are corrected."""


def needed_levels(required: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the required levels, or None if all are 1, as by default."""
    return required if max(required) > 1 else None


@dataclass(frozen=True)
class MainEffects(FormulaModel):
    """A base of models without interactions of skills."""

    link: ClassVar[LinkFunction]
    """The scale on which effects add up."""
    always_rises: ClassVar[bool] = False
    """Whether the parameters imply that more skill never hurts."""

    @property
    @abstractmethod
    def required(self) -> tuple[int, ...] | None:
        """The required level of each parent; None for 1 of each."""

    @property
    @abstractmethod
    def coefficients(self) -> Floats:
        """The coefficients on the scale of the link, as in the columns of `design`."""

    @staticmethod
    @abstractmethod
    def _fields(coefficients: Floats) -> dict[str, Any]:
        """Return the fields of a model with some coefficients."""

    def with_coefficients(self, coefficients: Floats) -> Self:
        """Return the model with other coefficients.

        Parameters
        ----------
        coefficients
            One number for each column of `design`, on the scale of ``link``.
        """
        numbers = number_array(coefficients, "coefficients")
        check_shape(numbers, "coefficients", self.coefficients.shape)
        return dataclasses.replace(self, **self._fields(numbers))

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

    @property
    def _numbers(self) -> Floats:
        """The coefficients."""
        return self.coefficients

    def _with_numbers(self, numbers: Floats) -> Self:
        """Return the model with other coefficients."""
        return self.with_coefficients(numbers)

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the design in all sets of sufficient skills."""
        cells = grid_cells(sufficient(self.required, item, parents))
        design = self.design(grid_of(len(parents)).T > 0)
        if design.shape[1] != len(self.coefficients):
            raise InvalidModelError(
                [f"expected the effects of {len(parents)} skills on {item.name}, got {self}"]
            )
        ends = design[:1], design[-1:]
        names = self._names([v.name for v in parents], self.required or (1,) * len(parents))
        return Formula(
            link=binary(self.link),
            design=design[:, None],
            names=names,
            roles=tuple([name.split()[0] for name in names]),
            cells=cells,
            sizes=(2,) * len(parents),
            scale=self.link,
            bounded=ends,
            noise=self._noise(ends, len(parents)),
            rises=self.always_rises,
        )

    @staticmethod
    @abstractmethod
    def _names(skills: Sequence[str], levels: Sequence[int]) -> tuple[str, ...]:
        """Return the names of the coefficients: an intercept or an effect of something."""

    @staticmethod
    def _noise(ends: Ends, n_skills: int) -> Ends | None:
        """Return the predictors to which the priors of guesses and slips apply."""
        return ends


@dataclass(frozen=True)
class ItemEffects(MainEffects):
    """A base of models in which each item has an intercept and effects of its own."""

    @staticmethod
    def design(has: NDArray[np.bool_]) -> Floats:
        """Return a column of ones, then whether each skill is sufficient."""
        rows = _rows(has)
        return np.concatenate([np.ones((rows.shape[1], 1)), rows.T], axis=1)

    @staticmethod
    def _names(skills: Sequence[str], levels: Sequence[int]) -> tuple[str, ...]:
        return ("intercept", *(f"effect of {name}" for name in skills))

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model with equal effects, from the guess to one minus the slip."""
        check_skills(required, sizes)
        _refuse_edges(cls.link, guess, slip)
        low, high = cls.link.of(np.array([guess, 1 - slip], dtype=np.float64)).tolist()
        n = len(required)
        fields = cls._fields(np.array([low, *[(high - low) / n] * n]))
        return cls(**fields, required=needed_levels(required))  # type: ignore[call-arg]


@dataclass(frozen=True)
class SkillEffects(MainEffects):
    """A base of models in which the parameters of a skill are the same in all items."""

    @staticmethod
    def design(has: NDArray[np.bool_]) -> Floats:
        """Return ones for each skill, then whether each is sufficient."""
        rows = _rows(has)
        return np.concatenate([np.ones(rows.T.shape), rows.T], axis=1)

    @staticmethod
    def _names(skills: Sequence[str], levels: Sequence[int]) -> tuple[str, ...]:
        # Items that need other levels of a skill have other parameters.
        each = [
            name if level == 1 else f"{name} from level {level}"
            for name, level in zip(skills, levels, strict=True)
        ]
        return tuple(f"{what} of {name}" for what in ("intercept", "effect") for name in each)


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
        ends = link.of(np.array([guess, 1 - slip], dtype=np.float64))
    if not np.isfinite(ends).all():
        refuse([f"expected a guess and a slip above 0 and below 1, got {guess} and {slip}"])


@dataclass(frozen=True)
class _SumOfEffects(ItemEffects):
    """A base of models whose parameters are the coefficients themselves."""

    intercept: Number
    effects: tuple[Number, ...]
    required: tuple[int, ...] | None = None

    @property
    def coefficients(self) -> Floats:
        """The intercept and the effects."""
        return sealed(np.array([self.intercept, *self.effects]))

    @staticmethod
    def _fields(coefficients: Floats) -> dict[str, Any]:
        intercept, *effects = coefficients.tolist()
        return {"intercept": intercept, "effects": tuple(effects)}


@dataclass(frozen=True)
class Acdm(_SumOfEffects):
    """Right with a chance that each skill raises by its effect.

    Parameters
    ----------
    intercept
        The chance of a right response without any skill.
    effects
        The increase of the chance by each skill. All sums must be chances.
    required
        As for `Dina`.
    """

    link = IDENTITY

    def _faults(self) -> Iterator[str]:
        low = self.intercept + sum(min(effect, 0.0) for effect in self.effects)
        high = self.intercept + sum(max(effect, 0.0) for effect in self.effects)
        if low < -ROUNDING or high > 1 + ROUNDING:
            yield f"expected sums of effects in [0, 1], got {low:g} to {high:g}"


@dataclass(frozen=True)
class Llm(_SumOfEffects):
    """Right with log-odds that each skill raises by its effect.

    Parameters
    ----------
    intercept
        The natural logarithm of the odds of a right response without any skill.
    effects
        The increase of the log-odds by each skill.
    required
        As for `Dina`.
    """

    link = LOGIT


@dataclass(frozen=True)
class Rrum(ItemEffects):
    """Right with a baseline chance, times a penalty for each missing skill.

    Parameters
    ----------
    baseline
        The chance of a right response with all skills, above 0.
    penalties
        The factor of each skill if it is missing, above 0. A factor above 1 means that the
        skill hurts. All products must be chances.
    required
        As for `Dina`.
    """

    link = LOG

    baseline: Scale
    penalties: tuple[Scale, ...]
    required: tuple[int, ...] | None = None

    def _faults(self) -> Iterator[str]:
        high = self.baseline * math.prod(max(penalty, 1.0) for penalty in self.penalties)
        if high > 1 + ROUNDING:
            yield f"expected products of the baseline and penalties up to 1, got {high:g}"

    @property
    def coefficients(self) -> Floats:
        """The logarithm of the chance without any skill, and of the factor for each skill."""
        factors = -np.log(np.array(self.penalties, dtype=np.float64))
        return sealed(np.array([np.log(self.baseline) - factors.sum(), *factors]))

    @staticmethod
    def _fields(coefficients: Floats) -> dict[str, Any]:
        baseline, penalties = float(np.exp(coefficients.sum())), np.exp(-coefficients[1:]).tolist()
        return {"baseline": baseline, "penalties": tuple(penalties)}


_Chance = Annotated[float, Ge(0), Lt(1)]


@dataclass(frozen=True)
class LeakyOr(ItemEffects):
    """Right if any skill works or the leak does, independently of each other.

    Parameters
    ----------
    leak
        The chance of a right response without any skill, in [0, 1).
    links
        The chance that each skill, if present, is enough, in [0, 1).
    required
        As for `Dina`.
    """

    link = COMPLEMENTARY
    always_rises = True

    leak: _Chance
    links: tuple[_Chance, ...]
    required: tuple[int, ...] | None = None

    @property
    def coefficients(self) -> Floats:
        """−ln(1 − ℓ), and −ln(1 − c_k) of each skill."""
        return sealed(COMPLEMENTARY.of(np.array([self.leak, *self.links])))

    @staticmethod
    def _fields(coefficients: Floats) -> dict[str, Any]:
        leak, *links = np.maximum(-np.expm1(-coefficients), 0.0).tolist()
        return {"leak": leak, "links": tuple(links)}


@dataclass(frozen=True)
class Nida(SkillEffects):
    """Right if every skill works; how well a skill works is the same in all items.

    Parameters
    ----------
    guess, slip
        A chance for each skill of the item: that it works though the examinee lacks it, above
        0; and that it fails though the examinee has it. ``guess + slip`` is at most 1.
    required
        As for `Dina`.
    """

    link = LOG
    always_rises = True

    guess: tuple[Annotated[float, Gt(0), Le(1)], ...]
    slip: tuple[Probability, ...]
    required: tuple[int, ...] | None = None

    _faults = chance_faults

    @property
    def coefficients(self) -> Floats:
        """The logarithm of each guess, then the rise to the logarithm of one minus the slip."""
        works, guessed = np.log1p(-np.array(self.slip)), np.log(np.array(self.guess))
        return sealed(np.concatenate([guessed, works - guessed]))

    @staticmethod
    def _fields(coefficients: Floats) -> dict[str, Any]:
        guessed, rises = np.split(coefficients, 2)
        works = np.minimum(guessed + np.maximum(rises, 0.0), 0.0)
        guess, slip = np.exp(np.minimum(guessed, works)).tolist(), (-np.expm1(works)).tolist()
        return {"guess": tuple(guess), "slip": tuple(slip)}

    @staticmethod
    def _noise(ends: Ends, n_skills: int) -> Ends:
        """Return the guess, and one minus the slip, of each skill."""
        guessed, rises = np.split(np.eye(2 * n_skills), 2)
        return guessed, guessed + rises

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model in which each skill has the guess and the slip."""
        check_skills(required, sizes)
        n = len(required)
        return cls((guess,) * n, (slip,) * n, needed_levels(required))


@dataclass(frozen=True)
class Nido(SkillEffects):
    """Right with log-odds to which each skill adds the same in all items.

    Parameters
    ----------
    intercepts, effects
        For each skill of the item, its part of the log-odds if it is missing, and the increase
        if it is present.
    required
        As for `Dina`.
    """

    link = LOGIT

    intercepts: tuple[Number, ...]
    effects: tuple[Number, ...]
    required: tuple[int, ...] | None = None

    def _faults(self) -> Iterator[str]:
        if len(self.intercepts) != len(self.effects):
            yield f"expected as many intercepts as effects, got {self}"

    @property
    def coefficients(self) -> Floats:
        """The intercepts, then the effects."""
        return sealed(np.array([*self.intercepts, *self.effects]))

    @staticmethod
    def _fields(coefficients: Floats) -> dict[str, Any]:
        intercepts, effects = np.split(coefficients, 2)
        return {"intercepts": tuple(intercepts.tolist()), "effects": tuple(effects.tolist())}

    @staticmethod
    def _noise(ends: Ends, n_skills: int) -> None:
        """Priors do not apply."""

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model that has the guess and the slip if the item needs one skill."""
        check_skills(required, sizes)
        _refuse_edges(cls.link, guess, slip)
        n = len(required)
        low, high = LOGIT.of(np.array([guess, 1 - slip])).tolist()
        return cls((low,) * n, (high - low,) * n, needed_levels(required))
