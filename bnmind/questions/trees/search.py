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
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

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


class Proven:
    """What a search found: its value, and a bound that no other one falls below."""

    value: float
    lower: float

    @property
    def gap(self) -> float:
        """The value less the lower bound; 0 if nothing is better, up to a rounding of 1e-9."""
        gap = self.value - self.lower
        return gap if gap > TOLERANCE else 0.0

    @property
    def is_proven(self) -> bool:
        """Whether nothing is better, up to a rounding of 1e-9."""
        return self.gap == 0.0


class Points:
    """A point of a tree, and the points below it."""

    probability: float
    children: tuple[tuple[Any, Any], ...]

    def __iter__(self) -> Iterator[Self]:
        """Yield this point, and all points below it, each before those below it."""
        yield self
        for _, child in self.children:
            yield from child

    def ends(self) -> Iterator[Self]:
        """Yield the ends of the tree below this point."""
        return (point for point in self if not point.children)


class Expectations:
    """What is expected of a tree."""

    root: Any

    @property
    def length(self) -> float:
        """The expected number of questions."""
        return self._at_questions(lambda _: 1.0)

    @property
    def depth(self) -> int:
        """The largest number of questions."""

        def deepest(point: Points) -> int:
            return max((1 + deepest(child) for _, child in point.children), default=0)

        return deepest(self.root)

    @property
    def n_nodes(self) -> int:
        """The number of points."""
        return sum(1 for _ in self.root)

    def _at_ends(self, value: Callable[[Any], float]) -> float:
        """Return the expectation of a number of each end."""
        return float(sum(point.probability * value(point) for point in self.root.ends()))

    def _at_questions(self, value: Callable[[Any], float]) -> float:
        """Return the expected sum of a number of each question asked."""
        return float(sum(p.probability * value(p) for p in self.root if p.children))


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionNode(Points, Value):
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


