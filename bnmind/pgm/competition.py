"""Evidence, query and answer files of the UAI inference competitions.

They identify variables and states by numbers, in the order of a ``.uai`` model file. Functions that
read therefore take this file, or the model that `bnmind.pgm.files.read_model` has read from it, and
functions that write its variables. (A `Network` may have another order: it lists parents before
children.) Files whose names end in ``.gz`` are compressed by gzip.

=============  ========================  =======================  ================================
content        read                      write                    file, by custom
=============  ========================  =======================  ================================
evidence       `read_evidence`,          `evidence_to_uai`        ``model.uai.evid``
               `read_evidence_samples`
query          `read_query`              `query_to_uai`           ``model.uai.query``
answer to PR   `read_log_evidence`       `log_evidence_to_uai`    ``model.uai.PR``
answer to MAR  `read_marginals`          `marginals_to_uai`       ``model.uai.MAR``
answer to MPE  `read_explanation`        `explanation_to_uai`     ``model.uai.MPE``
… to MMAP      `read_explanation`        `marginal_map_to_uai`    ``model.uai.MMAP``
=============  ========================  =======================  ================================

Evidence, ``model.uai.evid``, and queries, ``model.uai.query``:

=====================  ===========================================================================
``2  0 1  2 2``        two findings: x0 is in state 1 and x2 in state 2 (2014, 2016, 2022)
``1`` ``2  0 1  2 2``  the same after a line with the number of samples (2008 to 2012, and some
                       files of 2014)
``0`` or nothing       no evidence
``2  1 3``             in a query file: the variables of a marginal MAP are x1 and x3
=====================  ===========================================================================

Answers, ``model.uai.PR``, ``.MAR``, ``.MPE`` and ``.MMAP``: the first line names the task. The
answer follows; if there are several, each after ``-BEGIN-``, the last one counts.

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
The UAI evaluations and competitions of probabilistic inference of 2008 to 2022, *File formats*,
*Evidence file format*, *Query file format* and *Result file format*.
"""

from __future__ import annotations

import gzip
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from bnmind._arguments import checked
from bnmind._files import write_file
from bnmind._messages import shown as shown_value
from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm.formats.declared import Faults
from bnmind.pgm.formats.model_format import read_file, written
from bnmind.pgm.formats.source import number_list, shown, text_of
from bnmind.pgm.formats.uai import Words, names_beside, variables_from_uai
from bnmind.pgm.network import FactorModel
from bnmind.pgm.variable import Variable

__all__ = [
    "evidence_to_uai",
    "explanation_to_uai",
    "log_evidence_to_uai",
    "marginal_map_to_uai",
    "marginals_to_uai",
    "query_to_uai",
    "read_evidence",
    "read_evidence_samples",
    "read_explanation",
    "read_log_evidence",
    "read_marginals",
    "read_query",
    "write_packed",
]


@checked
def read_evidence(
    path: str | os.PathLike[str], model: str | os.PathLike[str] | FactorModel
) -> dict[str, str]:
    """Return the findings in a UAI file of evidence, {variable: state}.

    Parameters
    ----------
    path
        The file of evidence, ``model.uai.evid`` by custom. An empty file holds no evidence.
    model
        The ``.uai`` file that it belongs to, which numbers the variables, or the model that
        `read_model` has read from it.

    Raises
    ------
    ModelFileError
        If a file cannot be read or is not of its format, with the places of all faults; or if the
        evidence has several samples, which `read_evidence_samples` returns.
    """
    samples = read_evidence_samples(path, model)
    if len(samples) != 1:
        raise ModelFileError(
            f"expected evidence of one sample in {path}, got {len(samples)} samples;"
            " read_evidence_samples returns all of them",
            str(path),
        )
    return samples[0]


@checked
def read_evidence_samples(
    path: str | os.PathLike[str], model: str | os.PathLike[str] | FactorModel
) -> tuple[dict[str, str], ...]:
    """Return the findings of each sample in a UAI file of evidence.

    The competitions of 2008 to 2012 had several samples in a file. The parameters and errors are
    those of `read_evidence`.
    """
    variables = _variables(model)
    with _words(path, None) as words:
        if not words.tokens:
            return ({},)
        n_samples, at = 1, 0
        if _has_number_of_samples(words):
            n_samples, at = words.count(0, "a number of samples"), 1
        faults = Faults("valid evidence")
        samples = []
        for _ in range(n_samples):
            sample, at = _findings(words, at, variables, faults)
            samples.append(sample)
        words.expect_end(at)
        faults.refuse()
        return tuple(samples)


