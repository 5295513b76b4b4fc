"""Learning the tables of a network from cases: counts if the cases are complete, EM otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import listed, shown
from bnmind._workers import results_of
from bnmind.errors import InvalidArgumentError
from bnmind.fitting.all_starts import AllStarts
from bnmind.fitting.cases import DistinctCases
from bnmind.fitting.em import EM, EMState, TablesAscent
from bnmind.fitting.expectation import Expectation
from bnmind.fitting.fitted import Fit, FitOptions
from bnmind.fitting.layout import Layout
from bnmind.fitting.priors import NoPrior, Prior
from bnmind.fitting.record import LearningRecord
from bnmind.fitting.squarem import Climb, climb
from bnmind.fitting.structure import network_of_structure, state_number
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Network
from bnmind.pgm.variable import state_text

__all__ = ["expectation_maximization", "fit"]

_NONE = 1e-9
"""Expected counts below this count as none."""

_FEW = 0.5
"""Expected counts below half a case hardly say anything about a distribution. Only EM has such
counts: those of complete cases are whole numbers."""


@checked
def fit(
    network: Any,
    cases: Any,
    *,
    prior: Prior | None = None,
    fixed: Iterable[str] = (),
    tied: Sequence[Sequence[str]] = (),
    hidden: Mapping[str, int | Sequence[Any]] | Iterable[str] = (),
    options: FitOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Learn the tables of a network from cases, which may have missing cells.

    Complete cases are counted. Missing cells are completed by EM, which is valid if the reason why
    a cell is missing does not depend on its value. Functional nodes keep their functions, and noisy
    nodes are learned as noisy nodes: their links and leaks, of which zeros stay zero.

    Parameters
    ----------
    network
        A `Network`; or its structure: pairs (parent, child), a `networkx.DiGraph`, or a pgmpy DAG
        or network. The states are then those of the cases, see `network_of_structure`. The first
        start begins near the tables of a network, see `EM.start`.
    cases
        A data frame with a row for each case, or a mapping from names to columns. Cells are states:
        text, numbers, truth values or categories. None and NaN are missing cells. Columns that are
        no variables are ignored, with a warning in the result.
    prior
        The pseudo-counts of the tables, such as ``BDeu(10)``; by default `NoPrior`, maximum
        likelihood.
    fixed
        Variables that keep their tables.
    tied
        Groups of variables that share one table, such as ``[("x2", "x3")]``. The tables are shared
        position by position: the variables, and their parents one by one, must have the same states
        in the same order. The pseudo-counts are those of the first variable in the network's order.
    hidden
        Variables without a column. For a structure, with the number of their states or the names:
        ``{"class": 2}``. For a network, the names suffice; states must be those of the network.
    options
        Starts, seed, the criterion of convergence, and workers.
    progress
        Called from time to time with the number of steps done and an estimate of the number of all
        steps. With several workers, called after each start.

    Returns
    -------
    Fit
        The new network, with the likelihood, the expected counts and a record of the iterations.

    Raises
    ------
    TableError
        If columns are missing or states unknown. The message names rows and columns.
    InvalidArgumentError
        If the fixed, tied or hidden variables, or the pseudo-counts given for variables, do not fit
        the network. The message lists all faults.
    InvalidModelError
        If the structure is invalid.
    ImpossibleEvidenceError
        If a case is impossible under fixed tables, functions, or the zeros of noisy nodes.
    TooLargeError
        If the tables, or the junction tree of cases with many missing cells, are too large.

    References
    ----------
    S. Lauritzen, "The EM algorithm for graphical association models with missing data", Comput.
    Stat. Data Anal. 1995.

    Examples
    --------
    >>> cases = {"rain": ["no", "no", "yes", "yes"], "wet": ["no", None, "yes", "yes"]}
    >>> fitted = fit([("rain", "wet")], cases)
    >>> fitted.network.cpd("wet").values.round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    asked = options or FitOptions()
    em, is_structure = _prepared(network, cases, prior, fixed=fixed, tied=tied, hidden=hidden)
    layout, expectation = em.layout, em.expectation
    counts = expectation.start_counts()
    ascent = TablesAscent(layout, expectation)
    told = AllStarts(progress, asked.starts)
    tasks = [
        partial(
            climb,
            ascent,
            layout.start(counts, _generator(asked.seed, number, draw=is_structure or number > 0)),
            # Complete cases need one step, whatever it gains.
            max_iterations=1 if em.is_exact else asked.max_iterations,
            tolerance=math.inf if em.is_exact else asked.tolerance,
            accelerate=asked.accelerate,
            progress=told.during_a_start if asked.workers == 1 else None,
        )
        for number in range(1 if em.is_exact else asked.starts)
    ]
    climbs: list[Climb[Floats]] = []
    for one in results_of(tasks, asked.workers):
        climbs.append(one)
        told.after_a_start(one.steps)
    return _fit(em, climbs, asked)


@checked
def expectation_maximization(
    network: Any,
    cases: Any,
    *,
    prior: Prior | None = None,
    fixed: Iterable[str] = (),
    tied: Sequence[Sequence[str]] = (),
    hidden: Mapping[str, int | Sequence[Any]] | Iterable[str] = (),
) -> EM:
    """Return EM for a network and some cases, to take steps one by one.

    The parameters and the errors are those of `fit`. The start of a structure, which has no tables,
    should be drawn: ``em.start(np.random.default_rng(1))``.
    """
    return _prepared(network, cases, prior, fixed=fixed, tied=tied, hidden=hidden)[0]


def _prepared(
    network: Any,
    cases: Any,
    prior: Prior | None,
    *,
    fixed: Iterable[str],
    tied: Sequence[Sequence[str]],
    hidden: Mapping[str, int | Sequence[Any]] | Iterable[str],
) -> tuple[EM, bool]:
    """Return EM, and whether the tables were made up, for a structure."""
    if not isinstance(hidden, Mapping):
        hidden = dict.fromkeys(hidden, ())
    is_structure = False
    if not isinstance(network, Network) and getattr(network, "cpds", None):
        network = Network.from_pgmpy(network)
    elif not isinstance(network, Network):
        network = network_of_structure(network, cases, hidden)
        is_structure = True
    if not is_structure:
        _check_hidden(network, hidden)
    layout = Layout.of(network, prior or NoPrior(), fixed=fixed, tied=tied)
    table = cases if isinstance(cases, DistinctCases) else DistinctCases.of(network, cases, hidden)
    return EM(layout, Expectation.of(layout, table)), is_structure


def _check_hidden(network: Network, hidden: Mapping[str, int | Sequence[Any]]) -> None:
    """Raise an error if a hidden variable is given with other states than those of the network."""
    problems = []
    known = {v.name: v.states for v in network.variables}
    for name, given in hidden.items():
        if name not in known:  # which the error about the cases says
            continue
        states = known[name]
        number = state_number(given)
        if number is None and isinstance(given, Sequence) and not isinstance(given, str):
            fits = not given or tuple(map(state_text, given)) == states
        else:
            fits = number == len(states)
        if not fits:
            problems.append(
                f"expected the hidden variable {name} with its {len(states)} states in the network,"
                f" {shown(states)}, got {shown(given)}; its name suffices"
            )
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))


def _generator(seed: int, number: int, *, draw: bool) -> np.random.Generator | None:
    # Each start has its own generator, so it does not depend on the number of starts.
    return np.random.default_rng([seed, number]) if draw else None


def _fit(em: EM, climbs: Sequence[Climb[Floats]], options: FitOptions) -> Fit:
    record = LearningRecord.of(climbs, options.seed)
    way = climbs[record.best_start]
    layout = em.layout
    counts = em.expectation.at(layout.cells(way.parameters)).counts
    return Fit(
        network=layout.network_of(way.parameters),
        counts={
            cpd.variable.name: Factor(cpd.scope, layout.table(counts, family))
            for family, cpd in enumerate(layout.network.cpds)
            if not layout.large[family]
        },
        warnings=tuple(_warnings(em, counts, record)),
        record=record,
        em=em,
        state=EMState(way.parameters),
    )


def _warnings(em: EM, counts: Floats, record: LearningRecord) -> list[str]:
    layout, cases = em.layout, em.expectation.cases
    found = []
    if cases.ignored:
        found.append(f"columns that are no variables were ignored: {', '.join(cases.ignored[:12])}")
    if not record.converged:
        steps = "1 step" if record.steps == 1 else f"{record.steps:,} steps"
        found.append(f"EM has not converged after {steps}")
    never = np.all(cases.states < 0, axis=0).tolist()
    for family, cpd in enumerate(layout.network.cpds):
        name = cpd.variable.name
        if never[family] and layout.free[family]:
            found.append(
                f"{name} is never observed: its states may be exchanged without a change of the"
                " likelihood, unless fixed tables tell them apart"
            )
        if layout.free[family] and all(block.family != family for block in layout.noisy):
            found += _warnings_of_table(layout, counts, family)
    return found


def _warnings_of_table(layout: Layout, counts: Floats, family: int) -> list[str]:
    """Return the warnings about configurations of the parents with no or hardly any cases."""
    cpd = layout.network.cpds[family]
    name, start = cpd.variable.name, int(layout.offsets[family])
    table = layout.table(counts, family).reshape(cpd.variable.n_states, -1)
    cases = table.sum(axis=0)
    pseudo = layout.pseudo_counts[start : start + table.size].reshape(table.shape).sum(axis=0)
    found = []
    unseen = cases < _NONE
    if unseen.any():
        uniform = (pseudo == 0)[unseen].any()
        found.append(
            f"{name}: {int(unseen.sum()):,} of {len(unseen):,} configurations of the parents"
            " have no cases; their distributions are"
            f" {'uniform' if uniform else 'those of the prior'}"
            if cpd.parents
            else f"{name} has no cases; its distribution is"
            f" {'uniform' if uniform else 'that of the prior'}"
        )
    few = int(((cases >= _NONE) & (cases < _FEW) & (pseudo == 0)).sum())
    if few:
        found.append(
            f"{name}: {few:,} of {len(cases):,} configurations of the parents"
            f" {'has' if few == 1 else 'have'} an expected count below {_FEW:g} of a case; their"
            " distributions may be 0 and 1 by chance; a prior such as BDeu(1) avoids this"
            if cpd.parents
            else f"{name} has an expected count below {_FEW:g} of a case; a prior such as BDeu(1)"
            " avoids a distribution of 0 and 1 by chance"
        )
    return found
