"""The tree for any evidence, laid out in arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.junction.graphs import Elimination

# --- Bucket elimination of a model without evidence: the tables of a propagation ------------------
#
# Variables are eliminated in a given order (R. Dechter, *Bucket elimination: a unifying framework
# for reasoning*, Artificial Intelligence 113, 1999). The bucket of a variable v holds the product
# of all tables and messages that depend on v. If S are the other variables of the bucket, the
# product divided by its sum over v is the conditional probability P(v | S). The product of all
# these conditional probabilities is the model. Only configurations that are possible in the whole
# model are kept.

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


# --- The tables of a compiled tree as flat arrays, and the scratch arrays of a run ----------------
#
# A *bucket* belongs to one variable v and to the set S of variables that separate it from the rest
# of the tree. Its table is P(v | S). A *row* is a possible configuration of S, and a *cell* is a
# possible configuration of S and v; impossible configurations are not stored. The cells of a row
# are neighbors, and so are the rows of a bucket.

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int32]
Small: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""State positions."""

VARIABLE = 0
SIZE = 1
START = 2
HOST = 3
ROW = 4
CELL = 5
SEPARATOR = 6
INNER = 7
OUTER = 8
FIELDS = 9
"""The number of columns of `TreeArrays.buckets`, which the names above number."""


class TreeArrays(NamedTuple):
    """A compiled tree; buckets are numbered so that children come before their hosts.

    The message of a bucket goes to its host. The rows of an inner child are projections of the
    cells of its host; the rows of an outer child are projections of the rows of its host.
    """

    buckets: Ints
    """``(buckets + 1, FIELDS)``: the variable of each bucket and its number of states; their
    first place in a list of the states of all variables; the host, or −1; and the first row, cell,
    entry of `separators`, inner child and outer child. The last line has only their ends; the
    outer children of a bucket end where the inner children of the next one start."""
    separators: Ints
    """``(…, 2)`` each variable of S of each bucket, and the start of its states in `columns`."""
    children: Ints
    """``(…, 2)`` the inner and then the outer children of each bucket, and for each the start of
    its rows in `maps`, minus the first cell or row of the bucket."""
    starts: Places
    """``(rows + 1,)`` the first cell of each row."""
    table: Floats
    """``(cells,)`` the conditional probability of each cell given its row."""
    states: Small
    """``(cells,)`` the state of the bucket's variable in each cell."""
    columns: Small
    """For each entry of `separators`, its state in each row of the bucket."""
    maps: Places
    """The row of the child for each cell or row of its host."""
    least: Floats
    """``(buckets,)`` the least number of each table."""

    @property
    def n_buckets(self) -> int:
        """The number of buckets, one for each variable."""
        return len(self.least)

    @property
    def n_states(self) -> int:
        """The sum of the numbers of states of all variables."""
        return int(self.buckets[:-1, SIZE].sum())


class WorkArrays(NamedTuple):
    """The scratch arrays of a run, which every case overwrites."""

    products: Floats
    """``(cells,)`` the tables times the messages of inner children and the findings."""
    sums: Floats
    """``(rows,)`` the sums of these products over the cells of each row, if messages of outer
    children multiply them; otherwise `messages` holds them."""
    messages: Floats
    """``(rows,)`` the messages to the hosts, divided by `scales`."""
    beliefs: Floats
    """``(rows,)`` the distribution of S given all evidence."""
    active: Places
    """``(rows,)`` the rows of each bucket that agree with the evidence, if some do not."""
    counts: Ints
    """``(buckets,)`` the number of these rows; −1 where all rows agree."""
    least: Floats
    """``(buckets,)`` the least positive number of each message."""
    scales: Floats
    """``(buckets,)`` the divisor of each message."""
    changed: Ints
    """``(buckets,)`` 0 if the message of a bucket is all ones; otherwise the sum of 1 if messages
    of outer children change it, and of 2 if anything else does."""
    needed: Ints
    """``(buckets,)`` whether the targets need the beliefs of each bucket."""
    used: Ints
    """``(children,)`` the starts in `TreeArrays.maps` of the messages that are not all ones."""


def work_arrays(tree: TreeArrays) -> WorkArrays:
    """Return scratch arrays for runs of a tree, not initialized."""
    n_buckets, n_rows, n_cells = tree.n_buckets, len(tree.starts) - 1, len(tree.table)
    return WorkArrays(
        products=np.empty(n_cells),
        sums=np.empty(n_rows),
        messages=np.empty(n_rows),
        beliefs=np.empty(n_rows),
        active=np.empty(n_rows, dtype=np.int32),
        counts=np.empty(n_buckets, dtype=np.int64),
        least=np.empty(n_buckets),
        scales=np.empty(n_buckets),
        changed=np.empty(n_buckets, dtype=np.int64),
        needed=np.empty(n_buckets, dtype=np.int64),
        used=np.empty(n_buckets, dtype=np.int64),
    )
