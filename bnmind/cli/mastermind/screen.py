"""A game on the terminal: the board, a position, its end, and what a player may type.

The letters of pegs tell the colors apart; the colors only repeat them, where the terminal has
colors and ``NO_COLOR`` is not set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import typer

from bnmind import mastermind
from bnmind._display import Strong, Table, parts_of
from bnmind._messages import counted, percent, shown
from bnmind.cli.shared import command, terminal
from bnmind.cli.shared.dialogue import WORDS, Command, converse
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError
from bnmind.lab.mastermind import advice as advising
from bnmind.lab.mastermind import words

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from bnmind.lab.mastermind.saved_games import GameRows
    from bnmind.mastermind import Board, Posterior, Reply, Turn

# --- The board ------------------------------------------------------------------------------------

PEG_COLORS = (
    ("#d13438", "#ffffff"),
    ("#f4c430", "#16181b"),
    ("#28804a", "#ffffff"),
    ("#2766c4", "#ffffff"),
    ("#f28c38", "#16181b"),
    ("#8347ad", "#ffffff"),
    ("#3db6c9", "#16181b"),
    ("#8a5a36", "#ffffff"),
    ("#f29ab8", "#16181b"),
    ("#5f6b76", "#ffffff"),
    ("#a4c639", "#16181b"),
    ("#123c69", "#ffffff"),
    ("#e0d3b0", "#16181b"),
    ("#7a1f3d", "#ffffff"),
    ("#6fa8ff", "#16181b"),
    ("#c45ab3", "#16181b"),
    ("#1c6b6b", "#ffffff"),
    ("#c9ccd1", "#16181b"),
    ("#5a4fcf", "#ffffff"),
    ("#3b3f1c", "#ffffff"),
)
"""The color of a peg and of its letter, the same as on the pages; tests compare them."""

_LETTERS = 26
_WIDEST = 1000
_INDENT = 2


def letter(color: int) -> str:
    """Return the letter of a color; beyond 26 colors its number."""
    return chr(ord("A") + color - 1) if color <= _LETTERS else str(color)


def colors_of(board: Board) -> str:
    """Return how the colors of a board are written: ``colors A to F or 1 to 6``."""
    if board.colors > _LETTERS:
        return f"colors 1 to {board.colors}"
    numbers = "1 to 9 and 0" if board.colors == 10 else f"1 to {board.colors}"
    return f"colors A to {letter(board.colors)} or {numbers}"


def format_pegs(code: Sequence[int]) -> Text:
    """Return a code as pegs: ``(A)(A)(B)(C)``."""
    from rich.text import Text

    pegs = Text()
    for color in code:
        style = ""
        if color <= len(PEG_COLORS):
            peg, mark = PEG_COLORS[color - 1]
            style = f"bold {mark} on {peg}"
        pegs.append(f"({letter(color)})", style=style)
    return pegs


def show_board(
    board: Board,
    turns: Sequence[Turn],
    remarks: Sequence[str] = (),
    *,
    console: Console | None = None,
) -> None:
    """Print rows of the board: pegs, the code as text, the reply and a remark.

    On a narrow terminal, the code stands only on the pegs.

    Parameters
    ----------
    board
        The board.
    turns
        The guesses and replies.
    remarks
        A remark for each of them, if there are any; `Strong` ones are bold, with the reply.
    console
        The console; by default the terminal.
    """
    if not turns:
        return
    console = console or terminal.new_console()
    table = _table(board, turns, remarks, coded=True)
    wide = console.options.update(width=_WIDEST)
    if console.measure(table, options=wide).maximum + _INDENT > console.width:
        table = _table(board, turns, remarks, coded=False)
    terminal.show_table(console, table)


def _table(
    board: Board, turns: Sequence[Turn], remarks: Sequence[str], *, coded: bool
) -> RichTable:
    from rich.text import Text

    remarked = any(remarks)
    # An empty column would touch its neighbor.
    table = terminal.plain_table(*[""] * (3 + coded + remarked))
    table.padding = (0, 2, 0, 0)
    for column in table.columns[1:]:
        column.justify = "left"
        column.no_wrap = True
    table.columns[0].justify = "right"
    for row, turn in enumerate(turns):
        remark = remarks[row] if remarks else ""
        style = "bold" if isinstance(remark, Strong) else ""
        table.add_row(
            str(row + 1),
            format_pegs(turn.guess),
            *([board.format(turn.guess)] if coded else []),
            Text(str(turn.reply), style=style),
            *([Text(remark, style=style)] if remarked else []),
        )
    return table


# --- A position -----------------------------------------------------------------------------------

_MOST_LISTED = 40
_MOST_COLORS = 4
_DOUBTED = 0.5
"""A reply that is false with this probability is doubted in words."""


@dataclass(frozen=True)
class Position:
    """The rows of a game, the belief after those that are trusted, and advice if there is any."""

    rows: GameRows
    belief: Posterior
    advice: advising.Advice | None

    @property
    def doubts(self) -> dict[int, float]:
        """The probability that a reply is false, by the rows that are trusted."""
        doubts = advising.doubts_of(self.belief) if self.advice is None else self.advice.doubts
        rows = range(1, len(self.rows.turns) + 1)
        trusted = [row for row in rows if row not in self.rows.ignored]
        return {row: doubt.probability_wrong for row, doubt in zip(trusted, doubts, strict=True)}


def show_position(position: Position, *, explain: bool, label: str = "Next") -> None:
    """Print the rows with the doubt about each of them, what is known, and the next guess."""
    from rich.text import Text

    belief, advice = position.belief, position.advice
    show_board(belief.board, position.rows.turns, _remarks(position))
    level = advising.learned_noise(belief)
    if level is not None and belief.history:
        terminal.show(words.noise(level))
    if advice is None:
        return
    code = belief.board.parse(advice.guess)
    chance = terminal.interruptible(lambda: advising.winning_probability(belief, code))
    few = terminal.interruptible(lambda: advising.few_codes(belief))
    sampled = advising.is_estimated(belief)
    next_guess = Text.assemble(f"{label}: ", format_pegs(code), f" {advice.guess}")
    if not explain:
        command.show_parts(advice.brief(few))
        odds = f"{percent(chance)} to be the code" if chance else words.chance(0, estimated=sampled)
        terminal.new_console().print(next_guess.append(f"  {odds}, {advice.information:.2f} bits"))
        return
    if not position.rows.turns:
        explain_replies(belief.board)
    command.show_parts(_explained(position, advice, few))
    terminal.new_console().print(next_guess)
    tells = "" if chance else ", but its reply is the most informative"
    told = words.told(advice.information, advice.entropy)
    terminal.show(f"It {words.chance(chance, estimated=sampled)}{tells}. {told}")


def explain_replies(board: Board) -> None:
    """Print the meaning of replies."""
    terminal.show(
        "A reply counts black and white pegs. b, black: pegs of the right color at the right place."
        " w, white: pegs of a right color at a wrong place."
    )
    if board.pegs > 1:
        terminal.show(f"1b{board.pegs - 2}w, for example: {words.replied(1, board.pegs - 2)}.")


def _explained(
    position: Position, advice: advising.Advice, few: Sequence[tuple[str, float]] | None
) -> Iterator[str | Table]:
    """Yield in words what is known, and which replies are doubtful."""
    yield words.knowledge(advice)
    if few:
        left = (
            "The codes left:" if len(few) == advice.possible_codes else "The most probable codes:"
        )
        yield left if few[0][1] < 1 else "It is this one:"
        yield advising.codes_table(few)
    yield from advice.contradiction
    for row, doubt in position.doubts.items():
        if doubt < _DOUBTED:
            continue
        turn, board = position.rows.turns[row - 1], position.belief.board
        replies = advising.true_replies(position.belief, turn.guess)
        likely, chance = next(pair for pair in replies if pair[0] != turn.reply)
        yield (
            f"Row {row}, {board.format(turn.guess)} {turn.reply}, is probably false:"
            f" {words.percent(doubt)}. Most likely it should be {likely}"
            f" ({words.percent(chance)}): {words.replied(*likely)}."
        )
    if advice.note:
        yield advice.note


def _remarks(position: Position) -> list[str]:
    """Return the doubt about each row."""
    wrong = position.doubts
    most = max(wrong.values(), default=0.0)
    remarks = []
    for row in range(1, len(position.rows.turns) + 1):
        doubt = wrong.get(row, 0.0)
        remark = "ignored" if row not in wrong else f"false: {percent(doubt)}" if most else ""
        remarks.append(Strong(remark) if doubt >= min(most, _DOUBTED) > 0 else remark)
    return remarks


def show_codes_left(belief: Posterior) -> None:
    """Print the most probable codes."""
    likely = terminal.interruptible(lambda: advising.most_probable(belief, _MOST_LISTED + 1))
    codes = [pair for pair in likely if pair[1] > 0]
    listed = codes[:_MOST_LISTED]
    if len(codes) > len(listed):
        share = percent(sum(probability for _, probability in listed))
        terminal.show(f"The {len(listed)} most probable codes; together they have {share}:")
    else:
        terminal.show(f"{counted(len(listed), 'code is', 'codes are')} left:")
    command.show_parts([advising.codes_table(listed)])


def show_colors(belief: Posterior) -> None:
    """Print the most probable colors of each place."""
    from rich.text import Text

    table = terminal.plain_table("", *[""] * _MOST_COLORS)
    places = terminal.interruptible(lambda: advising.color_probabilities(belief))
    for place, shares in enumerate(places, start=1):
        best = sorted(range(len(shares)), key=lambda color: -shares[color])[:_MOST_COLORS]
        cells = [
            Text.assemble(format_pegs((color + 1,)), f" {percent(shares[color])}")
            for color in best
            if shares[color] > 0
        ]
        table.add_row(f"place {place}", *cells)
    terminal.show("The most probable colors:")
    terminal.show_table(terminal.new_console(), table)


def show_what_if(now: Position, other: Position, question: str, *, explain: bool) -> None:
    """Print two positions side by side: as it is, and with one row different."""
    assert now.advice is not None
    assert other.advice is not None
    pairs = [_figures(one.belief, one.advice) for one in (now, other) if one.advice]
    rows = [(name, pairs[0][name], pairs[1][name]) for name in pairs[0]]
    doubts = [one.doubts for one in (now, other)]
    if any(max(one.values(), default=0) for one in doubts):
        for row in range(1, len(now.rows.turns) + 1):
            cells = [percent(one[row]) if row in one else "ignored" for one in doubts]
            rows.append((f"row {row} false", cells[0], cells[1]))
    command.show_parts([Table(("", "now", question), rows)])
    if explain:
        terminal.show(f"Now: {words.knowledge(now.advice)}")
        terminal.show(f"Then: {words.knowledge(other.advice)}")


def _figures(belief: Posterior, advice: advising.Advice) -> dict[str, str]:
    """Return the figures of a position by their names."""
    chance = advising.winning_probability(belief, belief.board.parse(advice.guess))
    codes = "by samples" if advice.possible_codes is None else f"{advice.possible_codes:,}"
    likely, probability = advice.most_probable[0]
    figures = {
        "codes possible": codes,
        "bits unknown": f"{advice.entropy:.2f}",
        "next guess": advice.guess,
        "  to be the code": percent(chance),
        "  tells, in bits": f"{advice.information:.2f}",
        "most probable code": likely,
        "  its probability": percent(probability),
    }
    if advice.contradictions is not None:
        figures["replies that must be false"] = str(advice.contradictions)
    return figures


# --- After a game ---------------------------------------------------------------------------------


def show_solution(
    board: Board, turns: Sequence[Turn], code: Sequence[int], *, won: bool, noisy: bool
) -> None:
    """Print the rows of a game that is over, which replies were false, and the code.

    Parameters
    ----------
    board
        The board.
    turns
        The guesses with the replies that were reported.
    code
        The secret code.
    won
        Whether the last guess found it.
    noisy
        Whether replies could be false; otherwise false ones are counted only if there are any.
    """
    truth = [mastermind.reply(turn.guess, code) for turn in turns]
    false = [turn.reply != true for turn, true in zip(turns, truth, strict=True)]
    remarks = [
        Strong(f"false; {true} is true") if is_false else ""
        for true, is_false in zip(truth, false, strict=True)
    ]
    show_board(board, turns, remarks)
    if won:
        guesses = counted(len(turns), "guess", "guesses")
        terminal.show(f"{board.format(code)} is the code, found in {guesses}.", strong=True)
    else:
        terminal.show(f"The code was {board.format(code)}.", strong=True)
    replies = len(turns) - won
    if replies and (noisy or any(false)):
        were = "was" if 1 in (sum(false), replies) else "were"
        terminal.show(f"{sum(false)} of {counted(replies, 'reply', 'replies')} {were} false.")


def show_regret(start: Posterior, turns: Sequence[Turn], *, won: bool, uniform: bool) -> None:
    """Print the loss of each guess, in bits of information; and in guesses if replies are true.

    Parameters
    ----------
    start
        The belief before the first guess, under the noise of the game.
    turns
        The game.
    won
        Whether the last guess was the code.
    uniform
        Whether all codes were equally probable before the game.
    """
    import numpy as np

    from bnmind.lab.mastermind.review import review_guesses, review_in_guesses

    if not turns:
        return
    what, rng = "judging the guesses", np.random.default_rng(0)
    try:
        reviewed = terminal.working(
            what, lambda report: review_guesses(start, turns, rng, won=won, progress=report)
        )
        command.show_parts(parts_of(reviewed))
        if start.channel.is_exact and uniform:
            judged = terminal.working(
                what, lambda report: review_in_guesses(start.board, turns, progress=report)
            )
            if judged is not None:
                lost = sum(row.regret for row in judged)
                terminal.show(f"Lost against optimal guesses: {lost:.3f} guesses.")
    except BnmindError as error:
        terminal.show(f"No regret: {terminal.one_line(error)}")


# --- What a player may type -----------------------------------------------------------------------

_DIGITS = 6
"""The most digits of the number of a row."""


@dataclass(frozen=True)
class Change:
    """Other rows, as the player wants them, or wants to see what they would mean."""

    rows: Callable[[GameRows], GameRows]
    """Returns the rows that are wanted instead of others."""
    what_if: str = ""
    """What is different, if the player only wants to compare."""


@dataclass(frozen=True)
class SetNoise:
    """Assume another noise."""

    noise: str


Action: TypeAlias = Command | Change | SetNoise

COMMAND_LINES = {
    "?": ("?", "a hint"),
    "u": ("u", "undo the last step"),
    "codes": ("codes", "list the most probable codes"),
    "colors": ("colors", "the most probable colors of each place"),
    "if": ("if 2 1b1w", "compare: what if the reply of row 2 were 1b1w?"),
    "ignore": ("ignore 2", "leave row 2 out of account; again to use it"),
    "edit": ("edit 2 1b1w", "change row 2; or edit 2 1123 1b1w"),
    "drop": ("drop 2", "delete row 2"),
    "noise": ("noise false:0.1", "assume other noise from now on"),
    "x": ("x", "explain in plain words, or stop to"),
    "h": ("h", "show this list"),
    "q": ("q", "quit"),
}
"""An example of each command and its meaning, by the word that it begins with."""

_PLAIN = {one.value: one for one in Command if one.value in COMMAND_LINES}
_LONG = WORDS | {"explain": "x"}


def show_help(words: Collection[str], others: Mapping[str, str]) -> None:
    """Print examples of some commands, and their meanings or other ones."""
    terminal.show("Instead of a guess you can type:")
    lines = [(word, *line) for word, line in COMMAND_LINES.items() if word in words]
    rows = [(example, others.get(word, about)) for word, example, about in lines]
    command.show_parts([Table(("", ""), rows, left=(0, 1))])


def read_command(text: str, board: Board, allowed: Collection[str]) -> Action | None:
    """Return the command that a text spells; None if it is no command, and so may be a guess.

    Parameters
    ----------
    text
        What the player typed.
    board
        The board. A word that is also a code of the board, such as ``codes`` with five pegs and 19
        colors, is the code.
    allowed
        The commands that there are now.

    Raises
    ------
    BnmindError
        If a command lacks its row, or has another argument than it takes.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> read_command("noise false:0.1", Board(4, 6), ("noise",))
    SetNoise(noise='false:0.1')
    >>> read_command("1123", Board(4, 6), ("noise",)) is None
    True
    """
    first, _, rest = text.strip().partition(" ")
    word = _LONG.get(first.lower(), first.lower())
    if word not in COMMAND_LINES or (len(first) > 1 and _is_code(text, board)):
        return None
    if word in _PLAIN:
        if rest:
            return None
    elif word == "if" and not rest[:1].isdigit() and _is_code(text, board):
        return None
    if word not in allowed:
        raise BnmindError(f"there is no {first} here; h lists what you can type")
    return _PLAIN[word] if word in _PLAIN else _with_arguments(word, rest.strip(), board)


def _with_arguments(word: str, rest: str, board: Board) -> Action:
    example = COMMAND_LINES[word][0]
    if word == "noise":
        if not rest:
            raise BnmindError(f"expected a noise, like {example}")
        return SetNoise(rest)
    number, _, more = rest.partition(" ")
    if not (number.isascii() and number.isdigit() and len(number) <= _DIGITS):
        got = f", got {shown(number)}" if number else ""
        raise BnmindError(f"expected the number of a row, like {example}{got}")
    row, more = int(number), more.strip()
    if word == "edit":
        guess, reply = _edited(more, board)
        return Change(_with_reply(row, reply, guess))
    if word == "if" and more:
        reply = mastermind.Reply.parse(more, pegs=board.pegs)
        return Change(_with_reply(row, reply), f"row {row}: {reply}")
    if word == "if":
        return Change(lambda rows: rows.ignoring(row), f"row {row}: ignored")
    if more:
        raise BnmindError(f"expected only the number of a row, like {example}")
    return Change(lambda rows: rows.toggled(row) if word == "ignore" else rows.without(row))


def _with_reply(
    row: int, reply: Reply, guess: tuple[int, ...] | None = None
) -> Callable[[GameRows], GameRows]:
    return lambda rows: rows.edited(row, mastermind.Turn(guess or rows.turn(row).guess, reply))


def _edited(text: str, board: Board) -> tuple[tuple[int, ...] | None, Reply]:
    """Return the reply that a row is to have, and its guess; None if that stays."""
    from bnmind.mastermind.board import spells_reply

    if not text:
        raise BnmindError("expected the reply of the row, like edit 2 1b1w")
    if spells_reply(text, pegs=board.pegs):
        return None, mastermind.Reply.parse(text, pegs=board.pegs)
    try:
        (turn,) = mastermind.parse_history(board, text)
    except ValueError as fault:
        reason = str(fault).removeprefix("entry 1 of the history: ")
        form = "expected a guess and its reply"
        if reason.startswith(form):
            raise BnmindError(reason.replace(", in entry 1 of the history", "")) from fault
        raise BnmindError(f"{form}: {reason}") from fault
    return turn.guess, turn.reply


def _is_code(text: str, board: Board) -> bool:
    try:
        board.parse(text)
    except InvalidArgumentError:
        return False
    return True


# --- The dialogue ---------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Game(ABC):
    """A game on the terminal, and its file."""

    board: Board
    path: Path
    content: bytes | None
    """The content of the file when it was last read or written; None if there is none."""
    rng: np.random.Generator
    explain: bool
    """Whether everything is said in plain words."""
    over: bool = False

    words: ClassVar[Collection[str]] = tuple(COMMAND_LINES)
    """The commands that there are."""
    meanings: ClassVar[Mapping[str, str]] = {}
    """Their meanings, where they differ from the usual ones."""

    @property
    @abstractmethod
    def rows(self) -> GameRows:
        """The rows that the player sees."""

    @abstractmethod
    def ask(self) -> Any:
        """Return what the player enters."""

    @abstractmethod
    def belief(self) -> Posterior:
        """Return the belief after the rows that are trusted."""

    @abstractmethod
    def position(self, rows: GameRows) -> Position:
        """Return a position with advice, for the rows of the game or others."""

    @abstractmethod
    def revise(self, action: Action) -> None:
        """Change earlier rows or the noise, and save the game."""

    def run(self) -> None:
        """Go from guess to guess, until the game is over or the player leaves."""
        interrupted = converse(self.ask, self.act, fatal=ModelFileError)
        if not self.over and self.rows.turns:
            terminal.show(f"Saved in {self.path}; the same command resumes the game.")
        if interrupted:
            raise typer.Exit(terminal.INTERRUPTED)

    def act(self, entry: Any) -> bool:
        """Do what a command asks for; return whether the game goes on."""
        if entry is Command.HELP:
            show_help(self.words, self.meanings)
            explain_replies(self.board)
        elif entry is Command.EXPLAIN:
            self.explain = not self.explain
            self.show_explained()
        elif entry is Command.CODES:
            show_codes_left(self.belief())
        elif entry is Command.COLORS:
            show_colors(self.belief())
        elif isinstance(entry, Change) and entry.what_if:
            other = entry.rows(self.rows)
            now, then = self.position(self.rows), self.position(other)
            show_what_if(now, then, entry.what_if, explain=self.explain)
        else:
            self.revise(entry)
        return True

    def show_explained(self) -> None:
        """Print that plain words are on or off now."""
        terminal.show(f"  plain words: {'on' if self.explain else 'off'}")
