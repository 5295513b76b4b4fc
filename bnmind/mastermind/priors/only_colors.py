"""A code-maker that uses only some of the colors.

References
----------
The code-maker "ab-color" of the tournament in which the authors of *An Updated Genetic Algorithm
for Mastermind* played.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import ClosedFormPrior
from bnmind.mastermind.priors.prior import Codes

__all__ = ["OnlyColors"]


@dataclass(frozen=True)
class OnlyColors(ClosedFormPrior):
    """The prior that is uniform over the codes of some colors.

    Examples
    --------
    >>> prior = OnlyColors(Board(4, 6), (1, 2))
    >>> prior.name, prior.distribution().possible_codes()
    ('only-colors:1+2', 16)
    """

    board: Board
    """The board of the codes."""
    colors: tuple[int, ...]
    """The colors that the code-maker uses."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(colors=tuple(sorted(set(self.colors))))

    def _faults(self) -> Iterator[str]:
        k = self.board.colors
        least = 1 if self.board.repeats else self.board.pegs
        if len(set(self.colors)) < least or not all(1 <= color <= k for color in self.colors):
            yield f"expected at least {least} of the colors 1 to {k}, got {self.colors}"

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        return f"only-colors:{'+'.join(map(str, self.colors))}"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        usual = np.zeros(self.board.colors + 1, dtype=np.bool_)
        usual[list(self.colors)] = True
        number, pegs = len(self.colors), self.board.pegs
        n_codes = number**pegs if self.board.repeats else math.perm(number, pegs)
        return np.where(usual[codes].all(axis=1), -math.log(n_codes), -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        colors = np.array(self.colors, dtype=np.uint8)
        if self.board.repeats:
            return rng.choice(colors, size=(n, self.board.pegs))
        return rng.permuted(np.tile(colors, (n, 1)), axis=1)[:, : self.board.pegs]
