"""A learned bank in one table, and in words: what `Learned.summary` and ``bnmind learn`` say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bnmind._display import Result, Table, finite, picked, text_of
from bnmind._messages import counted, percent
from bnmind._values import Value
from bnmind.adaptive.beliefs.estimates import start_belief
from bnmind.adaptive.learning.fit.standard_errors import Coefficients, coefficients, model_numbers
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.notes import LearningNote, mastery
from bnmind.adaptive.learning.parameters.curves.block import CurveBlock
from bnmind.adaptive.response_models.base.abilities import ability_values
from bnmind.errors import TooLargeError
from bnmind.fitting.squarem import LearningRecord

if TYPE_CHECKING:
    import pandas

__all__ = ["LearnedSummary", "item_frame"]

_STARTS_SHOWN = 10
_NAMES_SHOWN = 8
_ITEMS_SHOWN = 40
_NONE = "–"
_ALONE = " of each item by itself, as the responses have fewer patterns than there are parameters"


@dataclass(frozen=True, eq=False)
class LearnedSummary(Result, Value):
    """How well a learned bank fits, its items and skills, and what to look at.

    ``print`` and notebooks show all of it, a prompt the fit.
    """

    learned: Learned
    """The learned bank."""
    coefficients: Coefficients | str
    """The parameters of the items with their standard errors, or why there are none."""

    @classmethod
    def of(cls, learned: Learned) -> LearnedSummary:
        """Return the summary of a learned bank.

        Parameters
        ----------
        learned
            The learned bank.
        """
        try:
            return cls(learned, coefficients(learned))
        except TooLargeError as fault:
            return cls(learned, str(fault))

    __str__ = text_of

    def __repr__(self) -> str:
        return "\n".join([*self._opening(), "print(…) shows items, skills and notes too."])

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as a record for JSON."""
        found, record, estimates = self.learned, self.learned.record, curve_estimates(self.learned)
        of_items: dict[str, list[dict[str, Any]]] = {name: [] for name in found.bank.item_names}
        for row in () if isinstance(self.coefficients, str) else self.coefficients.rows:
            one = picked(row, "model", "name", "value", "error")
            of_items[row.item].append(one | ({"note": row.note} if row.note else {}))
        return {
            **picked(found, "log_likelihood", "aic", "bic", parameters="n_parameters"),
            "examinees": len(found.responses),
            "file_notes": list(found.responses.notes),
            "missing": found.responses.n_missing,
            **picked(record, "converged", "steps", "best_start", "seed"),
            "starts": list(record.starts),
            "starts_stopped_early": list(record.stopped_early),
            "skills": [
                {"name": name, "levels": levels.tolist()} for name, levels in mastery(found).items()
            ],
            "items": [
                picked(item, "name", "guess", "slip")
                | ({"estimates": estimates[item.name]} if item.name in estimates else {})
                | {"coefficients": finite(of_items[item.name])}
                for item in found.items
            ],
            **picked(found.options, "monotone", "least_chance"),
            "learning_notes": [
                finite(picked(note, "kind", "names", "details", "text")) for note in found.notes
            ],
        }

    def _opening(self) -> list[str]:
        """Return lines about the data, the fit, and how the search ended."""
        found, record = self.learned, self.learned.record
        return [
            f"{counted(len(found.responses), 'examinee')},"
            f" {counted(len(found.bank.items), 'item')},"
            f" {counted(len(found.bank.skills), 'skill')};"
            f" {counted(found.responses.n_missing, 'response')} missing.",
            f"Log-likelihood {found.log_likelihood:.2f},"
            f" {counted(found.n_parameters, 'parameter')},"
            f" AIC {found.aic:.2f}, BIC {found.bic:.2f}.",
            f"{'Converged' if record.converged else 'Not converged'} after"
            f" {counted(record.steps, 'step')}{_starts_text(record)}.",
        ]

    def _shown(self) -> Iterator[str | Table]:
        yield from self._opening()
        columns, rows, below = item_table(self.learned, self.coefficients)
        yield Table(("item", *columns), rows[:_ITEMS_SHOWN])
        if len(rows) > _ITEMS_SHOWN:
            yield f"  and {len(rows) - _ITEMS_SHOWN} more"
        yield below
        abilities = ability_lines(self.learned)
        yield from abilities
        if not abilities:
            shares = [(name, percent(levels[-1])) for name, levels in mastery(self.learned).items()]
            yield Table(("skill", "highest level"), shares)
        yield "Notes:"
        for note in self.learned.notes:
            yield f"  {shortened(note)}."


