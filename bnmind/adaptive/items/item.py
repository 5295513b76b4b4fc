r"""Items, and how certain the parameters of their response models are.

How sure the parameters of an item are.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
θ_c                    row c of the item's table: the chances of the responses in one group
                       of parent configurations
θ_c ~ Dirichlet(a_c)   `TableCertainty`, with a_c in ``counts``
φ ~ N(φ₀, C)           `ParameterCertainty`: the parameters of the response model, with C in
                       ``covariance`` (Laplace's approximation)
E[θ_c]                 `mean_table`: a_c / Σ a_c; for a curve by Gauss-Hermite quadrature
L_k                    `deviations`: the covariance of the cells of the table is Σ_k L_k ⊗ L_k
=====================  ===================================================================

An examinee answers an item once, so a likelihood holds one cell of each item's table. If the
parameters of different items are independent, the expected likelihood is therefore the likelihood
of the expected tables:

.. math:: P(s | x) ∝ P(s) ∫ \prod_i θ_{i, c_i(s), x_i} dP(θ) = P(s) \prod_i E[θ_{i, c_i(s), x_i}]

So `ItemBank.averaged`, a bank of mean tables, carries the uncertainty of the parameters exactly
into selection and into posteriors; parameters of the same item may depend on each other.

References
----------
D. Spiegelhalter and S. Lauritzen, "Sequential updating of conditional probabilities on directed
graphical structures", Networks 1990 (mean tables); C. Lewis, "Expected response functions", in
*Essays on Item Response Theory*, Springer 2001 (the same for curves).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Gt

from bnmind._values import Finite, NonNegative, Value, sealed
from bnmind.adaptive.formulas import ResponseModel, model_near, parameter_vector, response_channel
from bnmind.adaptive.skill_models import Gdina, GuessSlip
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import CPD
from bnmind.pgm.variable import format_name


@dataclass(frozen=True, eq=False)
class TableCertainty(Value):
    """The rows of a table have independent Dirichlet distributions.

    Parameters
    ----------
    counts
        ``(rows, responses)``, positive: the parameters of the Dirichlet distribution of each row,
        about the number of answers that tell of it plus 1.
    rows
        The row of each parent configuration, in the order of the parents in the network; the last
        one changes fastest. Configurations that the response model does not distinguish share a
        row.
    answers
        The number of examinees who answered the item.

    Examples
    --------
    >>> certainty = TableCertainty([[9, 3], [2, 6]], (0, 0, 0, 1))
    >>> certainty.means.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    counts: Annotated[Floats, Gt(0), Finite]
    rows: tuple[int, ...]
    answers: NonNegative = 0.0

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        rows, shape = sorted(set(self.rows)), self.counts.shape
        if len(shape) != 2:
            yield f"expected counts (rows, responses) as certainty of a table, got shape {shape}"
        elif rows != list(range(shape[0])):
            yield f"expected the rows 0 to {shape[0] - 1} for the parent configurations, got {rows}"

    @property
    def means(self) -> Floats:
        """``(rows, responses)``: the expected chances."""
        return sealed(self.counts / self.counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class ParameterCertainty(Value):
    """The parameters of a response model have a joint normal distribution.

    Parameters
    ----------
    covariance
        ``(parameters, parameters)`` of the numbers in the fields of the response model, in their
        order; of a curve of one ability the intercepts −a b stand in place of difficulties and
        thresholds b. A parameter with variance zero is certain.
    answers
        The number of examinees who answered the item.
    model
        The response model whose parameters are the means; None for that of the item.

    Examples
    --------
    >>> ParameterCertainty([[0.04, 0.0], [0.0, 0.09]]).errors.tolist()
    [0.2, 0.3]
    """

    covariance: Annotated[Floats, Finite]
    answers: NonNegative = 0.0
    model: ResponseModel | None = None

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        c, least = self.covariance, 1e-9 * float(np.abs(self.covariance).max(initial=0.0))
        if c.shape != c.T.shape or c.ndim != 2 or np.any(np.abs(c - c.T) > least):
            yield "expected a symmetric covariance of the parameters of an item"
        elif len(c) and np.linalg.eigvalsh(c)[0] < -least:
            yield "expected a covariance without negative variances in any direction"

    @property
    def errors(self) -> Floats:
        """``(parameters,)``: the standard deviations."""
        return sealed(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))


Certainty: TypeAlias = TableCertainty | ParameterCertainty
"""How sure the parameters of an item are."""


