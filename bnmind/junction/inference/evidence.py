"""Findings, the evidence of a run.

A finding on an evidence variable is one of its states. A finding on a soft variable of a plan is a
state, a likelihood of every state (virtual evidence: Pearl, *Probabilistic reasoning in intelligent
systems*, 1988, section 2.2.2), or missing. None, NaN, NaT, masked values of NumPy and missing
values of pandas count as missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bnmind._messages import close_names, did_you_mean, one_line, shown, some_names
from bnmind.errors import InvalidArgumentError, InvalidModelError
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
"""A state; or the likelihood of each state, by name or in order."""

Findings: TypeAlias = Mapping[str, Any]
"""A `Finding` for some variables, by name."""

Evidence: TypeAlias = "Findings | pandas.Series[Any]"
"""Findings as an argument: a mapping, or a row of a data frame."""


def label_of(name: str) -> str:
    """Return the name of the input that carries soft evidence on a variable."""
    return f"likelihood of {name}"


def by_name(given: Any, what: str) -> dict[str, Any]:
    """Return findings as a dictionary; None gives an empty one.

    Parameters
    ----------
    given
        A mapping, a `pandas.Series` or a `pandas.DataFrame`. Whole numbers as names are
        converted to text.
    what
        Names the argument in an error.

    Raises
    ------
    InvalidArgumentError
        If it is anything else, or a name is given both as a number and as text.
    """
    if given is None:
        return {}
    if type(given) is dict and all(map(_is_text, given)):
        return given
    # Series and frames of pandas, which is not imported here, also have items.
    items = getattr(given, "items", None)
    if not callable(items) or isinstance(given, type):
        raise InvalidArgumentError(
            f"expected {what} as a mapping from the names of variables, such as"
            f" {{'rain': 'yes'}}, got {shown(given)}",
            given,
        )
    findings: dict[str, Any] = {}
    for name, value in items():
        text = name_text(name)
        if not isinstance(text, str):
            raise InvalidArgumentError(
                f"expected names of variables in {what}, got {shown(name)}", name
            )
        if text in findings:
            raise InvalidArgumentError(f"{what} names the variable {text!r} twice", text)
        findings[text] = value
    return findings


def _is_text(name: object) -> bool:
    return isinstance(name, str)


def is_missing(finding: Any) -> bool:
    """Return whether a finding is missing: None, NaN, or a missing value of pandas.

    >>> [is_missing(finding) for finding in (None, float("nan"), "yes", 0)]
    [True, True, False, False]
    """
    if finding is None:
        return True
    if isinstance(finding, float | np.floating):
        return bool(np.isnan(finding))
    if isinstance(finding, np.datetime64 | np.timedelta64):
        return bool(np.isnat(finding))
    return finding is np.ma.masked or type(finding).__name__ in ("NAType", "NaTType")


def is_state(finding: Any) -> bool:
    """Return whether a finding is a single state, as text, number or truth value."""
    return isinstance(finding, str | Number | np.generic)


def read_findings(
    given: Any, required: Sequence[Variable], soft: Sequence[Variable]
) -> dict[str, Any]:
    """Return the findings of a run, with states as text and without missing findings.

    Parameters
    ----------
    given
        As for `by_name`.
    required, soft
        The variables that need a state, and those with soft evidence.

    Raises
    ------
    InvalidArgumentError
        If the argument is not a mapping, or a required state is missing.
    InvalidArgumentError
        If a required variable is not given, or a variable is unknown.
    UnknownNameError
        If a variable has no such state.
    """
    findings = by_name(given, "the evidence")
    check_names(findings, required, soft)
    read: dict[str, Any] = {}
    for v in required:
        state = findings[v.name]
        if is_missing(state):
            raise InvalidArgumentError(
                f"the state of {v.name} is missing, got {state!r}; evidence that may be missing"
                f" must be soft, as in compile_plan(..., soft=[{v.name!r}])",
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
        finding = findings.get(v.name)
        if not is_missing(finding):
            read[v.name] = v.states[v.index(finding)] if is_state(finding) else finding
    return read


def likelihood(variable: Variable, finding: Any) -> Floats:
    """Return a finding as the likelihood of every state, ``(states,)``.

    Raises
    ------
    UnknownNameError
        If the variable does not have a state of the finding.
    InvalidArgumentError
        If the finding is not a non-negative number for every state.

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
        if absent := [state for i, state in enumerate(variable.states) if i not in places]:
            more = ", …" if len(absent) > 6 else ""
            raise InvalidArgumentError(
                f"{what} must have a number for each state; no number for"
                f" {', '.join(map(one_line, absent[:6]))}{more}",
                finding,
            )
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
    """Raise `InvalidArgumentError` unless all required variables are given and no unknown ones."""
    names = {v.name for v in required}
    if given.keys() == names:
        return
    known = [*[v.name for v in required], *[v.name for v in soft]]
    missing = [v.name for v in required if v.name not in given]
    unknown = [name for name in given if name not in known]
    if missing or unknown:
        raise _wrong_names(missing, unknown, known)


def _wrong_names(missing: list[str], unknown: list[str], known: list[str]) -> InvalidArgumentError:
    faults = [f"missing: {some_names(missing)}"] if missing else []
    if unknown:
        close = [(name, close_names(name, known)) for name in unknown]
        asked = [shown(n) + (f" ({did_you_mean(near)})" if near else "") for n, near in close]
        faults.append(f"unknown: {some_names(asked)}")
    if unknown and not missing:
        faults.append(f"the plan's evidence is {some_names(known) or 'empty'}")
    return InvalidArgumentError(
        f"the findings do not match the plan's evidence; {'; '.join(faults)}",
        (*missing, *unknown),
    )
