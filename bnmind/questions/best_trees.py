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
* for decisions: the product bound of `bnmind.questions.tree_problems`.

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

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Count, Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.questions.tree_problems import ExpectedEntropy, Mask, TreeProblem

STOP = -1
"""In place of a question: the tree ends here."""

TOLERANCE = 1e-9
"""Values closer than this count as equal; among equal questions, the first is asked."""

_IMPOSSIBLE = 1e-280
"""Histories of smaller probability are taken as impossible."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Proven(Value):
    """What a search found: its value, and a bound that no other one falls below."""

    value: float
    """The value of the best that is known."""
    lower: float
    """Nothing has a smaller value."""

    @property
    def gap(self) -> float:
        """The value less the lower bound; 0 if nothing is better, up to a rounding of 1e-9."""
        gap = self.value - self.lower
        return gap if gap > TOLERANCE else 0.0

    @property
    def is_proven(self) -> bool:
        """Whether nothing is better, up to a rounding of 1e-9."""
        return self.gap == 0.0


# --- Trees ----------------------------------------------------------------------------------------


class Expectations:
    """What is expected of a tree."""

    points: Mapping[tuple[int, ...], Any]

    @property
    def root(self) -> Any:
        """The first point."""
        return self.points[()]

    @property
    def length(self) -> float:
        """The expected number of questions."""
        return self._at_questions(lambda _: 1.0)

    @property
    def depth(self) -> int:
        """The largest number of questions."""
        return max(map(len, self.points))

    @cached_property
    def _asked(self) -> set[tuple[int, ...]]:
        """The points that others follow."""
        return {path[:-1] for path in self.points if path}

    @property
    def ends(self) -> tuple[Any, ...]:
        """The points that none follows."""
        return tuple(point for path, point in self.points.items() if path not in self._asked)

    def _at_ends(self, value: Callable[[Any], float]) -> float:
        """Return the expectation of a number of each end."""
        return float(sum(end.probability * value(end) for end in self.ends))

    def _at_questions(self, value: Callable[[Any], float]) -> float:
        """Return the expected sum of a number of each question asked."""
        asked = (point for path, point in self.points.items() if path in self._asked)
        return float(sum(point.probability * value(point) for point in asked))


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionNode(Value):
    """A point of a tree: a question to ask next, or an end."""

    question: int | None
    """The index of the question; None at an end."""
    probability: float
    """The probability that the path leads here."""
    end_value: float
    """The value by the objective if the tree ended here."""


@dataclass(frozen=True, eq=False)
class QuestionTree(Expectations, Value):
    """A tree of questions, and its value."""

    problem: TreeProblem
    """The problem that the tree is for."""
    points: Mapping[tuple[int, ...], QuestionNode]
    """The point after each sequence of possible outcomes; a point stands before those after it."""

    @property
    def value(self) -> float:
        """The expected value of the ends, plus the expected costs."""
        return self._at_ends(lambda end: end.end_value) + self.cost

    @property
    def cost(self) -> float:
        """The expected costs of the questions."""
        return self._at_questions(lambda point: self.problem.price[point.question])


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
    points = {}

    def grow(path: tuple[int, ...], answers: tuple[int, ...], joint: Floats) -> None:
        chance = float(joint.sum())
        belief = joint / chance
        is_full = len(path) == problem.depth
        question = STOP if is_full else choose(np.array(answers, dtype=np.intp), belief)
        points[path] = QuestionNode(
            question=None if question == STOP else question,
            probability=chance,
            end_value=float(problem.objective.values(belief[None])[0]),
        )
        for outcome in range(problem.n_outcomes if question != STOP else 0):
            answer = question * problem.n_outcomes + outcome
            after = joint * problem.columns[answer]
            if after.sum() > _IMPOSSIBLE:
                grow((*path, outcome), (*answers, answer), after)

    grow((), (), problem.prior)
    return QuestionTree(problem, points)


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


# --- The best fixed list --------------------------------------------------------------------------

_CLOSE = 1e-10
"""A list must be better by more than this to replace another one."""

_MOST_CELLS = 2**26
"""The largest table of outcomes by states: 512 MB."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedList(Proven):
    """The best fixed list that a search found, and what is proven about it.

    Its value is the expected value after all questions, plus their costs.
    """

    questions: tuple[int, ...]
    """The indices of the questions, ascending."""
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
    problem: TreeProblem, *, until: Callable[[int, float], bool] | None = None
) -> FixedList:
    """Return the best list of ``problem.depth`` questions.

    Ctrl-C ends the search with the best list so far.

    Parameters
    ----------
    problem
        The problem.
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
    cells = len(problem.prior) * problem.n_outcomes ** (problem.depth - 1)
    if cells > _MOST_CELLS:
        raise TooLargeError(
            f"the outcomes of {problem.depth} questions by states have {cells:,} cells; the limit"
            f" is {_MOST_CELLS:,}",
            needed=cells,
            budget=_MOST_CELLS,
        )
    search = _ListSearch(problem, until)
    root = search.part((), problem.prior[None], np.ones(problem.n_questions, dtype=bool))
    search.greedy(root)
    greedy, greedy_value = search.best, search.best_value
    try:
        search.branch(root)
        lower = search.best_value
    except (KeyboardInterrupt, _EndedError):
        lower = search.bound(root, root.is_open, problem.depth)
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


class _Part(NamedTuple):
    """An incomplete list."""

    chosen: tuple[int, ...]
    joint: Floats
    """``(outcomes of all, states)``."""
    is_open: Mask
    price: float
    """The costs of the questions chosen."""
    value: float
    """The expected value without costs."""
    after: Floats
    """``(questions,)``, the expected value after each further question, without costs."""
    total: Floats
    """The same with all costs."""


class _ListSearch:
    def __init__(self, problem: TreeProblem, until: Callable[[int, float], bool] | None) -> None:
        self.problem, self.until = problem, until
        self.best: tuple[int, ...] = ()
        self.best_value = np.inf
        self.n_lists = 0

    def part(self, chosen: tuple[int, ...], joint: Floats, is_open: Mask) -> _Part:
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
        price = float(problem.price[list(chosen)].sum())
        return _Part(chosen, joint, is_open, price, value, after, after + price + problem.price)

    def _with(self, part: _Part, question: int, is_open: Mask) -> _Part:
        """Return a longer list; ``is_open`` is a mask of the questions that may be added now."""
        problem = self.problem
        joint = np.concatenate([part.joint * column for column in problem.channels[question].T])
        (left,) = problem.open_after(np.array([[question * problem.n_outcomes]]))
        return self.part((*part.chosen, question), joint, is_open & left)

    def greedy(self, root: _Part) -> None:
        """Add the best question each time; this is the first known list."""
        part = root
        while part.is_open.any():
            total = np.where(part.is_open, part.total, np.inf)
            question = int(np.argmax(total <= total.min() + _CLOSE))
            if len(part.chosen) == self.problem.depth - 1:
                return self._keep(part, question)
            part = self._with(part, question, part.is_open)
        # Questions that exclude each other ended the list too soon.
        possible = _possible_list(self.problem, root)
        for question in possible[:-1]:
            root = self._with(root, question, root.is_open)
        return self._keep(root, possible[-1])

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
        is_open = part.is_open.copy()
        for question in order[is_open[order]].tolist():
            if more == 1:
                return self._keep(part, question)
            bound = self.bound(part, is_open, more)
            if bound >= self.best_value - _CLOSE or np.count_nonzero(is_open) < more:
                return None
            self.branch(self._with(part, question, is_open))
            is_open[question] = False
        return None

    def bound(self, part: _Part, is_open: Mask, more: int) -> float:
        """Return a number that no list with some more questions falls below."""
        problem = self.problem
        least = problem.objective.fixed(problem.most, part.value, part.after, is_open, more)
        return least + part.price + float(np.sort(problem.price[is_open])[:more].sum())


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


# --- The best tree --------------------------------------------------------------------------------

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
"""A round expands at most so many beliefs of a length, so that it does not take long."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchBounds(Proven):
    """What a search knows about the best tree."""

    n_beliefs: int
    """The number of distinct beliefs so far."""
    n_expanded: int
    """The number of beliefs whose questions were followed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BestTree(SearchBounds):
    """The best tree that a search found, and what is proven about it."""

    tree: QuestionTree
    """The tree."""


@checked
def best_tree(
    problem: TreeProblem,
    *,
    max_beliefs: Count = DEFAULT_BELIEFS,
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
    search = _Search(problem)
    try:
        while not search.is_done and search.advance(max_beliefs):
            if until is not None and until(search.known):
                break
    except KeyboardInterrupt:
        pass  # the beliefs are those of the last complete round
    tree, known = search.tree(), search.known
    return BestTree(
        tree=tree,
        value=tree.value,
        lower=min(known.lower, tree.value),
        n_beliefs=known.n_beliefs,
        n_expanded=known.n_expanded,
    )


Ints = NDArray[np.int32]


class _Beliefs(NamedTuple):
    """The beliefs that a search came to, by their places. Never changed: a round makes new ones.

    A belief is identified by its answers in ascending order, whatever the order in which they were
    given, so that beliefs that are reached on several ways are one.
    """

    answers: Ints
    """``(beliefs, depth − 1)``, ascending; see `TreeProblem.open_after`. Padded at the end."""
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


class _Expanded(NamedTuple):
    """The beliefs whose questions were followed."""

    owner: Ints
    """``(expanded,)``, the place of each belief."""
    is_asked: Mask
    """``(expanded, questions)``, a mask of the questions that may be best."""
    children: Ints
    """``(expanded, questions, outcomes)``, places of beliefs; −1 where there is none."""
    low_after: Floats
    """``(expanded, questions)``, lower bounds of the values with each question."""
    high_after: Floats
    """``(expanded, questions)``, known values with each question."""


def _joined(parts: Iterable[tuple[NDArray[Any], ...]]) -> Iterator[NDArray[Any]]:
    """Yield the arrays of several parts, one after the other."""
    return map(np.concatenate, zip(*parts, strict=True))


class _Search:
    """A search at work. Only `advance` changes it, in one assignment at the end of a round."""

    def __init__(self, problem: TreeProblem) -> None:
        self.problem = problem
        n, width = problem.n_questions, problem.n_outcomes
        self.none = n * width
        """What pads the answers."""
        self.places: dict[bytes, int] = {}
        """The place of each belief by its answers."""
        # A belief of the last length is never expanded: all that may follow is known.
        start = np.full((1, problem.depth - 1), self.none, dtype=np.int32)
        self._place(start)
        places, values = np.zeros(0, dtype=np.int32), np.zeros((0, n))
        children = np.zeros((0, n, width), dtype=np.int32)
        nothing = _Expanded(places, values > 0, children, values, values)
        (root,) = self._found(start)
        self.state = (root, nothing)

    @property
    def known(self) -> SearchBounds:
        beliefs, expanded = self.state
        return SearchBounds(
            value=float(beliefs.high[0]),
            lower=float(beliefs.low[0]),
            n_beliefs=len(beliefs.end),
            n_expanded=len(expanded.owner),
        )

    @property
    def is_done(self) -> bool:
        return self.known.value - self.known.lower <= _CLOSED

    @property
    def _block(self) -> int:
        problem = self.problem
        width = problem.n_questions * max(
            problem.n_outcomes * problem.depth, min(problem.n_questions, 64)
        )
        return max(16, _BLOCK_CELLS // max(width, len(problem.prior)))

    def advance(self, max_beliefs: int) -> bool:
        """Expand many beliefs, and pass the values up; return whether any was expanded.

        None is expanded if the new beliefs might not fit in ``max_beliefs``, or if the root is
        open by rounding alone.
        """
        beliefs, expanded = self.state
        row = beliefs.row.copy()
        all_beliefs, all_expanded = [beliefs._replace(row=row)], [expanded]
        n_expanded = len(expanded.owner)
        most_below = self.problem.n_questions * self.problem.n_outcomes
        for tips in self._tips():
            while len(tips) and (room := (max_beliefs - len(self.places)) // most_below) > 0:
                some, tips = np.split(tips, [min(self._block, room)])
                more, new = self._followed(some)
                all_expanded.append(more)
                all_beliefs += self._found(new)
                row[some] = np.arange(n_expanded, n_expanded + len(some))
                n_expanded += len(some)
        if len(all_expanded) == 1:
            return False
        self.state = self._passed_up(
            _Beliefs(*_joined(all_beliefs)), _Expanded(*_joined(all_expanded))
        )
        return True

    def _tips(self) -> list[NDArray[np.intp]]:
        """Return the beliefs to expand by their lengths, following ever more questions."""
        wanted = min(max(_LEAST_TIPS, int(_GROWTH * len(self.state[1].owner))), _MOST_TIPS)
        width = 1
        while True:
            tips = self._ends(width)
            if sum(map(len, tips)) >= wanted or width >= self.problem.n_questions:
                return [part[:_MOST_TIPS] for part in tips]
            width *= 2

    def _ends(self, width: int) -> list[NDArray[np.intp]]:
        """Return the beliefs, not yet expanded, to which the ``width`` best questions lead."""
        beliefs, expanded = self.state
        tips = []
        reached = np.zeros(1, dtype=np.intp)
        for _ in range(self.problem.depth - 1):
            reached = reached[beliefs.high[reached] - beliefs.low[reached] > _CLOSED]
            is_tip = beliefs.row[reached] < 0
            tips.append(reached[is_tip])
            rows = beliefs.row[reached[~is_tip]]
            high = beliefs.high[reached[~is_tip]]
            low_after = expanded.low_after[rows]
            bounds = np.where(low_after < high[:, None] - _CLOSED, low_after, np.inf)
            best = np.argsort(bounds, axis=1, kind="stable")[:, :width]
            children = np.take_along_axis(expanded.children[rows], best[:, :, None], axis=1)
            children = children[np.isfinite(np.take_along_axis(bounds, best, axis=1))]
            reached = np.unique(children[children >= 0]).astype(np.intp)
        return tips

    def _followed(self, tips: NDArray[np.intp]) -> tuple[_Expanded, Ints]:
        """Return some beliefs of one length with what follows, and the answers of new beliefs."""
        problem, beliefs = self.problem, self.state[0]
        answers = beliefs.answers[tips]
        joint, _, _, bounds = self._outlook(answers)
        is_asked = bounds < beliefs.high[tips][:, None] - _CLOSED
        # One question stays, so that the belief has a value after it is expanded.
        every, first = np.arange(len(tips)), np.argmin(bounds, axis=1)
        is_asked[every, first] = np.isfinite(bounds[every, first])
        shape = (len(tips), problem.n_questions, problem.n_outcomes)
        likely = (joint @ problem.columns.T).reshape(shape) > _IMPOSSIBLE
        rows, questions, outcomes = np.nonzero(is_asked[:, :, None] & likely)
        longer = answers[rows]
        longer[:, self._length(answers)] = questions * problem.n_outcomes + outcomes
        longer.sort(axis=1)
        n_known = len(self.places)
        places = self._place(longer)
        children = np.full(shape, -1, dtype=np.int32)
        children[rows, questions, outcomes] = places
        unknown = np.full(is_asked.shape, np.nan)
        found, first = np.unique(places, return_index=True)
        expanded = _Expanded(tips.astype(np.int32), is_asked, children, unknown, unknown)
        return expanded, longer[first[found >= n_known]]

    def _length(self, answers: Ints) -> int:
        """Return the number of answers of beliefs of one length."""
        return int(np.count_nonzero(answers[:1] < self.none))

    def _place(self, answers: Ints) -> Ints:
        """Return the places of beliefs; those that are new get the next ones."""
        keys = (row.tobytes() for row in answers)
        known = self.places
        return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int32)

    def _found(self, answers: Ints) -> Iterator[_Beliefs]:
        """Yield what is known about new beliefs of one length, block by block."""
        for start in range(0, len(answers), self._block):
            some = answers[start : start + self._block]
            joint, end, after, bounds = self._outlook(some)
            high = np.minimum(end, after.min(axis=1))
            low = np.minimum(high, bounds.min(axis=1))
            row = np.full(len(some), -1, dtype=np.int32)
            yield _Beliefs(some, joint.sum(axis=1), end, low, high, row)

    def _outlook(self, answers: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Return what is known about beliefs of one length before any question is followed.

        Returns
        -------
        tuple
            P(state, answers); the value of an end; the value with each question as the last one;
            and a bound with each question and others after it. Both are infinite for questions
            that are not open.
        """
        problem, n_answers = self.problem, self._length(answers)
        given = answers[:, :n_answers].astype(np.intp)
        objective, more = problem.objective, problem.depth - n_answers - 1
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

    def _passed_up(self, beliefs: _Beliefs, expanded: _Expanded) -> tuple[_Beliefs, _Expanded]:
        """Return all beliefs with the values of those after them, the longest first."""
        low, high = beliefs.low.copy(), beliefs.high.copy()
        low_after, high_after = expanded.low_after.copy(), expanded.high_after.copy()
        n_answers = np.count_nonzero(beliefs.answers[expanded.owner] < self.none, axis=1)
        for length in range(self.problem.depth - 2, -1, -1):
            rows = np.flatnonzero(n_answers == length)
            owner, children = expanded.owner[rows], expanded.children[rows]
            weight = np.where(children >= 0, beliefs.probability[children], 0.0)
            total = np.maximum(beliefs.probability[owner], 1e-300)[:, None]
            for values, after in ((low, low_after), (high, high_after)):
                found = np.sum(weight * values[children], axis=2) / total + self.problem.price
                after[rows] = np.where(expanded.is_asked[rows], found, np.inf)
            end = beliefs.end[owner]
            low[owner] = np.maximum(low[owner], np.minimum(low_after[rows].min(axis=1), end))
            high[owner] = np.minimum(high[owner], np.minimum(high_after[rows].min(axis=1), end))
            # By rounding alone a lower bound can be above a known value.
            low[owner] = np.minimum(low[owner], high[owner])
        return (
            beliefs._replace(low=low, high=high),
            expanded._replace(low_after=low_after, high_after=high_after),
        )

    def tree(self) -> QuestionTree:
        """Return the tree of the known values; where the search did not look, it is greedy."""
        beliefs, expanded = self.state

        def choose(answers: NDArray[np.intp], belief: Floats) -> int:
            padded = np.full(self.problem.depth - 1, self.none, dtype=np.int32)
            padded[: len(answers)] = np.sort(answers)
            place = self.places.get(padded.tobytes(), -1)
            # Places of a round that was not completed are not among the beliefs.
            row = beliefs.row[place] if 0 <= place < len(beliefs.row) else -1
            if row >= 0:
                known = beliefs.high[place] + TOLERANCE
                if beliefs.end[place] <= known:
                    return STOP
                after = expanded.high_after[row]
                if after.min() <= known:
                    return int(np.argmax(after <= known))
            return best_alone(self.problem, answers, belief)

        return grown_tree(self.problem, choose)
