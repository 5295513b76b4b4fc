"""The registry of stoppers: the names that end tests at the command line.

A new stopper is a file in this folder and a line here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bnmind._arguments import checked
from bnmind._registry import COUNT, NUMBER, Argument, Registered, made_by_name
from bnmind.adaptive.beliefs.ability_estimates import has_ability
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.stopping.certainty import (
    DeviationBelow,
    EntropyBelow,
    GainBelow,
    ProfileCertain,
    SkillsCertain,
)
from bnmind.adaptive.stopping.length import MaximalCost, MaximalItems, MaximalTime
from bnmind.adaptive.stopping.plateau import Plateau
from bnmind.adaptive.stopping.probability_ratio import AbilityDecided, SkillsDecided
from bnmind.adaptive.stopping.stopper import AllOf, AnyOf, Stopper

__all__ = ["STOPPERS", "default_stop", "default_stop_words", "stopper_by_names"]

STOPPERS: Mapping[str, Registered[Stopper]] = MappingProxyType(
    {
        "items": Registered("N items were asked", None, COUNT, MaximalItems),
        "time": Registered("the items asked take this long", None, NUMBER, MaximalTime),
        "cost": Registered("the items asked cost this much", None, NUMBER, MaximalCost),
        "entropy": Registered(
            "the entropy of the skills is at most this many bits", None, NUMBER, EntropyBelow
        ),
        "profile": Registered("one profile is this probable", None, NUMBER, ProfileCertain),
        "certainty": Registered(
            "one level of each skill is this probable", None, NUMBER, SkillsCertain
        ),
        "gain": Registered(
            "no item has more expected information than this many bits", None, NUMBER, GainBelow
        ),
        "deviation": Registered(
            "the standard deviation of the ability is at most this", None, NUMBER, DeviationBelow
        ),
        "plateau": Registered(
            "the last 3 answers changed no skill by more than this", None, NUMBER, Plateau
        ),
        "sprt": Registered(
            "a probability ratio test decides each skill, with this error; default .05",
            SkillsDecided,
            Argument("NUMBER", "a chance of an error", NUMBER.read, "0.1"),
            SkillsDecided,
        ),
        "cut": Registered(
            "a probability ratio test decides if the ability is above this",
            None,
            NUMBER,
            AbilityDecided,
        ),
    }
)
"""The stopper of each name."""

_MOST_ITEMS = 30
"""About what fits into a lesson."""


def default_stop(bank: ItemBank) -> tuple[str, ...]:
    """Return the texts of the stopper of a test that is given to a person without one.

    The deviation of an ability is that of mirtCAT. Simulations and designs in Python have no
    stopper unless one is named.
    """
    known = ("deviation:0.3",) if has_ability(bank) else ("certainty:0.95", "gain:0.01")
    return (*known, f"items:{_MOST_ITEMS}")


def default_stop_words(bank: ItemBank) -> str:
    """Return when such a test ends, in words."""
    known = (
        "the standard deviation of the ability is at most 0.3"
        if has_ability(bank)
        else "each skill is known with probability 0.95, when no item should tell more than 0.01"
        " bits"
    )
    return f"The test ends when {known}, or after {_MOST_ITEMS} items"


@checked
def stopper_by_names(texts: Sequence[str]) -> Stopper | None:
    """Return the stopper of texts such as ``items:10`` or ``items:5+certainty:0.9``.

    Parameters
    ----------
    texts
        Any of them ends the test; of those joined by ``+`` in one text, all must hold.

    Returns
    -------
    Stopper or None
        None if there are no texts.

    Raises
    ------
    UnknownNameError
        If no stopper has a name.
    InvalidArgumentError
        If an argument is missing or of another kind.
    """
    any_of: list[Stopper] = []
    for text in texts:
        parts = text.split("+")
        all_of = tuple(made_by_name("stopper", STOPPERS, part, shown_in=text) for part in parts)
        any_of.append(all_of[0] if len(all_of) == 1 else AllOf(all_of))
    if not any_of:
        return None
    return any_of[0] if len(any_of) == 1 else AnyOf(tuple(any_of))
