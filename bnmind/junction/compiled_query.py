"""Questions, what they compile to, and the registers that a run starts with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import format_bytes, listed, many, some_names
from bnmind._values import ReadOnlyDict, Sealed, Value, made
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.junction.causes import CaseSweep, IndependentCauses
from bnmind.junction.evidence import (
    Evidence,
    Findings,
    by_name,
    label_of,
    likelihood,
    read_findings,
    real_numbers,
)
from bnmind.junction.graphs import Clique, JunctionTree, OrderFinder
from bnmind.junction.limits import (
    DEFAULT_PLAN_SECONDS,
    Limits,
    Work,
    format_seconds,
    predicted_seconds,
    work_of_steps,
)
from bnmind.junction.program import Program
from bnmind.junction.reduction import Answer, Registers, Source, possible_states
from bnmind.junction.runs import (
    FlatProgram,
    FlatRecord,
    flat_program,
    has_few_cells,
    has_small_steps,
    should_be_flat,
)
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import Potential, Replacement
from bnmind.pgm.variable import Variable

# --- Queries, with the evidence that restrictions have fixed --------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Query(Sealed):
    """A query: a model, evidence variables, targets, and options of the compilation."""

    potentials: tuple[Potential, ...]
    evidence: tuple[Variable, ...]
    targets: tuple[tuple[Variable, ...], ...]
    inputs: Mapping[str, tuple[Variable, ...]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """The evidence that restrictions have fixed."""
    given: Mapping[str, Values] = field(default_factory=dict)
    """The inputs that restrictions have fixed, likelihoods included."""
    total_size_before: int | None = None
    """The total size of the plan before its restriction."""
    order: OrderFinder | None
    """The search for elimination orders; None for the default."""
    limits: Limits
    """The limits of the cost of a run."""
    soft: tuple[Variable, ...] = ()
    """Variables whose likelihood is an input, see `bnmind.junction.evidence`."""
    barren: int = 0
    """The number of omitted variables, which do not influence the targets or the evidence."""
    compress: bool = True
    """Whether restricted plans may have compound variables."""
    factorize: bool = True
    """Whether small factors may replace large functional and noisy distributions."""
    signed: bool = True
    """Whether these factors may be negative or complex."""
    replacements: tuple[Replacement, ...] = ()
    """The original distributions that some potentials replace."""
    whole: bool = False
    """Whether the plan keeps every variable, because each needs a state."""
    most_cells: int | None = None
    """The most cells of a plan that is assembled; None for no limit."""
    direct: bool = True
    """Whether independent causes of observed effects may be swept, without a program."""
    causes: IndependentCauses | None = None
    """The query as a query about independent causes of observed effects, if it is one."""

    @property
    def is_restricted(self) -> bool:
        """Whether some evidence or inputs are fixed."""
        return bool(self.fixed or self.given)

    @property
    def to_be_restricted(self) -> bool:
        """Whether the plan may exceed its limits, because only restrictions of it will run."""
        return self.limits.only_restrictions and not self.whole and self.most_cells is None

    @property
    def may_shrink(self) -> bool:
        """Whether a restriction of the plan may fit although the plan is surely too large."""
        return self.to_be_restricted and bool(self.evidence or self.soft or self.inputs)

    def with_more(self, more: Findings, inputs: Mapping[str, Values]) -> Query:
        """Return the query with additional findings and inputs fixed."""
        more = {name: finding for name, finding in more.items() if finding is not None}
        soft = {label_of(v.name): likelihood(v, more[v.name]) for v in self.soft if v.name in more}
        fixed, given = {**self.fixed, **more}, {**self.given, **inputs, **soft}
        return replace(self, fixed=fixed, given=given)

    def with_originals(self) -> Query:
        """Return the query with the original distributions in place of their factors.

        Factors stay if one of their auxiliary variables is a target or evidence.
        """
        queried = {v.name for s in [self.evidence, *self.targets, *self.inputs.values()] for v in s}
        potentials = list(self.potentials)
        for replacement in self.replacements:
            mine = [p for p in potentials if any(p is factor for factor in replacement.factors)]
            rest = [p for p in potentials if not any(p is q for q in mine)]
            others = queried | {v.name for p in rest for v in p.scope}
            own = {v.name for p in mine for v in p.scope if v not in replacement.cpd.scope}
            if len(mine) == len(replacement.factors) and not own & others:
                potentials = [*rest, replacement.cpd]
        return replace(self, potentials=tuple(potentials), replacements=())


@dataclass(frozen=True)
class Savings:
    """The parts of the model that a plan omits before the triangulation."""

    barren: int = 0
    """Number of barren variables, which do not influence the targets or the evidence."""
    observed: int = 0
    """Number of variables that the evidence makes certain."""
    states: int = 0
    """Number of states that the evidence makes impossible."""
    total_size_before: int | None = None
    """The total size of the plan before the restriction."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Request(Value):
    """A query with part of its evidence known."""

    query: Query
    """The query, from which plans for more evidence are made."""
    evidence: tuple[Variable, ...]
    """The variables whose states each run takes."""
    inputs: Mapping[str, tuple[Variable, ...]]
    """The tables that each run takes, with their variables."""
    soft: tuple[Variable, ...]
    """The variables for which each run takes a state, a likelihood, or nothing."""
    derived: tuple[FunctionalCPD, ...]
    """Variables that are functions of the evidence, parents first."""
    certain: Mapping[str, int]
    """State positions of the known evidence and of its functions."""
    savings: Savings
    """The omitted parts of the model."""

    @property
    def observed(self) -> tuple[str, ...]:
        """The variables whose states are known in each run."""
        return tuple(v.name for v in (*self.evidence, *(cpd.variable for cpd in self.derived)))

    @property
    def tables(self) -> dict[str, tuple[Variable, ...]]:
        """The inputs, and the likelihoods of the soft variables."""
        return {**self.inputs, **{label_of(v.name): (v,) for v in self.soft}}

    @property
    def joints(self) -> list[tuple[Variable, ...]]:
        """Sets of variables that some clique must contain, besides those of the model."""
        return [*self.query.targets, *self.tables.values()]


