"""Gradients for learning: the derivatives of the log-likelihood of cases by all entries.

The derivative by a positive entry is its expected count divided by the entry (J. Binder, D. Koller,
S. Russell and K. Kanazawa, "Adaptive probabilistic networks with hidden variables", Machine
Learning 29, 1997). All cases pass through one tree. If some entry is zero, each distinct case has a
backward pass of its own, which divides nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._messages import each_of
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.cases.tables import distinct_rows, frame_of, read_table
from bnmind.junction.derivatives.compile import compile_derivatives
from bnmind.junction.derivatives.gradient import Gradient
from bnmind.junction.inference.evidence import real_numbers
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.propagation import Propagation
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD

__all__ = ["log_likelihood_gradient"]


@checked
def log_likelihood_gradient(
    network: Network,
    cases: Any,
    *,
    weights: ArrayLike | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Gradient:
    """Return the log-likelihood of cases and its derivatives by all entries of the tables.

    Parameters
    ----------
    network
        The network.
    cases
        A `pandas.DataFrame` with a row for each case, as for `bnmind.junction.predict`.
    weights
        The weight of each case; 1 by default.
    limits
        The limits of the computation.

    Returns
    -------
    Gradient
        Its value is Σ ln P(case). Functional distributions have no derivatives, nor have noisy ones
        if all entries of the tables are positive; name their `to_tabular` for these.

    Raises
    ------
    ImpossibleEvidenceError
        If a case has probability zero. The error names the first one.
    TableError
        If a cell holds no state of its variable, or no column matches a variable.
    InvalidArgumentError
        If the weights are not a number of at least 0 for each case.
    TooLargeError
        If the computation would exceed its limits.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> gradient = log_likelihood_gradient(network, {"rain": ["no", "no", "yes"]})
    >>> gradient["rain"].round(3).tolist()  # the counts 2 and 1 divided by .8 and .2
    [2.5, 5.0]
    """
    table = read_table(network.variables, frame_of(cases))
    n = len(table)
    given = np.ones(n) if weights is None else real_numbers(weights, "the weights")
    if given.shape != (n,) or not np.all((given >= 0) & np.isfinite(given)):
        raise InvalidArgumentError(
            f"expected a finite weight of at least 0 for {each_of(n, 'case')}", weights
        )
    states = table.states(slice(None)).T
    sizes = [v.n_states + 1 for v in network.variables]
    columns = (
        (column.astype(np.int64) + 1, size) for column, size in zip(states.T, sizes, strict=True)
    )
    distinct = distinct_rows(columns, n)
    counts: Floats = np.bincount(
        distinct.kind, weights=given, minlength=len(distinct.first)
    ).astype(np.float64)
    rows = states[distinct.first]
    index = [str(table.frame.index[i]) for i in distinct.first]
    if all(np.all(cpd.values > 0) for cpd in network.cpds if isinstance(cpd, TabularCPD)):
        return _from_counts(network, rows, counts, index, limits)
    return _from_passes(network, rows, counts, index, limits)


def _impossible(network: Network, row: Any, label: str) -> ImpossibleEvidenceError:
    return ImpossibleEvidenceError(
        f"the case in row {label} has probability zero, so that its logarithm has no derivative",
        _findings(network, row),
    )


def _findings(network: Network, row: Any) -> dict[str, str]:
    """Return the findings of a row of state positions."""
    return {
        v.name: v.states[state]
        for v, state in zip(network.variables, row.tolist(), strict=True)
        if state >= 0
    }


def _from_counts(
    network: Network, rows: Any, counts: Floats, index: list[str], limits: Limits
) -> Gradient:
    """Return the gradient as expected counts divided by entries."""
    sums, logs = Propagation.of(network, limits=limits).family_sums(rows, counts)
    if len(wrong := np.flatnonzero(np.isneginf(logs) & (counts > 0))):
        first = int(wrong[0])
        raise _impossible(network, rows[first], index[first])
    partials = [
        expected / cpd.values if isinstance(cpd, TabularCPD) and expected is not None else None
        for cpd, expected in zip(network.cpds, sums, strict=True)
    ]
    value = float(counts @ np.where(counts > 0, logs, 0.0))
    return Gradient(model=network, value=value, log_evidence=value, partials=tuple(partials))


def _from_passes(
    network: Network, rows: Any, counts: Floats, index: list[str], limits: Limits
) -> Gradient:
    """Return the gradient as the sum of those of all distinct cases."""
    always = [bool(np.all(rows[:, i] >= 0)) for i in range(rows.shape[1])]
    some = [bool(np.any(rows[:, i] >= 0)) for i in range(rows.shape[1])]
    hard = [v.name for v, one in zip(network.variables, always, strict=True) if one]
    soft = [
        v.name
        for v, one, other in zip(network.variables, always, some, strict=True)
        if other and not one
    ]
    plan = compile_derivatives(network, evidence=hard, soft=soft, limits=limits)
    value = 0.0
    partials: list[Floats | None] = [None] * len(network.cpds)
    for row, weight, label in zip(rows, counts.tolist(), index, strict=True):
        if not weight:
            continue
        try:
            gradient = plan.log_evidence(_findings(network, row))
        except ImpossibleEvidenceError:
            raise _impossible(network, row, label) from None
        value += weight * gradient.value
        for i, one in enumerate(gradient.partials):
            if one is not None:
                before = partials[i]
                partials[i] = weight * one if before is None else before + weight * one
    return Gradient(model=network, value=value, log_evidence=value, partials=tuple(partials))
