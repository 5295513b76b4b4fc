"""Players that weigh guesses by a score or by probabilities, and patterns of first guesses.

**First guesses.** Papers name first guesses for 4×6 by letters. For larger boards, Merelo extends
the patterns: AABB becomes AAAAABBBBB on ten pegs, and AABC becomes AAAAABBBCC. On a board without
repeats, the first guess is ABCD….

**Myopic strategies** choose the guess of the best score, one guess ahead. Each myopic strategy of
the literature is a `Myopic`: a score, a set of candidate guesses, and a rule for ties. It assumes
true replies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Ge, Le, MinLen
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._messages import shown
from bnmind._registry import Argument
from bnmind._values import Chances, Must, Probability, Shape, Value
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats, choose_by_information, choose_question, tied_best
from bnmind.mastermind.beliefs import Belief, ExactBelief, Posterior
from bnmind.mastermind.board import Board, digits_of
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses import plan_masses
from bnmind.mastermind.noise_beliefs import UnknownNoiseBelief
from bnmind.mastermind.prior import Prior
from bnmind.mastermind.sampled_belief import SampledBelief
from bnmind.strategies.best_guess import class_sizes
from bnmind.strategies.scores import (
    SCORES,
    ClassTerms,
    EntropyLeft,
    ExpectedSize,
    MostParts,
    Score,
    WorstCase,
    equal_weights,
    shipped_weights,
    worst_cases,
)
from bnmind.strategies.strategy import (
    FIRST_TURN,
    GuessInfo,
    ModelsNoise,
    Needs,
    Situation,
    Strategy,
    TrustsReplies,
    distribution_of,
    posterior_of,
    start_belief,
    trusting_channel,
)

# --- First guesses by pattern, for boards of any size ---------------------------------------------


FirstGuess: TypeAlias = Callable[[Board], tuple[int, ...]]
"""A function that returns the first guess on a board."""


@checked_if_it_fails
def open_aabb(board: Board) -> tuple[int, ...]:
    """Return AABB: color 1 on the first half of the pegs, and color 2 on the others.

    Parameters
    ----------
    board
        The board.

    Examples
    --------
    >>> open_aabb(Board(4, 6)), open_aabb(Board(5, 8))
    ((1, 1, 2, 2), (1, 1, 1, 2, 2))
    """
    return _pattern(board, 2)


@checked_if_it_fails
def open_aabc(board: Board) -> tuple[int, ...]:
    """Return AABC: color 1 on half of the pegs, color 2 on half of the others, and color 3.

    Parameters
    ----------
    board
        The board.

    Examples
    --------
    >>> open_aabc(Board(4, 6)), open_aabc(Board(5, 8))
    ((1, 1, 2, 3), (1, 1, 1, 2, 3))
    """
    return _pattern(board, min(3, board.colors))


def _pattern(board: Board, colors: int) -> tuple[int, ...]:
    if not board.repeats:
        return tuple(range(1, board.pegs + 1))
    code: list[int] = []
    for color in range(1, colors):
        code += [color] * -(-(board.pegs - len(code)) // 2)
    return (*code, *[colors] * (board.pegs - len(code)))


# --- Myopic strategies: the guess of the best score, one guess ahead ------------------------------


class Among(Enum):
    """The candidate guesses."""

    ALL = "all codes"
    POSSIBLE = "codes that are still possible"


class Ties(Enum):
    """The rule for guesses of equal score; possible codes always come first."""

    FIRST = "the first in lexicographic order"
    RANDOM = "a random one"


@dataclass(frozen=True)
class Myopic(Value):
    """Choose the guess of the best score.

    The strategy assumes true replies, whatever the channel is. If the replies contradict each
    other, the codes that contradict the fewest replies count as possible, as in `Knuth`. Among
    guesses of equal score, possible codes are preferred. This *reveals* the code. To *determine*
    the code, so that one is left, the strategy makes the same guesses and stops before the last
    one (`StrategyTree.lengths`). Scores with a correction for the winning class are designed to
    reveal the code, scores without it to determine the code.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> from bnmind.strategies import ExpectedSize, build_tree
    >>> irving = Myopic(ExpectedSize(), name="irving")
    >>> tree = build_tree(irving, Channel.exact(Board(4, 6)))
    >>> tree.total, [int(found) for found in tree.distribution]
    (5696.0, [1, 10, 54, 645, 583, 3])
    """

    score: Score
    """The score of guesses."""
    _: KW_ONLY
    name: str = "myopic"
    """The name of the strategy at the command line and in files."""
    among: Among = Among.ALL
    """The candidate guesses."""
    ties: Ties = Ties.FIRST
    """The rule for guesses of equal score."""
    first: tuple[int, ...] | FirstGuess | None = None
    """The first guess, or the first guess on each board; chosen by score if None."""
    needs = Needs.DISTRIBUTION
    """The probability of each code."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice, unless ties are broken at random."""
        return self.ties is Ties.FIRST

    def first_guess(self, board: Board) -> tuple[int, ...] | None:
        """Return the given first guess on a board, which may not fit it; None if it is chosen.

        Parameters
        ----------
        board
            The board.
        """
        return self.first(board) if callable(self.first) else self.first

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return a belief that assumes true replies."""
        first = self.first_guess(channel.board)
        if first is not None:
            channel.board.index(first)
        return start_belief(trusting_channel(channel), prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the best score."""
        board, possible = belief.board, distribution_of(belief).probabilities > 0
        first = None if belief.history else self.first_guess(board)
        if first is not None:
            guess = board.index(first)
            return guess, GuessInfo(guess)
        n = int(np.count_nonzero(possible))
        # Sums of ones are exact in floating point, so ties are exact.
        counts = possible.astype(np.float64)
        plan = plan_masses(
            board, counts, history=belief.history, every_guess=not self.deterministic
        )
        classes, guesses, sizes = plan.run(counts), plan.guesses, plan.sizes
        if self.among is Among.POSSIBLE:
            mask = possible[guesses]
            classes, guesses, sizes = classes[mask], guesses[mask], sizes[mask]
        terms = self.score.terms(board, n)
        turn = len(belief.history)
        tied = terms.best(classes, turn)
        key = int(terms.keys(classes[tied[:1]], turn)[0])
        preferred = tied[possible[guesses[tied]]]
        if not len(preferred):
            preferred = tied
        drawn = 0 if self.deterministic else int(rng.integers(len(preferred)))
        guess = int(guesses[preferred[drawn]])
        shown = self.score.shown(board, key, n)
        return guess, GuessInfo(guess, shown, tied=int(sizes[tied].sum()), plan=plan)


