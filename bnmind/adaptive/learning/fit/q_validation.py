r"""Validation of a Q-matrix by the discrimination index ς².

==================  ======================================================================
symbol              name here
==================  ======================================================================
q                   the skills that an item is supposed to need
w_c, P_c            the share of examinees with the configuration c of these skills, and
                    their chance of a right response
ς²(q)               Σ_c w_c (P_c − Σ w P)², the variance of the chance
PVAF(q)             ``share``: ς²(q) / ς²(all skills), the proportion of variance accounted for
ε                   ``cutoff``: the smallest q with PVAF(q) ≥ ε is proposed
IQ, N, J            one minus the means of guesses and slips; the numbers of examinees and items
logit ε             −0.405 + 2.867 IQ + 4.840 · 10⁻⁴ N − 3.316 · 10⁻³ J: ``predicted_cutoff``
==================  ======================================================================

Shares and chances come from the posterior of the profiles given the responses. With all skills,
ς² is largest; a skill that an item does not need adds little.

References
----------
J. de la Torre and C.-Y. Chiu, "A general method of empirical Q-matrix validation", Psychometrika
2016 (eqs. 6 and 12, ε = 0.95); P. Nájera, M. Sorrel and F. Abad, "Reconsidering cutoff points in
the general method of empirical Q-matrix validation", Educ. Psychol. Meas. 2019 (ε from the data,
with IQ as in the R package GDINA, ``eps = -1``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._display import Result, Table
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.learning.em.e_step_table import placed_sums
from bnmind.adaptive.learning.fit.standard_errors import table_expectation
from bnmind.adaptive.learning.learn import Learned
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["ItemProposal", "QValidation", "SkillSet", "predicted_cutoff", "validate_qmatrix"]

_SHOWN = 60
_TIE = 1e-9
"""Shares that differ by less are equal; then the first skills are proposed."""


@dataclass(frozen=True)
class SkillSet(Value):
    """Some skills, and how much of an item's variance they account for."""

    skills: tuple[str, ...]
    """The names of the skills."""
    share: float
    """PVAF, from 0 to 1."""


@dataclass(frozen=True)
class ItemProposal(Value):
    """The skills that an item seems to need."""

    item: str
    """The name of the item."""
    now: SkillSet
    """The skills of the Q-matrix."""
    proposed: SkillSet
    """The fewest skills whose share reaches the cutoff; of equally many the best."""
    best: tuple[SkillSet, ...]
    """The best set of one skill, of two skills, …: the mesa plot of de la Torre and Ma."""

    @property
    def is_change(self) -> bool:
        """Whether the proposal differs from the Q-matrix."""
        return self.now.skills != self.proposed.skills


