"""The maximization step: parameters of items and skills from expected counts."""

from bnmind.adaptive.learning.parameters.options import Bounds, LearningOptions, Priors

__all__ = ["Bounds", "LearningOptions", "Priors"]
