r"""Derivatives of probabilities by the entries of a model's tables, in one backward pass.

A plan is compiled once from a model, evidence variables and a target. Each of its runs contracts
the tables toward the target, and then once backward for each gradient; see
`bnmind.junction.program.message_passing`.

In a network, an entry cannot change alone, because its row must sum to one. Two derivatives are
useful. The *partial* derivative g changes one entry and nothing else, as if the table were any
factor. The *effect* changes an entry θ_i of a row and scales the others in proportion
(proportional covariation), so that the row still sums to one:

.. math:: \mathrm{effect}_i = g_i - \sum_{j \ne i} \frac{θ_j}{1 - θ_i} g_j

If θ_i is one, the others are zero and have no proportions; they then share equally.

References
----------
K. B. Laskey, "Sensitivity analysis for probability assessments in Bayesian networks", IEEE Trans.
SMC 25, 1995; H. Chan and A. Darwiche, "When do numbers really matter?", JAIR 17, 2002
(proportional covariation); A. Darwiche, J. ACM 50, 2003 (partial derivatives).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted, format_bytes
from bnmind._values import Sealed, made, sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.forms import choose_forms, non_negative_table
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.compile import compile_all
from bnmind.junction.inference.compiled_query import (
    CompiledQuery,
    all_inputs,
    positions_of,
    registers_of,
)
from bnmind.junction.inference.evidence import Evidence, read_findings
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.program.message_passing import ReverseProgram, reverse_of
from bnmind.junction.program.program import Arithmetic, Program
from bnmind.junction.program.program_inputs import Registers, Source
from bnmind.junction.program.runs import (
    FlatProgram,
    FlatRecord,
    flat_program,
    has_small_steps,
    should_be_flat,
)
from bnmind.junction.reduction import without_barren
from bnmind.junction.walk import keeping
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

# --- The tables of a model, and the derivatives by the first registers as those by the tables -----


class InputTable(NamedTuple):
    """A table of a model, which is the source of a register."""

    names: tuple[str, ...]
    """The variables of its axes."""
    shape: tuple[int, ...]
    """Their numbers of states."""
    observed: tuple[str, ...]
    """The evidence variables of several states; their axes come first in the source."""
    axes: tuple[int, ...]
    """For each axis of the source, which one of the axes of several states it is."""
    potential: int | None
    """The position of the potential of the model whose parameters these are; None if they are
    part of another form of a potential, or a function."""

    @classmethod
    def of(
        cls, potential: Potential, source: Source, numbered: Sequence[str], place: int | None
    ) -> InputTable:
        """Return the table of a potential; the variables of the source are numbered."""
        several = [v.name for v in potential.scope if v.n_states > 1]
        names = [*source.observed, *[numbered[v] for v in source.scope]]
        return cls(
            names=tuple([v.name for v in potential.scope]),
            shape=tuple([v.n_states for v in potential.scope]),
            observed=source.observed,
            axes=tuple(map(several.index, names)),
            potential=place,
        )

    def turned(self, entries: Floats) -> Floats:
        """Return a view of entries with the axes of the source."""
        return entries.reshape([n for n in self.shape if n > 1]).transpose(self.axes)

    def lifted(self, derivatives: Floats | None, at: Mapping[str, int]) -> Floats:
        """Return read-only derivatives by the register as those by the whole table.

        Those given must be read-only; None stands for zero everywhere. Entries that contradict the
        evidence have the derivative zero.
        """
        if derivatives is not None and not self.observed:
            is_whole = derivatives.ndim == len(self.shape)
            return derivatives if is_whole else derivatives.reshape(self.shape)
        whole = np.zeros(self.shape)
        if derivatives is not None:
            self.turned(whole)[tuple([at[name] for name in self.observed])] = derivatives
        return sealed(whole)


def _are_finite(arrays: Iterable[Floats]) -> bool:
    """Return whether all numbers of some arrays are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum may be too large where all its terms are finite.
        return all(
            math.isfinite(np.add.reduce(values, axis=None)) or np.isfinite(values).all()
            for values in arrays
        )


