"""Statistics of paired results: intervals, tests, corrections, and when to stop."""

from bnmind.lab.statistics.confidence_sequence import ConfidenceSequence
from bnmind.lab.statistics.groups import RankSumGroups, rank_sum_groups
from bnmind.lab.statistics.holm import holm
from bnmind.lab.statistics.intervals import (
    ExactMean,
    IntervalMethod,
    NormalInterval,
    StudentInterval,
)
from bnmind.lab.statistics.moments import Moments
from bnmind.lab.statistics.paired import PairedDifference, PairedDifferences, paired_differences
from bnmind.lab.statistics.sequential import (
    AllTold,
    Enough,
    NarrowEnough,
    RunningDifferences,
    is_enough,
)
from bnmind.lab.statistics.signed_rank import signed_rank_p_value

__all__ = [
    "AllTold",
    "ConfidenceSequence",
    "Enough",
    "ExactMean",
    "IntervalMethod",
    "Moments",
    "NarrowEnough",
    "NormalInterval",
    "PairedDifference",
    "PairedDifferences",
    "RankSumGroups",
    "RunningDifferences",
    "StudentInterval",
    "holm",
    "is_enough",
    "paired_differences",
    "rank_sum_groups",
    "signed_rank_p_value",
]
