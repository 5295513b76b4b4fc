"""Posteriors of all variables for any evidence, from one tree that is compiled once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._messages import format_bytes
from bnmind._values import sealed
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidModelError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.forms import choose_forms
from bnmind.junction.graphs import (
    EliminationOrder,
    OrderFinder,
    elimination,
    graph_of_scopes,
    vertices_in_order,
)
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import impossible, minimal_conflict
from bnmind.junction.propagation_kernel import (
    CELL,
    FIELDS,
    HOST,
    INNER,
    OUTER,
    ROW,
    SEPARATOR,
    SIZE,
    START,
    VARIABLE,
    Answers,
    Bucket,
    Cases,
    Scratch,
    TreeArrays,
    answer,
    eliminated,
    scaled,
)
from bnmind.junction.triangulation.portfolio import Portfolio
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

# --- Answers to cases whose numbers are too small for the kernel ----------------------------------


def rescued(
    model: Network | FactorModel,
    cases: Cases,
    case: int,
    targets: Sequence[Sequence[str]],
    *,
    limits: Limits,
) -> tuple[list[Floats | None], float]:
    """Return joint distributions in one case from a plan of its own, which keeps all digits.

    Parameters
    ----------
    model
        The model.
    cases, case
        The cases, and the number of the case.
    targets
        The variables of each joint distribution.
    limits
        The limits of the plan.

    Returns
    -------
    joints, log_evidence
        An array for each target, and the natural logarithm of the probability of the evidence;
        None for each target and −inf if the case is impossible.

    Raises
    ------
    TooLargeError
        If the plan exceeds the limits.
    """
    states = {
        v.name: int(cases.findings[case, i])
        for i, v in enumerate(model.variables)
        if cases.findings[case, i] >= 0
    }
    findings: dict[str, Any] = {}
    soft = []
    for i, v in enumerate(model.variables):
        weights = cases.likelihood(case, i, v.n_states)
        if v.name in states:
            findings[v.name] = v.states[states[v.name]]
        if weights is not None:
            soft.append((v, weights))
    hidden = [tuple(name for name in target if name not in states) for target in targets]
    asked = list(dict.fromkeys(hidden))
    scale = 0.0
    uncertain = []
    for v, weights in soft:
        if v.name in states:
            factor = float(weights[states[v.name]])
            if factor == 0.0:
                return [None] * len(targets), -math.inf
            scale += math.log(factor)
        else:
            uncertain.append(v.name)
            findings[v.name] = weights
    plan = compile_plan(model, evidence=list(states), soft=uncertain, targets=asked, limits=limits)
    try:
        posterior = plan.run(findings)
    except ImpossibleEvidenceError:
        return [None] * len(targets), -math.inf
    tables = dict(zip(asked, posterior.joints, strict=True))
    joints: list[Floats | None] = []
    sizes = {v.name: v.n_states for v in model.variables}
    for target, rest in zip(targets, hidden, strict=True):
        joint = np.zeros([sizes[name] for name in target])
        joint[tuple(states.get(name, slice(None)) for name in target)] = tables[rest]
        joints.append(joint)
    return joints, float(posterior.log_evidence) + scale


# --- The order of buckets, the host of each message, and the flat arrays of the kernel ------------


def tree_arrays(buckets: Sequence[Bucket], sizes: Sequence[int]) -> TreeArrays:
    """Return buckets, given in the order of elimination, as flat arrays.

    Parameters
    ----------
    buckets
        The bucket of each variable.
    sizes
        The number of states of each variable.
    """
    hosts, is_outer = _hosts(buckets)
    order = _children_first(hosts)
    number = {i: n for n, i in enumerate(order)}
    ordered = [buckets[i] for i in order]
    inner: list[list[int]] = [[] for _ in order]
    outer: list[list[int]] = [[] for _ in order]
    for n, i in enumerate(order):
        if hosts[i] >= 0:
            (outer if is_outer[i] else inner)[number[hosts[i]]].append(n)
    lines = np.zeros((len(order) + 1, FIELDS), dtype=np.int64)
    variables = [b.variable for b in ordered]
    lines[:-1, VARIABLE] = variables
    lines[:-1, SIZE] = np.array(sizes)[variables]
    lines[:-1, START] = _starts(sizes)[variables]
    lines[:-1, HOST] = [-1 if hosts[i] < 0 else number[hosts[i]] for i in order]
    lines[:, ROW] = _starts([b.n_rows for b in ordered])
    lines[:, CELL] = _starts([len(b.table) for b in ordered])
    lines[:, SEPARATOR] = _starts([len(b.separator) for b in ordered])
    lines[:, INNER] = _starts([len(a) + len(b) for a, b in zip(inner, outer, strict=True)])
    lines[:-1, OUTER] = lines[:-1, INNER] + [len(a) for a in inner]
    lines[-1, OUTER] = lines[-1, INNER]
    maps: list[NDArray[np.int32]] = []
    children = []
    filled = 0
    for host, bucket in enumerate(ordered):
        for k in (*inner[host], *outer[host]):
            is_inner = k in inner[host]
            find = bucket.flat_cells if is_inner else bucket.flat_rows
            children.append((k, filled - int(lines[host, CELL if is_inner else ROW])))
            maps.append(_map(find, ordered[k], int(lines[k, ROW])))
            filled += len(maps[-1])
    columns = [column for b in ordered for column in b.columns]
    column_starts = _starts([len(column) for column in columns]).tolist()[:-1]
    separators = [v for b in ordered for v in b.separator]
    small = np.uint8 if max(sizes) <= 2**8 else np.uint16 if max(sizes) <= 2**16 else np.uint32
    return TreeArrays(
        buckets=sealed(lines),
        separators=_pairs(list(zip(separators, column_starts, strict=True))),
        children=_pairs(children),
        starts=sealed(_starts(_joined([b.counts for b in ordered], np.int64)).astype(np.int32)),
        table=sealed(_joined([b.table for b in ordered], np.float64)),
        states=sealed(_joined([b.states for b in ordered], small)),
        columns=sealed(_joined(columns, small)),
        maps=sealed(_joined(maps, np.int32)),
        least=sealed(np.array([0.0 if b.is_lossy else b.table.min() for b in ordered])),
    )


def _pairs(pairs: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    return sealed(np.array(pairs, dtype=np.int64).reshape(len(pairs), 2))


def _starts(lengths: Any) -> NDArray[np.int64]:
    """Return the start of each part of a concatenation, and its end."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.asarray(lengths, dtype=np.int64), out=starts[1:])
    return starts


