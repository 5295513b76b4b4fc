"""``bnmind play``: guess a code that the computer hides."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from bnmind.cli.shared.errors import INTERRUPTED
from bnmind.cli.shared.options import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    Colors,
    Noise,
    NoRepeats,
    Pegs,
    Seed,
)
from bnmind.cli.shared.prompt import Command, ask
from bnmind.cli.shared.work import working
from bnmind.errors import TooLargeError

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from bnmind.lab import CodeMaker
    from bnmind.mastermind import Board, Reply, Turn

__all__ = ["PLAY_HELP", "play"]

PLAY_HELP = """Guess a code that the computer hides.

The computer distorts its replies by the noise, but it always reports a win truthfully. Type ?
for a hint, or q to give up and see the code.

\b
Examples:
  bnmind play
  bnmind play --noise exact --pegs 3 --colors 4
  bnmind play --seed 7
"""

_COMMANDS = {"?": Command.HINT, "q": Command.QUIT}
_MOST_TURNS = 10_000  # the number of turns for which the luck is drawn


@dataclass(frozen=True)
class _Answered:
    """A guess, its true reply, and its reported reply; None if the guess was the code."""

    guess: tuple[int, ...]
    true: Reply
    report: Reply | None


@dataclass(frozen=True)
class _Game:
    """The turns of a game."""

    answered: tuple[_Answered, ...]
    interrupted: bool = False
    """Whether the player left with Ctrl-C."""


def play(
    noise: Noise = "false:0.2",
    pegs: Pegs = DEFAULT_PEGS,
    colors: Colors = DEFAULT_COLORS,
    no_repeats: NoRepeats = False,
    seed: Seed = None,
) -> None:
    """Hide a code, and answer guesses until the player finds it or gives up."""
    import numpy as np

    from bnmind.cli.shared.show import counted, terminal
    from bnmind.lab import CodeMaker
    from bnmind.mastermind import Board, parse_noise

    board = Board(pegs, colors, repeats=not no_repeats)
    channel = parse_noise(board, noise)
    if seed is None:
        seed = secrets.randbelow(10**9)
    maker = CodeMaker.from_seed(channel.revealed(), seed, turns=_MOST_TURNS)
    console = terminal()
    console.print(
        f"A code of {counted(board.pegs, 'peg')}, colors 1 to {board.colors}"
        f"{'' if board.repeats else ', none twice'}; noise {channel.name}, seed {seed}."
    )
    console.print("Type a guess, ? for a hint, q to give up.\n")
    game = _guessing(console, maker, np.random.default_rng(seed))
    _summarize(console, board, maker.secret, game.answered)
    console.print(f"The same game again: --seed {seed}")
    if game.interrupted:
        raise typer.Exit(INTERRUPTED)


def _guessing(console: Console, maker: CodeMaker, rng: np.random.Generator) -> _Game:
    """Return the guesses and replies, until the player finds the code or leaves."""
    board = maker.board
    answered: tuple[_Answered, ...] = ()
    while len(answered) < _MOST_TURNS:
        try:
            guess = ask(console, f"Guess {len(answered) + 1}: ", board.parse, commands=_COMMANDS)
            if guess is Command.QUIT:
                break
            if not isinstance(guess, tuple):
                _hint(console, maker, answered, rng)
                continue
        except KeyboardInterrupt:
            console.print()
            return _Game(answered, interrupted=True)
        true, report = maker.answer(len(answered), guess)
        answered = (*answered, _Answered(guess, true, report))
        if report is None:
            break
        note = "; the game goes on, so this is false" if report == board.winning else ""
        console.print(f"  {report}{note}")
    return _Game(answered)


def _hint(
    console: Console,
    maker: CodeMaker,
    answered: tuple[_Answered, ...],
    rng: np.random.Generator,
) -> None:
    """Print the guess of the entropy strategy, and the reasons for it."""
    from bnmind.cli.shared.show import show_in_brief
    from bnmind.lab.mastermind.advice import advise, belief_after, choosing, start
    from bnmind.mastermind import Turn

    turns: list[Turn] = [Turn(a.guess, a.report) for a in answered if a.report is not None]
    try:
        advice = working(
            choosing(maker.board),
            lambda _: advise(belief_after(start(maker.channel), turns), rng),
        )
    except TooLargeError as error:
        console.print(f"  no hint: {error}")
        return
    show_in_brief(console, advice)
    console.print(f"Hint: {advice.guess}")


def _summarize(
    console: Console, board: Board, secret: tuple[int, ...], answered: tuple[_Answered, ...]
) -> None:
    """Print how the game ended, and which replies were false."""
    from bnmind.cli.shared.show import counted, plain_table, show_table

    won = bool(answered) and answered[-1].report is None
    console.print()
    if won:
        guesses = counted(len(answered), "guess", "guesses")
        console.print(f"{board.format(secret)} is the code, found in {guesses}.", style="bold")
    else:
        console.print(f"The code was {board.format(secret)}.", style="bold")
    reported = [a for a in answered if a.report is not None]
    if not reported:
        return
    false = sum(a.report != a.true for a in reported)
    console.print(f"{false} of {counted(len(reported), 'reply', 'replies')} false.")
    # An empty column would touch its neighbor.
    table = plain_table("guess", "reply", "truth", *([""] if false else []))
    for a in answered:
        shown = "won" if a.report is None else str(a.report)
        lie = a.report is not None and a.report != a.true
        row = [board.format(a.guess), shown, str(a.true), *(["false"] if lie else [])]
        table.add_row(*row, style="bold" if lie else None)
    show_table(console, table)
