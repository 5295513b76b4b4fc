r"""Myopic scores: a whole number for each guess, computed from its reply classes.

A guess divides the possible codes into *reply classes*: the codes with the same reply. All myopic
scores of the literature depend only on the sizes of the classes, and add or compare a function of
these sizes:

.. math:: \text{key} = \sum_r w_r\, (f(n_r) - n_r\, s(n)) + b\,[\text{the guess is possible}]

======  ===================================================================
symbol  name here
======  ===================================================================
n, n_r  the number of possible codes, and of those in class r
f       ``ClassTerms.sizes``, for 0, 1, … codes
s       ``ClassTerms.per_code``, 0 in all scores but `WeightedEntropy`
w_r     ``ClassTerms.weights``
b       ``ClassTerms.winning``, the value of the winning class
======  ===================================================================

Keys are whole numbers, and small keys are better. Ties are therefore the same on every machine. All
keys are shifted so that f(0) = f(1) = 0. If s = 0, a guess that leaves only single codes has the
key 0, or b if it may win, and no guess has a smaller key than the better of these two.

The name of a score is also the name of the strategy that plays it, one guess ahead
(`bnmind.strategies.STRATEGIES`). To add a score, write a class and one
line of `SCORES`. The contract tests run over every member.

n·log₂ n is a whole number here, so that comparisons of entropies agree on all machines:

=======  ==================================================================
symbol   name here
=======  ==================================================================
L(p)     2^bits · log₂ p for a prime p, rounded to a whole number
—        ``table[n]`` = n · Σ L(p) over the prime factors p of n
=======  ==================================================================

The expected entropy of a guess is Σ n_r log₂ n_r / n, that is, log₂ Π n_r^n_r / n. Two guesses are
equally good if and only if these products are equal, that is, have the same prime factors. The sums
of `table` are then equal too, since `table` adds the logarithms of prime factors. Different
products are distinguished if their logarithms differ by more than n·log₂ n / 2^bits, 1.2e-8 bits
of n·H at 4x6. Closer products may be ordered wrongly, but in the same way on every machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Protocol

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._files import SMALL_FILE, read_text, write_file
from bnmind._messages import visible
from bnmind._registry import Registered
from bnmind._values import Value, sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.strategies.strategy import parse_record

# --- Myopic scores: a whole number for each guess, computed from its reply classes ----------------


Integers = NDArray[np.int64]


class Combination(Enum):
    """The way to combine the terms of the classes."""

    SUM = 0
    """The sum of all terms."""
    LARGEST = 1
    """The largest term."""
    SORTED = 2
    """The largest term, then the next largest, and so on."""


@dataclass(frozen=True, eq=False)
class ClassTerms(Value):
    """A score on one board, as whole numbers.

    Raises
    ------
    InvalidArgumentError
        If f(0) or f(1) are not 0, f decreases somewhere, or a weight is negative.
    """

    sizes: Integers
    """``(largest + 1,)``, f of each class size; not decreasing, 0 for 0 and 1 codes."""
    weights: Annotated[Integers, Ge(0)]
    """``(turns, replies)``, not negative; the last row also applies to all later turns."""
    winning: int = 0
    """The term added for a possible guess."""
    combination: Combination = Combination.SUM
    """The way to combine the terms of the classes."""
    per_code: Integers | None = None
    """``(largest + 1,)``, s of each number of possible codes; None for 0. Only for sums."""

    def _faults(self) -> Iterator[str]:
        if self.weights.ndim != 2 or not self.weights.size:
            yield f"expected weights by turn and reply, got shape {self.weights.shape}"
        f = self.sizes
        if f.ndim != 1 or len(f) < 2 or f[:2].any() or bool((np.diff(f) < 0).any()):
            yield "expected terms that are 0 for 0 and 1 codes and never decrease"

    @property
    def shares(self) -> Integers:
        """Return ``per_code``, or zeros if it is None."""
        return sealed(np.zeros_like(self.sizes)) if self.per_code is None else self.per_code

    def keys(self, classes: NDArray[Any], turn: int) -> Integers:
        """Return the key of each guess; for `Combination.SORTED`, the key of the largest class.

        Parameters
        ----------
        classes
            ``(guesses, replies)``, the class sizes, whole numbers of any type; the last column
            is the class of the winning reply.
        turn
            The number of previous guesses.
        """
        weights = self.weights[min(turn, len(self.weights) - 1)]
        sizes = np.asarray(classes, dtype=np.int64)
        terms = (self.sizes[sizes] - sizes * self.shares[int(sizes[0].sum())]) * weights
        keys: Integers
        keys = terms.sum(axis=1) if self.combination is Combination.SUM else terms.max(axis=1)
        return keys + self.winning * (sizes[:, -1] > 0)

    def best(self, classes: NDArray[Any], turn: int) -> NDArray[np.intp]:
        """Return the indices of all guesses of the best score, ascending.

        A guess that leaves all codes in one class is excluded, unless all guesses do.

        Parameters
        ----------
        classes, turn
            As for `keys`.
        """
        keys = self.keys(classes, turn)
        telling = np.asarray(classes.max(axis=1) < classes[:1].sum(axis=1))
        if telling.any():
            keys[~telling] = np.iinfo(np.int64).max
        tied = np.flatnonzero(keys == keys.min())
        if self.combination is not Combination.SORTED:
            return tied
        ordered = -np.sort(-np.asarray(classes[tied], dtype=np.int64), axis=1)
        for column in range(ordered.shape[1]):
            fewest = ordered[:, column] == ordered[:, column].min()
            tied, ordered = tied[fewest], ordered[fewest]
        return tied


@checked_if_it_fails
def equal_weights(board: Board) -> Integers:
    """Return equal weights for all replies, ``(1, replies)``.

    Parameters
    ----------
    board
        The board.
    """
    return np.ones((1, len(board.true_replies)), dtype=np.int64)


class Score(Protocol):
    """The score of guesses."""

    @property
    def minimized(self) -> bool:
        """Whether smaller `shown` values are better."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers.

        Parameters
        ----------
        board
            The board.
        largest
            The largest possible class size.
        """

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Convert a key to the unit of the score in the literature.

        Parameters
        ----------
        board
            The board.
        key
            A key.
        codes
            The number of possible codes.
        """


