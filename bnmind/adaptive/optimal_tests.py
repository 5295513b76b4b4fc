"""Optimal tests: what they are to minimize, the best tree of items, and the best fixed list.

A test is a problem of `bnmind.questions.best_trees`, which knows nothing about tests: the hidden
states are the classes of profiles that no item tells apart, and the questions are the items.

References
----------
J. Vomlel, "Building adaptive tests using Bayesian networks", Kybernetika 40, 2004.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Le

from bnmind._arguments import checked
from bnmind._display import Result, Table, picked
from bnmind._messages import counted
from bnmind._registry import NUMBER, Registered, made_by_name
from bnmind._values import Count, NonNegative, Value
from bnmind.adaptive.design import Design
from bnmind.adaptive.evaluation import DesignEvaluation, ProfileClasses, evaluate_design
from bnmind.adaptive.item_trees import (
    EXPECTED,
    MOST_NODES,
    ItemTree,
    design_tree,
    expected_lines,
    item_tree,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.rules import enemies_of
from bnmind.adaptive.selectors import FixedOrder
from bnmind.adaptive.stopping import MaximalItems
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.questions.best_trees import (
    DEFAULT_BELIEFS,
    TOLERANCE,
    Proven,
    QuestionTree,
    SearchBounds,
    best_fixed_list,
    best_tree,
    greedy_tree,
)
from bnmind.questions.tree_problems import (
    ExpectedEntropy,
    ExpectedLoss,
    MissedGoal,
    TreeObjective,
    TreeProblem,
)

# --- Aims -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Aim(Value):
    """What a test is to minimize.

    Parameters
    ----------
    unit
        The unit of values, in a word.
    objective
        A function of the classes of the profiles of a bank, where profiles that no item tells
        apart are one class. It returns what the ends of a test cost.
    counts_cost
        Whether items cost what the bank says even if no price is given.
    """

    unit: str
    objective: Callable[[ProfileClasses], TreeObjective]
    counts_cost: bool = field(default=False, kw_only=True)


def _entropy(classes: ProfileClasses) -> TreeObjective:
    return ExpectedEntropy(classes.within())


def _profile_loss(classes: ProfileClasses) -> TreeObjective:
    return ExpectedLoss((classes.profile_gains(),))


def _skill_loss(classes: ProfileClasses) -> TreeObjective:
    return ExpectedLoss([classes.level_gains(skill) for skill in range(len(classes.bank.skills))])


def _missed_goal(goal: float, penalty: float, classes: ProfileClasses) -> TreeObjective:
    return MissedGoal(classes.profile_gains(), goal, penalty)


@checked
def cost_of_certainty(
    probability: Annotated[float, Gt(0), Le(1)], *, penalty: Annotated[float, Gt(0)] = 100.0
) -> Aim:
    """Return the expected cost of a test that goes on until one profile is probable enough.

    Parameters
    ----------
    probability
        The probability of the profile to reach, in (0, 1].
    penalty
        What a test costs in addition if it ends without, above 0.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range.
    """
    return Aim("cost", partial(_missed_goal, probability, penalty), counts_cost=True)


AIMS: Mapping[str, Registered[Aim]] = MappingProxyType(
    {
        "entropy": Registered("the entropy of all skills, in bits", lambda: Aim("bits", _entropy)),
        "profile": Registered(
            "the probability of a wrong profile", lambda: Aim("wrong profiles", _profile_loss)
        ),
        "skills": Registered(
            "the share of skills classified wrongly", lambda: Aim("wrong skills", _skill_loss)
        ),
        "cost": Registered(
            "the cost until a profile is this probable; who ends without pays 100 more",
            None,
            NUMBER,
            cost_of_certainty,
        ),
    }
)
"""The aim of each name."""


@checked
def aim_by_name(text: str) -> Aim:
    """Return the aim that a text names, such as ``entropy`` or ``cost:0.9``.

    Parameters
    ----------
    text
        The name, and perhaps an argument after a colon.

    Raises
    ------
    UnknownNameError
        If no aim has the name.
    InvalidArgumentError
        If the argument is missing, or does not belong there.
    """
    return made_by_name("aim", AIMS, text)


def search_problem(bank: ItemBank, depth: int, aim: Aim, price: float) -> TreeProblem:
    """Return the problem of the best test as the search takes it."""
    classes = ProfileClasses.of(bank)
    n_items = len(bank.items)
    each = 1.0 if aim.counts_cost and price == 0 else price
    return TreeProblem(
        prior=classes.prior,
        channels=classes.channels,
        objective=aim.objective(classes),
        depth=min(depth, n_items),
        costs=each * np.array([item.cost for item in bank.items]),
        excludes=enemies_of(bank, np.eye(n_items, dtype=bool)),
    )


# --- The best tests -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class _Best(Result, Proven):
    """A test that a search found. Its value is that of the aim, plus the price of its items."""

    greedy_value: float
    """The value of the greedy test."""
    unit: str
    """The unit of the values."""

    @property
    def regret(self) -> float:
        """What the greedy test loses against this one, in the unit of the aim."""
        return self.greedy_value - self.value

    def _proof(self) -> dict[str, Any]:
        names = {"lower_bound": "lower", "proven": "is_proven", "unit": "unit"}
        return picked(self, "value", "greedy_value", "regret", **names)

    def _told(self, kind: str, size: str, searched: str) -> Iterator[str]:
        """Yield lines about the search, and about what the greedy test loses."""
        proof, loss = f"Proven: no {kind} is better.", f"{max(self.regret, 0.0):.6f}"
        if not self.is_proven:
            proof = f"Not proven: no {kind} is below {self.lower:.6f}; the gap is {self.gap:.6f}."
            loss = f"between {loss} and {self.greedy_value - self.lower:.6f}"
        yield f"Best {kind} of {size}: {self.value:.6f} {self.unit}. {proof}"
        yield f"Searched {searched}."
        yield f"Greedy {kind}: {self.greedy_value:.6f} {self.unit}; it loses {loss}."


@dataclass(frozen=True, eq=False, kw_only=True)
class OptimalTest(_Best):
    """The best test that a search found, and what is proven about it.

    Its value is that of the aim, plus the price of its items.
    """

    depth: int
    """The largest number of items asked."""
    tree: ItemTree
    """The test."""
    greedy: ItemTree
    """The greedy test, which asks the item of most information each time."""
    n_beliefs: int
    """The number of distinct beliefs that the search came to."""
    n_expanded: int
    """The number of beliefs whose items the search followed."""

    def to_dict(self) -> dict[str, Any]:
        """Return the test and its proof as a record for JSON."""
        searched = picked(self, "depth", beliefs="n_beliefs", expanded="n_expanded")
        return {**self._proof(), **searched, **self.tree.to_dict()}

    def _shown(self) -> Iterator[str | Table]:
        size = f"at most {counted(self.depth, 'item')}"
        searched = counted(self.n_beliefs, "belief")
        searched += f", followed the items of {self.n_expanded:,}"
        yield from self._told("test", size, searched)
        yield from expected_lines(self.tree.to_dict(), self.tree.bank)
        first = self.tree.root.item
        yield f"First item: {first}" if first else "No item is worth asking."


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedTest(_Best):
    """The best fixed test that a search found, and what is proven about it.

    Its value is that of the aim, plus the price of its items.
    """

    bank: ItemBank
    """The item bank."""
    items: tuple[str, ...]
    """The names of the items, in bank order."""
    greedy: tuple[str, ...]
    """The test that adds the best item each time, in this order."""
    n_lists: int
    """The number of lists, also incomplete ones, that the search evaluated."""

    @cached_property
    def _design(self) -> Design:
        items = FixedOrder(self.items)
        return Design(self.bank, items, MaximalItems(len(self.items)), rules=())

    @cached_property
    def tree(self) -> ItemTree:
        """The same test as a tree; refused at once if it would be too large."""
        paths = math.prod([len(self.bank.responses(name)) for name in self.items])
        if paths > MOST_NODES:
            raise TooLargeError(
                f"{counted(len(self.items), 'item')} have {paths:,} sequences of responses; the"
                f" limit of a tree is {MOST_NODES:,} points",
                needed=paths,
                budget=MOST_NODES,
            )
        return design_tree(self._design, max_nodes=2 * MOST_NODES)

    @cached_property
    def expected(self) -> DesignEvaluation:
        """The expected results of the test."""
        return evaluate_design(self._design)

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
        size = counted(len(self.items), "item")
        yield from self._told("list", size, counted(self.n_lists, "list"))
        yield from expected_lines(self._numbers(), self.bank)
        yield f"Items: {', '.join(self.items)}"


@checked
def optimal_test_tree(
    bank: ItemBank,
    depth: Count,
    *,
    aim: Aim | None = None,
    price: NonNegative = 0.0,
    max_beliefs: Count = DEFAULT_BELIEFS,
    until: Callable[[SearchBounds], bool] | None = None,
) -> OptimalTest:
    """Return the best adaptive test of at most some items, with a proof unless it ends early.

    Ctrl-C ends the search with the best test so far.

    Parameters
    ----------
    bank
        The item bank. Enemies are kept apart; testlets and content codes are not considered.
    depth
        The largest number of items asked, at least 1.
    aim
        What the test minimizes; default the expected entropy.
    price
        The price of one unit of the cost of items, in the unit of the aim, at least 0. A test
        ends early where no item is worth its price.
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
    aim = aim or AIMS["entropy"]()
    problem = search_problem(bank, depth, aim, price)
    found = best_tree(problem, max_beliefs=max_beliefs, until=until)
    greedy = greedy_tree(problem)
    best = greedy if greedy.value < found.value - TOLERANCE else found.tree
    return OptimalTest(
        depth=depth,
        tree=_of_items(bank, best),
        value=best.value,
        lower=min(found.lower, best.value),
        greedy=_of_items(bank, greedy),
        greedy_value=greedy.value,
        unit=aim.unit,
        n_beliefs=found.n_beliefs,
        n_expanded=found.n_expanded,
    )


