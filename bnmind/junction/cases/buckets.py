"""Elimination of all variables for many cases at once, and the walk back to their states.

The variables are eliminated one after the other. The bucket of a variable holds the tables and
messages that contain it. Their product is kept, and its maximum or its sum over the variable is a
message to a later bucket. In the opposite order, each bucket is then read at the states found so
far: its largest entry continues a most probable completion, and a draw in proportion to its entries
a sample from the joint distribution. The last axis of every array is the cases.

References
----------
R. Dechter, "Bucket elimination: a unifying framework for reasoning", Artificial Intelligence 113
(1999), sections 5 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential

__all__ = ["Buckets", "Completions", "most_probable", "sampled"]

Positions: TypeAlias = Mapping[str, NDArray[np.int32]]

_Table: TypeAlias = tuple[tuple[str, ...], Floats]
"""Names, and values with an axis for each of them and one of the cases."""

_LOWEST = -690.0
"""The natural logarithm of the smallest product of numbers that keeps its digits."""

_TINY = 5e-324
"""The smallest positive number."""

_WEIGHTS = 2**22
"""The number of weights that a walk back processes at a time."""


@dataclass(frozen=True)
class Completions:
    """States of all variables for some rows."""

    states: Positions
    """The positions, ``(rows,)``, by the name of the variable; those of impossible rows are
    arbitrary."""
    possible: NDArray[np.bool_]
    """``(rows,)``."""
    exact: NDArray[np.bool_]
    """Whether no number of the row's case became too small to be trusted, ``(rows,)``."""


@dataclass(frozen=True)
class Buckets:
    """The elimination of variables from a product of tables, where others are always observed.

    Parameters
    ----------
    potentials
        Tables of non-negative numbers.
    observed
        The names of the variables that are observed in every case. The others may be observed in
        some of them.
    """

    potentials: tuple[Potential, ...]
    observed: frozenset[str]
    order_finder: OrderFinder

    @classmethod
    def of(cls, potentials: Sequence[Potential], observed: frozenset[str]) -> Buckets:
        """Return the elimination of all variables that are not observed in every case."""
        return cls(tuple(potentials), observed, RandomizedGreedy())

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of states of each variable to eliminate."""
        return {
            v.name: v.n_states
            for potential in self.potentials
            for v in potential.scope
            if v.name not in self.observed
        }

    @cached_property
    def scopes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each variable in the order of elimination, with the others in its bucket."""
        scopes = [
            {v.name for v in potential.scope} - self.observed for potential in self.potentials
        ]
        graph = InteractionGraph.from_scopes(self.sizes, [sorted(scope) for scope in scopes])
        found = []
        for name in self.order_finder(graph).variables:
            together = set().union(*(scope for scope in scopes if name in scope)) - {name}
            scopes = [scope for scope in scopes if name not in scope] + [together]
            found.append((name, tuple(sorted(together))))
        return tuple(found)

    @property
    def cells(self) -> int:
        """The number of cells of all buckets, for each case."""
        return sum(
            self.sizes[name] * math.prod(self.sizes[other] for other in others)
            for name, others in self.scopes
        )

    @cached_property
    def _factors(self) -> tuple[Factor, ...]:
        return tuple(p if isinstance(p, Factor) else p.to_factor() for p in self.potentials)

    def tables(self, states: Positions, *, logs: bool) -> Iterator[_Table]:
        """Yield the tables at the observed states, with an axis of cases or of length one.

        Tables with numbers larger than 1 are divided by their maximum, unless they are logarithms.
        """
        for factor in self._factors:
            with np.errstate(divide="ignore"):
                values: Any = np.log(factor.values) if logs else _at_most_one(factor.values)
            seen = [axis for axis, v in enumerate(factor.scope) if v.name in self.observed]
            left = [axis for axis, v in enumerate(factor.scope) if v.name not in self.observed]
            values = values.transpose([*seen, *left])
            names = tuple(factor.scope[axis].name for axis in left)
            if seen:
                at = tuple(states[factor.scope[axis].name] for axis in seen)
                values = np.ascontiguousarray(np.moveaxis(values[at], 0, -1))
            else:
                values = values[..., None]
            yield names, values
        for name, size in self.sizes.items():
            if name in states:
                positions = states[name]
                allowed = (positions < 0) | (positions == np.arange(size)[:, None])
                yield (name,), np.where(allowed, 0.0, -np.inf) if logs else allowed.astype(float)


