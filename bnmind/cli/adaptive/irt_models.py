"""Models of one ability at the command line: ``bnmind learn --gate 2PL``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._registry import meant_by
from bnmind.cli.adaptive.model_names import gate_of
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.adaptive import IrtModel

__all__ = ["irt_model", "irt_models"]


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
