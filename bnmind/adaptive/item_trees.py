"""Adaptive tests as trees of items, with what is known about the skills at each point.

In files they are JSON, a drawing, or a paper test. To add a format, write a function from a tree to
a text, and add one line to `ITEM_TREE_FORMATS`.

In JSON, ``{"format": …, "version": 1, "title": …, "skills": […], "tree": {"item": …, "responses":
{…}}}``, every point says with which probability a test comes there, and what is known there. A
*paper test* is one that a teacher can give without a computer. Every box has a number; a box with
an item says to which box to go after each response, and the last box reports the skills.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table
from bnmind._files import LARGE_FILE, parse_document, read_text, write_file
from bnmind._messages import counted, shown
from bnmind._values import Value
from bnmind.adaptive.beliefs import MISSING, BatchBelief, Responses
from bnmind.adaptive.design import Design
from bnmind.adaptive.estimates import beliefs_given, has_ability, start_beliefs
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selectors import MissingLuckError, selector_name
from bnmind.adaptive.stopping import Ending, ending
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError, TooLargeError
from bnmind.information import Floats
from bnmind.questions.best_trees import Expectations
from bnmind.views.figures import TreeBox, tree_dot, tree_drawing

EXPECTED = ("entropy", "pattern_accuracy", "attribute_accuracy", "length", "cost")
"""The expected results of a test that are reported."""

MOST_NODES = 100_000
"""The default limit of the points of a tree."""

NEVER = 1e-280
"""Responses of smaller probability are taken as impossible, so that no belief underflows."""

_BLOCK = 4096
"""The number of points whose beliefs are computed at once."""

_BLOCK_CELLS = 2**22
"""The intended size of the table of the beliefs of a walk: 32 MB."""

_CELLS_OF_A_TREE = 2**12
"""The cells that a belief by a junction tree is taken to have."""


Plan: TypeAlias = Mapping[tuple[int, ...], str | None]
"""The item to ask after each sequence of responses, by their positions; None at an end."""


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


@dataclass(frozen=True, eq=False)
class ItemTree(Expectations, Result, Value):
    """A whole adaptive test: the next item after all responses that may come.

    Made by `design_tree`, `optimal_test_tree` or `read_item_tree`.
    """

    bank: ItemBank
    """The items."""
    points: Mapping[tuple[int, ...], ItemNode]
    """The point after each sequence of possible responses, by their positions; a point stands
    before those after it."""

    def __repr__(self) -> str:
        return f"ItemTree({self.bank!r}, at most {counted(self.depth, 'item')})"

    def to_dict(self) -> dict[str, Any]:
        """Return the expected results as a record for JSON."""
        return {name: getattr(self, name) for name in EXPECTED}

    def _shown(self) -> Iterator[str | Table]:
        yield from expected_lines(self.to_dict(), self.bank)

    @property
    def entropy(self) -> float:
        """The expected entropy of the skills at the end, in bits."""
        return self._at_ends(lambda end: end.entropy)

    @property
    def pattern_accuracy(self) -> float:
        """The probability that the most probable profile at the end is the true one."""
        return self._at_ends(lambda end: end.profile_probability)

    @property
    def attribute_accuracy(self) -> float:
        """The expected share of skills whose most probable level at the end is the true one."""
        return self._at_ends(lambda end: float(np.mean([max(levels) for levels in end.skills])))

    @property
    def cost(self) -> float:
        """The expected cost of the items asked."""
        return self._at_questions(lambda node: self.bank.item(node.item).cost)


def _after(tree: ItemTree, path: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
    """Return the name of each possible response at a point, and the path to the next point."""
    item = tree.points[path].item
    names = tree.bank.responses(item) if item else ()
    paths = [(name, (*path, r)) for r, name in enumerate(names)]
    return [(name, after) for name, after in paths if after in tree.points]


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


def item_tree(bank: ItemBank, plan: Plan) -> ItemTree:
    """Return the tree of a plan, with the beliefs at all its points.

    Raises
    ------
    UnknownNameError
        If the bank has no such item.
    InvalidArgumentError
        If an item has no such response, or is asked twice on a path.
    ImpossibleEvidenceError
        If the responses to a point are impossible.
    """
    paths = sorted(plan)
    rows: dict[tuple[int, ...], Responses] = {(): np.full(len(bank.items), MISSING, dtype=np.int16)}
    for *before, last in paths[1:]:
        item = plan[tuple(before)]
        assert item is not None
        place, after = bank.position(item), rows[tuple(before)].copy()
        if after[place] != MISSING:
            raise InvalidArgumentError(f"{item} is asked twice on a path", item)
        after[place] = bank.response(item, last)
        rows[(*before, last)] = after
    points: dict[tuple[int, ...], ItemNode] = {}
    for start in range(0, len(paths), _BLOCK):
        some = paths[start : start + _BLOCK]
        beliefs = beliefs_given(bank, np.stack([rows[path] for path in some]))
        marginals = [beliefs.marginal(skill).tolist() for skill in bank.skills]
        profiles = beliefs.profile()
        for row, path in enumerate(some):
            points[path] = ItemNode(
                item=plan[path],
                probability=float(np.exp(beliefs.log_evidence[row])),
                entropy=float(beliefs.entropy[row]),
                profile=tuple(profiles.levels[row].tolist()),
                profile_probability=float(profiles.probabilities[row]),
                skills=tuple(tuple(table[row]) for table in marginals),
            )
    return ItemTree(bank, points)


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
    >>> tree.root.item, len(tree.points), round(tree.pattern_accuracy, 4)
    ('item_1', 7, 0.7225)
    """
    bank = design.bank
    # The item at each point, by the responses before it; None at an end.
    item_at: dict[tuple[int, ...], str | None] = {}
    for tests in walk(design):
        given = np.take_along_axis(tests.beliefs.responses, tests.asked, axis=1).tolist()
        item_at |= dict.fromkeys(map(tuple, given))
        if given[0]:
            last = [bank.item_names[item] for item in tests.asked[:, -1].tolist()]
            item_at |= {tuple(path[:-1]): item for path, item in zip(given, last, strict=True)}
        if len(item_at) > max_nodes:
            raise TooLargeError(
                f"the tree of this design has more than {max_nodes:,} points",
                needed=len(item_at),
                budget=max_nodes,
            )

    return item_tree(bank, item_at)


