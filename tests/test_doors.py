"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import assert_type

import numpy as np
import pytest

import bnmind.junction as junction
from bnmind._front_door import homes
from bnmind.pgm import Network, TabularCPD, Variable

PACKAGES = (
    *("adaptive", "dynamic", "fitting", "junction", "lab", "questions", "rank_one", "sensitivity"),
    *("strategies", "testing"),
)
NAMES = [(package, name) for package in PACKAGES for name in sorted(homes(f"bnmind.{package}"))]


def modules_of(script: str) -> set[str]:
    """Return the modules of ours that a script imports in a fresh interpreter."""
    script += "\nimport sys\nprint(*[name for name in sys.modules if name.startswith('bnmind')])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_loads_nothing_else(package: str) -> None:
    script = f"import bnmind.{package}\ndir(bnmind.{package})"
    assert modules_of(script) == {"bnmind", "bnmind._front_door", f"bnmind.{package}"}


def test_a_question_loads_no_search_and_no_cases() -> None:
    found = modules_of("from bnmind.junction import posterior")
    rooms = {name.split(".")[2] for name in found if name.startswith("bnmind.junction.")}
    rare = {"search", "cases", "gradient", "circuit", "slices"}
    assert not rooms & rare


@pytest.mark.parametrize("package", PACKAGES)
def test_the_names_are_those_of_the_stub(package: str) -> None:
    room = importlib.import_module(f"bnmind.{package}")
    assert room.__all__ == sorted(homes(room.__name__))
    assert len(room.__all__) > 5
    assert set(room.__all__) < set(dir(room))


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_a_name_is_defined_where_the_stub_says(package: str, name: str) -> None:
    room = importlib.import_module(f"bnmind.{package}")
    home = importlib.import_module(homes(room.__name__)[name])
    assert getattr(room, name) is getattr(home, name) is room.__dict__[name]
    where = getattr(getattr(room, name), "__module__", home.__name__)
    assert where in (home.__name__, "typing", "collections.abc")


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
