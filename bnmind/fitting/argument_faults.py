"""The faults of the arguments of learning: fixed and tied variables, and the counts of a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bnmind._messages import one_line, shown
from bnmind.errors import UnknownNameError
from bnmind.fitting.priors import Dirichlet, Prior
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD

__all__ = ["faults_of_arguments"]


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