# --- Gradients: a number and its derivatives by the entries of a model's tables -------------------


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Gradient(Sealed):
    """A number and its derivatives by all entries of a model's tables.

    Examples
    --------
    >>> from bnmind.junction import compile_derivatives
    >>> from bnmind.pgm import Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> gradient = compile_derivatives(network, evidence=["wet"]).log_evidence({"wet": "yes"})
    >>> gradient
    Gradient(value=-1.34707, 6 entries)
    >>> gradient["rain"].round(3).tolist()  # P(wet=yes | rain) / P(wet=yes)
    [0.385, 3.462]
    >>> gradient.effect("rain").round(3).tolist()
    [-3.077, 3.077]
    """

    model: Network | FactorModel
    """The model."""
    value: float
    """The number that is differentiated."""
    log_evidence: float
    """The natural logarithm of the probability of the evidence."""
    partials: tuple[Floats | None, ...]
    """The partial derivatives by the entries of each potential of the model, over its ``scope``. In
    a network the child comes first. None for a functional distribution, which has no parameters,
    for a distribution that the plan left out or wrote as a product of smaller tables."""

    def __repr__(self) -> str:
        entries = sum(one.size for one in self.partials if one is not None)
        return f"Gradient(value={self.value:.6g}, {entries:,} entries)"

    @checked
    def __getitem__(self, name: str) -> Floats:
        """Return the partial derivatives by the entries of a variable's table in a network.

        Raises
        ------
        UnknownNameError
            If the network has no such variable.
        InvalidArgumentError
            If the model is not a network, or the table has no derivatives; see `partials`.
        """
        found = self.partials[self._place(name)]
        if found is None:
            raise InvalidArgumentError(
                f"the table of {name} has no partial derivatives: it is a function, the plan wrote"
                " it as smaller tables, or it was left out as irrelevant",
                name,
            )
        return found

    @checked
    def effect(self, name: str) -> Floats:
        """Return the derivatives if the other entries of a row change in proportion.

        The arguments and errors are those of ``gradient[name]``. A table that was left out as
        irrelevant has the effect zero.

        Parameters
        ----------
        name
            The name of a variable of the network.

        Raises
        ------
        InvalidArgumentError
            If the variable has no table whose entries may change.
        """
        place = self._place(name)
        cpd = self.model.potentials[place]
        partial = self.partials[place]
        if partial is None and isinstance(cpd, TabularCPD):
            return np.zeros(cpd.values.shape)
        if not isinstance(cpd, TabularCPD):
            raise InvalidArgumentError(
                f"{name} has no table whose entries may change: it is a {type(cpd).__name__}",
                name,
            )
        return covarying(cpd.values, self[name])

    @checked
    def contributions(self, name: str) -> tuple[Floats, ...]:
        """Return the partial derivatives by the parameters of a noisy maximum or minimum.

        Parameters
        ----------
        name
            The name of a variable with a noisy maximum or minimum.

        Returns
        -------
        tuple
            An array ``(states,)`` for the leak, then one for each of the ``links``.

        Raises
        ------
        UnknownNameError
            If the network has no such variable.
        InvalidArgumentError
            If its distribution is not noisy, or so large that the plan wrote it as smaller tables.
        """
        cpd = self.model.potentials[self._place(name)]
        if not isinstance(cpd, NoisyMaximum | NoisyMinimum):
            raise InvalidArgumentError(
                f"{name} is not a noisy maximum or minimum: it is a {type(cpd).__name__}", name
            )
        return cpd.partials(self[name])

    def to_frame(self) -> pandas.DataFrame:
        """Return a `pandas.DataFrame` with a row for each entry that has a derivative.

        Its columns are ``table`` (the child in a network), ``entry`` (as text), ``probability``,
        ``partial``, and in a network ``effect``. The entries with the largest effects come first.
        """
        import pandas

        is_network = isinstance(self.model, Network)
        parts = []
        for potential, partial in zip(self.model.potentials, self.partials, strict=True):
            if partial is None or not isinstance(potential, TabularCPD | Factor):
                continue
            columns = {
                "table": potential.scope[0].name if potential.scope else "",
                "entry": format_entries(potential),
                "probability": np.real(potential.values).ravel(),
                "partial": partial.ravel(),
            }
            if is_network:
                columns["effect"] = covarying(np.real(potential.values), partial).ravel()
            parts.append(pandas.DataFrame(columns))
        if not parts:
            names = ["table", "entry", "probability", "partial", *(["effect"] * is_network)]
            return pandas.DataFrame({name: [] for name in names})
        frame = pandas.concat(parts, ignore_index=True)
        by = frame["effect" if is_network else "partial"].abs()
        order = np.argsort(-by.to_numpy(), kind="stable")
        return frame.iloc[order].reset_index(drop=True)

    def _place(self, name: str) -> int:
        if not isinstance(self.model, Network):
            raise InvalidArgumentError(
                "a product of factors has no table of a variable; see `partials`", name
            )
        variable = self.model.variable(name)
        return next(i for i, cpd in enumerate(self.model.cpds) if cpd.variable is variable)


