"""Responses in files of Excel, SPSS, Stata and Parquet, and in lines of fixed width; networks that
tell which variables are skills and items.
"""

from __future__ import annotations

import contextlib
import importlib.util
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyreadstat
import pytest

from bnmind.adaptive import ItemBank, Responses, read_bank, read_qmatrix
from bnmind.adaptive.items.text_tables import read_table
from bnmind.errors import InvalidArgumentError, ModelFileError, TableError
from bnmind.pgm.files import write_model

TABLE = pd.DataFrame({"student_id": ["ann", "bob", "eve"], "add": [1, 0, 1], "carry": [0, None, 1]})
CODES = [[1, 0], [0, -1], [1, 1]]


def _written(path: Path) -> Path:
    """Write the table in the format of a suffix."""
    if path.suffix == ".xlsx":
        with pd.ExcelWriter(path) as book:
            TABLE.to_excel(book, index=False, sheet_name="answers")
            TABLE.to_excel(book, index=False, sheet_name="copy")
    elif path.suffix == ".sav":
        pyreadstat.write_sav(TABLE.fillna(9.0), str(path), missing_ranges={"carry": [9]})
    elif path.suffix == ".dta":
        TABLE.to_stata(path, write_index=False)
    else:
        TABLE.to_parquet(path)
    return path


def test_a_damaged_file_is_named_with_the_words_of_its_library(tmp_path: Path) -> None:
    path = _written(tmp_path / "answers.xlsx")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelFileError, match=r"cannot read .*answers.xlsx as .* \(.*zip file.*\)"):
        read_table(path)


@pytest.mark.parametrize("suffix", [".xlsx", ".sav", ".dta", ".parquet"])
def test_files_of_other_programs_are_read_as_they_are(tmp_path: Path, suffix: str) -> None:
    path = _written(tmp_path / f"answers{suffix}")
    renamed = path.rename(tmp_path / "answers.csv")  # the content counts, not the name
    for place in (_written(path), renamed):
        found = Responses.from_csv(place)
        assert found.codes.tolist() == CODES
        assert (found.items, found.examinees) == (("add", "carry"), ("ann", "bob", "eve"))
    if suffix == ".xlsx":
        assert "the first sheet, answers, was read; others were left out" in found.notes


def test_a_qmatrix_may_be_a_workbook(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": ["a", "b"], "add": [1, 1], "carry": [0, 1]})
    frame.to_excel(tmp_path / "q.xlsx", index=False)
    assert read_qmatrix(tmp_path / "q.xlsx").needs.tolist() == [[1, 0], [1, 1]]


def test_a_missing_library_is_named_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(tmp_path / "answers.sav")
    find: Any = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *more: None if name == "pyreadstat" else find(name, *more),
    )
    with pytest.raises(ModelFileError, match=r"pip install \"bnmind\[files\]\""):
        Responses.from_csv(path)


@pytest.mark.parametrize(
    ("text", "examinees", "codes"),
    [
        ("0110\n1010\n", ("1", "2"), [[0, 1, 1, 0], [1, 0, 1, 0]]),
        ("ann 0110\nbob 1010\n", ("ann", "bob"), [[0, 1, 1, 0], [1, 0, 1, 0]]),
        ("001  011\n 02  101\n", ("001", "02"), [[0, 1, 1], [1, 0, 1]]),
        ("id answers\n7 011\n8 101\n", ("7", "8"), [[0, 1, 1], [1, 0, 1]]),
    ],
)
def test_lines_of_digits_are_found_out(
    tmp_path: Path, text: str, examinees: tuple[str, ...], codes: list[list[int]]
) -> None:
    path = tmp_path / "answers.dat"
    path.write_text(text, encoding="utf-8")
    found = Responses.from_csv(path)
    assert (found.examinees, found.codes.tolist()) == (examinees, codes)
    assert f"{len(codes[0])} digits, one for each item, without names" in found.notes[0]
    assert ("the name of an examinee and" in found.notes[0]) == (examinees[0] != "1")


