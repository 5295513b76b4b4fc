# The names of `bnmind.dynamic`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.dynamic.network import DynamicNetwork as DynamicNetwork
from bnmind.dynamic.network import previous as previous
from bnmind.dynamic.network import read_dynamic as read_dynamic
from bnmind.dynamic.network import write_dynamic as write_dynamic
from bnmind.dynamic.plan import DynamicFit as DynamicFit
from bnmind.dynamic.plan import DynamicPlan as DynamicPlan
from bnmind.dynamic.plan import FilterInfo as FilterInfo
from bnmind.dynamic.plan import FilterState as FilterState
from bnmind.dynamic.plan import MostProbablePath as MostProbablePath
from bnmind.dynamic.plan import SequencePosterior as SequencePosterior
from bnmind.dynamic.plan import compile_dynamic as compile_dynamic
from bnmind.dynamic.plan import fit_dynamic as fit_dynamic
