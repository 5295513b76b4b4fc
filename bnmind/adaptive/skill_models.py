"""Response models of skills: noisy gates, effects of skills, tables, and steps.

In all formulas α_k = 1 if the examinee has the required level of skill k, else 0.

============  ================================  =================================================
model         P(right | α)                      names here
============  ================================  =================================================
`Dina`        1 − s if every α_k = 1, else g    g, s: ``guess``, ``slip``
`Dino`        1 − s if some α_k = 1, else g
`NoisyAnd`    c Π_k (1 − s_k)^α_k g_k^(1−α_k)   c: ``ceiling``; also called NIDA
`NoisyOr`     1 − (1 − f) Π_k s_k^α_k           f: ``floor``
              (1 − g_k)^(1−α_k)
`Acdm`        δ_0 + Σ_k δ_k α_k                 δ_0: ``intercept``; δ_k: ``effects``
`Llm`         logit⁻¹(λ_0 + Σ_k λ_k α_k)        λ_0, λ_k: ``intercept``, ``effects``; also called
                                                compensatory RUM (C-RUM)
`Rrum`        π Π_k r_k^(1−α_k)                 π, r_k: ``baseline``, ``penalties``; also called
                                                generalized NIDA, and noisy-and with a leak
`LeakyOr`     1 − (1 − ℓ) Π_k (1 − c_k)^α_k     ℓ, c_k: ``leak``, ``links``; a missing skill
                                                never helps, other than in `NoisyOr`
`Nida`        as `NoisyAnd`, without c          of a skill the same in all items
`Nido`        logit⁻¹(Σ_k (β_k0 + β_k1 α_k))    β_k0, β_k1: ``intercepts``, ``effects``, of a
                                                skill the same in all items that need it
`Gdina`       a chance for each configuration   ``probabilities``
`Sequential`  P(X ≥ r | X ≥ r − 1, α) is that   ``steps``
              of a right response in step r
============  ================================  =================================================

`Acdm`, `Llm`, `Rrum` and `LeakyOr` are G-DINA without interactions, with the identity link, the
logit, the log and the complementary log. An item of `Nida` or `Nido` holds a copy of the parameters
of the skills; learning keeps the copies equal. With parameters of its own for each item, `Nida` is
`NoisyAnd`, and `Nido` is `Llm`.

References
----------
E. Haertel, "Using restricted latent class models to map the skill structure of achievement items",
J. Educ. Meas. 1989 (DINA); J. Templin and R. Henson, "Measurement of psychological disorders using
cognitive diagnosis models", Psychol. Methods 2006 (DINO); B. Junker and K. Sijtsma, "Cognitive
assessment models with few assumptions, and connections with nonparametric item response theory",
Appl. Psychol. Meas. 2001; E. Maris, "Estimating multiple classification latent class models",
Psychometrika 1999 (NIDA); J. Vomlel, "Noisy-or classifier", Int. J. Intell. Syst. 2006; M. Henrion,
"Some practical issues in constructing belief networks", UAI 1987.

J. de la Torre, "The generalized DINA model framework", Psychometrika 2011, with equations 11
(A-CDM), 13 (LLM) and 15 (RRUM); S. Hartz, *A Bayesian framework for the unified model for assessing
cognitive abilities*, dissertation, University of Illinois, 2002 (RRUM); J. Templin, *CDM user's
guide*, 2006; A. Rupp, J. Templin and R. Henson, *Diagnostic Measurement*, 2010, chapter 6 (NIDO).

W. Ma and J. de la Torre, "A sequential cognitive diagnosis model for polytomous responses",
Br. J. Math. Stat. Psychol. 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Finite, Probability
from bnmind.adaptive.formulas import (
    COMPLEMENTARY,
    IDENTITY,
    LOG,
    LOGIT,
    Ends,
    Formula,
    Learnable,
    LinkFunction,
    Number,
    ResponseModel,
    Scale,
    TableModel,
    binary,
    chances_of_steps,
    check_item,
    grid_cells,
    grid_of,
    mastery,
    one_each,
    response_channel,
    sequential,
    sufficient,
)
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import NoisyMaximum, NoisyMinimum, Variable

# --- Gates with noise: DINA, DINO, noisy-and, noisy-or --------------------------------------------


_LEAST = 1e-10
"""The least distance of chances from 0 and 1 on scales where these are infinite."""


def _chance_faults(model: Any) -> Iterator[str]:
    """Yield what is wrong with the guesses and the slips of a model together."""
    guess, slip = model.guess, model.slip
    if len({len(x) for x in (guess, slip) if isinstance(x, tuple)}) > 1:
        yield f"expected as many guesses as slips, got {guess} and {slip}"
    elif np.any(np.add(guess, slip) > 1 + 1e-12):
        yield f"expected guess + slip of at most 1, got {guess} and {slip}"


class _Noise(Learnable):
    """A base of models with guesses and slips: their parameters are chances on a scale."""

    scale: ClassVar[LinkFunction] = IDENTITY
    """The scale on which the skills add up."""

    guess: float | tuple[float, ...]
    slip: float | tuple[float, ...]
    required: tuple[int, ...] | None

    _faults = _chance_faults

    def _turned(self, chances: Floats) -> Floats:
        """Return chances with one minus each slip in place of it, or back."""
        n, m = np.size(self.guess), np.size(self.slip)
        return np.concatenate([chances[:n], 1 - chances[n : n + m], chances[n + m :]])

    @property
    def _numbers(self) -> Floats:
        """The chances of a right response without skills and with them, and the leak."""
        chances = self._turned(super()._numbers)
        if self.scale is not IDENTITY:
            chances = np.clip(chances, _LEAST, 1 - _LEAST)
        return self.scale.of(chances)

    def _with_numbers(self, numbers: Floats) -> ResponseModel:
        return super()._with_numbers(self._turned(self.scale.chance(numbers)))


@dataclass(frozen=True)
class GuessSlip(_Noise):
    """A base of models in which noise follows a rule that decides whether the skills suffice."""

    enough: ClassVar[np.ufunc]
    """The rule, over what is sufficient."""

    guess: Probability
    slip: Probability
    required: tuple[int, ...] | None = None

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the chances without and with enough skills."""
        enough = self.enough.reduce(sufficient(self.required, item, parents))
        return Formula(
            link=binary(IDENTITY),
            design=np.eye(2)[:, None],
            names=("guess", "slip"),
            roles=("guess", "right"),
            cells=enough.astype(np.intp),
            sizes=(2,),
        )


