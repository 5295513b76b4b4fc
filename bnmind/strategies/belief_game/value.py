"""The fitted value of a belief: the expected number of guesses until the code is guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bnmind._messages import shown
from bnmind._values import Value
from bnmind.information import Floats

__all__ = ["FEATURES", "INITIAL", "BeliefValue", "ValueOrigin", "belief_features"]

FEATURES = (
    "entropy",
    "collision entropy",
    "entropy squared",
    "collision entropy squared",
    "entropy times collision entropy",
    "doubt",
)
"""The features of a belief, see `belief_features`."""

INITIAL = (0.2, 0.25, 0.0, 0.0, 0.0, 0.0)
"""The coefficients from which a fit starts."""

_LN2 = math.log(2)


@dataclass(frozen=True, kw_only=True)
class ValueOrigin(Value):
    """The games to which a value was fitted."""

    board: str
    """The board, such as 4x6."""
    channel: str
    """The name of the channel."""
    games: int
    """The number of games of each round."""
    rounds: int
    """The number of rounds; each plays with the value of the one before."""
    seed: int
    """The seed of the first round."""

    def _faults(self) -> Iterator[str]:
        if not re.fullmatch(r"[1-9]\d*x[1-9]\d*( .*)?", self.board):
            yield f"expected a board such as 4x6, got {shown(self.board)}"

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

    coefficients: tuple[float, ...]
    """One for each of `FEATURES`."""
    origin: ValueOrigin | None = None
    """The games to which the value was fitted; None if it was not fitted."""

    def _faults(self) -> Iterator[str]:
        if len(self.coefficients) != len(FEATURES) or not np.isfinite(self.coefficients).all():
            yield (
                f"expected {len(FEATURES)} finite coefficients, one for each feature of a belief,"
                f" got {self.coefficients}"
            )

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