def covarying(entries: Floats, partials: Floats) -> Floats:
    """Return the derivatives by entries whose rows keep their sum, by proportional covariation.

    Parameters
    ----------
    entries, partials
        ``(states, …)`` the conditional probabilities and their partial derivatives.
    """
    n_states = len(entries)
    if n_states == 1:
        return np.zeros(entries.shape)
    weighted = np.multiply(entries, partials, out=np.zeros(entries.shape), where=entries > 0)
    others = without_each(entries)
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = partials - without_each(weighted) / others
    alone = partials - without_each(partials) / (n_states - 1)
    return np.where(others > 0, effects, alone)


def without_each(values: Floats) -> Floats:
    """Return the sum over the first axis without each element, which subtracts nothing."""
    zero = np.zeros((1, *values.shape[1:]))
    before = np.concatenate([zero, np.cumsum(values[:-1], axis=0)])
    after = np.concatenate([np.cumsum(values[:0:-1], axis=0)[::-1], zero])
    sums: Floats = before + after
    return sums


def format_entries(potential: TabularCPD | Factor) -> list[str]:
    """Return each entry of a table as text, such as ``wet=yes | rain=no``, in the table's order."""
    between = " | " if isinstance(potential, TabularCPD) else ", "
    entries = []
    for found in product(*[[f"{v.name}={state}" for state in v.states] for v in potential.scope]):
        head, tail = ", ".join(found[:1]), ", ".join(found[1:])
        entries.append(f"{head}{between}{tail}" if tail else head)
    return entries


# --- Plans for derivatives, which are compiled once and run for any evidence ----------------------

_LEAST, _MOST = 1e-200, 1e200
"""Totals outside of these bounds are computed again with scaled registers."""

