"""Values at a prompt and in a notebook: short texts, and HTML that is whole and escaped."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from bnmind._display import LONGEST, MOST_ROWS, frame_html, outline, table_html, text_html
from bnmind._values import Value
from bnmind.adaptive import Design, ItemBank, Session
from bnmind.lab import CodeMaker
from bnmind.mastermind import Board, Channel, Reply, TableBelief, Turn
from bnmind.strategies import Knuth, build_tree

EVIL = "<img src=x onerror=alert(1)>"


@dataclass(frozen=True)
class Sample(Value):
    """A value with a part of each kind."""

    name: str
    part: Any = ()


@dataclass(frozen=True)
class Loose:
    """A dataclass whose fields stay as they are."""

    part: Any


class Named(Sample):
    """A value whose text is its own."""

    def __repr__(self) -> str:
        return "a name"


@dataclass(frozen=True)
class Heir(Named):
    """A value that inherits its text."""

    more: int = 0


def html_of(value: Any) -> str:
    """Return the HTML of a value, having checked that it is whole."""
    html: str = value._repr_html_()
    ElementTree.fromstring(html)
    return html


def test_small_values_have_the_text_of_dataclasses() -> None:
    assert repr(Sample("a", (1, [2.5], {"b": None}))) == (
        "Sample(name='a', part=(1, (2.5,), {'b': None}))"
    )
    assert repr(Sample("a", Turn((1, 2), Reply(1, 0)))) == (
        "Sample(name='a', part=Turn(guess=(1, 2), reply=Reply(black=1, white=0)))"
    )
    assert repr(Sample("a", np.arange(3))) == "Sample(name='a', part=array([0, 1, 2]))"
    assert Sample("a")._repr_html_() is None


def test_a_text_of_its_own_is_inherited() -> None:
    assert repr(Heir("a", more=1)) == "a name"


@pytest.mark.parametrize(
    "part",
    [
        tuple(range(1000)),
        tuple((n, (n, n)) for n in range(1000)),
        {str(n): n for n in range(1000)},
        np.zeros((40, 30)),
        "x" * 10_000,
    ],
)
def test_long_values_have_an_outline(part: object) -> None:
    text = repr(Sample("a", part))
    assert len(text) <= LONGEST
    assert text.count("\n") < MOST_ROWS
    assert text.startswith("Sample(")
    assert text.endswith(")")


def test_what_is_left_out_is_counted() -> None:
    assert repr(Sample("a", tuple(range(1000)))) == (
        "Sample(name='a', part=(0, 1, 2, 3, 4, 5, … 994 more))"
    )
    assert repr(Sample("a", np.zeros((20, 40)))) == "Sample(name='a', part=<array 20×40>)"


def test_an_outline_of_a_large_value_takes_no_time() -> None:
    nested: Any = 1
    for _ in range(40):
        nested = (nested, nested)  # 2^40 ends
    before = time.process_time()
    assert "…" in outline(Loose(nested))
    assert time.process_time() - before < 1


def test_fields_are_a_table_with_heads() -> None:
    html = html_of(Sample(EVIL, tuple(range(100))))
    assert "<img" not in html
    assert '<th scope="row">name</th>' in html
    assert "<caption>Sample</caption>" in html


def test_tables_are_escaped_and_say_what_is_left_out() -> None:
    html = table_html((EVIL, "b"), [(EVIL, n) for n in range(25)], caption=EVIL)
    ElementTree.fromstring(html)
    assert "<img" not in html
    assert html.count("<tr>") == 1 + MOST_ROWS + 1
    assert '<td colspan="2">… 15 more</td>' in html
    assert "<img" not in text_html(EVIL)


def test_tables_of_pandas() -> None:
    html = frame_html(pd.DataFrame({EVIL: [1 / 3, 2], "of_b": ["x", EVIL]}))
    ElementTree.fromstring(html)
    assert "<img" not in html
    assert '<th scope="col">of b</th>' in html
    assert "<td>0.3333</td>" in html


def test_a_bank_a_session_and_beliefs_are_tables() -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [1, 1]] * 6, guess=0.1, slip=0.1, skill_names=[EVIL, "b"])
    assert "… 2 more" in html_of(bank)
    session = Session.start(Design(bank))
    after = session.answer(session.next_item(), 1)
    assert "1 of 12 items asked" in html_of(after)
    assert "<td>b</td>" in html_of(after.belief)
    belief = TableBelief.start(Channel.exact(Board(4, 6))).update((1, 2, 3, 4), Reply(4, 0))
    assert repr(belief) == "TableBelief(4x6, exact, 1 turn)"
    assert "<td>1234</td><td>1</td>" in html_of(belief)


def test_a_ranking_of_items_is_a_table_and_a_tuple() -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.1, slip=0.1, items=[EVIL, "b"])
    ranking = Session.start(Design(bank)).rank()
    assert isinstance(ranking, tuple)
    assert "2 items by expected information" in html_of(ranking)


def test_a_code_maker_is_short() -> None:
    maker = CodeMaker.from_seed(Channel.false_reply(Board(4, 6), 0.2).revealed(), 1)
    assert len(repr(maker)) <= LONGEST
    assert "noise=<array 100>" in repr(maker)


def test_a_large_tree_is_short() -> None:
    tree = build_tree(Knuth(), Channel.exact(Board(3, 4)))
    assert repr(tree) == f"StrategyTree(3x4, {tree.channel.name}, first guess 123)"
    assert "mean number of guesses" in html_of(tree)
    assert len(repr(tree.root)) <= LONGEST
