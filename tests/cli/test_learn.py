"""``bnmind learn``: what it prints and writes, and its errors on one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bnmind import adaptive
from bnmind.adaptive import (
    IRT_MODELS,
    RESPONSE_MODELS,
    Dina,
    Dino,
    Item,
    ItemBank,
    LearningOptions,
    Logistic,
    Responses,
    irt_bank,
    learn,
    learn_irt,
    read_bank,
    read_qmatrix,
    write_bank,
)
from bnmind.cli.people import as_in_file
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.pgm.files import write_model
from tests.command_line import assert_one_line_error, run, run_json

Q = "item,add,carry\na,1,0\nb,0,1\nc,1,1\nd,1,0\ne,0,1\n"
FILES = ("learn", "r.csv", "--qmatrix", "q.csv")


@pytest.fixture(autouse=True)
def _in_a_directory_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text(Q)
    needs = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
    codes = Responses.drawn(ItemBank.from_qmatrix(needs), 200, seed=1).codes
    rows = ["id,a,b,c,d,e", *(f"x{n}," + ",".join(map(str, row)) for n, row in enumerate(codes))]
    rows[5] = "x4,1,,,0,"
    Path("r.csv").write_text("\n".join(rows))


def test_a_scale_may_begin_above_zero() -> None:
    text = Path("r.csv").read_text()
    lines = [line.split(",") for line in text.split("\n")]
    moved = [[line[0], *(cell and str(int(cell) + 1) for cell in line[1:])] for line in lines[1:]]
    Path("r2.csv").write_text("\n".join(",".join(line) for line in [lines[0], *moved]))
    other = ("learn", "r2.csv", "--qmatrix", "q.csv", "--lowest")
    assert run_json(*other, "1")["log_likelihood"] == run_json(*FILES)["log_likelihood"]
    assert_one_line_error(run(*other, "2"), "r2.csv: expected responses from 2 on, got 1")


def test_a_bank_asks_on_the_scale_that_it_was_learned_from() -> None:
    Path("wide.csv").write_text("g,h\n1,2\n3,1\n2,2\n3,2\n1,1\n2,1\n")
    found = run("learn", "wide.csv", "--gate", "graded", "--lowest", "1", "--out", "wide.json")
    assert found.exit_code == 0, found.output
    bank = read_bank("wide.json")
    assert [bank.responses(item) for item in "gh"] == [("1", "2", "3"), ("1", "2")]
    for end in ("2\n0\n1\n", "2\n1\n"):
        shown = run("test", "wide.json", answers=end).stdout
        assert "Answer [1/2/3]" in shown
        assert "2 items asked" in shown
    again = run("learn", "wide.csv", "--bank", "wide.json", "--lowest", "1", "--out", "again.json")
    assert again.exit_code == 0, again.output
    assert read_bank("again.json").responses("g") == ("1", "2", "3")


def test_only_responses_that_count_from_zero_without_choices_are_renamed() -> None:
    bank = ItemBank.from_qmatrix([[1], [1], [1]], items=["a", "b", "c"])
    table, skill = bank.channel("b").T, bank.hidden[0]
    named = TabularCPD(Variable("b", ("no", "yes")), (skill,), table)
    plain = TabularCPD(bank.variable("c"), (skill,), table)
    items = (Item("a", choices=(("A", "1"), ("B", "0"))), Item("b"), Item("c"))
    network = Network((*(bank.network.cpd(name) for name in (skill.name, "a")), named, plain))
    found = as_in_file(ItemBank(network, bank.skills, items, labels=("adding",)), 1)
    assert [found.responses(item) for item in "abc"] == [("0", "1"), ("no", "yes"), ("1", "2")]
    np.testing.assert_array_equal(found.channels(), bank.channels())
    assert found.labels == ("adding",)
    assert as_in_file(bank, 0) is bank


def test_json_and_file_hold_the_learned_bank() -> None:
    said = run_json(*FILES, "--out", "bank.json", "--starts", "3", "--seed", "4")
    bank = read_bank("bank.json")
    options = LearningOptions(starts=3, seed=4)
    found = learn(Responses.from_csv("r.csv"), read_qmatrix("q.csv"), options=options)
    assert said["log_likelihood"] == found.log_likelihood
    assert said["parameters"] == 13
    assert said["aic"] == pytest.approx(26 - 2 * said["log_likelihood"])
    assert said["bic"] == pytest.approx(13 * np.log(200) - 2 * said["log_likelihood"])
    assert said["converged"] is True
    assert (said["examinees"], said["missing"], len(said["starts"])) == (200, 3, 3)
    for item in said["items"]:
        assert item["guess"] == pytest.approx(bank.channel(item["name"])[0, 1], abs=1e-12)
        assert item["slip"] == pytest.approx(bank.channel(item["name"])[-1, 0], abs=1e-12)
    assert bank.source == "learned from 200 examinees in r.csv"


LEARNABLE = [name for name, model in RESPONSE_MODELS.items() if model.from_qmatrix]


@pytest.mark.parametrize("gate", [*LEARNABLE, "table"])
def test_every_response_model_can_be_learned_and_read_again(gate: str) -> None:
    shown = run(*FILES, "--out", "bank.json", "--gate", gate, "--title", "Sums")
    assert shown.exit_code == 0, shown.output
    assert "200 examinees, 5 items, 2 skills; 3 responses missing." in shown.stdout
    assert "Written to bank.json." in shown.stdout
    assert read_bank("bank.json").title == "Sums"
    again = run_json("learn", "r.csv", "--bank", "bank.json")
    assert f"Log-likelihood {again['log_likelihood']:.2f}" in shown.stdout


def test_names_of_models_may_have_any_case() -> None:
    names = (("gdina", "G-DINA"), ("dina", "DINA"), ("sequential:llm", "Sequential:C-RUM"))
    for name, written in names:
        fast = (*FILES, "--starts", "1", "--skills")
        known = run_json(*fast, "higher-order:1PL", "--gate", name)
        assert run_json(*fast, "Higher-Order:1pl", "--gate", written) == known
    known = run_json(*FILES, "--skills", "hierarchy:add>carry")
    assert run_json(*FILES, "--skills", "Hierarchy:add>carry") == known
    wrong = run(*FILES, "--gate", "XOR")
    assert_one_line_error(wrong, "error: expected a response model", "XOR")
    assert_one_line_error(run(*FILES, "--skills", "NONE"), "NONE")


@pytest.mark.parametrize(("gate", "n_parameters"), [("2PL", 10), ("rasch", 6)])
def test_a_bank_of_one_ability_is_learned_as_the_same_model(gate: str, n_parameters: int) -> None:
    curves = [Logistic(0.8, b) for b in (-3, -1, 0, -2, -3)]
    codes = Responses.drawn(irt_bank(curves), 1000, seed=6).codes
    Path("lsat.csv").write_text("\n".join(",".join(map(str, row)) for row in ["abcde", *codes]))
    first = run_json("learn", "lsat.csv", "--gate", gate, "--out", "lsat.json")
    again = run_json("learn", "lsat.csv", "--bank", "lsat.json")
    assert first["parameters"] == again["parameters"] == n_parameters
    assert again["log_likelihood"] == pytest.approx(first["log_likelihood"], abs=1e-3)
    assert again["converged"]
    how = "fixed" if gate == "2PL" else "with a learned deviation"
    assert first["skill_distribution"] == again["skill_distribution"] == how
    assert (first["response_models"], again["response_models"]) == ({gate: 5}, {"logistic": 5})


def test_output_names_the_models() -> None:
    assert "\nResponse model dina, skills saturated.\n" in run(*FILES, "--out", "b.json").stdout
    shown = run(*FILES, "--gate", "G-DINA", "--skills", "independent").stdout
    assert "\nResponse model gdina, skills independent.\n" in shown
    mixed = [Dina(0.2, 0.1), Dina(0.2, 0.1), Dino(0.2, 0.1), Dina(0.2, 0.1), Dina(0.2, 0.1)]
    write_bank(
        ItemBank.from_response_models(read_qmatrix("q.csv").needs, mixed, items=list("abcde")),
        "mixed.json",
    )
    shown = run("learn", "r.csv", "--bank", "mixed.json", "--starts", "1").stdout
    assert "\nResponse models dina (4 items), dino (1 item), skills as in the bank.\n" in shown


def test_skills_may_depend_on_an_ability_or_on_each_other() -> None:
    assert run_json(*FILES, "--skills", "higher-order")["parameters"] == 14
    assert run_json(*FILES, "--skills", "higher-order:1pl")["parameters"] == 13
    said = run_json(*FILES, "--skills", "hierarchy:add>carry", "--out", "bank.json")
    assert said["parameters"] == 12
    bank = read_bank("bank.json")
    table = bank.network.cpd("carry").to_factor().transpose(["carry", "add"]).values
    assert table[1, 0] == 0
    for text, part in (("add", "pairs of skills"), ("add>x", "is not one of the skills")):
        assert_one_line_error(run(*FILES, "--skills", f"hierarchy:{text}"), part)
    assert_one_line_error(run(*FILES, "--skills", "higher-order:3PL"), "1PL or 2PL")


def test_skills_may_depend_on_each_other_as_in_a_network() -> None:
    add, carry, item = (Variable(name, ("0", "1")) for name in ("add", "carry", "z"))
    depends = np.array([[0.9, 0.4], [0.1, 0.6]])
    network = Network(
        (
            TabularCPD(add, (), np.array([0.3, 0.7])),
            TabularCPD(carry, (add,), depends),
            TabularCPD(item, (carry,), depends),
        )
    )
    write_model(network, "skills.bif")
    write_model(network, "skills.xdsl")
    said = run_json(*FILES, "--skills", "skills.bif", "--out", "bank.json")
    skills = Network(network.cpds[:2])
    found = learn(Responses.from_csv("r.csv"), read_qmatrix("q.csv"), skills=skills)
    assert said["log_likelihood"] == pytest.approx(found.log_likelihood)
    assert said["parameters"] == 13
    assert said["skill_distribution"] == "as in the network skills.bif"
    assert [v.name for v in read_bank("bank.json").hidden] == ["add", "carry"]
    again = run_json(*FILES, "--skills", "skills.xdsl")
    assert again["log_likelihood"] == pytest.approx(found.log_likelihood)
    again = run_json(*FILES, "--skills", "bank.json", "--out", "second.json")
    assert again["log_likelihood"] == pytest.approx(found.log_likelihood)
    Path("wrong.bif").write_text(Path("skills.bif").read_text().replace("carry", "cary"))
    assert_one_line_error(run(*FILES, "--skills", "wrong.bif"), "carry; did you mean cary?")
    assert_one_line_error(run(*FILES, "--skills", "none.bif"), "none.bif")


def test_items_with_more_responses_are_learned_by_steps() -> None:
    text = Path("r.csv").read_text().replace("\nx7,1", "\nx7,2").replace("\nx9,1", "\nx9,2")
    Path("r.csv").write_text(text)
    assert run_json(*FILES, "--gate", "sequential:dino")["parameters"] == 3 + 10 + 2
    assert run_json(*FILES, "--gate", "sequential")["parameters"] == 3 + 12 + 2
    assert_one_line_error(run(*FILES, "--gate", "sequential:x"), "response model")


OWN = """
from dataclasses import dataclass
import numpy as np
from bnmind.adaptive import ParametricModel

