"""Look-ahead on a fitted value of the belief: the guess after which the belief is worth most.

`LookAhead` looks one guess ahead, `LookAheadTwo` two, with pruning; `Best` is the best known play
on a board under a channel.

Two guesses need the sums of `bnmind.strategies.belief_value` over the codes of each pair of true
replies; the first outcome then weights the rows of this table. All next guesses share the first
one, so one pass over the codes serves all outcomes. A cheap score orders the next guesses for each
outcome: their chance to win, and the parts into which their true reply divides the belief, Σ √p.
Only the best of them are evaluated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Count, NonNegative, Value
from bnmind.information import Floats, information
from bnmind.mastermind.beliefs import Belief, Posterior
from bnmind.mastermind.board import Board, Turn
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.distribution import CodeDistribution
from bnmind.mastermind.masses import plan_masses, reply_rows, reply_table
from bnmind.mastermind.noise_beliefs import VanishingBelief
from bnmind.mastermind.prior import Prior
from bnmind.strategies.belief_value import (
    NEGLIGIBLE,
    BeliefValue,
    ChannelPowers,
    after_one_guess,
    belief_value,
    channel_powers,
    code_terms,
    shipped_value,
    through_channel,
)
from bnmind.strategies.greedy import is_growable
from bnmind.strategies.planning import Optimal, deeper
from bnmind.strategies.players import Entropy
from bnmind.strategies.sampled_players import SampledEntropy
from bnmind.strategies.search_arrays import MOST_REPLIES
from bnmind.strategies.strategy import (
    FIRST_TURN,
    GuessInfo,
    ModelsNoise,
    Needs,
    Situation,
    Strategy,
    distribution_of,
    start_belief,
)

# --- The guesses that look-ahead considers, and the replies of all codes to them ------------------


ALL_GUESSES = 2**11
"""Up to this number of codes, all guesses are candidates."""

INFORMATIVE = 150
"""On larger boards, the number of the most informative guesses that are candidates."""

PROBABLE = 20
"""The number of the most probable codes that are candidates."""


_INFORMATION_DIGITS = 9  # of the information, in bits; the rest is rounding


class Candidates(NamedTuple):
    """Guesses, and the true replies to them."""

    guesses: NDArray[np.intp]
    """Indices of codes, ascending."""
    rows: NDArray[np.uint8]
    """The true reply of each code to each guess, ``(guesses, n_codes)``."""


def candidates(codes: CodeDistribution, channel: Channel, history: tuple[Turn, ...]) -> Candidates:
    """Return the guesses to consider.

    On boards of up to `ALL_GUESSES` codes these are all guesses. On larger boards they are the
    `INFORMATIVE` guesses with the most information, not counting equivalent ones, and the
    `PROBABLE` most probable codes.

    Parameters
    ----------
    codes
        The belief.
    channel
        The channel.
    history
        The turns so far, which tell which guesses are equivalent.
    """
    board, q = codes.board, codes.probabilities
    if board.n_codes <= ALL_GUESSES:
        return Candidates(np.arange(board.n_codes), reply_table(board))
    plan = plan_masses(board, q, history=history)
    gained = information(plan.run(q), channel.matrix)
    informative = plan.guesses[
        np.argsort(-np.round(gained, _INFORMATION_DIGITS), kind="stable")[:INFORMATIVE]
    ]
    guesses = np.union1d(informative, most_probable(q, PROBABLE))
    return Candidates(guesses, _rows_of(board, guesses))


def most_probable(q: Floats, n: int) -> NDArray[np.intp]:
    """Return the indices of the `n` most probable codes that are not impossible."""
    order = np.argsort(-q, kind="stable")[:n]
    return order[q[order] > 0]


def plausible_codes(q: Floats, *, share: float = 1e-4) -> NDArray[np.intp]:
    """Return the codes that remain when improbable codes of a total probability are left out.

    Parameters
    ----------
    q
        The belief, ``(n_codes,)``.
    share
        The total probability to leave out at most.
    """
    possible = np.flatnonzero(q)
    order = possible[np.argsort(q[possible], kind="stable")]
    return np.sort(order[np.cumsum(q[order]) > share])


def _rows_of(board: Board, guesses: NDArray[np.intp]) -> NDArray[np.uint8]:
    rows = np.empty((len(guesses), board.n_codes), dtype=np.uint8)
    for row, replies in zip(rows, reply_rows(board, guesses), strict=True):
        row[:] = replies
    return rows


# --- The expected value of the belief after the best two guesses, compiled ------------------------


_ROUNDING = 1e-12
_GUESSES_A_PART = 0.3  # the value of a larger number of parts, for the order of guesses only


@njit
def _pair_sums(
    first: NDArray[np.uint8],
    second: NDArray[np.uint8],
    codes: NDArray[np.intp],
    terms: Floats,
    pairs: Floats,
) -> None:
    """Write the sums over the codes of each pair of true replies to two guesses to `pairs`."""
    pairs[:] = 0.0
    for j in range(codes.size):
        c, d = first[codes[j]], second[codes[j]]
        for k in range(4):
            pairs[c, d, k] += terms[j, k]


@njit
def _probabilities(
    offsets: NDArray[np.uintp],
    second: NDArray[np.uint8],
    codes: NDArray[np.intp],
    masses: Floats,
    pairs: Floats,
) -> None:
    """Write the probability of each pair of true replies to `pairs`, first reply by first reply.

    ``offsets[j]`` is the place in `pairs` where those of the first reply of code j begin.
    """
    pairs[:] = 0.0
    for j in range(codes.size):
        pairs[offsets[j] + np.uintp(second[codes[j]])] += masses[j]


@njit
def _promise(row: Floats, chance: float) -> float:
    """Return the cheap score of a next guess, from the weight of each of its true replies.

    Small is good. The last reply wins.
    """
    parts = 0.0
    for d in range(row.size):
        parts += math.sqrt(row[d] * chance)
    return float(-_GUESSES_A_PART * parts - row[-1])


@njit
def _add_row(weight: float, pairs: Floats, begin: int, row: Floats) -> None:
    for d in range(row.size):
        row[d] += weight * pairs[begin + d]


@njit
def _after_outcomes(pairs: Floats, channel: ChannelPowers, rows: Floats) -> None:
    """Write the weights of the replies to the next guess after each outcome to `rows`."""
    n_cells, width = channel.plain.shape[0], rows.shape[1]
    total = np.zeros(width)
    for c in range(n_cells):
        _add_row(1.0, pairs, c * width, total)
    for o in range(rows.shape[0]):
        least = channel.least[o, 0]
        for d in range(width):
            rows[o, d] = least * total[d]
    for e in range(channel.larger.shape[0]):
        begin = channel.larger[e, 0] * width
        _add_row(channel.excess[e, 0], pairs, begin, rows[channel.larger[e, 1]])


@njit
def _insert(score: float, guess: int, scores: Floats, guesses: NDArray[np.intp]) -> None:
    """Insert a guess into a list that is ascending in the score, and drop the last one.

    Of guesses whose scores differ by rounding only, the first one inserted comes first.
    """
    if score >= scores[-1] - _ROUNDING:
        return
    i = scores.size - 1
    while i > 0 and scores[i - 1] > score + _ROUNDING:
        scores[i], guesses[i] = scores[i - 1], guesses[i - 1]
        i -= 1
    scores[i], guesses[i] = score, guess


@njit
def after_two_guesses(
    first: NDArray[np.uint8],
    rows: NDArray[np.uint8],
    q: Floats,
    codes: NDArray[np.intp],
    channel: ChannelPowers,
    coefficients: Floats,
    least: float,
    kept: int,
) -> float:
    """Return the expected number of guesses after one guess, if the next is the best of some.

    Parameters
    ----------
    first
        The true reply of each code to the guess, ``(n_codes,)``.
    rows
        The true reply of each code to each next guess, ``(guesses, n_codes)``.
    q, codes, channel, coefficients
        As for `after_one_guess`.
    least
        Outcomes of a smaller probability have the value of the belief after them: the search
        does not look for the best next guess.
    kept
        The number of next guesses to evaluate for each outcome, the most promising ones.
    """
    plain, logarithms, squares = channel.plain, channel.logarithms, channel.squares
    n_cells, n_outcomes = plain.shape
    terms = code_terms(q, codes)
    pairs = np.zeros((n_cells + 1, n_cells + 1, 4))
    cells = np.zeros((n_cells + 1, 4))
    sums = np.zeros((n_outcomes, 4))
    probabilities = np.zeros((n_cells + 1) * (n_cells + 1))
    replied = np.zeros((n_outcomes, n_cells + 1))
    masses = terms[:, 0].copy()
    offsets = np.empty(codes.size, dtype=np.uintp)
    for j in range(codes.size):
        offsets[j] = first[codes[j]] * (n_cells + 1)
    for j in range(codes.size):
        for k in range(4):
            cells[first[codes[j]], k] += terms[j, k]
    through_channel(cells, channel, coefficients, sums)
    chance = sums[:, 0].copy()
    expected = 1.0
    for o in range(n_outcomes):
        if NEGLIGIBLE < chance[o] < least:
            expected += chance[o] * belief_value(chance[o], sums[o, 1], sums[o, 2], coefficients)
    scores = np.full((n_outcomes, kept), math.inf)
    guesses = np.full((n_outcomes, kept), -1)
    for g in range(rows.shape[0]):
        _probabilities(offsets, rows[g], codes, masses, probabilities)
        _after_outcomes(probabilities, channel, replied)
        for o in range(n_outcomes):
            if chance[o] >= least:
                score = _promise(replied[o], chance[o])
                _insert(score, g, scores[o], guesses[o])
    for o in range(n_outcomes):
        if chance[o] < least:
            continue
        best = math.inf
        for i in range(kept):
            if guesses[o, i] < 0:
                break
            _pair_sums(first, rows[guesses[o, i]], codes, terms, pairs)
            cells[:] = 0.0
            for c in range(n_cells):
                if plain[c, o] > 0.0:
                    for d in range(n_cells):
                        cells[d, 0] += plain[c, o] * pairs[c, d, 0]
                        cells[d, 1] += (
                            plain[c, o] * pairs[c, d, 1] + logarithms[c, o] * pairs[c, d, 0]
                        )
                        cells[d, 2] += squares[c, o] * pairs[c, d, 2]
            best = min(best, chance[o] + through_channel(cells, channel, coefficients, sums))
        expected += best
    return expected


# --- The scores of guesses one and two steps ahead, and the choice among them ---------------------


_TOLERANCE = 1e-9  # scores closer than this are equal
_CERTAIN = 0.97  # a code of at least this probability needs no second step
_PROBABILITY_DIGITS = 12  # probabilities that agree in so many digits are equal
_LEFT_OUT = 2e-2  # the share of the belief that two-step search takes for impossible


@dataclass(frozen=True, kw_only=True)
class Pruning(Value):
    """The guesses that two-step look-ahead compares.

    Raises
    ------
    InvalidArgumentError
        If `firsts` or `seconds` is less than one, or `window` or `least` is negative or not
        finite.
    """

    firsts: Count = 8
    """The number of guesses to compare: those of the best one-step scores."""
    seconds: Count = 8
    """The number of next guesses to evaluate for each reply: the most promising candidates."""
    window: NonNegative = 0.1
    """Guesses whose one-step score exceeds the best by more than this are not compared."""
    least: NonNegative = 0.004
    """Replies of a smaller probability count with the value of the belief after them."""


def one_step_values(
    codes: CodeDistribution, channel: Channel, considered: Candidates, value: BeliefValue
) -> Floats:
    """Return one plus the expected value of the belief after each guess, ``(guesses,)``."""
    q = codes.probabilities
    return after_one_guess(
        considered.rows,
        q,
        plausible_codes(q),
        channel_powers(channel),
        np.array(value.coefficients),
    )


def two_step_values(
    codes: CodeDistribution,
    channel: Channel,
    firsts: NDArray[np.uint8],
    seconds: NDArray[np.uint8],
    value: BeliefValue,
    *,
    pruning: Pruning,
    share: float = _LEFT_OUT,
) -> Floats:
    """Return one plus the expected least one-step score after each first guess.

    Parameters
    ----------
    codes, channel, value
        The belief, the channel, and the value at the end of the search.
    firsts, seconds
        The true replies of each code to the guesses, ``(guesses, n_codes)``.
    pruning
        The limits of the search.
    share
        The total probability of improbable codes that the search takes for impossible.

    Returns
    -------
    Floats
        ``(firsts,)``.
    """
    kept = plausible_codes(codes.probabilities, share=share)
    q = codes.probabilities / codes.probabilities[kept].sum()
    powers, coefficients = channel_powers(channel), np.array(value.coefficients)
    return np.array(
        [
            after_two_guesses(
                row, seconds, q, kept, powers, coefficients, pruning.least, pruning.seconds
            )
            for row in firsts
        ]
    )


def choose_two_steps_ahead(
    codes: CodeDistribution,
    channel: Channel,
    considered: Candidates,
    value: BeliefValue,
    *,
    turn: int,
    pruning: Pruning,
) -> tuple[int, GuessInfo]:
    """Return the guess of the least two-step score among the best by one step.

    Before the first reply, the candidates of large boards are too few to be next guesses; there the
    first guess is the best by one step.
    """
    scores = one_step_values(codes, channel, considered, value)
    q = codes.probabilities[considered.guesses]
    firsts = leading_guesses(scores, q, pruning)
    is_large = codes.board.n_codes > ALL_GUESSES
    if len(firsts) == 1 or q.max() >= _CERTAIN or (turn == 0 and is_large):
        return best_of(considered.guesses, scores, codes)
    deeper = two_step_values(
        codes,
        channel,
        considered.rows[firsts],
        considered.rows,
        value,
        pruning=pruning,
    )
    return best_of(
        considered.guesses[firsts],
        deeper,
        codes,
        evaluated=len(considered.guesses) + len(firsts) * len(considered.guesses),
    )


def leading_guesses(scores: Floats, q: Floats, pruning: Pruning) -> NDArray[np.intp]:
    """Return the places of the guesses to compare, the least score first.

    Guesses of equal scores are mostly equivalent; the most probable one stands for them.

    Parameters
    ----------
    scores
        The one-step scores, ``(guesses,)``.
    q
        The probability of each guess to be the code, ``(guesses,)``.
    pruning
        The number of guesses, and how much worse than the best they may be.
    """
    order = np.argsort(scores, kind="stable")
    groups = np.concatenate([[0], np.cumsum(np.diff(scores[order]) > _TOLERANCE)])
    ranked = order[np.lexsort((order, -np.round(q[order], _PROBABILITY_DIGITS), groups))]
    firsts: NDArray[np.intp] = ranked[np.unique(groups, return_index=True)[1]]
    close: NDArray[np.intp] = firsts[scores[firsts] <= scores.min() + pruning.window]
    return close[: pruning.firsts]


def best_of(
    guesses: NDArray[np.intp],
    scores: Floats,
    codes: CodeDistribution,
    *,
    evaluated: int | None = None,
) -> tuple[int, GuessInfo]:
    """Return the guess of the least score; among equals the most probable, then the smallest."""
    tied = guesses[scores <= scores.min() + _TOLERANCE]
    probabilities = codes.probabilities[tied]
    guess = int(tied[probabilities >= probabilities.max() * (1 - _TOLERANCE)].min())
    return guess, GuessInfo(
        guess,
        score=float(scores.min()),
        tied=len(tied),
        evaluated=len(guesses) if evaluated is None else evaluated,
    )


# --- One-step look-ahead on a fitted value of the belief ------------------------------------------


@dataclass(frozen=True)
class LookAhead(ModelsNoise, Value):
    """Choose the guess after which the expected value of the belief is least.

    The value of a belief estimates the number of guesses that the game still takes
    (`BeliefValue`). The score of a guess is one plus the expected value of the belief after its
    reply; a win ends the game and adds nothing. So the strategy weighs the chance to win now
    against the information, where `Entropy` counts only the information. Guesses of equal score
    are ordered by their probability of being the code, then lexicographically.

    The first guess is the same in every game, and two steps ahead pays there: on boards of up to
    2,048 codes it is the first guess of `LookAheadTwo`.

    References
    ----------
    Bertsekas, *Dynamic programming and optimal control*, chapter 6: one-step look-ahead with an
    approximate cost-to-go.
    """

    name: str = "lookahead"
    """The name of the strategy at the command line and in files."""
    value: BeliefValue | None = None
    """The value of a belief; if None, the fitted value that comes with bnmind for the channel."""

    deterministic = True
    """The history alone determines the choice."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the least expected value, without using `rng`."""
        codes, channel = distribution_of(belief), belief.channel
        value = self.value or shipped_value(channel)
        considered = candidates(codes, channel, belief.history)
        if not belief.history:
            return choose_two_steps_ahead(
                codes, channel, considered, value, turn=0, pruning=Pruning()
            )
        scores = one_step_values(codes, channel, considered, value)
        return best_of(considered.guesses, scores, codes)


