"""A picture of a network in a notebook, in which a click on a state makes it evidence.

`EvidencePicture` is the logic, without a notebook: a click gives a new picture. `clickable` shows
it by anywidget. The browser side, ``clickable_picture.js``, only draws the picture and reports
clicks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import BnmindError, ImpossibleEvidenceError, MissingLibraryError
from bnmind.junction.engine.engine import Engine, compile_model
from bnmind.pgm.network import Network
from bnmind.views.view import STATES, BeliefView, belief_view

if TYPE_CHECKING:
    from bnmind.junction.inference.posterior import Posterior

__all__ = ["EvidencePicture", "clickable"]


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
    evidence: Mapping[str, str] | None = None
    """The state of each observed variable."""

    def __post_init__(self) -> None:
        self._set(evidence=dict(self.evidence or {}))
        super().__post_init__()
        for name, state in self._findings.items():
            self.network.variable(name).index(state)

    @property
    def _findings(self) -> dict[str, str]:
        return dict(self.evidence or {})

    @cached_property
    def posterior(self) -> Posterior:
        """The distribution of each variable that is not observed."""
        names = [v.name for v in self.network.variables if v.name not in self._findings]
        return self.engine.posterior(names, self._findings)

    @cached_property
    def view(self) -> BeliefView:
        """The picture, as `belief_view` makes it."""
        return belief_view(self.network, self.posterior, evidence=self._findings)

    @property
    def message(self) -> str:
        """The evidence and its probability, in a sentence."""
        findings = self._findings
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
        findings = self._findings
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

        _esm = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
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
            if dict(change["new"]) == dict(self.picture.evidence or {}):
                return
            try:
                self._show(replace(self.picture, evidence=dict(change["new"])))
            except BnmindError:
                self.evidence = dict(self.picture.evidence or {})
                raise

        def _show(self, picture: EvidencePicture) -> None:
            svg, message = picture.view.svg(max_states=self.max_states), picture.message
            self.picture = picture
            self.evidence = dict(picture.evidence or {})
            self.svg, self.message = svg, message

    return ClickableNetwork


def contradiction(fault: ImpossibleEvidenceError) -> str:
    """Return which findings contradict each other, in a sentence."""
    named = [f"{name} = {finding}" for name, finding in fault.evidence.items()]
    if len(named) == 1:
        return f"The finding {named[0]} is impossible."
    return f"These findings contradict each other: {', '.join(named)}."