@dataclass(frozen=True, eq=False)
class QValidation(Result, Value):
    """A Q-matrix with a proposal for each item."""

    items: tuple[ItemProposal, ...]
    """A proposal for each item."""
    skills: tuple[str, ...]
    """The names of the skills."""
    cutoff: float
    """The share of the variance, 0 to 1, that a proposal must reach."""

    @property
    def changes(self) -> tuple[ItemProposal, ...]:
        """The items whose proposal differs from the Q-matrix."""
        return tuple(item for item in self.items if item.is_change)

    def __repr__(self) -> str:
        return (
            f"QValidation({len(self.changes)} of {len(self.items)} items with a change proposed,"
            f" cutoff {self.cutoff:g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the cutoff and the proposed changes as a record for JSON."""
        changes = [
            {
                "item": item.item,
                "skills": list(item.now.skills),
                "proposed": list(item.proposed.skills),
            }
            for item in self.changes
        ]
        return {"cutoff": self.cutoff, "qmatrix": changes}

    def _shown(self) -> Iterator[str | Table]:
        if not self.changes:
            yield "The responses propose no change of the Q-matrix."
            return
        rows = []
        for item in self.changes[:_SHOWN]:
            now, new = item.now.skills, item.proposed.skills
            signs = [f"+{skill}" for skill in new if skill not in now]
            signs += [f"−{skill}" for skill in now if skill not in new]
            shares = (f"{item.now.share:.1%}", f"{item.proposed.share:.1%}")
            rows.append((item.item, ", ".join(now), ", ".join(signs), *shares))
        yield Table(("item", "skills now", "proposed change", "variance, from", "to"), rows)
        yield (
            f"Other skills are proposed for {counted(len(self.changes), 'item')} (cutoff"
            f" {self.cutoff:.3g}). With few examinees for each profile, proposals name too many"
            " skills; ask an expert."
        )

    @property
    def qmatrix(self) -> QMatrix:
        """The Q-matrix of all proposals.

        Raises
        ------
        InvalidModelError
            If no item needs some skill any more.
        """
        needs = [[int(s in item.proposed.skills) for s in self.skills] for item in self.items]
        return QMatrix.of(
            np.array(needs), items=[item.item for item in self.items], skills=self.skills
        )


@checked
def predicted_cutoff(learned: Learned) -> float:
    """Return the cutoff that is best for tests of this size and quality, by Nájera et al. (2019).

    It is larger for more examinees, for fewer items, and for items with small guesses and slips.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.

    Examples
    --------
    >>> from bnmind.adaptive import Examinees, ItemBank, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Examinees.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 1000, seed=1).responses
    >>> round(predicted_cutoff(learn(seen, q)), 2)
    0.91
    """
    n, j = len(learned.responses), len(learned.items)
    quality = 1 - sum(item.guess + item.slip for item in learned.items) / j
    logit = -0.405 + 2.867 * quality + 4.840e-4 * n - 3.316e-3 * j
    return 1 / (1 + math.exp(-logit))


@checked
def validate_qmatrix(learned: Learned, *, cutoff: float = 0.95) -> QValidation:
    """Propose the skills that each item needs.

    Parameters
    ----------
    learned
        A learned bank, best with G-DINA models: they assume least about how skills act together.
    cutoff
        ε, the share of the variance that the skills of an item must account for; for one that
        depends on the data, see `predicted_cutoff`.

    Raises
    ------
    InvalidArgumentError
        If ``cutoff`` is not between 0 and 1, or the bank has other hidden variables than skills, or
        skills with more than two levels.
    TooLargeError
        If there are too many profiles for a table over all of them.

    Examples
    --------
    >>> from bnmind.adaptive import Examinees, Gdina, ItemBank, Responses, learn
    >>> truth = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]], 0.1, 0.1)
    >>> seen = Responses.of(Examinees.drawn(truth, 2000, seed=1).responses, items=truth.item_names)
    >>> wrong = [[1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 1]]
    >>> found = validate_qmatrix(learn(seen, wrong, gate=Gdina))
    >>> [(item.item, item.proposed.skills) for item in found.changes]
    [('item_3', ('skill_1', 'skill_2'))]
    """
    if not 0 < cutoff < 1:
        raise InvalidArgumentError(f"expected a cutoff between 0 and 1, got {cutoff}", cutoff)
    bank = learned.bank
    levels = [v.name for v in bank.hidden if v.n_states != 2]
    if levels:
        raise InvalidArgumentError(
            f"expected skills with two levels, got more for {', '.join(levels)}", levels[0]
        )
    others = [v.name for v in bank.hidden if v.name not in bank.skills]
    if others:
        raise InvalidArgumentError(
            f"expected a bank without hidden variables other than skills, got {', '.join(others)}",
            others[0],
        )
    shape = learned.model.skills.shape
    skills = tuple(v.name for v in bank.hidden)
    totals, rights, order = _profile_counts(learned)
    proposals = {}
    for name, total, right in zip(order, totals, rights, strict=True):
        total, right = total.reshape(shape), right.reshape(shape)
        sets = {
            places: _variance(total, right, places)
            for size in range(1, len(skills) + 1)
            for places in combinations(range(len(skills)), size)
        }
        whole = max(sets[tuple(range(len(skills)))], 1e-300)
        shares = {places: value / whole for places, value in sets.items()}
        best = tuple(
            _best({p: v for p, v in shares.items() if len(p) == size})
            for size in range(1, len(skills) + 1)
        )
        proposed = next(p for p in best if shares[p] >= cutoff - _TIE)
        parents = {v.name for v in bank.network.cpd(name).parents}
        now = tuple(place for place, skill in enumerate(skills) if skill in parents)
        sets_of = {p: SkillSet(tuple(skills[i] for i in p), share) for p, share in shares.items()}
        proposals[name] = ItemProposal(
            name, sets_of[now], sets_of[proposed], tuple(sets_of[p] for p in best)
        )
    return QValidation(tuple(proposals[name] for name in bank.item_names), skills, cutoff)


def _best(shares: dict[tuple[int, ...], float]) -> tuple[int, ...]:
    top = max(shares.values())
    return next(places for places, share in shares.items() if share >= top - _TIE)


def _variance(total: Floats, right: Floats, places: tuple[int, ...]) -> float:
    """Return ς² of the skills at some places."""
    rest = tuple(axis for axis in range(total.ndim) if axis not in places)
    n, k = total.sum(axis=rest).reshape(-1), right.sum(axis=rest).reshape(-1)
    chances = np.divide(k, n, out=np.zeros_like(n), where=n > 0)
    weights = n / n.sum()
    return float(weights @ (chances - weights @ chances) ** 2)


def _profile_counts(learned: Learned) -> tuple[Floats, Floats, list[str]]:
    """Return the expected numbers of examinees and of their scores, ``(items, profiles)``.

    An item with more than two responses counts by the share of its highest response.
    """
    expectation, layout = table_expectation(learned), learned.model.layout
    prior = learned.model.skills.prior(learned.parameters.skills)
    posterior = expectation.posteriors(
        layout.response_parameters(learned.parameters.items), learned.parameters.skills
    )
    of_class = placed_sums(expectation.classes, prior, posterior.shape[1])
    share = np.divide(
        prior, of_class[expectation.classes], out=np.zeros_like(prior), where=prior > 0
    )
    rows = expectation.patterns.rows[:, list(layout.columns)]
    weights = expectation.patterns.counts
    highest = np.array([n - 1 for _, n in layout.shapes])
    answered = (rows != MISSING) * weights[:, None]
    scores = np.where(rows != MISSING, rows, 0) / highest * weights[:, None]
    names = [name for block in layout.blocks for name in block.names]
    spread = expectation.classes
    totals = (answered.T @ posterior)[:, spread] * share
    rights = (scores.T @ posterior)[:, spread] * share
    return totals, rights, names
