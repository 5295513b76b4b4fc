"""The fitted value of a belief: the expected number of guesses until the code is guessed.

**After each guess.** The features of a belief follow from three sums over its codes: Σ w, Σ w ln w
and Σ w², where the weights w need not sum to one. After the outcome o of a guess the weight of a
code s is q(s)·N[c, o], c its true reply to the guess. So the sums after every outcome follow from
the three sums over the codes of each true reply, taken before the outcome is known:

    Σ w = Σ_c N[c, o] A_c
    Σ w ln w = Σ_c N[c, o] B_c + N[c, o] ln N[c, o] A_c
    Σ w² = Σ_c N[c, o]² D_c

with A, B and D the sums of q, q ln q and q² over the codes of cell c. One pass over the codes thus
gives the value of all outcomes of a guess. Two guesses need the sums over the codes of each pair of
true replies.

Most entries in a column of a channel are equal to the least one: a false reply has the same
probability after every true reply. The sums over all cells serve these entries; only the larger
entries are added cell by cell.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._files import SMALL_FILE, read_text, write_file
from bnmind._jit import njit
from bnmind._values import Finite, Must, Value
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.strategies.strategy import parse_record

# --- The expected value of the belief after each guess, compiled ----------------------------------


NEGLIGIBLE = 1e-13
"""The probability of an outcome that is rounding error."""

_LN2 = math.log(2)
_SAME = 1e-12  # entries closer than this, relative to the smaller, are equal


class ChannelPowers(NamedTuple):
    """Functions of the entries of a channel, ``(true replies that do not win, reports)``."""

    plain: Floats
    """N."""
    logarithms: Floats
    """N ln N."""
    squares: Floats
    """N²."""
    least: Floats
    """``(reports, 3)``, the least entry of each column, and its logarithm and square as above."""
    larger: NDArray[np.intp]
    """``(entries, 2)``, the true replies and reports of the other entries."""
    excess: Floats
    """``(entries, 3)``, N, N ln N and N² of these entries minus those of the least one."""


def channel_powers(channel: Channel) -> ChannelPowers:
    """Return the functions of a channel's entries, without the win, which ends the game."""
    revealed = channel if channel.ends else channel.revealed()
    plain = np.ascontiguousarray(revealed.matrix[:-1, :-1])
    logarithms = plain * np.log(np.where(plain > 0, plain, 1.0))
    squares = plain * plain
    powers = np.stack([plain, logarithms, squares], axis=-1)
    lowest = plain.argmin(axis=0)
    least = np.ascontiguousarray(powers[lowest, np.arange(plain.shape[1])])
    larger = np.argwhere(plain > least[:, 0] * (1 + _SAME))
    excess = powers[larger[:, 0], larger[:, 1]] - least[larger[:, 1]]
    return ChannelPowers(plain, logarithms, squares, least, larger, excess)


