"""Findings: what a run is told of the evidence variables, checked once.

A finding on an observed variable is one of its states. On a variable that a plan was
told may be soft, it is a state, a likelihood of every state (virtual evidence: Pearl,
*Probabilistic reasoning in intelligent systems*, 1988, section 2.2.2), or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidModelError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.factor import numbers_of
from bnmind.pgm.variable import Variable

__all__ = ["Finding", "Findings", "case_likelihoods", "case_positions", "label_of", "likelihood"]

Finding: TypeAlias = "str | Mapping[str, float] | Sequence[float] | Floats"
"""A state; or how likely the finding is given each state, by name or in their order."""

Findings: TypeAlias = Mapping[str, Any]
"""A `Finding` for each variable named."""


def label_of(name: str) -> str:
    """Return the name of the input that carries soft evidence on a variable."""
    return f"likelihood of {name}"


def likelihood(variable: Variable, finding: Any) -> Floats:
    """Return a finding as the likelihood of every state, ``(states,)``.

    Raises
    ------
    UnknownNameError
        If it names a state that the variable does not have.
    InvalidModelError
        If it is not a number of at least zero for every state.

    Examples
    --------
    >>> rain = Variable("rain", ("no", "yes"))
    >>> likelihood(rain, "yes").tolist(), likelihood(rain, {"no": 0.2, "yes": 0.9}).tolist()
    ([0.0, 1.0], [0.2, 0.9])
    """
    if isinstance(finding, str):
        finding = {finding: 1.0}
    if isinstance(finding, Mapping):
        weights = np.zeros(variable.n_states)
        for state, weight in finding.items():
            weights[variable.index(state)] = weight
    else:
        weights = numbers_of(finding, f"as the likelihood of {variable.name}", real=True).real
    if weights.shape != (variable.n_states,):
        raise InvalidModelError(
            [
                f"expected a likelihood of each of the {variable.n_states} states of"
                f" {variable.name}, got an array of shape {weights.shape}"
            ]
        )
    if not np.all((weights >= 0) & np.isfinite(weights)):
        raise InvalidModelError(
            [f"expected likelihoods of at least zero for {variable.name}, got {weights.tolist()}"]
        )
    return weights


def check_names(given: Findings, required: Sequence[Variable], soft: Sequence[Variable]) -> None:
    """Raise `UnknownNameError` unless all required variables are given, and no strangers."""
    names = {v.name for v in required}
    if given.keys() == names:
        return
    wrong = sorted((names - set(given)) | (set(given) - names - {v.name for v in soft}))
    if wrong:
        known = [*names, *(v.name for v in soft)]
        raise UnknownNameError("state for exactly the evidence variables", wrong[0], known)


def case_positions(variable: Variable, cases: Any) -> NDArray[np.intp]:
    """Return the state positions of many cases, ``(cases,)``; −1 where a value is missing.

    Raises
    ------
    InvalidModelError
        If they are not integers from −1 to the number of states less one; it names the case.
    """
    found = np.asarray(cases)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise InvalidModelError(
            [
                f"expected a state position for each case of {variable.name}, got an array of"
                f" shape {found.shape} of {found.dtype}"
            ]
        )
    wrong = np.flatnonzero((found < -1) | (found >= variable.n_states))
    if wrong.size:
        raise InvalidModelError(
            [
                f"expected positions from 0 to {variable.n_states - 1}, or -1 where missing, for"
                f" {variable.name}, got {found[wrong[0]]} in case {wrong[0]}"
            ]
        )
    return found.astype(np.intp)


def case_likelihoods(variable: Variable, cases: Any) -> Floats:
    """Return the likelihoods of many cases, ``(states, cases)``.

    Parameters
    ----------
    variable
        What they are about.
    cases
        Positions as for `case_positions`, a missing one being of likelihood one for every
        state; or ``(cases, states)`` likelihoods.
    """
    found = np.asarray(cases)
    if found.ndim == 1:
        columns = np.column_stack([np.eye(variable.n_states), np.ones(variable.n_states)])
        taken: Floats = columns.take(case_positions(variable, found), axis=1)
        return taken
    weights: Floats = numbers_of(found, f"as likelihoods of {variable.name}", real=True).real
    if weights.ndim != 2 or weights.shape[1] != variable.n_states:
        raise InvalidModelError(
            [
                f"expected likelihoods of shape (cases, {variable.n_states}) for {variable.name},"
                f" got {weights.shape}"
            ]
        )
    wrong = np.flatnonzero(~np.all((weights >= 0) & np.isfinite(weights), axis=1))
    if wrong.size:
        raise InvalidModelError(
            [
                f"expected likelihoods of at least zero for {variable.name}, got"
                f" {weights[wrong[0]].tolist()} in case {wrong[0]}"
            ]
        )
    return np.ascontiguousarray(weights.T)
