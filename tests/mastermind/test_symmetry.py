"""Equivalent guesses: published counts, and orbits found by applying every permutation there is."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Sequence
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import bnmind.mastermind.symmetry as symmetry
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import entropy
from bnmind.mastermind import (
    Board,
    Channel,
    CodeDistribution,
    ExactBelief,
    GuessClasses,
    TableBelief,
    VanishingBelief,
    guess_classes,
    replies_to,
    reply_masses,
)
from bnmind.mastermind.symmetry import HistoryGroup, history_group
from tests.mastermind.generators import channels, codes, possible_histories
from tests.modes import examples

Guesses = Sequence[tuple[int, ...]]
Indices = NDArray[np.intp]

SMALL = [
    Board(pegs, colors, repeats=repeats)
    for pegs, colors in [(1, 2), (1, 4), (2, 2), (2, 3), (2, 5), (3, 2), (3, 3), (3, 4), (4, 2)]
    for repeats in (True, False)
    if repeats or pegs <= colors
]
LARGER = [Board(4, 4), Board(4, 4, repeats=False), Board(5, 3), Board(3, 5), Board(6, 2)]


def readable_group(
    board: Board, guesses: Guesses
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield every π, and σ with σ(0) = 0 for no color, that together fix every guess."""
    for places in permutations(range(board.pegs)):
        for order in permutations(range(1, board.colors + 1)):
            colors = (0, *order)
            if all(tuple(colors[guess[p]] for p in places) == guess for guess in guesses):
                yield places, colors


def readable_smallest(board: Board, guesses: Guesses) -> Indices:
    """Return the smallest guess equivalent to each guess: the twin of `guess_classes`."""
    numbers = {tuple(code): index for index, code in enumerate(board.codes.tolist())}
    smallest = np.arange(board.n_codes)
    for places, colors in readable_group(board, guesses):
        moved = np.array(colors)[board.codes[:, places]]
        images = np.array([numbers[tuple(code)] for code in moved.tolist()], dtype=np.intp)
        smallest = np.minimum(smallest, images)
    return smallest


def burnside(board: Board, guesses: Guesses) -> int:
    """Return the number of classes: the mean number of guesses that a permutation fixes."""
    unused = [c for c in range(1, board.colors + 1) if not any(c in guess for guess in guesses)]
    fixed = order = 0
    for places in permutations(range(board.pegs)):
        forced: dict[int, int] = {}
        for guess in guesses:
            for i, p in enumerate(places):
                forced.setdefault(guess[p], guess[i])
        kept = all(forced[g[p]] == g[i] for g in guesses for i, p in enumerate(places))
        if not kept or len(set(forced.values())) < len(forced):
            continue
        position_cycles = cycle_lengths(dict(enumerate(places)))
        for shuffled in permutations(unused):
            color_cycles = cycle_lengths(forced | dict(zip(unused, shuffled, strict=True)))
            # Around a cycle of positions its first color must come back.
            fixed += math.prod(
                sum(c for c in color_cycles if length % c == 0) for length in position_cycles
            )
            order += 1
    assert order == history_group(board, guesses).order
    assert fixed % order == 0
    return fixed // order


def cycle_lengths(mapping: dict[int, int]) -> list[int]:
    """Return the lengths of the cycles of a permutation."""
    lengths, left = [], set(mapping)
    while left:
        start = place = left.pop()
        length = 1
        while (place := mapping[place]) != start:
            left.remove(place)
            length += 1
        lengths.append(length)
    return lengths


def most_informative_opening(board: Board) -> tuple[int, ...]:
    """Return the first guess of minimal expected entropy, the smallest of equals."""
    scores = []
    for index in guess_classes(board, []).representatives:
        counts = np.bincount(replies_to(board, board.code(index)))
        scores.append((-round(float(entropy(counts / board.n_codes)), 9), board.code(index)))
    return min(scores)[1]


@st.composite
def guesses_on(
    draw: st.DrawFn, boards: Sequence[Board], most: int = 3
) -> tuple[Board, tuple[tuple[int, ...], ...]]:
    """A board and guesses made on it."""
    board = draw(st.sampled_from(boards))
    return board, tuple(draw(st.lists(codes(board), max_size=most)))


# -- published figures ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        (Board(4, 6), 5),
        (Board(5, 8), 7),
        (Board(6, 9), 11),
        (Board(7, 7), 15),
        (Board(8, 10), 22),
        (Board(4, 3), 4),
        (Board(10, 10, repeats=False), 1),
    ],
    ids=str,
)
def test_first_guesses(board: Board, expected: int) -> None:
    """As many as there are ways to write the pegs as a sum of at most so many colors."""
    classes = guess_classes(board, [])
    assert len(classes.representatives) == expected
    assert classes.sizes.sum() == board.n_codes


@pytest.mark.parametrize(
    ("text", "expected"),
    [("AAAA", 12), ("AAAB", 53), ("AABB", 39), ("AABC", 130), ("ABCD", 57)],
)
def test_second_guesses_on_the_common_board(text: str, expected: int) -> None:
    board = Board(4, 6)
    guesses = [board.parse(text)]
    classes = guess_classes(board, guesses)
    assert len(classes.representatives) == expected == burnside(board, guesses)
    assert classes.sizes.sum() == board.n_codes


