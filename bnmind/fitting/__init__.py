"""Learning the tables of any network from cases: counts with priors, and EM."""

from bnmind.fitting.em import EM, EMInfo, EMState
from bnmind.fitting.fit_network import expectation_maximization, fit
from bnmind.fitting.fitted import Fit, FitOptions
from bnmind.fitting.priors import PRIORS, BDeu, Dirichlet, Laplace, NoPrior, Prior
from bnmind.fitting.record import LearningRecord
from bnmind.fitting.structure import network_of_structure

__all__ = [
    "EM",
    "PRIORS",
    "BDeu",
    "Dirichlet",
    "EMInfo",
    "EMState",
    "Fit",
    "FitOptions",
    "Laplace",
    "LearningRecord",
    "NoPrior",
    "Prior",
    "expectation_maximization",
    "fit",
    "network_of_structure",
]
