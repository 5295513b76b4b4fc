"""`import bnmind`: a few names, loaded when they are first used, and known to type checkers."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import subprocess
import sys
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import assert_type

import numpy as np
import pandas as pd
import pytest

import bnmind
from bnmind import adaptive
from bnmind._front_door import homes
from bnmind.adaptive.items.skill_distributions import LogisticCPD
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction import Limits, Posterior, compile_plan
from bnmind.pgm import Distribution, Factor, FactorModel, Network, TabularCPD, Variable, noisy_or
from bnmind.pgm.files import MODEL_SUFFIXES, NETWORK_SUFFIXES, read_network, write_model
from tests.test_architecture import MODULES
from tests.test_imports import loaded_by

STUB = Path(bnmind.__file__).with_name("__init__.pyi")
HOMES = {
    alias.name: str(node.module)
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
NAMES = sorted(name for name, home in HOMES.items() if home != "bnmind")
ROOMS = sorted(set(HOMES) - set(NAMES))

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]])),
    )
)


# --- Names ----------------------------------------------------------------------------------------


def run(script: str) -> list[str]:
    """Return the lines that a script prints in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_importing_loads_no_library_and_no_room() -> None:
    libraries = {"numpy", "pandas", "scipy", "numba", "networkx", "pydantic", "pgmpy", "rich"}
    assert not libraries & loaded_by("import bnmind\ndir(bnmind)")
    # Nothing else either: Ctrl-C while it is imported would print a traceback.
    script = "import sys\nold = set(sys.modules)\nimport bnmind\nprint(*set(sys.modules) - old)"
    assert run(script) == ["bnmind"]


