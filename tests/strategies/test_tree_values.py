"""Trees as values: walked, checked, written and read, compared and drawn."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, InvalidArgumentError, InvalidModelError, ModelFileError
from bnmind.mastermind import Board, Channel, reply
from bnmind.strategies import (
    TREE_FORMATS,
    Entropy,
    Goal,
    Knuth,
    Planned,
    StrategyTree,
    TreeFormat,
    TreeNode,
    build_tree,
    check_tree,
    compare_trees,
    measure_games,
    measure_tree,
    optimal_on_average,
    read_tree,
    strategy_by_name,
    strategy_tree,
    tree_to_dot,
    tree_to_json,
    tree_to_svg,
    tree_to_text,
    walk_tree,
    write_tree,
)
from tests.mastermind.generators import boards, channels
from tests.modes import examples

NAMES = ("knuth", "irving", "kooi", "shapiro", "neuwirth")
READABLE = {suffix: form for suffix, form in TREE_FORMATS.items() if form.from_text is not None}


@st.composite
def trees(draw: st.DrawFn, max_codes: int = 64) -> StrategyTree:
    """Trees of truthful replies, some of them cut."""
    exact = Channel.exact(draw(boards(max_codes)))
    channel = exact.revealed() if draw(st.booleans()) else exact
    cut = draw(st.none() | st.integers(0, 4))
    return build_tree(strategy_by_name(draw(st.sampled_from(NAMES))), channel, max_guesses=cut)


def shape(tree: StrategyTree) -> object:
    """All that a tree of truthful replies says, whatever its channel."""

    def of(node: TreeNode) -> object:
        below = [of(child) for _, child in node.children]
        return node.weight, round(node.entropy, 9), node.possible, node.found, node.guess, below

    return of(tree.root)


@given(trees(), st.sampled_from(list(READABLE.values())))
@settings(max_examples=examples(60))
def test_written_trees_are_read_back(tree: StrategyTree, way: TreeFormat) -> None:
    write, read = way.to_text, way.from_text
    assert read is not None
    again = read(write(tree))
    assert shape(again) == shape(tree)
    assert write(again) == write(tree)
    check_tree(again)


@given(boards(81).filter(lambda board: board.n_codes > 1), st.sampled_from(NAMES))
@settings(max_examples=examples(30))
def test_every_secret_reaches_its_leaf(board: Board, name: str) -> None:
    tree = build_tree(strategy_by_name(name), Channel.exact(board).revealed())
    check_tree(tree)
    lengths = []
    for secret in map(board.code, range(board.n_codes)):
        turns = walk_tree(tree, secret)
        assert turns[-1].guess == secret
        assert all(turn.reply == reply(turn.guess, secret) for turn in turns)
        lengths.append(len(turns))
    assert [lengths.count(n) for n in range(1, max(lengths) + 1)] == list(tree.distribution)
    assert tree.total == sum(lengths)
    assert tree.mean == pytest.approx(sum(lengths) / board.n_codes)
    assert tree.worst == max(lengths)
    determining = tree.determining_distribution
    assert sum(determining) == board.n_codes
    guesses = sum(n * codes for n, codes in enumerate(determining, start=1))
    assert guesses == pytest.approx(tree.lengths.determining * board.n_codes)
    measured = measure_tree(name, tree)
    assert (measured.total, measured.max, measured.games) == (
        sum(lengths),
        max(lengths),
        board.n_codes,
    )
    assert measured.within(2) == sum(length <= 2 for length in lengths)


@given(boards(16).flatmap(channels), st.integers(0, 2))
@settings(max_examples=examples(20))
def test_trees_under_noise_are_checked(channel: Channel, guesses: int) -> None:
    check_tree(build_tree(Entropy(), channel, max_guesses=guesses))


def changed(tree: StrategyTree, change: Callable[[TreeNode], TreeNode]) -> StrategyTree:
    """A tree whose first node with children below the root is another one."""
    children = list(tree.root.children)
    place = next(i for i, (_, child) in enumerate(children) if child.children)
    outcome, child = children[place]
    children[place] = (outcome, change(child))
    return StrategyTree(tree.channel, replace(tree.root, children=tuple(children)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda node: replace(node, weight=node.weight + 1), "expected weight"),
        (lambda node: replace(node, possible=1), "codes at"),
        (lambda node: replace(node, entropy=0.5), "expected entropy"),
        (lambda node: replace(node, children=node.children[1:]), "expected nodes for outcomes"),
        (lambda node: replace(node, guess=None), "nothing below the leaf"),
        (lambda node: replace(node, found=True), "expected found to be False"),
        (lambda node: replace(node, guess=10**6), "expected a guess of the board"),
    ],
)
def test_a_tree_with_a_fault_is_found_out(
    change: Callable[[TreeNode], TreeNode], words: str
) -> None:
    tree = build_tree(Knuth(), Channel.exact(Board(3, 4)))
    with pytest.raises(InvalidModelError, match=words):
        check_tree(changed(tree, change))


def test_files_by_their_endings(tmp_path: Path) -> None:
    tree = build_tree(Knuth(), Channel.exact(Board(3, 4, repeats=False)))
    for ending in ("json", "txt"):
        write_tree(tree, tmp_path / f"tree.{ending}")
        assert shape(read_tree(str(tmp_path / f"tree.{ending}"))) == shape(tree)
    write_tree(tree, tmp_path / "tree.dot")
    assert (tmp_path / "tree.dot").read_text(encoding="utf-8") == tree_to_dot(tree)
    with pytest.raises(ModelFileError, match=r"ends with \.json, \.txt, got .*only written"):
        read_tree(tmp_path / "tree.dot")
    document = json.loads((tmp_path / "tree.json").read_text())
    assert (document["format"], document["version"]) == ("bnmind strategy tree", 1)
    assert document["board"] == {"pegs": 3, "colors": 4, "repeats": False}
    for name in ("tree.xml", "tree"):
        with pytest.raises(ModelFileError, match=r"\.json, \.txt, \.dot"):
            write_tree(tree, tmp_path / name)
    with pytest.raises(ModelFileError, match=r"none\.json"):
        read_tree(tmp_path / "none.json")


def small_tree(suffix: str) -> str:
    """Return the text of a tree of the board 2x3."""
    return TREE_FORMATS[suffix].to_text(build_tree(Knuth(), Channel.exact(Board(2, 3))))


def swapped(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("suffix", "change", "words"),
    [
        (".json", lambda _: "{", "expected JSON"),
        (".json", lambda _: "[]", "expected schema bnmind strategy tree"),
        (".json", swapped('"version": 1', '"version": 2'), "of version 1, got version 2"),
        (".json", swapped('"pegs": 2', '"pegs": 0'), "pegs to be a whole number from 1 to 255"),
        (".json", swapped('"pegs": 2', '"pegs": "2"'), "with pegs and colors"),
        (".json", swapped('"pegs": 2', '"pegs": 40'), "at most 1,048,576 codes"),
        (".json", swapped('"guess": "11"', '"guess": "19"'), "at the root.*'19'"),
        (".json", swapped('"guess": "11"', '"guess": "12"'), "each possible reply to 12"),
        (".json", swapped('"replies"', '"answers"'), "a guess with its replies"),
        (".json", swapped('"tree"', '"trees"'), "got None"),
        (".txt", lambda _: "", "first line like"),
        (".txt", lambda text: text.splitlines()[0], "a tree below the title"),
        (".txt", swapped("= ", "? "), r"got '\? "),
        (".txt", swapped("  1b0w", "  0b0w"), "two in line"),
        (".txt", swapped("\n  ", "\n   "), "below the one before it"),
        (
            ".txt",
            swapped("1, board 2x3", "1, board 2x1"),
            "colors to be a whole number from 2 to 255",
        ),
    ],
)
def test_bad_files_end_in_one_error(
    tmp_path: Path, suffix: str, change: Callable[[str], str], words: str
) -> None:
    path = tmp_path / f"tree{suffix}"
    path.write_text(change(small_tree(suffix)), encoding="utf-8")
    with pytest.raises(ModelFileError, match=words) as caught:
        read_tree(path)
    assert str(path) in str(caught.value)


@given(st.binary(max_size=60), st.sampled_from(list(READABLE)))
@settings(max_examples=examples(60))
def test_no_file_ends_in_another_error(data: bytes, suffix: str) -> None:
    text = small_tree(suffix)
    parse = READABLE[suffix].from_text
    assert parse is not None
    place = len(data) * 7 % len(text)
    broken = text[:place] + data.decode("latin-1") + text[place + len(data) // 2 :]
    with contextlib.suppress(BnmindError):
        parse(broken)


def test_trees_part_where_guesses_differ() -> None:
    exact = Channel.exact(Board(3, 4))
    one, other = (build_tree(strategy_by_name(name), exact) for name in ("shapiro", "kooi"))
    comparison = compare_trees(one, other)
    assert comparison.totals == (one.total, other.total)
    assert math.fsum(parting.cost for parting in comparison.partings) == comparison.cost
    for parting in comparison.partings:
        # Secrets of both ways on: the same turns before, another guess then.
        length = len(parting.history)
        found = 0
        for index in range(64):
            ways = [walk_tree(tree, exact.board.code(index)) for tree in (one, other)]
            if ways[0][:length] == parting.history:
                found += 1
                assert ways[1][:length] == parting.history
                assert parting.guesses == (ways[0][length].guess, ways[1][length].guess)
        assert found == parting.codes
    assert compare_trees(one, one).partings == ()
    revealed = build_tree(strategy_by_name("kooi"), exact.revealed())
    assert compare_trees(other, revealed).partings == ()


def test_trees_that_cannot_be_compared_or_written_raise() -> None:
    one = build_tree(Knuth(), Channel.exact(Board(2, 3)))
    with pytest.raises(BnmindError, match="of one board"):
        compare_trees(one, build_tree(Knuth(), Channel.exact(Board(2, 4))))
    noisy = build_tree(Entropy(), Channel.independent_error(Board(2, 3), 0.1), max_guesses=1)
    for use in (tree_to_json, tree_to_text, tree_to_dot, lambda tree: compare_trees(one, tree)):
        with pytest.raises(BnmindError, match="truthful"):
            use(noisy)
    with pytest.raises(InvalidArgumentError):
        walk_tree(one, (1, 4))
    with pytest.raises(BnmindError, match="truthful"):
        walk_tree(noisy, (1, 2))


@given(trees())
@settings(max_examples=examples(20))
def test_a_picture_is_well_formed_and_as_wide_as_the_codes(tree: StrategyTree) -> None:
    picture = ElementTree.fromstring(tree_to_svg(tree, width=800))
    boxes = [box for box in picture if box.tag.endswith("rect")]
    rows: dict[str, float] = {}
    for box in boxes:
        rows[box.attrib["y"]] = rows.get(box.attrib["y"], 0) + float(box.attrib["width"])
    assert rows["0"] == pytest.approx(800)
    assert max(rows.values()) <= 800.5


def test_a_planned_strategy_plays_its_tree() -> None:
    board = Board(3, 4)
    goal = Goal.REVEALING

    def plan(board: Board) -> StrategyTree:
        return optimal_on_average(board, goal).tree

    strategy = Planned("optimal", plan)
    own = strategy_tree(strategy, board)
    assert own.total == 206
    asked = build_tree(strategy, Channel.exact(board).revealed())
    assert shape(asked) == shape(own)
    # Replies that contradict each other leave the tree, and the game goes on.
    belief = strategy.start(Channel.exact(board).revealed())
    for _ in range(6):
        guess, _info = strategy.choose(belief, np.random.default_rng(0))
        belief = belief.update(board.code(guess), board.true_replies[0])
    assert belief.codes.possible_codes() > 0


def test_games_where_chance_has_a_say() -> None:
    board = Board(2, 3)
    random = strategy_by_name("random")
    one, again = (measure_games(random, board, games=60, seed=4) for _ in range(2))
    assert one == again
    assert one.games == 60
    assert not one.is_exact
    other = measure_games(random, board, games=60, seed=5)
    assert other != one
    # Games of a strategy without chance are those of its tree.
    games = measure_games(Knuth(), board, games=900, seed=1)
    tree = measure_tree("knuth", build_tree(Knuth(), Channel.exact(board)))
    assert games.mean == pytest.approx(tree.mean, abs=0.1)
    with pytest.raises(BnmindError, match="at least one game"):
        measure_games(random, board, games=0, seed=1)
