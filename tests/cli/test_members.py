"""The help of each command lists every member of the registries that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bnmind._registry import Registered, usage
from bnmind.adaptive import (
    AIMS,
    IRT_MODELS,
    ITEM_TREE_FORMATS,
    RESPONSE_MODELS,
    SELECTORS,
    SKILL_DISTRIBUTIONS,
    STOPPERS,
)
from bnmind.fitting import PRIORS as TABLE_PRIORS
from bnmind.junction import ORDER_FINDERS
from bnmind.lab import ENDINGS
from bnmind.mastermind import PRIORS
from bnmind.pgm.files import MODEL_FORMATS
from bnmind.strategies import SCORES, STRATEGIES, TREE_FORMATS
from tests.command_line import run

LEARNABLE = {name: model for name, model in RESPONSE_MODELS.items() if model.from_qmatrix}


@pytest.mark.parametrize(
    ("command", "registries"),
    [
        ("fit", (MODEL_FORMATS, TABLE_PRIORS)),
        ("learn", (LEARNABLE, IRT_MODELS, SKILL_DISTRIBUTIONS)),
        ("simulate", (SELECTORS, STOPPERS)),
        ("evaluate", (SELECTORS, STOPPERS)),
        ("tree", (AIMS, ITEM_TREE_FORMATS)),
        ("test", (SELECTORS, STOPPERS)),
        ("strategy", (STRATEGIES, TREE_FORMATS)),
        ("regret", (SCORES,)),
        ("query", (MODEL_FORMATS, ORDER_FINDERS)),
        ("network", (MODEL_FORMATS,)),
        ("compare", (PRIORS, ENDINGS)),
        ("play", (PRIORS, ENDINGS)),
        ("assist", (PRIORS,)),
        ("suggest", (PRIORS,)),
    ],
)
def test_help_lists_every_member(command: str, registries: tuple[Mapping[str, Any], ...]) -> None:
    words = run(command, "--help").stdout.split()
    shown = " ".join(words)
    for registry in registries:
        for name, member in registry.items():
            written = usage(name, member) if isinstance(member, Registered) else name
            assert f" {written} {member.about}" in shown.replace("- ", "-")
