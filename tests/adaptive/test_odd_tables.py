"""Tables that are not quite as expected: what is read, and the whole sentence of what is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bnmind.adaptive import ItemBank, Responses, read_prior, read_profiles, read_qmatrix
from bnmind.errors import BnmindError

BANK = ItemBank.from_qmatrix(
    [[1, 0], [0, 1], [1, 1]], 0.2, 0.1, items=["a", "b", "c"], skill_names=["S", "T"]
)
READ: list[tuple[str, list[list[int]], tuple[str, ...]]] = [
    ("a,b,c\n1,0,1\n0,1,\n", [[1, 0, 1], [0, 1, -1]], ("a", "b", "c")),
    ("a;b;c\n1;0;1\n0;1;\n", [[1, 0, 1], [0, 1, -1]], ("a", "b", "c")),
    ("a\tb\tc\n1\t0\t1\n0\t1\tNA\n", [[1, 0, 1], [0, 1, -1]], ("a", "b", "c")),
    ("a,b,c,,\n1,0,1\n0,1,1\n", [[1, 0, 1], [0, 1, 1]], ("a", "b", "c")),
    ("a,b,c\n1,0,1,\n0,1,1,\n", [[1, 0, 1], [0, 1, 1]], ("a", "b", "c")),
    ('"a","b","c"\n"1",1,0,1\n"2",0,1,1\n', [[1, 0, 1], [0, 1, 1]], ("a", "b", "c")),
    (",a,b,c\n0,1,0,1\n1,0,1,1\n", [[1, 0, 1], [0, 1, 1]], ("a", "b", "c")),
    ("1,0,1\n0,1,1\n1,1,0\n", [[1, 0, 1], [0, 1, 1], [1, 1, 0]], ("item_1", "item_2", "item_3")),
    ("101\n011\n110\n", [[1, 0, 1], [0, 1, 1], [1, 1, 0]], ("item_1", "item_2", "item_3")),
    (
        "examinee,item,response\nx,a,1\nx,b,0\ny,a,0\ny,c,1\n",
        [[1, 0, -1], [0, -1, 1]],
        ("a", "b", "c"),
    ),
]


@pytest.mark.parametrize(("text", "codes", "items"), READ)
def test_responses_are_read(
    text: str, codes: list[list[int]], items: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    found = Responses.from_csv(path)
    assert (found.codes.tolist(), found.items) == (codes, items)


def test_names_are_taken_from_the_first_column_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,town,a,b,c\nAnn,X,1,0,1\nBob,Y,0,1,1\n", encoding="utf-8")
    found = Responses.from_csv(path)
    assert (found.examinees, found.items) == (("Ann", "Bob"), ("a", "b", "c"))


NO_PRIOR = "the first line must name the columns"
REFUSED: list[tuple[Callable[[Path], Any], str, str]] = [
    (Responses.from_csv, "", "{path} is empty"),
    (Responses.from_csv, '{"a": 1}', "{path} is JSON, such as a bank, not a table"),
    (
        Responses.from_csv,
        "a,b\n1\n0,1,1\n",
        "expected 2 cells in row 1, got 1; expected 2 cells in row 2, got 3",
    ),
    (Responses.from_csv, "a\n1,2\n0,2\n1\n", "expected 1 cell in row 1, got 2; expected 1 cell"),
    (Responses.from_csv, "a,a\n1,0\n0,1\n", "items must be distinct, but a is in columns 1, 2"),
    (
        Responses.from_csv,
        "id,item,response\nx,a,1\nx,a,0\n,b,1\ny,,1\n",
        "examinee x has two responses to item a, in rows 1 and 2; row 3 has no examinee; row 4 has"
        " no item",
    ),
    (
        lambda path: Responses.from_csv(path).for_bank(BANK),
        "a,b\n1,0\n0,1\n",
        "1 item has no column: c",
    ),
    (
        lambda path: Responses.from_csv(path).for_bank(BANK),
        "a\n1\n0\n",
        "2 items have no column: b, c",
    ),
    (read_qmatrix, "a,b\n1\n0,1\n", "expected 2 cells in row 1, got 1, in the Q-matrix"),
    (read_qmatrix, "a,b\n1,0\n0,0\n", "item item_2 needs no skill, in row 2 of the Q-matrix; no"),
    (lambda path: read_prior(path, BANK), "S,T\n0,1\n", NO_PRIOR),
    (
        lambda path: read_prior(path, BANK),
        "S,count\n0,1\n",
        "no column for the skill T",
    ),
    (
        lambda path: read_prior(path, BANK),
        "S,T,probability\n0,0,.5\n1,1,.6\n",
        "the probabilities of the profiles must sum to 1, got 1.1",
    ),
    (
        lambda path: read_prior(path, BANK),
        "S,T,count\n0,0,0\n",
        "expected a profile with a count above 0",
    ),
    (
        lambda path: read_prior(path, BANK),
        "S,T,count\n0,0,5\n0,1,x\n2,1,1\n1,1,-1\n",
        "row 2: expected a count of at least 0, got 'x'; row 3: expected a level of S among 0, 1,"
        " got '2'; row 4: expected a count of at least 0, got '-1'",
    ),
    (
        lambda path: read_profiles(path, BANK, ["x", "y", "z"]),
        "one,two,three\n1,0,1\n",
        "there is no column for the skills S, T",
    ),
]


@pytest.mark.parametrize(("read", "text", "words"), REFUSED)
def test_what_is_no_such_table_is_refused(
    read: Callable[[Path], Any], text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BnmindError) as caught:
        read(path)
    assert str(caught.value).startswith(words.replace("{path}", str(path)))
