r"""A learned bank by classes of profiles: slopes, scores, standard errors, coefficients.

==================  ======================================================================
symbol              name here
==================  ======================================================================
P_ir(c)             ``item.chances``: the chance of response r to item i in class c
∂P_ir(c)/∂x         ``item.slopes``, of the parameters x of the item
π_c                 ``of_class``: the probability of a class of profiles
P(c \| x_n)         ``posterior``, given pattern n of responses
s_n                 ``scores``: the gradient of the log-likelihood of pattern n
E[s_c \| x_n]       the expected gradient of the complete data: by Fisher's identity it is s_n
I = Σ_n w_n s_n s_nᵀ  the information about all parameters, the outer product of the scores
==================  ======================================================================

Parameters that are fixed, at a bound, or constrained by the order of chances are not free, nor are
probabilities of profiles that are zero. A saturated distribution of the skills is treated as a
distribution over the classes. Priors of the items add the curvature of their log-density to I.

`standard_errors` are from I⁻¹. Parameters that the responses do not identify have none: I is
singular in their direction. If there are fewer response patterns than parameters, I is that of each
item by itself.

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
import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import frame_html
from bnmind._values import Sealed, Value
from bnmind.adaptive.beliefs.tables import n_profiles
from bnmind.adaptive.learning.blocks import FormBlock, ItemBlock, ItemRule
from bnmind.adaptive.learning.em import Patterns, TableExpectation
from bnmind.adaptive.learning.forms import differences
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

_WIDE_STEP = 1e-3
"""The step of second differences."""
_EDGE = 1e-4
"""Parameters this close to their bound count as at the bound."""

_RARE = 0.1
"""Profiles with a smaller expected number of examinees count as of probability zero."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassItem(Sealed):
    """An item, with the parameters that its chances depend on.

    Parameters
    ----------
    name
        The name of the item.
    block, number
        A block with the item, and its number there. Other items are there only if they share
        parameters.
    values, places
        The parameters of the block, and their places among those of all items.
    groups
        ``(classes,)``: the group of each class.
    given
        ``(patterns, responses)``: whether each pattern has each response.
    """

    name: str
    block: ItemBlock
    number: int
    values: Floats
    places: NDArray[np.intp]
    groups: NDArray[np.intp]
    given: Floats

    @cached_property
    def chances(self) -> Floats:
        """``(responses, classes)``."""
        chances: Floats = self.block.response_parameters(self.values)[self.number][self.groups].T
        return chances

    @cached_property
    def slopes(self) -> Floats:
        """``(responses, classes, parameters)``: the derivatives of the chances."""
        slopes = self.block.slopes(self.values)[self.number][:, self.groups].T
        low, high = self.block.limits.T
        return np.where(low == high, 0.0, slopes)

    @property
    def free(self) -> NDArray[np.bool_]:
        """Whether each parameter can move in both directions without violating bounds or order."""
        low, high = self.block.limits.T
        inside: NDArray[np.bool_] = (low + _EDGE < self.values) & (self.values < high - _EDGE)
        can_move = [
            self.block.valid(self.values + step) and self.block.valid(self.values - step)
            for step in _EDGE * np.eye(len(self.values))
        ]
        return inside & np.array(can_move, dtype=np.bool_)

    @property
    def prior_information(self) -> Floats:
        """Minus the curvature of the log-density of the priors, ``(parameters, parameters)``."""
        block, values = self.block, self.values
        if isinstance(block, FormBlock) and block.form.prior is not None:
            # As in the M-step: that of a log-normal density is on the scale of the logarithm.
            return np.diag(block.form.log_prior(block.points(values))[2].reshape(-1))
        near = np.minimum(values - block.limits[:, 0], block.limits[:, 1] - values) / 2
        most = _WIDE_STEP * np.maximum(1.0, np.abs(values))
        steps = np.diag(np.nan_to_num(np.clip(near, 0.0, most)))
        information = np.zeros(steps.shape)
        for a, b in combinations_with_replacement(np.flatnonzero(steps.any(axis=0)), 2):
            bend = sum(
                4 * up * across * block.log_prior(values + up * steps[a] + across * steps[b])
                for up, across in product((0.5, -0.5), repeat=2)
            )
            information[a, b] = information[b, a] = -bend / (steps[a, a] * steps[b, b])
        return information


