"""The registry of stoppers: the names that end tests at the command line.

A new stopper is a file in this folder and a line here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bnmind._arguments import checked
from bnmind._registry import COUNT, NUMBER, Argument, Registered, made_by_name
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

__all__ = ["STOPPERS", "stopper_by_names"]

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
