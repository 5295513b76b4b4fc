"""The contract of all reproductions, and the figures of the fastest ones."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from bnmind.lab.reproductions import (
    REPRODUCTIONS,
    Setting,
    Size,
    Standing,
    Verdict,
    mastermind,
    published,
)
from bnmind.lab.reproductions.figures import longest_runs, toml
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


@pytest.mark.compiled
def test_each_figure_says_where_its_reference_stands() -> None:
    figures = REPRODUCTIONS["snyder-table-1"].run(setting())
    assert {figure.name.split(", ")[1]: figure.standing for figure in figures} == {
        "reply classes": Standing.PROGRAM,
        "largest class": Standing.PROGRAM,
        "share of codes left": Standing.PUBLICATION,
    }
    (*_, known, revealed, guessed) = REPRODUCTIONS["vomlel-bounds"].run(setting())
    assert {known.standing, revealed.standing, guessed.standing} == {Standing.PROGRAM}


@pytest.mark.compiled
def test_a_replication_is_our_own() -> None:
    parts = REPRODUCTIONS["runarsson-merelo-heuristics"].parts(setting())
    (part,) = (one for one in parts if one.name == "expected-size")
    mean, most = part.run()
    sources = published("runarsson_merelo")
    assert mean.standing is Standing.OWN is Standing(sources["replicated"]["standing"])
    assert most.standing is Standing.PUBLICATION is Standing(sources["most"]["standing"])
    assert (most.reference, most.ours, most.verdict) == (7, 6, Verdict.DIFFERS)


def test_the_longest_runs_are_of_known_reproductions() -> None:
    rows = toml("longest_runs")
    assert rows
    assert set(rows) <= set(REPRODUCTIONS)
    for name, means in rows.items():
        assert longest_runs(name).keys() == means.keys()
        assert all(one.games > 1 for one in longest_runs(name).values())


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "part", "figure"),
    [
        ("snyder-table-4", "6x8", "6x8, guesses"),
        ("evolutionary-genetic", "7x10 genetic", "7x10, genetic"),
        ("evolutionary-genetic", "8x12 genetic", "8x12, genetic"),
    ],
)
def test_our_longest_runs_refute_what_quick_runs_cannot(name: str, part: str, figure: str) -> None:
    (found,) = (p for p in REPRODUCTIONS[name].parts(setting()) if p.name == part)
    shown = found.run.func(*found.run.args[:-2], 3, found.run.args[-1])  # type: ignore[attr-defined]
    judged = next(one for one in shown if one.name == figure)
    assert judged.games == 3
    assert judged.verdict is Verdict.DIFFERS
    assert "judged by" in judged.why


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("sd", "is_told"), [(0.5, False), (9.0, True)], ids=["hers are alike", "hers are longer"]
)
def test_longer_games_explain_only_a_larger_deviation(
    sd: float, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mastermind, "published", lambda _: {"table_4": {"3x3": (2.9, sd)}})
    (part,) = (p for p in REPRODUCTIONS["snyder-table-4"].parts(setting()) if p.name == "3x3")
    mean, spread = part.run()
    assert mean.verdict is not Verdict.DIFFERS
    assert spread.verdict is Verdict.DIFFERS
    assert ("much longer" in spread.why) is is_told


def test_the_parts_of_a_full_run_include_those_of_a_quick_run() -> None:
    totals = REPRODUCTIONS["optimal-totals"]
    quick, full = (
        {part.name for part in totals.parts(setting(size))} for size in (Size.QUICK, Size.FULL)
    )
    assert quick < full
    known = published("mastermind_totals")
    assert len(full) == len(known["optimal"]) + len(known["optimal_within"])
