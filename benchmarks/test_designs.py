"""Times of one question under constraints, as ratios to the same selector without them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import (
    Blueprint,
    Bound,
    Design,
    Enemies,
    Item,
    ItemBank,
    Logistic,
    MaximalFisher,
    MaximalItems,
    Session,
    ShadowTest,
    irt_bank,
)

N_ITEMS, LENGTH = 500, 30


@cache
def bank() -> ItemBank:
    """Return 500 items with curves, in ten content codes, with some enemies."""
    rng = np.random.default_rng(1)
    items = [
        Item(f"i{n}", content=f"c{n % 10}", enemies=(f"i{n + 1}",) if n % 50 == 0 else ())
        for n in range(N_ITEMS)
    ]
    slopes, difficulties = rng.lognormal(0, 0.4, N_ITEMS), rng.normal(0, 1, N_ITEMS)
    pairs = zip(slopes.tolist(), difficulties.tolist(), strict=True)
    return irt_bank([Logistic(a, b) for a, b in pairs], items=items)


@cache
def blueprint() -> Blueprint:
    """Return 20 constraints: ten codes, and ten overlapping groups of 60 items."""
    rng = np.random.default_rng(2)
    groups = [tuple(rng.choice(bank().item_names, 60, replace=False).tolist()) for _ in range(10)]
    codes = tuple(Bound(2, 4, code=f"c{n}") for n in range(10))
    return Blueprint((*codes, *(Bound(2, 6, items=group) for group in groups)), LENGTH)


def halfway(design: Design) -> Callable[[], str]:
    """Return a function that selects the next item in the middle of a test."""
    session = Session.start(design)
    for _ in range(LENGTH // 2):
        session = session.answer(session.next_item(), 1)
    design, belief, asked = session.design, session.belief, session.state.asked

    def selected() -> str:
        outlook = design.outlook(belief, asked)
        return design.selector.select(belief, outlook.allowed).item

    return selected


@pytest.mark.parametrize("way", ["free", "blueprint", "shadow"])
def test_question(benchmark: Any, way: str) -> None:
    """The allowed items and the choice; the blueprint remembers states of tests, as in a batch."""
    scored = MaximalFisher()
    design = Design(
        bank(),
        ShadowTest(scored, blueprint()) if way == "shadow" else scored,
        MaximalItems(LENGTH),
        (Enemies(),) if way == "free" else (Enemies(), blueprint()),
    )
    benchmark.group = f"one of {LENGTH} questions, {N_ITEMS} items, 20 constraints"
    benchmark(halfway(design))
