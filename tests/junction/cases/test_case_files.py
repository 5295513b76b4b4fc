"""Files of cases: the answers of a frame, whatever the format and the chunks."""

from __future__ import annotations

import gzip
import sys
import warnings
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

from bnmind.errors import (
    BnmindError,
    InvalidArgumentError,
    MissingLibraryError,
    ModelFileError,
    TableError,
)
from bnmind.junction import (
    answer_file,
    complete,
    impute,
    log_likelihood,
    predict,
    predict_proba,
    sample_missing,
)
from bnmind.junction.case_files import read_frames
from bnmind.junction.case_tables import CaseTableWarning
from bnmind.pgm import Network, TabularCPD, Variable
from tests.junction.cases.test_predict import GARDEN

GRADE = Variable.of_integers("grade", range(3))
PASSED = Variable("passed", ("NA", "yes"))
COURSE = Network(
    (
        TabularCPD(GRADE, (), np.array([0.5, 0.3, 0.2])),
        TabularCPD(PASSED, (GRADE,), np.array([[1.0, 0.4, 0.1], [0.0, 0.6, 0.9]])),
    )
)
TEXT = "id,grade,passed\na,0,NA\nb,,yes\nc,1.0,\nd, 2 ,yes\ne,na,NA\nf,0,yes\n"

ANSWERS: dict[str, Callable[..., Any]] = {
    "predict": partial(predict, targets=["grade"]),
    "predict_proba": partial(predict_proba, targets=["grade"]),
    "log_likelihood": log_likelihood,
    "impute": impute,
    "complete": complete,
}


def written(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""])


@pytest.mark.parametrize("rows", [1, 4, None])
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_file_has_the_answers_of_its_frame(answer: str, rows: int | None, tmp_path: Path) -> None:
    given, out = tmp_path / "cases.csv", tmp_path / "answers.csv"
    given.write_text(TEXT)
    grades = pd.Series([0, None, 1, 2, None, 0], dtype="Int64")
    passed = pd.Series(["NA", "yes", None, "yes", "NA", "yes"], dtype="str")
    frame = pd.DataFrame({"id": list("abcdef"), "grade": grades, "passed": passed})
    report = answer_file(COURSE, given, out, ANSWERS[answer], rows=rows)
    expected = ANSWERS[answer](COURSE, frame)
    whole = expected.frame
    if isinstance(whole.columns, pd.MultiIndex):
        whole.columns = ["=".join(label) for label in whole.columns]
    if "id" not in whole:
        whole.insert(0, "id", frame["id"])
    found = written(out)
    assert list(found.columns) == list(whole.columns) == list(report.columns)
    for name in whole:
        if pd.api.types.is_float_dtype(whole[name].dtype):
            np.testing.assert_allclose(found[name].astype(float), whole[name], atol=1e-12)
        else:
            text = whole[name].astype("str").where(whole[name].notna(), None)
            assert found[name].where(found[name].notna(), None).tolist() == text.tolist()
    assert report.n_rows == 6
    assert report.impossible == tuple(int(str(row)) + 2 for row in expected.impossible)
    assert report.n_impossible == len(expected.impossible)
    assert report.unused == ("id",)


def test_files_of_parquet_have_values_of_any_kind(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "grade": pd.array([0, None, 2], dtype="Int64"),
            "passed": pd.Categorical(["NA", "yes", None], categories=["yes", "NA"]),
            "when": pd.to_datetime(pd.Series(["2020-01-01", "2020-01-02", None])).array,
        },
        index=pd.Index(["a", "b", "c"], name="id"),
    )
    frame.to_parquet(tmp_path / "cases.parquet")
    for rows in (1, 9):
        report = answer_file(
            COURSE, tmp_path / "cases.parquet", tmp_path / "out.csv", impute, rows=rows
        )
        found = pd.read_csv(tmp_path / "out.csv", dtype={"grade": int}, keep_default_na=False)
        assert found["grade"].tolist() == [0, 1, 2]
        assert found["passed"].tolist() == ["NA", "yes", "yes"]
        assert found["id"].tolist() == ["a", "b", "c"]
        assert found["when"].tolist() == ["2020-01-01", "2020-01-02", ""]
        assert set(report.unused) == {"id", "when"}


