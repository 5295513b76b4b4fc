r"""What a user should know of a learned bank: notes, a summary, and how well it fits.

Notes point at items and skills that deserve a look.

================  ===========================================================================
kind              meaning
================  ===========================================================================
``order``         whether more skill may lower the chance of success
``miskeyed``      items whose key looks wrong: able examinees succeed less often than others; and
                  what this does to the other items
``constant``      items with the same response of every examinee
``uninformative`` items whose responses tell almost nothing about the skills
``pooled``        items whose chances the order makes equal, against the responses
``boundary``      parameters at the least chance, or at another end of their range
``bounded``       parameters at a bound of `LearningOptions.bounds`
``independent``   skills that are taken as independent of each other
``unneeded``      skills about which no item tells anything
``one-sided``     skills that nearly everybody has, or lacks
``alike``         profiles that no item tells apart
``convergence``   the search ended before it converged
================  ===========================================================================

The item-rest correlation is that of an item's responses with the mean share of points in the other
items that the examinee answered (M. Henrysson, "Correction of item-total correlations in item
analysis", Psychometrika 1963).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, parts_of, picked, text_of
from bnmind._messages import counted, percent
from bnmind._values import Value
from bnmind.adaptive.beliefs import MISSING
from bnmind.adaptive.estimates import has_ability, start_belief
from bnmind.adaptive.formulas import ability_values
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import ParameterCertainty
from bnmind.adaptive.items.text_tables import names_shown
from bnmind.adaptive.learning.blocks import Bounds
from bnmind.adaptive.learning.comparison import QValidation, validate_qmatrix
from bnmind.adaptive.learning.em import TableExpectation
from bnmind.adaptive.learning.groups import (
    FunctioningOptions,
    ItemFunctioning,
    item_functioning,
    learn_groups,
)
from bnmind.adaptive.learning.irt import has_curves
from bnmind.adaptive.learning.item_tests import (
    Coefficients,
    ReducedModel,
    coefficients,
    expected_counts,
    model_numbers,
    reduced_models,
)
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.model_fit import (
    ItemFit,
    LimitedInformation,
    PairFit,
    correlations,
    item_fit,
    limited_information,
    pair_fit,
)
from bnmind.adaptive.models import GradedResponse, Logistic, PartialCredit
from bnmind.adaptive.responses import Responses
from bnmind.adaptive.skill_models import Gdina
from bnmind.errors import BnmindError, TooLargeError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas

_AT = 1e-7
"""A parameter closer to a bound than this is at it."""

_EDGE = 0.001
"""Chances so close to 0 or 1 are at the least chance rather than pooled."""

_FLAT = 0.02
"""An item is uninformative if no chance differs by more between configurations."""

_RARE = 0.005
"""A skill is one-sided if so few have it, or lack it."""


@dataclass(frozen=True)
class LearningNote(Value):
    """A note on a learned bank."""

    kind: str
    """The kind; see `bnmind.adaptive.learning.judgment`."""
    names: tuple[str, ...]
    """The items or skills, where the note is about some of them."""
    text: str
    """A sentence; the names follow it, if there are any."""
    details: tuple[str, ...] = ()
    """For each name a parameter or a figure."""

    def __str__(self) -> str:
        pairs = zip_longest(self.names, self.details, fillvalue="")
        listed = ", ".join(f"{name} ({more})" if more else name for name, more in pairs)
        return f"{self.text}: {listed}" if listed else self.text


_Note: TypeAlias = tuple[str, str, Mapping[str, str] | None]
"""The kind, the sentence, and the names with details; no note if there are none of these."""


def learning_notes(learned: Learned) -> tuple[LearningNote, ...]:
    """Return the notes on a learned bank, the most important first."""
    notes = []
    for kind, text, names in _notes(learned):
        if names or names is None:
            details = tuple((names or {}).values())
            notes.append(
                LearningNote(kind, (*(names or ()),), text, details if any(details) else ())
            )
    return tuple(notes)


def _notes(learned: Learned) -> Iterator[_Note]:
    bank, record = learned.bank, learned.record
    if not record.converged:
        text = f"The search had not converged after {record.steps} steps; allow more, or try"
        yield "convergence", f"{text} other starts", None
    slopes = _slopes(bank)
    if slopes and min(slopes.values()) > 0:
        text = "More ability never lowers the chance of success: the curves of the items rise"
    elif slopes:
        text = "More ability lowers the chance of success in some items: their slopes are negative"
        text += " (--monotone keeps slopes positive)"
    elif learned.options.monotone:
        text = "More skill never lowers the chance of success: the order was required"
    else:
        text = "More skill may lower the chance of success: no order was required"
        text += " (--monotone requires it)"
    yield "order", text, None
    # The chances at the ends of a curve are those of very few examinees.
    groups = {} if has_ability(bank) else _groups(learned)
    spreads = {name: np.ptp(bank.channel(name), axis=0).max() for name in bank.item_names}
    flat = dict.fromkeys((name for name, spread in spreads.items() if spread < _FLAT), "")
    columns = zip(bank.item_names, learned.responses.codes.T, strict=True)
    constant = {name: "" for name, codes in columns if len({*codes.tolist()} - {MISSING}) == 1}
    falls = _falling(learned, groups, slopes)
    text = (
        f"Able examinees succeed less often than others ({_what_wrong_keys_do(learned, slopes)});"
    )
    text += f" check the key{'' if slopes else ' or the Q-matrix'}"
    yield "miskeyed", text, {name: falls[name] for name in falls if name not in constant}
    yield "constant", "Everybody gave the same response", constant
    text = "The responses tell almost nothing about the skills"
    yield "uninformative", text, {name: "" for name in flat if name not in constant}
    yield from _of_parameters(learned, groups)
    if not has_ability(bank):
        yield from _of_skills(learned, flat)


def _slopes(bank: ItemBank) -> dict[str, float]:
    """Return the slope of each item; nothing unless all items have one."""
    kinds = Logistic | GradedResponse | PartialCredit
    curves = {item.name: item.gate for item in bank.items}
    found = {name: curve.slope for name, curve in curves.items() if isinstance(curve, kinds)}
    return found if len(found) == len(curves) else {}


def _what_wrong_keys_do(learned: Learned, slopes: Mapping[str, float]) -> str:
    """Return what items with a wrong key do to the others."""
    if len(set(slopes.values())) == 1:
        return "all slopes are equal, so such items make the ability look narrower for all items"
    options = learned.options
    free = not options.monotone
    if slopes:
        free &= options.priors.slope is None
        free &= any(options.bounds_of(name).slope[0] < 0 for name in slopes)
    count = "in reverse" if free else "for little or nothing"
    return f"such items count {count}, and the others stay as they are"


class _Groups(NamedTuple):
    """The shares of points in an item by groups of configurations, as if not constrained."""

    observed: Floats
    """Those that the responses make likely; for groups without examinees, those learned."""
    learned: Floats
    """Those of the learned bank."""
    sizes: Floats
    """The expected numbers of examinees."""
    ends: list[int]
    """The groups of the lowest and of the highest configuration."""


def _groups(learned: Learned) -> dict[str, _Groups]:
    layout, expected = learned.model.layout, expected_counts(learned)
    cells = layout.parts(layout.response_parameters(learned.parameters.items))
    found = {}
    for block, part in zip(layout.blocks, cells, strict=True):
        for name, groups, chances in zip(block.names, block.groups, part, strict=True):
            points = np.linspace(0, 1, chances.shape[1])
            own, sizes = chances @ points, expected[name].sum(axis=1)
            seen = np.divide(expected[name] @ points, sizes, out=own.copy(), where=sizes > 1e-6)
            found[name] = _Groups(seen, own, sizes, groups[[0, -1]].tolist())
    return found


def _falling(
    learned: Learned, groups: Mapping[str, _Groups], slopes: Mapping[str, float]
) -> dict[str, str]:
    """Return the items in which the ablest do worse than the least able, and how."""
    with_rest, n = item_rest_correlations(learned.responses), learned.responses.codes != MISSING
    falls = {}
    for item, correlation, least in zip(
        learned.bank.items, with_rest.tolist(), -1 / np.sqrt(n.sum(axis=0)), strict=True
    ):
        reasons, sure = [], item.certainty
        if item.name in groups:
            found = groups[item.name]
            (low, high), sizes = found.observed[found.ends], found.sizes[found.ends]
            mean = (low + high) / 2
            error = np.sqrt(mean * (1 - mean) * (1 / np.maximum(sizes, 1e-6)).sum())
            if low - high > max(_FLAT, error):
                reasons.append(f"{low:.2f} right without the skills, {high:.2f} with them")
        if correlation < least:  # one standard error below zero
            reasons.append(f"item-rest correlation {correlation:.2f}")
        slope = slopes.get(item.name, 0.0)
        if isinstance(sure, ParameterCertainty) and slope < -float(sure.errors[0]):
            reasons.append(f"slope {slope:.2f}")
        if reasons:
            falls[item.name] = ", ".join(reasons)
    return falls


def item_rest_correlations(responses: Responses) -> Floats:
    """Return the correlation of each item with the rest of the test, ``(items,)``.

    The rest is the mean share of points in the other items that an examinee answered. NaN for
    items with equal responses of all examinees.
    """
    given = responses.codes != MISSING
    points = np.where(given, responses.codes / np.maximum(responses.codes.max(axis=0), 1), 0.0)
    others = given.sum(axis=1, keepdims=True) - 1
    used = given & (others > 0)
    own = np.where(used, points, 0.0)
    rest = np.where(used, points.sum(axis=1, keepdims=True) - points, 0.0) / np.maximum(others, 1)
    with np.errstate(invalid="ignore"):
        moments = [
            product.sum(axis=0) / used.sum(axis=0)
            for product in (own, rest, own**2, rest**2, own * rest)
        ]
    return correlations(*moments)


def _of_parameters(learned: Learned, groups: Mapping[str, _Groups]) -> Iterator[_Note]:
    options, bank, least = learned.options, learned.bank, learned.model.least
    at: dict[str, dict[str, list[str]]] = {"bounded": {}, "boundary": {}}
    for block, values in zip(learned.model.layout.blocks, learned.parameters.items, strict=True):
        for (item, what), value, (low, high) in zip(
            block.parameters, values.tolist(), block.limits.tolist(), strict=True
        ):
            if low < high and not low + _AT < value < high - _AT:
                end = low if value <= low + _AT else high
                kind = "bounded" if _is_asked(options.bounds_of(item), end) else "boundary"
                at[kind].setdefault(item, []).append(what)
    for name in bank.item_names if least else ():
        if bank.channel(name).min() < least * 1.001 and name not in options.fixed:
            at["boundary"].setdefault(name, ["a response in some configuration"])
    pooled = {}
    for name, found in groups.items() if options.monotone else ():
        inner = (found.learned > _EDGE) & (found.learned < 1 - _EDGE) & (found.sizes > 1e-6)
        own, seen = (np.abs(x[inner][:, None] - x[inner]) for x in (found.learned, found.observed))
        if np.any((own < _AT) & (seen > _AT)):
            pooled[name] = ""
    yield "pooled", "The order makes chances equal that differ in the responses", pooled
    texts = {
        "bounded": "Parameters at the bounds asked for",
        "boundary": "Parameters at the end of their range"
        + (f" ({least:g} from 0 or 1)" if least else ""),
    }
    for kind, items in at.items():
        yield kind, texts[kind], {item: "; ".join(whats) for item, whats in items.items()}


def _is_asked(bounds: Bounds, end: float) -> bool:
    """Return whether an end of a parameter's range is one of the bounds asked for."""
    asked = [x for x in (*bounds.guess, *bounds.slip) if 0 < x < 1]
    asked += [x for x in bounds.slope if math.isfinite(x)]
    return any(abs(x - end) < _AT or abs(1 - x - end) < _AT for x in asked)


