r"""A posterior as a function of one or two entries of the tables of a network, its parameters.

P(x, e) is linear in a parameter t whose row covaries, so that its values at t = 0 and t = 1
determine it. Nothing is subtracted: a probability that is zero stays exactly zero, and tiny ones
keep their digits.

If an entry is t and the other entries of its row change in proportion, P(x, e) and P(e) are linear
in t, so that the posterior is a quotient of two linear functions:

.. math:: P(x|e)(t) = \frac{a_x t + b_x}{c t + d}, \qquad c = \sum_x a_x, \quad d = \sum_x b_x

It is constant or strictly monotone. With two entries of different rows, both are bilinear.

Properties of a posterior that a parameter may change without breaking are inequalities that are
linear in the numerators P(x, e), which are linear in the parameter. Each inequality therefore holds
on one interval around the parameter's value, and their intersection is exact. The distance to its
ends is the admissible deviation.

References
----------
K. B. Laskey, IEEE Trans. SMC 25, 1995; E. Castillo, J. M. Gutiérrez and A. S. Hadi, IEEE Trans. SMC
27, 1997; V. M. H. Coupé and L. C. van der Gaag, "Properties of sensitivity analysis of Bayesian
belief networks", Annals of Mathematics and Artificial Intelligence 36, 2002; L. C. van der
Gaag and S. Renooij, "Analysing sensitivity data from probabilistic networks", UAI 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import numpy as np
from annotated_types import Ge

from bnmind._arguments import checked
from bnmind._values import Finite, NonNegative, Probability, Sealed, Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.engine import Engine
from bnmind.junction.gradient import without_each
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.views.draw import new_figure, plain, polish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Parameter(Value):
    """An entry P(variable = state | given) of a table of a network.

    Parameters
    ----------
    variable, state
        The child of the table, and one of its states.
    given
        A state of each parent.

    Examples
    --------
    >>> print(Parameter("wet", "yes", {"rain": "no"}))
    wet=yes | rain=no
    """

    variable: str
    state: Any
    given: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        behind = ", ".join(f"{name}={state}" for name, state in self.given.items())
        return f"{self.variable}={self.state}" + (f" | {behind}" if behind else "")

    def place(self, network: Network) -> tuple[int, ...]:
        """Return the position of the entry in the table of its variable.

        Parameters
        ----------
        network
            The network that has the parameter.

        Raises
        ------
        UnknownNameError
            If the network has no such variable, or a variable no such state.
        InvalidArgumentError
            If the variable has no table, or ``given`` does not name its parents.
        """
        cpd = table_of(network, self.variable)
        parents = [v.name for v in cpd.parents]
        if set(self.given) != set(parents):
            needed = ", ".join(parents) or "none"
            raise InvalidArgumentError(
                f"expected a state of each parent of {self.variable} (parents: {needed}), got"
                f" {dict(self.given)!r}",
                self.given,
            )
        return (
            cpd.variable.index(self.state),
            *[v.index(self.given[v.name]) for v in cpd.parents],
        )

    @checked
    def changed(self, network: Network, value: Probability) -> Network:
        """Return the network with another number for the entry; its row covaries in proportion.

        Parameters
        ----------
        network
            The network.
        value
            The new probability, from 0 to 1.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If the network has no such parameter, or the value is no probability.
        """
        place = self.place(network)
        entries = table_of(network, self.variable).values
        return with_tables(network, {self.variable: moved(entries, {place: value})})

    @classmethod
    def at(cls, cpd: TabularCPD, place: tuple[int, ...]) -> Parameter:
        """Return the parameter at a position of a table.

        Parameters
        ----------
        cpd
            The distribution with the table.
        place
            The position of the state of the child, then of each parent, from 0.
        """
        return cls(
            cpd.variable.name,
            cpd.variable.states[place[0]],
            {v.name: v.states[i] for v, i in zip(cpd.parents, place[1:], strict=True)},
        )


def table_of(network: Network, name: str) -> TabularCPD:
    """Return the table of a variable.

    Raises
    ------
    UnknownNameError
        If the network has no such variable.
    InvalidArgumentError
        If its distribution is a function or noisy.
    """
    cpd = network.cpd(name)
    if not isinstance(cpd, TabularCPD):
        raise InvalidArgumentError(
            f"{name} has no table whose entries may change: it is a {type(cpd).__name__};"
            " replace it by its to_tabular() to vary entries of its table",
            name,
        )
    return cpd


def moved(entries: Floats, numbers: Mapping[tuple[int, ...], float]) -> Floats:
    """Return a table with other numbers at some places.

    The other entries of their rows are scaled in proportion. If these are all zero, they share
    equally. A single state keeps its probability one.
    """
    table: Any = entries.copy()
    for at in {place[1:] for place in numbers} if len(entries) > 1 else ():
        fixed = {place[0]: number for place, number in numbers.items() if place[1:] == at}
        rest = [i for i in range(len(entries)) if i not in fixed]
        others = table[(rest, *at)]
        total = float(others.sum())
        shares = others / total if total > 0 else 1 / len(rest)
        table[(rest, *at)] = shares * (1.0 - sum(fixed.values()))
        table[([*fixed], *at)] = [*fixed.values()]
    found: Floats = table
    return found


def with_tables(network: Network, tables: Mapping[str, Floats]) -> Network:
    """Return the network with other entries in the tables of some variables."""
    return Network(
        tuple(
            TabularCPD(cpd.variable, cpd.parents, tables[cpd.variable.name])
            if cpd.variable.name in tables
            else cpd
            for cpd in network.cpds
        )
    )


@checked
def cd_distance(before: Probability, after: Probability) -> float:
    """Return the distance of Chan and Darwiche between a network and one with a changed entry.

    It is the logarithm of the factor by which the odds of the entry change. No query's odds change
    by a larger factor (H. Chan and A. Darwiche, "A distance measure for bounding probabilistic
    belief change", Int. J. Approx. Reasoning 38, 2005). The other entries of the row change in
    proportion.

    Parameters
    ----------
    before
        The probability of the entry before, from 0 to 1.
    after
        The probability after the change, from 0 to 1.

    Raises
    ------
    InvalidArgumentError
        If a number is no probability.

    Examples
    --------
    >>> round(cd_distance(0.2, 0.5), 3), cd_distance(0.2, 0.2), cd_distance(0.2, 1)
    (1.386, 0.0, inf)
    """
    return float(distances(np.array(before), np.array(after)))


def distances(before: Floats, after: Floats) -> Floats:
    """Return `cd_distance` for arrays of entries."""
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.log(after) - np.log1p(-after) - np.log(before) + np.log1p(-before)
    found: Floats = np.where(before == after, 0.0, np.abs(changes))
    return found


_TIE = 1e-12
"""Probabilities that differ by less than this are equal, up to rounding."""


def ends_of(entries: Floats, partials: Floats) -> tuple[Floats, Floats]:
    """Return P(x, e) for each entry of a table at 0 and at 1, and the slopes in between.

    Parameters
    ----------
    entries
        ``(states, …)`` the conditional probabilities.
    partials
        ``(targets, states, …)`` the partial derivatives of each P(x, e).

    Returns
    -------
    ends, slopes
        ``(2, targets, states, …)`` and ``(targets, states, …)``.
    """
    n_targets, n_states = len(partials), len(entries)
    weighted = entries * partials
    rows = weighted.sum(axis=1).reshape(n_targets, -1)
    rest = without_each(rows.T).T.reshape(n_targets, 1, *entries.shape[1:])
    if n_states == 1:
        return np.stack([rest + weighted] * 2), np.zeros(partials.shape)
    others = without_each(entries)
    shares, equal = (
        without_each(one.swapaxes(0, 1)).swapaxes(0, 1) for one in (weighted, partials)
    )
    left = np.divide(shares, others, out=equal / (n_states - 1), where=others > 0)
    return np.stack([rest + left, rest + partials]), partials - left


def between(ends: Floats, values: Floats, t: Floats, posterior: Floats) -> Floats:
    """Return multiples of P(x, e) for parameters that are t, ``(targets, …)``.

    Parameters
    ----------
    ends
        ``(2, targets, …)`` from `ends_of`.
    values, t
        ``(…)`` the parameters in the network, where the result is the posterior; and now.
    posterior
        ``(targets,)`` the posterior in the network.
    """
    here = posterior.reshape(-1, *(1,) * np.ndim(t))
    numerators: Floats = np.where(t == values, here, (1 - t) * ends[0] + t * ends[1])
    return numerators


def first_largest(numbers: Floats) -> int:
    """Return the position of the largest number; the first one of several, up to rounding."""
    return int(np.argmax(numbers >= np.max(numbers) - _TIE))


def log_joint(engine: Engine, target: Variable, findings: Mapping[str, Any]) -> Floats:
    """Return ln P(target, findings), ``(states,)``; -inf for impossible states.

    The target may have a likelihood. No state loses digits, however improbable it is.

    Raises
    ------
    ImpossibleEvidenceError
        If the findings are impossible. The error names those that contradict each other.
    """
    logs = [engine.log_probability({target.name: state}, findings) for state in target.states]
    return np.array(logs) + engine.posterior([()], findings).log_evidence


Spread = Callable[[Floats], tuple[Floats, Floats]]
"""A function from parameters to the least and the largest values that they may have."""


@dataclass(frozen=True)
class Relative(Value):
    """Parameters vary by a share of their value: 0.1 stands for ±10 %."""

    share: NonNegative = 0.1
    """The largest share, at least 0."""

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = np.clip(values * (1 - self.share), 0.0, 1.0)
        return low, np.clip(values * (1 + self.share), 0.0, 1.0)


@dataclass(frozen=True)
class Absolute(Value):
    """Parameters vary by a difference; 1 stands for all values from 0 to 1."""

    difference: NonNegative = 0.1
    """The largest difference, at least 0."""

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = np.clip(values - self.difference, 0.0, 1.0)
        return low, np.clip(values + self.difference, 0.0, 1.0)


@dataclass(frozen=True)
class Odds(Value):
    """The odds of parameters vary by a factor; 0 and 1 stay as they are."""

    factor: Annotated[float, Ge(1), Finite] = 2.0
    """The largest factor, at least 1."""

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = values / (values + self.factor * (1 - values))
        return low, self.factor * values / (self.factor * values + 1 - values)


_DASHES: Sequence[Any] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
"""The dashes of curves that are drawn together."""

_ROUNDING = 1e-12
"""Values this far outside of the range from 0 to 1 are inside of it, up to rounding."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SensitivityFunction(Sealed):
    """The posterior of a target as a function of one parameter."""

    parameter: Parameter
    """The parameter."""
    value: float
    """Its value in the network."""
    target: Variable
    """The target."""
    posterior: Floats
    """``(states,)`` the posterior in the network."""
    slopes: Floats
    """``(states,)`` the numbers a of P(state, evidence) = a t + b, divided by P(evidence)."""
    ends: Floats
    """``(2, states)`` P(state, evidence) at t = 0, the numbers b, and at t = 1, divided by
    P(evidence)."""

    @checked
    def __call__(self, t: Probability) -> Floats:
        """Return the posterior ``(states,)`` if the parameter is t.

        It is NaN if the evidence is impossible then.

        Raises
        ------
        InvalidArgumentError
            If t is not a probability.
        """
        return quotients(self._numerators(t))

    @checked
    def derivative(self, t: Probability | None = None) -> Floats:
        """Return the derivatives of the posterior ``(states,)`` at t, by default at its value.

        They are NaN if the evidence is impossible then.

        Parameters
        ----------
        t
            The value of the parameter, from 0 to 1; its present one if None.

        Raises
        ------
        InvalidArgumentError
            If t is not a probability.
        """
        numerators = self._numerators(self.value if t is None else t)
        total = numerators.sum()
        if total <= 0:
            return np.full(len(numerators), np.nan)
        zero, one = self.ends
        slope: Floats = (one / total) * (zero.sum() / total) - (zero / total) * (one.sum() / total)
        return slope

    def _numerators(self, t: float) -> Floats:
        """Return P(state, evidence) if the parameter is t, divided by P(evidence)."""
        return between(self.ends, np.array(self.value), np.array(t), self.posterior)

    @checked
    def value_for(self, state: Any, probability: Probability) -> float | None:
        """Return the value of the parameter that gives a state this posterior probability.

        The result is None if no value from 0 to 1 does, or if every value does.

        Parameters
        ----------
        state
            A state of the target.
        probability
            The posterior probability that is wanted.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If the target has no such state, or the second argument is not a probability.
        """
        place = self.target.index(state)
        totals = self.ends.sum(axis=1)
        low, high = self.ends[:, place] - probability * totals
        slope = high - low
        if abs(slope) <= _ROUNDING * float(self.ends[:, place].sum() + probability * totals.sum()):
            return None
        t = float(-low / slope)
        if not -_ROUNDING <= t <= 1 + _ROUNDING:
            return None
        t = min(max(t, 0.0), 1.0)
        return t if (1 - t) * totals[0] + t * totals[1] > 0 else None

    @checked
    def plot(self, *, title: str = "") -> Figure:
        """Plot the posterior of every state.

        Parameters
        ----------
        title
            A title above the picture; none if empty.
        """
        figure = new_figure(6.4, 4.2)
        axes = figure.add_subplot()
        x = np.linspace(0.0, 1.0, 201)
        labels = [plain(f"{self.target.name}={state}") for state in self.target.states]
        curves = axes.plot(x, [self(t) for t in x], label=labels, linewidth=1.8)
        for curve, dashes in zip(curves, cycle(_DASHES), strict=False):
            curve.set_linestyle(dashes)
        axes.axvline(self.value, color="#333333", linewidth=1)
        axes.set_xlabel(short_label(str(self.parameter)))
        axes.set_ylabel("posterior probability")
        polish(axes, grid="both")
        axes.set_title(plain(title), loc="left")
        axes.legend(loc="best", framealpha=0.9, edgecolor="none")
        return figure


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoWayFunction(Sealed):
    """The posterior of a target as a function of two parameters s and t, bilinear over bilinear."""

    parameters: tuple[Parameter, Parameter]
    """The parameters s and t."""
    values: tuple[float, float]
    """Their values in the network."""
    target: Variable
    """The target."""
    posterior: Floats
    """``(states,)`` the posterior in the network."""
    corners: Floats
    """P(state, evidence) for extreme s and t, divided by P(evidence) in the network.

    The shape is ``(states, 4)``, at (0, 0), (0, 1), (1, 0) and (1, 1). For two entries of one row
    it is ``(states, 3)``, at (0, 0), (1, 0) and (0, 1)."""

    @property
    def _in_one_row(self) -> bool:
        return int(self.corners.shape[1]) == 3

    @checked
    def __call__(self, s: Probability, t: Probability) -> Floats:
        """Return the posterior ``(states,)`` if the parameters are s and t.

        It is NaN if the evidence is impossible then.

        Raises
        ------
        InvalidArgumentError
            If s or t is not a probability, or both are of one row and their sum exceeds one.
        """
        left = 1 - s - t
        if self._in_one_row and left < -_ROUNDING:
            first, second = self.parameters
            raise InvalidArgumentError(
                f"{first} and {second} are in one row, so that their sum is at most 1, got {s + t}"
            )
        if (s, t) == self.values:
            return quotients(self.posterior)
        if self._in_one_row:
            weights = [left if left > _ROUNDING else 0.0, s, t]
        else:
            weights = [(1 - s) * (1 - t), (1 - s) * t, s * (1 - t), s * t]
        return quotients(self.corners @ np.array(weights))


def quotients(numerators: Floats) -> Floats:
    """Return numbers of at least 0, ``(states, …)``, divided by their sum; NaN where it is zero."""
    total = numerators.sum(axis=0)
    shares: Floats = np.divide(
        numerators, total, out=np.full(numerators.shape, np.nan), where=total > 0
    )
    return shares


_SLACK = 1e-12
"""An inequality that misses by this is one that holds, up to rounding."""


class Property(Protocol):
    """A property of a posterior: inequalities that are linear in the P(x, e)."""

    def inequalities(self, target: Variable, posterior: Floats) -> Sequence[Floats]:
        """Return vectors w, one for each inequality Σ w(x) P(x, e) ≥ 0.

        Parameters
        ----------
        target
            The variable of the posterior.
        posterior
            ``(states,)`` the posterior in the network.
        """


@dataclass(frozen=True)
class MostProbable(Value):
    """The most probable state stays the most probable one; the first one if several are."""

    def inequalities(self, target: Variable, posterior: Floats) -> Sequence[Floats]:
        """Return the inequalities; see `Property`."""
        best = first_largest(posterior)
        unit = np.eye(target.n_states)
        return [unit[best] - unit[i] for i in range(target.n_states) if i != best]


@dataclass(frozen=True)
class AtLeast(Value):
    """The posterior probability of a state is at least a number."""

    state: Any
    """The state of the target."""
    probability: Probability
    """The least probability, 0 to 1."""

    def inequalities(self, target: Variable, posterior: Floats) -> Sequence[Floats]:
        """Return the inequalities; see `Property`."""
        return [np.eye(target.n_states)[target.index(self.state)] - self.probability]


@dataclass(frozen=True)
class AtMost(Value):
    """The posterior probability of a state is at most a number."""

    state: Any
    """The state of the target."""
    probability: Probability
    """The largest probability, 0 to 1."""

    def inequalities(self, target: Variable, posterior: Floats) -> Sequence[Floats]:
        """Return the inequalities; see `Property`."""
        return [self.probability - np.eye(target.n_states)[target.index(self.state)]]


@dataclass(frozen=True)
class Interval(Value):
    """The values of a parameter that keep a property; empty if the network itself breaks it."""

    low: float
    """The smallest value, 0 to 1."""
    high: float
    """The largest value, 0 to 1."""
    value: float
    """The value of the parameter in the network."""

    @property
    def is_empty(self) -> bool:
        """Whether the network itself does not have the property."""
        return not self.low <= self.high

    def __str__(self) -> str:
        return "empty" if self.is_empty else f"{self.low:.4g} to {self.high:.4g}"


def intervals(
    effects: Floats, posterior: Floats, values: Floats, inequalities: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return the least and largest values of many parameters that keep some inequalities.

    Parameters
    ----------
    effects
        ``(states, …)`` the slopes of P(state, evidence) / P(evidence) by each parameter.
    posterior
        ``(states,)`` the posterior in the network.
    values
        ``(…)`` the values of the parameters.
    inequalities
        Vectors w, one for each inequality Σ w(x) P(x, e) ≥ 0.

    Returns
    -------
    low, high
        ``(…)`` each; 1 and 0 if the network itself breaks an inequality.
    """
    low, high = np.zeros(values.shape), np.ones(values.shape)
    for weights in inequalities:
        now = float(weights @ posterior)
        if now < -_SLACK:
            return np.ones(values.shape), np.zeros(values.shape)
        slope = np.tensordot(weights, effects, axes=1)
        terms = np.tensordot(np.abs(weights), np.abs(effects), axes=1)
        matters = np.abs(slope) > _SLACK * np.maximum(abs(now) + _SLACK, terms)
        step = np.divide(-max(now, 0.0), slope, out=np.zeros(values.shape), where=matters)
        low = np.where(matters & (slope > 0), np.maximum(low, values + step), low)
        high = np.where(matters & (slope < 0), np.minimum(high, values + step), high)
    return low, high


# --- The picture of an explanation: weights of findings, and a tornado of parameters --------------

_UP, _DOWN = "#0072B2", "#E69F00"
"""Colors for color-blind readers (Okabe and Ito)."""

_LONGEST = 48
"""The most characters of a label."""


def draw_explanation(
    findings: Sequence[Any], rows: Sequence[Any], posterior: float, title: str
) -> Figure:
    """Return a picture of the weights of findings above a tornado; one of them may be missing.

    Parameters
    ----------
    findings
        The findings of the upper part; see `FindingWeight`.
    rows
        The rows of a tornado; see `SensitivityAnalysis.tornado`.
    posterior
        The posterior probability in the network, where the bars of the tornado start.
    title
        A title above the picture; none if empty.

    Raises
    ------
    InvalidArgumentError
        If there is neither a finding nor a row.
    """
    shown = [part for part in (findings, rows) if part]
    if not shown:
        raise InvalidArgumentError("no finding and no parameter matters, so nothing to plot")
    heights = [0.3 * len(part) + 0.9 for part in shown]
    figure = new_figure(8.0, sum(heights) + (0.9 if rows else 0.6))
    axes = figure.subplots(len(shown), squeeze=False, height_ratios=heights)[:, 0]
    if findings:
        _draw_weights(axes[0], findings)
    if rows:
        _draw_tornado(axes[-1], rows, posterior)
    for one in axes:
        polish(one, grid="x")
    axes[0].set_title(plain(title), loc="left")
    return figure


def _draw_tornado(axes: Axes, rows: Sequence[Any], posterior: float) -> None:
    places = np.arange(len(rows))[::-1]
    bars: Any = {"left": posterior, "edgecolor": "white", "linewidth": 0, "zorder": 2}
    ends = (("at_low", _DOWN, "", "low"), ("at_high", _UP, "///", "high"))
    for column, color, hatch, name in ends:
        lengths = np.array([getattr(row, column) for row in rows]) - posterior
        shown, label = np.nan_to_num(lengths), f"parameter {name}"
        axes.barh(places, shown, 0.72, color=color, hatch=hatch, label=label, **bars)
        impossible = places[np.isnan(lengths)]
        if len(impossible):
            marks = np.full(len(impossible), posterior)
            axes.scatter(
                marks, impossible, marker="x", color=color, zorder=4, label=f"{name}: impossible"
            )
    labels = [f"{short_label(row.parameter)}  ({row.low:.3g} to {row.high:.3g})" for row in rows]
    axes.set_yticks(places, labels)
    axes.axvline(posterior, color="#333333", linewidth=1, zorder=3)
    axes.set_xlabel("posterior probability")
    # Within the axes, it would cover bars.
    handles, names = axes.get_legend_handles_labels()
    axes.figure.legend(handles, names, loc="outside lower right", ncols=2, frameon=False)


def _draw_weights(axes: Axes, findings: Sequence[Any]) -> None:
    given = np.array([one.given_others for one in findings])
    finite = np.abs(given[np.isfinite(given)]).max(initial=0.0)
    lengths = np.clip(given, -1.25 * finite - 1, 1.25 * finite + 1)
    places = np.arange(len(given))[::-1]
    colors = [_UP if one > 0 else _DOWN for one in lengths]
    bars = axes.barh(places, lengths, 0.72, color=colors, zorder=2)
    axes.bar_label(bars, [f"{number:+.2f}" for number in given], padding=4, fontsize="small")
    axes.set_yticks(places, [short_label(one.finding) for one in findings])
    axes.axvline(0.0, color="#333333", linewidth=1, zorder=3)
    axes.margins(x=0.15)
    # Long names of findings leave narrow axes, whose middle has no room for it.
    axes.set_xlabel("weight of evidence given the other findings, bits", loc="right")


def short_label(text: str) -> str:
    """Return a text as a label: not too long, and not a formula."""
    return plain(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
