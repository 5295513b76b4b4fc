"""Probabilistic graphical models: variables, factors, distributions, networks, files."""

from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.distribution import Distribution
from bnmind.pgm.factor import Factor, SparseFactor
from bnmind.pgm.functions import (
    FUNCTIONS,
    Addition,
    Equality,
    Exactly,
    Function,
    Listed,
    Maximum,
    Minimum,
    Parity,
    Restricted,
    Threshold,
)
from bnmind.pgm.network import FactorModel, Network, Potential, Replacement
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum, NoisyMinimum, noisy_and, noisy_or
from bnmind.pgm.tabular import TabularCPD
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
