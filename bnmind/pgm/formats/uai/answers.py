"""Answer files of the competitions, ``model.uai.PR``, ``.MAR``, ``.MPE`` and ``.MMAP``.

The first line names the task. The answer follows; if there are several, each after ``-BEGIN-``, the
last one counts. Variables are in the order of the model file.

========  ===============================  ======================================================
task      answer                           meaning
========  ===============================  ======================================================
``PR``    ``-0.2008``                      log₁₀ of the probability of the evidence; for a product
                                           of factors, of their sum
``MAR``   ``2  2 0.1 0.9  3 0.2 0.2 0.6``  the number of variables, then for each its number of
                                           states and its distribution given the evidence
``MPE``   ``3  0 1 0``                     the number of variables, and the most probable state of
                                           each; MAP in 2014
``MMAP``  ``2  1 0  4 1``                  the number of variables asked for, then for each its
                                           number and its state
========  ===============================  ======================================================

References
----------
The UAI competitions of 2014, 2016 and 2022, *Result file format*.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from bnmind._messages import shown as shown_value
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.formats.declared import Faults
from bnmind.pgm.formats.source import number_list, shown
from bnmind.pgm.formats.table_text import written
from bnmind.pgm.formats.uai.words import Words
from bnmind.pgm.variable import Variable

__all__ = [
    "explanation_from_uai",
    "explanation_to_uai",
    "log_evidence_from_uai",
    "log_evidence_to_uai",
    "marginal_map_to_uai",
    "marginals_from_uai",
    "marginals_to_uai",
]

_NEXT = "-BEGIN-"
_MOST = 1 + 1e-6
"""The largest printed probability; printing rounds."""


def log_evidence_from_uai(text: str) -> float:
    """Return the natural logarithm of the probability of the evidence in an answer to PR.

    Raises
    ------
    ModelFileError
        If the text is not of this form.
    """
    words, at = _answer(text, ("PR",))
    tokens = words.tokens[at : at + 1]
    if tokens and tokens[0].lower() in ("-inf", "-infinity"):
        words.expect_end(at + 1)
        return -math.inf
    values = number_list(tokens)
    if isinstance(values, int) or not values.size:
        raise words.fault("the logarithm of a probability", at)
    words.expect_end(at + 1)
    return float(values[0]) * math.log(10)


def log_evidence_to_uai(log_evidence: float) -> str:
    """Return the answer to PR as text.

    Parameters
    ----------
    log_evidence
        The natural logarithm of the probability of the evidence; −inf for zero.

    Raises
    ------
    InvalidArgumentError
        If it is NaN or +inf.
    """
    if not log_evidence < math.inf:
        raise InvalidArgumentError(
            f"log_evidence must be a number below infinity, got {log_evidence}", log_evidence
        )
    return f"PR\n{log_evidence / math.log(10)!r}\n"


def marginals_from_uai(text: str, variables: Sequence[Variable]) -> dict[str, Floats]:
    """Return the distribution of each variable in an answer to MAR, {variable: probabilities}.

    Raises
    ------
    ModelFileError
        If the text is not of this form, or not of a model with these variables. The error lists
        all numbers that are no probabilities, with their places.
    """
    words, at = _answer(text, ("MAR",))
    at = _expect_number(words, at, len(variables), "the number of variables")
    faults = Faults("probabilities")
    marginals = {}
    for variable in variables:
        n = variable.n_states
        at = _expect_number(words, at, n, f"the number of states of {variable.name}")
        tokens = words.tokens[at : at + n]
        values = number_list(tokens)
        if isinstance(values, int):
            raise words.fault("a number", at + values)
        if len(tokens) < n:
            raise words.fault(f"{n} probabilities of {variable.name}", len(words.tokens))
        for wrong in np.flatnonzero((values < 0) | (values > _MOST)).tolist():
            faults.add(
                f"expected a probability of {variable.name}, got {shown(tokens[wrong])}",
                partial(words.place, at + wrong),
            )
        values.flags.writeable = False
        marginals[variable.name] = values
        at += n
    words.expect_end(at)
    faults.refuse()
    return marginals


def marginals_to_uai(
    marginals: Mapping[str, Sequence[float] | Floats], variables: Sequence[Variable]
) -> str:
    """Return the answer to MAR as text.

    Parameters
    ----------
    marginals
        A distribution for each variable, with the probabilities in the order of its states.
    variables
        The variables in the order of the model file.

    Raises
    ------
    InvalidArgumentError
        If a variable has no distribution, or one of another length. The error names them all.
    """
    problems = []
    parts = [str(len(variables))]
    for variable in variables:
        values = np.asarray(marginals.get(variable.name, ()), dtype=np.float64)
        if values.shape != (variable.n_states,):
            problems.append(f"{variable.name} has {values.size} of {variable.n_states}")
        parts.append(f"{variable.n_states} {written(values.tolist())}")
    if problems:
        raise InvalidArgumentError(
            f"each variable must have a probability of each state: {'; '.join(problems[:10])}",
            tuple(problems),
        )
    return f"MAR\n{' '.join(parts)}\n"


def explanation_from_uai(text: str, variables: Sequence[Variable]) -> dict[str, str]:
    """Return the states in an answer to MPE or MMAP, {variable: state}.

    Raises
    ------
    ModelFileError
        If the text is not of this form, or not of a model with these variables. The error lists
        all faults with their places.
    """
    words, at = _answer(text, ("MPE", "MAP", "MMAP"))
    faults = Faults("a valid explanation")
    states: dict[str, str] = {}
    is_marginal = words.tokens[0] == "MMAP"
    if is_marginal:
        n = words.count(at, "a number of variables")
        at += 1
    else:
        n = len(variables)
        at = _expect_number(words, at, n, "the number of variables")
    for i in range(n):
        number = i
        if is_marginal:
            number = words.count(at, "the number of a variable")
            at += 1
        state = words.count(at, "the number of a state")
        at += 1
        if number >= len(variables):
            expected = f"the number of a variable from 0 to {len(variables) - 1}"
            faults.add(f"expected {expected}, got '{number}'", partial(words.place, at - 2))
            continue
        variable = variables[number]
        if variable.name in states:
            message = f"expected {variable.name} once, got '{number}'"
            faults.add(message, partial(words.place, at - 2))
        elif state >= variable.n_states:
            expected = f"a state of {variable.name} from 0 to {variable.n_states - 1}"
            faults.add(f"expected {expected}, got '{state}'", partial(words.place, at - 1))
        else:
            states[variable.name] = variable.states[state]
    words.expect_end(at)
    faults.refuse()
    return states


def explanation_to_uai(states: Mapping[str, str], variables: Sequence[Variable]) -> str:
    """Return the answer to MPE as text.

    Parameters
    ----------
    states
        The state of each variable, with those of the evidence.
    variables
        The variables in the order of the model file.

    Raises
    ------
    InvalidArgumentError
        If a variable has no state.
    UnknownNameError
        If it has no such state.
    """
    missing = [v.name for v in variables if v.name not in states]
    if missing:
        raise InvalidArgumentError(
            f"an explanation must have a state of each variable, got none of"
            f" {shown_value(missing)}",
            tuple(missing),
        )
    positions = [str(v.index(states[v.name])) for v in variables]
    return f"MPE\n{' '.join([str(len(variables)), *positions])}\n"


def marginal_map_to_uai(states: Mapping[str, str], variables: Sequence[Variable]) -> str:
    """Return the answer to MMAP as text.

    Parameters
    ----------
    states
        The states of the variables asked for, in the order of the answer.
    variables
        The variables of the model in the order of its file.

    Raises
    ------
    UnknownNameError
        If there is no such variable or state.
    """
    numbers = {v.name: number for number, v in enumerate(variables)}
    parts = [str(len(states))]
    for name, state in states.items():
        if name not in numbers:
            raise UnknownNameError("variable", name, list(numbers))
        parts.append(f"{numbers[name]} {variables[numbers[name]].index(state)}")
    return f"MMAP\n{' '.join(parts)}\n"


def _answer(text: str, tasks: tuple[str, ...]) -> tuple[Words, int]:
    """Return the words of a file of answers, and the index of the first word of the last answer."""
    words = Words.of(text)
    if words.tokens[:1] not in [[task] for task in tasks]:
        raise words.fault(" or ".join(tasks), 0)
    at = 1
    if _NEXT in words.tokens:
        at = len(words.tokens) - words.tokens[::-1].index(_NEXT)
    return words, at


def _expect_number(words: Words, at: int, number: int, what: str) -> int:
    """Check that a word is a number; return the index of the next word."""
    expected = f"{what}, {number}"
    if words.count(at, expected) != number:
        raise words.fault(expected, at)
    return at + 1
