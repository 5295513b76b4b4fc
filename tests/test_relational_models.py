"""The instances in models/relational-mastermind/ are what the library makes, and are right."""

from __future__ import annotations

import gzip
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.relational_network import (
    code_targets,
    random_turns,
    relational_evidence,
    relational_network,
    relational_size,
)
from bnmind.mastermind import Board, Channel, TableBelief
from bnmind.pgm import FactorModel
from bnmind.pgm.competition import evidence_to_uai, read_log_evidence, read_marginals
from bnmind.pgm.files import model_contents

HERE = Path(__file__).parents[1] / "models" / "relational-mastermind"
SCRIPT: dict[str, Any] = runpy.run_path(str(HERE.parent / "make_relational.py"))
INSTANCES: tuple[str, ...] = SCRIPT["INSTANCES"]


def file_of(instance: str, suffix: str) -> Path:
    return HERE / f"relational_{instance}.uai{suffix}.gz"


def text_of(instance: str, suffix: str) -> str:
    return gzip.decompress(file_of(instance, suffix).read_bytes()).decode()


def test_all_files_are_made_by_the_script_and_are_small() -> None:
    expected = {
        f"relational_{instance}.uai{suffix}.gz"
        for instance in INSTANCES
        for suffix in ("", ".evid", ".MAR", ".PR")
    }
    files = list(HERE.iterdir())
    assert {path.name for path in files} == expected | {"README.md"}
    assert sum(path.stat().st_size for path in files) < 300_000


@pytest.mark.parametrize(
    "instance",
    [
        pytest.param(name, marks=() if name.endswith("03") else pytest.mark.slow)
        for name in INSTANCES
    ],
)
def test_files_hold_the_game_and_what_an_enumeration_of_codes_gives(instance: str) -> None:
    colors, guesses, pegs = map(int, instance.split("_"))
    board = Board(pegs, colors)
    network = relational_network(board, guesses)
    turns = random_turns(board, guesses, rng=np.random.default_rng(SCRIPT["SEED"]))
    evidence = relational_evidence(board, turns)
    assert text_of(instance, "") == model_contents(network, "game.uai")[Path("game.uai")]
    assert text_of(instance, ".evid") == evidence_to_uai(evidence, network.variables)
    size = relational_size(network)
    row = (
        f"| `relational_{instance}` | {size.variables:,} | {size.deterministic:,} | {size.arcs:,} |"
    )
    assert row in (HERE / "README.md").read_text()
    belief = TableBelief.start(Channel.exact(board))
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    model = FactorModel(network.cpds, network.variables)
    marginals = read_marginals(file_of(instance, ".MAR"), model)
    found = np.reshape([marginals[name][1] for name in code_targets(board)], (pegs, colors))
    np.testing.assert_allclose(found, belief.codes.marginals(), rtol=0, atol=1e-12)
    for name, state in evidence.items():
        assert marginals[name][["no", "yes"].index(state)] == 1.0
    chance = belief.codes.possible_codes() / board.n_codes ** (guesses + 1.0)
    assert read_log_evidence(file_of(instance, ".PR")) == pytest.approx(np.log(chance))


@pytest.mark.slow
def test_the_script_makes_the_files() -> None:
    contents: Callable[[str], dict[str, str]] = SCRIPT["contents"]
    made = contents("04_08_03")
    assert sorted(made) == sorted(
        f"relational_04_08_03.uai{suffix}" for suffix in ("", ".evid", ".MAR", ".PR")
    )
    for name, text in made.items():
        held = gzip.decompress((HERE / f"{name}.gz").read_bytes()).decode()
        if name.endswith((".MAR", ".PR")):
            now, then = ([float(word) for word in found.split()[1:]] for found in (text, held))
            np.testing.assert_allclose(now, then, rtol=1e-12, atol=1e-12)
        else:
            assert text == held
