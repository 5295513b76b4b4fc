"""Help in a game that is played elsewhere: what the API says is what the library says."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.lab.mastermind import advise
from bnmind.mastermind import Board, Channel, Reply, TableBelief
from tests.web.clients import SMALL, asked, client, refused

BROWSER = client()
TURNS = [{"guess": "11", "reply": "1b0w"}, {"guess": "12", "reply": "0b0w"}]


def test_the_first_guess_is_proposed_with_reasons() -> None:
    answer = asked(BROWSER, "/api/suggest", SMALL)
    assert answer["guess"] == "12"
    assert answer["chance"] == pytest.approx(1 / 9)
    assert answer["rows"] == []
    assert answer["contradictions"] == 0
    assert answer["words"]["chance"] == "It could be the code: 11 %."
    assert answer["words"]["knowledge"] == "9 codes could be the secret, all equally likely."
    assert [sum(shares) for shares in answer["positions"]] == pytest.approx([1, 1])


def test_the_answer_under_noise_is_that_of_the_library() -> None:
    answer = asked(BROWSER, "/api/suggest", {**SMALL, "noise": "false:0.2", "turns": TURNS})
    belief = TableBelief.start(Channel.false_reply(Board(2, 3), 0.2).revealed())
    belief = belief.update((1, 1), Reply(1, 0)).update((1, 2), Reply(0, 0))
    advice = advise(belief, np.random.default_rng(0))
    assert answer["guess"] == advice.guess
    assert answer["information"] == pytest.approx(advice.information)
    assert [row["probability_wrong"] for row in answer["rows"]] == pytest.approx(
        [doubt.probability_wrong for doubt in advice.doubts]
    )
    assert answer["contradictions"] is None


def test_doubts_name_the_likely_true_replies() -> None:
    answer = asked(BROWSER, "/api/doubts", {**SMALL, "noise": "false:0.2", "turns": TURNS})
    for row in answer["rows"]:
        shares = {one["reply"]: one["probability"] for one in row["true_replies"]}
        assert shares[row["reply"]] == pytest.approx(1 - row["probability_wrong"])
        assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_contradictory_replies_are_named_and_advice_goes_on() -> None:
    turns = [{"guess": "11", "reply": "0b0w"}, {"guess": "11", "reply": "1b0w"}]
    answer = asked(BROWSER, "/api/suggest", {**SMALL, "turns": turns})
    assert answer["contradictions"] == 1
    assert answer["words"]["contradiction"].endswith("at least 1 reply is wrong.")
    assert sum(row["probability_wrong"] for row in answer["rows"]) == pytest.approx(1)


def test_what_if_is_the_same_game_with_one_row_different() -> None:
    game = {**SMALL, "noise": "false:0.2", "turns": TURNS}
    ignored = asked(BROWSER, "/api/what-if", {**game, "row": 0, "instead": None})
    assert ignored == asked(BROWSER, "/api/suggest", {**game, "turns": TURNS[1:]})
    other = asked(BROWSER, "/api/what-if", {**game, "row": 1, "instead": "0 1"})
    changed = [TURNS[0], {"guess": "12", "reply": "0b1w"}]
    assert other == asked(BROWSER, "/api/suggest", {**game, "turns": changed})
    assert "row" in refused(BROWSER, "/api/what-if", {**game, "row": 2})


def test_an_own_guess_is_weighed() -> None:
    best = asked(BROWSER, "/api/suggest", SMALL)
    own = asked(BROWSER, "/api/guess", {**SMALL, "guess": "AA"})
    assert own["guess"] == "11"
    assert own["information"] < best["information"]
    assert own["chance"] == pytest.approx(1 / 9)


def test_a_won_game_is_found_unless_it_goes_on() -> None:
    game = {**SMALL, "noise": "independent:0.2", "turns": [{"guess": "12", "reply": "2b0w"}]}
    assert asked(BROWSER, "/api/suggest", game)["found"]
    assert asked(BROWSER, "/api/doubts", game)["found"]
    on = asked(BROWSER, "/api/suggest", {**game, "goes_on": True})
    assert not on["found"]
    assert on["rows"][0]["probability_wrong"] == 1


def test_the_noise_level_is_learned() -> None:
    turns = [{"guess": "11", "reply": reply} for reply in ("0b0w", "1b0w", "0b0w", "1b0w")]
    answer = asked(BROWSER, "/api/suggest", {**SMALL, "noise": "unknown", "turns": turns})
    assert 0.1 < answer["noise"]["learned"] < 0.5
    levels = answer["noise"]["levels"]
    assert sum(one["probability"] for one in levels) == pytest.approx(1)
    mean = sum(one["level"] * one["probability"] for one in levels)
    assert answer["noise"]["learned"] == pytest.approx(mean)
    assert answer["noise"]["words"].startswith("Judging by the rows")


def test_a_prior_counts() -> None:
    answer = asked(BROWSER, "/api/suggest", {**SMALL, "prior": "only-once"})
    assert answer["possible_codes"] == 6


def test_a_history_is_read_from_text() -> None:
    answer = asked(BROWSER, "/api/history", {**SMALL, "text": "AA 10; 1 2 0b0w"})
    assert answer["turns"] == TURNS


@pytest.mark.parametrize(
    ("path", "question", "words"),
    [
        ("suggest", {"noise": "file:/etc/passwd"}, "exact, false:P"),
        ("suggest", {"prior": "file:/etc/passwd"}, "without a file"),
        ("suggest", {"noise": "false:2"}, "probability"),
        ("suggest", {"pegs": 13}, "Pegs: input should be less than"),
        ("suggest", {"pegs": 12, "colors": 20}, "at most 1,000,000,000,000 codes"),
        ("suggest", {"pegs": 5, "colors": 4, "repeats": False}, "at least as many colors"),
        ("suggest", {"turns": [{"guess": "17", "reply": "1b"}]}, "Row 1: expected"),
        ("suggest", {"turns": [{"guess": "11", "reply": "0b0w"}] * 41}, "at most 40"),
        ("suggest", {"guess": 3}, "Guess: extra inputs"),
        ("suggest", [], "valid dictionary"),
        ("history", {"text": "1 " * 3000}, "at most 4000"),
        ("guess", {"guess": "1" * 90}, "at most 80"),
    ],
)
def test_impossible_questions_are_refused_in_a_sentence(
    path: str, question: object, words: str
) -> None:
    message = refused(BROWSER, f"/api/{path}", question)
    assert words in message
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 400


def test_bad_json_is_refused() -> None:
    answer = BROWSER.post(
        "/api/suggest", content=b"{", headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert "JSON" in answer.json()["error"]["message"]
