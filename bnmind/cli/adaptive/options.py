"""Options for the selectors and stoppers of adaptive tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import typer

from bnmind.cli.shared.command import OneOf
from bnmind.errors import BnmindError

__all__ = [
    "DEFAULT_SELECTOR",
    "GateName",
    "SelectorName",
    "SkillsName",
    "StopNames",
    "check_shares",
]

DEFAULT_SELECTOR = "entropy"

GateName: TypeAlias = Annotated[
    str,
    OneOf("bnmind.adaptive.response_models.registry:LEARNABLE", "Response models"),
    OneOf("bnmind.adaptive:IRT_MODELS", "Models of one ability without a Q matrix"),
]
SkillsName: TypeAlias = Annotated[
    str, OneOf("bnmind.adaptive:SKILL_DISTRIBUTIONS", "Distributions of the skills")
]
SelectorName: TypeAlias = Annotated[
    str,
    "NAME[:ARG]",
    OneOf("bnmind.adaptive:SELECTORS", "Selectors"),
    typer.Option(help="The selector, from the list below."),
]
StopNames: TypeAlias = Annotated[
    list[str] | None,
    "NAME:NUMBER",
    OneOf("bnmind.adaptive:STOPPERS", "Stoppers"),
    typer.Option(
        help="When to stop, from the list below. Join stoppers by + to stop when all of them do."
        " Repeat the option to stop when any of them does.",
    ),
]


def check_shares(given: Mapping[str, float | None], *, below: float = 1.0) -> None:
    """Raise BnmindError unless the values of options lie between 0 and a number, or are None."""
    for name, value in given.items():
        if value is not None and not 0 <= value <= below:
            raise BnmindError(f"expected {name} between 0 and {below:g}, got {value:g}")
