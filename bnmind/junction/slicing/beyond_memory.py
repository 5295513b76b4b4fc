"""Sliced plans in place of plans that were refused because of their memory."""

from __future__ import annotations

from collections.abc import Iterable

from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.evidence import Evidence
from bnmind.junction.inference.limits import Limits
from bnmind.junction.slicing.compile_sliced import compile_sliced
from bnmind.junction.slicing.sliced_plan import SlicedPlan
from bnmind.pgm.network import FactorModel, Network

__all__ = ["sliced_instead"]

_HOPELESS = 2**40
"""How many times larger than allowed the memory of a plan is that no slices make fit. Each of them
would be a run."""


def sliced_instead(
    refusal: TooLargeError,
    model: Network | FactorModel,
    *,
    known: Evidence,
    soft: Iterable[str] = (),
    targets: Iterable[Iterable[str]],
    order: OrderFinder | None,
    limits: Limits,
) -> SlicedPlan:
    """Return a sliced plan for a question whose plan as a whole was refused.

    Parameters
    ----------
    refusal
        The error of the whole.
    model, known, soft, targets, order, limits
        As for `compile_sliced`.

    Raises
    ------
    TooLargeError
        The refusal, if memory is not its reason, if it is a trillion times too large, or if the
        model cannot be sliced. If slices do not fit either, the error predicts the costs of the
        whole and of the slices.
    """
    is_hopeless = (refusal.needed or 0) > _HOPELESS * limits.max_bytes
    if refusal.budget != limits.max_bytes or is_hopeless:
        raise refusal
    try:
        return compile_sliced(
            model, known=known, soft=soft, targets=targets, order=order, limits=limits
        )
    except InvalidModelError as error:
        raise refusal from error
