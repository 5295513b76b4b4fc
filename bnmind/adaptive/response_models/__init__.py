"""Response models: how skills or an ability make the responses to an item, a file each."""

from bnmind.adaptive.response_models.additive.acdm import Acdm
from bnmind.adaptive.response_models.additive.leaky_or import LeakyOr
from bnmind.adaptive.response_models.additive.llm import Llm
from bnmind.adaptive.response_models.additive.nida import Nida
from bnmind.adaptive.response_models.additive.nido import Nido
from bnmind.adaptive.response_models.additive.rrum import Rrum
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.dibello.combination import Combination
from bnmind.adaptive.response_models.dibello.link import Link
from bnmind.adaptive.response_models.dibello.steps import DiBello
from bnmind.adaptive.response_models.dina import Dina
from bnmind.adaptive.response_models.dino import Dino
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.adaptive.response_models.graded import Graded
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.adaptive.response_models.logistic import Logistic
from bnmind.adaptive.response_models.noisy_and import NoisyAnd
from bnmind.adaptive.response_models.noisy_or import NoisyOr
from bnmind.adaptive.response_models.nominal import Nominal
from bnmind.adaptive.response_models.parametric import ParametricModel
from bnmind.adaptive.response_models.partial_credit import PartialCredit
from bnmind.adaptive.response_models.registry import RESPONSE_MODELS
from bnmind.adaptive.response_models.sequential import Sequential
from bnmind.adaptive.response_models.tabulated import Tabulated

__all__ = [
    "RESPONSE_MODELS",
    "Acdm",
    "Combination",
    "DiBello",
    "Dina",
    "Dino",
    "Gdina",
    "Graded",
    "GradedResponse",
    "LeakyOr",
    "Link",
    "Llm",
    "Logistic",
    "Nida",
    "Nido",
    "NoisyAnd",
    "NoisyOr",
    "Nominal",
    "ParametricModel",
    "PartialCredit",
    "ResponseModel",
    "Rrum",
    "Sequential",
    "Tabulated",
]
