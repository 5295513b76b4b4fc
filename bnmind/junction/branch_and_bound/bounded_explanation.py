"""The result of a search: the best configuration it knows, and a bound for all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bnmind._values import Value
from bnmind.errors import TooLargeError
from bnmind.junction.queries.mpe import Explanation

__all__ = ["BoundedExplanation"]


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
