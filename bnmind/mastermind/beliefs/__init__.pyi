# The names of `bnmind.mastermind.beliefs`, for type checkers and `bnmind._front_door`.

from bnmind.mastermind.beliefs.belief import Belief as Belief
from bnmind.mastermind.beliefs.belief import ExactBelief as ExactBelief
from bnmind.mastermind.beliefs.belief import Posterior as Posterior
from bnmind.mastermind.beliefs.belief import StandardErrors as StandardErrors
from bnmind.mastermind.beliefs.belief import impossible_history as impossible_history
from bnmind.mastermind.beliefs.belief import misreport_probabilities as misreport_probabilities
from bnmind.mastermind.beliefs.history_belief import HistoryBelief as HistoryBelief
from bnmind.mastermind.beliefs.sampled_belief import SampledBelief as SampledBelief
from bnmind.mastermind.beliefs.table_belief import TableBelief as TableBelief
from bnmind.mastermind.beliefs.tree_belief import TreeBelief as TreeBelief
from bnmind.mastermind.beliefs.tree_belief import belief_plan as belief_plan
from bnmind.mastermind.beliefs.unknown_noise import UnknownNoiseBelief as UnknownNoiseBelief
from bnmind.mastermind.beliefs.vanishing_noise import VanishingBelief as VanishingBelief
from bnmind.mastermind.masses.distribution import CodeDistribution as CodeDistribution