def most_probable(buckets: Buckets, states: Positions, case_of: NDArray[np.intp]) -> Completions:
    """Return the most probable states of all variables for each row.

    Parameters
    ----------
    buckets
        The elimination.
    states
        The positions of the variables that are observed in some case, ``(cases,)``, with -1 where
        they are missing.
    case_of
        The number of the case of each row.
    """
    tables = list(buckets.tables(states, logs=True))
    kept = []
    for name, others in buckets.scopes:
        product, tables = _product(buckets, tables, (name, *others), np.add)
        kept.append(product)
        tables.append((others, product.max(axis=0)))
    total: Any = np.zeros(1)
    for _, values in tables:
        total = total + values
    found = _start(buckets, states, case_of)
    for (name, others), product in zip(reversed(buckets.scopes), reversed(kept), strict=True):
        found[name] = np.empty(len(case_of), dtype=np.int32)
        for part in _parts(len(case_of), buckets.sizes[name]):
            weights = _weights(product, [found[other][part] for other in others], case_of[part])
            found[name][part] = np.argmax(weights, axis=0)
    return Completions(
        found, _of_rows(total > -np.inf, case_of), np.ones(len(case_of), dtype=np.bool_)
    )


def sampled(
    buckets: Buckets, states: Positions, case_of: NDArray[np.intp], rng: np.random.Generator
) -> Completions:
    """Return states of all variables for each row, drawn from the distribution given its case.

    The parameters are those of `most_probable`, and the random generator.
    """
    tables = list(buckets.tables(states, logs=False))
    kept = []
    exact: Any = np.ones(1, dtype=np.bool_)
    possible: Any = np.ones(1, dtype=np.bool_)
    for name, others in buckets.scopes:
        inside = [values for names, values in tables if name in names]
        exact = exact & (sum(map(_lowest, inside)) > _LOWEST)
        product, tables = _product(buckets, tables, (name, *others), np.multiply)
        sums = product.sum(axis=0)
        largest = sums.reshape(-1, sums.shape[-1]).max(axis=0)
        possible = possible & (largest > 0)
        # Only the ratios of a message matter.
        sums = np.divide(sums, largest, out=np.zeros_like(sums), where=largest > 0)
        kept.append(product)
        tables.append((others, sums))
    for _, values in tables:
        possible = possible & (values > 0)
    found = _start(buckets, states, case_of)
    for (name, others), product in zip(reversed(buckets.scopes), reversed(kept), strict=True):
        luck = rng.random(len(case_of))
        found[name] = np.empty(len(case_of), dtype=np.int32)
        for part in _parts(len(case_of), buckets.sizes[name]):
            at = [found[other][part] for other in others]
            sums = np.cumsum(_weights(product, at, case_of[part]), axis=0)
            # The sum of all weights is larger than the product unless rounding makes them equal.
            below = np.count_nonzero(sums <= luck[part] * sums[-1], axis=0)
            found[name][part] = np.minimum(below, buckets.sizes[name] - 1)
    return Completions(found, _of_rows(possible, case_of), _of_rows(exact, case_of))


def _start(
    buckets: Buckets, states: Positions, case_of: NDArray[np.intp]
) -> dict[str, NDArray[np.int32]]:
    return {name: states[name][case_of] for name in buckets.observed}


def _of_rows(flags: NDArray[np.bool_], case_of: NDArray[np.intp]) -> NDArray[np.bool_]:
    return flags[np.zeros_like(case_of) if len(flags) == 1 else case_of]


def _at_most_one(values: Any) -> Floats:
    """Return a table in proportion, so that products do not overflow; no positive number is 0."""
    largest = values.max(initial=0.0)
    if largest <= 1:
        return np.asarray(values)
    return np.asarray(np.maximum(values / largest, np.where(values > 0, _TINY, 0.0)))


def _lowest(values: Floats) -> Floats:
    """Return the logarithm of the smallest positive number of each case."""
    flat = values.reshape(-1, values.shape[-1])
    return np.asarray(np.log(np.min(flat, axis=0, initial=1.0, where=flat > 0)))


def _product(
    buckets: Buckets, tables: Sequence[_Table], scope: tuple[str, ...], combine: np.ufunc
) -> tuple[Floats, list[_Table]]:
    """Return the product of the tables with the first variable of a scope, and the other tables."""
    inside = [table for table in tables if scope[0] in table[0]]
    rest = [table for table in tables if scope[0] not in table[0]]
    # Small tables first: their products are small.
    product: Any = None
    for names, values in sorted(inside, key=lambda table: table[1].size):
        axes = [names.index(name) for name in scope if name in names]
        shape = [buckets.sizes[name] if name in names else 1 for name in scope]
        own = values.transpose([*axes, len(axes)]).reshape([*shape, values.shape[-1]])
        product = own if product is None else combine(product, own)
    full = [*(buckets.sizes[name] for name in scope), product.shape[-1]]
    return np.broadcast_to(product, full), rest


def _weights(product: Floats, at: Sequence[NDArray[np.int32]], cases: NDArray[np.intp]) -> Floats:
    """Return the entries of a bucket at states of its other variables, ``(states, rows)``."""
    if product.shape[-1] == 1:
        cases = np.zeros_like(cases)
    place: Any = (slice(None), *at, cases)
    weights: Floats = product[place]
    return weights


def _parts(n_rows: int, n_states: int) -> Iterator[slice]:
    size = max(1, _WEIGHTS // n_states)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