def test_there_are_about_fifteen_names() -> None:
    assert 12 <= len(NAMES) <= 18
    assert importlib.import_module("bnmind").__all__ == NAMES
    assert {*NAMES, *ROOMS, "__version__"} <= set(dir(bnmind))
    assert [name for name in dir(bnmind) if not name.startswith("_")] == sorted(HOMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_what_its_room_exports_and_is_documented(name: str) -> None:
    thing = getattr(bnmind, name)
    home = importlib.import_module(HOMES[name])
    assert thing is getattr(home, name)
    assert name in home.__all__
    assert inspect.getdoc(thing)


def test_all_rooms_are_there_without_imports_of_their_own() -> None:
    script = "import bnmind\nprint(*[getattr(bnmind, name).__name__ for name in dir(bnmind)"
    found = run(f"{script} if name in {ROOMS}])")
    assert found[0].split() == [f"bnmind.{room}" for room in ROOMS]
    public = {name.split(".")[1] for name in MODULES if name.count(".") == 1}
    hidden = {name for name in public if name.startswith("_")} | {"cli", "web"}
    assert set(ROOMS) == public - hidden


def test_no_option_of_adaptive_tests_is_a_bare_true_or_false() -> None:
    public = [getattr(adaptive, name) for name in homes("bnmind.adaptive")]
    kinds = [thing for thing in public if isinstance(thing, type) and is_dataclass(thing)]
    by_position = {
        kind.__name__: [field for field in fields(kind) if field.init and not field.kw_only]
        for kind in [*kinds, LogisticCPD]
    }
    assert not [kind for kind, some in by_position.items() if any(f.type == "bool" for f in some)]
    for kind in ("AStratified", "HigherOrder", "Priors"):
        assert len(by_position[kind]) <= 4


def test_no_name_hides_a_module() -> None:
    assert not {f"bnmind.{name}" for name in NAMES} & set(MODULES)


def test_a_name_that_is_not_there_is_reported_with_a_close_one() -> None:
    with pytest.raises(AttributeError, match="'bnmind' has no attribute 'Netwrok'") as caught:
        bnmind.Netwrok  # type: ignore[attr-defined]  # noqa: B018
    assert caught.value.name == "Netwrok"
    assert caught.value.obj is bnmind
    with pytest.raises(ImportError, match="Netwrok"):
        from bnmind import Netwrok  # type: ignore[attr-defined]  # noqa: F401
    assert not hasattr(bnmind, "__wrapped__")


def test_the_version_is_that_of_the_installed_package() -> None:
    assert bnmind.__version__ == version("bnmind")
    assert_type(bnmind.__version__, str)


def test_type_checkers_see_the_types() -> None:
    answer = bnmind.posterior(GARDEN, {"wet": "yes"})
    assert_type(answer, Posterior)
    assert_type(answer["rain"], Distribution)
    assert_type(answer["rain"]["yes"], float)
    assert_type(answer.to_dict(), dict[str, dict[str, float]])
    assert_type(bnmind.Board(4, 6), bnmind.mastermind.Board)
    with pytest.raises(InvalidArgumentError):
        bnmind.read(3)  # type: ignore[arg-type]


# --- read -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
def test_a_network_is_read_from_any_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"garden{suffix}"
    write_model(GARDEN, path)
    found = bnmind.read(path)
    assert isinstance(found, Network)
    assert found.variables == read_network(path).variables
    assert bnmind.posterior(found, {"wet": "yes"}) == bnmind.posterior(GARDEN, {"wet": "yes"})


@pytest.mark.parametrize("suffix", MODEL_SUFFIXES)
def test_a_product_of_factors_is_read_as_one(suffix: str, tmp_path: Path) -> None:
    model = FactorModel((Factor((RAIN, WET), np.array([[1.0, 2.0], [3.0, 0.0]])),))
    write_model(model, tmp_path / f"model{suffix}")
    found = bnmind.read(tmp_path / f"model{suffix}")
    assert isinstance(found, FactorModel)
    assert bnmind.posterior(found)["rain"]["yes"] == pytest.approx(0.5)


def test_distributions_that_make_no_network_are_a_product(tmp_path: Path) -> None:
    twice = FactorModel((*GARDEN.potentials, GARDEN.potentials[0]))
    write_model(twice, tmp_path / "twice.json")
    assert isinstance(bnmind.read(tmp_path / "twice.json"), FactorModel)


# --- posterior ------------------------------------------------------------------------------------


def test_a_question_is_answered_as_by_a_plan() -> None:
    found = bnmind.posterior(GARDEN, {"wet": "yes"})
    assert found == compile_plan(GARDEN, evidence=["wet"]).run({"wet": "yes"})
    assert found["rain"]["yes"] == pytest.approx(0.18 / 0.26)
    assert pickle.loads(pickle.dumps(found)) == found


def test_targets_are_names_or_tuples_of_names() -> None:
    found = bnmind.posterior(GARDEN, targets=["wet", ("rain", "wet")])
    assert [[v.name for v in scope] for scope in found.scopes] == [["wet"], ["rain", "wet"]]
    assert found["rain", "wet"]["yes", "yes"] == pytest.approx(0.18)
    assert bnmind.posterior(GARDEN, targets="wet")["wet"] == found["wet"]


def test_evidence_may_be_uncertain_or_missing() -> None:
    likely = bnmind.posterior(GARDEN, {"wet": {"no": 0.2, "yes": 0.8}})
    assert likely["rain"]["yes"] == pytest.approx(0.2 * 0.74 / (0.2 * 0.74 + 0.8 * 0.26))
    assert bnmind.posterior(GARDEN, {"wet": None}) == bnmind.posterior(GARDEN)
    series = pd.Series({"wet": "yes", "rain": float("nan")})
    assert bnmind.posterior(GARDEN, series, ["rain"])["rain"]["yes"] == pytest.approx(0.18 / 0.26)


def test_a_distribution_is_evidence_of_another_question() -> None:
    before = bnmind.posterior(GARDEN)["rain"]
    found = bnmind.posterior(GARDEN, {"rain": before})
    assert found["rain"]["yes"] == pytest.approx(0.04 / (0.04 + 0.64))


def test_what_the_evidence_makes_small_is_answered() -> None:
    causes = [Variable(f"cause{i}", ("no", "yes")) for i in range(12)]
    effect = Variable("effect", ("no", "yes"))
    network = Network(
        (
            *(TabularCPD(cause, (), np.array([0.9, 0.1])) for cause in causes),
            noisy_or(effect, causes, [0.5] * 12, leak=0.0),
        )
    )
    plan = compile_plan(network, evidence=["effect"])
    limit = plan.multiplications - 1
    with pytest.raises(TooLargeError):
        compile_plan(network, evidence=["effect"], limits=Limits(max_multiplications=limit))
    found = bnmind.posterior(network, {"effect": "no"}, limits=Limits(max_multiplications=limit))
    assert found["cause0"]["yes"] == pytest.approx(0.05 / 0.95)
    with pytest.raises(TooLargeError):
        bnmind.posterior(network, limits=Limits(max_multiplications=1))


@pytest.mark.parametrize(
    ("evidence", "targets", "close"),
    [
        ({"wett": "yes"}, None, "wet"),
        ({"wet": "Yes"}, None, "yes"),
        ({"wet": "yes"}, ["rian"], "rain"),
    ],
)
def test_an_unknown_name_is_reported_with_close_ones(
    evidence: dict[str, str], targets: list[str] | None, close: str
) -> None:
    with pytest.raises(UnknownNameError, match=rf"; did you mean {close}\?$") as caught:
        bnmind.posterior(GARDEN, evidence, targets)
    assert caught.value.close == (close,)


def test_wrong_questions_are_reported() -> None:
    with pytest.raises(InvalidArgumentError, match="model to be a Network"):
        bnmind.posterior("garden.bif")  # type: ignore[arg-type]
    sure = Network((TabularCPD(RAIN, (), np.array([1.0, 0.0])),))
    with pytest.raises(ImpossibleEvidenceError):
        bnmind.posterior(sure, {"rain": "yes"})
