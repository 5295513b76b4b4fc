r"""Standard errors of learned parameters, from the scores of the examinees.

==================  ======================================================================
symbol              name here
==================  ======================================================================
s_n                 ``scores``: the gradient of the log-likelihood of pattern n
E[s_c \| x_n]       the expected gradient of the complete data: by Fisher's identity it is s_n
I = Σ_n w_n s_n s_nᵀ  ``information``, the outer product of the scores
I⁻¹                 ``covariance``
==================  ======================================================================

Parameters that are fixed, at a bound, or constrained by the order of chances have no standard
error, nor have probabilities of profiles that are zero. Parameters that the responses do not
identify have none either: I is singular in their direction. If there are fewer response patterns
than parameters, I is that of each item by itself. Priors of the items add the curvature
of their log-density to I. A saturated distribution of the
skills is treated as a distribution over the classes of profiles that the items distinguish.

`coefficients` are the parameters of the items in the words of their models:

==================  ======================================================================
symbol              name here
==================  ======================================================================
x                   the parameters of learning, with the covariance Σ of `standard_errors`
f(x)                ``numbers``: the fields of the item's response model; of `Gdina` the δ
J                   the slopes of f, by differences
J Σ Jᵀ              the covariance of f (delta method)
g(P_c)              Σ_S δ_S over the sets S of skills of configuration c; g is the link
==================  ======================================================================

A parameter has no standard error if it is fixed, at a bound, held by the order of the chances, or
not identified by the responses, and then says so.

References
----------
T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R. Stat. Soc. B
1982; M. Philipp, C. Strobl, J. de la Torre and A. Zeileis, "On the estimation of standard errors in
cognitive diagnosis models", J. Educ. Behav. Stat. 2018 (I includes the parameters of the skills);
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011, equations 1 to 3 (δ with
the identity, logit and log link).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import frame_html
from bnmind._values import Value
from bnmind.adaptive.beliefs.tables import n_profiles
from bnmind.adaptive.learning.blocks import FixedBlock, FormBlock, ItemBlock
from bnmind.adaptive.learning.em import Patterns, TableExpectation
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.options import Priors
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.curves import GradedResponse, Nominal, PartialCredit
from bnmind.adaptive.response_models.gates import GuessSlip
from bnmind.adaptive.response_models.links import IDENTITY, LinkFunction
from bnmind.adaptive.response_models.registry import model_name
from bnmind.adaptive.response_models.tables import Gdina, Sequential
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.fitting.expectation import inverse_information
from bnmind.information import Floats
from bnmind.pgm import Variable

if TYPE_CHECKING:
    import pandas

_STEP = 1e-6
_WIDE_STEP = 1e-3
"""The step of second differences."""
_EDGE = 1e-4
"""Parameters this close to their bound count as at the bound."""

_NOTHING = 1e3
"""A parameter with a larger standard error is not identified."""

_RARE = 0.1
"""Profiles with a smaller expected number of examinees count as of probability zero."""


@dataclass(frozen=True)
class ItemParameter(Value):
    """A parameter of an item."""

    item: str
    """The name of the item."""
    name: str
    """The name of the parameter, such as ``guess``."""
    value: float
    """The estimate."""
    error: float
    """The standard error; nan if there is none."""


@dataclass(frozen=True, eq=False)
class StandardErrors(Value):
    """The standard errors and covariances of the parameters of the items."""

    items: tuple[ItemParameter, ...]
    """The parameters of all items."""
    covariance: Floats
    """``(parameters, parameters)`` in the order of ``items``; nan where undefined."""
    item_by_item: bool = field(default=False, kw_only=True)
    """Whether the responses have fewer patterns than there are parameters. Then the information
    about all of them is singular, and the errors of an item take all other parameters for known."""

    @checked
    def of(self, item: str) -> dict[str, float]:
        """Return the standard errors of an item's parameters, by name.

        Parameters
        ----------
        item
            The name of the item.
        """
        return {p.name: p.error for p in self.items if p.item == item}


@checked
def standard_errors(learned: Learned) -> StandardErrors:
    """Return the standard errors of the items' parameters, from the observed information.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.

    Raises
    ------
    TooLargeError
        If there are too many profiles for a table over all of them.
    """
    covariance, alone = block_covariance(learned)
    blocks, parameters = learned.model.layout.blocks, learned.parameters.items
    names = [name for block in blocks for name in block.parameters]
    values = np.concatenate([*parameters, np.zeros(0)]).tolist()
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.diag(covariance)).tolist()
    place = {name: number for number, name in enumerate(learned.bank.item_names)}
    order = sorted(range(len(names)), key=lambda i: place[names[i][0]])
    items = tuple(ItemParameter(*names[i], values[i], errors[i]) for i in order)
    covariance = covariance[np.ix_(order, order)]
    covariance.setflags(write=False)
    return StandardErrors(items, covariance, item_by_item=alone)


def block_covariance(learned: Learned) -> tuple[Floats, bool]:
    """Return the covariances of the items' parameters, block after block; nan where undefined.

    And whether they are item by item; see `StandardErrors`.
    """
    expectation = table_expectation(learned)
    scores, free, n_items = _scores(learned, expectation)
    weights = expectation.patterns.counts
    own = free[free < n_items]
    alone = len(free) >= len(weights)
    if alone:
        free = own
    information = (scores[:, free] * weights[:, None]).T @ scores[:, free]
    information += _of_priors(learned, scores.shape[1])[np.ix_(free, free)]
    everything = np.full((scores.shape[1], scores.shape[1]), np.nan)
    if alone:
        names = [name for block in learned.model.layout.blocks for name, _ in block.parameters]
        items = np.array(names, dtype=object)[free]
        everything[np.ix_(free, free)] = 0.0
        for name in dict.fromkeys(items):
            at = np.flatnonzero(items == name)
            everything[np.ix_(free[at], free[at])] = inverse_information(
                information[np.ix_(at, at)]
            )
    else:
        everything[np.ix_(free, free)] = inverse_information(information)
    # Of a constant item the responses tell nothing, whatever rounding says.
    nothing = np.isnan(everything.diagonal()) | (everything.diagonal() > _NOTHING**2)
    everything[nothing] = everything[:, nothing] = np.nan
    return everything[:n_items, :n_items], alone


def _of_priors(learned: Learned, size: int) -> Floats:
    """Return the information of the priors of the items: minus the curvature of the log-density."""
    information = np.zeros((size, size))
    if learned.options.priors == Priors():
        return information
    start = 0
    for block, values in zip(learned.model.layout.blocks, learned.parameters.items, strict=True):
        if isinstance(block, FormBlock) and block.form.prior is not None:
            # As in the M-step: that of a log-normal density is on the scale of the logarithm.
            _, _, bends = block.form.log_prior(block.points(values))
            part = np.arange(start, start + len(values))
            information[part, part] = bends.reshape(-1)
            start += len(values)
            continue
        near = np.minimum(values - block.limits[:, 0], block.limits[:, 1] - values) / 2
        steps = np.nan_to_num(np.clip(near, 0.0, _WIDE_STEP * np.maximum(1.0, np.abs(values))))
        names = [item for item, _ in block.parameters]
        for a, b in combinations_with_replacement(range(len(values)), 2):
            if names[a] != names[b] or not (steps[a] and steps[b]):
                continue
            bend = 0.0
            for up, across in product((0.5, -0.5), repeat=2):
                moved = values.copy()
                moved[a] += up * steps[a]
                moved[b] += across * steps[b]
                bend += 4 * up * across * block.log_prior(moved)
            place = (start + a, start + b)
            information[place] = information[place[::-1]] = -bend / (steps[a] * steps[b])
        start += len(values)
    return information


def table_expectation(learned: Learned) -> TableExpectation:
    """Return the E-step by table; raises `TooLargeError` if there are too many profiles."""
    needed, budget = n_profiles(learned.bank), learned.options.max_profiles
    if needed > budget:
        raise TooLargeError(
            f"expected at most {budget:,} profiles, got {needed:,}", needed=needed, budget=budget
        )
    model = learned.model
    return TableExpectation(model.bank, model.layout, model.skills, Patterns.of(learned.responses))


def _scores(
    learned: Learned, expectation: TableExpectation
) -> tuple[Floats, NDArray[np.intp], int]:
    """Return the scores, the positions of free parameters, and the number of items' parameters."""
    layout = learned.model.layout
    response_parameters = layout.response_parameters(learned.parameters.items)
    posterior = expectation.posteriors(response_parameters, learned.parameters.skills)
    parts: list[Floats] = []
    free: list[int] = []
    end = number = row = 0
    for block, values in zip(layout.blocks, learned.parameters.items, strict=True):
        part = np.zeros((len(posterior), len(values)))
        for columns, slopes in item_slopes(block, values):
            chances = response_parameters[end : end + len(slopes), None]
            logs = np.divide(slopes, chances, out=np.zeros_like(slopes), where=chances > 0)
            for _ in range(block.shape[1]):
                # The score given the class, averaged over the classes.
                by_class = posterior @ logs[expectation.places[row] - end]
                part[:, columns] += by_class * expectation.indicators[:, row, None]
                row += 1
            end += len(slopes)
        parts.append(part)
        low, high = block.limits.T
        inside = np.flatnonzero((low + _EDGE < values) & (values < high - _EDGE)).tolist()
        free += [number + place for place in inside if _is_free(block, values, place)]
        number += len(values)
    columns_of_skills = skill_scores(learned, expectation, posterior)
    free += range(number, number + len(columns_of_skills))
    scores = np.column_stack([np.zeros((len(posterior), 0)), *parts, *columns_of_skills])
    return scores, np.array(free, dtype=np.intp), number


