"""Evidence, query and answer files of the UAI inference competitions.

They identify variables and states by numbers, in the order of a ``.uai`` model file. Each function
therefore takes this file, or the model that `bnmind.pgm.files.read_model` has read from it, whose
variables are in the order of the file. (A `Network` may have another order: it lists parents before
children.) Files whose names end in ``.gz`` are compressed by gzip.

=============  ========================  =======================  ================================
content        read                      write                    file, by custom
=============  ========================  =======================  ================================
evidence       `read_evidence`,          `write_evidence`         ``model.uai.evid``
               `read_evidence_samples`
query          `read_query`              `write_query`            ``model.uai.query``
answer to PR   `read_log_evidence`       `write_log_evidence`     ``model.uai.PR``
answer to MAR  `read_marginals`          `write_marginals`        ``model.uai.MAR``
answer to MPE  `read_explanation`        `write_explanation`      ``model.uai.MPE``
… to MMAP      `read_explanation`        `write_marginal_map`     ``model.uai.MMAP``
=============  ========================  =======================  ================================
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from bnmind._arguments import checked
from bnmind._files import write_file
from bnmind.errors import ModelFileError
from bnmind.information import Floats
from bnmind.pgm.formats.model_format import read_from
from bnmind.pgm.formats.source import text_of
from bnmind.pgm.formats.uai import (
    evidence_from_uai,
    evidence_to_uai,
    explanation_from_uai,
    explanation_to_uai,
    log_evidence_from_uai,
    log_evidence_to_uai,
    marginal_map_to_uai,
    marginals_from_uai,
    marginals_to_uai,
    names_beside,
    query_from_uai,
    query_to_uai,
    variables_from_uai,
)
from bnmind.pgm.network import FactorModel
from bnmind.pgm.variable import Variable

__all__ = [
    "read_evidence",
    "read_evidence_samples",
    "read_explanation",
    "read_log_evidence",
    "read_marginals",
    "read_query",
    "write_evidence",
    "write_explanation",
    "write_log_evidence",
    "write_marginal_map",
    "write_marginals",
    "write_packed",
    "write_query",
]

_Read = TypeVar("_Read")


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
    return read_from(path, lambda data: evidence_from_uai(text_of(data), variables), None)


@checked
def read_query(
    path: str | os.PathLike[str], model: str | os.PathLike[str] | FactorModel
) -> tuple[str, ...]:
    """Return the variables of a marginal MAP in a UAI file, ``model.uai.query`` by custom.

    The parameters and errors are those of `read_evidence`.
    """
    variables = _variables(model)
    return _read(path, lambda text: query_from_uai(text, variables), "the variables of a query")


@checked
def read_log_evidence(path: str | os.PathLike[str]) -> float:
    """Return the natural logarithm of the probability of the evidence in an answer to PR.

    The file holds the logarithm to base ten. The errors are those of `read_evidence`.
    """
    return _read(path, log_evidence_from_uai, "an answer to PR")


@checked
def read_marginals(
    path: str | os.PathLike[str], model: str | os.PathLike[str] | FactorModel
) -> dict[str, Floats]:
    """Return the distribution of each variable in an answer to MAR, ``(states,)``.

    The parameters and errors are those of `read_evidence`.
    """
    variables = _variables(model)
    return _read(path, lambda text: marginals_from_uai(text, variables), "an answer to MAR")


@checked
def read_explanation(
    path: str | os.PathLike[str], model: str | os.PathLike[str] | FactorModel
) -> dict[str, str]:
    """Return the states in an answer to MPE or MMAP, {variable: state}.

    The parameters and errors are those of `read_evidence`.
    """
    variables = _variables(model)
    expected = "an answer to MPE or MMAP"
    return _read(path, lambda text: explanation_from_uai(text, variables), expected)


@checked
def write_evidence(
    evidence: Mapping[str, str],
    path: str | os.PathLike[str],
    model: str | os.PathLike[str] | FactorModel,
) -> None:
    """Write findings, {variable: state}, to a UAI file of evidence.

    Parameters
    ----------
    evidence
        The findings.
    path
        The file; an existing file is replaced.
    model
        The ``.uai`` file that it belongs to, or the model that `read_model` has read from it.

    Raises
    ------
    UnknownNameError
        If there is no such variable or state.
    ModelFileError
        If the file of the model cannot be read, or the other cannot be written.
    """
    write_packed(evidence_to_uai(evidence, _variables(model)), path)


@checked
def write_query(
    names: Iterable[str],
    path: str | os.PathLike[str],
    model: str | os.PathLike[str] | FactorModel,
) -> None:
    """Write the variables of a marginal MAP to a UAI file; see `write_evidence`.

    Raises
    ------
    InvalidArgumentError
        If there are no names, or one of them occurs twice.
    UnknownNameError, ModelFileError
        As in `write_evidence`.
    """
    write_packed(query_to_uai(names, _variables(model)), path)


@checked
def write_log_evidence(log_evidence: float, path: str | os.PathLike[str]) -> None:
    """Write the answer to PR.

    Parameters
    ----------
    log_evidence
        The natural logarithm of the probability of the evidence, such as
        `Posterior.log_evidence`. The file holds the logarithm to base ten.
    path
        The file; an existing file is replaced.

    Raises
    ------
    InvalidArgumentError
        If the logarithm is NaN or infinite, except −inf.
    ModelFileError
        If the file cannot be written.
    """
    write_packed(log_evidence_to_uai(log_evidence), path)


@checked
def write_marginals(
    marginals: Mapping[str, Sequence[float] | Floats],
    path: str | os.PathLike[str],
    model: str | os.PathLike[str] | FactorModel,
) -> None:
    """Write the answer to MAR: a distribution of each variable; see `write_evidence`.

    Raises
    ------
    InvalidArgumentError
        If a variable has no distribution, or one of another length. The error names them all.
    ModelFileError
        As in `write_evidence`.
    """
    write_packed(marginals_to_uai(marginals, _variables(model)), path)


@checked
def write_explanation(
    states: Mapping[str, str],
    path: str | os.PathLike[str],
    model: str | os.PathLike[str] | FactorModel,
) -> None:
    """Write the answer to MPE: the state of each variable; see `write_evidence`.

    Raises
    ------
    InvalidArgumentError
        If a variable has no state.
    UnknownNameError, ModelFileError
        As in `write_evidence`.
    """
    write_packed(explanation_to_uai(states, _variables(model)), path)


@checked
def write_marginal_map(
    states: Mapping[str, str],
    path: str | os.PathLike[str],
    model: str | os.PathLike[str] | FactorModel,
) -> None:
    """Write the answer to MMAP: the states of the variables asked for; see `write_evidence`.

    Raises
    ------
    UnknownNameError, ModelFileError
        As in `write_evidence`.
    """
    write_packed(marginal_map_to_uai(states, _variables(model)), path)


def write_packed(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text to a file, compressed by gzip if the name of the file ends in ``.gz``."""
    packed = os.fspath(path).endswith(".gz")
    write_file(path, gzip.compress(text.encode(), mtime=0) if packed else text)


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
    return read_from(model, lambda data: variables_from_uai(text_of(data), names=names))


def _read(path: str | os.PathLike[str], read: Callable[[str], _Read], expected: str) -> _Read:
    return read_from(path, lambda data: read(text_of(data)), expected)
