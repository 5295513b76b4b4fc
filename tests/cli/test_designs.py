"""One design file for ``bnmind test`` and ``bnmind simulate``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import Result

from bnmind.adaptive import Responses, read_bank
from tests.command_line import assert_one_line_error, run

ROOT = Path(__file__).parents[2]
BANK = str(ROOT / "models/banks/fractions.json")
FILE = str(ROOT / "models/designs/fractions.toml")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Drawing takes most of the time; tests/lab/test_adaptive.py looks at the pictures.
    monkeypatch.setattr("bnmind.lab.simulations.png", lambda figure: b"")


def administer(*answers: str, options: str = "") -> Result:
    result = run("test", BANK, *options.split(), answers="".join(f"{line}\n" for line in answers))
    assert result.exit_code == 0, result.output
    return result


def test_a_design_is_tested_saved_and_resumed() -> None:
    shown = administer("1", "q", options=f"--design {FILE} --session ann.json").stdout
    assert "Fractions, eight items: 12 items" in shown
    assert "1. multiply_half" in shown
    assert "as surprising" not in shown  # the design wants no answers in the report
    # The file of the session holds the design; no other option is needed.
    assert "Resumed after 1 item" in administer("1", "1", "q", options="--session ann.json").stdout
    again = administer("q", options=f"--session ann.json --design {FILE}").stdout
    assert "Resumed after 3 items" in again
    for options in ("--selector gdi", "--stop items:3", "--seed 3"):
        result = run("test", BANK, "--session", "ann.json", *options.split())
        assert_one_line_error(result, options.split()[0])
    other = Path("other.toml")
    other.write_text("stop = 'items:3'", encoding="utf-8")
    result = run("test", BANK, "--session", "ann.json", "--design", str(other))
    assert_one_line_error(result, "expected the design of the test saved in ann.json")


def test_a_session_without_a_design_takes_none_later() -> None:
    administer("1", "q", options="--session bob.json")
    result = run("test", BANK, "--session", "bob.json", "--design", FILE)
    assert_one_line_error(result, "leave out --design")


def test_options_contradict_no_design() -> None:
    for command, options in (("test", "--selector gdi"), ("simulate", "--stop items:3")):
        result = run(command, BANK, "--design", FILE, *options.split())
        assert_one_line_error(result, "leave out the option")
    Path("short.toml").write_text("[content.codes]\nsums = 1\n", encoding="utf-8")
    shown = administer(
        "1", "1", options="--design short.toml --stop items:2 --selector order"
    ).stdout
    assert "2 items were asked" in shown


def test_faults_of_a_design_are_named_with_file_and_place() -> None:
    Path("bad.toml").write_text("[content.codes]\nsum = 1\n", encoding="utf-8")
    for command in ("test", "simulate"):
        result = run(command, BANK, "--design", "bad.toml")
        assert_one_line_error(result, "content.codes: ")
        assert "did you mean sums?" in result.stderr
        assert "bad.toml" in result.stderr


def test_designs_are_simulated_with_one_selector_or_several() -> None:
    result = run("simulate", BANK, "--design", FILE, "--examinees", "10", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [one["selector"] for one in found["selectors"]] == ["entropy"]
    assert found["selectors"][0]["exposure"]["multiply_half"] == 1
    assert found["seed"] == 7
    Path("open.toml").write_text(
        'stop = "items:4"\n[content.codes]\nforms = 2\n'
        '[[exposure]]\nmethod = "eligibility"\nr_max = 0.7\n',
        encoding="utf-8",
    )
    result = run(
        *("simulate", BANK, "--design", "open.toml", "--examinees", "20", "--json"),
        *("--selector", "gdi", "--selector", "pwkl"),
    )
    assert result.exit_code == 0, result.output
    assert [one["selector"] for one in json.loads(result.stdout)["selectors"]] == ["gdi", "pwkl"]
    counts = json.loads(Path("results/counts-1.json").read_text(encoding="utf-8"))
    assert counts["add_same"][0] <= 20
    # The counts of a simulation are those of live tests.
    text = Path("open.toml").read_text(encoding="utf-8")
    Path("live.toml").write_text(f'{text}counts = "results/counts-1.json"\n', encoding="utf-8")
    assert "Answer" in administer("q", options="--design live.toml").stdout


def test_exposure_above_its_limit_is_noted() -> None:
    text = '[stop]\nany = ["items:6"]\n[[exposure]]\nmethod = "eligibility"\nr_max = 0.2\n'
    Path("tight.toml").write_text(text, encoding="utf-8")
    result = run("simulate", BANK, "--design", "tight.toml", "--examinees", "60")
    assert result.exit_code == 0, result.output
    (note,) = (line for line in result.stderr.splitlines() if "note:" in line)
    assert "more often than r_max 0.2 and two standard errors (0.052 each)" in note


def test_the_selector_of_a_design_is_compared_with_others() -> None:
    more = ("--selector", "random", "--selector", "Entropy", "--examinees", "8", "--json")
    result = run("simulate", BANK, "--design", FILE, *more)
    assert result.exit_code == 0, result.output
    assert "the selector of the design, entropy, is compared, too" in result.stderr
    found = json.loads(result.stdout)["selectors"]
    assert [one["selector"] for one in found] == ["entropy", "random"]
    assert {one["exposure"]["multiply_half"] for one in found} == {1}  # the rest is the design's


def test_true_profiles_are_compared_with_the_classes_found() -> None:
    people = Responses.drawn(read_bank(BANK), 20, seed=1)
    names = people.items
    rows = [",".join(names)] + [",".join(map(str, row)) for row in people.codes.tolist()]
    Path("answers.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    skills = [skill.name for skill in people.skills]
    rows = [",".join(skills)] + [",".join(map(str, row)) for row in people.levels.tolist()]
    Path("truth.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    told = ("simulate", BANK, "--responses", "answers.csv", "--stop", "items:12", "--json")
    result = run(*told, "--profiles", "truth.csv")
    assert result.exit_code == 0, result.output
    measures = json.loads(result.stdout)["selectors"][0]["by_items_asked"]
    assert measures["attribute_accuracy"]["mean"][-1] > 0.8
    Path("truth.csv").write_text("\n".join(rows[:-1]) + "\n", encoding="utf-8")
    assert_one_line_error(
        run(*told, "--profiles", "truth.csv"), "a row for each of the 20 examinees"
    )
    Path("truth.csv").write_text("\n".join([*rows[:-1], "x,y,1,0"]) + "\n", encoding="utf-8")
    assert_one_line_error(
        run(*told, "--profiles", "truth.csv"), "level of addition among 0, 1 for examinee 20"
    )
    Path("truth.csv").write_text("addition\n", encoding="utf-8")
    assert_one_line_error(run(*told, "--profiles", "truth.csv"), "no column for the skills")
    result = run("simulate", BANK, "--profiles", "truth.csv")
    assert_one_line_error(result, "--profiles needs a bank and --responses")