# --- The strategy ``weighted-entropy``: one guess ahead, with the weights that come with bnmind ---


def weighted_entropy() -> Myopic:
    """Return the strategy ``weighted-entropy``, with the weights that come with bnmind.

    The weights were fitted for the board 4x6, turn by turn.
    """
    return Myopic(shipped_weights(), name="weighted-entropy")


# --- Shapiro's strategy: guess the first possible code --------------------------------------------


@dataclass(frozen=True)
class Indifference:
    """The score 0 for every guess, so that the rule for ties decides."""

    minimized = True
    """All guesses are equally good."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        return ClassTerms(np.zeros(largest + 1, dtype=np.int64), equal_weights(board))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return 0."""
        return 0.0


def first_possible() -> Myopic:
    """Return the strategy that guesses the first possible code in lexicographic order.

    References
    ----------
    Shapiro, *Playing Mastermind logically*, SIGART Newsletter 85 (1983) 28-29.

    Examples
    --------
    >>> from bnmind.mastermind import Channel
    >>> from bnmind.strategies import build_tree
    >>> build_tree(first_possible(), Channel.exact(Board(4, 6))).total
    7471.0
    """
    return Myopic(Indifference(), name="shapiro", among=Among.POSSIBLE)


def is_shapiro(strategy: Strategy) -> bool:
    """Return whether a strategy guesses the first possible code, except for its first guess."""
    return (
        type(strategy) is Myopic
        and strategy.deterministic
        and strategy.among is Among.POSSIBLE
        and strategy.score == Indifference()
    )


# --- Knuth's strategy: minimize the number of codes left in the worst case ------------------------


@dataclass(frozen=True)
class Knuth(TrustsReplies, Value):
    """Choose, among all guesses, the one that leaves the fewest codes in the worst case.

    The strategy assumes true replies, whatever the channel is. If the replies contradict each
    other, the codes that contradict the fewest replies count as possible. The score is the
    largest number of codes that one reply leaves; smaller classes are not compared. Among
    guesses of equal score, possible codes come first, in lexicographic order.

    References
    ----------
    Knuth, *The computer as a Master Mind*, Journal of Recreational Mathematics 9 (1976).
    """

    name: str = "knuth"
    """The name of the strategy at the command line and in files."""

    deterministic = True
    """The history alone determines the choice."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the smallest worst case, without using `rng`."""
        possible = distribution_of(belief).probabilities > 0
        # Sums of ones are exact in floating point, so ties are exact.
        counts = possible.astype(np.float64)
        plan = plan_masses(belief.board, counts, history=belief.history)
        worst = worst_cases(plan.run(counts))
        tied = np.flatnonzero(worst == worst.min())
        best = tied[np.argmax(possible[plan.guesses[tied]])]
        guess, among = int(plan.guesses[best]), int(plan.sizes[tied].sum())
        return guess, GuessInfo(guess, float(worst[best]), tied=among, plan=plan)