def test_a_blank_line_is_a_case_without_findings(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("wet\n\nyes\n")
    answer_file(GARDEN, tmp_path / "cases.csv", tmp_path / "out.csv", predict)
    assert written(tmp_path / "out.csv")["rain"].tolist() == ["no", "yes"]


def test_draws_repeat_the_rows_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text(TEXT)
    draw = partial(sample_missing, rng=np.random.default_rng(1), draws=3)
    answer_file(COURSE, tmp_path / "cases.csv", tmp_path / "out.csv", draw, rows=2)
    assert written(tmp_path / "out.csv")["id"].tolist() == [x for x in "abcdef" for _ in range(3)]


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")])
def test_semicolons_and_tabs_separate_the_cells_too(
    name: str, separator: str, tmp_path: Path
) -> None:
    lines = ["id,wet", '"1,5",yes', "2,"]
    text = "".join(line.replace(",", separator) + "\n" for line in lines)
    (tmp_path / name).write_text(text.replace(f"1{separator}5", "1,5"))
    answer_file(GARDEN, tmp_path / name, tmp_path / "out.csv", predict)
    frame = written(tmp_path / "out.csv")
    assert frame["id"].tolist() == ["1,5", "2"]
    assert frame["rain"].tolist() == ["yes", "no"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_may_be_in_the_encodings_of_excel(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes("Gärten,“nass”\r\nnö,ja\r\n".encode(encoding))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (frame,) = read_frames(path, 10)
    assert frame.to_dict("list") == {"Gärten": ["nö"], "“nass”": ["ja"]}
    assert ["Windows-1252" in str(one.message) for one in caught] == [True] * (encoding == "cp1252")


def test_a_model_in_place_of_cases_is_answered_with_the_order() -> None:
    with pytest.raises(ModelFileError, match="name the model first, then the cases"):
        list(read_frames("asia.xdsl", 10))


def test_bytes_that_no_text_has_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes(b"a,b\n\xff,\x81\n")
    with pytest.raises(ModelFileError, match="is not a table of cases"):
        list(read_frames(path, 10))


def test_a_compressed_file_can_be_read(tmp_path: Path) -> None:
    pd.DataFrame({"wet": ["yes", None]}).to_csv(tmp_path / "cases.csv.gz", index=False)
    answer_file(GARDEN, tmp_path / "cases.csv.gz", tmp_path / "out.csv", predict)
    assert written(tmp_path / "out.csv")["rain"].tolist() == ["yes", "no"]


def test_unknown_states_of_all_chunks_are_counted_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("wet\n" + "yes\n" * 5 + "soaked\n" * 30)
    with pytest.raises(TableError) as caught:
        answer_file(GARDEN, tmp_path / "cases.csv", tmp_path / "out.csv", predict, rows=4)
    assert caught.value.count == 30
    assert len(caught.value.problems) == 1
    assert str(caught.value).startswith("row 7, column wet: expected a state among no, damp, yes")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.csv"]


def test_an_error_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("wet\n" + "yes\n" * 5)
    (tmp_path / "out.csv").write_text("old")
    calls = []

    def interrupted(model: Any, frame: pd.DataFrame) -> Any:
        calls.append(len(frame))
        if len(calls) > 1:
            raise KeyboardInterrupt
        return predict(model, frame)

    with pytest.raises(KeyboardInterrupt):
        answer_file(GARDEN, tmp_path / "cases.csv", tmp_path / "out.csv", interrupted, rows=2)
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.csv", "out.csv"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no columns"),
        ("rain,rain\nno,no\n", "two columns"),
        ("a,b\nno,no\n", "no column has the name of a variable"),
        ("rain\nno,no\nno,no\n", "more cells"),
        (",rain\n0,no,no\n", "more cells"),
        ("rain\nno\nno,no,no\n", "is not a table of cases"),
        (b"rain\n\xff\x81\n", "is not a table of cases"),
        ('rain\n"no\n', "is not a table of cases"),
    ],
)
def test_files_that_are_no_tables_are_refused(
    content: str | bytes, message: str, tmp_path: Path
) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "cases.csv").write_bytes(data)
    with pytest.raises(BnmindError, match=message):
        answer_file(
            GARDEN, tmp_path / "cases.csv", tmp_path / "out.csv", partial(predict, targets="wet")
        )
    assert not (tmp_path / "out.csv").exists()


