"""Players that judge guesses by samples of the codes, on boards of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bnmind._values import Natural, Sealed, Value
from bnmind.information import Floats, information, tied_best
from bnmind.mastermind.beliefs import Belief, Posterior
from bnmind.mastermind.board import Board
from bnmind.mastermind.consistent import distinct_codes
from bnmind.mastermind.prior import UniformPrior
from bnmind.mastermind.random_moves import changed_codes, masses_of_samples
from bnmind.mastermind.sampled_belief import SampledBelief
from bnmind.mastermind.sampling import SamplerOptions
from bnmind.strategies.strategy import FIRST_TURN, GuessInfo, Situation, UsesSamples, posterior_of

# --- Minimal expected entropy, estimated from samples, on boards of any size ----------------------


_DRAWN = 2048  # codes drawn from a belief that does not hold samples
_TIE = 1e-9  # bits
_INFORMATION_DIGITS = 9  # of the information, in bits; the rest is rounding
_MOST_SHARED = 20  # pegs up to which all shares are tried; 20 pegs have 627
_BEST = 8  # guesses whose neighbors are tried too


@dataclass(frozen=True, kw_only=True)
class SampledEntropy(Value, UsesSamples):
    """Choose the guess of minimal expected entropy among some candidates, estimated from samples.

    The belief is a `SampledBelief`, so the strategy plays on boards of any size, with any noise and
    any prior; from another belief it draws samples. The score is the expected entropy. The
    candidates are

    * the most probable codes among the samples, and further samples at random,
    * samples with one or two random moves, which are seldom possible codes, and random codes,
    * then, for some rounds, the best candidates so far with one random move,
    * at the first guess under a uniform prior, only one code for each way to share the pegs among
      colors.

    Guesses whose scores differ by at most 1e-9 bits are ordered by their probability of being the
    code, then lexicographically. The random candidates depend on the seed of the sampler's options
    and on the number of the turn.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> strategy = SampledEntropy()
    >>> belief = strategy.start(Channel.exact(Board(8, 12)).revealed())
    >>> guess, info = strategy.choose(belief, np.random.default_rng(0))
    >>> len(set(belief.board.code(guess))), info.information > 2.9
    (5, True)

    References
    ----------
    Vomlel, *Bayesian networks in Mastermind*, section 2: the expected entropy. Runarsson and
    Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms* (2010): scores
    from a sample of the possible codes.
    """

    name: str = "entropy-sampled"
    """The name of the strategy at the command line and in files."""
    options: SamplerOptions = field(default_factory=SamplerOptions)
    """The options of the sampler; its seed also determines the candidates."""
    candidates: Annotated[int, Ge(_BEST)] = 1024
    """The number of candidates of the first round, at least 8; one half are samples."""
    rounds: Natural = 8
    """The number of rounds of improvement."""

    deterministic = True
    """The history and the seed of the sampler determine the choice."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the candidate of minimal expected entropy, without using `rng`."""
        posterior, board = posterior_of(belief), belief.board
        source = np.random.SeedSequence(self.options.seed, spawn_key=(len(belief.history), 99))
        own = np.random.default_rng(source)
        codes, weights = _samples(posterior, own)
        likely = int(weights.argmax())
        if weights[likely] >= 1 - _TIE:
            guess = board.index(codes[likely].tolist())
            return guess, GuessInfo(
                guess, 0.0, information=0.0, expected_entropy=0.0, evaluated=1, note=_note(belief)
            )
        first = self._candidates(posterior, codes, weights, own)
        scored = _Scored.of(posterior, first, codes, weights)
        for _ in range(self.rounds if belief.history else 0):
            near = np.repeat(scored.best(_BEST), self.candidates // (4 * _BEST), axis=0)
            scored = scored.extended(changed_codes(board, near, 1, own))
        return scored.choice(_note(belief))

    def _candidates(
        self,
        belief: Posterior,
        codes: NDArray[np.uint8],
        weights: Floats,
        rng: np.random.Generator,
    ) -> NDArray[np.uint8]:
        """Return the candidates of the first round, ``(candidates, pegs)``."""
        board, share = belief.board, max(1, self.candidates // 4)
        prior = getattr(belief, "prior", None)
        if not belief.history and (prior is None or isinstance(prior, UniformPrior)):
            return _openings(board)
        likely = codes[np.argsort(-weights, kind="stable")[:share]]
        others = codes[rng.choice(len(codes), size=share, p=weights)]
        once = codes[rng.choice(len(codes), size=share // 2, p=weights)]
        twice = codes[rng.choice(len(codes), size=share // 2, p=weights)]
        return np.concatenate(
            [
                likely,
                others,
                changed_codes(board, once, 1, rng),
                changed_codes(board, twice, 2, rng),
                UniformPrior(board).draw(share, rng),
            ]
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Scored(Sealed):
    """Candidates with their information."""

    belief: Posterior
    codes: NDArray[np.uint8]
    """The samples, distinct, in lexicographic order."""
    weights: Floats
    guesses: NDArray[np.uint8]
    """The candidates, distinct, in lexicographic order."""
    information: Floats
    """In bits."""

    @classmethod
    def of(
        cls,
        belief: Posterior,
        guesses: NDArray[np.uint8],
        codes: NDArray[np.uint8],
        weights: Floats,
    ) -> _Scored:
        """Return the candidates with their information."""
        distinct = distinct_codes(guesses)[0]
        masses = masses_of_samples(belief.board, distinct, codes, weights)
        gained = information(masses, belief.channel.matrix)
        return cls(
            belief=belief, codes=codes, weights=weights, guesses=distinct, information=gained
        )

    def best(self, n: int) -> NDArray[np.uint8]:
        """Return the candidates of most information; of equal ones the first."""
        rounded = np.round(self.information, _INFORMATION_DIGITS)
        return self.guesses[np.argsort(-rounded, kind="stable")[:n]]

    def extended(self, guesses: NDArray[np.uint8]) -> _Scored:
        """Return the candidates and further ones."""
        more = _Scored.of(self.belief, guesses, self.codes, self.weights)
        joint = np.concatenate([self.guesses, more.guesses])
        distinct, first, _ = distinct_codes(joint)
        gained = np.concatenate([self.information, more.information])[first]
        return replace(self, guesses=distinct, information=gained)

    def choice(self, note: str) -> tuple[int, GuessInfo]:
        """Return the best candidate; of equal ones the most probable code, then the first."""
        board = self.belief.board
        tied = tied_best(self.information, tolerance=_TIE)
        joint = np.concatenate([self.codes, self.guesses[tied]])
        ranks = distinct_codes(joint)[2]
        weight_of = np.zeros(len(joint))
        weight_of[ranks[: len(self.codes)]] = self.weights
        probable = weight_of[ranks[len(self.codes) :]]
        chosen = int(tied[int(tied_best(probable, tolerance=_TIE)[0])])
        guess = board.index(self.guesses[chosen].tolist())
        gained = float(self.information[chosen])
        expected_entropy = max(0.0, self.belief.entropy() - gained)
        return guess, GuessInfo(
            guess=guess,
            score=expected_entropy,
            information=gained,
            expected_entropy=expected_entropy,
            tied=len(tied),
            evaluated=len(self.guesses),
            note=note,
        )


def _samples(belief: Posterior, rng: np.random.Generator) -> tuple[NDArray[np.uint8], Floats]:
    """Return distinct codes and their weights, which sum to one."""
    if isinstance(belief, SampledBelief):
        return belief.samples
    codes, _, ranks = distinct_codes(belief.draw(_DRAWN, rng))
    return codes, np.bincount(ranks) / _DRAWN


def _note(belief: Belief) -> str:
    """Return the sampler's warning, if there is one."""
    warning = belief.info.warning if isinstance(belief, SampledBelief) else None
    return warning or ""


def _openings(board: Board) -> NDArray[np.uint8]:
    """Return one code for each way to share the pegs among colors, ``(codes, pegs)``.

    With more than 20 pegs, the shares are as even as possible, for each number of colors.
    """
    if not board.repeats:
        return np.arange(1, board.pegs + 1, dtype=np.uint8)[None, :]
    pegs, colors = board.pegs, board.colors
    if pegs <= _MOST_SHARED:
        ways = _partitions(pegs, pegs, colors)
    else:
        ways = (_even_shares(pegs, used) for used in range(1, min(pegs, colors) + 1))
    codes = [np.repeat(np.arange(1, len(shares) + 1), shares) for shares in ways]
    return np.array(codes, dtype=np.uint8)


def _even_shares(pegs: int, colors: int) -> tuple[int, ...]:
    """Return the shares of colors that differ by at most one peg."""
    return tuple(len(range(first, pegs, colors)) for first in range(colors))


def _partitions(n: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write n as a sum of at most `parts` falling numbers of at most `most`."""
    if n == 0:
        yield ()
    elif parts:
        for first in range(min(n, most), 0, -1):
            for rest in _partitions(n - first, first, parts - 1):
                yield (first, *rest)


# --- Guess the most probable of the sampled codes, on boards of any size --------------------------


@dataclass(frozen=True, kw_only=True)
class SampledMap(Value, UsesSamples):
    """Choose the most probable of the sampled codes; ties are broken at random.

    This is `MapCode` for boards with too many codes to list. The score is the probability of the
    code, which may be an estimate.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply
    >>> strategy = SampledMap()
    >>> belief = strategy.start(Channel.exact(Board(4, 6)).revealed())
    >>> belief = belief.update((1, 1, 2, 2), Reply(3, 0)).update((1, 1, 2, 3), Reply(2, 0))
    >>> guess, info = strategy.choose(belief, np.random.default_rng(0))
    >>> info.tied, info.score
    (8, 0.125)
    """

    name: str = "map-sampled"
    """The name of the strategy at the command line and in files."""
    options: SamplerOptions = field(default_factory=SamplerOptions)
    """The options of the sampler."""

    deterministic = False
    """Ties are broken at random."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return one of the most probable sampled codes."""
        likely = posterior_of(belief).most_probable(self.options.islands * self.options.size)
        least = likely[0][1] * (1 - _TIE)
        tied = [guess for guess, probability in likely if probability >= least]
        guess = tied[int(rng.integers(len(tied)))]
        return guess, GuessInfo(guess, likely[0][1], tied=len(tied), evaluated=len(likely))
