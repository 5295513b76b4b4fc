"""A learned bank in one table, and in words: what `Learned.summary` and ``bnmind learn`` say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bnmind._display import text_html
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs.start import start_belief
from bnmind.adaptive.learning.fit.coefficients import Coefficients, coefficients, model_numbers
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.notes import LearningNote, mastery
from bnmind.adaptive.learning.parameters.curves.block import CurveBlock
from bnmind.adaptive.response_models.base.abilities import ability_values
from bnmind.errors import TooLargeError
from bnmind.fitting.record import LearningRecord
from bnmind.questions.tables import table_text

if TYPE_CHECKING:
    import pandas

__all__ = [
    "LearnedSummary",
    "ability_lines",
    "curve_estimates",
    "item_frame",
    "item_table",
    "opening",
    "shortened",
    "summary_of",
]

_STARTS_SHOWN = 10
_NAMES_SHOWN = 8
_NONE = "–"
_ALONE = " of each item by itself, as the responses have fewer patterns than there are parameters"


@dataclass(frozen=True)
class LearnedSummary(Value):
    """How well a learned bank fits, its items and skills, and what to look at.

    ``print`` and notebooks show all of it, a prompt the fit.
    """

    text: str
    """The summary in lines."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        fit = self.text.partition("\n\n")[0]
        return f"{fit}\nprint(…) shows items, skills and notes too."

    def _repr_html_(self) -> str:
        """Return the lines as HTML, which notebooks display."""
        return text_html(self.text)


def summary_of(found: Learned) -> LearnedSummary:
    """Return the summary of a learned bank."""
    known: Coefficients | str
    try:
        known = coefficients(found)
    except TooLargeError as fault:
        known = str(fault)
    columns, rows, below = item_table(found, known)
    items = table_text("\n".join([*opening(found), ""]), ["item", *columns], rows)
    skills = "\n".join(ability_lines(found))
    if not skills:
        shares = [[name, f"{levels[-1]:.1%}"] for name, levels in mastery(found).items()]
        skills = table_text("", ["skill", "highest level"], shares)
    notes = [f"{shortened(note)}." for note in found.notes]
    return LearnedSummary("\n".join([items, below, skills, "", *notes]))


def opening(found: Learned) -> list[str]:
    """Return lines about the data, the fit, and how the search ended."""
    record = found.record
    return [
        f"{counted(len(found.responses), 'examinee')}, {counted(len(found.bank.items), 'item')},"
        f" {counted(len(found.bank.skills), 'skill')};"
        f" {counted(found.responses.n_missing, 'response')} missing.",
        f"Log-likelihood {found.log_likelihood:.2f}, {counted(found.n_parameters, 'parameter')},"
        f" AIC {found.aic:.2f}, BIC {found.bic:.2f}.",
        f"{'Converged' if record.converged else 'Not converged'} after"
        f" {counted(record.steps, 'step')}{_starts_text(record)}.",
    ]


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
    if len(curves) < len(found.items):
        names = ["guess", "slip"]
        values = {item.name: {"guess": item.guess, "slip": item.slip} for item in found.items}
    else:
        names = list(dict.fromkeys(name for row in curves.values() for name in row))
        values = curves
    errors: dict[tuple[str, str], float] = {}
    if not isinstance(known, str):
        rows = known.chances if values is not curves else known.rows
        errors = {(row.item, row.name): row.error for row in rows}
    columns = [title for name in names for title in (name, *["error"] * bool(errors))]
    texts = []
    for item, row in values.items():
        cells = [item]
        for name in names:
            cells.append(f"{row[name]:.3f}" if name in row else "")
            if errors:
                error = errors.get((item, name), math.nan)
                cells.append("" if name not in row else _text(error))
        texts.append(cells)
    return columns, texts, below


def _text(error: float) -> str:
    return _NONE if math.isnan(error) else f"{error:.3f}"


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