def _joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=kind), *parts], dtype=kind, casting="unsafe")


def _hosts(buckets: Sequence[Bucket]) -> tuple[list[int], list[bool]]:
    """Return the bucket that receives each message, and whether it does so in its rows.

    A message goes to the cells of the parent, or to the rows of another child of the parent if
    these include all its variables: rows are fewer than cells.
    """
    hosts = [bucket.parent for bucket in buckets]
    is_outer = [False] * len(buckets)
    children: dict[int, list[int]] = {}
    for i, bucket in enumerate(buckets):
        if bucket.parent >= 0:
            children.setdefault(bucket.parent, []).append(i)
    for siblings in children.values():
        # Larger separators come first, so that each separator lies only in earlier ones.
        siblings.sort(key=lambda i: (-len(buckets[i].separator), buckets[i].n_rows, i))
        # For each separator, its first child, and the best of all children that include it.
        first: dict[frozenset[int], tuple[int, int]] = {}
        best: dict[frozenset[int], tuple[int, int]] = {}
        for i in siblings:
            scope, own = frozenset(buckets[i].separator), (buckets[i].n_rows, i)
            if scope not in first:
                first[scope] = own
                found = [other for larger, other in first.items() if scope < larger]
            else:
                found = [best[scope]]
            if found:
                hosts[i], is_outer[i] = min(found)[1], True
            best[scope] = min([own, *found])
    return hosts, is_outer


def _children_first(hosts: Sequence[int]) -> list[int]:
    """Return the buckets so that each comes before its host, and those of a subtree together."""
    children: dict[int, list[int]] = {}
    for i, host in enumerate(hosts):
        children.setdefault(host, []).append(i)
    order = []
    stack = list(children.get(-1, ()))
    while stack:
        i = stack.pop()
        order.append(i)
        stack += children.get(i, ())
    return order[::-1]