def item_frame(found: Learned, known: Coefficients) -> pandas.DataFrame:
    """Return a row for each item, as `Learned.to_frame` describes it."""
    import pandas as pd

    rows: dict[str, dict[str, Any]] = {name: {"item": name} for name in found.bank.item_names}
    curves = {i.name for i in found.bank.items if hasattr(i.gate, "fisher_information")}
    chances = [row for row in known.chances if row.item not in curves]
    for row in (*chances, *known.rows):
        rows[row.item]["model"] = row.model
        rows[row.item] |= {row.name: row.value, f"{row.name}_error": row.error}
    return pd.DataFrame(list(rows.values()))


def item_table(found: Learned, known: Coefficients | str) -> tuple[list[str], list[list[str]], str]:
    """Return the columns and a row of texts for each item, and a line below the table."""
    curves = curve_estimates(found)
    if isinstance(known, str):
        below = f"No standard errors: {known}."
    else:
        below = f"error is the standard error{_ALONE * known.item_by_item}; {_NONE} stands for a"
        below += " parameter that is fixed, at a bound, held by an order, or not identified."
    by_curves = len(curves) == len(found.items)
    values = curves if by_curves else {i.name: picked(i, "guess", "slip") for i in found.items}
    names = dict.fromkeys(name for row in values.values() for name in row)
    errors: dict[tuple[str, str], float] = {}
    if not isinstance(known, str):
        numbers = known.rows if by_curves else known.chances
        errors = {(row.item, row.name): row.error for row in numbers}
    width = 2 if errors else 1
    rows = []
    for item, row in values.items():
        cells = [item]
        for name in names:
            error = errors.get((item, name), math.nan)
            told = _NONE if math.isnan(error) else f"{error:.3f}"
            cells += ((f"{row[name]:.3f}", told) if name in row else ("", ""))[:width]
        rows.append(cells)
    return [title for name in names for title in (name, "error")[:width]], rows, below


def curve_estimates(found: Learned) -> dict[str, dict[str, float]]:
    """Return the learned parameters of items with curves of an ability, by item and name."""
    estimates: dict[str, dict[str, float]] = {}
    for block in found.model.layout.blocks:
        if isinstance(block, CurveBlock):
            known = {"lower", "upper"}.difference(name for _, name in block.parameters)
            for item in block.names:
                parents = found.bank.network.cpd(item).parents
                numbers = model_numbers(found.bank.item(item).gate, parents)
                estimates[item] = {name: value for name, value in numbers if name not in known}
    return {name: estimates[name] for name in found.bank.item_names if name in estimates}


def ability_lines(found: Learned) -> list[str]:
    """Return mean and deviation of each ability, and priors; nothing without curves of one."""
    if not all(hasattr(item.gate, "fisher_information") for item in found.bank.items):
        return []
    belief, lines = start_belief(found.bank), []
    for name in found.bank.skills:
        values, weights = ability_values(found.bank.variable(name)), belief.marginal(name)
        mean = float(weights @ values)
        deviation = math.sqrt(float(weights @ (values - mean) ** 2))
        how = "learned" if name not in found.options.fixed else "fixed"
        mean += 0.0 if abs(mean) >= 5e-4 else -mean
        lines.append(f"{name}: mean {mean:.3f}, standard deviation {deviation:.3f} ({how}).")
    return lines + [text for text in (_priors(found),) if text]


def _priors(found: Learned) -> str:
    """Return the priors of the items as a sentence, or an empty text."""
    priors = found.options.priors
    parts = [
        f"{what} beta({a:g}, {b:g})"
        for what, (a, b) in (("guess", priors.guess), ("slip", priors.slip))
        if (a, b) != (1, 1)
    ]
    parts += [
        f"{what} {kind}({pair[0]:g}, {pair[1]:g})"
        for what, kind, pair in (
            ("slope", "log-normal", priors.slope),
            ("logit of the guess", "normal", priors.logit_guess),
            ("logit of the slip", "normal", priors.logit_slip),
        )
        if pair is not None
    ]
    return f"Priors: {', '.join(parts)}." if parts else ""


def _starts_text(record: LearningRecord) -> str:
    """Return how the starts ended, in words."""
    n = len(record.starts)
    if n == 1:
        return " from one start"
    ends = [
        f"{end:.2f}" + (" (stopped early)" if number in record.stopped_early else "")
        for number, end in enumerate(record.starts[:_STARTS_SHOWN])
    ]
    more = f" and {n - _STARTS_SHOWN} more" if n > _STARTS_SHOWN else ""
    return (
        f", the best of {n} starts (number {record.best_start + 1}); they ended at"
        f" {', '.join(ends)}{more}"
    )


def shortened(note: LearningNote) -> str:
    """Return a note with the first of its names."""
    n = len(note.names)
    first = replace(note, names=note.names[:_NAMES_SHOWN], details=note.details[:_NAMES_SHOWN])
    return f"{first} and {n - _NAMES_SHOWN} more" if n > _NAMES_SHOWN else str(first)
