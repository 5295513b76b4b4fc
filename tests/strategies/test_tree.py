"""Strategies as trees, against games that are played code by code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Channel, reply
from bnmind.strategies import (
    Entropy,
    Knuth,
    MapCode,
    Strategy,
    StrategyTree,
    TreeNode,
    build_tree,
    grow_tree,
    strategy_by_name,
)
from tests.mastermind.generators import boards, channels
from tests.modes import examples

REFERENCE = published("mastermind_totals")


@pytest.mark.compiled
@pytest.mark.parametrize("name", REFERENCE["heuristics"])
@pytest.mark.parametrize("revealed", [False, True])
def test_known_totals(name: str, revealed: bool) -> None:
    known = REFERENCE["heuristics"][name]
    assert known.get("published", known["total"]) == known["total"]
    channel = Channel.exact(Board(4, 6))
    tree = build_tree(strategy_by_name(name), channel.revealed() if revealed else channel)
    assert tuple(tree.distribution) == known["distribution"]
    lengths = tree.lengths
    assert lengths.revealing * 1296 == pytest.approx(known["total"], abs=1e-6)
    if "determining" in known:
        assert lengths.determining * 1296 == pytest.approx(known["determining"], abs=1e-6)
        assert lengths.paper_EL * 1296 == pytest.approx(known["paper_EL"], abs=1e-6)
    assert tree.depth == len(known["distribution"])
    assert tree.expected_entropy == 0
    assert tree.is_complete


def games(strategy: Strategy, board: Board) -> list[tuple[int, int]]:
    """Play every code by the rules: guesses to reveal it, and until it alone is left."""
    channel = Channel.exact(board).revealed()
    lengths = []
    for secret in map(tuple, board.codes.tolist()):
        belief = strategy.start(channel)
        left, guesses, determined = list(map(tuple, board.codes.tolist())), 0, -1
        while True:
            guess = board.code(strategy.choose(belief, np.random.default_rng(0))[0])
            answer = reply(guess, secret)
            guesses += 1
            left = [code for code in left if reply(guess, code) == answer]
            if len(left) == 1 and determined < 0:
                determined = guesses
            if guess == secret:
                break
            belief = belief.update(guess, answer)
        lengths.append((guesses, determined))
    return lengths


@given(boards(64), st.sampled_from([Entropy(), Knuth()]))
@settings(max_examples=examples(25))
def test_lengths_are_those_of_games(board: Board, strategy: Strategy) -> None:
    if board.n_codes < 2:
        return
    tree = build_tree(strategy, Channel.exact(board))
    played = games(strategy, board)
    revealing, determining = zip(*played, strict=True)
    assert tree.lengths.revealing * board.n_codes == pytest.approx(sum(revealing))
    assert tree.lengths.determining * board.n_codes == pytest.approx(sum(determining))
    assert tree.lengths.paper_EL == pytest.approx(tree.lengths.determining + 1)
    assert tree.depth == max(determining) + 1
    assert list(tree.distribution) == [
        revealing.count(number) for number in range(1, max(revealing) + 1)
    ]
    for number in range(max(revealing) + 1):
        share = sum(length <= number for length in revealing) / board.n_codes
        assert tree.won_within(number) == pytest.approx(share)


def walk(node: TreeNode) -> list[TreeNode]:
    return [node, *(below for _, child in node.children for below in walk(child))]


@given(boards(16).flatmap(channels), st.integers(0, 2))
@settings(max_examples=examples(30))
def test_noisy_trees_add_up(channel: Channel, guesses: int) -> None:
    tree = build_tree(Entropy(), channel, max_guesses=guesses)
    nodes = walk(tree.root)
    assert tree.root.weight == channel.board.n_codes
    for node in nodes:
        assert (node.guess is None) == (not node.children)
        if node.children:
            below = [child for _, child in node.children]
            assert math.fsum(child.weight for child in below) == pytest.approx(node.weight)
            # A guess tells nothing false, on average.
            average = math.fsum(child.weight * child.entropy for child in below) / node.weight
            assert average <= node.entropy + 1e-9
    assert tree.depth <= guesses + 1
    leaves = list(tree.leaves())
    assert math.fsum(leaf.weight for _, leaf in leaves) == pytest.approx(tree.root.weight)
    assert 0 <= tree.expected_entropy <= tree.root.entropy + 1e-9
    assert tree.won_within(0) == 0 or channel.board.n_codes == 1


def test_a_noisy_tree_has_a_child_for_every_outcome() -> None:
    channel = Channel.independent_error(Board(2, 3), 0.1).revealed()
    tree = build_tree(Entropy(), channel, max_guesses=1)
    assert [outcome for outcome, _ in tree.root.children] == list(range(channel.n_outcomes))
    assert [child.found for _, child in tree.root.children].count(True) == 1
    assert not tree.is_complete


def test_unsupported_uses_of_trees_are_reported() -> None:
    noisy = Channel.false_reply(Board(2, 3), 0.2)
    with pytest.raises(BnmindError, match="deterministic"):
        build_tree(MapCode(), noisy, max_guesses=2)
    with pytest.raises(BnmindError, match="stops before"):
        _ = build_tree(Entropy(), noisy, max_guesses=1).lengths
    with pytest.raises(BnmindError, match="stops before"):
        _ = build_tree(Entropy(), noisy, max_guesses=1).distribution
    with pytest.raises(BnmindError, match="does not end within"):
        grow_tree(Channel.exact(Board(2, 3)), lambda path: 0)


def test_a_tree_is_a_value() -> None:
    tree = build_tree(Entropy(), Channel.exact(Board(2, 2)))
    with pytest.raises(AttributeError):
        tree.root = tree.root  # type: ignore[misc]
    assert isinstance(tree, StrategyTree)
    assert tree.board == Board(2, 2)
