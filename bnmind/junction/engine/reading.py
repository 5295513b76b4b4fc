"""The targets and the evidence of a question, checked and converted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats
from bnmind.junction.inference.evidence import by_name, is_missing, is_state, likelihood
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable, name_text

__all__ = ["Reader", "Scopes", "Seen", "Targets"]

Targets: TypeAlias = "str | Iterable[str | Iterable[str]]"
"""A variable, or several; a tuple of names inside of a list is a joint."""

Scopes: TypeAlias = tuple[tuple[str, ...], ...]


class Seen(NamedTuple):
    """The evidence of a question, without missing findings."""

    positions: Mapping[str, int]
    """The state positions of the variables with hard evidence."""
    soft: Mapping[str, Floats]
    """The likelihoods of the variables with soft evidence."""
    variables: Mapping[str, Variable]
    """All variables of the model, in its order."""

    def in_order(self) -> tuple[dict[str, str], dict[str, Floats]]:
        """Return the states and the likelihoods in the order of the model.

        Equal evidence then gives equal plans.
        """
        states = {name: self.variables[name].states[i] for name, i in self.positions.items()}
        return _in_order(states, self.variables), _in_order(self.soft, self.variables)

    def joined(self, other: Seen) -> Seen | None:
        """Return both pieces of evidence as one; None if they contradict each other.

        They contradict each other if one variable is in two states.
        """
        mine = self.positions
        if any(mine.get(name, place) != place for name, place in other.positions.items()):
            return None
        positions, soft = {**mine, **other.positions}, dict(self.soft)
        for name, weights in other.soft.items():
            soft[name] = soft[name] * weights if name in soft else weights
        # A state with a likelihood is a likelihood of that state alone.
        for name in positions.keys() & soft.keys():
            alone = np.zeros(self.variables[name].n_states)
            place = positions.pop(name)
            alone[place] = soft[name][place]
            soft[name] = alone
        return Seen(positions, soft, self.variables)


class Reader:
    """The variables of a model, and what is looked up for each question."""

    def __init__(self, model: Network | FactorModel) -> None:
        self.model = model
        self.variables = {v.name: v for v in model.variables}
        self.columns = {v.name: i for i, v in enumerate(model.variables)}
        self.alone = {v.name: (v,) for v in model.variables}
        self.places = {
            v.name: {state: i for i, state in enumerate(v.states)} for v in model.variables
        }

    @cached_property
    def network(self) -> Network | None:
        """The model as a network; None if it is not one."""
        if isinstance(self.model, Network):
            return self.model
        cpds = [p for p in self.model.potentials if not isinstance(p, Factor)]
        if len(cpds) < len(self.model.potentials):
            return None
        try:
            return Network(tuple(cpds))
        except InvalidModelError:
            return None

    def named(self, scopes: Scopes) -> tuple[tuple[Variable, ...], ...]:
        """Return the variables of targets."""
        variables = self.variables
        return tuple([tuple([variables[name] for name in scope]) for scope in scopes])

    def event(self, given: Any) -> Seen:
        """Return an event, which is read like evidence but must be given."""
        if given is None:
            raise InvalidArgumentError(
                "expected an event, such as {'rain': 'yes'}, got None; {} is the certain event"
            )
        return self.evidence(given, "the event")

    def evidence(self, given: Any, what: str = "the evidence") -> Seen:
        """Return the evidence of a question.

        Parameters
        ----------
        given
            A mapping, a `pandas.Series` or None: for each variable a state, a likelihood, or a
            missing value.
        what
            Names the argument in an error.

        Raises
        ------
        UnknownNameError
            If the model has no such variable, or the variable no such state.
        InvalidArgumentError
            If it is not a mapping, or a likelihood is not valid.
        """
        positions: dict[str, int] = {}
        soft: dict[str, Floats] = {}
        for name, finding in by_name(given, what).items():
            if type(finding) is str and name in self.places and finding in self.places[name]:
                positions[name] = self.places[name][finding]
                continue
            v = self.variables.get(name) or self.model.variable(name)
            if is_missing(finding):
                continue
            if is_state(finding):
                positions[name] = v.index(finding)
            else:
                soft[name] = likelihood(v, finding)
        return Seen(positions, soft, self.variables)

    def scopes(self, targets: Targets | None, seen: Seen) -> Scopes:
        """Return the variables of each target; None asks for all without a state.

        Raises
        ------
        UnknownNameError
            If the model has no such variable.
        InvalidArgumentError
            If the argument holds anything but names, or a target names a variable twice.
        """
        if targets is None:
            return tuple([(name,) for name in self.variables if name not in seen.positions])
        if isinstance(targets, str):
            return ((self._name(targets),),)
        if not isinstance(targets, Iterable) or isinstance(targets, bytes | Mapping):
            raise InvalidArgumentError(
                f"expected the name of a variable or a list of names, got {shown(targets)}", targets
            )
        return tuple([self._scope(target) for target in targets])

    def names(self, targets: Targets, what: str) -> tuple[str, ...]:
        """Return different variables that are asked for together; ``what`` asks for them.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            As for `scopes`, and if there are no names.
        """
        scopes = self.scopes(targets, self.evidence(None))
        names = tuple([name for scope in scopes for name in scope])
        if not names:
            raise InvalidArgumentError(f"{what} needs at least one variable", targets)
        _check_different(names)
        return names

    def _scope(self, target: Any) -> tuple[str, ...]:
        if isinstance(name_text(target), str):
            return (self._name(target),)
        if not isinstance(target, Iterable) or isinstance(target, bytes | Mapping):
            raise InvalidArgumentError(
                f"expected each target as a name or a tuple of names, got {shown(target)}", target
            )
        names = tuple([self._name(name) for name in target])
        _check_different(names)
        return names

    def _name(self, name: Any) -> str:
        text = name_text(name)
        if not isinstance(text, str):
            raise InvalidArgumentError(f"expected the name of a variable, got {shown(name)}", name)
        return text if text in self.variables else self.model.variable(text).name


def _check_different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"expected each variable once, got {', '.join(names)}", names)


def _in_order(findings: Mapping[str, Any], variables: Mapping[str, Variable]) -> dict[str, Any]:
    """Return findings in the order of the model."""
    if len(findings) < 2:
        return dict(findings)
    if 4 * len(findings) > len(variables):
        return {name: findings[name] for name in variables if name in findings}
    number = {name: i for i, name in enumerate(variables)}
    return dict(sorted(findings.items(), key=lambda item: number[item[0]]))
