"""Hugin's NET: the grammar, what is refused, and where faults are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bnmind.information import Floats
from bnmind.pgm import Network
from bnmind.pgm.formats.net_dne import from_net
from tests.pgm.faults import require_fault


def table(network: Network, name: str) -> Floats:
    values: Floats = np.real(network.cpd(name).to_factor().values)
    return values


GOOD = r"""% made by hand: 100% of it
net
{
  node_size = (80 40);
  name = "a \"net\"; }";
} % the frame
node A
{
  position = (10 20); % there
  label = "50% of A";
  states = ("x" "y, z");
}
discrete node B
{
  states = ("a"
            "b 2" "\"c\"");
  HR_Desc = "free { text ; }";
}
potential ( A | ) { data = ( 0.25 0.75 ); } % 80 %
potential (B | A)
{
  experience_data = (3.0 4.0);
  data = (( 0.1 0.2 0.7 ) % the first
          (5e-1 .25 0.25));
}
"""


def test_comments_strings_and_unknown_fields() -> None:
    network = from_net(GOOD, max_cells=100).network
    assert network.variable("A").states == ("x", "y, z")
    assert network.variable("B").states == ("a", "b 2", '"c"')
    np.testing.assert_array_equal(table(network, "B"), [[0.1, 0.5], [0.2, 0.25], [0.7, 0.25]])


def test_states_need_no_quotes() -> None:
    text = 'node A { states = (x "y" -3.5 ); } potential (A) { data = (0.5 0.25 0.25); }'
    assert from_net(text, max_cells=100).network.variable("A").states == ("x", "y", "-3.5")


@pytest.mark.parametrize("data", ["(.1 .2 .7 .5 .25 .25)", "((.1 .2 .7)(.5 .25 .25))"])
def test_brackets_may_be_nested_or_not(data: str) -> None:
    start = GOOD.index("data = ((")
    network = from_net(f"{GOOD[:start]}data = {data}; }}", max_cells=100).network
    np.testing.assert_array_equal(table(network, "B")[:, 1], [0.5, 0.25, 0.25])


def test_the_last_parent_is_fastest() -> None:
    text = (
        GOOD
        + 'node C { states = ("0" "1"); } potential (C | A B) { data = ('
        + ("((1 0)(.9 .1)(.8 .2)) ((.7 .3)(.6 .4)(.5 .5))); }")
    )
    np.testing.assert_array_equal(
        table(from_net(text, max_cells=100).network, "C")[0], [[1, 0.9, 0.8], [0.7, 0.6, 0.5]]
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("discrete node", "utility node", (13, 14), "'B' is a utility node"),
        ("discrete node", "decision", (13, 10), "'B' is a decision node"),
        ("discrete node", "function", (13, 1), "discrete chance nodes only, got 'function'"),
        ("label = ", "delay = 1; label = ", (10, 11), "the field 'delay' of a node"),
        ("experience_data", "restricted_data", (22, 21), "'restricted_data' of a potential"),
        ("net\n{", "class x\n{", (2, 1), "discrete chance nodes only, got 'class'"),
        ("discrete node", "discrete nod", (13, 10), "'node' after 'discrete', got 'nod'"),
        ("potential (", "potentail (", (19, 1), "'potential', got 'potentail'"),
        ('"x" "y, z"', '"x" (y)', (11, 12), "states as"),
        ('"x" "y, z"', '"x" "x"', (7, 6), "distinct states"),
        ('"x" "y, z"', '"x" "y" "z"', (19, 28), "3 numbers for A, got 2"),
        ('"x" "y, z"', '', (7, 6), "expected the states of 'A', such as ('no', 'yes'), got ()"),
        ('states = ("x" "y, z");', "", (7, 6), "states of 'A', got none"),
        ("(B | A)", "(B A)", (20, 11), "one child before '|', got 2"),
        ("(B | A)", "(B | C)", (20, 11), "declared variables, got 'C'"),
        ("( A | )", "( A | B )", (19, 11), "no cycle"),
        ("  data = ((", "  date = ((", (20, 11), "data of 'B' in numbers, got none"),
        ("experience_data", "data", (23, 10), "the data of 'B' once"),
        ("5e-1", "half", (24, 12), "a number for B, got 'half'"),
        ("5e-1", "normal (0, 1)", (24, 12), "a number for B, got 'normal'"),
        ("5e-1", "inf", (24, 12), "a number for B, got 'inf'"),
        ("5e-1", "-5e-1", (24, 12), "the table of B must hold probabilities"),
        ("5e-1", "4e-1", (24, 12), "got a sum of 0.9"),
        ("5e-1", "", (23, 10), "6 numbers for B, got 5"),
        ("0.7 )", "0.7 ) (", (23, 10), "a pair of brackets for each parent of B"),
        ("0.2 0.7 )", "0.2 ) 0.7", (23, 10), "a pair of brackets for each parent of B"),
        ("(5e-1 .25 0.25)", "5e-1 (.25 0.25)", (23, 10), "a pair of brackets"),
        ("0.25));\n}", "0.25))\n}", (23, 3), "a field 'name = value;' or '}'"),
        ('HR_Desc = "', "HR_Desc = ", (17, 3), "a field"),
    ],
)  # fmt: skip
def test_a_fault_is_reported_with_its_place(
    tmp_path: Path, old: str, new: str, place: tuple[int, int], words: str
) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    require_fault(tmp_path / "network.net", text, place, words)
