"""Evidence files of the competitions, ``model.uai.evid``, and query files, ``model.uai.query``.

Both identify variables by their numbers in the model file, from 0, and states by their numbers.

=====================  ===========================================================================
``2  0 1  2 2``        two findings: x0 is in state 1 and x2 in state 2 (2014, 2016, 2022)
``1`` ``2  0 1  2 2``  the same after a line with the number of samples (2008 to 2012, and some
                       files of 2014)
``0`` or nothing       no evidence
``2  1 3``             in a query file: the variables of a marginal MAP are x1 and x3
=====================  ===========================================================================

References
----------
The UAI competitions of 2008 to 2022, *Evidence file format* and *Query file format*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.pgm.formats.declared import Faults
from bnmind.pgm.formats.uai.words import Words
from bnmind.pgm.variable import Variable

__all__ = ["evidence_from_uai", "evidence_to_uai", "query_from_uai", "query_to_uai"]


def evidence_from_uai(text: str, variables: Sequence[Variable]) -> tuple[dict[str, str], ...]:
    """Return the findings of each sample, {variable: state}, in a UAI text of evidence.

    Parameters
    ----------
    text
        The text of the file. A text without findings is one sample without evidence.
    variables
        The variables of the model, in the order of its file.

    Raises
    ------
    ModelFileError
        If the text is not of this form. The error lists all faults with their places.
    """
    words = Words.of(text)
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
        number = words.count(start, "the number of a variable")
        if number >= len(variables):
            words.count(start + 1, "the number of a state")
            expected = f"the number of a variable from 0 to {len(variables) - 1}"
            faults.add(f"expected {expected}, got '{number}'", partial(words.place, start))
            continue
        variable = variables[number]
        state = words.count(start + 1, f"a state of {variable.name}")
        if variable.name in findings:
            message = f"expected evidence on {variable.name} once, got '{number}'"
            faults.add(message, partial(words.place, start))
        elif state >= variable.n_states:
            expected = f"a state of {variable.name} from 0 to {variable.n_states - 1}"
            faults.add(f"expected {expected}, got '{state}'", partial(words.place, start + 1))
        else:
            findings[variable.name] = variable.states[state]
    return findings, at + 1 + 2 * n_findings


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


def query_from_uai(text: str, variables: Sequence[Variable]) -> tuple[str, ...]:
    """Return the names of the variables of a marginal MAP in a UAI text.

    Parameters
    ----------
    text
        The number of variables, and their numbers.
    variables
        The variables of the model, in the order of its file.

    Raises
    ------
    ModelFileError
        If the text is not of this form. The error lists all faults with their places.
    """
    words = Words.of(text)
    n_names = words.count(0, "a number of variables", least=1)
    faults = Faults("valid variables of a marginal MAP")
    names: dict[str, None] = {}
    for at in range(1, 1 + n_names):
        number = words.count(at, "the number of a variable")
        if number >= len(variables):
            expected = f"the number of a variable from 0 to {len(variables) - 1}"
            faults.add(f"expected {expected}, got '{number}'", partial(words.place, at))
        elif variables[number].name in names:
            message = f"expected {variables[number].name} once, got '{number}'"
            faults.add(message, partial(words.place, at))
        else:
            names[variables[number].name] = None
    words.expect_end(1 + n_names)
    faults.refuse()
    return tuple(names)


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
            f"expected different variables of a marginal MAP, got {shown(names)}", names
        )
    return " ".join([str(len(names)), *(str(numbers[name]) for name in names)]) + "\n"
