"""The light path: one question, answered without a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._jit import PlainWork, run_plainly
from bnmind._messages import many
from bnmind._values import ReadOnlyDict, made, sealed
from bnmind.errors import TooLargeError
from bnmind.junction.graphs import Clique
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.light_kernel import Case, Floats, LightArrays, Steps, Work, steps_of, sums_of
from bnmind.pgm.cpd import CPD
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.rank_one.chains import chain_form

# --- Networks as flat arrays, for queries about a few targets -------------------------------------

MOST_CELLS = 2**16
"""The most cells of a table that is written out for a functional or noisy distribution."""

_SMALL_TABLE = 2**10
"""The most cells of such a table without a look for a smaller chain."""

_FRACTION = 32
"""The fractional binary digits of the logarithms of numbers of states."""


@dataclass(frozen=True, eq=False)
class LightModel:
    """A network prepared for queries about a few targets.

    It is prepared once; the evidence and the targets may differ from query to query.
    """

    network: Network
    """The network."""
    arrays: LightArrays
    """Its tables. Variables of chains, which large distributions are written as, come last."""
    numbers: Mapping[str, int]
    """The number of each variable in the arrays."""

    @classmethod
    def of(cls, network: Network) -> LightModel:
        """Return a network prepared.

        Large functional and noisy distributions become chains of small tables if possible.
        """
        names = [v.name for v in network.variables]
        own = frozenset(names)
        cpds = [form for cpd in network.cpds for form in _forms(cpd, own)]
        names += [cpd.variable.name for cpd in cpds if cpd.variable.name not in own]
        numbers = {name: i for i, name in enumerate(names)}
        by_name = {cpd.variable.name: cpd for cpd in cpds}
        ordered = [by_name[name] for name in names]
        sizes = np.array([cpd.variable.n_states for cpd in ordered], dtype=np.int64)
        n_parents = [len(cpd.parents) for cpd in ordered]
        parents = [numbers[v.name] for cpd in ordered for v in cpd.parents]
        has_table = [_has_table(cpd) for cpd in ordered]
        counts = [cpd.n_cells if has else 0 for cpd, has in zip(ordered, has_table, strict=True)]
        starts = np.cumsum([0, *counts])[:-1]
        tables = [
            cpd.to_tabular().values.ravel()
            for cpd, has in zip(ordered, has_table, strict=True)
            if has
        ]
        arrays = LightArrays(
            n_states=sealed(sizes),
            logarithms=sealed(np.round(np.log2(sizes) * 2.0**_FRACTION).astype(np.int64)),
            starts=sealed(np.cumsum([0, *n_parents], dtype=np.int64)),
            parents=sealed(np.array(parents, dtype=np.int64)),
            table_starts=sealed(np.where(has_table, starts, -1).astype(np.int64)),
            tables=sealed(np.concatenate([*tables, np.empty(0)])),
        )
        return cls(network, arrays, ReadOnlyDict(numbers))


def _has_table(cpd: CPD) -> bool:
    return isinstance(cpd, TabularCPD) or cpd.n_cells <= MOST_CELLS


def _forms(cpd: CPD, own: frozenset[str]) -> tuple[CPD, ...]:
    """Return a distribution, or the chain of small tables that it can be written as.

    ``own`` are the names of the network's variables.
    """
    if isinstance(cpd, TabularCPD) or cpd.n_cells <= _SMALL_TABLE:
        return (cpd,)
    chain = chain_form(cpd, name=f"part of {cpd.variable.name}", max_cells=MOST_CELLS)
    if chain is None or not all(map(_has_table, chain)):
        return (cpd,)
    added = {link.variable.name for link in chain} - {cpd.variable.name}
    return (cpd,) if added & own else chain


# --- Queries about a few targets, whose cost is known before they run -----------------------------

_SAFE_EXPONENT = -800
"""Numbers lost by underflow cannot matter for probabilities above two to this power."""

_NO_LIMIT = 2**62
"""No limit of the work of a plan."""

_WORK_OF_A_STEP = 100
"""The operations of a step besides its multiplications."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LightQuery:
    """A query with its evidence, planned but not run; `query_at` makes it."""

    model: LightModel
    """The prepared network."""
    targets: tuple[tuple[Variable, ...], ...]
    """The variables of each joint distribution to compute."""
    likelihoods: Floats
    """The likelihoods of all variables with soft evidence, one after the other; at most one."""
    exponent: int
    """The likelihoods were divided by two to this power."""
    parts: tuple[tuple[Case, Steps], ...]
    """For each target, the numbers that matter for it and the plan of their elimination. The
    first part also computes the probability of the evidence."""
    multiplications: int
    """The multiplications of a run."""

    def run(self) -> Posterior | None:
        """Return the distributions of the targets given the evidence.

        Returns
        -------
        Posterior or None
            None for improbable or impossible evidence, which needs the care of a plan.
        """
        joints = []
        log_evidence = 0.0
        for number, ((case, steps), target) in enumerate(
            zip(self.parts, self.targets, strict=True)
        ):
            joint, log_total = self._sums(case, steps)
            if joint is None:
                return None
            if number == 0:
                log_evidence = log_total + self.exponent * math.log(2)
            joints.append(self._lifted(joint, target, case))
        return made(Posterior, scopes=self.targets, joints=tuple(joints), log_evidence=log_evidence)

    def _sums(self, case: Case, steps: Steps) -> tuple[Floats | None, float]:
        """Return the joint of the hidden targets and the logarithm of its sum.

        The joint is None if it is zero, or its digits may be lost.
        """
        messages = np.empty(int(steps.message_starts[-1]))
        messages[: self.likelihoods.size] = self.likelihoods
        read = messages.view()
        read.flags.writeable = False
        work = Work(messages, read, np.empty(int(steps.largest)))
        arrays = self.model.arrays
        total, exponent, lost = _summed(arrays, case, steps, work, careful=False)
        if total > 0 and exponent < _SAFE_EXPONENT:
            total, exponent, lost = _summed(arrays, case, steps, work, careful=True)
        if lost or not total > 0:
            return None, -math.inf
        joint = work.product[: int(steps.cells[-1])] / total
        return joint, math.log(total) + exponent * math.log(2)

    def _lifted(self, joint: Floats, target: Sequence[Variable], case: Case) -> Floats:
        """Return the joint of the hidden targets as an array over all variables of a target."""
        shape = [v.n_states for v in target]
        if case.targets.size == len(target):
            return sealed(joint.reshape(shape))
        numbers = [self.model.numbers[v.name] for v in target]
        observed = [int(case.states[i]) for i in numbers]
        hidden = [n for n, state in zip(shape, observed, strict=True) if state < 0]
        lifted = np.zeros(shape)
        lifted[tuple(slice(None) if state < 0 else state for state in observed)] = joint.reshape(
            hidden
        )
        return sealed(lifted)


