"""Code-breakers that evolve codes: genetic algorithms, annealing."""

from bnmind.strategies.evolutionary.annealing import Annealing, Collection, Cooling, annealing_tuned
from bnmind.strategies.evolutionary.bernier_genetic import BernierGenetic
from bnmind.strategies.evolutionary.bernier_random import BernierRandom
from bnmind.strategies.evolutionary.color_sets import ColorRemoval, MonochromeProbing
from bnmind.strategies.evolutionary.genetic import Effort, Genetic, genetic_tuned
from bnmind.strategies.evolutionary.genetic_elitist import GeneticElitist
from bnmind.strategies.evolutionary.openings import (
    FixedOpening,
    Opening,
    PatternOpening,
    RandomOpening,
)
from bnmind.strategies.evolutionary.operators import Rates
from bnmind.strategies.evolutionary.players import Population, Setup
from bnmind.strategies.evolutionary.population import Selection

__all__ = [
    "Annealing",
    "BernierGenetic",
    "BernierRandom",
    "Collection",
    "ColorRemoval",
    "Cooling",
    "Effort",
    "FixedOpening",
    "Genetic",
    "GeneticElitist",
    "MonochromeProbing",
    "Opening",
    "PatternOpening",
    "Population",
    "RandomOpening",
    "Rates",
    "Selection",
    "Setup",
    "annealing_tuned",
    "genetic_tuned",
]
