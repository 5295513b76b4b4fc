r"""The parameters of items: standard errors, coefficients, and tests of simpler models.

A learned bank is taken by classes of profiles, which have their slopes and scores:

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

The covariance Σ of the parameters is I⁻¹. Parameters that the responses do not identify have none:
I is singular in their direction. If there are fewer response patterns than parameters, I is that of
each item by itself.

`coefficients` are the parameters of the items in the words of their models:

==================  ======================================================================
symbol              name here
==================  ======================================================================
f(x)                ``numbers``: the fields of the item's response model; of `Gdina` the δ
J                   the slopes of f, by differences
J Σ Jᵀ              the covariance of f (delta method)
g(P_c)              Σ_S δ_S over the sets S of skills of configuration c; g is the link
==================  ======================================================================

A parameter has no standard error if it is fixed, at a bound, held by the order of the chances, or
not identified by the responses, and then says so.

Simpler models of the items of a G-DINA model are tested by Wald and likelihood-ratio tests:

==================  ======================================================================
symbol              name here
==================  ======================================================================
f(P)                ``values``: P, logit P or ln P of the chances P of the configurations
Σ                   ``covariance`` of f(P), by the delta method
R                   ``constraints``: R f(P) = 0 if the simpler model is true
W                   (R f)ᵀ (R Σ Rᵀ)⁻¹ (R f), chi-squared with as many degrees as R has rows
==================  ======================================================================

=======  ========  =========================================================
model    link      f(P) is a linear function of
=======  ========  =========================================================
dina     P         whether all skills are there
dino     P         whether any skill is there
acdm     P         the skills, without interactions
llm      logit P   the skills, without interactions
rrum     ln P      the skills, without interactions
=======  ========  =========================================================

The *two-step* likelihood-ratio test keeps the posterior of the profiles under the G-DINA model:

==================  ======================================================================
symbol              name here
==================  ======================================================================
N_c, R_c            ``counts``: the expected numbers of examinees with configuration c, and of
                    their right responses, given the responses
ℓ(P)                Σ_c R_c ln P_c + (N_c − R_c) ln(1 − P_c)
2 (ℓ(P̂) − ℓ(P̃))     the statistic: P̂ of the G-DINA model, P̃ the most likely of the simpler one
==================  ======================================================================

It is compared with a chi-squared distribution; its degrees are the parameters saved.

References
----------
T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R. Stat. Soc. B
1982; M. Philipp, C. Strobl, J. de la Torre and A. Zeileis, "On the estimation of standard errors in
cognitive diagnosis models", J. Educ. Behav. Stat. 2018 (I includes the parameters of the skills);
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011, equations 1 to 3 (δ with
the identity, logit and log link) and 21 (W).

J. de la Torre and Y.-S. Lee, "Evaluating the Wald test for item-level comparison of saturated and
reduced models
in cognitive diagnosis", J. Educ. Meas. 2013; W. Ma, C. Iaconangelo and J. de la Torre, "Model
similarity, model selection, and attribute classification", Appl. Psychol. Meas. 2016 (the choice);
S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 1979; M. Sorrel,
J. de la Torre, F. Abad and J. Olea, "Two-step likelihood ratio test for item-level model comparison
in cognitive diagnosis models", Methodology 2017.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, cached_property
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._display import finite, frame_html, picked
from bnmind._values import Sealed, Shape, Value
from bnmind.adaptive.belief_tables import n_profiles
from bnmind.adaptive.formulas import (
    IDENTITY,
    LOG,
    LOGIT,
    LinkFunction,
    ResponseModel,
    number_fields,
)
from bnmind.adaptive.learning.blocks import ItemBlock, ItemRule, Priors
from bnmind.adaptive.learning.em import Patterns, TableExpectation
from bnmind.adaptive.learning.forms import differences
from bnmind.adaptive.learning.learn import Learned, block_of, item_rules
from bnmind.adaptive.models import RESPONSE_MODELS, Nominal, model_name
from bnmind.adaptive.skill_models import Gdina, GuessSlip, Sequential, made_for_skills
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError
from bnmind.fitting.expectation import inverse_information
from bnmind.information import Floats
from bnmind.pgm import Variable

if TYPE_CHECKING:
    import pandas

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
    chances
        ``(responses, classes)``.
    slopes
        ``(responses, classes, parameters)``: the derivatives of the chances.
    given
        ``(patterns, responses)``: whether each pattern has each response.
    """

    name: str
    block: ItemBlock
    number: int
    values: Floats
    places: NDArray[np.intp]
    chances: Floats
    slopes: Floats
    given: Floats

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
        form, x = self.block.form, self.block.rows(self.values)
        none = np.zeros_like(form.table(x))
        _, information = form.score_with_priors(x, none, none + 1)
        curvature: Floats = information[0]
        return curvature


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
            tables, slopes = block.response_parameters(values), block.slopes(values)
            for number, (rule, part) in enumerate(zip(block.rules, block.own, strict=True)):
                # An item with parameters of its own is a block of its own.
                low, high = block.limits[part].T
                groups = (expectation.places[row] - next(starts)) // n_responses
                found.append(
                    ClassItem(
                        name=rule.name,
                        block=block if block.shared else dataclasses.replace(block, rules=(rule,)),
                        number=number if block.shared else 0,
                        values=values[part],
                        places=np.arange(end, end + len(values))[part],
                        chances=tables[number][groups].T,
                        slopes=np.where(low == high, 0.0, slopes[number][: len(part), groups].T),
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


_NOTHING = 1e3
"""A parameter with a larger standard error is not identified."""


def parameter_covariance(classes: Classes) -> tuple[Floats, bool]:
    """Return the covariances of the items' parameters, block after block; nan where undefined.

    And whether they are item by item; see `Coefficients`.
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
    parts = [np.flatnonzero(is_free)]
    if alone:
        names = np.array([name for block in blocks for name, _ in block.parameters], dtype=object)
        parts = [np.flatnonzero(is_free[:n_items] & (names == name)) for name in set(names)]
        everything[np.ix_(is_free, is_free)] = 0.0
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
    covariance: Annotated[Floats, Shape("rows", "rows")]
    """The covariances of the numbers in ``rows``; nan where there are none."""
    item_by_item: bool = field(kw_only=True)
    """Whether the responses have fewer patterns than there are parameters. Then the information
    about all of them is singular, and the errors of an item take all other parameters for known."""

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
    covariance, alone = parameter_covariance(classes)
    lowest, highest = classes.expectation.classes[[0, -1]]
    rows, chances, every = [], [], [np.zeros((0, classes.n_parameters))]
    for item, known in zip(classes.items, learned.items, strict=True):
        rule, own = item.block.rules[item.number], covariance[np.ix_(item.places, item.places)]
        numbers = _numbers(item, rule, link)
        if item.name not in learned.options.fixed:
            # The other numbers are those of the model, whatever the responses.
            numbers = [one for one in numbers if np.any(np.abs(one[2]) > _NONE)]
        n = len(numbers)
        numbers.append(("guess", known.guess, item.slopes[0, lowest]))
        numbers.append(("slip", known.slip, item.slopes[-1, highest]))
        reasons, model = _reasons(item, own.diagonal()), model_name(rule.model)
        found = []
        for name, value, slope in numbers:
            note = _reason(slope, reasons)
            variance = math.nan if note else float(slope @ np.nan_to_num(own) @ slope)
            error = math.sqrt(max(variance, 0.0))
            found.append(Coefficient(item.name, model, name, value=value, error=error, note=note))
        rows += found[:n]
        chances += found[n:]
        slopes = np.zeros((n, classes.n_parameters))
        slopes[:, item.places] = np.array([slope for _, _, slope in numbers[:n]])
        every.append(slopes)
    slopes = np.concatenate(every)
    whole = slopes @ np.nan_to_num(covariance) @ slopes.T
    unknown = np.array([bool(row.note) for row in rows], dtype=np.bool_)
    whole[unknown] = whole[:, unknown] = np.nan
    return Coefficients(tuple(rows), tuple(chances), whole, item_by_item=alone)


def _reasons(item: ClassItem, variances: Floats) -> list[str]:
    """Return why each parameter has no standard error; an empty text if it has one."""
    low, high = item.block.limits.T
    at_bound = (item.values <= low + _EDGE) | (item.values >= high - _EDGE)
    reasons = np.select(
        [~np.isnan(variances), low >= high, at_bound],
        ["", "fixed", "at a bound"],
        "held by the order of chances, or not identified",
    )
    return [str(reason) for reason in reasons]


def _reason(slope: Floats, reasons: Sequence[str]) -> str:
    """Return why a function of parameters has no standard error; an empty text if it has one."""
    used = [why for why, own in zip(reasons, slope, strict=True) if abs(own) > _NONE]
    free = [why for why in used if why != "fixed"]
    return next(filter(None, free), "" if free else "fixed")


def _numbers(
    item: ClassItem, rule: ItemRule, link: LinkFunction
) -> list[tuple[str, float, Floats]]:
    """Return name and value of each number of an item, and its slopes by the parameters."""

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
    return [(name, value, slope) for (name, value), slope in zip(here, slopes, strict=True)]


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
    for name, value in number_fields(model).items():
        label = _SINGULAR.get(name, name)
        if not isinstance(value, tuple):
            found.append((label, value))
            continue
        by_skill = len(value) == len(parents) and name != "thresholds"
        by_skill = by_skill and not isinstance(model, Nominal)
        places = [f"of {v.name}" for v in parents] if by_skill else range(1, len(value) + 1)
        found += [(f"{label} {at}", x) for at, x in zip(places, value, strict=True)]
    return found


def _of_table(table: Floats, parents: Sequence[Variable], link: LinkFunction) -> _Numbers:
    """Return the δ of a table, or its chances if skills have levels or there are more responses."""
    if table.shape[1] > 2 or any(v.n_states != 2 for v in parents):
        states = product(*(map(str, v.states) for v in parents))
        return [
            (f"P({response} | {', '.join(state)})", chance)
            for state, row in zip(states, table.tolist(), strict=True)
            for response, chance in enumerate(row[1:], 1)
        ]
    delta = link.of(np.clip(table[:, 1], 1e-12, 1 - 1e-12)).reshape((2,) * len(parents))
    for axis in range(len(parents)):
        low, high = np.split(delta, 2, axis=axis)
        delta = np.concatenate([low, high - low], axis=axis)
    found: _Numbers = []
    # The intercept, then effects of single skills, of pairs, and so on.
    for place in sorted(np.ndindex(delta.shape), key=lambda one: (sum(one), [-has for has in one])):
        names = " × ".join(v.name for v, has in zip(parents, place, strict=True) if has)
        found.append((f"effect of {names}" if names else "intercept", float(delta[place])))
    return found


# --- Simpler models of items ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ModelTest(Value):
    """A test of a simpler model of an item."""

    model: str
    """The name of the simpler model."""
    statistic: float
    """W, or twice the loss of the log-likelihood; nan if there are no degrees of freedom."""
    degrees: int
    """The Wald test leaves out constraints on chances at a bound, pooled or not identified, which
    have no variance."""
    p_value: float
    """The probability of at least this statistic if the simpler model is true."""
    corrected_p: float
    """The same, corrected for the number of items that the model is tested for (Holm)."""


@dataclass(frozen=True, kw_only=True)
class ReducedModel(Value):
    """The tests of the simpler models of an item, and the model that they leave."""

    item: str
    """The name of the item."""
    method: str
    """The name of the tests: Wald or two-step likelihood ratio."""
    tests: tuple[ModelTest, ...]
    """The test of each simpler model."""
    chosen: str
    """The model that is chosen: of the simpler ones that are not rejected, DINA or DINO if there,
    else that with the largest p; ``gdina`` if all are rejected or none can be tested."""

    def __getitem__(self, model: str) -> ModelTest:
        """Return the test of a model."""
        return next(test for test in self.tests if test.model == model)

    def to_dict(self) -> dict[str, Any]:
        """Return the tests as a record for JSON."""
        tests = [
            picked(test, "model", "statistic", "degrees", "corrected_p", p="p_value")
            for test in self.tests
        ]
        return dict(finite({**picked(self, "item", "method", "chosen"), "tests": tests}))


_Statistic: TypeAlias = Callable[[str, str, LinkFunction, Floats], tuple[float, int]]
"""The statistic of an item and a simpler model, and its degrees of freedom.

Given are the link of the model, and the columns that f(P) is a combination of.
"""


@checked
def reduced_models(
    learned: Learned,
    *,
    alpha: float = 0.05,
    by_ratio: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ReducedModel, ...]:
    """Return tests of simpler models of all items with a G-DINA model of two or more binary skills.

    Parameters
    ----------
    learned
        A learned bank; items with other models are left out.
    alpha
        A simpler model is rejected if p is smaller.
    by_ratio
        Whether to compare the likelihoods, in two steps; by default the tests are those of Wald.
    progress
        Called after each item with the number of tested items and of all.

    Raises
    ------
    InvalidArgumentError
        If ``alpha`` is not between 0 and 1, or the bank has no such item.
    TooLargeError
        If Wald tests are asked for, and there are too many profiles for a table over all of them.

    Examples
    --------
    >>> from bnmind.adaptive import Gdina, ItemBank, Responses, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Responses.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 1000, seed=1).codes
    >>> found = reduced_models(learn(seen, q, gate=Gdina), by_ratio=True)
    >>> [(item.item, item.method, item.chosen) for item in found]
    [('item_3', 'two-step likelihood ratio', 'dina'), ('item_6', 'two-step likelihood ratio', \
'dina')]
    """
    if not 0 < alpha < 1:
        raise InvalidArgumentError(f"expected an alpha between 0 and 1, got {alpha}", alpha)
    bank = learned.bank
    tested: dict[str, int] = {}
    for item in bank.items:
        scope = bank.network.cpd(item.name).scope
        if isinstance(item.gate, Gdina) and len(scope) > 2 and {v.n_states for v in scope} == {2}:
            tested[item.name] = len(scope) - 1
    if not tested:
        raise InvalidArgumentError(
            "expected items with a G-DINA model of two or more binary skills; learn with"
            " gate=Gdina",
            bank.title,
        )
    statistic = _likelihood_ratios(learned) if by_ratio else _wald_tests(learned)
    found: list[list[tuple[float, int]]] = []
    for name, n_skills in tested.items():
        found.append([statistic(name, model, *form) for model, form in _designs(n_skills).items()])
        if progress is not None:
            progress(len(found), len(tested))
    # p-values, and corrected ones, by item and model.
    p_values = p_of(*np.moveaxis(np.array(found), 2, 0))
    each = zip(
        found, p_values.tolist(), np.apply_along_axis(holm, 0, p_values).tolist(), strict=True
    )
    method, rows = "two-step likelihood ratio" if by_ratio else "Wald", []
    for name, of_item in zip(tested, each, strict=True):
        tests = tuple(
            ModelTest(model=model, statistic=one, degrees=degrees, p_value=p, corrected_p=corrected)
            for model, (one, degrees), p, corrected in zip(_designs(1), *of_item, strict=True)
        )
        kept = [test for test in tests if test.p_value >= alpha]
        first = [test for test in kept if test.model in ("dina", "dino")]
        chosen = max(first or kept, key=lambda test: test.p_value).model if kept else "gdina"
        rows.append(ReducedModel(item=name, method=method, tests=tests, chosen=chosen))
    return tuple(rows)


def _designs(n_skills: int) -> dict[str, tuple[LinkFunction, Floats]]:
    """Return the link of each model, and the columns that f(P) is a combination of.

    The columns are ``(configurations, columns)``; the models have the names of `RESPONSE_MODELS`.
    """
    skills = np.array(list(product((0.0, 1.0), repeat=n_skills)))
    one = np.ones(len(skills))
    effects = np.column_stack([one, skills])
    return {
        "dina": (IDENTITY, np.column_stack([one, skills.min(axis=1)])),
        "dino": (IDENTITY, np.column_stack([one, skills.max(axis=1)])),
        "acdm": (IDENTITY, effects),
        "llm": (LOGIT, effects),
        "rrum": (LOG, effects),
    }


def _wald_tests(learned: Learned) -> _Statistic:
    """Return a function that returns W."""
    from scipy.linalg import null_space

    classes = Classes.of(learned)
    covariance, _ = parameter_covariance(classes)
    items = {item.name: item for item in classes.items}

    def statistic(name: str, _: str, link: LinkFunction, design: Floats) -> tuple[float, int]:
        item = items[name]
        known = ~np.isnan(covariance.diagonal()[item.places])
        chances, places = item.values[known], item.places[known]
        constraints = null_space(design[known].T).T if known.any() else np.zeros((0, 0))
        values = link.of(chances)
        slopes = 1 / link.rates(1 - chances, chances)[0]
        spread = covariance[np.ix_(places, places)] * np.outer(slopes, slopes)
        off = constraints @ values
        inverse = np.linalg.pinv(constraints @ spread @ constraints.T, hermitian=True)
        return float(off @ inverse @ off) if len(off) else math.nan, len(off)

    return statistic


_M_STEPS = 200
"""The most M-steps for a simpler model; those of one link need one."""

_CLOSE = 1e-9
_EMPTY = 1e-6
"""Configurations with a smaller expected number of examinees save no parameter."""


def _likelihood_ratios(learned: Learned) -> _Statistic:
    """Return a function that returns twice the loss of the log-likelihood."""
    counts, options = expected_counts(learned), learned.options
    rules = {rule.name: rule for rule in item_rules(learned.model.bank, options)}

    def most(rule: ItemRule, cells: Floats) -> float:
        """Return the largest ℓ of the configurations of an item."""
        block = block_of((rule,), options)
        assert block is not None
        counts, values = np.zeros((1, *block.shape)), block.start()
        np.add.at(counts[0], block.groups[0], cells)
        best = -math.inf
        for _ in range(_M_STEPS):
            values = block.maximize(values, counts)
            chances = block.response_parameters(values)[0][block.groups[0]]
            before, best = best, float((cells * np.log(np.maximum(chances, 1e-300))).sum())
            if best <= before + _CLOSE:
                break
        return best

    full = cache(lambda name: most(rules[name], counts[name]))

    def statistic(name: str, model: str, _: LinkFunction, design: Floats) -> tuple[float, int]:
        rule, cells = rules[name], counts[name]
        n, used = len(rule.parents), cells.sum(axis=1) > _EMPTY
        made = made_for_skills(RESPONSE_MODELS[model].make, (1,) * n, (2,) * n, guess=0.2, slip=0.2)
        loss = 2 * (full(name) - most(dataclasses.replace(rule, model=made), cells))
        degrees = int(used.sum() - np.linalg.matrix_rank(design[used]))
        return max(loss, 0.0) if degrees else math.nan, degrees

    return statistic


def expected_counts(learned: Learned) -> dict[str, Floats]:
    """Return the expected numbers of examinees, ``(groups, responses)``, by item.

    The groups are those of the configurations of the item's parents; see `ItemBlock.groups`.
    """
    layout, expectation = (
        learned.model.layout,
        learned.model.expectation(learned.responses, learned.options),
    )
    chances = layout.response_parameters(learned.parameters.items)
    expected = layout.parts(expectation(chances, learned.parameters.skills).counts)
    return {
        name: of_item
        for block, part in zip(layout.blocks, expected, strict=True)
        for name, of_item in zip(block.names, part, strict=True)
    }


def p_of(statistic: ArrayLike, degrees: ArrayLike) -> Floats:
    """Return the chance of at least a statistic that is chi-squared; nan without degrees."""
    from scipy.special import chdtrc

    p: Floats = np.where(np.greater(degrees, 0), chdtrc(np.maximum(degrees, 1), statistic), np.nan)
    return p


def holm(p_values: Floats) -> Floats:
    """Return p-values corrected for their number, by Holm's method; nan stays nan.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    left = len(order) - np.arange(len(order))
    corrected = np.full(len(p_values), np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * left), 1.0)
    return corrected
