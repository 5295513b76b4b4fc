"""The contract of all reproductions, and the figures of the fastest ones."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from bnmind.lab.reproductions import REPRODUCTIONS, Setting, Size, Verdict, published
from tests.data_sets import DATA
from tests.registries import registry_faults


def setting(size: Size = Size.QUICK, data: Path = DATA) -> Setting:
    return Setting(size, 0, data)


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(REPRODUCTIONS) == []


def test_all_quick_runs_take_less_than_fifteen_minutes_on_two_cores() -> None:
    assert sum(one.quick_minutes for one in REPRODUCTIONS.values()) <= 2 * 15


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_parts_have_names_and_can_be_sent_to_workers(name: str) -> None:
    one = REPRODUCTIONS[name]
    assert one.source
    assert not one.source.endswith(".")
    assert 0 < one.quick_minutes <= one.minutes
    for size in Size:
        parts = one.parts(setting(size))
        names = [part.name for part in parts]
        assert names
        assert len(set(names)) == len(names)
        assert pickle.loads(pickle.dumps(parts)) is not None


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name", ["consistent-only", "heuristics", "inequivalent-guesses", "snyder-table-1"]
)
def test_published_totals_are_reproduced(name: str) -> None:
    figures = REPRODUCTIONS[name].run(setting())
    assert Verdict.DIFFERS not in {figure.verdict for figure in figures}
    assert sum(figure.verdict is Verdict.AGREES for figure in figures) >= 5


def test_the_parts_of_a_full_run_include_those_of_a_quick_run() -> None:
    totals = REPRODUCTIONS["optimal-totals"]
    quick, full = (
        {part.name for part in totals.parts(setting(size))} for size in (Size.QUICK, Size.FULL)
    )
    assert quick < full
    known = published("mastermind_totals")
    assert len(full) == len(known["optimal"]) + len(known["optimal_within"])