@pytest.mark.parametrize(
    ("board", "text", "expected"),
    [(Board(4, 6), "1234", 57), (Board(5, 8), "11234", 579), (Board(6, 9), "112234", 2857)],
    ids=str,
)
def test_second_guesses_of_the_entropy_strategy(board: Board, text: str, expected: int) -> None:
    opening = most_informative_opening(board)
    assert board.format(opening) == text
    classes = guess_classes(board, [opening])
    assert len(classes.representatives) == expected == burnside(board, [opening])
    assert classes.sizes.sum() == board.n_codes


# -- against every permutation -------------------------------------------------------------


@given(guesses_on(SMALL))
def test_classes_are_the_orbits(made: tuple[Board, Guesses]) -> None:
    check_orbits(*made)


@settings(max_examples=examples(15))
@given(guesses_on(LARGER))
def test_classes_are_the_orbits_on_larger_boards(made: tuple[Board, Guesses]) -> None:
    check_orbits(*made)


def check_orbits(board: Board, guesses: Guesses) -> None:
    classes = guess_classes(board, guesses)
    expected, sizes = np.unique(readable_smallest(board, guesses), return_counts=True)
    assert classes.representatives.tolist() == expected.tolist()
    assert classes.sizes.tolist() == sizes.tolist()
    group = history_group(board, guesses)
    assert group.order == sum(1 for _ in readable_group(board, guesses))
    assert group.least_classes <= len(expected)


@settings(max_examples=examples(25))
@given(guesses_on([Board(4, 5), Board(5, 4), Board(5, 5), Board(6, 3), Board(4, 6)]))
def test_number_of_classes_by_burnside(made: tuple[Board, Guesses]) -> None:
    board, guesses = made
    classes = guess_classes(board, guesses)
    assert len(classes.representatives) == burnside(board, guesses)
    assert classes.sizes.sum() == board.n_codes


@pytest.mark.parametrize(
    "made",
    [
        (Board(4, 6), "1234"),
        (Board(6, 4), "112233"),
        (Board(7, 3), "1112223"),
        (Board(5, 8), "12345 11245"),
        (Board(4, 7, repeats=False), "1234"),
    ],
    ids=str,
)
def test_blocks_do_not_matter(made: tuple[Board, str], monkeypatch: pytest.MonkeyPatch) -> None:
    board = made[0]
    guesses = [board.parse(text) for text in made[1].split()]
    whole = guess_classes(board, guesses)
    monkeypatch.setattr(symmetry, "_BLOCK", 7)
    monkeypatch.setattr(symmetry, "_FIRST_MOVES", 2)
    pieces = guess_classes(board, guesses)
    assert pieces.representatives.tolist() == whole.representatives.tolist()
    assert pieces.sizes.tolist() == whole.sizes.tolist()
    assert pieces.comparisons == whole.comparisons


@given(guesses_on(SMALL), st.randoms(use_true_random=False))
def test_order_and_repetition_of_guesses_do_not_matter(
    made: tuple[Board, Guesses], random: Random
) -> None:
    board, guesses = made
    again = [*guesses, *guesses]
    random.shuffle(again)
    classes, other = guess_classes(board, guesses), guess_classes(board, again)
    assert classes.representatives.tolist() == other.representatives.tolist()
    assert classes.sizes.tolist() == other.sizes.tolist()


def test_many_pegs_of_few_colors() -> None:
    """The group has 26! members, and is not listed."""
    board = Board(26, 2)
    classes = guess_classes(board, [(1,) * 26])
    assert classes.sizes.tolist() == [math.comb(26, ones) for ones in range(26, -1, -1)]
    halves = guess_classes(board, [(1,) * 13 + (2,) * 13])
    # How many pegs are wrong in each half, whichever half is which.
    assert len(halves.representatives) == 14 * 15 // 2
    assert halves.sizes.sum() == board.n_codes


# -- what symmetry is for ------------------------------------------------------------------


def check_masses(belief: ExactBelief) -> None:
    """All guesses of a class have the masses of their representative."""
    board = belief.board
    masses = reply_masses(board, belief.codes.probabilities)
    guesses = tuple(turn.guess for turn in belief.history)
    smallest = readable_smallest(board, guesses)
    assert set(smallest) == set(guess_classes(board, guesses).representatives)
    np.testing.assert_allclose(masses, masses[smallest], rtol=0, atol=1e-12)


@settings(max_examples=examples(60))
@given(st.data(), st.sampled_from(SMALL))
def test_guesses_of_a_class_have_the_same_masses(data: st.DataObject, board: Board) -> None:
    channel = data.draw(channels(board))
    _, turns = data.draw(possible_histories(channel, max_turns=3))
    belief = TableBelief.start(channel)
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    check_masses(belief)


@settings(max_examples=examples(30))
@given(st.data(), st.sampled_from([Board(2, 3), Board(3, 3), Board(3, 4, repeats=False)]))
def test_also_where_replies_contradict(data: st.DataObject, board: Board) -> None:
    belief = VanishingBelief.start(board)
    for guess in data.draw(st.lists(codes(board), max_size=3)):
        belief = belief.update(guess, data.draw(st.sampled_from(board.true_replies[:-1])))
    check_masses(belief)


