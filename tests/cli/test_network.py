"""``bnmind network``: the sizes of the paper, and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bnmind.mastermind import Board, Channel, stage
from bnmind.mastermind.network import REPORTS
from bnmind.pgm.files import read_network
from tests.command_line import assert_one_line_error, run, run_json


@pytest.mark.parametrize(
    ("arguments", "size"),
    [(["--stage", "2", "--no-arc"], 20_526_445), (["--stage", "3"], 214_775)],
)
def test_sizes_of_the_paper(arguments: list[str], size: int) -> None:
    shown = run_json("network", *arguments)
    assert shown["total_size"] == size
    assert sum(clique["size"] for clique in shown["cliques"]) == size
    assert all(set(clique) == {"variables", "size"} for clique in shown["cliques"])
    # Neither the guess nor the noise changes them.
    assert run_json("network", *arguments, "--guess", "AABB")["total_size"] == size
    assert run_json("network", *arguments, "--noise", "false:0.2")["total_size"] == size


@pytest.mark.parametrize("number", [1, 2, 3])
def test_json_is_the_stage(number: int) -> None:
    board = Board(2, 3)
    tree = stage(board, number).tree
    shown = run_json("network", "--stage", str(number), "--pegs", "2", "--colors", "3")
    assert shown["stage"] == number
    assert shown["total_size"] == tree.total_size
    assert shown["order"] == list(tree.order.variables)
    assert shown["proven"] is tree.order.proven
    assert shown["cliques"] == [
        {"variables": list(clique.variables), "size": clique.size} for clique in tree.cliques
    ]
    assert shown["guess"] == (None if number == 1 else "12")


def test_text_has_cliques_sizes_order_and_proof() -> None:
    shown = run("network", "--stage", "3", "--pegs", "2", "--colors", "2").stdout
    assert "2x2" in shown
    assert "total size" in shown
    assert "proven smallest" in shown
    assert "H1 H2 C1 B" in shown


def test_out_writes_the_network_and_reports_it(tmp_path: Path) -> None:
    path = tmp_path / "network.bif"
    board = ("--pegs", "2", "--colors", "3")
    result = run(
        *("network", *board, "--stage", "2", "--guess", "13", "--noise", "false:0.2"),
        *("--out", str(path)),
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f"written to {path}\n")
    expected = stage(
        Board(2, 3), 2, guess=(1, 3), channel=Channel.false_reply(Board(2, 3), 0.2)
    ).model
    written = read_network(path)
    assert {v.name for v in written.variables} == {v.name for v in expected.variables}
    assert set(REPORTS) <= {v.name for v in written.variables}
    assert [p.name for p in tmp_path.iterdir()] == ["network.bif"]


def test_stage_three_fits_in_json_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("network", "--stage", "3", "--pegs", "2", "--colors", "2")
    assert_one_line_error(run(*small, "--out", "stage.bif"), ".json", "stage.bif")
    assert list(tmp_path.iterdir()) == []
    assert run(*small, "--out", "stage.json").exit_code == 0
    json.loads((tmp_path / "stage.json").read_text())


def test_a_guess_before_stage_two_is_noted() -> None:
    small = ("network", "--pegs", "2", "--colors", "2", "--guess", "12")
    result = run(*small, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["guess"] is None
    assert result.stderr.startswith("note: ")


def test_the_search_can_be_seeded() -> None:
    small = ("network", "--pegs", "2", "--colors", "2", "--seed")
    assert run_json(*small, "3")["total_size"] == run_json(*small, "4")["total_size"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--stage", "4"], ["4"]),
        (["--stage", "0"], ["0"]),
        (["--stage", "2", "--guess", "1237"], ["7"]),
        (["--stage", "2", "--guess", "112"], ["112"]),
        (["--stage", "1", "--guess", "112"], ["112"]),
        (["--pegs", "0"], ["pegs"]),
        (["--colors", "1"], ["colors"]),
        (["--noise", "false:2"], ["2"]),
        (["--stage", "3", "--out", "network.doc"], [".json", "network.doc"]),
        (["--stage", "3", "--out", "nowhere/network.json"], ["nowhere"]),
    ],
)
def test_bad_input(
    arguments: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_one_line_error(run("network", *arguments), *words)
    assert list(tmp_path.iterdir()) == []


def test_pictures_of_a_stage_and_its_junction_tree(tmp_path: Path) -> None:
    figure, tree = tmp_path / "figure3.svg", tmp_path / "figure4.svg"
    small = ("network", "--stage", "3", "--pegs", "2", "--colors", "3")
    result = run(*small, "--svg", str(figure), "--tree-svg", str(tree))
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f"drawn to {figure}\ndrawn to {tree}\n")
    for path in (figure, tree):
        assert path.read_text(encoding="utf-8").startswith("<svg ")
    run_json(*small, "--svg", str(figure))
    assert_one_line_error(run(*small, "--svg", str(tmp_path / "a.png")), ".svg for the picture")
    assert_one_line_error(run(*small, "--tree-svg", str(tmp_path / "no" / "a.svg")), "a.svg")
