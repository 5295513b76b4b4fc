"""Trees of questions: the greedy tree, the best fixed list, and the best tree, with their proofs.

The best fixed list, asked of everybody, is found by branch and bound over subsets:

=========  =========================================================================
symbol     name here
=========  =========================================================================
A          the questions chosen so far
V(A)       the expected value after A, over all outcomes
V(A + y)   ``after``
=========  =========================================================================

Subsets are built one question at a time. At each subset, the open questions are ordered by
V(A + y), best first, and the y-th branch leaves out those before it, so that each subset comes up
once. With j questions to add, no completion of the branch is better than

* for entropy: V(A) minus the sum of the j largest gains V(A) − V(A + y) of its questions, because
  the information of sets is submodular if outcomes are independent given the state;
* for decisions: the product bound of `bnmind.questions.trees.problem`.

The bounds of later branches are never better, so the first one that fails ends the loop.

The best tree is found by AO* with many beliefs at a time:

=========  =========================================================================
symbol     name here
=========  =========================================================================
n          a belief; a node in which a question is chosen (OR)
n, y       a question at a belief; its outcomes are weighted by chance (AND)
h(n)       ``low``, an admissible bound of the objective
f(n)       ``low`` after the values below were passed up
=========  =========================================================================

The search keeps two numbers for each belief: a bound that no tree from there falls below, and the
value of a known tree. A round follows the questions of the smallest bounds from the root down, and
expands the beliefs at which it ends, all at once; if these are few, it also follows the questions
of the next smallest bounds. Then the numbers are passed up. A question whose bound is not below a
known value of its belief is dropped. The search ends when both numbers of the root are equal: the
tree of the known value is then proven to be best. It may end at any time before, with a gap.

This is AO* (a best solution graph is expanded where it ends), except that a round expands several
solution graphs. It serves any hidden state with questions about it: skills and items, or the codes
and guesses of a small board of Mastermind.

References
----------
N. Nilsson, *Principles of Artificial Intelligence*, 1980 (AO*); J. Vomlel, "Building adaptive tests
using Bayesian networks", Kybernetika 40, 2004; G. Nemhauser, L. Wolsey and M. Fisher, "An analysis
of approximations for maximizing submodular set functions I", Math. Program. 1978; A. Krause and C.
Guestrin, "Near-optimal nonmyopic value of information in graphical models", UAI 2005
(submodularity of the information).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.questions.trees.problem import ExpectedEntropy, TreeProblem

STOP = -1
"""In place of a question: the tree ends here."""

TOLERANCE = 1e-9
"""Values closer than this count as equal; among equal questions, the first is asked."""

_IMPOSSIBLE = 1e-280
"""Histories of smaller probability are taken as impossible."""


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionNode(Value):
    """A point of a tree: a question to ask next, or an end."""

    question: int | None
    """The index of the question; None at an end."""
    probability: float
    """The probability that the path leads here."""
    belief: Floats
    """``(states,)``, the belief about the hidden state."""
    end_value: float
    """The value by the objective if the tree ended here."""
    children: tuple[tuple[int, QuestionNode], ...] = ()
    """The node after each possible outcome."""

    def __iter__(self) -> Iterator[QuestionNode]:
        """Yield this node, and all nodes below it, each before those below it."""
        yield self
        for _, child in self.children:
            yield from child


@dataclass(frozen=True, eq=False)
class QuestionTree(Value):
    """A tree of questions, and its value."""

    problem: TreeProblem
    """The problem that the tree is for."""
    root: QuestionNode
    """The first question, and what follows."""

    @property
    def value(self) -> float:
        """The expected value of the ends, plus the expected costs."""
        ends = sum(node.probability * node.end_value for node in self.root if not node.children)
        return float(ends) + self.cost

    @property
    def cost(self) -> float:
        """The expected costs of the questions."""
        price = self.problem.price
        return float(
            sum(n.probability * price[n.question] for n in self.root if n.question is not None)
        )

    @property
    def length(self) -> float:
        """The expected number of questions."""
        return float(sum(n.probability for n in self.root if n.question is not None))


def grown_tree(
    problem: TreeProblem, choose: Callable[[NDArray[np.intp], Floats], int]
) -> QuestionTree:
    """Return the tree of a function that chooses the questions.

    Parameters
    ----------
    problem
        The problem.
    choose
        A function of the answers so far, as for `TreeProblem.open_after`, and the belief. It
        returns the index of the next question, or `STOP`.
    """

    def node(answers: tuple[int, ...], joint: Floats, depth: int) -> QuestionNode:
        chance = float(joint.sum())
        belief = joint / chance
        end = float(problem.objective.values(belief[None])[0])
        given = np.array(answers, dtype=np.intp)
        question = STOP if depth == problem.depth else choose(given, belief)
        if question == STOP:
            return QuestionNode(question=None, probability=chance, belief=belief, end_value=end)
        children = []
        for outcome in range(problem.n_outcomes):
            answer = question * problem.n_outcomes + outcome
            after = joint * problem.columns[answer]
            if after.sum() > _IMPOSSIBLE:
                children.append((outcome, node((*answers, answer), after, depth + 1)))
        return QuestionNode(
            question=question,
            probability=chance,
            belief=belief,
            end_value=end,
            children=tuple(children),
        )

    return QuestionTree(problem, node((), problem.prior, 0))


def best_alone(problem: TreeProblem, answers: NDArray[np.intp], belief: Floats) -> int:
    """Return the question that is best if it is the last one; `STOP` if none is worth its cost."""
    end = float(problem.objective.values(belief[None])[0])
    after = problem.objective.after(belief[None], problem.channels)[0] + problem.price
    is_open = problem.open_after(answers[None])[0]
    after = np.where(is_open, after, np.inf)
    best = float(after.min())
    if not best < end - TOLERANCE:
        return STOP
    return int(np.argmax(after <= best + TOLERANCE))


def greedy_tree(problem: TreeProblem) -> QuestionTree:
    """Return the tree that asks at each belief the question of most information.

    It ends where no question tells anything, or an end costs nothing. For entropy with costs, it
    ends where no question is worth its cost.

    Parameters
    ----------
    problem
        The beliefs, the questions and what the tree is for.
    """
    if isinstance(problem.objective, ExpectedEntropy):
        return grown_tree(problem, lambda answers, belief: best_alone(problem, answers, belief))
    telling = replace(problem, objective=ExpectedEntropy(), costs=None)

    def choose(answers: NDArray[np.intp], belief: Floats) -> int:
        if problem.objective.values(belief[None])[0] <= TOLERANCE:
            return STOP
        return best_alone(telling, answers, belief)

    return grown_tree(problem, choose)


_CLOSE = 1e-10
"""A list must be better by more than this to replace another one."""

_MOST_CELLS = 2**26
"""The largest table of outcomes by states: 512 MB."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedList(Value):
    """The best fixed list that a search found, and what is proven about it."""

    questions: tuple[int, ...]
    """The indices of the questions, ascending."""
    value: float
    """The expected value after all of them, plus their costs."""
    lower: float
    """No list of the same length has a smaller value."""
    greedy: tuple[int, ...]
    """The list that adds the best question each time, in this order.

    If questions that exclude each other end it too soon, it is instead a possible list whose
    questions have a small sum of values alone.
    """
    greedy_value: float
    """Its value."""
    n_lists: int
    """The number of lists, also incomplete ones, that were evaluated."""

    @property
    def is_proven(self) -> bool:
        """Whether no list is better, up to a rounding of 1e-9."""
        return self.value - self.lower <= 1e-9