def opened(
    query: Query, *, search: bool = True
) -> tuple[Request, tuple[Potential, ...], dict[str, tuple[int, ...]]]:
    """Return the remaining query, the relevant potentials and the possible states.

    Without ``search``, states that the known evidence and inputs exclude count as possible.

    Raises
    ------
    ImpossibleEvidenceError
        If a single table excludes the known evidence or inputs.
    """
    fixed, tables = query.fixed, query.given
    certain = {v.name: v.index(fixed[v.name]) for v in query.evidence if v.name in fixed}
    free = tuple(v for v in query.evidence if v.name not in fixed)
    derived = _determined(query, {v.name for v in free}, certain)
    left = {name: scope for name, scope in query.inputs.items() if name not in tables}
    potentials = query.potentials + tuple(Factor(query.inputs[n], a) for n, a in tables.items())

    variables = {v.name: v for p in potentials for v in p.scope}
    variables |= {v.name: v for s in [*query.targets, *left.values()] for v in s}
    domains = {
        name: (certain[name],) if name in certain else tuple(range(v.n_states))
        for name, v in variables.items()
    }
    gone = {cpd.variable.name for cpd in derived}
    if search and (fixed or tables):
        domains = possible_states(potentials, domains, keep=[*(v.name for v in free), *gone])
    excluded = sum(
        v.n_states - len(domains[name]) for name, v in variables.items() if name not in certain
    )
    labels = {label_of(v.name): v for v in query.soft}
    request = made(
        Request,
        query=query,
        evidence=free,
        inputs=ReadOnlyDict({name: s for name, s in left.items() if name not in labels}),
        soft=tuple(v for label, v in labels.items() if label in left),
        derived=derived,
        certain=ReadOnlyDict(certain),
        savings=Savings(
            query.barren, len(query.evidence) + len(derived), excluded, query.total_size_before
        ),
    )
    # Functions of the evidence are computed, and have no tables.
    rest = [p for p in potentials if isinstance(p, Factor) or p.variable.name not in gone]
    return request, tuple(rest), domains