def _has_number_of_samples(words: Words) -> bool:
    """Return whether a text starts with the number of samples.

    If the text can be read with and without it, each sample must have a line of its own.
    """
    n_words = len(words.tokens)
    first = _number(words, 0)
    ends = _end_of_samples(words, first) == n_words
    if not ends or n_words != 1 + 2 * first:
        return ends
    head, *lines = [line.split() for line in words.source.text.splitlines() if line.strip()]
    alone = len(head) == 1 and len(lines) == first
    return alone and all(str(len(line) // 2) == line[0] and len(line) % 2 for line in lines)


def _end_of_samples(words: Words, n_samples: int) -> int:
    """Return the index of the word after so many samples that follow the first word; 0 if none."""
    at = 1
    for _ in range(n_samples):
        if at >= len(words.tokens):
            return 0
        at += 1 + 2 * _number(words, at)
    return at if n_samples else 0


def _number(words: Words, at: int) -> int:
    """Return a word as a number; more than there are words if it is none."""
    token = words.tokens[at]
    is_number = token.isascii() and token.isdigit() and len(token) <= 9
    return int(token) if is_number else len(words.tokens)


def _findings(
    words: Words, at: int, variables: Sequence[Variable], faults: Faults
) -> tuple[dict[str, str], int]:
    """Return the findings that start at a word, and the index of the word after them."""
    n_findings = words.count(at, "a number of findings")
    findings: dict[str, str] = {}
    for start in range(at + 1, at + 1 + 2 * n_findings, 2):
        variable = _variable(words, start, variables, faults)
        if variable is None:
            words.count(start + 1, "the number of a state")
            continue
        state = words.count(start + 1, f"a state of {variable.name}")
        if variable.name in findings:
            words.note(faults, f"evidence on {variable.name} once", start)
        elif state >= variable.n_states:
            words.note(faults, _any_state(variable), start + 1)
        else:
            findings[variable.name] = variable.states[state]
    return findings, at + 1 + 2 * n_findings


def _variable(
    words: Words, at: int, variables: Sequence[Variable], faults: Faults
) -> Variable | None:
    """Return the variable whose number is a word; note a fault if there is none."""
    number = words.count(at, "the number of a variable")
    if number < len(variables):
        return variables[number]
    words.note(faults, f"the number of a variable from 0 to {len(variables) - 1}", at)
    return None


def _any_state(variable: Variable) -> str:
    return f"a state of {variable.name} from 0 to {variable.n_states - 1}"


@checked
def evidence_to_uai(evidence: Mapping[str, str], variables: Sequence[Variable]) -> str:
    """Return findings as a UAI text, in the order of the variables.

    Raises
    ------
    UnknownNameError
        If there is no such variable or state.
    """
    unknown = evidence.keys() - {v.name for v in variables}
    if unknown:
        raise UnknownNameError("variable", min(unknown, key=str), [v.name for v in variables])
    pairs = [
        f"{number} {variable.index(evidence[variable.name])}"
        for number, variable in enumerate(variables)
        if variable.name in evidence
    ]
    return " ".join([str(len(pairs)), *pairs]) + "\n"


@checked
def read_query(
    path: str | os.PathLike[str], model: str | os.PathLike[str] | FactorModel
) -> tuple[str, ...]:
    """Return the variables of a marginal MAP in a UAI file, ``model.uai.query`` by custom.

    The parameters and errors are those of `read_evidence`.
    """
    variables = _variables(model)
    with _words(path, "the variables of a query") as words:
        n_names = words.count(0, "a number of variables", least=1)
        faults = Faults("valid variables of a marginal MAP")
        names: dict[str, None] = {}
        for at in range(1, 1 + n_names):
            variable = _variable(words, at, variables, faults)
            if variable is not None and variable.name in names:
                words.note(faults, f"{variable.name} once", at)
            elif variable is not None:
                names[variable.name] = None
        words.expect_end(1 + n_names)
        faults.refuse()
        return tuple(names)


@checked
def query_to_uai(names: Iterable[str], variables: Sequence[Variable]) -> str:
    """Return the variables of a marginal MAP as a UAI text, in their own order.

    Raises
    ------
    UnknownNameError
        If there is no such variable.
    InvalidArgumentError
        If there are no names, or one of them occurs twice.
    """
    names = list(names)
    numbers = {v.name: number for number, v in enumerate(variables)}
    for name in names:
        if name not in numbers:
            raise UnknownNameError("variable", name, list(numbers))
    if not names or len(set(names)) < len(names):
        raise InvalidArgumentError(
            f"expected different variables of a marginal MAP, got {shown_value(names)}", names
        )
    return " ".join([str(len(names)), *(str(numbers[name]) for name in names)]) + "\n"


_NEXT = "-BEGIN-"
_MOST = 1 + 1e-6
"""The largest printed probability; printing rounds."""


@checked
def read_log_evidence(path: str | os.PathLike[str]) -> float:
    """Return the natural logarithm of the probability of the evidence in an answer to PR.

    The file holds the logarithm to base ten. The errors are those of `read_evidence`.
    """
    with _words(path, "an answer to PR") as words:
        at = _answer(words, ("PR",))
        tokens = words.tokens[at : at + 1]
        if tokens and tokens[0].lower() in ("-inf", "-infinity"):
            words.expect_end(at + 1)
            return -math.inf
        values = number_list(tokens)
        if isinstance(values, int) or not values.size:
            raise words.fault("the logarithm of a probability", at)
        words.expect_end(at + 1)
        return float(values[0]) * math.log(10)


@checked
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


@checked
def read_marginals(
    path: str | os.PathLike[str], model: str | os.PathLike[str] | FactorModel
) -> dict[str, Floats]:
    """Return the distribution of each variable in an answer to MAR, ``(states,)``.

    The parameters and errors are those of `read_evidence`.
    """
    variables = _variables(model)
    with _words(path, "an answer to MAR") as words:
        at = _answer(words, ("MAR",))
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


@checked
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


@checked
def read_explanation(
    path: str | os.PathLike[str], model: str | os.PathLike[str] | FactorModel
) -> dict[str, str]:
    """Return the states in an answer to MPE or MMAP, {variable: state}.

    The parameters and errors are those of `read_evidence`.
    """
    variables = _variables(model)
    with _words(path, "an answer to MPE or MMAP") as words:
        at = _answer(words, ("MPE", "MAP", "MMAP"))
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
            variable: Variable | None = variables[i] if not is_marginal else None
            if is_marginal:
                variable = _variable(words, at, variables, faults)
                at += 1
            state = words.count(at, "the number of a state")
            if variable is not None and variable.name in states:
                words.note(faults, f"{variable.name} once", at - 1)
            elif variable is not None and state >= variable.n_states:
                words.note(faults, _any_state(variable), at)
            elif variable is not None:
                states[variable.name] = variable.states[state]
            at += 1
        words.expect_end(at)
        faults.refuse()
        return states


@checked
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


@checked
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


def _answer(words: Words, tasks: tuple[str, ...]) -> int:
    """Return the index of the first word of the last answer in a file of answers."""
    if words.tokens[:1] not in [[task] for task in tasks]:
        raise words.fault(" or ".join(tasks), 0)
    if _NEXT in words.tokens:
        return len(words.tokens) - words.tokens[::-1].index(_NEXT)
    return 1


def _expect_number(words: Words, at: int, number: int, what: str) -> int:
    """Check that a word is a number; return the index of the next word."""
    expected = f"{what}, {number}"
    if words.count(at, expected) != number:
        raise words.fault(expected, at)
    return at + 1


def write_packed(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text to a file, compressed by gzip if the name of the file ends in ``.gz``."""
    packed = os.fspath(path).endswith(".gz")
    write_file(path, gzip.compress(text.encode(), mtime=0) if packed else text)


@contextmanager
def _words(path: str | os.PathLike[str], expected: str | None) -> Iterator[Words]:
    """Give the words of a file, and name the file in errors about them."""
    with read_file(path, expected) as data:
        yield Words.of(text_of(data))


def _variables(model: str | os.PathLike[str] | FactorModel) -> tuple[Variable, ...]:
    """Return the variables of a model in the order of its file."""
    if isinstance(model, FactorModel):
        return model.variables
    name = Path(model).name
    if Path(name.removesuffix(".gz")).suffix.lower() != ".uai":
        raise ModelFileError(
            f"expected a file name ending in .uai for the model of a competition, got {name!r}",
            str(model),
        )
    names = names_beside(model)
    with read_file(model) as data:
        return variables_from_uai(text_of(data), names=names)
