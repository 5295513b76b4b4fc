"""``bnmind assist``: help against a code-maker, reply by reply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._messages import shown
from bnmind._text_files import check_writable
from bnmind.cli.mastermind.setting import UNIFORM, prior_of, situation_of
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.errors import INTERRUPTED
from bnmind.cli.shared.options import DEFAULT_COLORS, DEFAULT_PEGS, History, Limit, Player, Seed
from bnmind.cli.shared.prompt import Command, ask
from bnmind.cli.shared.work import Report, interruptible, working
from bnmind.errors import BnmindError, InvalidHistoryError, InvalidReplyError, TooLargeError

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from bnmind.lab.mastermind.advice import Advice
    from bnmind.lab.mastermind.saved_game import SavedGame
    from bnmind.mastermind import Board, Channel, Posterior, Prior, Reply, Turn
    from bnmind.strategies import Strategy

__all__ = ["ASSIST_HELP", "DEFAULT_SAVE", "assist"]

DEFAULT_SAVE = Path("bnmind-game.json")

ASSIST_HELP = f"""Help you against a code-maker, reply by reply.

The command proposes a guess: press Enter to accept it, or type another one. Then type the
reply, such as 1b2w or 12. At any question, u undoes and q quits. The command saves the game
after every reply, in {DEFAULT_SAVE} of the current directory or in the file of --save. Run the
same command again to resume the game.

\b
Examples:
  bnmind assist
  bnmind assist --pegs 5 --colors 8 --noise false:0.2 --save friday.json
  bnmind assist --new --history "1123 1b1w, 2345 0b2w"
