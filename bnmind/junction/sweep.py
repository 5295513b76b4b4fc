"""Sweeps over the causes of observed effects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bnmind._messages import many
from bnmind._values import Sealed, sealed
from bnmind.information import Floats
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable
from bnmind.rank_one.chains import Effect

# --- The order in which a sweep takes causes, and its cost ----------------------------------------
#
# A sweep keeps a table over the partial results of all open effects: those of which some causes,
# but not all, have acted. The search closes one effect after another, each time the one whose
# remaining causes open the fewest others, and tries every first effect. It stops when it has cost
# as much as it can save. A cause of a single effect acts before the effect is opened, and costs
# nothing.

KEPT_CELLS = 2**25
"""The most cells of tables that are kept for the sweep back, without segments."""

_SEARCH_WORK = 16.0
"""The cost of looking at a cause in the search, in cells of a sweep."""

_HOPELESS_BITS = 60.0
"""The logarithm of the number of cells above which an order is given up."""


@dataclass(frozen=True)
class SweepOrder:
    """An order of causes of several effects each, and its cost."""

    causes: tuple[int, ...]
    cost: float
    """The multiplications of a sweep in one direction; infinite if it is hopeless."""
    cells: float
    """The cells of all tables of a sweep together."""
    largest: float
    """The cells of the largest table."""

    @property
    def kept_cells(self) -> float:
        """The cells of the tables that are kept at the same time, with some copies."""
        if self.cells <= KEPT_CELLS:
            return self.cells + 4 * self.largest
        return KEPT_CELLS + (2 * math.isqrt(len(self.causes) + 1) + 4) * self.largest


def parts_of(effects_of: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Return the effects in groups without common causes; ``effects_of`` each cause."""
    root: dict[int, int] = {}

    def find(e: int) -> int:
        while root.setdefault(e, e) != e:
            root[e] = root[root[e]]
            e = root[e]
        return e

    for effects in effects_of.values():
        for other in effects[1:]:
            root[find(other)] = find(effects[0])
    groups: dict[int, list[int]] = {}
    for e in sorted({e for effects in effects_of.values() for e in effects}):
        groups.setdefault(find(e), []).append(e)
    return list(groups.values())


def sweep_order(
    effects_of: Mapping[int, Sequence[int]], n_results: Mapping[int, int], n_states: Sequence[int]
) -> SweepOrder:
    """Return a good order of the causes of connected effects.

    Parameters
    ----------
    effects_of
        The effects of each cause.
    n_results
        The number of partial results of each effect.
    n_states
        The number of states of each cause.
    """
    search = _Search(effects_of, n_results, n_states)
    best: SweepOrder | None = None
    work = 0.0
    for start in sorted(search.causes_of, key=lambda e: (len(search.touched(e)), e)):
        found = search.order(start)
        work += search.work_of_an_order
        if best is None or found.cost < best.cost:
            best = found
        if work > best.cost:
            break
    return best or SweepOrder((), 0.0, 0.0, 1.0)


class _Search:
    """Orders of one connected part, each from a first effect."""

    def __init__(
        self,
        effects_of: Mapping[int, Sequence[int]],
        n_results: Mapping[int, int],
        n_states: Sequence[int],
    ) -> None:
        self.effects_of = {c: frozenset(effects) for c, effects in effects_of.items()}
        self.causes_of: dict[int, set[int]] = {}
        for c, effects in effects_of.items():
            for e in effects:
                self.causes_of.setdefault(e, set()).add(c)
        self.bits = {e: math.log2(n_results[e]) for e in self.causes_of}
        self.n_states = n_states
        arcs = sum(map(len, self.effects_of.values()))
        self.work_of_an_order = _SEARCH_WORK * arcs * len(self.causes_of)

    def touched(self, effect: int) -> set[int]:
        """Return the effects that have common causes with an effect."""
        return set().union(*(self.effects_of[c] for c in self.causes_of[effect]))

    def order(self, start: int) -> SweepOrder:
        """Return the order that closes the effect ``start`` first."""
        left = {e: set(causes) for e, causes in self.causes_of.items()}
        opened: set[int] = set()
        order: list[int] = []
        bits = cost = cells = largest = 0.0
        waiting = set(left)
        effect: int | None = start
        while effect is not None:
            for c in self._causes_in_order(left[effect], opened):
                new = self.effects_of[c] - opened
                opened |= new
                bits += sum([self.bits[e] for e in new])
                if bits > _HOPELESS_BITS:
                    return SweepOrder((), math.inf, math.inf, math.inf)
                size = 2.0**bits
                cost += self.n_states[c] * (1 + len(self.effects_of[c])) * size
                cells += size
                largest = max(largest, size)
                order.append(c)
                for e in self.effects_of[c]:
                    left[e].discard(c)
                    if not left[e]:
                        waiting.discard(e)
                        bits -= self.bits[e]
            effect = min(waiting, key=lambda e: self._price(left[e], opened, e), default=None)
        return SweepOrder(tuple(order), cost, cells, largest)

    def _price(self, causes: set[int], opened: set[int], effect: int) -> tuple[float, int, int]:
        new: set[int] = set()
        for c in causes:
            new |= self.effects_of[c]
        return (sum([self.bits[e] for e in new - opened]), len(causes), effect)

    def _causes_in_order(self, causes: set[int], opened: set[int]) -> list[int]:
        """Return the causes so that those that open fewer effects come first."""
        rest, order, now = set(causes), [], set(opened)
        while rest:
            c = min(rest, key=lambda c: (len(self.effects_of[c] - now), c))
            rest.discard(c)
            order.append(c)
            now |= self.effects_of[c]
        return order


