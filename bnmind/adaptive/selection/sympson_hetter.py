r"""The Sympson–Hetter method of exposure control.

=============  ==============================================================
symbol         name here
=============  ==============================================================
K_i            ``rates[i]``: P(A_i | S_i), the chance to ask a selected item
P(S_i)         ``selected``: the share of tests in which it was selected
r_max          ``limit``
=============  ==============================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Probability
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.drawing import DrawingSelector
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    ScoringSelector,
    Selection,
    by_rank,
)
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["SympsonHetter"]


@dataclass(frozen=True)
class SympsonHetter(DrawingSelector):
    """Ask a selected item only with a certain probability, else try the next best item.

    An item that is selected and not asked is set aside for the rest of the test; see
    `Selection.set_aside`. If all items are rejected, the best one is asked.

    Parameters
    ----------
    scored
        The selector that scores the items.
    rates
        The probability of asking each item when it is selected, in [0, 1]; 1 for items not
        named. To find the rates, alternate between simulations and `adjusted`.

    References
    ----------
    J. B. Sympson and R. D. Hetter, "Controlling item-exposure rates in computerized
    adaptive testing", Proc. 27th Military Testing Association, 1985.
    """

    scored: ScoringSelector[SkillBelief]
    rates: Mapping[str, Probability] = field(default_factory=dict)

    @checked
    def adjusted(self, selected: Mapping[str, float], limit: float) -> SympsonHetter:
        """Return the selector with rates for the next round of simulations.

        Parameters
        ----------
        selected
            The share of tests in which each item was selected, asked or set aside.
        limit
            The largest share of tests in which an item may be asked, in (0, 1].

        Raises
        ------
        InvalidArgumentError
            If the limit is not in (0, 1].
        """
        if not 0 < limit <= 1:
            raise InvalidArgumentError(f"expected a limit in (0, 1], got {limit}", limit)
        return SympsonHetter(
            self.scored,
            {name: limit / share if share > limit else 1.0 for name, share in selected.items()},
        )

    def _selected(self, belief: SkillBelief, ordered: tuple[str, ...], luck: Floats) -> Selection:
        own_luck = luck[[belief.bank.position(name) for name in ordered]]
        scores = self.scored.scores(belief, ordered)
        ranked = by_rank(scores, self.scored.tolerance)
        rates = np.array([self.rates.get(name, 1.0) for name in ordered])
        passed = (own_luck < rates)[ranked]
        first = int(np.argmax(passed))  # the best one if none passes
        item = ordered[int(ranked[first])]
        aside = tuple(ordered[i] for i in ranked[:first])
        return Selection(item=item, items=ordered, scores=scores, tied=(item,), set_aside=aside)

    def _selected_batch(
        self, beliefs: BatchBelief, allowed: NDArray[np.bool_], luck: Floats
    ) -> BatchSelection:
        scores = self.scored.allowed_scores(beliefs, allowed)
        ranked = by_rank(scores, self.scored.tolerance)
        passed = np.take_along_axis(allowed & (luck < self._rates(beliefs.bank)), ranked, axis=1)
        first = np.argmax(passed, axis=1)
        rows = np.arange(len(ranked))
        items = np.where(allowed.any(axis=1), ranked[rows, first], MISSING)
        before = np.arange(ranked.shape[1]) < first[:, None]
        aside = np.zeros(allowed.shape, dtype=bool)
        np.put_along_axis(aside, ranked, before, axis=1)
        return BatchSelection(items, scores, aside & allowed)

    def _rates(self, bank: ItemBank) -> Floats:
        return np.array([self.rates.get(name, 1.0) for name in bank.item_names])
