"""``bnmind query``: any network in a file."""

from __future__ import annotations

import gzip
import json
import math
import tracemalloc
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from bnmind.cli.networks import evidence_of
from bnmind.errors import BnmindError
from bnmind.junction import ORDER_FINDERS, compile_model
from bnmind.mastermind import Board, Reply, TableBelief, parse_noise
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from bnmind.pgm.files import read_network, write_model
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy, to_pgmpy
from tests.command_line import ROOT, assert_one_line_error, run, run_json
from tests.pgm.test_influence_diagrams import XDSL

MODEL = str(ROOT / "models" / "mastermind-3x4.bif")
SVG = "{http://www.w3.org/2000/svg}"
GUESS = "T1=1,T2=1,T3=2"


def test_marginals_are_those_of_the_table() -> None:
    answer = run_json(
        "query", MODEL, "--evidence", f"{GUESS},P_reported=1", "--evidence", "C_reported=1"
    )
    channel = parse_noise(Board(3, 4), "independent:0.1")
    belief = TableBelief.start(channel).update((1, 1, 2), Reply(1, 1))
    found = [[answer["marginals"][f"H{j}"][str(c)] for c in range(1, 5)] for j in (1, 2, 3)]
    np.testing.assert_allclose(found, belief.codes.marginals(), rtol=0, atol=1e-12)
    assert not {"T1", "P_reported"} & set(answer["marginals"])
    masses = TableBelief.start(channel).codes.masses(np.array([Board(3, 4).index((1, 1, 2))]))
    chance = float((masses[0] @ channel.likelihood(Reply(1, 1))) / 4**3)
    assert answer["log_evidence"] == pytest.approx(math.log(chance), abs=1e-10)


def test_text_and_plan() -> None:
    result = run("query", MODEL, "--evidence", GUESS, "--targets", "P, C", "--plan")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[:3] for line in lines[:3]] == [
        [f"T{j}", "=", str(c)] for j, c in zip((1, 2, 3), (1, 1, 2), strict=True)
    ]
    shown = [[*line.split()[:-3], *line.split()[-2:]] for line in lines[3:7]]
    assert shown == [
        ["P", "0", "42.19", "%"],
        ["1", "42.19", "%"],
        ["2", "14.06", "%"],
        ["3", "1.562", "%"],
    ]
    assert lines[7].startswith("C    0  █")
    assert "log-probability of the evidence -4.15888" in result.stdout
    assert "multiplications in a run" in result.stdout
    plan = run_json("query", MODEL, "--targets", "P", "--plan")["plan"]
    assert plan["total_size"] == sum(clique["size"] for clique in plan["cliques"])


@pytest.mark.parametrize("name", ORDER_FINDERS)
def test_every_order_gives_the_same_answer(name: str) -> None:
    asked = ("query", MODEL, "--evidence", GUESS, "--targets", "P")
    found = run_json(*asked, "--order", name)
    usual = run_json(*asked)
    assert found["log_evidence"] == pytest.approx(usual["log_evidence"], abs=1e-12)
    assert found["marginals"]["P"] == pytest.approx(usual["marginals"]["P"], abs=1e-12)


def test_an_unknown_order_finder_is_named() -> None:
    result = run("query", MODEL, "--order", "min-fil")
    assert_one_line_error(result, "order finder among", "did you mean min-fill")


def test_states_may_hold_an_equals_sign(tmp_path: Path) -> None:
    grade = Variable("grade", ("<7.5", ">=7.5"))
    write_model(Network((TabularCPD(grade, (), np.array([0.25, 0.75])),)), tmp_path / "m.json")
    answer = run_json("query", str(tmp_path / "m.json"), "--evidence", "grade=>=7.5")
    assert answer == {"marginals": {}, "log_evidence": math.log(0.75)}


