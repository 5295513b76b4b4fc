"""The derivatives of a probability by the numbers of a model's tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Sealed, sealed
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats
from bnmind.junction.inference.limits import Limits
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.tabular import TabularCPD

if TYPE_CHECKING:
    import pandas

# --- The tables of a model as inputs of a program, and their derivatives as tables of the model ---


@dataclass(frozen=True, eq=False, kw_only=True)
class InputTable(Sealed):
    """A table of a model, with the axes of evidence variables first."""

    observed: tuple[str, ...]
    """The evidence variables among its variables."""
    hidden: tuple[str, ...]
    """The other variables, in the order in which the program takes them."""
    values: Floats
    """The entries, over ``observed`` and then ``hidden``."""
    axes: tuple[int, ...]
    """The axes of the original table over ``observed`` and then ``hidden``."""
    shape: tuple[int, ...]
    """The shape of the original table."""
    potential: int | None
    """The position of the potential of the model whose parameters these are; None if they are
    part of another form of a potential, or a function."""

    def reduced(self, at: Mapping[str, int]) -> Floats:
        """Return the entries that agree with the evidence, over ``hidden``."""
        entries: Floats = self.values[tuple([at[name] for name in self.observed])]
        return entries

    def lifted(self, derivatives: Floats | None, at: Mapping[str, int]) -> Floats:
        """Return read-only derivatives over ``hidden`` as an array over the original table.

        Those given must be read-only; None stands for zero everywhere. Entries that contradict the
        evidence have the derivative zero.
        """
        if derivatives is not None and not self.observed:
            return derivatives if self._back is None else derivatives.transpose(self._back)
        whole = np.zeros(self.shape)
        if derivatives is not None:
            view = whole.transpose(self.axes)
            view[tuple([at[name] for name in self.observed])] = derivatives
        return sealed(whole)

    @cached_property
    def _back(self) -> tuple[int, ...] | None:
        """The order of the axes that undoes ``axes``; None if they are in order."""
        back = tuple(sorted(range(len(self.axes)), key=self.axes.__getitem__))
        return None if back == self.axes == tuple(range(len(back))) else back


def input_tables(
    formed: Sequence[Potential],
    places: Sequence[int | None],
    orders: Sequence[Sequence[str]],
    limits: Limits,
) -> tuple[InputTable, ...]:
    """Return the tables of a model.

    Parameters
    ----------
    formed
        The potentials of the model, some in other forms.
    places
        For each of them, the position of the potential of the model whose parameters it has, or
        None.
    orders
        For each of them, the variables without evidence, in the order of the inputs.
    limits
        The limits of the size of a table.

    Raises
    ------
    InvalidModelError
        If an entry is negative or complex.
    """
    tables = []
    for potential, place, hidden in zip(formed, places, orders, strict=True):
        names = [v.name for v in potential.scope]
        observed = [name for name in names if name not in hidden]
        axes = tuple([names.index(name) for name in (*observed, *hidden)])
        values = _entries(potential, limits)
        tables.append(
            InputTable(
                observed=tuple(observed),
                hidden=tuple(hidden),
                values=np.ascontiguousarray(values.transpose(axes)) if axes else values,
                axes=axes,
                shape=values.shape,
                potential=place,
            )
        )
    return tuple(tables)


def _entries(potential: Potential, limits: Limits) -> Floats:
    """Return the entries of a potential."""
    if isinstance(potential, TabularCPD):
        return potential.values
    values = (
        potential.values
        if isinstance(potential, Factor)
        else potential.to_factor(max_cells=limits.table_cells).values
    )
    if np.iscomplexobj(values) or np.any(values < 0):
        over = ", ".join(v.name for v in potential.scope) or "no variable"
        raise InvalidModelError(
            [f"the factors must not be negative or complex, but the one over {over} is"]
        )
    return np.real(values)


def are_finite(arrays: Iterable[Floats]) -> bool:
    """Return whether all numbers of some arrays are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        for values in arrays:
            # A sum may be too large where all its terms are finite.
            total = np.add.reduce(values, axis=None)
            if not math.isfinite(total) and not np.isfinite(values).all():
                return False
    return True


