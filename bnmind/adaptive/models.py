"""Curves of abilities, models of experts, and the registry of response models.

=================  =========================================================================
symbol             name here
=================  =========================================================================
θ                  the ability; a variable whose states are numbers
`Graded`           P(X ≥ r) = 1 / (1 + exp(−(Σ_k a_k·level_k − b_r))): ``slopes`` a,
                   ``thresholds`` b
`Logistic`         P(θ) = c + (d − c) / (1 + exp(−a (θ − b))), D = 1: ``slope`` a, the
                   discrimination, ``difficulty`` b, asymptotes ``lower`` c, ``upper`` d
`GradedResponse`   P(X ≥ r) = 1 / (1 + exp(−a (θ − b_r))): ``slope``, ``thresholds``
`PartialCredit`    P(X = r) = exp(Σ_{s ≤ r} a (θ − b_s)) / Σ_q exp(Σ_{s ≤ q} a (θ − b_s)):
                   ``slope``, and ``thresholds``, where responses r − 1 and r are equally
                   probable
`Nominal`          P(X = r) = exp(a_r θ + c_r) / Σ_q exp(a_q θ + c_q): ``slopes``,
                   ``intercepts``, those of the first response being 0
I(θ)               Σ_r P_r'(θ)² / P_r(θ), Fisher's information; of `Logistic`
                   a² (P − c)² (d − P)² / ((d − c)² P (1 − P))
`DiBello`          θ̃_k(m) = Φ⁻¹((2m − 1) / 2M): the effective ability of level m of M of
                   skill k, the median of the m-th of M equal parts of a standard normal
                   distribution; η_r: the one ability, of those of the skills, for the step to r
=================  =========================================================================

References
----------
F. Samejima, "Estimation of latent ability using a response pattern of graded scores",
Psychometrika monograph 17, 1969.

A. Birnbaum in F. Lord and M. Novick, *Statistical Theories of Mental Test Scores*, 1968
(1–3PL); M. Barton and F. Lord, ETS RR-81-20, 1981 (4PL); D. Magis, "A note on the item
information function of the four-parameter logistic model", Appl. Psychol. Meas. 2013.

E. Muraki, "A generalized partial credit model: application of an EM algorithm", Appl.
Psychol. Meas. 1992, eq. 3, with D = 1; with equal slopes, G. Masters, "A Rasch model for
partial credit scoring", Psychometrika 1982.

R. D. Bock, "Estimating item parameters and latent ability when responses are scored in two
or more nominal categories", Psychometrika 1972. Deviation: the parameters of the first
response are 0, as in the R package mirt; Bock lets them sum to 0.

R. Almond, L. DiBello, F. Jenkins, R. Mislevy, D. Senturk, L. Steinberg and D. Yan, "Models for
conditional probability tables in educational assessment", AISTATS 2001 (DiBello-Samejima);
R. Almond, R. Mislevy, L. Steinberg, D. Yan and D. Williamson, *Bayesian Networks in Educational
Assessment*, 2015, chapter 8; R. Almond, "An IRT-based parameterization for conditional
probability tables", BMAW 2015. Names and formulas are those of the R package CPTtools.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Bounded, Must, Probability
from bnmind.adaptive.formulas import (
    CUMULATIVE,
    LARGEST,
    LOGIT,
    SOFTMAX,
    Formula,
    Learnable,
    Link,
    Number,
    ResponseModel,
    Scale,
    TableModel,
    ability_values,
    binary,
    both_tails,
    one_each,
)
from bnmind.adaptive.skill_models import (
    Acdm,
    Dina,
    Dino,
    Gdina,
    LeakyOr,
    Llm,
    Nida,
    Nido,
    NoisyAnd,
    NoisyOr,
    Rrum,
    Sequential,
    Tabulated,
)
from bnmind.errors import InvalidModelError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import Variable

# --- Curves of the sum of levels, and of one ability ----------------------------------------------


_Weight = Annotated[float, Ge(0), Bounded(LARGEST)]
_Slope = Annotated[float, Bounded(LARGEST), Must(" other than 0", bool)]


def _threshold_faults(curve: Any, *, falls: bool = False) -> Iterator[str]:
    """Yield the fault of thresholds, which must increase; decrease if ``falls``."""
    thresholds = curve.thresholds
    if not thresholds or any(np.diff(thresholds[::-1] if falls else thresholds) < 0):
        order = "decreasing thresholds with a negative slope" if falls else "increasing thresholds"
        yield f"expected {order}, got {shown(thresholds)}"


@dataclass(frozen=True)
class Graded(Learnable):
    """Graded responses to a weighted sum of the skills' levels, by a logistic curve.

    With one threshold and skills of two levels it is the compensatory model (C-RUM).

    Parameters
    ----------
    slopes
        The weight of a level of each skill, at least zero; or one number for all skills.
    thresholds
        The threshold of each response but the first, increasing.
    """

    slopes: _Weight | tuple[_Weight, ...]
    thresholds: tuple[Number, ...]

    _faults = _threshold_faults

    @property
    def n_responses(self) -> int:
        """The number of thresholds plus one."""
        return len(self.thresholds) + 1

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the levels, or their sum, less a threshold for each response but the first."""
        one_each("slopes", self.slopes, item, len(parents))
        levels = np.indices([v.n_states for v in parents]).reshape(len(parents), -1).T
        names = [f"slope of {v.name}" for v in parents]
        if not isinstance(self.slopes, tuple):
            levels, names = levels.sum(axis=1, keepdims=True), ["slope"]
        n = len(self.thresholds)
        each = np.broadcast_to(levels[:, None], (len(levels), n, len(names)))
        less = np.broadcast_to(-np.eye(n), (len(levels), n, n))
        return Formula(
            link=CUMULATIVE,
            design=np.concatenate([each, less], axis=2),
            names=(*names, *_numbered("threshold", n)),
            roles=("weight",) * len(names) + ("threshold",) * n,
            cells=np.arange(len(levels)),
        )


