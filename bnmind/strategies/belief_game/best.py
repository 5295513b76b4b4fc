"""The best known play on a board, under a channel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief, Posterior
from bnmind.mastermind.beliefs.vanishing_noise import VanishingBelief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.needs import Needs
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy, start_belief
from bnmind.strategies.belief_game.candidates import ALL_GUESSES
from bnmind.strategies.belief_game.lookahead2 import LookAheadTwo
from bnmind.strategies.lookahead.beam_search import deeper
from bnmind.strategies.optimal.optimal_player import Optimal
from bnmind.strategies.optimal.search_arrays import MOST_REPLIES
from bnmind.strategies.players.min_entropy import Entropy
from bnmind.strategies.players.sampled_entropy import SampledEntropy
from bnmind.strategies.trees.myopic_tree import is_growable

__all__ = ["Best", "best_player"]

_PROVEN = 1300
"""Up to this number of codes, the optimal strategy is found within a second."""

_PAIRS = 2**17
"""Up to this number of codes, `plan_masses` compares all guesses with all codes."""

_ELIMINATED = 2**20
_PEGS = 6
"""Up to these numbers of codes and of pegs, color elimination takes seconds and fits in memory."""


@dataclass(frozen=True)
class Best(Value):
    """Play as the strategy that is known to play best, and name it in the note of each guess.

    ===========================  ==========================================================
    board and replies            strategy
    ===========================  ==========================================================
    too many codes to evaluate   `SampledEntropy`
    all guesses
    true, all codes as likely    `Optimal` on boards of up to 1,300 codes, the beam search
                                 `deeper` where it can run, otherwise `Entropy`
    true, another prior          `Entropy`
    noisy                        `LookAheadTwo` on boards of up to 2,048 codes, otherwise
                                 `Entropy`, since look-ahead has not been compared there
    ===========================  ==========================================================

    The note of `SampledEntropy`, if it has one, is passed on instead.
    """

    name: str = "best"
    """The name of the strategy at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    @property
    def needs(self) -> Needs:
        """Samples of the belief; on boards with fewer codes, the probability of each."""
        return Needs.SAMPLES

    def start(self, channel: Channel, prior: Prior | None = None) -> Posterior:
        """Return the belief before the first guess; on large boards it holds samples."""
        if _is_enumerable(channel.board):
            return start_belief(channel, prior)
        return SampledEntropy().start(channel, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the strategy that plays best, with a note that names it."""
        uniform = isinstance(belief, VanishingBelief) and belief.prior is None
        player = best_player(belief.channel, uniform=uniform)
        guess, info = player.choose(belief, rng, situation)
        return guess, replace(info, note=info.note or f"best plays as {player.name} here")


def best_player(channel: Channel, *, uniform: bool = True) -> Strategy:
    """Return the strategy that is known to play best; see `Best`.

    Parameters
    ----------
    channel
        The channel that the strategy assumes.
    uniform
        Whether all codes are equally likely before the first guess.
    """
    board = channel.board
    if not _is_enumerable(board):
        return SampledEntropy()
    if not channel.is_exact:
        return LookAheadTwo() if board.n_codes <= ALL_GUESSES else Entropy()
    if not uniform:
        return Entropy()
    if board.n_codes <= _PROVEN and len(board.true_replies) <= MOST_REPLIES:
        return Optimal()
    if is_growable(board) and len(board.true_replies) <= MOST_REPLIES:
        return deeper()
    return Entropy()


def _is_enumerable(board: Board) -> bool:
    """Return whether `Entropy` can evaluate all guesses after all replies."""
    if board.n_codes <= _PAIRS:
        return True
    return board.pegs <= _PEGS and board.n_codes <= _ELIMINATED
