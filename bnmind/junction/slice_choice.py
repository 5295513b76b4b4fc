"""The choice of the variables of slices."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import format_bytes, many
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, by_name
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.program.program import Product, Program, Scatter
from bnmind.junction.sliced_plan import SlicedPlan
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network

# --- The choice of the variables on which a program is conditioned, by its predicted cost ---------
#
# If a variable is fixed to a state, every register that depends on it loses an axis, and the
# program runs once for each state. The greedy search fixes the variable that reduces the peak of
# the memory most for the multiplications that it adds (J. Gray & S. Kourtis, *Hyper-optimized
# tensor network contraction*, Quantum 5, 2021, section 3.4; for networks, J. Pearl, *A
# constraint-propagation approach to probabilistic reasoning*, 1986, "conditioning").

_FREE = 1e-3
"""The natural logarithm of a factor of multiplications that counts as nothing."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Shape:
    """The steps of a program as arrays."""

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    """``(steps,)`` the registers that each step takes."""
    copies: tuple[Floats, Floats]
    """``(steps,)`` 1 where a step copies its left and its right register, otherwise 0."""
    scattered: Floats
    """``(steps,)`` the other cells that a step takes for a moment."""
    spent: NDArray[np.intp]
    """``(registers,)`` the registers that are freed,"""
    freed: NDArray[np.intp]
    """``(registers,)`` and the steps after which they are."""

    @classmethod
    def of(cls, program: Program) -> _Shape:
        """Return the steps of a program."""
        operations = [step.operation for step in program.steps]
        left = [isinstance(o, Product) and o.sums and o.left_axes is not None for o in operations]
        right = [isinstance(o, Product) and o.sums and o.right_axes is not None for o in operations]
        pairs = [(step, register) for step, spent in enumerate(program.spent) for register in spent]
        return cls(
            left=np.array([step.left for step in program.steps], dtype=np.intp),
            right=np.array([step.right for step in program.steps], dtype=np.intp),
            copies=(np.array(left, dtype=np.float64), np.array(right, dtype=np.float64)),
            scattered=np.array([2.0 * o.cost if isinstance(o, Scatter) else 0 for o in operations]),
            spent=np.array([register for _, register in pairs], dtype=np.intp),
            freed=np.array([step for step, _ in pairs], dtype=np.intp),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SliceCosts:
    """The predicted costs of one run of a program with some variables fixed."""

    program: Program
    shape: _Shape
    cells: Floats
    """``(registers,)`` the cells of each register."""
    work: Floats
    """``(steps,)`` the multiplications of each step."""

    @classmethod
    def of(cls, program: Program) -> SliceCosts:
        """Return the costs of a program without fixed variables."""
        cells = [float(program.cells(register)) for register in range(len(program.scopes))]
        work = [float(step.operation.cost) for step in program.steps]
        return cls(
            program=program,
            shape=_Shape.of(program),
            cells=np.array(cells),
            work=np.array(work),
        )

    def without(self, variable: int) -> SliceCosts:
        """Return the costs with one more variable fixed."""
        n_states = self.program.sizes[variable]
        has = np.array([variable in scope for scope in self.program.scopes], dtype=np.bool_)
        takes = has[self.shape.left] | has[self.shape.right] | has[self.program.n_inputs :]
        return replace(
            self,
            cells=np.where(has, self.cells / n_states, self.cells),
            work=np.where(takes, self.work / n_states, self.work),
        )

    @property
    def multiplications(self) -> float:
        """The multiplications of a run."""
        return float(self.work.sum())

    def held(self) -> Floats:
        """Return the cells that are held during each step, ``(steps,)``; see `peak_cells`."""
        shape, cells = self.shape, self.cells
        filled = cells[self.program.n_inputs :]
        freed = np.bincount(shape.freed, weights=cells[shape.spent], minlength=len(filled))
        left, right = shape.copies
        held: Floats = np.cumsum(filled) - np.cumsum(freed) + freed + shape.scattered
        held += left * cells[shape.left] + right * cells[shape.right]
        return held


def chosen_variables(
    program: Program, candidates: Collection[int], most_cells: float, most_work: float = math.inf
) -> tuple[int, ...]:
    """Return the variables to fix until a run holds at most some cells, in the order of choice.

    Parameters
    ----------
    program
        The program.
    candidates
        The variables that may be fixed, by number.
    most_cells
        The cells that the registers may hold at any time.
    most_work
        The multiplications of all runs together above which no more variables are chosen.

    Returns
    -------
    tuple of int
        All useful candidates if they do not suffice.
    """
    costs, chosen = SliceCosts.of(program), list[int]()
    while True:
        held = costs.held()
        runs = math.prod([program.sizes[v] for v in chosen])
        fits = not len(held) or held.max() <= most_cells
        if fits or runs * costs.multiplications > most_work:
            return tuple(chosen)
        live = _registers_at(program, int(held.argmax()), costs.cells)
        names = {v for register in live for v in program.scopes[register]}
        useful = sorted(names.intersection(candidates).difference(chosen))
        if not useful:
            return tuple(chosen)
        best = max(useful, key=lambda v: (_gain(costs, held, v), -v))
        chosen.append(best)
        costs = costs.without(best)


def _registers_at(program: Program, at: int, cells: Floats) -> Sequence[int]:
    """Return the largest registers that are held during a step: a quarter of the largest, or more.

    The variables of small registers do not reduce the peak.
    """
    live = {*range(program.n_inputs, program.n_inputs + at + 1)}
    for spent in program.spent[:at]:
        live.difference_update(spent)
    step = program.steps[at]
    held: NDArray[np.intp] = np.array(sorted({*live, step.left, step.right}), dtype=np.intp)
    large: list[int] = held[cells[held] >= cells[held].max() / 4].tolist()
    return large


def _gain(costs: SliceCosts, held: Floats, variable: int) -> float:
    """Return the reduction of the memory for the multiplications that fixing a variable adds.

    Both are logarithms of ratios. Besides the peak, all other steps count a little, so that of
    several equal peaks each is reduced in turn.
    """
    after = costs.without(variable)
    now = after.held()
    saved = math.log(held.max() / now.max()) + math.log(held.sum() / now.sum()) / 100
    before = max(costs.multiplications, 1.0)
    added = math.log(costs.program.sizes[variable] * max(after.multiplications, 1.0) / before)
    return saved / (max(added, 0.0) + _FREE)


# --- Compilation of sliced plans ------------------------------------------------------------------

_MOST_ROUNDS = 12
"""The most times that the plan is made anew with more sliced variables."""

_ONE_BY_ONE = 8
"""The first rounds, in which a costly plan gets a single variable more: a new elimination order
often needs fewer variables."""

_COSTLY = 2**30
"""The multiplications above which a new order is worth its time."""


@checked
def compile_sliced(
    model: Network | FactorModel,
    *,
    evidence: Iterable[str] = (),
    known: Evidence | None = None,
    soft: Iterable[str] = (),
    targets: Iterable[Iterable[str]] | None = None,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SlicedPlan:
    """Compile a plan that runs in slices, each of which fits the limit of the memory.

    Use it where `compile_plan` refuses a plan because of its memory. A slice is a run for one joint
    state of some variables. They are chosen one by one: the next is the one that reduces the memory
    most for the multiplications that it adds. If the plan fits as a whole, there is one slice.

    Parameters
    ----------
    model
        A network, or a product of factors that are not negative.
    evidence, soft, targets, order
        As for `compile_plan`.
    known
        Evidence that holds in every run, ``{variable: state}``; it makes the plan smaller.
    limits
        The limits of the memory of a slice, and of the multiplications of all slices together.

    Raises
    ------
    TooLargeError
        If all slices together would exceed the limit of the multiplications, or no choice of
        variables makes a slice fit. The error predicts both costs.
    InvalidModelError
        If a factor is negative or complex.
    UnknownNameError, InvalidArgumentError
        As for `compile_plan`.
    ImpossibleEvidenceError
        If a single table excludes the known evidence.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> plan = compile_sliced(network, evidence=["wet"])
    >>> plan.n_slices
    1
    >>> plan.run({"wet": "yes"})
    Posterior(1 target, log_evidence=-1.34707)
    rain  no 0.308  yes 0.692
    """
    _check_signs(model)
    states, names, uncertain = by_name(known, "the known evidence"), list(evidence), list(soft)
    wanted = None if targets is None else [list(target) for target in targets]
    if wanted is None:
        hidden = {*states, *names}
        wanted = [[v.name] for v in model.variables if v.name not in hidden]

    def planned(sliced: Sequence[str]) -> Plan:
        plan = compile_plan(
            model,
            evidence=[*states, *names, *sliced],
            soft=uncertain,
            targets=wanted,
            order=order,
            limits=replace(limits, only_restrictions=True),
        )
        return plan.restrict(states) if states else plan

    fixed = {*states, *names, *uncertain}
    candidates = {v.name for v in model.variables if v.n_states > 1 and v.name not in fixed}
    sliced, plan = _sliced(planned, candidates, limits)
    variables = {v.name: v for v in model.variables}
    return SlicedPlan(plan, tuple([variables[name] for name in sliced]))


def _sliced(
    planned: Callable[[Sequence[str]], Plan], candidates: set[str], limits: Limits
) -> tuple[list[str], Plan]:
    """Return the sliced variables and the plan of a slice.

    Parameters
    ----------
    planned
        Makes the plan of a slice from the names of the sliced variables.
    candidates
        The variables that may be sliced.
    limits
        The limits.
    """
    sliced: list[str] = []
    whole: Plan | None = None
    for number in range(_MOST_ROUNDS):
        plan = planned(sliced)
        if plan.by_case is not None:
            raise TooLargeError(
                "the size of this plan depends on what is observed; pass the states of the evidence"
                " as known",
                needed=plan.by_case,
                budget=limits.max_multiplications,
            )
        sizes = {v.name: v.n_states for v in plan.evidence if v.name in set(sliced)}
        total = math.prod(sizes.values()) * plan.multiplications
        if plan.memory <= limits.max_bytes and total <= limits.max_multiplications:
            return sliced, plan
        whole = whole or plan
        tried = (math.prod(sizes.values()), total, plan.memory)
        more, predicted = _more(plan, sliced, candidates - set(sliced), limits)
        if not more:
            break
        slices = tried[0] * predicted[0]
        work = slices * predicted[1]
        # Slices never take fewer multiplications together than the whole.
        if work > limits.max_multiplications:
            raise _refusal(whole, (slices, work, predicted[2]), limits)
        is_worth_planning = number < _ONE_BY_ONE and total > _COSTLY
        sliced += more[:1] if is_worth_planning else more
    assert whole is not None
    raise _refusal(whole, tried, limits)


def _more(
    plan: Plan, sliced: Sequence[str], candidates: set[str], limits: Limits
) -> tuple[list[str], tuple[int, int, int]]:
    """Return more variables to slice, and the number, multiplications and bytes of the slices."""
    compiled = plan.compiled
    runs = math.prod([v.n_states for v in plan.evidence if v.name in sliced])
    most_work = limits.max_multiplications / runs
    numbers = {i for i, name in enumerate(compiled.numbered) if name in candidates}
    program = compiled.program
    unit = max(1, compiled.memory // max(1, _cells(plan, program.peak_cells)))
    tables = _cells(plan, 0)
    most_cells = limits.max_bytes / unit - tables
    # Slices reduce the registers, but not the tables of the model.
    chosen: tuple[int, ...] = ()
    if most_cells > 0:
        # If even the whole takes too many multiplications, this is only a prediction.
        most = most_work if program.multiplications <= most_work else math.inf
        chosen = chosen_variables(program, numbers, most_cells, most)
    costs = SliceCosts.of(program)
    for variable in chosen:
        costs = costs.without(variable)
    slices = math.prod([program.sizes[v] for v in chosen])
    held = costs.held()
    peak = int(held.max()) if len(held) else 0
    memory = unit * (tables + peak)
    return [compiled.numbered[v] for v in chosen], (slices, int(costs.multiplications), memory)


def _cells(plan: Plan, peak: int) -> int:
    """Return the cells of the tables of a plan, and of registers that hold ``peak`` cells."""
    compiled = plan.compiled
    return compiled.table_copies * sum(source.n_cells for source in compiled.sources) + peak


def _refusal(whole: Plan, predicted: tuple[int, int, int], limits: Limits) -> TooLargeError:
    """Return the error of a plan that does not fit, neither as a whole nor in slices.

    Parameters
    ----------
    whole
        The plan without slices.
    predicted
        The number of slices, the multiplications of all together, and the bytes of one. One of the
        two costs exceeds its limit.
    limits
        The limits.
    """
    slices, work, memory = predicted
    by_work = work > limits.max_multiplications
    in_slices = "no choice of variables to slice reduces its memory"
    if slices > 1:
        times = f"about {many(work).removeprefix('about ')}"
        in_slices = (
            f"in {many(slices)} slices it would take {times} multiplications and"
            f" {format_bytes(memory)}"
        )
    return TooLargeError(
        f"a run of this plan would take {many(whole.multiplications)} multiplications and"
        f" {format_bytes(whole.memory)}; {in_slices}. Allowed are max_multiplications="
        f"{limits.max_multiplications:,} and max_bytes={limits.max_bytes:,}. Observe more"
        " variables, ask for fewer targets, pass order=BestOrder(), or raise the limits.",
        needed=work if by_work else memory,
        budget=limits.max_multiplications if by_work else limits.max_bytes,
    )


def _check_signs(model: Network | FactorModel) -> None:
    """Raise an error if slices of a model could have negative sums."""
    for potential in model.potentials:
        if isinstance(potential, Factor):
            values = potential.values
            kind = "complex" if np.iscomplexobj(values) else "negative"
            if kind == "complex" or np.any(values < 0):
                over = ", ".join(potential.names) or "no variable"
                raise InvalidModelError(
                    [
                        "slices need factors whose values are real and not negative; the factor"
                        f" over {over} has {kind} values"
                    ]
                )


# --- Sliced plans in place of plans that were refused because of their memory ---------------------

_HOPELESS = 2**40
"""How many times larger than allowed the memory of a plan is that no slices make fit. Each of them
would be a run."""


def sliced_instead(
    refusal: TooLargeError,
    model: Network | FactorModel,
    *,
    known: Evidence,
    soft: Iterable[str] = (),
    targets: Iterable[Iterable[str]],
    order: OrderFinder | None,
    limits: Limits,
) -> SlicedPlan:
    """Return a sliced plan for a question whose plan as a whole was refused.

    Parameters
    ----------
    refusal
        The error of the whole.
    model, known, soft, targets, order, limits
        As for `compile_sliced`.

    Raises
    ------
    TooLargeError
        The refusal, if memory is not its reason, if it is a trillion times too large, or if the
        model cannot be sliced. If slices do not fit either, the error predicts the costs of the
        whole and of the slices.
    """
    is_hopeless = (refusal.needed or 0) > _HOPELESS * limits.max_bytes
    if refusal.budget != limits.max_bytes or is_hopeless:
        raise refusal
    try:
        return compile_sliced(
            model, known=known, soft=soft, targets=targets, order=order, limits=limits
        )
    except InvalidModelError as error:
        raise refusal from error
