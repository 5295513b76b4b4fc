"""The first visitors of a server: what they wait for, and what they share."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from bnmind._jit import Kernel
from bnmind.junction.circuit_kernel import answer_cases
from bnmind.junction.greedy_order import climb
from bnmind.web import games
from bnmind.web.games import GameQuestion
from bnmind.web.networks import first_questions, posterior
from bnmind.web.work import GAMES, load
from tests.web.clients import SMALL, asked, client

_SCRIPT = """
import sys
import numpy
from bnmind.web.work import GAMES, load
from tests.web.clients import asked, client

browser = client().__enter__()
load(*GAMES)
before = {name for name in sys.modules if name.startswith("bnmind")}
small, turns = {"pegs": 2, "colors": 3}, [{"guess": "12", "reply": "0b1w"}]
for noise in ("exact", "false:0.1", "independent:0.1", "unknown"):
    asked(browser, "/api/suggest", {**small, "noise": noise})
for path in ("/api/suggest", "/api/doubts"):
    asked(browser, path, {**small, "noise": "false:0.1", "turns": turns})
asked(browser, "/api/what-if", {**small, "noise": "false:0.1", "turns": turns, "row": 0})
asked(browser, "/api/guess", {**small, "turns": turns, "guess": "11"})
asked(browser, "/api/play", {**small, "noise": "false:0.1"})
asked(browser, "/api/play/hint")
asked(browser, "/api/play/guess", {"guess": "11"})
print("numba" in sys.modules)
print(*{name for name in sys.modules if name.startswith("bnmind")} - before)
"""


def test_games_need_no_other_modules_and_no_compiled_code_at_first() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["False", ""]


def test_modules_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    load(*GAMES)
    monkeypatch.setattr("bnmind.web.work.importlib", None)
    load(*GAMES)
    with pytest.raises(AttributeError):
        load("another")


@pytest.mark.parametrize("turns", [[], [{"guess": "12", "reply": "0b1w"}]])
def test_visitors_of_equal_games_share_the_work(turns: list[dict[str, str]]) -> None:
    question: dict[str, Any] = {**SMALL, "noise": "false:0.17", "turns": turns}
    answers = [asked(client(), "/api/suggest", question)]
    before = games.advice_on.cache_info()
    answers += [asked(client(), "/api/suggest", question) for _ in range(3)]
    after = games.advice_on.cache_info()
    assert (after.hits - before.hits, after.misses) == (3, before.misses)
    assert answers == [answers[0]] * 4
    asked(client(), "/api/suggest", {**question, "noise": "false:0.18"})
    assert games.advice_on.cache_info().misses == after.misses + 1


def test_a_shared_answer_is_not_changed_by_who_receives_it() -> None:
    question = GameQuestion.model_validate(SMALL)
    with pytest.raises(ValidationError, match="frozen"):
        games.advice_on(question).__setattr__("guess", "changed")


@pytest.mark.slow
def test_the_first_questions_load_the_compiled_code_of_networks() -> None:
    for question in first_questions():
        posterior(question)
    for kernel in (climb, answer_cases):
        assert isinstance(kernel, Kernel)
        assert kernel.is_loaded
