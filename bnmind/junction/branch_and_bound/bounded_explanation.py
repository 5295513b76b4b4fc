"""The results of searches: the best configurations known, and a bound for all others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import TooLargeError
from bnmind.junction.queries.mpe import Explanation

__all__ = ["BestExplanations", "BoundedExplanation"]

_TOLERANCE = 1e-11


@dataclass(frozen=True, kw_only=True)
class BoundedExplanation(Value):
    """The best configuration that a search knows, and an upper bound for all others."""

    states: Mapping[str, str]
    """The state of every explained variable; empty if no possible configuration is known yet."""
    log_probability: float
    """Natural logarithm of the joint probability of these states and the evidence (for a product of
    factors, of the product); −inf if no configuration is known."""
    upper_bound: float
    """No configuration has a larger logarithm, up to a relative rounding error of 1e-9."""
    nodes: int
    """The number of nodes visited so far."""
    is_proven: bool
    """Whether no configuration is more probable."""

    @property
    def gap(self) -> float:
        """The difference between the upper bound and the best configuration; zero if proven."""
        if self.is_proven:
            return 0.0
        return self.upper_bound - self.log_probability

    def proven(self) -> Explanation:
        """Return the explanation if it is proven.

        Raises
        ------
        TooLargeError
            If the search ended without a proof. The error says what is known.
        """
        if self.is_proven:
            return Explanation(self.states, self.log_probability)
        raise TooLargeError(
            f"the search visited {self.nodes:,} nodes without a proof: the best configuration has"
            f" the log-probability {self.log_probability:.6g}, and others may reach"
            f" {self.upper_bound:.6g}. Search longer, allow more memory, or observe more"
            " variables.",
            needed=self.nodes + 1,
            budget=self.nodes,
        )


@dataclass(frozen=True, kw_only=True)
class BestExplanations(Value):
    """The most probable configurations that a search knows, and an upper bound for all others."""

    explanations: tuple[Explanation, ...]
    """Different configurations in descending order. Equally probable ones stand in the order of the
    states of the variables."""
    upper_bound: float
    """No other configuration has a larger log-probability, up to a relative rounding error of
    1e-9; −inf if no other configuration is possible."""
    nodes: int
    """The number of nodes visited so far."""
    is_proven: bool
    """Whether no other configuration is more probable than these, and there are as many as asked
    for, or all that are possible."""

    @property
    def n_proven(self) -> int:
        """The number of the first explanations that no other configuration exceeds."""
        if self.is_proven:
            return len(self.explanations)
        least = self.upper_bound - _TOLERANCE * max(1.0, abs(self.upper_bound))
        return sum(found.log_probability >= least for found in self.explanations)

    @property
    def gap(self) -> float:
        """How much the log-probability of another configuration may exceed the last of these.

        It is zero if they are proven, and infinite if none is known.
        """
        if self.is_proven:
            return 0.0
        if not self.explanations:
            return math.inf
        return max(0.0, self.upper_bound - self.explanations[-1].log_probability)

    def proven(self) -> tuple[Explanation, ...]:
        """Return the explanations if they are proven.

        Raises
        ------
        TooLargeError
            If the search ended without a proof. The error says what is known.
        """
        if self.is_proven:
            return self.explanations
        raise TooLargeError(
            f"the search visited {counted(self.nodes, 'node')} and found"
            f" {counted(len(self.explanations), 'explanation')}, of which {self.n_proven} are"
            " proven; other configurations may have log-probabilities up to"
            f" {self.upper_bound:.6g}. Search longer, allow more memory, ask for fewer, or observe"
            " more variables.",
            needed=self.nodes + 1,
            budget=self.nodes,
        )
