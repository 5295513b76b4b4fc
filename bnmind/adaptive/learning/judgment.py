r"""Judgments, summaries and notes of a learned bank.

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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, parts_of, picked, text_of
from bnmind._messages import counted, percent
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.beliefs.estimates import has_ability, start_belief
from bnmind.adaptive.formulas import ability_values
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import ParameterCertainty
from bnmind.adaptive.items.text_tables import names_shown
from bnmind.adaptive.learning.blocks import FixedBlock
from bnmind.adaptive.learning.em import TableExpectation
from bnmind.adaptive.learning.groups import (
    FunctioningOptions,
    ItemFunctioning,
    item_functioning,
    learn_groups,
)
from bnmind.adaptive.learning.irt import has_curves
from bnmind.adaptive.learning.item_tests import (
    QValidation,
    ReducedModel,
    expected_counts,
    predicted_cutoff,
    reduced_models,
    reduced_models_by_ratio,
    validate_qmatrix,
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
from bnmind.adaptive.learning.options import Bounds
from bnmind.adaptive.learning.standard_errors import Coefficients, coefficients, model_numbers
from bnmind.adaptive.models import GradedResponse, Logistic, PartialCredit
from bnmind.adaptive.responses.responses import Responses
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
        if not self.names:
            return self.text
        details = self.details or ("",) * len(self.names)
        listed = [
            f"{name} ({more})" if more else name
            for name, more in zip(self.names, details, strict=True)
        ]
        return f"{self.text}: {', '.join(listed)}"


def _detailed(kind: str, text: str, details: Mapping[str, str]) -> LearningNote:
    return LearningNote(kind, tuple(details), text, tuple(details.values()))


def learning_notes(learned: Learned) -> tuple[LearningNote, ...]:
    """Return the notes on a learned bank, the most important first."""
    # The chances at the ends of a curve are those of very few examinees.
    found = {} if has_ability(learned.bank) else _groups(learned)
    notes = [
        *_of_convergence(learned),
        *_of_order(learned),
        *_of_items(learned, found),
        *_of_parameters(learned, found),
        *_of_skills(learned),
    ]
    return tuple(notes)


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


def _of_convergence(learned: Learned) -> Iterator[LearningNote]:
    if not learned.record.converged:
        yield LearningNote(
            "convergence",
            (),
            f"The search had not converged after {learned.record.steps} steps; allow more, or try"
            " other starts",
        )


def _of_order(learned: Learned) -> Iterator[LearningNote]:
    slopes = _slopes(learned.bank)
    if slopes and all(slope > 0 for slope in slopes.values()):
        text = "More ability never lowers the chance of success: the curves of the items rise"
    elif slopes:
        text = "More ability lowers the chance of success in some items: their slopes are negative"
        text += " (--monotone keeps slopes positive)"
    elif learned.options.monotone:
        text = "More skill never lowers the chance of success: the order was required"
    else:
        text = "More skill may lower the chance of success: no order was required"
        text += " (--monotone requires it)"
    yield LearningNote("order", (), text)


def _slopes(bank: ItemBank) -> dict[str, float]:
    """Return the slope of each item; nothing unless all items have one."""
    kinds = Logistic | GradedResponse | PartialCredit
    curves = [item.gate for item in bank.items if isinstance(item.gate, kinds)]
    if len(curves) < len(bank.items):
        return {}
    return {name: curve.slope for name, curve in zip(bank.item_names, curves, strict=True)}


def _what_wrong_keys_do(learned: Learned) -> str:
    """Return what items with a wrong key do to the others."""
    slopes = _slopes(learned.bank)
    if slopes and len(set(slopes.values())) == 1:
        return "all slopes are equal, so such items make the ability look narrower for all items"
    free = not learned.options.monotone
    if slopes:
        limits = [
            low
            for block in learned.model.layout.blocks
            for (_, what), (low, _) in zip(block.parameters, block.limits, strict=True)
            if what == "slope"
        ]
        free = min(limits, default=-1.0) < 0
    if free:
        return "such items count in reverse, and the others stay as they are"
    return "such items count for little or nothing, and the others stay as they are"


def _of_items(learned: Learned, found: dict[str, _Groups]) -> Iterator[LearningNote]:
    bank, data = learned.bank, learned.responses
    with_rest = item_rest_correlations(data)
    falls = _falling(found)
    miskeyed: dict[str, str] = {}
    constant, flat = [], []
    slopes = _slopes(bank)
    for number, name in enumerate(bank.item_names):
        given = data.codes[data.codes[:, number] != MISSING, number]
        if given.min() == given.max():
            constant.append(name)
            continue
        reasons = []
        if name in falls:
            reasons.append(falls[name])
        # One standard error below zero.
        if with_rest[number] < -1 / np.sqrt(len(given)):
            reasons.append(f"item-rest correlation {with_rest[number]:.2f}")
        sure = bank.item(name).certainty
        slope = slopes.get(name, 0.0)
        if isinstance(sure, ParameterCertainty) and slope < -float(sure.errors[0]):
            reasons.append(f"slope {slope:.2f}")
        if reasons:
            miskeyed[name] = ", ".join(reasons)
        if np.ptp(bank.channel(name), axis=0).max() < _FLAT:
            flat.append(name)
    if miskeyed:
        text = f"Able examinees succeed less often than others ({_what_wrong_keys_do(learned)});"
        text += f" check the key{'' if slopes else ' or the Q-matrix'}"
        yield _detailed("miskeyed", text, miskeyed)
    if constant:
        yield LearningNote("constant", tuple(constant), "Everybody gave the same response")
    if flat:
        yield LearningNote(
            "uninformative", tuple(flat), "The responses tell almost nothing about the skills"
        )


def _falling(found: dict[str, _Groups]) -> dict[str, str]:
    """Return the items in which the ablest do worse than the least able, and how."""
    falls: dict[str, str] = {}
    for name, groups in found.items():
        (low, high), sizes = groups.observed[groups.ends], groups.sizes[groups.ends]
        mean = (low + high) / 2
        error = math.sqrt(mean * (1 - mean) * float((1 / np.maximum(sizes, 1e-6)).sum()))
        if low - high > max(_FLAT, error):
            falls[name] = f"{low:.2f} right without the skills, {high:.2f} with them"
    return falls


class _Groups(NamedTuple):
    """The shares of points in an item by groups of configurations, as if not constrained."""

    observed: Floats
    """Those that the responses make likely; for groups without examinees, those learned."""
    learned: Floats
    """Those of the learned bank."""
    sizes: Floats
    """The expected numbers of examinees."""
    ends: NDArray[np.intp]
    """The groups of the lowest and of the highest configuration."""


def _groups(learned: Learned) -> dict[str, _Groups]:
    layout, expected = learned.model.layout, expected_counts(learned)
    cells = layout.parts(layout.response_parameters(learned.parameters.items))
    found = {}
    for block, part in zip(layout.blocks, cells, strict=True):
        for name, groups, chances in zip(block.names, block.groups, part, strict=True):
            counts, points = expected[name], np.linspace(0, 1, chances.shape[1])
            own, sizes = chances @ points, counts.sum(axis=1)
            found[name] = _Groups(
                observed=np.divide(counts @ points, sizes, out=own.copy(), where=sizes > 1e-6),
                learned=own,
                sizes=sizes,
                ends=groups[[0, -1]],
            )
    return found


def _of_parameters(learned: Learned, found: dict[str, _Groups]) -> Iterator[LearningNote]:
    options, bank = learned.options, learned.bank
    at: dict[str, dict[str, list[str]]] = {"pooled": {}, "bounded": {}, "boundary": {}}
    for block, values in zip(learned.model.layout.blocks, learned.parameters.items, strict=True):
        for (item, what), value, (low, high) in zip(
            block.parameters, values.tolist(), block.limits.tolist(), strict=True
        ):
            if low < high and not low + _AT < value < high - _AT:
                end = low if value <= low + _AT else high
                kind = "bounded" if _is_asked(options.bounds_of(item), end) else "boundary"
                at[kind].setdefault(item, []).append(what)
    for name, groups in found.items() if options.monotone else ():
        inner = (groups.learned > _EDGE) & (groups.learned < 1 - _EDGE) & (groups.sizes > 1e-6)
        own, seen = groups.learned[inner], groups.observed[inner]
        equal = np.abs(own[:, None] - own) < _AT
        if np.any(equal & (np.abs(seen[:, None] - seen) > _AT)):
            at["pooled"][name] = []
    if learned.model.least:
        for name in bank.item_names:
            edge = bank.channel(name).min() < learned.model.least * 1.001
            if edge and name not in at["boundary"] and name not in options.fixed:
                at["boundary"][name] = ["a response in some configuration"]
    texts = {
        "pooled": "The order makes chances equal that differ in the responses",
        "bounded": "Parameters at the bounds asked for",
        "boundary": "Parameters at the end of their range"
        + (f" ({learned.model.least:g} from 0 or 1)" if learned.model.least else ""),
    }
    for kind, items in at.items():
        if items:
            details = {item: "; ".join(whats) for item, whats in items.items()}
            yield _detailed(kind, texts[kind], details)


def _is_asked(bounds: Bounds, end: float) -> bool:
    """Return whether an end of a parameter's range is one of the bounds asked for."""
    usual = Bounds()
    pairs = ((bounds.guess, usual.guess), (bounds.slip, usual.slip), (bounds.slope, usual.slope))
    own = [number for pair, other in pairs for number in pair if number not in other]
    return any(abs(number - end) < _AT or abs(1 - number - end) < _AT for number in own)


