"""Myopic strategies: compiled trees against the definitions, on codes counted one by one."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Channel, Reply, reply, reply_masses
from bnmind.strategies import (
    Among,
    EntropyLeft,
    ExpectedSize,
    Indifference,
    Knuth,
    Larmouth,
    MostParts,
    Myopic,
    Score,
    StrategyTree,
    Ties,
    TreeNode,
    WeightedEntropy,
    WorstCase,
    build_tree,
    first_possible,
    grow_exactly,
    guaranteed_information,
    is_growable,
    myopic_rule,
    strategy_by_name,
)
from tests.mastermind.generators import boards
from tests.modes import examples

REFERENCE = published("mastermind_totals")
Code = tuple[int, ...]


def product(classes: Sequence[int]) -> int:
    return math.prod(n**n for n in classes)


def judged(score: Score, guess: Code, possible: Sequence[Code]) -> Any:
    """Return what is to be small, by the words of the literature, exactly."""
    counts = Counter(reply(guess, code) for code in possible)
    classes = sorted(counts.values(), reverse=True)
    may_win = guess in possible
    if isinstance(score, WorstCase):
        return classes if score.next_largest else classes[0]
    if isinstance(score, ExpectedSize):
        return sum(n * n for n in classes) - (score.corrected and may_win)
    if isinstance(score, EntropyLeft):
        return product(classes)
    if isinstance(score, Larmouth):
        return Fraction(product(classes), 4**may_win)
    if isinstance(score, MostParts):
        return -(len(classes) - (may_win and not score.winning_counts))
    assert isinstance(score, Indifference)
    return 0


SCORES: list[Score] = [
    WorstCase(),
    WorstCase(next_largest=True),
    ExpectedSize(),
    ExpectedSize(corrected=True),
    EntropyLeft(),
    Larmouth(),
    MostParts(),
    MostParts(winning_counts=False),
]


def plain_guess(strategy: Myopic, board: Board, possible: Sequence[Code]) -> Code:
    """Return the best guess: every guess, every code, in plain words."""
    first = strategy.first_guess(board)
    if first is not None and len(possible) == board.n_codes:
        return first
    every = [board.code(i) for i in range(board.n_codes)]
    among = list(possible) if strategy.among is Among.POSSIBLE else every
    telling = [g for g in among if len({reply(g, code) for code in possible}) > 1]
    return min(telling, key=lambda g: (judged(strategy.score, g, possible), g not in possible, g))


def walk(node: TreeNode, board: Board, possible: list[Code]) -> list[tuple[TreeNode, list[Code]]]:
    found = [(node, possible)]
    for outcome, child in node.children:
        assert node.guess is not None
        guess, answer = board.code(node.guess), board.true_replies[outcome]
        found += walk(child, board, [code for code in possible if reply(guess, code) == answer])
    return found


@st.composite
def strategies(draw: st.DrawFn, board: Board) -> Myopic:
    first = draw(st.none() | st.integers(0, board.n_codes - 1).map(board.code))
    score = draw(st.sampled_from(SCORES) | st.just(Indifference()))
    among = Among.POSSIBLE if score == Indifference() else draw(st.sampled_from(Among))
    return Myopic(score, among=among, first=first)


@given(boards(125), st.data())
@settings(max_examples=examples(60))
def test_compiled_trees_guess_by_the_definitions(board: Board, data: st.DataObject) -> None:
    strategy = data.draw(strategies(board))
    tree = build_tree(strategy, Channel.exact(board))
    every = [board.code(i) for i in range(board.n_codes)]
    for node, possible in walk(tree.root, board, every):
        assert node.possible == len(possible) == node.weight
        if node.guess is None:
            assert len(possible) == 1
        elif len(possible) <= 30 or len(possible) == board.n_codes:
            assert board.code(node.guess) == plain_guess(strategy, board, possible)


@pytest.mark.slow
@given(st.sampled_from(SCORES), st.sampled_from(Among), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(8))
def test_larger_sets_too(score: Score, among: Among, seed: int) -> None:
    """On 4x5 sets are larger than what is looked at pair by pair; one path is followed."""
    board, rng = Board(4, 5), np.random.default_rng(seed)
    strategy = Myopic(score, among=among, first=board.code(int(rng.integers(board.n_codes))))
    node = build_tree(strategy, Channel.exact(board)).root
    secret = board.code(int(rng.integers(board.n_codes)))
    possible = [board.code(i) for i in range(board.n_codes)]
    while node.guess is not None:
        guess = board.code(node.guess)
        assert guess == plain_guess(strategy, board, possible)
        answer = reply(guess, secret)
        possible = [code for code in possible if reply(guess, code) == answer]
        node = dict(node.children)[board.true_replies.index(answer)]
    assert possible == [secret]


def grown_by_choices(strategy: Myopic, channel: Channel) -> StrategyTree:
    """The tree that results from asking `choose` at every node."""

    class Asked(Myopic):
        """A strategy of its own, so that its tree is not compiled."""

    asked = Asked(
        strategy.score,
        name=strategy.name,
        among=strategy.among,
        ties=strategy.ties,
        first=strategy.first,
    )
    assert myopic_rule(asked) is None
    return build_tree(asked, channel)


def guesses_of(node: TreeNode) -> Any:
    return node.guess, node.found, [(o, guesses_of(child)) for o, child in node.children]


@given(boards(256), st.booleans(), st.data())
@settings(max_examples=examples(40))
def test_trees_agree_with_the_choices_in_games(
    board: Board, revealed: bool, data: st.DataObject
) -> None:
    strategy = data.draw(strategies(board))
    if data.draw(st.booleans()):
        numbers = st.lists(
            st.integers(0, 3000),
            min_size=len(board.true_replies),
            max_size=len(board.true_replies),
        ).map(tuple)
        weights = tuple(data.draw(st.lists(numbers, min_size=1, max_size=3)))
        strategy = Myopic(WeightedEntropy(board, weights), first=strategy.first)
    exact = Channel.exact(board)
    channel = exact.revealed() if revealed else exact
    tree = build_tree(strategy, channel)
    assert guesses_of(tree.root) == guesses_of(grown_by_choices(strategy, channel).root)
    assert grow_exactly(strategy, board, max_guesses=99).total == tree.total


def test_variants_of_published_strategies() -> None:
    exact = Channel.exact(Board(4, 6))
    for score, total in (
        (WorstCase(next_largest=True), REFERENCE["variants"]["knuth_next_largest"]),
        (MostParts(winning_counts=False), REFERENCE["variants"]["kooi_without_winning"]),
    ):
        assert build_tree(Myopic(score), exact).total == total


@pytest.mark.parametrize("text", REFERENCE["first_guesses"])
def test_snyders_table_of_first_guesses(text: str) -> None:
    published, board = REFERENCE["first_guesses"][text], Board(4, 6)
    guess = np.array([board.index(board.parse(text))])
    classes = reply_masses(board, np.ones(board.n_codes), guess)
    assert np.count_nonzero(classes) == published["cells"]
    assert classes.max() == published["largest"]
    score = ExpectedSize()
    key = int(score.terms(board, board.n_codes).keys(classes, 0)[0])
    share = score.shown(board, key, board.n_codes) / board.n_codes
    assert f"{share:.7f}" == f"{published['expected_proportion']:.7f}"


def test_the_first_guess_can_be_given() -> None:
    board = Board(4, 6)
    strategy = Myopic(EntropyLeft(), first=(1, 1, 2, 2))
    tree = build_tree(strategy, Channel.exact(board))
    assert tree.root.guess == board.index((1, 1, 2, 2))
    guess, _ = strategy.choose(strategy.start(Channel.exact(board)), np.random.default_rng(0))
    assert guess == tree.root.guess
    with pytest.raises(InvalidArgumentError):
        strategy.start(Channel.exact(Board(3, 6)))
    with pytest.raises(InvalidArgumentError):
        build_tree(strategy, Channel.exact(Board(3, 6)))


def test_only_possible_codes_if_asked() -> None:
    """No tree of possible codes only takes fewer than 5660 guesses at 4x6 (the reference file)."""
    board = Board(4, 6)
    strategy = Myopic(MostParts(), among=Among.POSSIBLE, first=(1, 1, 2, 3))
    tree = build_tree(strategy, Channel.exact(board))
    every = [board.code(i) for i in range(board.n_codes)]
    for node, possible in walk(tree.root, board, every):
        assert node.guess is None or board.code(node.guess) in possible
    assert tree.total >= 5660


def test_chance_breaks_ties_among_the_best() -> None:
    board = Board(3, 4)
    strategy = Myopic(WorstCase(), ties=Ties.RANDOM)
    assert not strategy.deterministic
    with pytest.raises(BnmindError, match="deterministic"):
        build_tree(strategy, Channel.exact(board))
    belief = strategy.start(Channel.exact(board)).update((1, 1, 2), Reply(1, 0))
    possible = [board.code(int(i)) for i in np.flatnonzero(belief.codes.probabilities)]
    best = min(judged(WorstCase(), board.code(i), possible) for i in range(board.n_codes))
    tied = [i for i in range(board.n_codes) if judged(WorstCase(), board.code(i), possible) == best]
    wanted = [i for i in tied if board.code(i) in possible] or tied
    rng = np.random.default_rng(3)
    drawn = {strategy.choose(belief, rng)[0] for _ in range(60 * len(wanted))}
    assert drawn == set(wanted)
    assert strategy.choose(belief, rng)[1].tied == len(tied)


def test_maxmin_is_knuth_by_another_name() -> None:
    assert guaranteed_information(1296, 324) == 2
    board = Board(3, 5)
    exact = Channel.exact(board)
    trees = [build_tree(strategy_by_name(name), exact) for name in ("knuth", "maxmin")]
    assert guesses_of(trees[0].root) == guesses_of(trees[1].root)
    counts = [[1, 5, 6], [2, 5, 5], [4, 4, 4]]
    by_size = sorted(range(3), key=lambda i: max(counts[i]))
    assert by_size == sorted(range(3), key=lambda i: -guaranteed_information(12, max(counts[i])))


def test_a_cut_tree_stops_at_the_cut() -> None:
    tree = build_tree(first_possible(), Channel.exact(Board(3, 4)), max_guesses=2)
    assert tree.depth == 3
    assert not tree.is_complete
    whole = build_tree(first_possible(), Channel.exact(Board(3, 4)))
    assert tree.won_within(2) == whole.won_within(2)
    assert build_tree(Knuth(), Channel.exact(Board(3, 4)), max_guesses=0).root.guess is None


def test_boards_too_large_for_compiled_trees_raise() -> None:
    assert is_growable(Board(6, 7))
    for board in (Board(6, 9), Board(16, 2), Board(2, 63)):
        assert not is_growable(board)
        with pytest.raises(TooLargeError):
            grow_exactly(Myopic(MostParts()), board, max_guesses=9)
    with pytest.raises(BnmindError, match="does not end within"):
        build_tree(Knuth(), Channel.exact(Board(1, 250)))


def test_all_scores_have_one_interface() -> None:
    board = Board(3, 4)
    for score in [*SCORES, Indifference(), WeightedEntropy(board, ((1000,) * 9,))]:
        assert list(inspect.signature(score.terms).parameters) == ["board", "largest"]
        assert list(inspect.signature(score.shown).parameters) == ["board", "key", "codes"]
        terms = score.terms(board, 64)
        assert terms.sizes.shape == (65,)
        assert terms.weights.shape[1] == 9
        classes = reply_masses(board, np.ones(64))
        shown = [score.shown(board, int(key), 64) for key in terms.keys(classes, 0)]
        best = terms.best(classes, 0)
        assert shown[best[0]] == (min(shown) if score.minimized else max(shown))
