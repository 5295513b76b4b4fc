"""Dirichlet priors of tables, given by their pseudo-counts, and the faults of such arguments.

A prior adds pseudo-counts to the counts of a table. The table of the fitted network is the mean of
the posterior distribution, (n + α) / Σ (n + α), in each configuration of the parents. EM with such
a prior maximizes the log-likelihood plus Σ α log θ, and this objective never decreases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._messages import one_line, shown
from bnmind._registry import NUMBER, Registered
from bnmind._values import NonNegative, Positive, Value
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable


@runtime_checkable
class Prior(Protocol):
    """The interface of priors: a function from a family to pseudo-counts."""

    def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
        """Return the pseudo-counts of a table.

        Parameters
        ----------
        variable, parents
            The child of the table and its parents, in the order of the axes. For a link of a
            noisy maximum or minimum, the child and a single parent; for its leak, no parent.

        Returns
        -------
        numpy.ndarray
            Finite numbers of at least 0, ``(states of the child, states of parent 1, …)``.
        """


@dataclass(frozen=True)
class Laplace(Value):
    """The same pseudo-count in every cell of every table.

    Parameters
    ----------
    count
        The pseudo-count; 1 is the rule of succession of Laplace, and the prior of K2. With 0, the
        likelihood alone is maximized, and a distribution is uniform in configurations of the
        parents that the cases do not contain.

    Raises
    ------
    InvalidArgumentError
        If it is negative or not finite.

    References
    ----------
    G. Cooper and E. Herskovits, "A Bayesian method for the induction of probabilistic networks
    from data", Machine Learning 1992.
    """

    count: NonNegative = 1.0

    @checked
    def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
        """Return the count in all cells; see `Prior.pseudo_counts`."""
        return np.full([v.n_states for v in (variable, *parents)], float(self.count))


NO_PRIOR = Laplace(0)
"""No pseudo-counts: maximum likelihood."""


@dataclass(frozen=True)
class BDeu(Value):
    """Pseudo-counts that sum to the same number in every table, uniform in the table (BDeu).

    Parameters
    ----------
    equivalent_sample_size
        The sum of the pseudo-counts of a table. Tables of more cells have smaller pseudo-counts.

    Raises
    ------
    InvalidArgumentError
        If it is not positive or not finite.

    References
    ----------
    D. Heckerman, D. Geiger and D. Chickering, "Learning Bayesian networks: the combination of
    knowledge and statistical data", Machine Learning 1995.

    Examples
    --------
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> BDeu(10).pseudo_counts(wet, (rain,)).tolist()
    [[2.5, 2.5], [2.5, 2.5]]
    """

    equivalent_sample_size: Positive = 10.0

    @checked
    def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
        """Return the equivalent sample size over the number of cells; see `Prior`."""
        shape = [v.n_states for v in (variable, *parents)]
        return np.full(shape, self.equivalent_sample_size / math.prod(shape))


@dataclass(frozen=True, eq=False)
class Dirichlet(Value):
    """Pseudo-counts of some variables as given, and another prior for the others.

    Parameters
    ----------
    counts
        For some variables, the pseudo-counts of the table: an array of its shape, or one number
        for all its cells. For a noisy node, one number for all cells of its leak and links. `fit`
        refuses counts of variables whose tables are fixed, and of tied variables but the first in
        the order of the network.
    other
        The prior of all other variables.

    Raises
    ------
    InvalidArgumentError
        If a pseudo-count is negative or not finite.

    Examples
    --------
    >>> rain = Variable("rain", ("no", "yes"))
    >>> Dirichlet({"rain": [8, 2]}).pseudo_counts(rain, ()).tolist()
    [8.0, 2.0]
    """

    counts: Mapping[str, ArrayLike]
    other: Prior = NO_PRIOR

    def _faults(self) -> Iterator[str]:
        for name, count in self.counts.items():
            if not np.all(np.isfinite(count) & (np.asarray(count) >= 0)):
                yield f"expected pseudo-counts of at least 0 for {name}"

    @checked
    def pseudo_counts(self, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
        """Return the given counts of the variable; see `Prior.pseudo_counts`.

        Raises
        ------
        InvalidArgumentError
            If the counts do not have the shape of the table.
        """
        if variable.name not in self.counts:
            return self.other.pseudo_counts(variable, parents)
        counts = np.asarray(self.counts[variable.name], dtype=np.float64)
        shape = tuple(v.n_states for v in (variable, *parents))
        if counts.ndim and counts.shape != shape:
            raise InvalidArgumentError(
                f"expected pseudo-counts of shape {shape} for {variable.name}, got {counts.shape}",
                counts,
            )
        return np.array(np.broadcast_to(counts, shape))


def checked_counts(prior: Prior, variable: Variable, parents: tuple[Variable, ...]) -> Floats:
    """Return the pseudo-counts of a table, checked.

    Raises
    ------
    InvalidArgumentError
        If the prior returns anything but finite numbers of at least 0 in the table's shape.
    """
    counts = np.asarray(prior.pseudo_counts(variable, parents), dtype=np.float64)
    shape = tuple(v.n_states for v in (variable, *parents))
    if counts.shape != shape or not np.all(np.isfinite(counts) & (counts >= 0)):
        raise InvalidArgumentError(
            f"the prior must return finite pseudo-counts of at least 0 in the shape {shape} for"
            f" {variable.name}, got an array of shape {counts.shape}",
            counts,
        )
    return counts


PRIORS: Mapping[str, Registered[Prior]] = MappingProxyType(
    {
        "none": Registered("no pseudo-counts: maximum likelihood", lambda: NO_PRIOR),
        "laplace": Registered("pseudo-counts of 1, or of N", Laplace, NUMBER, Laplace),
        "bdeu": Registered("an equivalent sample of 10 cases, or of N", BDeu, NUMBER, BDeu),
    }
)
"""The priors by the names of the command line."""


def faults_of_arguments(
    network: Network, prior: Prior, fixed: Sequence[str], tied: Sequence[Sequence[str]]
) -> list[str]:
    """Return the faults of a prior, and of fixed and tied variables, for a network."""
    known = {cpd.variable.name: cpd for cpd in network.cpds}
    names = [*fixed, *(name for group in tied for name in group)]
    counts: dict[str, Any] = {}
    while isinstance(prior, Dirichlet):
        counts = {**prior.counts, **counts}
        prior = prior.other
    problems = [
        str(UnknownNameError("variable", name, known))
        for name in dict.fromkeys([*names, *counts])
        if name not in known
    ]
    if problems:
        return problems
    problems += [
        f"expected {name} in one place of fixed and tied, got it twice"
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    for group in tied:
        problems += _faults_of_group([known[name] for name in group])
    return problems + _faults_of_counts(known, counts, fixed, tied)


def _faults_of_group(group: Sequence[CPD]) -> list[str]:
    names = ", ".join(one_line(cpd.variable.name) for cpd in group)
    problems = []
    if len(group) < 2:
        problems.append(f"expected at least two variables with a tied table, got {names or 'none'}")
    problems += [
        f"only tables can be tied, and {cpd.variable.name} is not given by a table"
        for cpd in group
        if not isinstance(cpd, TabularCPD)
    ]
    shapes = {tuple(v.n_states for v in cpd.scope) for cpd in group}
    if len(shapes) > 1:
        problems.append(
            f"expected tied tables of one shape for {names}, got"
            f" {' and '.join(map(str, sorted(shapes)))}"
        )
        return problems
    for cpd in group[1:]:
        problems += _differences(group[0], cpd)
    return problems


def _differences(first: CPD, second: CPD) -> list[str]:
    """Return how the axes of two tables of one shape differ."""
    names = [[one_line(v.name) for v in cpd.parents] for cpd in (first, second)]
    if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):
        return [
            "tied tables are shared position by position, and the parents of"
            f" {first.variable.name} are {', '.join(names[0])}, those of {second.variable.name} are"
            f" {', '.join(names[1])}; give them in the same order"
        ]
    return [
        f"tied tables are shared position by position, and the states of {one.name} (in the table"
        f" of {first.variable.name}) are {shown(one.states)}, those of {other.name} (in the table"
        f" of {second.variable.name}) are {shown(other.states)}; give them the same states in the"
        " same order"
        for one, other in zip(first.scope, second.scope, strict=True)
        if one.states != other.states
    ]


def _faults_of_counts(
    known: Mapping[str, CPD],
    counts: Mapping[str, Any],
    fixed: Sequence[str],
    tied: Sequence[Sequence[str]],
) -> list[str]:
    """Return the faults of pseudo-counts that were given by the names of variables."""
    place = {name: number for number, name in enumerate(known)}
    leader = {name: min(group, key=place.__getitem__) for group in tied for name in group}
    problems = []
    for name, count in counts.items():
        cpd = known[name]
        if name in fixed or isinstance(cpd, FunctionalCPD):
            why = "its table is fixed" if name in fixed else "its function is not learned"
            problems.append(f"pseudo-counts of {name} are not used, as {why}; leave them out")
        elif leader.get(name, name) != name:
            problems.append(
                f"pseudo-counts of {name} are not used, as its table is tied to that of"
                f" {leader[name]}; give those of {leader[name]} instead"
            )
        elif not isinstance(cpd, TabularCPD) and count.ndim:
            problems.append(
                f"expected one number as the pseudo-counts of {name}, a noisy node with several"
                f" tables, got an array of shape {count.shape}"
            )
    return problems
