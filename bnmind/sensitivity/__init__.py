"""Sensitivity: the dependence of an answer on the findings and on the numbers of a network."""

from bnmind.sensitivity.analysis import SensitivityAnalysis, analyze
from bnmind.sensitivity.bounds import PosteriorBounds, posterior_bounds
from bnmind.sensitivity.drawing import (
    plot_explanation,
    plot_function,
    plot_tornado,
    plot_weights,
)
from bnmind.sensitivity.explanation import ExplainedConclusion, explain_conclusion
from bnmind.sensitivity.functions import SensitivityFunction, TwoWayFunction
from bnmind.sensitivity.learning import log_likelihood_gradient
from bnmind.sensitivity.parameters import Parameter, cd_distance, with_row
from bnmind.sensitivity.properties import AtLeast, AtMost, Interval, MostProbable, Property
from bnmind.sensitivity.spreads import Absolute, Odds, Relative, Spread
from bnmind.sensitivity.weights import FindingWeight, WeightOfEvidence, weight_of_evidence

__all__ = [
    "Absolute",
    "AtLeast",
    "AtMost",
    "ExplainedConclusion",
    "FindingWeight",
    "Interval",
    "MostProbable",
    "Odds",
    "Parameter",
    "PosteriorBounds",
    "Property",
    "Relative",
    "SensitivityAnalysis",
    "SensitivityFunction",
    "Spread",
    "TwoWayFunction",
    "WeightOfEvidence",
    "analyze",
    "cd_distance",
    "explain_conclusion",
    "log_likelihood_gradient",
    "plot_explanation",
    "plot_function",
    "plot_tornado",
    "plot_weights",
    "posterior_bounds",
    "weight_of_evidence",
    "with_row",
]
