"""``bnmind assist``: help against a code-maker, reply by reply."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._files import check_writable
from bnmind._messages import counted
from bnmind.cli.mastermind.assist_dialogue import converse
from bnmind.cli.mastermind.assist_game import AssistTable, channel_of, replayed
from bnmind.cli.mastermind.pegs import colors_of
from bnmind.cli.mastermind.setting import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    UNIFORM,
    Explained,
    History,
    Limit,
    NoiseName,
    Player,
    PriorName,
    SavedColors,
    SavedNoRepeats,
    SavedPegs,
    prior_of,
)
from bnmind.cli.shared.command import Seed, is_saved
from bnmind.cli.shared.terminal import terminal, working
from bnmind.errors import BnmindError, InvalidArgumentError

if TYPE_CHECKING:
    from rich.console import Console

    from bnmind.lab.mastermind.saved_game import SavedGame
    from bnmind.mastermind import Board, Turn

__all__ = ["DEFAULT_SAVE", "assist"]

DEFAULT_SAVE = Path("bnmind-game.json")


@dataclass(frozen=True, kw_only=True)
class AssistOptions:
    """The options of the command.

    Parameters
    ----------
    save
        The file of the saved game.
    new
        Begin a new game, even if one is saved.
    noise
        How replies are falsified: exact, false:P, independent:P, file:PATH or unknown.
        [default: exact, or as saved]
    prior
        How the code-maker chooses codes; see below. [default: uniform, or as saved]
    """

    save: Path = DEFAULT_SAVE
    new: bool = False
    history: History = None
    strategy: Player = "entropy"
    noise: NoiseName | None = None
    prior: PriorName | None = None
    max_guesses: Limit = None
    pegs: SavedPegs = None
    colors: SavedColors = None
    no_repeats: SavedNoRepeats = None
    explain: Explained = False
    seed: Seed = None


def assist(options: AssistOptions) -> None:
    """Get help against a code-maker, reply by reply.

    The command proposes a guess: press Enter to accept it, or type another one. Then type the
    reply, such as 1b2w or 12. 1b2w in place of a guess is the reply to the proposal. At any
    question, u undoes and q quits. Instead of a guess you may also edit or ignore an earlier row,
    change the noise, or ask "what if"; h lists how. The command saves the game after every change,
    in bnmind-game.json of the current directory or in the file of --save. Run the same command
    again to resume the game.

    With --noise unknown, the command learns from the replies how often they are false.

    Examples
    --------
    bnmind assist
    bnmind assist --pegs 5 --colors 8 --noise false:0.2 --save friday.json
    bnmind assist --noise unknown --explain
    bnmind assist --new --history "1123 1b1w, 2345 0b2w"
    """
    import numpy as np

    from bnmind.lab.mastermind.advice import ending
    from bnmind.lab.mastermind.live.game_rows import GameRows
    from bnmind.lab.mastermind.noise_words import noise_in_words
    from bnmind.lab.mastermind.saved_game import content_of
    from bnmind.strategies import strategy_by_name

    check_writable(options.save)
    # Read the content first: the first save notices changes by another program in between.
    content = content_of(options.save)
    console = terminal()
    saved = None if options.new else _saved(options, console)
    board, noise, prior_text = _setting(options, saved)
    prior = prior_of(board, prior_text)
    turns = _turns(options, board, saved)
    rows = GameRows(turns, () if saved is None else saved.ignored)
    # A finished game is not saved as unfinished, so these turns belong to an unfinished game.
    ending(channel_of(board, noise), turns, goes_on=True)
    states = working(
        "replaying the turns", lambda report: replayed(board, noise, prior, rows, report)
    )
    table = AssistTable(
        console=console,
        path=options.save,
        board=board,
        prior=prior,
        prior_text=prior_text,
        max_guesses=options.max_guesses,
        rng=np.random.default_rng(options.seed),
        strategy=None if options.strategy == "entropy" else strategy_by_name(options.strategy),
        content=content,
        explain=options.explain,
    )
    replies = counted(len(turns), "reply", "replies")
    place = (
        f"Resumed from {options.save} after {replies}." if saved else f"Saved in {options.save}."
    )
    chosen = "" if prior is None else f", prior {prior_text}"
    console.print(f"Board {board}, {colors_of(board)}{chosen}. {place}")
    console.print(noise_in_words(noise))
    console.print(
        "Enter takes what is proposed, u undoes, q quits, h lists what else you can type."
    )
    if turns:
        table = table.save(states[-1])
    converse(table, states)


def _saved(options: AssistOptions, console: Console) -> SavedGame | None:
    """Return the saved game, or None if there is none or it is over."""
    from bnmind.lab.mastermind.saved_game import read_game

    saved = read_game(options.save) if is_saved(options.save) else None
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

    history = ", ".join(options.history or ())
    turns = parse_history(board, history)
    if saved is None:
        return turns
    if turns != saved.turns[: len(turns)]:
        raise InvalidArgumentError(
            f"the game in {options.save} has the history "
            f"{format_history(board, saved.turns) or 'none'}; "
            f"it does not begin with {format_history(board, turns)}; --new begins a new game",
            history,
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
            typed = f"; typed in the game, noise {requested} changes it" * (option == "--noise")
            raise BnmindError(
                f"expected {option} {stored} of the game saved in {options.save}, got {requested}; "
                f"--new begins a new game, --save names another file{typed}"
            )
