"""The best trees and lists of questions, against the plainest recursion over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind._jit import run_plainly
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats, entropy
from bnmind.mastermind import Board
from bnmind.mastermind.masses import reply_rows
from bnmind.questions import (
    ExpectedEntropy,
    ExpectedLoss,
    MissedGoal,
    TreeProblem,
    best_fixed_list,
    best_tree,
)
from bnmind.questions.best_trees import SearchBounds, greedy_tree
from bnmind.questions.tree_problems import TreeObjective, capacity_bound
from bnmind.strategies import Goal, Optimal


@st.composite
def objectives(draw: st.DrawFn, n_states: int) -> TreeObjective:
    kind = draw(st.sampled_from(["entropy", "within", "state", "sides", "goal"]))
    if kind == "entropy":
        return ExpectedEntropy()
    if kind == "within":
        return ExpectedEntropy(np.linspace(0, 1, n_states))
    if kind == "state":
        return ExpectedLoss((np.diag(np.linspace(0.5, 1, n_states)),))
    sides = np.arange(n_states) % 2
    if kind == "sides":
        return ExpectedLoss((np.array([sides, 1 - sides]) * 1.0, np.eye(n_states)))
    return MissedGoal(np.eye(n_states), draw(st.sampled_from([0.6, 0.9])), 3.0)


@st.composite
def problems(draw: st.DrawFn) -> TreeProblem:
    n_states, n_outcomes = draw(st.integers(2, 5)), draw(st.integers(2, 3))
    n_questions = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    shape = (n_questions, n_states)
    if draw(st.booleans()):  # true answers, as in Mastermind
        channels = np.eye(n_outcomes)[rng.integers(n_outcomes, size=shape)]
    else:
        channels = rng.dirichlet(np.full(n_outcomes, 0.4), shape)
    if n_questions > 1 and draw(st.booleans()):
        channels[1] = channels[0]
    pairs = np.triu(rng.random((n_questions, n_questions)) < draw(st.sampled_from([0, 0.3])), 1)
    return TreeProblem(
        prior=rng.dirichlet(np.full(n_states, 0.7)),
        channels=channels,
        objective=draw(objectives(n_states)),
        depth=draw(st.integers(1, 3)),
        costs=rng.random(n_questions) * draw(st.sampled_from([0.0, 0.2])),
        excludes=pairs | pairs.T,
    )


def smallest(problem: TreeProblem, joint: Floats, asked: tuple[int, ...]) -> float:
    """Return the value of the best tree, times the probability of the path to it."""
    chance = float(joint.sum())
    if chance < 1e-290:
        return 0.0
    best = chance * float(problem.objective.values(joint[None] / chance)[0])
    if len(asked) == problem.depth:
        return best
    assert problem.excludes is not None
    for question in range(problem.n_questions):
        if question in asked or any(problem.excludes[question, one] for one in asked):
            continue
        value = chance * float(problem.price[question])
        for column in problem.channels[question].T:
            value += smallest(problem, joint * column, (*asked, question))
        best = min(best, value)
    return best


@settings(max_examples=150, deadline=None)
@given(problems())
def test_the_best_tree_is_that_of_all_trees(problem: TreeProblem) -> None:
    expected = smallest(problem, problem.prior, ())
    found = best_tree(problem)
    assert found.tree.value == pytest.approx(expected, abs=1e-8)
    assert found.is_proven
    assert found.lower <= expected + 1e-8
    assert greedy_tree(problem).value >= expected - 1e-8


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(0, 2))
def test_a_search_that_ends_early_has_right_bounds(problem: TreeProblem, rounds: int) -> None:
    seen: list[SearchBounds] = []

    def until(known: SearchBounds) -> bool:
        seen.append(known)
        return len(seen) > rounds

    expected = smallest(problem, problem.prior, ())
    found = best_tree(problem, until=until)
    assert found.lower - 1e-8 <= expected <= found.tree.value + 1e-8
    few = best_tree(problem, max_beliefs=1)
    assert few.lower - 1e-8 <= expected <= few.tree.value + 1e-8
    lowest = [known.lower for known in seen]
    assert lowest == sorted(lowest)


@pytest.mark.parametrize("most", [1, 50, 500, 5000])
def test_a_search_keeps_no_more_beliefs_than_it_may(most: int) -> None:
    rng = np.random.default_rng(6)
    problem = TreeProblem(
        prior=np.full(12, 1 / 12),
        channels=rng.dirichlet(np.ones(2), (12, 12)),
        objective=ExpectedEntropy(),
        depth=5,
    )
    found = best_tree(problem, max_beliefs=most)
    assert most - 12 * 2 < found.n_beliefs <= most
    assert not found.is_proven


def test_a_search_ends_if_nothing_is_left_to_expand(monkeypatch: pytest.MonkeyPatch) -> None:
    # By rounding, a root may seem open although no belief below it is.
    monkeypatch.setattr("bnmind.questions.best_trees._CLOSED", -1.0)
    problem = TreeProblem(
        prior=np.full(4, 0.25),
        channels=np.eye(2)[[[0, 0, 1, 1], [0, 1, 0, 1]]],
        objective=ExpectedEntropy(),
        depth=3,
    )
    assert best_tree(problem, until=_never_after(100)).is_proven


def _never_after(limit: int) -> Callable[[SearchBounds], bool]:
    rounds = count()

    def until(_: SearchBounds) -> bool:
        assert next(rounds) < limit, "the search goes on for ever"
        return False

    return until


@settings(max_examples=60, deadline=None)
@given(problems())
def test_no_bound_is_above_a_value_below_it(problem: TreeProblem) -> None:
    """Each first bound of a question against the best tree that begins with the question."""
    objective = problem.objective
    belief = problem.prior[None] / problem.prior.sum()
    after = objective.after(belief, problem.channels)
    ends = objective.values(belief)
    is_open = np.ones(after.shape, dtype=bool)
    for more in range(problem.depth):
        bounds = objective.adaptive(problem.most, ends, after, is_open, more)[0]
        deeper = TreeProblem(
            prior=problem.prior, channels=problem.channels, objective=objective, depth=more + 1
        )
        for question in range(problem.n_questions):
            value = sum(
                smallest(deeper, problem.prior * column, (question,))
                for column in problem.channels[question].T
            )
            assert bounds[question] <= value + 1e-9


def value_of_list(problem: TreeProblem, questions: Sequence[int]) -> float:
    joints = [problem.prior]
    for question in questions:
        joints = [joint * column for joint in joints for column in problem.channels[question].T]
    ends = sum(
        joint.sum() * float(problem.objective.values(joint[None] / joint.sum())[0])
        for joint in joints
        if joint.sum() > 1e-290
    )
    return float(ends + problem.price[list(questions)].sum())


@settings(max_examples=100, deadline=None)
@given(problems())
def test_the_best_list_is_that_of_all_lists(problem: TreeProblem) -> None:
    assert problem.excludes is not None
    lists = [
        chosen
        for chosen in combinations(range(problem.n_questions), problem.depth)
        if not problem.excludes[np.ix_(chosen, chosen)].any()
    ]
    if not lists:
        with pytest.raises(InvalidArgumentError, match="questions is possible"):
            best_fixed_list(problem)
        return
    found = best_fixed_list(problem)
    expected = min(value_of_list(problem, chosen) for chosen in lists)
    assert found.is_proven
    assert found.value == pytest.approx(expected, abs=1e-8)
    assert value_of_list(problem, found.questions) == pytest.approx(expected, abs=1e-8)
    assert found.greedy_value == pytest.approx(value_of_list(problem, found.greedy), abs=1e-8)


def test_a_list_is_found_where_the_best_question_excludes_all_others() -> None:
    sides = np.array([[0.95, 0.05], [0.8, 0.2], [0.8, 0.2]])
    excludes = np.zeros((3, 3), dtype=bool)
    excludes[0, 1:] = excludes[1:, 0] = True
    problem = TreeProblem(
        prior=np.full(2, 0.5),
        channels=np.stack([sides, sides[:, ::-1]], axis=1),
        objective=ExpectedEntropy(),
        depth=2,
        excludes=excludes,
    )
    found = best_fixed_list(problem)
    assert found.questions == found.greedy == (1, 2)
    assert found.is_proven
    assert best_fixed_list(problem, until=lambda *_: True).questions == (1, 2)
    with pytest.raises(InvalidArgumentError, match="no list of 3 questions is possible"):
        best_fixed_list(replace(problem, depth=3))


def test_a_list_search_that_ends_early_keeps_the_greedy_list() -> None:
    rng = np.random.default_rng(1)
    problem = TreeProblem(
        prior=np.full(8, 1 / 8),
        channels=rng.dirichlet(np.ones(2), (8, 8)),
        objective=ExpectedEntropy(),
        depth=3,
    )
    whole, early = best_fixed_list(problem), best_fixed_list(problem, until=lambda *_: True)
    assert set(early.questions) == set(early.greedy)
    assert early.lower <= whole.value <= early.value + 1e-12
    too_long = TreeProblem(
        prior=problem.prior,
        channels=np.repeat(problem.channels, 8, axis=0),
        objective=ExpectedEntropy(),
        depth=40,
    )
    with pytest.raises(TooLargeError, match="cells"):
        best_fixed_list(too_long)


def test_two_questions_may_tell_what_none_tells_alone() -> None:
    # Exclusive or: a greedy tree sees nothing to ask, the best one asks both.
    truth = np.eye(2)[[[0, 0, 1, 1], [0, 1, 0, 1]]]
    loss = ExpectedLoss((np.array([[1.0, 0, 0, 1], [0, 1, 1, 0]]),))
    problem = TreeProblem(
        prior=np.full(4, 0.25), channels=truth, objective=loss, depth=2, costs=np.full(2, 0.1)
    )
    assert best_tree(problem).tree.value == pytest.approx(0.2)


def test_ctrl_c_keeps_the_best_tree_so_far() -> None:
    rng = np.random.default_rng(2)
    problem = TreeProblem(
        prior=np.full(12, 1 / 12),
        channels=rng.dirichlet(np.full(2, 0.5), (9, 12)),
        objective=ExpectedEntropy(),
        depth=5,
    )
    rounds = 0

    def until(_: SearchBounds) -> bool:
        nonlocal rounds
        rounds += 1
        if rounds == 2:
            raise KeyboardInterrupt
        return False

    found, whole = best_tree(problem, until=until), best_tree(problem)
    assert whole.is_proven
    assert found.lower - 1e-9 <= whole.tree.value <= found.tree.value + 1e-9
    assert not found.is_proven
    assert found.gap > 0


@pytest.mark.parametrize("board", [Board(2, 3), Board(2, 4)], ids=str)
def test_the_search_serves_mastermind(board: Board) -> None:
    """The fewest guesses until one code is left, on small boards, by both searches."""
    n = board.n_codes
    replies = np.array(list(reply_rows(board, np.arange(n)))).reshape(n, n)
    problem = TreeProblem(
        prior=np.full(n, 1 / n),
        channels=np.eye(int(replies.max()) + 1)[replies],
        objective=MissedGoal(np.eye(n), 1.0, 100.0),
        depth=4,
        costs=np.ones(n),
    )
    found = best_tree(problem)
    assert found.is_proven
    optimal = replace(Optimal(), goal=Goal.DETERMINING)
    # Without the compiler, which takes a minute where nothing is cached.
    optimum = run_plainly(optimal.optimum, board)
    assert found.tree.cost == pytest.approx(optimum.tree.lengths.determining)


def test_a_capacity_is_never_too_small() -> None:
    rng = np.random.default_rng(4)
    for width in (2, 3, 5):
        channel = rng.dirichlet(np.full(width, 0.5), 6)
        beliefs = rng.dirichlet(np.full(6, 0.3), 300)
        told = entropy(beliefs @ channel) - beliefs @ entropy(channel)
        assert told.max() <= capacity_bound(channel) + 1e-12
    erased = np.array([[0.75, 0.25, 0.0], [0.0, 0.25, 0.75]])
    assert capacity_bound(erased) == pytest.approx(0.75)  # the binary erasure channel


def test_a_tree_counts_its_questions_and_stops_where_nothing_is_gained() -> None:
    problem = TreeProblem(
        prior=np.array([0.5, 0.25, 0.25]),
        channels=np.eye(2)[[[0, 1, 1], [0, 0, 1]]],
        objective=ExpectedEntropy(),
        depth=2,
    )
    tree = best_tree(problem).tree
    assert tree.value == pytest.approx(0, abs=1e-12)
    assert tree.length == pytest.approx(1.5)
    assert [point.question for point in tree.points.values()] == [0, None, 1, None, None]


def test_faults_of_a_problem_are_reported_together() -> None:
    def message(**change: Any) -> str:
        good = {"prior": np.array([0.5, 0.5]), "channels": np.eye(2)[None], "depth": 1}
        with pytest.raises(InvalidArgumentError) as caught:
            TreeProblem(**{**good, "objective": ExpectedEntropy(), **change})
        return str(caught.value)

    assert message(depth=0, costs=np.array([-1.0])) == (
        "TreeProblem: expected depth to be a whole number of at least 1, got 0; expected costs to"
        " be an array of numbers of at least 0 or None, got -1.0 in it"
    )
    assert message(prior=np.array([0.5, 0.6]), costs=np.ones(2)) == (
        "TreeProblem: expected prior to be an array of numbers, none negative, that sum to 1, got"
        " array([0.5, 0.6]); TreeProblem: expected 1 values in costs, as many as channels, got 2"
    )
