"""Selectors and stoppers of adaptive tests by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bnmind._messages import shown
from bnmind.cli.shared.options import listed_names
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.adaptive import Selector, SkillBelief, Stopper

__all__ = [
    "DEFAULT_SELECTOR",
    "SELECTOR_HELP",
    "SELECTOR_NAMES",
    "STOP_NAMES",
    "SelectorName",
    "StopNames",
    "selector_named",
    "stopper_named",
]

DEFAULT_SELECTOR = "entropy"

SELECTOR_NAMES: Mapping[str, str] = {
    "entropy": "most information about all skills, or about SKILL+SKILL…",
    "skills": "most information about each skill alone, summed",
    "gdi": "G-DINA discrimination index",
    "kl": "Kullback-Leibler divergence from the most probable profile",
    "pwkl": "the same, weighted by the belief",
    "mpwkl": "the same between all profiles, weighted by the belief",
    "fisher": "Fisher information at the ability expected",
    "loss": "fewest skills classified wrongly",
    "per-cost": "most information for its cost",
    "per-time": "most information for its time",
    "randomesque": "any of the N best by entropy (5)",
    "random": "any",
    "order": "the order of the bank",
}

STOP_NAMES: Mapping[str, str] = {
    "items": "so many items were asked",
    "time": "the items asked take so long",
    "cost": "the items asked cost so much",
    "entropy": "at most so many bits are unknown",
    "profile": "one profile is so probable",
    "certainty": "some level of each skill is so probable",
    "gain": "no item promises more bits",
    "deviation": "the standard deviation of the ability is so small",
}

SELECTOR_HELP = (
    f"What selects items: {', '.join(SELECTOR_NAMES)}. entropy:SKILL+SKILL asks about some skills"
    " only; a name that holds + stands in double quotes."
)
_STOP_HELP = (
    f"When to stop, NAME:NUMBER with {', '.join(STOP_NAMES)}; joined by + all of them must hold."
    " May be given again: any of them."
)

SelectorName: TypeAlias = Annotated[
    str | None,
    typer.Option("--selector", metavar="NAME[:ARG]", help=SELECTOR_HELP, show_default=False),
]
StopNames: TypeAlias = Annotated[
    list[str] | None, typer.Option("--stop", metavar="NAME:NUMBER", help=_STOP_HELP)
]


def selector_named(text: str) -> Selector[SkillBelief]:
    """Return the selector of a name, with an argument after a colon if it takes one.

    Raises
    ------
    UnknownNameError
        If there is no selector of the name.
    BnmindError
        If the argument does not fit.
    """
    from bnmind import adaptive

    name, _, argument = text.partition(":")
    plain: dict[str, Callable[[], Selector[SkillBelief]]] = {
        "entropy": adaptive.MinimalEntropy,
        "skills": adaptive.SkillEntropy,
        "gdi": adaptive.DiscriminationIndex,
        "kl": adaptive.KullbackLeibler,
        "pwkl": adaptive.PosteriorWeightedKL,
        "mpwkl": adaptive.ModifiedPosteriorWeightedKL,
        "fisher": adaptive.MaximalFisher,
        "loss": adaptive.LossGain,
        "per-cost": lambda: adaptive.PerCost(adaptive.MinimalEntropy()),
        "per-time": lambda: adaptive.PerCost(adaptive.MinimalEntropy(), adaptive.item_time),
        "randomesque": lambda: adaptive.Randomesque(adaptive.MinimalEntropy()),
        "random": adaptive.RandomItem,
        "order": adaptive.FixedOrder,
    }
    if name not in plain:
        raise UnknownNameError("selector", name, plain)
    if not argument:
        return plain[name]()
    if name == "entropy":
        return adaptive.TargetEntropy(listed_names(argument, "+"))
    if name == "randomesque":
        return adaptive.Randomesque(adaptive.MinimalEntropy(), int(_number(argument, text)))
    raise BnmindError(f"expected {name} without an argument, got {shown(text)}")


def stopper_named(texts: Sequence[str]) -> Stopper | None:
    """Return the stopper of texts such as ``items:10`` or ``items:5+certainty:0.9``.

    Raises
    ------
    UnknownNameError
        If there is no stopper of a name.
    BnmindError
        If a number is missing or does not fit.
    """
    from bnmind.adaptive import AllOf, AnyOf

    any_of: list[Stopper] = []
    for text in texts:
        all_of = tuple(_stopper(part) for part in text.split("+"))
        any_of.append(all_of[0] if len(all_of) == 1 else AllOf(all_of))
    if not any_of:
        return None
    return any_of[0] if len(any_of) == 1 else AnyOf(tuple(any_of))


def _stopper(text: str) -> Stopper:
    from bnmind import adaptive

    name, _, argument = text.partition(":")
    made: dict[str, Callable[[float], Stopper]] = {
        "items": lambda number: adaptive.MaximalItems(int(number)),
        "time": adaptive.MaximalTime,
        "cost": adaptive.MaximalCost,
        "entropy": adaptive.EntropyBelow,
        "profile": adaptive.ProfileCertain,
        "certainty": adaptive.SkillsCertain,
        "gain": adaptive.GainBelow,
        "deviation": adaptive.DeviationBelow,
    }
    if name not in made:
        raise UnknownNameError("stopper", name, made)
    number = _number(argument, text)
    if name == "items" and number % 1:
        raise BnmindError(f"expected a whole number of items, at least 1, got {shown(text)}")
    return made[name](number)


def _number(argument: str, text: str) -> float:
    try:
        number = float(argument)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise BnmindError(f"expected a number after the colon, got {shown(text)}")
    return number
