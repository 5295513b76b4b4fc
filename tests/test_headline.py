"""The headline ratios of releases: saved, read and compared, on made-up figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import headline
from benchmarks.headline import Figure, Release, compared, last_release, main, measured
from benchmarks.headline_cases import CASES, Case


def _figure(ratio: float, peer: str = "pyagrum 3.3.1") -> Figure:
    return Figure(ratio, 0.9 * ratio, 1.1 * ratio, 2.0, peer)


def _slow(n: int) -> Callable[[], object]:
    return lambda: sum(range(n))


def test_a_fall_of_more_than_a_fifth_is_a_regression() -> None:
    before = Release("0.1.0", {}, {"a": _figure(10), "b": _figure(10), "c": _figure(4)})
    now = {"a": _figure(8.1), "b": _figure(7.9), "c": _figure(9, "pyagrum 4"), "d": _figure(1)}
    lines, fallen = compared(before, now)
    assert fallen == ["b"]
    assert [line.split()[0] for line in lines if "REGRESSION" in line] == ["b"]
    assert "-19%" in lines[1]
    assert "then pyagrum 3.3.1" in lines[3]
    assert "new" in lines[4]


def test_releases_are_written_and_read(tmp_path: Path) -> None:
    for name, ratio in (("0.9.0", 1.0), ("0.10.0", 2.0)):
        release = Release(name, {"python": "3.11.2"}, {"a": _figure(ratio)})
        assert Release.from_json(release.to_json()) == release
        (tmp_path / f"{name}.json").write_text(release.to_json())
    last = last_release(tmp_path)
    assert last is not None
    assert last.name == "0.10.0"
    with pytest.raises(ValueError, match="version 1"):
        Release.from_json(release.to_json().replace('"version": 1', '"version": 2'))


def test_a_pair_is_measured() -> None:
    case = Case("sums", "numpy", lambda: (_slow(1_000), _slow(10_000)))
    figure = measured(case, rounds=1)
    assert figure.ratio > 0
    assert figure.peer.startswith("numpy ")


def test_the_command_saves_and_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ratio = 10.0
    monkeypatch.setattr(headline, "measured", lambda case, rounds: _figure(ratio))
    with pytest.raises(SystemExit):
        main(["--compare"], folder=tmp_path)
    assert main(["--save", "0.1.0"], folder=tmp_path) == 0
    assert main(["--compare"], folder=tmp_path) == 0
    ratio = 5.0
    assert main(["em", "help", "--compare"], folder=tmp_path) == 1
    assert "2 fell by more than 20%: em, help" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["nothing"], folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["joint-4x6", "next-item-5x20", "read-bif"])
def test_cases_compare_the_same_thing(name: str) -> None:
    for step in CASES[name].prepare():
        step()
