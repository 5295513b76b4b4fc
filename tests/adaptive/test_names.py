"""Any text in one line names an item, a skill, an examinee: in tables, files and commands."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    Item,
    ItemBank,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    QMatrix,
    Responses,
    Session,
    learn,
    read_bank,
    read_qmatrix,
    simulate,
    write_bank,
)
from bnmind.errors import InvalidModelError, TableError
from bnmind.lab import save_simulation
from bnmind.pgm.files import NETWORK_SUFFIXES
from bnmind.pgm.variable import name_fault
from tests.command_line import run

NAMES = [
    "item.1",
    "Hören",
    "No of people",
    "a,b",
    "c-d",
    "7up",
    "x=y",
    "$q$",
    "_z",
    '"q"',
    "名",
    "a+b",
]
SKILLS = ["skill 1", "Größe, klein", "2nd=b", "s+t"]
NEEDS = np.array([np.eye(4, dtype=int)[row % 4] for row in range(len(NAMES))])

LETTERS = st.sampled_from(list("aAxX_0041 .-+,;:|(){}[]<>&\"'/\\%#=$ä\u00a0名"))
TEXTS = st.text(LETTERS, min_size=1, max_size=6) | st.text(
    st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5
)
ANY = TEXTS.filter(lambda name: name_fault(name) is None)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(ANY, min_size=5, max_size=5, unique=True), st.sampled_from(NETWORK_SUFFIXES))
def test_any_name_goes_through_a_test_and_a_file(
    tmp_path: Path, names: list[str], suffix: str
) -> None:
    items, skills = names[:3], names[3:]
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], items=items, skill_names=skills)
    assert (bank.item_names, bank.skills) == (tuple(items), tuple(skills))
    session = Session.start(bank, path=_new(tmp_path / "session.json"))
    while not session.stop_reason:
        session = session.answer(session.next_item(), 1)
    again = Session.load(tmp_path / "session.json", bank)
    assert again.posterior == session.posterior
    write_bank(bank, tmp_path / f"bank{suffix}")
    back = read_bank(tmp_path / f"bank{suffix}")
    assert (back.item_names, back.skills) == (bank.item_names, bank.skills)
    answers = Responses.of([[1, 0, 1], [0, 1, 1]], items=items, examinees=names[3:])
    assert answers.for_bank(back).items == tuple(items)


def _new(path: Path) -> Path:
    path.unlink(missing_ok=True)
    return path


def test_whole_numbers_of_a_data_frame_are_names() -> None:
    table = pd.DataFrame(NEEDS, index=range(101, 101 + len(NEEDS)), columns=[1, 2, 3, 4])
    bank = ItemBank.from_qmatrix(table)
    assert bank.item_names[0] == "101"
    assert bank.skills == ("1", "2", "3", "4")
    drawn = Responses.drawn(bank, 30, seed=1).codes
    answers = pd.DataFrame(drawn, index=range(5, 35), columns=table.index)
    found = learn(answers, table, options=LearningOptions(max_iterations=2))
    assert found.bank.item_names == bank.item_names
    assert found.responses.examinees[0] == "5"
    named = ItemBank.from_qmatrix(NEEDS, items=list(table.index), skill_names=[1, 2, 3, 4])
    assert named.skills == bank.skills
    assert named.item_names == bank.item_names
    assert ItemBank.from_network(bank.network, [1, 2, 3, 4]).skills == bank.skills
    assert Item(7).name == "7"  # type: ignore[arg-type]
    assert Responses.of([[1, 0]], items=[1, 2]).items == ("1", "2")


def test_an_item_and_a_skill_of_one_name_are_refused_with_a_way_out() -> None:
    table = pd.DataFrame([[1, 0], [0, 1]], index=["a", "b"], columns=["a", "b"])
    with pytest.raises(
        InvalidModelError, match="cannot be both a skill and an item of the Q-matrix; give"
    ):
        ItemBank.from_qmatrix(table)
    assert ItemBank.from_qmatrix(table, skill_names=["c", "d"]).item_names == ("a", "b")


def test_labels_that_are_missing_are_no_names() -> None:
    table = pd.DataFrame([[1, 0], [0, 1]], index=[np.nan, "b"], columns=["x", "y"])
    with pytest.raises(InvalidModelError, match="a name must not be empty, in row 1"):
        QMatrix.of(table)
    with pytest.raises(TableError, match="column 1 has no name"):
        Responses.of(pd.DataFrame([[1, 0]], columns=[np.nan, "b"]))
    with pytest.raises(TableError, match="line breaks"):
        Responses([[1, 0]], ("a\n", "b"))  # type: ignore[arg-type]


@pytest.mark.slow
def test_names_that_mean_something_to_plots_are_drawn_as_they_are(tmp_path: Path) -> None:
    bank = ItemBank.from_qmatrix(NEEDS, items=NAMES, skill_names=["$x", "a$b$", "_c", "d"])
    people = Responses.drawn(bank, 20, seed=1)
    selectors = {name: MinimalEntropy() for name in ("a, b", "$r", "_u", "a_{$")}
    written = save_simulation(simulate(bank, people, selectors, MaximalItems(2)), tmp_path)
    with (tmp_path / "exposure.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["item"] for row in rows} == set(NAMES)
    assert {row["selector"] for row in rows} == set(selectors)
    assert all(path.stat().st_size for path in written)


@pytest.mark.slow
def test_a_bank_of_ordinary_column_names_goes_through_every_command(tmp_path: Path) -> None:
    q, answers, bank = (str(tmp_path / name) for name in ("q.csv", "r.csv", "bank.bif"))
    pd.DataFrame(NEEDS, index=pd.Index(NAMES, name="item"), columns=SKILLS).to_csv(q)
    assert [item.name for item in read_qmatrix(q).items] == NAMES
    truth = ItemBank.from_qmatrix(NEEDS, items=NAMES, skill_names=SKILLS)
    table = pd.DataFrame(Responses.drawn(truth, 60, seed=1).codes, columns=NAMES)
    table.insert(0, "examinee", [f"Zoë, {number}" for number in range(60)])
    table.to_csv(answers, index=False)

    learned = run("learn", answers, "--qmatrix", q, "--out", bank, "--iterations", "5", "--json")
    assert learned.exit_code == 0, learned.stderr
    assert [item["name"] for item in json.loads(learned.stdout)["items"]] == NAMES
    assert "written encoded" in learned.stderr
    assert read_bank(bank).skills == tuple(SKILLS)

    selector = 'entropy:skill 1+"s+t"'
    simulated = run(
        *("simulate", bank, "--selector", selector, "--stop", "items:2", "--examinees", "5"),
        *("--out", str(tmp_path / "results"), "--json"),
    )
    assert simulated.exit_code == 0, simulated.stderr
    assert json.loads(simulated.stdout)["skills"] == SKILLS

    saved = str(tmp_path / "session.json")
    test = ("test", bank, "--selector", selector, "--session", saved)
    tested = run(*test, answers="x=y=1\n No of people = 0\na,b=1\nx=y=0\nq\n")
    assert tested.exit_code == 0, tested.stderr
    events = json.loads(Path(saved).read_text(encoding="utf-8"))["events"]
    assert [event["item"] for event in events] == ["x=y", "No of people", "a,b", "x=y"]
    assert run(*test, answers="q\n").exit_code == 0

    asked = run(
        *("query", bank, "--evidence", "x=y=1,a,b=0", "--evidence", "Hören=1"),
        *("--targets", 'skill 1,"Größe, klein"', "--targets", "Größe, klein", "--json"),
    )
    assert asked.exit_code == 0, asked.stderr
    assert set(json.loads(asked.stdout)["marginals"]) == {"skill 1", "Größe, klein"}


def test_names_in_quotes_that_are_not_closed_end_in_one_line(tmp_path: Path) -> None:
    bank = tmp_path / "bank.json"
    write_bank(ItemBank.from_qmatrix(NEEDS, items=NAMES, skill_names=SKILLS), bank)
    done = run("test", str(bank), "--selector", 'entropy:"s+t', answers="q\n")
    assert done.exit_code == 2
    assert "in double quotes" in done.stderr
