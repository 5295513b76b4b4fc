"""A prior that learns which of several code-makers it plays against.

The code-maker is one of the members of a family. After a code s, the probability w_i of member i
becomes w_i·p_i(s) / Σ_j w_j·p_j(s), where p_i(s) is the probability of s under member i.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, is_distribution, logs_of
from bnmind.mastermind.priors.prior import Codes

__all__ = ["MixturePrior"]


@dataclass(frozen=True)
class MixturePrior(ClosedFormPrior):
    """The prior of the next code of a code-maker who is one of several.

    Examples
    --------
    >>> from bnmind.mastermind.priors import OnlyOnce, UniformPrior
    >>> board = Board(4, 6)
    >>> prior = MixturePrior((UniformPrior(board), OnlyOnce(board)), (0.5, 0.5))
    >>> prior = prior.observe((1, 2, 3, 4)).observe((3, 1, 6, 2))
    >>> [round(weight, 3) for weight in prior.weights]
    [0.072, 0.928]
    """

    members: tuple[ClosedFormPrior, ...]
    """The possible code-makers, at least one, all of the same board."""
    weights: tuple[float, ...]
    """The probability of each member; they sum to one."""
    name: str = "mixture"
    """The name of the prior at the command line and in files."""
    logs: tuple[float, ...] | None = None
    """The natural logarithms of the weights, for weights that are too small for a number; computed
    if None."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(logs=logs_of(self.weights, self.logs))

    def _faults(self) -> Iterator[str]:
        n = len(self.members)
        if len({member.board for member in self.members}) != 1:
            yield "expected at least one prior, and all of the same board"
        if not is_distribution(self.weights, n):
            yield f"expected {n} weights that sum to 1, one for each member, got {self.weights}"

    @property
    def board(self) -> Board:  # type: ignore[override]
        """The board of the codes."""
        return self.members[0].board

    @checked
    def observe(self, code: Sequence[int]) -> MixturePrior:
        """Return the prior of the next code after another code; the members learn too.

        Raises
        ------
        ImpossibleEvidenceError
            If the code is impossible under every member.
        """
        row = np.array([self.board.checked(code)])
        logs = self._logs(row)[:, 0]
        largest = float(logs.max())
        if largest == -np.inf:
            text = self.board.format(code)
            raise ImpossibleEvidenceError(
                f"no member of the prior {self.name} makes the code {text}", {"code": text}
            )
        logs = logs - largest - math.log(math.fsum(np.exp(logs - largest)))
        return MixturePrior(
            tuple(member.observe(code) for member in self.members),
            tuple(np.exp(logs).tolist()),
            self.name,
            tuple(logs.tolist()),
        )

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        logs: Floats = np.logaddexp.reduce(self._logs(codes), axis=0)
        return logs

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent draws of the next code, ``(n, pegs)``."""
        chosen = rng.choice(len(self.members), size=n, p=np.array(self.weights))
        codes = np.empty((n, self.board.pegs), dtype=np.uint8)
        for index, member in enumerate(self.members):
            own = np.flatnonzero(chosen == index)
            codes[own] = member.draw(len(own), rng)
        return codes

    def _logs(self, codes: NDArray[np.integer]) -> Floats:
        """Return log(w_i·p_i(s)), ``(members, m)``."""
        assert self.logs is not None
        return np.stack(
            [
                weight + member.log_probabilities(codes)
                for weight, member in zip(self.logs, self.members, strict=True)
            ]
        )