@checked
def best_fixed_list(
    problem: TreeProblem,
    *,
    start: ArrayLike | None = None,
    without: Sequence[int] = (),
    until: Callable[[int, float], bool] | None = None,
) -> FixedList:
    """Return the best list of ``problem.depth`` questions.

    Ctrl-C ends the search with the best list so far.

    Parameters
    ----------
    problem
        The problem.
    start
        ``(beliefs, states)``, the joint probability of several beliefs and the states, of all of
        which the same questions are asked; default the prior. Values are then multiplied by their
        total probability.
    without
        The indices of questions that must not be in the list.
    until
        Called from time to time with the number of lists evaluated and the best value; the search
        ends if it returns True.

    Raises
    ------
    InvalidArgumentError
        If so many questions cannot be asked together.
    TooLargeError
        If the table of all outcomes would be too large.
    """
    joint = problem.prior[None] if start is None else number_array(start, "start")
    cells = joint.size * problem.n_outcomes ** (problem.depth - 1)
    if cells > _MOST_CELLS:
        raise TooLargeError(
            f"the outcomes of {problem.depth} questions by states have {cells:,} cells; the limit"
            f" is {_MOST_CELLS:,}",
            needed=cells,
            budget=_MOST_CELLS,
        )
    search = _ListSearch(problem, until, float(joint.sum()))
    root = search.root(joint, without)
    search.greedy(root)
    lower: float = search.best_value
    try:
        search.branch(root)
    except (KeyboardInterrupt, _EndedError):
        lower = min(lower, search.open_bound)
    else:
        lower = search.best_value
    return FixedList(
        questions=tuple(sorted(search.best)),
        value=search.best_value,
        lower=lower,
        greedy=search.greedy_list,
        greedy_value=search.greedy_value,
        n_lists=search.n_lists,
    )


