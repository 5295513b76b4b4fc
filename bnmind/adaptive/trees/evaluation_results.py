"""The result of an exact evaluation: intervals that are points unless the tree was cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bnmind._arguments import checked
from bnmind._display.results import Result, Table, finite, picked
from bnmind._messages import counted, percent
from bnmind._values import Value
from bnmind.adaptive.beliefs.ability_estimates import has_ability
from bnmind.adaptive.items.bank import ItemBank
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas

__all__ = ["CURVES", "CertifiedInterval", "DesignEvaluation"]

CURVES = ("pattern_accuracy", "attribute_accuracy", "entropy")
"""The measures by the number of items asked, named as in a simulation."""

_ROWS = {
    "pattern_accuracy": "profiles classified right",
    "attribute_accuracy": "skills classified right",
    "entropy": "entropy of the skills, bits",
    "length": "items asked",
    "cost": "cost of the items asked",
}
_ROWS_OF_AN_ABILITY = ("length", "cost")
"""The rows for a bank of one ability: the others would be about points of its grid."""


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
class DesignEvaluation(Result, Value):
    """The expected results of a test, over all answers that the bank expects.

    The examinees are those of the bank: profiles have the probabilities of the bank, and answers
    those of its items.
    """

    bank: ItemBank
    """The bank of the test."""
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

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a record for JSON; intervals are pairs."""
        curves = {name: self.curve(name) for name in CURVES}
        record = {
            **picked(self, "evaluated", *_ROWS, exact="is_exact"),
            **picked(self, beliefs="n_beliefs", merged="n_merged", cut="n_cut"),
            "skill_accuracy": dict(self.skill_accuracy),
            "exposure": dict(self.exposure),
            "lengths": self.lengths.tolist(),
            "reasons": dict(self.reasons),
            "by_items_asked": {
                name: {"low": low.tolist(), "high": high.tolist()}
                for name, (low, high) in curves.items()
            },
        }
        return dict(finite(record))

    def _shown(self) -> Iterator[str | Table]:
        beliefs, exact = counted(self.n_beliefs, "belief"), self.is_exact
        of_skills = not has_ability(self.bank)
        if exact:
            merged = f", {self.n_merged:,} merged" if self.n_merged else ""
            yield f"Exact, from {beliefs}{merged}. Expected at the end of the test:"
        else:
            yield (
                f"Cut after {beliefs}: {_percent(self.evaluated)} of all tests were followed to the"
                " end. The exact values are between:"
            )
        heads = ("", "") if exact else ("", "least", "most")
        rows: list[tuple[str, CertifiedInterval]] = []
        for name, label in _ROWS.items():
            if of_skills or name in _ROWS_OF_AN_ABILITY:
                rows.append((label, getattr(self, name)))
            if of_skills and name == "attribute_accuracy":
                rows += [(f"  {skill}", one) for skill, one in self.skill_accuracy.items()]
        n = 1 if exact else 2
        yield Table(heads, [(label, *(f"{x:.4f}" for x in one[:n])) for label, one in rows])
        yield "Items by how often they are asked:"
        ranked = sorted(self.exposure.items(), key=lambda pair: -pair[1].middle)
        asked = [pair for pair in ranked if pair[1].high > 0]
        yield Table(heads, [(item, *map(_percent, share[:n])) for item, share in asked])
        if len(asked) < len(ranked):
            yield f"Never asked: {counted(len(ranked) - len(asked), 'item')}."
        for reason, chance in self.reasons.items():
            yield f"Ends because {reason}: {_percent(chance)}"
        if not of_skills:
            yield "bnmind simulate estimates how exactly the test measures the ability."

    def to_frame(self) -> pandas.DataFrame:
        """Return the measures as a data frame with columns measure, low and high."""
        import pandas as pd

        rows = [(name, getattr(self, name)) for name in (*CURVES, "length", "cost")]
        rows += [(f"accuracy of {name}", one) for name, one in self.skill_accuracy.items()]
        rows += [(f"exposure of {name}", one) for name, one in self.exposure.items()]
        return pd.DataFrame(
            [(name, one.low, one.high) for name, one in rows], columns=["measure", "low", "high"]
        )


def _percent(share: float) -> str:
    return percent(round(share, 9))  # sums of probabilities may miss 1 by rounding
