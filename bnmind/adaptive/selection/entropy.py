"""Minimal expected entropy over all skills.

=============================  =====================================================
name in the literature         what it is here
=============================  =====================================================
minimal expected (Shannon)     EH = H(belief) − score; what is minimal there is maximal
entropy                        here
mutual information             the score
expected information gain      the score
Jensen–Shannon divergence      of the response distributions of all profiles, weighted
(JSD)                          by the belief: the score
weighted/generalized           the same for two response categories
Shannon entropy of Xu et al.
=============================  =====================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._arguments import check_fields, checked_if_it_fails
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.selection.selector import (
    TOLERANCE,
    QuestionBelief,
    ScoringSelector,
    checked_tolerance,
)
from bnmind.information import Floats

__all__ = ["MinimalEntropy"]


@dataclass(frozen=True)
class MinimalEntropy(ScoringSelector[QuestionBelief]):
    """Select the item after whose response the entropy of all skills is expected least.

    The score is the information that an item promises about all skills jointly, in bits,
    as `bnmind.information.information` computes it, which also chooses the guesses in
    Mastermind; the expected entropy is the entropy of the belief less the score.
    Synonyms: mutual information, expected information gain, Jensen–Shannon divergence.

    Parameters
    ----------
    tolerance
        Information closer than this, in bits, counts as equal.

    References
    ----------
    J. Vomlel, "Bayesian networks in educational testing", 2004; C. Tatsuoka and T.
    Ferguson, "Sequential classification on partially ordered sets", J. R. Stat. Soc. B
    2003; X. Xu, H.-H. Chang and J. Douglas, "A simulation study to compare CAT strategies
    for cognitive diagnosis", AERA 2003 (the Shannon entropy procedure).

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> selection = MinimalEntropy().select(start_belief(bank), bank.item_names)
    >>> selection.item, selection.scores.round(3).tolist()
    ('item_1', [0.397, 0.296])
    """

    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        check_fields(self)
        checked_tolerance(self.tolerance)

    @checked_if_it_fails
    def scores(self, belief: QuestionBelief, items: Sequence[str]) -> Floats:
        """Return the information that each item promises, in bits."""
        return belief.information(items)

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the information that each item promises, ``(examinees, items)``."""
        return beliefs.information()
