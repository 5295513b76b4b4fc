"""Priors: the probability of each secret code before the first guess."""

from bnmind.mastermind.priors.prior import Codes, Prior, listed_distribution
from bnmind.mastermind.priors.uniform import UniformPrior

__all__ = ["Codes", "Prior", "UniformPrior", "listed_distribution"]
