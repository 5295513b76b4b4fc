"""Findings: the evidence that one run is given, checked once.

A finding on an observed variable is one of its states. On a variable that a plan was
told may be soft, it is a state, a likelihood of every state (virtual evidence: Pearl,
*Probabilistic reasoning in intelligent systems*, 1988, section 2.2.2), or nothing: None, NaN
and missing values of pandas count as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bnmind._messages import shown
from bnmind.errors import EvidenceNamesError, InvalidArgumentError, InvalidModelError
from bnmind.information import Floats
from bnmind.pgm.factor import numbers_of
from bnmind.pgm.variable import Variable, name_text

if TYPE_CHECKING:
    import pandas

__all__ = [
    "Evidence",
    "Finding",
    "Findings",
    "by_name",
    "check_names",
    "is_missing",
    "is_state",
    "label_of",
    "likelihood",
    "read_findings",
    "real_numbers",
]

Finding: TypeAlias = "str | Mapping[str, float] | Sequence[float] | Floats"
"""A state; or how likely the finding is given each state, by name or in their order."""

Findings: TypeAlias = Mapping[str, Any]
"""A `Finding` for each variable named."""

Evidence: TypeAlias = "Findings | pandas.Series[Any]"
"""Findings as they may be given: as a mapping, or as a row of a data frame."""


def label_of(name: str) -> str:
    """Return the name of the input that carries soft evidence on a variable."""
    return f"likelihood of {name}"


def by_name(given: Any, what: str) -> dict[str, Any]:
    """Return what is given for each variable as a dictionary; None is nothing.

    Parameters
    ----------
    given
        A mapping, a `pandas.Series` or a `pandas.DataFrame`. Names that are whole numbers
        are read as text.
    what
        Names it in an error.

    Raises
    ------
    InvalidArgumentError
        If it is something else, or one name is given as a number and as text.
    """
    if given is None:
        return {}
    if type(given) is dict and all(map(_is_text, given)):
        return given
    # Series and frames of pandas, which is not imported for this, have items too.
    items = getattr(given, "items", None)
    if not callable(items) or isinstance(given, type):
        raise InvalidArgumentError(
            f"expected {what} as a mapping from the names of variables, such as"
            f" {{'rain': 'yes'}}, got {shown(given)}",
            given,
        )
    found: dict[str, Any] = {}
    for name, value in items():
        text = name_text(name)
        if not isinstance(text, str):
            raise InvalidArgumentError(
                f"expected names of variables in {what}, got {shown(name)}", name
            )
        if text in found:
            raise InvalidArgumentError(f"expected each variable once in {what}, got {text!r} twice")
        found[text] = value
    return found


def _is_text(name: object) -> bool:
    return isinstance(name, str)


def is_missing(finding: Any) -> bool:
    """Return whether a finding says nothing: None, NaN, or a missing value of pandas.

    >>> [is_missing(finding) for finding in (None, float("nan"), "yes", 0)]
    [True, True, False, False]
    """
    if finding is None:
        return True
    if isinstance(finding, float | np.floating):
        return bool(np.isnan(finding))
    return type(finding).__name__ in ("NAType", "NaTType")


def is_state(finding: Any) -> bool:
    """Return whether a finding is a single state, as text, number or truth value."""
    return isinstance(finding, str | Number | np.generic)


def read_findings(
    given: Any, required: Sequence[Variable], soft: Sequence[Variable]
) -> dict[str, Any]:
    """Return the findings of a run: states as text, missing ones of soft variables left out.

    Parameters
    ----------
    given
        As for `by_name`.
    required, soft
        The variables of which a state must be given, and those of which anything may be.

    Raises
    ------
    InvalidArgumentError
        If it is no mapping, or a required state is missing.
    EvidenceNamesError
        If a required variable is not given, or a variable is unknown.
    UnknownNameError
        If a variable has no such state.
    """
    found = by_name(given, "the evidence")
    check_names(found, required, soft)
    read: dict[str, Any] = {}
    for v in required:
        state = found[v.name]
        if is_missing(state):
            raise InvalidArgumentError(
                f"expected a state of {v.name}, got {state!r}: evidence that may be missing is"
                f" soft, as in compile_plan(..., soft=[{v.name!r}])",
                state,
            )
        if not is_state(state):
            raise InvalidArgumentError(
                f"expected one state of {v.name}, such as {v.states[0]!r}, got {shown(state)}; only"
                " soft evidence can be a likelihood",
                state,
            )
        read[v.name] = v.states[v.index(state)]
    for v in soft:
        finding = found.get(v.name)
        if not is_missing(finding):
            read[v.name] = v.states[v.index(finding)] if is_state(finding) else finding
    return read


def likelihood(variable: Variable, finding: Any) -> Floats:
    """Return a finding as the likelihood of every state, ``(states,)``.

    Raises
    ------
    UnknownNameError
        If it names a state that the variable does not have.
    InvalidArgumentError
        If it is not a number of at least zero for every state.

    Examples
    --------
    >>> rain = Variable("rain", ("no", "yes"))
    >>> likelihood(rain, "yes").tolist(), likelihood(rain, {"no": 0.2, "yes": 0.9}).tolist()
    ([0.0, 1.0], [0.2, 0.9])
    """
    what = f"the likelihood of {variable.name}"
    if is_state(finding):
        weights: Floats = np.zeros(variable.n_states)
        weights[variable.index(finding)] = 1.0
        return weights
    if isinstance(finding, Mapping) or callable(getattr(finding, "items", None)):
        places = [variable.index(state) for state in finding.keys()]  # noqa: SIM118 (pandas too)
        if len(set(places)) < len(places):
            raise InvalidArgumentError(f"{what} names a state twice", finding)
        weights = np.zeros(variable.n_states)
        numbers = real_numbers([weight for _, weight in finding.items()], what)
        if numbers.shape != (len(places),):
            raise InvalidArgumentError(f"{what} must be one number for each state", finding)
        weights[places] = numbers
    else:
        weights = real_numbers(finding, what)
    if weights.shape != (variable.n_states,):
        raise InvalidArgumentError(
            f"{what} must have a number for each of the {variable.n_states} states, got an array"
            f" of shape {weights.shape}",
            finding,
        )
    if not np.all((weights >= 0) & np.isfinite(weights)):
        raise InvalidArgumentError(
            f"{what} must be finite and not negative, got {weights.tolist()}", finding
        )
    return weights


def real_numbers(values: Any, what: str) -> Floats:
    """Return real numbers as an array of float64; ``what`` names them in an error.

    Raises
    ------
    InvalidArgumentError
        If they are not an array of real numbers.
    """
    try:
        return numbers_of(values, f"in {what}", real=True).real
    except InvalidModelError as fault:
        raise InvalidArgumentError(str(fault), values) from fault


def check_names(given: Findings, required: Sequence[Variable], soft: Sequence[Variable]) -> None:
    """Raise `EvidenceNamesError` unless all required variables are given and no unknown ones."""
    names = {v.name for v in required}
    if given.keys() == names:
        return
    known = [*[v.name for v in required], *[v.name for v in soft]]
    missing = [v.name for v in required if v.name not in given]
    unknown = [name for name in given if name not in known]
    if missing or unknown:
        raise EvidenceNamesError(missing, unknown, known)
