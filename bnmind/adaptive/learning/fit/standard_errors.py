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

References
----------
T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R.
Stat. Soc. B 1982; M. Philipp, C. Strobl, J. de la Torre and A. Zeileis, "On the estimation
of standard errors in cognitive diagnosis models", J. Educ. Behav. Stat. 2018 (I includes the
parameters of the skills).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.beliefs.profile_space import n_profiles
from bnmind.adaptive.learning.em.e_step_table import TableExpectation, placed_sums
from bnmind.adaptive.learning.em.response_layout import Patterns
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.parameters.block import ItemBlock
from bnmind.adaptive.learning.parameters.curves.block import CurveBlock
from bnmind.adaptive.learning.parameters.options import Priors
from bnmind.errors import TooLargeError
from bnmind.fitting.standard_errors import inverse_information
from bnmind.information import Floats

__all__ = [
    "ItemParameter",
    "StandardErrors",
    "block_covariance",
    "item_slopes",
    "skill_scores",
    "standard_errors",
    "table_expectation",
]

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
        if isinstance(block, CurveBlock):
            # As in the M-step: that of a log-normal density is on the scale of the logarithm.
            _, _, bends = block.kind.log_prior(
                block.kind.inner(values.reshape(len(block.rules), -1))
            )
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
    parts, free = [], []
    end = number = row = 0
    for block, values in zip(layout.blocks, learned.parameters.items, strict=True):
        part = np.zeros((len(posterior), len(values)))
        n_groups, n_responses = block.shape
        for columns, slopes in item_slopes(block, values):
            chances = response_parameters[end : end + n_groups * n_responses]
            logs = np.divide(
                slopes, chances[:, None], out=np.zeros_like(slopes), where=chances[:, None] > 0
            )
            for _ in range(n_responses):
                # The score given the class, averaged over the classes.
                by_class = posterior @ logs[expectation.places[row] - end]
                part[:, columns] += by_class * expectation.indicators[:, row, None]
                row += 1
            end += n_groups * n_responses
        parts.append(part)
        for place, (value, (low, high)) in enumerate(
            zip(values.tolist(), block.limits, strict=True)
        ):
            if low + _EDGE < value < high - _EDGE and _is_free(block, values, place):
                free.append(number)
            number += 1
    n_items = number
    for column in skill_scores(learned, expectation, posterior):
        parts.append(column[:, None])
        free.append(number)
        number += 1
    empty = np.zeros((len(posterior), 0))
    return np.concatenate([empty, *parts], axis=1), np.array(free, dtype=np.intp), n_items


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
    for sign in (1, -1):
        moved = values.copy()
        moved[place] += sign * _EDGE
        if not block.valid(moved):
            return False
    return True


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
