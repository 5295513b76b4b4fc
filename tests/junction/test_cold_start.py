"""The first answers of a process, which do not wait for a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wheel import bif_text

SCRIPT = """
import sys
import bnmind
from bnmind.junction import compile_model, compile_plan
network = bnmind.read(sys.argv[1])
seen = {v.name: v.states[0] for v in network.variables[5::10]}
asked = network.variables[-1].name
whole = bnmind.posterior(network, seen)
plan = compile_plan(network, evidence=seen).run(seen)
light = compile_model(network).posterior([asked], seen)
for other in (plan, light):
    assert abs(other.log_evidence - whole.log_evidence) < 1e-11
    assert abs(other[asked].probabilities - whole[asked].probabilities).max() < 1e-12
print("numba" in sys.modules)
"""


@pytest.mark.slow
def test_the_first_answers_about_andes_compile_nothing(tmp_path: Path) -> None:
    file = tmp_path / "andes.bif"
    file.write_text(bif_text("andes"), encoding="utf-8")
    cache = tmp_path / "cache"
    cache.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")
    assert list(cache.rglob("*")) == []
