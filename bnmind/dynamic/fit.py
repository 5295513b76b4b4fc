"""Learning the tables of a dynamic network from sequences, by EM."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Sealed, Value
from bnmind.dynamic.network import PREVIOUS, DynamicNetwork, of_two_slices, previous
from bnmind.dynamic.passes import (
    Passes,
    Sequences,
    SlicePlans,
    check_interface,
    read_sequences,
    table_input,
)
from bnmind.errors import InvalidArgumentError
from bnmind.fitting.em import FitOptions, TablesAscent, climbs_from
from bnmind.fitting.expectation import Expected
from bnmind.fitting.layout import Layout
from bnmind.fitting.priors import NoPrior, Prior
from bnmind.fitting.squarem import LearningRecord
from bnmind.information import Floats
from bnmind.junction.inference.limits import DEFAULT_LIMITS
from bnmind.pgm.tabular import TabularCPD

# --- The E-step for dynamic networks: expected counts of the tables of the two kinds of slices ----
#
# The parameters are those of the network of the first two slices, in one array: the tables of the
# first slice, and those of all later slices, whose counts are added up over time. Tables are inputs
# of the plans, so that nothing is compiled again from step to step.
#
# References
# ----------
# L. Baum, T. Petrie, G. Soules and N. Weiss, "A maximization technique occurring in the statistical
# analysis of probabilistic functions of Markov chains", Ann. Math. Stat. 1970; K. Murphy, "Dynamic
# Bayesian networks", PhD thesis, Berkeley 2002, section 4.2.


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceExpectation(Sealed):
    """An E-step for some sequences."""

    network: DynamicNetwork
    layout: Layout
    """The parameters of `DynamicNetwork.two_slices`."""
    plans: SlicePlans
    sequences: Sequences

    @cached_property
    def _families(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The learned families of the first slice and of later ones, as the layout counts them."""
        number = {cpd.variable.name: i for i, cpd in enumerate(self.layout.network.cpds)}
        first, later = self.plans.learned
        return (
            tuple(number[previous(cpd.variable).name] for cpd in first),
            tuple(number[cpd.variable.name] for cpd in later),
        )

    @cached_property
    def _leaves(self) -> tuple[frozenset[str], frozenset[str]]:
        """The variables of the first slice and of later ones without children.

        A missing leaf does not influence the likelihood, so that it is not counted.
        """
        interface = {v.name for v in self.network.interface}
        names = {v.name for v in self.network.variables} - interface
        inner = [
            {p.name for cpd in cpds for p in cpd.parents}
            for cpds in (self.network.first.cpds, self.network.transition)
        ]
        return frozenset(names - inner[0]), frozenset(names - inner[1])

    def at(self, cells: Floats) -> Expected:
        """Do the E-step with some tables.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names it.
        """
        layout, plans, sequences = self.layout, self.plans, self.sequences

        def tables(number: int) -> dict[str, Floats]:
            learned = zip(plans.learned[number], self._families[number], strict=True)
            return {table_input(c.variable.name): layout.table(cells, f) for c, f in learned}

        counts = np.zeros(layout.n_cells)
        total = 0.0
        two = plans.smoothers
        for passes in Passes.of_groups(plans, sequences, two, (tables(0), tables(1))):
            for number, logs, joints in passes.smooth(two):
                rows = passes.rows[number]
                self._count(number > 0, rows, joints, counts)
                total += float(logs[rows >= 0].sum())
        # Distributions without any counts stay.
        n = layout.n_free_cells
        sums = np.bincount(layout.columns, counts[:n] + layout.pseudo_counts)[layout.columns]
        counts[:n] = np.where(sums > 0, counts[:n], cells[:n])
        return Expected(total, counts)

    def _count(
        self, kind: bool, rows: NDArray[np.intp], joints: list[Floats], counts: Floats
    ) -> None:
        """Add the expected counts of a slice."""
        inside = (rows >= 0).astype(np.float64)
        families, cpds = self._families[kind], self.plans.learned[kind]
        # Without learned families, there is the joint of no variables.
        for family, cpd, joint in zip(families, cpds, joints, strict=False):
            weights = inside
            if cpd.variable.name in self._leaves[kind]:
                weights = inside * self.sequences.has(cpd.variable.name, rows)
            summed = np.tensordot(weights, joint, axes=1).ravel()
            start = int(self.layout.offsets[family])
            counts[start : start + len(summed)] += summed


