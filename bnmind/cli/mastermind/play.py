"""``bnmind play``: guess a code that the computer hides."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._messages import many, shown
from bnmind.cli.mastermind.setting import UNIFORM, prior_of
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.errors import INTERRUPTED
from bnmind.cli.shared.options import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    CodePrior,
    Colors,
    Limit,
    Noise,
    NoRepeats,
    Pegs,
    Seed,
)
from bnmind.cli.shared.prompt import Command, ask
from bnmind.cli.shared.work import working
from bnmind.errors import InvalidArgumentError, TooLargeError

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from bnmind.lab import CodeMaker, Ending
    from bnmind.mastermind import Board, Posterior, Reply, Turn

__all__ = ["PLAY_HELP", "play"]

PLAY_HELP = """Guess a code that the computer hides.

The computer distorts its replies by the noise, but it always reports a win truthfully. With
another --ending it does not: you name the code at the end, by = and the code. Type ? for a hint,
or q to give up and see the code.

\b
Examples:
  bnmind play
  bnmind play --noise exact --pegs 3 --colors 4
  bnmind play --seed 7
  bnmind play --prior two-color --max-guesses 6
  bnmind play --ending declared --noise false:0.2
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
class _Named:
    """The code that the player names at the end of a game that does not reveal it."""

    code: tuple[int, ...]


@dataclass(frozen=True)
class _Game:
    """The turns of a game."""

    answered: tuple[_Answered, ...]
    interrupted: bool = False
    """Whether the player left with Ctrl-C."""
    named: tuple[int, ...] | None = None
    """The code that the player named at the end."""


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """The options of the command."""

    noise: Noise = "false:0.2"
    prior: CodePrior = UNIFORM
    ending: Annotated[
        str,
        typer.Option(
            "--ending", metavar="ENDING", help="How the game ends; see below. You are the breaker."
        ),
    ] = "revealed"
    max_guesses: Limit = None
    pegs: Pegs = DEFAULT_PEGS
    colors: Colors = DEFAULT_COLORS
    no_repeats: NoRepeats = False
    seed: Seed = None


@with_options(PlayOptions)
def play(options: PlayOptions) -> None:
    """Hide a code, and answer guesses until the player finds it or gives up."""
    import numpy as np

    from bnmind.cli.shared.show import counted, terminal
    from bnmind.lab import CodeMaker
    from bnmind.mastermind import Board, parse_noise

    board = Board(options.pegs, options.colors, repeats=not options.no_repeats)
    channel = parse_noise(board, options.noise)
    prior = prior_of(board, options.prior)
    ending = _ending(options.ending, options.max_guesses)
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    maker = CodeMaker.from_seed(
        channel.revealed() if ending.reveals else channel,
        seed,
        turns=ending.limit,
        prior=prior,
    )
    console = terminal()
    console.print(
        f"A code of {counted(board.pegs, 'peg')}, colors 1 to {board.colors}"
        f"{'' if board.repeats else ', none twice'}; noise {channel.name},"
        f"{'' if prior is None else f' prior {prior.name},'} seed {seed}."
    )
    naming = "" if ending.reveals else " = and a code to name it,"
    console.print(f"Type a guess, ? for a hint,{naming} q to give up.")
    if options.max_guesses is not None:
        console.print(f"You have {counted(options.max_guesses, 'guess', 'guesses')}.")
    console.print()
    game = _guessing(console, maker, np.random.default_rng(seed), ending=ending)
    _summarize(console, board, maker.secret, game)
    console.print(f"The same game again: --seed {seed}")
    if game.interrupted:
        raise typer.Exit(INTERRUPTED)