def test_masses_differ_where_the_prior_is_not_invariant() -> None:
    """The check has teeth: a prior that likes color 1 tells 1111 from 2222."""
    board = Board(2, 2)
    prior = CodeDistribution(board, np.array([0.4, 0.2, 0.2, 0.2]))
    with pytest.raises(AssertionError):
        check_masses(TableBelief.start(Channel.exact(board), prior.probabilities))


# -- costs, errors, values -----------------------------------------------------------------


def test_nothing_is_searched_without_symmetry() -> None:
    board = Board(4, 6)
    guesses = [board.parse(text) for text in ("1234", "1125", "3561")]
    assert history_group(board, guesses).order == 1
    classes = guess_classes(board, guesses)
    assert classes.comparisons == 0
    assert classes.representatives.tolist() == list(range(1296))
    assert set(classes.sizes.tolist()) == {1}


@pytest.mark.parametrize("repeats", [True, False])
def test_a_lower_bound_of_the_cost_is_known_beforehand(repeats: bool) -> None:
    board = Board(5, 7, repeats=repeats)
    for guesses in ([], [(1, 2, 3, 4, 5)], [(1, 2, 3, 4, 5), (2, 1, 3, 6, 7)]):
        group = history_group(board, guesses)
        least = len(group.moves) * group.least_classes
        assert least <= guess_classes(board, guesses).comparisons


@pytest.mark.parametrize("board", [Board(3, 4), Board(4, 6), Board(3, 5, repeats=False)], ids=str)
def test_the_least_number_of_classes_is_codes_by_permutations_rounded_up(board: Board) -> None:
    rest_left = False
    for guesses in ([], [(1, 2, 3)], [(1, 2, 3), (1, 3, 2)], [(1, 2, 3), (2, 3, 4)]):
        history = [(*guess, *[4] * (board.pegs - 3)) for guess in guesses]
        group = history_group(board, history)
        least = group.least_classes
        assert (least - 1) * group.order < board.n_codes <= least * group.order
        assert least <= len(guess_classes(board, history).representatives)
        rest_left |= least * group.order > board.n_codes
    assert rest_left


@pytest.mark.parametrize(
    ("board", "guesses", "message"),
    [
        (Board(30, 30), [], "expected at most 1,099,511,627,776 codes, got at least 205,891,"),
        (Board(8, 12), [(1, 2, 3, 4, 5, 6, 7, 7), (1, 1, 2, 3, 4, 4, 8, 9)], "classes of"),
        (Board(8, 12), [(1, 2, 3, 4, 5, 6, 7, 8), (9, 10, 11, 12) * 2], "comparisons of permuted"),
        (Board(11, 11, repeats=False), [tuple(range(1, 12))], "permutations of columns"),
    ],
    ids=["codes", "classes", "comparisons", "moves"],
)
def test_large_searches_are_rejected(board: Board, guesses: Guesses, message: str) -> None:
    with pytest.raises(TooLargeError, match=message) as caught:
        guess_classes(board, guesses)
    assert caught.value.needed > caught.value.budget


def test_cost_found_on_the_way_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symmetry, "MAX_COMPARISONS", 1000)
    with pytest.raises(TooLargeError, match="comparisons"):
        guess_classes(Board(4, 6), [(1, 2, 3, 4)])


@pytest.mark.parametrize("guess", [(1, 2, 3), (1, 2, 3, 7), (0, 1, 2, 3)])
def test_guesses_are_of_the_board(guess: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgumentError):
        guess_classes(Board(4, 6), [(1, 1, 2, 2), guess])


def test_values_are_read_only_and_pickle() -> None:
    board = Board(4, 6)
    group, classes = history_group(board, [(1, 1, 2, 3)]), guess_classes(board, [(1, 1, 2, 3)])
    group_again: HistoryGroup = pickle.loads(pickle.dumps(group))
    classes_again: GuessClasses = pickle.loads(pickle.dumps(classes))
    assert group_again.order == group.order == 24
    assert group_again.unused == (4, 5, 6)
    assert classes_again.guesses == classes.guesses == ((1, 1, 2, 3),)
    assert classes_again.representatives.tolist() == classes.representatives.tolist()
    for array in (
        group_again.kinds,
        group_again.moves,
        group_again.images,
        classes_again.representatives,
        classes_again.sizes,
    ):
        assert not array.flags.writeable


def test_classes_given_as_lists_become_arrays_of_whole_numbers() -> None:
    board, given = Board(2, 2), np.array([0, 1])
    classes = GuessClasses(board, (), given, [2, 2], 0)  # type: ignore[arg-type]
    given[0] = 3
    assert classes.representatives.tolist() == [0, 1]
    assert classes.sizes.tolist() == [2, 2]
    with pytest.raises(InvalidArgumentError, match="sizes"):
        GuessClasses(board, (), [0, 1], [2.5, 1.5], 0)  # type: ignore[arg-type]