# --- The walk over all tests of a design ----------------------------------------------------------


class Frontier(NamedTuple):
    """Some tests after the same number of items."""

    beliefs: BatchBelief
    """The belief of each test."""
    probability: Floats
    """``(tests,)``, the probability that a test comes here."""
    asked: NDArray[np.intp]
    """``(tests, questions)``, positions of the items asked, in order."""

    def take(self, rows: NDArray[np.intp]) -> Frontier:
        """Return some of the tests."""
        return Frontier(self.beliefs.take(rows), self.probability[rows], self.asked[rows])


Follow: TypeAlias = Callable[[Frontier, Ending, int], NDArray[np.bool_]]
"""A function of some tests, what may come next, and the number of tests that wait elsewhere; it
returns a mask of the tests to go on with."""

Merge: TypeAlias = Callable[[Responses, Floats], tuple[NDArray[np.intp], Floats]]
"""A function of the responses and the probabilities of tests; it returns the rows of those to keep,
and their probabilities with those that are equal to them."""


def walk(
    design: Design, *, follow: Follow | None = None, merge: Merge | None = None
) -> Iterator[Frontier]:
    """Yield all tests of a design without luck, many at a time.

    The deepest tests come first, and of these the most probable ones.

    Parameters
    ----------
    design
        The bank, the selector, the stopper and the rules.
    follow
        Which tests go on; default all that have not ended.
    merge
        Which tests are equal; default none.

    Raises
    ------
    InvalidArgumentError
        If the design needs random numbers.
    """
    if design.eligibility is not None:
        raise InvalidArgumentError(
            "expected a design that draws no random numbers, got one that draws the eligible items;"
            " simulate such a test instead",
            design,
        )
    start = start_beliefs(design.bank, 1)
    cells = _CELLS_OF_A_TREE if start.table is None else start.table.shape[1]
    most = max(64, _BLOCK_CELLS // cells)
    stack = [Frontier(start, np.ones(1), np.zeros((1, 0), dtype=np.intp))]
    while stack:
        tests = stack.pop()
        if len(tests.probability) > most:
            order = np.argsort(-tests.probability, kind="stable")
            half = len(order) // 2
            stack += [tests.take(order[half:]), tests.take(order[:half])]
            continue
        available = np.broadcast_to(design.operational, (len(tests.asked), len(design.operational)))
        now = ending(design.rules, design.stopper, tests.beliefs, tests.asked, available=available)
        goes_on = now.reasons == ""
        if follow is not None:
            goes_on = follow(tests, now, sum(len(waiting.probability) for waiting in stack))
        rows = np.flatnonzero(goes_on)
        yield tests
        if not len(rows):
            continue
        tests = tests.take(rows)
        items, chances = _next_items(design, tests.beliefs, now.allowed[rows])
        chances *= tests.probability[:, None]
        parents, responses = np.nonzero(chances > NEVER)
        probability = chances[parents, responses]
        if merge is not None:
            answers = tests.beliefs.responses[parents].copy()
            answers[np.arange(len(parents)), items[parents]] = responses
            first, probability = merge(answers, probability)
            parents, responses = parents[first], responses[first]
        beliefs = tests.beliefs.take(parents).update(items[parents], responses)
        asked = np.column_stack([tests.asked[parents], items[parents]])
        stack.append(Frontier(beliefs, probability, asked))


def _next_items(
    design: Design, beliefs: BatchBelief, allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], Floats]:
    """Return the next item for each belief, and the chances of its responses, padded with zeros.

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
    items = selection.items
    if selection.set_aside.any() or np.any(items == MISSING):
        raise InvalidArgumentError(
            f"expected a selector without exposure control, got {selector_name(design.selector)}",
            design.selector,
        )
    width = max(len(design.bank.responses(name)) for name in design.bank.item_names)
    chances = np.zeros((len(items), width))
    for item in np.unique(items).tolist():
        rows = np.flatnonzero(items == item)
        predicted = beliefs.take(rows).predict([item])[:, 0]
        chances[rows, : predicted.shape[1]] = predicted
    return items, chances


# --- JSON -----------------------------------------------------------------------------------------

_FORMAT = "bnmind-item-tree"
_VERSION = 1
_DEEPEST = 200


def tree_to_json(tree: ItemTree) -> str:
    """Return a tree as JSON."""
    bank = tree.bank
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "title": bank.title,
        "skills": list(bank.skills),
        "expected": tree.to_dict(),
        "tree": _nested(tree, ()),
    }
    return json.dumps(document, indent=1) + "\n"


def _nested(tree: ItemTree, path: tuple[int, ...]) -> dict[str, Any]:
    bank, node = tree.bank, tree.points[path]
    known: dict[str, Any] = {
        "probability": node.probability,
        "entropy": node.entropy,
        "profile": _states(bank, node),
        "profile_probability": node.profile_probability,
    }
    if node.item is None:
        return {**known, "skills": dict(zip(bank.skills, map(list, node.skills), strict=True))}
    below = {response: _nested(tree, after) for response, after in _after(tree, path)}
    return {"item": node.item, **known, "responses": below}


def _states(bank: ItemBank, node: ItemNode) -> list[str]:
    """Return the name of the level of each skill in the most probable profile."""
    levels = zip(bank.skills, node.profile, strict=True)
    return [bank.variable(skill).states[level] for skill, level in levels]


def tree_from_json(text: str, bank: ItemBank) -> ItemTree:
    """Return the tree in JSON; probabilities are those of the bank, not of the file.

    Raises
    ------
    BnmindError
        If the text is not such a tree, or the tree does not fit the bank.
    """
    document = parse_document(text, _FORMAT, _VERSION)
    return item_tree(bank, dict(_planned(bank, document.get("tree"), (), ())))


def _planned(
    bank: ItemBank, value: object, path: tuple[int, ...], before: tuple[str, ...]
) -> Iterator[tuple[tuple[int, ...], str | None]]:
    """Yield the item at a point of a file, and those at the points after it."""
    where = f"after {', '.join(before[-3:])}" if before else "at the root"
    if not isinstance(value, dict) or len(before) > _DEEPEST:
        raise ModelFileError(f"expected a point of a tree {where}, got {shown(value)}", value)
    item, responses = value.get("item"), value.get("responses")
    yield path, item
    if item is None:
        return
    if not isinstance(item, str) or not isinstance(responses, dict) or not responses:
        raise ModelFileError(f"expected an item with its responses {where}", value)
    for name, below in responses.items():
        after = (*path, bank.response(item, name))
        yield from _planned(bank, below, after, (*before, f"{item}={name}"))


# --- Drawings -------------------------------------------------------------------------------------

_END = "#e8e8e8"


def tree_to_dot(tree: ItemTree) -> str:
    """Return a tree as a graph for Graphviz; an end shows the most probable profile."""
    title = " ".join((tree.bank.title or "adaptive test").split())
    return tree_dot(_box(tree, ()), name="test", comment=title)


def tree_to_svg(tree: ItemTree) -> str:
    """Draw a tree as SVG text: the width of a box is the probability that a test comes there.

    The title of a box, which browsers show, says what is known there.
    """
    return tree_drawing(_box(tree, ()))


def _box(tree: ItemTree, path: tuple[int, ...]) -> TreeBox:
    bank, node = tree.bank, tree.points[path]
    known = [f"{one.skill}: {one.level} ({one.probability:.2f})" for one in _levels(bank, node)]
    title = [f"probability {node.probability:.4f}, {node.entropy:.3f} bits unknown", *known]
    if node.item is None:
        states = _states(bank, node)
        profile = ("" if all(len(state) == 1 for state in states) else " ").join(states)
        return TreeBox(profile, weight=node.probability, title="\n".join(title), color=_END)
    text = bank.item(node.item).text
    below = [
        (_response_word(bank, node.item, name), _box(tree, after))
        for name, after in _after(tree, path)
    ]
    title = [f"{node.item}: {text}" if text else node.item, *title]
    return TreeBox(node.item, below, weight=node.probability, title="\n".join(title))


# --- Paper tests ----------------------------------------------------------------------------------

_SURE = 0.8
"""A level of a skill with a smaller probability is reported as not sure."""


class PaperSkill(NamedTuple):
    """What is reported about a skill."""

    skill: str
    """The label of the skill."""
    level: str
    """The most probable level, in words."""
    probability: float
    """The probability of the level."""

    @property
    def is_sure(self) -> bool:
        """Whether the level is probable enough to be reported as a fact."""
        return self.probability >= _SURE

    @property
    def text(self) -> str:
        """The level and its probability."""
        chance = f"{100 * self.probability:.0f} %"
        if self.is_sure:
            return f"{self.level} ({chance})"
        return f"not sure (most likely {self.level}, {chance})"


class PaperBox(NamedTuple):
    """A box with an item or a result."""

    number: int
    text: str
    """The wording of the item, or its name if the bank has none; a sentence in a result."""
    ways: tuple[tuple[str, int], ...]
    """Each response to the item in a word, and the number of the box to go to."""
    skills: tuple[PaperSkill, ...]
    """What a result reports about each skill; empty for an item."""


def paper_test(tree: ItemTree) -> tuple[PaperBox, ...]:
    """Return the boxes of a test: items level by level, then the results."""
    bank, points = tree.bank, tree.points
    paths = sorted(points, key=lambda path: (points[path].item is None, len(path)))
    number = {path: place for place, path in enumerate(paths, start=1)}
    boxes = []
    for path, place in number.items():
        node = points[path]
        if node.item is None:
            boxes.append(PaperBox(place, "The test is over.", (), _levels(bank, node)))
            continue
        # The best response first: "if right" is what a reader expects.
        ways = [
            (_response_word(bank, node.item, name), number[after])
            for name, after in reversed(_after(tree, path))
        ]
        text = bank.item(node.item).text or node.item
        boxes.append(PaperBox(place, text, tuple(ways), ()))
    return tuple(boxes)


def _levels(bank: ItemBank, node: ItemNode) -> tuple[PaperSkill, ...]:
    """Return the most probable level of each skill: mastered or not for two, else its name."""
    levels = []
    for skill, label, chances in zip(bank.skills, bank.labels, node.skills, strict=True):
        level = chances.index(max(chances))
        word = _word(bank.variable(skill).states, level, ("not mastered", "mastered"))
        levels.append(PaperSkill(label, word, max(chances)))
    return tuple(levels)


def _response_word(bank: ItemBank, item: str, response: str) -> str:
    """Return a response in a word: right or wrong for 1 and 0, else its name."""
    states = bank.responses(item)
    return _word(states, states.index(response), ("wrong", "right"))


def _word(states: tuple[str, ...], place: int, words: tuple[str, str]) -> str:
    return words[place] if states in (("0", "1"), ("no", "yes")) else states[place]


def _title(tree: ItemTree) -> str:
    return tree.bank.title or "Adaptive test"


def _guide(tree: ItemTree) -> tuple[str, ...]:
    """Return how to give a paper test, as paragraphs."""
    return (
        "Begin with box 1. Ask the question, judge the answer, and go to the box that the line"
        " below the question names. Boxes that no line leads you to are skipped. The last box"
        " reports the skills.",
        f"Nobody answers more than {counted(tree.depth, 'question')}; the mean is"
        f" {tree.length:.1f}. On average, {100 * tree.attribute_accuracy:.0f} % of the skills are"
        " reported right, according to the item bank.",
    )


def tree_to_markdown(tree: ItemTree) -> str:
    """Return a tree as a paper test, in Markdown."""
    lines = [f"# {_plain(_title(tree))}", ""]
    for paragraph in _guide(tree):
        lines += [paragraph, ""]
    boxes = paper_test(tree)
    n_items = sum(not box.skills for box in boxes)
    for place, box in enumerate(boxes):
        if place == n_items:
            lines += ["# Results", ""]
        lines += [f"## {box.number}", "", _plain(box.text), ""]
        if box.skills:
            lines += ["| skill | result |", "|---|---|"]
            lines += [f"| {_plain(line.skill)} | {_plain(line.text)} |" for line in box.skills]
        else:
            lines.append(" ".join(f"If {_plain(word)}, go to **{to}**." for word, to in box.ways))
        lines.append("")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a text whose letters Markdown shows as they are."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))


_STYLE = """
body { font: 12pt/1.4 Georgia, serif; max-width: 48em; margin: 2em auto; padding: 0 1em; }
section { border: 1px solid #888; border-radius: 6px; padding: .4em 1em; margin: .8em 0;
          break-inside: avoid; }
