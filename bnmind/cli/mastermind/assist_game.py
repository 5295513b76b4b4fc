"""The game of ``bnmind assist``: its states, and what stays the same from turn to turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind.cli.shared.terminal import Report
from bnmind.errors import InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from bnmind.lab.mastermind.live.game_rows import GameRows
    from bnmind.mastermind import Board, Channel, Posterior, Prior
    from bnmind.strategies import Strategy

__all__ = ["UNKNOWN", "AssistState", "AssistTable", "channel_of", "replayed", "started"]

UNKNOWN = "unknown"
"""The noise of a code-maker whose replies are false nobody knows how often."""


@dataclass(frozen=True)
class AssistState:
    """A state of the game, to which the player can return."""

    rows: GameRows
    noise: str
    """The noise that is assumed."""
    belief: Posterior
    """The belief after the rows that are trusted."""
    memory: object = None
    """What the strategy remembers of its last proposal."""


@dataclass(frozen=True, kw_only=True)
class AssistTable:
    """What stays the same from turn to turn."""

    console: Console
    path: Path
    board: Board
    prior: Prior | None
    """The distribution from which the code was drawn; uniform if None."""
    prior_text: str
    max_guesses: int | None
    rng: np.random.Generator
    strategy: Strategy | None
    """The strategy that proposes guesses; None for the least expected entropy."""
    content: bytes | None
    """The content of the file when it was last read or written; None if there is none."""
    explain: bool = False
    """Whether everything is said in plain words."""

    def save(self, state: AssistState, *, over: bool = False) -> AssistTable:
        """Save the game, unless another program has changed the file in the meantime."""
        from bnmind.lab.mastermind.saved_game import SavedGame, write_game

        game = SavedGame(
            board=self.board,
            noise=state.noise,
            turns=state.rows.turns,
            ignored=state.rows.ignored,
            over=over,
            prior=self.prior_text,
        )
        return replace(self, content=write_game(self.path, game, before=self.content))


def channel_of(board: Board, noise: str) -> Channel:
    """Return the channel of a noise; of unknown noise, one of its kind."""
    from bnmind.mastermind import Channel, parse_noise

    if noise == UNKNOWN:
        return Channel.false_reply(board, 0.2)
    try:
        return parse_noise(board, noise)
    except InvalidArgumentError as fault:
        if ":" in noise:
            raise
        raise InvalidArgumentError(f"{fault}; or {UNKNOWN}, which learns it", noise) from fault


def replayed(
    board: Board, noise: str, prior: Prior | None, rows: GameRows, report: Report
) -> tuple[AssistState, ...]:
    """Return the states before the first row and after each of the rows."""
    from bnmind.lab.mastermind.advice import belief_after

    n = len(rows.turns)
    states = [AssistState(rows.first(0), noise, started(board, noise, prior))]
    for number in range(1, n + 1):
        report(number - 1, n)
        last, now = states[-1], rows.first(number)
        states.append(
            AssistState(
                now, noise, belief_after(last.belief, now.trusted[len(last.rows.trusted) :])
            )
        )
    return tuple(states)


def started(board: Board, noise: str, prior: Prior | None) -> Posterior:
    """Return the belief before the first guess."""
    from bnmind.lab.mastermind.advice import start, start_learning

    channel = channel_of(board, noise)
    return start_learning(channel, prior) if noise == UNKNOWN else start(channel, prior)
