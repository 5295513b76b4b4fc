"""The result of an exact evaluation: intervals that are points unless the tree was cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bnmind._arguments import checked
from bnmind._display import frame_html
from bnmind._values import Value
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas

__all__ = ["CURVES", "CertifiedInterval", "DesignEvaluation"]

CURVES = ("pattern_accuracy", "attribute_accuracy", "entropy")
"""The measures by the number of items asked, named as in a simulation."""


class CertifiedInterval(NamedTuple):
    """A number that is known to lie between two others; both are equal if it is known exactly."""

    low: float
    """The lower bound."""
    high: float
    """The upper bound."""

    @property
    def middle(self) -> float:
        """The mean of the two."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """The difference of the two."""
        return self.high - self.low


@dataclass(frozen=True, eq=False, kw_only=True)
class DesignEvaluation(Value):
    """The expected results of a test, over all answers that the bank expects.

    The examinees are those of the bank: profiles have the probabilities of the bank, and answers
    those of its items.
    """

    pattern_accuracy: CertifiedInterval
    """The probability that the most probable profile at the end is the true one."""
    attribute_accuracy: CertifiedInterval
    """The expected share of skills whose most probable level at the end is the true one."""
    skill_accuracy: Mapping[str, CertifiedInterval]
    """The same for each skill."""
    entropy: CertifiedInterval
    """The expected entropy of the skills at the end, in bits."""
    length: CertifiedInterval
    """The expected number of items asked."""
    cost: CertifiedInterval
    """The expected total cost of the items asked."""
    exposure: Mapping[str, CertifiedInterval]
    """The probability that each item is asked."""
    reasons: Mapping[str, float]
    """The probability of each reason for the end of the test; they sum to ``evaluated``."""
    lengths: Floats
    """The probability of each number of items asked, among tests that were followed to the end."""
    curves: Floats
    """``(measures, 2, 1 + items)``, bounds of `CURVES` by the number of items asked; a test that
    has ended keeps its values."""
    evaluated: float
    """The probability of the tests that were followed to the end; 1 if nothing was cut."""
    n_beliefs: int
    """The number of beliefs evaluated."""
    n_ends: int
    """The number of beliefs at which a test ends."""
    n_merged: int
    """The number of beliefs that were merged with an equal one."""

    @property
    def is_exact(self) -> bool:
        """Whether the tree was not cut."""
        return self.n_cut == 0

    n_cut: int
    """The number of beliefs at which the tree was cut."""

    @checked
    def curve(self, measure: str) -> tuple[Floats, Floats]:
        """Return the bounds of a measure of `CURVES` by the number of items asked.

        Parameters
        ----------
        measure
            The name of the measure, one of `CURVES`.

        Raises
        ------
        UnknownNameError
            If there is no such measure.
        """
        from bnmind.errors import UnknownNameError

        if measure not in CURVES:
            raise UnknownNameError("measure", measure, CURVES)
        low, high = self.curves[CURVES.index(measure)]
        return low, high

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, which notebooks display."""
        return frame_html(self.to_frame(), caption="Exact results of the test")

    def to_frame(self) -> pandas.DataFrame:
        """Return the measures as a data frame with columns measure, low and high."""
        import pandas as pd

        rows = [(name, getattr(self, name)) for name in (*CURVES, "length", "cost")]
        rows += [(f"accuracy of {name}", one) for name, one in self.skill_accuracy.items()]
        rows += [(f"exposure of {name}", one) for name, one in self.exposure.items()]
        return pd.DataFrame(
            [(name, one.low, one.high) for name, one in rows], columns=["measure", "low", "high"]
        )
