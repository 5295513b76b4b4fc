"""Dialogues: steps, reasons, stopping, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind._files import OvertakenError
from bnmind.errors import (
    BnmindError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    ModelFileError,
    NothingToAskError,
    UnknownNameError,
)
from bnmind.junction import compile_model
from bnmind.pgm import FunctionalCPD, Network, NoisyMaximum, TabularCPD, Variable
from bnmind.pgm.functions import Function, Listed, Maximum, Minimum, Threshold
from bnmind.questions import (
    DIALOGUE_STOPPERS,
    Dialogue,
    Inquiry,
    rank_questions,
    read_dialogue,
    resumed_dialogue,
    write_dialogue,
)
from bnmind.questions.dialogue import dialogue_to_json, fingerprint
from bnmind.questions.event_log import Event, EventKind
from tests.modes import examples
from tests.questions.enumeration import bits, joint_given, situations, table, table_over
from tests.questions.machine import FAULT, MACHINE, begin


def after(dialogue: Dialogue, **answers: str) -> Dialogue:
    for question, answer in answers.items():
        dialogue, _ = dialogue.answer(question, answer)
    return dialogue


@settings(max_examples=examples(20))
@given(situations(max_variables=5, most=2), st.booleans(), st.integers(0, 2**32 - 1))
def test_beliefs_and_reasons_equal_those_of_enumeration(
    situation: tuple[Network, tuple[str, ...], dict[str, Any]], jointly: bool, seed: int
) -> None:
    network, about, evidence = situation
    measure = "joint" if jointly else "marginals"
    dialogue = Dialogue(Inquiry.of(network, about=about, evidence=evidence, measure=measure))
    rng = np.random.default_rng(seed)
    known = dict(evidence)
    while not dialogue.stop_reason():
        question = dialogue.next_question()
        effect = dialogue.why()
        joint = joint_given(network, known)
        chances = table_over(joint, [question])
        possible = [a for a, p in zip(network.variable(question).states, chances, strict=True) if p]
        assert [part.answer for part in effect.answers] == possible
        for part in effect.answers:
            there = joint_given(network, {**known, question: part.answer})
            for name in about:
                expected = table_over(there, [name]).tolist()
                assert list(part.targets[name].values()) == pytest.approx(expected, abs=1e-9)
            groups = [about] if jointly else [(name,) for name in about]
            left = sum(bits(table_over(there, group)) for group in groups)
            assert part.entropy == pytest.approx(left, abs=1e-9)
        answer = possible[int(rng.integers(len(possible)))]
        later, step = dialogue.answer(question, answer)
        place = network.variable(question).index(answer)
        assert step.probability == pytest.approx(float(chances[place]), abs=1e-9)
        assert step.entropy_before == pytest.approx(dialogue.entropy)
        back, _ = later.undo()
        # An engine may take another way to the same answer, which differs in the last digits.
        for name, states in dialogue.belief.items():
            assert dict(back.belief[name]) == pytest.approx(dict(states), abs=1e-12)
        assert back.next_question() == question
        dialogue, known[question] = later, answer
    assert set(dialogue.evidence) == set(known)


def test_the_next_question_is_the_best_of_the_ranking() -> None:
    dialogue = begin()
    ranking = rank_questions(MACHINE, about="fault")
    assert dialogue.ranking == ranking
    assert dialogue.next_question() == ranking.best.question
    assert repr(dialogue) == "Dialogue(0 of 3 questions asked)"


def test_a_skipped_question_is_not_asked_again_but_may_be_answered() -> None:
    first = begin()
    skipped, step = first.skip(first.next_question())
    assert (step.probability, step.entropy) == (1.0, step.entropy_before)
    assert skipped.state.skipped == ("noise",)
    assert skipped.next_question() != "noise"
    assert after(skipped, noise="no").state.skipped == ()


def test_changes_and_undos() -> None:
    dialogue = after(begin(), noise="no", leak="yes")
    changed, step = dialogue.change("noise", "yes")
    assert changed.belief == after(begin(), noise="yes", leak="yes").belief
    alone = after(begin(), leak="yes")
    assert step.probability == pytest.approx(alone.ranking.named("noise").predicted["yes"])
    back, _ = changed.undo()
    assert back.state.responses == {"noise": "no", "leak": "yes"}
    twice, _ = back.undo()
    assert twice.state.asked == ("noise",)
    assert len(twice.events) == 5


@pytest.mark.parametrize(
    ("step", "error", "text"),
    [
        (lambda d: d.answer("noise", "no"), InvalidArgumentError, "answered already, with yes"),
        (lambda d: d.change("leak", "no"), InvalidArgumentError, "answer it first"),
        (lambda d: d.skip("heat"), InvalidArgumentError, "skipped already"),
        (lambda d: d.undo()[0].undo()[0].undo(), InvalidArgumentError, "nothing to undo"),
        (lambda d: d.answer("fault", "pump"), InvalidArgumentError, "fault is a target"),
        (lambda d: d.answer("leek", "no"), UnknownNameError, "did you mean leak"),
        (lambda d: d.answer("leak", "maybe"), UnknownNameError, "maybe"),
        (lambda d: d.why("noise"), InvalidArgumentError, "answered already"),
        (lambda d: d.why("fault"), InvalidArgumentError, "fault is a target"),
        (lambda d: d.skip("leak")[0].why(), NothingToAskError, "no question left"),
    ],
)
def test_wrong_steps_are_refused(step: Any, error: type[Exception], text: str) -> None:
    dialogue = begin().skip("heat")[0].answer("noise", "yes")[0]
    with pytest.raises(error, match=text):
        step(dialogue)


def test_an_impossible_answer_is_refused_and_the_contradiction_named() -> None:
    network = Network(
        (
            *MACHINE.cpds,
            table(
                FAULT.__class__("echo", ("no", "yes")),
                (MACHINE.variable("noise"),),
                [[1.0, 0.0], [0.0, 1.0]],
            ),
        )
    )
    dialogue = after(Dialogue(Inquiry.of(network, about="fault")), noise="no")
    with pytest.raises(ImpossibleEvidenceError, match="noise") as caught:
        dialogue.answer("echo", "yes")
    assert set(caught.value.evidence) == {"noise", "echo"}
    assert dialogue.next_question() in ("leak", "heat")


def test_evidence_given_before_is_no_question() -> None:
    dialogue = begin(evidence={"noise": "yes", "leak": [0.3, 0.6]})
    assert dialogue.open_questions == ("heat",)
    with pytest.raises(InvalidArgumentError, match="given before the dialogue"):
        dialogue.answer("noise", "no")


def test_a_volunteered_answer_need_not_be_among_the_questions() -> None:
    dialogue = begin(among=["noise"])
    told = after(dialogue, leak="yes")
    assert told.next_question() == "noise"
    assert dialogue.why("heat").information > 0


def test_a_target_cannot_be_asked() -> None:
    with pytest.raises(InvalidArgumentError, match="both a target and a question"):
        begin(among=["fault", "noise"])
    with pytest.raises(ImpossibleEvidenceError):
        begin(evidence={"leak": [0.0, 0.0]})


def test_stoppers_say_why() -> None:
    dialogue = begin(costs={"noise": 2.0})
    assert dialogue.stop_reason(["certainty:0.95"]) == ""
    assert dialogue.stop_reason(["entropy:2"]) == "at most 2 bits are unknown"
    assert dialogue.stop_reason(["questions:0"]) == "0 questions were asked"
    told = after(dialogue, noise="no")
    assert told.stop_reason(["cost:2", "questions:1"]) == "the questions cost 2 together"
    assert told.stop_reason(["questions:1"]) == "1 question was asked"
    assert "left to ask" in after(told, leak="no", heat="low").stop_reason()
    assert told.stop_reason(["certainty:0.7"]) == "each target is 0.7 certain or more"
    assert told.stop_reason([lambda one: f"{len(one.state.asked)} asked"]) == "1 asked"
    with pytest.raises(UnknownNameError, match="certain"):
        told.stop_reason(["certain:0.7"])
    for wrong in ("certainty:1.5", "certainty", "entropy:inf", "questions:0.5", "gain:-1"):
        with pytest.raises(InvalidArgumentError, match=wrong):
            told.stop_reason([wrong])


@pytest.mark.parametrize("name", DIALOGUE_STOPPERS)
def test_stoppers_contract(name: str) -> None:
    member = DIALOGUE_STOPPERS[name]
    assert member.argument is not None
    assert member.given is not None
    stopper = member.given(member.argument.read(member.argument.example))
    reasons = [stopper(begin()), stopper(after(begin(), noise="no"))]
    assert all(isinstance(reason, str) for reason in reasons)
    with pytest.raises(BnmindError):
        member.given(-1)


def test_text_is_one_event_a_line_and_reads_back(tmp_path: Path) -> None:
    dialogue = after(begin(), noise="no").skip("leak", at="12:00")[0].undo()[0]
    path = tmp_path / "talk.json"
    text = write_dialogue(path, dialogue, options={"--among": "noise"})
    assert text == path.read_text() == dialogue_to_json(dialogue, options={"--among": "noise"})
    assert [json.loads(line.strip(" ,"))["kind"] for line in text.splitlines()[2:5]] == [
        "answer",
        "skip",
        "undo",
    ]
    saved = read_dialogue(path)
    assert saved.options == {"--among": "noise"}
    assert saved.events == dialogue.events
    again = resumed_dialogue(saved, dialogue.inquiry, path=path)
    assert again.belief == dialogue.belief
    json.loads(dialogue_to_json(begin()))


def test_a_file_of_another_program_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    text = write_dialogue(path, begin())
    other = write_dialogue(path, after(begin(), noise="no"), before=text)
    for before, why in ((None, "exists; load it"), (text, "another program has written")):
        with pytest.raises(OvertakenError, match=why):
            write_dialogue(path, begin(), before=before)
    assert path.read_text() == other
    path.unlink()
    assert write_dialogue(path, begin(), before=other) == text


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('"version": 1', '"version": 2', "newer"),
        ('"bnmind-dialogue"', '"bnmind-session"', "bnmind-session"),
        ('"kind": "answer"', '"kind": "shout"', "events.0.kind"),
        ('"question"', '"quest"', "quest"),
        ('"about"', '"of"', "about"),
        ('"about": ["fault"]', '"about": "fault"', "about"),
        (" ]}", "", "truncated or damaged at line 5, column 0, after 1 whole event,"),
        ('"answer": "no"', '"answer": 3', "events.0.answer"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, old: str, new: str, text: str) -> None:
    path = tmp_path / "talk.json"
    whole = write_dialogue(path, after(begin(), noise="no"))
    assert old in whole
    path.write_text(whole.replace(old, new))
    with pytest.raises(ModelFileError, match=text) as caught:
        read_dialogue(path)
    assert str(path) in str(caught.value)


def test_a_dialogue_resumes_with_its_own_network_and_targets(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    write_dialogue(path, after(begin(), noise="no"))
    saved = read_dialogue(path)
    other = Network((*MACHINE.cpds[1:], table(FAULT, (), [0.5, 0.4, 0.1])))
    with pytest.raises(ModelFileError, match="other variables, states or tables"):
        resumed_dialogue(saved, Inquiry.of(other, about="fault"), path=path)
    with pytest.raises(ModelFileError, match="about fault, not about leak"):
        resumed_dialogue(saved, Inquiry.of(MACHINE, about="leak"))
    with pytest.raises(ModelFileError, match="given before the dialogue"):
        resumed_dialogue(saved, Inquiry.of(MACHINE, about="fault", evidence={"noise": "no"}))
    with pytest.raises(ModelFileError, match="cannot read"):
        read_dialogue(tmp_path / "missing.json")


def test_events_are_checked_from_construction() -> None:
    with pytest.raises(InvalidArgumentError, match="nothing to undo"):
        Dialogue(begin().inquiry, (Event(EventKind.UNDO),))
    with pytest.raises(UnknownNameError):
        Dialogue(begin().inquiry, (Event(EventKind.ANSWER, "x", "y"),))


def test_fingerprints_tell_noisy_and_functional_nodes_apart() -> None:
    a, b, c = (Variable(name, ("no", "yes")) for name in "abc")
    coins = tuple(TabularCPD(v, (), np.array([0.5, 0.5])) for v in (a, b))

    def noisy(strength: float, leak: float) -> Network:
        link = np.array([[1.0, 1 - strength], [0.0, strength]])
        return Network((*coins, NoisyMaximum(c, (a, b), (link, link), np.array([1 - leak, leak]))))

    def functional(function: Function) -> Network:
        return Network((*coins, FunctionalCPD(c, (a, b), function)))

    def several() -> list[Network]:
        tables = (Listed(np.array([[0, 0], [0, 1]])), Listed(np.array([[0, 1], [1, 0]])))
        functions: tuple[Function, ...] = (Maximum(), Minimum(), Threshold(1), *tables)
        links = [noisy(0.8, 0), noisy(0.1, 0), noisy(0.8, 0.1)]
        return [*links, *(functional(function) for function in functions)]

    texts = [fingerprint(compile_model(network)) for network in several()]
    assert len(set(texts)) == len(texts)
    assert [fingerprint(compile_model(network)) for network in several()] == texts
