"""Hypothesis strategies for Mastermind: boards, codes, replies, channels, histories, beliefs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from bnmind.information import Floats
from bnmind.mastermind import Board, Channel, Reply, Turn, reply
from tests.modes import UNCOMPILED

__all__ = [
    "all_boards",
    "boards",
    "channels",
    "code_weights",
    "codes",
    "histories",
    "possible_histories",
    "replies",
]

# Noise of 1e-200 twice over is less than the least float: what is all but 0 is 0 here.
probabilities = st.just(0.0) | st.floats(1e-6, 1)


def all_boards(max_codes: int) -> list[Board]:
    """Every board of up to so many codes, small ones first."""
    found = [
        Board(pegs, colors, repeats=repeats)
        for pegs in range(1, 8)
        for colors in range(2, 13)
        for repeats in (True, False)
        if repeats or pegs <= colors
    ]
    return sorted(
        (board for board in found if board.n_codes <= max_codes),
        key=lambda board: (board.n_codes, not board.repeats, board.pegs),
    )


MOST_CODES = 100 if UNCOMPILED else 1296
"""Of boards of which nothing else is said."""


def boards(max_codes: int = MOST_CODES) -> st.SearchStrategy[Board]:
    """Boards with and without repeats, of at most so many codes."""
    return st.sampled_from(all_boards(max_codes))


def codes(board: Board) -> st.SearchStrategy[tuple[int, ...]]:
    """Codes of the board, as tuples of colors."""
    return st.integers(0, board.n_codes - 1).map(board.code)


def replies(board: Board) -> st.SearchStrategy[Reply]:
    """Pairs of numbers 0..n, true replies or not."""
    counts = st.integers(0, board.pegs)
    return st.builds(Reply, counts, counts)


def _stochastic(size: int) -> st.SearchStrategy[Floats]:
    """Square tables whose rows sum to one; zeros occur."""
    row = st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any)
    return st.lists(row, min_size=size, max_size=size).map(
        lambda rows: np.array([np.array(row) / sum(row) for row in rows])
    )


@st.composite
def channels(
    draw: st.DrawFn, board: Board, *, exact: bool = True, revealed: bool | None = None
) -> Channel:
    """Channels of every kind; of a game that ends or not, unless `revealed` says which."""
    table = _stochastic(board.pegs + 1)
    pairs = st.tuples(st.sampled_from(board.true_replies), replies(board))
    makers: list[st.SearchStrategy[Channel]] = [
        probabilities.map(lambda p: Channel.false_reply(board, p)),
        probabilities.map(lambda p: Channel.independent_error(board, p)),
        st.builds(lambda b, w: Channel.independent(board, b, w), table, table),
        st.dictionaries(pairs, st.integers(0, 20)).map(
            lambda counts: Channel.from_counts(board, counts)
        ),
    ]
    if exact:
        makers.insert(0, st.just(Channel.exact(board)))
    channel = draw(st.one_of(makers))
    ends = draw(st.booleans()) if revealed is None else revealed
    return channel.revealed() if ends else channel


@st.composite
def histories(draw: st.DrawFn, board: Board, *, max_turns: int = 5) -> tuple[Turn, ...]:
    """Guesses and any replies at all; they may contradict each other."""
    turns = st.builds(Turn, codes(board), replies(board))
    return tuple(draw(st.lists(turns, max_size=max_turns)))


@st.composite
def possible_histories(
    draw: st.DrawFn, channel: Channel, *, max_turns: int = 5
) -> tuple[tuple[int, ...], tuple[Turn, ...]]:
    """A secret, and guesses with replies that the channel can give of it."""
    board = channel.board
    secret = draw(codes(board))
    guesses = draw(st.lists(codes(board), max_size=max_turns))
    turns: list[Turn] = []
    for guess in guesses:
        row = channel.matrix[board.true_replies.index(reply(guess, secret))]
        heard = [channel.reports[i] for i in np.flatnonzero(row) if i != channel.won_index]
        if heard:  # nothing but "won" otherwise
            turns.append(Turn(guess, draw(st.sampled_from(heard))))
    return secret, tuple(turns)


def code_weights(board: Board) -> st.SearchStrategy[Floats]:
    """Beliefs over the codes of the board, with ties and zeros; they sum to one."""
    kinds: list[Callable[[np.random.Generator], Floats]] = [
        lambda rng: np.ones(board.n_codes),
        lambda rng: rng.integers(0, 3, board.n_codes).astype(np.float64),
        lambda rng: rng.dirichlet(np.full(board.n_codes, 0.3)),
    ]

    def make(kind: int, seed: int) -> Floats:
        weights = kinds[kind](np.random.default_rng(seed))
        weights[seed % board.n_codes] += 1.0
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    return st.builds(make, st.integers(0, len(kinds) - 1), st.integers(0, 2**16))