def _determined(query: Query, free: set[str], certain: dict[str, int]) -> tuple[FunctionalCPD, ...]:
    """Return the functional variables that the free evidence determines, parents first.

    The function adds those that the fixed evidence determines to ``certain``.
    """
    known, result = free | set(certain), []
    if query.whole:
        return ()
    targeted = {v.name for s in [*query.targets, *query.inputs.values()] for v in s}
    for potential in query.potentials:
        if not isinstance(potential, FunctionalCPD) or potential.variable.name in known | targeted:
            continue
        parents = [v.name for v in potential.parents]
        if all(name in certain for name in parents):
            certain[potential.variable.name] = potential.value([certain[name] for name in parents])
        elif all(name in known for name in parents):
            result.append(potential)
        else:
            continue
        known.add(potential.variable.name)
    return tuple(result)


# --- Compiled queries as plain data: tables, program, answers, and the original query -------------
#
# It holds numbers, names and tables, and no functions. `bnmind.junction.assembly` makes
# it, and `bnmind.junction.plan` is its interface for users.

_SURELY_QUICK = 2**26
"""The most multiplications of a run whose time is not predicted: far less than the usual limit."""

_STEPS_OF_A_RUN, _STEPS_OF_AN_ANSWER = 15, 1.5

_FIRST_RUNS = 16
"""The first runs of a plan are in NumPy."""

_LARGE_POWER = 1_000
"""The power of two that the largest numbers of all tables multiply to where plain runs fail."""

_MOST_BYTES = 64
"""The most bytes of a run for each number: two complex numbers and their copies."""


