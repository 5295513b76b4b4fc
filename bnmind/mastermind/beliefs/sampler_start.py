"""The prior of a board in the form that the sampler needs."""

from __future__ import annotations

import math

import numpy as np

from bnmind.information import Floats
from bnmind.mastermind.board import Board, digits_of
from bnmind.mastermind.priors.prior import Prior
from bnmind.mastermind.priors.uniform import UniformPrior
from bnmind.mastermind.sampling.sampler import Start

__all__ = ["log_sum_of_weights", "start_of"]

_LISTED = 2**17  # up to this number of codes, the weights of all are added up
_DRAWN = 2**16  # draws that estimate the sum of the weights otherwise


def start_of(board: Board, prior: Prior | None) -> Start:
    """Return the prior of a board as the sampler needs it."""
    if prior is None or isinstance(prior, UniformPrior):
        return Start(
            board=board,
            log_prior=None,
            fresh=UniformPrior(board).draw,
        )
    log_probabilities = getattr(prior, "log_probabilities", None)
    return Start(
        board=board,
        log_prior=prior.log_weights if log_probabilities is None else log_probabilities,
        fresh=lambda n, rng: prior.draw(n, rng).astype(np.uint8),
    )


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
        codes = UniformPrior(board).draw(_DRAWN, np.random.default_rng(0))
    logs: Floats = np.asarray(prior.log_weights(codes), dtype=np.float64)
    largest = float(logs.max())
    if largest == -math.inf:
        return math.nan
    return largest + math.log(float(np.exp(logs - largest).mean())) + math.log(board.n_codes)
