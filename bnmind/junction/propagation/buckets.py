"""Bucket elimination of a model without evidence: the tables of a propagation.

Variables are eliminated in a given order (R. Dechter, *Bucket elimination: a unifying framework for
reasoning*, Artificial Intelligence 113, 1999). The bucket of a variable v holds the product of all
tables and messages that depend on v. If S are the other variables of the bucket, the product
divided by its sum over v is the conditional probability P(v | S). The product of all these
conditional probabilities is the model. Only configurations that are possible in the whole model are
kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.junction.graphs.elimination_order import Elimination

__all__ = ["Bucket", "eliminated", "table_in_order"]

_LEAST = 1e-280
"""Possible cells below this, relative to the largest cell, may lose digits."""

_TINIEST = 1e-307
"""The number that stands for a possible configuration whose probability underflows."""

_SAFE_EXPONENT = 900
"""The exponents of two that are far from those of the largest and the least floats."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Bucket:
    """The conditional probability of a variable given its separator, without impossible cells."""

    variable: int
    separator: tuple[int, ...]
    """The other variables, the last eliminated one first."""
    sizes: tuple[int, ...]
    """Their numbers of states."""
    columns: NDArray[np.intp]
    """``(separator, rows)`` the state of each of them in each possible configuration (row)."""
    counts: NDArray[np.intp]
    """``(rows,)`` the number of possible states of the variable in each row."""
    states: NDArray[np.intp]
    """``(cells,)`` these states."""
    table: Floats
    """``(cells,)`` their probabilities."""
    parent: int
    """The position of the bucket of the next variable of the separator in the order; or −1."""
    is_lossy: bool
    """Whether possible cells are so improbable that their digits may be lost."""

    @property
    def n_rows(self) -> int:
        """The number of possible configurations of the separator."""
        return len(self.counts)

    def flat_rows(self, variables: Sequence[int], sizes: Sequence[int]) -> NDArray[np.intp]:
        """Return each row's flat index over some variables, to which this bucket's adds nothing.

        Variables outside of the separator count as in state 0.
        """
        flat = np.zeros(self.n_rows, dtype=np.intp)
        stride = 1
        for variable, size in zip(reversed(variables), reversed(sizes), strict=True):
            if variable in self.separator:
                flat += stride * self.columns[self.separator.index(variable)]
            stride *= size
        return flat

    def flat_cells(self, variables: Sequence[int], sizes: Sequence[int]) -> NDArray[np.intp]:
        """Return each cell's flat index over some of the bucket's variables."""
        flat = np.repeat(self.flat_rows(variables, sizes), self.counts)
        if self.variable in variables:
            place = list(variables).index(self.variable)
            flat += math.prod(sizes[place + 1 :]) * self.states
        return flat


@dataclass(frozen=True, eq=False)
class _Draft:
    """A bucket before cells that are impossible elsewhere are removed."""

    cells: NDArray[np.intp]
    """The flat indices of its positive cells, the separator's variables first, ascending."""
    table: Floats
    shape: tuple[int, ...]
    is_lossy: bool


def table_in_order(scope: Sequence[int], values: Floats, order: Sequence[int]) -> Floats:
    """Return a table with an axis for each variable of ``order``, of size 1 if it is absent."""
    place = {variable: axis for axis, variable in enumerate(scope)}
    axes = [place[variable] for variable in order if variable in place]
    shape = [values.shape[place[v]] if v in place else 1 for v in order]
    return np.transpose(values, axes).reshape(shape)


def eliminated(
    tables: Sequence[tuple[tuple[int, ...], Floats]],
    sizes: Sequence[int],
    elimination: Elimination,
) -> tuple[list[Bucket], float]:
    """Return the bucket of each variable in the order of elimination.

    Parameters
    ----------
    tables
        The scope and the values of each table, which must not be negative.
    sizes
        The number of states of each variable.
    elimination
        The order, with the variables of each bucket.

    Returns
    -------
    buckets, logarithm
        The buckets, and the natural logarithm of the sum of the model over all configurations.

    Raises
    ------
    InvalidModelError
        If the model is zero everywhere.
    """
    cliques, parents = elimination.cliques, elimination.parents
    place = {clique[0]: i for i, clique in enumerate(cliques)}
    waiting: list[list[tuple[tuple[int, ...], Floats]]] = [[] for _ in cliques]
    logarithm = 0.0
    for scope, values in tables:
        if scope:
            waiting[min(place[v] for v in scope)].append((scope, values))
        else:
            logarithm += _log(float(values))
    drafts = []
    for i, clique in enumerate(cliques):
        order = clique[::-1]
        draft, message, log_scale = _draft(order, [sizes[v] for v in order], waiting[i])
        logarithm += log_scale
        waiting[i] = []
        drafts.append(draft)
        if parents[i] >= 0:
            waiting[parents[i]].append((order[:-1], message))
    buckets: list[Bucket | None] = [None] * len(cliques)
    for i in range(len(cliques) - 1, -1, -1):
        order = cliques[i][::-1]
        parent = buckets[parents[i]] if parents[i] >= 0 else None
        buckets[i] = _bucket(drafts[i], order, parents[i], parent)
    return [bucket for bucket in buckets if bucket is not None], logarithm


def _log(number: float) -> float:
    if number <= 0:
        raise InvalidModelError(["the model is zero in every configuration"])
    return math.log(number)


def _draft(
    order: Sequence[int], shape: Sequence[int], tables: list[tuple[tuple[int, ...], Floats]]
) -> tuple[_Draft, Floats, float]:
    """Return a bucket, its message divided by its maximum, and the log of this maximum."""
    product: Floats = np.ones([1] * len(order))
    support = np.ones([1] * len(order), dtype=np.bool_)
    exponent, least = 0, 1.0
    for scope, values in sorted(tables, key=lambda table: table[1].size):
        # Powers of two keep all digits.
        scaled, shift = _scaled(values)
        least *= float(np.min(scaled, initial=1.0, where=values > 0))
        table = table_in_order(scope, scaled, order)
        product, more = _scaled(product * table)
        least = math.ldexp(least, -more)
        support = support & (table_in_order(scope, values, order) > 0)
        exponent += shift + more
    product = np.broadcast_to(product, shape)
    message: Floats = product.sum(axis=-1)
    scale = float(message.max())
    log_scale = (
        _log(math.ldexp(scale, exponent))
        if abs(exponent) < _SAFE_EXPONENT
        else _log(scale) + exponent * math.log(2)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        conditional = product / message[..., None]
    is_lossy = least < _LEAST
    if is_lossy:
        # Cells that underflow are improbable, not impossible.
        conditional = np.where(message[..., None] > 0, conditional, 1 / shape[-1])
        possible = np.broadcast_to(support, shape)
        message = np.where(possible.any(axis=-1), np.maximum(message, scale * _TINIEST), 0.0)
    else:
        possible = product != 0
    cells = np.flatnonzero(possible)
    draft = _Draft(cells, conditional.ravel()[cells], tuple(shape), is_lossy)
    return draft, message / scale, log_scale


def _scaled(values: Floats) -> tuple[Floats, int]:
    """Return numbers divided by a power of two so that the largest is below one; its exponent."""
    exponent = math.frexp(float(values.max()))[1]
    return np.ldexp(values, -exponent), exponent


def _bucket(draft: _Draft, order: Sequence[int], parent: int, above: Bucket | None) -> Bucket:
    """Return a bucket without the rows that are impossible in the bucket of its parent."""
    shape, n_states = draft.shape[:-1], draft.shape[-1]
    cells, table = draft.cells, draft.table
    rows, states = np.divmod(cells, n_states)
    if above is not None:
        possible = np.zeros(math.prod(shape), dtype=np.bool_)
        possible[above.flat_cells(order[:-1], shape)] = True
        keep = possible[rows]
        if not keep.all():
            rows, states, table = rows[keep], states[keep], table[keep]
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    columns = np.unravel_index(rows[starts], shape) if shape else ()
    return Bucket(
        variable=order[-1],
        separator=tuple(order[:-1]),
        sizes=shape,
        columns=np.array(columns, dtype=np.intp).reshape(len(shape), len(starts)),
        counts=np.diff(starts, append=len(rows)),
        states=states,
        table=table,
        parent=parent,
        is_lossy=draft.is_lossy,
    )
