r"""Entropy, the information of a question, and the choice among questions.

All of bnmind rests on one model: *hidden state → cause → channel → outcome*. A question is given by
its ``masses`` (the probability of each cause under the belief) and its ``channel`` (the probability
of each outcome given each cause). A guess in Mastermind and an item of a skills test are such
questions.

=========  ==================================================================
symbol     name here
=========  ==================================================================
m_t(c)     ``masses[t, c]``, the probability that question t has cause c
N[c, o]    ``channel[c, o]`` or ``channel[t, c, o]``; the rows sum to one
H          entropy in bits, with 0·log 0 = 0
I(t)       ``information``: H(m_t N) − Σ_c m_t(c) H(N[c, :]), in bits
EH(t)      expected entropy: H(belief) − I(t)
=========  ==================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError

__all__ = [
    "Choice",
    "Floats",
    "choose_by_information",
    "choose_question",
    "entropy",
    "information",
    "tied_best",
]

Floats: TypeAlias = NDArray[np.float64]
"""An array of numbers."""

_TINY = 1e-300

_ROUNDING = 1e-6
"""Probabilities may be outside of 0 to 1 by this."""

_BLOCK = 2048
"""The number of questions evaluated at a time, so that their outcomes stay in the cache."""

_FEW = 2**11
"""Up to this size, products use the function with the smaller overhead."""


@checked
def entropy(probabilities: ArrayLike, *, axis: int = -1) -> Floats:
    """Return the entropy along an axis, in bits.

    Parameters
    ----------
    probabilities
        Non-negative numbers that sum to one along ``axis``. Zeros are allowed.
    axis
        The axis to sum over.

    Returns
    -------
    Floats
        The shape of the probabilities without the axis; never negative.

    Raises
    ------
    InvalidArgumentError
        If they are no numbers from 0 to 1, up to rounding, or have no such axis.

    Examples
    --------
    >>> float(entropy([0.5, 0.25, 0.25, 0.0]))
    1.5
    >>> entropy([3, 1])
    Traceback (most recent call last):
    bnmind.errors.InvalidArgumentError: expected probabilities from 0 to 1, got 3.0
    """
    p = number_array(probabilities, "the probabilities")
    if not -p.ndim <= axis < p.ndim:
        raise InvalidArgumentError(
            f"expected an axis of an array of shape {p.shape} to sum over, got {axis}", axis
        )
    if p.size:
        least, most = np.minimum.reduce(p, axis=None), np.maximum.reduce(p, axis=None)
        if not (least >= -_ROUNDING and most <= 1 + _ROUNDING):  # NaN is neither
            wrong = most if least >= -_ROUNDING else least
            raise InvalidArgumentError(f"expected probabilities from 0 to 1, got {wrong}", wrong)
    return unchecked_entropy(p if axis == -1 else np.moveaxis(p, axis, -1))


def unchecked_entropy(p: Floats) -> Floats:
    """Return `entropy` along the last axis.

    For inner loops of the library, whose arrays are valid by construction.
    """
    # A tiny number replaces 0; its logarithm is multiplied by 0.
    logs = np.maximum(p, _TINY)
    np.log2(logs, out=logs)
    return np.asarray(0.0 - _dot(p, logs), dtype=np.float64)


@checked
def information(masses: ArrayLike, channel: ArrayLike, *, noise: ArrayLike | None = None) -> Floats:
    """Return the information of each question about the hidden state, in bits.

    This is the mutual information of the outcome and the hidden state. The expected entropy after
    the question is the entropy before it minus the information. The function does not compute the
    joint distribution of hidden states and outcomes.

    Parameters
    ----------
    masses
        ``(questions, causes)``, or ``(causes,)`` for one question; rows sum to one. There may be
        further axes in front.
    channel
        ``(causes, outcomes)`` for all questions, or ``(questions, causes, outcomes)``; rows sum to
        one. Pad questions of different sizes with causes of mass zero; their rows are arbitrary.
    noise
        The entropy of each row of the channel, in bits, if it is already known.

    Returns
    -------
    Floats
        ``(questions,)``, or ``()`` for one question; never negative.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit the others, or an array has no numbers.

    Examples
    --------
    A fair coin that is reported correctly, and one that is reported at random:

    >>> information([[0.5, 0.5]], [[[1, 0], [0, 1]]]).tolist()
    [1.0]
    >>> information([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]).tolist()
    0.0
    """
    m = number_array(masses, "the masses")
    n = number_array(channel, "the channel")
    if not m.ndim or n.ndim < 2 or n.shape[-2] != m.shape[-1]:
        raise InvalidArgumentError(
            "expected masses (questions, causes) and a channel (causes, outcomes), or one for"
            f" each question, got shapes {m.shape} and {n.shape}"
        )
    lost = unchecked_entropy(n) if noise is None else number_array(noise, "the noise")
    if lost.shape != n.shape[:-1]:
        raise InvalidArgumentError(
            f"expected a noise of shape {n.shape[:-1]}, got {lost.shape}", noise
        )
    if n.ndim > 2 and m.shape[-n.ndim + 1 : -1] != n.shape[:-2]:
        raise InvalidArgumentError(
            f"expected a channel for each of the questions {m.shape[:-1]}, got {n.shape[:-2]}"
        )
    return unchecked_information(m, n, lost)


def unchecked_information(m: Floats, n: Floats, lost: Floats) -> Floats:
    """Return `information` of masses, channel and noise that are arrays of the right shapes.

    For inner loops of the library, whose arrays are valid by construction.
    """
    if n.ndim > 2:
        outcomes = np.matmul(m[..., None, :], n)[..., 0, :]
        gained = unchecked_entropy(outcomes) - _dot(m, lost)
    else:
        rows = m.reshape(math.prod(m.shape[:-1]), m.shape[-1])
        gained = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            part = rows[start : start + _BLOCK]
            gained[start : start + _BLOCK] = unchecked_entropy(part @ n) - part @ lost
        gained = gained.reshape(m.shape[:-1])
    result: Floats = np.maximum(gained, 0.0)
    return result


def _dot(a: Floats, b: Floats) -> Floats:
    """Return the sums of the products along the last axis."""
    if a.size <= _FEW:
        sums: Floats = np.vecdot(a, b)
        return sums
    return np.asarray(np.einsum("...i,...i->...", a, b))


@dataclass(frozen=True, eq=False)
class Choice(Value):
    """A chosen question, with the information of all questions."""

    question: int
    """The index of the chosen question."""
    information: Floats
    """The information of every question, in bits, ``(questions,)``."""
    tied: NDArray[np.intp]
    """The questions with as much information as the best, ascending."""


@checked
def tied_best(scores: ArrayLike, *, tolerance: float) -> NDArray[np.intp]:
    """Return the indices whose score is within ``tolerance`` of the largest, ascending.

    Parameters
    ----------
    scores
        Numbers of any shape; the indices are those of the flat array.
    tolerance
        At least 0, in the unit of the scores.

    Raises
    ------
    InvalidArgumentError
        If there is no score, or the tolerance is negative.
    """
    s = number_array(scores, "the scores")
    if not 0 <= tolerance < math.inf:
        raise InvalidArgumentError(f"tolerance must be at least 0, got {tolerance}", tolerance)
    if not s.size:
        raise InvalidArgumentError("expected at least one score, got none", scores)
    tied: NDArray[np.intp] = (s >= np.maximum.reduce(s, axis=None) - tolerance).ravel().nonzero()[0]
    return tied


@checked
def choose_question(
    masses: ArrayLike,
    channel: ArrayLike,
    *,
    preference: ArrayLike | None = None,
    tolerance: float = 1e-9,
) -> Choice:
    """Return the question with the most information, which has the least expected entropy.

    Parameters
    ----------
    masses, channel
        As for `information`.
    preference
        ``(questions,)``. Among questions of equal information, the largest preference wins, then
        the smallest index.
    tolerance
        Two numbers of bits count as equal if they differ by at most this, and two preferences if
        they differ by at most this relative to the largest. Rounding errors thus decide nothing.

    Examples
    --------
    >>> choose_question([[0.5, 0.5], [0.9, 0.1]], [[1, 0], [0, 1]]).question
    0
    """
    return choose_by_information(
        information(masses, channel), preference=preference, tolerance=tolerance
    )


@checked
def choose_by_information(
    scores: ArrayLike, *, preference: ArrayLike | None = None, tolerance: float = 1e-9
) -> Choice:
    """Return the question with the most information, as `choose_question` does.

    Parameters
    ----------
    scores
        ``(questions,)``, the information of each question, in bits.
    preference, tolerance
        As for `choose_question`.

    Raises
    ------
    InvalidArgumentError
        If there are no scores, or not a preference for each.

    Examples
    --------
    >>> choose_by_information([0.5, 0.7, 0.7], preference=[0.2, 0.3, 0.5]).question
    2
    """
    bits = number_array(scores, "the scores")
    tied = tied_best(bits, tolerance=tolerance)
    best = tied
    if preference is not None:
        preferred = number_array(preference, "the preference")
        if preferred.shape != bits.shape:
            raise InvalidArgumentError(
                f"expected a preference for each question, of shape {bits.shape}, got"
                f" {preferred.shape}",
                preference,
            )
        values = preferred[tied]
        best = tied[tied_best(values, tolerance=tolerance * max(float(abs(values).max()), 1e-300))]
    return Choice(int(best[0]), bits, tied)
