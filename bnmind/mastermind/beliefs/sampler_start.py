"""The prior of a board in the form that the sampler needs."""

from __future__ import annotations

import math

import numpy as np

from bnmind.information import Floats
from bnmind.mastermind.board import Board, digits_of
from bnmind.mastermind.priors.prior import Prior
from bnmind.mastermind.priors.uniform import UniformPrior
from bnmind.mastermind.sampling.sampler import Start
from bnmind.mastermind.sampling.sequential_monte_carlo import Codes

__all__ = ["log_sum_of_weights", "start_of", "uniform_codes"]

_LISTED = 2**17  # up to this number of codes, the weights of all are added up
_DRAWN = 2**16  # draws that estimate the sum of the weights otherwise


def start_of(board: Board, prior: Prior | None) -> Start:
    """Return the prior of a board as the sampler needs it."""
    if prior is None or isinstance(prior, UniformPrior):
        return Start(
            board=board,
            log_prior=None,
            fresh=lambda n, rng: uniform_codes(board, n, rng),
        )
    log_probabilities = getattr(prior, "log_probabilities", None)
    return Start(
        board=board,
        log_prior=prior.log_weights if log_probabilities is None else log_probabilities,
        fresh=lambda n, rng: prior.draw(n, rng).astype(np.uint8),
    )


def uniform_codes(board: Board, n: int, rng: np.random.Generator) -> Codes:
    """Return `n` codes drawn uniformly, ``(n, pegs)``, on a board of any size."""
    if board.repeats:
        return rng.integers(1, board.colors, size=(n, board.pegs), dtype=np.uint8, endpoint=True)
    colors = np.tile(np.arange(1, board.colors + 1, dtype=np.uint8), (n, 1))
    return np.ascontiguousarray(rng.permuted(colors, axis=1)[:, : board.pegs])


def log_sum_of_weights(board: Board, prior: Prior | None) -> float:
    """Return the logarithm of the sum of the weights of all codes.

    If the prior only has weights, and the board has more than 131,072 codes, it is estimated from
    random codes; nan if all of them have weight zero. The estimate affects the entropy of the code
    and nothing else.
    """
    if prior is None or isinstance(prior, UniformPrior):
        return math.log(board.n_codes)
    if hasattr(prior, "log_probabilities"):
        return 0.0
    if board.n_codes <= _LISTED:
        codes = digits_of(board, np.arange(board.n_codes))
    else:
        codes = uniform_codes(board, _DRAWN, np.random.default_rng(0))
    logs: Floats = np.asarray(prior.log_weights(codes), dtype=np.float64)
    largest = float(logs.max())
    if largest == -math.inf:
        return math.nan
    return largest + math.log(float(np.exp(logs - largest).mean())) + math.log(board.n_codes)