# --- The worst case: the size of the largest class ------------------------------------------------


@dataclass(frozen=True)
class WorstCase(Value):
    """The size of the largest class, to be minimized.

    Bestavros and Belal's *MaxMin* maximizes the guaranteed information of a guess,
    log₂(n / max n_r) bits (`guaranteed_information`). It orders guesses in the same way, so
    ``maxmin`` is another name for this score.

    References
    ----------
    Knuth, *The computer as a Master Mind*, Journal of Recreational Mathematics 9 (1976) 1-6;
    he compares the largest class only. Bestavros and Belal, *Mastermind: a game of diagnosis
    strategies* (1986).
    """

    next_largest: bool = False
    """Whether to compare the next largest class if the largest classes are equal, and so on."""

    minimized = True
    """Smaller values are better."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        sizes = np.maximum(np.arange(largest + 1) - 1, 0)
        combination = Combination.SORTED if self.next_largest else Combination.LARGEST
        return ClassTerms(
            sizes=sizes, weights=equal_weights(board), winning=0, combination=combination
        )

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the number of codes in the largest class."""
        return float(key + 1)


@checked_if_it_fails
def guaranteed_information(codes: int, largest: int) -> float:
    """Return log₂(n / max n_r): the information of a guess in bits, whatever the reply.

    Parameters
    ----------
    codes
        n, the number of possible codes.
    largest
        The size of the largest class.

    Examples
    --------
    >>> guaranteed_information(1296, 324)
    2.0
    """
    return math.log2(codes / largest)


# --- The expected size: the mean number of codes that a guess leaves ------------------------------


