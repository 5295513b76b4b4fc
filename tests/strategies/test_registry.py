"""Strategies by name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from bnmind.errors import BnmindError, UnknownNameError
from bnmind.strategies import STRATEGIES, TREE_FORMATS, Entropy, Knuth, strategy_by_name

DOCS = Path(__file__).parent.parent.parent / "docs"

MODULE = """
from bnmind.strategies import Knuth

class Mine(Knuth):
    pass

instance = Knuth(name="instance")

def made():
    return Knuth(name="made")

def needs(argument):
    return argument

number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"own_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"{name}_broken.py").write_text("import nothing_like_this\n")
    (tmp_path / f"{name}_odd.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    return name


@pytest.mark.parametrize("name", [*STRATEGIES, *TREE_FORMATS])
def test_the_documentation_names_every_strategy_and_tree_format(name: str) -> None:
    page = (DOCS / "strategies.md").read_text(encoding="utf-8")
    assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", page)


def test_registered_strategies_can_be_made() -> None:
    myopic = {"knuth", "irving", "neuwirth", "larmouth", "kooi", "maxmin"}
    assert set(STRATEGIES) >= {"entropy", "map", "shapiro", "random", *myopic}
    assert strategy_by_name("entropy") == strategy_by_name("Entropy") == Entropy()
    with pytest.raises(TypeError):
        STRATEGIES["entropy"] = Knuth  # type: ignore[index]


def test_strategies_of_the_user(module: str) -> None:
    before = list(sys.path)
    assert strategy_by_name(f"{module}:Mine").name == "knuth"
    assert strategy_by_name(f"{module}:instance").name == "instance"
    assert strategy_by_name(f"{module}:made").name == "made"
    assert strategy_by_name(f"{module}.py:made").name == "made"
    assert sys.path == before


@pytest.mark.parametrize("name", ["entrpy", "", "module:", ":name", "knuth "])
def test_unknown_names_say_which_are_known(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"module:name, entropy, map, knuth"):
        strategy_by_name(name)


def test_import_errors_are_one_line(module: str) -> None:
    for name, what in (
        (f"{module}_broken:x", "ModuleNotFoundError"),
        (f"{module}_odd:x", "SyntaxError"),
        (f"{module}_absent:x", "ModuleNotFoundError"),
        (f"{module}:needs", "TypeError"),
        (f"{module}:number", "int without name, deterministic, needs, start, choose"),
    ):
        with pytest.raises(BnmindError, match=what) as caught:
            strategy_by_name(name)
        assert "\n" not in str(caught.value)
    with pytest.raises(UnknownNameError, match="Mine, instance, made"):
        strategy_by_name(f"{module}:absent")