def test_states_may_hold_commas(tmp_path: Path) -> None:
    size = Variable("size", ("1,5", "2", "2,size=1,5", "2,x"))
    color = Variable("x", ("light, blue", "red"))
    third = np.array([0.1, 0.2, 0.3, 0.4])
    network = Network((TabularCPD(size, (), third), TabularCPD(color, (), np.array([0.25, 0.75]))))
    path = str(tmp_path / "m.json")
    write_model(network, path)

    def told(*evidence: str) -> float:
        options = [word for text in evidence for word in ("--evidence", text)]
        return math.exp(run_json("query", path, *options)["log_evidence"])

    assert told("size=1,5") == pytest.approx(0.1)
    assert told("size=1,5,x=light, blue") == pytest.approx(0.025)
    assert told("x=light, blue, size=2") == pytest.approx(0.05)
    assert told("x=red", "size=2,x") == pytest.approx(0.3)
    doubtful = run("query", path, "--evidence", "size=2,size=1,5")
    assert_one_line_error(doubtful, "two ways", "size=2 and size=1,5")
    assert_one_line_error(run("query", path, "--evidence", "size=3,5"), "size=3,5")


def test_the_picture_is_written(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    result = run("query", MODEL, "--evidence", GUESS, "--targets", "P", "--svg", str(path))
    assert result.exit_code == 0
    assert f"Written: {path}" in result.stdout
    texts = [element.text for element in ElementTree.parse(path).iter(f"{SVG}text")]
    assert {"H1", "C_reported", "= 2", "42.2%"} <= set(texts)
    assert run_json("query", MODEL, "--targets", "P", "--svg", str(path))["marginals"]
    nowhere = str(tmp_path / "no" / "x.svg")
    assert_one_line_error(run("query", MODEL, "--targets", "P", "--svg", nowhere), "x.svg")
    assert_one_line_error(run("query", MODEL, "--svg", "h.png"), "ending in .svg")


def test_the_most_probable_states_are_named() -> None:
    model, seen = str(ROOT / "models/diagnosis/asia.xdsl"), "smoke=yes,lung=no"
    expected = compile_model(read_network(model)).mpe({"smoke": "yes", "lung": "no"})
    record = run_json("query", model, "--evidence", seen, "--mpe")
    assert record["states"] == expected.states
    assert record["log_probability"] == pytest.approx(expected.log_probability)
    lines = [
        line.split()
        for line in run("query", model, "--evidence", seen, "--mpe").stdout.splitlines()
    ]
    assert all([name, state] in lines for name, state in expected.states.items())
    some = run_json("query", model, "--mpe", "--targets", "tub,bronc", "--evidence", seen)
    found = compile_model(read_network(model)).map(["tub", "bronc"], {"smoke": "yes", "lung": "no"})
    assert some == {"states": found.states, "log_probability": found.log_probability}
    for other in (("--plan",), ("--task", "PR"), ("--svg", "a.svg")):
        assert_one_line_error(run("query", model, "--mpe", *other), f"{other[0]} does not go with")


def test_factors_that_make_no_network_have_a_table_but_no_picture(tmp_path: Path) -> None:
    coin = Variable("coin", ("heads", "tails"))
    path = tmp_path / "m.json"
    write_model(FactorModel((Factor((coin,), np.array([1.0, 3.0])),)), path)
    result = run("query", str(path))
    assert result.stdout.splitlines()[0].split() == ["coin", "heads", "███████▌", "25", "%"]
    error = run("query", str(path), "--svg", str(tmp_path / "x.svg"))
    assert_one_line_error(error, "Bayesian network to draw")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--evidence", "T1"], ["VARIABLE=STATE", "'T1'"]),
        (["--evidence", "T1=1,T1=2"], ["T1 is given twice"]),
        (["--evidence", "T1=1,,T2=1"], ["VARIABLE=STATE", "T1=1,,T2=1"]),
        (["--evidence", "T1=9"], ["state of T1", "'9'"]),
        (["--evidence", "X=1"], ["variable", "'X'"]),
        (["--targets", "X"], ["variable", "'X'"]),
        (["--evidence", f"{GUESS},P=3,C=1"], ["positive probability", "P=3, C=1"]),
    ],
)
def test_bad_input(arguments: list[str], words: list[str]) -> None:
    assert_one_line_error(run("query", MODEL, *arguments), *words)


def test_missing_and_malformed_files(tmp_path: Path) -> None:
    assert_one_line_error(run("query", str(tmp_path / "none.bif")), "none.bif")
    (tmp_path / "broken.bif").write_text("network x {\n", encoding="utf-8")
    assert_one_line_error(run("query", str(tmp_path / "broken.bif")), "broken.bif")