@dataclass(frozen=True)
class Dina(GuessSlip):
    """Right with chance 1 − slip given all required skills, else with chance guess.

    Parameters
    ----------
    guess, slip
        In [0, 1], with ``guess + slip`` at most 1, so that more skill never hurts.
    required
        The required level of each parent, counted from 0; default 1. A skill with required
        level 0 is not needed.
    """

    enough = np.logical_and


@dataclass(frozen=True)
class Dino(GuessSlip):
    """Right with chance 1 − slip given any of the required skills, else with chance guess.

    The parameters are those of `Dina`. A required level of 0 is always reached.
    """

    enough = np.logical_or


_Chances = Probability | tuple[Probability, ...]


class NoisySkills(_Noise):
    """A base of models in which a rule combines skills that are noisy independently."""

    combination: ClassVar[type[NoisyMinimum | NoisyMaximum]]
    """The distribution that combines the skills."""
    leak: ClassVar[str]
    """The parameter for causes other than the skills."""

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return sums of what each skill adds, whether it is there or not, and of the leak.

        A ceiling below 1 or a floor above 0 is learned too. One guess or one slip for all skills
        stays shared.
        """
        has = grid_of(len(parents))
        names: list[str] = []
        columns, roles = [], []
        noise = ("guess", "guess", self.guess, 1 - has), ("slip", "right", self.slip, has)
        for name, role, value, part in noise:
            shared = not isinstance(value, tuple)
            columns.append(part.sum(axis=1, keepdims=True) if shared else part)
            names += [name] if shared else [f"{name} of {v.name}" for v in parents]
            roles += [role] * columns[-1].shape[1]
        if self._learned.stop is None:
            columns.append(np.ones((len(has), 1)))
            names.append(self.leak)
            roles.append("chance")
        return Formula(
            link=binary(self.scale),
            design=np.concatenate(columns, axis=1)[:, None],
            names=tuple(names),
            roles=tuple(roles),
            cells=grid_cells(sufficient(self.required, item, parents)),
            sizes=(2,) * len(parents),
            rises=True,
        )

    @property
    def _learned(self) -> slice:
        """All but a leak that is none."""
        is_none = getattr(self, self.leak) == (self.combination is NoisyMinimum)
        return slice(-1 if is_none else None)

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> NoisyMinimum | NoisyMaximum:
        """Return the distribution of an item given its parents."""
        check_item(item, 2)
        n, links = len(parents), []
        guesses = one_each("guesses", self.guess, item, n)
        slips = one_each("slips", self.slip, item, n)
        for g, s, has in zip(guesses, slips, mastery(self.required, item, parents), strict=True):
            works = np.where(has, 1 - s, g)
            links.append(np.array([1 - works, works]))
        leak: float = getattr(self, self.leak)
        ends = np.array([1 - leak, leak])
        return self.combination(item, tuple(parents), tuple(links), ends)


@dataclass(frozen=True)
class NoisyAnd(NoisySkills):
    """Right if all skills work, where each skill is noisy independently.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all skills; ``guess + slip`` at most 1.
    ceiling
        The chance of a right response if all skills work.
    required
        As for `Dina`.
    """

    combination = NoisyMinimum
    scale = LOG
    leak = "ceiling"

    guess: _Chances
    slip: _Chances = 0.0
    ceiling: Probability = 1.0
    required: tuple[int, ...] | None = None


@dataclass(frozen=True)
class NoisyOr(NoisySkills):
    """Right if any skill works, where each skill is noisy independently.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all skills; ``guess + slip`` at most 1.
    floor
        The chance of a right response if no skill works.
    required
        As for `Dina`.
    """

    combination = NoisyMaximum
    scale = COMPLEMENTARY
    leak = "floor"

    guess: _Chances
    slip: _Chances = 0.0
    floor: Probability = 0.0
    required: tuple[int, ...] | None = None


# --- Main effects: each skill adds to the chance on the scale of a link function ------------------

_ROUNDING = 1e-9
"""Chances outside of [0, 1] by no more than this are corrected."""


class MainEffects(Learnable):
    """A base of models without interactions of skills: the predictor is β_0 + Σ_k β_k α_k."""

    link: ClassVar[LinkFunction]
    """The scale on which effects add up."""
    always_rises: ClassVar[bool] = False
    """Whether the parameters imply that more skill never hurts."""
    is_shared: ClassVar[bool] = False
    """Whether the parameters of a skill are the same in all items; see `SkillEffects`."""

    required: tuple[int, ...] | None

    @classmethod
    def _of(cls, numbers: Floats, required: tuple[int, ...] | None) -> Self:
        """Return the model with an intercept and effects, or those of each skill, on the scale."""
        intercept, *effects = numbers.tolist()
        return cls(intercept, tuple(effects), required)  # type: ignore[call-arg]

    def _with_numbers(self, numbers: Floats) -> Self:
        return self._of(numbers, self.required)

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the design in all sets of sufficient skills."""
        n = len(parents)
        cells = grid_cells(sufficient(self.required, item, parents))
        has = grid_of(n)
        ones = np.ones((len(has), n if self.is_shared else 1))
        design = np.concatenate([ones, has], axis=1)
        if design.shape[1] != len(self._numbers):
            raise InvalidModelError(
                [f"expected the effects of {n} skills on {item.name}, got {self}"]
            )
        each, intercepts = [v.name for v in parents], ["intercept"]
        if self.is_shared:
            # Items that need other levels of a skill have other parameters.
            levels = zip(each, self.required or (1,) * n, strict=True)
            each = [name if level == 1 else f"{name} from level {level}" for name, level in levels]
            intercepts = [f"intercept of {name}" for name in each]
        return Formula(
            link=binary(self.link),
            design=design[:, None],
            names=(*intercepts, *(f"effect of {name}" for name in each)),
            roles=("intercept",) * len(intercepts) + ("effect",) * n,
            cells=cells,
            sizes=(2,) * n,
            noise=self._noise(design.shape[1]),
            rises=self.always_rises,
        )

    @staticmethod
    def _noise(n: int) -> Ends | None:
        """Return the predictors, of n parameters, to which priors apply; None for the ends."""
        return None

    @classmethod
    def _first(cls, required: tuple[int, ...], guess: float, slip: float) -> Self:
        """Return a model with equal effects, from the guess to one minus the slip.

        If all items share the parameters, an item that needs one skill has the guess and the slip.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = cls.link.of(np.array([guess, 1 - slip], dtype=np.float64)).tolist()
        if not (math.isfinite(low) and math.isfinite(high)):
            raise InvalidModelError(
                [f"expected a guess and a slip above 0 and below 1, got {guess} and {slip}"]
            )
        n = len(required)
        shared = [low] * n + [high - low] * n
        numbers = shared if cls.is_shared else [low, *[(high - low) / n] * n]
        return cls._of(np.array(numbers), required if max(required) > 1 else None)


class SkillEffects(MainEffects):
    """A base of models in which all items share the parameters of a skill, β_k0 + β_k1 α_k."""

    is_shared = True


@dataclass(frozen=True)
class Acdm(MainEffects):
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

    intercept: Number
    effects: tuple[Number, ...]
    required: tuple[int, ...] | None = None

    def _faults(self) -> Iterator[str]:
        low = self.intercept + sum(min(effect, 0.0) for effect in self.effects)
        high = self.intercept + sum(max(effect, 0.0) for effect in self.effects)
        if low < -_ROUNDING or high > 1 + _ROUNDING:
            yield f"expected sums of effects in [0, 1], got {low:g} to {high:g}"


@dataclass(frozen=True)
class Llm(MainEffects):
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

    intercept: Number
    effects: tuple[Number, ...]
    required: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Rrum(MainEffects):
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
        if high > 1 + _ROUNDING:
            yield f"expected products of the baseline and penalties up to 1, got {high:g}"

    @property
    def _numbers(self) -> Floats:
        """The logarithm of the chance without any skill, and of the factor for each skill."""
        factors = -np.log(np.array(self.penalties, dtype=np.float64))
        return np.array([np.log(self.baseline) - factors.sum(), *factors])

    @classmethod
    def _of(cls, numbers: Floats, required: tuple[int, ...] | None) -> Self:
        return cls(float(np.exp(numbers.sum())), tuple(np.exp(-numbers[1:]).tolist()), required)


_Chance = Annotated[float, Ge(0), Lt(1)]


@dataclass(frozen=True)
class LeakyOr(MainEffects):
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
    def _numbers(self) -> Floats:
        """−ln(1 − ℓ), and −ln(1 − c_k) of each skill."""
        return COMPLEMENTARY.of(np.array([self.leak, *self.links]))

    @classmethod
    def _of(cls, numbers: Floats, required: tuple[int, ...] | None) -> Self:
        return super()._of(np.maximum(COMPLEMENTARY.chance(numbers), 0.0), required)


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

    _faults = _chance_faults

    @property
    def _numbers(self) -> Floats:
        """The logarithm of each guess, then the rise to the logarithm of one minus the slip."""
        works, guessed = np.log1p(-np.array(self.slip)), np.log(np.array(self.guess))
        return np.concatenate([guessed, works - guessed])

    @classmethod
    def _of(cls, numbers: Floats, required: tuple[int, ...] | None) -> Self:
        guessed, rises = np.split(numbers, 2)
        works = np.minimum(guessed + np.maximum(rises, 0.0), 0.0)
        guess, slip = np.exp(np.minimum(guessed, works)).tolist(), (-np.expm1(works)).tolist()
        return cls(tuple(guess), tuple(slip), required)

    @staticmethod
    def _noise(n: int) -> Ends:
        """Return the guess, and one minus the slip, of each skill."""
        guessed, rises = np.split(np.eye(n), 2)
        return guessed, guessed + rises

    @classmethod
    def _first(cls, required: tuple[int, ...], guess: float, slip: float) -> Self:
        """Return a model in which each skill has the guess and the slip."""
        n, levels = len(required), required if max(required) > 1 else None
        return cls((guess,) * n, (slip,) * n, levels)


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

    @classmethod
    def _of(cls, numbers: Floats, required: tuple[int, ...] | None) -> Self:
        intercepts, effects = np.split(numbers, 2)
        return cls(tuple(intercepts.tolist()), tuple(effects.tolist()), required)

    @staticmethod
    def _noise(n: int) -> Ends:
        """Priors do not apply."""
        return np.zeros((0, n)), np.zeros((0, n))


# --- Tables of chances: G-DINA --------------------------------------------------------------------

_Rows = Annotated[Floats, Ge(0), Finite]

_ROW_TOLERANCE = 1.000001e-6
"""Distributions that sum to one this closely are accepted and normalized, as in tables."""


class _Table(TableModel):
    """A base of models with a row of probabilities for each configuration of the skills."""

    probabilities: _Rows

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = self.probabilities
        sums = rows.sum(axis=1, keepdims=True)
        # Rows that sum to one up to rounding are not changed, so that a copy has the same digits.
        off = np.abs(sums - 1) > 4 * rows.shape[1] * np.finfo(np.float64).eps
        self._set(probabilities=np.where(off, rows / sums, rows))

    def _faults(self) -> Iterator[str]:
        rows = self.probabilities
        if rows.ndim != 2 or not rows.size:
            told = "a G-DINA model needs at least one row of probabilities in an array"
            yield f"{told} (configurations, responses)"
            return
        sums = rows.sum(axis=1)
        if (wrong := np.flatnonzero(np.abs(sums - 1) > _ROW_TOLERANCE)).size:
            got = f"{sums[wrong[0]]:.9g} in row {wrong[0] + 1}"
            yield f"expected rows that sum to one in a G-DINA model, got {got}"

    @property
    def n_responses(self) -> int:
        """The number of columns."""
        return int(self.probabilities.shape[1])

    def _channel(self, item: Variable, parents: Sequence[Variable]) -> Floats:
        needed = math.prod(v.n_states for v in parents)
        if (got := len(self.probabilities)) != needed:
            rows = counted(needed, "row")
            raise InvalidModelError(
                [f"expected {rows} in the G-DINA model of {item.name}, got {got}"]
            )
        return self.probabilities


@dataclass(frozen=True, eq=False)
class Gdina(_Table, Learnable):
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
    def _first(cls, sizes: tuple[int, ...], guess: float, slip: float) -> Gdina:
        """Return a model whose chance of a right response rises with the share of the levels."""
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
        roles = np.where(lowest, "guess", np.where(highest, "right", "chance")).tolist()
        states = [", ".join(one) for one in product(*(v.states for v in parents))]
        step = Formula(
            link=binary(IDENTITY),
            design=np.eye(n)[:, None],
            names=(),
            roles=tuple(roles),
            cells=np.arange(n),
            sizes=sizes,
        )
        steps = []
        for number in range(1, self.n_responses):
            given = f"≥{number - 1}, " if number > 1 else ""
            names = tuple([f"P(≥{number} | {given}{state})" for state in states])
            steps.append(replace(step, names=names))
        return _in_steps(steps)

    @property
    def _numbers(self) -> Floats:
        """The chance of each step in each configuration."""
        least = np.cumsum(self.probabilities.T[::-1], axis=0)[::-1]
        half = np.full(least[1:].shape, 0.5)
        steps: Floats = np.divide(least[1:], least[:-1], out=half, where=least[:-1] > 0)
        return steps.reshape(-1)

    def _with_numbers(self, numbers: Floats) -> Gdina:
        """Return the table with other chances of the steps."""
        steps = numbers.reshape(-1, len(self.probabilities)).T
        return Gdina(chances_of_steps(steps, 1 - steps))


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


# --- Steps, each with a response model of its own -------------------------------------------------


def _in_steps(steps: Sequence[Formula]) -> Formula:
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


def is_learnable(model: ResponseModel) -> bool:
    """Return whether a model states its formula."""
    if isinstance(model, Sequential):
        return all(map(is_learnable, model.steps))
    return isinstance(model, Learnable)


@dataclass(frozen=True)
class Sequential(Learnable):
    """A series of steps; the response is the number of steps taken.

    Parameters
    ----------
    steps
        For each step a response model with two responses: whether the step is taken, given
        that all steps before it were. A skill with required level 0 is not used in a step.
    """

    steps: tuple[ResponseModel, ...]

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
            parts.append(replace(own, names=names, rises=own.rises or isinstance(step, GuessSlip)))
        return _in_steps(parts)

    @property
    def _learnable(self) -> list[Learnable]:
        found = [step for step in self.steps if isinstance(step, Learnable)]
        if len(found) < len(self.steps):
            wrong = [step for step in self.steps if step not in found]
            raise InvalidModelError([f"{step!r} cannot be learned" for step in wrong])
        return found

    @property
    def _numbers(self) -> Floats:
        """Those of all steps."""
        return np.concatenate([step._numbers for step in self._learnable])

    def _with_numbers(self, numbers: Floats) -> Sequential:
        """Return the model with other steps."""
        ends = np.cumsum([len(step._numbers) for step in self._learnable])[:-1]
        pairs = zip(self._learnable, np.split(numbers, ends), strict=True)
        return Sequential(tuple([step._with_numbers(part) for step, part in pairs]))

    def _channel(self, item: Variable, parents: Sequence[Variable]) -> Floats:
        missed, taken = np.array([response_channel(step, parents) for step in self.steps]).T
        return chances_of_steps(taken, missed)


@dataclass(frozen=True)
class StepsOf:
    """A gate for Q-matrices; see `Sequential.of`."""

    make: Callable[..., ResponseModel]

    def __call__(self, guess: float, slip: float) -> ResponseModel:
        """Return the model of a single step."""
        return self.make(guess, slip)


def made_for_skills(
    make: Callable[..., ResponseModel],
    required: Sequence[int],
    sizes: Sequence[int],
    *,
    guess: float,
    slip: float,
) -> ResponseModel:
    """Return a response model for an item of a Q-matrix, the first start of learning.

    Of a model of steps it is that of a single one, which `learn` repeats.

    Parameters
    ----------
    make
        A class, or a function of a guess and a slip.
    required
        The level of each skill that the item needs, at least 1.
    sizes
        The number of levels of these skills.
    guess, slip
        The chance of a right response without any of them, and of a wrong response with
        all of them.
    """
    model: Any = Gdina if make is Sequential else getattr(make, "make", make)
    made: Any
    if hasattr(model, "for_skills"):
        made = model.for_skills(tuple(required), tuple(sizes), guess=guess, slip=slip)
    elif model is Gdina:
        made = Gdina._first(tuple(sizes), guess, slip)
    elif isinstance(model, type) and issubclass(model, MainEffects):
        made = model._first(tuple(required), guess, slip)
    else:
        made = model(guess, slip)
        made = made if max(required) <= 1 else replace(made, required=tuple(required))
    return made  # type: ignore[no-any-return]