def item_slopes(block: ItemBlock, values: Floats) -> list[tuple[NDArray[np.intp], Floats]]:
    """Return, for each item of a block, its parameters and the slopes of its response chances.

    The slopes ``(groups * responses, parameters)`` are differences within the limits; parameters
    with equal limits have none.
    """
    names, n = block.names, len(values)
    size = block.shape[0] * block.shape[1]
    each = n // len(names)
    # Parameters of an item's own change its chances only, so all items are moved together.
    own = [item for item, _ in block.parameters] == [item for item in names for _ in range(each)]
    n_columns = each if own else n
    slopes = np.zeros((len(names), size, n_columns))
    limits = block.limits
    for column in range(n_columns):
        moved = np.arange(column, n, n_columns)
        step = np.zeros(n)
        step[moved] = _STEP * np.maximum(1.0, np.abs(values[moved]))
        up = np.where(step > 0, np.fmin(values + step, limits[:, 1]), values)
        down = np.where(step > 0, np.fmax(values - step, limits[:, 0]), values)
        change = block.response_parameters(up) - block.response_parameters(down)
        width = (up - down)[moved, None]
        change = change.reshape(len(names), size)
        slopes[..., column] = np.divide(change, width, out=np.zeros_like(change), where=width > 0)
    return [
        (np.arange(n_columns) + (item * n_columns if own else 0), of_item)
        for item, of_item in enumerate(slopes)
    ]


