"""Adaptive tests as trees of items, with what is known about the skills at each point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, table_html
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, Responses
from bnmind.adaptive.beliefs.estimates import beliefs_given, has_ability, start_beliefs
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import asked_mask
from bnmind.adaptive.selection.selector import MissingLuckError
from bnmind.adaptive.selection.selectors import FixedOrder, selector_name
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.stopping.ending import BatchProgress, Ending, Reasons, Stopper, ending
from bnmind.adaptive.stopping.stoppers import MaximalItems
from bnmind.errors import InvalidArgumentError, TooLargeError

__all__ = [
    "EXPECTED",
    "MOST_NODES",
    "Branch",
    "ItemNode",
    "ItemTree",
    "check_without_luck",
    "design_tree",
    "expected_lines",
    "fixed_tree",
    "item_tree",
    "outlook_of",
    "selected_items",
]

EXPECTED = ("entropy", "pattern_accuracy", "attribute_accuracy", "length", "cost")
"""The expected results of a test that are reported."""

MOST_NODES = 100_000
"""The default limit of the points of a tree."""

_NEVER = 1e-280
"""Responses of smaller probability are taken as impossible."""

_BLOCK = 4096
"""The number of points whose beliefs are computed at once."""


@dataclass(frozen=True, eq=False)
class Branch(Value):
    """The plan of a part of a tree: an item and what follows each response, or an end."""

    item: str | None = None
    """The name of the item; None at an end."""
    below: Mapping[int, Branch] = field(default_factory=dict)
    """The part after each response, by its position."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemNode(Value):
    """A point of a test: the item to ask next, or the end, and what is known there."""

    item: str | None
    """The name of the item; None at an end."""
    probability: float
    """The probability that a test comes here."""
    entropy: float
    """The entropy of the skills, in bits."""
    profile: tuple[int, ...]
    """The most probable profile: the position of the level of each skill."""
    profile_probability: float
    """The probability of this profile."""
    skills: tuple[tuple[float, ...], ...]
    """For each skill the probability of each of its levels."""
    children: tuple[tuple[str, ItemNode], ...] = ()
    """The point after each possible response, by the name of the response."""

    def __iter__(self) -> Iterator[ItemNode]:
        """Yield this point, and all points below it, each before those below it."""
        yield self
        for _, child in self.children:
            yield from child

    def ends(self) -> Iterator[ItemNode]:
        """Yield the ends of the test below this point."""
        return (node for node in self if node.item is None)


