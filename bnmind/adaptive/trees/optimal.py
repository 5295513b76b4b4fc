"""Optimal tests: the best tree of items, the best fixed list, and the regret of the greedy test.

The search is that of `bnmind.questions.trees`, which knows nothing about tests: a bank gives it
the classes of profiles as hidden states, and the items as questions.

References
----------
J. Vomlel, "Building adaptive tests using Bayesian networks", Kybernetika 40, 2004.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._display.results import Result, Table, parts_of
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.baselines import FixedOrder
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.stopping.length import MaximalItems
from bnmind.adaptive.trees.aims import Aim, EntropyOfSkills
from bnmind.adaptive.trees.evaluation import evaluate_design
from bnmind.adaptive.trees.evaluation_results import DesignEvaluation
from bnmind.adaptive.trees.item_tree import (
    EXPECTED,
    Branch,
    ItemTree,
    expected_lines,
    fixed_tree,
    item_tree,
)
from bnmind.adaptive.trees.profile_classes import ProfileClasses
from bnmind.errors import InvalidArgumentError
from bnmind.questions.trees import (
    QuestionNode,
    SearchBounds,
    TreeProblem,
    best_fixed_list,
    best_tree,
    greedy_tree,
)
from bnmind.questions.trees.grown_tree import TOLERANCE
from bnmind.questions.trees.search import DEFAULT_BELIEFS

__all__ = ["FixedTest", "OptimalTest", "fixed_test", "optimal_test_tree", "search_problem"]


class _Best(Result):
    """A test that a search found."""

    value: float
    lower: float
    greedy_value: float
    aim: Aim

    @property
    def is_proven(self) -> bool:
        """Whether no test is better, up to a rounding of 1e-9."""
        return self.value - self.lower <= 1e-9

    @property
    def regret(self) -> float:
        """What the greedy test loses against this one, in the unit of the aim."""
        return self.greedy_value - self.value

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

    @property
    def gap(self) -> float:
        """The value less the lower bound; 0 if the test is proven to be best."""
        gap = self.value - self.lower
        return gap if gap > 1e-9 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the test and its proof as a record for JSON."""
        return {
            "depth": self.depth,
            "value": self.value,
            "unit": self.aim.unit,
            "lower_bound": self.lower,
            "proven": self.is_proven,
            "greedy_value": self.greedy_value,
            "regret": self.regret,
            "beliefs": self.n_beliefs,
            "expanded": self.n_expanded,
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
            "value": self.value,
            "unit": self.aim.unit,
            "lower_bound": self.lower,
            "proven": self.is_proven,
            "greedy_items": list(self.greedy),
            "greedy_value": self.greedy_value,
            "regret": self.regret,
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
def search_problem(
    bank: ItemBank, depth: int, *, aim: Aim | None = None, price: float = 0.0
) -> TreeProblem:
    """Return the problem of the best test as the search takes it.

    Parameters
    ----------
    bank
        The item bank. Enemies are kept apart; testlets and content codes are not considered.
    depth
        The largest number of items asked.
    aim
        What the test minimizes; default the expected entropy.
    price
        The price of one unit of the cost of items, in the unit of the aim, at least 0. A test
        ends early where no item is worth its price.

    Raises
    ------
    InvalidArgumentError
        If the depth is less than 1, or the price is negative.
    TooLargeError
        If the bank has more than 65,536 profiles.
    """
    aim = aim or EntropyOfSkills()
    if not 0 <= price < np.inf:
        raise InvalidArgumentError(f"the price must be at least 0, got {price}", price)
    classes = ProfileClasses.of(bank)
    n_items = len(bank.items)
    excludes = np.zeros((n_items, n_items), dtype=bool)
    for place, name in enumerate(bank.item_names):
        for enemy in bank.enemies(name):
            excludes[place, bank.position(enemy)] = True
    each = 1.0 if aim.counts_cost and price == 0 else price
    return TreeProblem(
        prior=classes.prior,
        channels=classes.channels,
        objective=aim.objective(classes),
        depth=min(depth, n_items),
        costs=each * np.array([item.cost for item in bank.items]),
        excludes=excludes | excludes.T,
    )


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
    best, value = found.tree, found.tree.value
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