_FIRST_RUNS = 2
"""The first runs of a plan are in NumPy."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DerivativePlan(Sealed):
    """A compiled program that computes a probability and its derivatives by all table entries.

    `compile_derivatives` makes these plans. Each method runs the program forward, and then backward
    once for each gradient.
    """

    model: Network | FactorModel
    """The model."""
    target: Variable | None
    """The variable whose posterior is differentiated; None if only that of the evidence is."""
    tables: tuple[InputTable, ...]
    """The tables of the model, which are the first registers."""
    compiled: CompiledQuery
    """The contractions of a run toward the target's joint with the evidence."""
    reverse: ReverseProgram | None
    """The contractions of the derivatives; None if there is no contraction."""

    def __repr__(self) -> str:
        about = f"P({self.target.name} | evidence)" if self.target else "P(evidence)"
        entries = sum(math.prod(one.shape) for one in self.tables if one.potential is not None)
        return f"DerivativePlan({about} by {entries:,} entries, {counted(self.total_size, 'cell')})"

    @property
    def total_size(self) -> int:
        """The sum of the sizes of the cliques, in cells."""
        return self.compiled.total_size

    @property
    def program(self) -> Program:
        """The contractions of a run."""
        return self.compiled.program

    @property
    def end(self) -> int | None:
        """The register of the target's joint with the evidence; None if there is no contraction."""
        return self.compiled.answers[0].register

    @property
    def multiplications(self) -> int:
        """Multiplications of a run and a backward pass."""
        backward = 0 if self.reverse is None else self.reverse.program.multiplications
        return self.program.multiplications + backward

    @property
    def memory(self) -> int:
        """The predicted bytes of a run: all registers, and about as much for their derivatives.

        Compiled runs have tables of places, which take about as much.
        """
        cells = sum(self.program.held)
        if self.reverse is not None:
            cells += sum(self.reverse.program.held[self.reverse.program.n_inputs :])
        copies = cells if has_small_steps(self.program) else self.program.peak_cells
        return 8 * (cells + copies + sum(math.prod(table.shape) for table in self.tables))

    @checked
    def probabilities(self, evidence: Evidence | None = None) -> tuple[Floats, float]:
        """Return the posterior of the target ``(states,)``, and ln P(evidence).

        There is no backward pass. The parameters and errors are those of `log_evidence`.
        """
        run = self._run(evidence)
        return np.array(run.posterior), run.log_evidence

    @checked
    def log_evidence(self, evidence: Evidence | None = None) -> Gradient:
        """Return ln P(evidence) and its derivative by each entry.

        Parameters
        ----------
        evidence
            A state for each evidence variable of the plan. For a soft variable, a state, a
            likelihood ``{state: weight}``, or nothing.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        CancellationError
            If numbers of the run, or the derivatives, exceed the range of floating point.
        InvalidArgumentError, UnknownNameError
            If the evidence is not that of the plan.
        """
        run = self._run(evidence)
        return self._gradient(run, np.ones(run.posterior.shape), run.log_evidence)

    @checked
    def posterior(self, state: Any, evidence: Evidence | None = None) -> Gradient:
        """Return P(target = state | evidence) and its derivative by each entry.

        The parameters and errors are those of `log_evidence`; ``state`` is a state of the target.
        One backward pass differentiates the ratio P(state, evidence) / P(evidence).
        """
        scores = np.zeros(self._target.n_states)
        scores[self._target.index(state)] = 1.0
        return self._expected(scores, evidence)

    @checked
    def expectation(self, scores: Any, evidence: Evidence | None = None) -> Gradient:
        """Return the expected score of the target given the evidence, and its derivatives.

        Parameters
        ----------
        scores
            ``(states,)`` a number for each state of the target.
        evidence
            As for `log_evidence`.

        Raises
        ------
        InvalidArgumentError
            If there is not one finite score for each state of the target.
        """
        given = np.asarray(scores, dtype=np.float64)
        if given.shape != (self._target.n_states,) or not np.all(np.isfinite(given)):
            raise InvalidArgumentError(
                f"expected {self._target.n_states} finite scores, one for each state of"
                f" {self._target.name}, got {scores!r}",
                scores,
            )
        return self._expected(given, evidence)

    def _expected(self, scores: Floats, evidence: Evidence | None) -> Gradient:
        run = self._run(evidence)
        value = float(scores @ run.posterior)
        return self._gradient(run, scores - value, value)

    @checked
    def joints(self, evidence: Evidence | None = None) -> tuple[Gradient, ...]:
        """Return P(target, evidence) / P(evidence) for each state, with P(evidence) held fixed.

        The values are the posterior. The derivatives are those of P(state, evidence) alone, divided
        by P(evidence); their sum over the states is the gradient of `log_evidence`. Sensitivity
        functions are made of them. There is one backward pass for each state.

        Parameters
        ----------
        evidence
            The evidence, as for `posterior`; none by default.
        """
        each = np.eye(self._target.n_states)
        run = self._run(evidence)
        values = run.posterior.tolist()
        return tuple([self._gradient(run, w, value) for w, value in zip(each, values, strict=True)])

    @property
    def _target(self) -> Variable:
        if self.target is None:
            raise InvalidArgumentError(
                "this plan has no target; pass target=... to compile_derivatives"
            )
        return self.target

    @cached_property
    def _runs(self) -> count[int]:
        """Counts the runs, which affects only the time of the next one."""
        return count()

    @cached_property
    def _flat(self) -> tuple[FlatProgram, FlatProgram]:
        """The program and its reverse for the compiled runs."""
        reverse = self.reverse
        assert reverse is not None
        assert self.end is not None
        kept = {*reverse.taken, self.end}
        forward = flat_program(self.program, self.compiled.unchanging, kept)
        ends = {back.register for back in reverse.adjoints.values()}
        return forward, flat_program(reverse.program, (), ends, (forward, reverse.taken))

    @cached_property
    def _ends(self) -> list[tuple[int, Any, slice, tuple[int, ...]]]:
        """For each input with derivatives, the way from its adjoint, its cells and its shape."""
        flat, ends = self._flat[1], []
        for i, back in self.reverse.adjoints.items() if self.reverse else ():
            shape, start = flat.shapes[back.register], flat.terms[back.register].first
            ends.append((i, back, slice(start, start + math.prod(shape)), shape))
        return ends

    def _run(self, evidence: Evidence | None) -> _Run:
        """Return the forward run."""
        compiled = self.compiled
        findings = read_findings(evidence, compiled.evidence, compiled.soft)
        at = positions_of(compiled, findings)
        inputs: Any = registers_of(compiled, at, all_inputs(compiled, findings, None))
        numbers = [float(inputs[i]) for i in compiled.scalars]
        if min(numbers, default=1.0) > 0:
            log = sum([math.log(number) for number in numbers])
            for scaled in (False, True):
                run = self._forward(inputs, at, log, scaled=scaled)
                if run is not None:
                    return run
        shown = ", ".join(f"{name}={finding}" for name, finding in findings.items())
        if min(numbers, default=1.0) > 0 and self._is_possible(inputs):
            raise CancellationError(
                "the probabilities in a run are too far apart for floating point, so that their"
                f" derivatives have no correct digits; the evidence is {shown}"
            )
        raise ImpossibleEvidenceError(
            f"expected evidence of positive probability, got zero for {shown or 'the model'}",
            findings,
        )

    def _forward(
        self, inputs: Sequence[Floats], at: Mapping[str, int], log: float, *, scaled: bool
    ) -> _Run | None:
        """Return a forward run; None if numbers become too large or too small.

        The tables without hidden variables have a product with the logarithm ``log``.
        """
        powers: Sequence[int] = ()
        registers: Any
        if (
            self.reverse
            and not scaled
            and should_be_flat(self.program, next(self._runs), _FIRST_RUNS)
        ):
            registers = self._flat[0].run(inputs)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                registers, powers, _ = self.program.run(inputs, Arithmetic(scaled))
        shape = (self.target.n_states,) if self.target else ()
        ending = np.ones(shape) if self.end is None else registers[self.end].reshape(shape)
        total = float(np.add.reduce(ending, axis=None))
        if not (total > 0 if scaled else _LEAST < total < _MOST) or not math.isfinite(total):
            return None
        log_evidence = math.log(total) + log
        if self.end is not None and powers:
            log_evidence += math.log(2.0) * powers[self.end]
        # Runs are made often, and only the plan sees them.
        return made(
            _Run,
            registers=registers,
            powers=powers,
            at=at,
            inputs=tuple(inputs),
            posterior=ending / total,
            total=total,
            log_evidence=log_evidence,
        )

    def _is_possible(self, inputs: Sequence[Floats]) -> bool:
        """Return whether the support of the tables allows the evidence, without their sizes."""
        # Zero or one in place of each number; sums are cut back to one.
        registers: list[Any] = [(table > 0).astype(np.float64) for table in inputs]
        for operation, left, right in self.program.steps:
            registers.append(np.minimum(operation(registers[left], registers[right]), 1.0))
        return self.end is None or bool(registers[self.end].any())

    def _gradient(self, run: _Run, weights: Floats, value: float) -> Gradient:
        """Return the gradient of Σ w(x) P(x, e) / P(e), with P(e) held fixed."""
        found, cells = self._adjoints(run, weights / run.total)
        # A table without hidden variables is a factor of every term.
        constant = float(weights.dot(run.posterior))
        for i in self.compiled.scalars:
            found[i] = np.asarray(constant / float(run.inputs[i]))
            cells.append(found[i])
        are_finite = _are_finite(cells)
        partials: list[Floats | None] = [None] * len(self.model.potentials)
        for i, table in enumerate(self.tables):
            if table.potential is None:
                continue
            if not are_finite and i in found and not _are_finite([found[i]]):
                over = table.names[:1] if isinstance(self.model, Network) else table.names
                raise CancellationError(
                    f"the derivatives by the table of {', '.join(over)} are too large for floating"
                    " point: another entry makes the evidence far more probable"
                )
            partials[table.potential] = table.lifted(found.get(i), run.at)
        return made(
            Gradient,
            model=self.model,
            value=value,
            log_evidence=run.log_evidence,
            partials=tuple(partials),
        )

    def _adjoints(self, run: _Run, seed: Floats) -> tuple[dict[int, Floats], list[Floats]]:
        """Return the derivatives by the tables that steps take, and arrays that hold all of them.

        The ``seed`` are the derivatives by the last register.
        """
        reverse, end = self.reverse, self.end
        if reverse is None or end is None:
            return {}, []
        seed = np.reshape(seed, run.registers[end].shape)
        if isinstance(run.registers, FlatRecord):
            flat = self._flat[1]
            record = flat.run([None] * len(reverse.taken) + [seed], run.registers)
            found, cells = {}, record.values[: flat.n_kept]
            for i, back, part, shape in self._ends:
                found[i] = back(cells[part].reshape(shape))
            return found, [cells]
        inputs = [*[run.registers[register] for register in reverse.taken], seed]
        powers = [*[run.powers[r] for r in reverse.taken], -run.powers[end]] if run.powers else []
        with np.errstate(over="ignore", invalid="ignore"):
            filled, powers, _ = reverse.program.run(inputs, Arithmetic(bool(powers)), powers=powers)
            ends: dict[int, Any] = {
                back.register: filled[back.register] for back in reverse.adjoints.values()
            }
            if powers:
                ends = {r: np.ldexp(values, powers[r]) for r, values in ends.items()}
        found = {i: back(sealed(ends[back.register])) for i, back in reverse.adjoints.items()}
        return found, list(ends.values())


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run(Sealed):
    """A forward run."""

    registers: Registers
    powers: Sequence[int]
    """The powers of two that each register is a multiple of; none if these are one."""
    at: Mapping[str, int]
    inputs: tuple[Floats, ...]
    posterior: Floats
    """The distribution of the target; the number one if there is none."""
    total: float
    """The sum of the last register, as it is recorded."""
    log_evidence: float


