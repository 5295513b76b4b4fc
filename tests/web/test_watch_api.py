"""Games of strategies to watch: the same secret, the same noise, and limits."""

from __future__ import annotations

import pytest

from bnmind.lab import CodeMaker, Revealed, belief_entropies, play_game
from bnmind.mastermind import Board, Channel
from bnmind.strategies import STRATEGIES, Knuth
from tests.web.clients import SMALL, asked, client, refused

BROWSER = client()
GAME = {**SMALL, "noise": "false:0.4", "seed": 5}


def test_the_strategies_are_those_of_the_registry() -> None:
    told = BROWSER.get("/api/watch/strategies").json()
    assert [one["name"] for one in told] == list(STRATEGIES)
    assert all(one["about"] for one in told)


def test_a_game_is_that_of_the_lab() -> None:
    told = asked(BROWSER, "/api/watch", {**GAME, "strategy": "knuth"})
    maker = CodeMaker.from_seed(Channel.false_reply(Board(2, 3), 0.4).revealed(), 5, turns=20)
    game = play_game(Knuth(), maker, ending=Revealed(20))
    assert told["secret"] == maker.board.format(maker.secret)
    assert [row["guess"] for row in told["rows"]] == [
        maker.board.format(turn.guess) for turn in game.turns
    ]
    assert [row["true"] for row in told["rows"]] == [str(turn.true_reply) for turn in game.turns]
    entropies = [told["entropy"], *(row["entropy"] for row in told["rows"][:-1])]
    assert entropies == pytest.approx(belief_entropies(game))
    assert told["won"]
    assert told["rows"][-1]["won"]
    assert told["rows"][-1]["entropy"] == 0
    assert told["words"] == f"Found in {len(told['rows'])} guesses."


def test_players_have_the_same_secret_and_the_same_luck() -> None:
    games = [
        asked(BROWSER, "/api/watch", {**GAME, "strategy": name})
        for name in ("entropy", "map", "knuth")
    ]
    assert len({game["secret"] for game in games}) == 1
    rows = {(i, row["guess"], row["reply"]) for game in games for i, row in enumerate(game["rows"])}
    assert len({row[:2] for row in rows}) == len(rows)  # equal guesses got equal replies
    for game in games:
        for row in game["rows"]:
            assert row["false"] == (row["reply"] != row["true"])


def test_the_secret_may_be_given_and_a_game_may_be_lost() -> None:
    asked_for = {**GAME, "secret": "32", "most_guesses": 1, "strategy": "shapiro"}
    told = asked(BROWSER, "/api/watch", asked_for)
    assert told["secret"] == "32"
    assert not told["won"]
    assert told["words"] == "Not found in 1 guess."
    assert told["rows"][0]["entropy"] > 0


def test_games_that_would_take_long_are_refused() -> None:
    assert "at most 8,192 codes" in refused(BROWSER, "/api/watch", {"pegs": 5, "colors": 8})
    deep = {"pegs": 3, "colors": 10, "strategy": "optimal"}
    assert "searches all games" in refused(BROWSER, "/api/watch", deep)


def test_no_module_of_the_machine_is_loaded() -> None:
    for name in ("os:system", "tests.web.clients:client", "subset:20:entropy", "nobody", ""):
        assert "strategy" in refused(BROWSER, "/api/watch", {**GAME, "strategy": name})


@pytest.mark.parametrize(
    "wrong",
    [
        *({"noise": "unknown"}, {"seed": -1}, {"secret": "19"}, {"secret": "1"}),
        *({"most_guesses": 0}, {"secret": "11", "prior": "only-once"}),
    ],
)
def test_impossible_games_are_refused(wrong: dict[str, object]) -> None:
    assert refused(BROWSER, "/api/watch", {**GAME, **wrong})
