"""Tables of responses and Q-matrices: read in every form, refused with row and column."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bnmind._messages import MOST_FAULTS
from bnmind.adaptive import (
    IRT_MODELS,
    ItemBank,
    QMatrix,
    Responses,
    classify,
    learn,
    learn_irt,
    read_qmatrix,
)
from bnmind.errors import (
    InvalidArgumentError,
    InvalidModelError,
    ModelFileError,
    TableError,
)

TEXT = "id,easy,hard\nann,1,0\nbob,,1\ncid,NA,0.0\n"
CODES = [[1, 0], [-1, 1], [-1, 0]]


def csv(directory: Path, text: str) -> Path:
    path = directory / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def refused(table: object, *parts: str) -> tuple[str, ...]:
    with pytest.raises(TableError) as caught:
        Responses.of(table)  # type: ignore[arg-type]
    for part in parts:
        assert any(part in problem for problem in caught.value.problems), caught.value.problems
    return caught.value.problems


def test_files_frames_and_arrays_say_the_same(tmp_path: Path) -> None:
    file = Responses.from_csv(csv(tmp_path, TEXT))
    frame = Responses.of(pd.read_csv(tmp_path / "table.csv"))
    indexed = Responses.of(pd.read_csv(tmp_path / "table.csv", index_col="id"))
    nans = [[1.0, 0], [np.nan, 1], [np.nan, 0]]
    array = Responses.of(nans, items=["easy", "hard"], examinees=["ann", "bob", "cid"])
    for found in (file, frame, indexed, array, pickle.loads(pickle.dumps(file))):
        assert found.codes.tolist() == CODES
        assert found.codes.dtype == np.int16
        assert not found.codes.flags.writeable
        assert found.items == ("easy", "hard")
        assert found.examinees == ("ann", "bob", "cid")
    assert file.n_missing == 2


def test_excel_marks_and_other_missing_texts_are_read(tmp_path: Path) -> None:
    path = csv(tmp_path, "\ufeffa,b\r\n1,9\r\n.,0\r\n")
    assert Responses.from_csv(path, missing=("9", ".")).codes.tolist() == [[1, -1], [-1, 0]]


@given(
    hnp.arrays(
        np.int64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(-1, 2)
    )
)
def test_patterns_are_the_rows(codes: np.ndarray) -> None:
    codes[:, 0] = np.maximum(codes[:, 0], 0)
    codes[0] = np.maximum(codes[0], 0)
    found = Responses.of(codes)
    rows, inverse, counts = found.patterns
    assert (rows[inverse] == codes).all()
    assert counts.sum() == len(codes)
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_every_fault_is_named_with_row_and_column_at_once() -> None:
    frame = pd.DataFrame({"id": ["a", "b", "b"], "x": ["1", "yes", ""], "y": ["0", "300", ""]})
    refused(
        frame,
        "row 2 (examinee b), column x, got 'yes'",
        "row 2 (examinee b), column y, got 300",
    )
    frame = pd.DataFrame({"id": ["a", "b", "b"], "x": [1, 0, 1]})
    refused(frame, "examinees must be distinct, but b is in rows 2, 3")
    with pytest.raises(TableError, match="row 2, of examinee b, has no responses"):
        Responses([[1], [-1]], ("x",), ("a", "b"))  # type: ignore[arg-type]
    refused([[1, -2], [0.5, 1]], "row 2, column item_1, got 0.5")
    refused([[1, -2], [0, 1]], "row 1, column item_2, got -2")
    refused([1, 0], "shape (2,)")
    refused(np.zeros((0, 3)), "need examinees and items, got 0 and 3")
    twice = pd.DataFrame([[1, 0]], columns=["x", "x"])
    refused(twice, "items must be distinct, but x is in columns 1, 2")


def test_an_array_needs_a_column_for_each_item_whatever_that_is_called() -> None:
    assert Responses.of([[1, 0]], items=["id", "a"]).codes.tolist() == [[1, 0]]
    for columns in ([[1]], [[1, 0, 1]]):
        with pytest.raises(TableError, match="column for each of 2 items"):
            Responses.of(columns, items=["id", "a"])


def test_a_long_list_of_faults_is_cut_in_the_message_alone() -> None:
    cells = [[f"?{number}" for number in range(30)]]
    assert len(refused(cells)) >= 30
    with pytest.raises(TableError, match=r"and \d+ more$"):
        Responses.of(cells)


def test_a_wrong_text_in_many_cells_is_one_fault() -> None:
    problems = refused([["?"] * 30, ["-9"] * 30], "got '?' in 30 cells, the first in row 1")
    assert len(problems) == 2
    assert problems[1].endswith(
        "; if -9 stands for a missing response, --missing -9 (in Python Responses.of(table,"
        " missing=['-9'])) declares it as missing"
    )
    assert "--missing '?' (in Python Responses.of(table, missing=['?']))" in problems[0]


def test_letters_are_choices_that_must_be_scored() -> None:
    problems = refused([["A", "b", "C"], ["A", "", "x1"]], "got the texts 'A', 'C', 'b' in 4")
    assert len(problems) == 2
    assert "got 'x1'" in problems[1]


def test_a_code_such_as_minus_nine_may_be_declared_as_missing() -> None:
    (problem,) = refused([[1, 0], [-9, 1]], "row 2, column item_1, got -9; if -9 stands for")
    assert "--missing -9 (in Python Responses.of(table, missing=['-9']))" in problem
    assert "--missing" not in refused([[1, 0], [0.5, 1]])[0]
    assert Responses.of([[1, 0], [-9, 1]], missing=["-9"]).n_missing == 1


def test_of_many_faults_a_thousand_are_collected(tmp_path: Path) -> None:
    names = ",".join(f"i{number}" for number in range(60))
    row = (f"{','.join(f'?{line}-{k}' for k in range(60))}\n" for line in range(20))
    cells = csv(tmp_path, f"{names}\n{''.join(row)}")
    with pytest.raises(TableError, match=r"and at least 988 more$") as responses:
        Responses.from_csv(cells)
    with pytest.raises(InvalidModelError, match=r"and at least 988 more$") as levels:
        read_qmatrix(cells)
    rows = csv(tmp_path, f"{names}\n" + "1\n" * 1200)
    with pytest.raises(TableError, match=r"and at least 988 more$") as uneven:
        Responses.from_csv(rows)
    with pytest.raises(InvalidModelError, match=r"and at least 988 more$") as short:
        read_qmatrix(rows)
    for caught in (responses, levels, uneven, short):
        assert len(caught.value.problems) == MOST_FAULTS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,0\n1\n", "expected 2 cells in row 2, got 1"),
        ("a,\n1,0\n", "column 2 has no name"),
        ("a,b\n", "need examinees and items, got 0 and 2"),
        ("a,a\n1,0\n", "items must be distinct"),
        ("id,a\n,0\n,1\n", "^the examinee in row 1 has no name; .* in row 2 has no name"),
    ],
)
def test_faulty_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Responses.from_csv(csv(tmp_path, text))


def test_what_is_no_csv_is_refused(tmp_path: Path) -> None:
    path = csv(tmp_path, "a,b\n0,1\n0," + "9" * 200_000)
    for read in (Responses.from_csv, read_qmatrix):
        with pytest.raises(ModelFileError, match=r"comma-separated values in .* got line 3"):
            read(path)


def test_rows_of_several_lengths_are_refused() -> None:
    refused([[1, 0], [1, 0], [1]], "expected 2 responses in row 3, got 1")
    with pytest.raises(InvalidModelError, match="expected 2 cells in row 2 of the Q-matrix, got 1"):
        QMatrix.of([[1, 0], [1]])


def test_what_is_masked_is_missing() -> None:
    masked = np.ma.masked_array([[1, 0], [1, 1]], mask=[[False, True], [False, False]])
    assert Responses.of(masked).codes.tolist() == [[1, -1], [1, 1]]


def test_a_qmatrix_may_hold_objects_and_names_the_cell_that_is_none() -> None:
    frame = pd.DataFrame({"item": ["x", "y"], "a": [1, 0], "b": [0, True]}, dtype=object)
    assert QMatrix.of(frame).needs.tolist() == [[1, 0], [0, 1]]
    frame.loc[1, "b"] = "yes"
    with pytest.raises(InvalidModelError, match=r"row 2 \(item y\), column b .* got 'yes'"):
        QMatrix.of(frame)


def test_levels_are_a_few() -> None:
    for levels in (1, 10**9, [2, 2]):
        with pytest.raises(InvalidModelError, match="2 to 1001 levels"):
            ItemBank.from_qmatrix([[1]], levels=levels)
    with pytest.raises(InvalidArgumentError, match="expected levels to be a whole number"):
        ItemBank.from_qmatrix([[1]], levels=2.5)  # type: ignore[arg-type]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError):
        Responses.from_csv(tmp_path / "none.csv")
    with pytest.raises(ModelFileError):
        read_qmatrix(tmp_path / "none.csv")


def test_columns_are_put_in_the_order_of_a_bank_or_refused() -> None:
    bank = ItemBank.from_qmatrix([[1], [1]], items=["a", "b"])
    swapped = Responses([[0, 1]], ("b", "a"))  # type: ignore[arg-type]
    assert swapped.for_bank(bank).codes.tolist() == [[1, 0]]
    with pytest.raises(TableError) as caught:
        Responses([[0, 2, 1]], ("c", "a", "d")).for_bank(bank)  # type: ignore[arg-type]
    assert caught.value.problems == (
        "2 columns are not items of the Q-matrix or bank: c, d",
        "1 item has no column: b",
    )
    with pytest.raises(TableError, match=r"from 0 to 1 in row 1, column a, got 2$"):
        Responses([[0, 2, 1]], ("b", "a", "d")).for_bank(bank)  # type: ignore[arg-type]


def test_some_examinees_can_be_taken() -> None:
    responses = Responses([[0], [1], [0]], ("a",), ("x", "y", "z"))  # type: ignore[arg-type]
    assert responses.take([2, 0]).examinees == ("z", "x")
    assert responses.take(np.array([True, False, True])).codes.tolist() == [[0], [0]]


def test_qmatrices_are_read(tmp_path: Path) -> None:
    q = read_qmatrix(csv(tmp_path, "item,add,carry\nx,1,0\ny,1,2\n"))
    assert q.skills == ("add", "carry")
    assert [item.name for item in q.items] == ["x", "y"]
    assert q.needs.tolist() == [[1, 0], [1, 2]]
    assert [i.name for i in read_qmatrix(csv(tmp_path, "a\n1\n")).items] == ["item_1"]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("item,a,b\nx,1,0\ny,1,0\n", ["no item needs skill b, in column 2"]),
        ("item,a\nx,0\ny,1\n", ["item x needs no skill, in row 1"]),
        ("item,a\nx,1\nx,1\n", ["item x occurs more than once in the Q-matrix, in rows 1, 2"]),
        ("item,a,a\nx,1,1\n", ["skill a occurs more than once in the Q-matrix, in columns 1, 2"]),
        ("item,a,b\nx\ty,1,1\n,1,1\n", ["control characters", "row 1", "in row 2"]),
        ("item,a,\nx,1,1\n", ["'': a name must not be empty, in column 2"]),
        ("item,a,b\na,1,1\n", ["a cannot be both a skill and an item"]),
        ("item,a\nx,1e300\ny,.5\n", ["row 1 (item x), column a", "row 2 (item y), column a"]),
        ("item,a\n", ["shape (0, 1) for 0 items and 1 skill"]),
        ("item,a\nx,yes\ny,-1\n", ["row 1 (item x), column a", "row 2 (item y), column a"]),
        ("item,a\nx,1,1\ny,1\n", ["expected 2 cells in row 1"]),
    ],
)
def test_faulty_qmatrices_are_refused(tmp_path: Path, text: str, messages: list[str]) -> None:
    with pytest.raises(InvalidModelError) as caught:
        read_qmatrix(csv(tmp_path, text))
    for message in messages:
        assert any(message in problem for problem in caught.value.problems)


def test_grades_in_place_of_right_and_wrong_name_the_model_for_steps() -> None:
    codes = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 2]])
    bank = ItemBank.from_qmatrix([[1], [1]])
    found = Responses.of(codes, items=["item_1", "item_2"])
    with pytest.raises(TableError, match="--gate sequential:dina"):
        found.for_bank(bank)
    with pytest.raises(TableError) as fault:
        Responses.of(np.where(codes > 1, 9, codes), items=["item_1", "item_2"]).for_bank(bank)
    assert "sequential" not in str(fault.value)


def test_items_that_nobody_was_asked_are_classified_but_not_learned() -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    asked = Responses([[1, -1, 0], [0, -1, -1], [1, -1, 1]], bank.item_names)  # type: ignore[arg-type]
    without = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    found, expected = classify(bank, asked), classify(without, asked.codes[:, [0, 2]])
    np.testing.assert_allclose(found.marginals, expected.marginals)
    with pytest.raises(TableError, match="column item_2 has no responses"):
        learn(asked, bank)
    with pytest.raises(TableError, match="column item_2 has no responses"):
        learn_irt(asked, IRT_MODELS["2PL"])
