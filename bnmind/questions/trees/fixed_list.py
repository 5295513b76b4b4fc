r"""The best fixed list of questions, asked of everybody, by branch and bound over subsets.

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
* for decisions: the product bound of `objectives`.

The bounds of later branches are never better, so the first one that fails ends the loop.

References
----------
G. Nemhauser, L. Wolsey and M. Fisher, "An analysis of approximations for maximizing submodular set
functions I", Math. Program. 1978; A. Krause and C. Guestrin, "Near-optimal nonmyopic value of
information in graphical models", UAI 2005 (submodularity of the information).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.questions.trees.problem import TreeProblem

__all__ = ["FixedList", "best_fixed_list"]

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