@njit
def code_terms(q: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return q, q ln q and q² of some codes, ``(codes, 4)``; the fourth number is unused."""
    terms = np.zeros((codes.size, 4))
    for j in range(codes.size):
        p = q[codes[j]]
        terms[j, 0], terms[j, 1], terms[j, 2] = p, p * math.log(p), p * p
    return terms


@njit
def belief_value(total: float, logs: float, squares: float, coefficients: Floats) -> float:
    """Return the value of the belief whose weights have these sums."""
    log_total = math.log(total)
    h = max(0.0, (log_total - logs / total) / _LN2)
    c = max(0.0, (2.0 * log_total - math.log(squares)) / _LN2)
    doubt = max(0.0, 1.0 - math.sqrt(squares) / total)
    value = (
        1.0
        + coefficients[0] * h
        + coefficients[1] * c
        + coefficients[2] * h * h
        + coefficients[3] * c * c
        + coefficients[4] * h * c
        + coefficients[5] * doubt
    )
    return float(max(1.0, value))


@njit
def through_channel(
    cells: Floats, channel: ChannelPowers, coefficients: Floats, sums: Floats
) -> float:
    """Return Σ_o P(o)·value after o, from the sums over each cell; `sums` is scratch."""
    n_cells, n_outcomes = channel.plain.shape
    a = b = d = 0.0
    for c in range(n_cells):
        a += cells[c, 0]
        b += cells[c, 1]
        d += cells[c, 2]
    least, larger, excess = channel.least, channel.larger, channel.excess
    for o in range(n_outcomes):
        sums[o, 0] = least[o, 0] * a
        sums[o, 1] = least[o, 0] * b + least[o, 1] * a
        sums[o, 2] = least[o, 2] * d
    for e in range(larger.shape[0]):
        c, o = larger[e, 0], larger[e, 1]
        a = cells[c, 0]
        if a > 0.0:
            sums[o, 0] += excess[e, 0] * a
            sums[o, 1] += excess[e, 0] * cells[c, 1] + excess[e, 1] * a
            sums[o, 2] += excess[e, 2] * cells[c, 2]
    expected = 0.0
    for o in range(n_outcomes):
        if sums[o, 0] > NEGLIGIBLE:
            expected += sums[o, 0] * belief_value(sums[o, 0], sums[o, 1], sums[o, 2], coefficients)
    return expected


@njit
def after_one_guess(
    rows: NDArray[np.uint8],
    q: Floats,
    codes: NDArray[np.intp],
    channel: ChannelPowers,
    coefficients: Floats,
) -> Floats:
    """Return one plus the expected value of the belief after each guess; a win counts nothing.

    Parameters
    ----------
    rows
        The true reply of each code to each guess, ``(guesses, n_codes)``; the last reply wins.
    q
        The belief, ``(n_codes,)``.
    codes
        The codes to sum over, of positive belief.
    channel
        The channel.
    coefficients
        The coefficients of the value.

    Returns
    -------
    Floats
        ``(guesses,)``.
    """
    n_replies = channel.plain.shape[0] + 1
    terms = code_terms(q, codes)
    cells = np.zeros((n_replies, 4))
    sums = np.zeros((channel.plain.shape[1], 4))
    values = np.empty(rows.shape[0])
    for g in range(rows.shape[0]):
        cells[:] = 0.0
        for j in range(codes.size):
            c = rows[g, codes[j]]
            for k in range(4):
                cells[c, k] += terms[j, k]
        values[g] = 1.0 + through_channel(cells, channel, coefficients, sums)
    return values


# --- The fitted value of a belief: the expected number of guesses until the code is guessed -------


FEATURES = (
    "entropy",
    "collision entropy",
    "entropy squared",
    "collision entropy squared",
    "entropy times collision entropy",
    "doubt",
)
"""The features of a belief, see `belief_features`."""

_OnePerFeature = Must(f", {len(FEATURES)} of them", lambda of: len(of) == len(FEATURES))

INITIAL = (0.2, 0.25, 0.0, 0.0, 0.0, 0.0)
"""The coefficients from which a fit starts."""


@dataclass(frozen=True, kw_only=True)
class ValueOrigin(Value):
    """The games to which a value was fitted."""

    board: Annotated[str, Must(" such as 4x6", re.compile(r"[1-9]\d*x[1-9]\d*( .*)?").fullmatch)]
    """The board, such as 4x6."""
    channel: str
    """The name of the channel."""
    games: int
    """The number of games of each round."""
    rounds: int
    """The number of rounds; each plays with the value of the one before."""
    seed: int
    """The seed of the first round."""

    @property
    def command(self) -> str:
        """The command that repeats the fit."""
        size, _, without = self.board.partition(" ")
        pegs, colors = size.split("x")
        return (
            f"bnmind fit-value --pegs {pegs} --colors {colors}{' --no-repeats' * bool(without)} "
            f"--noise {self.channel} "
            f"--games {self.games} --rounds {self.rounds} --seed {self.seed} --out FILE"
        )


@dataclass(frozen=True, kw_only=True)
class BeliefValue(Value):
    """The expected number of guesses from a belief on: one plus a weighted sum of its features.

    A value below one counts as one, since the code must still be guessed.

    Raises
    ------
    InvalidArgumentError
        If there is not one finite coefficient for each feature.

    Examples
    --------
    >>> value = BeliefValue(coefficients=INITIAL)
    >>> round(value.of([0.25, 0.25, 0.25, 0.25]), 3), value.of([1.0, 0.0])
    (1.9, 1.0)
    """

    coefficients: Annotated[tuple[Annotated[float, Finite], ...], _OnePerFeature]
    """One for each of `FEATURES`."""
    origin: ValueOrigin | None = None
    """The games to which the value was fitted; None if it was not fitted."""

    def of(self, probabilities: Floats | list[float]) -> float:
        """Return the expected number of guesses from a belief on, the next one included.

        Parameters
        ----------
        probabilities
            ``(codes,)``: the probability of each code of the board; they sum to one.
        """
        features = belief_features(np.asarray(probabilities, dtype=np.float64))
        return max(1.0, 1.0 + float(features @ np.array(self.coefficients)))


def belief_features(probabilities: Floats) -> Floats:
    """Return the features of a belief, ``(len(FEATURES),)``; all are zero if the code is known.

    With H = −Σ q log₂ q, the entropy, and C = −log₂ Σ q², the collision entropy, they are
    H, C, H², C², H·C and the doubt 1 − √(Σ q²), which is close to the probability of all
    codes but the most probable one.

    Parameters
    ----------
    probabilities
        ``(n_codes,)``; they sum to one.
    """
    q = probabilities[probabilities > 0]
    entropy = max(0.0, float(-(q * np.log(q)).sum()) / _LN2)
    squares = min(1.0, float((q * q).sum()))
    collision = -math.log2(squares)
    return np.array(
        [
            entropy,
            collision,
            entropy * entropy,
            collision * collision,
            entropy * collision,
            1.0 - math.sqrt(squares),
        ]
    )


# --- Files of fitted values, and the values that come with bnmind ---------------------------------


_FORMAT = "bnmind belief value"
_VERSION = 1
_DEFAULT = ("4x6", "false:0.2")


@checked_if_it_fails
def shipped_value(channel: Channel) -> BeliefValue:
    """Return the value that comes with bnmind for a board and a channel.

    If there is none for both, it is the one of 4x6 and the same channel, otherwise that of 4x6 and
    20 % false replies. Values of other boards are less precise, but the strategies
    need them only to order guesses.

    Parameters
    ----------
    channel
        The channel of the replies.
    """
    values = shipped_values()
    board, name = str(channel.board), channel.name
    for key in ((board, name), (_DEFAULT[0], name), _DEFAULT):
        if key in values:
            return values[key]
    raise AssertionError  # the default is shipped


@lru_cache(maxsize=1)
def shipped_values() -> Mapping[tuple[str, str], BeliefValue]:
    """Return all values that come with bnmind, by board and channel."""
    values: dict[tuple[str, str], BeliefValue] = {}
    folder = files("bnmind.strategies").joinpath("models")
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.startswith("value-") and entry.name.endswith(".json"):
            value = parse_value(entry.read_text(encoding="utf-8"), entry.name)
            if value.origin is not None:
                values[value.origin.board, value.origin.channel] = value
    return MappingProxyType(values)


@checked
def read_value(path: Path | str) -> BeliefValue:
    """Read a fitted value from a JSON file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or does not contain a value.
    """
    return parse_value(read_text(path, most=SMALL_FILE), str(path))


@checked
def write_value(value: BeliefValue, path: Path | str) -> None:
    """Write a value to a JSON file, with its origin.

    Parameters
    ----------
    value
        The fitted value.
    path
        The file.

    Raises
    ------
    ModelFileError
        If the file cannot be written. An existing file is then unchanged.
    """
    document: dict[str, Any] = {"format": _FORMAT, "version": _VERSION}
    if value.origin is not None:
        origin = value.origin
        document["origin"] = {
            "board": origin.board,
            "channel": origin.channel,
            "games": origin.games,
            "rounds": origin.rounds,
            "seed": origin.seed,
            "command": origin.command,
        }
    document["coefficients"] = dict(zip(FEATURES, value.coefficients, strict=True))
    write_file(path, json.dumps(document, indent=1) + "\n")


def parse_value(text: str, where: str) -> BeliefValue:
    """Parse a value; messages name the file as `where`.

    Raises
    ------
    ModelFileError
        If the text does not contain a value.
    """
    return parse_record(text, where, (_FORMAT, _VERSION), _value)


def _value(document: Any) -> BeliefValue:
    origin = document.get("origin")
    return BeliefValue(
        coefficients=tuple(float(document["coefficients"][name]) for name in FEATURES),
        origin=None
        if origin is None
        else ValueOrigin(
            board=origin["board"],
            channel=origin["channel"],
            games=origin["games"],
            rounds=origin["rounds"],
            seed=origin["seed"],
        ),
    )