# --- Gradients: a number and its derivatives by the entries of a model's tables -------------------
#
# In a network, an entry cannot change alone, because its row must sum to one. Two derivatives are
# useful. The *partial* derivative g changes one entry and nothing else, as if the table were any
# factor. The *effect* changes an entry θ_i of a row and scales the others in proportion
# (proportional covariation), so that the row still sums to one:
#
# .. math:: \mathrm{effect}_i = g_i - \sum_{j \ne i} \frac{θ_j}{1 - θ_i} g_j
#
# If θ_i is one, the others are zero and have no proportions; they then share equally.
#
# References
# ----------
# K. B. Laskey, "Sensitivity analysis for probability assessments in Bayesian networks", IEEE Trans.
# SMC 25, 1995; H. Chan and A. Darwiche, "When do numbers really matter?", JAIR 17, 2002
# (proportional covariation); A. Darwiche, J. ACM 50, 2003 (partial derivatives).

# --- Derivatives by the parameters of noisy maxima and minima, from those by their tables ---------
#
# With C_j(y, x_j) = P(Z_j ≤ y | x_j), the table of a maximum is
#
# .. math:: P(y|x) = F(y, x) - F(y - 1, x), \qquad F(y, x) = \prod_j C_j(y, x_j)
#
# F is linear in each distribution of a contribution, and the derivative of F(y, x) by
# P(Z_i = z | x_i) is the product of the other C_j for y ≥ z, and zero below. A minimum is a maximum
# of the states in reverse order.


def noisy_partials(cpd: NoisyMaximum | NoisyMinimum, partial: Floats) -> tuple[Floats, ...]:
    """Return the derivatives by the leak and the links of a noisy distribution.

    Parameters
    ----------
    cpd
        The distribution.
    partial
        The derivatives by the entries of its table, over ``cpd.scope``.

    Returns
    -------
    tuple
        An array ``(states of the child,)`` for the leak, then one for each link in its shape.
    """
    flip = isinstance(cpd, NoisyMinimum)
    n_axes = partial.ndim
    # The derivative by F(y): each F(y) is added to one entry and subtracted from the next.
    ordered = partial[::-1] if flip else partial
    by_sums = ordered - np.concatenate([ordered[1:], np.zeros((1, *ordered.shape[1:]))])
    spread = []
    for axis, sums in enumerate(cpd.cumulative()):
        values = sums[::-1] if flip else sums
        shape = [1] * n_axes
        shape[0] = len(values)
        if axis:
            shape[axis] = values.shape[1]
        spread.append(values.reshape(shape))
    found = []
    for axis, own in enumerate(spread):
        terms = by_sums
        for other in spread[:axis] + spread[axis + 1 :]:
            terms = terms * other
        gone = tuple(a for a in range(1, n_axes) if a != axis)
        by_cumulative = terms.sum(axis=gone)
        # P(Z ≤ y) contains P(Z = z) for z ≤ y.
        by_parameter = np.cumsum(by_cumulative[::-1], axis=0)[::-1]
        by_parameter = by_parameter[::-1] if flip else by_parameter
        assert len(by_parameter) == len(own)
        found.append(np.ascontiguousarray(by_parameter))
    return tuple(found)


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
        return noisy_partials(cpd, self[name])

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
    scope = potential.scope
    is_cpd = isinstance(potential, TabularCPD)
    heads: Sequence[str] = (
        [f"{scope[0].name}={state}" for state in scope[0].states] if scope else [""]
    )
    if len(scope) < 2:
        return list(heads)
    tails = [""]
    for i, v in enumerate(scope[1:]):
        sep = ", " if i else ""
        tails = [f"{tail}{sep}{v.name}={state}" for tail in tails for state in v.states]
    assert len(heads) * len(tails) == math.prod(v.n_states for v in scope)
    between = " | " if is_cpd else ", "
    return [f"{head}{between}{tail}" for head in heads for tail in tails]