def _of_skills(learned: Learned) -> Iterator[LearningNote]:
    bank, model = learned.bank, learned.model
    if has_ability(bank):
        return
    if len(bank.skills) > 1 and all(len(scope) == 1 for scope in model.skills.scopes):
        yield LearningNote("independent", bank.skills, "The skills are taken as independent")
    informed = {
        skill
        for name in bank.item_names
        if np.ptp(bank.channel(name), axis=0).max() >= _FLAT
        for skill in bank.cause(name)
    }
    if unneeded := tuple(skill for skill in bank.skills if skill not in informed):
        yield LearningNote("unneeded", unneeded, "No item tells anything about the skill")
    rare = {
        skill: f"{levels[-1]:.1%} have the highest level"
        for skill, levels in mastery(learned).items()
        if levels[-1] < _RARE or levels[0] < _RARE
    }
    if rare:
        yield _detailed("one-sided", "Nearly everybody has the skill, or lacks it", rare)
    expectation = model.expectation(learned.responses, learned.options)
    if isinstance(expectation, TableExpectation):
        possible = expectation.classes[model.skills.prior(learned.parameters.skills) > 0]
        n, n_classes = len(possible), len(np.unique(possible))
        if n_classes < n:
            yield LearningNote(
                "alike",
                (),
                f"The items tell {n_classes} classes of the {n} profiles apart; within a class the"
                " distribution stays that of the start; if one skill needs another, learn them as a"
                " hierarchy",
            )


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
        columns, rows, below = item_table(self.learned, self.coefficients)
        yield from _first(("item", *columns), rows, _ITEMS_SHOWN)
        yield below
        abilities = ability_lines(self.learned)
        yield from abilities
        if not abilities:
            shares = [(name, percent(levels[-1])) for name, levels in mastery(self.learned).items()]
            yield Table(("skill", "highest level"), shares)
        yield "Notes:"
        for note in self.learned.notes:
            yield f"  {shortened(note)}."