def _ending(text: str, max_guesses: int | None) -> Ending:
    """Return the ending that a text describes, for a player who decides when to name the code.

    Raises
    ------
    InvalidArgumentError
        If the ending has a number, which only strategies need, or lacks a limit of guesses.
    TooLargeError
        If the limit of guesses is too large.
    """
    from bnmind.lab import Declared, parse_ending
    from bnmind.lab import Limit as FixedLength

    if max_guesses is not None and max_guesses > _MOST_TURNS:
        raise TooLargeError(
            f"expected --max-guesses of at most {_MOST_TURNS:,}, got {many(max_guesses)}",
            needed=max_guesses,
            budget=_MOST_TURNS,
        )
    ending = parse_ending(text, _MOST_TURNS if max_guesses is None else max_guesses)
    if isinstance(ending, FixedLength) and max_guesses is None:
        raise InvalidArgumentError("the ending limit needs --max-guesses N", text)
    if isinstance(ending, Declared) and text.strip() != "declared":
        raise InvalidArgumentError(
            f"expected the ending declared without a number, got {shown(text)}: you decide when to "
            f"name the code",
            text,
        )
    return ending


def _guessing(
    console: Console, maker: CodeMaker, rng: np.random.Generator, *, ending: Ending
) -> _Game:
    """Return the guesses and replies, until the player finds the code or leaves."""
    board = maker.board

    def read(text: str) -> tuple[int, ...] | _Named:
        if ending.reveals or not text.startswith("="):
            return board.parse(text)
        return _Named(board.parse(text[1:]))

    answered: tuple[_Answered, ...] = ()
    while len(answered) < len(maker.noise):
        try:
            guess = ask(console, f"Guess {len(answered) + 1}: ", read, commands=_COMMANDS)
            if guess is Command.QUIT:
                return _Game(answered)
            if isinstance(guess, _Named):
                return _Game(answered, named=guess.code)
            if not isinstance(guess, tuple):
                _hint(console, maker, answered, rng, ending)
                continue
        except KeyboardInterrupt:
            console.print()
            return _Game(answered, interrupted=True)
        true, report = maker.answer(len(answered), guess)
        answered = (*answered, _Answered(guess, true, report))
        if report is None:
            return _Game(answered)
        false = ending.reveals and report == board.winning and len(answered) < len(maker.noise)
        note = "; the game goes on, so this is false" if false else ""
        console.print(f"  {report}{note}")
    if ending.reveals:
        console.print("That was the last guess.")
        return _Game(answered)
    try:
        last = ask(
            console,
            "That was the last guess. The code: ",
            lambda text: board.parse(text.removeprefix("=")),
            commands={"q": Command.QUIT},
        )
    except KeyboardInterrupt:
        console.print()
        return _Game(answered, interrupted=True)
    return _Game(answered, named=last if isinstance(last, tuple) else None)


def _hint(
    console: Console,
    maker: CodeMaker,
    answered: tuple[_Answered, ...],
    rng: np.random.Generator,
    ending: Ending,
) -> None:
    """Print the guess of the entropy strategy, and the reasons for it."""
    from bnmind.cli.shared.show import show_in_brief
    from bnmind.lab.mastermind.advice import advise, belief_after, choosing, start
    from bnmind.mastermind import Turn
    from bnmind.strategies import Situation, start_posterior

    turns: list[Turn] = [Turn(a.guess, a.report) for a in answered if a.report is not None]
    prior, left = maker.prior, len(maker.noise) - len(answered)
    limited = ending.limit < _MOST_TURNS
    situation = Situation(guesses_left=left if limited else None)

    def begin() -> Posterior:
        if ending.reveals:
            return start(maker.channel, prior)
        return start_posterior(maker.channel, prior)

    try:
        advice = working(
            choosing(maker.board),
            lambda _: advise(belief_after(begin(), turns), rng, situation=situation),
        )
    except TooLargeError as error:
        console.print(f"  no hint: {error}")
        return
    show_in_brief(console, advice)
    console.print(f"Hint: {advice.guess}")


def _summarize(console: Console, board: Board, secret: tuple[int, ...], game: _Game) -> None:
    """Print how the game ended, and which replies were false."""
    from bnmind.cli.shared.show import counted, plain_table, show_table

    answered = game.answered
    won = bool(answered) and answered[-1].report is None
    console.print()
    if game.named is not None:
        right = game.named == secret
        console.print(f"{board.format(game.named)} is {'right' if right else 'wrong'}.")
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
