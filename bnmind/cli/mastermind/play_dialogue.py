"""The dialogue of ``bnmind play``: guesses, hints, and the end of the game."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bnmind._messages import counted
from bnmind.cli.mastermind.after_game import show_regret
from bnmind.cli.mastermind.commands import (
    Action,
    Codes,
    Colors,
    Explain,
    Ignore,
    WhatIf,
    read_command,
    show_help,
)
from bnmind.cli.mastermind.pegs import BoardRow, show_board
from bnmind.cli.mastermind.position import (
    Position,
    explain_replies,
    rows_if,
    show_codes_left,
    show_colors,
    show_position,
    show_solution,
    show_what_if,
)
from bnmind.cli.shared.dialogue import Command, ask
from bnmind.cli.shared.terminal import INTERRUPTED, one_line, working
from bnmind.errors import BnmindError, TooLargeError

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from bnmind.lab import Ending
    from bnmind.lab.mastermind.advice import Advice
    from bnmind.lab.mastermind.hidden_game import HiddenGame
    from bnmind.lab.mastermind.live.game_rows import GameRows
    from bnmind.lab.mastermind.live.saved_play import SavedPlay
    from bnmind.mastermind import Posterior, Turn

__all__ = ["MOST_TURNS", "PlayState", "PlayTable", "guessing"]

MOST_TURNS = 10_000
"""The number of turns for which the luck is drawn."""

_COMMANDS = ("?", "u", "codes", "colors", "if", "ignore", "x", "h", "q")
_ABOUT = {
    "?": "a hint: the next guess, and why",
    "u": "take the last guess back; it gets the same reply again",
    "ignore": "hints leave row 2 out of account; again to use it",
    "q": "give up, and see the code",
}


@dataclass(frozen=True)
class _Named:
    """The code that the player names at the end of a game that does not reveal it."""

    code: tuple[int, ...]


@dataclass(frozen=True)
class PlayState:
    """A state of the game."""

    game: HiddenGame
    ignored: tuple[int, ...] = ()
    """The numbers of the rows that hints leave out of account."""

    @property
    def rows(self) -> GameRows:
        """The rows that the player sees."""
        from bnmind.lab.mastermind.live.game_rows import GameRows

        return GameRows(self.game.turns, self.ignored)


@dataclass(frozen=True, kw_only=True)
class PlayTable:
    """What stays the same from guess to guess."""

    console: Console
    path: Path
    setting: SavedPlay
    """The game as it was at the start of the command."""
    ending: Ending
    rng: np.random.Generator
    content: bytes | None
    """The content of the file when it was last read or written; None if there is none."""
    explain: bool = False

    def save(self, state: PlayState, *, over: bool = False) -> PlayTable:
        """Save the game, unless another program has changed the file in the meantime."""
        from bnmind.lab.mastermind.live.saved_play import write_play

        game = replace(
            self.setting,
            guesses=state.game.guesses,
            ignored=state.ignored,
            undone=state.game.undone,
            hints=state.game.hints,
            over=over,
        )
        return replace(self, content=write_play(self.path, game, before=self.content))


def guessing(table: PlayTable, state: PlayState) -> None:
    """Answer guesses, until the player finds the code, gives up or leaves."""
    if table.explain:
        explain_replies(table.console, state.game.maker.board)
    _show_rows(table, state)
    if not state.game.guesses:
        table.console.print()
    answer: tuple[int, ...] | _Named | Action | None = None
    try:
        while not state.game.is_over:
            answer = _ask_guess(table, state)
            if answer in (Command.QUIT, Command.LEAVE) or isinstance(answer, _Named):
                break
            if isinstance(answer, tuple):
                state = replace(state, game=state.game.guess(answer))
                if not state.game.is_won:
                    table = table.save(state)
                    _show_rows(table, state)
            else:
                table, state = _done(table, state, answer)
        else:
            answer = None if state.game.is_won else _ask_code(table, state)
        if answer is not Command.LEAVE:
            return _finish(table, state, answer if isinstance(answer, _Named) else None)
    except KeyboardInterrupt:
        table.console.print()
        _farewell(table, state)
        raise typer.Exit(INTERRUPTED) from None
    return _farewell(table, state)


def _ask_guess(table: PlayTable, state: PlayState) -> tuple[int, ...] | _Named | Action:
    """Return a guess, the code that the player names, or a command."""
    board = state.game.maker.board

    def read(text: str) -> tuple[int, ...] | _Named | Action:
        if text.startswith("=") and not table.ending.reveals:
            return _Named(board.parse(text[1:]))
        return read_command(text, board, _COMMANDS) or board.parse(text)

    question = f"Guess {len(state.game.guesses) + 1}: "
    return ask(table.console, question, read, commands={}, end=Command.LEAVE)


def _ask_code(table: PlayTable, state: PlayState) -> _Named | Command | None:
    """Return the code that the player names after the last guess, if the ending asks for one."""
    board = state.game.maker.board
    if table.ending.reveals:
        table.console.print("That was the last guess.")
        return None

    def read(text: str) -> _Named:
        return _Named(board.parse(text.removeprefix("=")))

    question = "That was the last guess. The code: "
    return ask(table.console, question, read, commands={"q": Command.QUIT}, end=Command.LEAVE)


def _show_rows(table: PlayTable, state: PlayState) -> None:
    """Print the guesses and replies so far."""
    board, left = state.game.maker.board, state.game.guesses_left
    rows = []
    for number, turn in enumerate(state.game.turns, start=1):
        lie = table.ending.reveals and turn.reply == board.winning and left
        remark = "the game goes on, so this is false" if lie else ""
        rows.append(
            BoardRow(
                number=number,
                guess=turn.guess,
                reply=turn.reply,
                remark="ignored" if number in state.ignored else remark,
            )
        )
    if rows:
        table.console.print()
    show_board(table.console, board, rows)


def _done(table: PlayTable, state: PlayState, action: Action) -> tuple[PlayTable, PlayState]:
    """Do what a command asks for."""
    console = table.console
    try:
        if action is Command.HELP:
            show_help(console, _COMMANDS, _ABOUT)
            explain_replies(console, state.game.maker.board)
        elif action is Command.UNDO:
            return _undone(table, state)
        elif isinstance(action, Explain):
            table = replace(table, explain=not table.explain)
            console.print(f"  plain words: {'on' if table.explain else 'off'}")
        elif isinstance(action, Ignore):
            state = replace(state, ignored=state.rows.toggled(action.row).ignored)
            table = table.save(state)
            _show_rows(table, state)
        elif isinstance(action, Codes):
            show_codes_left(console, _belief(table, state, state.rows))
        elif isinstance(action, Colors):
            show_colors(console, _belief(table, state, state.rows))
        elif isinstance(action, WhatIf):
            _what_if(table, state, action)
        else:
            show_position(
                console, _position(table, state, state.rows), explain=table.explain, label="Hint"
            )
            state = replace(state, game=state.game.with_hint())
            table = table.save(state)
    except TooLargeError as error:
        console.print(f"  no hint: {error}", soft_wrap=True)
    except BnmindError as error:
        console.print(f"  {one_line(error)}", soft_wrap=True)
    return table, state


def _undone(table: PlayTable, state: PlayState) -> tuple[PlayTable, PlayState]:
    if not state.game.guesses:
        table.console.print("  nothing to undo")
        return table, state
    game = state.game.undo()
    ignored = tuple(row for row in state.ignored if row <= len(game.turns))
    table.console.print(f"  undone: {game.maker.board.format(state.game.guesses[-1])}")
    state = PlayState(game, ignored)
    table = table.save(state)
    _show_rows(table, state)
    return table, state


def _start(table: PlayTable, state: PlayState) -> Posterior:
    """Return the belief before the first guess."""
    from bnmind.lab.mastermind.advice import start
    from bnmind.strategies import start_posterior

    maker = state.game.maker
    begin = start if table.ending.reveals else start_posterior
    return begin(maker.channel, maker.prior)


def _belief(table: PlayTable, state: PlayState, rows: GameRows) -> Posterior:
    """Return the belief after the rows that are trusted."""
    from bnmind.lab.mastermind.advice import belief_after, choosing

    return working(
        choosing(state.game.maker.board),
        lambda _: belief_after(_start(table, state), rows.trusted),
    )


def _position(table: PlayTable, state: PlayState, rows: GameRows) -> Position:
    """Return a position with advice."""
    from bnmind.lab.mastermind.advice import advise, choosing
    from bnmind.strategies import Situation

    belief = _belief(table, state, rows)
    left = state.game.guesses_left if table.ending.limit < MOST_TURNS else None

    def advised(_: object) -> Advice:
        return advise(belief, table.rng, situation=Situation(guesses_left=left))

    return Position(rows, belief, working(choosing(belief.board), advised))


def _what_if(table: PlayTable, state: PlayState, question: WhatIf) -> None:
    """Print the position beside the one in which a row is different."""
    show_what_if(
        table.console,
        _position(table, state, state.rows),
        _position(table, state, rows_if(state.rows, question)),
        question,
        explain=table.explain,
    )


def _finish(table: PlayTable, state: PlayState, named: _Named | None) -> None:
    """Save the end of the game; print the code, the false replies, and the loss of each guess."""
    from bnmind.mastermind import Turn

    console, game = table.console, state.game
    board, secret = game.maker.board, game.maker.secret
    if game.guesses or game.undone or game.hints:
        table = table.save(state, over=True)
    console.print()
    turns: tuple[Turn, ...] = game.turns
    if game.is_won:
        turns = (*turns, Turn(game.guesses[-1], board.winning))
    if named is not None:
        right = "right" if named.code == secret else "wrong"
        console.print(f"{board.format(named.code)} is {right}.")
    noisy = not game.maker.channel.is_exact
    show_solution(console, board, turns, secret, won=game.is_won, noisy=noisy)
    helped = [
        counted(game.undone, "guess taken back", "guesses taken back") if game.undone else "",
        counted(game.hints, "hint") if game.hints else "",
    ]
    if any(helped):
        console.print(f"With {' and '.join(filter(None, helped))}.")
    try:
        show_regret(
            console,
            _start(table, state),
            turns,
            won=game.is_won,
            uniform=game.maker.prior is None,
        )
    except BnmindError as error:
        console.print(f"No regret: {one_line(error)}", soft_wrap=True)
    console.print(f"The same game again: --seed {game.maker.seed}")


def _farewell(table: PlayTable, state: PlayState) -> None:
    if state.game.guesses:
        table.console.print(f"Saved in {table.path}; the same command goes on.")
