"""The best known play on a board, under a channel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bnmind._values import CheckedValue
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.beliefs.vanishing_noise import VanishingBelief
from bnmind.strategies.base.beginnings import ModelsNoise
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy
from bnmind.strategies.belief_game.candidates import ALL_GUESSES
from bnmind.strategies.belief_game.lookahead2 import LookAheadTwo
from bnmind.strategies.lookahead.beam_search import deeper
from bnmind.strategies.optimal.optimal_player import Optimal
from bnmind.strategies.optimal.search_arrays import MOST_REPLIES
from bnmind.strategies.players.min_entropy import Entropy
from bnmind.strategies.trees.myopic_tree import is_growable

__all__ = ["Best", "best_player"]

_PROVEN = 1300
"""Up to this number of codes, the optimal strategy is found within a second."""


@dataclass(frozen=True)
class Best(ModelsNoise, CheckedValue):
    """Play as the strategy that is known to play best, and name it in the note of each guess.

    ===========================  ==========================================================
    replies                      strategy
    ===========================  ==========================================================
    true, all codes as likely    `Optimal` on boards of up to 1,300 codes, the beam search
                                 `deeper` where it can run, otherwise `Entropy`
    true, another prior          `Entropy`
    noisy                        `LookAheadTwo` on boards of up to 2,048 codes, otherwise
                                 `Entropy`, since look-ahead has not been compared there
    ===========================  ==========================================================
    """

    name: str = "best"
    """The name of the strategy at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the strategy that plays best, with a note that names it."""
        player = best_player(belief)
        guess, info = player.choose(belief, rng, situation)
        return guess, replace(info, note=info.note or f"best plays as {player.name} here")


def best_player(belief: Belief) -> Strategy:
    """Return the strategy that is known to play best; see `Best`."""
    channel, board = belief.channel, belief.board
    if not channel.is_exact:
        return LookAheadTwo() if board.n_codes <= ALL_GUESSES else Entropy()
    if not isinstance(belief, VanishingBelief) or belief.prior is not None:
        return Entropy()  # the codes may have had different probabilities
    if board.n_codes <= _PROVEN and len(board.true_replies) <= MOST_REPLIES:
        return Optimal()
    if is_growable(board) and len(board.true_replies) <= MOST_REPLIES:
        return deeper()
    return Entropy()