@dataclass(frozen=True)
class ExpectedSize(Value):
    """The mean number of codes left, Σ n_r² / n, to be minimized.

    Its key is Σ n_r² − n, which orders the guesses of one set of codes in the same way.

    References
    ----------
    Irving, *Towards an optimum Mastermind strategy*, Journal of Recreational Mathematics 11
    (1978-79) 81-87. His published total of 5662 searches exhaustively from the third guess on;
    this is the rule of his first two guesses throughout.
    """

    corrected: bool = False
    """Whether the winning class counts as empty, since the game is then over."""

    minimized = True
    """Smaller values are better."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        sizes = np.arange(largest + 1)
        return ClassTerms(sizes * sizes - sizes, equal_weights(board), -int(self.corrected))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the mean number of codes left."""
        return (key + codes) / codes


# --- Most parts: the number of possible replies ---------------------------------------------------


@dataclass(frozen=True)
class MostParts(Value):
    """The number of non-empty classes, to be maximized.

    Its key is n minus that number.

    References
    ----------
    Kooi, *Yet another Mastermind strategy*, ICGA Journal 28 (2005) 13-20.
    """

    winning_counts: bool = True
    """Whether the class of the winning reply counts as a part, as in the paper."""

    minimized = False
    """Larger values are better."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        sizes = np.maximum(np.arange(largest + 1) - 1, 0)
        return ClassTerms(sizes, equal_weights(board), 0 if self.winning_counts else 1)

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the number of parts."""
        return float(codes - key)


# --- n·log₂ n as whole numbers, so that comparisons of entropies agree on all machines ------------


_MOST_BITS = 40
_ROOM = 61
"""Sums must stay below 2^62, which leaves one bit for a correction."""


def fixed_point_bits(codes: int, *, largest_weight: int = 1) -> int:
    """Return the number of binary places for which sums of n·log₂ n fit 63 bits.

    Parameters
    ----------
    codes
        The largest number of codes in a set.
    largest_weight
        The largest factor of a term.
    """
    n = max(2, codes)
    whole = (n * n.bit_length() * max(1, largest_weight)).bit_length()
    return max(0, min(_MOST_BITS, _ROOM - whole))


@lru_cache(maxsize=8)
def entropy_terms(largest: int, bits: int) -> Integers:
    """Return n·log₂ n for n = 0..largest as fixed-point numbers, read-only.

    Parameters
    ----------
    largest
        The largest n.
    bits
        The number of binary places after the point.

    Examples
    --------
    >>> (entropy_terms(8, 40) >> 40).tolist()  # 3 log₂ 3 is 4.75
    [0, 0, 2, 4, 8, 11, 15, 19, 24]
    """
    logs = np.zeros(largest + 1, dtype=np.int64)
    is_prime = np.ones(largest + 1, dtype=np.bool_)
    for p in range(2, largest + 1):
        if not is_prime[p]:
            continue
        is_prime[p * p :: p] = False
        log = _log2(p, bits)
        power = p
        while power <= largest:
            logs[power::power] += log
            power *= p
    table: Integers = logs * np.arange(largest + 1)
    table.setflags(write=False)
    return table


def _log2(number: int, bits: int) -> int:
    """Return 2^bits · log₂ number, rounded; in floating point if that is certainly correct."""
    near = math.ldexp(math.log2(number), bits)
    if abs(near - math.floor(near) - 0.5) > 0.05 and bits <= _MOST_BITS:
        return round(near)
    # One digit at a time: squaring doubles the logarithm, whose whole part is a binary digit.
    digits = bits + 8
    log = number.bit_length() - 1
    mantissa = (number << 128) >> log
    for _ in range(digits):
        mantissa = mantissa * mantissa >> 128
        log *= 2
        if mantissa >> 129:
            mantissa >>= 1
            log += 1
    return (log + (1 << 7)) >> 8


# --- The entropy that a guess leaves, compared without rounding -----------------------------------


