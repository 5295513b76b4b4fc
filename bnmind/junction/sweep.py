"""Sweeps over the causes of observed effects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from bnmind._messages import many
from bnmind._values import Sealed, sealed
from bnmind.information import Floats
from bnmind.junction.program.program_inputs import Answer
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
"""The most cells of all tables that are kept for the sweep back."""

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
    def every(self) -> int:
        """The sweep back takes one table in so many from memory, and computes the others again."""
        return 1 if self.cells <= KEPT_CELLS else math.isqrt(len(self.causes)) + 1

    @property
    def kept_cells(self) -> float:
        """The cells of the tables that are kept at the same time, with some copies."""
        kept = self.cells if self.every == 1 else 2 * self.every * self.largest
        return kept + 4 * self.largest


def parts_of(together: Iterable[Sequence[int]]) -> list[set[int]]:
    """Return effects in groups so that those in one of the lists are in one group."""
    groups: list[set[int]] = []
    for effects in together:
        mine = [group for group in groups if not group.isdisjoint(effects)]
        groups = [group for group in groups if group.isdisjoint(effects)]
        groups.append(set(effects).union(*mine))
    return groups


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
    for start in sorted(
        search.causes_of, key=lambda e: (len(search.touched(search.causes_of[e])), e)
    ):
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

    def touched(self, causes: Iterable[int]) -> set[int]:
        """Return all effects of some causes."""
        return set().union(*[self.effects_of[c] for c in causes])

    def order(self, start: int) -> SweepOrder:
        """Return the order that closes the effect ``start`` first."""
        left = {e: set(causes) for e, causes in self.causes_of.items()}
        opened: set[int] = set()
        order: list[int] = []
        cost = cells = largest = 0.0
        effect: int | None = start
        while effect is not None:
            for c in self._causes_in_order(left[effect], opened):
                opened |= self.effects_of[c]
                bits = sum([self.bits[e] for e in opened if left[e]])
                if bits > _HOPELESS_BITS:
                    return SweepOrder((), math.inf, math.inf, math.inf)
                size = 2.0**bits
                cost += self.n_states[c] * (1 + len(self.effects_of[c])) * size
                cells += size
                largest = max(largest, size)
                order.append(c)
                for e in self.effects_of[c]:
                    left[e].discard(c)
            waiting = [e for e, causes in left.items() if causes]
            effect = min(waiting, key=lambda e: self._price(left[e], opened, e), default=None)
        return SweepOrder(tuple(order), cost, cells, largest)

    def _price(self, causes: set[int], opened: set[int], effect: int) -> tuple[float, int, int]:
        new = self.touched(causes) - opened
        return sum([self.bits[e] for e in new]), len(causes), effect

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


def sweep(
    effects: Mapping[int, Effect],
    order: SweepOrder,
    priors: Sequence[Floats],
) -> tuple[dict[int, Floats], float] | None:
    """Return the distributions of the causes of connected effects.

    The second value is the logarithm of the probability of the effects. None if the evidence is
    impossible, or so improbable that numbers may underflow.

    Parameters
    ----------
    effects
        The effects, by number. Causes of a single effect act first.
    order
        The order of the causes of several effects.
    priors
        The weights of the states of each cause.
    """
    shared = set(order.causes)
    alone, starts = {}, {}
    power = 0
    for e, effect in effects.items():
        own = [c for c in effect.causes if c not in shared]
        alone[e] = _Run({e: effect}, {e: effect.start}, own, priors, closes=False)
        starts[e], more = alone[e].forward()
        power += more
    run = _Run(effects, starts, order.causes, priors, every=order.every)
    table, more = run.forward()
    total = float(table)
    if not total >= _LEAST:
        return None
    weights, gradients = run.backward(np.ones(()))
    for e, gradient in gradients.items():
        weights |= alone[e].backward(gradient)[0]
    sums = {c: float(weight.sum()) for c, weight in weights.items()}
    if not all(one >= _LEAST for one in sums.values()):
        return None
    beliefs = {c: weight / sums[c] for c, weight in weights.items()}
    return beliefs, math.log(total) + (power + more) * math.log(2)


class _Change(NamedTuple):
    """A change of the table: an effect is opened, a cause acts, or an effect is closed."""

    kind: str
    number: int
    """Of the effect or the cause."""
    opened: tuple[int, ...]
    """The open effects before the change, the latest first."""


class _Run:
    """A sweep over some causes; the effects may stay open at its end."""

    def __init__(
        self,
        effects: Mapping[int, Effect],
        starts: Mapping[int, Floats],
        order: Sequence[int],
        priors: Sequence[Floats],
        *,
        closes: bool = True,
        every: int = 1,
    ) -> None:
        self.effects, self.starts, self.priors, self.every = effects, starts, priors, every
        self.moves: dict[int, list[tuple[int, tuple[Floats | None, ...]]]] = {c: [] for c in order}
        for e, effect in effects.items():
            for c, m in zip(effect.causes, effect.moves, strict=True):
                if c in self.moves:
                    self.moves[c].append((e, m))
        self.changes = list(self._changes(closes=closes))
        self.kept: dict[int, Floats] = {}

    def _changes(self, *, closes: bool) -> Iterator[_Change]:
        """Yield what happens to the table, in order."""
        left = {e: sum(c in self.moves for c in one.causes) for e, one in self.effects.items()}
        opened: tuple[int, ...] = ()
        unopened = set(self.effects)
        acts: list[tuple[int | None, list[int]]] = [(None, [e]) for e, n in left.items() if not n]
        acts += [(c, [e for e, _ in moves]) for c, moves in self.moves.items()]
        for c, mine in acts:
            for e in mine:
                if e in unopened:
                    yield _Change("open", e, opened)
                    opened = (e, *opened)
                    unopened.discard(e)
            if c is not None:
                yield _Change("act", c, opened)
            for e in mine:
                left[e] -= 1
                if closes and left[e] <= 0:
                    yield _Change("close", e, opened)
                    opened = tuple(other for other in opened if other != e)

    def forward(self) -> tuple[Floats, int]:
        """Return the last table, and the power of two taken out."""
        table = np.ones(())
        power = 0
        self.kept = {}
        for i in range(len(self.changes)):
            if i % self.every == 0:
                self.kept[i] = table
            table, more = self._after(i, table)
            power += more
        return table, power

    def backward(self, back: Floats) -> tuple[dict[int, Floats], dict[int, Floats]]:
        """Return the weights of each cause's states, and of each effect's first results.

        ``back`` are the weights of the last table.
        """
        beliefs: dict[int, Floats] = {}
        gradients: dict[int, Floats] = {}
        for i, (kind, number, opened) in reversed(list(enumerate(self.changes))):
            before = self._table(i)
            if kind == "close":
                axis = opened.index(number)
                end = self.effects[number].end
                shape = [1] * before.ndim
                shape[axis] = len(end)
                back = np.expand_dims(back, axis) * end.reshape(shape)
            elif kind == "open":
                flat = back.reshape(len(back), -1)
                gradients[number], _ = _scaled(flat @ before.ravel())
                back = np.tensordot(self.starts[number], back, axes=1)
            else:
                beliefs[number] = np.zeros(len(self.priors[number]))
                total = np.zeros_like(before)
                for x, moved in self._by_state(self.changes[i], back, transposed=True):
                    beliefs[number][x] = np.vdot(before, moved)
                    total += moved
                back = total
            back, _ = _scaled(back)
        return beliefs, gradients

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
        kind, number, opened = self.changes[i]
        if kind == "open":
            return np.multiply.outer(self.starts[number], table), 0
        if kind == "close":
            axis = opened.index(number)
            return np.tensordot(self.effects[number].end, table, axes=(0, axis)), 0
        return _scaled(reduce(np.add, (one for _, one in self._by_state(self.changes[i], table))))

    def _by_state(
        self, change: _Change, table: Floats, *, transposed: bool = False
    ) -> Iterator[tuple[int, Floats]]:
        """Yield the positive states of a cause, and the table that it makes in each of them."""
        prior = self.priors[change.number]
        for x in np.flatnonzero(prior).tolist():
            moved = table
            for e, matrices in self.moves[change.number]:
                axis = change.opened.index(e)
                moved = _moved(moved, axis, matrices[x], transposed=transposed)
            yield x, prior[x] * moved


def _moved(table: Floats, axis: int, matrix: Floats | None, *, transposed: bool = False) -> Floats:
    """Return a table with a matrix applied along an axis."""
    if matrix is None:
        return table
    shape = table.shape
    view = table.reshape(math.prod(shape[:axis]), shape[axis], -1)
    moved = (matrix.T if transposed else matrix) @ view
    return moved.reshape(*shape[:axis], moved.shape[1], *shape[axis + 1 :])


def _scaled(table: Floats) -> tuple[Floats, int]:
    """Return a table divided by a power of two, so that its largest number is about one."""
    power = math.frexp(float(table.max(initial=0.0)))[1]
    return (table if abs(power) < 64 else np.ldexp(table, -power)), power if abs(power) >= 64 else 0


# --- The sweeps that answer a question about independent causes, for the evidence at hand ---------

_BOTH_WAYS = 3
"""The multiplications of a sweep and of a sweep back, which also multiplies the two tables, as a
multiple of those of a sweep."""

_QUICK = 2**24
"""The multiplications of a sweep that needs no comparison with a tree."""

_SIGNED_COST = 4
"""The cost of multiplications of a plan with negative or complex numbers, which lose digits."""


class Part(NamedTuple):
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
    def steps(self) -> int:
        """The number of multiplications of tables in a run."""
        return sum(len(effect.causes) for part in self.parts for effect in part.effects.values())

    @property
    def multiplications(self) -> int:
        """The predicted multiplications of a run."""
        return int(_BOTH_WAYS * sum(part.order.cost for part in self.parts)) + 8 * self.steps

    @property
    def is_quick(self) -> bool:
        """Whether a comparison with a tree does not pay."""
        return self.multiplications <= _QUICK

    def is_better_than(self, multiplications: int, *, signed: bool) -> bool:
        """Return whether the sweep is cheaper than a plan, which may have negative numbers."""
        return self.multiplications <= (_SIGNED_COST if signed else 1) * multiplications

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

    def answers(self, targets: Iterable[tuple[Variable, ...]]) -> tuple[Answer, ...]:
        """Return the rules for reading targets, of at most one cause each, from the beliefs."""
        number = {v.name: i for i, v in enumerate(self.causes)}
        answers = []
        for target in targets:
            hidden = [v for v in target if v.name in number]
            shape = tuple([v.n_states for v in hidden])
            answers.append(
                Answer(
                    variables=target,
                    observed=tuple([v.name for v in target if v.name not in number]),
                    axes=None,
                    view=shape,
                    shape=shape,
                    register=number[hidden[0].name] if hidden else None,
                    cells=None,
                )
            )
        return tuple(answers)

    def run(self) -> tuple[Sequence[Values], float] | None:
        """Return the distributions of the causes and the log of the evidence.

        None if the evidence is too improbable.
        """
        beliefs = list(self.weights)
        log_evidence = self.log_constant
        with np.errstate(under="ignore"):
            for part in self.parts:
                swept = sweep(part.effects, part.order, self.weights)
                if swept is None:
                    return None
                log_evidence += swept[1]
                for c, belief in swept[0].items():
                    beliefs[c] = sealed(belief)
        return beliefs, log_evidence
