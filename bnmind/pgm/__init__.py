"""Probabilistic graphical models: variables, factors, distributions, networks, files."""

from bnmind.pgm.cpd import CPD, FunctionalCPD, TabularCPD
from bnmind.pgm.factor import Factor, SparseFactor
from bnmind.pgm.functions import Addition, Equality, Function, Maximum, Minimum, Restricted
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

__all__ = [
    "CPD",
    "Addition",
    "Equality",
    "Factor",
    "FactorModel",
    "Function",
    "FunctionalCPD",
    "Maximum",
    "Minimum",
    "Network",
    "Potential",
    "Restricted",
    "SparseFactor",
    "TabularCPD",
    "Variable",
]
