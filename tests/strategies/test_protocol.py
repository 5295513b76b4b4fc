"""The protocol of strategies: what they need, what they remember, and what they count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.lab import CodeMaker, Declared, compare, play_game
from bnmind.mastermind import (
    Belief,
    Board,
    Channel,
    HistoryBelief,
    Prior,
    Reply,
    TableBelief,
    UniformPrior,
    VanishingBelief,
)
from bnmind.strategies import (
    FIRST_TURN,
    Entropy,
    GuessInfo,
    Knuth,
    Needs,
    Pruning,
    Situation,
    UnknownNoise,
    UsesHistory,
    distribution_of,
    measure_games,
    posterior_of,
)
from bnmind.strategies.game_lengths import game_rngs

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
    with pytest.raises(InvalidArgumentError):
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


def test_unknown_noise_names_all_faults() -> None:
    with pytest.raises(InvalidArgumentError) as told:
        UnknownNoise(Knuth(), levels=(0.1, 0.5), weights=(1.0,))
    for part in ("that models noise, got Knuth", "2 values in weights, as many as levels"):
        assert part in str(told.value)
    with pytest.raises(InvalidArgumentError, match=r"levels .* each a number from 0 to 1"):
        UnknownNoise(levels=(0.1, 1.5))


def test_pruning_names_all_faults() -> None:
    with pytest.raises(InvalidArgumentError, match=r"firsts .* got 0; expected window .* got -1.0"):
        Pruning(firsts=0, window=-1.0)


def test_random_codes_of_boards_beyond_64_bits_are_drawn() -> None:
    board = Board(15, 20)
    measured = measure_games(Once(), board, games=1, seed=0)
    assert measured.distribution == (0, 1)


@dataclass(frozen=True)
class Once(UsesHistory):
    """Guess a code, and then the one that the generator of the game hides."""

    name: str = "once"
    deterministic: bool = False

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the first code, then the secret of the game."""
        if not belief.history:
            return 0, GuessInfo(0)
        (own,) = game_rngs(0, 1)
        (code,) = UniformPrior(belief.board).draw(1, own).tolist()
        guess = belief.board.index(code)
        return guess, GuessInfo(guess)
