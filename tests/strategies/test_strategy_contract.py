"""Every registered strategy keeps the contract of `bnmind.testing`, and wrong ones break it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from bnmind.errors import ContractError
from bnmind.mastermind import Belief, Channel, ExactBelief, Prior, TableBelief
from bnmind.strategies import (
    FIRST_TURN,
    STRATEGIES,
    Entropy,
    GuessInfo,
    Knuth,
    RandomCode,
    Situation,
    Strategy,
)
from bnmind.testing import check_strategy

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
    check_strategy(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in STRATEGIES if not name.startswith(SEARCHERS)])
def test_a_registered_strategy_keeps_the_contract_in_more_games(name: str) -> None:
    check_strategy(name, thorough=True)


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

    deterministic = True


@dataclass(frozen=True)
class Believer(Knuth):
    """Cannot take in a false reply."""

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return a belief that takes each reply for true."""
        return TableBelief.start(Channel.exact(channel.board).revealed())


@dataclass(frozen=True)
class GlobalLuck(RandomCode):
    """Draws with the global generator of NumPy."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a code that nobody can draw again."""
        found = super().choose(belief, rng, situation)[1]
        guess = int(np.random.randint(belief.board.n_codes))  # noqa: NPY002
        return guess, replace(found, guess=guess)


@dataclass(frozen=True)
class OwnLuck(RandomCode):
    """Draws with a generator of its own, seeded by the clock."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a code that nobody can draw again."""
        return super().choose(belief, np.random.default_rng(), situation)


@dataclass(frozen=True)
class Boastful(Entropy):
    """Reports more information than its guess gives, after the first guess."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the same guess with a tenth of a bit more."""
        guess, info = super().choose(belief, rng, situation)
        more = 0.1 * bool(belief.history)
        return guess, replace(info, information=info.information + more)


@dataclass(frozen=True)
class Unpicklable(Knuth):
    """Comes back from pickle as something else."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Knuth, ())


@dataclass(frozen=True)
class FondOfRed(Entropy):
    """Likes one color better than the others."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the same guess with a score by its first color."""
        guess, info = super().choose(belief, rng, situation)
        return guess, replace(info, score=float(belief.board.code(guess)[0]))


@dataclass(frozen=True)
class Forgetful(Entropy):
    """Ignores the prior."""

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return the belief of a uniform prior."""
        return super().start(channel)


@dataclass(frozen=True)
class OnlyUniform(Entropy):
    """Knows no priors."""

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Refuse a prior, without words."""
        assert prior is None
        return super().start(channel)


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (Forgetful(), "its belief starts with the prior"),
        (OnlyUniform(), "it starts with any prior"),
        (Stubborn(), "it guesses a code that it knows"),
        (Beyond(), "it chooses a code of the board"),
        (SaysDeterministic(), "it says `deterministic` if, and only if"),
        (Believer(), "takes in what may be reported|chooses from every belief|Impossible"),
        (GlobalLuck(), "the generator that it is given"),
        (OwnLuck(), "the same belief and the same luck"),
        (Boastful(), "the `information` that it reports"),
        (FondOfRed(), "renamed colors and positions change neither"),
        (Unpicklable(), "pickle restores it as it was"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_the_contract_rejects_a_wrong_strategy(wrong: Strategy, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_strategy(wrong)


def test_a_strategy_may_prefer_colors_if_it_says_so() -> None:
    check_strategy(FondOfRed(), symmetric=False)