# The sweep over causes: the distribution of each cause given the effects, without subtraction.
#
# The causes are independent except for observed effects. Let T be the table over the partial
# results of the open effects, see `bnmind.rank_one.chains`. It starts with a single number,
# and each cause c changes it:
#
# .. math:: T \leftarrow \sum_x P(x)\, M_{c,x}\, T
#
# M is a small matrix for each effect of the cause. With n positive findings of noisy-or, T has at
# most 2ⁿ cells, as many as there are terms in Quickscore (Heckerman, *A tractable inference
# algorithm for diagnosing multiple diseases*, UAI 1989). Quickscore adds these terms with
# alternating signs, so that twenty positive findings of probability .01 each cancel forty digits.
# The sweep adds non-negative numbers, so that every digit stays, and the table is smaller than 2ⁿ
# if findings share few causes.
#
# A sweep back gives the distributions of all causes at once. It takes the tables of the first sweep
# in reverse; if they are too large to be kept, some are kept and the others are computed again.

_LEAST = 2.0**-600
"""The least probability, besides powers of two, that surely has all its digits: each product loses
less than 2⁻¹⁰⁷⁴ by underflow."""

_SMALL = 2**10
"""The most cells of a table that is multiplied by a matrix in one call."""

_Change: TypeAlias = tuple[str, int]
"""What happens to the table: an effect is opened, a cause acts, or an effect is closed."""


@dataclass(frozen=True, eq=False)
class Swept:
    """The result of a sweep over connected effects."""

    beliefs: Mapping[int, Floats]
    """The distribution of each cause."""
    mantissa: float
    """The probability of the effects is this times two to the ``power``."""
    power: int


def sweep(
    effects: Mapping[int, Effect],
    order: Sequence[int],
    priors: Mapping[int, Floats],
) -> Swept | None:
    """Return the distributions of the causes of connected effects, and their probability.

    None if the evidence is impossible, or so improbable that numbers may underflow.

    Parameters
    ----------
    effects
        The effects, by number. Their causes act in the order of ``order``, except that causes of a
        single effect act first.
    order
        The causes of several effects.
    priors
        The weights of the states of each cause.
    """
    shared = set(order)
    starts, own = {}, {}
    power = 0
    for e, effect in effects.items():
        alone = [
            (c, m) for c, m in zip(effect.causes, effect.moves, strict=True) if c not in shared
        ]
        own[e] = _Own.of(effect.start, alone, priors)
        starts[e] = own[e].last
        power += own[e].power
    run = _Run(effects, starts, order, priors)
    table, more = run.forward()
    total = float(table)
    if not total >= _LEAST:
        return None
    weights, gradients = run.backward()
    for e, gradient in gradients.items():
        weights.update(own[e].weights(gradient))
    beliefs = {}
    for c, weight in weights.items():
        all_states = float(weight.sum())
        if not all_states >= _LEAST:
            return None
        beliefs[c] = weight / all_states
    return Swept(beliefs, total, power + more)


@dataclass(frozen=True, eq=False)
class _Own:
    """The causes of a single effect, which act on its partial results alone."""

    causes: tuple[int, ...]
    priors: tuple[Floats, ...]
    matrices: tuple[Floats, ...]
    """``(states, results after, results before)`` for each cause, times the weights."""
    vectors: tuple[Floats, ...]
    """The weights of the partial results before each cause, and after the last one."""
    power: int

    @classmethod
    def of(
        cls,
        start: Floats,
        alone: Sequence[tuple[int, tuple[Floats | None, ...]]],
        priors: Mapping[int, Floats],
    ) -> _Own:
        vectors, matrices = [start], []
        power = 0
        for c, moves in alone:
            n = len(vectors[-1])
            stack = np.array([np.eye(n) if m is None else m for m in moves])
            stack *= priors[c][:, None, None]
            matrices.append(stack)
            after, more = _scaled(stack.sum(axis=0) @ vectors[-1])
            vectors.append(after)
            power += more
        causes = tuple(c for c, _ in alone)
        return cls(causes, tuple(priors[c] for c in causes), tuple(matrices), tuple(vectors), power)

    @property
    def last(self) -> Floats:
        return self.vectors[-1]

    def weights(self, gradient: Floats) -> dict[int, Floats]:
        """Return the weights of each cause's states, given those of the results after all."""
        result = {}
        for c, stack, before in zip(
            reversed(self.causes), reversed(self.matrices), self.vectors[-2::-1], strict=True
        ):
            back = gradient @ stack  # (states, results before)
            result[c] = back @ before
            gradient, _ = _scaled(back.sum(axis=0))
        return result


