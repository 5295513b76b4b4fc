"""The ready files in models/ are what the library makes, and say what its beliefs say."""

from __future__ import annotations

import runpy
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bnmind.junction import compile_plan
from bnmind.mastermind import Board, Channel, Reply, TableBelief, evidence_of_guess
from bnmind.mastermind.network import REPORTS, code_variables
from bnmind.pgm import Network
from bnmind.pgm.files import NETWORK_SUFFIXES, read_network

MODELS = Path(__file__).parents[1] / "models"
SMALL, BOARD = Board(3, 4), Board(4, 6)


def networks() -> dict[str, Network]:
    made: dict[str, Network] = runpy.run_path(str(MODELS / "make_models.py"))["networks"]()
    return made


@cache
def read(name: str) -> Network:
    return read_network(MODELS / name)


def test_every_file_is_made_by_the_script_and_described() -> None:
    files = {path.name for path in MODELS.iterdir() if path.suffix in NETWORK_SUFFIXES}
    assert files == set(networks())
    described = (MODELS / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in described for name in files)


@pytest.mark.parametrize("name", sorted(networks()))
def test_files_hold_the_networks_of_the_library(name: str) -> None:
    written, made = read(name), networks()[name]
    assert {v.name: v.states for v in written.variables} == {
        v.name: v.states for v in made.variables
    }
    for cpd in made.cpds:
        found = written.cpd(cpd.variable.name)
        assert {v.name for v in found.parents} == {v.name for v in cpd.parents}
        table = found.to_factor().sum_to(v.name for v in cpd.scope)
        np.testing.assert_allclose(
            table.values, cpd.to_factor().values, rtol=0, atol=1e-15, err_msg=cpd.variable.name
        )


@pytest.mark.parametrize("suffix", ["bif", "xdsl"])
def test_full_network_believes_what_the_library_believes(suffix: str) -> None:
    network = read(f"mastermind-3x4.{suffix}")
    code = [v.name for v in code_variables(SMALL)]
    plan = compile_plan(network, evidence=[*evidence_of_guess((1, 1, 1)), *REPORTS], targets=[code])
    start = TableBelief.start(Channel.independent_error(SMALL, 0.1))
    for guess, black, white in product([(1, 1, 2), (4, 2, 3)], range(4), range(4)):
        heard = dict(zip(REPORTS, (str(black), str(white)), strict=True))
        found = plan.run({**evidence_of_guess(guess), **heard}).targets[0].values
        expected = start.update(guess, Reply(black, white)).codes.joint()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_network_after_a_guess_believes_what_the_library_believes() -> None:
    network = read("mastermind-4x6-after-1123.bif")
    code = [v.name for v in code_variables(BOARD)]
    plan = compile_plan(network, evidence=REPORTS, targets=[code])
    channel = Channel.false_reply(BOARD, 0.2)
    start = TableBelief.start(channel)
    for report in channel.reports:
        heard = dict(zip(REPORTS, map(str, report), strict=True))
        found = plan.run(heard).targets[0].values
        expected = start.update((1, 1, 2, 3), report).codes.joint()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_files_are_small() -> None:
    assert all((MODELS / name).stat().st_size < 1_000_000 for name in networks())