# --- Two-step look-ahead on a fitted value of the belief, with pruning ----------------------------


@dataclass(frozen=True)
class LookAheadTwo(ModelsNoise, Value):
    """Choose the guess after which the best next guess has the least expected value.

    The score of a guess is one plus, for each reply, its probability times the least one-step score
    of a next guess (`LookAhead`). `Pruning` says which guesses are compared.

    References
    ----------
    Bertsekas, *Dynamic programming and optimal control*, chapter 6: multistep look-ahead with an
    approximate cost-to-go.
    """

    name: str = "lookahead2"
    """The name of the strategy at the command line and in files."""
    value: BeliefValue | None = None
    """The value of a belief; if None, the fitted value that comes with bnmind for the channel."""
    pruning: Pruning = field(default_factory=Pruning)
    """The guesses that the search compares."""

    deterministic = True
    """The history alone determines the choice."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the least two-step score, without using `rng`."""
        codes, channel = distribution_of(belief), belief.channel
        return choose_two_steps_ahead(
            codes,
            channel,
            candidates(codes, channel, belief.history),
            self.value or shipped_value(channel),
            turn=len(belief.history),
            pruning=self.pruning,
        )


# --- The best known play on a board, under a channel ----------------------------------------------


_PROVEN = 1300
"""Up to this number of codes, the optimal strategy is found within a second."""