@dataclass(frozen=True)
class EntropyLeft:
    """The expected entropy of the code after the reply, Σ n_r log₂ n_r / n, to be minimized.

    Minimizing it maximizes the entropy of the reply, Bestavros and Belal's *MaxEnt*. Logarithms
    are whole numbers (`entropy_terms`), so equal entropies are exactly equal. The strategy
    `Entropy`, which models noise and priors, compares entropies up to 1e-9 bits.

    References
    ----------
    Neuwirth, *Some strategies for Mastermind*, Zeitschrift für Operations Research 26 (1982)
    B257-B278. Bestavros and Belal, *Mastermind: a game of diagnosis strategies* (1986).
    """

    minimized = True
    """Smaller values are better."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        bits = fixed_point_bits(board.n_codes)
        return ClassTerms(entropy_terms(largest, bits), equal_weights(board))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the expected entropy, in bits."""
        return math.ldexp(key, -fixed_point_bits(board.n_codes)) / codes


# --- Larmouth's score: the entropy left, with a correction for guesses that may win ---------------


@dataclass(frozen=True)
class Larmouth:
    """Σ n_r log n_r, minus 2 log 2 for a possible guess, to be minimized.

    This is equivalent to comparing the numbers Π n_r^n_r / 4^[the guess is possible]. Guessing a
    code takes one guess more than knowing it; the origin of the 2 log 2 is unknown.

    References
    ----------
    Larmouth for Bulls and Cows (1971), as described in *Heuristic strategies* on Mastermind by
    later authors, who list it among the corrected entropies.
    """

    minimized = True
    """Smaller values are better."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        bits = fixed_point_bits(board.n_codes)
        return ClassTerms(entropy_terms(largest, bits), equal_weights(board), -(2 << bits))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the corrected entropy left, in bits; it may be negative."""
        return math.ldexp(key, -fixed_point_bits(board.n_codes)) / codes


# --- Weighted entropy: the entropy of the reply, with a weight for each reply ---------------------


UNIT = 1000
"""The weight of a term with factor 1."""

MAX_WEIGHT = 9999
"""The largest weight."""

_FORMAT = "bnmind entropy weights"
_VERSION = 1
_SHIPPED = "weights_4x6.json"


