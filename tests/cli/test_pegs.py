"""The board on the terminal: letters without colors, colors where there are some, narrow panes."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import bnmind.web
from bnmind.cli.mastermind.screen import (
    PEG_COLORS,
    Change,
    SetNoise,
    colors_of,
    format_pegs,
    read_command,
    show_board,
)
from bnmind.cli.shared.dialogue import Command
from bnmind.errors import BnmindError
from bnmind.lab.mastermind.saved_games import GameRows
from bnmind.mastermind import Board, Reply, Turn, parse_history

WORDS = ("?", "u", "codes", "colors", "if", "ignore", "edit", "drop", "noise", "x", "h", "q")


def _shown(board: Board, guess: tuple[int, ...], **options: object) -> str:
    console = Console(file=io.StringIO(), **options)  # type: ignore[arg-type]
    show_board(board, [Turn(guess, Reply(1, 1))], console=console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_pegs_have_letters_with_and_without_color() -> None:
    plain = _shown(Board(4, 6), (1, 1, 2, 6))
    assert plain.rstrip() == "  1  (A)(A)(B)(F)  1126  1b1w"
    colored = _shown(Board(4, 6), (1, 1, 2, 6), force_terminal=True, color_system="truecolor")
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    none = _shown(
        Board(4, 6), (1, 1, 2, 6), force_terminal=True, color_system="truecolor", no_color=True
    )
    assert "38;" not in none
    assert "48;" not in none


def test_a_narrow_pane_keeps_the_pegs() -> None:
    board = Board(12, 20)
    guess = tuple(range(1, 13))
    assert "1 2 3 4 5" in _shown(board, guess, width=100)
    narrow = _shown(board, guess, width=60)
    assert "1 2 3 4 5" not in narrow
    assert "(A)(B)(C)(D)(E)(F)(G)(H)(I)(J)(K)(L)  1b1w" in narrow


def test_more_colors_than_letters_are_numbers() -> None:
    assert format_pegs((26, 27)).plain == "(Z)(27)"
    assert colors_of(Board(2, 27)) == "colors 1 to 27"


def test_the_colors_are_those_of_the_pages() -> None:
    style = (Path(bnmind.web.__file__).parent / "static" / "style.css").read_text()
    pages = re.findall(r"\.c\d+ { --peg: (#\w+); --mark: (#\w+); }", style)
    assert tuple(pages) == PEG_COLORS


def test_commands() -> None:
    board = Board(4, 6)
    assert read_command("u", board, WORDS) is Command.UNDO
    assert read_command("Undo", board, WORDS) is Command.UNDO
    rows = GameRows(parse_history(board, "1122 0b0w, 1234 2b0w"))
    for text, wanted, what_if in (
        ("if 2", rows.ignoring(2), "row 2: ignored"),
        ("if 2 1 1", rows.edited(2, Turn((1, 2, 3, 4), Reply(1, 1))), "row 2: 1b1w"),
        ("edit 2 11", rows.edited(2, Turn((1, 2, 3, 4), Reply(1, 1))), ""),
        ("edit 2 AABC 1b1w", rows.edited(2, Turn((1, 1, 2, 3), Reply(1, 1))), ""),
        ("ignore 1", rows.toggled(1), ""),
        ("drop 1", rows.without(1), ""),
    ):
        change = read_command(text, board, WORDS)
        assert isinstance(change, Change)
        assert (change.rows(rows), change.what_if) == (wanted, what_if)
    assert read_command("noise false:0.1", board, WORDS) == SetNoise("false:0.1")
    assert read_command("1123", board, WORDS) is None
    assert read_command("", board, WORDS) is None


def test_a_word_that_is_a_code_of_the_board_is_a_guess() -> None:
    assert read_command("codes", Board(5, 19), WORDS) is None
    assert read_command("edit", Board(4, 20), WORDS) is None
    assert read_command("if", Board(2, 9), WORDS) is None
    assert isinstance(read_command("if 1", Board(2, 9), WORDS), Change)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ignore", "the number of a row, like ignore 2"),
        ("ignore two", "got 'two'"),
        ("ignore 2 3", "only the number of a row"),
        ("if 2 9b9w", "at most 4 black"),
        ("edit 2", "expected the reply of the row"),
        ("edit 2 1199 1b1w", "colors 1 to 6"),
        ("noise", "like noise false:0.1"),
        (f"drop {'9' * 5000}", "the number of a row"),
    ],
)
def test_bad_commands(text: str, words: str) -> None:
    with pytest.raises(BnmindError, match=words):
        read_command(text, Board(4, 6), WORDS)


def test_commands_that_there_are_not() -> None:
    with pytest.raises(BnmindError, match="there is no drop here"):
        read_command("drop 2", Board(4, 6), ("u",))