class _Run:
    """The sweep over the causes of several effects."""

    def __init__(
        self,
        effects: Mapping[int, Effect],
        starts: Mapping[int, Floats],
        order: Sequence[int],
        priors: Mapping[int, Floats],
    ) -> None:
        self.effects, self.starts, self.priors = effects, starts, priors
        self.moves: dict[int, list[tuple[int, tuple[Floats | None, ...]]]] = {c: [] for c in order}
        for e, effect in effects.items():
            for c, m in zip(effect.causes, effect.moves, strict=True):
                if c in self.moves:
                    self.moves[c].append((e, m))
        self.changes = _changes(effects, self.moves, order)
        self.open: list[tuple[int, ...]] = [()]
        """The open effects before each change, the latest first."""
        for kind, i in self.changes:
            now = self.open[-1]
            self.open.append(
                (i, *now) if kind == "open" else tuple(e for e in now if e != i or kind == "act")
            )
        self.kept: dict[int, Floats] = {}

    def forward(self) -> tuple[Floats, int]:
        """Return the last table, a number, and the power of two taken out."""
        table = np.ones(())
        power = cells = 0
        self.kept = {0: table}
        every = 1
        for i in range(len(self.changes)):
            table, more = self._after(i, table)
            power += more
            cells += table.size
            if (i + 1) % every == 0:
                self.kept[i + 1] = table
            if cells > KEPT_CELLS and every == 1:
                # From here on, one table in so many is kept.
                every = max(1, math.isqrt(len(self.changes) - i))
        return table, power

    def backward(self) -> tuple[dict[int, Floats], dict[int, Floats]]:
        """Return the weights of each cause's states, and of each effect's first results."""
        beliefs: dict[int, Floats] = {}
        gradients: dict[int, Floats] = {}
        back = np.ones(())
        for i in reversed(range(len(self.changes))):
            kind, number = self.changes[i]
            before = self._table(i)
            if kind == "close":
                axis = self.open[i].index(number)
                end = self.effects[number].end
                shape = [1] * before.ndim
                shape[axis] = len(end)
                back = np.expand_dims(back, axis) * end.reshape(shape)
            elif kind == "open":
                flat = back.reshape(len(back), -1)
                gradients[number], _ = _scaled(flat @ before.ravel())
                back = np.tensordot(self.starts[number], back, axes=1)
            else:
                back = self._back_through(number, self.open[i], (before, back), beliefs)
            back, _ = _scaled(back)
        return beliefs, gradients

    def _back_through(
        self,
        c: int,
        opened: tuple[int, ...],
        tables: tuple[Floats, Floats],
        found: dict[int, Floats],
    ) -> Floats:
        """Return the table of the sweep back before a cause, and record its weights."""
        before, back = tables
        prior = self.priors[c]
        belief = np.zeros(len(prior))
        total: Floats | None = None
        for x in np.flatnonzero(prior).tolist():
            moved = back
            for e, matrices in self.moves[c]:
                moved = _moved(moved, opened.index(e), matrices[x], transposed=True)
            belief[x] = prior[x] * np.vdot(before, moved)
            moved = prior[x] * moved
            total = moved if total is None else np.add(total, moved, out=total)
        found[c] = belief
        assert total is not None  # some state has a weight
        return total

    def _table(self, i: int) -> Floats:
        """Return the table before change ``i``, and drop those after it."""
        self.kept.pop(i + 1, None)
        if i not in self.kept:
            first = max(j for j in self.kept if j < i)
            table = self.kept[first]
            for j in range(first, i):
                table, _ = self._after(j, table)
                self.kept[j + 1] = table
        return self.kept[i]

    def _after(self, i: int, table: Floats) -> tuple[Floats, int]:
        """Return the table after change ``i``, and the power of two taken out."""
        kind, number = self.changes[i]
        if kind == "open":
            return np.multiply.outer(self.starts[number], table), 0
        if kind == "close":
            axis = self.open[i].index(number)
            return np.tensordot(self.effects[number].end, table, axes=(0, axis)), 0
        prior = self.priors[number]
        total: Floats | None = None
        for x in np.flatnonzero(prior).tolist():
            moved = table
            for e, matrices in self.moves[number]:
                moved = _moved(moved, self.open[i].index(e), matrices[x])
            moved = prior[x] * moved
            total = moved if total is None else np.add(total, moved, out=total)
        assert total is not None  # some state has a weight
        return _scaled(total)