@dataclass(frozen=True, eq=False)
class Classes(Sealed):
    """The classes of profiles of a learned bank, with its responses."""

    learned: Learned
    expectation: TableExpectation

    @classmethod
    def of(cls, learned: Learned) -> Classes:
        """Return the classes; raises `TooLargeError` if there are too many profiles."""
        needed, budget = n_profiles(learned.bank), learned.options.max_profiles
        if needed > budget:
            raise TooLargeError(
                f"expected at most {budget:,} profiles, got {needed:,}",
                needed=needed,
                budget=budget,
            )
        model, patterns = learned.model, Patterns.of(learned.responses)
        return cls(learned, TableExpectation(model.bank, model.layout, model.skills, patterns))

    @property
    def weights(self) -> Floats:
        """The number of examinees with each pattern."""
        return self.expectation.patterns.counts

    @cached_property
    def of_class(self) -> Floats:
        """The probability of each class."""
        return self.expectation.of_class(self.learned.parameters.skills)

    @cached_property
    def posterior(self) -> Floats:
        """``(patterns, classes)``."""
        items, tables = self.learned.parameters
        chances = self.learned.model.layout.response_parameters(items)
        return self.expectation.posteriors(chances, tables)

    @cached_property
    def items(self) -> tuple[ClassItem, ...]:
        """The items in the order of the bank."""
        layout, expectation = self.learned.model.layout, self.expectation
        found, row, end = [], 0, 0
        starts = iter(layout.starts)
        for block, values in zip(layout.blocks, self.learned.parameters.items, strict=True):
            n_responses = block.shape[1]
            for number, (rule, part) in enumerate(zip(block.rules, block.own, strict=True)):
                # An item with parameters of its own is a block of its own.
                found.append(
                    ClassItem(
                        name=rule.name,
                        block=block if block.shared else dataclasses.replace(block, rules=(rule,)),
                        number=number if block.shared else 0,
                        values=values[part],
                        places=np.arange(end, end + len(values))[part],
                        groups=(expectation.places[row] - next(starts)) // n_responses,
                        given=expectation.indicators[:, row : row + n_responses],
                    )
                )
                row += n_responses
            end += len(values)
        return tuple(sorted(found, key=lambda item: self.learned.bank.position(item.name)))

    @property
    def n_parameters(self) -> int:
        """The number of all parameters of the items."""
        return sum(map(len, self.learned.parameters.items))

    @cached_property
    def scores(self) -> Floats:
        """The scores of the parameters of the items, ``(patterns, parameters)``."""
        scores = np.zeros((len(self.posterior), self.n_parameters))
        for item in self.items:
            chances = item.chances[..., None]
            logs = np.divide(
                item.slopes, chances, out=np.zeros_like(item.slopes), where=chances > 0
            )
            for gave, of_response in zip(item.given.T, logs, strict=True):
                # The score given the class, averaged over the classes.
                scores[:, item.places] += gave[:, None] * (self.posterior @ of_response)
        return scores

    def skill_scores(self, posterior: Floats) -> Floats:
        """Return the scores of the free parameters of the skills, given each row of ``posterior``.

        They are ``(rows, parameters)``. A free probability grows at the cost of the largest one of
        its distribution.
        """
        skills, tables = self.learned.model.skills, self.learned.parameters.skills
        prior, classes = skills.prior(tables), self.expectation.classes
        n = float(self.weights.sum())
        if skills.saturated:
            return _against_largest(posterior, self.of_class, n)
        profiles = posterior[:, classes] * self.shares
        counts = [np.stack(rows) for rows in zip(*map(skills.counts, profiles), strict=True)]
        of_prior = skills.counts(prior)
        columns = [np.zeros((len(posterior), 0))]
        curves = skills.curves
        if curves is not None:
            of_curves = {family: counts[family] for family in curves.cpds}
            columns.append(curves.scores(of_curves, dict(enumerate(tables))))
        for family, table in enumerate(tables):
            if not skills.free(family) or (curves is not None and family in curves.cpds):
                continue
            masses = counts[family]
            if (spread := skills.scale(family)) is not None:
                columns += [masses @ (one - table @ one)[:, None] for one in spread.statistics]
                continue
            above = of_prior[family].sum(axis=0).reshape(-1)
            flat, chances = masses.reshape(*masses.shape[:2], -1), table.reshape(len(table), -1)
            columns += [
                _against_largest(flat[:, :, column], chances[:, column], n * above[column])
                for column in range(chances.shape[1])
            ]
        return np.concatenate(columns, axis=1)

    @cached_property
    def shares(self) -> Floats:
        """The share of each profile in the probability of its class."""
        prior = self.learned.model.skills.prior(self.learned.parameters.skills)
        of_class = self.of_class[self.expectation.classes]
        return np.divide(prior, of_class, out=np.zeros_like(prior), where=prior > 0)


