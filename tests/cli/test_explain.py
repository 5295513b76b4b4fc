"""``bnmind explain``: findings and parameters behind a conclusion."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from bnmind.pgm.files import read_network, write_model
from bnmind.sensitivity import Relative, analyze, weight_of_evidence
from tests.command_line import ROOT, assert_one_line_error, run, run_json

ASIA = str(ROOT / "models" / "diagnosis" / "asia.xdsl")
SEEN = {"xray": "yes", "smoke": "yes"}
ASKED = ("explain", ASIA, "--target", "lung", "--evidence", "xray=yes", "--evidence", "smoke=yes")


def test_the_record_holds_weights_parameters_and_intervals() -> None:
    record = run_json(*ASKED, "--parameters", "3", "--vary", "20")
    network = read_network(ASIA)
    weights = weight_of_evidence(network, "lung", SEEN)
    analysis = analyze(network, "lung", SEEN)
    assert record["state"] == "yes" == weights.state
    assert record["weight"] == pytest.approx(weights.total)
    assert record["log_evidence"] == pytest.approx(analysis.log_evidence)
    assert [one["finding"] for one in record["findings"]] == ["xray=yes", "smoke=yes"]
    assert record["findings"][1]["given_others"] == pytest.approx(weights.findings[1].given_others)
    tornado = analysis.tornado("yes", spread=Relative(0.2), n=3)
    assert [one["parameter"] for one in record["parameters"]] == tornado["parameter"].tolist()
    assert record["parameters"][0]["swing"] == pytest.approx(tornado["swing"][0])
    kept = analysis.deviations(n=3)
    assert [one["high"] for one in record["intervals"]] == pytest.approx(kept["high"].tolist())


def test_the_target_may_name_the_state() -> None:
    asked = ("explain", ASIA, "--evidence", "xray=yes", "--json", "--target")
    assert run(*asked, "lung=no").stdout == run(*asked, "lung", "--state", "no").stdout
    assert_one_line_error(run(*asked, "lung=n"), "expected a state of lung among no, yes; got 'n'")


def test_the_text_says_what_supports_and_what_matters() -> None:
    result = run(*ASKED)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "lung=yes has the probability 64.6 % given the findings, and 5.5 % without them."
    )
    assert "bits for it" in lines[1]
    assert "Weight of each finding, in bits:" in lines
    assert "lung=yes stays the most probable state while a parameter is within:" in lines
    other = run(*ASKED, "--state", "no").stdout
    assert "bits against it" in other
    assert "stays the most probable" not in other
    assert "without findings." in run("explain", ASIA, "--target", "lung").stdout


def test_certain_conclusions_have_no_finite_weights() -> None:
    arguments = ("explain", ASIA, "--target", "either", "--evidence", "lung=yes")
    assert "The findings prove it." in run(*arguments).stdout
    assert "proves it" in run(*arguments).stdout
    assert run_json(*arguments)["weight"] is None
    assert "rule it out" in run(*arguments, "--state", "no").stdout


@pytest.mark.slow
def test_pictures_are_written(tmp_path: Path) -> None:
    svg, png = tmp_path / "why.svg", tmp_path / "why.png"
    result = run(*ASKED, "--svg", str(svg), "--png", str(png))
    assert result.exit_code == 0
    assert f"Written: {svg}" in result.stdout
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_networks_on_which_nothing_depends_are_explained(tmp_path: Path) -> None:
    coin = Variable("coin", ("a", "b"))
    file = tmp_path / "coin.bif"
    write_model(Network((TabularCPD(coin, (), np.array([1.0, 0.0])),)), file)
    text = run("explain", str(file), "--target", "coin").stdout
    assert "coin=a has the probability 100.0 % without findings." in text


def test_wrong_questions_take_one_line(tmp_path: Path) -> None:
    asked = ("explain", ASIA, "--target")
    assert_one_line_error(run(*asked, "lnug"), "lung")
    assert_one_line_error(run(*asked, "lung", "--state", "perhaps"), "perhaps")
    assert_one_line_error(run(*asked, "lung", "--evidence", "lung=yes"), "must not be evidence")
    assert_one_line_error(run(*asked, "lung", "--evidence", "xray"), "VARIABLE=STATE")
    assert_one_line_error(run(*asked, "lung", "--evidence", "either=no,tub=yes"), "probability")
    assert_one_line_error(run(*asked, "lung", "--vary", "-1"), "--vary")
    assert_one_line_error(run("explain", ASIA), "--target")
    pair = Factor((Variable("a", ("0", "1")),), np.ones(2))
    write_model(FactorModel((pair,)), tmp_path / "pair.uai")
    assert_one_line_error(run("explain", str(tmp_path / "pair.uai"), "--target", "a"), "network")


def test_wrong_numbers_and_other_endings_are_refused(tmp_path: Path) -> None:
    picture = str(tmp_path / "a.png")
    assert_one_line_error(run(*ASKED, "--svg", picture), "ending in .svg", "a.png")
    assert_one_line_error(run(*ASKED, "--png", str(tmp_path / "a.svg")), "ending in .png")
    assert not Path(picture).exists()
    assert_one_line_error(run(*ASKED, "--vary", "inf"), "finite")
    assert run(*ASKED, "--parameters", "0").exit_code == 2


def test_a_parameter_that_only_decides_whether_the_evidence_is_possible_is_not_listed(
    tmp_path: Path,
) -> None:
    a, b, c = (Variable(name, ("no", "yes")) for name in "abc")
    network = Network(
        (
            TabularCPD(a, (), np.array([0.9527, 0.0473])),
            TabularCPD(b, (a,), np.array([[1.0, 0.1], [0.0, 0.9]])),
            TabularCPD(c, (a,), np.array([[0.5, 0.7], [0.5, 0.3]])),
        )
    )
    write_model(network, tmp_path / "n.bif")
    asked = ("explain", str(tmp_path / "n.bif"), "--target", "c", "--evidence", "b=yes")
    shown = run(*asked, "--svg", str(tmp_path / "a.svg"))
    assert shown.exit_code == 0
    assert "0.8574 or 1" not in shown.stdout
