"""The registry of response models, used by the command line, files and documentation.

A new response model is a file in this folder and a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.dina import Dina
from bnmind.adaptive.response_models.dino import Dino
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.adaptive.response_models.graded import Graded
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.adaptive.response_models.logistic import Logistic
from bnmind.adaptive.response_models.noisy_and import NoisyAnd
from bnmind.adaptive.response_models.noisy_or import NoisyOr
from bnmind.adaptive.response_models.sequential import Sequential

__all__ = ["FORMER_NAMES", "RESPONSE_MODELS", "RegisteredModel"]


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
        "noisy-and": RegisteredModel(NoisyAnd(0.2, 0.1), "all skills, each noisy by itself", True),
        "noisy-or": RegisteredModel(NoisyOr(0.2, 0.1), "any skill, each noisy by itself", True),
        "gdina": RegisteredModel(Gdina(_EVEN), "chances for each configuration of skills", True),
        "sequential": RegisteredModel(Sequential((_STEP, _STEP)), "steps, one after the other"),
        "graded": RegisteredModel(Graded(1.0, (0.5,)), "a logistic curve of the sum of levels"),
        "logistic": RegisteredModel(Logistic(), "a logistic curve of one ability"),
        "graded-response": RegisteredModel(GradedResponse(1.0, (0.0,)), "graded, of one ability"),
    }
)

FORMER_NAMES: Mapping[str, str] = MappingProxyType({"free-table": "gdina", "table": "gdina"})
"""Names that files and command lines may still use."""