def certainty_faults(item: Item, cpd: CPD) -> Iterator[str]:
    """Yield why an item cannot have its certainty, given its distribution."""
    certainty = item.certainty
    if isinstance(certainty, TableCertainty):
        rows, responses = _shape(cpd)
        known_rows, known_responses = len(certainty.rows), certainty.counts.shape[1]
        if (known_rows, known_responses) != (rows, responses):
            yield (
                f"expected a certainty of {item.name} with {rows} parent configurations and"
                f" {responses} responses, got {known_rows} and {known_responses}"
            )
    elif certainty is not None:
        known = certainty.model or item.gate
        n = 0 if known is None else len(parameter_vector(known))
        if n != (got := len(certainty.covariance)) or not n:
            of = f"the {n} parameters of item {item.name}"
            yield f"expected a covariance of {of}, got one of {got}"


@dataclass(frozen=True)
class Item(Value):
    """A question of a test.

    The required skills and the probabilities of the responses are part of the network of
    the `ItemBank`, in the variable of the same name.

    Parameters
    ----------
    name
        The name of its variable: any text in one line. A whole number is stored as text.
    content
        A code for the content area, used to balance tests; empty if none.
    text
        The wording.
    picture
        The name of a picture's file beside that of the bank, or a ``data:image/`` address; empty
        if there is none.
    choices
        The answers that an examinee may choose, each with the response that it counts as, such
        as ``(("4/5", "1"), ("2 1/5", "0"))``; empty if the responses themselves are chosen.
    shuffle
        Whether each examinee may see the choices in another order.
    cost
        The cost of asking it, positive, in any unit.
    time
        The time that it takes, at least zero, in any unit.
    enemies
        Names of items that must not be asked in the same test.
    testlet
        The name of the group of items to be asked together; empty if none.
    gate
        The response model of its distribution, if there is one.
    certainty
        How sure its parameters are, if that is known; see `ItemBank.averaged`.

    Raises
    ------
    InvalidModelError
        If a cost or a time is out of range, or the item is its own enemy. All faults are
        reported at once.

    Examples
    --------
    >>> Item("item_7", text="3 - 2 1/5", content="mixed numbers").cost
    1.0
    """

    name: str
    _: KW_ONLY
    content: str = ""
    text: str = ""
    picture: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    shuffle: bool = True
    cost: float = 1.0
    time: float = 1.0
    enemies: tuple[str, ...] = ()
    testlet: str = ""
    gate: ResponseModel | None = None
    certainty: Certainty | None = None

    _error = InvalidModelError

    def __post_init__(self) -> None:
        self._set(name=format_name(self.name))
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        if not 0 < self.cost < math.inf:
            yield f"the cost of item {self.name} must be positive, got {self.cost:g}"
        if not 0 <= self.time < math.inf:
            yield f"the time of item {self.name} must be at least 0, got {self.time:g}"
        if len(dict(self.choices)) < len(self.choices):
            yield f"the choices of item {self.name} must have each text once"
        if self.name in self.enemies:
            yield f"item {self.name} cannot be its own enemy"


_NODES = 7
"""The nodes of the quadrature for each dimension."""

_MOST_DIMENSIONS = 3
"""Up to this number of dimensions the nodes form a grid; above it they lie on the axes."""

_STEP = 1e-4
_NONE = 1e-12
"""Directions with a smaller variance are certain."""


_LEAST = 1e-6
_MOST_COUNTS = 1e6


def mean_table(item: Item, cpd: CPD) -> Floats:
    """Return the expected table of an uncertain item, ``(parent configurations, responses)``.

    Parameters
    ----------
    item, cpd
        The item, and its distribution in the network.
    """
    if isinstance(item.certainty, TableCertainty):
        return item.certainty.means[list(item.certainty.rows)]
    known, roots = _means_and_roots(item)
    if not len(roots):
        return response_channel(known, cpd.parents)
    nodes, weights = _quadrature(len(roots))
    tables = [response_channel(model_near(known, node @ roots), cpd.parents) for node in nodes]
    mean: Floats = np.tensordot(weights, tables, axes=1)
    return mean


