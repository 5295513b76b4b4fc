"""``bnmind ask``: the dialogue, its keys, its file, and the ranking."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.pgm.files import read_network, write_model
from bnmind.questions import (
    DIALOGUE_STOPPERS,
    QUESTION_SCORES,
    TARGET_MEASURES,
    rank_questions,
    read_diagnosis,
    read_dialogue,
)
from bnmind.questions.asked import DiagnosisMarks
from tests.command_line import ROOT, assert_one_line_error, run

ASIA = str(ROOT / "models" / "diagnosis" / "asia.xdsl")
COSTS = str(ROOT / "models" / "diagnosis" / "asia-costs.csv")
FILE = Path("ann.json")


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _ask(*answers: str, options: str = "--about lung", model: str = ASIA) -> Result:
    result = run("ask", model, *options.split(), answers="".join(f"{line}\n" for line in answers))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result


def test_the_best_question_is_asked_and_the_belief_shown() -> None:
    shown = _ask("yes", "yes", "q").stdout
    assert "1. xray" in shown
    assert "2. smoke" in shown
    assert "lung: no 51.1 %, yes 48.9 %" in shown
    assert "2 questions asked; 0.94 bits unknown." in shown


def test_marks_in_the_file_are_the_defaults() -> None:
    shown = _ask("q", options="").stdout
    assert "8 variables, 3 targets, 4 questions." in shown
    assert "tub: no 99.0 %" in shown
    shown = _ask("q", options="--about lung --among bronc,dysp").stdout
    assert "1 target, 2 questions" in shown


def test_a_dialogue_stops() -> None:
    shown = _ask("no", "", options="--about lung --stop certainty:0.99").stdout
    assert "The dialogue is over: each target is 0.99 certain or more." in shown
    assert "1 question asked" in shown
    shown = _ask("yes", "u", "q", options="--about lung --stop questions:1").stdout
    assert shown.count("1. xray") == 2


def test_why_this_question() -> None:
    shown = _ask("?", "?asia", "q").stdout
    assert "xray should tell 0.185 of 0.307 bits and leave 0.122." in shown
    assert "Other questions: smoke 0.032, dysp 0.025, asia 0.000." in shown
    assert "asia should tell 0.000 of 0.307 bits" in shown
    assert "did you mean asia?" in _ask("?asja", "q").stdout


def test_doubtful_answers() -> None:
    assert "no answers to doubt yet" in _ask("d", "q").stdout
    shown = _ask("xray=no", "dysp=yes", "smoke=no", "tub=yes", "d", "q").stdout
    assert "In most conflict with the others: xray=no. Without it:" in shown
    assert "Most doubtful answer: xray=no, with a probability of" in shown
    shown = _ask("yes", "yes", "d", "q").stdout
    assert "so they support each other" in shown
    assert "No answer is in conflict with the others." in shown


def test_doubts_of_many_answers_are_finite() -> None:
    fault, proof = Variable("fault", ("no", "yes")), Variable("proof", ("no", "yes"))
    clues = [Variable(f"clue{i}", ("no", "yes")) for i in range(20)]
    rates = np.array([[1 - 1e-20, 1e-20], [1e-20, 1 - 1e-20]])
    network = Network(
        (
            TabularCPD(fault, (), np.array([0.5, 0.5])),
            TabularCPD(proof, (fault,), np.eye(2)),
            *(TabularCPD(clue, (fault,), rates) for clue in clues),
        )
    )
    write_model(network, "net.xdsl")
    told = [f"{clue.name}=yes" for clue in clues]
    shown = _ask("proof=no", *told, "d", options="--about fault", model="net.xdsl").stdout
    assert "In most conflict with the others: proof=no." in shown
    assert "The conflict of all answers is +1308.77 bits." in shown


def test_answers_may_be_skipped_changed_and_undone() -> None:
    shown = _ask("s", "xray=yes", "xray=no", "u", "u", "u", "u", "q").stdout
    assert shown.count("undone") == 3
    assert "there is nothing to undo" in shown
    assert "0 questions asked" in shown


def test_commands_may_be_typed_as_words() -> None:
    letters = _ask("yes", "s", "?", "?asia", "u", "d", "h", "q").stdout
    words = _ask("yes", "skip", "why", "Why asia", "undo", "doubts", "help", "quit").stdout
    assert words == letters
    options = "--about lung --stop questions:1"
    assert _ask("yes", "undo", "quit", options=options).stdout.count("1. xray") == 2


def test_a_state_that_is_the_word_of_a_command_is_an_answer() -> None:
    Path("net.bif").write_text(
        "network n {}\nvariable a {type discrete [2] {no, undo};}\n"
        "variable b {type discrete [2] {no, skip};}\n"
        "probability (a) {table 0.5, 0.5;}\n"
        "probability (b | a) {(no) 0.9, 0.1; (undo) 0.2, 0.8;}\n"
    )
    shown = _ask("skip", options="--about a", model="net.bif").stdout
    assert "1 question asked;" in shown
    assert "a: no 11.1 %, undo 88.9 %" in shown


def test_wrong_entries_take_one_line_and_change_nothing() -> None:
    shown = _ask("maybe", "xray=maybe", "zray=no", "lung=yes", "H", "q").stdout
    assert "expected a state of xray among no, yes; got 'maybe'" in shown
    assert "did you mean xray?" in shown
    assert "lung is a target, which cannot be asked" in shown
    assert "An answer is one of the states in brackets." in shown
    assert "0 questions asked" in shown


def test_an_impossible_answer_is_refused() -> None:
    network = read_network(ASIA)
    write_model(network, "asia.bif")
    options = "--about xray --evidence tub=yes"
    shown = _ask("either=no", "q", options=options, model="asia.bif").stdout
    assert "tub" in shown
    assert "0 questions asked" in shown


def test_the_end_of_the_input_ends_the_dialogue() -> None:
    assert "1 question asked" in _ask("no").stdout
    assert "0 questions asked" in _ask().stdout


def test_a_dialogue_is_saved_and_resumed() -> None:
    options = "--about lung --evidence asia=no --session ann.json"
    assert "Saved in ann.json" in _ask("no", "s", "u", "q", options=options).stdout
    kinds = [event.kind.value for event in read_dialogue(FILE).events]
    assert kinds == ["answer", "skip", "undo"]
    shown = _ask("q", options="--session ann.json").stdout
    assert "Resumed after 1 question." in shown
    assert "2. smoke" in shown
    before = FILE.read_bytes()
    result = run("ask", ASIA, "--about", "tub", "--session", "ann.json")
    assert_one_line_error(result, "began with --about lung, not with --about tub")
    result = run("ask", ASIA, "--stop", "questions:3", "--session", "ann.json")
    assert_one_line_error(result, "began without --stop, not with --stop questions:3")
    assert FILE.read_bytes() == before


def test_a_dialogue_saved_with_given_goes_on() -> None:
    options = "--about lung --evidence asia=no --session ann.json"
    _ask("q", options=options)
    FILE.write_text(FILE.read_text().replace("--evidence", "--given"))  # a dialogue of before
    assert "Resumed" in _ask("no", "q", options=options).stdout
    result = run("ask", ASIA, "--evidence", "asia=yes", "--session", "ann.json")
    assert_one_line_error(result, "began with --evidence asia=no, not with --evidence asia=yes")


def test_damaged_options_are_named() -> None:
    _ask("q", options="--about lung --session ann.json")
    FILE.write_text(FILE.read_text().replace('[\\"lung\\"]', "lung"))
    for options in ((), ("--about", "lung")):
        result = run("ask", ASIA, *options, "--session", "ann.json")
        assert_one_line_error(result, "--about", "cannot be read")


def test_what_is_given_is_not_in_doubt() -> None:
    shown = _ask("yes", "d", "q", options="--about lung --evidence smoke=no").stdout
    assert "smoke      " not in shown
    assert "xray       " in shown


def test_another_writer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--about", "lung", "--session", "ann.json")
    _ask("q", options=" ".join(options))

    def entered(_: str) -> str:
        FILE.write_text(FILE.read_text().replace("bnmind-dialogue", "bnmind-dialogues"))
        return "no"

    monkeypatch.setattr("builtins.input", entered)
    result = run("ask", ASIA, *options)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "another program has written to ann.json" in line


def test_the_ranking_is_printed() -> None:
    ranking = rank_questions(
        read_network(ASIA), about="lung", among=["asia", "smoke", "xray", "dysp"]
    )
    assert _ask(options="--about lung --rank").stdout == f"{ranking}\n"
    record = json.loads(_ask(options="--about lung --rank --json").stdout)
    assert [row["question"] for row in record["questions"]] == [row.question for row in ranking]
    assert record["questions"][0]["information"] == ranking.best.information
    assert record["entropy"] == ranking.entropy


def test_costs_scores_and_measures() -> None:
    shown = _ask(options=f"--costs {COSTS} --score per-cost --measure marginals --rank").stdout
    first = shown.splitlines()[2]
    assert first.startswith("dysp")
    assert "cost" in shown.splitlines()[1]
    shown = _ask("q", options=f"--costs {COSTS} --score less-cost:0.01 --stop cost:3").stdout
    assert "1. dysp" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("--about",)),
        (("--about", "lang"), ("did you mean lung",)),
        (("--about", "lung", "--evidence", "smoke=maybe"), ("smoke",)),
        (("--about", "lung", "--evidence", "lung=yes"), ("lung is in the evidence",)),
        (("--about", "lung", "--score", "less-cost"), ("needs a number",)),
        (("--about", "lung", "--score", "best"), ("best",)),
        (("--about", "lung", "--score", "per-cost", "--rank"), ("a cost above 0",)),
        (("--about", "lung", "--stop", "certainty:2"), ("certainty:2",)),
        (("--about", "lung", "--costs", "missing.csv"), ("missing.csv",)),
        (("--about", "lung", "--json"), ("--rank",)),
        (("--about", "lung", "--session", "missing/ann.json"), ("missing",)),
    ],
)
def test_faults_take_one_line(arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    write_model(read_network(ASIA), "asia.bif")
    assert_one_line_error(run("ask", "asia.bif", *arguments), *words)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("cost,question\nasia,1\n", "question,cost"),
        ("question,cost\nasia,dear\n", "line 2"),
        ("question,cost\nasia,1\nasia,2\n", "names asia again"),
        ("question,cost\nasia\n", "line 2"),
        ('question,cost\n"asia,1\n', "CSV"),
        ("", "question,cost"),
    ],
)
def test_faulty_costs_are_named(text: str, word: str) -> None:
    Path("costs.csv").write_text(text)
    result = run("ask", ASIA, "--about", "lung", "--costs", "costs.csv")
    assert_one_line_error(result, word, "costs.csv")


def test_help_lists_the_members_of_the_registries() -> None:
    shown = run("ask", "--help").stdout
    for name in (*QUESTION_SCORES, *TARGET_MEASURES, *DIALOGUE_STOPPERS):
        assert f"  {name}" in shown


def test_diagnosis_marks_are_read() -> None:
    marks = read_diagnosis(ASIA)
    assert marks.targets == ("tub", "lung", "bronc")
    assert marks.observations == marks.ranked == ("asia", "smoke", "xray", "dysp")
    assert marks.faults == {"tub": ("yes",), "lung": ("yes",), "bronc": ("yes",)}
    write_model(read_network(ASIA), "plain.xdsl")
    assert read_diagnosis("plain.xdsl") == DiagnosisMarks()
