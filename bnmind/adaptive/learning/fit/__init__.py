"""How well a learned bank fits, and how sure its parameters are."""

from bnmind.adaptive.learning.fit.cross_validation import CrossValidation, cross_validate
from bnmind.adaptive.learning.fit.item_fit import ItemFit, item_fit
from bnmind.adaptive.learning.fit.predictive_check import (
    PairStatistics,
    PredictiveCheck,
    predictive_check,
)
from bnmind.adaptive.learning.fit.standard_errors import (
    ItemParameter,
    StandardErrors,
    standard_errors,
)

__all__ = [
    "CrossValidation",
    "ItemFit",
    "ItemParameter",
    "PairStatistics",
    "PredictiveCheck",
    "StandardErrors",
    "cross_validate",
    "item_fit",
    "predictive_check",
    "standard_errors",
]