class AbilityCurve(Learnable):
    """A base of models of one ability: chances of the responses, and how steeply they change."""

    link: Link
    """How predictors become chances."""

    @property
    @abstractmethod
    def _parts(self) -> tuple[Floats, Floats, Sequence[str]]:
        """What slopes add to the predictors times the ability, other parameters, and all names.

        ``(predictors, parameters)`` both. Names begin with the roles of the parameters.
        """

    @property
    def n_responses(self) -> int:
        """The number of responses to an item."""
        return len(self._parts[0]) + 1

    @property
    def _design(self) -> tuple[Floats, Floats]:
        """What all parameters add times the ability, and besides."""
        slopes, others, _ = self._parts
        times = np.concatenate([slopes, np.zeros_like(others)], axis=1)
        return times, np.concatenate([np.zeros_like(slopes), others], axis=1)

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the curve at each ability."""
        if len(parents) != 1:
            got = counted(len(parents), "variable")
            raise InvalidModelError([f"{item.name} must depend on one ability, got {got}"])
        theta, names = ability_values(parents[0]), self._parts[2]
        times, added = self._design
        return Formula(
            link=self.link,
            design=theta[:, None, None] * times + added,
            names=tuple(names),
            roles=tuple([name.split()[0] for name in names]),
            cells=np.arange(len(theta)),
        )

    def _predictors(self, abilities: ArrayLike) -> tuple[Floats, Floats]:
        """Return the predictors at abilities, and how fast they change."""
        (times, added), numbers = self._design, self._numbers
        rates, theta = times @ numbers, np.asarray(abilities, dtype=np.float64)
        return np.asarray(theta[..., None] * rates + added @ numbers), rates

    @checked
    def probabilities(self, abilities: ArrayLike) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, responses)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        return self.link.chances(self._predictors(abilities)[0])

    @checked
    def fisher_information(self, abilities: ArrayLike) -> Floats:
        """Return Fisher's information at each ability, ``(abilities,)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        predictors, rates = self._predictors(abilities)
        chances, slopes = self.link.chances(predictors), rates @ self.link.slopes(predictors)
        # An impossible response adds nothing.
        zeros = np.zeros_like(chances)
        ratios = np.divide(slopes**2, chances, out=zeros, where=chances > 0)
        return np.asarray(ratios.sum(axis=-1))