def deviations(item: Item, cpd: CPD) -> Floats:
    """Return the deviations of a table, ``(directions, parent configurations, responses)``.

    The covariance of the cells is the sum over the directions of the products of their entries.
    Those of a curve are derivatives. An item without a certainty has no direction.
    """
    certainty, directions = item.certainty, list[Floats]()
    if isinstance(certainty, TableCertainty):
        rows, totals = np.array(certainty.rows), certainty.counts.sum(axis=1)
        for row, mean in enumerate(certainty.means):
            for root in _roots((np.diag(mean) - np.outer(mean, mean)) / (totals[row] + 1)):
                directions.append(np.where((rows == row)[:, None], root, 0.0))
    elif certainty is not None:
        known, roots = _means_and_roots(item)
        for root in roots:
            up, down = (model_near(known, sign * _STEP * root) for sign in (1, -1))
            moved = parameter_vector(up) - parameter_vector(down)
            width = float(moved @ root) / float(root @ root)
            change = response_channel(up, cpd.parents) - response_channel(down, cpd.parents)
            directions.append(change / width if width else np.zeros_like(change))
    return np.array(directions).reshape(-1, *_shape(cpd))


def table_certainty(item: Item, cpd: CPD) -> TableCertainty:
    """Return about the same certainty of an item for the rows of the table by themselves.

    Each row has the mean of the table, and so many counts that its variances are met, by their
    median over the responses. Equal rows are one. Other rows that have parameters in common depend
    on each other, which the result does not know.
    """
    certainty = item.certainty
    assert certainty is not None
    if isinstance(certainty, TableCertainty):
        return certainty
    mean = np.maximum(mean_table(item, cpd), _LEAST)
    mean /= mean.sum(axis=1, keepdims=True)
    variances = (deviations(item, cpd) ** 2).sum(axis=0)
    totals = np.median(mean * (1 - mean) / np.maximum(variances, 1 / _MOST_COUNTS) - 1, axis=1)
    counts = mean * np.clip(totals, 1.0, _MOST_COUNTS)[:, None]
    # Equal rows are those that the model does not distinguish.
    _, first, rows = np.unique(counts.round(6), axis=0, return_index=True, return_inverse=True)
    return TableCertainty(counts[first], tuple(rows.reshape(-1).tolist()), certainty.answers)


def _shape(cpd: CPD) -> tuple[int, int]:
    """Return the numbers of parent configurations and of responses."""
    return math.prod(v.n_states for v in cpd.parents), cpd.variable.n_states


def _means_and_roots(item: Item) -> tuple[ResponseModel, Floats]:
    """Return the model whose parameters are the means, and the roots of their covariance."""
    assert isinstance(item.certainty, ParameterCertainty)
    known = item.certainty.model or item.gate
    assert known is not None  # as `certainty_faults` checks
    return known, _roots(item.certainty.covariance)


def _roots(covariance: Floats) -> Floats:
    """Return vectors whose outer products sum to a covariance, ``(directions, size)``."""
    variances, vectors = np.linalg.eigh(covariance)
    large = variances > _NONE
    roots: Floats = (vectors[:, large] * np.sqrt(variances[large])).T
    return roots


def _quadrature(n: int) -> tuple[Floats, Floats]:
    """Return nodes ``(nodes, n)`` and weights for the mean under a standard normal distribution.

    A grid of Gauss and Hermite for few dimensions. For many, the nodes ± √n on each axis, which
    are exact for polynomials of degree three.
    """
    if n > _MOST_DIMENSIONS:
        far = np.sqrt(n) * np.eye(n)
        return np.concatenate([far, -far]), np.full(2 * n, 0.5 / n)
    from numpy.polynomial.hermite_e import hermegauss

    places, weights = hermegauss(_NODES)
    weights = weights / weights.sum()
    nodes = np.array(list(product(places, repeat=n)))
    return nodes, np.array([math.prod(row) for row in product(weights, repeat=n)])


def with_table(item: Item, cpd: CPD, table: Floats) -> tuple[Item, CPD]:
    """Return an item with another table ``(parent configurations, responses)``.

    Its response model stays one of a guess and a slip if the table allows it, and is a `Gdina`
    otherwise. The certainty of the parameters stays the same.
    """
    certainty, gate = item.certainty, item.gate
    if isinstance(certainty, ParameterCertainty) and certainty.model is None:
        # The parameters are those of the model before.
        certainty = dataclasses.replace(certainty, model=gate)
    if isinstance(gate, GuessSlip) and table[0, 1] <= table[-1, 1]:
        gate = dataclasses.replace(gate, guess=float(table[0, 1]), slip=float(table[-1, 0]))
    elif gate is not None:
        gate = Gdina(table)
    changed = (Gdina(table) if gate is None else gate).cpd(cpd.variable, cpd.parents)
    return dataclasses.replace(item, gate=gate, certainty=certainty), changed
