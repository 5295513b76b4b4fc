"""Views of networks and their beliefs: pictures for notebooks, and tables for terminals.

A picture of a running notebook may be clicked: a click on a state makes it evidence.
`EvidencePicture` is the logic, without a notebook: a click gives a new picture. `clickable` shows
it by anywidget. The browser side, ``clickable_picture.js``, only draws the picture and reports
clicks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._messages import counted, visible
from bnmind._values import Value
from bnmind.errors import (
    BnmindError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    MissingLibraryError,
)
from bnmind.information import Floats
from bnmind.junction.engine import Engine, compile_model
from bnmind.junction.evidence import (
    Evidence,
    Findings,
    by_name,
    is_missing,
    is_state,
    likelihood,
)
from bnmind.junction.posteriors import Posterior
from bnmind.pgm.factor import Factor, Values, numbers_of
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable
from bnmind.views.draw import Card, columns_of, draw, draw_summary, pad, scaled, shorten_to_columns

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
        variable, marginals = self.network.variable, dict(self.marginals)
        problems: list[str] = []
        evidence: dict[str, Any] = {}
        for name, values in marginals.items():
            n = variable(name).n_states
            if values.shape != (n,):
                problems.append(f"expected {n} probabilities of {name}, got shape {values.shape}")
            elif not (abs(values.sum() - 1) <= TOLERANCE and values.min() >= -TOLERANCE):
                problems.append(
                    f"expected probabilities of {name} that sum to one, got {values.tolist()}"
                )
            marginals[name] = np.clip(values, 0.0, 1.0)
        for name, finding in self.evidence.items():
            if is_missing(finding):
                continue
            weights = evidence[name] = likelihood(variable(name), finding)
            if is_state(finding):
                evidence[name] = state = variable(name).states[int(weights.argmax())]
                known = marginals.setdefault(name, weights.real)
                if known.shape == weights.shape and not np.abs(known - weights).max() <= TOLERANCE:
                    problems.append(f"expected a distribution of {name} certain of {state!r}")
        if problems:
            raise InvalidArgumentError(problems, tuple(problems))
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
        if names := sorted({variable.name for variable, _ in one ^ other}):
            differing = f"they differ at {', '.join(names[:8])}"
            yield f"expected two beliefs on the same variables and arcs; {differing}"

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


NARROWEST_TABLE = 40
"""The smallest width of a table in columns, even on narrower terminals."""
WIDEST_TABLE = 1000
"""The largest width of a table in columns."""
LONGEST_BAR = 30
EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, columns: int) -> str:
    """Return a bar for a share of 0..1; a positive share never gives an empty bar.

    >>> bar(0.5, 9), bar(1e-9, 9)
    ('████▌    ', '▏        ')
    """
    eighths = round(8 * columns * share)
    if share > 0:
        eighths = max(eighths, 1)
    full, part = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[part] if part else "")).ljust(columns)


def belief_table(
    cards: Sequence[Card], *, titles: tuple[str, ...] = (), width: int, all_states: bool
) -> str:
    """Return a line for each state of each card.

    Parameters
    ----------
    cards
        The cards to show; cards without a distribution are omitted.
    titles
        The names of two beliefs, for a first line.
    width
        The width of the terminal in columns; at least 40 are used.
    all_states
        Whether to show the other states of observed variables too.
    """
    width = min(max(width, NARROWEST_TABLE), WIDEST_TABLE)
    lines = [line for card in cards for line in _lines(card, all_states=all_states)]
    if not lines:
        return ""
    n_beliefs = max(len(titles), 1)
    numbers = [_aligned([line[3][k] for line in lines]) for k in range(n_beliefs)]
    single = n_beliefs == 1
    marked = single and any(line[1][0] for line in lines if line[1])
    room = width - (3 if marked else 2 if single else 1)
    room -= sum(max(map(len, column)) + (3 if single else 4) for column in numbers)
    # Names and states share the room that bars of the least width leave.
    least = width // (8 * n_beliefs)
    names, marks, states, shares = zip(*lines, strict=True)
    name_room, state_room = _shared_columns(
        max(map(columns_of, names)), max(map(columns_of, states)), max(room - n_beliefs * least, 8)
    )
    room -= name_room + state_room
    columns = max(least, min(LONGEST_BAR, room // n_beliefs))
    texts = []
    for number, (name, mark, state) in enumerate(zip(names, marks, states, strict=True)):
        parts = [pad(shorten_to_columns(name, name_room), name_room)]
        lead = f" {mark[0]:1} " if marked else "  " if single else " "
        parts.append(lead + pad(shorten_to_columns(state, state_room), state_room))
        for k in range(n_beliefs):
            share = shares[number][k]
            drawn = " " * columns if share is None else bar(share, columns)
            lead = "  " if single else f" {mark[k] or ' '} "
            parts.append(f"{lead}{drawn} {numbers[k][number]}")
        texts.append("".join(parts).rstrip())
    if titles:
        head = [" " * (name_room + 1 + state_room)]
        for k, title in enumerate(titles):
            block = columns + 1 + max(map(len, numbers[k]))
            head.append("   " + pad(shorten_to_columns(visible(title), block), block))
        texts.insert(0, "".join(head).rstrip())
    return "\n".join(texts)


_Line = tuple[str, tuple[str, ...], str, tuple[float | None, ...]]


def _lines(card: Card, *, all_states: bool) -> list[_Line]:
    """Return name, marks, state and shares for each line of a card, the name once."""
    rows = card.rows(card.variable.n_states)
    if not all_states and card.findings and None not in card.findings:
        rows = [row for row in rows if any(row.observed)]
    lines: list[_Line] = []
    for row in rows:
        marks = tuple(
            "=" if seen else "≈" if uncertain else ""
            for seen, uncertain in zip(row.observed, card.uncertain, strict=True)
        )
        lines.append(("" if lines else card.variable.name, marks, visible(row.label), row.shares))
    return lines


def _aligned(shares: Sequence[float | None]) -> list[str]:
    """Return percentages with aligned decimal points."""
    texts = ["" if p is None else f"{100 * p:.4g}" for p in shares]
    parts = [text.partition(".") for text in texts]
    before = max(len(whole) for whole, _, _ in parts)
    after = max(len(dot + rest) for _, dot, rest in parts)
    return [
        f"{whole:>{before}}{dot + rest:<{after}} %" if whole else " " * (before + after + 2)
        for whole, dot, rest in parts
    ]


def _shared_columns(first: int, second: int, room: int) -> tuple[int, int]:
    """Return the widths of two texts that share a number of columns."""
    if first + second <= room:
        return first, second
    half = room // 2
    if first <= half:
        return first, room - first
    if second <= half:
        return room - second, second
    return half, room - half


def network_table(rows: Sequence[tuple[str, str, str]], *, width: int) -> str:
    """Return a line for each variable: its name, its states and its parents."""
    width = min(max(width, NARROWEST_TABLE), WIDEST_TABLE)
    rows = [("variable", "states", "parents"), *rows]
    rows = [(name, visible(states), visible(parents)) for name, states, parents in rows]
    room = width - 4
    name = min(max(columns_of(row[0]) for row in rows), room // 3)
    states, parents = _shared_columns(
        max(columns_of(row[1]) for row in rows),
        max(columns_of(row[2]) for row in rows),
        room - name,
    )
    columns = (name, states, parents)
    return "\n".join(
        "  ".join(
            pad(shorten_to_columns(text, size), size)
            for text, size in zip(row, columns, strict=True)
        ).rstrip()
        for row in rows
    )


@dataclass(frozen=True, eq=False)
class EvidencePicture(Value):
    """A network with evidence that is changed by clicks; every click gives a new value.

    Raises
    ------
    ImpossibleEvidenceError
        If the evidence is impossible, when its `view` is made.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((
    ...     TabularCPD(rain, (), [0.8, 0.2]),
    ...     TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]]),
    ... ))
    >>> picture = EvidencePicture(compile_model(network), network).clicked("wet", "yes")
    >>> print(picture.view)
    rain   no   █████████▎                      30.77 %
           yes  ████████████████████▊           69.23 %
    wet  = yes  ██████████████████████████████ 100    %
    >>> dict(picture.clicked("wet", "yes").evidence)
    {}
    """

    engine: Engine
    """Answers queries of the network."""
    network: Network
    """The network that is drawn."""
    evidence: Mapping[str, str] = field(default_factory=dict)
    """The state of each observed variable."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, state in self.evidence.items():
            self.network.variable(name).index(state)

    @cached_property
    def posterior(self) -> Posterior:
        """The distribution of each variable that is not observed."""
        names = [v.name for v in self.network.variables if v.name not in self.evidence]
        return self.engine.posterior(names, self.evidence)

    @cached_property
    def view(self) -> BeliefView:
        """The picture, as `belief_view` makes it."""
        return belief_view(self.network, self.posterior, evidence=self.evidence)

    @property
    def message(self) -> str:
        """The evidence and its probability, in a sentence."""
        findings = self.evidence
        if not findings:
            return "No evidence. Click a state to observe it."
        listed = ", ".join(f"{name} = {state}" for name, state in findings.items())
        probability = math.exp(self.posterior.log_evidence)
        return f"Evidence: {listed}. Its probability is {probability:.4g}."

    @checked
    def clicked(self, variable: str, state: str) -> EvidencePicture:
        """Return the picture after a click: the state is evidence, or no longer.

        Raises
        ------
        UnknownNameError
            If there is no such variable or state.
        """
        findings = self.evidence
        if findings.get(variable) == state:
            return replace(self, evidence={n: s for n, s in findings.items() if n != variable})
        return replace(self, evidence={**findings, variable: state})