def _of_skills(learned: Learned, flat: Mapping[str, str]) -> Iterator[_Note]:
    bank, model = learned.bank, learned.model
    if len(bank.skills) > 1 and all(len(scope) == 1 for scope in model.skills.scopes):
        yield "independent", "The skills are taken as independent", dict.fromkeys(bank.skills, "")
    informed = {skill for name in bank.item_names if name not in flat for skill in bank.cause(name)}
    unneeded = {skill: "" for skill in bank.skills if skill not in informed}
    yield "unneeded", "No item tells anything about the skill", unneeded
    rare = {
        skill: f"{levels[-1]:.1%} have the highest level"
        for skill, levels in mastery(learned).items()
        if levels[-1] < _RARE or levels[0] < _RARE
    }
    yield "one-sided", "Nearly everybody has the skill, or lacks it", rare
    expectation = model.expectation(learned.responses, learned.options)
    if isinstance(expectation, TableExpectation):
        possible = expectation.classes[model.skills.prior(learned.parameters.skills) > 0]
        n, n_classes = len(possible), len(np.unique(possible))
        if n_classes < n:
            text = (
                f"The items tell {n_classes} classes of the {n} profiles apart; within a class the"
                " distribution stays that of the start; if one skill needs another, learn them as a"
                " hierarchy"
            )
            yield "alike", text, None