def _of_items(bank: ItemBank, tree: QuestionTree) -> ItemTree:
    """Return a tree of questions as one of items."""
    names: dict[int | None, str | None] = {None: None, **dict(enumerate(bank.item_names))}
    return item_tree(bank, {path: names[point.question] for path, point in tree.points.items()})


@checked
def fixed_test(
    bank: ItemBank,
    length: Count,
    *,
    aim: Aim | None = None,
    price: NonNegative = 0.0,
    until: Callable[[int, float], bool] | None = None,
) -> FixedTest:
    """Return the best fixed test of some items, with a proof unless it ends early.

    Ctrl-C ends the search with the best test so far.

    Parameters
    ----------
    bank, aim, price
        As for `optimal_test_tree`.
    length
        The number of items, at least 1.
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
    names = bank.item_names
    if length > len(names):
        raise InvalidArgumentError(
            f"expected at most {len(names)} items, as the bank has no more, got {length}", length
        )
    aim = aim or AIMS["entropy"]()
    found = best_fixed_list(search_problem(bank, length, aim, price), until=until)
    return FixedTest(
        bank=bank,
        items=tuple(names[i] for i in found.questions),
        value=found.value,
        lower=found.lower,
        greedy=tuple(names[i] for i in found.greedy),
        greedy_value=found.greedy_value,
        unit=aim.unit,
        n_lists=found.n_lists,
    )