def _changes(
    effects: Mapping[int, Effect],
    moves: Mapping[int, Sequence[tuple[int, object]]],
    order: Sequence[int],
) -> list[_Change]:
    """Return what happens to the table, in order."""
    left = {e: sum(c in moves for c in effect.causes) for e, effect in effects.items()}
    changes: list[_Change] = []
    opened = set()
    for e, count in left.items():
        if not count:
            changes += [("open", e), ("close", e)]
    for c in order:
        mine = [e for e, _ in moves[c]]
        changes += [("open", e) for e in mine if e not in opened]
        opened.update(mine)
        changes.append(("act", c))
        for e in mine:
            left[e] -= 1
            if not left[e]:
                changes.append(("close", e))
    return changes


def _moved(table: Floats, axis: int, matrix: Floats | None, *, transposed: bool = False) -> Floats:
    """Return a table with a matrix applied along an axis."""
    if matrix is None:
        return table
    if transposed:
        matrix = matrix.T
    n_after, n = matrix.shape
    shape = table.shape
    outer = math.prod(shape[:axis])
    view = table.reshape(outer, n, -1)
    new_shape = (*shape[:axis], n_after, *shape[axis + 1 :])
    if table.size <= _SMALL:
        return (matrix @ view).reshape(new_shape)
    result = np.zeros((outer, n_after, view.shape[2]))
    for i in range(n_after):
        row = np.flatnonzero(matrix[i]).tolist()
        for position, j in enumerate(row):
            if position == 0:
                np.multiply(view[:, j], matrix[i, j], out=result[:, i])
            else:
                result[:, i] += matrix[i, j] * view[:, j]
    return result.reshape(new_shape)


def _scaled(table: Floats) -> tuple[Floats, int]:
    """Return a table divided by a power of two, so that its largest number is about one."""
    power = math.frexp(float(table.max(initial=0.0)))[1]
    return (table if abs(power) < 64 else np.ldexp(table, -power)), power if abs(power) >= 64 else 0


# --- The sweeps that answer a question about independent causes, for the evidence at hand ---------

_BOTH_WAYS = 3
"""The multiplications of a sweep and of a sweep back, which also multiplies the two tables, as a
multiple of those of a sweep."""


@dataclass(frozen=True, eq=False)
class Part(Sealed):
    """Effects that are connected by common causes, and the order of these."""

    effects: Mapping[int, Effect]
    order: SweepOrder


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseSweep(Sealed):
    """A question about independent causes of observed effects, with its evidence."""

    causes: tuple[Variable, ...]
    """The hidden variables."""
    weights: tuple[Floats, ...]
    """Their distributions given all but the effects of the parts."""
    parts: tuple[Part, ...]
    """The other effects."""
    log_constant: float
    """The logarithm of the probability of the evidence, without these effects."""

    @property
    def cost(self) -> float:
        """The predicted multiplications of a run; infinite if they are too many to count."""
        return _BOTH_WAYS * math.fsum(part.order.cost for part in self.parts) + 8 * sum(
            len(effect.causes) for part in self.parts for effect in part.effects.values()
        )

    @property
    def multiplications(self) -> int:
        """The predicted multiplications of a run."""
        return int(self.cost)

    @property
    def peak_cells(self) -> int:
        """The predicted peak of cells in a run."""
        return int(max((part.order.kept_cells for part in self.parts), default=0))

    @property
    def line(self) -> str:
        """The sweep in a few words."""
        largest = max((part.order.largest for part in self.parts), default=1.0)
        n_effects = sum(len(part.effects) for part in self.parts)
        return (
            f"a sweep over {len(self.causes):,} independent causes of {n_effects:,} effects,"
            f" {many(int(largest))} cells at most"
        )

    @property
    def steps(self) -> int:
        """The number of multiplications of tables in a run."""
        return sum(len(effect.causes) for part in self.parts for effect in part.effects.values())

    def run(self) -> tuple[Sequence[Values], float] | None:
        """Return the distributions of the causes and the log of the evidence.

        None if the evidence is too improbable.
        """
        beliefs = list(self.weights)
        log_evidence = self.log_constant
        priors = dict(enumerate(self.weights))
        with np.errstate(under="ignore"):
            for part in self.parts:
                swept = sweep(part.effects, part.order.causes, priors)
                if swept is None:
                    return None
                log_evidence += math.log(swept.mantissa) + swept.power * math.log(2)
                for c, belief in swept.beliefs.items():
                    beliefs[c] = sealed(belief)
        return beliefs, log_evidence
