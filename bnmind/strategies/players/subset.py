"""Heuristics that compare a random subset of the possible codes, on boards of any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._messages import shown
from bnmind._registry import Argument
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.mastermind.beliefs.belief import Belief, Posterior
from bnmind.mastermind.beliefs.sampled_belief import SampledBelief
from bnmind.mastermind.board import digits_of
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.needs import Needs, posterior_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy, start_belief, trusting_channel
from bnmind.strategies.kernels.reply_classes import class_sizes
from bnmind.strategies.players.myopic import Among, Myopic, Ties
from bnmind.strategies.players.openings import FirstGuess, open_aabc
from bnmind.strategies.players.shapiro import Indifference
from bnmind.strategies.scores.entropy import EntropyLeft
from bnmind.strategies.scores.expected_size import ExpectedSize
from bnmind.strategies.scores.most_parts import MostParts
from bnmind.strategies.scores.registry import SCORES
from bnmind.strategies.scores.score import Score
from bnmind.strategies.scores.worst_case import WorstCase

__all__ = [
    "MAX_LISTED",
    "MAX_SUBSET",
    "SUBSET_ARGUMENT",
    "SUBSET_SCORES",
    "Subset",
    "subset_strategy",
]

MAX_SUBSET = 1000
"""The largest size of a subset; a guess then takes a second."""

MAX_LISTED = 2**20
"""With more codes than this, the belief holds samples."""

_DRAWS = 8
"""Codes drawn from a belief that holds only samples, for each code of the subset."""


@dataclass(frozen=True, kw_only=True)
class Subset(Value):
    """Choose the guess of the best score within a random subset of the possible codes.

    Both the guesses that are compared and the reply classes that they are judged by consist of the
    codes of the subset. Ties are broken at random. If no more codes are possible than the subset
    may have, it contains all of them, and the strategy is `Myopic` among possible codes.

    The strategy assumes true replies, as `Myopic` does. On boards of more than `MAX_LISTED` codes,
    its belief holds samples, from which it draws the subset.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply
    >>> strategy = Subset(score=MostParts(), size=20)
    >>> belief = strategy.start(Channel.exact(Board(4, 6)).revealed())
    >>> guess, _ = strategy.choose(belief, np.random.default_rng(0))
    >>> belief.board.code(guess)
    (1, 1, 2, 3)
    >>> after = belief.update((1, 1, 2, 3), Reply(1, 1))
    >>> guess, info = strategy.choose(after, np.random.default_rng(0))
    >>> info.evaluated, bool(after.codes.probabilities[guess] > 0)
    (20, True)

    References
    ----------
    Runarsson and Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms*
    (2010), section 5.
    """

    score: Score
    """The score of guesses."""
    size: Annotated[int, Ge(1), Le(MAX_SUBSET)] = 20
    """The largest number of codes in the subset, μ."""
    name: str = "subset"
    """The name of the strategy at the command line and in files."""
    opening: FirstGuess = open_aabc
    """The first guess."""

    @property
    def deterministic(self) -> bool:
        """The subset is random."""
        return False

    @property
    def needs(self) -> Needs:
        """Codes drawn from the belief."""
        return Needs.SAMPLES

    def start(self, channel: Channel, prior: Prior | None = None) -> Posterior:
        """Return a belief that assumes true replies; on large boards it holds samples."""
        trusting = trusting_channel(channel)
        if channel.board.n_codes > MAX_LISTED:
            return SampledBelief.start(trusting, prior)
        return start_belief(trusting, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the best code of a random subset."""
        board = belief.board
        if not belief.history:
            guess = board.index(self.opening(board))
            return guess, GuessInfo(guess)
        codes = random_subset(posterior_of(belief), self.size, rng)
        classes = class_sizes(board, codes)
        terms = self.score.terms(board, len(codes))
        turn = len(belief.history)
        tied = terms.best(classes, turn)
        chosen = int(tied[rng.integers(len(tied))])
        key = int(terms.keys(classes[tied[:1]], turn)[0])
        guess = board.index(tuple(codes[chosen].tolist()))
        score = self.score.shown(board, key, len(codes))
        return guess, GuessInfo(guess, score, tied=len(tied), evaluated=len(codes))


def random_subset(belief: Posterior, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return up to `size` different possible codes, ``(codes, pegs)``.

    Each code is drawn with its probability from those that are left; if all are equally probable,
    so are all sets of `size` codes. If the belief holds only samples, the result is the first
    different ones of 8·`size` codes drawn from it, which may be fewer.
    """
    codes = getattr(belief, "codes", None)
    if codes is not None:
        possible = np.flatnonzero(codes.probabilities)
        if len(possible) > size:
            p = codes.probabilities[possible]
            possible = rng.choice(possible, size, replace=False, p=p / p.sum())
        return digits_of(belief.board, possible)
    drawn = np.asarray(belief.draw(_DRAWS * size, rng), dtype=np.uint8)
    _, first = np.unique(drawn, axis=0, return_index=True)
    return drawn[np.sort(first)[:size]]


SUBSET_SCORES: Mapping[str, Callable[[], Score]] = MappingProxyType(
    {
        "entropy": EntropyLeft,
        "most-parts": MostParts,
        "expected-size": ExpectedSize,
        "worst-case": WorstCase,
        "random": Indifference,
        **dict(SCORES),
    }
)
"""The scores in the names of subset strategies: those of the paper by its names, and `SCORES`."""


@checked_if_it_fails
def subset_strategy(size: int | None, score: str) -> Strategy:
    """Return the strategy ``subset:SIZE:SCORE``, or for None ``subset:all:SCORE``.

    The latter compares all possible codes: the heuristics of section 3 of the paper.

    Parameters
    ----------
    size
        The number of possible codes that are compared; all if None.
    score
        The name of the score, one of `SCORES`.

    Raises
    ------
    UnknownNameError
        If there is no such score.
    InvalidArgumentError
        If the size is not from 1 to `MAX_SUBSET`.
    """
    if score not in SUBSET_SCORES:
        raise UnknownNameError("score", score, SUBSET_SCORES)
    made = SUBSET_SCORES[score]()
    name = f"subset:{'all' if size is None else size}:{score}"
    if size is not None:
        return Subset(score=made, size=size, name=name)
    return Myopic(made, name=name, among=Among.POSSIBLE, ties=Ties.RANDOM, first=open_aabc)


def _read(text: str) -> tuple[int | None, str]:
    """Return the size and the score of ``SIZE:SCORE``."""
    size, separator, score = text.partition(":")
    if separator and size == "all":
        return None, score
    if not separator or not (size.isascii() and size.isdigit() and len(size) < 10):
        raise InvalidArgumentError(f"expected SIZE:SCORE, got {shown(text)}", text)
    return int(size), score


SUBSET_ARGUMENT = Argument(
    "SIZE:SCORE",
    "a number of codes, or all, and a score, such as 20:entropy,",
    _read,
    "10:most-parts",
)
"""The argument of the family of subset strategies."""
