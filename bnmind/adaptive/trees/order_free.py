"""Whether the decisions of a design depend on nothing but the belief and the set of items asked.

Only then may equal beliefs be merged. The order of the answers matters to rules that look at the
last item, such as testlets, and may matter to functions of a user.
"""

from __future__ import annotations

from bnmind.adaptive.selection.baselines import FixedOrder, PerCost
from bnmind.adaptive.selection.content_balance import ContentBalance
from bnmind.adaptive.selection.entropy import MinimalEntropy
from bnmind.adaptive.selection.expected_loss import LossGain
from bnmind.adaptive.selection.fisher import MaximalFisher
from bnmind.adaptive.selection.gdi import DiscriminationIndex
from bnmind.adaptive.selection.kullback_leibler import (
    KullbackLeibler,
    ModifiedPosteriorWeightedKL,
    PosteriorWeightedKL,
)
from bnmind.adaptive.selection.rules import Enemies, OnlyItems, Testlets
from bnmind.adaptive.selection.target_entropy import SkillEntropy, TargetEntropy
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.stopping.certainty import (
    DeviationBelow,
    EntropyBelow,
    GainBelow,
    ProfileCertain,
    SkillsCertain,
)
from bnmind.adaptive.stopping.length import MaximalCost, MaximalItems, MaximalTime
from bnmind.adaptive.stopping.stopper import AllOf, AnyOf

__all__ = ["ignores_order"]

_SELECTORS = (
    *(MinimalEntropy, TargetEntropy, SkillEntropy, DiscriminationIndex, KullbackLeibler),
    *(PosteriorWeightedKL, ModifiedPosteriorWeightedKL, MaximalFisher, LossGain, FixedOrder),
)
_STOPPERS = (
    *(MaximalItems, MaximalCost, MaximalTime, EntropyBelow, ProfileCertain, SkillsCertain),
    *(DeviationBelow,),
)


def ignores_order(design: Design) -> bool:
    """Return whether a design is known to ignore the order of the answers; if unsure, False."""
    has_testlets = any(item.testlet for item in design.bank.items)
    rules = all(
        type(rule) in (Enemies, OnlyItems, ContentBalance)
        or (type(rule) is Testlets and not has_testlets)
        for rule in design.rules
    )
    return rules and _selector(design.selector) and _stopper(design.stopper)


def _selector(selector: object) -> bool:
    if type(selector) is PerCost:
        return _selector(selector.scored)
    return type(selector) in _SELECTORS


def _stopper(stopper: object) -> bool:
    if stopper is None:
        return True
    if isinstance(stopper, AnyOf | AllOf):
        return all(_stopper(one) for one in stopper.stoppers)
    if type(stopper) is GainBelow:
        return _selector(stopper.scored)
    return type(stopper) in _STOPPERS
