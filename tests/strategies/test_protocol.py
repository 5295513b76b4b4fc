"""The protocol of strategies: what they need, what they remember, and what they count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError, InvalidReplyError
from bnmind.lab import CodeMaker, Declared, compare, play_game
from bnmind.mastermind import (
    Belief,
    Board,
    Channel,
    HistoryBelief,
    Prior,
    Reply,
    TableBelief,
    VanishingBelief,
)
from bnmind.strategies import (
    FIRST_TURN,
    Entropy,
    GuessInfo,
    Needs,
    Situation,
    distribution_of,
    posterior_of,
)

BOARD = Board(3, 4)
NOISY = Channel.false_reply(BOARD, 0.2).revealed()


@dataclass(frozen=True)
class InOrder:
    """Guess one code after the other, and remember where it stands."""

    name: str = "in-order"
    deterministic: bool = True
    needs: Needs = Needs.HISTORY

    def start(self, channel: Channel, prior: Prior | None = None) -> HistoryBelief:
        """Return the history."""
        return HistoryBelief(channel)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the code after the last one."""
        memory = situation.memory
        guess = memory + 1 if isinstance(memory, int) else 0
        return guess, GuessInfo(guess, evaluated=guess + 1, memory=guess, note=f"{situation}")


def test_the_memory_of_a_strategy_is_passed_on_and_not_kept() -> None:
    maker = CodeMaker.from_seed(NOISY, 3, secret=BOARD.code(5))
    game = play_game(InOrder(), maker)
    assert [turn.info.guess for turn in game.turns] == [0, 1, 2, 3, 4, 5]
    assert all(turn.info.memory is None for turn in game.turns)
    assert "guesses_left=100" in game.turns[0].info.note
    assert "memory=4, guesses_left=95" in game.turns[-1].info.note


def test_a_comparison_counts_the_codes_examined() -> None:
    comparison = compare([InOrder(), Entropy()], NOISY, games=None)
    in_order, entropy = comparison.summaries
    assert in_order.mean == pytest.approx(32.5)
    assert in_order.codes_examined == pytest.approx(sum(n * (n + 1) / 2 for n in range(1, 65)) / 64)
    assert entropy.codes_examined is None


def test_a_history_names_a_code_at_the_end_of_a_game_that_does_not_reveal_it() -> None:
    maker = CodeMaker.from_seed(Channel.exact(BOARD), 3)
    game = play_game(InOrder(), maker, ending=Declared(1.0))
    assert (game.won, game.declared) == (True, maker.secret)


def test_a_history_checks_what_it_is_told() -> None:
    belief = HistoryBelief(Channel.exact(BOARD))
    with pytest.raises(InvalidReplyError):
        belief.update((1, 1, 2), Reply(2, 1))
    after = belief.update((1, 1, 2), Reply(1, 1))
    assert (after.history[0].guess, belief.history) == ((1, 1, 2), ())


def test_a_belief_without_probabilities_says_so() -> None:
    belief = HistoryBelief(NOISY)
    with pytest.raises(InvalidArgumentError, match="holds the probability of each code"):
        distribution_of(belief)
    with pytest.raises(InvalidArgumentError, match="knows or estimates"):
        posterior_of(belief)
    with pytest.raises(InvalidArgumentError, match="got HistoryBelief"):
        Entropy().choose(belief, np.random.default_rng(0))


@pytest.mark.parametrize("start", [VanishingBelief.start(BOARD), TableBelief.start(NOISY)])
def test_an_exact_belief_has_no_standard_errors(start: VanishingBelief | TableBelief) -> None:
    belief = start.update((1, 1, 2), Reply(1, 1))
    guesses = np.array([0, 7, 20])
    np.testing.assert_array_equal(belief.masses(guesses), belief.codes.masses(guesses))
    assert belief.entropy() == belief.codes.entropy()
    assert belief.most_probable(3) == belief.codes.most_probable(3)
    errors = belief.standard_errors
    assert errors.masses(guesses).shape == belief.masses(guesses).shape
    assert not errors.masses(guesses).any()
    assert (errors.entropy(), errors.misreport_probabilities()) == (0.0, (0.0,))


@pytest.mark.parametrize("board", [Board(2, 3), Board(2, 4, repeats=False)])
def test_codes_are_drawn_with_their_probabilities(board: Board) -> None:
    belief = TableBelief.start(Channel.false_reply(board, 0.3)).update((1, 2), Reply(0, 1))
    draws = belief.draw(20_000, np.random.default_rng(0))
    counts = np.zeros(board.n_codes)
    for code in draws.tolist():
        counts[board.index(code)] += 1
    p = belief.codes.probabilities
    error = np.sqrt(p * (1 - p) / len(draws))
    assert np.all(np.abs(counts / len(draws) - p) <= 4.5 * error)
    assert belief.draw(0, np.random.default_rng(0)).shape == (0, 2)
    with pytest.raises(InvalidArgumentError):
        belief.draw(-1, np.random.default_rng(0))
