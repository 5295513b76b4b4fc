"""How well a learned bank fits, and how sure its parameters are."""

from bnmind.adaptive.learning.fit.comparison import (
    ComparedModel,
    Comparison,
    CrossValidation,
    LikelihoodRatio,
    SkillStructure,
    SkillTree,
    compare_models,
    compare_structures,
    cross_validate,
    likelihood_ratio,
    mutual_information,
    skill_tree,
)
from bnmind.adaptive.learning.fit.dif import FunctioningOptions, ItemFunctioning, item_functioning
from bnmind.adaptive.learning.fit.item_fit import (
    ItemFit,
    PairFit,
    PairStatistics,
    PredictiveCheck,
    item_fit,
    pair_fit,
    predictive_check,
)
from bnmind.adaptive.learning.fit.judgment import Judgment, judge
from bnmind.adaptive.learning.fit.limited_information import (
    LimitedInformation,
    limited_information,
)
from bnmind.adaptive.learning.fit.q_validation import (
    ItemProposal,
    QValidation,
    SkillSet,
    predicted_cutoff,
    validate_qmatrix,
)
from bnmind.adaptive.learning.fit.reduced_models import (
    ModelTest,
    ReducedModel,
    reduced_models,
    reduced_models_by_ratio,
)
from bnmind.adaptive.learning.fit.standard_errors import (
    Coefficient,
    Coefficients,
    ItemParameter,
    StandardErrors,
    coefficients,
    standard_errors,
)
from bnmind.adaptive.learning.fit.summary import LearnedSummary

__all__ = [
    "Coefficient",
    "Coefficients",
    "ComparedModel",
    "Comparison",
    "CrossValidation",
    "FunctioningOptions",
    "ItemFit",
    "ItemFunctioning",
    "ItemParameter",
    "ItemProposal",
    "Judgment",
    "LearnedSummary",
    "LikelihoodRatio",
    "LimitedInformation",
    "ModelTest",
    "PairFit",
    "PairStatistics",
    "PredictiveCheck",
    "QValidation",
    "ReducedModel",
    "SkillSet",
    "SkillStructure",
    "SkillTree",
    "StandardErrors",
    "coefficients",
    "compare_models",
    "compare_structures",
    "cross_validate",
    "item_fit",
    "item_functioning",
    "judge",
    "likelihood_ratio",
    "limited_information",
    "mutual_information",
    "pair_fit",
    "predicted_cutoff",
    "predictive_check",
    "reduced_models",
    "reduced_models_by_ratio",
    "skill_tree",
    "standard_errors",
    "validate_qmatrix",
]