@dataclass(frozen=True, eq=False, kw_only=True)
class DynamicFit(Value):
    """A dynamic network whose tables were learned from sequences. Created by `fit_dynamic`."""

    network: DynamicNetwork
    """The network with the learned tables."""
    n_parameters: int
    """The number of free parameters; tables shared by all slices count once, and probabilities
    that stay zero do not count."""
    n_sequences: int
    """The number of sequences."""
    n_slices: int
    """The number of slices of all sequences."""
    shared: tuple[str, ...]
    """The variables whose table is the same in the first slice and in later ones."""
    warnings: tuple[str, ...]
    """Remarks about the result."""
    record: LearningRecord
    """How the likelihood rose."""

    def __repr__(self) -> str:
        return (
            f"DynamicFit({counted(self.n_sequences, 'sequence')},"
            f" {counted(self.n_slices, 'slice')}: log-likelihood {self.log_likelihood:.2f},"
            f" {counted(self.n_parameters, 'parameter')})"
        )

    @property
    def log_likelihood(self) -> float:
        """Natural logarithm of the probability of all findings."""
        return self.record.log_likelihoods[-1]

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 · parameters − 2 · log-likelihood."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, parameters · ln sequences − 2 · log-likelihood."""
        return self.n_parameters * math.log(self.n_sequences) - 2 * self.log_likelihood


