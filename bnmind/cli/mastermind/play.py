"""``bnmind play``: guess a code that the computer hides."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._files import check_writable
from bnmind._messages import counted, many, shown
from bnmind.cli.mastermind.pegs import colors_of
from bnmind.cli.mastermind.play_dialogue import MOST_TURNS, PlayState, PlayTable, guessing
from bnmind.cli.mastermind.setting import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    UNIFORM,
    EndingName,
    Explained,
    Limit,
    NoiseName,
    PriorName,
    SavedColors,
    SavedNoRepeats,
    SavedPegs,
    prior_of,
)
from bnmind.cli.shared.command import Seed, is_saved
from bnmind.cli.shared.terminal import terminal
from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError

if TYPE_CHECKING:
    from rich.console import Console

    from bnmind.lab import Ending
    from bnmind.lab.mastermind.live.saved_play import SavedPlay

__all__ = ["DEFAULT_SAVE", "play"]

DEFAULT_SAVE = Path("bnmind-play.json")

DEFAULT_NOISE = "false:0.2"


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """The options of the command.

    Parameters
    ----------
    save
        The file of the saved game.
    new
        Begin a new game, even if one is saved.
    noise
        How replies are falsified: exact, false:P, independent:P or file:PATH. [default:
        false:0.2, or as saved]
    prior
        How the code-maker chooses codes; see below. [default: uniform, or as saved]
    ending
        How the game ends; see below. You are the breaker. [default: revealed, or as saved]
    """

    save: Path = DEFAULT_SAVE
    new: bool = False
    noise: NoiseName | None = None
    prior: PriorName | None = None
    ending: EndingName | None = None
    max_guesses: Limit = None
    pegs: SavedPegs = None
    colors: SavedColors = None
    no_repeats: SavedNoRepeats = None
    explain: Explained = False
    seed: Seed = None


def play(options: PlayOptions) -> None:
    """Guess a code that the computer hides.

    The noise falsifies some replies: one in five, unless --noise says otherwise (--noise exact:
    none). By default the computer always reports a win truthfully. With another --ending it does
    not report wins: at the end you name the code, such as =1234. Instead of a guess, type ? for a
    hint, u to take a guess back, q to give up and see the code, or h for more.

    The command saves the game after every guess, in bnmind-play.json of the current directory or
    in the file of --save. After Ctrl-C or a crash, run the same command again to go on. At the end
    it shows which replies were false, and how much each guess lost against the best one.

    Examples
    --------
    bnmind play
    bnmind play --explain
    bnmind play --noise exact --pegs 3 --colors 4
    bnmind play --new --seed 7
    bnmind play --prior two-color --max-guesses 6
    bnmind play --ending declared --noise false:0.2
    """
    import numpy as np

    from bnmind.lab import CodeMaker
    from bnmind.lab.mastermind.hidden_game import HiddenGame
    from bnmind.lab.mastermind.noise_words import noise_in_words
    from bnmind.lab.mastermind.saved_game import content_of
    from bnmind.mastermind import parse_noise

    check_writable(options.save)
    # Read the content first: the first save notices changes by another program in between.
    content = content_of(options.save)
    console = terminal()
    saved = None if options.new else _saved(options, console)
    setting = saved or _new(options)
    board = setting.board
    channel = parse_noise(board, setting.noise)
    prior = prior_of(board, setting.prior)
    ending = _ending(setting.ending, setting.max_guesses)
    maker = CodeMaker.from_seed(
        channel.revealed() if ending.reveals else channel,
        setting.seed,
        turns=ending.limit,
        prior=prior,
    )
    found = ending.reveals and maker.secret in setting.guesses
    if found or len(setting.guesses) > ending.limit:
        raise InvalidArgumentError(
            f"the game in {options.save} has guesses after its end; --new begins a new game",
            str(options.save),
        )
    console.print(
        f"A code of {counted(board.pegs, 'peg')}, {colors_of(board)}"
        f"{'' if board.repeats else ', none twice'};"
        f"{'' if prior is None else f' prior {prior.name},'} seed {setting.seed}."
    )
    console.print(noise_in_words(channel.name))
    naming = "" if ending.reveals else " = and a code to name it,"
    console.print(f"Type a guess, ? for a hint,{naming} u to undo, q to give up, h for more.")
    if setting.max_guesses is not None:
        console.print(f"You have {counted(setting.max_guesses, 'guess', 'guesses')}.")
    if saved is not None:
        guesses = counted(len(saved.guesses), "guess", "guesses")
        console.print(f"Resumed from {options.save} after {guesses}.")
    table = PlayTable(
        console=console,
        path=options.save,
        setting=setting,
        ending=ending,
        rng=np.random.default_rng(setting.seed),
        content=content,
        explain=options.explain,
    )
    game = HiddenGame(maker, setting.guesses, undone=setting.undone, hints=setting.hints)
    guessing(table, PlayState(game, setting.ignored))


def _saved(options: PlayOptions, console: Console) -> SavedPlay | None:
    """Return the saved game, or None if there is none or it is over."""
    from bnmind.lab.mastermind.live.saved_play import read_play

    if not is_saved(options.save):
        return None
    saved = read_play(options.save)
    if saved.over:
        return None
    board = saved.board
    asked = {
        "--pegs": (options.pegs, board.pegs),
        "--colors": (options.colors, board.colors),
        "--no-repeats": (options.no_repeats, not board.repeats),
        "--noise": (options.noise, saved.noise),
        "--prior": (None if options.prior is None else options.prior.strip(), saved.prior),
        "--ending": (options.ending, saved.ending),
        "--max-guesses": (options.max_guesses, saved.max_guesses),
        "--seed": (options.seed, saved.seed),
    }
    for option, (requested, stored) in asked.items():
        if requested is not None and requested != stored:
            raise BnmindError(
                f"expected {option} {stored} of the unfinished game saved in {options.save}, got"
                f" {requested}; --new begins a new game, --save names another file"
            )
    return saved


def _new(options: PlayOptions) -> SavedPlay:
    """Return the setting of a new game."""
    from bnmind.lab.mastermind.live.saved_play import SavedPlay
    from bnmind.mastermind import Board

    return SavedPlay(
        board=Board(
            DEFAULT_PEGS if options.pegs is None else options.pegs,
            DEFAULT_COLORS if options.colors is None else options.colors,
            repeats=not options.no_repeats,
        ),
        noise=DEFAULT_NOISE if options.noise is None else options.noise,
        prior=UNIFORM if options.prior is None else options.prior.strip(),
        ending="revealed" if options.ending is None else options.ending,
        max_guesses=options.max_guesses,
        seed=secrets.randbelow(10**9) if options.seed is None else options.seed,
    )


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

    if max_guesses is not None and max_guesses > MOST_TURNS:
        raise TooLargeError(
            f"expected --max-guesses of at most {MOST_TURNS:,}, got {many(max_guesses)}",
            needed=max_guesses,
            budget=MOST_TURNS,
        )
    ending = parse_ending(text, MOST_TURNS if max_guesses is None else max_guesses)
    if isinstance(ending, FixedLength) and max_guesses is None:
        raise InvalidArgumentError("the ending limit needs --max-guesses N", text)
    if isinstance(ending, Declared) and text.strip() != "declared":
        raise InvalidArgumentError(
            f"expected the ending declared without a number, got {shown(text)}: you decide when to "
            f"name the code",
            text,
        )
    return ending