# --- Minimal expected entropy: the guess with the most informative reply --------------------------


@dataclass(frozen=True)
class Entropy(ModelsNoise, Value):
    """Choose, among all guesses, the guess of minimal expected entropy.

    The score is the expected entropy. Guesses whose scores differ by at most 1e-9 bits are
    ordered by their probability of being the code, then lexicographically. If the code is known,
    no guess is informative, and the strategy guesses the code.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> channel = Channel.exact(Board(4, 6)).revealed()
    >>> guess, info = Entropy().choose(Entropy().start(channel), np.random.default_rng(0))
    >>> channel.board.format(channel.board.code(guess)), round(info.information, 4), info.tied
    ('1234', 3.0567, 360)

    References
    ----------
    Vomlel, *Bayesian networks in Mastermind*, section 2, the myopic strategy; Bestavros and Belal
    (1986) and Neuwirth (1982) for truthful replies. The expected entropy is computed as entropy
    minus information, without conditioning on any reply.
    """

    name: str = "entropy"
    """The name of the strategy at the command line and in files."""
    once: bool = False
    """Whether the process needs only one or two guesses. Small boards then avoid compiled code,
    which takes most of a second to load."""

    deterministic = True
    """The history alone determines the choice."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of minimal expected entropy, without using `rng`."""
        if isinstance(belief, UnknownNoiseBelief) and len(belief.products) > 1:
            return _under_unknown_noise(belief)
        codes = distribution_of(belief)
        plan = plan_masses(codes.board, codes.probabilities, history=belief.history, once=self.once)
        choice = choose_question(
            plan.run(codes.probabilities),
            belief.channel.matrix,
            preference=codes.probabilities[plan.guesses],
        )
        guess = int(plan.guesses[choice.question])
        gained = float(choice.information[choice.question])
        expected_entropy = max(0.0, codes.entropy() - gained)
        tied = int(plan.sizes[choice.tied].sum())
        return guess, GuessInfo(
            guess=guess,
            score=expected_entropy,
            information=gained,
            expected_entropy=expected_entropy,
            tied=tied,
            plan=plan,
        )


def _under_unknown_noise(belief: UnknownNoiseBelief) -> tuple[int, GuessInfo]:
    """Return the guess whose reply tells most about the code, whatever it tells of the noise."""
    codes = belief.codes
    choice = choose_by_information(belief.information(), preference=codes.probabilities)
    gained = float(choice.information[choice.question])
    expected_entropy = max(0.0, codes.entropy() - gained)
    return int(choice.question), GuessInfo(
        guess=int(choice.question),
        score=expected_entropy,
        information=gained,
        expected_entropy=expected_entropy,
        tied=len(choice.tied),
    )


# --- Guess the most probable code -----------------------------------------------------------------


_TIE = 1e-9  # probabilities closer than this, relative to the largest, are equal


@dataclass(frozen=True)
class MapCode(ModelsNoise, Value):
    """Choose the most probable code (maximum a posteriori); ties are broken at random.

    The score is the probability of the code. Probabilities within a relative difference of 1e-9
    are equal.
    """

    name: str = "map"
    """The name of the strategy at the command line and in files."""

    deterministic = False
    """Ties are broken at random."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return one of the most probable codes."""
        p = distribution_of(belief).probabilities
        tied = tied_best(p, tolerance=_TIE * float(p.max()))
        guess = int(tied[rng.integers(len(tied))])
        return guess, GuessInfo(guess, float(p[guess]), tied=len(tied))


