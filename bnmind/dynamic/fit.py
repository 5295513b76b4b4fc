"""Learning the tables of a dynamic network from sequences, by EM."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Sealed, Value
from bnmind.dynamic.network import PREVIOUS, DynamicNetwork, of_two_slices, previous
from bnmind.dynamic.passes import (
    Likelihoods,
    Passes,
    Sequences,
    SlicePlans,
    read_sequences,
    table_input,
)
from bnmind.errors import InvalidArgumentError
from bnmind.fitting.em import FitOptions, TablesAscent, climbs_from
from bnmind.fitting.expectation import Expected
from bnmind.fitting.layout import Layout
from bnmind.fitting.priors import NO_PRIOR, Prior
from bnmind.fitting.squarem import LearningRecord
from bnmind.information import Floats
from bnmind.junction.inference.limits import DEFAULT_LIMITS
from bnmind.pgm.cpd import CPD
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


class Learned(NamedTuple):
    """A distribution that is learned."""

    family: int
    """Its number in the layout."""
    cpd: CPD
    is_leaf: bool
    """Whether its variable has no children. A missing leaf does not influence the likelihood, so
    that it is not counted."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceExpectation(Sealed):
    """An E-step for some sequences."""

    layout: Layout
    """The parameters of `DynamicNetwork.two_slices`."""
    learned: tuple[tuple[Learned, ...], tuple[Learned, ...]]
    """Those of the first slice and of later ones."""
    plans: SlicePlans
    sequences: Sequences

    @classmethod
    def of(cls, network: DynamicNetwork, layout: Layout, found: Sequences) -> SequenceExpectation:
        """Return the E-step for a network."""
        family = {v.name: number for number, v in enumerate(layout.network.variables)}
        interface = {v.name for v in network.interface}

        def learned(kind: int) -> tuple[Learned, ...]:
            cpds = network.transition if kind else network.first.cpds
            inner = interface.union(p.name for cpd in cpds for p in cpd.parents)
            numbers = [family[(c.variable if kind else previous(c.variable)).name] for c in cpds]
            return tuple(
                Learned(number, cpd, cpd.variable.name not in inner)
                for number, cpd in zip(numbers, cpds, strict=True)
                if layout.free[number]
            )

        first, later = learned(0), learned(1)
        plans = SlicePlans(
            network=network,
            observed=found.variables,
            targets=(tuple(one.cpd.scope for one in first), tuple(one.cpd.scope for one in later)),
            limits=DEFAULT_LIMITS,
            learned=(tuple(one.cpd for one in first), tuple(one.cpd for one in later)),
        )
        return cls(layout=layout, learned=(first, later), plans=plans, sequences=found)

    def at(self, cells: Floats) -> Expected:
        """Do the E-step with some tables.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names it.
        """
        layout, two = self.layout, self.plans.smoothers
        first, later = (
            {table_input(one.cpd.variable.name): layout.table(cells, one.family) for one in kind}
            for kind in self.learned
        )
        counts, total = np.zeros(layout.n_cells), 0.0
        for answers in Passes.answers(
            self.plans, self.sequences, two, (first, later), smooths=True
        ):
            total += float(answers.logs.sum())
            # Without learned families, there is the joint of no variables.
            for one, joint in zip(self.learned[answers.number > 0], answers.joints, strict=False):
                if one.is_leaf:
                    joint = joint[self.sequences.has(one.cpd.variable.name, answers.rows)]
                layout.table(counts, one.family)[...] += joint.sum(axis=0)
        # Distributions without any counts stay.
        n = layout.n_free_cells
        columns = layout.columns[:n]
        sums = np.bincount(columns, counts[:n] + layout.pseudo_counts[:n])[columns]
        counts[:n] = np.where(sums > 0, counts[:n], cells[:n])
        return Expected(total, counts)


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
    likelihoods: Likelihoods | None = None,
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
    found = read_sequences(
        network, network.variables, cases, sequence=sequence, likelihoods=likelihoods
    )
    shared = shared_tables(network)
    kept = {name for given in fixed for name in _with_shared(given, shared)}
    layout = Layout.of(
        network.two_slices,
        prior or NO_PRIOR,
        fixed=sorted(kept),
        tied=[(name + PREVIOUS, name) for name in shared if name not in kept],
    )
    starts = [
        _start(layout, np.random.default_rng([asked.seed, number]) if number else None)
        for number in range(asked.starts)
    ]
    ascent = TablesAscent(layout, SequenceExpectation.of(network, layout, found))
    climbs = climbs_from(ascent, starts, asked, progress)
    record = LearningRecord.of(climbs, asked.seed)
    # They stay zero, as no prior adds to them.
    zeros = ((starts[0] == 0) & (layout.pseudo_counts == 0))[: layout.n_free_cells]
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
    pairs = [(network.first.cpd(v.name), network.cpd(v.name)) for v in network.variables]
    return tuple(
        first.variable.name
        for first, later in pairs
        if isinstance(first, TabularCPD)
        and isinstance(later, TabularCPD)
        and first.scope == later.scope
        and np.array_equal(first.values, later.values)
    )


def _with_shared(name: str, shared: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the tables that are fixed with a table."""
    own = name.removesuffix(PREVIOUS)
    return (own, own + PREVIOUS) if own in shared else (name,)


def _start(layout: Layout, rng: np.random.Generator | None) -> Floats:
    """Return parameters to start from: those of the network, or random ones.

    Probabilities that are zero in the network stay zero.
    """
    nothing = np.zeros(layout.n_cells)
    own = layout.start(nothing, None, uniform=0.0)
    return own if rng is None else layout.within(layout.start(nothing, rng), own)


def _warnings(
    network: DynamicNetwork, found: Sequences, layout: Layout, record: LearningRecord
) -> list[str]:
    warnings = []
    if not record.converged:
        warnings.append(f"EM has not converged after {counted(record.steps, 'step')}")
    if int(found.lengths.max()) == 1:
        warnings.append("all sequences have a single slice, so that no transition is learned")
    free = {
        v.name for v, is_free in zip(layout.network.variables, layout.free, strict=True) if is_free
    }
    warnings += [
        f"{v.name} is never observed: its states may be exchanged without a change of the"
        " likelihood, unless fixed tables or zeros tell them apart"
        for v in network.variables
        if v not in found.variables and free & {v.name, previous(v).name}
    ]
    return warnings