"""

_COMMANDS = {"u": Command.UNDO, "q": Command.QUIT}


@dataclass(frozen=True, kw_only=True)
class _Table:
    """The setting of a game, which stays the same from turn to turn."""

    console: Console
    path: Path
    channel: Channel
    noise: str
    prior: Prior | None
    """The distribution from which the code was drawn; uniform if None."""
    prior_text: str
    max_guesses: int | None
    rng: np.random.Generator
    strategy: Strategy | None
    """The strategy that proposes guesses; None for the least expected entropy."""
    content: bytes | None
    """The content of the file when it was last read or written; None if there is none."""

    def save(self, turns: tuple[Turn, ...], *, over: bool = False) -> _Table:
        """Save the game, unless another program has changed the file in the meantime."""
        from bnmind.lab.mastermind.saved_game import SavedGame, write_game

        game = SavedGame(
            board=self.channel.board,
            noise=self.noise,
            turns=turns,
            over=over,
            prior=self.prior_text,
        )
        return replace(self, content=write_game(self.path, game, before=self.content))


@dataclass(frozen=True)
class _Step:
    """The belief before a guess, and what the strategy remembers of its last proposal."""

    belief: Posterior
    memory: object = None


@dataclass(frozen=True, kw_only=True)
class AssistOptions:
    """The options of the command."""

    save: Annotated[
        Path, typer.Option("--save", metavar="FILE", help="The file of the saved game.")
    ] = DEFAULT_SAVE
    new: Annotated[bool, typer.Option("--new", help="Begin a new game, even if one is saved.")] = (
        False
    )
    history: History = ""
    strategy: Player = "entropy"
    noise: Annotated[
        str | None,
        typer.Option(
            "--noise",
            metavar="NOISE",
            help="How replies are falsified: exact, false:P, independent:P or file:PATH. "
            "[default: exact, or as saved]",
        ),
    ] = None
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior",
            metavar="PRIOR",
            help="How the code-maker chooses codes; see below. [default: uniform, or as saved]",
        ),
    ] = None
    max_guesses: Limit = None
    pegs: Annotated[
        int | None,
        typer.Option("--pegs", help=f"Positions of a code. [default: {DEFAULT_PEGS}, or as saved]"),
    ] = None
    colors: Annotated[
        int | None,
        typer.Option(
            "--colors",
            help=f"Colors that a peg can have. [default: {DEFAULT_COLORS}, or as saved]",
        ),
    ] = None
    no_repeats: Annotated[
        bool | None,
        typer.Option(
            "--no-repeats/--repeats",
            help="Whether a color may occur twice. [default: it may, or as saved]",
            show_default=False,
        ),
    ] = None
    seed: Seed = None


@with_options(AssistOptions)
def assist(options: AssistOptions) -> None:
    """Play a game with the help of a strategy."""
    import numpy as np

    from bnmind.cli.shared.show import counted, terminal
    from bnmind.lab.mastermind.advice import ending
    from bnmind.lab.mastermind.saved_game import content_of
    from bnmind.mastermind import format_history, parse_noise
    from bnmind.strategies import strategy_by_name

    check_writable(options.save)
    # Read the content first: the first save notices changes by another program in between.
    content = content_of(options.save)
    console = terminal()
    saved = None if options.new else _saved(options, console)
    board, noise, prior_text = _setting(options, saved)
    prior = prior_of(board, prior_text)
    turns = _turns(options, board, saved)
    channel = parse_noise(board, noise)
    # A finished game is not saved as unfinished, so these turns belong to an unfinished game.
    ending(channel, turns, goes_on=True)
    steps = working("replaying the turns", lambda report: _replayed(channel, prior, turns, report))
    table = _Table(
        console=console,
        path=options.save,
        channel=channel,
        noise=noise,
        prior=prior,
        prior_text=prior_text,
        max_guesses=options.max_guesses,
        rng=np.random.default_rng(options.seed),
        strategy=None if options.strategy == "entropy" else strategy_by_name(options.strategy),
        content=content,
    )
    replies = counted(len(turns), "reply", "replies")
    place = (
        f"Resumed from {options.save} after {replies}." if saved else f"Saved in {options.save}."
    )
    chosen = "" if prior is None else f", prior {prior_text}"
    console.print(f"Board {board}, noise {noise}{chosen}. {place}")
    console.print("Enter takes what is proposed, u undoes, q quits.")
    if turns:
        console.print(f"So far: {format_history(board, turns)}")
        table = table.save(turns)
    _converse(table, steps)


def _replayed(
    channel: Channel, prior: Prior | None, turns: tuple[Turn, ...], report: Report
) -> tuple[_Step, ...]:
    """Return the belief before the first turn and after each of the turns."""
    from bnmind.lab.mastermind.advice import belief_after, start

    beliefs = [start(channel, prior)]
    for turn in turns:
        report(len(beliefs) - 1, len(turns))
        beliefs.append(belief_after(beliefs[-1], [turn]))
    return tuple(_Step(belief) for belief in beliefs)


def _saved(options: AssistOptions, console: Console) -> SavedGame | None:
    """Return the saved game, or None if there is none or it is over."""
    from bnmind.lab.mastermind.saved_game import read_game

    saved = read_game(options.save) if options.save.exists() else None
    if saved is not None and saved.over:
        console.print(f"The game in {options.save} is over; a new one begins.")
        return None
    return saved


def _setting(options: AssistOptions, saved: SavedGame | None) -> tuple[Board, str, str]:
    """Return the board, the noise and the prior: those of the saved game or of the options."""
    from bnmind.mastermind import Board

    if saved is not None:
        _require_same(options, saved)
        return saved.board, saved.noise, saved.prior
    board = Board(
        DEFAULT_PEGS if options.pegs is None else options.pegs,
        DEFAULT_COLORS if options.colors is None else options.colors,
        repeats=not options.no_repeats,
    )
    return (
        board,
        options.noise or "exact",
        (UNIFORM if options.prior is None else options.prior.strip()),
    )


def _turns(options: AssistOptions, board: Board, saved: SavedGame | None) -> tuple[Turn, ...]:
    """Return the turns of --history, or those of the saved game, which must begin with them."""
    from bnmind.mastermind import format_history, parse_history

    turns = parse_history(board, options.history)
    if saved is None:
        return turns
    if turns != saved.turns[: len(turns)]:
        raise InvalidHistoryError(
            f"the game in {options.save} has the history "
            f"{format_history(board, saved.turns) or 'none'}; "
            f"it does not begin with {format_history(board, turns)}; --new begins a new game",
            options.history,
        )
    return saved.turns


def _require_same(options: AssistOptions, saved: SavedGame) -> None:
    """Raise if an option contradicts the saved game."""
    board = saved.board
    asked = {
        "--pegs": (options.pegs, board.pegs),
        "--colors": (options.colors, board.colors),
        "--no-repeats": (options.no_repeats, not board.repeats),
        "--noise": (options.noise, saved.noise),
        "--prior": (None if options.prior is None else options.prior.strip(), saved.prior),
    }
    for option, (requested, stored) in asked.items():
        if requested is not None and requested != stored:
            raise BnmindError(
                f"expected {option} {stored} of the game saved in {options.save}, got {requested}; "
                f"--new begins a new game, --save names another file"
            )


def _converse(table: _Table, steps: tuple[_Step, ...]) -> None:
    """Alternate guesses and replies until the code is found or the player quits.

    ``steps`` holds the belief after every turn; undoing a turn drops the last one.
    """
    from bnmind.cli.shared.show import show_advice
    from bnmind.lab.mastermind.advice import found
    from bnmind.mastermind import Turn

    over = False
    try:
        while True:
            belief = steps[-1].belief
            advice: Advice | None = None
            answer: tuple[int, ...] | Command
            if table.max_guesses is not None and len(belief.history) >= table.max_guesses:
                table.console.print(f"\nNo guess is left: --max-guesses is {table.max_guesses}.")
                answer = _ask_end(table)
            else:
                try:
                    advice = _advice(steps[-1], table)
                except TooLargeError as error:
                    table.console.print(f"No proposal: {error}", soft_wrap=True)
                answer = _ask_guess(table, belief, advice)
            if answer is Command.QUIT:
                return _farewell(table, belief)
            if not isinstance(answer, tuple):
                table, steps = _undone(table, steps)
                continue
            result = _ask_reply(table, belief, answer)
            if result is Command.QUIT:
                return _farewell(table, belief)
            if isinstance(result, Command):
                continue
            after, reply = result
            if after is not None:
                steps = (*steps, _Step(after, advice.memory if advice else None))
                table = table.save(after.history)
                continue
            last = Turn(answer, reply)
            show_advice(found(belief, last))
            table, over = table.save((*belief.history, last), over=True), True
            if _ask_end(table) is Command.UNDO:
                table, over = table.save(belief.history), False
                table.console.print(f"  undone: {_words(belief, last)}")
                continue
            return None
    except KeyboardInterrupt:
        table.console.print()
        if not over:
            _farewell(table, steps[-1].belief)
        raise typer.Exit(INTERRUPTED) from None


def _undone(table: _Table, steps: tuple[_Step, ...]) -> tuple[_Table, tuple[_Step, ...]]:
    """Take the last turn back, if there is one, and save the game without it."""
    if len(steps) == 1:
        table.console.print("  nothing to undo")
        return table, steps
    belief = steps[-1].belief
    table = table.save(steps[-2].belief.history)
    table.console.print(f"  undone: {_words(belief, belief.history[-1])}")
    return table, steps[:-1]


def _advice(step: _Step, table: _Table) -> Advice:
    from bnmind.lab.mastermind.advice import advise, choosing

    turns = len(step.belief.history)
    situation = situation_of(table.max_guesses, turns, step.memory)
    return working(
        choosing(step.belief.board),
        lambda _: advise(
            step.belief,
            table.rng,
            strategy=table.strategy,
            situation=situation,
            prior=table.prior,
        ),
    )


def _ask_guess(
    table: _Table, belief: Posterior, advice: Advice | None
) -> tuple[int, ...] | Command:
    from bnmind.cli.shared.show import show_in_brief
    from bnmind.strategies import describe_guess

    board = belief.board
    table.console.print()
    if advice is not None:
        show_in_brief(table.console, advice)

    def read(text: str) -> tuple[int, ...]:
        return board.parse(text or (advice.guess if advice else ""))

    proposal = f" [{advice.guess}]" if advice else ""
    guess = ask(table.console, f"Guess{proposal}: ", read, commands=_COMMANDS)
    if isinstance(guess, tuple) and advice is not None and board.format(guess) != advice.guess:
        own = interruptible(lambda: describe_guess(belief, guess))
        table.console.print(
            f"  {board.format(guess)} should tell {own.information:.2f} bits, "
            f"{advice.guess} would {advice.information:.2f}"
        )
    return guess


def _ask_reply(
    table: _Table, belief: Posterior, guess: tuple[int, ...]
) -> tuple[Posterior | None, Reply] | Command:
    """Return the belief after the reply, or None if the reply won; and the reply."""
    from bnmind.lab.mastermind.advice import found, winning_report_ends
    from bnmind.mastermind import Reply, Turn

    board = belief.board

    def read(text: str) -> tuple[Posterior | None, Reply] | Command:
        reply = Reply.parse(text, pegs=board.pegs)
        if reply != board.winning:
            return interruptible(lambda: belief.update(guess, reply)), reply
        if not winning_report_ends(table.channel):
            over = ask(table.console, "Is the game over? [y/n] ", _yes_or_no, commands=_COMMANDS)
            if isinstance(over, Command):
                return over
            if not over:
                return interruptible(lambda: belief.update(guess, reply)), reply
        found(belief, Turn(guess, reply))  # raises if the earlier replies exclude it
        return None, reply

    return ask(table.console, f"Reply to {board.format(guess)}: ", read, commands=_COMMANDS)


def _yes_or_no(text: str) -> bool:
    answer = text.lower()
    if answer not in ("y", "yes", "n", "no"):
        raise InvalidReplyError(f"expected y or n, got {shown(text)}", text)
    return answer.startswith("y")


def _ask_end(table: _Table) -> Command:
    def read(text: str) -> Command:
        if text:
            raise BnmindError(f"expected Enter or u, got {shown(text)}")
        return Command.QUIT

    return ask(table.console, "Enter ends, u undoes: ", read, commands=_COMMANDS)


def _farewell(table: _Table, belief: Posterior) -> None:
    if belief.history:
        table.console.print(f"Saved in {table.path}; the same command resumes the game.")


def _words(belief: Posterior, turn: Turn) -> str:
    return f"{belief.board.format(turn.guess)} {turn.reply}"
