"""The distinct codes of a population, with their probabilities, if hardly any code is missing.

Late in a game, few codes are plausible, and the islands find all of them many times over. Their
probabilities then follow from the target itself, and not from how often a code was found. The
mass of the codes that were missed is estimated from the number of islands that found each code:
a code found by i of R islands would be missed by all with probability about (1 − i/R)^R.

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
"""A collection that misses at most this mass counts as complete."""


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
    """The estimated probability of the codes that are missing."""


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
    shares = found.mean(axis=0)
    probabilities = weights / total
    missed = (1 - shares) ** islands
    return CollectedCodes(
        codes=distinct,
        probabilities=probabilities,
        log_constant=largest + math.log(total),
        missing=float(probabilities @ missed),
    )
