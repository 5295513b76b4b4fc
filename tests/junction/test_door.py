"""`bnmind.junction`: its names are imported when they are first used."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from typing import assert_type

import numpy as np
import pytest

import bnmind.junction as junction
from bnmind.pgm import Network, TabularCPD, Variable

STUB = Path(junction.__file__).with_name("__init__.pyi")
HOMES = {
    alias.name: str(node.module)
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


def modules_of(script: str) -> set[str]:
    """Return the modules of ours that a script imports in a fresh interpreter."""
    script += "\nimport sys\nprint(*[name for name in sys.modules if name.startswith('bnmind')])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_importing_loads_nothing_else() -> None:
    script = "import bnmind.junction\ndir(bnmind.junction)"
    assert modules_of(script) == {"bnmind", "bnmind._front_door", "bnmind.junction"}


def test_a_question_loads_no_search_and_no_cases() -> None:
    found = modules_of("from bnmind.junction import posterior")
    rooms = {name.split(".")[2] for name in found if name.startswith("bnmind.junction.")}
    rare = {"approximate", "branch_and_bound", "cases", "derivatives", "propagation", "slicing"}
    assert not rooms & rare


def test_the_names_are_those_of_the_stub() -> None:
    listed = importlib.import_module("bnmind.junction").__all__
    assert listed == sorted(HOMES)
    assert {"Engine", "Plan", "compile_plan"} < set(listed) < set(dir(junction))


@pytest.mark.parametrize("name", sorted(HOMES))
def test_a_name_is_defined_where_the_stub_says(name: str) -> None:
    assert getattr(junction, name) is getattr(importlib.import_module(HOMES[name]), name)
    assert junction.__dict__[name] is getattr(junction, name)


def test_a_name_that_is_not_there_is_reported_with_a_close_one() -> None:
    with pytest.raises(AttributeError, match=r"'bnmind\.junction' has no attribute 'Pln'") as fault:
        junction.Pln  # type: ignore[attr-defined]  # noqa: B018
    assert (fault.value.name, fault.value.obj) == ("Pln", junction)
    assert not hasattr(junction, "__version__")


def test_type_checkers_see_the_types() -> None:
    coin = Variable("coin", ("heads", "tails"))
    plan = junction.compile_plan(Network((TabularCPD(coin, (), np.array([0.5, 0.5])),)))
    assert_type(plan, junction.Plan)
    assert_type(plan.run(), junction.Posterior)