# --- Compilation of plans for derivatives from a model, evidence variables and a target -----------


@checked
def compile_derivatives(
    model: Network | FactorModel,
    *,
    target: str | None = None,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
    relevant_only: bool = False,
) -> DerivativePlan:
    """Compile a plan for the derivatives of a probability by all entries of a model's tables.

    Parameters
    ----------
    model
        A network, or a product of factors that are not negative.
    target
        The variable whose posterior is differentiated; not needed for the derivatives of the
        probability of the evidence.
    evidence
        The evidence variables. Each run takes a state of each of them.
    soft
        Variables with uncertain or missing evidence. For each of them, a run takes a state, a
        likelihood, or nothing.
    order
        The search for an elimination order; by default `Portfolio`.
    limits
        The limits of the memory and the multiplications of a run with its backward pass.
    relevant_only
        Whether to leave out the tables of a network on which neither the target nor the evidence
        depends as long as their rows sum to one. This is faster. They then have no partial
        derivatives, and their entries have the effect zero; see `Gradient`.

    Raises
    ------
    UnknownNameError
        If a variable is not in the model.
    InvalidArgumentError
        If a variable is named twice, or the target is evidence.
    InvalidModelError
        If a factor is negative or complex.
    TooLargeError
        If a run would exceed the limits; raised before anything large is allocated.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> plan = compile_derivatives(network, target="rain", evidence=["wet"])
    >>> plan
    DerivativePlan(P(rain | evidence) by 6 entries, 2 cells)
    >>> gradient = plan.posterior("yes", {"wet": "yes"})
    >>> round(gradient.value, 3), gradient["rain"].round(3).tolist()
    (0.692, [-0.266, 1.065])
    """
    wanted = None if target is None else model.variable(target)
    names, likely = ([model.variable(n).name for n in some] for some in (evidence, soft))
    if target in names:
        raise InvalidArgumentError(f"the target {target} must not be evidence", target)
    joint = [] if target is None else [target]
    potentials = model.potentials
    if relevant_only:
        potentials = without_barren(potentials, [*names, *likely, *joint])
    formed = choose_forms(
        potentials,
        {v.name: tuple(range(v.n_states)) for v in model.variables},
        observed=names,
        joints=[joint] if joint else [],
        signed=False,
        max_cells=min(limits.table_cells, 2**22),
    )
    shapes = [[v.n_states for v in p.scope] for p in formed]
    cells = sum(map(math.prod, shapes))
    if cells > limits.table_cells:
        raise TooLargeError(
            f"the tables of the model would take {format_bytes(8 * cells)}; allowed are"
            f" max_bytes={limits.max_bytes:,}",
            needed=8 * cells,
            budget=limits.max_bytes,
        )
    # A zero has a derivative too, so that no number of a table may simplify the contractions.
    unknown = [
        made(Factor, scope=p.scope, values=np.broadcast_to(0.5, shape))
        for p, shape in zip(formed, shapes, strict=True)
    ]
    # The memory of a run together with its backward pass is checked below.
    roomy = replace(limits, max_bytes=16 * limits.max_bytes)
    compiled = compile_all(
        unknown, evidence=names, soft=likely, targets=[joint], order=order, limits=roomy
    )
    originals = {id(p): i for i, p in enumerate(model.potentials)}
    tables, sources = list[InputTable](), list(compiled.sources)
    for i, potential in enumerate(formed):
        place = None if isinstance(potential, FunctionalCPD) else originals.get(id(potential))
        table = InputTable.of(potential, sources[i], compiled.numbered, place)
        values = sealed(
            np.asarray(table.turned(non_negative_table(potential, limits.table_cells)), order="C")
        )
        sources[i] = made(Source, **(vars(sources[i]) | {"values": values}))
        tables.append(table)
    reverse, end = None, compiled.answers[0].register
    if end is not None:
        differentiated = [i for i, table in enumerate(tables) if table.potential is not None]
        reverse = reverse_of(compiled.program, end, differentiated)
    plan = made(
        DerivativePlan,
        model=model,
        target=wanted,
        tables=tuple(tables),
        compiled=replace(
            compiled,
            sources=tuple(sources),
            program=keeping(compiled.program, reverse.taken if reverse else ()),
        ),
        reverse=reverse,
    )
    if refusal := limits.refusal(plan.multiplications, plan.memory, compiled.largest):
        raise refusal
    return plan
