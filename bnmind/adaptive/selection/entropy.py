"""Minimal expected entropy over all skills.

=============================  =====================================================
name in the literature         meaning here
=============================  =====================================================
minimal expected (Shannon)     EH = H(belief) − score, so the minimum of EH is the maximum
entropy                        of the score
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

from bnmind._arguments import checked_if_it_fails
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.selection.selector import (
    TOLERANCE,
    QuestionBelief,
    ScoringSelector,
)
from bnmind.information import Floats

__all__ = ["MinimalEntropy"]


@dataclass(frozen=True)
class MinimalEntropy(ScoringSelector[QuestionBelief]):
    """Select the item with the smallest expected entropy of all skills after its response.

    The score is the expected information of an item about all skills jointly, in bits,
    computed by `bnmind.information.information`, which also chooses the guesses in
    Mastermind. The expected entropy is the entropy of the belief minus the score.
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

    @checked_if_it_fails
    def scores(self, belief: QuestionBelief, items: Sequence[str]) -> Floats:
        """Return the expected information of each item, in bits."""
        return belief.information(items)

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the expected information of each item, ``(examinees, items)``."""
        return beliefs.information()
