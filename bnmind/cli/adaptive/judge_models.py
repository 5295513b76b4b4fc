"""Proposals of skills, simpler models and groups, as ``bnmind judge`` shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive import ItemFunctioning, QValidation, ReducedModel

__all__ = [
    "cutoff_of",
    "show_functioning",
    "show_models",
    "show_proposals",
    "tested_models_json",
]

_SHOWN = 60


def cutoff_of(text: str) -> float | None:
    """Return the cutoff that an option names; None if it is to be predicted."""
    if text.lower() == "predicted":
        return None
    try:
        cutoff = float(text)
    except ValueError:
        cutoff = math.nan
    if not 0 < cutoff < 1:
        raise BnmindError(
            f"expected a number between 0 and 1 for --cutoff, or predicted, got {text!r}"
        )
    return cutoff


def show_models(found: Sequence[ReducedModel]) -> None:
    """Show the corrected p-values of the simpler models of each item, and the chosen models."""
    from bnmind.cli.shared.show import plain_table, show_table, terminal

    console = terminal()
    console.print(
        f"Simpler models, by the {found[0].method} test: p, corrected for the number of items"
        " (Holm), and the model that is chosen by the p of each item.",
        soft_wrap=True,
    )
    table = plain_table("item", *(test.model for test in found[0].tests), "chosen")
    for one in found[:_SHOWN]:
        cells = [
            "–" if math.isnan(test.corrected_p) else f"{test.corrected_p:.3g}" for test in one.tests
        ]
        table.add_row(one.item, *cells, one.chosen)
    show_table(console, table)
    if len(found) > _SHOWN:
        console.print(f"  and {len(found) - _SHOWN} more")


def show_proposals(proposals: QValidation | str) -> None:
    """Show the items for which other skills are proposed."""
    from bnmind.cli.shared.show import counted, plain_table, show_table, terminal

    console = terminal()
    if isinstance(proposals, str):
        if proposals:
            console.print(f"No proposals for the Q-matrix: {proposals}.", soft_wrap=True)
        return
    if not proposals.changes:
        console.print("The responses propose no change of the Q-matrix.")
        return
    table = plain_table("item", "skills now", "proposed change", "variance, from", "to")
    for item in proposals.changes[:_SHOWN]:
        now, new = item.now.skills, item.proposed.skills
        signs = [f"+{skill}" for skill in new if skill not in now]
        signs += [f"−{skill}" for skill in now if skill not in new]
        table.add_row(
            item.item,
            ", ".join(now),
            ", ".join(signs),
            f"{item.now.share:.1%}",
            f"{item.proposed.share:.1%}",
        )
    show_table(console, table)
    console.print(
        f"Other skills are proposed for {counted(len(proposals.changes), 'item')} (cutoff"
        f" {proposals.cutoff:.3g}). With few"
        " examinees for each profile, proposals name too many skills; ask an expert.",
        soft_wrap=True,
    )


def show_functioning(found: Sequence[ItemFunctioning], groups: Sequence[str]) -> None:
    """Show the tests of items in groups, the smallest p first; `groups` are of the examinees."""
    from bnmind.cli.shared.show import plain_table, show_table, terminal

    table = plain_table("item", "gain", "degrees", "corrected p", "difference of the score")
    for item in sorted(found, key=lambda one: one.p_value)[:_SHOWN]:
        differences = ", ".join(f"{value:+.3f}" for value in item.differences)
        table.add_row(
            item.item,
            f"{item.statistic:.2f}",
            str(item.degrees),
            f"{item.p_value:.3g}",
            differences,
        )
    console = terminal()
    show_table(console, table)
    first, *others = sorted(set(groups))
    console.print(
        f"Difference: {', '.join(others)} minus {first}, of the expected score of examinees with"
        " the same skills.",
        soft_wrap=True,
    )


def tested_models_json(found: ReducedModel) -> dict[str, Any]:
    """Return the tests of an item for JSON."""
    return {
        "item": found.item,
        "method": found.method,
        "chosen": found.chosen,
        "tests": [
            {
                "model": test.model,
                "statistic": _finite(test.statistic),
                "degrees": test.degrees,
                "p": _finite(test.p_value),
                "corrected_p": _finite(test.corrected_p),
            }
            for test in found.tests
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
