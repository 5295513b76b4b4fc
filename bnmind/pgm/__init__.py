"""Probabilistic graphical models: variables, factors, distributions, networks, files."""

from bnmind.pgm.cpd import CPD, FunctionalCPD, TabularCPD
from bnmind.pgm.distribution import Distribution
from bnmind.pgm.factor import Factor, SparseFactor
from bnmind.pgm.function_registry import FUNCTIONS
from bnmind.pgm.functions import (
    Addition,
    Equality,
    Exactly,
    Function,
    Maximum,
    Minimum,
    Parity,
    Restricted,
    Threshold,
)
from bnmind.pgm.listed import Listed
from bnmind.pgm.network import FactorModel, Network, Potential, Replacement
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum, NoisyMinimum, noisy_and, noisy_or
from bnmind.pgm.variable import Variable

__all__ = [
    "CPD",
    "FUNCTIONS",
    "Addition",
    "Distribution",
    "Equality",
    "Exactly",
    "Factor",
    "FactorModel",
    "Function",
    "FunctionalCPD",
    "Listed",
    "Maximum",
    "Minimum",
    "Network",
    "NoisyExtremum",
    "NoisyMaximum",
    "NoisyMinimum",
    "Parity",
    "Potential",
    "Replacement",
    "Restricted",
    "SparseFactor",
    "TabularCPD",
    "Threshold",
    "Variable",
    "noisy_and",
    "noisy_or",
]