class _EndedError(Exception):
    """The search was told to end."""


@dataclass(frozen=True, eq=False)
class _Part:
    """An incomplete list."""

    chosen: tuple[int, ...]
    joint: Floats
    """``(outcomes of all, states)``."""
    is_open: NDArray[np.bool_]
    value: float
    after: Floats
    """``(questions,)``."""


class _ListSearch:
    def __init__(
        self, problem: TreeProblem, until: Callable[[int, float], bool] | None, mass: float
    ) -> None:
        self.problem, self.until = problem, until
        self.price = mass * problem.price
        self.best: tuple[int, ...] = ()
        self.best_value = np.inf
        self.greedy_list: tuple[int, ...] = ()
        self.greedy_value = np.inf
        self.n_lists = 0
        self.open_bound = -np.inf
        """A bound of all lists; known once the root is bounded."""

    def root(self, joint: Floats, without: Sequence[int]) -> _Part:
        is_open = np.ones(self.problem.n_questions, dtype=bool)
        is_open[list(without)] = False
        return self._part((), joint, is_open)

    def _part(self, chosen: tuple[int, ...], joint: Floats, is_open: NDArray[np.bool_]) -> _Part:
        problem = self.problem
        self.n_lists += 1
        weights = joint.sum(axis=1)
        is_possible = weights > 1e-280
        joint, weights = joint[is_possible], weights[is_possible]
        after = np.zeros(problem.n_questions)
        value = 0.0
        block = max(16, 2**20 // problem.columns.size)
        for first in range(0, len(joint), block):
            some, share = joint[first : first + block], weights[first : first + block]
            beliefs = some / share[:, None]
            value += float(share @ problem.objective.values(beliefs))
            after += share @ problem.objective.after(beliefs, problem.channels)
        price = float(self.price[list(chosen)].sum())
        return _Part(
            chosen=chosen,
            joint=joint,
            is_open=is_open,
            value=value + price,
            after=after + price + self.price,
        )

    def _with(self, part: _Part, question: int, is_open: NDArray[np.bool_]) -> _Part:
        channel = self.problem.channels[question]
        joint = np.concatenate([part.joint * column for column in channel.T])
        return self._part((*part.chosen, question), joint, is_open)

    def _open(self, is_open: NDArray[np.bool_], question: int) -> NDArray[np.bool_]:
        assert self.problem.excludes is not None
        left: NDArray[np.bool_] = is_open & ~self.problem.excludes[question]
        left[question] = False
        return left

    def greedy(self, part: _Part) -> None:
        """Add the best question each time; this is the first known list."""
        problem = self.problem
        root = part
        while len(part.chosen) < problem.depth:
            if not part.is_open.any():
                self._keep_possible(root)
                break
            after = np.where(part.is_open, part.after, np.inf)
            question = int(np.argmax(after <= after.min() + _CLOSE))
            if len(part.chosen) == problem.depth - 1:
                self._keep((*part.chosen, question), float(part.after[question]))
                break
            part = self._with(part, question, self._open(part.is_open, question))
        self.greedy_list, self.greedy_value = self.best, self.best_value

    def _keep_possible(self, root: _Part) -> None:
        """Keep a list without questions that exclude each other; raise if there is none."""
        possible = _possible_list(self.problem, root)
        if possible is None:
            raise InvalidArgumentError(
                f"no list of {self.problem.depth} questions is possible: too few are left, or too"
                " many of them exclude each other",
                self.problem.depth,
            )
        part = root
        for question in possible[:-1]:
            part = self._with(part, question, self._open(part.is_open, question))
        self._keep(possible, float(part.after[possible[-1]]))

    def _keep(self, questions: tuple[int, ...], value: float) -> None:
        if value < self.best_value - _CLOSE:
            self.best, self.best_value = questions, value

    def branch(self, part: _Part) -> None:
        """Search all lists that go on from one."""
        more = self.problem.depth - len(part.chosen)
        if self.until is not None and self.until(self.n_lists, self.best_value):
            raise _EndedError
        order = np.argsort(part.after, kind="stable")
        order = order[part.is_open[order]]
        if more == 1:
            if len(order):
                self._keep((*part.chosen, int(order[0])), float(part.after[order[0]]))
            return
        is_open = part.is_open.copy()
        for question in order.tolist():
            bound = self._bound(part, is_open, more)
            if not part.chosen and question == order[0]:
                self.open_bound = bound
            if bound >= self.best_value - _CLOSE:
                return
            if np.count_nonzero(is_open) < more:
                return
            self.branch(self._with(part, question, self._open(is_open, question)))
            is_open[question] = False

    def _bound(self, part: _Part, is_open: NDArray[np.bool_], more: int) -> float:
        price = self.price
        spent = float(price[list(part.chosen)].sum())
        cheapest = float(np.sort(price[is_open])[:more].sum())
        value, after = part.value - spent, part.after - spent - price
        return self.problem.bounds.fixed(value, after, is_open, more) + spent + cheapest


def _possible_list(problem: TreeProblem, root: _Part) -> tuple[int, ...] | None:
    """Return the possible list whose questions have the least sum of values alone, if any."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = problem.n_questions
    assert problem.excludes is not None
    first, second = np.nonzero(np.triu(problem.excludes, 1))
    pairs = np.zeros((len(first), n))
    pairs[np.arange(len(first)), first] = pairs[np.arange(len(first)), second] = 1
    found = milp(
        root.after,
        integrality=np.ones(n, dtype=np.intp),
        bounds=Bounds(0, root.is_open.astype(float)),
        constraints=[
            LinearConstraint(pairs, -np.inf, 1),
            LinearConstraint(np.ones((1, n)), problem.depth, problem.depth),
        ],
    )
    return None if found.x is None else tuple(np.flatnonzero(found.x > 0.5).tolist())


# A belief is identified by its answers in ascending order, whatever the order in which they were
# given, so that beliefs that are reached on several ways are one.

Ints = NDArray[np.int32]


def _no_floats() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Level:
    """The beliefs after the same number of answers. Never changed: a round makes new ones."""

    answers: Ints
    """``(beliefs, answers)``, ascending; see `TreeProblem.open_after`."""
    probability: Floats = field(default_factory=_no_floats)
    """``(beliefs,)``, the probability of the answers."""
    end: Floats = field(default_factory=_no_floats)
    """``(beliefs,)``, the value if the tree ends here."""
    low: Floats = field(default_factory=_no_floats)
    """``(beliefs,)``, a lower bound of the value of every tree from here."""
    high: Floats = field(default_factory=_no_floats)
    """``(beliefs,)``, the value of a known tree from here."""
    row: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """``(beliefs,)``, the place among the expanded beliefs; −1 if not expanded."""
    owner: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """``(expanded,)``, the belief of each expanded one."""
    is_asked: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    """``(expanded, questions)``, a mask of the questions that may be best."""
    children: Ints = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.int32))
    """``(expanded, questions, outcomes)``, beliefs of the next level; −1 where there is none."""
    low_after: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """``(expanded, questions)``, lower bounds of the values with each question."""
    high_after: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """``(expanded, questions)``, known values with each question."""

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def n_expanded(self) -> int:
        """The number of expanded beliefs."""
        return len(self.owner)

    def with_beliefs(
        self, answers: Ints, probability: Floats, end: Floats, low: Floats, high: Floats
    ) -> Level:
        """Return the level with more beliefs at its end."""
        return replace(
            self,
            answers=np.concatenate([self.answers, answers]),
            probability=np.concatenate([self.probability, probability]),
            end=np.concatenate([self.end, end]),
            low=np.concatenate([self.low, low]),
            high=np.concatenate([self.high, high]),
            row=np.concatenate([self.row, np.full(len(answers), -1, dtype=np.int32)]),
        )

    def with_expanded(self, owner: Ints, is_asked: NDArray[np.bool_], children: Ints) -> Level:
        """Return the level with more beliefs expanded; their values are not yet updated."""
        row = self.row.copy()
        row[owner] = np.arange(self.n_expanded, self.n_expanded + len(owner))
        unknown = np.full(is_asked.shape, np.nan)
        if not self.n_expanded:
            return replace(
                self,
                row=row,
                owner=owner,
                is_asked=is_asked,
                children=children,
                low_after=unknown,
                high_after=unknown,
            )
        return replace(
            self,
            row=row,
            owner=np.concatenate([self.owner, owner]),
            is_asked=np.concatenate([self.is_asked, is_asked]),
            children=np.concatenate([self.children, children]),
            low_after=np.concatenate([self.low_after, unknown]),
            high_after=np.concatenate([self.high_after, unknown]),
        )

    def updated(self, below: Level, price: Floats) -> Level:
        """Return the level with values of its expanded beliefs from those of the next level."""
        is_there = self.children >= 0
        weight = np.where(is_there, below.probability[self.children], 0.0)
        total = np.maximum(self.probability[self.owner], 1e-300)[:, None]

        def after(values: Floats) -> Floats:
            sums = np.sum(weight * np.where(is_there, values[self.children], 0.0), axis=2)
            found: Floats = np.where(self.is_asked, sums / total + price, np.inf)
            return found

        low_after, high_after = after(below.low), after(below.high)
        low, high = self.low.copy(), self.high.copy()
        end = self.end[self.owner]
        least = np.minimum(low_after.min(axis=1), end)
        low[self.owner] = np.maximum(low[self.owner], least)
        high[self.owner] = np.minimum(high[self.owner], np.minimum(high_after.min(axis=1), end))
        # By rounding alone a lower bound can be above a known value.
        low = np.minimum(low, high)
        return replace(self, low=low, high=high, low_after=low_after, high_after=high_after)


def distinct_rows(rows: Ints, base: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first place of each distinct row, and the number of each row's own.

    Parameters
    ----------
    rows
        ``(rows, columns)`` of numbers below ``base``.
    base
        Above every number.
    """
    keys = np.zeros(len(rows), dtype=np.int64)
    largest = 1
    for column in rows.T:
        if largest > 2**62 // base:
            _, keys = np.unique(keys, return_inverse=True)
            keys = keys.reshape(-1)
            largest = len(keys)
        keys = keys * base + column
        largest *= base
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


DEFAULT_BELIEFS = 4_000_000
"""The default limit of beliefs that a search keeps."""

_CLOSED = 1e-11
"""A belief whose two numbers differ by no more needs no further search."""

_BLOCK_CELLS = 2**20
"""The intended size of the largest array of a block of beliefs."""

_LEAST_TIPS = 64
"""A round expands at least so many beliefs, if there are as many to expand."""

_GROWTH = 0.25
"""A round expands at least this share of the beliefs expanded before, so that rounds are few."""

_MOST_TIPS = 20_000
"""A round expands at most so many beliefs, so that it does not take long."""


class SearchBounds(NamedTuple):
    """What a search knows."""

    lower: float
    """No tree has a smaller value."""
    value: float
    """The value of the best known tree."""
    n_beliefs: int
    """The number of distinct beliefs so far."""
    n_expanded: int
    """The number of beliefs whose questions were followed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BestTree(Value):
    """The best tree that a search found, and what is proven about it."""

    tree: QuestionTree
    """The tree."""
    lower: float
    """No tree has a smaller value."""
    n_beliefs: int
    """The number of distinct beliefs that the search came to."""
    n_expanded: int
    """The number of beliefs whose questions were followed."""

    @property
    def gap(self) -> float:
        """The value of the tree less the lower bound; 0 if the tree is proven to be best."""
        gap = self.tree.value - self.lower
        return gap if gap > TOLERANCE else 0.0

    @property
    def is_proven(self) -> bool:
        """Whether no tree is better, up to a rounding of 1e-9."""
        return self.gap == 0.0


@checked
def best_tree(
    problem: TreeProblem,
    *,
    max_beliefs: int = DEFAULT_BELIEFS,
    until: Callable[[SearchBounds], bool] | None = None,
) -> BestTree:
    """Return the best tree of questions, with a proof unless the search ends early.

    Ctrl-C ends the search with the best tree so far.

    Parameters
    ----------
    problem
        The problem.
    max_beliefs
        The search ends before it keeps more beliefs; it may end somewhat below.
    until
        Called after each round; the search ends if it returns True.

    Raises
    ------
    InvalidArgumentError
        If ``max_beliefs`` is less than 1.
    """
    if max_beliefs < 1:
        raise InvalidArgumentError(f"max_beliefs must be at least 1, got {max_beliefs}")
    search = _Search(problem)
    try:
        while not search.is_done and search.advance(max_beliefs):
            if until is not None and until(search.known):
                break
    except KeyboardInterrupt:
        pass  # the levels are those of the last complete round
    tree = search.tree()
    known = search.known
    return BestTree(
        tree=tree,
        lower=min(known.lower, tree.value),
        n_beliefs=known.n_beliefs,
        n_expanded=known.n_expanded,
    )


class _Search:
    """A search at work. Only `advance` changes it, in one assignment at the end of a round."""

    def __init__(self, problem: TreeProblem) -> None:
        self.problem = problem
        self.known_keys: list[dict[bytes, int]] = [{} for _ in range(problem.depth)]
        empty = [
            Level(answers=np.zeros((0, level), dtype=np.int32)) for level in range(problem.depth)
        ]
        self.known_keys[0][b""] = 0
        empty[0] = self._with_new(empty[0], np.zeros((1, 0), dtype=np.int32), 0)
        self.levels = tuple(empty)

    @property
    def known(self) -> SearchBounds:
        root = self.levels[0]
        return SearchBounds(
            float(root.low[0]),
            float(root.high[0]),
            sum(map(len, self.levels)),
            sum(level.n_expanded for level in self.levels),
        )

    @property
    def is_done(self) -> bool:
        return bool(self.levels[0].high[0] - self.levels[0].low[0] <= _CLOSED)

    def advance(self, max_beliefs: int) -> bool:
        """Expand many beliefs, and pass the values up; return whether any was expanded.

        None is expanded if the new beliefs might not fit in ``max_beliefs``, or if the root is
        open by rounding alone.
        """
        levels = list(self.levels)
        tips = self._tips(levels)
        room = max_beliefs - sum(map(len, levels))
        most_below = self.problem.n_questions * self.problem.n_outcomes
        for number in range(len(levels) - 1):
            chosen = tips[number]
            while len(chosen) and room >= most_below:
                n = min(self._block, room // most_below)
                before = len(levels[number + 1])
                levels[number], levels[number + 1] = self._expanded(
                    levels[number], levels[number + 1], chosen[:n], number
                )
                chosen = chosen[n:]
                room -= len(levels[number + 1]) - before
        expanded = [level.n_expanded for level in levels]
        if expanded == [level.n_expanded for level in self.levels]:
            return False
        for number in range(len(levels) - 2, -1, -1):
            if levels[number].n_expanded:
                levels[number] = levels[number].updated(levels[number + 1], self.problem.price)
        self.levels = tuple(levels)
        return True

    @property
    def _block(self) -> int:
        problem = self.problem
        width = problem.n_questions * max(
            problem.n_outcomes * problem.depth, min(problem.n_questions, 64)
        )
        return max(16, _BLOCK_CELLS // max(width, len(problem.prior)))

    def _tips(self, levels: list[Level]) -> list[NDArray[np.intp]]:
        """Return the beliefs to expand on each level, following ever more questions."""
        expanded = sum(level.n_expanded for level in levels)
        wanted = min(max(_LEAST_TIPS, int(_GROWTH * expanded)), _MOST_TIPS)
        width = 1
        while True:
            tips = self._ends(levels, width)
            if sum(map(len, tips)) >= wanted or width >= self.problem.n_questions:
                return [part[:_MOST_TIPS] for part in tips]
            width *= 2

    @staticmethod
    def _ends(levels: list[Level], width: int) -> list[NDArray[np.intp]]:
        """Return the beliefs, not yet expanded, to which the ``width`` best questions lead."""
        tips = []
        reached = np.zeros(1, dtype=np.intp)
        for level in levels[:-1]:
            is_open = level.high[reached] - level.low[reached] > _CLOSED
            reached = reached[is_open]
            is_tip = level.row[reached] < 0
            tips.append(reached[is_tip])
            rows = level.row[reached[~is_tip]]
            high = level.high[level.owner[rows]]
            useful = level.low_after[rows] < high[:, None] - _CLOSED
            bounds = np.where(useful, level.low_after[rows], np.inf)
            best = np.argsort(bounds, axis=1, kind="stable")[:, :width]
            children = np.take_along_axis(level.children[rows], best[:, :, None], axis=1)
            finite = np.isfinite(np.take_along_axis(bounds, best, axis=1))
            children = children[finite]
            reached = np.unique(children[children >= 0]).astype(np.intp)
        return tips

    def _expanded(
        self, level: Level, below: Level, tips: NDArray[np.intp], number: int
    ) -> tuple[Level, Level]:
        """Return two levels after some beliefs of the upper one were expanded."""
        problem, more = self.problem, self.problem.depth - number - 1
        answers = level.answers[tips].astype(np.intp)
        joint = problem.joint(answers)
        chances = joint.sum(axis=1)
        beliefs = joint / chances[:, None]
        after = problem.objective.after(beliefs, problem.channels)
        is_open = problem.open_after(answers)
        bounds = problem.bounds.adaptive(level.end[tips], after, is_open, more) + problem.price
        is_asked = is_open & (bounds < level.high[tips][:, None] - _CLOSED)
        # One question stays, so that the belief has a value after it is expanded.
        first = np.argmin(np.where(is_open, bounds, np.inf), axis=1)
        has_any = is_open.any(axis=1)
        is_asked[np.flatnonzero(has_any), first[has_any]] = True
        shape = (len(tips), problem.n_questions, problem.n_outcomes)
        likely = (joint @ problem.columns.T).reshape(shape) > 1e-280
        rows, questions, outcomes = np.nonzero(is_asked[:, :, None] & likely)
        new = (questions * problem.n_outcomes + outcomes).astype(np.int32)
        longer = np.concatenate([level.answers[tips][rows], new[:, None]], axis=1)
        longer.sort(axis=1)
        place, below = self._placed(below, longer, number + 1)
        children = np.full(shape, -1, dtype=np.int32)
        children[rows, questions, outcomes] = place
        return level.with_expanded(tips.astype(np.int32), is_asked, children), below

    def _placed(self, level: Level, answers: Ints, number: int) -> tuple[Ints, Level]:
        """Return the places of beliefs in a level, and the level with those that are new."""
        keys = self.known_keys[number]
        first, place = distinct_rows(answers, self.problem.columns.shape[0] + 1)
        distinct = np.ascontiguousarray(answers[first])
        places = np.empty(len(first), dtype=np.int32)
        fresh: list[int] = []
        for row, answer in enumerate(distinct):
            key = answer.tobytes()
            found = keys.get(key, -1)
            if found < 0:
                found = keys[key] = len(level) + len(fresh)
                fresh.append(row)
            places[row] = found
        if fresh:
            new = distinct[fresh]
            for start in range(0, len(new), self._block):
                level = self._with_new(level, new[start : start + self._block], number)
        return places[place], level

    def _with_new(self, level: Level, answers: Ints, number: int) -> Level:
        """Return a level with new beliefs, and their first bounds."""
        problem, more = self.problem, self.problem.depth - number - 1
        given = answers.astype(np.intp)
        joint = problem.joint(given)
        chances = joint.sum(axis=1)
        beliefs = joint / chances[:, None]
        end = problem.objective.values(beliefs)
        after = problem.objective.after(beliefs, problem.channels)
        is_open = problem.open_after(given)
        alone = np.where(is_open, after + problem.price, np.inf).min(axis=1)
        high = np.minimum(end, alone)
        if not more:
            low = high
        else:
            bounds = problem.bounds.adaptive(end, after, is_open, more) + problem.price
            least = np.where(is_open, bounds, np.inf).min(axis=1)
            low = np.minimum(np.minimum(end, least), high)
        return level.with_beliefs(answers, chances, end, low, high)

    def tree(self) -> QuestionTree:
        """Return the tree of the known values; where the search did not look, it is greedy."""
        problem = self.problem
        keys = [
            {row.tobytes(): place for place, row in enumerate(level.answers)}
            if level.n_expanded
            else {}
            for level in self.levels
        ]

        def choose(answers: NDArray[np.intp], belief: Floats) -> int:
            level = self.levels[len(answers)]
            key = np.sort(answers).astype(np.int32).tobytes()
            place = keys[len(answers)].get(key, -1)
            row = -1 if place < 0 else int(level.row[place])
            if row < 0:
                return best_alone(problem, answers, belief)
            known = level.high[place] + TOLERANCE
            if level.end[place] <= known:
                return STOP
            after = level.high_after[row]
            if after.min() <= known:
                return int(np.argmax(after <= known))
            return best_alone(problem, answers, belief)

        return grown_tree(problem, choose)
