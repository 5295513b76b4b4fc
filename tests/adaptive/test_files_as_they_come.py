"""Files of responses and Q-matrices as R, Excel, SPSS, CDM and GDINA write them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.adaptive import (
    ItemBank,
    LearningOptions,
    MinimalEntropy,
    QMatrix,
    Responses,
    Session,
    cross_validate,
    describe_bank,
    learn,
    read_bank,
    read_qmatrix,
    simulate,
    write_bank,
)
from bnmind.adaptive.items.text_tables import match_names, number_of, read_table, table_of
from bnmind.errors import (
    InvalidModelError,
    ModelFileError,
    TableError,
    UnknownNameError,
)
from tests.command_line import run
from tests.data_sets import data_set

ITEMS = ("item.1", "Hören", "Adding fractions")
CODES = [[1, 0, 1], [0, -1, 1], [0, 1, 0]]

SAME = {
    "R, write.csv": '"","item.1","Hören","Adding fractions"\n"1",1,0,1\n"2",0,NA,1\n"3",0,1,0\n',
    "R, write.csv2": '"";"item.1";"Hören";"Adding fractions"\n"1";1;0;1\n"2";0;NA;1\n"3";0;1;0\n',
    "R, write.table": '"item.1" "Hören" "Adding fractions"\n"1" 1 0 1\n"2" 0 NA 1\n"3" 0 1 0\n',
    "R, logical": '"","item.1","Hören","Adding fractions"\n"1",TRUE,FALSE,TRUE\n'
    '"2",FALSE,NA,TRUE\n"3",F,T,F\n',
    "R, names changed": "item.1,Hören,Adding.fractions\n1,0,1\n0,NA,1\n0,1,0\n",
    "Excel, German": "\ufeffName;item.1;Hören;Adding fractions;;\r\n1;1,0;0,0;1,0;;\r\n"
    "2;0;;1;;\r\n3;0;1;0;;\r\n;;;;;\r\n",
    "Excel, German, truth": "sep=;\r\nitem.1;Hören;Adding fractions\r\nWAHR;FALSCH;WAHR\r\n"
    "FALSCH;;WAHR\r\nFALSCH;WAHR;FALSCH\r\n",
    "Excel, text": "item.1\tHören\tAdding fractions\n1\t0\t1\n0\t\t1\n0\t1\t0\n",
    "SPSS": "ID,sex,age,item.1,Hören,Adding fractions\n1,m,19,1,0,1\n2,f,20, ,-9,1\n3,f,99,0,1,0\n",
    "long": "student,item,score,time\n1,item.1,1,3.5\n1,Hören,0,2\n1,Adding fractions,1,1\n"
    "2,item.1,0,2\n2,Adding fractions,1,7\n3,Adding fractions,0,1\n3,item.1,0,4\n3,Hören,1,2\n",
    "pandas, long": ",examinee,variable,value\n0,1,item.1,1.0\n1,2,item.1,0.0\n2,3,item.1,0.0\n"
    "3,1,Hören,0.0\n4,2,Hören,\n5,3,Hören,1.0\n6,1,Adding fractions,1.0\n"
    "7,2,Adding fractions,1.0\n8,3,Adding fractions,0.0\n",
}
ENCODINGS = {"Excel, text": "utf-16", "R, write.csv2": "cp1252"}


def written(directory: Path, text: str, encoding: str = "utf-8") -> Path:
    path = directory / "table.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("dialect", SAME)
def test_programs_write_the_same_responses_in_many_ways(tmp_path: Path, dialect: str) -> None:
    path = written(tmp_path, SAME[dialect], ENCODINGS.get(dialect, "utf-8"))
    missing = ("-9",) if dialect == "SPSS" else ()
    found = Responses.from_csv(path, expected=ITEMS, missing=missing)
    codes = np.array(CODES)
    codes[1, 0] = -1 if dialect == "SPSS" else 0
    np.testing.assert_array_equal(found.codes, codes)
    assert found.items == ITEMS
    assert found.examinees == ("1", "2", "3")


def test_responses_are_read_without_knowing_the_items(tmp_path: Path) -> None:
    for dialect in ("R, write.csv", "R, write.table", "pandas, long", "long"):
        assert Responses.from_csv(written(tmp_path, SAME[dialect])).items == ITEMS


def test_notes_say_what_was_guessed(tmp_path: Path) -> None:
    text = "nr;sex;group;a;b\n1;m;x;1;0\n2;f;y;;\n3;f;x;1;1\nvier;m;y;1;0\n;;;;\n"
    found = Responses.from_csv(written(tmp_path, text))
    assert found.examinees == ("1", "3", "vier")
    assert found.groups == ("x", "x", "y")
    assert found.notes == (
        "1 empty row at the end left out",
        "column nr was taken for the names of the examinees",
        "column group was taken for the groups of the examinees",
        "columns with texts, not responses, were left out: sex",
        "1 examinee was left out for lack of responses: 2",
        "all responses to these items are equal, so they tell nothing: a",
    )
    some = found.take([2, 0])
    assert (some.examinees, some.groups, some.notes) == (("vier", "1"), ("y", "x"), found.notes)
    assert Responses.of(found) is found


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "code,class,age,a\n7,x,19,1\n8,y,20,0\n9,x,21,99\n")
    found = Responses.from_csv(
        path, missing=[99], id_column="code", group_column="class", ignore=["age"]
    )
    assert (found.examinees, found.groups) == (("7", "8"), ("x", "y"))
    with pytest.raises(UnknownNameError, match="did you mean class"):
        Responses.from_csv(path, group_column="clas")


def test_a_first_line_without_names_holds_responses(tmp_path: Path) -> None:
    found = Responses.from_csv(written(tmp_path, "1,0,1\n0,0,1\n1,1,NA\n"))
    assert found.items == ("item_1", "item_2", "item_3")
    assert len(found) == 3
    assert "the first line has no names" in found.notes[0]
    found = Responses.from_csv(written(tmp_path, "ann,1,0\nbob,0,1\n"))
    assert (found.items, found.examinees) == (("item_1", "item_2"), ("ann", "bob"))
    found = Responses.from_csv(written(tmp_path, "1,2,3\n0,1,1\n1,0,0\n"))
    assert found.items == ("1", "2", "3")
    assert Responses.from_csv(written(tmp_path, "101,102\n0,1\n1,0\n")).items == ("101", "102")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xd0\xcf\x11\xe0...", "is an old Excel workbook, not text: save it as .xlsx or CSV"),
        (b"PK\x03\x04...", "cannot read .*table.csv as an Excel workbook"),
        (b"$FL2@(#)", "cannot read .*table.csv as an SPSS file"),
        (b"\x1f\x8b...", "packed file or one of R"),
        (b"a,b\n1,\0\xff\n", "is not text in UTF-8"),
        (b" \n", "is empty"),
    ],
)
def test_other_files_are_refused_with_a_remedy(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    with pytest.raises(ModelFileError, match=message):
        Responses.from_csv(path)


def test_faults_fit_on_a_screen(tmp_path: Path) -> None:
    rows = "\n".join(",".join(["-9"] * 40) for _ in range(200))
    names = ",".join(f"q{number}" for number in range(40))
    for most, text in (
        (250, f"{names}\n{rows}\n"),
        (250, f"{names}\n{rows.replace('-9', '99')}\n"),
        (400, f"{names}\n{rows.replace('-9', '1')}\n"),
    ):
        with pytest.raises((TableError, InvalidModelError)) as caught:
            learn(Responses.from_csv(written(tmp_path, text)), QMatrix.of(np.eye(30)))
        assert len(str(caught.value)) < most, str(caught.value)


def test_a_long_table_has_one_response_of_an_examinee_to_an_item(tmp_path: Path) -> None:
    path = written(tmp_path, "id,item,score\na,x,1\na,y,1\na,x,0\n,x,0\n")
    with pytest.raises(
        TableError,
        match="examinee a has two responses to item x, in rows 1 and 3; row 4 has no examinee",
    ):
        Responses.from_csv(path)


def test_the_items_of_a_long_table_are_known_by_their_names_too(tmp_path: Path) -> None:
    for column in ("Aufgabe", "what"):
        text = f"Schüler;{column};Punkte;RT\n1;a;1;3,5\n1;b;0;2,1\n2;b;1;1,1\n"
        found = Responses.from_csv(written(tmp_path, text), expected=["a", "b"])
        assert (found.items, found.examinees) == (("a", "b"), ("1", "2"))
        assert found.codes.tolist() == [[1, 0], [-1, 1]]


def test_data_frames_are_read_like_files(tmp_path: Path) -> None:
    for dialect in ("R, write.csv", "long"):
        frame = pd.read_csv(written(tmp_path, SAME[dialect]))
        found = Responses.of(frame)
        assert (found.codes.tolist(), found.items) == (CODES, ITEMS)
    wide = pd.DataFrame(CODES, columns=ITEMS, index=["a", "b", "c"]).replace(-1, pd.NA)
    for frame in (wide, wide.astype("Int64"), wide.astype("boolean"), wide.astype("category")):
        found = Responses.of(frame)
        assert (found.codes.tolist(), found.examinees) == (CODES, ("a", "b", "c"))
    assert Responses.of(wide.reset_index(names="person")).examinees == ("a", "b", "c")
    q = pd.DataFrame({"item": ITEMS, "s": ["x", "", "x"], "t": [None, "x", "x"]})
    assert QMatrix.of(q).needs.tolist() == [[1, 0], [0, 1], [1, 1]]


Q = [[1, 0], [0, 1], [1, 1]]

BARE = {
    "GDINA, no names": "1 0\n0 1\n1 1\n",
    "no names, commas": "1,0\n0,1\n1,1\n",
    "R, write.csv": '"","V1","V2"\n"1",1,0\n"2",0,1\n"3",1,1\n',
    "R, write.table": '"V1" "V2"\n"1" 1 0\n"2" 0 1\n"3" 1 1\n',
    "no item column": "V1;V2\n1;0\n0;1\n1;1\n",
    "numbered rows": "nr,V1,V2\n1,1,0\n2,0,1\n3,1,1\n",
    "truth values": "V1,V2\nTRUE,FALSE\nFALSE,TRUE\nTRUE,TRUE\n",
    "crosses": "V1,V2\nx,\n,X\nx,+\n",
}
NAMED = {
    "item": "item,V1,V2\nitem.1,1,0\nHören,0,1\nAdding fractions,1,1\n",
    "other name": "task;V1;V2\nitem.1;1,0;0,0\nHören;0;1\nAdding fractions;1;1\n;;\n",
    "no names of columns": "item.1,1,0\nHören,0,1\nAdding fractions,1,1\n",
    "other order": "item,V1,V2\nAdding fractions,1,1\nHören,0,1\nitem.1,1,0\n",
    "texts beside": "item,text,V1,V2\nitem.1,why?,1,0\nHören,what?,0,1\n"
    "Adding fractions,how?,1,1\n",
    "similar names": "item,V1,V2\nItem 1,1,0\nhören,0,1\nAdding_fractions,1,1\n",
}


@pytest.mark.parametrize("form", [*BARE, *NAMED])
def test_a_q_matrix_of_any_form_is_matched_with_the_responses(tmp_path: Path, form: str) -> None:
    q = read_qmatrix(written(tmp_path, {**BARE, **NAMED}[form]))
    answers = Responses([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0]], ITEMS)  # type: ignore[arg-type]
    found = learn(answers, q, options=LearningOptions(max_iterations=1))
    wanted = dict(zip(ITEMS, Q, strict=True))
    names = [item.replace("Item 1", "item.1") for item in found.bank.item_names]
    rows = [wanted.get(name, [0, 1] if name == "hören" else [1, 1]) for name in names]
    assert found.bank.q_matrix.astype(int).tolist() == rows
    notes = " ".join(found.responses.notes)
    assert ("by position" in notes) == (form in BARE)
    assert ("similar names" in notes) == (form == "similar names")
    if form in BARE:
        assert found.bank.item_names == ITEMS


def test_what_cannot_be_matched_is_refused(tmp_path: Path) -> None:
    answers = Responses([[0, 0, 0], [1, 1, 1]], ITEMS)  # type: ignore[arg-type]
    with pytest.raises(TableError, match="seems to be transposed"):
        learn(answers, np.array(Q).T)
    strange = QMatrix.of(Q, items=["item.1", "Lesen", "Adding"])
    with pytest.raises(TableError, match=r"are not items .* Hören, Adding fractions; 2 "):
        learn(answers, strange)
    with pytest.raises(TableError, match=r"expected 2 columns, one for each .* only numbers"):
        learn(answers, QMatrix.of([[1], [1]]))
    with pytest.raises(TableError, match=r"^no response is 0; responses count from 0"):
        learn(Responses([[1, 2], [2, 1]], ("a", "b")), QMatrix.of([[1], [1]]))  # type: ignore[arg-type]
    with pytest.raises(TableError, match="1 item has no column: c"):
        learn(
            Responses([[1, 0]], ("a", "b")),  # type: ignore[arg-type]
            QMatrix.of([[1, 0], [0, 1], [1, 1]], items=["a", "b", "c"]),
        )
    more = Responses([[0, 0, 0], [1, 1, 1]], ("a", "b", "extra"))  # type: ignore[arg-type]
    found = learn(more, QMatrix.of([[1], [1]], items=["b", "a"]))
    assert found.responses.items == ("b", "a")
    note = "columns that are not items were left out: extra; extra is not in the Q-matrix or bank"
    assert found.responses.notes == (note,)


def test_a_column_of_0_and_1_that_is_left_out_may_be_an_item() -> None:
    table = pd.DataFrame({"i1": [1, 0, 1], "i12": [0, 1, None], "age": [11, 12, 11]})
    (note,) = Responses.of(table, expected=["i1"]).notes
    assert note.endswith("were left out: i12, age; i12 is not in the Q-matrix or bank")


def test_a_nine_may_be_declared_as_missing() -> None:
    q = QMatrix.of([[1], [1]], items=["a", "b"])
    with pytest.raises(TableError, match=r"got 9; if 9 stands for .* --missing 9 "):
        learn(Responses([[1, 9], [0, 1]], ("a", "b")), q)  # type: ignore[arg-type]


def test_a_bare_q_matrix_is_matched_in_cross_validation_too() -> None:
    answers = pd.DataFrame(np.tile([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0]], (3, 1)))
    answers.columns = pd.Index(ITEMS)
    found = cross_validate(answers, Q, folds=2, options=LearningOptions(max_iterations=2))
    assert found.responses.items == ITEMS


def test_names_that_r_changed_are_matched_with_their_numbers() -> None:
    match = match_names(["X12.", "X11.", "age"], ["11", "12"])
    assert match is not None
    assert match.places == (1, 0)
    assert match.note == "similar names were matched: X11. is 11, X12. is 12"
    several = match_names(["X12.", "X11.", "X10."], ["10", "11", "12"])
    assert several is not None
    assert several.note == "similar names were matched: X10. is 10, …, X12. is 12"
    half = match_names(["Item.1", "Item 2", "z"], ["Item 1", "Item 2"])
    assert half is not None
    assert half.note == "similar names were matched: Item.1 is Item 1"
    less = match_names(["Item 2", "item.1", "B"], ["ITEM 1", "Item 2", "b"])
    assert less is not None
    assert less.note == "similar names were matched: item.1 is ITEM 1, B is b"


@pytest.mark.parametrize("text", ["1_0", "\uff11", "1_\uff10", "one", "", "1e"])
def test_texts_that_only_python_reads_as_numbers_are_none(text: str) -> None:
    assert number_of(text) is None


def test_a_first_row_that_counts_down_names_no_columns() -> None:
    rows = [["ann", "0", "1"], ["bob", "1", "1"]]
    assert table_of([["", "1", "0"], *rows]).header is None
    assert table_of([["", "1", "2"], *rows]).header == ("", "1", "2")


def test_one_line_of_cells_between_blanks_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "row.txt"
    path.write_text("3 0 1")
    assert read_table(path).rows == (("3", "0", "1"),)


NAMES = st.lists(st.text("abX.1 _", min_size=1, max_size=4), min_size=1, max_size=5, unique=True)


@given(NAMES, st.randoms(use_true_random=False))
def test_equal_names_always_match(names: list[str], random: object) -> None:
    shuffled = sorted(names, key=hash)
    match = match_names(shuffled, names)
    assert match is not None
    assert [shuffled[place] for place in match.places] == names
    assert not match.by_position


@given(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=1, max_size=5))
def test_rows_of_responses_are_never_taken_for_names(rows: list[list[int]]) -> None:
    assert table_of([[str(cell) for cell in row] for row in rows]).header is None
    named = table_of([["a", "b", "c", "d"], *([str(cell) for cell in row] for row in rows)])
    assert named.header == ("a", "b", "c", "d")
    assert len(named.rows) == len(rows)


def test_the_command_learns_from_files_as_they_come(tmp_path: Path) -> None:
    rows = [f'"{n}";{n % 2};{(n // 2) % 2};{(n % 2) & (n // 2) % 2};-9' for n in range(1, 40)]
    head = '"";"item.1";"Hören";"Adding fractions";"Größe"'
    answers = tmp_path / "answers.csv"
    answers.write_text("\n".join([head, *rows[:-1], '"40";1;1;1;1', ""]), encoding="cp1252")
    q, out = tmp_path / "q.txt", tmp_path / "bank.json"
    q.write_text("1 0\n0 1\n1 1\n0 1\n")
    command = ("learn", str(answers), "--qmatrix", str(q), "--out", str(out), "--json")
    refused = run(*command)
    assert refused.exit_code == 2
    assert "-9 in 38 cells" in refused.stderr
    done = run(*command, "--missing", "-9", "--iterations", "3")
    assert done.exit_code == 0, done.stderr
    notes = json.loads(done.stdout)["file_notes"]
    assert all(f"note: {note}" in done.stderr for note in notes)
    assert any("item_1 is item.1" in n or "item.1 is item_1" in n for n in notes)
    assert any("tell nothing: Größe" in note for note in notes)
    bank = read_bank(out)
    assert isinstance(bank, ItemBank)
    assert bank.item_names == ("item.1", "Hören", "Adding fractions", "Größe")
    replayed = run("simulate", str(out), "--responses", str(answers), "--out", str(tmp_path / "r"))
    assert replayed.exit_code == 2
    assert "-9 in 38 cells" in replayed.stderr


@pytest.mark.filterwarnings("default::bnmind.pgm.files.ModelFileWarning")
@pytest.mark.parametrize("name", ["fraction_subtraction", "aced", "dtmr", "probability"])
def test_every_data_set_goes_from_its_file_to_a_bank_in_one_command(
    tmp_path: Path, name: str
) -> None:
    place = data_set(name)
    out = tmp_path / "bank.json"
    done = run(
        *("learn", str(place / "responses.csv"), "--qmatrix", str(place / "qmatrix.csv")),
        *("--out", str(out), "--iterations", "1"),
        *(("--items", str(place / "items.csv")) if name == "fraction_subtraction" else ()),
        *(("--skill-labels", str(place / "skills.csv")) if name in ("aced", "probability") else ()),
    )
    assert done.exit_code == 0, done.stderr
    unlabeled = "note: each skill without a row keeps its description: distinguishTypes"
    assert (unlabeled in done.stderr) == (name == "aced")
    bank = read_bank(out)
    assert (bank.labels != bank.skills) == (name in ("aced", "probability"))
    assert all(item.text for item in bank.items) == (name == "fraction_subtraction")


def test_wordings_and_labels_come_from_tables_and_go_everywhere(tmp_path: Path) -> None:
    bank = ItemBank.from_qmatrix(Q, items=ITEMS, skill_names=["cr", "Größe"])
    items, skills = tmp_path / "items.csv", tmp_path / "skills.csv"
    items.write_text(
        "item;question;Cost;time;enemies\nHören;Listen: what?;2,5;;item.1\n"
        "item.1;1 + 1 = ?;1;30;\nAdding_fractions;;;;\nother;x;1;1;\n",
        encoding="utf-8",
    )
    skills.write_text("long,short\nGröße,size\ncr,common ratio\n", encoding="utf-8")
    bank = describe_bank(bank, items=items, skills=skills)
    assert [item.text for item in bank.items] == ["1 + 1 = ?", "Listen: what?", ""]
    assert [item.cost for item in bank.items] == [1, 2.5, 1]
    assert [item.time for item in bank.items] == [30, 1, 1]
    assert bank.enemies("item.1") == {"Hören"}
    for name in ("bank.json", "bank.dne", "bank.xdsl"):
        write_bank(bank, tmp_path / name)
        again = read_bank(tmp_path / name)
        assert (again.labels, again.items) == (("common ratio", "size"), bank.items)
    session = Session.start(again, path=tmp_path / "session.json").answer("Hören", 1)
    session = Session.load(tmp_path / "session.json", again)
    report = session.report().to_dict()
    assert report["asked"] == ("Hören",)
    assert [(one["skill"], one["label"]) for one in report["skills"]] == [
        ("cr", "common ratio"),
        ("Größe", "size"),
    ]
    found = simulate(again, Responses.drawn(again, 3), {"entropy": MinimalEntropy()})
    assert set(found.steps["item"]) <= {"", *ITEMS}
    learned = learn([[0, 0, 0], [1, 1, 1]], again)
    assert (learned.bank.labels, learned.bank.item("item.1").text) == (bank.labels, "1 + 1 = ?")


def test_choices_and_pictures_come_from_tables(tmp_path: Path) -> None:
    bank = ItemBank.from_qmatrix(Q, items=ITEMS)
    table = written(
        tmp_path,
        "item,choices,key,picture,shuffle\nitem.1,2/5 | 5/6 | 1;2,5/6,pie.png,no\n"
        "Hören,yes; no,b,,yes\nAdding fractions,often=1|never=0,,,\n",
    )
    bank = describe_bank(bank, items=table)
    assert [item.choices for item in bank.items] == [
        (("2/5", "0"), ("5/6", "1"), ("1;2", "0")),
        (("yes", "0"), ("no", "1")),
        (("often", "1"), ("never", "0")),
    ]
    assert bank.item("item.1").picture == "pie.png"
    assert [item.shuffle for item in bank.items] == [False, True, True]
    for name in ("bank.json", "bank.xdsl"):
        write_bank(bank, tmp_path / name)
        assert read_bank(tmp_path / name).items == bank.items
    wrong = written(
        tmp_path, "item,choices,key\nitem.1,a|b,c\nHören,a|b,\nAdding fractions,a|b,2\n"
    )
    message = "item.1: expected the key.*got c; the choices of item Hören: expected a key"
    with pytest.raises(InvalidModelError, match=message):
        describe_bank(bank, items=wrong)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("item,text\nitem.2,a\n", "no item has a row in the table: item.1, Hören, Adding"),
        ("item,who\nitem.1,a\nHören,b\nAdding fractions,c\n", "expected a column text, content"),
        (
            "item,cost\nitem.1,a\nHören,-1\nAdding fractions,1\n",
            "item item.1: expected cost to be a number, got 'a'; the cost of item Hören",
        ),
        (
            "item,shuffle\nitem.1,maybe\nHören,no\nAdding fractions,\n",
            "item item.1: expected shuffle to be True or False, got 'maybe'",
        ),
        ("1,1\n1,1\n", "the first line must name the columns"),
    ],
)
def test_faulty_tables_of_items_are_refused(tmp_path: Path, items: str, message: str) -> None:
    bank = ItemBank.from_qmatrix(Q, items=ITEMS)
    with pytest.raises(InvalidModelError, match=message):
        describe_bank(bank, items=written(tmp_path, items))


def _r_matrix(rows: list[list[int]], names: list[str]) -> str:
    """Return what write.csv writes of a matrix."""
    header = ",".join(f'"{name}"' for name in ("", *names))
    lines = (f'"{n}",{",".join(map(str, row))}' for n, row in enumerate(rows, 1))
    return "\n".join([header, *lines, ""])


@pytest.mark.parametrize(
    ("names", "skills", "found", "found_skills"),
    [
        # GDINA: sim10GDINA$simdat and $simQ have no names, so R calls both V1, V2, …
        (["V1", "V2", "V3"], ["V1", "V2"], ("V1", "V2", "V3"), ("skill_1", "skill_2")),
        # pandas: DataFrame(array).to_csv()
        (["0", "1", "2"], ["0", "1"], ("0", "1", "2"), ("skill_1", "skill_2")),
        # CDM: data.ecpe$data has a column id beside the row names
        (["id", "E1", "E2", "E3"], ["skill1", "skill2"], ("E1", "E2", "E3"), ("skill1", "skill2")),
    ],
)
def test_matrices_of_r_packages_are_matched(
    tmp_path: Path, names: list[str], skills: list[str], found: tuple[str], found_skills: tuple[str]
) -> None:
    rows = [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0]]
    if names[0] == "id":
        rows = [[100 + number, *row] for number, row in enumerate(rows)]
    answers, q, out = tmp_path / "r.csv", tmp_path / "q.csv", tmp_path / "bank.json"
    answers.write_text(_r_matrix(rows, names))
    q.write_text(_r_matrix(Q, skills))
    done = run("learn", str(answers), "--qmatrix", str(q), "--out", str(out), "--iterations", "1")
    assert done.exit_code == 0, done.stderr
    bank = read_bank(out)
    assert (bank.item_names, bank.skills) == (found, found_skills)
    assert "by position" in done.stderr
    if names[0] == "id":
        assert Responses.from_csv(answers).examinees == ("100", "101", "102", "103")


def test_value_labels_of_right_and_wrong_are_responses(tmp_path: Path) -> None:
    path = written(tmp_path, "sex,a,b\nf,correct,Incorrect\nm,wrong,right\nf, ,right\n")
    found = Responses.from_csv(path)
    assert (found.items, found.codes.tolist()) == (("a", "b"), [[1, 0], [0, 1], [-1, 1]])


def test_a_long_table_that_would_be_almost_empty_is_refused(tmp_path: Path) -> None:
    rows = "".join(f"e{n},i{n},1\n" for n in range(2500))
    path = tmp_path / "diagonal.csv"
    path.write_text(f"examinee,item,response\n{rows}")
    told = "2,500 responses of 2,500 examinees to 2,500 items are fewer than one for 1,000 pairs"
    with pytest.raises(TableError, match=told):
        Responses.from_csv(path)


def test_a_first_column_of_many_distinct_numbers_names_the_examinees() -> None:
    rows = [[100 + k, k % 2, (k // 2) % 2] for k in range(12)]
    read = Responses.of(pd.DataFrame(rows, columns=["lfdnr", "q1", "q2"]))
    assert read.items == ("q1", "q2")
    assert read.examinees[:2] == ("100", "101")
    assert read.notes == ("column lfdnr was taken for the names of the examinees",)


def test_a_column_of_names_comes_before_the_numbers_of_the_rows() -> None:
    rows = [[k, f"pupil {k}", k % 2] for k in range(1, 13)]
    read = Responses.of(pd.DataFrame(rows, columns=["", "student", "q1"]))
    assert (read.items, read.examinees[0]) == (("q1",), "pupil 1")


def test_a_later_column_that_numbers_the_rows_is_reported_once() -> None:
    rows = [[k % 2, 1000 + k, (k // 2) % 2] for k in range(12)]
    with pytest.raises(TableError) as error:
        Responses.of(pd.DataFrame(rows, columns=["q1", "lfd nr", "q2"]))
    assert str(error.value) == (
        "column lfd nr has another number in each of 12 rows; if it names the examinees, say so"
        ' (--id-column "lfd nr"); if it is no item, leave it out (--ignore "lfd nr")'
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("A", "B", "C"), "if they are answers, score them: --key FILE"),
        (("never", "often", "always"), "put a number in place of each, 0 for the worst"),
    ],
)
def test_choices_and_labels_beside_a_column_of_numbers_are_items(
    words: tuple[str, ...], told: str
) -> None:
    table = {f"q{k}": [words[(k + row) % 3] for row in range(9)] for k in range(5)}
    with pytest.raises(TableError, match=told) as error:
        Responses.of(pd.DataFrame({"sex": [1, 2, 1] * 3, **table}))
    assert len(error.value.problems) == 1


def test_an_undeclared_code_of_missing_responses_is_noted() -> None:
    table = {"sex": [1, 2, 1, 2], "v1": [1, 5, 9, 2], "v2": [4, 9, 3, 5], "v3": [1, 2, 3, 4]}
    notes = Responses.of(pd.DataFrame(table)).notes
    assert notes == (
        "column sex counts as an item; if it is none, leave it out (--ignore sex)",
        "in v1, v2 nobody gave the responses just below 9; if 9 stands for a missing response,"
        " declare it (--missing 9)",
    )
    assert not Responses.of(pd.DataFrame(table), missing=[9], ignore=["sex"]).notes


def test_one_option_for_several_codes_is_answered_with_several(tmp_path: Path) -> None:
    path = tmp_path / "responses.csv"
    path.write_text("q1,q2\n0,1\n1,-9\n", encoding="utf-8")
    told = run("learn", str(path), "--gate", "2PL", "--missing", "-9, 99").stderr
    assert "use --missing -9 --missing 99" in told


def test_names_of_examinees_that_recur_are_noted() -> None:
    names = [f"pupil {k}" for k in range(19)]
    table = {"q1": [0, 1] * 10, "pupil": [*names, "pupil 3"], "q2": [0, 0, 1, 1] * 5}
    read = Responses.of(pd.DataFrame(table), expected=["q1", "q2"])
    assert read.notes[0] == (
        "column pupil was not taken for the names of the examinees, because some occur more than"
        " once: pupil 3"
    )


def test_names_of_examinees_who_all_occur_twice_are_noted() -> None:
    for name in ("student", "Name"):
        table = {name: [f"s{k // 2}" for k in range(8)], "q1": [0, 1] * 4, "q2": [0, 0, 1, 1] * 2}
        for expected in (None, ["q1", "q2"]):
            notes = Responses.of(pd.DataFrame(table), expected=expected).notes
            assert notes[0].startswith(
                f"column {name} was not taken for the names of the examinees, because some occur"
                " more than once: s0, s1, s2, s3"
            )


@pytest.mark.parametrize(
    ("name", "which"), [("", "the column without a name"), ("Wer", "column Wer")]
)
def test_names_that_recur_in_a_first_column_are_noted(name: str, which: str) -> None:
    table = {name: [f"s{k // 2}" for k in range(12)], "q1": [0, 1] * 6, "q2": [0, 0, 1, 1] * 3}
    for expected in (None, ["q1", "q2"]):
        notes = Responses.of(pd.DataFrame(table), expected=expected).notes
        assert f"{which} was not taken for the names of the examinees, because some" in notes[0]


def test_row_names_of_r_are_no_skill(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text('"","item","A","B"\n"1","i1",1,0\n"2","i2",0,1\n"3","i3",1,1\n')
    found = read_qmatrix(path)
    assert found.item_names == ("i1", "i2", "i3")
    assert found.skills == ("A", "B")
    np.testing.assert_array_equal(found.needs, [[1, 0], [0, 1], [1, 1]])


def test_the_column_with_the_names_of_the_responses_names_the_items(tmp_path: Path) -> None:
    names = ["14415", "3", "14601", "7"]
    needs = [[1, 0], [0, 1], [1, 1], [1, 0]]
    bank = ItemBank.from_qmatrix(needs, items=names)
    codes = Responses.drawn(bank, 60, seed=1).codes
    responses = pd.DataFrame(codes, columns=names)
    expected = learn(responses, pd.DataFrame(needs, index=names)).bank
    columns = {"question": list(map(int, names)), "A": [1, 0, 1, 1], "B": [0, 1, 1, 0]}
    frame = pd.DataFrame(columns).iloc[::-1]
    for order in (["question", "A", "B"], ["A", "B", "question"]):
        q = frame[order]
        found = learn(responses, q).bank
        assert set(found.item_names) == set(names)
        for name in names:
            np.testing.assert_allclose(found.channel(name), expected.channel(name), atol=1e-3)
        q.to_csv(tmp_path / "q.csv", index=False)
        responses.to_csv(tmp_path / "y.csv", index=False)
        place = (str(tmp_path / "y.csv"), "--qmatrix", str(tmp_path / "q.csv"))
        assert run("learn", *place, "--out", str(tmp_path / "bank.json")).exit_code == 0
        assert read_bank(tmp_path / "bank.json").item_names == found.item_names


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_titles_above_the_names_are_left_out(tmp_path: Path, ending: str) -> None:
    table = pd.DataFrame(CODES, columns=ITEMS)
    lines = [["Results of class 5b", "", ""], ["", "", ""], list(ITEMS), *table.to_numpy().tolist()]
    path = tmp_path / f"responses.{ending}"
    if ending == "csv":
        path.write_text("\n".join(",".join(map(str, line)) for line in lines), encoding="utf-8")
    else:
        pd.DataFrame(lines).to_excel(path, index=False, header=False)
    found = Responses.from_csv(path)
    assert found.items == ITEMS
    np.testing.assert_array_equal(found.codes, CODES)
    assert (
        "the first line was left out, because the columns are named below: Results of class 5b"
        in found.notes
    )


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_titles_may_have_several_cells(tmp_path: Path, ending: str) -> None:
    names = ["pupil", "q1", "q2", "q3"]
    rows = [[f"pupil {k}", str(k % 2), str(k // 2 % 2), "1"] for k in range(8)]
    titles = [["Class", "5b"], ["Date", "2026-11-28"], [], ["Part 1", "", "Part 2"]]
    path = tmp_path / f"responses.{ending}"

    def read(above: list[list[str]]) -> Responses:
        lines = [*above, names, *rows]
        if ending == "csv":
            path.write_text("\n".join(",".join(line) for line in lines))
        else:
            even = [(*line, *[""] * (4 - len(line))) for line in lines]
            pd.DataFrame(even).to_excel(path, index=False, header=False)
        return Responses.from_csv(path)

    found = read(titles)
    assert found.items == ("q1", "q2", "q3")
    assert found.examinees == tuple(row[0] for row in rows)
    assert any("first 3 lines were left out" in note for note in found.notes)
    with pytest.raises(TableError) as caught:
        read([[f"Line {number}", "text"] for number in range(20)])
    (problem,) = caught.value.problems
    assert "delete what stands above their names" in problem


def test_a_file_of_fixed_width_gets_one_hint(tmp_path: Path) -> None:
    path = tmp_path / "responses.txt"
    cases = (
        "P01 0123012\nP02 1120312\nP03 2011230\nP04 0000121\n",
        "Anna Meier 0100\nJo         1101\nBo         0111\n",
        "P010123012\nP021120312\nP032011230\n",
        "P01 ABDCA\nP02 BBDCA\nP03 CBDAA\n",
        "P01 0123 12\nP02 112031\nP03  011230\nP04 0000121\n",
    )
    for text in cases:
        path.write_text(text)
        with pytest.raises(TableError) as caught:
            Responses.from_csv(path)
        assert "--fixed-width N" in caught.value.problems[-1]
    path.write_text(cases[0])
    assert Responses.from_csv(path, fixed_width=4).examinees == ("P01", "P02", "P03", "P04")


ANSWERS = pd.DataFrame(
    {"id": ["a", "b", "c"], "q1": ["A", "b", None], "q2": [3, 4, 1], "q3": ["5/6", "D", "2/5"]}
)
SCORED = [[0, 0, 1], [1, 1, 0], [-1, 0, 0]]


@pytest.mark.parametrize(
    "key",
    [
        {"q1": "B", "q2": 4, "q3": "5/6"},
        pd.DataFrame({"item": ["q1", "q2", "q3"], "key": ["b", "4", "5/6"]}),
        pd.DataFrame({"q1": ["B"], "q2": [4], "q3": ["5/6"]}),
        pd.DataFrame(
            {
                "item": ["q3", "q2", "q1"],
                "choices": ["2/5 | 5/6 | 2/6 | 1", "", ""],
                "key": ["B", "4", "B"],
            }
        ),
    ],
)
def test_a_key_scores_answers(key: object, tmp_path: Path) -> None:
    found = Responses.of(ANSWERS, key=key)  # type: ignore[arg-type]
    assert found.items == ("q1", "q2", "q3")
    assert found.examinees == ("a", "b", "c")
    np.testing.assert_array_equal(found.codes, SCORED)
    assert "the answers to 3 items were scored by the key" in found.notes
    ANSWERS.to_csv(tmp_path / "answers.csv", index=False)
    if isinstance(key, pd.DataFrame):
        key.to_csv(tmp_path / "key.csv", index=False)
        read = Responses.from_csv(tmp_path / "answers.csv", key=tmp_path / "key.csv")
        np.testing.assert_array_equal(read.codes, SCORED)


def test_choices_score_answers_in_steps() -> None:
    choices = "never = 0 | sometimes = 1 | often = 2"
    key = pd.DataFrame({"item": ["q1"], "choices": [choices]})
    answers = pd.DataFrame({"q1": ["Often", "never", "b", None], "q2": [0, 1, 1, 0]})
    found = Responses.of(answers, key=key)
    np.testing.assert_array_equal(found.codes, [[2, 0], [0, 1], [1, 1], [-1, 0]])
    with pytest.raises(TableError, match="got 'always'"):
        Responses.of(answers.replace("never", "always"), key=key)


def test_a_key_that_does_not_fit_is_refused() -> None:
    with pytest.raises(TableError, match="the key is of q9, and the items are q1"):
        Responses.of(ANSWERS, key={"q9": "A"})
    scored = pd.DataFrame({"q1": [0, 1], "q2": [1, 0]})
    with pytest.raises(TableError, match="these columns are scored: q1, q2"):
        Responses.of(scored, key={"q1": "A", "q2": "B"})
    with pytest.raises(InvalidModelError, match="expected a column item and a column key"):
        Responses.of(ANSWERS, key=pd.DataFrame({"item": ["q1", "q2"], "cost": [1, 2]}))
    choices = pd.DataFrame({"item": ["q1"], "choices": ["yes | no"], "key": ["maybe"]})
    with pytest.raises(InvalidModelError, match="the choices of item q1"):
        Responses.of(ANSWERS, key=choices)


def test_the_command_line_scores_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bank = ItemBank.from_qmatrix([[1], [1], [1], [1]], 0.2, 0.1)
    codes = Responses.drawn(bank, 80, seed=1).codes
    names = list(bank.item_names)
    letters = np.where(codes == 1, "B", np.array(["A", "C"])[np.arange(80) % 2][:, None])
    pd.DataFrame(codes, columns=names).to_csv("scored.csv", index=False)
    pd.DataFrame(letters, columns=names).to_csv("answers.csv", index=False)
    pd.DataFrame([1] * 4, index=pd.Index(names, name="item"), columns=["x"]).to_csv("q.csv")
    pd.DataFrame({"item": names, "key": ["B"] * 4}).to_csv("key.csv", index=False)
    items = {"item": names, "choices": ["no | right | wrong"] * 4, "key": ["right"] * 4}
    pd.DataFrame(items).to_csv("items.csv", index=False)
    asked = ("--qmatrix", "q.csv", "--json")
    found = json.loads(run("learn", "scored.csv", *asked).stdout)["log_likelihood"]
    for more in (("--key", "key.csv"), ("--items", "items.csv", "--out", "bank.json")):
        told = run("learn", "answers.csv", *asked, *more)
        assert "note: the answers to 4 items were scored by the key" in told.stderr
        assert json.loads(told.stdout)["log_likelihood"] == found
    # Scored responses stay as they are, whatever choices the items have.
    again = run("learn", "scored.csv", *asked, "--items", "items.csv")
    assert json.loads(again.stdout)["log_likelihood"] == found
    assert "by the key" not in again.stderr
    for file in ("answers.csv", "scored.csv"):
        told = run("classify", "bank.json", file, "--out", f"people-{file}")
        assert told.exit_code == 0, told.output
    assert Path("people-answers.csv").read_text() == Path("people-scored.csv").read_text()
    assert run("learn", "answers.csv", "--gate", "2PL", "--key", "key.csv").exit_code == 0
    both = run("learn", "answers.csv", *asked, "--key", "key.csv", "--lowest", "1")
    assert "expected --key or --lowest, got both" in both.stderr