def _map(
    find: Callable[[Sequence[int], Sequence[int]], NDArray[np.intp]], child: Bucket, first: int
) -> NDArray[np.int32]:
    """Return the row of a child for each cell or row of its host.

    Parameters
    ----------
    find
        Returns the flat index over some variables for each cell or row of the host.
    child
        The child.
    first
        The number of its first row.
    """
    numbers = np.full(math.prod(child.sizes), -1, dtype=np.int32)
    own = child.flat_rows(child.separator, child.sizes)
    numbers[own] = np.arange(first, first + child.n_rows, dtype=np.int32)
    return numbers[find(child.separator, child.sizes)]


# --- Joint tables of families, read from the cells of a tree --------------------------------------


def family_tables(
    tree: TreeArrays,
    values: Floats,
    scopes: Sequence[Sequence[int]],
    shapes: Sequence[Sequence[int]],
) -> list[Floats | None]:
    """Return the sums of a value of each cell, for each configuration of some variables.

    Parameters
    ----------
    tree
        The tree.
    values
        ``(cells,)``.
    scopes, shapes
        The variables of each table, and their numbers of states.

    Returns
    -------
    list
        A table for each scope; None if no bucket contains all its variables.
    """
    bucket_of = {v: i for i, v in enumerate(tree.buckets[:-1, VARIABLE].tolist())}
    separators = [
        tree.separators[start:stop, 0].tolist()
        for start, stop in pairwise(tree.buckets[:, SEPARATOR].tolist())
    ]
    tables: list[Floats | None] = []
    for scope, shape in zip(scopes, shapes, strict=True):
        members = set(scope)
        # A bucket with all members is that of the member eliminated first.
        found = [bucket_of[v] for v in scope if members <= {v, *separators[bucket_of[v]]}]
        if not scope or not found:
            tables.append(None)
            continue
        bucket = found[0]
        cells = slice(*tree.buckets[bucket : bucket + 2, CELL].tolist())
        places = _places(tree, bucket, separators[bucket], scope, shape)
        sums = np.zeros(math.prod(shape))
        sums += np.bincount(places, weights=values[cells], minlength=len(sums))
        tables.append(sums.reshape(tuple(shape)))
    return tables


def _places(
    tree: TreeArrays,
    bucket: int,
    separator: Sequence[int],
    scope: Sequence[int],
    shape: Sequence[int],
) -> NDArray[np.intp]:
    """Return, for each cell of a bucket, its flat index in a table over some of its variables."""
    first, last = tree.buckets[bucket : bucket + 2, ROW].tolist()
    cells = slice(*tree.buckets[bucket : bucket + 2, CELL].tolist())
    of_rows = np.zeros(last - first, dtype=np.intp)
    of_state = 0
    stride = 1
    for variable, size in zip(reversed(scope), reversed(shape), strict=True):
        if variable in separator:
            entry = int(tree.buckets[bucket, SEPARATOR]) + separator.index(variable)
            start = int(tree.separators[entry, 1])
            column = tree.columns[start : start + last - first]
            of_rows += stride * column.astype(np.intp)
        else:
            of_state = stride
        stride *= size
    counts = np.diff(tree.starts[first : last + 1])
    places: NDArray[np.intp] = np.repeat(of_rows, counts)
    return places + of_state * tree.states[cells].astype(np.intp)


# --- Compilation of a model to the tree of a propagation ------------------------------------------

_BYTES_OF_A_CELL = 16
"""The memory of compilation and of a run for each cell of a dense bucket, roughly."""


