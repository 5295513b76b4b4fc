"""Strategies that look one guess ahead."""

from bnmind.strategies.players.knuth import Knuth
from bnmind.strategies.players.map_code import MapCode, trust_suffices
from bnmind.strategies.players.min_entropy import Entropy
from bnmind.strategies.players.myopic import Among, Myopic, Ties
from bnmind.strategies.players.random_possible import RandomCode
from bnmind.strategies.players.sampled_entropy import SampledEntropy
from bnmind.strategies.players.sampled_map import SampledMap
from bnmind.strategies.players.shapiro import Indifference, first_possible
from bnmind.strategies.players.unknown_noise import DEFAULT_LEVELS, UnknownNoise, noise_grid
from bnmind.strategies.players.weighted_entropy import weighted_entropy

__all__ = [
    "DEFAULT_LEVELS",
    "Among",
    "Entropy",
    "Indifference",
    "Knuth",
    "MapCode",
    "Myopic",
    "RandomCode",
    "SampledEntropy",
    "SampledMap",
    "Ties",
    "UnknownNoise",
    "first_possible",
    "noise_grid",
    "trust_suffices",
    "weighted_entropy",
]
