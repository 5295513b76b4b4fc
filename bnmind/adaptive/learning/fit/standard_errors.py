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
identify have none either: I is singular in their direction. A saturated distribution of the
skills is treated as a distribution over the classes of profiles that the items distinguish.

References
----------
T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R.
Stat. Soc. B 1982; M. Philipp, C. Strobl, J. de la Torre and A. Zeileis, "On the estimation
of standard errors in cognitive diagnosis models", J. Educ. Behav. Stat. 2018 (I includes the
parameters of the skills).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.profile_space import n_profiles
from bnmind.adaptive.learning.em.e_step_table import TableExpectation, placed_sums
from bnmind.adaptive.learning.em.response_layout import Patterns
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.parameters.block import ItemBlock
from bnmind.errors import TooLargeError
from bnmind.fitting.standard_errors import inverse_information
from bnmind.information import Floats

__all__ = [
    "ItemParameter",
    "StandardErrors",
    "skill_scores",
    "standard_errors",
    "table_expectation",
]

_STEP = 1e-6
_EDGE = 1e-4
"""Parameters this close to their bound count as at the bound."""

_RARE = 0.1
"""Profiles with a smaller expected number of examinees count as of probability zero."""


@dataclass(frozen=True)
class ItemParameter(CheckedValue):
    """A parameter of an item."""

    item: str
    name: str
    value: float
    error: float
    """The standard error; nan if there is none."""


@dataclass(frozen=True, eq=False)
class StandardErrors(CheckedValue):
    """The standard errors and covariances of the parameters of the items."""

    items: tuple[ItemParameter, ...]
    """The parameters of all items."""
    covariance: Floats
    """``(parameters, parameters)`` in the order of ``items``; nan where undefined."""

    @checked
    def of(self, item: str) -> dict[str, float]:
        """Return the standard errors of an item's parameters, by name."""
        return {p.name: p.error for p in self.items if p.item == item}


@checked
def standard_errors(learned: Learned) -> StandardErrors:
    """Return the standard errors of the items' parameters, from the observed information.

    Raises
    ------
    TooLargeError
        If there are too many profiles for a table over all of them.
    """
    expectation = table_expectation(learned)
    scores, free, n_items = _scores(learned, expectation)
    weights = expectation.patterns.counts
    information = (scores[:, free] * weights[:, None]).T @ scores[:, free]
    inverse = inverse_information(information)
    everything = np.full((scores.shape[1], scores.shape[1]), np.nan)
    everything[np.ix_(free, free)] = inverse
    covariance = everything[:n_items, :n_items]
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
    return StandardErrors(items, covariance)


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
    n_response_parameters, places = len(response_parameters), expectation.places
    # The posterior probability of each group and response, for each pattern.
    inside = np.zeros((len(posterior), n_response_parameters))
    for row, place in enumerate(places):
        summed = np.zeros((n_response_parameters, len(place)))
        summed[place, np.arange(len(place))] = 1.0
        used = np.unique(place)
        inside[:, used] += (posterior @ summed[used].T) * expectation.indicators[:, row, None]
    columns, free = [], []
    end = number = 0
    for block, values in zip(layout.blocks, learned.parameters.items, strict=True):
        size = block.response_parameters(values).size
        part = slice(end, end + size)
        end += size
        limits = block.limits
        for place, value in enumerate(values.tolist()):
            low, high = limits[place]
            step = _STEP * max(1.0, abs(value))
            up, down = values.copy(), values.copy()
            up[place], down[place] = min(value + step, high), max(value - step, low)
            width = up[place] - down[place]
            inner = low + _EDGE < value < high - _EDGE and _is_free(block, values, place)
            columns.append(
                inside[:, part]
                @ _log_slope(
                    block.response_parameters(up),
                    block.response_parameters(down),
                    response_parameters[part],
                    width,
                )
                if width > 0
                else np.zeros(len(inside))
            )
            if inner:
                free.append(number)
            number += 1
    n_items = number
    for column in skill_scores(learned, expectation, posterior):
        columns.append(column)
        free.append(number)
        number += 1
    return np.stack(columns, axis=1), np.array(free, dtype=np.intp), n_items


def _is_free(block: ItemBlock, values: Floats, place: int) -> bool:
    """Return whether a parameter can move in both directions without violating the order."""
    for sign in (1, -1):
        moved = values.copy()
        moved[place] += sign * _EDGE
        if not block.valid(moved):
            return False
    return True


def _log_slope(up: Floats, down: Floats, probabilities: Floats, width: float) -> Floats:
    """Return the derivative of the logarithm of each response probability."""
    change = (up - down).reshape(-1) / width
    slope: Floats = np.divide(
        change, probabilities, out=np.zeros_like(probabilities), where=probabilities > 0
    )
    return slope


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
    of_class = placed_sums(classes, prior, posterior.shape[1])
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
            columns.append(masses @ (spread.squares - table @ spread.squares))
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
