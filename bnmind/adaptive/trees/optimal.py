"""Optimal tests: the best tree of items, the best fixed list, and multi-stage tests.

The search is that of `bnmind.questions.trees`, for the problem that `search_problem` makes of a
bank and an aim.

A multi-stage test has modules of fixed items; the points in one decide on the next module:

=========  =========================================================================
symbol     name here
=========  =========================================================================
h          the responses so far, a row of ``joint``
x(h)       ``points``, the sum of the positions of the responses in the last module
[a, b]     the points of a route
V(a, b)    the least expected value of the groups of a ≤ x(h) ≤ b with one module
=========  =========================================================================

The first module is the best fixed test of its length. Given a module, all cuts of the points into
routes are compared: V(a, b) is computed for each interval, with the best fixed module for it, and
dynamic programming over the cuts finds the best sum of V. The modules of the next stage are thus
best given those before; the first ones are not chosen with a view to the later ones.

References
----------
J. Vomlel, "Building adaptive tests using Bayesian networks", Kybernetika 40, 2004; D. Yan, A. von
Davier and C. Lewis (eds.), *Computerized Multistage Testing*, 2014 (modules, panels and routing by
the number of right answers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, parts_of, picked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.design import Design
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.selectors import FixedOrder
from bnmind.adaptive.selection.stopping import MaximalItems
from bnmind.adaptive.trees.aims import Aim, EntropyOfSkills, search_problem
from bnmind.adaptive.trees.evaluation import DesignEvaluation, evaluate_design
from bnmind.adaptive.trees.item_trees import (
    EXPECTED,
    NEVER,
    Branch,
    ItemTree,
    expected_lines,
    fixed_tree,
    item_tree,
)
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.questions.trees import (
    QuestionNode,
    SearchBounds,
    TreeProblem,
    best_fixed_list,
    best_tree,
    greedy_tree,
)
from bnmind.questions.trees.search import DEFAULT_BELIEFS, TOLERANCE, Proven


class _Best(Proven, Result):
    """A test that a search found."""

    greedy_value: float
    aim: Aim

    @property
    def regret(self) -> float:
        """What the greedy test loses against this one, in the unit of the aim."""
        return self.greedy_value - self.value

    def _proof(self) -> dict[str, Any]:
        names = {"lower_bound": "lower", "proven": "is_proven"}
        found = picked(self, "value", "greedy_value", "regret", **names)
        return {**found, "unit": self.aim.unit}

    def _loss(self) -> str:
        """Return what the greedy test loses against the best one, as far as it is known."""
        least = f"{max(self.regret, 0.0):.6f}"
        if self.is_proven:
            return f"it loses {least}"
        return f"it loses between {least} and {self.greedy_value - self.lower:.6f}"


@dataclass(frozen=True, eq=False, kw_only=True)
class OptimalTest(_Best, Value):
    """The best test that a search found, and what is proven about it."""

    depth: int
    """The largest number of items asked."""
    tree: ItemTree
    """The test."""
    value: float
    """The value of the test by the aim, plus the price of its items."""
    lower: float
    """No test of this depth has a smaller value."""
    greedy: ItemTree
    """The greedy test, which asks the item of most information each time."""
    greedy_value: float
    """The value of the greedy test."""
    aim: Aim
    """The aim."""
    n_beliefs: int
    """The number of distinct beliefs that the search came to."""
    n_expanded: int
    """The number of beliefs whose items the search followed."""

    def to_dict(self) -> dict[str, Any]:
        """Return the test and its proof as a record for JSON."""
        return {
            **self._proof(),
            **picked(self, "depth", beliefs="n_beliefs", expanded="n_expanded"),
            **self.tree.to_dict(),
        }

    def _shown(self) -> Iterator[str | Table]:
        proof = (
            "Proven: no test is better."
            if self.is_proven
            else f"Not proven: no test is below {self.lower:.6f}; the gap is {self.gap:.6f}."
        )
        unit, first = self.aim.unit, self.tree.root.item
        n, beliefs = counted(self.depth, "item"), counted(self.n_beliefs, "belief")
        yield f"Best test of at most {n}: {self.value:.6f} {unit}. {proof}"
        yield f"Searched {beliefs}, followed the items of {self.n_expanded:,}."
        yield f"Greedy test: {self.greedy_value:.6f} {unit}; {self._loss()}."
        yield from parts_of(self.tree)
        yield f"First item: {first}" if first else "No item is worth asking."


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedTest(_Best, Value):
    """The best fixed test that a search found, and what is proven about it."""

    bank: ItemBank
    """The item bank."""
    items: tuple[str, ...]
    """The names of the items, in bank order."""
    value: float
    """The value of the test by the aim, plus the price of its items."""
    lower: float
    """No fixed test of this length has a smaller value."""
    greedy: tuple[str, ...]
    """The test that adds the best item each time, in this order."""
    greedy_value: float
    """The value of the greedy test."""
    aim: Aim
    """The aim."""
    n_lists: int
    """The number of lists, also incomplete ones, that the search evaluated."""

    @cached_property
    def tree(self) -> ItemTree:
        """The same test as a tree."""
        return fixed_tree(self.bank, self.items)

    @cached_property
    def expected(self) -> DesignEvaluation:
        """The expected results of the test."""
        rules = MaximalItems(len(self.items))
        return evaluate_design(Design(self.bank, FixedOrder(self.items), rules, rules=()))

    def _numbers(self) -> dict[str, float]:
        return {name: getattr(self.expected, name).middle for name in EXPECTED}

    def to_dict(self) -> dict[str, Any]:
        """Return the test and its proof as a record for JSON."""
        return {
            "items": list(self.items),
            **self._proof(),
            "greedy_items": list(self.greedy),
            "lists": self.n_lists,
            **self._numbers(),
        }

    def _shown(self) -> Iterator[str | Table]:
        proof = (
            "Proven: no list is better."
            if self.is_proven
            else f"Not proven: no list is below {self.lower:.6f}."
        )
        n, unit = counted(len(self.items), "item"), self.aim.unit
        yield f"Best list of {n}: {self.value:.6f} {unit}. {proof}"
        yield f"Searched {counted(self.n_lists, 'list')}."
        yield f"Greedy list: {self.greedy_value:.6f} {unit}; {self._loss()}."
        yield from expected_lines(self._numbers(), self.bank)
        yield f"Items: {', '.join(self.items)}"


@checked
def optimal_test_tree(
    bank: ItemBank,
    depth: int,
    *,
    aim: Aim | None = None,
    price: float = 0.0,
    max_beliefs: int = DEFAULT_BELIEFS,
    until: Callable[[SearchBounds], bool] | None = None,
) -> OptimalTest:
    """Return the best adaptive test of at most some items, with a proof unless it ends early.

    Ctrl-C ends the search with the best test so far.

    Parameters
    ----------
    bank, depth, aim, price
        As for `search_problem`.
    max_beliefs
        The search ends before it keeps more beliefs; it may end somewhat below.
    until
        Called after each round of the search with what is known; the search ends if it returns
        True.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range.
    TooLargeError
        If the bank has more than 65,536 profiles.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    >>> best = optimal_test_tree(bank, 2)
    >>> best.is_proven, round(best.value, 4), best.tree.root.item
    (True, 1.2054, 'item_1')
    """
    problem = search_problem(bank, depth, aim=aim, price=price)
    found = best_tree(problem, max_beliefs=max_beliefs, until=until)
    greedy = greedy_tree(problem)
    best, value = found.tree, found.value
    if greedy.value < value - TOLERANCE:
        best, value = greedy, greedy.value
    return OptimalTest(
        depth=depth,
        tree=item_tree(bank, _branch(bank, best.root)),
        value=value,
        lower=min(found.lower, value),
        greedy=item_tree(bank, _branch(bank, greedy.root)),
        greedy_value=greedy.value,
        aim=aim or EntropyOfSkills(),
        n_beliefs=found.n_beliefs,
        n_expanded=found.n_expanded,
    )


def _branch(bank: ItemBank, node: QuestionNode) -> Branch:
    if node.question is None:
        return Branch()
    below = {outcome: _branch(bank, child) for outcome, child in node.children}
    return Branch(bank.item_names[node.question], below)


@checked
def fixed_test(
    bank: ItemBank,
    length: int,
    *,
    aim: Aim | None = None,
    price: float = 0.0,
    until: Callable[[int, float], bool] | None = None,
) -> FixedTest:
    """Return the best fixed test of some items, with a proof unless it ends early.

    Ctrl-C ends the search with the best test so far.

    Parameters
    ----------
    bank, aim, price
        As for `search_problem`.
    length
        The number of items.
    until
        Called from time to time with the number of lists evaluated and the best value; the
        search ends if it returns True.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range, or so many items cannot be asked together.
    TooLargeError
        If the table of all responses is too large.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    >>> best = fixed_test(bank, 2)
    >>> best.items, best.is_proven
    (('item_1', 'item_2'), True)
    """
    problem = search_problem(bank, length, aim=aim, price=price)
    if problem.depth < length:
        raise InvalidArgumentError(
            f"expected at most {len(bank.items)} items, as the bank has no more, got {length}",
            length,
        )
    found = best_fixed_list(problem, until=until)
    names = bank.item_names
    return FixedTest(
        bank=bank,
        items=tuple(names[i] for i in found.questions),
        value=found.value,
        lower=found.lower,
        greedy=tuple(names[i] for i in found.greedy),
        greedy_value=found.greedy_value,
        aim=aim or EntropyOfSkills(),
        n_lists=found.n_lists,
    )


# --- Multi-stage tests ----------------------------------------------------------------------------

_CLOSE = 1e-10

_Cuts: TypeAlias = tuple[float, tuple[tuple[int, int], ...]]
"""The value of some routes, and their first and last scores."""


@dataclass(frozen=True, kw_only=True)
class PanelModule(Value):
    """A module: items that are asked together, and where to go from there."""

    items: tuple[str, ...]
    """The names of the items, in bank order."""
    routes: tuple[PanelRoute, ...] = ()
    """The routes to the next modules, by points; none at the last stage."""

    def __iter__(self) -> Iterator[PanelModule]:
        """Yield this module and all modules after it."""
        yield self
        for route in self.routes:
            yield from route.module


@dataclass(frozen=True, kw_only=True)
class PanelRoute(Value):
    """A route to a module, for some numbers of points in the module before."""

    least: int
    """The smallest number of points."""
    most: int
    """The largest number of points."""
    module: PanelModule
    """The next module."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel(Result, Value):
    """A multi-stage test and its value."""

    root: PanelModule
    """The first module, and what follows."""
    value: float
    """The expected value by the aim, plus the price of the items."""
    tree: ItemTree
    """The same test item by item, as for a paper test."""
    aim: Aim
    """The aim."""

    def _modules(self) -> Iterator[tuple[PanelModule, list[tuple[int, int, int]]]]:
        """Yield each module with its routes: the least and the most points, and the next module."""
        number = {id(module): place for place, module in enumerate(self.root, start=1)}
        for module in self.root:
            yield module, [(r.least, r.most, number[id(r.module)]) for r in module.routes]

    def to_dict(self) -> dict[str, Any]:
        """Return the modules and the expected results as a record for JSON."""
        modules = [
            {"items": list(module.items), "routes": [list(route) for route in routes]}
            for module, routes in self._modules()
        ]
        record = {"value": self.value, "unit": self.aim.unit, "modules": modules}
        return record | self.tree.to_dict()

    def _shown(self) -> Iterator[str | Table]:
        modules = list(self._modules())
        yield f"Panel of {counted(len(modules), 'module')}: {self.value:.6f} {self.aim.unit}."
        yield from parts_of(self.tree)
        for number, (module, routes) in enumerate(modules, start=1):
            yield f"Module {number}: {', '.join(module.items)}"
            for least, most, to in routes:
                points = f"{least}" if least == most else f"{least} to {most}"
                points += " point" if most == 1 == least else " points"
                yield f"  {points}: go to module {to}"