def _against_largest(masses: Floats, chances: Floats, n: float) -> Floats:
    """Return the scores of a distribution's free probabilities; n is the expected count."""
    free = np.flatnonzero(chances * n > _RARE)
    ratios = masses[:, free] / chances[free]
    largest = int(np.argmax(chances[free])) if len(free) else 0
    return np.delete(ratios, largest, axis=1) - ratios[:, [largest]] if len(free) else ratios


# --- Standard errors ------------------------------------------------------------------------------

_NOTHING = 1e3
"""A parameter with a larger standard error is not identified."""


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
    covariance, alone = _covariance(Classes.of(learned))
    names = [name for block in learned.model.layout.blocks for name in block.parameters]
    values = np.concatenate([*learned.parameters.items, np.zeros(0)]).tolist()
    errors = np.sqrt(np.diag(covariance)).tolist()
    order = sorted(range(len(names)), key=lambda place: learned.bank.position(names[place][0]))
    items = tuple(ItemParameter(*names[i], values[i], errors[i]) for i in order)
    covariance = covariance[np.ix_(order, order)]
    covariance.setflags(write=False)
    return StandardErrors(items, covariance, item_by_item=alone)


def _covariance(classes: Classes) -> tuple[Floats, bool]:
    """Return the covariances of the items' parameters, block after block; nan where undefined.

    And whether they are item by item; see `StandardErrors`.
    """
    blocks, weights = classes.learned.model.layout.blocks, classes.weights
    of_skills = classes.skill_scores(classes.posterior)
    scores = np.concatenate([classes.scores, of_skills], axis=1)
    n_items, n = classes.n_parameters, scores.shape[1]
    is_free = np.arange(n) >= n_items
    priors, everything = np.zeros((n, n)), np.full((n, n), np.nan)
    for item in classes.items:
        is_free[item.places] = item.free
        if classes.learned.options.priors != Priors():
            priors[np.ix_(item.places, item.places)] = item.prior_information
    alone = int(is_free.sum()) >= len(weights)
    if alone:
        names = np.array([name for block in blocks for name, _ in block.parameters], dtype=object)
        parts = [np.flatnonzero(is_free[:n_items] & (names == name)) for name in set(names)]
        everything[np.ix_(is_free, is_free)] = 0.0
    else:
        parts = [np.flatnonzero(is_free)]
    for part in parts:
        information = (scores[:, part] * weights[:, None]).T @ scores[:, part]
        information += priors[np.ix_(part, part)]
        everything[np.ix_(part, part)] = inverse_information(information)
    # Of a constant item the responses tell nothing, whatever rounding says.
    with np.errstate(invalid="ignore"):
        known = everything.diagonal() <= _NOTHING**2
    everything[~known] = everything[:, ~known] = np.nan
    return everything[:n_items, :n_items], alone


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
    classes = Classes.of(learned)
    covariance, alone = _covariance(classes)
    lowest, highest = classes.expectation.classes[[0, -1]]
    rows, chances = [], []
    for item, known in zip(classes.items, learned.items, strict=True):
        rule, is_fixed = item.block.rules[item.number], item.name in learned.options.fixed
        own = covariance[np.ix_(item.places, item.places)]
        notes = _notes(item, np.diag(own))
        row = partial(Coefficient, item.name, model_name(rule.model))
        for name, value, slope in _numbers(item, rule, link):
            # The other numbers are those of the model, whatever the responses.
            if is_fixed or np.any(np.abs(slope) > _NONE):
                error, note = _error(slope, own, notes)
                rows.append(row(name, value=value, error=error, note=note))
        for name, value, slope in (
            ("guess", known.guess, item.slopes[0, lowest]),
            ("slip", known.slip, item.slopes[-1, highest]),
        ):
            error, note = _error(slope, own, notes)
            chances.append(row(name, value=value, error=error, note=note))
    return Coefficients(tuple(rows), tuple(chances), item_by_item=alone)