def test_lines_and_columns_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, packed = tmp_path / "cases.csv", tmp_path / "cases.csv.gz"
    path.write_text("," * 2**16)
    with pytest.raises(ModelFileError, match="has 65,537 columns; at most 65,536 are read"):
        list(read_frames(path, 9))
    path.write_text("rain\n" + "," * 2**18)  # pandas takes minutes
    with pytest.raises(ModelFileError, match="more cells than its first line"):
        list(read_frames(path, 9))
    monkeypatch.setattr("bnmind.junction.case_files.SMALL_FILE", 2**20)
    packed.write_bytes(gzip.compress(b"rain\nno\n" + b"\0" * 2**21))
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    for endless in (packed, tmp_path / "zeros.csv"):
        with pytest.raises(ModelFileError, match="a line is longer than 1 MiB"):
            list(read_frames(endless, 9))
    with pytest.raises(ModelFileError, match=r"cannot read 'n/n/n/.*File name too long") as caught:
        list(read_frames("n/" * 3000 + "x.csv", 9))
    assert len(str(caught.value)) < 200


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    for content in (b"rain\n" + b"no\n" * 9, b"rain\n" + b"no\n" * 20_000):
        path.write_bytes(content)
        assert sum(map(len, read_frames(path, 4000))) == content.count(b"no")
        frames = read_frames(path, 4000)
        next(frames)
        with path.open("r+b") as file:
            file.truncate(len(content) - 3)
        with pytest.raises(ModelFileError, match=r"cases.csv was changed while it was read; try"):
            list(frames)


def test_a_table_without_rows_has_answers_without_rows(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("id,wet\n")
    report = answer_file(GARDEN, tmp_path / "cases.csv", tmp_path / "out.csv", predict)
    assert (tmp_path / "out.csv").read_text() == "id,rain\n"
    assert report.n_rows == 0
    pd.DataFrame({"wet": pd.Series([], dtype="str")}).to_parquet(tmp_path / "cases.parquet")
    answer_file(GARDEN, tmp_path / "cases.parquet", tmp_path / "out.csv", predict)
    assert (tmp_path / "out.csv").read_text() == "rain\n"


def test_faulty_arguments_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cases.csv").write_text("wet,log_likelihood\nno,1\n")
    out = tmp_path / "out.csv"
    with pytest.raises(ModelFileError, match=r"answers named \.csv"):
        answer_file(GARDEN, tmp_path / "cases.csv", tmp_path / "out.xlsx", predict)
    with pytest.raises(ModelFileError, match="cannot read"):
        answer_file(GARDEN, tmp_path / "none.csv", out, predict)
    with pytest.raises(ModelFileError):
        answer_file(GARDEN, tmp_path / "cases.csv", tmp_path / "none" / "out.csv", predict)
    with pytest.raises(InvalidArgumentError, match="rows"):
        answer_file(GARDEN, tmp_path / "cases.csv", out, predict, rows=0)
    with pytest.raises(TableError, match="has the name of an answer"):
        answer_file(GARDEN, tmp_path / "cases.csv", out, log_likelihood)
    (tmp_path / "cases.parquet").write_text("no parquet")
    with pytest.raises(ModelFileError, match="not a table"):
        answer_file(GARDEN, tmp_path / "cases.parquet", out, predict)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingLibraryError, match=r"bnmind\[lab\]"):
        answer_file(GARDEN, tmp_path / "cases.parquet", out, predict)
    assert not out.exists()