def query_at(
    model: LightModel,
    scopes: tuple[tuple[Variable, ...], ...],
    evidence: tuple[Mapping[str, int], Mapping[str, Floats]],
    limits: Limits,
    *,
    most_work: int = _NO_LIMIT,
) -> LightQuery:
    """Return a query about a few targets, with its cost; nothing is computed yet.

    Parameters
    ----------
    model
        The prepared network.
    scopes
        The variables of each target, at least one target.
    evidence
        State positions and likelihoods, by the names of variables; none has both.
    limits
        The limits of the cost of a run.
    most_work
        The limit of the operations of planning, which grow as the square of the number of hidden
        variables that matter. A query that exceeds it is too large.

    Raises
    ------
    TooLargeError
        If a run would exceed the limits, or the table of a functional or noisy distribution is too
        large and no chain of small tables equals it. `compile_plan` may know a better way.
    """
    positions, soft = evidence
    numbers = model.numbers
    n = model.arrays.n_states.size
    states = np.full(n, -1, dtype=np.int64)
    starts = np.full(n, -1, dtype=np.int64)
    for name, place in positions.items():
        states[numbers[name]] = place
    weights: list[Floats] = []
    exponent = filled = 0
    for name, weight in soft.items():
        starts[numbers[name]] = filled
        shift = math.frexp(float(weight.max()))[1]
        weights.append(np.ldexp(weight, -shift))
        exponent += shift
        filled += weight.size
    likelihoods = np.concatenate(weights) if weights else np.empty(0)
    states, starts = sealed(states), sealed(starts)
    parts = []
    for i, scope in enumerate(scopes):
        hidden = [u for v in scope if states[u := numbers[v.name]] < 0]
        case = Case(states, starts, np.array(hidden, dtype=np.int64), whole=i == 0)
        steps = _planned(model.arrays, case, likelihoods.size, most_work)
        if steps.missing >= 0:
            raise _no_table(model.network.cpds[steps.missing])
        parts.append((case, steps))
    multiplications, memory, largest = _cost(parts)
    _check(parts, (multiplications, memory, largest), model, limits)
    return LightQuery(
        model=model,
        targets=scopes,
        likelihoods=likelihoods,
        exponent=exponent,
        parts=tuple(parts),
        multiplications=multiplications,
    )