@checked_if_it_fails
def trust_suffices(channel: Channel) -> bool:
    """Return whether the most probable codes are those that contradict the fewest replies.

    This holds if all wrong reports are equally likely, and less likely than the right one: for
    exact and false replies, but not for independent errors of the two numbers. `MapCode` and
    `RandomCode` then play the same games.

    Parameters
    ----------
    channel
        The channel that both assume, in its `revealed` form if the game ends at the winning
        guess.
    """
    replies = channel.board.true_replies
    n_rows = len(replies) - channel.ends  # a won game has no report
    ratios: list[float] = []
    for report, column in zip(channel.reports, channel.matrix[:n_rows].T, strict=False):
        own = replies.index(report) if report in replies else n_rows
        wrong, right = np.delete(column, slice(own, own + 1)), column[own : own + 1]
        if wrong.size and wrong.max() - wrong.min() > _TIE * wrong.max():
            return False
        if wrong.size and right.size:
            ratios.append(float(wrong[0] / right[0]) if right[0] else 1.0)
    return not ratios or (max(ratios) < 1 and max(ratios) - min(ratios) <= _TIE)


# --- Guess a random possible code -----------------------------------------------------------------


@dataclass(frozen=True)
class RandomCode(TrustsReplies, Value):
    """Choose uniformly at random among the possible codes.

    The strategy assumes true replies, as `Knuth` does. The score is the probability of choosing
    each of these codes.
    """

    name: str = "random"
    """The name of the strategy at the command line and in files."""

    deterministic = False
    """The choice is random."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a random possible code."""
        possible = np.flatnonzero(distribution_of(belief).probabilities)
        guess = int(possible[rng.integers(len(possible))])
        return guess, GuessInfo(guess, 1 / len(possible), tied=len(possible))


# --- A strategy that does not know the noise level, and learns it during the game -----------------


DEFAULT_LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""The error probabilities of the usual grid."""


@checked_if_it_fails
def noise_grid(channel: Channel, levels: Sequence[float] = DEFAULT_LEVELS) -> tuple[Channel, ...]:
    """Return channels of the kind of a channel, with several error probabilities.

    They are of the kind `Channel.false_reply` if they have the same reports, otherwise of the kind
    `Channel.independent_error`.

    Parameters
    ----------
    channel
        The channel of the replies.
    levels
        The error probabilities, from 0 to 1.

    Raises
    ------
    InvalidArgumentError
        If neither kind has the reports of the channel.
    """
    for kind in (Channel.false_reply, Channel.independent_error):
        first = kind(channel.board, 0.0)
        if set(first.reports) == set(channel.reports):
            grid = (kind(channel.board, p) for p in levels)
            return tuple(one.revealed() if channel.ends else one for one in grid)
    raise InvalidArgumentError(
        f"expected a channel with the reports of false:P or independent:P, got {channel.name}",
        channel.name,
    )


_ModelingNoise = Must(" that models noise", lambda strategy: isinstance(strategy, ModelsNoise))


@dataclass(frozen=True)
class UnknownNoise(Value):
    """Play a strategy without telling it the noise level.

    The channel that the game assumes only tells the kind of noise: false replies, or independent
    errors of the two numbers. The level is one of a grid, and learned from the replies.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Reply
    >>> strategy = UnknownNoise(Entropy())
    >>> belief = strategy.start(Channel.false_reply(Board(4, 6), 0.2).revealed())
    >>> len(belief.levels), strategy.name
    (9, 'entropy-unknown-noise')
    """

    strategy: Annotated[Strategy, _ModelingNoise] = field(default_factory=Entropy)
    """The strategy that chooses the guesses; it must model noise."""
    levels: Annotated[tuple[Probability, ...], MinLen(1)] = DEFAULT_LEVELS
    """The error probabilities of the grid."""
    weights: Annotated[Annotated[tuple[float, ...], Chances] | None, Shape("levels")] = None
    """The probability of each level before the game; all equal if None."""
    needs = Needs.DISTRIBUTION
    """The probability of each code."""

    @property
    def name(self) -> str:
        """The name of the strategy at the command line and in files."""
        return f"{self.strategy.name}-unknown-noise"

    @property
    def deterministic(self) -> bool:
        """Whether the strategy is."""
        return self.strategy.deterministic

    def start(self, channel: Channel, prior: Prior | None = None) -> UnknownNoiseBelief:
        """Return the belief about the code and the level before the first guess."""
        weights: Floats | None = None if self.weights is None else np.array(self.weights)
        return UnknownNoiseBelief.start(
            noise_grid(channel, self.levels), weights=weights, prior=prior
        )

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the strategy."""
        return self.strategy.choose(belief, rng, situation)


# --- Heuristics that compare a random subset of the possible codes, on boards of any size ---------


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

    deterministic = False
    """The subset is random."""

    needs = Needs.SAMPLES
    """Codes drawn from the belief."""

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