def test_alarm_which_pgmpys_belief_propagation_cannot_answer(tmp_path: Path) -> None:
    packed = files("pgmpy").joinpath("utils/example_models/alarm.bif.gz").read_bytes()
    path = tmp_path / "alarm.bif"
    path.write_bytes(gzip.decompress(packed))
    answer = run_json("query", str(path), "--evidence", "HRBP=HIGH,BP=LOW")
    assert len(answer["marginals"]) == 35
    with quiet_pgmpy():
        engine = pgmpy_object("pgmpy.inference", "VariableElimination")(
            to_pgmpy(read_network(path))
        )
        for name in ("LVFAILURE", "CATECHOL", "HYPOVOLEMIA", "PRESS"):
            factor = engine.query(
                [name], evidence={"HRBP": "HIGH", "BP": "LOW"}, show_progress=False
            )
            for state, p in zip(factor.state_names[name], factor.values, strict=True):
                assert answer["marginals"][name][state] == pytest.approx(p, abs=1e-10)


def test_long_evidence_is_read_without_copies_of_prefixes() -> None:
    states = {"A": ("x",), "A=B": ("y", "=")}
    names = [f"V{number}" for number in range(3000)]
    many = {**states, **dict.fromkeys(names, ("x",))}
    tracemalloc.start()
    try:
        found = evidence_of([",".join(f"{name}=x" for name in names)], many)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == dict.fromkeys(names, "x")
    assert most < 2**22
    assert evidence_of(["A=B=y"], states) == {"A=B": "y"}
    assert evidence_of(["A=B=="], states) == {"A=B": "="}
    with pytest.raises(BnmindError):
        evidence_of(["=" * 2000], states)


@pytest.mark.filterwarnings("default")
def test_a_note_about_the_file_is_one_line(tmp_path: Path) -> None:
    gum = pytest.importorskip("pyagrum")
    path = tmp_path / "theirs.xdsl"
    gum.saveBN(gum.fastBN("A->B<-C"), str(path))
    result = run("query", str(path), "--targets", "A")
    assert result.exit_code == 0, result.output
    assert "A  0" in result.stdout
    (line,) = result.stderr.splitlines()
    assert line.startswith("note: this file seems to be written by pyAgrum")


@pytest.mark.filterwarnings("default")
def test_influence_diagrams_are_asked_without_their_decisions(tmp_path: Path) -> None:
    path = tmp_path / "venture.xdsl"
    path.write_text(XDSL)
    Path(tmp_path, "cases.csv").write_text("Economy,Success\nUp,yes\nDown,\n")
    cases = str(tmp_path / "cases.csv")
    for command in (
        ("query", str(path), "--evidence", "Invest=now", "--targets", "Success"),
        ("ask", str(path), "--about", "Success", "--rank"),
        ("explain", str(path), "--target", "Success", "--evidence", "Economy=Up"),
        ("predict", str(path), cases, "--targets", "Success"),
        ("fit", str(path), cases, "--hidden", "Invest", "--out", str(tmp_path / "fitted.json")),
    ):
        refused = run(*command)
        assert_one_line_error(refused, "'Invest' is a decision node", "(--drop-decisions reads")
        assert "drop_decisions" not in refused.stderr
        result = run(*command, "--drop-decisions")
        assert result.exit_code == 0, result.output
        assert "uniform until they are set: Invest" in result.stderr
    result = run("query", str(path), "--drop-decisions", "--evidence", "Invest=never", "--json")
    answer = json.loads(result.stdout)
    assert answer["marginals"]["Success"] == {"no": 1.0, "yes": 0.0}


def test_missing_probabilities_of_r_name_the_option(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    nodes = [
        {"name": "A", "states": ["x", "y"], "parents": [], "prob": [0.5, 0.5]},
        {"name": "B", "states": ["0", "1"], "parents": ["A"], "prob": [0.5, None, 0.5, None]},
    ]
    path.write_text(json.dumps({"nodes": nodes}))
    told = "got nan for 0 given A=y (--normalize makes rows of NaN or null uniform)"
    assert_one_line_error(run("query", str(path)), told)
    assert run("query", str(path), "--normalize").exit_code == 0
