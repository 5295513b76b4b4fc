"""How tests call the command line, inside this process and in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from bnmind.cli.app import app
from bnmind.cli.shared.terminal import COMPILING

__all__ = ["ROOT", "assert_one_line_error", "cold", "run", "run_json"]

ROOT = Path(__file__).parent.parent


def run(*arguments: str, answers: str | None = None) -> Result:
    """Return what a command says and how it exits; `answers` is what the player types."""
    return CliRunner().invoke(app, list(arguments), input=answers, prog_name="bnmind")


def run_json(*arguments: str) -> Any:
    """Return what a command prints with --json, having checked that it prints nothing else."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def cold(*arguments: str, directory: Path, answers: str = "") -> subprocess.CompletedProcess[str]:
    """Return what a command does in a process of its own, in a directory.

    Lines that say what takes so long are left out: they depend on the machine.
    """
    done = subprocess.run(
        [sys.executable, "-m", "bnmind", *arguments],
        input=answers,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        check=False,
    )
    heard = done.stderr.splitlines(keepends=True)
    done.stderr = "".join(line for line in heard if not line.endswith((" …\n", f"{COMPILING}\n")))
    return done


def assert_one_line_error(result: Result | subprocess.CompletedProcess[str], *words: str) -> None:
    """Assert exit code 2, one line on the error stream that has the words, and no output."""
    code = result.exit_code if isinstance(result, Result) else result.returncode
    assert code == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr
