r"""How sure the parameters of an item are.

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

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Gt

from bnmind._values import Finite, NonNegative, Value, sealed
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.base.vector import parameter_vector
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Variable

__all__ = ["Certainty", "ParameterCertainty", "TableCertainty", "certainty_faults"]


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
        c, scale = self.covariance, float(np.abs(self.covariance).max(initial=0.0))
        is_square = c.ndim == 2 and c.shape[0] == c.shape[1]
        if not is_square or not np.allclose(c, c.T, rtol=0, atol=1e-9 * scale):
            yield "expected a symmetric covariance of the parameters of an item"
        elif len(c) and np.linalg.eigvalsh(c)[0] < -1e-9 * scale:
            yield "expected a covariance without negative variances in any direction"

    @property
    def errors(self) -> Floats:
        """``(parameters,)``: the standard deviations."""
        return sealed(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))


Certainty: TypeAlias = TableCertainty | ParameterCertainty
"""How sure the parameters of an item are."""


def certainty_faults(
    certainty: Certainty, item: Variable, parents: Sequence[Variable], model: ResponseModel | None
) -> list[str]:
    """Return why something cannot be the certainty of an item; empty if it can."""
    if isinstance(certainty, TableCertainty):
        shape = math.prod(v.n_states for v in parents), item.n_states
        got = len(certainty.rows), certainty.counts.shape[1]
        if got == shape:
            return []
        return [
            f"expected a certainty of {item.name} with {shape[0]} parent configurations and"
            f" {shape[1]} responses, got {got[0]} and {got[1]}"
        ]
    known = certainty.model or model
    n = 0 if known is None else len(parameter_vector(known))
    if n == len(certainty.covariance) and n:
        return []
    return [
        f"expected a covariance of the {n} parameters of item {item.name}, got one of"
        f" {len(certainty.covariance)}"
    ]
