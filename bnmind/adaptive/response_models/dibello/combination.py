r"""Parameters and combination functions of DiBello models: effective abilities of skills.

=================  ===============================================================
symbol             name here
=================  ===============================================================
θ̃_k(m)             Φ⁻¹((2m − 1) / 2M): the effective ability of level m of M of
                   skill k, the median of the m-th of M equal parts of a standard
                   normal distribution
α_k, β             ``slopes``, ``difficulty``; one slope for *offset* functions
β_k                ``difficulty`` of each skill, for offset functions
=================  ===============================================================

References
----------
R. Almond, L. DiBello, F. Jenkins, R. Mislevy, D. Senturk, L. Steinberg and D. Yan, "Models for
conditional probability tables in educational assessment", AISTATS 2001; R. Almond, "I can name
that Bayesian network in two matrixes!", Int. J. Approx. Reasoning 2010. Names and formulas are
those of the R package CPTtools.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from bnmind.adaptive.response_models.base.parameters import Number, Scale
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Variable

__all__ = [
    "Combination",
    "Numbers",
    "Scales",
    "effective_abilities",
    "flat",
    "one_for_each",
]

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
