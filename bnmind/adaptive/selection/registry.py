"""The registry of selectors: the names that select items at the command line.

A new selector is a file in this folder and a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bnmind._arguments import checked
from bnmind._registry import COUNT, NAMES, Argument, Registered, made_by_name
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.selection.baselines import FixedOrder, PerCost, RandomItem, item_time
from bnmind.adaptive.selection.entropy import MinimalEntropy
from bnmind.adaptive.selection.expected_loss import LossGain
from bnmind.adaptive.selection.fisher import MaximalFisher
from bnmind.adaptive.selection.gdi import DiscriminationIndex
from bnmind.adaptive.selection.kullback_leibler import (
    KullbackLeibler,
    ModifiedPosteriorWeightedKL,
    PosteriorWeightedKL,
)
from bnmind.adaptive.selection.posterior_variance import MinimalPosteriorVariance
from bnmind.adaptive.selection.progressive import Progressive
from bnmind.adaptive.selection.randomesque import Randomesque
from bnmind.adaptive.selection.selector import Selector
from bnmind.adaptive.selection.stratified import AStratified
from bnmind.adaptive.selection.target_entropy import SkillEntropy, TargetEntropy

__all__ = ["LENGTH", "SELECTORS", "selector_by_name", "selector_name"]

LENGTH = Argument("LENGTH", "the number of items in the test", COUNT.read, "3")
"""The argument of selectors that need the length of the test; design files leave it out."""

SELECTORS: Mapping[str, Registered[Selector[SkillBelief]]] = MappingProxyType(
    {
        "entropy": Registered(
            "most information about all skills, or about some", MinimalEntropy, NAMES, TargetEntropy
        ),
        "skills": Registered("most information about each skill alone, summed", SkillEntropy),
        "gdi": Registered("largest G-DINA discrimination index", DiscriminationIndex),
        "kl": Registered(
            "largest Kullback-Leibler divergence from the most probable profile", KullbackLeibler
        ),
        "pwkl": Registered("the same, weighted by the belief", PosteriorWeightedKL),
        "mpwkl": Registered(
            "the same between all profiles, weighted by the belief", ModifiedPosteriorWeightedKL
        ),
        "fisher": Registered("largest Fisher information at the expected ability", MaximalFisher),
        "mepv": Registered("smallest expected variance of the ability", MinimalPosteriorVariance),
        "a-stratified": Registered(
            "flat curves first, steep ones last, difficulty near the ability",
            None,
            LENGTH,
            AStratified,
        ),
        "loss": Registered("fewest skills classified wrongly", LossGain),
        "per-cost": Registered("most information for its cost", lambda: PerCost(MinimalEntropy())),
        "per-time": Registered(
            "most information for its time", lambda: PerCost(MinimalEntropy(), item_time)
        ),
        "randomesque": Registered(
            "one of the N best by entropy, at random; default 5",
            lambda: Randomesque(MinimalEntropy()),
            COUNT,
            lambda number: Randomesque(MinimalEntropy(), number),
        ),
        "progressive": Registered(
            "random at first, then more and more by entropy", None, LENGTH, Progressive
        ),
        "random": Registered("a random item", RandomItem),
        "order": Registered("the first item in the order of the bank", FixedOrder),
    }
)
"""The selector of each name."""


@checked
def selector_by_name(text: str) -> Selector[SkillBelief]:
    """Return the selector that a text names, such as ``gdi`` or ``randomesque:3``.

    Parameters
    ----------
    text
        The name, and perhaps an argument after a colon.

    Raises
    ------
    UnknownNameError
        If no selector has the name.
    InvalidArgumentError
        If the argument is of another kind, or does not belong there.

    Examples
    --------
    >>> selector_by_name("gdi")
    DiscriminationIndex(tolerance=1e-09)
    """
    return made_by_name("selector", SELECTORS, text)


def selector_name(selector: Selector[SkillBelief]) -> str:
    """Return the name of a kind of selector, without an argument; of its class if it has none.

    >>> selector_name(RandomItem())
    'random'
    """
    for name, member in SELECTORS.items():
        made = member.plain() if member.plain is not None else None
        if made is None and member.argument is not None and member.given is not None:
            made = member.given(member.argument.read(member.argument.example))
        if type(made) is type(selector):
            return name
    return type(selector).__name__