def mastery(learned: Learned) -> dict[str, Floats]:
    """Return how probable each level of each skill is."""
    belief = start_belief(learned.bank)
    return {name: belief.marginal(name) for name in learned.bank.skills}


# --- Summaries ------------------------------------------------------------------------------------

_STARTS_SHOWN = 10
_NAMES_SHOWN = 8
_ITEMS_SHOWN = 40
_ROWS_SHOWN = 60
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
        found, record, estimates = self.learned, self.learned.record, _curve_estimates(self.learned)
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
            _likelihood_line(found),
            f"{'Converged' if record.converged else 'Not converged'} after"
            f" {counted(record.steps, 'step')}{self._starts()}.",
        ]

    def _starts(self) -> str:
        """Return how the starts ended, in words."""
        record = self.learned.record
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

    def _shown(self) -> Iterator[str | Table]:
        yield from self._opening()
        yield from self._shown_items()
        abilities = _ability_lines(self.learned)
        yield from abilities
        if not abilities:
            shares = [(name, percent(levels[-1])) for name, levels in mastery(self.learned).items()]
            yield Table(("skill", "highest level"), shares)
        yield "Notes:"
        for note in self.learned.notes:
            n, most = len(note.names), _NAMES_SHOWN
            first = replace(note, names=note.names[:most], details=note.details[:most])
            yield f"  {first} and {n - most} more." if n > most else f"  {first}."

    def _shown_items(self) -> Iterator[str | Table]:
        """Yield the table of the items, and a line about their standard errors."""
        known, curves, items = self.coefficients, _curve_estimates(self.learned), self.learned.items
        by_curves = len(curves) == len(items)
        values = curves if by_curves else {i.name: picked(i, "guess", "slip") for i in items}
        errors: dict[tuple[str, str], float] = {}
        if not isinstance(known, str):
            numbers = known.rows if by_curves else known.chances
            errors = {(row.item, row.name): row.error for row in numbers}
        names = dict.fromkeys(name for row in values.values() for name in row)
        rows = []
        for item, row in values.items():
            rows.append([item])
            for name in names:
                value, error = row.get(name), errors.get((item, name), math.nan)
                told = _NONE if math.isnan(error) else f"{error:.3f}"
                cells = ("", "") if value is None else (f"{value:.3f}", told)
                rows[-1] += cells[: 2 if errors else 1]
        heads = [head for name in names for head in ((name, "error") if errors else (name,))]
        yield Table(["item", *heads], rows[:_ITEMS_SHOWN])
        yield from _others(rows, _ITEMS_SHOWN)
        if isinstance(known, str):
            yield f"No standard errors: {known}."
            return
        yield (
            f"error is the standard error{_ALONE * known.item_by_item}; {_NONE} stands for a"
            " parameter that is fixed, at a bound, held by an order, or not identified."
        )


