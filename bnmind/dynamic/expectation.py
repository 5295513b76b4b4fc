"""The E-step for dynamic networks: expected counts of the tables of the two kinds of slices.

The parameters are those of the network of the first two slices, in one array: the tables of the
first slice, and those of all later slices, whose counts are added up over time. Tables are inputs
of the plans, so that nothing is compiled again from step to step.

References
----------
L. Baum, T. Petrie, G. Soules and N. Weiss, "A maximization technique occurring in the statistical
analysis of probabilistic functions of Markov chains", Ann. Math. Stat. 1970; K. Murphy, "Dynamic
Bayesian networks", PhD thesis, Berkeley 2002, section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.dynamic.network import DynamicNetwork, previous
from bnmind.dynamic.passes import Passes, Tables, most_sequences
from bnmind.dynamic.sequences import Group, Sequences
from bnmind.dynamic.slice_plans import SlicePlans
from bnmind.fitting.expectation import Expected
from bnmind.fitting.layout import Layout
from bnmind.fitting.squarem import Place
from bnmind.information import Floats
from bnmind.pgm.tabular import TabularCPD

__all__ = ["DynamicAscent", "SequenceExpectation"]


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
        first = [number[previous(cpd.variable).name] for cpd in self.plans.learned_of_first]
        later = [number[cpd.variable.name] for cpd in self.plans.learned_of_later]
        return tuple(first), tuple(later)

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
        layout, plans = self.layout, self.plans
        first, later = self._families
        tables = Tables(
            {
                cpd.variable.name: layout.table(cells, family)
                for cpd, family in zip(plans.learned_of_first, first, strict=True)
            },
            {
                cpd.variable.name: layout.table(cells, family)
                for cpd, family in zip(plans.learned_of_later, later, strict=True)
            },
        )
        counts = np.zeros(layout.n_cells)
        total = 0.0
        longest = int(self.sequences.lengths.max())
        for group in self.sequences.groups(most_sequences(plans, plans.families, longest, tables)):
            passes = Passes(plans, self.sequences, group, tables)
            logs = passes.smooth(plans.families, self._counter(group, counts))
            total += float(logs[group.inside].sum())
        return Expected(total, counts)

    def _counter(self, group: Group, counts: Floats) -> Callable[[int, list[Floats]], None]:
        """Return a function that adds the expected counts of a slice."""
        layout = self.layout

        def count(number: int, joints: list[Floats]) -> None:
            rows = group.rows[number]
            inside = (rows >= 0).astype(np.float64)
            leaves = self._leaves[number > 0]
            cpds = self.plans.learned_of_later if number else self.plans.learned_of_first
            # Without learned families, there is the joint of no variables.
            for family, cpd, joint in zip(self._families[number > 0], cpds, joints, strict=False):
                weights = inside
                if cpd.variable.name in leaves:
                    weights = inside * self.sequences.has(cpd.variable.name, rows)
                summed = np.tensordot(weights, joint, axes=1).ravel()
                start = int(layout.offsets[family])
                counts[start : start + len(summed)] += summed

        return count


@dataclass(frozen=True, eq=False)
class DynamicAscent(Sealed):
    """The log-likelihood of a dynamic network's tables, with its EM steps; see `squarem.Ascent`."""

    layout: Layout
    expectation: SequenceExpectation

    def at(self, parameters: Floats) -> Place[Floats]:
        """Do the E-step."""
        expected = self.expectation.at(self.layout.cells(parameters))
        likelihood = expected.log_likelihood
        objective = likelihood + self.layout.log_prior(parameters)

        def improved() -> Floats:
            return self._maximized(parameters, expected.counts)

        return Place(parameters, likelihood, objective, improved)

    def _maximized(self, parameters: Floats, counts: Floats) -> Floats:
        """Return the parameters after an M-step; distributions without any counts stay."""
        layout = self.layout
        n = layout.n_free_cells
        better = layout.maximize(parameters, counts)
        sums = np.bincount(layout.columns, counts[:n] + layout.pseudo_counts)[layout.columns]
        better[:n] = np.where(sums > 0, better[:n], parameters[:n])
        return better

    def numbers(self, parameters: Floats) -> Floats:
        """Return the parameters, which are in one array."""
        return parameters

    def within(self, numbers: Floats, known: Floats) -> Floats:
        """Return normalized parameters; those of zero stay zero."""
        return self.layout.within(numbers, known)

    @property
    def n_zeros(self) -> int:
        """The number of probabilities in tables that stay zero, as no prior adds to them."""
        n = self.layout.n_free_cells
        return int(np.sum((self.start(None)[:n] == 0) & (self.layout.pseudo_counts == 0)))

    def start(self, rng: np.random.Generator | None) -> Floats:
        """Return parameters to start from: those of the network, or random ones.

        Probabilities that are zero in the network stay zero.
        """
        layout = self.layout
        own = layout.start(np.zeros(layout.n_cells), None).copy()
        for family, cpd in enumerate(layout.network.cpds):
            if layout.free[family] and isinstance(cpd, TabularCPD):
                start = int(layout.offsets[family])
                own[start : start + cpd.n_cells] = cpd.values.ravel()
        if rng is None:
            return own
        drawn: NDArray[np.float64] = layout.start(np.zeros(layout.n_cells), rng)
        return layout.within(drawn, own)