section h2 { float: left; margin: 0 1em 0 0; font-size: 1.2em; min-width: 1.6em; }
.item { font-size: 1.1em; } .ways { clear: both; color: #333; }
.result { background: #f4f4f4; } table { clear: both; border-collapse: collapse; }
td { padding: .1em 1.2em .1em 0; } .unsure { font-style: italic; color: #555; }
a { color: inherit; } @media print { body { margin: 0; } a { text-decoration: none; } }
"""


def tree_to_html(tree: ItemTree) -> str:
    """Return a tree as a paper test, in HTML."""
    title, boxes = escape(_title(tree)), paper_test(tree)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        *(f"<p>{escape(line)}</p>" for line in _guide(tree)),
        *(_section(box) for box in boxes if not box.skills),
        "<h1>Results</h1>",
        *(_section(box) for box in boxes if box.skills),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _section(box: PaperBox) -> str:
    place = f'id="box{box.number}"><h2>{box.number}</h2>'
    if not box.skills:
        ways = " ".join(
            f'If {escape(word)}, go to <a href="#box{to}"><b>{to}</b></a>.' for word, to in box.ways
        )
        text = f'<p class="item">{escape(box.text)}</p><p class="ways">{ways}</p>'
        return f"<section {place}{text}</section>"
    rows = "".join(
        f"<tr{'' if line.is_sure else ' class=unsure'}><td>{escape(line.skill)}</td>"
        f"<td>{escape(line.text)}</td></tr>"
        for line in box.skills
    )
    return f'<section class="result" {place}<p>{box.text}</p><table>{rows}</table></section>'


# --- Files ----------------------------------------------------------------------------------------


class ItemTreeFormat(NamedTuple):
    """A format of trees of items."""

    to_text: Callable[[ItemTree], str]
    """Return the text of a tree."""
    about: str
    """The format, in a few words."""


ITEM_TREE_FORMATS: Mapping[str, ItemTreeFormat] = MappingProxyType(
    {
        ".json": ItemTreeFormat(tree_to_json, "JSON, which can be read again"),
        ".dot": ItemTreeFormat(tree_to_dot, "DOT, of Graphviz"),
        ".svg": ItemTreeFormat(tree_to_svg, "a drawing"),
        ".html": ItemTreeFormat(tree_to_html, "a paper test, to print"),
        ".md": ItemTreeFormat(tree_to_markdown, "a paper test, in Markdown"),
    }
)
"""The format of each file suffix."""


@checked
def write_item_tree(tree: ItemTree, path: Path | str) -> None:
    """Write a tree to a file, in the format of the file's suffix; see `ITEM_TREE_FORMATS`.

    Parameters
    ----------
    tree
        The tree.
    path
        The file; its suffix chooses the format.

    Raises
    ------
    ModelFileError
        If no format has the suffix, or the file cannot be written. An existing file is then
        unchanged.
    """
    place = Path(path)
    known = ITEM_TREE_FORMATS.get(place.suffix.lower())
    if known is None:
        raise ModelFileError(
            f"expected a file that ends with {', '.join(ITEM_TREE_FORMATS)}, got {place}",
            str(place),
        )
    write_file(place, known.to_text(tree))


@checked
def read_item_tree(path: Path | str, bank: ItemBank) -> ItemTree:
    """Return the tree in a JSON file, with the probabilities of a bank.

    Parameters
    ----------
    path
        The file.
    bank
        The item bank, which has the items of the tree.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or holds no tree that fits the bank.
    """
    place = Path(path)
    text = read_text(place, most=LARGE_FILE)
    try:
        return tree_from_json(text, bank)
    except BnmindError as error:
        raise ModelFileError(f"{place}: {error}", place) from error
