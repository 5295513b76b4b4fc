"""Real answers satisfy the schema of the API, and have no fields beside."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

from bnmind.web.forms import endpoints
from bnmind.web.work import BusyError, Work
from tests.web.clients import SMALL, client

BROWSER = client()
SCHEMA = BROWSER.get("/api/openapi.json").json()
TURNS = [{"guess": "11", "reply": "1b0w"}, {"guess": "12", "reply": "0b0w"}]
WON = [*TURNS, {"guess": "31", "reply": "2b0w"}]
NOISY = {**SMALL, "noise": "false:0.2"}
LARGE = {"pegs": 9, "colors": 10, "noise": "false:0.2"}
ASIA = {"model": {"name": "asia"}}

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    *(
        (path, question)
        for path in ("/api/suggest", "/api/doubts", "/api/known")
        for question in (
            SMALL,
            {**SMALL, "turns": TURNS},
            {**NOISY, "turns": TURNS},
            {**SMALL, "turns": WON},
            {**SMALL, "noise": "unknown", "turns": TURNS},
            {**SMALL, "turns": [TURNS[0], {"guess": "11", "reply": "0b0w"}]},
        )
    ),
    ("/api/suggest", LARGE),
    ("/api/what-if", {**NOISY, "turns": TURNS, "row": 1}),
    ("/api/guess", {**NOISY, "turns": TURNS, "guess": "33"}),
    ("/api/known", {**NOISY, "turns": TURNS, "guess": "33"}),
    ("/api/history", {**SMALL, "text": "11 1b0w"}),
    ("/api/stage", {**NOISY, "turns": TURNS, "guess": "12", "stage": 3}),
    ("/api/watch", {**NOISY, "seed": 3}),
    ("/api/watch", {**NOISY, "most_guesses": 1, "strategy": "random"}),
    ("/api/network/query", ASIA),
    ("/api/network/query", {**ASIA, "evidence": {"xray": {"yes": 0.2, "no": 1}}}),
    ("/api/network/picture", ASIA),
    ("/api/network/rank", {**ASIA, "about": ["lung", "bronc"]}),
    ("/api/network/explain", {**ASIA, "evidence": {"xray": "yes"}}),
]


def satisfies(path: str, method: str, answer: Any, status: int = 200) -> None:
    """Check an answer with the schema of its address."""
    responses = SCHEMA["paths"][path][method]["responses"]
    form = responses[str(status)]["content"]["application/json"]["schema"]
    jsonschema.validate(answer, {**form, "components": SCHEMA["components"]})


def ask(browser: TestClient, path: str, question: Any = None, status: int = 200) -> Any:
    answer = browser.get(path) if question is None else browser.post(path, json=question)
    assert answer.status_code == status, answer.text
    satisfies(path, "get" if question is None else "post", answer.json(), status)
    return answer.json()


@pytest.mark.parametrize(("path", "question"), QUESTIONS)
def test_answers_satisfy_the_schema(path: str, question: dict[str, Any]) -> None:
    ask(BROWSER, path, question)


@pytest.mark.parametrize("path", ["/api/network/models", "/api/watch/strategies"])
def test_lists_satisfy_the_schema(path: str) -> None:
    ask(BROWSER, path)


def test_all_states_of_a_game_satisfy_the_schema() -> None:
    browser = client()
    ask(browser, "/api/play")
    ask(browser, "/api/play", NOISY)
    ask(browser, "/api/play")
    if not ask(browser, "/api/play/guess", {"guess": "11"})["over"]:
        ask(browser, "/api/play/hint", {})
    ask(browser, "/api/play/undo", {})
    code = ask(browser, "/api/play/give-up", {})["secret"]
    ask(browser, "/api/play/review")
    ask(browser, "/api/play/undo", {})
    assert ask(browser, "/api/play/guess", {"guess": code})["won"]


def test_refusals_satisfy_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    ask(BROWSER, "/api/suggest", {"pegs": 99}, 422)
    ask(BROWSER, "/api/suggest", {"turns": [{"guess": "99", "reply": "1b"}]}, 422)

    async def busy(*_: object) -> None:
        raise BusyError

    monkeypatch.setattr(Work, "run", busy)
    ask(BROWSER, "/api/suggest", SMALL, 503)


def test_a_field_beside_or_a_missing_one_would_be_noticed() -> None:
    answer = ask(BROWSER, "/api/guess", {**SMALL, "guess": "12"})
    for broken in ({**answer, "more": 1}, {"guess": "12"}, {**answer, "chance": 1.5}):
        with pytest.raises(jsonschema.ValidationError):
            satisfies("/api/guess", "post", broken)


def test_every_address_has_a_schema_for_its_answers() -> None:
    open_ended = {f"{one.method} {one.path}" for one in endpoints(SCHEMA) if not one.answer}
    assert open_ended == {
        *("GET /api/watch/strategies", "GET /api/network/models"),
        *("GET /api/teacher/{table}.csv", "GET /api/teacher/class.xlsx"),
    }
