"""Live sessions: answers in and out of order, files that survive, ranks, person fit and reports."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind._files import SMALL_FILE, OvertakenError
from bnmind.adaptive import (
    Design,
    DeviationBelow,
    EntropyBelow,
    Independent,
    Item,
    ItemBank,
    MaximalFisher,
    MaximalItems,
    MinimalEntropy,
    RandomItem,
    Session,
    SympsonHetter,
    person_fit,
    start_belief,
)
from bnmind.adaptive.scores import rank_items
from bnmind.adaptive.sessions import bank_fingerprint
from bnmind.errors import (
    InvalidArgumentError,
    InvalidModelError,
    ModelFileError,
    NothingToAskError,
    UnknownNameError,
)
from bnmind.information import entropy
from bnmind.questions.event_log import EventKind
from tests.modes import examples

BANK = ItemBank.from_qmatrix(
    [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]],
    guess=[0.1, 0.2, 0.15, 0.2, 0.25, 0.1],
    slip=[0.1, 0.1, 0.2, 0.05, 0.1, 0.15],
    skills=Independent([0.5, 0.6]),
).with_title("Two skills")
NAMES = BANK.item_names


def belief_after(answers: dict[str, int]) -> Any:
    belief = start_belief(BANK)
    for item, response in answers.items():
        belief = belief.update(item, response)
    return belief


def test_a_session_is_a_value() -> None:
    first = Session.start(BANK)
    item = first.next_item()
    second = first.answer(item, 1)
    assert (first.state.asked, second.state.asked) == ((), (item,))
    assert first.next_item() == item
    assert second.next_item() != item
    assert item == MinimalEntropy().select(start_belief(BANK), NAMES).item
    assert pickle.loads(pickle.dumps(second)).next_item() == second.next_item()


actions = st.lists(
    st.tuples(
        st.sampled_from(["answer", "skip", "change", "undo"]),
        st.sampled_from(NAMES),
        st.integers(0, 1),
    ),
    max_size=14,
)


@settings(max_examples=examples(60))
@given(actions)
def test_whatever_happens_the_belief_is_that_of_the_answers_that_stand(
    steps: list[tuple[str, str, int]],
) -> None:
    session = Session.start(BANK)
    stack: list[tuple[dict[str, int], tuple[str, ...]]] = [({}, ())]
    for kind, item, response in steps:
        answers, asked = stack[-1]
        try:
            if kind == "answer":
                session = session.answer(item, response)
                assert item not in answers
                more = asked if item in asked else (*asked, item)
                stack.append(({**answers, item: response}, more))
            elif kind == "change":
                session = session.change(item, str(response))
                assert item in answers
                stack.append(({**answers, item: response}, asked))
            elif kind == "skip":
                session = session.skip(item)
                assert item not in asked
                stack.append((answers, (*asked, item)))
            else:
                session = session.undo()
                stack.pop()
        except InvalidArgumentError:
            wrong = {
                "answer": item in answers,
                "change": item not in answers,
                "skip": item in asked,
                "undo": len(stack) == 1,
            }
            assert wrong[kind]
    answers, asked = stack[-1]
    assert session.state.responses == {item: str(number) for item, number in answers.items()}
    assert session.state.asked == asked
    assert set(session.state.skipped) == set(asked) - set(answers)
    np.testing.assert_allclose(
        session.belief.marginal("skill_1"), belief_after(answers).marginal("skill_1"), atol=1e-12
    )
    # The log leads to the same place.
    copy = json.loads(session.to_json())
    assert len(copy["events"]) == len(session.events)


def test_bad_answers_change_nothing() -> None:
    session = Session.start(BANK).answer("item_1", "1")
    with pytest.raises(UnknownNameError, match="item"):
        session.answer("item_9", 1)
    with pytest.raises(InvalidArgumentError, match="among 0, 1"):
        session.answer("item_2", 2)
    with pytest.raises(InvalidArgumentError, match="answered already, with 1; change that answer"):
        session.answer("item_1", 0)
    with pytest.raises(InvalidArgumentError, match="has no answer that could be changed"):
        session.change("item_2", 0)
    with pytest.raises(InvalidArgumentError, match="answered already"):
        session.skip("item_1")
    with pytest.raises(InvalidArgumentError, match="undo"):
        session.undo().undo()


def test_the_end_of_the_items_is_reported() -> None:
    session = Session.start(Design(BANK, stopper=MaximalItems(2)))
    while not session.stop_reason:
        session = session.answer(session.next_item(), 1)
    assert session.stop_reason == "2 items were asked"
    assert session.next_item() in NAMES  # who wants to may go on
    for item in session.allowed:
        session = session.skip(item)
    with pytest.raises(NothingToAskError, match="2 items were asked"):
        session.next_item()
    enemies = [Item("a", enemies=("b",)), Item("b")]
    bank = ItemBank.from_qmatrix([[1], [1]], items=enemies)
    session = Session.start(bank).answer("a", 1)
    assert session.stop_reason == "no item is left that may be asked"
    with pytest.raises(NothingToAskError, match="no item is left"):
        session.next_item()
    assert [row.allowed for row in session.rank()] == [False]


def test_chance_depends_on_the_seed_and_the_state_alone(tmp_path: Path) -> None:
    design = Design(BANK, RandomItem(), seed=11)
    session = Session.start(design, path=tmp_path / "s.json")
    path = []
    for _ in range(4):
        path.append(session.next_item())
        assert session.next_item() == path[-1]
        session = session.answer(path[-1], 1)
    again = Session.load(tmp_path / "s.json", Design(BANK, RandomItem()))
    assert again.design.seed == 11
    assert again.next_item() == session.next_item()
    assert session.undo().next_item() == path[-1]
    others = {Session.start(Design(BANK, RandomItem(), seed=s)).next_item() for s in range(30)}
    assert len(others) > 3
    with pytest.raises(InvalidArgumentError, match="seed"):
        Design(BANK, seed=-1)


def test_items_set_aside_stay_so_after_resuming(tmp_path: Path) -> None:
    best = MinimalEntropy().select(start_belief(BANK), NAMES).item
    design = Design(BANK, SympsonHetter(MinimalEntropy(), {best: 0.0}))
    session = Session.start(design, path=tmp_path / "s.json")
    assert session.next_item() != best
    session = session.answer(session.next_item(), 1)
    assert best not in session.allowed
    assert best not in Session.load(tmp_path / "s.json", design).allowed
    assert best in session.undo().allowed


def test_every_event_is_on_disk_before_it_counts(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    session = Session.start(BANK, path=path, about={"name": "Ann"})
    assert json.loads(path.read_text())["version"] == 1
    session = session.answer("item_3", 1, at="2026-01-02T03:04:05").skip("item_1")
    session = session.change("item_3", 0).answer("item_1", 1).undo()
    again = Session.load(path, BANK)
    assert again.events == session.events
    assert [event.kind for event in again.events][-1] is EventKind.UNDO
    assert again.events[0].at == "2026-01-02T03:04:05"
    assert again.about == {"name": "Ann"}
    assert again.state == session.state
    assert again.next_item() == session.next_item()
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.json"]
    assert Session.load(path, BANK).answer("item_2", 1).state.responses["item_2"] == "1"


def test_a_file_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "there" / "s.json"
    path.parent.mkdir()
    session = Session.start(BANK, path=path).answer("item_1", 1)
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(ModelFileError, match="cannot write"):
        session.answer("item_2", 1)
    assert session.state.asked == ("item_1",)
    moved = session.save(tmp_path / "t.json").answer("item_2", 1)
    assert Session.load(tmp_path / "t.json", BANK).state == moved.state


def _answer_on(path: Path) -> None:
    session = Session.load(path, BANK)
    number = 0
    while True:
        session = (
            session.answer("item_1", 1).undo() if number % 2 else session.skip("item_2").undo()
        )
        number += 1


@pytest.mark.slow
def test_killed_while_writing_it_resumes_with_nothing_lost(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    Session.start(BANK, path=path)
    process = multiprocessing.get_context("spawn").Process(target=_answer_on, args=(path,))
    process.start()
    while len(json.loads(path.read_text())["events"]) < 20 and process.is_alive():
        pass
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    events = Session.load(path, BANK).events
    assert len(events) >= 20
    assert {event.kind for event in events[1::2]} == {EventKind.UNDO}


def test_a_design_that_cannot_select_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for design in (
        Design(BANK, MaximalFisher()),
        Design(BANK, stopper=MaximalItems(2) & DeviationBelow(0.1)),
        # The first one ends the test at once, the other one does not fit the bank all the same.
        Design(BANK, stopper=EntropyBelow(99.0) | DeviationBelow(0.1)),
    ):
        with pytest.raises(InvalidModelError, match="one ability"):
            Session.start(design, path=path)
        assert list(tmp_path.iterdir()) == []


def test_a_copy_may_be_asked_to_be_new(tmp_path: Path) -> None:
    session = Session.start(BANK).answer("item_1", 1)
    path = tmp_path / "s.json"
    assert session.save(path, new=True).path == path
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match="exists; load it"):
        session.undo().save(path, new=True)
    assert path.read_bytes() == before
    session.undo().save(path)
    assert len(Session.load(path, BANK).events) == 2


def test_a_session_keeps_the_rights_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    session = Session.start(BANK, path=path)
    path.chmod(0o600)
    session.answer("item_1", 1)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_session_whose_file_was_removed_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    session = Session.start(BANK, path=path)
    path.unlink()
    session = session.answer("item_1", 1)
    assert Session.load(path, BANK).events == session.events
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.json"]


def damaged(path: Path, *words: str, bank: ItemBank = BANK) -> ModelFileError:
    before = path.read_bytes()
    with pytest.raises(ModelFileError) as caught:
        Session.load(path, bank)
    for word in (*words, str(path)):
        assert word in str(caught.value)
    assert path.read_bytes() == before
    return caught.value


def test_bad_files_are_reported_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    session = Session.start(BANK, path=path).answer("item_1", 1).answer("item_2", 0)
    text = path.read_text()
    # Cut off anywhere: line and column, and what can be saved.
    for cut in range(len(text) - 2):
        path.write_text(text[:cut])
        damaged(path)
    path.write_text(text[: text.index('"item_2"')])
    fault = damaged(path, "line 4", "column", "after 1 whole event,", "salvaged")
    assert (fault.line, fault.value) == (4, str(path))
    saved = Session.load(path, BANK, salvage=True)
    assert (saved.state.asked, saved.path) == (("item_1",), None)
    with pytest.raises(OvertakenError, match="another program"):
        session.answer("item_3", 1)
    path.write_text(text.replace('"version": 1', '"version": 2'))
    damaged(path, "version 1", "newer bnmind")
    path.write_text(text.replace("bnmind-session", "bnmind-bank"))
    damaged(path, "expected schema bnmind-session")
    path.write_text(text.replace('"item": "item_2"', '"item": "item_9"'))
    damaged(path, "events.1", "item_9")
    path.write_text(text.replace('"item": "item_2"', '"item": "item_1"'))
    damaged(path, "events.1", "answered already")
    path.write_text(text.replace('"kind": "answer"', '"kind": "guess"'))
    damaged(path, "events.0.kind")
    path.write_bytes(b"\xff\xfe")
    damaged(path, "UTF-8")
    path.write_text(text)
    other = ItemBank.from_qmatrix([[1, 0], [0, 1]]).with_title("Another")
    damaged(path, "of the bank Another", "Two skills", bank=other)
    with pytest.raises(ModelFileError, match="cannot read"):
        Session.load(tmp_path / "none.json", BANK)
    with pytest.raises(ModelFileError, match="exists; load it"):
        Session.start(BANK, path=path)


def test_whole_events_are_salvaged_wherever_a_file_breaks_off(tmp_path: Path) -> None:
    path, odd = tmp_path / "s.json", "Zoë\u2028\u0085"
    session = Session.start(BANK, path=path, about={"name": odd})
    session = session.answer("item_1", 1, at=odd).answer("item_2", 0, at=odd)
    whole = path.read_bytes()
    for cut in range(whole.index(b"events"), len(whole) - 2):
        path.write_bytes(whole[:cut])
        damaged(path)
        saved = Session.load(path, BANK, salvage=True)
        assert saved.events == session.events[: len(saved.events)]
        assert len(saved.events) >= min(2, whole[:cut].count(b"\n") - 2)
    path.write_bytes(whole[: whole.rindex(odd[2].encode()) + 1])
    damaged(path, "after 1 whole event,", "salvaged")


def test_two_writers_do_not_lose_each_others_answers(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    first = Session.start(BANK, path=path)
    second = Session.load(path, BANK).answer("item_1", 1)
    with pytest.raises(OvertakenError, match="another program"):
        first.answer("item_2", 1)
    assert Session.load(path, BANK).state == second.state


def test_banks_are_distinguished_by_what_matters() -> None:
    q, skills = [[1, 0], [0, 1]], ["a", "b"]
    bank = ItemBank.from_qmatrix(q, guess=0.2, skill_names=skills)
    worded = [Item("item_1", text="1 + 1", cost=2.0), Item("item_2")]
    same = ItemBank.from_qmatrix(q, guess=0.2, skill_names=skills, items=worded).with_title("T")
    assert bank_fingerprint(bank) == bank_fingerprint(same)
    for other in (
        ItemBank.from_qmatrix(q, guess=0.21, skill_names=skills),
        ItemBank.from_qmatrix(q, guess=0.2, skill_names=["a", "c"]),
        ItemBank.from_qmatrix(q, guess=0.2, skill_names=skills, items=["x", "y"]),
        ItemBank.from_qmatrix(q, guess=0.2, skill_names=skills, skills=Independent([0.4, 0.5])),
    ):
        assert bank_fingerprint(bank) != bank_fingerprint(other)


@pytest.mark.parametrize("most", [2**16, 0], ids=["table", "tree"])
def test_rank_says_how_much_and_about_which_skill(most: int) -> None:
    belief = start_belief(BANK, max_profiles=most).update("item_3", 1)
    rows = rank_items(belief, [name for name in NAMES if name != "item_3"])
    assert [row.information for row in rows] == sorted((r.information for r in rows), reverse=True)
    for row in rows:
        expected = 0.0
        for response, chance in enumerate(row.predicted.values()):
            after = belief.update(row.item, response)
            expected += chance * after.entropy
            assert chance == pytest.approx(belief.predict(row.item)[response])
        assert row.expected_entropy == pytest.approx(expected, abs=1e-9)
        assert row.information == pytest.approx(belief.entropy - expected, abs=1e-9)
        for skill, told in row.by_skill.items():
            left = sum(
                chance * float(entropy(belief.update(row.item, r).marginal(skill)))
                for r, chance in enumerate(row.predicted.values())
            )
            assert told == pytest.approx(float(entropy(belief.marginal(skill))) - left, abs=1e-9)
    assert {row.item: row.skill for row in rows}["item_1"] == "skill_1"
    assert {row.item: row.skill for row in rows}["item_5"] == "skill_2"


@settings(max_examples=examples(40))
@given(st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1), min_size=1))
def test_person_fit_agrees_with_leaving_out_one_answer(answers: dict[str, int]) -> None:
    found = person_fit(belief_after(answers))
    assert [answer.item for answer in found] == list(answers)
    for answer in found:
        others = {item: r for item, r in answers.items() if item != answer.item}
        predicted = belief_after(others).predict(answer.item)
        own = float(predicted[answers[answer.item]])
        assert answer.probability == pytest.approx(own, abs=1e-9)
        tail = sum(p for p in predicted.tolist() if p <= own + 1e-9)
        assert answer.p_value == pytest.approx(tail, abs=1e-9)


def test_person_fit_with_certain_answers() -> None:
    bank = ItemBank.from_qmatrix([[1], [1], [1]], guess=[0.0, 0.2, 0.2], slip=0.1)
    belief = start_belief(bank).update("item_1", 1).update("item_2", 1).update("item_3", 0)
    first, _, last = person_fit(belief)
    assert first.probability == pytest.approx(
        float(start_belief(bank).update("item_2", 1).update("item_3", 0).predict("item_1")[1])
    )
    assert last.p_value == pytest.approx(0.1)  # who solved the first has the skill
    with pytest.raises(InvalidArgumentError, match="item_1 was not answered"):
        person_fit(start_belief(bank), ["item_1"])


def test_the_report_is_plain_data() -> None:
    session = Session.start(BANK).answer("item_1", 1).skip("item_2").answer("item_3", 0)
    report = session.report()
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["asked"] == ["item_1", "item_2", "item_3"]
    assert plain["skipped"] == ["item_2"]
    assert [answer["response"] for answer in plain["answers"]] == ["1", "0"]
    assert plain["skills"][0]["levels"] == session.posterior["skill_1"]
    assert plain["entropy"] < plain["entropy_before"]
    assert plain["log_evidence"] == pytest.approx(
        belief_after({"item_1": 1, "item_3": 0}).log_evidence
    )
    assert plain["profile"] == {"skill_1": "1", "skill_2": "0"}
    assert plain["cost"] == plain["time"] == 3.0
    assert Session.start(BANK).rank()[0].allowed
    assert issubclass(OvertakenError, ModelFileError)


def test_files_beyond_every_session_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "ann.json"
    with path.open("wb") as file:
        file.truncate(SMALL_FILE + 1)
    with pytest.raises(ModelFileError, match="larger than 16,777,216 bytes"):
        Session.load(path, ItemBank.from_qmatrix([[1]], guess=0.2, slip=0.1))


def test_a_session_never_writes_a_file_too_long_to_be_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = ItemBank.from_qmatrix([[1], [1], [1]], guess=0.2, slip=0.1)
    path = tmp_path / "session.json"
    session = Session.start(bank, path=path).answer("item_1", "1")
    size = len(path.read_bytes())
    monkeypatch.setattr("bnmind.questions.event_log.SMALL_FILE", size + 10)
    with pytest.raises(ModelFileError, match=r"too long.*start a new session"):
        session.answer("item_2", "1")
    with pytest.raises(ModelFileError, match=r"too long.*start a new session"):
        session.undo()
    elsewhere = session.save(tmp_path / "other.json")
    assert elsewhere.events == session.events
    monkeypatch.setattr("bnmind.questions.event_log.SMALL_FILE", size - 10)
    with pytest.raises(ModelFileError, match="too long"):
        session.save(tmp_path / "third.json")
    monkeypatch.undo()
    assert not (tmp_path / "third.json").exists()
    assert Session.load(path, bank).events == session.events


def test_the_seed_of_a_design_is_named() -> None:
    design = Design(BANK, seed=5)
    assert design.seed == 5
    with pytest.raises(TypeError, match="positional argument"):
        Design(BANK, MinimalEntropy(), None, (), 5)  # type: ignore[call-arg]