def test_progress_counts_the_rows_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("wet\n" + "no\n" * 5)
    told: list[tuple[int, int | None]] = []
    answer_file(
        *(GARDEN, tmp_path / "cases.csv", tmp_path / "out.csv", predict),
        rows=2,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_file_with_the_index_of_its_frame_is_read(tmp_path: Path) -> None:
    pd.DataFrame({"rain": ["no", "yes"]}, index=[7, 8]).to_csv(tmp_path / "cases.csv")
    report = answer_file(GARDEN, tmp_path / "cases.csv", tmp_path / "out.csv", predict)
    assert report.columns == ("Unnamed: 0", "wet")
    assert (tmp_path / "out.csv").read_text() == "Unnamed: 0,wet\n7,no\n8,yes\n"


def test_a_damaged_compressed_file_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    data = bytearray(gzip.compress(b"rain\n" + b"".join(rng.choice([b"no\n", b"yes\n"], 5000))))
    data[len(data) // 2 : len(data) // 2 + 20] = b"\xff" * 20
    data[10] = 0xFF  # no kind of block
    (tmp_path / "cases.csv.gz").write_bytes(data)
    with pytest.raises(ModelFileError, match="is not a table of cases"):
        answer_file(GARDEN, tmp_path / "cases.csv.gz", tmp_path / "out.csv", predict)


SWITCH = Network(
    (
        TabularCPD(Variable("on", ("false", "true")), (), np.array([0.5, 0.5])),
        TabularCPD(Variable("level", ("0", "0.5", "1")), (), np.array([0.5, 0.3, 0.2])),
        TabularCPD(Variable("code", ("1", "01", "NA")), (), np.array([0.5, 0.3, 0.2])),
    )
)
CELLS: list[list[Any]] = [
    ["id", "on", "level", "code", None, "day"],
    ["a", True, 1.0, 1, None, datetime(2026, 3, 1)],
    ["b", False, 0.5, "01", None, 2.0],
    [None, None, None, None, None, None],
    ["c", "TRUE", "0", "NA", None, "x"],
]


def _workbook(path: Path, *sheets: Sequence[Sequence[Any]]) -> Path:
    book = openpyxl.Workbook()
    for number, rows in enumerate(sheets):
        sheet = book.active if not number else book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_workbook_is_read_as_if_it_were_saved_as_csv(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text(
        "id,on,level,code,day\na,TRUE,1,1,2026-03-01\nb,FALSE,0.5,01,2\n,,,,\nc,TRUE,0,NA,x\n"
    )
    expected = pd.concat(read_frames(tmp_path / "cases.csv", 2))
    path = _workbook(tmp_path / "cases.xlsx", CELLS)
    for rows in (2, 9):
        found = pd.concat(read_frames(path, rows))
        assert found.index.tolist() == expected.index.tolist() == [2, 3, 4, 5]
        assert found.fillna("").to_dict("list") == expected.fillna("").to_dict("list")
    report = answer_file(SWITCH, path, tmp_path / "answers.csv", impute)
    assert report.unused == ("id", "day")
    out = written(tmp_path / "answers.csv")
    assert out["on"].tolist() == ["true", "false", "false", "true"]
    assert out["level"].tolist() == ["1", "0.5", "0", "0"]
    assert out["code"].tolist() == ["1", "01", "1", "NA"]


def test_faults_of_workbooks_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = tmp_path / "cases.xlsx", tmp_path / "answers.csv"
    sheets: list[list[list[Any]]] = [[["on"], [True], [3]], [["on"]]]
    _workbook(path, *sheets)
    with (
        pytest.warns(CaseTableWarning, match="the first sheet, Sheet, was read; others were left"),
        pytest.raises(TableError, match=r"row 3, column on: .*'3'"),
    ):
        answer_file(SWITCH, path, out, predict)
    for rows in ([], [[], ["on"]]):
        with pytest.raises(ModelFileError, match="has no columns; the first row must name them"):
            answer_file(SWITCH, _workbook(path, rows), out, predict)
    with pytest.raises(TableError, match=r"two columns of .* are named 'on'"):
        answer_file(SWITCH, _workbook(path, [["on", "on"], [True]]), out, predict)
    _workbook(path, [["on", "level"]])
    assert answer_file(SWITCH, path, out, impute).n_rows == 0
    with pytest.raises(ModelFileError, match=r"is an Excel workbook, not text: name it \.xlsx"):
        answer_file(SWITCH, path.rename(tmp_path / "cases.csv"), out, predict)
    path.write_text("on\n1\n")
    with pytest.raises(ModelFileError, match=r"cannot read .*cases\.xlsx as an Excel workbook"):
        answer_file(SWITCH, path, out, predict)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModelFileError, match=r"install openpyxl.*pip install .bnmind\[files\]."):
        answer_file(SWITCH, path, out, predict)
