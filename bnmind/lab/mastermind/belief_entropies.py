"""The entropy of the belief at each turn of a recorded game."""

from __future__ import annotations

from bnmind._arguments import checked
from bnmind.lab.mastermind.transcript import Transcript
from bnmind.strategies.base.strategy import start_posterior

__all__ = ["belief_entropies"]


@checked
def belief_entropies(transcript: Transcript) -> tuple[float, ...]:
    """Return the entropy of the belief before each guess, in bits.

    This is the belief of a player who models the assumed noise and the assumed prior, even if the
    strategy itself believes every reply. So all strategies can be compared; see `plot_entropies`.

    Parameters
    ----------
    transcript
        The game. If its board has too many codes to list, the entropies are estimates from
        samples.

    Examples
    --------
    >>> from bnmind.lab import CodeMaker, play_game
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Knuth
    >>> game = play_game(Knuth(), CodeMaker.from_seed(Channel.exact(Board(4, 6)), 8))
    >>> [round(entropy, 2) for entropy in belief_entropies(game)]
    [10.34, 8.0, 5.46, 2.0, 0.0]
    """
    belief = start_posterior(transcript.assumed, transcript.assumed_prior)
    entropies = []
    for turn in transcript.turns:
        entropies.append(belief.entropy())
        if turn.report is not None:
            belief = belief.update(turn.guess, turn.report)
    return tuple(entropies)