@checked
def fit_dynamic(
    network: DynamicNetwork,
    cases: Any,
    *,
    sequence: str | None = None,
    likelihoods: Mapping[str, Any] | None = None,
    prior: Prior | None = None,
    fixed: Iterable[str] = (),
    options: FitOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> DynamicFit:
    """Learn the tables of a dynamic network from sequences, which may have missing findings.

    The tables of the first slice are learned, and those of all later slices together. A table is
    shared by all slices if the network has the same table, with the same parents, in the first
    slice and in later ones. Functions keep their form, and probabilities of zero stay zero.

    Parameters
    ----------
    network
        The network. The first start begins with its tables.
    cases, sequence, likelihoods
        As for `DynamicPlan.filter`.
    prior
        The pseudo-counts of the tables, such as ``BDeu(10)``; by default maximum likelihood. By
        the names of `DynamicNetwork.two_slices`: ``rain[t-1]`` is the table of the first slice,
        also where it is shared, and ``rain`` that of later ones.
    fixed
        Variables that keep their tables, by the same names. One name of a shared table suffices.
    options
        Starts, seed, the criterion of convergence, and workers. Later starts have random tables.
    progress
        As for `bnmind.fit`.

    Raises
    ------
    TableError
        If columns are missing or states unknown.
    InvalidArgumentError
        If the fixed variables or the prior do not fit the network, or its tables vary.
    ImpossibleEvidenceError
        If a sequence is impossible in the network.
    TooLargeError
        If a slice is too large; see `compile_dynamic`.

    References
    ----------
    K. Murphy, "Dynamic Bayesian networks", PhD thesis, Berkeley 2002, section 4.2.

    Examples
    --------
    >>> from bnmind.dynamic import DynamicNetwork, previous
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> stays = TabularCPD(rain, (previous(rain),), [[0.5, 0.5], [0.5, 0.5]])
    >>> weather = DynamicNetwork(Network((TabularCPD(rain, (), [0.5, 0.5]),)), (stays,))
    >>> fitted = fit_dynamic(weather, {"rain": ["no", "no", "no", "yes", "yes"]})
    >>> fitted.network.cpd("rain").to_tabular().values.round(3).tolist()
    [[0.667, 0.0], [0.333, 1.0]]
    """
    asked = options or FitOptions()
    if network.varying:
        raise InvalidArgumentError(
            "the tables of a network that vary from slice to slice cannot be learned:"
            f" {', '.join(network.varying)}; learn a network without them",
            tuple(network.varying),
        )
    check_interface(network.interface, DEFAULT_LIMITS)
    found = read_sequences(
        network, network.variables, cases, sequence=sequence, likelihoods=likelihoods
    )
    shared = shared_tables(network)
    kept = {name for given in fixed for name in _with_shared(given, shared)}
    layout = Layout.of(
        network.two_slices,
        prior or NoPrior(),
        fixed=sorted(kept),
        tied=[(name + PREVIOUS, name) for name in shared if name not in kept],
    )
    starts = [
        _start(layout, np.random.default_rng([asked.seed, number]) if number else None)
        for number in range(asked.starts)
    ]
    ascent = TablesAscent(layout, _expectation(network, layout, found))
    climbs = climbs_from(ascent, starts, asked, progress)
    record = LearningRecord.of(climbs, asked.seed)
    # They stay zero, as no prior adds to them.
    zeros = (starts[0][: layout.n_free_cells] == 0) & (layout.pseudo_counts == 0)
    return DynamicFit(
        network=of_two_slices(layout.network_of(climbs[record.best_start].parameters)),
        n_parameters=layout.n_parameters - int(zeros.sum()),
        n_sequences=len(found.lengths),
        n_slices=len(found.labels),
        shared=shared,
        warnings=tuple(_warnings(network, found, layout, record)),
        record=record,
    )


def shared_tables(network: DynamicNetwork) -> tuple[str, ...]:
    """Return the variables with the same table in the first slice and in later ones."""
    names = []
    for v in network.variables:
        first, later = network.first.cpd(v.name), network.cpd(v.name)
        if (
            isinstance(first, TabularCPD)
            and isinstance(later, TabularCPD)
            and first.scope == later.scope
            and np.array_equal(first.values, later.values)
        ):
            names.append(v.name)
    return tuple(names)


def _with_shared(name: str, shared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the tables that are fixed with a table."""
    own = name.removesuffix(PREVIOUS)
    return (own, own + PREVIOUS) if own in shared else (name,)


def _start(layout: Layout, rng: np.random.Generator | None) -> Floats:
    """Return parameters to start from: those of the network, or random ones.

    Probabilities that are zero in the network stay zero.
    """
    nothing = np.zeros(layout.n_cells)
    own = layout.start(nothing, None).copy()
    for family, cpd in enumerate(layout.network.cpds):
        if layout.free[family] and isinstance(cpd, TabularCPD):
            start = int(layout.offsets[family])
            own[start : start + cpd.n_cells] = cpd.values.ravel()
    return own if rng is None else layout.within(layout.start(nothing, rng), own)


def _expectation(network: DynamicNetwork, layout: Layout, found: Sequences) -> SequenceExpectation:
    learned = {
        c.variable.name for c, free in zip(layout.network.cpds, layout.free, strict=True) if free
    }
    first = tuple(c for c in network.first.cpds if previous(c.variable).name in learned)
    later = tuple(c for c in network.transition if c.variable.name in learned)
    plans = SlicePlans(
        network=network,
        observed=found.variables,
        targets=(tuple(c.scope for c in first), tuple(c.scope for c in later)),
        limits=DEFAULT_LIMITS,
        learned=(first, later),
    )
    return SequenceExpectation(network=network, layout=layout, plans=plans, sequences=found)


def _warnings(
    network: DynamicNetwork, found: Sequences, layout: Layout, record: LearningRecord
) -> list[str]:
    warnings = []
    if not record.converged:
        steps = "1 step" if record.steps == 1 else f"{record.steps:,} steps"
        warnings.append(f"EM has not converged after {steps}")
    if int(found.lengths.max()) == 1:
        warnings.append("all sequences have a single slice, so that no transition is learned")
    seen = {v.name for v in found.variables}
    number = {v.name: family for family, v in enumerate(layout.network.variables)}
    warnings += [
        f"{v.name} is never observed: its states may be exchanged without a change of the"
        " likelihood, unless fixed tables or zeros tell them apart"
        for v in network.variables
        if v.name not in seen
        and (layout.free[number[v.name]] or layout.free[number[previous(v).name]])
    ]
    return warnings