@dataclass(frozen=True)
class WeightedEntropy(Value):
    """Σ_r w_r · p_r · log₂(1/p_r), to be maximized, where p_r = n_r / n.

    The score has one weight for each reply. `fit_weights` fits the weights to the total number of
    guesses; a reply has a large weight if the game is hard to finish after it. On other boards
    than that of the weights, the score is the entropy.

    Raises
    ------
    InvalidArgumentError
        If some turn does not have a weight from 0 to `MAX_WEIGHT` for each reply.
    """

    board: Board
    """The board of the weights."""
    weights: tuple[tuple[Annotated[int, Ge(0), Le(MAX_WEIGHT)], ...], ...]
    """By turn and true reply, in thousandths; the last row also applies to all later turns."""
    minimized = False
    """Larger values are better."""

    def _faults(self) -> Iterator[str]:
        found, wanted = [len(turn) for turn in self.weights], len(self.board.true_replies)
        if set(found) != {wanted}:
            yield f"expected {wanted} weights for each turn on the board {self.board}, got {found}"

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        if board != self.board:
            return EntropyLeft().terms(board, largest)
        table = entropy_terms(largest, self._bits)
        logs = table // np.maximum(np.arange(largest + 1), 1)
        return ClassTerms(table, np.array(self.weights), per_code=logs)

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the weighted entropy of the reply, in bits."""
        if board != self.board:
            return math.log2(codes) - EntropyLeft().shown(board, key, codes)
        return -math.ldexp(key, -self._bits) / codes / UNIT

    @property
    def _bits(self) -> int:
        return fixed_point_bits(self.board.n_codes, largest_weight=MAX_WEIGHT)


def shipped_weights() -> WeightedEntropy:
    """Return the weights that come with bnmind, fitted for 4x6, turn by turn."""
    text = files("bnmind.strategies").joinpath(_SHIPPED).read_text(encoding="utf-8")
    return parse_weights(text, _SHIPPED)


@checked
def read_weights(path: Path | str) -> WeightedEntropy:
    """Read weights from a JSON file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or does not contain weights.
    """
    return parse_weights(read_text(path, most=SMALL_FILE), str(path))


@checked
def write_weights(score: WeightedEntropy, path: Path | str) -> None:
    """Write weights to a JSON file, by turn and reply.

    Parameters
    ----------
    score
        The score with the weights.
    path
        The file.

    Raises
    ------
    ModelFileError
        If the file cannot be written. An existing file is then unchanged.
    """
    board = score.board
    replies = [str(reply) for reply in board.true_replies]
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "board": {"pegs": board.pegs, "colors": board.colors, "repeats": board.repeats},
        "weights": [dict(zip(replies, turn, strict=True)) for turn in score.weights],
    }
    write_file(path, json.dumps(document, indent=1) + "\n")


def parse_weights(text: str, where: str) -> WeightedEntropy:
    """Parse weights; messages name the file as `where`.

    Parameters
    ----------
    text
        JSON, as `write_weights` writes it.
    where
        The name of the file, for messages.

    Raises
    ------
    ModelFileError
        If the text does not contain weights.
    """
    return parse_record(text, where, (_FORMAT, _VERSION), _weights)


def _weights(document: Any) -> WeightedEntropy:
    board = Board(**document["board"])
    replies = [str(reply) for reply in board.true_replies]
    for number, turn in enumerate(document["weights"], 1):
        unexpected = [*(set(replies) - set(turn)), *(set(turn) - set(replies))]
        if unexpected:
            raise InvalidArgumentError(
                f"expected one weight for each reply of the board {board}; turn {number} has a"
                f" missing or unknown reply: {visible(min(unexpected)[:40])}",
                min(unexpected),
            )
    turns = tuple(tuple(turn[reply] for reply in replies) for turn in document["weights"])
    return WeightedEntropy(board, turns)


# --- The registry of scores: the name of each score, and what makes it ----------------------------


SCORES: Mapping[str, Registered[Score]] = MappingProxyType(
    {
        "maxmin": Registered("the smallest largest reply class", WorstCase),
        "irving": Registered("the smallest expected reply class", ExpectedSize),
        "neuwirth": Registered("the largest entropy of the reply", EntropyLeft),
        "larmouth": Registered("the same, corrected for a guess that may win", Larmouth),
        "kooi": Registered("the most reply classes", MostParts),
        "weighted-entropy": Registered("the largest weighted entropy", shipped_weights),
    }
)
"""The score of each name; calling a member makes it."""


# --- The myopic scores of all guesses at once, from their reply masses ----------------------------


def worst_cases(masses: Floats) -> Floats:
    """Return the size of the largest class of each guess, to be minimized (Knuth 1976).

    Parameters
    ----------
    masses
        ``(guesses, classes)``, the number of possible codes in each class of equal replies.
    """
    largest: Floats = masses.max(axis=1)
    return largest


def expected_sizes(masses: Floats) -> Floats:
    """Return the sum of the squared class sizes of each guess, to be minimized (Irving 1978–79).

    The sum divided by the number of codes is the expected size of the class.

    Parameters
    ----------
    masses
        ``(guesses, classes)``, the number of possible codes in each class of equal replies.
    """
    squares: Floats = np.einsum("ij,ij->i", masses, masses)
    return squares


def parts(masses: Floats) -> Floats:
    """Return the number of non-empty classes of each guess, to be maximized (Kooi 2005).

    Parameters
    ----------
    masses
        ``(guesses, classes)``, the number of possible codes in each class of equal replies.
    """
    filled: Floats = np.count_nonzero(masses > _EMPTY, axis=1).astype(np.float64)
    return filled


_EMPTY = 1e-13
"""Masses below this are rounding errors of empty classes."""