@checked
def panel_test(
    bank: ItemBank,
    lengths: Sequence[int],
    *,
    routes: int = 2,
    aim: Aim | None = None,
    price: float = 0.0,
) -> Panel:
    """Return a multi-stage test with the best modules, stage by stage.

    Parameters
    ----------
    bank, aim, price
        As for `search_problem`.
    lengths
        The number of items of a module of each stage.
    routes
        The largest number of routes after a module, at least 1.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range, or the bank has too few items.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> bank = ItemBank.from_qmatrix(q, guess=0.2, slip=0.1)
    >>> panel = panel_test(bank, [2, 1])
    >>> panel.root.items, [(route.least, route.most) for route in panel.root.routes]
    (('item_1', 'item_2'), [(0, 1), (2, 2)])
    """
    stages = tuple(lengths)
    if not stages or min(stages) < 1 or sum(stages) > len(bank.items):
        raise InvalidArgumentError(
            f"expected modules of at least 1 item, and of at most {len(bank.items)} in all, got"
            f" {', '.join(map(str, stages)) or 'none'}",
            stages,
        )
    if routes < 1:
        raise InvalidArgumentError(f"expected at least 1 route, got {routes}", routes)
    problem = search_problem(bank, stages[0], aim=aim, price=price)
    search = _Panels(bank, problem, stages, routes)
    value, root = search.best(problem.prior[None], (), 0)
    return Panel(
        root=root,
        value=value,
        tree=item_tree(bank, _panel_branch(bank, problem, root, problem.prior)),
        aim=aim or EntropyOfSkills(),
    )