@dataclass(frozen=True, eq=False)
class QuestionTree(Expectations, Value):
    """A tree of questions, and its value."""

    problem: TreeProblem
    """The problem that the tree is for."""
    root: QuestionNode
    """The first question, and what follows."""

    @property
    def value(self) -> float:
        """The expected value of the ends, plus the expected costs."""
        return self._at_ends(lambda end: end.end_value) + self.cost

    @property
    def cost(self) -> float:
        """The expected costs of the questions."""
        return self._at_questions(lambda node: self.problem.price[node.question])


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
        given = np.array(answers, dtype=np.intp)
        question = STOP if depth == problem.depth else choose(given, belief)
        children = []
        for outcome in range(problem.n_outcomes if question != STOP else 0):
            answer = question * problem.n_outcomes + outcome
            after = joint * problem.columns[answer]
            if after.sum() > _IMPOSSIBLE:
                children.append((outcome, node((*answers, answer), after, depth + 1)))
        return QuestionNode(
            question=None if question == STOP else question,
            probability=chance,
            belief=belief,
            end_value=float(problem.objective.values(belief[None])[0]),
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
class FixedList(Proven, Value):
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
    is_open = np.ones(problem.n_questions, dtype=bool)
    is_open[list(without)] = False
    root = search.part((), joint, is_open)
    search.greedy(root)
    greedy, greedy_value = search.best, search.best_value
    try:
        search.branch(root)
        lower = search.best_value
    except (KeyboardInterrupt, _EndedError):
        lower = search.open_bound
    return FixedList(
        questions=tuple(sorted(search.best)),
        value=search.best_value,
        lower=min(lower, search.best_value),
        greedy=greedy,
        greedy_value=greedy_value,
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
    price: float
    """The costs of the questions chosen."""
    value: float
    """The expected value without costs."""
    after: Floats
    """``(questions,)``, the expected value after each further question, without costs."""
    total: Floats
    """The same with all costs."""


class _ListSearch:
    def __init__(
        self, problem: TreeProblem, until: Callable[[int, float], bool] | None, mass: float
    ) -> None:
        self.problem, self.until = problem, until
        self.price = mass * problem.price
        self.best: tuple[int, ...] = ()
        self.best_value = np.inf
        self.n_lists = 0
        self.open_bound = -np.inf
        """A bound of all lists; known once the root is bounded."""

    def part(self, chosen: tuple[int, ...], joint: Floats, is_open: NDArray[np.bool_]) -> _Part:
        problem = self.problem
        self.n_lists += 1
        weights = joint.sum(axis=1)
        is_possible = weights > _IMPOSSIBLE
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
            price=price,
            value=value,
            after=after,
            total=after + price + self.price,
        )

    def _with(self, part: _Part, question: int, is_open: NDArray[np.bool_]) -> _Part:
        """Return a longer list; ``is_open`` is a mask of the questions that may be added now."""
        problem = self.problem
        assert problem.excludes is not None
        joint = np.concatenate([part.joint * column for column in problem.channels[question].T])
        left = is_open & ~problem.excludes[question]
        left[question] = False
        return self.part((*part.chosen, question), joint, left)

    def greedy(self, root: _Part) -> None:
        """Add the best question each time; this is the first known list."""
        part = root
        while part.is_open.any():
            total = np.where(part.is_open, part.total, np.inf)
            question = int(np.argmax(total <= total.min() + _CLOSE))
            if len(part.chosen) == self.problem.depth - 1:
                self._keep(part, question)
                return
            part = self._with(part, question, part.is_open)
        # Questions that exclude each other ended the list too soon.
        possible = _possible_list(self.problem, root)
        for question in possible[:-1]:
            root = self._with(root, question, root.is_open)
        self._keep(root, possible[-1])

    def _keep(self, part: _Part, last: int) -> None:
        """Keep a list with its last question if it is better than all before."""
        if part.total[last] < self.best_value - _CLOSE:
            self.best, self.best_value = (*part.chosen, last), float(part.total[last])

    def branch(self, part: _Part) -> None:
        """Search all lists that go on from one."""
        more = self.problem.depth - len(part.chosen)
        if self.until is not None and self.until(self.n_lists, self.best_value):
            raise _EndedError
        order = np.argsort(part.total, kind="stable")
        order = order[part.is_open[order]].tolist()
        if more == 1:
            for question in order[:1]:
                self._keep(part, question)
            return
        is_open = part.is_open.copy()
        for question in order:
            bound = self._bound(part, is_open, more)
            if not part.chosen and question == order[0]:
                self.open_bound = bound
            if bound >= self.best_value - _CLOSE or np.count_nonzero(is_open) < more:
                return
            self.branch(self._with(part, question, is_open))
            is_open[question] = False

    def _bound(self, part: _Part, is_open: NDArray[np.bool_], more: int) -> float:
        problem = self.problem
        least = problem.objective.fixed(problem.most, part.value, part.after, is_open, more)
        return least + part.price + float(np.sort(self.price[is_open])[:more].sum())


def _possible_list(problem: TreeProblem, root: _Part) -> tuple[int, ...]:
    """Return the possible list whose questions have the least sum of values alone.

    Raises
    ------
    InvalidArgumentError
        If no list is possible.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = problem.n_questions
    assert problem.excludes is not None
    first, second = np.nonzero(np.triu(problem.excludes, 1))
    pairs = np.zeros((len(first), n))
    pairs[np.arange(len(first)), first] = pairs[np.arange(len(first)), second] = 1
    found = milp(
        root.total,
        integrality=np.ones(n, dtype=np.intp),
        bounds=Bounds(0, root.is_open.astype(float)),
        constraints=[
            LinearConstraint(pairs, -np.inf, 1),
            LinearConstraint(np.ones((1, n)), problem.depth, problem.depth),
        ],
    )
    if found.x is None:
        raise InvalidArgumentError(
            f"no list of {problem.depth} questions is possible: too few are left, or too many of"
            " them exclude each other",
            problem.depth,
        )
    return tuple(np.flatnonzero(found.x > 0.5).tolist())


# A belief is identified by its answers in ascending order, whatever the order in which they were
# given, so that beliefs that are reached on several ways are one.

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class Level:
    """The beliefs after the same number of answers. Never changed: a round makes new ones."""

    answers: Ints
    """``(beliefs, answers)``, ascending; see `TreeProblem.open_after`."""
    probability: Floats
    """``(beliefs,)``, the probability of the answers."""
    end: Floats
    """``(beliefs,)``, the value if the tree ends here."""
    low: Floats
    """``(beliefs,)``, a lower bound of the value of every tree from here."""
    high: Floats
    """``(beliefs,)``, the value of a known tree from here."""
    row: Ints
    """``(beliefs,)``, the place among the expanded beliefs; −1 if not expanded."""
    owner: Ints
    """``(expanded,)``, the belief of each expanded one."""
    is_asked: NDArray[np.bool_]
    """``(expanded, questions)``, a mask of the questions that may be best."""
    children: Ints
    """``(expanded, questions, outcomes)``, beliefs of the next level; −1 where there is none."""
    low_after: Floats
    """``(expanded, questions)``, lower bounds of the values with each question."""
    high_after: Floats
    """``(expanded, questions)``, known values with each question."""

    @classmethod
    def empty(cls, problem: TreeProblem, number: int) -> Level:
        """Return a level of beliefs after a number of answers, without any belief."""
        n, none = problem.n_questions, np.zeros(0)
        places, values = none.astype(np.int32), np.zeros((0, n))
        return cls(
            answers=np.zeros((0, number), dtype=np.int32),
            probability=none,
            end=none,
            low=none,
            high=none,
            row=places,
            owner=places,
            is_asked=values.astype(bool),
            children=np.zeros((0, n, problem.n_outcomes), dtype=np.int32),
            low_after=values,
            high_after=values,
        )

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def n_expanded(self) -> int:
        """The number of expanded beliefs."""
        return len(self.owner)

    def joined(self, **more: NDArray[Any]) -> Level:
        """Return the level with more rows at the end of some of its arrays."""
        longer = {name: np.concatenate([getattr(self, name), rows]) for name, rows in more.items()}
        return replace(self, **longer)

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
class BestTree(Proven, Value):
    """The best tree that a search found, and what is proven about it."""

    tree: QuestionTree
    """The tree."""
    value: float
    """Its value."""
    lower: float
    """No tree has a smaller value."""
    n_beliefs: int
    """The number of distinct beliefs that the search came to."""
    n_expanded: int
    """The number of beliefs whose questions were followed."""


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
    tree, known = search.tree(), search.known
    value = tree.value
    return BestTree(
        tree=tree,
        value=value,
        lower=min(known.lower, value),
        n_beliefs=known.n_beliefs,
        n_expanded=known.n_expanded,
    )


class _Search:
    """A search at work. Only `advance` changes it, in one assignment at the end of a round."""

    def __init__(self, problem: TreeProblem) -> None:
        self.problem = problem
        self.places: list[dict[bytes, int]] = [{} for _ in range(problem.depth)]
        """The place of each belief in its level, by its answers."""
        empty = [Level.empty(problem, number) for number in range(problem.depth)]
        _, root = self._placed(empty[0], np.zeros((1, 0), dtype=np.int32))
        self.levels = (root, *empty[1:])

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
                    levels[number], levels[number + 1], chosen[:n]
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

    def _expanded(self, level: Level, below: Level, tips: NDArray[np.intp]) -> tuple[Level, Level]:
        """Return two levels after some beliefs of the upper one were expanded."""
        problem, answers = self.problem, level.answers[tips]
        joint, _, _, bounds = self._outlook(answers)
        is_asked = bounds < level.high[tips][:, None] - _CLOSED
        # One question stays, so that the belief has a value after it is expanded.
        every, first = np.arange(len(tips)), np.argmin(bounds, axis=1)
        is_asked[every, first] = np.isfinite(bounds[every, first])
        shape = (len(tips), problem.n_questions, problem.n_outcomes)
        likely = (joint @ problem.columns.T).reshape(shape) > _IMPOSSIBLE
        rows, questions, outcomes = np.nonzero(is_asked[:, :, None] & likely)
        new = (questions * problem.n_outcomes + outcomes).astype(np.int32)
        longer = np.concatenate([answers[rows], new[:, None]], axis=1)
        longer.sort(axis=1)
        places, below = self._placed(below, longer)
        children = np.full(shape, -1, dtype=np.int32)
        children[rows, questions, outcomes] = places
        row = level.row.copy()
        row[tips] = np.arange(level.n_expanded, level.n_expanded + len(tips))
        unknown = np.full(is_asked.shape, np.nan)
        level = replace(level, row=row).joined(
            owner=tips.astype(np.int32),
            is_asked=is_asked,
            children=children,
            low_after=unknown,
            high_after=unknown,
        )
        return level, below

    def _placed(self, level: Level, answers: Ints) -> tuple[Ints, Level]:
        """Return the places of beliefs in a level, and the level with those that are new."""
        known = self.places[answers.shape[1]]
        keys = (row.tobytes() for row in answers)
        places = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int32)
        found, first = np.unique(places, return_index=True)
        new = answers[first[found >= len(level)]]
        for start in range(0, len(new), self._block):
            some = new[start : start + self._block]
            joint, end, after, bounds = self._outlook(some)
            high = np.minimum(end, after.min(axis=1))
            level = level.joined(
                answers=some,
                probability=joint.sum(axis=1),
                end=end,
                low=np.minimum(high, bounds.min(axis=1)),
                high=high,
                row=np.full(len(some), -1, dtype=np.int32),
            )
        return places, level

    def _outlook(self, answers: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Return what is known about beliefs before any question is followed.

        Returns
        -------
        tuple
            P(state, answers); the value of an end; the value with each question as the last one;
            and a bound with each question and others after it. Both are infinite for questions
            that are not open.
        """
        problem, given = self.problem, answers.astype(np.intp)
        objective, more = problem.objective, problem.depth - given.shape[1] - 1
        joint = problem.joint(given)
        beliefs = joint / joint.sum(axis=1, keepdims=True)
        end = objective.values(beliefs)
        after = objective.after(beliefs, problem.channels)
        is_open = problem.open_after(given)
        price = np.where(is_open, problem.price, np.inf)
        bounds = after
        if more:
            bounds = objective.adaptive(problem.most, end, after, is_open, more)
        return joint, end, after + price, bounds + price

    def tree(self) -> QuestionTree:
        """Return the tree of the known values; where the search did not look, it is greedy."""

        def choose(answers: NDArray[np.intp], belief: Floats) -> int:
            level = self.levels[len(answers)]
            key = np.sort(answers).astype(np.int32).tobytes()
            place = self.places[len(answers)].get(key, -1)
            # Places of a round that was not completed are not in the level.
            row = level.row[place] if 0 <= place < len(level) else -1
            if row >= 0:
                known = level.high[place] + TOLERANCE
                if level.end[place] <= known:
                    return STOP
                after = level.high_after[row]
                if after.min() <= known:
                    return int(np.argmax(after <= known))
            return best_alone(self.problem, answers, belief)

        return grown_tree(self.problem, choose)