def _is_free(block: ItemBlock, values: Floats, place: int) -> bool:
    """Return whether a parameter can move in both directions without violating the order."""
    step = np.where(np.arange(len(values)) == place, _EDGE, 0.0)
    return block.valid(values + step) and block.valid(values - step)


def skill_scores(
    learned: Learned, expectation: TableExpectation, posterior: Floats
) -> list[Floats]:
    """Return the scores of the free parameters of the skills, given each row of ``posterior``.

    A free probability grows at the cost of the largest one of its distribution.
    """
    skills, tables = learned.model.skills, learned.parameters.skills
    prior = skills.prior(tables)
    classes = expectation.classes
    n = float(expectation.patterns.counts.sum())
    of_class = expectation.of_class(tables)
    if skills.saturated:
        return _against_largest(posterior, of_class, n)
    share = np.divide(prior, of_class[classes], out=np.zeros_like(prior), where=prior > 0)
    profiles = posterior[:, classes] * share
    counts = [np.stack(rows) for rows in zip(*map(skills.counts, profiles), strict=True)]
    of_prior = skills.counts(prior)
    columns: list[Floats] = []
    curves = skills.curves
    if curves is not None:
        of_curves = {family: counts[family] for family in curves.cpds}
        columns += list(curves.scores(of_curves, dict(enumerate(tables))).T)
    for family, table in enumerate(tables):
        if not skills.free(family) or (curves is not None and family in curves.cpds):
            continue
        masses = counts[family]
        if (spread := skills.scale(family)) is not None:
            columns += [masses @ (one - table @ one) for one in spread.statistics]
            continue
        above = of_prior[family].sum(axis=0).reshape(-1)
        flat, chances = masses.reshape(len(masses), len(table), -1), table.reshape(len(table), -1)
        for column in range(chances.shape[1]):
            columns += _against_largest(
                flat[:, :, column], chances[:, column], n * float(above[column])
            )
    return columns


