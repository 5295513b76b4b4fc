"""Dynamic Bayesian networks: filtering, prediction, smoothing, most probable paths, learning."""

from bnmind.dynamic.bridge import dynamic_from_pgmpy, dynamic_to_pgmpy
from bnmind.dynamic.files import read_dynamic, write_dynamic
from bnmind.dynamic.fit import DynamicFit, fit_dynamic
from bnmind.dynamic.network import PREVIOUS, DynamicNetwork, SliceTable, previous
from bnmind.dynamic.plan import DynamicPlan, compile_dynamic
from bnmind.dynamic.results import FilterInfo, FilterState, MostProbablePath, SequencePosterior

__all__ = [
    "PREVIOUS",
    "DynamicFit",
    "DynamicNetwork",
    "DynamicPlan",
    "FilterInfo",
    "FilterState",
    "MostProbablePath",
    "SequencePosterior",
    "SliceTable",
    "compile_dynamic",
    "dynamic_from_pgmpy",
    "dynamic_to_pgmpy",
    "fit_dynamic",
    "previous",
    "read_dynamic",
    "write_dynamic",
]
