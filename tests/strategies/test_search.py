"""Possible codes by constraint search: against lists of all codes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError
from bnmind.mastermind import Board, Channel, Reply, Turn, reply
from bnmind.strategies import (
    RandomCode,
    build_tree,
    find_possible_code,
    first_possible,
    is_searched,
    measure_search,
    play_by_search,
    walk_tree,
)
from tests.mastermind.generators import boards, codes
from tests.modes import examples


@st.composite
def games(draw: st.DrawFn, max_codes: int) -> tuple[Board, list[Turn]]:
    """Guesses and replies: of a secret, or of none."""
    board = draw(boards(max_codes))
    guesses = draw(st.lists(codes(board), max_size=5))
    secrets = [draw(codes(board))] * len(guesses)
    if draw(st.booleans()):
        secrets = [draw(codes(board)) for _ in guesses]
    turns = [Turn(g, reply(g, s)) for g, s in zip(guesses, secrets, strict=True)]
    return board, turns


@given(games(1296), st.integers(0, 99))
@settings(max_examples=examples(150))
def test_the_first_possible_code_is_found_or_that_there_is_none(
    game: tuple[Board, list[Turn]], seed: int
) -> None:
    board, turns = game
    possible = [
        code
        for code in map(board.code, range(board.n_codes))
        if all(reply(turn.guess, code) == turn.reply for turn in turns)
    ]
    found = find_possible_code(board, turns)
    assert found.code == (possible[0] if possible else None)
    shuffled = find_possible_code(board, turns, rng=np.random.default_rng(seed)).code
    assert shuffled in possible if possible else shuffled is None


@given(boards(256).filter(lambda board: board.n_codes > 1), st.data())
@settings(max_examples=examples(25))
def test_games_by_search_are_shapiros(board: Board, data: st.DataObject) -> None:
    secret = data.draw(codes(board))
    tree = build_tree(first_possible(), Channel.exact(board))
    assert play_by_search(board, secret) == walk_tree(tree, secret)


@pytest.mark.compiled
@pytest.mark.parametrize("board", [Board(8, 10), Board(10, 12), Board(10, 14, repeats=False)])
def test_boards_of_billions_of_codes(board: Board) -> None:
    measured = measure_search(RandomCode(), board, games=3, seed=2)
    assert measured.games == 3
    assert measured.max < 20
    assert measure_search(RandomCode(), board, games=3, seed=2) == measured


def test_every_guess_of_a_large_game_is_possible() -> None:
    board = Board(10, 12)
    secret = (7, 1, 8, 2, 12, 9, 3, 3, 6, 12)
    turns = play_by_search(board, secret, rng=np.random.default_rng(1), first=[1, 2] * 5)
    assert turns[0].guess == (1, 2) * 5
    assert turns[-1].guess == secret
    for number, turn in enumerate(turns[1:], start=1):
        assert all(reply(past.guess, turn.guess) == past.reply for past in turns[:number])


@pytest.mark.compiled
def test_work_is_counted() -> None:
    board = Board(8, 10)
    turns = list(play_by_search(board, (9, 8, 7, 6, 5, 4, 3, 2)))[:-1]
    nodes = find_possible_code(board, turns).nodes
    assert find_possible_code(board, turns, max_nodes=nodes).nodes == nodes
    for rng in (None, np.random.default_rng(0)):
        with pytest.raises(TooLargeError, match="pegs placed"):
            find_possible_code(board, turns, rng=rng, max_nodes=3)


def test_search_rejects_invalid_arguments() -> None:
    with pytest.raises(TooLargeError, match="63 colors"):
        find_possible_code(Board(3, 64), [])
    with pytest.raises(InvalidArgumentError):
        find_possible_code(Board(3, 4), [Turn((1, 2, 5), Reply(0, 0))])
    with pytest.raises(InvalidArgumentError):
        play_by_search(Board(3, 4), (1, 2))
    with pytest.raises(BnmindError, match="at least one game"):
        measure_search(RandomCode(), Board(3, 4), games=0, seed=0)
    from bnmind.strategies import Knuth

    with pytest.raises(BnmindError, match="shapiro and random"):
        measure_search(Knuth(), Board(3, 4), games=1, seed=0)
    assert is_searched(first_possible(), Board(10, 12))
    assert not is_searched(Knuth(), Board(10, 12))
    assert not is_searched(RandomCode(), Board(4, 6))