def _against_largest(masses: Floats, chances: Floats, n: float) -> list[Floats]:
    """Return the scores of a distribution's free probabilities; n is the expected count."""
    free = np.flatnonzero(chances * n > _RARE)
    if len(free) < 2:
        return []
    largest = int(free[np.argmax(chances[free])])
    base = masses[:, largest] / chances[largest]
    return [masses[:, place] / chances[place] - base for place in free if place != largest]


# --- The numbers of response models ---------------------------------------------------------------

_NONE = 1e-9
"""Slopes up to this are none."""
_SINGULAR = {
    "effects": "effect",
    "penalties": "penalty",
    "links": "link",
    "slopes": "slope",
    "thresholds": "threshold",
    "intercepts": "intercept",
}
_OF_RESPONSES = GradedResponse | PartialCredit | Nominal
"""Models whose tuples have a number for each response, not for each skill."""

_Numbers = list[tuple[str, float]]


@dataclass(frozen=True)
class Coefficient(Value):
    """A number of an item's response model."""

    item: str
    """The name of the item."""
    model: str
    """The name of the response model, as in `RESPONSE_MODELS`; ``table`` for a table."""
    name: str
    """The field of the response model, such as guess, or effect of a skill."""
    _: KW_ONLY
    value: float
    """The estimate."""
    error: float
    """The standard error; nan if there is none."""
    note: str = ""
    """Why there is no standard error."""


@dataclass(frozen=True, eq=False)
class Coefficients(Value):
    """The numbers of all items' response models. Created by `coefficients`."""

    rows: tuple[Coefficient, ...]
    """The numbers, in the order of the items."""
    chances: tuple[Coefficient, ...]
    """The guess and the slip of each item, whatever its model; see `LearnedItem`."""
    item_by_item: bool = field(kw_only=True)
    """Whether the standard errors of an item take all other parameters for known; see
    `StandardErrors`."""

    @checked
    def of(self, item: str) -> dict[str, Coefficient]:
        """Return the numbers of an item, by name.

        Parameters
        ----------
        item
            The name of the item. An item without coefficients has no numbers.
        """
        return {row.name: row for row in self.rows if row.item == item}

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, which notebooks display."""
        return frame_html(self.to_frame(), caption="Coefficients of the items")

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each number: ``item, model, parameter, value, error, note``."""
        import pandas as pd

        columns = ["item", "model", "parameter", "value", "error", "note"]
        return pd.DataFrame([dataclasses.astuple(row) for row in self.rows], columns=columns)