def _notes(item: ClassItem, variances: Floats) -> list[str]:
    """Return why each parameter has no standard error; an empty text if it has one."""
    notes = []
    for value, (low, high), variance in zip(item.values, item.block.limits, variances, strict=True):
        if not np.isnan(variance):
            notes.append("")
        elif not low < high:
            notes.append("fixed")
        elif not low + _EDGE < value < high - _EDGE:
            notes.append("at a bound")
        else:
            notes.append("held by the order of chances, or not identified")
    return notes


def _numbers(
    item: ClassItem, rule: ItemRule, link: LinkFunction
) -> Iterator[tuple[str, float, Floats]]:
    """Yield name and value of each number of an item, and its slopes by the parameters."""

    def named(values: Floats) -> _Numbers:
        model = item.block.response_models(values)[item.number]
        return model_numbers(model, rule.parents, link, rule.model)

    here = named(item.values)

    def numbers(values: Floats) -> Floats:
        try:
            return np.array([value for _, value in named(values)])
        except (InvalidModelError, ArithmeticError):  # such parameters have no standard error
            return np.array([value for _, value in here])

    limits = item.block.limits
    # A fixed parameter is moved too, to see which numbers depend on it.
    limits = np.where(limits[:, :1] < limits[:, 1:], limits, [-np.inf, np.inf])
    slopes = differences(numbers, item.values, limits)
    for (name, value), slope in zip(here, slopes, strict=True):
        yield name, value, slope


def _error(slope: Floats, covariance: Floats, notes: Sequence[str]) -> tuple[float, str]:
    """Return the standard error of a function of parameters, and why there is none."""
    used = [at for at, note in enumerate(notes) if abs(slope[at]) > _NONE and note != "fixed"]
    if not used:
        return math.nan, "fixed"
    if note := next((notes[at] for at in used if notes[at]), ""):
        return math.nan, note
    variance = float(slope[used] @ covariance[np.ix_(used, used)] @ slope[used])
    return math.sqrt(max(variance, 0.0)), ""


def model_numbers(
    model: ResponseModel | None,
    parents: Sequence[Variable],
    link: LinkFunction = IDENTITY,
    first: ResponseModel | None = None,
) -> _Numbers:
    """Return the numbers of a response model, by name; ``first`` is the one of the first start."""
    if model is None:
        return []
    if isinstance(model, Sequential):
        begun = first.steps if isinstance(first, Sequential) else (None,) * len(model.steps)
        return [
            (f"step {number}: {name}", value)
            for number, (step, own) in enumerate(zip(model.steps, begun, strict=True), 1)
            for name, value in model_numbers(step, parents, link, own)
        ]
    if isinstance(model, Gdina) and isinstance(first, GuessSlip):
        # An item of which more skill lowers the chance has a guess and a slip all the same.
        table = model.probabilities.tolist()
        return [("guess", table[0][1]), ("slip", table[-1][0])]
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
    found: _Numbers = []
    # The intercept, then effects of single skills, of pairs, and so on.
    for place in sorted(np.ndindex(delta.shape), key=lambda one: (sum(one), [-has for has in one])):
        names = " × ".join(v.name for v, has in zip(parents, place, strict=True) if has)
        found.append((f"effect of {names}" if names else "intercept", float(delta[place])))
    return found
