"""What is observed, in one case or in many, and what is asked about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import close_names, did_you_mean, one_line, shown, some_names
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.factor import numbers_of
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable, format_name

if TYPE_CHECKING:
    import pandas

# --- Findings, the evidence of a run --------------------------------------------------------------
#
# A finding on an evidence variable is one of its states. A finding on a soft variable of a plan is
# a state, a likelihood of every state (virtual evidence: Pearl, *Probabilistic reasoning in
# intelligent systems*, 1988, section 2.2.2), or missing. None, NaN, NaT, masked values of NumPy and
# missing values of pandas count as missing.

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
    if type(given) is dict and all(isinstance(name, str) for name in given):
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
        text = format_name(name)
        if not isinstance(text, str):
            raise InvalidArgumentError(
                f"expected names of variables in {what}, got {shown(name)}", name
            )
        if text in findings:
            raise InvalidArgumentError(f"{what} names the variable {text!r} twice", text)
        findings[text] = value
    return findings


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
    if not (missing or unknown):
        return
    faults = [f"missing: {some_names(missing)}"] if missing else []
    if unknown:
        close = [(name, close_names(name, known)) for name in unknown]
        asked = [shown(n) + (f" ({did_you_mean(near)})" if near else "") for n, near in close]
        faults.append(f"unknown: {some_names(asked)}")
    if unknown and not missing:
        faults.append(f"the plan's evidence is {some_names(known) or 'empty'}")
    raise InvalidArgumentError(
        f"the findings do not match the plan's evidence; {'; '.join(faults)}",
        (*missing, *unknown),
    )


# --- The cases of a batch, with a column for each evidence variable -------------------------------
#
# A column of numbers holds state positions; a column of text or truth values, and every column
# of a data frame, holds states. Which of the two a column means is never guessed from its values.


def read_cases(
    given: Any, required: Sequence[Variable], soft: Sequence[Variable]
) -> dict[str, NDArray[Any]]:
    """Return the positions or likelihoods of the cases for each variable.

    Parameters
    ----------
    given
        A mapping from names to columns, or a `pandas.DataFrame`; see `case_positions` for a
        column. For soft variables, likelihoods ``(cases, states)`` are allowed too.
    required, soft
        The variables that need a state in every case, and those with soft evidence.

    Returns
    -------
    dict
        Positions ``(cases,)``, with -1 for missing values, or likelihoods ``(cases, states)``.

    Raises
    ------
    InvalidArgumentError
        If a required variable is not given, or a variable is unknown.
    UnknownNameError
        If a variable has no such state.
    InvalidArgumentError
        If a column holds anything else. The error names the case.
    """
    columns = by_name(given, "the cases")
    check_names(columns, required, soft)
    read: dict[str, NDArray[Any]] = {v.name: case_positions(v, columns[v.name]) for v in required}
    for v in soft:
        if v.name in columns and columns[v.name] is not None:
            column = columns[v.name]
            if _array(v, column).ndim == 1:
                read[v.name] = case_positions(v, column)
            else:
                read[v.name] = case_likelihoods(v, column).T
    return read


def case_positions(variable: Variable, column: Any) -> NDArray[np.intp]:
    """Return the state positions of many cases, ``(cases,)``, with -1 for missing values.

    Parameters
    ----------
    variable
        The variable of the column.
    column
        State positions as whole numbers, with -1, NaN or None for missing values; or states as
        text or truth values; or a column of a data frame, whose values are states of any type.

    Raises
    ------
    InvalidArgumentError
        If a position is out of range, or the argument is not a column. The error names the case.
    UnknownNameError
        If the variable does not have a state.
    """
    positions = _array(variable, column)
    if positions.ndim != 1:
        raise InvalidArgumentError(
            f"expected a column of states or positions for {variable.name}, got an array of shape"
            f" {positions.shape} of {positions.dtype}",
            column,
        )
    is_of_frame = not isinstance(column, np.ndarray) and hasattr(column, "to_numpy")
    if is_of_frame or positions.dtype.kind not in "iu":
        codes, states = distinct_states(positions.tolist())
        has_states = bool(states) and all(isinstance(state, str | bool) for state in states)
        place = variable.index if is_of_frame or has_states else partial(_whole_number, variable)
        places = np.full(len(states) + 1, -1, dtype=np.intp)
        for number, state in enumerate(states):
            try:
                places[number] = place(state)
            except (UnknownNameError, InvalidArgumentError) as fault:
                raise _in_case(fault, variable, int(np.argmax(codes == number))) from None
        positions = places[codes]
    wrong = np.flatnonzero((positions < -1) | (positions >= variable.n_states))
    if wrong.size:
        raise InvalidArgumentError(
            f"expected positions from 0 to {variable.n_states - 1}, or -1 where missing, for"
            f" {variable.name}, got {positions[wrong[0]]} in case {wrong[0]}",
            column,
        )
    return positions.astype(np.intp)


def _array(variable: Variable, column: Any) -> NDArray[Any]:
    try:
        array = np.asarray(column)
        if array.dtype.kind in "USb" and isinstance(column, Sequence):
            # NumPy converts mixed lists to text: None to "None", NaN to "nan".
            array = np.asarray(column, dtype=object)
        return array
    except (ValueError, TypeError) as fault:
        raise InvalidArgumentError(
            f"expected a column of states of {variable.name}, one for each case, got"
            f" {shown(column)}",
            column,
        ) from fault


def distinct_states(values: Sequence[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the number of each value's state, -1 where it is missing, and the states.

    Equal values of different types, such as 1 and True, may be different states.
    """
    numbers: dict[Any, int] = {}
    states: list[Any] = []
    codes = np.full(len(values), -1, dtype=np.intp)
    for case, value in enumerate(values):
        plain = isinstance(value, str | int | float | np.generic)
        if plain and value != value:  # NaN
            continue
        key = type(value), value if plain else repr(value)
        if key not in numbers:
            numbers[key] = -1 if is_missing(value) else len(states)
            states += [] if is_missing(value) else [value]
        codes[case] = numbers[key]
    return codes, states


