"""Data sets that are not there are named at the end of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.data_sets import absent, counted_absences

ROOT = Path(__file__).parents[1]


def test_reasons_are_counted_by_data_set() -> None:
    reasons = [f"Skipped: {absent('aced')}", absent("aced"), absent("lsat6"), "Skipped: too slow"]
    assert counted_absences(reasons) == {"aced": 2, "lsat6": 1}


def test_a_run_ends_with_the_names_of_absent_data_sets(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", ""]
    result = subprocess.run(
        [*command, "tests/adaptive/test_replay_data.py"],
        cwd=ROOT,
        env=os.environ | {"BNMIND_DATA": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    last = result.stdout[result.stdout.index("data sets that are not there") :]
    assert "aced: 1 test was skipped" in last
    assert "fraction_subtraction: 1 test was skipped" in last
    assert str(tmp_path) in last