def _likelihood_line(found: Learned) -> str:
    return (
        f"Log-likelihood {found.log_likelihood:.2f}, {counted(found.n_parameters, 'parameter')},"
        f" AIC {found.aic:.2f}, BIC {found.bic:.2f}."
    )


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
        is_curve = hasattr(found.bank.item(block.names[0]).gate, "fisher_information")
        if is_curve and not isinstance(block, FixedBlock):
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
        lines.append(f"{name}: mean {mean:z.3f}, standard deviation {deviation:.3f} ({how}).")
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


def shortened(note: LearningNote) -> str:
    """Return a note with the first of its names."""
    n = len(note.names)
    first = replace(note, names=note.names[:_NAMES_SHOWN], details=note.details[:_NAMES_SHOWN])
    return f"{first} and {n - _NAMES_SHOWN} more" if n > _NAMES_SHOWN else str(first)


# --- Judgments ------------------------------------------------------------------------------------

_T = TypeVar("_T")

_PAIRS_SHOWN = 5
_TESTED = ("item", "statistic", "degrees", "differences", "anchors")
_INTERRUPTED = "interrupted"
"""The reason why a part is missing after Ctrl-C."""

_Report: TypeAlias = Callable[[int, int | None], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgment(Result, Value):
    """How well a learned bank fits, and what to change. Created by `judge`.

    A part that cannot be computed is a text that says why; one that was not asked for is empty.
    """

    learned: Learned
    """The learned bank."""
    fit: LimitedInformation | str
    """The fit of the whole model."""
    pairs: tuple[PairFit, ...] | str
    """The fit of pairs of items, the worst first."""
    items: tuple[ItemFit, ...] | str
    """The fit of each item."""
    proposals: QValidation | str = ""
    """The skills that the items seem to need."""
    models: tuple[ReducedModel, ...] | str = ""
    """Wald tests of simpler models of the items."""
    ratios: tuple[ReducedModel, ...] | str = ""
    """Likelihood-ratio tests of the same models."""
    functioning: tuple[ItemFunctioning, ...] | str = ""
    """Tests of the items in the groups of the examinees."""
    groups: FunctioningOptions | None = None
    """How the items were tested in the groups."""
    abilities: Mapping[str, tuple[float, float]]
    """The mean and the standard deviation of the ability in each group; empty for skills."""
    interrupted: bool = False
    """Whether Ctrl-C ended the computations before the last one."""

    def to_dict(self) -> dict[str, Any]:
        """Return all results as a record for JSON."""
        fit, proposals = self.fit, self.proposals
        whole = {"reason": fit} if isinstance(fit, str) else fit.to_dict()
        nothing: dict[str, Any] = {"cutoff": None, "qmatrix": []}
        record = {
            **picked(self.learned, "log_likelihood", "aic", "bic", parameters="n_parameters"),
            "fit": whole,
            "pairs": [
                picked(
                    *(pair, "items", "correlation"),
                    expected="expected_correlation",
                    z="correlation_z",
                    p="correlation_p",
                )
                for pair in _known(self.pairs)
            ],
            "items": [
                picked(item, "rmsd", "s_x2", name="item", p="p_value", complete="n_complete")
                for item in _known(self.items)
            ],
            **(nothing if isinstance(proposals, str) else proposals.to_dict()),
            "models": {one.item: one.chosen for one in _known(self.models)},
            "model_tests": [one.to_dict() for one in (*_known(self.models), *_known(self.ratios))],
            "groups": [picked(one, *_TESTED, p="p_value") for one in _known(self.functioning)],
            "abilities": {
                name: {"mean": mean, "deviation": deviation}
                for name, (mean, deviation) in self.abilities.items()
            },
        }
        return dict(finite(record))

    def _shown(self) -> Iterator[str | Table]:
        learned, fit = self.learned, self.fit
        yield (
            f"{counted(len(learned.responses), 'examinee')},"
            f" {counted(len(learned.bank.items), 'item')}. {_likelihood_line(learned)}"
        )
        yield from [f"No M2: {fit}."] if isinstance(fit, str) else parts_of(fit)
        if not isinstance(self.pairs, str):
            yield Table(
                ("worst pairs", "correlation", "expected", "z", "corrected p"),
                [
                    (
                        ", ".join(pair.items),
                        f"{pair.correlation:z.3f}",
                        f"{pair.expected_correlation:z.3f}",
                        f"{pair.correlation_z:z.2f}",
                        f"{pair.correlation_p:.3g}",
                    )
                    for pair in self.pairs[:_PAIRS_SHOWN]
                ],
            )
        yield from self._shown_items()
        yield from self._shown_models()
        if not isinstance(self.proposals, str):
            yield from parts_of(self.proposals)
        for what, reason in (
            ("proposals for the Q-matrix", self.proposals),
            ("tests of simpler models", self.models),
            ("tests of groups", self.functioning),
        ):
            if isinstance(reason, str) and reason:
                yield f"No {what}: {reason}."
        if not isinstance(self.functioning, str):
            yield from self._shown_groups(self.functioning)

    def _shown_items(self) -> Iterator[str | Table]:
        items, n = _known(self.items), len(self.learned.responses)
        rows = [(one.item, f"{one.rmsd:.3f}", _format_p(one.p_value)) for one in items]
        yield from _first(("item", "RMSD", "p of S-X2, uncorrected"), rows)
        complete = items[0].n_complete if items else 0
        if items and not complete:
            yield "S-X2 needs examinees who answered all items; there are none."
        elif any(item.degrees for item in items) and complete < n:
            yield f"S-X2 is from the {complete:,} of {n:,} examinees who answered all items."

    def _shown_models(self) -> Iterator[str | Table]:
        both = [_known(self.models), _known(self.ratios)]
        for found in both:
            if found:
                yield (
                    f"Simpler models, by the {found[0].method} test: p, corrected for the number of"
                    " items (Holm), and the model that is chosen by the p of each item."
                )
                rows = [
                    (one.item, *(_format_p(test.corrected_p) for test in one.tests), one.chosen)
                    for one in found
                ]
                yield from _first(
                    ("item", *(test.model for test in found[0].tests), "chosen"), rows
                )
        names = [one.item for one, other in zip(*both, strict=False) if one.chosen != other.chosen]
        if names:
            yield (
                f"The two tests choose different models for {names_shown(names)}. Trust the Wald"
                " test: the two-step test rejects too often where the items leave the skills"
                " unclear."
            )

    def _shown_groups(self, found: tuple[ItemFunctioning, ...]) -> Iterator[str | Table]:
        testing = self.groups or FunctioningOptions()
        n_anchors = min(len(one.anchors) for one in found)
        yield (
            "Items in the groups, by likelihood-ratio tests with at least"
            f" {counted(n_anchors, 'anchor')}: p, corrected for the number of items (Holm)."
        )
        rows = [
            (
                one.item,
                f"{one.statistic:.2f}",
                str(one.degrees),
                f"{one.p_value:.3g}",
                ", ".join(f"{value:+.3f}" for value in one.differences),
            )
            for one in sorted(found, key=lambda one: one.p_value)[:_ROWS_SHOWN]
        ]
        yield Table(("item", "gain", "degrees", "corrected p", "difference of the score"), rows)
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
            moments = [
                (name, f"{mean:z.3f}", f"{deviation:.3f}")
                for name, (mean, deviation) in self.abilities.items()
            ]
            yield Table(("group", "mean ability", "standard deviation"), moments)


def _known(results: tuple[_T, ...] | str) -> tuple[_T, ...]:
    """Return results; none if there is a reason instead."""
    return () if isinstance(results, str) else results


def _first(
    heads: Sequence[str], rows: Sequence[Sequence[str]], most: int = _ROWS_SHOWN
) -> Iterator[str | Table]:
    """Yield the first rows of a table, and the number of the others."""
    yield Table(heads, rows[:most])
    if len(rows) > most:
        yield f"  and {len(rows) - most} more"


def _format_p(p: float) -> str:
    return "–" if math.isnan(p) else f"{p:.3g}"


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
        As for `validate_qmatrix`; None for `predicted_cutoff`.
    alpha
        As for `reduced_models_by_ratio`.
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
    data, options, interrupted = learned.responses, learned.options, False

    def part(what: str, compute: Callable[[_Report], _T]) -> _T | str:
        """Return a part, or why there is none."""
        nonlocal interrupted
        if interrupted:
            return _INTERRUPTED
        try:
            return runner(what, compute) if runner else compute(lambda done, total: None)
        except BnmindError as fault:
            return str(fault)
        except KeyboardInterrupt:
            interrupted = True
            return _INTERRUPTED

    found: dict[str, Any] = {
        "fit": part("testing the fit", lambda _: limited_information(learned)),
        "pairs": part("comparing pairs of items", lambda _: pair_fit(learned)),
        "items": part("comparing items", lambda _: item_fit(learned)),
    }
    if all(isinstance(item.gate, Gdina) for item in learned.bank.items):
        chosen = predicted_cutoff(learned) if cutoff is None else cutoff
        found["proposals"] = part(
            "checking the Q-matrix", lambda _: validate_qmatrix(learned, cutoff=chosen)
        )
        found["models"] = part("comparing models", lambda _: reduced_models(learned, alpha=alpha))
        if not isinstance(found["models"], str):
            found["ratios"] = part(
                "testing models",
                lambda report: reduced_models_by_ratio(learned, alpha=alpha, progress=report),
            )
    abilities: Mapping[str, tuple[float, float]] = {}
    if groups is not None:
        found["functioning"] = part(
            "testing items",
            lambda report: item_functioning(
                data, learned.bank, testing=groups, options=options, progress=report
            ),
        )
        if has_curves(learned.bank) and not isinstance(found["functioning"], str):
            together = part(
                "learning groups",
                lambda report: learn_groups(data, learned.bank, options=options, progress=report),
            )
            abilities = {} if isinstance(together, str) else together.abilities
    return Judgment(
        learned=learned, **found, groups=groups, abilities=abilities, interrupted=interrupted
    )