@dataclass(frozen=True)
class Half(ParametricModel):
    guess: float = 0.2
    slip: float = 0.1

    def chances(self, levels):
        return np.where(levels.mean(axis=1) >= 0.5, 1 - self.slip, self.guess)
"""


def test_a_response_model_of_ones_own_comes_from_a_file() -> None:
    Path("mine.py").write_text(OWN)
    said = run_json(*FILES, "--gate", "mine.py:Half", "--out", "bank.json")
    assert said["parameters"] == 13
    assert "'name': 'Half'" not in str(said)
    assert '"kind": "own", "name": "Half"' in Path("bank.json").read_text()
    Path("broken.py").write_text("1 / 0\n")
    for gate, part in (
        ("none.py:Half", "found no none.py"),
        ("mine.py:Hlaf", "Half"),
        ("broken.py:Half", "division by zero"),
    ):
        assert_one_line_error(run(*FILES, "--gate", gate), part)


def test_bounds_and_skills_are_obeyed() -> None:
    said = run_json(*FILES, "--max-guess", "0.1", "--max-slip", "0.05", "--skills", "independent")
    assert said["parameters"] == 12
    assert max(item["guess"] for item in said["items"]) <= 0.1 + 1e-12
    assert max(item["slip"] for item in said["items"]) <= 0.05 + 1e-12


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("learn", "none.csv", "--qmatrix", "q.csv"), ["none.csv"]),
        (("learn", "r.csv", "--qmatrix", "none.csv"), ["none.csv"]),
        (("learn", "r.csv"), ["--qmatrix or --bank, got neither"]),
        ((*FILES, "--bank", "b.json"), ["got both"]),
        ((*FILES, "--gate", "xor"), ["dina", "xor"]),
        ((*FILES, "--skills", "none"), ["saturated", "none"]),
        ((*FILES, "--out", "bank.txt"), ["bank.txt"]),
        ((*FILES, "--out", "no/bank.json"), ["directory"]),
        ((*FILES, "--max-guess", "2"), ["guess"]),
        ((*FILES, "--starts", "0"), ["--starts"]),
        ((*FILES, "--workers", "-2"), ["at least 1 worker, or -1 for all cores, got -2"]),
        ((*FILES, "--cluster", "local:0"), ["tcp://HOST:PORT or local:N", "'local:0'"]),
        ((*FILES, "--cluster", "local:2", "--workers", "2"), ["--workers or --cluster"]),
        (("learn", "bad.csv", "--qmatrix", "q.csv"), ["row 1 ", "column b", "'maybe'"]),
        (("learn", "more.csv", "--qmatrix", "q.csv"), ["is not an item", ": f; 1 item has no"]),
        (("learn", "r.csv", "--qmatrix", "bad-q.csv"), ["item a", "skill"]),
        (("learn", "r.csv", "--bank", "q.csv"), ["q.csv"]),
    ],
)
def test_errors_are_one_line(arguments: tuple[str, ...], parts: list[str]) -> None:
    Path("bad.csv").write_text("id,a,b,c,d,e\nx,1,maybe,0,0,0\nx,,,,,\n")
    Path("more.csv").write_text("a,b,c,d,f\n1,1,1,1,1\n")
    Path("bad-q.csv").write_text("item,add,carry\na,0,0\nb,1,1\n")
    result = run(*arguments)
    assert_one_line_error(result, *parts)
    assert not Path("bank.json").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_a_file_name_that_is_no_text_does_not_lose_the_work() -> None:
    name = os.fsdecode(b"r\xff\x1b.csv")
    Path("r.csv").rename(name)
    shown = run("learn", name, "--qmatrix", "q.csv", "--out", "bank.json")
    assert shown.exit_code == 0, shown.output
    assert read_bank("bank.json").source == "learned from 200 examinees in r\ufffd\ufffd.csv"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--title", "\udcff", "--out", "bank.json"), "UTF-8"),
        (("--title", "\udcff", "--out", "bank.bif"), "UTF-8"),
        (("--out", "made"), "made"),
        (("--out", "made/bank.json/"), "directory"),
        (("--out", "q.csv/bank.json"), "Not a directory"),
        (("--out", "made.json"), "Is a directory"),
        (("--out", "bank.bif"), "bank.bif.roles.json (Is a directory)"),
        (("--out", "x" * 300 + ".json"), "too long"),
    ],
)
def test_learning_starts_only_if_the_bank_can_be_written(
    arguments: tuple[str, ...], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adaptive, "learn", lambda *_, **__: pytest.fail("learned"))
    for directory in ("made/bank.json", "made.json", "bank.bif.roles.json"):
        Path(directory).mkdir(parents=True)
    before = sorted(Path().rglob("*"))
    assert_one_line_error(run(*FILES, *arguments), part)
    assert sorted(Path().rglob("*")) == before


def test_a_bank_and_its_roles_are_written_together() -> None:
    result = run(*FILES, "--out", "bank.bif")
    assert result.exit_code == 0, result.output
    assert read_bank("bank.bif").skills == ("add", "carry")
    assert sorted(path.name for path in Path().glob("bank*")) == [
        "bank.bif",
        "bank.bif.roles.json",
    ]


def test_names_that_the_file_cannot_hold_are_reported_and_read_back() -> None:
    Path("q.csv").write_text(Q.replace("\na,", "\nitem.1,").replace("carry", "Übertrag"))
    Path("r.csv").write_text(Path("r.csv").read_text().replace("id,a,", "id,item.1,"))
    shown = run(*FILES, "--out", "bank.net")
    assert shown.exit_code == 0, shown.output
    assert "item.1 is written as item_x002E_1" in shown.stderr
    assert "Übertrag is written as _x00DC_bertrag" in shown.stderr
    bank = read_bank("bank.net")
    assert bank.item_names[0] == "item.1"
    assert bank.skills == ("add", "Übertrag")
    assert "note" not in run(*FILES, "--out", "bank.json").stderr


def test_the_output_names_starts_order_and_doubtful_items() -> None:
    lines = Path("r.csv").read_text().splitlines()
    turned = [line.split(",") for line in lines[1:]]
    for cells in turned:
        cells[1] = {"0": "1", "1": "0"}.get(cells[1], cells[1])
    Path("r.csv").write_text("\n".join([lines[0], *(",".join(cells) for cells in turned)]))
    shown = run(*FILES).stdout
    assert "the best of 5 starts (number" in shown
    assert "(stopped early)" in shown
    assert "chance of success: no order was required (--monotone requires it)." in shown
    assert "check the key or the Q-matrix: a (" in shown
    said = run_json(*FILES, "--monotone", "--least-chance", "0.001", "--starts", "1")
    assert (said["monotone"], said["least_chance"], len(said["starts"])) == (True, 0.001, 1)
    names = {note["kind"]: note["names"] for note in said["learning_notes"]}
    assert names.keys() >= {"order", "pooled"}
    assert "a" in names["miskeyed"]
    assert min(item["guess"] for item in said["items"]) >= 0.001 - 1e-12


@pytest.mark.parametrize(
    ("gate", "parameters", "names"),
    [
        ("rasch", 6, {"slope", "difficulty"}),
        ("2pl", 10, {"slope", "difficulty"}),
        ("3PL", 15, {"slope", "difficulty", "lower"}),
        ("gpcm", 10, {"slope", "threshold 1"}),
    ],
)
def test_models_of_one_ability_need_no_qmatrix(gate: str, parameters: int, names: set[str]) -> None:
    said = run_json("learn", "r.csv", "--gate", gate, "--out", "bank.json")
    assert said["parameters"] == parameters
    assert all(set(item["estimates"]) == names for item in said["items"])
    shown = run("learn", "r.csv", "--gate", gate).stdout
    assert f"ability: mean {'0.000'}, standard deviation" in shown
    assert ("Priors: guess beta(5, 17), slope log-normal(0, 0.5)." in shown) == (gate == "3PL")
    assert len(read_bank("bank.json").items) == 5


def test_a_model_of_one_ability_takes_no_qmatrix() -> None:
    assert_one_line_error(run(*FILES, "--gate", "2PL"), "expected no --qmatrix with --gate 2PL")
    assert_one_line_error(run("learn", "r.csv"), "--gate names a model of one ability")


@pytest.mark.parametrize("gate", ["dina", "G-DINA", "2PL"])
def test_the_table_of_the_items_is_that_of_python(gate: str) -> None:
    needed = () if gate == "2PL" else ("--qmatrix", "q.csv")
    found = run("learn", "r.csv", *needed, "--gate", gate, "--table", "items.csv")
    assert found.exit_code == 0, found.output
    assert "Written to items.csv." in found.stdout
    data = Responses.from_csv("r.csv")
    if gate == "2PL":
        learned = learn_irt(data, IRT_MODELS[gate])
    else:
        learned = learn(data, read_qmatrix("q.csv"), gate=gate)
    pd.testing.assert_frame_equal(pd.read_csv("items.csv"), learned.to_frame())
    assert_one_line_error(
        run(*FILES, "--table", "items.xls"), "ending in .csv for the table, got 'items.xls'"
    )