@lru_cache
def _between_asymptotes(lower: bool, upper: bool) -> Link:
    """Return the logistic link between asymptotes, which are further predictors if they are given.

    The predictors are the log-odds without asymptotes, then the lower and the upper asymptote.
    """
    if not (lower or upper):
        return binary(LOGIT)

    def parts(predictors: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        right, wrong = both_tails(predictors[..., 0])
        low = predictors[..., 1] if lower else np.zeros_like(right)
        return right, wrong, low, predictors[..., -1] if upper else np.ones_like(right)

    def chances(predictors: Floats) -> Floats:
        right, wrong, low, high = parts(predictors)
        # Without subtractions from 1, so that both tails keep their digits.
        both = (1 - high) * right + (1 - low) * wrong, high * right + low * wrong
        return np.stack(both, axis=-1)

    def slopes(predictors: Floats) -> Floats:
        right, wrong, low, high = parts(predictors)
        each = [(high - low) * right * wrong, *[wrong] * lower, *[right] * upper]
        of_right = np.stack(each, axis=-1)
        return np.stack([-of_right, of_right], axis=-1)

    return Link(chances, slopes)


@dataclass(frozen=True)
class Logistic(AbilityCurve):
    """An item with two responses that follows a logistic curve of one to four parameters.

    Parameters
    ----------
    slope
        The discrimination a, not 0. If it is negative, the chance falls with the ability.
    difficulty
        The ability b at the middle of the curve.
    lower, upper
        The asymptotes c and d: the probabilities of a right response at very low and very
        high abilities, in [0, 1].
    """

    slope: _Slope = 1.0
    difficulty: Number = 0.0
    lower: Probability = 0.0
    upper: Probability = 1.0

    _per_slope = "difficulty"  # the field that is minus an intercept over the slope

    def _faults(self) -> Iterator[str]:
        if not self.lower < self.upper:
            yield f"expected asymptotes with lower < upper, got {self.lower} and {self.upper}"

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @property
    def _edges(self) -> tuple[bool, bool]:
        """Whether there is a lower and an upper asymptote, which are learned then."""
        return self.lower > 0, self.upper < 1

    @property
    def link(self) -> Link:  # type: ignore[override]
        """The logistic link between the asymptotes."""
        return _between_asymptotes(*self._edges)

    @property
    def _learned(self) -> list[bool]:
        """Slope, intercept, and the asymptotes that there are."""
        return [True, True, *self._edges]

    @property
    def _parts(self) -> tuple[Floats, Floats, Sequence[str]]:
        """The asymptotes are predictors of their own."""
        lower, upper = self._edges
        eye = np.eye(1 + lower + upper)
        return eye[:, :1], eye, ("slope", "intercept", *["lower"] * lower, *["upper"] * upper)


@dataclass(frozen=True)
class _Thresholds(AbilityCurve):
    """A base of curves of one slope, with a threshold for each response but the first."""

    slope: _Slope
    thresholds: Annotated[tuple[Number, ...], MinLen(1)]

    _per_slope = "thresholds"  # the field that is minus an intercept over the slope


@dataclass(frozen=True)
class GradedResponse(_Thresholds):
    """Graded responses to one ability, with a threshold for each response (Samejima).

    Parameters
    ----------
    slope
        The discrimination, not 0. If it is negative, high responses are those of low abilities.
    thresholds
        For each response but the first, the ability at which that response or a better
        one has probability 1/2; increasing, or decreasing if the slope is negative.
    """

    link = CUMULATIVE

    def _faults(self) -> Iterator[str]:
        yield from _threshold_faults(self, falls=self.slope < 0)

    @property
    def _parts(self) -> tuple[Floats, Floats, Sequence[str]]:
        n = len(self.thresholds)
        return np.ones((n, 1)), np.eye(n), ("slope", *_numbered("intercept", n))


@dataclass(frozen=True)
class PartialCredit(_Thresholds):
    """The generalized partial credit model (GPCM) of one ability.

    With the same slope for all items it is the partial credit model (PCM), and with two
    responses the 2PL.

    Parameters
    ----------
    slope
        The discrimination, not 0. If it is negative, high responses are those of low abilities.
    thresholds
        For each response but the first, the ability at which that response and the one
        before it are equally probable; in any order.

    Examples
    --------
    >>> PartialCredit(1.0, (-1.0, 1.0)).probabilities([1.0])[0].round(3).tolist()
    [0.063, 0.468, 0.468]
    """

    link = SOFTMAX

    @property
    def _parts(self) -> tuple[Floats, Floats, Sequence[str]]:
        """The slope as often as there are steps to a response, and the intercepts of these."""
        steps = np.tri(len(self.thresholds))
        names = ("slope", *_numbered("intercept", len(steps)))
        return steps.sum(axis=1, keepdims=True), steps, names


@dataclass(frozen=True)
class Nominal(AbilityCurve):
    """The nominal response model (Bock) of one ability.

    Parameters
    ----------
    slopes
        For each response but the first, how steeply its chance rises against that of the
        first response; of any sign. The response with the largest slope is the best one.
    intercepts
        For each response but the first, the logarithm of its chance over that of the first
        response at ability 0.

    Examples
    --------
    >>> Nominal((1.0, 2.0), (0.5, 0.0)).probabilities([0.0])[0].round(3).tolist()
    [0.274, 0.452, 0.274]
    """

    link = SOFTMAX

    slopes: Annotated[tuple[Number, ...], MinLen(1)]
    intercepts: tuple[Number, ...]

    def _faults(self) -> Iterator[str]:
        if (n := len(self.slopes)) != (m := len(self.intercepts)):
            yield f"expected as many slopes as intercepts, got {n} and {m}"

    @property
    def _parts(self) -> tuple[Floats, Floats, Sequence[str]]:
        n = len(self.slopes)
        return np.eye(n), np.eye(n), (*_numbered("slope", n), *_numbered("intercept", n))

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the curve at each ability; its slopes have no order."""
        n = len(self.slopes)
        roles = ("free",) * n + ("intercept",) * n
        return dataclasses.replace(super()._formula(item, parents), roles=roles)


def _numbered(name: str, n: int) -> list[str]:
    return [f"{name} {number}" for number in range(1, n + 1)]


# --- An expert's models ---------------------------------------------------------------------------

_D = 1.7
"""Makes logistic curves like normal ones."""

_COMBINATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "compensatory": lambda each: np.asarray(each.sum(axis=1) / np.sqrt(each.shape[1])),
    **dict.fromkeys(("conjunctive", "offset-conjunctive"), lambda each: each.min(axis=1)),
    **dict.fromkeys(("disjunctive", "offset-disjunctive"), lambda each: each.max(axis=1)),
}
_LINKS: Mapping[str, Callable[[Floats], Floats]] = {
    "partial-credit": lambda steps: SOFTMAX.chances(np.cumsum(steps, axis=1)),
    # Response r or better is at least as probable as r + 1 or better.
    "graded-response": lambda steps: CUMULATIVE.chances(
        np.maximum.accumulate(steps[:, ::-1], axis=1)[:, ::-1]
    ),
}


def _one_of(names: Mapping[str, object]) -> Must:
    return Must(f", one of {', '.join(names)}", names.__contains__)


_Combination = Annotated[str, _one_of(_COMBINATIONS)]
_Numbers = Number | tuple[Number, ...]
_Scales = Scale | tuple[Scale, ...]


@dataclass(frozen=True)
class DiBello(TableModel):
    """An expert's model: slopes and difficulties, a combination function and a link.

    Each level of a skill has an effective ability θ̃. A combination function makes one ability η
    of those of K skills, and the link makes chances of those for the steps to the responses.

    Parameters
    ----------
    slopes
        The slope α of each skill, positive, or one number for all; or a tuple with such an
        entry for each response but the first. Offset functions have one slope.
    difficulties
        For each response but the first, the difficulty β of the step to it; or one number,
        for two responses. For offset functions each is a number for all skills or a tuple
        with one for each.
    combination
        The combination function, or one for each response but the first:
        ``"compensatory"``, Σ_k α_k θ̃_k / √K − β, more of a skill makes up for less of another;
        ``"conjunctive"``, min_k α_k θ̃_k − β, the weakest skill counts; ``"disjunctive"``,
        max_k α_k θ̃_k − β, the strongest counts; ``"offset-conjunctive"``, α min_k (θ̃_k − β_k),
        or ``"offset-disjunctive"``, α max_k (θ̃_k − β_k), each skill at its own level.
    link
        ``"partial-credit"``, P(X = r) ∝ exp(D Σ_{s ≤ r} η_s), each step by itself; or
        ``"graded-response"``, P(X ≥ r) = 1 / (1 + exp(−D η_r)), and at least that of any better
        response. D = 1.7.

    Raises
    ------
    InvalidModelError
        If a slope is not positive, or lengths differ.

    Notes
    -----
    CPTtools orders responses from the best to the worst and gives logarithms of slopes. Here
    the worst is first, as everywhere in bnmind, and slopes are not logarithms.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank
    >>> item = DiBello(slopes=1.0, difficulties=(-0.5, 1.0), link="graded-response")
    >>> ItemBank.from_response_models([[1]], [item], levels=3).channel("item_1").round(3).tolist()
    [[0.689, 0.277, 0.034], [0.299, 0.546, 0.154], [0.076, 0.438, 0.486]]
    """

    slopes: Scale | tuple[_Scales, ...]
    difficulties: Number | tuple[_Numbers, ...]
    combination: _Combination | tuple[_Combination, ...] = "compensatory"
    link: Annotated[str, _one_of(_LINKS)] = "partial-credit"

    def __post_init__(self) -> None:
        if not isinstance(self.difficulties, list | tuple):
            self._set(difficulties=(self.difficulties,))
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        n = self.n_responses - 1
        if n < 1:
            yield "expected at least one difficulty, got ()"
        if self._slopes and not np.size(self._slopes[0]):
            yield f"expected at least one slope, got {shown(self.slopes)}"
        if len(self._combinations) != n:
            got = len(self._combinations)
            yield f"expected {counted(n, 'combination function')}, got {got}"
        if len(self._slopes) != n:
            yield f"expected slopes for {counted(n, 'response')}, got {shown(self.slopes)}"

    @property
    def _slopes(self) -> tuple[_Scales, ...]:
        """Those for each step."""
        slopes: Any = self.slopes
        if isinstance(slopes, tuple) and any(isinstance(x, tuple) for x in slopes):
            return slopes
        return (slopes,) * (self.n_responses - 1)

    @property
    def _combinations(self) -> tuple[str, ...]:
        """That of each step."""
        own = self.combination
        return own if isinstance(own, tuple) else (own,) * (self.n_responses - 1)

    @property
    def n_responses(self) -> int:
        """The number of difficulties plus one."""
        difficulties: Any = self.difficulties
        return len(difficulties) + 1

    @classmethod
    @checked
    def samejima(
        cls,
        slopes: float | tuple[float, ...],
        difficulty: float,
        increments: tuple[float, ...] = (),
        *,
        combination: str = "compensatory",
    ) -> DiBello:
        """Return the DiBello-Samejima model: graded responses around one difficulty.

        Parameters
        ----------
        slopes
            The slope of each skill, or one for all.
        difficulty
            The difficulty in the middle of the steps.
        increments
            The distances between successive difficulties, from the worst responses to the best;
            at least 0.
        combination
            The combination function, none with offsets.

        Raises
        ------
        InvalidModelError
            If an increment is negative, or the combination has offsets of its own.

        Examples
        --------
        >>> DiBello.samejima(1.0, 0.5, (1.0,)).difficulties
        (0.0, 1.0)
        """
        if combination.startswith("offset"):
            raise InvalidModelError([f"expected a function without offsets, got {combination}"])
        if not all(step >= 0 for step in increments):
            raise InvalidModelError([f"expected increments of at least 0, got {increments}"])
        places = np.cumsum([0.0, *increments])
        difficulties = tuple((difficulty + places - places[-1] / 2).tolist())
        return cls(slopes, difficulties, combination, "graded-response")

    def _channel(self, item: Variable, parents: Sequence[Variable]) -> Floats:
        from scipy.special import ndtri

        sizes, k = [v.n_states for v in parents], len(parents)
        levels = np.indices(sizes).reshape(k, math.prod(sizes)).T
        abilities, effective = ndtri((2 * levels + 1) / (2 * np.array(sizes, dtype=np.intp))), []
        difficulties: Any = self.difficulties
        for name, a, b in zip(self._combinations, self._slopes, difficulties, strict=True):
            combine, offset = _COMBINATIONS[name], name.startswith("offset")
            slopes = one_each("slopes", a, item, 1 if offset else k)
            difficulty = one_each("difficulties", b, item, k if offset else 1)
            if not k:
                effective.append(np.full(1, -difficulty.sum()))
            elif offset:
                effective.append(slopes * combine(abilities - difficulty))
            else:
                effective.append(combine(abilities * slopes) - difficulty)
        return _LINKS[self.link](_D * np.stack(effective, axis=1))


# --- The registry, used by the command line, files and documentation ------------------------------
#
# A new response model is a class, here or in `bnmind.adaptive.skill_models`, and a line below.


class RegisteredModel(NamedTuple):
    """A response model with the properties that users see."""

    example: ResponseModel
    """A response model of this kind, for one skill of two levels or one ability."""
    about: str
    """A short description."""
    from_qmatrix: bool = False
    """Whether it can be learned from a Q-matrix alone."""

    @property
    def make(self) -> type[ResponseModel]:
        """The class."""
        return type(self.example)


_STEP_MODEL = Dina(0.2, 0.1)
_EVEN = np.full((2, 2), 0.5)

RESPONSE_MODELS: Mapping[str, RegisteredModel] = MappingProxyType(
    {
        "dina": RegisteredModel(_STEP_MODEL, "all skills, but for guesses and slips", True),
        "dino": RegisteredModel(Dino(0.2, 0.1), "any skill, but for guesses and slips", True),
        "gdina": RegisteredModel(Gdina(_EVEN), "chances for each configuration of skills", True),
        "acdm": RegisteredModel(Acdm(0.2, (0.7,)), "each skill adds to the chance", True),
        "llm": RegisteredModel(Llm(-1.0, (2.0,)), "each skill adds to the log-odds (C-RUM)", True),
        "rrum": RegisteredModel(Rrum(0.9, (0.2,)), "each missing skill divides the chance", True),
        "nida": RegisteredModel(
            Nida((0.2,), (0.1,)), "all skills, each with the same noise in all items", True
        ),
        "nido": RegisteredModel(
            Nido((-1.0,), (2.0,)), "each skill adds the same to the log-odds of all items", True
        ),
        "noisy-and": RegisteredModel(NoisyAnd(0.2, 0.1), "all skills, each noisy by itself", True),
        "noisy-or": RegisteredModel(NoisyOr(0.2, 0.1), "any skill, each noisy by itself", True),
        "leaky-or": RegisteredModel(LeakyOr(0.1, (0.8,)), "any skill, each noisy, or a leak", True),
        "sequential": RegisteredModel(
            Sequential((_STEP_MODEL, _STEP_MODEL)),
            "steps, one after the other; G-DINA from a Q-matrix",
            True,
        ),
        "graded": RegisteredModel(Graded(1.0, (0.5,)), "a logistic curve of the sum of levels"),
        "logistic": RegisteredModel(Logistic(), "a logistic curve of one ability"),
        "graded-response": RegisteredModel(GradedResponse(1.0, (0.0,)), "graded, of one ability"),
        "partial-credit": RegisteredModel(PartialCredit(1.0, (0.0,)), "steps in one ability"),
        "nominal": RegisteredModel(Nominal((1.0,), (0.0,)), "unordered responses, one ability"),
        "dibello": RegisteredModel(DiBello(1.0, (0.0,)), "slopes and difficulties of an expert"),
        "own": RegisteredModel(Tabulated("Own", _EVEN, {"p": 0.5}), "the table of your own model"),
    }
)
"""The response model of each name; other names that are understood are in `FORMER_NAMES`."""

LEARNABLE = MappingProxyType(
    {name: model for name, model in RESPONSE_MODELS.items() if model.from_qmatrix}
)
"""The response models that can be learned from a Q-matrix."""

FORMER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **{"free-table": "gdina", "table": "gdina", "g-dina": "gdina", "lcdm": "gdina"},
        **{"a-cdm": "acdm", "crum": "llm", "c-rum": "llm", "r-rum": "rrum", "leaky-and": "rrum"},
        **{"grm": "graded-response", "gpcm": "partial-credit"},
    }
)
"""Other names that files, command lines and `gate_of` understand."""

STEPS = "sequential:"
"""Begins the name of a model for each step, such as ``sequential:dina``."""


def gate_name(name: str) -> str:
    """Return the name of a response model as the registry has it.

    >>> gate_name("G-DINA"), gate_name("Sequential:DINO")
    ('gdina', 'sequential:dino')
    """
    lower = name.lower()
    if lower.startswith(STEPS):
        return STEPS + gate_name(name[len(STEPS) :])
    known = FORMER_NAMES.get(lower, lower)
    return known if known in LEARNABLE else name


def model_name(model: ResponseModel | None) -> str:
    """Return the name of a response model, or of its class; ``table`` for a table."""
    names = {known.make: name for name, known in RESPONSE_MODELS.items()}
    return "table" if model is None else names.get(type(model), type(model).__name__)


def gate_of(gate: str | Callable[..., ResponseModel]) -> Callable[..., ResponseModel]:
    """Return the maker of a response model that is named, in any case, or given.

    Raises
    ------
    UnknownNameError
        If no response model that can be learned from a Q-matrix has the name.
    """
    if not isinstance(gate, str):
        return gate
    name = gate_name(gate)
    if name.startswith(STEPS):
        return Sequential.of(gate_of(name.removeprefix(STEPS)))
    if name not in LEARNABLE:
        raise UnknownNameError("response model", gate, LEARNABLE)
    return LEARNABLE[name].make