def _whole_number(variable: Variable, value: Any) -> int:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if is_number and float(value).is_integer():
        return max(min(int(value), variable.n_states), -2)
    raise InvalidArgumentError(
        f"expected a column of positions or a column of states for {variable.name}, got"
        f" {shown(value)}",
        value,
    )


def _in_case(
    fault: UnknownNameError | InvalidArgumentError, variable: Variable, case: int
) -> Exception:
    """Return an error about a value of a column with the number of the case."""
    if isinstance(fault, UnknownNameError):
        return UnknownNameError(f"state of {variable.name} in case {case}", fault.name, fault.known)
    return InvalidArgumentError(f"{fault} in case {case}", fault.value)


def case_likelihoods(variable: Variable, cases: Any) -> Floats:
    """Return the likelihoods of many cases, ``(states, cases)``.

    Parameters
    ----------
    variable
        The variable of the cases.
    cases
        Likelihoods ``(cases, states)``, or a column as for `case_positions`; a missing value has
        the likelihood one for every state.
    """
    array = _array(variable, cases)
    if array.ndim == 1:
        columns = np.column_stack([np.eye(variable.n_states), np.ones(variable.n_states)])
        likelihoods: Floats = columns.take(case_positions(variable, cases), axis=1)
        return likelihoods
    weights: Floats = real_numbers(array, f"the likelihoods of {variable.name}")
    if weights.ndim != 2 or weights.shape[1] != variable.n_states:
        raise InvalidArgumentError(
            f"expected likelihoods of shape (cases, {variable.n_states}) for {variable.name}, got"
            f" {weights.shape}",
            cases,
        )
    wrong = np.flatnonzero(~np.all((weights >= 0) & np.isfinite(weights), axis=1))
    if wrong.size:
        raise InvalidArgumentError(
            f"likelihoods of {variable.name} must be finite and not negative, got"
            f" {weights[wrong[0]].tolist()} in case {wrong[0]}",
            cases,
        )
    return np.ascontiguousarray(weights.T)


def case_findings(
    variables: Iterable[Variable], cases: Mapping[str, NDArray[Any]], number: int
) -> dict[str, Any]:
    """Return the findings of one of many cases, as for a single run.

    Parameters
    ----------
    variables
        The evidence variables.
    cases
        For some of them, the positions or likelihoods of all cases, as returned by `read_cases`.
    number
        The number of the case. Missing values are omitted.
    """
    findings: dict[str, Any] = {}
    for v in variables:
        if v.name in cases:
            finding = cases[v.name][number]
            if finding.ndim or finding >= 0:
                findings[v.name] = finding if finding.ndim else v.states[int(finding)]
    return findings


# --- The targets and the evidence of a question, checked and converted ----------------------------

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
        at, soft, variables = self.positions, self.soft, self.variables
        states = {name: v.states[at[name]] for name, v in variables.items() if name in at}
        return states, {name: soft[name] for name in variables if name in soft}

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
    """The variables of a model, which its questions name."""

    def __init__(self, model: Network | FactorModel) -> None:
        self.model = model
        self.variables = {v.name: v for v in model.variables}
        self.columns = {v.name: i for i, v in enumerate(model.variables)}
        self._alone = {v.name: (v,) for v in model.variables}

    def named(self, scopes: Scopes) -> tuple[tuple[Variable, ...], ...]:
        """Return the variables of targets."""
        of, alone = self.variables, self._alone
        return tuple([alone[s[0]] if len(s) == 1 else tuple([of[n] for n in s]) for s in scopes])

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
            v = self.variables.get(name) or self.model.variable(name)
            if isinstance(finding, str):
                positions[name] = v.index(finding)
            elif is_missing(finding):
                continue
            elif is_state(finding):
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
        parts = _listed(targets, "the name of a variable or a list of names")
        return tuple([self._scope(target) for target in parts])

    def names(self, targets: Targets, what: str, observed: Collection[str] = ()) -> tuple[str, ...]:
        """Return different variables that are asked for together; ``what`` asks for them.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            As for `scopes`, and if there are no names, or one is ``observed``.
        """
        scopes = self.scopes(targets, self.evidence(None))
        names = tuple([name for scope in scopes for name in scope])
        if not names:
            raise InvalidArgumentError(f"{what} needs at least one variable", targets)
        _check_different(names)
        if both := [name for name in names if name in observed]:
            raise InvalidArgumentError(f"{both[0]} cannot be both explained and evidence", both)
        return names

    def _scope(self, target: Any) -> tuple[str, ...]:
        if isinstance(format_name(target), str):
            return (self._name(target),)
        parts = _listed(target, "each target as a name or a tuple of names")
        names = tuple([self._name(name) for name in parts])
        _check_different(names)
        return names

    def _name(self, name: Any) -> str:
        text = format_name(name)
        if not isinstance(text, str):
            raise InvalidArgumentError(f"expected the name of a variable, got {shown(name)}", name)
        return text if text in self.variables else self.model.variable(text).name


def _listed(given: Any, what: str) -> Iterable[Any]:
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise InvalidArgumentError(f"expected {what}, got {shown(given)}", given)
    return given


def _check_different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"expected each variable once, got {', '.join(names)}", names)
