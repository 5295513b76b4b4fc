"""Plans, which answer the same question for any states of their evidence variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import text_html
from bnmind._messages import listed
from bnmind._values import Natural, ReadOnlyDict, Value, made
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction.assembly import build, by_case
from bnmind.junction.batches import (
    DOUBTFUL,
    LOST,
    BatchPosterior,
    BatchRun,
    Progress,
    batch_size,
    lost_digits,
    run_batch,
    run_each,
    sums_of,
)
from bnmind.junction.compiled_query import (
    CompiledQuery,
    Query,
    Savings,
    all_inputs,
    checked_inputs,
    opened,
    positions_of,
    registers_of,
)
from bnmind.junction.evidence import (
    Evidence,
    Findings,
    by_name,
    case_findings,
    label_of,
    likelihood,
    read_cases,
    read_findings,
)
from bnmind.junction.graphs import JunctionTree, OrderFinder
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.order_finders import Portfolio
from bnmind.junction.posteriors import Posterior
from bnmind.junction.reduction import without_barren
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

# --- Search for a minimal set of findings that contradict each other ------------------------------
#
# References
# ----------
# U. Junker, "QuickXPlain: preferred explanations and relaxations for over-constrained
# problems", AAAI (2004): the binary search for the next finding of a minimal conflict.


def minimal_conflict(
    findings: Sequence[str], possible: Callable[[frozenset[str]], bool]
) -> tuple[str, ...]:
    """Return a minimal set of findings that are impossible together.

    Parameters
    ----------
    findings
        Findings that are impossible together.
    possible
        Tells whether given findings are possible together.

    Examples
    --------
    >>> minimal_conflict("abcdef", lambda given: not {"b", "e"} <= given)
    ('b', 'e')
    """
    conflict: list[str] = []
    while findings and possible(frozenset(conflict)):
        # The last finding of the shortest contradicting prefix belongs to the conflict.
        low, high = 0, len(findings)
        while low + 1 < high:
            middle = (low + high) // 2
            if possible(frozenset([*findings[:middle], *conflict])):
                low = middle
            else:
                high = middle
        conflict.append(findings[high - 1])
        findings = findings[: high - 1]
    return tuple(reversed(conflict))


def impossible(findings: Mapping[str, Any], cases: Sequence[int] = ()) -> ImpossibleEvidenceError:
    """Return the error that names findings which contradict each other, and in which cases."""
    shown = ", ".join(f"{name}={state}" for name, state in findings.items())
    where = f" in case {cases[0]}" if cases else ""
    more = f" and {len(cases) - 1} cases more" if len(cases) > 1 else ""
    return ImpossibleEvidenceError(
        "expected evidence of positive probability, got zero"
        f" {f'for {shown}' if shown else 'without evidence'}{where}{more}",
        findings,
    )


# --- Compiled queries derived from others: for more evidence, or without negative numbers ---------
#
# A compiled query may contain negative numbers (see `bnmind.junction.batches`). If a run
# loses too many digits to them, a query without negative numbers repeats the run, either for any
# evidence or for the evidence of the run. If the evidence is impossible, queries whose evidence is
# soft search for findings that contradict each other.

_UNSIGNED_CELLS = 2**24
"""The most cells of a plan without signs that serves any evidence, for runs whose signs cost
digits. For larger plans, each such run has its own plan without signs."""

_CONFLICT_CELLS = 2**24
"""The most cells of a plan that searches for contradictions; larger plans name all findings."""


def without_signs(
    compiled: CompiledQuery, findings: Findings, inputs: Mapping[str, Values]
) -> CompiledQuery | None:
    """Return an equivalent compiled query without negative or complex numbers.

    Parameters
    ----------
    compiled
        The query.
    findings, inputs
        Findings and inputs of the restriction, if any.

    Returns
    -------
    CompiledQuery or None
        None if it would be too large, or if the model itself has such numbers.

    Raises
    ------
    ImpossibleEvidenceError
        If a single table rules the findings out; it does not name them.
    """
    query = compiled.query
    originals = query.with_originals().with_more(findings, inputs)
    plain = replace(originals, signed=False, factorize=True)
    _, potentials, _ = opened(plain)
    factors = [p.values for p in potentials if isinstance(p, Factor)]
    if not query.signed or any(np.iscomplexobj(a) or np.any(a < 0) for a in factors):
        return None
    # A plan for a single run may have more cells than a plan for any evidence.
    most = query.limits.most_cells if findings or inputs else _UNSIGNED_CELLS
    try:
        plain_plan = build(replace(plain, most_cells=most))
    except TooLargeError:
        return None
    return None if plain_plan.is_signed else plain_plan


# --- Plans for exact inference, which are compiled once and run for any evidence ------------------
#
# A plan stores no clique tables. Each message of the junction tree is a contraction of tables of
# the model and of incoming messages, and a program is a straight-line sequence of such contractions
# (Shafer & Shenoy, *Probability propagation*, 1990).


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Value):
    """A compiled query. `run` is a pure function of the evidence.

    `compile_plan` makes plans. Printing a plan shows its cliques, their sizes and the cost.
    """

    compiled: CompiledQuery
    """The tables, the program and the answers, as plain data."""

    def to_dict(self) -> dict[str, Any]:
        """Return the junction trees and their cost as a record for JSON."""
        saved, trees = self.savings, self.trees
        cliques = [clique for tree in trees for clique in tree.cliques]
        return {
            "total_size": self.total_size,
            "largest": max(one.size for one in cliques),
            "multiplications": self.multiplications,
            "seconds": self.seconds,
            "memory": self.memory,
            "proven": all(tree.order.proven for tree in trees),
            "left_out": {
                "barren_variables": saved.barren,
                "certain_variables": saved.observed,
                "impossible_states": saved.states,
            },
            "trees": len(trees),
            "order": [name for tree in trees for name in tree.order.variables],
            "cliques": [{"variables": list(one.variables), "size": one.size} for one in cliques],
            "separators": [list(edge.separator) for tree in trees for edge in tree.edges],
        }

    @property
    def trees(self) -> tuple[JunctionTree, ...]:
        """One junction tree, or several if separate trees are cheaper for parts of the query."""
        return self._ordinary.compiled.trees

    @property
    def tree(self) -> JunctionTree:
        """The junction tree; the largest one if there are several."""
        return max(self.trees, key=lambda tree: tree.total_size)

    @property
    def evidence(self) -> tuple[Variable, ...]:
        """The variables whose states each run takes."""
        return self.compiled.evidence

    @property
    def soft(self) -> tuple[Variable, ...]:
        """The variables for which each run takes a state, a likelihood, or nothing."""
        return self.compiled.soft

    @property
    def inputs(self) -> Mapping[str, tuple[Variable, ...]]:
        """The tables that each run takes, with their variables."""
        return self.compiled.inputs

    @property
    def targets(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables of each target."""
        return self.compiled.targets

    @property
    def limits(self) -> Limits:
        """The limits of the cost of a run."""
        return self.compiled.limits

    @property
    def savings(self) -> Savings:
        """The omitted parts of the model."""
        return self.compiled.savings

    @property
    def by_case(self) -> int | None:
        """The approximate number of cells of a common plan, if each run makes its own plan.

        None if the plan serves any evidence.
        """
        return self.compiled.by_case

    @property
    def total_size(self) -> int:
        """The sum of the clique sizes."""
        return self._ordinary.compiled.total_size

    @property
    def multiplications(self) -> int:
        """Multiplications of one run."""
        return self.compiled.multiplications

    @property
    def seconds(self) -> float:
        """The predicted time of one run on this machine, in seconds; 0 if each case has a plan.

        It is seldom wrong by more than a factor of two, unless other programs run at the same time.
        """
        return 0.0 if self.by_case is not None else self.compiled.seconds

    @property
    def memory(self) -> int:
        """The predicted bytes of the tables of the model and of the registers of a run."""
        return self.compiled.memory

    @property
    def is_signed(self) -> bool:
        """Whether there are negative or complex numbers, so that terms may cancel."""
        return self.compiled.is_signed

    def __repr__(self) -> str:
        return repr(self.compiled)

    def __str__(self) -> str:
        return str(self.compiled)

    def _repr_html_(self) -> str:
        """Return the plan as `str` does, for notebooks."""
        return text_html(str(self))

    def run(
        self,
        evidence: Evidence | None = None,
        inputs: Mapping[str, Values] | None = None,
        *,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Posterior:
        """Return the joint distributions of the targets given the evidence.

        Parameters
        ----------
        evidence
            A mapping or a `pandas.Series` with a state for each evidence variable of the plan. For
            a soft variable, a state, a likelihood ``{state: weight}``, or nothing: omit it, or set
            it to None or NaN. States may be numbers or truth values.
        inputs
            A table of non-negative numbers for each input of the plan.
        progress
            A function that is called with the predicted share of the work that is done, in
            percent, and 100. If numbers become too small or too large, a second run starts from 0.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict each
            other.
        CancellationError
            If terms of opposite signs cancel and too few digits are left, and there is no plan
            without negative numbers.
        TooLargeError
            If the plan, or that for the evidence of this run, exceeds its limits.
        InvalidArgumentError
            If evidence of the plan is missing, or a variable is not evidence of the plan.
        UnknownNameError, InvalidArgumentError
            If a state is unknown, or the inputs are not those of the plan.
        """
        findings = read_findings(evidence, self.evidence, self.soft)
        posterior = attempt(self, findings, inputs, progress)
        if posterior is None:
            tables = all_inputs(self.compiled, findings, inputs)
            raise impossible(conflict(self, findings, tables))
        return posterior

    @checked
    def batch_memory(self, n_cases: Natural) -> int:
        """Return the predicted bytes of a batch of ``n_cases``.

        The prediction includes the cases and their joints, and assumes findings on every soft
        variable. Cases run in chunks of at most 256 MiB, or one by one if a case needs more.

        Raises
        ------
        InvalidArgumentError
            If the number of cases is negative.
        """
        return batch_size(self._ordinary.compiled).total(n_cases)

    @checked
    def run_batch(
        self,
        cases: Mapping[str, Any] | pandas.DataFrame,
        inputs: Mapping[str, Values] | None = None,
        *,
        max_bytes: int | None = None,
        allow_impossible: bool = False,
    ) -> BatchPosterior:
        """Return the joint distributions of the targets for many cases.

        Parameters
        ----------
        cases
            A mapping or a `pandas.DataFrame` with a column ``(cases,)`` for each evidence
            variable: state positions, or states as text. Columns of a data frame hold states of
            any type. In columns of soft variables, −1, None and NaN mark missing values. Such a
            column may also hold likelihoods ``(cases, states)``, or be omitted.
        inputs
            A table for each input of the plan, the same for all cases.
        max_bytes
            A limit for the memory of the batch; see `batch_memory`.
        allow_impossible
            Whether cases of probability zero give NaN instead of an error;
            `BatchPosterior.impossible` lists them.

        Raises
        ------
        ImpossibleEvidenceError
            If a case has probability zero and ``allow_impossible`` is false. The error names the
            case, and findings that contradict each other.
        InvalidArgumentError
            If positions or likelihoods are out of range. The error names the case.
        TooLargeError
            If the plan exceeds its limits, or the batch ``max_bytes``.
        CancellationError, UnknownNameError
            As in `run`.
        """
        tables = checked_inputs(self.compiled, inputs)
        self._check_size()
        read = read_cases(cases, self.evidence, self.soft)
        batch = self._batch(read, tables, max_bytes=max_bytes)
        posterior = batch.posterior(self.targets)
        wrong = posterior.impossible.tolist()
        if wrong and not allow_impossible:
            findings = case_findings([*self.evidence, *self.soft], read, wrong[0])
            raise impossible(conflict(self, findings, tables), wrong)
        return posterior

    def _batch(
        self,
        cases: Mapping[str, NDArray[Any]],
        inputs: Mapping[str, Values],
        *,
        max_bytes: int | None = None,
    ) -> BatchRun:
        """Return the answers to cases as returned by `read_cases`."""
        compiled = self.compiled
        if compiled.swept is not None:
            return self._ordinary._batch(cases, inputs, max_bytes=max_bytes)
        if compiled.by_case is not None:
            alone = partial(attempt, self, inputs=inputs)
            return run_each(compiled, cases, alone, max_bytes=max_bytes)
        batch = run_batch(compiled, cases, inputs, max_bytes=max_bytes)
        if not (batch.doubt > DOUBTFUL).any():
            return batch
        if self.unsigned is not None:
            again = np.flatnonzero(batch.doubt > DOUBTFUL)
            some = {name: column[again] for name, column in cases.items()}
            batch.put(again, self.unsigned._batch(some, inputs))
            return batch
        for case in np.flatnonzero(batch.doubt > LOST).tolist():
            findings = case_findings([*self.evidence, *self.soft], cases, case)
            try:
                batch.put(case, attempt(self, findings, inputs))
            except CancellationError:
                raise lost_digits(case) from None
        return batch

    def is_possible(
        self, evidence: Evidence | None = None, inputs: Mapping[str, Values] | None = None
    ) -> bool:
        """Return whether the evidence and the inputs have a positive probability.

        Parameters
        ----------
        evidence
            Observed states by name, or weights of states.
        inputs
            Values of the inputs of the plan, by name.

        Raises
        ------
        CancellationError
            If terms cancel so that this cannot be decided; see `run`.
        TooLargeError, InvalidArgumentError, UnknownNameError
            As in `run`.
        """
        findings = read_findings(evidence, self.evidence, self.soft)
        return attempt(self, findings, inputs) is not None

    @cached_property
    def unsigned(self) -> Plan | None:
        """An equivalent plan without negative numbers; None if there is none."""
        other = without_signs(self._ordinary.compiled, {}, {})
        return None if other is None else Plan(other)

    def restrict(self, evidence: Evidence, inputs: Mapping[str, Values] | None = None) -> Plan:
        """Return a smaller plan with some of the evidence and the inputs fixed.

        The method removes impossible states and configurations, certain variables and barren
        variables, and triangulates the rest anew. Runs of the new plan take the other evidence.

        Parameters
        ----------
        evidence
            Observed states by name, or weights of states.
        inputs
            Values of the inputs of the plan, by name.

        Raises
        ------
        ImpossibleEvidenceError
            If a single table excludes the evidence.
        UnknownNameError
            If a variable is not one of the evidence variables, or a state is unknown.
        """
        known = {v.name: v for v in (*self.evidence, *self.soft)}
        findings = by_name(evidence, "the evidence")
        unknown = set(findings) - set(known)
        if unknown:
            raise UnknownNameError("evidence variable", min(unknown), known)
        states = {
            name: known[name].states[known[name].index(state)] for name, state in findings.items()
        }
        return self._restricted(states, checked_inputs(self.compiled, inputs, partial=True))

    def for_case(self, evidence: Findings, inputs: Mapping[str, Values] | None = None) -> Plan:
        """Return the plan restricted to all evidence and inputs of a run.

        The errors are those of `run`.

        Parameters
        ----------
        evidence
            Observed states by name, or weights of states.
        inputs
            Values of the inputs of the plan, by name.
        """
        return self._restricted(evidence, checked_inputs(self.compiled, inputs))

    def _restricted(self, findings: Findings, inputs: Mapping[str, Values]) -> Plan:
        try:
            return self._narrowed(findings, inputs)
        except ImpossibleEvidenceError:
            raise impossible(conflict(self, findings, inputs)) from None

    def _narrowed(self, findings: Findings, inputs: Mapping[str, Values]) -> Plan:
        """Return the restricted plan; an error about a single table does not name the findings."""
        compiled = self._ordinary.compiled
        query = compiled.query.with_more(findings, inputs)
        before = query.total_size_before
        if before is None and compiled.by_case is None:
            before = compiled.total_size
        return Plan(build(replace(query, total_size_before=before)))

    @cached_property
    def _ordinary(self) -> Plan:
        """The plan with a program, if a sweep answers this one without."""
        compiled = self.compiled
        if compiled.swept is None:
            return self
        return Plan(build(replace(compiled.query, direct=False)))

    def _check_size(self) -> None:
        if self.compiled.refusal is not None:
            raise self.compiled.refusal


def attempt(
    plan: Plan,
    findings: Findings,
    inputs: Mapping[str, Values] | None = None,
    progress: Progress | None = None,
) -> Posterior | None:
    """Return the posterior as `Plan.run` does, but None if the evidence is impossible.

    There is no search for findings that contradict each other, which may take long.

    Parameters
    ----------
    plan
        The plan.
    findings
        The evidence, as `read_findings` returns it.
    inputs, progress
        As for `Plan.run`.
    """
    compiled = plan.compiled
    try:
        if compiled.by_case is not None:
            case = plan._narrowed(findings, checked_inputs(compiled, inputs))
            return attempt(case, {}, None, progress)
        observed = positions_of(compiled, findings)
        tables = all_inputs(compiled, findings, inputs)
        plan._check_size()
        if compiled.swept is not None:
            found = compiled.swept.run()
            if found is None:  # the evidence is too improbable for a sweep
                return attempt(plan._ordinary, findings, inputs, progress)
            beliefs, log_evidence = found
            registers = [answer.register for answer in compiled.answers]
            results = [np.ones(()) if r is None else beliefs[r] for r in registers]
        else:
            sums = sums_of(compiled, registers_of(compiled, observed, tables), progress)
            if sums.doubt > DOUBTFUL and plan.unsigned is not None:
                return attempt(plan.unsigned, findings, inputs, progress)
            if sums.doubt > LOST:
                # A plan for this evidence alone may be small enough.
                other = without_signs(compiled, findings, checked_inputs(compiled, inputs))
                if other is None:
                    raise lost_digits()
                return attempt(Plan(other), {}, None, progress)
            results, log_evidence = sums.joints, sums.log_evidence
    except ImpossibleEvidenceError:  # a single table excludes the evidence
        return None
    if not log_evidence > -math.inf:
        return None
    lifted = [
        answer.lift(result, observed)
        for answer, result in zip(compiled.answers, results, strict=True)
    ]
    scopes = compiled.targets
    return made(Posterior, scopes=scopes, joints=tuple(lifted), log_evidence=log_evidence)


def conflict(
    plan: Plan, findings: Findings, inputs: Mapping[str, Values] | None = None
) -> dict[str, Any]:
    """Return a minimal set of findings that are impossible together.

    Parameters
    ----------
    plan
        The plan.
    findings
        Findings that are impossible with the inputs and the evidence of the restriction.
    inputs
        The inputs of the plan. A missing input counts as one everywhere.

    Returns
    -------
    Mapping
        Some of the findings, or all of them if the search costs too much.
    """
    query = plan.compiled.query
    findings = {**query.fixed, **findings}
    uncertain = {label_of(v.name): v for v in (*query.evidence, *query.soft)}
    observed = [v for v in uncertain.values() if findings.get(v.name) is not None]
    # The likelihoods of all findings are inputs; omitted findings have the likelihood one.
    scopes = {**query.inputs, **{label: (v,) for label, v in uncertain.items()}}
    soft = replace(query, evidence=(), targets=((),), inputs=scopes, soft=(), fixed={}, given={})
    try:
        other = Plan(build(replace(soft, most_cells=_CONFLICT_CELLS)))
    except TooLargeError:
        return dict(findings)
    weights = {v.name: likelihood(v, findings[v.name]) for v in observed}
    anything: dict[str, Values] = {
        name: np.ones([v.n_states for v in scope]) for name, scope in scopes.items()
    }
    for name, table in {**query.given, **(inputs or {})}.items():
        if name not in uncertain:
            anything[name] = table

    def possible(names: frozenset[str]) -> bool:
        chosen = {label_of(name): weights[name] for name in names}
        try:
            return attempt(other, {}, {**anything, **chosen}) is not None
        except (CancellationError, TooLargeError):
            return True

    names = minimal_conflict(list(weights), possible)
    return {name: findings[name] for name in weights if name in names}


# --- Compilation of plans from a model, evidence variables and targets ----------------------------


@checked
def families(network: Network) -> list[tuple[str, ...]]:
    """Return each variable of a network with its parents, the targets for learning.

    Parameters
    ----------
    network
        The network.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> wet = Variable("wet", ("no", "yes"))
    >>> families(Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                   TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]]))))
    [('rain',), ('wet', 'rain')]
    """
    return [tuple(v.name for v in cpd.scope) for cpd in network.cpds]


@checked
def compile_plan(
    model: Network | FactorModel,
    *,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    targets: Iterable[Iterable[str]] | None = None,
    inputs: Mapping[str, Sequence[str]] | None = None,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
    factorize: bool = True,
) -> Plan:
    """Compile a plan that computes targets for any states of the evidence variables.

    The function predicts the cost and the memory of a run, and raises an error if the plan exceeds
    its limits, before anything is allocated.

    Parameters
    ----------
    model
        A network, or a product of factors.
    evidence
        The evidence variables. Each run takes a state of each of them.
    soft
        Variables with uncertain or missing evidence. For each of them, a run takes a state, a
        likelihood (virtual evidence), or nothing.
    targets
        The variables of each joint distribution to compute. The probability of the evidence is
        computed from the first target. By default, every variable without evidence is a target.
        `families` returns the families of a network.
    inputs
        Additional tables that each run takes, {name: variables}, such as a belief from the last
        run, or soft evidence on a variable.
    order
        The search for an elimination order. The work of the default `Portfolio` is about that of
        a run, or eight runs for restricted plans, up to a limit for all parts of a plan together.
    limits
        The limits of the memory and the multiplications of a run.
    factorize
        Whether to write large tables of functional and noisy distributions as small factors with
        auxiliary variables, if that makes the plan smaller.

    Raises
    ------
    UnknownNameError
        If a variable is not in the model.
    InvalidArgumentError
        If a variable is both evidence and in an input, or named twice.
    TooLargeError
        If a run would exceed the limits. The error names the largest clique.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> call = Variable("call", ("heads", "tails"))
    >>> network = Network((TabularCPD(coin, (), [0.5, 0.5]),
    ...                    TabularCPD(call, (coin,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> plan = compile_plan(network, evidence=["call"])
    >>> plan.run({"call": "heads"}).marginals["coin"].round(3).tolist()
    [0.9, 0.1]
    """
    asked = (evidence, soft, targets, inputs or {})
    return Plan(build(query_of(model, asked, order=order, limits=limits, factorize=factorize)))


def compile_all(
    potentials: Sequence[Potential],
    *,
    evidence: Iterable[str],
    soft: Iterable[str],
    order: OrderFinder | None,
    limits: Limits,
    targets: Sequence[Sequence[str]] = ((),),
    inputs: Mapping[str, Sequence[str]] | None = None,
    cells: int | None = None,
) -> CompiledQuery:
    """Return the compiled query that eliminates every variable, including barren ones.

    Parameters
    ----------
    potentials
        The tables of the model.
    evidence, soft, order
        As for `compile_plan`.
    limits
        The limits of the cost of a run.
    targets
        The variables of each joint, which are not eliminated; by default none.
    inputs
        As for `compile_plan`.
    cells
        If a query is refused for so many cells: it gets no program, and a plan for each case.
    """
    query = query_of(
        FactorModel(tuple(potentials)),
        (evidence, soft, targets, inputs or {}),
        order=order or Portfolio(),
        limits=limits,
        compress=False,
        factorize=False,
        whole=True,
    )
    return build(query) if cells is None else by_case(query, cells)


def query_of(
    model: Network | FactorModel,
    asked: tuple[
        Iterable[str], Iterable[str], Iterable[Iterable[str]] | None, Mapping[str, Sequence[str]]
    ],
    *,
    order: OrderFinder | None,
    limits: Limits,
    compress: bool = True,
    factorize: bool = True,
    whole: bool = False,
) -> Query:
    """Return the query of `compile_plan`, checked.

    ``asked`` is its evidence, soft evidence, targets and inputs. See `Query` for other options.
    """
    evidence, soft, targets, inputs = asked
    by_name = {v.name: v for v in model.variables}
    if targets is not None and not isinstance(targets, str):
        targets = list(targets)

    def variable(name: str) -> Variable:
        return by_name.get(name) or model.variable(name)

    if isinstance(targets, str) or any(isinstance(target, str) for target in targets or ()):
        raise InvalidArgumentError(
            f"each target must be a list of names, such as [['rain']]; got {targets!r}", targets
        )
    if isinstance(evidence, str) or isinstance(soft, str):
        raise InvalidArgumentError(
            "evidence and soft must be lists of names, got a single string", (evidence, soft)
        )
    observed = tuple(variable(name) for name in evidence)
    if targets is None:
        hidden = set(by_name) - {v.name for v in observed}
        targets = [[v.name] for v in model.variables if v.name in hidden]
    scopes = [tuple(variable(name) for name in target) for target in targets] or [()]
    tables = {name: tuple(variable(v) for v in scope) for name, scope in inputs.items()}
    uncertain = tuple(variable(name) for name in soft)
    problems = [
        f"a variable is named twice in {[v.name for v in scope]}"
        for scope in [(*observed, *uncertain), *scopes, *tables.values()]
        if len({v.name for v in scope}) != len(scope)
    ]
    problems += [
        f"{v.name} cannot be both evidence and in an input"
        for v in observed
        if any(v in scope for scope in tables.values())
    ]
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    if clash := sorted(set(tables) & {label_of(name) for name in by_name}):
        raise InvalidArgumentError(
            f"an input must not have the name of soft evidence, got {clash[0]!r}", clash
        )
    tables |= {label_of(v.name): (v,) for v in uncertain}
    relevant = model.potentials
    if not whole:
        needed = {v.name for s in [observed, *scopes, *tables.values()] for v in s}
        relevant = without_barren(relevant, needed)
    return made(
        Query,
        potentials=relevant,
        evidence=observed,
        targets=tuple(scopes),
        inputs=ReadOnlyDict(tables),
        fixed=ReadOnlyDict(),
        given=ReadOnlyDict(),
        soft=uncertain,
        barren=len(model.potentials) - len(relevant),
        order=order,
        limits=limits,
        compress=compress,
        factorize=factorize,
        whole=whole,
        replacements=model.replacements if isinstance(model, FactorModel) else (),
    )