_plain_plans = PlainWork(steps_of, tasks=3)
_plain_sums = PlainWork(sums_of, tasks=3)
"""The work of queries in Python, before the kernels are compiled."""


def _planned(arrays: LightArrays, case: Case, first_message: int, most_work: int) -> Steps:
    """Return the plan of a query, by Python if that is quick and the kernel is not compiled."""
    left = _plain_plans.left
    if left:
        steps = run_plainly(steps_of, arrays, case, first_message, left)
        _plain_plans.spend(steps.work if steps.work >= 0 else left)
        if steps.work >= 0:
            return steps
    steps = steps_of(arrays, case, first_message, most_work)
    if steps.work < 0:
        raise TooLargeError(
            f"the query takes more than {most_work:,} operations to plan; use compile_plan or"
            " posterior",
            needed=most_work + 1,
            budget=most_work,
        )
    return steps


def _summed(
    arrays: LightArrays, case: Case, steps: Steps, work: Work, *, careful: bool
) -> tuple[float, int, bool]:
    """Return the results of `sums_of`, by Python as `_planned`."""
    left = _plain_sums.left
    cost = steps.products + _WORK_OF_A_STEP * steps.cells.size
    if cost < left:
        _plain_sums.spend(cost)
        return run_plainly(sums_of, arrays, case, steps, work, careful)
    return sums_of(arrays, case, steps, work, careful)


def _no_table(cpd: CPD) -> TooLargeError:
    return TooLargeError(
        f"the table of {cpd.variable.name} would have {many(cpd.n_cells)} cells, and a query"
        f" without a plan takes tables of {MOST_CELLS:,} cells; use compile_plan or posterior",
        needed=cpd.n_cells,
        budget=MOST_CELLS,
    )


def _cost(parts: Sequence[tuple[Case, Steps]]) -> tuple[int, int, int]:
    """Return the multiplications of a run, its bytes, and the cells of its largest table."""
    multiplications = memory = largest = 0.0
    for _, steps in parts:
        multiplications += steps.products
        largest = max(largest, steps.largest)
        memory = max(memory, 8 * (steps.largest + float(steps.message_starts[-1])))
    return int(multiplications), int(memory), int(largest)


def _check(
    parts: Sequence[tuple[Case, Steps]],
    cost: tuple[int, int, int],
    model: LightModel,
    limits: Limits,
) -> None:
    """Raise `TooLargeError` if a cost exceeds the limits."""
    multiplications, memory, largest = cost
    if multiplications <= limits.max_multiplications and memory <= limits.max_bytes:
        return
    names = list(model.numbers)
    for _, steps in parts:
        place = int(steps.cells.argmax())
        if steps.cells[place] == largest:
            break
    if place < steps.cells.size - 1:
        first, last = steps.scope_starts[place : place + 2]
        members = [place, *steps.scopes[first:last].tolist()]
    else:
        members = list(range(place, steps.order.size))
    clique = Clique(tuple(names[steps.order[i]] for i in members), largest)
    refusal = limits.refusal(multiplications, memory, clique)
    assert refusal is not None  # as was tested above
    raise refusal
