"""The registry of response models, used by the command line, files and documentation.

A new response model is a class in this folder and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from bnmind.adaptive.response_models.additive import Acdm, LeakyOr, Llm, Nida, Nido, Rrum
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.curves import (
    Graded,
    GradedResponse,
    Logistic,
    Nominal,
    PartialCredit,
)
from bnmind.adaptive.response_models.dibello import DiBello
from bnmind.adaptive.response_models.gates import Dina, Dino, NoisyAnd, NoisyOr
from bnmind.adaptive.response_models.tables import Gdina, Sequential, Tabulated
from bnmind.errors import UnknownNameError


class RegisteredModel(NamedTuple):
    """A response model with the properties that users see."""

    example: ResponseModel
    """A response model of this kind, for one skill of two levels or one ability."""
    about: str
    """A short description."""
    from_qmatrix: bool = False
    """Whether it can be learned from a Q-matrix alone."""

    @property
    def make(self) -> type[ResponseModel]:
        """The class."""
        return type(self.example)


_STEP = Dina(0.2, 0.1)
_EVEN = np.full((2, 2), 0.5)

RESPONSE_MODELS: Mapping[str, RegisteredModel] = MappingProxyType(
    {
        "dina": RegisteredModel(_STEP, "all skills, but for guesses and slips", True),
        "dino": RegisteredModel(Dino(0.2, 0.1), "any skill, but for guesses and slips", True),
        "gdina": RegisteredModel(Gdina(_EVEN), "chances for each configuration of skills", True),
        "acdm": RegisteredModel(Acdm(0.2, (0.7,)), "each skill adds to the chance", True),
        "llm": RegisteredModel(Llm(-1.0, (2.0,)), "each skill adds to the log-odds (C-RUM)", True),
        "rrum": RegisteredModel(Rrum(0.9, (0.2,)), "each missing skill divides the chance", True),
        "nida": RegisteredModel(
            Nida((0.2,), (0.1,)), "all skills, each with the same noise in all items", True
        ),
        "nido": RegisteredModel(
            Nido((-1.0,), (2.0,)), "each skill adds the same to the log-odds of all items", True
        ),
        "noisy-and": RegisteredModel(NoisyAnd(0.2, 0.1), "all skills, each noisy by itself", True),
        "noisy-or": RegisteredModel(NoisyOr(0.2, 0.1), "any skill, each noisy by itself", True),
        "leaky-or": RegisteredModel(LeakyOr(0.1, (0.8,)), "any skill, each noisy, or a leak", True),
        "sequential": RegisteredModel(
            Sequential((_STEP, _STEP)), "steps, one after the other; G-DINA from a Q-matrix", True
        ),
        "graded": RegisteredModel(Graded(1.0, (0.5,)), "a logistic curve of the sum of levels"),
        "logistic": RegisteredModel(Logistic(), "a logistic curve of one ability"),
        "graded-response": RegisteredModel(GradedResponse(1.0, (0.0,)), "graded, of one ability"),
        "partial-credit": RegisteredModel(PartialCredit(1.0, (0.0,)), "steps in one ability"),
        "nominal": RegisteredModel(Nominal((1.0,), (0.0,)), "unordered responses, one ability"),
        "dibello": RegisteredModel(DiBello(1.0, (0.0,)), "slopes and difficulties of an expert"),
        "own": RegisteredModel(Tabulated("Own", _EVEN, {"p": 0.5}), "the table of your own model"),
    }
)
"""The response model of each name; other names that are understood are in `FORMER_NAMES`."""

LEARNABLE = MappingProxyType(
    {name: model for name, model in RESPONSE_MODELS.items() if model.from_qmatrix}
)
"""The response models that can be learned from a Q-matrix."""

FORMER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **{"free-table": "gdina", "table": "gdina", "g-dina": "gdina", "lcdm": "gdina"},
        **{"a-cdm": "acdm", "crum": "llm", "c-rum": "llm", "r-rum": "rrum", "leaky-and": "rrum"},
        **{"grm": "graded-response", "gpcm": "partial-credit"},
    }
)
"""Other names that files, command lines and `gate_of` understand."""

STEPS = "sequential:"
"""Begins the name of a model for each step, such as ``sequential:dina``."""


def gate_name(name: str) -> str:
    """Return the name of a response model as the registry has it.

    >>> gate_name("G-DINA"), gate_name("Sequential:DINO")
    ('gdina', 'sequential:dino')
    """
    lower = name.lower()
    if lower.startswith(STEPS):
        return STEPS + gate_name(name[len(STEPS) :])
    known = FORMER_NAMES.get(lower, lower)
    return known if known in LEARNABLE else name


def model_name(model: ResponseModel | None) -> str:
    """Return the name of a response model, or of its class; ``table`` for a table."""
    names = {known.make: name for name, known in RESPONSE_MODELS.items()}
    return "table" if model is None else names.get(type(model), type(model).__name__)


def gate_of(gate: str | Callable[..., ResponseModel]) -> Callable[..., ResponseModel]:
    """Return the maker of a response model that is named, in any case, or given.

    Raises
    ------
    UnknownNameError
        If no response model that can be learned from a Q-matrix has the name.
    """
    if not isinstance(gate, str):
        return gate
    name = gate_name(gate)
    if name.startswith(STEPS):
        return Sequential.of(gate_of(name.removeprefix(STEPS)))
    if name not in LEARNABLE:
        raise UnknownNameError("response model", gate, LEARNABLE)
    return LEARNABLE[name].make
