"""What is loaded when: heavy libraries only when they are needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIGHT = ["bnmind", "bnmind.errors", "bnmind.information", "bnmind._jit"]
LAYERS = [
    "bnmind.pgm",
    "bnmind.pgm.files",
    "bnmind.pgm.formats.pgmpy_bridge",
    "bnmind.rank_one",
    "bnmind.junction",
    "bnmind.views",
    "bnmind.mastermind",
    "bnmind.mastermind.network",
    "bnmind.adaptive",
    "bnmind.strategies",
    "bnmind.lab",
]
HEAVY = ("pgmpy", "pandas", "matplotlib", "torch", "sklearn")


def loaded_by(statement: str) -> set[str]:
    """Return the top-level names that a statement loads in a fresh interpreter."""
    script = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("module", LIGHT)
def test_the_foundation_loads_no_compiler(module: str) -> None:
    assert not {"numba", "scipy", *HEAVY} & loaded_by(f"import {module}")


def test_no_layer_loads_pgmpy_or_plots() -> None:
    assert not set(HEAVY) & loaded_by(f"import {', '.join(LAYERS)}")


def test_help_answers_without_heavy_libraries() -> None:
    ask = "import sys; sys.argv = ['bnmind', '--help']\nfrom bnmind.cli import main\n"
    assert not {"numba", *HEAVY} & loaded_by(f"{ask}try:\n    main()\nexcept SystemExit:\n    pass")


def test_pgmpy_is_loaded_when_asked_for_and_says_nothing() -> None:
    ask = "from bnmind.pgm.formats.pgmpy_bridge import pgmpy_object as get"
    assert "pgmpy" in loaded_by(f"{ask}\nget('pgmpy.inference', 'VariableElimination')")
