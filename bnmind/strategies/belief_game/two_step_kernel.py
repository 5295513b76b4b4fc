"""The expected value of the belief after the best two guesses, compiled.

Two guesses need the sums of `value_kernel` over the codes of each pair of true replies; the first
outcome then weights the rows of this table. All next guesses share the first one, so one pass over
the codes serves all outcomes. A cheap score orders the next guesses for each outcome: their chance
to win, and the parts into which their true reply divides the belief, Σ √p. Only the best of them
are evaluated.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.strategies.belief_game.value_kernel import (
    NEGLIGIBLE,
    ChannelPowers,
    belief_value,
    code_terms,
    through_channel,
)

__all__ = ["after_two_guesses"]

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
