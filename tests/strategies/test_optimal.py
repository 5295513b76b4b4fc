"""Optimal strategies: known totals, and a plain recursion for the smallest boards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Channel, Reply, Turn, parse_history, replies_to, reply
from bnmind.strategies import (
    Among,
    Goal,
    Optimal,
    Optimum,
    check_tree,
    codes_left,
    exact_regrets,
    first_guesses,
    measure_tree,
    optimal_in_worst_case,
    optimal_on_average,
    strategy_by_name,
    strategy_tree,
    walk_tree,
)
from bnmind.strategies.optimum import BoardSearch, SearchRules, SetSearch
from tests.mastermind.generators import boards, codes
from tests.modes import before_releases, examples

REFERENCE = published("mastermind_totals")
OPTIMAL: list[dict[str, Any]] = REFERENCE["optimal"]
Code = tuple[int, ...]
NEVER = 10**9
CLASSIC = Board(4, 6)


def board_of(name: str) -> Board:
    pegs, colors = map(int, name[:-1].split("x"))
    return Board(pegs, colors, repeats=name.endswith("r"))


def total_of(entry: dict[str, Any]) -> int:
    """Return the one total that an entry has, wherever it is known from."""
    (total,) = (entry[key] for key in ("published", "confirmed", "found") if key in entry)
    return int(total)


def marked(entry: dict[str, Any]) -> Any:
    marks = [pytest.mark.slow] if entry.get("slow") else []
    if entry["board"] in ("4x10n", "6x4r") or (entry["board"] == "4x8r" and "max_guesses" in entry):
        marks.append(before_releases)  # a quarter of a minute, or a whole one
    return pytest.param(entry, id=entry["board"], marks=marks)


def check_certificate(optimum: Optimum) -> None:
    """Check that a strategy takes what it is said to take, and that no opening takes less."""
    board, goal = optimum.tree.board, optimum.rules.goal
    check_tree(optimum.tree)
    measured = measure_tree("optimal", optimum.tree, goal=goal)
    assert measured.total == optimum.total == optimum.bound
    if optimum.rules.max_guesses is not None:
        assert measured.max <= optimum.rules.max_guesses
    first = optimum.tree.root.guess
    assert first is not None
    assert optimum.openings[board.code(first)] == optimum.total
    if len(optimum.openings) > 1:  # of more than six pegs not all symmetry is used
        assert {board.index(guess) for guess in optimum.openings} >= set(first_guesses(board))
    assert optimum.solved > 0


@pytest.mark.parametrize("entry", OPTIMAL + REFERENCE["optimal_within"])
def test_every_known_total_has_a_source(entry: dict[str, Any]) -> None:
    assert total_of(entry) > 0
    assert ("source" in entry) == ("published" in entry)
    # A published total is a test; only our own may need a command that takes minutes.
    assert "command" not in entry or "found" in entry


@pytest.mark.compiled
@pytest.mark.parametrize("entry", [marked(entry) for entry in OPTIMAL if "command" not in entry])
def test_known_minima(entry: dict[str, Any]) -> None:
    board = board_of(entry["board"])
    optimum = optimal_on_average(board)
    assert optimum.total == total_of(entry)
    assert optimum.value == optimum.total / board.n_codes
    assert optimum.tree.lengths.revealing == pytest.approx(optimum.value)
    check_certificate(optimum)
    if "determining" in entry:
        optimum = optimal_on_average(board, Goal.DETERMINING)
        assert optimum.total == entry["determining"]
        assert optimum.tree.lengths.determining == pytest.approx(optimum.value)
        check_certificate(optimum)
    if "worst" in entry:
        optimum = optimal_in_worst_case(board)
        assert optimum.value == entry["worst"] == len(optimum.tree.distribution)
        check_certificate(optimum)
    if "worst" in entry and board.n_codes < 200:
        optimum = optimal_in_worst_case(board, Goal.DETERMINING)
        assert optimum.tree.depth == optimum.value + 1
        check_certificate(optimum)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "entry", [marked(entry) for entry in REFERENCE["optimal_within"] if "command" not in entry]
)
def test_known_minima_of_few_guesses(entry: dict[str, Any]) -> None:
    optimum = optimal_on_average(board_of(entry["board"]), max_guesses=entry["max_guesses"])
    assert optimum.total == total_of(entry)
    check_certificate(optimum)


@pytest.mark.compiled
def test_too_few_guesses_raise_after_a_complete_search() -> None:
    with pytest.raises(BnmindError, match="at most 4 guesses on 4x6; the search was complete"):
        optimal_on_average(CLASSIC, max_guesses=4)
    with pytest.raises(BnmindError, match="at most 4 guesses on 4x6; the search was complete"):
        optimal_in_worst_case(CLASSIC, max_guesses=4)


@pytest.mark.compiled
@pytest.mark.parametrize("first", REFERENCE["consistent_only"])
def test_known_minima_of_possible_guesses(first: str) -> None:
    totals = REFERENCE["consistent_only"]
    guess = CLASSIC.parse(first)
    optimum = optimal_on_average(CLASSIC, among=Among.POSSIBLE, first=guess)
    assert optimum.total == totals[first]
    assert dict(optimum.openings) == {guess: totals[first]}
    check_certificate(optimum)
    for secret in CLASSIC.codes[::100].tolist():
        turns = walk_tree(optimum.tree, secret)
        for number, turn in enumerate(turns):
            assert all(reply(t.guess, turn.guess) == t.reply for t in turns[:number])
    if first == "1123":
        best = optimal_on_average(CLASSIC, among=Among.POSSIBLE)
        assert best.total == min(totals.values())
        check_certificate(best)


def plain_solver(
    board: Board,
    goal: Goal,
    *,
    worst: bool = False,
    among: Among = Among.ALL,
) -> Callable[[frozenset[Code], int], int]:
    """Return what tries every guess after every reply, by the rules of the game."""
    every = tuple(tuple(code) for code in board.codes.tolist())

    @cache
    def solved(left: frozenset[Code], guesses: int) -> int:
        """What a set takes with so many guesses at most."""
        if len(left) == 1:
            last = 1 if goal is Goal.REVEALING else 0
            return last if guesses >= last else NEVER
        if guesses == 0:
            return NEVER
        values = [NEVER]
        for guess in every if among is Among.ALL else sorted(left):
            classes: dict[object, set[Code]] = {}
            for code in left:
                classes.setdefault(reply(guess, code), set()).add(code)
            if len(classes) == 1:
                continue
            after = [
                0
                if goal is Goal.REVEALING and answer == board.winning
                else solved(frozenset(members), guesses - 1)
                for answer, members in classes.items()
            ]
            values.append(1 + max(after) if worst else len(left) + sum(after))
        return min(min(values), NEVER)

    return solved


def plainly(board: Board, goal: Goal, *, worst: bool, among: Among = Among.ALL) -> int:
    every = frozenset(tuple(code) for code in board.codes.tolist())
    return plain_solver(board, goal, worst=worst, among=among)(every, board.n_codes)


@pytest.mark.parametrize("name", ["2x2r", "2x3r", "3x2r", "2x3n", "2x4n", "3x3n", "1x4r"])
@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("among", Among)
def test_the_search_agrees_with_a_plain_recursion(name: str, goal: Goal, among: Among) -> None:
    board = board_of(name)
    optimum = optimal_on_average(board, goal, among=among)
    assert optimum.total == plainly(board, goal, worst=False, among=among)
    check_certificate(optimum)
    optimum = optimal_in_worst_case(board, goal, among=among)
    assert optimum.value == plainly(board, goal, worst=True, among=among)
    check_certificate(optimum)


@pytest.mark.parametrize("name", ["2x3r", "3x2r", "2x4n"])
@pytest.mark.parametrize("goal", Goal)
def test_few_guesses_against_a_plain_recursion(name: str, goal: Goal) -> None:
    board = board_of(name)
    solved = plain_solver(board, goal)
    every = frozenset(tuple(code) for code in board.codes.tolist())
    for guesses in range(1, 6):
        total = solved(every, guesses)
        if total < NEVER:
            assert optimal_on_average(board, goal, max_guesses=guesses).total == total
            continue
        with pytest.raises(BnmindError, match="the search was complete"):
            optimal_on_average(board, goal, max_guesses=guesses)


@pytest.mark.parametrize("name", ["2x4r", "3x3r", "3x4n"])
@pytest.mark.parametrize("goal", Goal)
def test_the_search_agrees_with_a_plain_recursion_in_time(name: str, goal: Goal) -> None:
    board = board_of(name)
    assert optimal_on_average(board, goal).total == plainly(board, goal, worst=False)


@pytest.mark.compiled
@pytest.mark.parametrize("goal", Goal)
def test_no_opening_takes_less_than_its_bound(goal: Goal) -> None:
    board = Board(3, 4)
    optimum = optimal_on_average(board, goal)
    for first, bound in optimum.openings.items():
        given = optimal_on_average(board, goal, first=first)
        assert bound is not None
        assert given.total >= bound
        assert given.tree.root.guess == board.index(first)
        check_certificate(given)
        worst = optimal_in_worst_case(board, goal, first=first)
        assert worst.tree.root.guess == board.index(first)
        assert worst.value >= optimal_in_worst_case(board, goal).value


def test_openings_of_too_many_guesses_have_no_strategy_but_a_bound() -> None:
    optimum = optimal_on_average(Board(2, 5), max_guesses=4)
    assert optimum.total == 81
    with pytest.raises(BnmindError, match="at most 4 guesses"):
        optimal_on_average(Board(2, 5), max_guesses=4, first=(1, 1))
    one_more = optimal_on_average(Board(2, 5), max_guesses=5, first=(1, 1))
    bound = optimum.openings[(1, 1)]
    assert bound is not None
    assert optimum.total <= bound <= one_more.total


def test_one_first_guess_of_each_kind() -> None:
    for board, count in ((Board(5, 8), 7), (Board(3, 3), 3), (Board(4, 6, repeats=False), 1)):
        assert len(first_guesses(board)) == count
        assert first_guesses(board)[0] == 0


def test_large_boards_are_refused() -> None:
    with pytest.raises(TooLargeError, match="32,768"):
        optimal_on_average(Board(5, 8))
    with pytest.raises(TooLargeError, match="at most 8,192"):
        optimal_in_worst_case(Board(12, 20))
    with pytest.raises(InvalidArgumentError):
        optimal_on_average(Board(2, 3), first=(1, 4))


def test_optimal_players_have_trees_and_names() -> None:
    board = Board(3, 4)
    for name in ("optimal", "optimal-worst"):
        player = strategy_by_name(name)
        assert isinstance(player, Optimal)
        assert player == strategy_by_name(name)
        assert (player.name, player.deterministic) == (name, True)
        tree = strategy_tree(player, board)
        assert tree is player.tree(board)
        assert tree.total == 206
        assert tree.worst == player.optimum(board).tree.worst


@st.composite
def games(draw: st.DrawFn, board: Board) -> tuple[Turn, ...]:
    secret = draw(codes(board))
    guesses = draw(st.lists(codes(board), min_size=1, max_size=7))
    return tuple(Turn(guess, reply(guess, secret)) for guess in guesses)


@pytest.mark.parametrize("name", ["2x3r", "3x2r", "2x4n"])
@pytest.mark.parametrize("goal", Goal)
@given(data=st.data())
@settings(max_examples=examples(15))
def test_exact_regrets_against_a_plain_recursion(name: str, goal: Goal, data: Any) -> None:
    board = board_of(name)
    turns = data.draw(games(board))
    solved = plain_solver(board, goal)
    left = [tuple(code) for code in board.codes.tolist()]
    found = exact_regrets(board, turns, rules=SearchRules(goal))
    for turn, told in zip(turns, found, strict=True):
        best = solved(frozenset(left), board.n_codes)
        classes: dict[Reply, set[Code]] = {}
        for code in left:
            classes.setdefault(reply(turn.guess, code), set()).add(code)
        own = len(left) + sum(
            solved(frozenset(members), board.n_codes)
            for answer, members in classes.items()
            if answer != board.winning
        )
        assert told.value == own / len(left)
        assert told.best_value == best / len(left)
        assert told.regret == pytest.approx((own - best) / len(left))
        assert (told.codes, told.is_possible) == (len(left), turn.guess in left)
        left = [code for code in left if reply(turn.guess, code) == turn.reply]


@given(boards(40).flatmap(lambda board: st.tuples(st.just(board), games(board))), st.booleans())
@settings(max_examples=examples(25))
def test_advice_is_optimal_off_the_tree_too(
    game: tuple[Board, tuple[Turn, ...]], in_worst_case: bool
) -> None:
    board, turns = game
    player = Optimal(in_worst_case=in_worst_case)
    belief = player.start(Channel.exact(board))
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    guess = board.code(player.choose(belief, np.random.default_rng(0))[0])
    if not in_worst_case:
        code = board.code(int(codes_left(board, turns)[0]))
        made = Turn(guess, reply(guess, code))
        assert exact_regrets(board, (*turns, made))[-1].regret == 0
    # Replies that contradict each other are outlived.
    again = belief.update(turns[0].guess, board.true_replies[0])
    again = again.update(turns[0].guess, board.true_replies[-2])
    assert 0 <= player.choose(again, np.random.default_rng(0))[0] < board.n_codes


@pytest.mark.compiled
def test_a_set_takes_the_same_total_alone_and_on_its_board() -> None:
    board, rules = Board(4, 6), SearchRules()
    search = BoardSearch(board, rules)
    for text in ("1123 1b1w, 2345 0b1w", "1234 0b2w, 2551 1b1w, 6666 0b0w"):
        turns = parse_history(board, text)
        left = np.ones(board.n_codes, dtype=np.bool_)
        for turn in turns:
            left &= replies_to(board, turn.guess) == board.true_replies.index(turn.reply)
        codes = np.flatnonzero(left)
        own = search.solve(codes, [board.index(turn.guess) for turn in turns])
        assert own is not None
        assert SetSearch(board, codes, rules).solve(codes).total == own.total
    with pytest.raises(BnmindError, match="at least one code"):
        SetSearch(board, np.arange(0), rules)
    with pytest.raises(TooLargeError, match="at most 64 codes"):
        SetSearch(board, np.arange(65), rules)
    with pytest.raises(TooLargeError, match="more than 1 guesses tried"):
        SetSearch(board, np.arange(64), SearchRules(max_tried=1)).solve(np.arange(64))


def test_exact_regrets_refuse_a_limit() -> None:
    with pytest.raises(BnmindError, match="without a limit"):
        exact_regrets(Board(2, 3), [Turn((1, 2), Reply(0, 0))], rules=SearchRules(max_guesses=5))


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("1x4r", range(4, 12)),
        ("2x2r", range(3, 12)),
        ("2x3n", (6, 7, 8, 10**30)),
        pytest.param("4x6r", (1000,), marks=pytest.mark.compiled),
    ],
)
@pytest.mark.parametrize("goal", Goal)
def test_a_limit_that_no_strategy_reaches_changes_nothing(
    name: str, limits: Iterable[int], goal: Goal
) -> None:
    board = board_of(name)
    free, worst = optimal_on_average(board, goal), optimal_in_worst_case(board, goal).value
    for limit in limits:
        limited = optimal_on_average(board, goal, max_guesses=limit)
        assert (limited.total, dict(limited.openings)) == (free.total, dict(free.openings))
        assert optimal_in_worst_case(board, goal, max_guesses=limit).value == worst


@pytest.mark.parametrize("name", ["1x4r", "2x3r", "3x2r", "2x4n"])
@pytest.mark.parametrize("goal", Goal)
@given(data=st.data())
@settings(max_examples=examples(15))
def test_any_history_under_any_limit_against_a_plain_recursion(
    name: str, goal: Goal, data: st.DataObject
) -> None:
    board = board_of(name)
    turns = data.draw(games(board))
    limit = data.draw(st.integers(0, 2 * board.n_codes))
    left = [
        index
        for index, code in enumerate(board.codes.tolist())
        if all(reply(turn.guess, code) == turn.reply for turn in turns)
    ]
    search = BoardSearch(board, SearchRules(goal, max_guesses=limit))
    solved = search.solve(np.array(left), [board.index(turn.guess) for turn in turns])
    codes_left = frozenset(board.code(index) for index in left)
    expected = NEVER
    if limit >= len(turns):
        expected = plain_solver(board, goal)(codes_left, limit - len(turns))
    assert (NEVER if solved is None else solved.total) == expected


def test_searches_reject_invalid_sets_of_codes() -> None:
    board = Board(2, 3)
    search, every = BoardSearch(board), np.arange(board.n_codes)
    for wrong in (every[:0], every[::-1], np.array([1, 1]), every[None, :]):
        with pytest.raises(BnmindError, match="expected a set"):
            search.solve(wrong)
        with pytest.raises(BnmindError, match="expected a set"):
            SetSearch(board, every, SearchRules()).solve(wrong)
    for outside in (np.array([-1, 0]), np.array([0, 9])):
        with pytest.raises(InvalidArgumentError, match="indices of the 9 codes"):
            search.solve(outside)
        with pytest.raises(InvalidArgumentError, match="indices of the 9 codes"):
            SetSearch(board, outside, SearchRules())
    with pytest.raises(BnmindError, match="without a limit"):
        SetSearch(board, every, SearchRules(max_guesses=9))
    with pytest.raises(BnmindError, match="codes that are not in it"):
        SetSearch(board, every[:4], SearchRules()).solve(every[3:6])
    for guess in (-1, 9):
        with pytest.raises(InvalidArgumentError):
            search.solve(every, [guess])
        with pytest.raises(InvalidArgumentError):
            search.solve_from(guess)


def test_rules_refuse_limits_that_are_none() -> None:
    for wrong in (2.5, "5", -1):
        with pytest.raises(BnmindError, match="max_guesses"):
            SearchRules(max_guesses=wrong)  # type: ignore[arg-type]
    with pytest.raises(BnmindError, match=r"max_guesses.*max_tried .* of at least 1, got 0"):
        SearchRules(max_guesses=-2, max_tried=0)
    assert BoardSearch(Board(2, 2), SearchRules(max_tried=10**30)).solve(np.arange(4)) is not None