NOTHING = Program(n_inputs=0, steps=(), spent=(), scopes=(), sizes=())
"""The program of a query that is planned for each case, or swept."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CompiledQuery(Request):
    """A request with the tables, the program and the answers that serve it."""

    trees: tuple[JunctionTree, ...] = ()
    """One junction tree, or several if separate trees are cheaper for parts of the query."""
    sources: tuple[Source, ...] = ()
    """The tables at the start of the program, which each run reduces to the evidence."""
    program: Program = NOTHING
    """The contractions of a run, in order."""
    numbered: tuple[str, ...] = ()
    """The variables of the program by name, without those of a single state."""
    answers: tuple[Answer, ...] = ()
    """The rules for reading each target from the registers of the program."""
    halved: bool = False
    """Whether one of each pair of conjugate terms is omitted, so that only the real parts count."""
    table_copies: int = 1
    """The number of copies of the model's tables in a run: plain numbers, and logarithms."""
    by_case: int | None = None
    """The approximate number of cells of a common plan, if each run makes a plan for its own
    evidence instead; otherwise None."""
    swept: CaseSweep | None = None
    """The sweep over independent causes of observed effects that answers the query, if one does;
    the program is empty then."""

    def __repr__(self) -> str:
        """Return a plan in one line."""
        targets = some_names(["+".join(v.name for v in scope) for scope in self.targets])
        return f"Plan({targets} | {self.line})"

    @property
    def line(self) -> str:
        """What each run takes, and the size, in one line."""
        names = [*(v.name for v in self.evidence), *(f"{v.name}?" for v in self.soft), *self.inputs]
        size = f"{self.total_size:,} cells" if self.by_case is None else "planned for each case"
        if self.swept is not None:
            size = self.swept.line
        return f"{some_names(names) or 'nothing'}; {size}"

    def __str__(self) -> str:
        """Return a full description of a plan: its cliques, omitted parts, and cost."""
        saved = self.savings
        lines = [str(tree) for tree in self.trees]
        if len(self.trees) > 1:
            lines.append(f"total size of {len(self.trees)} trees  {self.total_size:,}")
        if self.by_case is not None:
            lines.append(
                "planned for each case, since the size depends on what is observed: for any"
                f" evidence it would have about {many(self.by_case)} cells"
            )
        elif self.swept is not None:
            lines.append(f"no tree: {self.swept.line}")
        else:
            separators = {edge.separator for tree in self.trees for edge in tree.edges} - {()}
            texts = ["{" + " ".join(separator) + "}" for separator in sorted(separators)]
            lines.append("separators  " + (", ".join(texts) or "none"))
        if saved.total_size_before is not None:
            lines.append(
                f"total size before restriction  {saved.total_size_before:,},"
                f" after  {self.total_size:,}"
            )
        lines.append(
            f"left out  {saved.barren} barren and {saved.observed} certain variables,"
            f" {saved.states} impossible states"
        )
        if self.by_case is None:
            lines += [
                f"multiplications in a run  {self.multiplications:,}"
                f" of at most {self.limits.max_multiplications:,}",
                f"time of a run  {format_seconds(self.seconds)}"
                f" of at most {self.limits.max_seconds:g} s",
                f"memory in a run  {format_bytes(self.memory)}"
                f" of at most {format_bytes(self.limits.max_bytes)}",
            ]
        lines.append("evidence  " + (", ".join(v.name for v in self.evidence) or "none"))
        if self.soft:
            lines.append("soft      " + ", ".join(v.name for v in self.soft))
        lines += [
            f"input     {name}({', '.join(v.name for v in scope)})"
            for name, scope in self.inputs.items()
        ]
        lines += [
            f"target    {', '.join(v.name for v in scope)}" for scope in self.targets if scope
        ]
        return "\n".join(lines)

    @property
    def targets(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables of each target."""
        return self.query.targets

    @property
    def limits(self) -> Limits:
        """The limits of the cost of a run."""
        return self.query.limits

    @property
    def total_size(self) -> int:
        """The sum of the clique sizes."""
        return sum([tree.total_size for tree in self.trees])

    @property
    def largest(self) -> Clique:
        """The largest clique."""
        cliques = (clique for tree in self.trees for clique in tree.cliques)
        return max(cliques, key=lambda clique: clique.size, default=Clique((), 1))

    def run(
        self,
        registers: Sequence[Values],
        progress: Callable[[int], None] | None = None,
        *,
        scaled: bool = False,
        rounds_up: bool = False,
    ) -> tuple[Registers, list[int], bool]:
        """Return the registers after a run of the program; see `Program.run`.

        After some runs, small steps are run by compiled code, whose numbers may differ in the last
        digit.

        Parameters
        ----------
        registers
            The first registers.
        progress, scaled, rounds_up
            As for the run of a program.
        """
        may = not (scaled or rounds_up) and progress is None and self._may_be_flat
        if may and should_be_flat(self.program, next(self._runs), _FIRST_RUNS):
            record = self._flat.run_in_range(registers)
            if record is not None:
                return record, [], False
        return self.program.run(registers, progress, scaled=scaled, rounds_up=rounds_up)

    def read(self, filled: Registers) -> Values:
        """Return the unnormalized joints of all targets, one after the other."""
        if isinstance(filled, FlatRecord) and self._places is not None:
            numbers: Values = filled.values[self._places]
            return numbers
        return np.concatenate([answer.read(filled).ravel() for answer in self.answers])

    @cached_property
    def parts(self) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
        """Where the joint of each target begins and ends in what is read, and its shape."""
        ends = list(accumulate([math.prod(answer.shape) for answer in self.answers]))
        shapes = [answer.shape for answer in self.answers]
        return tuple(zip([0, *ends], ends, shapes, strict=False))

    @cached_property
    def _places(self) -> NDArray[np.intp] | None:
        """The places of the answers in the array of a compiled run; None if some are elsewhere."""
        places = []
        for answer in self.answers:
            of_register = self._flat.places(answer.register)
            if of_register is None:
                return None
            places.append(answer.arranged(of_register).ravel())
        return np.concatenate(places)

    @cached_property
    def _may_be_flat(self) -> bool:
        """Whether compiled code can run the program, in little more memory."""
        return (
            bool(self.program.steps)
            and has_few_cells(self.program, self.limits.max_bytes)
            and has_small_steps(self.program)
            and not self.has_complex_numbers
        )

    @cached_property
    def _runs(self) -> count[int]:
        """Counts the runs, which affects only the time of the next one."""
        return count()

    @cached_property
    def _flat(self) -> FlatProgram:
        ends = {answer.register for answer in self.answers if answer.register is not None}
        return flat_program(self.program, self.unchanging, ends)

    @cached_property
    def has_complex_numbers(self) -> bool:
        """Whether some table holds complex numbers."""
        return any(s.values is not None and np.iscomplexobj(s.values) for s in self.sources)

    @property
    def multiplications(self) -> int:
        """Multiplications of one run."""
        return (self.swept or self.program).multiplications

    @cached_property
    def memory(self) -> int:
        """The predicted bytes of the tables of the model and of the registers of a run."""
        tables = self.table_copies * sum(s.n_cells for s in self.sources)
        # An answer takes its register, two copies and the joint at the same time.
        reading = 4 * sum([math.prod(answer.shape) for answer in self.answers])
        running = self.program.peak_cells if self.swept is None else self.swept.peak_cells
        registers = max(running, reading)
        return (16 if self.has_complex_numbers else 8) * (tables + registers)

    @cached_property
    def seconds(self) -> float:
        """The predicted time of a run on this machine, in seconds."""
        if self.swept is not None:
            return predicted_seconds(Work(1, 0, self.multiplications, self.multiplications))
        steps = [sum(kind) for kind in zip(*work_of_steps(self.program), strict=True)]
        # Reading the findings and the answers takes as long as so many steps.
        others = _STEPS_OF_A_RUN + _STEPS_OF_AN_ANSWER * len(self.answers)
        work = Work(*steps)._replace(steps=len(self.program.steps) + others)
        # If numbers become too large, they are scaled in a second run.
        largest = [source.values for source in self.sources if source.values is not None]
        powers = [math.frexp(float(np.abs(values).max(initial=0.0)))[1] for values in largest]
        return predicted_seconds(work) * (2 if sum(powers) > _LARGE_POWER else 1)

    @cached_property
    def percents(self) -> tuple[int, ...]:
        """The predicted share of the time of a run after each step."""
        seconds = list(accumulate(map(predicted_seconds, work_of_steps(self.program))))
        return tuple([int(100 * done / seconds[-1]) for done in seconds])

    @cached_property
    def refusal(self) -> TooLargeError | None:
        """The error that runs raise if they would exceed the limits; otherwise None."""
        limits, times = self.limits, self.multiplications
        # Every number of a run is an entry of a table or was computed.
        most = _MOST_BYTES * (times + sum([source.n_cells for source in self.sources]))
        is_quick = times <= _SURELY_QUICK and limits.max_seconds >= DEFAULT_PLAN_SECONDS
        if is_quick and times <= limits.max_multiplications and most <= limits.max_bytes:
            return None
        return limits.refusal(times, self.memory, self.largest, seconds=self.seconds)

    @cached_property
    def is_signed(self) -> bool:
        """Whether there are negative or complex numbers, so that terms may cancel."""
        return any(source.signed for source in self.sources)

    @cached_property
    def scalars(self) -> tuple[int, ...]:
        """The registers of tables that the evidence reduces to a single number."""
        return tuple(n for n, source in enumerate(self.sources) if not source.scope)

    @cached_property
    def unchanging(self) -> tuple[Values | None, ...]:
        """The tables and functions that are the same in every run; None for the others."""
        tables: list[Any] = []
        for source in self.sources:
            changes = bool(source.observed) or source.input is not None
            values: Any = source.values if source.rows is None else source.rows.positions
            tables.append(None if changes else values)
        return tuple(tables)


def starting_registers(
    plan: CompiledQuery,
    evidence: Evidence | None = None,
    inputs: Mapping[str, Values] | None = None,
) -> list[Values]:
    """Return the initial registers of a run: tables reduced to the evidence, then positions.

    Raises
    ------
    TooLargeError
        If a run exceeds its limits.
    InvalidArgumentError, UnknownNameError
        If the evidence or the inputs are not those of the plan.
    """
    findings = read_findings(evidence, plan.evidence, plan.soft)
    tables = all_inputs(plan, findings, inputs)
    if plan.refusal is not None:
        raise plan.refusal
    return registers_of(plan, positions_of(plan, findings), tables)


def positions_of(plan: CompiledQuery, findings: Findings) -> dict[str, int]:
    """Return the state positions of all variables that the evidence makes certain."""
    observed = dict(plan.certain)
    observed.update((v.name, v.index(findings[v.name])) for v in plan.evidence)
    for cpd in plan.derived:
        observed[cpd.variable.name] = cpd.value([observed[v.name] for v in cpd.parents])
    return observed


def all_inputs(
    plan: CompiledQuery, findings: Findings, inputs: Mapping[str, Values] | None
) -> dict[str, Values]:
    """Return the inputs of a run, and the likelihoods of the soft variables as inputs."""
    tables = checked_inputs(plan, inputs)
    for v in plan.soft:
        finding = findings.get(v.name)
        weights = np.ones(v.n_states) if finding is None else likelihood(v, finding)
        tables[label_of(v.name)] = weights
    return tables


def checked_inputs(
    plan: CompiledQuery, inputs: Mapping[str, Any] | None, *, partial: bool = False
) -> dict[str, Values]:
    """Return the inputs of a run as arrays; ``partial`` inputs may be incomplete.

    Raises
    ------
    InvalidArgumentError
        If they are not the inputs of the plan, have another shape, or are negative.
    """
    tables = dict(by_name(inputs, "the inputs"))
    problems = []
    if not set(tables) <= set(plan.inputs) or (not partial and set(tables) != set(plan.inputs)):
        problems.append(f"the plan has the inputs {sorted(plan.inputs)}, got {sorted(tables)}")
    for name in sorted(set(tables) & set(plan.inputs)):
        shape = tuple(v.n_states for v in plan.inputs[name])
        values = real_numbers(tables[name], f"the input {name}")
        if values.shape != shape:
            problems.append(f"the input {name} must be of shape {shape}, got {values.shape}")
        elif not np.all((values >= 0) & np.isfinite(values)):
            problems.append(f"the numbers of the input {name} must be finite and not negative")
        tables[name] = values
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    return tables


def registers_of(
    plan: CompiledQuery, observed: Mapping[str, int], given: Mapping[str, Values]
) -> list[Values]:
    """Return the registers for positions from `positions_of` and inputs from `all_inputs`."""
    registers: list[Any] = list(plan.unchanging)
    for number, source in enumerate(plan.sources):
        if registers[number] is None:
            registers[number] = load(source, observed, given)
    return registers


def load(
    source: Source,
    observed: Mapping[str, int],
    given: Mapping[str, Values],
) -> Values:
    """Return a table reduced to the evidence, or an input."""
    if source.input is not None:
        return source.reduced(given[source.input])
    if source.rows is not None:
        return source.rows.cut(observed)
    assert source.values is not None  # plans with tables that are too large to expand do not run
    cut: Values = source.values[tuple(observed[name] for name in source.observed)]
    return cut
