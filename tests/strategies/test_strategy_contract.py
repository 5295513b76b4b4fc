"""The contract that every registered strategy keeps, and wrong strategies that break it."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.mastermind import (
    Belief,
    Board,
    Channel,
    ExactBelief,
    Prior,
    TableBelief,
    reply,
)
from bnmind.strategies import (
    FIRST_TURN,
    STRATEGIES,
    GuessInfo,
    Knuth,
    Needs,
    RandomCode,
    Situation,
    Strategy,
    strategy_by_name,
)
from tests.registries import registry_faults, rejected


def check_strategy(strategy: Strategy, name: str) -> None:
    """Raise AssertionError unless a strategy keeps the contract."""
    assert strategy.name == name
    assert list(inspect.signature(strategy.start).parameters) == ["channel", "prior"]
    assert list(inspect.signature(strategy.choose).parameters) == [*("belief", "rng", "situation")]
    assert isinstance(strategy.needs, Needs)
    assert pickle.loads(pickle.dumps(strategy)) == strategy
    for channel in (Channel.exact(Board(3, 3)), Channel.independent_error(Board(3, 3), 0.2)):
        check_choice(strategy, strategy.start(channel.revealed()))
    check_end(strategy)


def check_choice(strategy: Strategy, belief: Belief) -> None:
    """The choice is a code, repeatable, and takes in whatever may be reported."""
    board = belief.board
    guess, info = strategy.choose(belief, np.random.default_rng(1))
    assert 0 <= guess < board.n_codes
    assert (info.guess, info.tied >= 1) == (guess, True)
    assert strategy.deterministic == (not is_random(strategy, belief))
    assert strategy.choose(belief, np.random.default_rng(1))[0] == guess
    later = Situation(memory=info.memory, guesses_left=3)
    assert 0 <= strategy.choose(belief, np.random.default_rng(1), later)[0] < board.n_codes
    for report in belief.channel.reports:
        if report != board.winning:
            belief.update(board.code(guess), report)


def is_random(strategy: Strategy, belief: Belief) -> bool:
    """Return whether the choice depends on the generator, now or after the first guess."""
    guess, _ = strategy.choose(belief, np.random.default_rng(1))
    beliefs = [belief]
    if not strategy.deterministic:
        code, replies = belief.board.code(guess), belief.board.true_replies[:-1]
        beliefs += [belief.update(code, report) for report in replies]
    return any(
        len({strategy.choose(one, np.random.default_rng(seed))[0] for seed in range(8)}) > 1
        for one in beliefs
    )


def check_end(strategy: Strategy) -> None:
    """A code that is known is guessed."""
    board = Board(3, 4)
    belief = strategy.start(Channel.exact(board).revealed())
    for guess in ((1, 2, 3), (1, 4, 4), (4, 4, 1), (2, 3, 4)):
        belief = belief.update(guess, reply(guess, (2, 4, 1)))
    index, info = strategy.choose(belief, np.random.default_rng(0))
    assert board.code(index) == (2, 4, 1)
    assert info.guess == index


SEARCHERS = ("genetic", "bernier-genetic", "annealing", "eda")
"""Beginnings of names of strategies that search long, and take seconds to compile."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name.startswith(SEARCHERS) else name
        for name in STRATEGIES
    ],
)
def test_a_registered_strategy_keeps_the_contract(name: str) -> None:
    check_strategy(STRATEGIES[name](), name)
    assert strategy_by_name(name) == STRATEGIES[name]()


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(STRATEGIES) == []


@dataclass(frozen=True)
class Stubborn(Knuth):
    """Never wins."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the first code."""
        return 0, GuessInfo(0)


@dataclass(frozen=True)
class Beyond(Knuth):
    """Guesses what is no code."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the number after the last code."""
        return belief.board.n_codes, GuessInfo(belief.board.n_codes)


@dataclass(frozen=True)
class SaysDeterministic(RandomCode):
    """Draws, and does not say so."""

    @property
    def deterministic(self) -> bool:
        """Wrong."""
        return True


@dataclass(frozen=True)
class Believer(Knuth):
    """Cannot take in a false reply."""

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return a belief that takes each reply for true."""
        return TableBelief.start(Channel.exact(channel.board).revealed())


@pytest.mark.parametrize(
    "wrong",
    [Stubborn(), Beyond(), SaysDeterministic(), Believer(), Knuth("other")],
    ids=lambda wrong: type(wrong).__name__,
)
def test_the_contract_rejects_a_wrong_strategy(wrong: Strategy) -> None:
    name = "knuth" if isinstance(wrong, Knuth) else wrong.name
    assert rejected(lambda: check_strategy(wrong, name))