@checked
def coefficients(learned: Learned, *, link: LinkFunction = IDENTITY) -> Coefficients:
    """Return the parameters of the items in the words of their models, with standard errors.

    Parameters
    ----------
    learned
        A learned bank.
    link
        The scale of the effects of `Gdina` items with two responses and binary skills. Other
        tables are given by their chances.

    Raises
    ------
    TooLargeError
        If there are too many profiles for a table over all of them.

    Examples
    --------
    >>> from bnmind.adaptive import Gdina, ItemBank, Responses, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Responses.drawn(ItemBank.from_qmatrix(q, 0.2, 0.1), 1000, seed=1).codes
    >>> found = coefficients(learn(seen, q, gate=Gdina))
    >>> [(row.name, round(row.value, 1)) for row in found.of("item_2").values()]
    [('intercept', 0.2), ('effect of skill_2', 0.7)]
    """
    covariance, alone = block_covariance(learned)
    rows: dict[str, list[Coefficient]] = {}
    chances: dict[str, list[Coefficient]] = {}
    learned_items = {item.name: item for item in learned.items}
    bank, end = learned.model.bank, 0
    for block, values in zip(learned.model.layout.blocks, learned.parameters.items, strict=True):
        part = slice(end, end + len(values))
        end += len(values)
        own = covariance[part, part]
        notes = _notes(block, values, np.diag(own))
        for item, (name, slope) in enumerate(
            zip(block.names, item_slopes(block, values), strict=True)
        ):
            parents, model = bank.network.cpd(name).parents, model_name(bank.item(name).gate)
            single, places = block, np.arange(len(values))
            if isinstance(block, FormBlock) and not block.shared:
                # Its parameters change no other item.
                single = dataclasses.replace(block, rules=(block.rules[item],))
                places = np.flatnonzero([of == name for of, _ in block.parameters])
            numbers = partial(_numbers_of, single, name=name, parents=parents, link=link)
            found = _with_errors(numbers, values[places], block.limits[places], own, places, notes)
            if isinstance(block, FixedBlock):
                found = [(label, value, np.nan, "fixed") for label, value in numbers(values)]
            rows[name] = [_row(name, model, *row) for row in found]
            columns, of_chances = slope
            lowest, highest = (block.groups[item][k] * block.shape[1] for k in (0, -1))
            known = learned_items[name]
            chances[name] = [
                _row(name, model, what, value, *_error(row, own, columns, notes))
                for what, value, row in (
                    ("guess", known.guess, of_chances[lowest]),
                    ("slip", known.slip, of_chances[highest + block.shape[1] - 1]),
                )
            ]
    names = learned.bank.item_names
    return Coefficients(
        tuple(row for name in names for row in rows[name]),
        tuple(row for name in names for row in chances[name]),
        item_by_item=alone,
    )


def _row(item: str, model: str, name: str, value: float, error: float, note: str) -> Coefficient:
    return Coefficient(item=item, model=model, name=name, value=value, error=error, note=note)


def _notes(block: ItemBlock, values: Floats, variances: Floats) -> list[str]:
    """Return why each parameter has no standard error; an empty text if it has one."""
    notes = []
    for value, (low, high), variance in zip(values, block.limits, variances, strict=True):
        if not np.isnan(variance):
            notes.append("")
        elif not low < high:
            notes.append("fixed")
        elif not low + _EDGE < value < high - _EDGE:
            notes.append("at a bound")
        else:
            notes.append("held by the order of chances, or not identified")
    return notes


def _numbers_of(
    block: ItemBlock, values: Floats, name: str, parents: Sequence[Variable], link: LinkFunction
) -> _Numbers:
    """Return the numbers of an item, given the parameters of a block."""
    if isinstance(block, FormBlock) and isinstance(block.rules[0].model, GuessSlip):
        # An item of which more skill lowers the chance has a guess and a slip all the same.
        return list(zip(("guess", "slip"), values.tolist(), strict=True))
    models = dict(zip(block.names, block.response_models(values), strict=True))
    return model_numbers(models[name], parents, link)