def compiled_tree(
    model: Network | FactorModel, order: OrderFinder, limits: Limits
) -> tuple[TreeArrays, float, EliminationOrder]:
    """Return a model as a tree, the log of its sum over all configurations, and the order.

    The variables of the model come first in the tree, followed by auxiliary variables.

    Raises
    ------
    TooLargeError
        If the tree would need more memory than ``limits.max_bytes``.
    InvalidModelError
        If a table has negative or complex numbers, or the model is zero everywhere.
    """
    domains = {v.name: tuple(range(v.n_states)) for v in model.variables}
    most = limits.table_cells
    potentials = choose_forms(model.potentials, domains, signed=False, max_cells=min(most, 2**22))
    sizes = {v.name: v.n_states for v in model.variables}
    for potential in potentials:
        for v in potential.scope:
            sizes.setdefault(v.name, v.n_states)
    graph = graph_of_scopes(sizes, [[v.name for v in p.scope] for p in potentials])
    found = order(graph)
    parts = elimination(graph, vertices_in_order(graph, found.variables))
    sizes_in_order = list(graph.sizes)
    cells = sum(math.prod([sizes_in_order[v] for v in clique]) for clique in parts.cliques)
    if _BYTES_OF_A_CELL * cells > limits.max_bytes:
        raise TooLargeError(
            f"the tree for any evidence would take about {format_bytes(_BYTES_OF_A_CELL * cells)},"
            f" allowed are max_bytes={limits.max_bytes:,}. Compile a plan for the evidence"
            " variables instead, or raise the limit.",
            needed=_BYTES_OF_A_CELL * cells,
            budget=limits.max_bytes,
        )
    number = {name: i for i, name in enumerate(graph.names)}
    tables = [
        (tuple([number[v.name] for v in potential.scope]), _positive(potential, most))
        for potential in potentials
    ]
    buckets, logarithm = eliminated(tables, sizes_in_order, parts)
    return tree_arrays(buckets, sizes_in_order), logarithm, found


def _positive(potential: Potential, max_cells: int) -> Floats:
    """Return the table of a potential."""
    if isinstance(potential, TabularCPD):
        return potential.values
    factor = (
        potential if isinstance(potential, Factor) else potential.to_factor(max_cells=max_cells)
    )
    values = factor.values
    if np.iscomplexobj(values) or np.any(values < 0):
        over = ", ".join(factor.names) or "no variable"
        raise InvalidModelError(
            [f"the factors must not be negative or complex, but the one over {over} is"]
        )
    return np.real(values)


# --- Posteriors of all variables for any evidence, from one tree that is compiled once ------------

PROPAGATION_LIMITS = Limits(max_bytes=2**29)
"""The default limits: about 512 MiB for the tree and a run."""

