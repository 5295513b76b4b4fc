"""The next step of tests without luck: whether they are over, their open items, the next ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.selection.drawing import MissingLuckError
from bnmind.adaptive.selection.registry import selector_name
from bnmind.adaptive.selection.rules import asked_mask
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.stopping.ending import Ending, ending
from bnmind.adaptive.stopping.stopper import BatchProgress, Reasons, Stopper
from bnmind.errors import InvalidArgumentError

__all__ = ["check_without_luck", "outlook_of", "selected_items"]


def check_without_luck(design: Design) -> None:
    """Raise `InvalidArgumentError` if a design draws the items that are eligible."""
    if design.eligibility is not None:
        raise InvalidArgumentError(
            "expected a design that draws no random numbers, got one that draws the eligible items;"
            " simulate such a test instead",
            design,
        )


def outlook_of(design: Design, beliefs: BatchBelief, asked: NDArray[np.intp]) -> Ending:
    """Return the open items of some tests, or the reasons why the tests are over.

    Parameters
    ----------
    design
        The design.
    beliefs
        The beliefs.
    asked
        ``(beliefs, questions)``, positions of the items asked, in order.
    """
    was_asked = asked_mask(design.bank, asked)

    def reasons_of(stopper: Stopper, allowed: NDArray[np.bool_]) -> Reasons:
        return stopper.stop_batch(BatchProgress(beliefs, was_asked, allowed, asked))

    return ending(
        design.bank,
        design.rules,
        design.stopper,
        asked,
        available=np.broadcast_to(design.operational, was_asked.shape),
        reasons_of=reasons_of,
    )


def selected_items(
    design: Design, beliefs: BatchBelief, allowed: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return the next item for each belief.

    Raises
    ------
    InvalidArgumentError
        If the selector needs random numbers.
    """
    try:
        selection = design.selector.select_batch(beliefs, allowed)
    except MissingLuckError as error:
        raise InvalidArgumentError(
            "expected a selector that draws no random numbers, got"
            f" {selector_name(design.selector)}; simulate such a test instead",
            design.selector,
        ) from error
    if selection.set_aside.any() or np.any(selection.items == MISSING):
        raise InvalidArgumentError(
            f"expected a selector without exposure control, got {selector_name(design.selector)}",
            design.selector,
        )
    return selection.items
