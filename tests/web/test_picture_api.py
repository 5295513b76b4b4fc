"""Pictures of a belief: the numbers behind them are those of the library."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.information import information
from bnmind.lab.mastermind.advice import information_of_guesses
from bnmind.mastermind import Board, Channel, Reply, SampledBelief, TableBelief, stage
from bnmind.web.page import STATIC
from tests.web.clients import SMALL, asked, client, refused

BROWSER = client()
TURNS = [{"guess": "11", "reply": "1b0w"}, {"guess": "12", "reply": "0b0w"}]
GAME = {**SMALL, "noise": "false:0.2", "turns": TURNS}


def belief_of_game() -> TableBelief:
    belief = TableBelief.start(Channel.false_reply(Board(2, 3), 0.2).revealed())
    return belief.update((1, 1), Reply(1, 0)).update((1, 2), Reply(0, 0))


def test_entropies_are_those_of_the_beliefs_after_each_reply() -> None:
    told = asked(BROWSER, "/api/known", GAME)
    start = TableBelief.start(Channel.false_reply(Board(2, 3), 0.2).revealed())
    first = start.update((1, 1), Reply(1, 0))
    assert told["entropies"] == pytest.approx(
        [start.entropy(), first.entropy(), belief_of_game().entropy()]
    )
    assert told["found"] is None
    assert told["has_network"]
    assert told["information"]["chosen"] is None
    assert told["information"]["words"] == ""


def test_every_guess_is_counted_and_the_chosen_one_is_placed() -> None:
    told = asked(BROWSER, "/api/known", {**GAME, "guess": "31"})["information"]
    belief = belief_of_game()
    values = information(belief.masses(np.arange(9)), belief.channel.matrix)
    assert sum(told["guesses"]) == told["n_guesses"] == 9
    assert told["best"] == pytest.approx(values.max())
    assert told["chosen"] == pytest.approx(values[belief.board.index((3, 1))])
    assert told["better"] == np.count_nonzero(values > told["chosen"] + 1e-9)
    assert len(told["edges"]) == len(told["guesses"]) + 1
    best = asked(BROWSER, "/api/suggest", GAME)["guess"]
    top = asked(BROWSER, "/api/known", {**GAME, "guess": best})["information"]
    assert top["words"].startswith("No other of 9 guesses should tell more")


@pytest.mark.parametrize("noise", ["exact", "unknown", "independent:0.1"])
def test_guesses_are_counted_under_any_noise(noise: str) -> None:
    told = asked(BROWSER, "/api/known", {**SMALL, "noise": noise, "turns": TURNS[:1]})
    assert sum(told["information"]["guesses"]) == 9
    assert told["entropies"][0] == pytest.approx(np.log2(9))


def test_large_boards_are_shown_by_random_guesses() -> None:
    belief = SampledBelief.start(Channel.false_reply(Board(4, 5), 0.2).revealed())
    told = information_of_guesses(belief, np.random.default_rng(0))
    assert told.is_sample
    assert len(told.values) == 500
    assert told.numbers.sum() == 500


def test_a_game_that_is_won_ends_without_entropy() -> None:
    won = [*TURNS, {"guess": "31", "reply": "2b0w"}]
    told = asked(BROWSER, "/api/known", {**GAME, "turns": won})
    assert told["entropies"][-1] == 0
    assert len(told["entropies"]) == 4
    assert told["found"] == "31"
    assert told["information"] is told["positions"] is None
    assert told["most_probable"] == [{"code": "31", "probability": 1.0}]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_stages_have_the_cliques_of_the_paper_and_bars(number: int) -> None:
    told = asked(BROWSER, "/api/stage", {**GAME, "guess": "31", "stage": number})
    tree = stage(Board(2, 3), number).tree
    assert told["total_size"] == tree.total_size
    assert sorted(one["size"] for one in told["cliques"]) == sorted(c.size for c in tree.cliques)
    assert told["svg"].count("data-share") > 10
    assert 'data-variable="P_reported"' in told["svg"]
    assert ('data-variable="B"' in told["svg"]) == (number == 3)
    assert " style=" not in told["svg"] + told["tree_svg"]  # the policy would forbid it


def test_networks_that_do_not_fit_a_page_are_refused() -> None:
    large = {"pegs": 7, "colors": 3, "guess": "1111111"}
    assert "at most 6 positions" in refused(BROWSER, "/api/stage", large)
    told = asked(BROWSER, "/api/known", {"pegs": 12, "colors": 2})
    assert not told["has_network"]
    joint = {"pegs": 6, "colors": 9, "repeats": False, "guess": "123456"}
    assert "depend on each other" in refused(BROWSER, "/api/stage", joint)
    assert refused(BROWSER, "/api/stage", {**SMALL, "guess": "11", "stage": 4})
    assert "9" in refused(BROWSER, "/api/stage", {**SMALL, "guess": "19"})
    assert refused(BROWSER, "/api/known", {**SMALL, "guess": "1"})


def test_pictures_have_no_colors_of_their_own() -> None:
    """Dark pages change the colors in the style sheet, and the policy forbids inline styles."""
    script = (STATIC / "shapes.js").read_text(encoding="utf-8")
    assert "style:" not in script
    assert "fill:" not in script
