"""Random search with constraints: the first random code that agrees with all replies.

Codes are drawn uniformly, so the guess is a random possible code, as with `RandomCode`. But no
codes are listed: the number of draws grows with the board and falls with the number of possible
codes. If no draw agrees with all replies, which is usual under noise, the guess is the code drawn
whose cost is smallest.

References
----------
Bernier, Herraiz, Merelo, Olmeda and Prieto, *Solving MasterMind using GAs and simulated annealing:
a case of dynamic constraint optimization*, Parallel Problem Solving from Nature IV (1996) 554-563.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Count, Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.sampling import seeded_state
from bnmind.strategies.evolutionary.fitness import PLAYED, Replies, code_cost
from bnmind.strategies.evolutionary.operators import Choices, draw_code
from bnmind.strategies.evolutionary.players import (
    Found,
    SearchesCodes,
    Setup,
)

__all__ = ["BernierRandom"]

_DRAWS_FOR_EACH = 20  # code of the board; a code stays out of so many draws once in 5·10⁸ times
_SLICE = 200_000  # codes; Ctrl-C works between two slices


@dataclass(frozen=True, kw_only=True)
class BernierRandom(SearchesCodes, Value):
    """Draw random codes, and guess the first one that agrees with all replies.

    Raises
    ------
    InvalidArgumentError
        If the number of codes is below 1.
    """

    name: str = "bernier-random"
    """The name of the strategy at the command line and in files."""
    max_codes: Count = 2_000_000
    """The largest number of codes to draw for a guess."""
    setup: Setup = field(default_factory=Setup)
    """The first guess and the colors to try."""

    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the code to guess after some replies."""
        replies, choices = self.setup.replies(belief), self.setup.choices(belief)
        best = np.zeros(belief.board.pegs, dtype=np.uint8)
        state = seeded_state(rng)
        cost, evaluated = 4 * PLAYED, 0
        most = min(self.max_codes, _DRAWS_FOR_EACH * belief.board.n_codes)
        while cost and evaluated < most:
            n = min(_SLICE, most - evaluated)
            cost, drawn = draw_until_eligible(best, cost, replies, choices, n, state)
            evaluated += drawn
        return Found(tuple(best.tolist()), cost, evaluated)


@njit
def draw_until_eligible(
    best: NDArray[np.uint8],
    cost: int,
    replies: Replies,
    choices: Choices,
    n: int,
    state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Draw up to n codes until one is eligible.

    Returns
    -------
    cost, drawn
        The smallest cost so far, whose code is written into `best`, and the number of codes drawn.
    """
    code = np.empty_like(best)
    counts = np.zeros(choices.allowed.shape[1], dtype=np.uint8)
    for i in range(n):
        draw_code(code, choices, state)
        new = code_cost(code, replies, counts)
        if new < cost:
            cost = new
            best[:] = code
            if cost == 0:
                return cost, i + 1
    return cost, n
