"""Cards: the content of a view for each variable, before drawing it or printing a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._messages import visible
from bnmind.pgm.variable import Variable

__all__ = ["Card", "Row", "percent"]


@dataclass(frozen=True)
class Row:
    """A line of a card: a state, or all remaining states."""

    label: str
    shares: tuple[float | None, ...] = ()
    """The probability in each belief; None if the belief does not have the variable."""
    observed: tuple[bool, ...] = ()
    """For each belief, whether this is the observed state."""
    is_rest: bool = False
    """Whether the line summarizes all states without a line of their own."""


@dataclass(frozen=True)
class Card:
    """A variable and its distributions in one or two beliefs."""

    variable: Variable
    distributions: tuple[tuple[float, ...] | None, ...] = ()
    """For each belief, the probability of each state, or None."""
    findings: tuple[str | None, ...] = ()
    """For each belief, the observed state, or None."""
    uncertain: tuple[bool, ...] = ()
    """For each belief, whether there is uncertain evidence on the variable."""
    hidden: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The parents and the children that a picture of some variables leaves out."""

    @property
    def is_evidence(self) -> bool:
        """Whether the variable is observed in any belief."""
        return any(finding is not None for finding in self.findings)

    @property
    def is_uncertain(self) -> bool:
        """Whether there is uncertain evidence, and no other, on the variable."""
        return any(self.uncertain) and not self.is_evidence

    @property
    def is_silent(self) -> bool:
        """Whether no belief has a distribution of the variable."""
        return bool(self.distributions) and not any(self.distributions)

    @property
    def moved(self) -> float | None:
        """The share of probability that differs between two beliefs: total variation, 0..1."""
        if len(self.distributions) != 2 or not all(self.distributions):
            return None
        first, second = (d or () for d in self.distributions)
        return sum(abs(p - q) for p, q in zip(first, second, strict=True)) / 2

    def rows(self, most: int) -> list[Row]:
        """Return a row for each state, or for the most probable and one for the rest."""
        if self.is_silent:
            return []
        states = range(self.variable.n_states)
        shown: Sequence[int] = states
        if len(states) > most:
            peak = [max([d[i] for d in self.distributions if d], default=0.0) for i in states]
            shown = sorted(sorted(states, key=lambda i: (-peak[i], i))[: most - 1])
        rows = [self._row(self.variable.states[i], (i,)) for i in shown]
        if len(shown) < len(states):
            rest = tuple(sorted(set(states) - set(shown)))
            row = self._row("", rest)
            rows.append(Row(f"{len(rest)} more", row.shares, row.observed, is_rest=True))
        return rows

    def _row(self, label: str, positions: Sequence[int]) -> Row:
        shares = tuple(
            None if d is None else sum((d[i] for i in positions), 0.0) for d in self.distributions
        )
        names = {self.variable.states[i] for i in positions}
        return Row(label, shares, tuple(finding in names for finding in self.findings))

    def description(self, titles: Sequence[str] = ()) -> str:
        """Return the complete text of the card, one line for each state, for a tooltip."""
        lines = [self.variable.name]
        for number, finding in enumerate(self.findings):
            where = f" ({titles[number]})" if titles else ""
            if finding is not None:
                lines[0] += f" = {finding}{where}"
            elif self.uncertain[number]:
                lines[0] += f", uncertain evidence{where}"
        for row in self.rows(self.variable.n_states):
            shown = [percent(p) for p in row.shares if p is not None]
            lines.append(f"{row.label}: {' → '.join(shown)}" if shown else row.label)
        if self.moved is not None:
            lines.append(f"moved: {percent(self.moved)}")
        for kind, names in zip(("parents", "children"), self.hidden, strict=True):
            if names:
                lines.append(f"{kind} not shown: {', '.join(names)}")
        return "\n".join(visible(line) for line in lines)


def percent(share: float) -> str:
    """Return a probability as a percentage of one decimal that never hides a possibility.

    >>> percent(0.1234), percent(1.0), percent(1e-9), percent(1 - 1e-9), percent(0.0)
    ('12.3%', '100%', '<0.1%', '>99.9%', '0%')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    if share < 0.0005:
        return "<0.1%"
    if share >= 0.9995:
        return ">99.9%"
    return f"{share:.1%}"