def _likelihood_line(found: Learned) -> str:
    return (
        f"Log-likelihood {found.log_likelihood:.2f}, {counted(found.n_parameters, 'parameter')},"
        f" AIC {found.aic:.2f}, BIC {found.bic:.2f}."
    )


def _others(rows: Sequence[object], most: int) -> Iterator[str]:
    """Yield the number of the rows that are not shown, if there are any."""
    if len(rows) > most:
        yield f"  and {len(rows) - most} more"


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


def _curve_estimates(found: Learned) -> dict[str, dict[str, float]]:
    """Return the parameters of items with curves of an ability, by item and name.

    Asymptotes are there if they are learned.
    """
    learned = {one for block in found.model.layout.blocks for one in block.parameters}
    return {
        item.name: {
            name: value
            for name, value in model_numbers(item.gate, found.bank.network.cpd(item.name).parents)
            if name not in ("lower", "upper") or (item.name, name) in learned
        }
        for item in found.bank.items
        if hasattr(item.gate, "fisher_information")
    }


def _ability_lines(found: Learned) -> list[str]:
    """Return mean and deviation of each ability, and priors; nothing without curves of one."""
    if not all(hasattr(item.gate, "fisher_information") for item in found.bank.items):
        return []
    belief, lines = start_belief(found.bank), []
    for name in found.bank.skills:
        values, weights = ability_values(found.bank.variable(name)), belief.marginal(name)
        mean = float(weights @ values)
        deviation = math.sqrt(float(weights @ (values - mean) ** 2))
        how = "learned" if name not in found.options.fixed else "fixed"
        lines.append(f"{name}: mean {mean:z.3f}, standard deviation {deviation:.3f} ({how}).")
    priors = found.options.priors
    parts = [
        f"{what} {kind}({pair[0]:g}, {pair[1]:g})"
        for what, kind, pair in (
            ("guess", "beta", priors.guess),
            ("slip", "beta", priors.slip),
            ("slope", "log-normal", priors.slope),
        )
        if pair is not None and (kind, pair) != ("beta", (1, 1))
    ]
    return [*lines, f"Priors: {', '.join(parts)}."] if parts else lines


