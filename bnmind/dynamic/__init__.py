"""Dynamic Bayesian networks: filtering, prediction, smoothing, most probable paths, learning."""

from bnmind.dynamic.bridge import dynamic_from_pgmpy, dynamic_to_pgmpy
from bnmind.dynamic.network import PREVIOUS, DynamicNetwork, SliceTable, previous
from bnmind.dynamic.plan import DynamicPlan, compile_dynamic
from bnmind.dynamic.results import FilterInfo, FilterState, MostProbablePath, SequencePosterior

__all__ = [
    "PREVIOUS",
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
    "previous",
]
