"""Models of one ability at the command line: ``bnmind learn --gate 2PL``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._registry import meant_by
from bnmind.cli.adaptive.model_names import gate_of
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.adaptive import IrtModel, Learned

__all__ = ["ability_lines", "curve_estimates", "irt_model", "irt_models"]


def irt_models() -> Mapping[str, IrtModel]:
    """Return the registry."""
    from bnmind.adaptive import IRT_MODELS

    return IRT_MODELS


def irt_model(gate: str | None, qmatrix: Path | None, bank: Path | None) -> IrtModel | None:
    """Return the model of one ability that ``--gate`` names, in any case; None for others.

    A name that is also one of a response model, such as graded, means that one with a Q-matrix.
    """
    from bnmind.adaptive import RESPONSE_MODELS

    known = {name.lower(): (name, model) for name, model in irt_models().items()}
    if gate is None or gate.lower() not in known:
        if gate is not None and qmatrix is None and bank is None:
            _expect_model(gate)
        return None
    name, model = known[gate.lower()]
    given = "--qmatrix" if qmatrix is not None else "--bank" if bank is not None else ""
    if given and name not in RESPONSE_MODELS:
        raise BnmindError(
            f"expected no {given} with --gate {name}, which is a model of one ability: it needs"
            " the responses alone"
        )
    return None if given else model


def _expect_model(gate: str) -> None:
    """Raise unless a name is one of a response model, which needs a Q-matrix."""
    names = list(irt_models())
    try:
        gate_of(gate)
    except UnknownNameError:
        raise UnknownNameError(
            "model of one ability", gate, names, meant=meant_by(gate, names)
        ) from None


def curve_estimates(found: Learned) -> dict[str, dict[str, float]]:
    """Return the learned parameters of items with curves of an ability, by item and name."""
    from bnmind.adaptive.learning.fit.coefficients import model_numbers
    from bnmind.adaptive.learning.parameters.curves.block import CurveBlock

    estimates: dict[str, dict[str, float]] = {}
    for block in found.model.layout.blocks:
        if isinstance(block, CurveBlock):
            known = {"lower", "upper"}.difference(name for _, name in block.parameters)
            for item in block.names:
                parents = found.bank.network.cpd(item).parents
                numbers = model_numbers(found.bank.item(item).gate, parents)
                estimates[item] = {name: value for name, value in numbers if name not in known}
    return {name: estimates[name] for name in found.bank.item_names if name in estimates}


def ability_lines(found: Learned) -> list[str]:
    """Return mean and deviation of each ability, and priors; nothing without curves of one."""
    from bnmind.adaptive import start_belief
    from bnmind.adaptive.response_models.base.abilities import ability_values

    if not all(hasattr(item.gate, "fisher_information") for item in found.bank.items):
        return []
    belief, lines = start_belief(found.bank), []
    for name in found.bank.skills:
        values, weights = ability_values(found.bank.variable(name)), belief.marginal(name)
        mean = float(weights @ values)
        deviation = math.sqrt(float(weights @ (values - mean) ** 2))
        how = "learned" if name not in found.options.fixed else "fixed"
        mean += 0.0 if abs(mean) >= 5e-4 else -mean
        lines.append(f"{name}: mean {mean:.3f}, standard deviation {deviation:.3f} ({how}).")
    return lines + [text for text in (_priors(found),) if text]


def _priors(found: Learned) -> str:
    """Return the priors of the items as a sentence, or an empty text."""
    priors = found.options.priors
    parts = [
        f"{what} beta({a:g}, {b:g})"
        for what, (a, b) in (("guess", priors.guess), ("slip", priors.slip))
        if (a, b) != (1, 1)
    ]
    parts += [
        f"{what} {kind}({pair[0]:g}, {pair[1]:g})"
        for what, kind, pair in (
            ("slope", "log-normal", priors.slope),
            ("logit of the guess", "normal", priors.logit_guess),
            ("logit of the slip", "normal", priors.logit_slip),
        )
        if pair is not None
    ]
    return f"Priors: {', '.join(parts)}." if parts else ""
