"""Measures of strategies and of recorded games."""

from bnmind.strategies.analysis.exact_regret import exact_regret, exact_regrets
from bnmind.strategies.analysis.fit_weights import FittedWeights, fit_weights
from bnmind.strategies.analysis.game_lengths import Measured, measure_games, measure_tree
from bnmind.strategies.analysis.large_boards import is_searched, measure_search
from bnmind.strategies.analysis.noisy_mean import NoisyMean, mean_under_noise
from bnmind.strategies.analysis.regret import GuessRegret, codes_left, regrets

__all__ = [
    "FittedWeights",
    "GuessRegret",
    "Measured",
    "NoisyMean",
    "codes_left",
    "exact_regret",
    "exact_regrets",
    "fit_weights",
    "is_searched",
    "mean_under_noise",
    "measure_games",
    "measure_search",
    "measure_tree",
    "regrets",
]