_PAIRS = 2**17
"""Up to this number of codes, `plan_masses` compares all guesses with all codes."""

_ELIMINATED = 2**20
_PEGS = 6
"""Up to these numbers of codes and of pegs, color elimination takes seconds and fits in memory."""


@dataclass(frozen=True)
class Best(Value):
    """Play as the strategy that is known to play best, and name it in the note of each guess.

    ===========================  ==========================================================
    board and replies            strategy
    ===========================  ==========================================================
    too many codes to evaluate   `SampledEntropy`
    all guesses
    true, all codes as likely    `Optimal` on boards of up to 1,300 codes, the beam search
                                 `deeper` where it can run, otherwise `Entropy`
    true, another prior          `Entropy`
    noisy                        `LookAheadTwo` on boards of up to 2,048 codes, otherwise
                                 `Entropy`, since look-ahead has not been compared there
    ===========================  ==========================================================

    The note of `SampledEntropy`, if it has one, is passed on instead.
    """

    name: str = "best"
    """The name of the strategy at the command line and in files."""

    deterministic = True
    """The history alone determines the choice."""

    needs = Needs.SAMPLES
    """Samples of the belief; on boards with fewer codes, the probability of each."""

    def start(self, channel: Channel, prior: Prior | None = None) -> Posterior:
        """Return the belief before the first guess; on large boards it holds samples."""
        if _is_enumerable(channel.board):
            return start_belief(channel, prior)
        return SampledEntropy().start(channel, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the strategy that plays best, with a note that names it."""
        uniform = isinstance(belief, VanishingBelief) and belief.prior is None
        player = best_player(belief.channel, uniform=uniform)
        guess, info = player.choose(belief, rng, situation)
        return guess, replace(info, note=info.note or f"best plays as {player.name} here")


def best_player(channel: Channel, *, uniform: bool = True) -> Strategy:
    """Return the strategy that is known to play best; see `Best`.

    Parameters
    ----------
    channel
        The channel that the strategy assumes.
    uniform
        Whether all codes are equally likely before the first guess.
    """
    board = channel.board
    if not _is_enumerable(board):
        return SampledEntropy()
    if not channel.is_exact:
        return LookAheadTwo() if board.n_codes <= ALL_GUESSES else Entropy()
    if not uniform:
        return Entropy()
    if board.n_codes <= _PROVEN and len(board.true_replies) <= MOST_REPLIES:
        return Optimal()
    if is_growable(board) and len(board.true_replies) <= MOST_REPLIES:
        return deeper()
    return Entropy()


def _is_enumerable(board: Board) -> bool:
    """Return whether `Entropy` can evaluate all guesses after all replies."""
    if board.n_codes <= _PAIRS:
        return True
    return board.pegs <= _PEGS and board.n_codes <= _ELIMINATED
