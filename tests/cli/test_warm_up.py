"""``bnmind warm-up`` runs its examples and says where the code is.

That nothing is left to compile is tested in `test_matrix`, together with damaged code.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bnmind.cli import warm_up
from bnmind.cli.app import GROUPS
from tests.command_line import assert_one_line_error, run


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty directory for machine code."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    return tmp_path


def _pretending(monkeypatch: pytest.MonkeyPatch, cache: Path, wrong: str = "") -> list[str]:
    """Let examples write a file in place of compiling; return the list of the commands run."""
    commands: list[str] = []

    def pretend(arguments: Sequence[str], place: str) -> str:
        assert list(Path(place, "models").iterdir())
        commands.append(arguments[0])
        (cache / f"bnmind.{arguments[0]}-1-2.bnk").write_bytes(b"x" * 2**20)
        return wrong if "--evidence-file" in arguments else ""

    monkeypatch.setattr(warm_up, "_error_of", pretend)
    return commands


def test_it_says_what_it_compiled_and_where(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = _pretending(monkeypatch, cache)
    told = run("warm-up").stdout
    assert set(commands) == {arguments[0] for _, arguments in warm_up.RUNS}
    assert f"{len(set(commands))} new files" in told
    assert f"MiB, in {cache}" in told
    assert "nothing was left to compile" in run("warm-up").stdout


def test_json(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _pretending(monkeypatch, cache, wrong="error: no such file")
    result = run("warm-up", "--json")
    content = json.loads(result.stdout)
    assert content["directory"] == str(cache)
    assert content["new"] == content["files"]
    assert [one["error"] for one in content["runs"] if one["error"]] == ["error: no such file"]
    assert "note: the example of large networks failed: error:" in run("warm-up").stderr


def test_without_a_place_for_code_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bnmind._jit.cached_code", lambda: (None, ()))
    result = run("warm-up")
    assert_one_line_error(result)
    assert "NUMBA_CACHE_DIR" in result.stderr


def test_a_place_for_code_that_is_none_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert_one_line_error(run("warm-up"), f"cannot write {tmp_path / 'file'}")


def test_code_that_cannot_be_saved_is_an_error(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pretending(monkeypatch, cache, wrong="error: cannot write x.bnk (No space left on device)")
    result = run("warm-up")
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert "Not ready after" in result.stdout
    assert f"1 of {len(warm_up.RUNS)} examples failed" in result.stdout
    assert run("warm-up", "--json").exit_code == 2


def test_its_examples_are_commands() -> None:
    known = {name for members in GROUPS.values() for name in members}
    assert {arguments[0] for _, arguments in warm_up.RUNS} <= known