@dataclass(frozen=True, eq=False)
class ItemTree(Result, Value):
    """A whole adaptive test: the next item after all responses that may come.

    Made by `item_tree`, `design_tree` or `optimal_test_tree`.
    """

    bank: ItemBank
    """The items."""
    root: ItemNode
    """The first item, and what follows."""

    def __repr__(self) -> str:
        return f"ItemTree({self.bank!r}, at most {counted(self.depth, 'item')})"

    def _repr_html_(self) -> str:
        """Return what is expected of the test as an HTML table, which notebooks display."""
        rows = [
            ("expected items", f"{self.length:.4g}"),
            ("most items", self.depth),
            ("points", self.n_nodes),
            ("expected entropy at the end, in bits", f"{self.entropy:.4g}"),
            ("pattern accuracy", f"{self.pattern_accuracy:.4g}"),
        ]
        return table_html((), rows, caption=repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the expected results as a record for JSON."""
        return {name: getattr(self, name) for name in EXPECTED}

    def _shown(self) -> Iterator[str | Table]:
        yield from expected_lines(self.to_dict(), self.bank)

    @property
    def entropy(self) -> float:
        """The expected entropy of the skills at the end, in bits."""
        return float(sum(node.probability * node.entropy for node in self.root.ends()))

    @property
    def pattern_accuracy(self) -> float:
        """The probability that the most probable profile at the end is the true one."""
        ends = self.root.ends()
        return float(sum(node.probability * node.profile_probability for node in ends))

    @property
    def attribute_accuracy(self) -> float:
        """The expected share of skills whose most probable level at the end is the true one."""
        ends = self.root.ends()
        return float(sum(n.probability * float(np.mean([max(p) for p in n.skills])) for n in ends))

    @property
    def length(self) -> float:
        """The expected number of items asked."""
        return float(sum(node.probability for node in self.root if node.item is not None))

    @property
    def cost(self) -> float:
        """The expected cost of the items asked."""
        cost = {item.name: item.cost for item in self.bank.items}
        return float(sum(n.probability * cost[n.item] for n in self.root if n.item is not None))

    @property
    def depth(self) -> int:
        """The largest number of items asked."""

        def deepest(node: ItemNode) -> int:
            return max((1 + deepest(child) for _, child in node.children), default=0)

        return deepest(self.root)

    @property
    def n_nodes(self) -> int:
        """The number of points."""
        return sum(1 for _ in self.root)

    def branch(self) -> Branch:
        """Return the plan of the tree, from which `item_tree` makes it again."""

        def plan(node: ItemNode) -> Branch:
            if node.item is None:
                return Branch()
            states = self.bank.responses(node.item)
            below = {states.index(name): plan(child) for name, child in node.children}
            return Branch(node.item, below)

        return plan(self.root)


def expected_lines(numbers: Mapping[str, float], bank: ItemBank) -> list[str]:
    """Return lines about the `EXPECTED` results of a test."""
    if has_ability(bank):  # profiles would be points of its grid
        return [
            f"Expected: {numbers['entropy']:.4f} bits unknown, {numbers['length']:.2f} items asked."
        ]
    return [
        f"Expected: {numbers['entropy']:.4f} bits unknown, {numbers['pattern_accuracy']:.4f} of the"
        f" profiles and {numbers['attribute_accuracy']:.4f} of the skills",
        f"  classified right, {numbers['length']:.2f} items asked.",
    ]


@checked
def item_tree(bank: ItemBank, branch: Branch) -> ItemTree:
    """Return the tree of a plan, with the beliefs at all its points.

    Parameters
    ----------
    bank
        The item bank.
    branch
        The plan: an item, and what follows each of its responses.

    Raises
    ------
    UnknownNameError
        If the bank has no such item.
    InvalidArgumentError
        If an item has no such response, or is asked twice on a path.
    ImpossibleEvidenceError
        If the responses to a point are impossible.
    """
    plans: list[Branch] = []
    rows: list[Responses] = []

    def gather(part: Branch, given: Responses) -> None:
        plans.append(part)
        rows.append(given)
        if part.item is None:
            return
        place = bank.position(part.item)
        if given[place] != MISSING:
            raise InvalidArgumentError(f"{part.item} is asked twice on a path", part.item)
        for response, below in part.below.items():
            after = given.copy()
            after[place] = bank.response(part.item, response)
            gather(below, after)

    gather(branch, np.full(len(bank.items), MISSING, dtype=np.int16))
    nodes: list[ItemNode] = []
    for start in range(0, len(plans), _BLOCK):
        nodes += _reported(bank, plans[start : start + _BLOCK], rows[start : start + _BLOCK])
    order = iter(zip(plans, nodes, strict=True))

    def joined() -> ItemNode:
        part, node = next(order)
        if part.item is None:
            return node
        names = bank.responses(part.item)
        return replace(node, children=tuple((names[r], joined()) for r in part.below))

    return ItemTree(bank, joined())


def _reported(
    bank: ItemBank, plans: Sequence[Branch], rows: Sequence[Responses]
) -> Iterator[ItemNode]:
    """Yield points without those below them."""
    beliefs = beliefs_given(bank, np.stack(rows))
    marginals = [beliefs.marginal(skill).tolist() for skill in bank.skills]
    profiles = beliefs.profile()
    for row, part in enumerate(plans):
        yield ItemNode(
            item=part.item,
            probability=float(np.exp(beliefs.log_evidence[row])),
            entropy=float(beliefs.entropy[row]),
            profile=tuple(profiles.levels[row].tolist()),
            profile_probability=float(profiles.probabilities[row]),
            skills=tuple(tuple(table[row]) for table in marginals),
        )


@checked
def design_tree(design: Design, *, max_nodes: int = MOST_NODES) -> ItemTree:
    """Return the tree of a design without luck.

    Parameters
    ----------
    design
        The bank, the selector, the stopper and the rules.
    max_nodes
        The limit of the points of the tree.

    Raises
    ------
    InvalidArgumentError
        If the selector needs random numbers.
    TooLargeError
        If the tree has more points; `evaluate_design` needs less memory.

    Examples
    --------
    >>> from bnmind.adaptive import Design, ItemBank, MaximalItems
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    >>> tree = design_tree(Design(bank, stopper=MaximalItems(2)))
    >>> tree.root.item, tree.n_nodes, round(tree.pattern_accuracy, 4)
    ('item_1', 7, 0.7225)
    """
    check_without_luck(design)
    bank = design.bank
    root: list[_Grown] = [_Grown()]
    level, beliefs = root, start_beliefs(bank, 1)
    asked = np.zeros((1, 0), dtype=np.intp)
    n_nodes = 1
    while True:
        outlook = outlook_of(design, beliefs, asked)
        rows = np.flatnonzero(outlook.reasons == "")
        if not len(rows):
            break
        beliefs, asked = beliefs.take(rows), asked[rows]
        items = selected_items(design, beliefs, outlook.allowed[rows])
        parents: list[int] = []
        responses: list[int] = []
        following: list[_Grown] = []
        for place, (row, item) in enumerate(zip(rows.tolist(), items.tolist(), strict=True)):
            level[row].item = bank.item_names[item]
            chances = beliefs.take([place]).predict([item])[0, 0]
            for response in np.flatnonzero(chances > _NEVER).tolist():
                child = level[row].below[response] = _Grown()
                parents.append(place)
                responses.append(response)
                following.append(child)
        n_nodes += len(following)
        if n_nodes > max_nodes:
            raise TooLargeError(
                f"the tree of this design has more than {max_nodes:,} points",
                needed=n_nodes,
                budget=max_nodes,
            )
        asked = np.concatenate([asked[parents], items[parents][:, None]], axis=1)
        beliefs = beliefs.take(parents).update(items[parents], np.array(responses))
        level = following
    return item_tree(bank, root[0].branch())


@dataclass(eq=False)
class _Grown:
    """A branch that is not complete yet."""

    item: str | None = None
    below: dict[int, _Grown] = field(default_factory=dict)

    def branch(self) -> Branch:
        return Branch(self.item, {r: below.branch() for r, below in self.below.items()})


@checked
def fixed_tree(bank: ItemBank, items: Sequence[str]) -> ItemTree:
    """Return the tree of a test in which everybody answers the same items, in their order.

    Parameters
    ----------
    bank
        The item bank.
    items
        The names of the items, in the order in which they are asked.

    Raises
    ------
    UnknownNameError
        If the bank has no such item.
    TooLargeError
        If the tree has more than `MOST_NODES` points.
    """
    order = tuple(items)
    paths = int(np.prod([float(len(bank.responses(name))) for name in order]))
    if paths > MOST_NODES:
        raise TooLargeError(
            f"{len(order)} items have {paths:,} sequences of responses; the limit of a tree is"
            f" {MOST_NODES:,} points",
            needed=paths,
            budget=MOST_NODES,
        )
    start = Design(bank, FixedOrder(order), MaximalItems(len(order)), rules=())
    return design_tree(start, max_nodes=2 * MOST_NODES)


# --- The next step of tests without luck ----------------------------------------------------------


def check_without_luck(design: Design) -> None:
    """Raise `InvalidArgumentError` if a design draws the items that are eligible."""
    if design.eligibility is not None:
        raise InvalidArgumentError(
            "expected a design that draws no random numbers, got one that draws the eligible items;"
            " simulate such a test instead",
            design,
        )


def outlook_of(design: Design, beliefs: BatchBelief, asked: NDArray[np.intp]) -> Ending:
    """Return the open items of some tests, or the reasons why the tests are over.

    Parameters
    ----------
    design
        The design.
    beliefs
        The beliefs.
    asked
        ``(beliefs, questions)``, positions of the items asked, in order.
    """
    was_asked = asked_mask(design.bank, asked)

    def reasons_of(stopper: Stopper, allowed: NDArray[np.bool_]) -> Reasons:
        return stopper.stop_batch(BatchProgress(beliefs, was_asked, allowed, asked))

    return ending(
        design.bank,
        design.rules,
        design.stopper,
        asked,
        available=np.broadcast_to(design.operational, was_asked.shape),
        reasons_of=reasons_of,
    )


def selected_items(
    design: Design, beliefs: BatchBelief, allowed: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return the next item for each belief.

    Raises
    ------
    InvalidArgumentError
        If the selector needs random numbers.
    """
    try:
        selection = design.selector.select_batch(beliefs, allowed)
    except MissingLuckError as error:
        raise InvalidArgumentError(
            "expected a selector that draws no random numbers, got"
            f" {selector_name(design.selector)}; simulate such a test instead",
            design.selector,
        ) from error
    if selection.set_aside.any() or np.any(selection.items == MISSING):
        raise InvalidArgumentError(
            f"expected a selector without exposure control, got {selector_name(design.selector)}",
            design.selector,
        )
    return selection.items
