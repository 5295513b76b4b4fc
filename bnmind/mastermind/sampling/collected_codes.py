"""The distinct codes of a population, and an estimate of the mass of those that it has missed.

Late in a game with true replies, few codes are possible, and the islands find all of them many
times over. Their probabilities then follow from the target, and not from how often each was found.
The missing mass is estimated from the number of islands that found each code: a code found by i of
R islands would be missed by all with probability about (1 − i/R)^R.

References
----------
Good, *The population frequencies of species and the estimation of population parameters*,
Biometrika 40 (1953) 237-264: the mass of what was not seen. Chao and Jost, *Coverage-based
rarefaction and extrapolation*, Ecology 93 (2012): the same for found or not found by each sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.information import Floats

__all__ = ["CERTAIN", "CollectedCodes", "collect", "distinct_codes"]

CERTAIN = 1e-6
"""A collection of equally probable codes that misses at most this mass counts as complete."""

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class CollectedCodes(Sealed):
    """Distinct codes and their probabilities."""

    codes: NDArray[np.uint8]
    """``(codes, pegs)``, colors 1..k, in lexicographic order."""
    probabilities: Floats
    """``(codes,)``; they sum to one."""
    log_constant: float
    """The natural logarithm of the sum of the target over the codes."""
    missing: float
    """The estimated probability of the codes that are missing, if all are equally probable."""

    @property
    def is_flat(self) -> bool:
        """Whether all codes are equally probable."""
        return bool(np.ptp(self.probabilities) <= _ROUNDING)


def distinct_codes(
    codes: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct codes in lexicographic order, the first place, and the rank of each code.

    Parameters
    ----------
    codes
        ``(codes, pegs)``.
    """
    # No color is 0, so strings of bytes keep all pegs, and they are sorted quickly.
    rows = np.ascontiguousarray(codes).view(f"S{codes.shape[1]}").ravel()
    _, first, ranks = np.unique(rows, return_index=True, return_inverse=True)
    return codes[first], first, ranks.ravel()


def collect(
    codes: NDArray[np.uint8], log_targets: Floats, alive: NDArray[np.bool_]
) -> CollectedCodes:
    """Return the distinct codes of all islands, with probabilities in proportion to the target.

    Parameters
    ----------
    codes
        ``(islands, size, pegs)``.
    log_targets
        ``(islands, size)``, the natural logarithm of the target at each code.
    alive
        ``(islands,)``, the islands to use.
    """
    some = codes[alive]
    islands, size, pegs = some.shape
    distinct, first, ranks = distinct_codes(some.reshape(-1, pegs))
    logs = log_targets[alive].ravel()[first]
    largest = float(logs.max())
    weights = np.exp(logs - largest)
    total = float(weights.sum())
    found = np.zeros((islands, len(distinct)), dtype=bool)
    found[np.repeat(np.arange(islands), size), ranks] = True
    probabilities, missed = weights / total, (1 - found.mean(axis=0)) ** islands
    possible = weights > 0
    return CollectedCodes(
        codes=distinct[possible],
        probabilities=probabilities[possible],
        log_constant=largest + math.log(total),
        missing=float(probabilities @ missed),
    )
