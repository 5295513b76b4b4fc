"""The registry of reproductions: the name of each, in the order in which they run.

To add a reproduction, write it in a module of its own, or beside the others of its source, and add
one line here. The contract tests run over every member.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bnmind.lab.reproductions.adaptive import learned, replays
from bnmind.lab.reproductions.base.reproduction import Reproduction
from bnmind.lab.reproductions.mastermind import (
    evolutionary,
    noise,
    runarsson_merelo,
    snyder,
    snyder_players,
    totals,
    vomlel,
)
from bnmind.lab.reproductions.new import endings, growth, selectors
from bnmind.lab.reproductions.new import noise as noises

__all__ = ["REPRODUCTIONS"]

REPRODUCTIONS: Mapping[str, Reproduction] = MappingProxyType(
    {
        "vomlel-sizes": vomlel.VOMLEL_SIZES,
        "vomlel-bounds": vomlel.VOMLEL_BOUNDS,
        "optimal-totals": totals.OPTIMAL_TOTALS,
        "consistent-only": totals.CONSISTENT_ONLY,
        "heuristics": totals.HEURISTICS,
        "inequivalent-guesses": totals.INEQUIVALENT,
        "snyder-table-1": totals.FIRST_GUESSES,
        "snyder-table-2": snyder.TABLE_2,
        "snyder-table-3": snyder.TABLE_3,
        "snyder-table-4": snyder.TABLE_4,
        "snyder-table-5": snyder.TABLE_5,
        "snyder-table-6": snyder_players.TABLE_6,
        "snyder-table-7": snyder_players.TABLE_7,
        "runarsson-merelo-heuristics": runarsson_merelo.HEURISTIC_MEANS,
        "runarsson-merelo-subsets": runarsson_merelo.SUBSETS,
        "runarsson-merelo-eda": runarsson_merelo.ESTIMATIONS,
        "genetic-elitist": evolutionary.ELITIST,
        "evolutionary-genetic": evolutionary.GENETIC_MEANS,
        "evolutionary-annealing": evolutionary.ANNEALING_MEANS,
        "evolutionary-sampled": evolutionary.SAMPLED_MEANS,
        "noisy-means": noise.NOISY_MEANS,
        "noisy-bounds": noise.NOISY_BOUNDS,
        "noisy-small-boards": noise.SMALL_BOARDS,
        "learned-likelihoods": learned.LIKELIHOODS,
        "learned-lsat6": learned.LSAT6,
        "learned-dtmr": learned.DTMR,
        "learned-aced": learned.ACED_SCORES,
        "cdcatr-accuracy": learned.CDCATR,
        "replay-fractions": replays.REPLAY_FRACTIONS,
        "replay-aced": replays.REPLAY_ACED,
        "new-noise-modeling": noises.MODELING,
        "new-noise-trusting": noises.TRUSTING,
        "new-noise-searching": noises.SEARCHING,
        "new-assumed-noise": noises.ASSUMED_NOISE,
        "new-look-ahead": noises.INFORMATION,
        "new-declaring": endings.DECLARING,
        "new-selector-loss": selectors.SELECTOR_LOSS,
        "new-growing-boards": growth.GROWTH,
    }
)
"""The reproduction of each name."""