_CHUNK = 512
"""The number of cases of a run of the kernel, if not all marginals are kept."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Propagation:
    """A model compiled to one tree, which answers any evidence without further planning.

    Hard findings restrict the tree, missing findings cost nothing, and likelihoods multiply. All
    methods take valid arguments.
    """

    model: Network | FactorModel
    """The model."""
    order: EliminationOrder
    """The order of elimination, with auxiliary variables for large functional and noisy nodes."""
    tree: TreeArrays
    """The tables of the tree."""
    log_sum: float
    """The natural logarithm of the sum of the model; 0 for a network, up to rounding."""
    limits: Limits
    """The limits of the tree, and of the plans for cases whose numbers are too small for it."""

    @classmethod
    def of(
        cls,
        model: Network | FactorModel,
        *,
        order: OrderFinder | None = None,
        limits: Limits = PROPAGATION_LIMITS,
    ) -> Propagation:
        """Return a model compiled for any evidence.

        Parameters
        ----------
        model
            A network, or a product of factors that are not negative.
        order
            The search for an elimination order; by default `Portfolio` with eight times its
            usual effort.
        limits
            The limit of the memory, ``max_bytes``. Cases whose numbers are too small for the tree
            have a plan of their own, within the same limits.

        Raises
        ------
        TooLargeError
            If the tree would exceed the limit. Plan for the evidence variables instead, as with
            `compile_plan`.
        InvalidModelError
            If a factor is negative or complex, or the model is zero everywhere.
        """
        tree, logarithm, found = compiled_tree(model, order or Portfolio(effort=8.0), limits)
        return cls(model=model, order=found, tree=tree, log_sum=logarithm, limits=limits)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the model, in the order of the columns of cases."""
        return self.model.variables

    @property
    def total_size(self) -> int:
        """The number of cells of all tables; impossible configurations do not count."""
        return len(self.tree.table)

    @property
    def memory(self) -> int:
        """The bytes of the tree."""
        return sum(array.nbytes for array in self.tree)

    @property
    def run_memory(self) -> int:
        """The bytes of the scratch arrays of a run, which are kept for the next one."""
        return 8 * self.total_size + 28 * len(self.tree.starts)

    @cached_property
    def _scratch(self) -> Scratch:
        return Scratch(self.tree)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {v.name: i for i, v in enumerate(self.variables)}

    @cached_property
    def _places(self) -> list[int]:
        """The first place of each variable's states in a row of the kernel, and the end."""
        return [0, *np.cumsum(self._sizes).tolist()]

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array([v.n_states for v in self.variables], dtype=np.int64)

    def marginals(
        self, states: ArrayLike, likelihoods: Mapping[str, Any] | None = None
    ) -> tuple[list[Floats], float]:
        """Return the distribution of every variable in one case.

        Parameters
        ----------
        states
            ``(variables,)`` the state position of each variable, −1 where missing.
        likelihoods
            Virtual evidence: for some variables by name, a non-negative number for each state.

        Returns
        -------
        marginals, log_evidence
            For each variable an array ``(states,)``, and the natural logarithm of the probability
            of the evidence.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict each
            other.
        """
        given = {name: [weights] for name, weights in (likelihoods or {}).items()}
        cases = self._cases([states], given)
        answers = self._run(cases)
        if np.isneginf(answers.log_evidence[0]):
            raise self._impossible(cases)
        answers.marginals.setflags(write=False)
        row = answers.marginals[0]
        places = self._places
        # Slices of a copy do not keep a larger array alive.
        return (
            [row[places[i] : places[i + 1]] for i in range(len(self.variables))],
            float(answers.log_evidence[0]),
        )

    def marginals_of(
        self,
        states: ArrayLike,
        *,
        likelihoods: Mapping[str, Any] | None = None,
        targets: Sequence[str] | None = None,
    ) -> tuple[list[Floats], Floats]:
        """Return the distributions of variables in many cases, each with its own findings.

        Parameters
        ----------
        states
            ``(cases, variables)`` the state position of each variable, −1 where missing.
        likelihoods
            Virtual evidence: for some variables by name, an array ``(cases, states)``.
        targets
            The variables of interest by name; all by default.

        Returns
        -------
        marginals, log_evidence
            For each target an array ``(cases, states)``, and the natural logarithm of the
            probability of the evidence, ``(cases,)``. An impossible case has −inf and NaN.
        """
        cases = self._cases(states, likelihoods or {})
        places = self._places
        if targets is None:
            answers = self._run(cases)
            spans = [slice(*places[i : i + 2]) for i in range(len(self.variables))]
            return [answers.marginals[:, span] for span in spans], answers.log_evidence
        chosen = [self._columns[name] for name in targets]
        wanted = np.zeros(self.tree.n_buckets, dtype=np.int64)
        wanted[chosen] = 1
        joints = [np.empty((len(cases), int(self._sizes[i]))) for i in chosen]
        log_evidence = np.empty(len(cases))
        for start in range(0, len(cases), _CHUNK):
            part = slice(start, start + _CHUNK)
            answers = self._run(cases.part(part), wanted)
            log_evidence[part] = answers.log_evidence
            for joint, i in zip(joints, chosen, strict=True):
                joint[part] = answers.marginals[:, places[i] : places[i + 1]]
        return joints, log_evidence

    def family_sums(
        self, states: ArrayLike, weights: ArrayLike | None = None
    ) -> tuple[list[Floats | None], Floats]:
        """Return the sum over cases of the joint distribution of each family.

        These are the expected counts of the EM algorithm.

        Parameters
        ----------
        states
            As for `marginals_of`.
        weights
            ``(cases,)`` the weight of each case; 1 by default.

        Returns
        -------
        sums, log_evidence
            For each potential of the model an array over its ``scope`` (in a network, the child
            comes first), and the log of the probability of each case's evidence, ``(cases,)``.
            Impossible cases, of −inf, add nothing. The sum is None for a functional or noisy
            distribution that the tree represents by auxiliary variables.
        """
        cases = self._cases(states, {}, weights)
        expected = np.zeros(self.total_size)
        log_evidence = np.empty(len(cases))
        wanted = np.zeros(self.tree.n_buckets, dtype=np.int64)
        scopes = [[self._columns[v.name] for v in p.scope] for p in self.model.potentials]
        shapes = [[v.n_states for v in p.scope] for p in self.model.potentials]
        lost: list[int] = []
        for start in range(0, len(cases), _CHUNK):
            part = slice(start, start + _CHUNK)
            answers = answer(self._scratch, cases.part(part), wanted, expected)
            log_evidence[part] = answers.log_evidence + self.log_sum
            lost += (start + np.flatnonzero(answers.doubtful)).tolist()
        sums = family_tables(self.tree, expected, scopes, shapes)
        for case in lost:
            targets = [[v.name for v in p.scope] for p in self.model.potentials]
            joints, log_evidence[case] = self._rescued(cases, case, targets)
            for table, joint in zip(sums, joints, strict=True):
                if table is not None and joint is not None:
                    table += cases.weights[case] * joint
        return sums, log_evidence

    def predicted_cells(self, states: ArrayLike) -> float:
        """Return about how many cells a case visits: a prediction of its time.

        Parameters
        ----------
        states
            ``(variables,)`` the state positions, −1 where missing.

        Notes
        -----
        A hard finding on a variable leaves one of its states. The prediction assumes that the
        possible cells of a table are spread evenly over the states. A cell takes about five
        nanoseconds, and a table about a tenth of a microsecond.
        """
        case = self._cases([states], {}).findings[0]
        shrinking = np.zeros(len(case))
        shrinking[: len(self._sizes)] = np.log(self._sizes)
        logs = np.where(case >= 0, shrinking, 0.0)
        sums = np.concatenate([[0.0], np.cumsum(logs[self.tree.separators[:, 0]])])
        inside = np.diff(sums[self.tree.buckets[:, SEPARATOR]])
        inside += logs[self.tree.buckets[:-1, VARIABLE]]
        return float(np.sum(np.diff(self.tree.buckets[:, CELL]) * np.exp(-inside)))

    def _run(self, cases: Cases, wanted: NDArray[np.int64] | None = None) -> Answers:
        """Return the answers to cases; those that lost digits are computed again."""
        everything = np.ones(self.tree.n_buckets, dtype=np.int64)
        answers = answer(self._scratch, cases, everything if wanted is None else wanted)
        answers.log_evidence[:] += self.log_sum
        for case in np.flatnonzero(answers.doubtful).tolist():
            targets = [[v.name] for v in self.variables]
            joints, answers.log_evidence[case] = self._rescued(cases, case, targets)
            for i, joint in enumerate(joints):
                start, stop = self._places[i : i + 2]
                answers.marginals[case, start:stop] = np.nan if joint is None else joint
        answers.log_evidence[:] += cases.logarithms
        return answers

    def _rescued(
        self, cases: Cases, case: int, targets: list[list[str]]
    ) -> tuple[list[Floats | None], float]:
        return rescued(self.model, cases, case, targets, limits=self.limits)

    def _cases(
        self, states: Any, likelihoods: Mapping[str, Any], weights: ArrayLike | None = None
    ) -> Cases:
        """Return cases with room for what the kernel needs."""
        given = np.asarray(states)
        n_cases, n_variables = given.shape
        findings = np.full((n_cases, self.tree.n_buckets), -1, dtype=np.int32)
        findings[:, :n_variables] = given
        soft_starts = np.full(self.tree.n_buckets, -1, dtype=np.int64)
        soft = []
        logarithms = np.zeros(n_cases)
        filled = 0
        for name, numbers in likelihoods.items():
            column = self._columns[name]
            soft_starts[column] = filled
            values, logs = scaled(np.asarray(numbers, dtype=np.float64))
            logarithms += logs
            soft.append(values)
            filled += values.shape[1]
        joined = np.concatenate(soft, axis=1) if soft else np.empty((n_cases, 0))
        counts = np.ones(n_cases) if weights is None else np.asarray(weights, dtype=np.float64)
        return Cases(findings, soft_starts, np.ascontiguousarray(joined), counts, logarithms)

    def _impossible(self, cases: Cases) -> Exception:
        """Return the error that names findings which contradict each other."""
        case = cases.findings[0]
        observed = {
            v.name: v.states[case[i]] if case[i] >= 0 else cases.likelihood(0, i, v.n_states)
            for i, v in enumerate(self.variables)
            if case[i] >= 0 or cases.soft_starts[i] >= 0
        }
        none = np.zeros(self.tree.n_buckets, dtype=np.int64)

        def possible(names: frozenset[str]) -> bool:
            only = cases.restricted([self._columns[name] for name in names])
            return not np.isneginf(self._run(only, none).log_evidence[0])

        names = minimal_conflict(list(observed), possible)
        return impossible({name: observed[name] for name in names})
