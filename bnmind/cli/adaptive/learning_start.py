"""What `bnmind learn` and `bnmind judge` learn from: a model, a bank to start from, responses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bnmind._registry import meant_by
from bnmind.cli.adaptive.model_names import gate_of, qmatrix_for, skills_of
from bnmind.cli.adaptive.response_files import TableOptions, read_response_file
from bnmind.cli.shared.terminal import naming
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.adaptive import IrtModel, ItemBank, LearningOptions, QMatrix, Responses

__all__ = ["irt_models", "learning_start"]


class _StartOptions(TableOptions, Protocol):
    """What a command that learns is told of the model and of the responses."""

    @property
    def responses(self) -> Path: ...
    @property
    def qmatrix(self) -> Path | None: ...
    @property
    def bank(self) -> Path | None: ...
    @property
    def skills(self) -> str | None: ...


def learning_start(
    options: _StartOptions,
    gate: str | None,
    settings: LearningOptions,
    *,
    items: Path | None = None,
) -> tuple[ItemBank, Responses, LearningOptions]:
    """Return the bank to start from, the responses, and the settings that suit the model.

    The file of items, or else the bank, may have choices and a key that score the responses.
    """
    from bnmind.adaptive import irt_options, irt_start
    from bnmind.adaptive.learning.inputs import learning_inputs

    irt = _irt_model(gate, options.qmatrix, options.bank)
    if irt is not None:
        data = read_response_file(options.responses, options, expected=None, choices=items)
        start = irt_start(data, irt)
        return start, data, irt_options(irt, start, settings)
    model = _model_of(options, gate)
    make, distribution = gate_of(gate or "dina"), skills_of(options.skills)
    data = read_response_file(
        options.responses, options, expected=model.item_names, choices=items or model
    )
    with naming(options.responses, model=False):
        return *learning_inputs(data, model, make, distribution), settings


def irt_models() -> Mapping[str, IrtModel]:
    """Return the registry."""
    from bnmind.adaptive import IRT_MODELS

    return IRT_MODELS


def _irt_model(gate: str | None, qmatrix: Path | None, bank: Path | None) -> IrtModel | None:
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


def _model_of(options: _StartOptions, gate: str | None) -> ItemBank | QMatrix:
    """Return the bank or the Q-matrix that a command names."""
    from bnmind.adaptive import read_bank

    qmatrix, bank = options.qmatrix, options.bank
    if qmatrix is None and bank is None:
        raise BnmindError(
            "expected --qmatrix or --bank, got neither; without them, --gate names a model of one"
            " ability, such as 2PL"
        )
    if bank is not None:
        if qmatrix is not None:
            raise BnmindError("expected --qmatrix or --bank, got both")
        if gate is not None or options.skills is not None:
            option = "--gate" if gate is not None else "--skills"
            raise BnmindError(f"expected {option} with --qmatrix, got it with --bank")
        return read_bank(bank)
    assert qmatrix is not None
    return qmatrix_for(qmatrix, options.responses, options.fixed_width)