class _Panels:
    def __init__(
        self, bank: ItemBank, problem: TreeProblem, lengths: tuple[int, ...], routes: int
    ) -> None:
        self.bank, self.problem, self.lengths, self.routes = bank, problem, lengths, routes

    def best(self, joint: Floats, asked: tuple[int, ...], stage: int) -> tuple[float, PanelModule]:
        """Return the value of the rest of the test for some groups, and its first module."""
        problem = replace(self.problem, depth=self.lengths[stage])
        assert problem.excludes is not None
        barred = np.flatnonzero(problem.excludes[list(asked)].any(axis=0)).tolist()
        found = best_fixed_list(problem, start=joint, without=(*asked, *barred))
        names = tuple(self.bank.item_names[i] for i in found.questions)
        if stage + 1 == len(self.lengths):
            return found.value, PanelModule(items=names)
        joint, points = self._after(joint, found.questions)
        spent = float(joint.sum() * problem.price[list(found.questions)].sum())
        value, routes = self._routes(joint, points, (*asked, *found.questions), stage + 1)
        return value + spent, PanelModule(items=names, routes=routes)

    def _after(self, joint: Floats, questions: Sequence[int]) -> tuple[Floats, NDArray[np.intp]]:
        """Return the groups by the responses to some items, and the points of each."""
        points = np.zeros(len(joint), dtype=np.intp)
        for question in questions:
            channel = self.problem.channels[question]
            points = np.concatenate([points + response for response in range(channel.shape[1])])
            joint = np.concatenate([joint * column for column in channel.T])
        is_possible = joint.sum(axis=1) > NEVER
        return joint[is_possible], points[is_possible]

    def _routes(
        self, joint: Floats, points: NDArray[np.intp], asked: tuple[int, ...], stage: int
    ) -> tuple[float, tuple[PanelRoute, ...]]:
        scores = np.unique(points).tolist()
        n = len(scores)
        parts = {
            (a, b): self.best(joint[(points >= scores[a]) & (points <= scores[b])], asked, stage)
            for a in range(n)
            for b in range(a, n)
        }
        # best[k][b]: the least value of the scores up to b in at most k + 1 routes.
        first: list[_Cuts] = [(parts[0, b][0], ((0, b),)) for b in range(n)]
        table = [first]
        for _ in range(1, min(self.routes, n)):
            row = list(table[-1])
            for b in range(1, n):
                for a in range(1, b + 1):
                    value = table[-1][a - 1][0] + parts[a, b][0]
                    if value < row[b][0] - _CLOSE:
                        row[b] = (value, (*table[-1][a - 1][1], (a, b)))
            table.append(row)
        value, cuts = table[-1][n - 1]
        return value, tuple(
            PanelRoute(least=scores[a], most=scores[b], module=parts[a, b][1]) for a, b in cuts
        )


def _panel_branch(
    bank: ItemBank,
    problem: TreeProblem,
    module: PanelModule,
    joint: Floats,
    done: int = 0,
    points: int = 0,
) -> Branch:
    """Return a panel item by item, without impossible responses.

    Parameters
    ----------
    bank, problem, module
        The bank, the problem of its items, and the module.
    joint
        ``(states,)``, the joint probability of the responses so far and the states.
    done, points
        The number of items asked in the module, and the points in it.
    """
    if done == len(module.items):
        for route in module.routes:
            if route.least <= points <= route.most:
                return _panel_branch(bank, problem, route.module, joint)
        return Branch()
    item = module.items[done]
    after = [joint * column for column in problem.channels[bank.position(item)].T]
    below = {
        response: _panel_branch(bank, problem, module, part, done + 1, points + response)
        for response, part in enumerate(after)
        if part.sum() > NEVER
    }
    return Branch(item, below)
