"""Options for the selectors and stoppers of adaptive tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bnmind.cli.adaptive.model_names import gate_words
from bnmind.cli.shared.completion import completing, completing_members
from bnmind.cli.shared.members import command_with_members
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind._registry import Registered

__all__ = [
    "DEFAULT_SELECTOR",
    "SELECTOR_HELP",
    "AdaptiveCommand",
    "SelectorName",
    "StopNames",
    "check_shares",
    "gate_completer",
    "skills_completer",
]

DEFAULT_SELECTOR = "entropy"

SELECTOR_HELP = "The selector, from the list below."

_STOP_HELP = (
    "When to stop, from the list below. Join stoppers by + to stop when all of them do. Repeat the"
    " option to stop when any of them does."
)

gate_completer = completing(gate_words)
skills_completer = completing_members("bnmind.adaptive", "SKILL_DISTRIBUTIONS")

SelectorName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--selector",
        metavar="NAME[:ARG]",
        help=SELECTOR_HELP,
        show_default=False,
        autocompletion=completing_members("bnmind.adaptive", "SELECTORS"),
    ),
]
StopNames: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--stop",
        metavar="NAME:NUMBER",
        help=_STOP_HELP,
        autocompletion=completing_members("bnmind.adaptive", "STOPPERS"),
    ),
]


def check_shares(given: Mapping[str, float | None], *, below: float = 1.0) -> None:
    """Raise BnmindError unless the values of options lie between 0 and a number, or are None."""
    for name, value in given.items():
        if value is not None and not 0 <= value <= below:
            raise BnmindError(f"expected {name} between 0 and {below:g}, got {value:g}")


def _selectors() -> Mapping[str, Registered[object]]:
    from bnmind.adaptive import SELECTORS

    return SELECTORS


def _stoppers() -> Mapping[str, Registered[object]]:
    from bnmind.adaptive import STOPPERS

    return STOPPERS


AdaptiveCommand = command_with_members(Selectors=_selectors, Stoppers=_stoppers)
"""A command whose help lists the selectors and the stoppers."""
