"""Strategies that look one guess ahead."""

from bnmind.strategies.players.knuth import Knuth
from bnmind.strategies.players.map_code import MapCode, trust_suffices
from bnmind.strategies.players.min_entropy import Entropy
from bnmind.strategies.players.myopic import Among, Myopic, Ties
from bnmind.strategies.players.random_possible import RandomCode
from bnmind.strategies.players.shapiro import Indifference, first_possible
from bnmind.strategies.players.weighted_entropy import weighted_entropy

__all__ = [
    "Among",
    "Entropy",
    "Indifference",
    "Knuth",
    "MapCode",
    "Myopic",
    "RandomCode",
    "Ties",
    "first_possible",
    "trust_suffices",
    "weighted_entropy",
]
