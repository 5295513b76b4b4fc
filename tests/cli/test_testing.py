"""``bnmind test``: the dialogue, skipping, changing, undoing, saving and resuming."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from bnmind._registry import Registered
from bnmind.adaptive import (
    SELECTORS,
    STOPPERS,
    EntropyBelow,
    MaximalCost,
    MaximalItems,
    Session,
    read_bank,
    selector_by_name,
    stopper_by_names,
)
from bnmind.errors import BnmindError, UnknownNameError
from tests.command_line import ROOT, assert_one_line_error, cold, run

BANK = str(ROOT / "models" / "banks" / "fractions.json")
ABILITY = str(ROOT / "models" / "banks" / "ability.json")
FILE = Path("ann.json")


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _test(*answers: str, options: str = "", bank: str = BANK) -> Result:
    result = run("test", bank, *options.split(), answers="".join(f"{line}\n" for line in answers))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result


def _events() -> list[Any]:
    return [
        (event["kind"], event.get("item", ""), event.get("response", ""))
        for event in json.loads(FILE.read_text())["events"]
    ]


def test_items_are_those_of_a_session_and_the_end_is_reported() -> None:
    shown = _test("1", "0", "1", "", options="--stop items:3").stdout
    session = Session.start(read_bank(BANK))
    for response in (1, 0, 1):
        item = session.next_item()
        assert f"{len(session.state.asked) + 1}. {item}: {session.bank.item(item).text}" in shown
        session = session.answer(item, response)
    assert "The test is over: 3 items were asked." in shown
    assert "The answers are not saved; --session FILE would save each" in shown
    assert f"{session.belief.entropy:.2f} now" in shown
    for label in session.bank.labels:
        assert label in shown


def test_every_answer_is_saved_and_the_same_command_resumes() -> None:
    first = _test("1", "s", "0", options="--session ann.json --stop items:5")  # the input ends
    assert "Each answer is saved in ann.json; the same command with --session" in first.stdout
    kinds = [kind for kind, _, _ in _events()]
    assert kinds == ["answer", "skip", "answer"]
    assert [path.name for path in Path().iterdir()] == ["ann.json"]
    shown = _test("1", "1", "", options="--session ann.json").stdout
    assert "Resumed after 3 items." in shown
    assert "The test is over: 5 items were asked; 1 item was skipped." in shown
    assert len(_events()) == 5


def test_answers_change_and_come_out_of_order_and_are_undone() -> None:
    shown = _test(
        *("1", "add_same=1", "add_same=0", "u", "?", "x", "add_same=7", "nothing=1", "q"),
        options="--session ann.json",
    ).stdout
    assert [kind for kind, _, _ in _events()] == ["answer", "answer", "change", "undo"]
    assert _events()[1:3] == [("answer", "add_same", "1"), ("change", "add_same", "0")]
    assert "The most informative items" in shown
    assert "expected a response to" in shown
    assert "expected an item" in shown
    assert "--session ann.json resumes" in shown


def test_undo_after_the_end_continues_the_test() -> None:
    shown = _test("1", "u", "0", "", options="--stop items:1 --session ann.json").stdout
    assert shown.count("The test is over") == 2
    assert [response for _, _, response in _events()] == ["1", "", "0"]
    assert "there is nothing to undo" in _test("u", "q").stdout


def _example(registry: Mapping[str, Registered[Any]], name: str) -> str:
    """Return a text that names a member, with an argument only if it needs one."""
    member = registry[name]
    assert member.plain is not None or member.argument is not None
    return name if member.argument is None or member.plain else f"{name}:{member.argument.example}"


def test_a_bank_of_an_ability_and_other_selectors() -> None:
    shown = _test("1", "1", "q", bank=ABILITY, options="--selector fisher").stdout
    assert "One ability" in shown
    assert re.search(r"ability +\d\.\d\d ± 0\.\d\d", shown)
    assert "level" not in shown
    for name in SELECTORS:
        bank = ABILITY if name in ("fisher", "mepv", "a-stratified") else BANK
        _test("1", "q", bank=bank, options=f"--selector {_example(SELECTORS, name)} --seed 3")


def test_options_of_a_saved_test_must_be_the_same() -> None:
    _test("1", options="--session ann.json --selector gdi --stop items:4 --seed 5")
    _test("q", options="--session ann.json --selector gdi --stop items:4 --seed 5")
    for options in ("--selector entropy", "--stop items:5", "--seed 6"):
        result = run("test", BANK, "--session", "ann.json", *options.split())
        assert_one_line_error(result, options.split()[0])
    assert len(_events()) == 1


def test_a_saved_test_without_an_option_says_so_and_names_are_of_any_case() -> None:
    shown = _test("s", "s", "", options="--session ann.json --stop Items:2 --selector GDI").stdout
    assert "The test is over: 2 items were asked; none was answered." in shown
    _test("", options="--session ann.json --stop items:2 --selector gdi")
    FILE.unlink()
    _test("1", options="--session ann.json")
    options = ("--session", "ann.json", "--stop", "items:3")
    words = "expected the design of the test saved in ann.json, got another one; leave out --stop"
    assert_one_line_error(run("test", BANK, *options), words)
    # As it was saved when a test without --stop had no end.
    FILE.write_text(FILE.read_text().replace('"stop": "certainty:0.95 gain:0.01 items:30"', ""))
    assert_one_line_error(run("test", BANK, *options), words)


def test_a_test_without_a_stop_ends_by_itself_and_says_when(tmp_path: Path) -> None:
    design = tmp_path / "design.toml"
    design.write_text("seed = 3\n")
    for option in ("", f"--design {design}", "--prior uniform"):
        shown = _test(*["1"] * 12, "", options=option).stdout
        assert "when each skill is known with probability 0.95" in shown
        assert "or after 30 items; --stop says otherwise." in shown
        assert "The test is over: each skill is known with probability 0.95 or more." in shown
        assert "\n8. " not in shown
    shown = _test("q", options="--stop items:3").stdout
    assert "--stop says otherwise" not in shown
    options = f"--design {design} --session ann.json"
    _test("1", "q", options=options)
    assert "2 items asked" in _test("1", "q", options=options).stdout
    shown = _test(*["1"] * 30, "", bank=ABILITY).stdout
    assert "standard deviation of the ability is at most 0.3, or after 30 items" in shown
    assert "The test is over: 30 items were asked." in shown


def test_bad_files_end_in_one_line_and_answers_stay() -> None:
    _test("1", "0", "1", options="--session ann.json")
    whole = FILE.read_text()
    assert_one_line_error(run("test", ABILITY, "--session", "ann.json"), "Fractions")
    FILE.write_text(whole[:-60])
    cut = FILE.read_text()
    assert_one_line_error(run("test", BANK, "--session", "ann.json"), "line 5", "--salvage")
    assert FILE.read_text() == cut
    shown = _test("q", options="--session ann.json --salvage").stdout
    assert "Resumed after 2 items." in shown
    assert len(json.loads(Path("ann.json.salvaged").read_text())["events"]) == 2
    assert FILE.read_text() == cut
    # Answers given since are not replaced by what is salvaged once more.
    _test("1", options="--session ann.json.salvaged")
    again = run("test", BANK, "--session", "ann.json", "--salvage")
    assert_one_line_error(again, "--session ann.json.salvaged resumes")
    assert len(json.loads(Path("ann.json.salvaged").read_text())["events"]) == 3
    FILE.write_text(whole.replace('"version": 1', '"version": 9'))
    newer = run("test", BANK, "--session", "ann.json")
    assert_one_line_error(newer, "newer bnmind")
    assert "--salvage" not in newer.stderr
    assert_one_line_error(run("test", "none.json"), "none.json")
    assert_one_line_error(run("test", BANK, "--session", "no/where.json"), "directory")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("--selector best", "selector among"),
        ("--selector gdi:2", "takes no argument"),
        ("--selector entropy:nothing", "skill"),
        ("--selector randomesque:x", "number"),
        ("--selector fisher", "one ability"),
        ("--stop never:1", "stopper among"),
        ("--stop items", "number"),
        ("--stop items:0", "at least 1"),
        ("--stop items:1.5", "whole number"),
        ("--stop certainty:2", "probability"),
    ],
)
def test_bad_options_end_in_one_line(options: str, word: str) -> None:
    result = run("test", BANK, *options.split(), answers="q\n")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert word in result.stderr
    assert not list(Path().iterdir())


def test_names_make_selectors_and_stoppers() -> None:
    for name in SELECTORS:
        assert hasattr(selector_by_name(_example(SELECTORS, name)), "select")
    for name in STOPPERS:
        assert hasattr(stopper_by_names([_example(STOPPERS, name)]), "stop")
    assert selector_by_name("GDI") == selector_by_name("gdi")
    assert stopper_by_names(["Items:4"]) == MaximalItems(4)
    assert stopper_by_names([]) is None
    assert stopper_by_names(["items:4"]) == MaximalItems(4)
    joined = MaximalItems(4) & EntropyBelow(1) | MaximalCost(9, "time")
    assert stopper_by_names(["items:4+entropy:1", "time:9"]) == joined
    with pytest.raises(BnmindError):
        stopper_by_names(["items:nan"])


def test_an_unknown_name_is_answered_with_all_names() -> None:
    with pytest.raises(UnknownNameError) as caught:
        selector_by_name("MFI")
    assert ", ".join(SELECTORS) in str(caught.value)


def test_it_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = cold("test", BANK, "--stop", "items:1", directory=tmp_path, answers="1\n")
    assert done.returncode == 0, done.stderr
    assert "The test is over" in done.stdout


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("--selector fisher", "bank of one ability"),
        ("--selector entropy:nosuch", "nosuch"),
        ("--selector nosuch", "nosuch"),
        ("--stop deviation:0.1", "bank of one ability"),
        ("--stop items:5+deviation:0.1", "bank of one ability"),
        ("--stop items:0", "at least 1"),
        ("--seed -1", "seed"),
    ],
)
def test_options_that_do_not_fit_leave_no_session_behind(options: str, word: str) -> None:
    for file in ((), ("--session", str(FILE))):
        assert_one_line_error(run("test", BANK, *file, *options.split(), answers="1\n"), word)
    assert list(Path().iterdir()) == []
    _test("1", options="--session ann.json --stop items:3")  # the name is still free


def test_salvaging_twice_overwrites_nothing() -> None:
    _test("1", "0", options="--session ann.json")
    FILE.write_text(FILE.read_text()[:-60])
    _test("1", options="--session ann.json --salvage")
    salvaged = Path("ann.json.salvaged").read_bytes()
    again = run("test", BANK, "--session", "ann.json", "--salvage", answers="0\n")
    assert_one_line_error(again, "ann.json.salvaged exists already")
    assert Path("ann.json.salvaged").read_bytes() == salvaged


def test_a_test_continued_elsewhere_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered_elsewhere() -> str:
        if not elsewhere:
            elsewhere.append(Session.load(FILE, read_bank(BANK)).answer("cancel_eighths", 0))
        return "now"

    elsewhere: list[Session] = []
    monkeypatch.setattr("bnmind.cli.dialogues._now", answered_elsewhere)
    result = run("test", BANK, "--session", "ann.json", answers="1\n0\n1\n")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "the same command resumes what is there" in result.stderr
    assert _events() == [("answer", "cancel_eighths", "0")]