@checked
def clickable(
    network: Network, evidence: Mapping[str, str] | None = None, *, max_states: int = STATES
) -> Any:
    """Return a widget for notebooks: a click on a state makes it evidence, another takes it back.

    All distributions follow at once. The keyboard works too: Tab goes from state to state, and
    Enter chooses one. The attribute ``evidence`` of the widget is a dictionary that can be read and
    set; ``picture`` is the `EvidencePicture`, with the posterior.

    Parameters
    ----------
    network
        The network.
    evidence
        The state of each observed variable at the start.
    max_states
        The largest number of states to show for a variable, at least 2.

    Returns
    -------
    anywidget.AnyWidget
        The widget. It needs a notebook that is running, and the extra ``notebook``.

    Raises
    ------
    MissingLibraryError
        If anywidget is not installed.
    UnknownNameError
        If the network does not have a variable or a state of the evidence.
    ImpossibleEvidenceError
        If the evidence is impossible.
    """
    first = EvidencePicture(compile_model(network), network, dict(evidence or {}))
    first.view.svg(max_states=max_states)  # raises if it cannot be drawn
    return _widget_class()(first, max_states)


@cache
def _widget_class() -> Any:
    """Return the class of the widget, made when anywidget is first needed."""
    try:
        import anywidget
        import traitlets
    except ModuleNotFoundError as missing:
        raise MissingLibraryError(
            f"a clickable picture needs {missing.name}; install it with:"
            ' pip install "bnmind[notebook]"',
            str(missing.name),
        ) from missing

    class ClickableNetwork(anywidget.AnyWidget):
        """A picture of a network in which clicks set evidence."""

        _esm = Path(__file__).with_name("clickable_picture.js").read_text(encoding="utf-8")
        svg = traitlets.Unicode().tag(sync=True)
        message = traitlets.Unicode().tag(sync=True)
        evidence = traitlets.Dict().tag(sync=True)

        def __init__(self, picture: EvidencePicture, max_states: int) -> None:
            self.max_states = max_states
            self.picture = picture
            super().__init__()
            self._show(picture)
            self.on_msg(lambda _, content, __: self.receive(content))
            self.observe(self._evidence_set, names="evidence")

        def receive(self, content: Any) -> None:
            """Do what a message of the browser asks for."""
            try:
                if content.get("clear"):
                    self._show(replace(self.picture, evidence={}))
                else:
                    clicked = self.picture.clicked(content["variable"], content["state"])
                    self._show(clicked)
            except ImpossibleEvidenceError as fault:
                self.message = f"{contradiction(fault)} The evidence stays as it was."
            except (BnmindError, KeyError, AttributeError, TypeError) as fault:
                self.message = f"That cannot be clicked: {fault}"
            self.send("done")  # the message may be the same as before

        def _evidence_set(self, change: Any) -> None:
            """Follow evidence that is set in Python; the old one stays if it is impossible."""
            if dict(change["new"]) == dict(self.picture.evidence):
                return
            try:
                self._show(replace(self.picture, evidence=dict(change["new"])))
            except BnmindError:
                self.evidence = dict(self.picture.evidence)
                raise

        def _show(self, picture: EvidencePicture) -> None:
            svg, message = picture.view.svg(max_states=self.max_states), picture.message
            self.picture = picture
            self.evidence = dict(picture.evidence)
            self.svg, self.message = svg, message

    return ClickableNetwork


def contradiction(fault: ImpossibleEvidenceError) -> str:
    """Return which findings contradict each other, in a sentence."""
    named = [f"{name} = {finding}" for name, finding in fault.evidence.items()]
    if len(named) == 1:
        return f"The finding {named[0]} is impossible."
    return f"These findings contradict each other: {', '.join(named)}."
