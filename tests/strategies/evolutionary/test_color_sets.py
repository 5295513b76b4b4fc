"""Colors that true replies exclude, and guesses of a single color."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.mastermind import Board, Reply, Turn, reply
from bnmind.strategies import ColorRemoval, MonochromeProbing
from bnmind.strategies.evolutionary import allowed_colors, next_probe
from tests.mastermind.generators import boards, codes
from tests.modes import examples


@settings(max_examples=examples(60))
@given(st.data())
def test_only_colors_that_no_possible_code_has_are_removed(data: st.DataObject) -> None:
    board = data.draw(boards(100))
    secret = data.draw(codes(board))
    guesses = data.draw(st.lists(codes(board), max_size=4))
    history = [Turn(guess, reply(guess, secret)) for guess in guesses]
    removal = ColorRemoval(*(data.draw(st.booleans()) for _ in range(3)))
    allowed = allowed_colors(board, history, removal)
    for code in map(board.code, range(board.n_codes)):
        if all(reply(turn.guess, code) == turn.reply for turn in history):
            assert all(allowed[i, color] for i, color in enumerate(code))


def test_each_fact_removes_its_colors() -> None:
    board = Board(3, 5)
    history = [Turn((1, 1, 2), Reply(0, 0)), Turn((3, 4, 4), Reply(0, 1))]
    none = ColorRemoval(absent=False, positions=False)
    assert allowed_colors(board, history, none)[:, 1:].all()
    allowed = allowed_colors(board, history, ColorRemoval())
    assert [list(row.nonzero()[0]) for row in allowed] == [[4, 5], [3, 5], [3, 5]]
    complete = ColorRemoval(absent=False, positions=False, complete=True)
    allowed = allowed_colors(board, [Turn((1, 2, 5), Reply(0, 3))], complete)
    assert [list(row.nonzero()[0]) for row in allowed] == [[1, 2, 5]] * 3


def test_contradictions_remove_nothing() -> None:
    board = Board(2, 3)
    history = [Turn((1, 2), Reply(0, 0)), Turn((3, 3), Reply(0, 0))]
    assert allowed_colors(board, history, ColorRemoval())[:, 1:].all()


@settings(max_examples=examples(50))
@given(st.data())
def test_probing_finds_the_number_of_pegs_of_each_color(data: st.DataObject) -> None:
    board = data.draw(boards(100).filter(lambda board: board.repeats))
    secret = data.draw(codes(board))
    history: list[Turn] = []
    while (probe := next_probe(board, history)) is not None:
        history.append(Turn(probe, reply(probe, secret)))
    assert len(history) < board.colors
    known = {turn.guess[0]: turn.reply.black for turn in history}
    assert all(secret.count(color) == n for color, n in known.items())
    assert len(set(secret) - set(known)) <= 1


def test_probing_is_for_large_boards() -> None:
    probing = MonochromeProbing()
    assert probing.applies_to(Board(15, 20))
    assert not probing.applies_to(Board(14, 20))
    assert not probing.applies_to(Board(15, 19))
    assert not probing.applies_to(Board(15, 20, repeats=False))