# --- Judgments ------------------------------------------------------------------------------------

_PAIRS_SHOWN = 5
_TESTED = ("item", "statistic", "degrees", "differences", "anchors")
_NEEDED = {"ratios": "models", "abilities": "functioning"}
"""Parts that are left out if another one cannot be computed."""

_Report: TypeAlias = Callable[[int, int | None], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgment(Result, Value):
    """How well a learned bank fits, and what to change. Created by `judge`.

    A part that cannot be computed, or was not asked for, is empty.
    """

    learned: Learned
    """The learned bank."""
    fit: LimitedInformation | None = None
    """The fit of the whole model."""
    pairs: tuple[PairFit, ...] = ()
    """The fit of pairs of items, the worst first."""
    items: tuple[ItemFit, ...] = ()
    """The fit of each item."""
    proposals: QValidation | None = None
    """The skills that the items seem to need."""
    models: tuple[ReducedModel, ...] = ()
    """Wald tests of simpler models of the items."""
    ratios: tuple[ReducedModel, ...] = ()
    """Likelihood-ratio tests of the same models."""
    functioning: tuple[ItemFunctioning, ...] = ()
    """Tests of the items in the groups of the examinees."""
    abilities: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The mean and the standard deviation of the ability in each group; empty for skills."""
    groups: FunctioningOptions | None = None
    """How the items were tested in the groups."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a part could not be computed, by its name."""
    interrupted: bool = False
    """Whether Ctrl-C ended the computations before the last one."""

    def to_dict(self) -> dict[str, Any]:
        """Return all results as a record for JSON."""
        fit, proposals = self.fit, self.proposals
        nothing: dict[str, Any] = {"cutoff": None, "qmatrix": []}
        pair = {"expected": "expected_correlation", "z": "correlation_z", "p": "correlation_p"}
        item = {"name": "item", "p": "p_value", "complete": "n_complete"}
        record = {
            **picked(self.learned, "log_likelihood", "aic", "bic", parameters="n_parameters"),
            "fit": {"reason": self.reasons.get("fit")} if fit is None else fit.to_dict(),
            "pairs": [picked(one, "items", "correlation", **pair) for one in self.pairs],
            "items": [picked(one, "rmsd", "s_x2", **item) for one in self.items],
            **(nothing if proposals is None else proposals.to_dict()),
            "models": {one.item: one.chosen for one in self.models},
            "model_tests": [one.to_dict() for one in (*self.models, *self.ratios)],
            "groups": [picked(one, *_TESTED, p="p_value") for one in self.functioning],
            "abilities": {
                name: {"mean": mean, "deviation": deviation}
                for name, (mean, deviation) in self.abilities.items()
            },
        }
        return dict(finite(record))

    def _shown(self) -> Iterator[str | Table]:
        n, n_items = len(self.learned.responses), len(self.learned.bank.items)
        yield (
            f"{counted(n, 'examinee')}, {counted(n_items, 'item')}."
            f" {_likelihood_line(self.learned)}"
        )
        yield from self._why_not(fit="M2")
        yield from () if self.fit is None else parts_of(self.fit)
        if self.pairs:
            columns = {
                "worst pairs": "{0.items[0]}, {0.items[1]}",
                "correlation": "{.correlation:z.3f}",
                "expected": "{.expected_correlation:z.3f}",
                "z": "{.correlation_z:z.2f}",
                "corrected p": "{.correlation_p:.3g}",
            }
            yield Table.of(self.pairs[:_PAIRS_SHOWN], columns)
        columns = {"item": "{.item}", "RMSD": "{.rmsd:.3f}"}
        yield from _first(self.items, columns | {"p of S-X2, uncorrected": "{.p_value:.3g}"})
        complete = max((item.n_complete for item in self.items), default=n)
        if not complete:
            yield "S-X2 needs examinees who answered all items; there are none."
        elif any(item.degrees for item in self.items) and complete < n:
            yield f"S-X2 is from the {complete:,} of {n:,} examinees who answered all items."
        yield from self._shown_models()
        yield from () if self.proposals is None else parts_of(self.proposals)
        yield from self._why_not(
            proposals="proposals for the Q-matrix",
            models="tests of simpler models",
            functioning="tests of groups",
        )
        if self.functioning:
            yield from self._shown_groups()

    def _why_not(self, **parts: str) -> Iterator[str]:
        """Yield why some parts are missing, which are given in words."""
        for part, words in parts.items():
            if part in self.reasons:
                yield f"No {words}: {self.reasons[part]}."

    def _shown_models(self) -> Iterator[str | Table]:
        for found in filter(None, (self.models, self.ratios)):
            yield (
                f"Simpler models, by the {found[0].method} test: p, corrected for the number of"
                " items (Holm), and the model that is chosen by the p of each item."
            )
            models = [test.model for test in found[0].tests]
            columns = {model: f"{{0[{model}].corrected_p:.3g}}" for model in models}
            yield from _first(found, {"item": "{.item}", **columns, "chosen": "{.chosen}"})
        both = zip(self.models, self.ratios, strict=False)
        names = [one.item for one, other in both if one.chosen != other.chosen]
        if names:
            yield (
                f"The two tests choose different models for {names_shown(names)}. Trust the Wald"
                " test: the two-step test rejects too often where the items leave the skills"
                " unclear."
            )

    def _shown_groups(self) -> Iterator[str | Table]:
        testing, found = self.groups or FunctioningOptions(), self.functioning
        n_anchors = min(len(one.anchors) for one in found)
        yield (
            "Items in the groups, by likelihood-ratio tests with at least"
            f" {counted(n_anchors, 'anchor')}: p, corrected for the number of items (Holm)."
        )
        rows = [
            (one, ", ".join(f"{value:+.3f}" for value in one.differences))
            for one in sorted(found, key=lambda one: one.p_value)
        ]
        columns = {
            "item": "{0[0].item}",
            "gain": "{0[0].statistic:.2f}",
            "degrees": "{0[0].degrees}",
            "corrected p": "{0[0].p_value:.3g}",
            "difference of the score": "{0[1]}",
        }
        yield from _first(rows, columns)
        first, *others = sorted(set(self.learned.responses.groups))
        yield (
            f"Difference: {', '.join(others)} minus {first}, of the expected score of examinees"
            f" with the same {'ability' if self.abilities else 'skills'}."
        )
        flagged = sum(one.p_value < testing.alpha for one in found)
        if flagged > 1 and testing.anchors is None and not testing.purify:
            yield (
                f"{flagged} items differ, and each was an anchor for the others, so some may only"
                " seem to. purify=True removes them from the anchors and tests again."
            )
        if self.abilities:
            moments = {"mean ability": "{0[1][0]:z.3f}", "standard deviation": "{0[1][1]:.3f}"}
            yield Table.of(self.abilities.items(), {"group": "{0[0]}", **moments})


def _first(values: Sequence[object], columns: Mapping[str, str]) -> Iterator[str | Table]:
    """Yield the first rows of a table, and the number of the others."""
    if values:
        yield Table.of(values[:_ROWS_SHOWN], columns)
    yield from _others(values, _ROWS_SHOWN)


@checked
def judge(
    learned: Learned,
    *,
    cutoff: float | None = 0.95,
    alpha: float = 0.05,
    groups: FunctioningOptions | None = None,
    runner: Callable[[str, Callable[[Any], Any]], Any] | None = None,
) -> Judgment:
    """Return how well a learned bank fits: the model, pairs of items, items, and the Q-matrix.

    If all items have G-DINA models, which assume least about how skills act together, other skills
    of the items are proposed, and simpler models of them tested. After Ctrl-C, the judgment has
    the parts computed so far.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.
    cutoff
        As for `validate_qmatrix`.
    alpha
        As for `reduced_models`.
    groups
        How items are tested in the groups of the responses; by default they are not.
    runner
        Called for each part with a few words about it and a function, whose result it returns. The
        function takes another one, to report progress. By default it is simply called.

    Examples
    --------
    >>> from bnmind.adaptive import Gdina, ItemBank, Responses, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Responses.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 1000, seed=1).codes
    >>> found = judge(learn(seen, q, gate=Gdina))
    >>> [(item.item, item.chosen) for item in found.models]
    [('item_3', 'dina'), ('item_6', 'dina')]
    """
    data, bank, options = learned.responses, learned.bank, learned.options
    tasks: dict[str, tuple[str, Callable[[_Report], Any]]] = {
        "fit": ("testing the fit", lambda _: limited_information(learned)),
        "pairs": ("comparing pairs of items", lambda _: pair_fit(learned)),
        "items": ("comparing items", lambda _: item_fit(learned)),
    }
    if all(isinstance(item.gate, Gdina) for item in bank.items):

        def ratios(report: _Report) -> tuple[ReducedModel, ...]:
            return reduced_models(learned, alpha=alpha, by_ratio=True, progress=report)

        tasks |= {
            "proposals": (
                "checking the Q-matrix",
                lambda _: validate_qmatrix(learned, cutoff=cutoff),
            ),
            "models": ("comparing models", lambda _: reduced_models(learned, alpha=alpha)),
            "ratios": ("testing models", ratios),
        }
    if groups is not None:

        def functioning(report: _Report) -> tuple[ItemFunctioning, ...]:
            return item_functioning(data, bank, testing=groups, options=options, progress=report)

        def abilities(report: _Report) -> Mapping[str, tuple[float, float]]:
            return learn_groups(data, bank, options=options, progress=report).abilities

        tasks["functioning"] = "testing items", functioning
        if has_curves(bank):
            tasks["abilities"] = "learning groups", abilities
    found: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    interrupted = False
    for name, (what, compute) in tasks.items():
        if _NEEDED.get(name) in reasons:
            continue
        try:
            if interrupted:
                raise KeyboardInterrupt
            found[name] = runner(what, compute) if runner else compute(lambda done, total: None)
        except BnmindError as fault:
            reasons[name] = str(fault)
        except KeyboardInterrupt:
            interrupted, reasons[name] = True, "interrupted"
    return Judgment(
        learned=learned, **found, groups=groups, reasons=reasons, interrupted=interrupted
    )
