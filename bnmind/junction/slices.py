"""Plans in slices: where a run needs too much memory, a run for each joint state of some variables.

The runs are independent of each other. Their joint distributions are summed, weighted by the
probabilities of the evidence in each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted, format_bytes, many
from bnmind._values import Sealed, Value, made, sealed
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.evidence import (
    Evidence,
    Findings,
    by_name,
    likelihood,
    read_findings,
)
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.plan import Plan, attempt, compile_plan, impossible
from bnmind.junction.posteriors import Posterior
from bnmind.junction.reduction import Domains, possible_states
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

# --- Sums over slices: joint distributions weighted by the probabilities of their evidence --------
#
# Weights are kept as multiples of the largest one, so that neither tiny nor huge probabilities are
# lost.


@dataclass(frozen=True, eq=False, kw_only=True)
class SliceSums(Sealed):
    """The sums over the slices so far: the state between two steps of a sliced plan."""

    done: int
    """The number of joint states of the sliced variables that are summed or excluded."""
    possible: int
    """The number of those that have a positive probability."""
    log_scale: float
    """The natural logarithm of the largest probability of a slice; −inf at the start."""
    total: float
    """The sum of the probabilities of the slices, divided by the largest."""
    joints: tuple[Floats, ...]
    """For each target, the sum of its joint probabilities, divided by the largest probability."""

    question: Any = field(default=None, repr=False)
    """The plan and the findings; only the same plan with the same findings goes on from these
    sums."""

    @property
    def log_evidence(self) -> float:
        """The natural logarithm of the sum of the probabilities; −inf for none."""
        return self.log_scale + math.log(self.total) if self.total > 0 else -math.inf

    def add(self, log_probability: float, joints: Sequence[Floats], done: int) -> SliceSums:
        """Return the sums with one more slice.

        Parameters
        ----------
        log_probability
            The natural logarithm of the probability of the slice.
        joints
            For each target, the joint distribution in this slice.
        done
            The number of joint states up to this slice.
        """
        scale = max(self.log_scale, log_probability)
        old, new = math.exp(self.log_scale - scale), math.exp(log_probability - scale)
        pairs = zip(self.joints, joints, strict=True)
        return replace(
            self,
            done=done,
            possible=self.possible + 1,
            log_scale=scale,
            total=old * self.total + new,
            joints=tuple([old * before + new * joint for before, joint in pairs]),
        )


# --- The joint states of the sliced variables, without those that a table excludes ----------------


def possible_slices(
    potentials: Sequence[Potential],
    domains: Domains,
    sliced: Sequence[Variable],
    *,
    start: int = 0,
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the joint states that arc consistency does not exclude, with their numbers.

    A state of the first variables that some table excludes, excludes all joint states with it; they
    are not visited one by one.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        The possible states of all its variables; evidence has one state.
    sliced
        The variables.
    start
        The first number to yield.

    Yields
    ------
    number, states
        The number counts all joint states, the last variable fastest. The states are positions.
    """
    sizes = [v.n_states for v in sliced]

    def below(
        known: Domains, depth: int, first: int, states: tuple[int, ...]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        try:
            left = possible_states(potentials, known)
        except ImpossibleEvidenceError:
            return
        if depth == len(sliced):
            yield first, states
            return
        name, width = sliced[depth].name, math.prod(sizes[depth + 1 :])
        for state in left.get(name, range(sizes[depth])):
            number = first + state * width
            if number + width > start:
                yield from below({**left, name: (state,)}, depth + 1, number, (*states, state))

    yield from below(domains, 0, 0, ())


# --- Sliced plans: one plan that runs for each joint state of some variables, and sums the runs ---

_Slice: TypeAlias = tuple[int, tuple[int, ...]]
"""The number of a slice in the order of the run, and the states of the sliced variables."""


@dataclass(frozen=True, eq=False, repr=False)
class SlicedPlan(Value):
    """A plan that is conditioned on some variables, and runs once for each of their joint states.

    `compile_sliced` makes sliced plans. The runs are independent of each other. Their joint
    distributions are summed, weighted by the probabilities of the evidence in each run. Joint
    states that a table excludes do not run.
    """

    plan: Plan
    """The plan of a single run; the sliced variables belong to its evidence."""
    sliced: tuple[Variable, ...]
    """The sliced variables, in the order of their choice."""

    def to_dict(self) -> dict[str, Any]:
        """Return the cost of all slices as a record for JSON."""
        return {
            "slices": self.n_slices,
            "sliced": [v.name for v in self.sliced],
            "multiplications": self.multiplications,
            "memory": self.memory,
        }

    @property
    def evidence(self) -> tuple[Variable, ...]:
        """The variables whose states each run takes from you."""
        return tuple([v for v in self.plan.evidence if v not in self.sliced])

    @property
    def targets(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables of each target."""
        return self.plan.targets

    @property
    def n_slices(self) -> int:
        """The number of joint states of the sliced variables."""
        return math.prod([v.n_states for v in self.sliced])

    @property
    def multiplications(self) -> int:
        """The multiplications of all slices together, from above."""
        return self.n_slices * self.plan.multiplications

    @property
    def memory(self) -> int:
        """The predicted bytes of a run of one slice."""
        return self.plan.memory

    def __repr__(self) -> str:
        names = ", ".join(v.name for v in self.sliced) or "no variables"
        return f"SlicedPlan({counted(self.n_slices, 'slice')} on {names}; {self.plan!r})"

    def __str__(self) -> str:
        limits = self.plan.limits
        names = ", ".join(v.name for v in self.sliced) or "nothing"
        return "\n".join(
            [
                f"slices  {self.n_slices:,} on {names}",
                f"multiplications in a slice  {self.plan.multiplications:,}",
                f"multiplications in all slices  {self.multiplications:,}"
                f" of at most {limits.max_multiplications:,}",
                f"memory in a run  {format_bytes(self.memory)}"
                f" of at most {format_bytes(limits.max_bytes)}",
                "evidence  " + (", ".join(v.name for v in self.evidence) or "none"),
                f"targets  {many(len(self.targets))}",
            ]
        )

    @checked
    def run(
        self,
        evidence: Evidence | None = None,
        *,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Posterior:
        """Return the joint distributions of the targets given the evidence.

        Parameters
        ----------
        evidence
            As for `Plan.run`.
        progress
            A function that is called with the number of slices done, and the number of all slices.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names all findings.
        InvalidArgumentError, UnknownNameError
            As in `Plan.run`.
        """
        findings = read_findings(evidence, self.evidence, self.plan.soft)
        start = self._start(findings)
        for sums in chain([start], self._added(findings, start)):
            if progress is not None and sums is not start:
                progress(sums.done, self.n_slices)
        if not sums.total > 0:
            raise impossible({**self.plan.compiled.query.fixed, **findings})
        joints = tuple([sealed(joint / sums.total) for joint in sums.joints])
        return made(Posterior, scopes=self.targets, joints=joints, log_evidence=sums.log_evidence)

    @checked
    def steps(
        self, evidence: Evidence | None = None, *, start: SliceSums | None = None
    ) -> Iterator[SliceSums]:
        """Yield the sums after each slice.

        Parameters
        ----------
        evidence
            As for `Plan.run`.
        start
            The sums to go on from, of this plan and the same evidence; by default nothing is
            summed yet.

        Raises
        ------
        InvalidArgumentError, UnknownNameError
            As in `Plan.run`, and if ``start`` holds the sums of another question.
        """
        findings = read_findings(evidence, self.evidence, self.plan.soft)
        sums = self._start(findings)
        if start is not None:
            if start.question != sums.question:
                raise InvalidArgumentError(
                    "start holds the sums of another plan or other evidence; leave start out to"
                    " begin anew",
                    start,
                )
            sums = start
        return self._added(findings, sums)

    def _start(self, findings: Findings) -> SliceSums:
        """Return empty sums."""
        soft = {
            v.name: likelihood(v, findings[v.name]).tolist()
            for v in self.plan.soft
            if v.name in findings
        }
        joints = tuple([np.zeros([v.n_states for v in scope]) for scope in self.targets])
        return SliceSums(
            done=0,
            possible=0,
            log_scale=-math.inf,
            total=0.0,
            joints=joints,
            question=(self, {**findings, **soft}),
        )

    def _slices(self, findings: Findings, start: int) -> Iterator[_Slice]:
        """Return the slices that no table excludes, from the one with number ``start``."""
        query = self.plan.compiled.query
        variables = {v.name: v for p in query.potentials for v in p.scope}
        variables |= {v.name: v for v in self.sliced}
        certain = {**query.fixed, **{v.name: findings[v.name] for v in self.evidence}}
        domains = {
            name: (v.index(certain[name]),) if name in certain else tuple(range(v.n_states))
            for name, v in variables.items()
        }
        return possible_slices(query.potentials, domains, self.sliced, start=start)

    def _added(self, findings: Findings, sums: SliceSums) -> Iterator[SliceSums]:
        """Yield the sums after each further slice."""
        for number, states in self._slices(findings, sums.done):
            fixed = {v.name: v.states[state] for v, state in zip(self.sliced, states, strict=True)}
            found = attempt(self.plan, {**findings, **fixed})
            if found is None:
                sums = replace(sums, done=number + 1)  # the slice is impossible
            else:
                joints = [np.real(joint) for joint in found.joints]
                sums = sums.add(found.log_evidence, joints, number + 1)
            yield sums


# --- The choice of the sliced variables, by the predicted costs of junction trees -----------------
#
# If a variable is fixed to a state, every clique and every message with it loses an axis, and the
# plan runs once for each state. The greedy search fixes the variable that reduces the memory most
# for the multiplications that it adds (J. Gray & S. Kourtis, *Hyper-optimized tensor network
# contraction*, Quantum 5, 2021, section 3.4; for networks, J. Pearl, *A constraint-propagation
# approach to probabilistic reasoning*, 1986, "conditioning").

_MOST_ROUNDS = 12
"""The most times that the plan is made anew with more sliced variables."""

_FREE = 1e-3
"""The natural logarithm of a factor of multiplications that counts as nothing."""


_Costs: TypeAlias = tuple[int, int, int]
"""The number of slices, the multiplications of all together, and the bytes of a run of one."""


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
    hidden = {*states, *names}
    if targets is None:
        targets = [[v.name] for v in model.variables if v.name not in hidden]
    wanted = [list(target) for target in targets]
    hidden.update(uncertain)
    candidates = {v.name for v in model.variables if v.n_states > 1 and v.name not in hidden}
    sliced: list[str] = []
    whole: Plan | None = None
    for _ in range(_MOST_ROUNDS):
        plan = compile_plan(
            model,
            evidence=[*states, *names, *sliced],
            soft=uncertain,
            targets=wanted,
            order=order,
            limits=replace(limits, only_restrictions=True),
        )
        plan = plan.restrict(states) if states else plan
        if plan.by_case is not None:
            raise TooLargeError(
                "the size of this plan depends on what is observed; pass the states of the evidence"
                " as known",
                needed=plan.by_case,
                budget=limits.max_multiplications,
            )
        here = SlicedPlan(plan, tuple([model.variable(name) for name in sliced]))
        costs = here.n_slices, here.multiplications, here.memory
        if here.memory <= limits.max_bytes and here.multiplications <= limits.max_multiplications:
            return here
        whole = whole or plan
        more, predicted = _more(here, candidates.difference(sliced), limits.max_bytes)
        if not more:
            break
        # Slices never take fewer multiplications together than the whole.
        if predicted[1] > limits.max_multiplications:
            raise _refusal(whole, predicted, limits)
        # A new elimination order often needs fewer variables.
        sliced += more[: (len(more) + 1) // 2]
    assert whole is not None
    raise _refusal(whole, costs, limits)


def _more(here: SlicedPlan, candidates: Iterable[str], max_bytes: int) -> tuple[list[str], _Costs]:
    """Return more variables to slice than those of a sliced plan; predict the new costs."""
    compiled = here.plan.compiled
    sizes = dict(zip(compiled.numbered, compiled.program.sizes, strict=True))
    cliques = [clique.variables for tree in compiled.trees for clique in tree.cliques]
    messages = [edge.separator for tree in compiled.trees for edge in tree.edges]
    # Reading takes four times the cells of the answers.
    answers = 4 * [[v.name for v in answer.variables] for answer in compiled.answers]
    scopes = [set(scope) & sizes.keys() for scope in (*cliques, *messages, *answers)]
    names = sorted(sizes.keys() & candidates)
    states = np.log([sizes[name] for name in names])
    has = np.array([[float(name in scope) for scope in scopes] for name in names])
    cells = np.array([sum(math.log(sizes[v]) for v in scope) for scope in scopes])

    def costs_of(cells: Floats) -> tuple[Any, Any]:
        """Return the logarithms of the multiplications and of the memory, up to constants."""
        numbers = np.exp(cells)
        work, kept = numbers[..., : len(cliques)], numbers[..., len(cliques) :]
        largest = work.max(axis=-1, initial=1.0)
        return np.log(work.sum(axis=-1) + 1.0), np.log(largest + kept.sum(axis=-1))

    # Slices reduce the messages, but not the tables of the model.
    tables = compiled.table_copies * sum(source.n_cells for source in compiled.sources)
    fixed = int(here.memory * tables / max(1, tables + compiled.program.peak_cells))
    chosen: list[str] = []
    first = work, memory = costs_of(cells)
    predicted = slices, total, bytes_of_one = here.n_slices, here.multiplications, here.memory
    while bytes_of_one > max_bytes > fixed and len(chosen) < len(names):
        work_after, memory_after = costs_of(cells - states[:, None] * has)
        added = np.maximum(states + work_after - work, 0.0) + _FREE
        best = int(np.argmax((memory - memory_after) / added))
        if not memory_after[best] < memory:
            break
        chosen.append(names[best])
        cells = cells - states[best] * has[best]
        has[best] = 0.0
        work, memory = work_after[best], memory_after[best]
        slices *= sizes[chosen[-1]]
        total = int(slices * here.plan.multiplications * math.exp(work - first[0]))
        bytes_of_one = fixed + int((here.memory - fixed) * math.exp(memory - first[1]))
        predicted = slices, total, bytes_of_one
    return chosen, predicted


def _refusal(whole: Plan, predicted: _Costs, limits: Limits) -> TooLargeError:
    """Return the error of a plan that fits neither as a whole nor at predicted costs of slices."""
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
    for factor in [p for p in model.potentials if isinstance(p, Factor)]:
        is_complex = np.iscomplexobj(factor.values)
        if is_complex or np.any(factor.values < 0):
            over = ", ".join(factor.names) or "no variable"
            kind = "complex" if is_complex else "negative"
            raise InvalidModelError(
                "slices need factors whose values are real and not negative; the factor over"
                f" {over} has {kind} values"
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
