"""Views of networks and their beliefs: pictures for notebooks, and tables for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._messages import counted, listed
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats
from bnmind.junction.inference.evidence import (
    Evidence,
    Findings,
    by_name,
    is_missing,
    is_state,
    likelihood,
)
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.factor import Factor, Values, frozen_array, numbers_of
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable
from bnmind.views.drawing.cards import Card
from bnmind.views.drawing.svg import draw, draw_summary
from bnmind.views.drawing.svg_text import scaled
from bnmind.views.drawing.table import belief_table, network_table

__all__ = [
    "MOST_DRAWN",
    "BeliefView",
    "Marginals",
    "NetworkView",
    "SideBySide",
    "belief_view",
    "network_view",
    "notebook_svg",
    "side_by_side",
]

Marginals: TypeAlias = Posterior | Mapping[str, Factor | ArrayLike | Mapping[str, float]]
"""The posterior of a plan, or the distribution of each variable by name."""

MOST_DRAWN = 100
"""A notebook draws a `Network` up to this number of variables, and summarizes larger ones."""

STATES = 10
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class NetworkView(Value):
    """A view of the structure of a network: its variables, their states, and the arcs."""

    network: Network
    """The network."""

    @checked
    def svg(self, *, max_states: int = STATES, names: Iterable[str] | None = None) -> str:
        """Draw the network: a box with the states of each variable, and arcs to its children.

        Parameters
        ----------
        max_states
            The largest number of states to show for a variable, at least 2.
        names
            The variables to draw; by default all. A box says how many parents (↑) and children (↓)
            of its variable are left out.
        """
        cards = [Card(v) for v in self.network.variables]
        return _draw(self.network, cards, (), max_states, names)

    @checked
    def text(self, *, width: int = 80) -> str:
        """Return a table of `width` characters; a line has a variable, its states and parents."""
        rows = [
            (v.name, " ".join(v.states), " ".join(self.network.parents(v.name)))
            for v in self.network.variables
        ]
        return network_table(rows, width=width)

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str:
        return scaled(self.svg())


@dataclass(frozen=True, eq=False)
class BeliefView(Value):
    """A view of the distribution of each variable, given evidence; made by `belief_view`.

    Parameters
    ----------
    network
        The network to draw. Variables without a distribution have no bars. A product of factors
        has a table, but a picture only if the factors are the distributions of a network.
    marginals
        The distribution of each variable by name, ``(states,)``.
    evidence
        The state of each observed variable, or a likelihood of its states.

    Raises
    ------
    InvalidArgumentError
        If a distribution does not match its variable, does not sum to one within 1e-6, or
        contradicts the evidence. The error lists all faults.
    UnknownNameError
        If the network does not have a variable or a state.
    """

    network: Network | FactorModel
    marginals: Mapping[str, Floats]
    evidence: Findings

    def __post_init__(self) -> None:
        super().__post_init__()
        variables = {
            name: self.network.variable(name) for name in (*self.marginals, *self.evidence)
        }
        problems = list[str]()
        marginals: dict[str, Floats] = {}
        for name, distribution in self.marginals.items():
            wrong = _faults(variables[name], distribution)
            problems += wrong
            if not wrong:
                marginals[name] = frozen_array(np.clip(np.real(distribution), 0.0, 1.0)).real
        evidence: dict[str, Any] = {}
        for name, finding in self.evidence.items():
            if is_missing(finding):
                continue
            weights = evidence[name] = frozen_array(likelihood(variables[name], finding))
            if not is_state(finding):
                continue
            evidence[name] = finding = variables[name].states[int(weights.argmax())]
            known = marginals.get(name)
            if known is None:
                marginals[name] = weights.real
            elif known.shape == weights.shape and np.abs(known - weights).max() > TOLERANCE:
                problems.append(f"expected a distribution of {name} that is certain of {finding!r}")
        if problems:
            raise InvalidArgumentError(listed(problems), tuple(problems))
        self._set(marginals=marginals, evidence=evidence)

    def __repr__(self) -> str:
        return (
            f"BeliefView({len(self.marginals)} of {len(self.network.variables)} variables,"
            f" evidence on {len(self.evidence)})"
        )

    @checked
    def svg(self, *, max_states: int = STATES, names: Iterable[str] | None = None) -> str:
        """Draw the belief: bars for the states of each variable, with the evidence marked.

        ``max_states`` is the largest number of lines for a variable, at least 2; the last line
        then summarizes the less probable states. ``names`` are the variables to draw, as in
        `NetworkView.svg`.

        Raises
        ------
        InvalidArgumentError
            If the model is a product of factors that are not the distributions of a network.
        """
        network = _as_network(self.network)
        return _draw(network, _cards([self], network.variables), (), max_states, names)

    @checked
    def text(self, *, width: int = 80, names: Iterable[str] | None = None) -> str:
        """Return a table with a line for each state: a bar and a percentage.

        Parameters
        ----------
        width
            The width of the table in columns; at least 40 and at most 1000 are used.
        names
            The variables to show, in this order; by default all variables with a distribution.

        Notes
        -----
        ``=`` marks an observed state; the other states of its variable are not shown. ``≈`` marks
        uncertain evidence.
        """
        cards = _cards([self], _chosen(self.network, names))
        return belief_table(cards, width=width, all_states=False)

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str:
        return scaled(self.svg())


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Value):
    """A view of two beliefs on one network; made by `side_by_side`.

    Parameters
    ----------
    first, second
        Two views with the same variables and arcs.
    titles
        Their names in legends.

    Raises
    ------
    InvalidArgumentError
        If the networks differ in variables or arcs, or there are not two titles.
    """

    first: BeliefView
    second: BeliefView
    titles: tuple[str, str] = ("before", "after")

    def _faults(self) -> Iterator[str]:
        one, other = (
            {(cpd.variable, frozenset(cpd.parents)) for cpd in _as_network(view.network).cpds}
            for view in (self.first, self.second)
        )
        names = sorted({variable.name for variable, _ in one ^ other})
        if names:
            yield (
                "expected two beliefs on the same variables and arcs; they differ at "
                + ", ".join(names[:8])
            )

    def __repr__(self) -> str:
        return f"SideBySide({self.first!r}, {self.second!r}, titles={self.titles!r})"

    @checked
    def svg(self, *, max_states: int = STATES, names: Iterable[str] | None = None) -> str:
        """Draw both beliefs: two bars for each state, with the evidence of each belief marked.

        For the arguments see `BeliefView.svg`. Δ is the share of probability that moved (total
        variation). Boxes without any change are pale.
        """
        network = _as_network(self.first.network)
        cards = _cards([self.first, self.second], network.variables)
        return _draw(network, cards, self.titles, max_states, names)

    @checked
    def text(self, *, width: int = 80, names: Iterable[str] | None = None) -> str:
        """Return a table with a line for each state: two bars and two percentages.

        The arguments are those of `BeliefView.text`.
        """
        cards = _cards([self.first, self.second], _chosen(self.first.network, names))
        return belief_table(cards, titles=self.titles, width=width, all_states=True)

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str:
        return scaled(self.svg())


@checked
def belief_view(
    network: Network | FactorModel, marginals: Marginals, *, evidence: Evidence | None = None
) -> BeliefView:
    """Return a view of the distribution of each variable.

    Parameters
    ----------
    network
        The network.
    marginals
        The `Posterior` of a plan, or the distribution of each variable by name: a factor, an
        array, or the probability of each state by name, as in ``session.posterior`` of a test.
        For joint targets, the view shows the marginal of each variable.
    evidence
        The evidence of the belief, as for a query: the state of each observed variable or, for
        uncertain evidence, a likelihood of its states. None and NaN are no observation.

    Raises
    ------
    InvalidArgumentError, UnknownNameError
        See `BeliefView`.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain = Variable("rain", ("no", "yes"))
    >>> wet = Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> view = belief_view(network, {"rain": [0.3077, 0.6923]}, evidence={"wet": "yes"})
    >>> print(view.text(width=40))
    rain   no   █████▉               30.77 %
           yes  █████████████▏       69.23 %
    wet  = yes  ███████████████████ 100    %
    """
    distributions: dict[str, Any] = {}
    if isinstance(marginals, Posterior):
        # If a variable is a target of its own, show that target.
        for target in sorted(marginals.targets, key=lambda target: len(target.scope)):
            for name in target.names:
                distributions.setdefault(name, target.sum_to((name,)).values)
        known = {v.name for v in network.variables}
        distributions = {name: values for name, values in distributions.items() if name in known}
    else:
        for name, values in marginals.items():
            if isinstance(values, Factor):
                distributions[name] = values.sum_to((name,)).values
            elif isinstance(values, Mapping):
                distributions[name] = likelihood(network.variable(name), values)
            else:
                distributions[name] = _numbers(name, values)
    return BeliefView(network, distributions, by_name(evidence, "the evidence"))


@checked
def side_by_side(
    first: BeliefView, second: BeliefView, *, titles: Sequence[str] = ("before", "after")
) -> SideBySide:
    """Return a view of two beliefs on the same network, such as before and after a finding.

    The views `first` and `second` stand under their `titles`; see `SideBySide` for its errors.
    """
    return SideBySide(first, second, tuple(titles))  # type: ignore[arg-type]


@checked
def network_view(network: Network) -> NetworkView:
    """Return a view of the structure of `network`, without beliefs."""
    return NetworkView(network)


def notebook_svg(network: Network) -> str:
    """Return the picture that a notebook shows for a network.

    This is the structure, or a summary for more than `MOST_DRAWN` variables. The function does not
    run inference, whose cost only a plan can predict.
    """
    if len(network.variables) <= MOST_DRAWN:
        return scaled(network_view(network).svg())
    n_arcs = sum(len(cpd.parents) for cpd in network.cpds)
    sizes = [v.n_states for v in network.variables]
    return draw_summary(
        "Bayesian network",
        (
            f"{len(sizes):,} variables, {counted(n_arcs, 'arc')}",
            f"{min(sizes)} to {max(sizes)} states each",
            f"at most {max(len(cpd.parents) for cpd in network.cpds)} parents",
            f"network_view(…).svg() draws more than {MOST_DRAWN}",
        ),
    )


def _numbers(name: str, values: Any) -> Values:
    """Return a distribution as an array of numbers."""
    try:
        return numbers_of(values, f"in the distribution of {name}")
    except InvalidModelError as fault:
        more = "; evidence is given as evidence={…}" if isinstance(values, str) else ""
        raise InvalidArgumentError(f"{fault}{more}", values) from fault


def _faults(variable: Variable, given: Floats) -> list[str]:
    """Return the faults of a distribution."""
    name, values = variable.name, np.asarray(given)
    if values.shape != (variable.n_states,):
        return [f"expected {variable.n_states} probabilities of {name}, got shape {values.shape}"]
    if values.dtype.kind not in "fiuc" or not np.all(np.isfinite(values)):
        return [f"expected finite probabilities of {name}, got {values.tolist()}"]
    total = complex(values.sum())
    if abs(total - 1) > TOLERANCE or values.real.min() < -TOLERANCE:
        return [
            f"expected probabilities of {name} that sum to one within {TOLERANCE:g},"
            f" got {values.tolist()}"
        ]
    return []


def _as_network(model: Network | FactorModel) -> Network:
    """Return the network of a product of conditional distributions."""
    if isinstance(model, Network):
        return model
    cpds = tuple(p for p in model.potentials if not isinstance(p, Factor))
    if len(cpds) < len(model.potentials):
        raise InvalidArgumentError(
            "expected a Bayesian network to draw, got a product of factors that is not one", model
        )
    return Network(cpds)


def _chosen(network: Network | FactorModel, names: Iterable[str] | None) -> Sequence[Variable]:
    return network.variables if names is None else [network.variable(name) for name in names]


def _cards(views: Sequence[BeliefView], variables: Iterable[Variable]) -> list[Card]:
    cards = []
    for variable in variables:
        name = variable.name
        marginals = [view.marginals.get(name) for view in views]
        findings = [view.evidence.get(name) for view in views]
        cards.append(
            Card(
                variable,
                tuple(None if values is None else tuple(values.tolist()) for values in marginals),
                findings=tuple(f if isinstance(f, str) else None for f in findings),
                uncertain=tuple(not isinstance(f, str | None) for f in findings),
            )
        )
    return cards


def _draw(
    network: Network,
    cards: Sequence[Card],
    titles: tuple[str, ...],
    max_states: int,
    names: Iterable[str] | None,
) -> str:
    every = {v.name for v in network.variables}
    drawn = every if names is None else {network.variable(name).name for name in names}
    if not drawn:
        raise InvalidArgumentError("expected at least one variable to draw, got none", names)
    shown = [_with_hidden(network, card, drawn) for card in cards if card.variable.name in drawn]
    place = {card.variable.name: position for position, card in enumerate(shown)}
    arcs = [
        (place[parent], place[name])
        for name in place
        for parent in network.parents(name)
        if parent in place
    ]
    of = "" if len(place) == len(every) else f"{len(place):,} of the "
    states = ", with the probability of each state" if shown[0].distributions else ""
    caption = f"Bayesian network of {of}{counted(len(every), 'variable')}{states}"
    if titles:
        caption += f": {titles[0]} (upper bars) and {titles[1]} (lower bars)"
    evidence = sum(card.is_evidence for card in shown)
    caption += f", given evidence on {evidence:,}" if evidence else ""
    return draw(shown, arcs, titles=titles, caption=caption, max_states=max(max_states, 2))


def _with_hidden(network: Network, card: Card, drawn: set[str]) -> Card:
    """Return a card that says which parents and children are not drawn."""
    name = card.variable.name
    parents, children = network.parents(name), network.children(name)
    hidden = [tuple(v for v in names if v not in drawn) for names in (parents, children)]
    return replace(card, hidden=(hidden[0], hidden[1]))