def test_lines_of_fixed_width_are_read_on_request(tmp_path: Path) -> None:
    path = tmp_path / "answers.dat"
    path.write_text("0101201 \n02  10 1\n\n", encoding="utf-8")
    found = Responses.from_csv(path, fixed_width=4, missing=[" "])
    assert (found.examinees, found.items[-1]) == (("0101", "02"), "item_4")
    assert found.codes.tolist() == [[2, 0, 1, -1], [1, 0, -1, 1]]
    assert Responses.from_csv(path, fixed_width=0).codes.shape == (2, 8)
    with pytest.raises(ModelFileError, match="expected cells after the first 20 characters"):
        Responses.from_csv(path, fixed_width=20)
    with pytest.raises(InvalidArgumentError, match="at least 0"):
        Responses.from_csv(path, fixed_width=-1)


@pytest.mark.parametrize("text", ["a,b\n011,101\n", "x 01\ny 10\n", "x 011\ny 10\n"])
def test_other_lines_are_no_digits(tmp_path: Path, text: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(text, encoding="utf-8")
    notes: tuple[str, ...] = ()
    with contextlib.suppress(TableError):
        notes = Responses.from_csv(path).notes
    assert not any("digits" in note for note in notes)


BANK = ItemBank.from_qmatrix([[1, 0], [1, 1]], skill_names=["add", "carry"])


@pytest.mark.parametrize(("n", "is_cut"), [(5, False), (6, False), (7, True)])
def test_the_line_to_write_shows_six_names(tmp_path: Path, n: int, *, is_cut: bool) -> None:
    path = tmp_path / "math.bif"
    write_model(ItemBank.from_qmatrix([[1]] * n, guess=0.2, slip=0.1).network, path)
    with pytest.raises(ModelFileError) as caught:
        read_bank(path)
    shown = [f'{{"name": "item_{number}"}}' for number in range(1, min(n, 6) + 1)]
    assert f'"items": [{", ".join([*shown, "…"] if is_cut else shown)}]' in str(caught.value)


@pytest.mark.parametrize("suffix", ["bif", "dne", "net"])
def test_the_line_to_write_makes_a_bank_of_a_network(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"math.{suffix}"
    write_model(BANK.network, path)
    with pytest.raises(ModelFileError) as caught:
        read_bank(path)
    message = str(caught.value)
    told, _, line = message.partition(" with the line ")
    assert told.endswith(f"write a file math.{suffix}.roles.json")
    line = line.rpartition(", in ")[0]
    (tmp_path / f"math.{suffix}.roles.json").write_text(line, encoding="utf-8")
    found = read_bank(path)
    assert (found.item_names, found.skills) == (BANK.item_names, BANK.skills)


def test_a_cell_far_from_the_others_is_no_reason_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = openpyxl.Workbook()
    book.active.append(["item_1", "item_2"])
    book.active.append([1, 0])
    book.active["XFD3"] = 1
    book.save(tmp_path / "far.xlsx")
    monkeypatch.setattr("bnmind.junction.case_files._MOST_CELLS", 1000)
    with pytest.raises(ModelFileError, match="more than 1,000 cells"):
        Responses.from_csv(tmp_path / "far.xlsx")


def test_the_names_and_the_lines_of_portable_files_of_spss_do_not_matter(tmp_path: Path) -> None:
    seed = Path("tests/fuzz/seeds/data_file/small.por").read_bytes()
    (tmp_path / "answers").write_bytes(seed)
    assert Responses.from_csv(tmp_path / "answers").items == ("ITEM_1", "ITEM_2")


def test_an_spss_file_that_claims_too_many_rows_is_refused_at_once() -> None:
    path = Path("tests/fuzz/findings/data_file/11f1c98c1d48.sav")
    with pytest.raises(ModelFileError, match="claims to have 538,976,288 rows, too many for its"):
        Responses.from_csv(path)
