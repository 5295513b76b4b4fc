"""A code that the board has made, or that was checked once, is not checked again."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.lab.mastermind import advise
from bnmind.lab.mastermind.advice import belief_after, start
from bnmind.mastermind import Board, Reply, Turn, VanishingBelief, parse_noise, replies_to
from bnmind.mastermind.masses import replies_of, reply_rows

TURNS = (Turn((1, 1, 2), Reply(1, 0)), Turn((1, 3, 3), Reply(0, 1)))


def checks_of_a_suggestion(board: Board, noise: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many codes a suggestion after two turns checks."""
    counted: list[object] = []
    check = Board._check
    turns = [Turn((*turn.guess, *[1] * (board.pegs - 3)), turn.reply) for turn in TURNS]
    belief = belief_after(start(parse_noise(board, noise)), turns)

    def count(self: Board, code: tuple[int, ...], got: object) -> None:
        counted.append(code)
        check(self, code, got)

    with monkeypatch.context() as patch:
        patch.setattr(Board, "_check", count)
        advise(belief, np.random.default_rng(1))
    return len(counted)


@pytest.mark.parametrize("noise", ["exact", "false:0.2"])
def test_a_suggestion_checks_the_codes_of_its_history_only(
    noise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = checks_of_a_suggestion(Board(3, 4), noise, monkeypatch)
    assert small <= 12
    # There are 64 codes and 1,296.
    assert checks_of_a_suggestion(Board(4, 6), noise, monkeypatch) == small


@pytest.mark.parametrize("board", [Board(3, 4), Board(4, 7), Board(4, 9, repeats=False)], ids=str)
def test_replies_by_index_are_those_by_code(board: Board) -> None:
    some = np.arange(0, board.n_codes, 1 + board.n_codes // 7)
    for index, row in zip(some.tolist(), reply_rows(board, some), strict=True):
        expected = replies_to(board, board.code(index))
        np.testing.assert_array_equal(row, expected)
        np.testing.assert_array_equal(replies_of(board, index), expected)
        assert not row.flags.writeable
        assert board.format_index(index) == board.format(board.code(index))


def test_a_belief_without_the_constructor_is_the_same() -> None:
    board = Board(3, 4)
    belief = VanishingBelief.start(board)
    for turn in TURNS:
        belief = belief.update(turn.guess, turn.reply)
    again = VanishingBelief(
        board=board,
        reports=belief.reports,
        history=belief.history,
        counts=belief.counts,
        ends=belief.ends,
    )
    assert belief.history == again.history == TURNS
    assert belief.counts.dtype == again.counts.dtype
    np.testing.assert_array_equal(belief.counts, again.counts)
    assert not belief.counts.flags.writeable
