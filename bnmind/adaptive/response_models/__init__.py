"""Response models: how skills or an ability make the responses to an item, a file each."""

from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.dina import Dina
from bnmind.adaptive.response_models.dino import Dino
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.adaptive.response_models.graded import Graded
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.adaptive.response_models.logistic import Logistic
from bnmind.adaptive.response_models.noisy_and import NoisyAnd
from bnmind.adaptive.response_models.noisy_or import NoisyOr
from bnmind.adaptive.response_models.registry import RESPONSE_MODELS
from bnmind.adaptive.response_models.sequential import Sequential

__all__ = [
    "RESPONSE_MODELS",
    "Dina",
    "Dino",
    "Gdina",
    "Graded",
    "GradedResponse",
    "Logistic",
    "NoisyAnd",
    "NoisyOr",
    "ResponseModel",
    "Sequential",
]
