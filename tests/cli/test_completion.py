"""What a shell completes: commands, options, and the names of registries."""

from __future__ import annotations

from pathlib import Path

import pytest

from bnmind.cli.app import app


@pytest.fixture(autouse=True)
def _no_detection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the shell be named; where tests run, there may be none."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")


def _said(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        app(list(arguments), prog_name="bnmind")
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bnmind s", {"simulate", "suggest", "strategy"}),
        ("bnmind suggest --no-", {"--no-repeats"}),
        ("bnmind suggest --noise f", {"false:", "file:"}),
        ("bnmind suggest --strategy kn", {"knuth"}),
        ("bnmind play --prior two", {"two-color"}),
        ("bnmind compare koo", {"kooi"}),
        ("bnmind simulate bank.json --selector entropy", None),
        ("bnmind test bank.json --stop it", {"items:"}),
        ("bnmind learn r.csv --gate 2", {"2PL"}),
        ("bnmind judge r.csv --skills i", {"independent"}),
        ("bnmind reproduce snyder-table-1", None),
        ("bnmind examples fractions-c", {"fractions-class"}),
        ("bnmind query mod", set()),  # the shell completes files
    ],
)
def test_words_are_completed(
    line: str,
    expected: set[str] | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("_BNMIND_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    found = set(_said(capsys=capsys).split())
    assert line.split()[-1] in found if expected is None else found == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_shown(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "_BNMIND_COMPLETE" in _said("--show-completion", shell, capsys=capsys)


def test_completion_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    said = _said("--install-completion", "bash", capsys=capsys)
    assert "bash completion installed" in said
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_BNMIND_COMPLETE" in path.read_text() for path in written)
