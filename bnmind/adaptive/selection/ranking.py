"""Items ranked by expected information, and the skills that they are informative about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._display import table_html
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.skill_response_joints import response_joints
from bnmind.adaptive.selection.selector import in_bank_order
from bnmind.adaptive.selection.target_entropy import information_about
from bnmind.information import Floats

__all__ = ["RankedItem", "Ranking", "rank_items"]


@dataclass(frozen=True, kw_only=True)
class RankedItem(Value):
    """The expected information of an item."""

    item: str
    """The name of the item."""
    information: float
    """The expected information about all skills jointly, in bits."""
    expected_entropy: float
    """The expected entropy of all skills after the response, in bits."""
    by_skill: Mapping[str, float]
    """The expected information about each skill alone, in bits.

    The sum may be larger than the information about all skills, if skills are dependent, or
    smaller, if only a combination of skills matters.
    """
    skill: str
    """The skill with the largest expected information; the first of equal ones."""
    predicted: Mapping[str, float]
    """The probability of each response."""
    allowed: bool = True
    """Whether it may be asked next."""


class Ranking(tuple[RankedItem, ...]):
    """Ranked items, the best first: a tuple that notebooks display as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [
            (row.item, f"{row.information:.4g}", f"{row.expected_entropy:.4g}", row.skill)
            for row in self
        ]
        heads = ("item", "information in bits", "expected entropy", "most about")
        return table_html(
            heads, rows, caption=f"{counted(len(self), 'item')} by expected information"
        )


@checked
def rank_items(belief: SkillBelief, items: Sequence[str]) -> tuple[RankedItem, ...]:
    """Return items by expected information, the largest first; ties in bank order.

    Parameters
    ----------
    belief
        The belief about the examinee.
    items
        Items not answered yet.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> best = rank_items(start_belief(bank), bank.item_names)[0]
    >>> best.item, best.skill, round(best.information, 3)
    ('item_1', 'skill_1', 0.397)
    """
    bank = belief.bank
    ordered = in_bank_order(belief, items)
    whole = belief.information(ordered)
    about: dict[str, Floats] = {}
    for skill in bank.skills:
        alone = len(bank.hidden) == 1
        about[skill] = (
            whole if alone else information_about(response_joints(belief, [skill], ordered))
        )
    rows = []
    for number, name in enumerate(ordered):
        by_skill = {skill: float(values[number]) for skill, values in about.items()}
        most = max(by_skill.values())
        predicted = zip(bank.responses(name), belief.predict(name).tolist(), strict=True)
        rows.append(
            RankedItem(
                item=name,
                information=float(whole[number]),
                expected_entropy=max(0.0, belief.entropy - float(whole[number])),
                by_skill=by_skill,
                skill=next(skill for skill, value in by_skill.items() if value >= most - 1e-9),
                predicted=dict(predicted),
            )
        )
    # Nine digits decide, so that rounding does not; ties keep their order.
    return Ranking(sorted(rows, key=lambda row: -round(row.information, 9)))
