"""DiBello models: an expert states slopes and difficulties of skills and items.

Parameters and combination functions of DiBello models: effective abilities of skills.

=================  ===============================================================
symbol             name here
=================  ===============================================================
θ̃_k(m)             Φ⁻¹((2m − 1) / 2M): the effective ability of level m of M of
                   skill k, the median of the m-th of M equal parts of a standard
                   normal distribution
α_k, β             ``slopes``, ``difficulty``; one slope for *offset* functions
β_k                ``difficulty`` of each skill, for offset functions
=================  ===============================================================

Link functions of DiBello models: chances of responses at effective abilities.

==========  ======================================================================
symbol      name here
==========  ======================================================================
η_r         ``effective[:, r − 1]``: the effective ability for the step to r
D = 1.7     makes logistic curves like normal ones
==========  ======================================================================

DiBello models with a link of item response theory: graded responses, or partial credit.

An expert describes an item by the slopes and difficulties of item response theory. Each level of a
skill has an effective ability, a combination function makes one ability of those of the skills, and
a link function makes chances of it.

References
----------
R. Almond, L. DiBello, F. Jenkins, R. Mislevy, D. Senturk, L. Steinberg and D. Yan, "Models for
conditional probability tables in educational assessment", AISTATS 2001; R. Almond, "I can name
that Bayesian network in two matrixes!", Int. J. Approx. Reasoning 2010. Names and formulas are
those of the R package CPTtools.

R. Almond, R. Mislevy, L. Steinberg, D. Yan and D. Williamson, *Bayesian Networks in Educational
Assessment*, 2015, chapter 8; R. Almond, "An IRT-based parameterization for conditional
probability tables", BMAW 2015. Names and formulas are those of the R package CPTtools.

R. Almond, L. DiBello, F. Jenkins, R. Mislevy, D. Senturk, L. Steinberg and D. Yan, "Models for
conditional probability tables in educational assessment", AISTATS 2001 (DiBello-Samejima); R.
Almond, "An IRT-based parameterization for conditional probability tables", BMAW 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted, shown
from bnmind._values import Value
from bnmind.adaptive.response_models.base import (
    Number,
    Scale,
    check_item,
    refuse_large,
    table,
)
from bnmind.adaptive.response_models.links import CUMULATIVE, softmax
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

Numbers = Number | tuple[Number, ...]
"""A number for all skills, or one for each."""
Scales = Scale | tuple[Scale, ...]
"""A slope for all skills, or one for each."""


class Combination(StrEnum):
    """How the effective abilities of several skills become one.

    The formulas are those of `effective`.
    """

    COMPENSATORY = "compensatory"
    """Σ_k α_k θ̃_k / √K − β: more of a skill makes up for less of another."""
    CONJUNCTIVE = "conjunctive"
    """min_k α_k θ̃_k − β: all skills are needed, the weakest counts."""
    DISJUNCTIVE = "disjunctive"
    """max_k α_k θ̃_k − β: one skill is enough, the strongest counts."""
    OFFSET_CONJUNCTIVE = "offset-conjunctive"
    """α min_k (θ̃_k − β_k): all skills are needed, each at its own level."""
    OFFSET_DISJUNCTIVE = "offset-disjunctive"
    """α max_k (θ̃_k − β_k): one skill is enough, each at its own level."""

    @property
    def is_offset(self) -> bool:
        """Whether there is one slope, and a difficulty of each skill."""
        return self in (Combination.OFFSET_CONJUNCTIVE, Combination.OFFSET_DISJUNCTIVE)

    def effective(self, abilities: Floats, slopes: Floats, difficulty: Floats) -> Floats:
        """Return the effective ability of each configuration, ``(configurations,)``.

        Parameters
        ----------
        abilities
            ``(configurations, skills)``: the effective abilities of the levels.
        slopes
            ``(skills,)``, or one slope for offset functions.
        difficulty
            One difficulty, or ``(skills,)`` for offset functions.

        Examples
        --------
        >>> import numpy as np
        >>> levels = np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> root = np.sqrt([2.0, 2.0])
        >>> Combination.COMPENSATORY.effective(levels, root, np.zeros(1)).round(9).tolist()
        [2.0, 0.0]
        >>> Combination.CONJUNCTIVE.effective(levels, np.ones(2), np.zeros(1)).tolist()
        [1.0, -1.0]
        """
        n = abilities.shape[1]
        if not n:
            return np.full(len(abilities), -float(np.sum(difficulty)))
        if self.is_offset:
            each = abilities - difficulty
            most = each.min if self is Combination.OFFSET_CONJUNCTIVE else each.max
            return np.asarray(slopes * most(axis=1))
        each = abilities * slopes
        if self is Combination.COMPENSATORY:
            total = each.sum(axis=1) / np.sqrt(n)
        else:
            total = each.min(axis=1) if self is Combination.CONJUNCTIVE else each.max(axis=1)
        return np.asarray(total - difficulty)


def effective_abilities(n_levels: Sequence[int]) -> Floats:
    """Return the effective abilities in each configuration of skills.

    ``(configurations, skills)``, with the level of the last skill changing fastest.

    Examples
    --------
    >>> effective_abilities([3])[:, 0].round(4).tolist()
    [-0.9674, 0.0, 0.9674]
    """
    from scipy.special import ndtri

    each = [ndtri((2 * np.arange(n) + 1) / (2 * n)) for n in n_levels]
    if not each:
        return np.zeros((1, 0))
    grids = np.meshgrid(*each, indexing="ij")
    table: Floats = np.stack([grid.reshape(-1) for grid in grids], axis=1)
    return table


def flat(value: Any) -> list[float]:
    """Return all numbers of nested tuples."""
    return [x for entry in value for x in flat(entry)] if isinstance(value, tuple) else [value]


def one_for_each(what: str, value: Any, item: Variable, n: int) -> Floats:
    """Return ``n`` numbers from one number or from ``n``.

    Raises
    ------
    InvalidModelError
        If there is another number of them; the message names the item.
    """
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim and len(numbers) != n:
        raise InvalidModelError([f"expected {n} {what} for {item.name}, got {len(numbers)}"])
    each: Floats = np.broadcast_to(numbers, (n,))
    return each


_D = 1.7


class Link(StrEnum):
    """How the effective abilities for the steps become chances of the responses."""

    PARTIAL_CREDIT = "partial-credit"
    """P(X = r) ∝ exp(D Σ_{s ≤ r} η_s): each step from one response to the next by itself."""
    GRADED_RESPONSE = "graded-response"
    """P(X ≥ r) = 1 / (1 + exp(−D η_r)), and at least that of any better response."""

    def chances(self, effective: Floats) -> Floats:
        """Return the chances of the responses, ``(configurations, responses)``.

        Parameters
        ----------
        effective
            ``(configurations, responses − 1)``: the effective abilities for the steps.
        """
        if self is Link.PARTIAL_CREDIT:
            steps = np.concatenate([np.zeros((len(effective), 1)), _D * effective], axis=1)
            return softmax(np.cumsum(steps, axis=1))
        # Response r or better is at least as probable as r + 1 or better.
        falling = np.maximum.accumulate(effective[:, ::-1], axis=1)[:, ::-1]
        return CUMULATIVE.chances(_D * falling)


@dataclass(frozen=True)
class DiBello(Value):
    """An expert's model: slopes and difficulties, a combination function and a link.

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
        The combination function, or one for each response but the first.
    link
        The link function.

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
    >>> from bnmind.adaptive.response_models.base import response_channel
    >>> skill = Variable("algebra", ("low", "medium", "high"))
    >>> item = DiBello(slopes=1.0, difficulties=(-0.5, 1.0), link=Link.GRADED_RESPONSE)
    >>> response_channel(item, [skill]).round(3).tolist()
    [[0.689, 0.277, 0.034], [0.299, 0.546, 0.154], [0.076, 0.438, 0.486]]
    """

    slopes: Scale | tuple[Scales, ...]
    difficulties: Number | tuple[Numbers, ...]
    combination: Combination | tuple[Combination, ...] = Combination.COMPENSATORY
    link: Link = Link.PARTIAL_CREDIT

    _error = InvalidModelError

    def __post_init__(self) -> None:
        if not isinstance(self.difficulties, list | tuple):
            self._set(difficulties=(self.difficulties,))
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        n, slopes, combination = self.n_responses - 1, self.slopes, self.combination
        if n < 1:
            yield "expected at least one difficulty, got ()"
        if not flat(slopes):
            yield f"expected at least one slope, got {shown(slopes)}"
        if isinstance(combination, tuple) and len(combination) != n:
            yield f"expected {counted(n, 'combination function')}, got {len(combination)}"
        if self._has_slopes_for_each_step and len(slopes) != n:  # type: ignore[arg-type]
            yield f"expected slopes for {counted(n, 'response')}, got {shown(slopes)}"

    @property
    def _has_slopes_for_each_step(self) -> bool:
        return isinstance(self.slopes, tuple) and any(isinstance(x, tuple) for x in self.slopes)

    @property
    def n_responses(self) -> int:
        """The number of difficulties plus one."""
        assert isinstance(self.difficulties, tuple)
        return len(self.difficulties) + 1

    @classmethod
    @checked
    def samejima(
        cls,
        slopes: float | tuple[float, ...],
        difficulty: float,
        increments: tuple[float, ...] = (),
        *,
        combination: Combination = Combination.COMPENSATORY,
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
        if combination.is_offset:
            raise InvalidModelError([f"expected a function without offsets, got {combination}"])
        if not all(step >= 0 for step in increments):
            raise InvalidModelError([f"expected increments of at least 0, got {increments}"])
        places = np.cumsum([0.0, *increments])
        middle = places[-1] / 2
        difficulties = tuple((difficulty + places - middle).tolist())
        return cls(slopes, difficulties, combination, Link.GRADED_RESPONSE)

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item, or of a skill, given skills.

        The states of each variable are from the lowest level to the highest.
        """
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        assert isinstance(self.difficulties, tuple)
        n = len(self.difficulties)
        abilities = effective_abilities([v.n_states for v in parents])
        combinations = self.combination
        each = combinations if isinstance(combinations, tuple) else (combinations,) * n
        columns = []
        for step, (combination, difficulty) in enumerate(zip(each, self.difficulties, strict=True)):
            slopes = self.slopes
            if self._has_slopes_for_each_step:
                slopes = slopes[step]  # type: ignore[index]
            k, offset = len(parents), combination.is_offset
            columns.append(
                combination.effective(
                    abilities,
                    one_for_each("slopes", slopes, item, 1 if offset else k),
                    one_for_each("difficulties", difficulty, item, k if offset else 1),
                )
            )
        return table(item, parents, self.link.chances(np.stack(columns, axis=1)).T)