def _with_errors(
    numbers: Callable[[Floats], _Numbers],
    values: Floats,
    limits: Floats,
    covariance: Floats,
    places: NDArray[np.intp],
    notes: Sequence[str],
) -> list[tuple[str, float, float, str]]:
    """Return name, value, standard error and note of each number that is learned."""
    here = numbers(values)
    slopes = np.zeros((len(here), len(values)))
    for place, (value, (low, high)) in enumerate(zip(values.tolist(), limits, strict=True)):
        step = _STEP * max(1.0, abs(value))
        ends = []
        for end in (value + step, value - step):
            moved = values.copy()
            # A fixed parameter is moved too, to see which numbers depend on it.
            moved[place] = np.clip(end, low, high) if low < high else end
            try:
                ends.append((moved[place], np.array([x for _, x in numbers(moved)])))
            except (InvalidModelError, ArithmeticError):
                ends.append((value, np.array([x for _, x in here])))
        (up, above), (down, below) = ends
        if up > down:
            slopes[:, place] = (above - below) / (up - down)
    return [
        (name, value, *_error(slope, covariance, places, notes))
        for (name, value), slope in zip(here, slopes, strict=True)
        if np.any(np.abs(slope) > _NONE)
    ]


def _error(
    slope: Floats, covariance: Floats, places: NDArray[np.intp], notes: Sequence[str]
) -> tuple[float, str]:
    """Return the standard error of a function of parameters, and why there is none."""
    used = np.flatnonzero(np.abs(slope) > _NONE)
    used = used[[notes[place] != "fixed" for place in places[used]]]
    at = places[used]
    if not used.size:
        return float("nan"), "fixed"
    if note := next((notes[place] for place in at if notes[place]), ""):
        return float("nan"), note
    variance = float(slope[used] @ covariance[np.ix_(at, at)] @ slope[used])
    return float(np.sqrt(max(variance, 0.0))), ""


def model_numbers(
    model: ResponseModel | None, parents: Sequence[Variable], link: LinkFunction = IDENTITY
) -> _Numbers:
    """Return the numbers of a response model, by name."""
    if model is None:
        return []
    if isinstance(model, Sequential):
        return [
            (f"step {number}: {name}", value)
            for number, step in enumerate(model.steps, 1)
            for name, value in model_numbers(step, parents, link)
        ]
    if isinstance(model, Gdina):
        return _of_table(model.probabilities, parents, link)
    found: _Numbers = []
    for one in dataclasses.fields(model):  # type: ignore[arg-type]
        value = getattr(model, one.name)
        if isinstance(value, float):
            found.append((_SINGULAR.get(one.name, one.name), value))
        elif isinstance(value, tuple) and all(isinstance(x, float) for x in value):
            label = _SINGULAR.get(one.name, one.name)
            by_response = isinstance(model, _OF_RESPONSES) or one.name == "thresholds"
            if len(value) == len(parents) and not by_response:
                found += [(f"{label} of {v.name}", x) for v, x in zip(parents, value, strict=True)]
            else:
                found += [(f"{label} {n}", x) for n, x in enumerate(value, 1)]
    return found


def _of_table(table: Floats, parents: Sequence[Variable], link: LinkFunction) -> _Numbers:
    """Return the δ of a table, or its chances if skills have levels or there are more responses."""
    n = len(parents)
    if table.shape[1] > 2 or any(v.n_states != 2 for v in parents):
        states = product(*(map(str, v.states) for v in parents))
        return [
            (f"P({response} | {', '.join(state)})", chance)
            for state, row in zip(states, table.tolist(), strict=True)
            for response, chance in enumerate(row[1:], 1)
        ]
    delta = link.of(np.clip(table[:, 1], 1e-12, 1 - 1e-12)).reshape((2,) * n)
    for axis in range(n):
        low, high = np.split(delta, 2, axis=axis)
        delta = np.concatenate([low, high - low], axis=axis)
    found: _Numbers = [("intercept", float(delta[(0,) * n]))]
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            place = tuple(int(k in chosen) for k in range(n))
            names = " × ".join(parents[k].name for k in chosen)
            found.append((f"effect of {names}", float(delta[place])))
    return found
